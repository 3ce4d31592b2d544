"""Back up and restore a SQLite installation while it runs.

Knows what a backup must hold and in which order a restore checks it; ``archive`` knows the file. The
master key is never part of a backup. PostgreSQL has tools of its own.
"""

import asyncio
import hmac
import itertools
from dataclasses import dataclass
from pathlib import Path

import msgspec
from sqlalchemy import delete, select

from clearlane.kernel.clock import Clock, from_micros, to_micros
from clearlane.store.audit import audit
from clearlane.store.audit.anchor import Anchor, AnchorNote, present_note
from clearlane.store.database import migrate
from clearlane.store.database.database import (
    Actor,
    Database,
    OperationRefused,
    Row,
    SystemScope,
    Tx,
    open_database,
    write_audit,
)
from clearlane.store.database.schema import BACKUP_ACTION, data_keys, nodes, revisions
from clearlane.store.database.sql import Statement, insert_into
from clearlane.store.database.sqlite_connection import create_private_file
from clearlane.store.delivery import batches
from clearlane.store.delivery.control_numbers import last_control_number, last_request_numbers
from clearlane.store.installation.archive import (
    Manifest,
    copy_database,
    describe,
    pack,
    replace_database,
    require_intact,
    scratch_file,
    unpack,
)
from clearlane.store.installation.nodes import bump_revision, live_nodes
from clearlane.store.vault.keys import MasterKeys
from clearlane.store.vault.vault import Vault

PREVIOUS_SUFFIX = ".before-restore-"
BACKUP = SystemScope("a backup holds the whole installation")
# Snapshots that running nodes reload after a restore; "restore" counts the restores themselves.
REVISIONS_SKIPPED = 1_000
RELOADED_SNAPSHOTS = ("accounts", "code_lists", "keys", "payers", "restore")


async def write_backup(
    database: Database, vault: Vault, *, file: Path, target: Path, clock: Clock, actor: Actor
) -> Manifest:
    """Copy the database as of one moment into one file of mode 0600, while writers go on."""
    if target.exists():  # noqa: ASYNC240
        raise OperationRefused(f"{target} exists already: name another file.")
    await record_backup(database, target, actor)
    with scratch_file(target.parent) as copy:
        await asyncio.to_thread(copy_database, file, copy)
        unsigned = await asyncio.to_thread(describe, copy, to_micros(clock.now()))
        manifest = msgspec.structs.replace(unsigned, mac=unsigned.mac_for(vault.audit_key))
        await asyncio.to_thread(pack, copy, manifest, target)
    return manifest


