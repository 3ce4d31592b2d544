"""Change the master key while nodes serve: every wrapped key is unwrapped and wrapped again.

Knows the two tables of wrapped keys. Payloads are not touched: their data keys stay the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import bindparam, func, select, update

from clearlane.kernel import limits
from clearlane.store.database.database import (
    Actor,
    Database,
    OperationRefused,
    Row,
    SystemScope,
    Tx,
)
from clearlane.store.database.schema import data_keys, installation_keys
from clearlane.store.database.sql import Statement
from clearlane.store.installation.nodes import bump_revision, wait_for_nodes
from clearlane.store.vault.keys import (
    MasterKeys,
    installation_key_binding,
    kept_key_file,
    new_master_key,
    write_key_file,
)
from clearlane.store.vault.vault import data_key_binding

REWRAP_PAGE_ROWS = 500

ROTATION = SystemScope("wrapped keys belong to the installation")
REVISION = "keys"


@dataclass(frozen=True, slots=True)
class RotationResult:
    """The result of a rotation."""

    master_id: str
    """The key that wraps everything now."""
    rewrapped: int
    dropped: tuple[str, ...]
    """Keys that wrap nothing any more. With a key file they were moved out of it."""
    kept: tuple[Path, ...] = ()
    """The files in which they are kept, for backups that need them."""


async def rotate(database: Database, keys: MasterKeys, actor: Actor) -> RotationResult:
    """Wrap every key with a new master key.

    With a key file the new key is made here. An interrupted rotation is continued: the file then
    holds two keys, and the first is the new one.
    """
    if keys.file is not None and len(keys.ids) == 1:
        write_key_file(keys.file, [new_master_key(), *keys.keys], over=True)
    target = keys.wrapping_key().id  # which reads the file again
    await _reach_nodes(database, keys, target, actor)
    rewrapped = await _rewrap_all(database, keys, target, actor)
    old = keys.ids[1:]
    if keys.file is None and not old and not rewrapped:
        raise OperationRefused(
            "The master key comes from the environment or a command, and everything is wrapped with it. To change "
            "it, set CLEARLANE_MASTER_KEY to NEW,OLD for every node, or let the command print both, start the "
            "nodes again, then run this command with the same value."
        )
    kept: list[Path] = []
    if keys.file is not None:
        for key in keys.keys[1:]:  # before the file loses them: backups made before need them
            kept.append(kept_key_file(keys.file, key.id))
            write_key_file(kept[-1], [key], over=True)
        write_key_file(keys.file, keys.keys[:1], over=True)
        await _bump_key_revision(database, actor, "keys.rotated", target)
    return RotationResult(target, rewrapped, old, tuple(kept))


async def count_wrapped_keys(database: Database) -> dict[str, int]:
    """Count the wrapped keys of each master key."""
    async with database.read(ROTATION) as tx:
        found: dict[str, int] = {}
        for statement in _USAGE:
            for master_id, count in await tx.rows(statement):
                found[master_id] = found.get(master_id, 0) + count
        return found


async def _reach_nodes(database: Database, keys: MasterKeys, target: str, actor: Actor) -> None:
    """Wait until every live node can use the new key, before anything is wrapped with it."""
    await _bump_key_revision(database, actor, "keys.new", target)
    late = await wait_for_nodes(
        database, lambda node: node.master_keys[:1] == (target,), limits.NODES_WAIT_SECONDS_MAX
    )
    if late:
        source = f"the file {keys.file}" if keys.file else "CLEARLANE_MASTER_KEY"
        raise OperationRefused(
            f"These nodes do not wrap with the new master key {target}: {', '.join(late)}. Nothing was "
            f"re-wrapped. Give them {source} as it is here, then run this command again."
        )


async def _bump_key_revision(database: Database, actor: Actor, action: str, master_id: str) -> None:
    async def job(tx: Tx) -> None:
        await bump_revision(tx, REVISION)
        tx.audit(action, ids=[master_id])

    await database.write(ROTATION, job, actor=actor)


async def _rewrap_all(database: Database, keys: MasterKeys, target: str, actor: Actor) -> int:
    """Wrap all keys in pages of short writes, so that no other write waits for long."""
    total = 0
    for table in _TABLES:
        while done := await database.write(
            ROTATION, partial(table.page, keys, target), actor=actor
        ):
            total += done
    return total


@dataclass(frozen=True, slots=True)
class _WrappedKeyTable:
    """The statements that find, read and replace the rows of one table of wrapped keys."""

    find: Statement
    store: Statement
    binding: Callable[[Row], str]
    name: str

    async def page(self, keys: MasterKeys, target: str, tx: Tx) -> int:
        rows = await tx.rows(self.find, target=target)
        for row in rows:
            id, master_id, wrapped = row[:3]
            binding = self.binding(row)
            new_id, rewrapped = keys.wrap(keys.unwrap(master_id, wrapped, binding), binding)
            await tx.run(self.store, id=id, master_id=new_id, wrapped=rewrapped)
        if rows:
            tx.audit("keys.rewrapped", count=len(rows), detail=self.name)
        return len(rows)


_USAGE: Sequence[Statement] = [
    Statement(select(table.c.master_id, func.count()).group_by(table.c.master_id))
    for table in (installation_keys, data_keys)
]
_TABLES = (
    _WrappedKeyTable(
        Statement(
            select(
                installation_keys.c.name,
                installation_keys.c.master_id,
                installation_keys.c.wrapped,
            ).where(installation_keys.c.master_id != bindparam("target"))
        ),
        Statement(
            update(installation_keys)
            .where(installation_keys.c.name == bindparam("id"))
            .values(master_id=bindparam("master_id"), wrapped=bindparam("wrapped"))
        ),
        lambda row: installation_key_binding(row[0]),
        "installation_keys",
    ),
    _WrappedKeyTable(
        Statement(
            select(
                data_keys.c.id,
                data_keys.c.master_id,
                data_keys.c.wrapped,
                data_keys.c.vendor_id,
                data_keys.c.site_id,
                data_keys.c.month,
                data_keys.c.retention,
            )
            .where(data_keys.c.master_id != bindparam("target"))
            .limit(REWRAP_PAGE_ROWS)
        ),
        Statement(
            update(data_keys)
            .where(data_keys.c.id == bindparam("id"))
            .values(master_id=bindparam("master_id"), wrapped=bindparam("wrapped"))
        ),
        lambda row: data_key_binding(row[0], *row[3:]),
        "data_keys",
    ),
)
