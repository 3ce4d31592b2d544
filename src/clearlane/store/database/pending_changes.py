"""What a migration does to a database in use: which table, what waits for it, and about how long.

Each migration after the first lists its changes in ``CHANGES``; ``clearlane db upgrade --check`` shows them.
"""

from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType

from sqlalchemy import Connection, text


class Lock(StrEnum):
    """What waits while a change is made, on PostgreSQL. SQLite has one writer, so there all writes wait for the whole upgrade."""

    NOTHING = "nothing"
    WRITES = "writes"
    ALL = "reads and writes"


class Work(StrEnum):
    """What a change does with the rows that are there."""

    NONE = "no row is touched"
    INDEX = "an index is built over every row"
    REWRITE = "every row is written again"


# Rows a second on two cores and a slow disk; the result is an order of magnitude.
ROWS_PER_SECOND = {Work.INDEX: 200_000, Work.REWRITE: 20_000}
SECONDS_MIN = 1


@dataclass(frozen=True, slots=True)
class PendingChange:
    """One change of a migration, in words, with the table it concerns."""

    what: str
    table: str
    lock: Lock
    work: Work


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change of an upgrade to come, with the rows that its table has now."""

    change: PendingChange
    rows: int

    @property
    def seconds(self) -> int:
        """About how long it takes."""
        rate = ROWS_PER_SECOND.get(self.change.work)
        return max(SECONDS_MIN, self.rows // rate) if rate else SECONDS_MIN


def changes_of(module: ModuleType) -> tuple[PendingChange, ...]:
    """Return the changes that a migration lists."""
    return tuple(module.CHANGES)


def rows_of(connection: Connection, table: str) -> int:
    """Return about how many rows a table has; 0 for one that the upgrade makes."""
    if connection.dialect.name == "postgresql":
        estimated = connection.execute(
            text("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(:name)"),
            {"name": table},
        ).scalar()
        if estimated is not None and estimated >= 0:
            return int(estimated)
        if estimated is None:
            return 0
    elif not connection.dialect.has_table(connection, table):
        return 0
    return int(connection.execute(text(f'SELECT count(*) FROM "{table}"')).scalar() or 0)