async def record_backup(database: Database, target: Path, actor: Actor) -> None:
    """Record that a backup is written, so that its age is known."""

    await write_audit(database, BACKUP, BACKUP_ACTION, detail=target.name, actor=actor)


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result of a restore."""

    manifest: Manifest
    previous: Path | None
    """Where the previous data are kept; None if there were none."""
    revisions: dict[str, int]
    """The revisions running nodes must load."""
    in_doubt: tuple[int, int]
    """Batches and queued claims that may have been sent after the backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """A restore: everything is checked on a copy before the running database is touched."""

    archive: Path
    file: Path
    anchor: Path
    anchor_copy: str = ""
    keys: MasterKeys
    clock: Clock
    actor: Actor

    async def check(self) -> RestoreResult:
        """Check the backup and prepare a copy as :meth:`run` does, and change nothing."""
        with scratch_file(self.file.parent) as copy:
            manifest = await unpack_intact(self.archive, copy)
            running = await self._running()
            moved, in_doubt, _, _ = await self._prepare(copy, manifest, running)
        return RestoreResult(manifest, None, moved, in_doubt)

    async def run(self) -> RestoreResult:
        """Check, prepare, swap, check again. A refusal leaves the data unchanged."""
        with scratch_file(self.file.parent) as copy:
            manifest = await unpack_intact(self.archive, copy)
            running = await self._running()
            moved, in_doubt, vault, note = await self._prepare(copy, manifest, running)
            anchor = Anchor(self.anchor, vault.audit_key, self.anchor_copy)
            kept = await asyncio.to_thread(self._swap, copy, anchor, note, running)
        await self._check(vault)
        return RestoreResult(manifest, kept, moved, in_doubt)

    async def _running(self) -> "_RunningInstallation | None":
        """Return what is to be replaced, or None if there is nothing yet."""
        state = await migrate.schema_status(url="", sqlite_file=self.file)
        if state.state is migrate.SchemaState.EMPTY:
            return None
        live = await self._open(self.file, self.anchor)
        try:
            vault = Vault(live, self.keys, self.clock)
            await vault.load()
            head = await audit.read_head(live)
            async with live.read(BACKUP) as tx:
                return _RunningInstallation(
                    head=head.seq,
                    audit_key=vault.audit_key,
                    live_nodes=[node.id for node in await live_nodes(tx)],
                    data_keys=await tx.rows(_DATA_KEYS),
                    nodes=await tx.rows(_NODES),
                    revisions=dict(await tx.rows(_REVISIONS)),
                    last_control_number=await last_control_number(tx),
                    last_request_numbers=await last_request_numbers(tx),
                )
        finally:
            await live.close()

    async def _open(self, file: Path, anchor: Path) -> Database:
        return await open_database(
            url="", sqlite_file=file, connections=1, keys=self.keys, anchor=anchor, clock=self.clock
        )

    async def _prepare(
        self, copy: Path, manifest: Manifest, running: "_RunningInstallation | None"
    ) -> tuple[dict[str, int], tuple[int, int], Vault, AnchorNote]:
        """Check the copy with the master key, and carry over what running nodes need."""
        unused = copy.with_name(copy.name + ".anchor")
        restored = await self._open(copy, unused)
        try:
            vault = Vault(restored, self.keys, self.clock)
            await vault.load()  # refuses a backup whose keys cannot be unwrapped
            await require_chain(restored, vault, manifest)
            carried = running or _NOTHING
            carried.require_same(vault.audit_key)
            moved, in_doubt = await restored.write(
                BACKUP, lambda tx: carried.carry_over(tx, manifest), actor=self.actor
            )
            note = await present_note(restored, to_micros(self.clock.now()))
            return moved, in_doubt, vault, note
        finally:
            await restored.close()
            for name in (unused, unused.with_name(unused.name + ".lock")):
                name.unlink(missing_ok=True)

    def _swap(
        self, copy: Path, anchor: Anchor, note: AnchorNote, running: "_RunningInstallation | None"
    ) -> Path | None:
        """Replace the running database by the copy, and keep the previous data."""
        create_private_file(self.file)
        kept = self._unused_name() if running else None
        with anchor.locked():
            replace_database(
                copy, self.file, kept, {row[0] for row in (running or _NOTHING).data_keys}
            )
            anchor.reset(note)
        return kept

    def _unused_name(self) -> Path:
        """Return a name for the previous data with the moment in it: a second restore must not overwrite the first."""
        moment = f"{self.clock.now():%Y%m%dT%H%M%SZ}"
        for number in itertools.count(1):
            name = f"{self.file.name}{PREVIOUS_SUFFIX}{moment}" + (
                f"-{number}" if number > 1 else ""
            )
            if not (found := self.file.with_name(name)).exists():
                return found
        raise AssertionError("counting never ends")

    async def _check(self, vault: Vault) -> None:
        database = await self._open(self.file, self.anchor)
        try:
            verdict = await audit.verify(database, vault, Anchor(self.anchor, vault.audit_key))
        finally:
            await database.close()
        if verdict.fault:
            raise OperationRefused(
                f"The backup was restored, but its audit chain is not whole: {verdict.fault}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunningInstallation:
    """What the running installation has that the backup cannot have."""

    head: int
    audit_key: bytes
    live_nodes: list[str]
    data_keys: list[Row]
    nodes: list[Row]
    revisions: dict[str, int]
    last_control_number: int
    last_request_numbers: list[Row]

    def require_same(self, audit_key: bytes) -> None:
        """Refuse a backup of another installation while nodes run, which hold its keys in memory."""
        if self.live_nodes and not hmac.compare_digest(self.audit_key, audit_key):
            raise OperationRefused(
                "The backup is of another installation. Stop the running nodes first: "
                f"{', '.join(self.live_nodes)}."
            )

    async def carry_over(
        self, tx: Tx, manifest: Manifest
    ) -> tuple[dict[str, int], tuple[int, int]]:
        """Bring it into the restored database, and move every revision past both.

        What was unsent when the backup was made may have been sent since: it is in doubt.
        """
        names = [column.name for column in data_keys.columns]
        # A node may seal with a key that is younger than the backup until it reloads.
        await tx.many(_KEEP_KEY, [dict(zip(names, row, strict=True)) for row in self.data_keys])
        await tx.run(_FORGET_NODES)
        names = [column.name for column in nodes.columns]
        await tx.many(_KEEP_NODE, [dict(zip(names, row, strict=True)) for row in self.nodes])
        older: dict[str, int] = dict(await tx.rows(_REVISIONS))
        moved = {}
        for name in sorted({*older, *self.revisions, *RELOADED_SNAPSHOTS}):
            # Far enough that no change made during the restore can have taken the number.
            last = max(older.get(name, 0), self.revisions.get(name, 0)) + REVISIONS_SKIPPED
            await tx.run(_SET_REVISION, name=name, revision=last)
            moved[name] = await bump_revision(tx, name)
        tx.audit(
            "backup.restored",
            ids=[manifest.sha256[:16]],
            detail=f"of {from_micros(manifest.created_at):%Y-%m-%dT%H:%M:%SZ}; "
            f"the chain before it ended at row {self.head}",
        )
        return moved, await batches.mark_in_doubt_after_restore(
            tx, last_control=self.last_control_number, last_requests=self.last_request_numbers
        )


_NOTHING = _RunningInstallation(
    head=0,
    audit_key=b"",
    live_nodes=[],
    data_keys=[],
    nodes=[],
    revisions={},
    last_control_number=0,
    last_request_numbers=[],
)


async def unpack_intact(archive: Path, copy: Path) -> Manifest:
    """Extract the database of a backup into a copy, with this version's schema; refuse what is damaged."""
    manifest = await asyncio.to_thread(unpack, archive, copy)
    await asyncio.to_thread(require_intact, copy)
    await migrate.upgrade(url="", sqlite_file=copy)  # a newer schema is refused here
    return manifest


async def require_chain(database: Database, vault: Vault, manifest: Manifest) -> None:
    """Refuse a restored database whose manifest or audit chain is not the one that was backed up."""
    if not hmac.compare_digest(manifest.mac, manifest.mac_for(vault.audit_key)):
        raise OperationRefused("The backup's manifest was changed.")
    verdict = await audit.verify(database, vault, None)
    if verdict.fault:
        raise OperationRefused(f"The backup's audit chain is not whole: {verdict.fault}")
    head = await audit.read_head(database)
    if (head.seq, head.hash.hex()) != (manifest.audit_seq, manifest.audit_hash):
        raise OperationRefused("The backup's audit chain does not end where its manifest says.")


_DATA_KEYS = Statement(select(data_keys))
_NODES = Statement(select(nodes))
_REVISIONS = Statement(select(revisions.c.name, revisions.c.revision))
_KEEP_KEY = Statement(
    insert_into(data_keys, *(column.name for column in data_keys.columns)).on_conflict_do_nothing(
        index_elements=["id"]
    )
)
_FORGET_NODES = Statement(delete(nodes))
_KEEP_NODE = Statement(insert_into(nodes, *(column.name for column in nodes.columns)))
_SET = insert_into(revisions, "name", "revision")
_SET_REVISION = Statement(
    _SET.on_conflict_do_update(index_elements=["name"], set_={"revision": _SET.excluded.revision})
)
