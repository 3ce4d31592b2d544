"""Before which moment data are old: the retention period of a vendor, of all vendors, or the default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from clearlane.kernel.clock import to_micros
from clearlane.kernel.retention_kinds import RETENTION, RetentionKind
from clearlane.store.database.database import Database, Tx
from clearlane.store.retention import periods
from clearlane.store.retention.periods import EVERY_VENDOR


@dataclass(frozen=True, slots=True)
class Cutoff:
    """Before when a vendor's data of one kind are old."""

    vendor_id: int
    before: int


@dataclass(frozen=True, slots=True)
class RetentionTable:
    """The periods of an installation: what was set, over the defaults."""

    defaults: Mapping[RetentionKind, int]
    set: Mapping[tuple[int, str], int]
    vendors: Sequence[int]

    def days(self, kind: RetentionKind, vendor_id: int = EVERY_VENDOR) -> int:
        """Return how many days a kind is kept; of the whole installation, the longest that any vendor has."""
        if RETENTION[kind].of_installation and vendor_id == EVERY_VENDOR:
            return max(self._days(kind, one) for one in (EVERY_VENDOR, *self.vendors))
        return self._days(kind, vendor_id)

    def periods(self, kind: RetentionKind) -> dict[int, int]:
        """Return the days of a kind by vendor: those for all vendors first, then of each vendor with days of its own."""
        own = {of: days for (of, name), days in sorted(self.set.items()) if name == kind.value}
        return {EVERY_VENDOR: self.defaults[kind], **own}

    def cutoffs(self, kind: RetentionKind, now: datetime) -> list[Cutoff]:
        """Return before when the data of each vendor are old, or those of the installation."""
        owners = [EVERY_VENDOR] if RETENTION[kind].of_installation else self.vendors
        return [
            Cutoff(one, to_micros(now - timedelta(days=self.days(kind, one)))) for one in owners
        ]

    def _days(self, kind: RetentionKind, vendor_id: int) -> int:
        found = self.set.get((vendor_id, kind.value))
        if found is None:
            found = self.set.get((EVERY_VENDOR, kind.value), self.defaults[kind])
        return found


async def load_table(tx: Tx, defaults: Mapping[RetentionKind, int]) -> RetentionTable:
    """Load the periods of all vendors."""
    rows = await periods.list_periods(tx)
    return RetentionTable(
        defaults,
        {(one.vendor_id, one.kind): one.days for one in rows},
        await periods.list_vendors(tx),
    )


async def list_cutoffs(
    database: Database, defaults: Mapping[RetentionKind, int], kind: RetentionKind, now: datetime
) -> list[Cutoff]:
    """Return before when the data of each vendor are old, or those of the installation."""
    async with database.read(periods.SCOPE) as tx:
        return (await load_table(tx, defaults)).cutoffs(kind, now)
