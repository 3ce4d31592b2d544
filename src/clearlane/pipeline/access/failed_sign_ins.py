"""Record failed sign-ins of vendors and of people: address and hashed name, in the log and in the audit chain.

The first failure of a name from an address is recorded at once; further ones are counted for a minute and then recorded
together, so that one who guesses fills neither the log nor the database. Names are hashed with the installation's key:
people enter passwords in the wrong field. Knows no HTTP.
"""

import asyncio
from dataclasses import dataclass

from clearlane.kernel.ids import NO_VENDOR
from clearlane.kernel.log import get_logger
from clearlane.store.database.database import Actor, Database, SystemScope, write_audit
from clearlane.store.database.group_commit import StoreFault
from clearlane.store.vault.vault import Vault

log = get_logger()

SOURCES_RECORDED_PER_MINUTE_MAX = 60
COUNTED_SECONDS = 60.0
NAME_HASH_CHARACTERS = 16

SCOPE = SystemScope("failed sign-ins belong to no vendor")
ACTION = "sign-in.failed"


@dataclass(frozen=True, slots=True)
class FailureSource:
    """A name that was tried, hashed, and the address it came from."""

    name_hash: str
    address: str


class FailedSignIns:
    """The failed sign-ins of one kind of caller, ``vendor`` or ``console``."""

    def __init__(self, database: Database, vault: Vault, kind: str) -> None:
        self._database = database
        self._vault = vault
        self._kind = kind
        # Failures of this minute that are not recorded yet, by source; and those of sources beyond the limit.
        self._counts: dict[FailureSource, int] = {}
        self._of_others = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def record(self, name: bytes | None, address: str, request_id: str) -> None:
        """Record a failure now, or count it."""
        source = FailureSource(hash_name(self._vault, name or b""), address)
        if source in self._counts:
            self._counts[source] += 1
            return
        if len(self._counts) >= SOURCES_RECORDED_PER_MINUTE_MAX:
            self._of_others += 1
            return
        if not self._counts:
            asyncio.get_running_loop().call_later(COUNTED_SECONDS, self._record_counted)
        self._counts[source] = 0
        self._write(source, 1, request_id)

    def _record_counted(self) -> None:
        """Record what was counted, and reset the count."""
        counts, self._counts = self._counts, {}
        others, self._of_others = self._of_others, 0
        for source, count in counts.items():
            if count:
                self._write(source, count, "")
        if others:
            self._write(FailureSource("others", "other addresses"), others, "")

    def _write(self, source: FailureSource, count: int, request_id: str) -> None:
        log.warning(
            "sign-in failed",
            kind=self._kind,
            name_hash=source.name_hash,
            address=source.address,
            count=count,
            request_id=request_id,
        )
        actor = Actor("unknown", self._kind, request_id, source.address)
        task = asyncio.get_running_loop().create_task(self._audit(source, count, actor))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _audit(self, source: FailureSource, count: int, actor: Actor) -> None:
        try:
            await write_audit(
                self._database,
                SCOPE,
                ACTION,
                count=count,
                detail=f"name {source.name_hash}",
                actor=actor,
            )
        except StoreFault as fault:  # the caller is refused all the same, and the log has it
            log.warning("failed sign-in not audited", fault=type(fault).__name__)


def hash_name(vault: Vault, name: bytes) -> str:
    """Return the hash under which a tried name is recorded: the same name has the same hash."""
    text = name.decode(errors="replace").strip().lower()
    return vault.fingerprint(NO_VENDOR, "failed sign-in", text).hex()[:NAME_HASH_CHARACTERS]
