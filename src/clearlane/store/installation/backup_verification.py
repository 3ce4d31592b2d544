"""Try a backup: restore it into a scratch place, and check its chain, counts and money. Nothing that runs is touched.

On PostgreSQL the operator restores with the database's own tools, and what was restored is checked as it is.
"""

from dataclasses import dataclass
from pathlib import Path

from clearlane.kernel.clock import Clock
from clearlane.store.audit import audit
from clearlane.store.database.database import Database, OperationRefused, open_database
from clearlane.store.installation.archive import Manifest, scratch_file
from clearlane.store.installation.backup import BACKUP, require_chain, unpack_intact
from clearlane.store.installation.ledger_check import CHECKS, check_ledger
from clearlane.store.installation.table_counts import count_rows
from clearlane.store.vault.keys import MasterKeys
from clearlane.store.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class VerifiedBackup:
    """What a backup holds, and what does not agree in it."""

    manifest: Manifest | None
    """What the file says of itself; None for a database that was restored by other means."""
    audit_rows: int
    rows: dict[str, int]
    """The number of rows of each table."""
    faults: tuple[str, ...]
    """What does not agree, in sentences; empty for a backup that can be relied on."""
    checks: int = len(CHECKS)


async def verify_backup(
    archive: Path, *, scratch: Path, keys: MasterKeys, clock: Clock
) -> VerifiedBackup:
    """Restore a file of `clearlane backup` into a scratch directory and check it; a damaged file is refused."""
    with scratch_file(scratch) as copy:
        manifest = await unpack_intact(archive, copy)
        # Its own anchor beside it, which goes with it: that of this node vouches for the running database.
        database = await open_database(
            url="", sqlite_file=copy, connections=1, keys=keys, clock=clock, anchor=copy.with_name("anchor"),
        )  # fmt: skip
        try:
            vault = Vault(database, keys, clock)
            await vault.load()  # refuses a backup whose keys cannot be unwrapped
            await require_chain(database, vault, manifest)
            return await _verified(database, manifest, manifest.audit_seq)
        finally:
            await database.close()


async def verify_restored(database: Database, vault: Vault) -> VerifiedBackup:
    """Check a database that was restored by other means."""
    verdict = await audit.verify(database, vault, None)
    if verdict.fault:
        raise OperationRefused(f"The audit chain is not whole: {verdict.fault}")
    return await _verified(database, None, verdict.rows)


async def _verified(
    database: Database, manifest: Manifest | None, audit_rows: int
) -> VerifiedBackup:
    async with database.read(BACKUP) as tx:
        rows = await count_rows(tx)
        faults = await check_ledger(tx)
    return VerifiedBackup(manifest, audit_rows, rows, tuple(one.sentence for one in faults))
