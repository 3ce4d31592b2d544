"""Which tables PostgreSQL keeps in quarterly partitions, and the SQL that makes them.

A number of a claim or payment begins with the time at which it was made, so a range of numbers is a quarter, and a key that
holds the number stays unique over all partitions. Look-ups by number read one partition. What must be unique over all time
stays whole: claim ids, references, and payments with their identities. On SQLite no table is partitioned.

Quarters, because each statement costs the server a little for each partition there is: ten years are forty.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import MetaData, PrimaryKeyConstraint

from clearlane.kernel.ids import first_number
from clearlane.store.database.schema.core import CLIENT_TABLES, claims, row_security

__all__ = [
    "MONTHS_AHEAD",
    "PARTITION_KEYS",
    "PartitionState",
    "TablePartition",
    "copy_partitioned",
    "default_partition",
    "earlier_partition",
    "first_of",
    "list_quarters",
    "next_quarter",
    "quarter_of",
    "quarter_partition",
]

MONTHS_AHEAD = 3
"""How far ahead there are always partitions."""

CLAIM_LETTER, PAYMENT_LETTER = "C", "P"
# The column whose range makes the partition, and the letter that its numbers begin with.
PARTITION_KEYS = {
    "claims": ("claim_number", CLAIM_LETTER),
    "claim_events": ("claim_number", CLAIM_LETTER),
    "claim_facts": ("claim_number", CLAIM_LETTER),
    "documents": ("claim_number", CLAIM_LETTER),
    "batch_claims": ("claim_number", CLAIM_LETTER),
    "claim_payments": ("payment_id", PAYMENT_LETTER),
    "payment_shares": ("payment_id", PAYMENT_LETTER),
}

WHOLE_ROW_BYTES = 4_080
"""Rows of claims up to this length stay in one piece: two of them fill a page."""
# A usual claim is longer than the two kilobytes from which PostgreSQL stores parts of a row elsewhere: as one row it takes
# a third less of the server's time.
STORAGE = {claims.name: f" WITH (toast_tuple_target = {WHOLE_ROW_BYTES})"}


class PartitionState(NamedTuple):
    """Until when every partitioned table has partitions, and the tables with rows that none of them takes."""

    through: datetime
    stray: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TablePartition:
    """A partition, and the statements that make it in one transaction."""

    table: str
    name: str
    bounds: str

    @property
    def statements(self) -> tuple[str, ...]:
        """Create it with row-level security of its own: a policy of the whole table counts for statements on that alone."""
        return (
            f"CREATE TABLE {self.name} PARTITION OF {self.table} {self.bounds}{STORAGE.get(self.table, '')}",
            *row_security(self.name, of_sites="site_id" in CLIENT_TABLES[self.table].c),
        )


def list_quarters(first: datetime, months: int) -> list[datetime]:
    """Return the beginnings of the quarters from a moment to some months after it. They begin and end in UTC."""
    at = first.astimezone(UTC)
    this = at.year * 12 + at.month - 1
    numbers = range(this - this % 3, this + months + 1, 3)
    return [datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC) for number in numbers]


def next_quarter(quarter: datetime) -> datetime:
    """Return the beginning of the quarter after one."""
    return list_quarters(quarter, 3)[1]


def quarter_name(table: str, quarter: datetime) -> str:
    """Return the name of a partition, such as claims_2026_q4."""
    return f"{table}_{quarter.year}_q{quarter.month // 3 + 1}"


def quarter_of(name: str) -> datetime | None:
    """Return the quarter of the partition of that name; None for the first and the default partition."""
    found = _QUARTER.search(name)
    return datetime(int(found[1]), int(found[2]) * 3 - 2, 1, tzinfo=UTC) if found else None


_QUARTER = re.compile(r"_(\d{4})_q([1-4])$")


def quarter_partition(table: str, quarter: datetime) -> TablePartition:
    """Return the partition of a quarter, given by its beginning."""
    begins, ends = first_of(table, quarter), first_of(table, next_quarter(quarter))
    bounds = f"FOR VALUES FROM ('{begins}') TO ('{ends}')"
    return TablePartition(table, quarter_name(table, quarter), bounds)


def earlier_partition(table: str, quarter: datetime) -> TablePartition:
    """Return the partition of everything before a quarter: of what is imported, and of clocks that were wrong."""
    bounds = f"FOR VALUES FROM (MINVALUE) TO ('{first_of(table, quarter)}')"
    return TablePartition(table, f"{table}_earlier", bounds)


def first_of(table: str, quarter: datetime) -> str:
    """Return what sorts before every number of a quarter."""
    return first_number(quarter, letter=PARTITION_KEYS[table][1])


def default_partition(table: str) -> TablePartition:
    """Return the partition of what no other takes: it stays empty as long as partitions are made in time."""
    return TablePartition(table, f"{table}_default", "DEFAULT")


def copy_partitioned(metadata: MetaData) -> MetaData:
    """Return the tables as PostgreSQL creates them: the keys of those that are partitioned hold the number."""
    copied = MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.sorted_tables:
        column, _ = PARTITION_KEYS.get(table.name, ("", ""))
        made = table.to_metadata(copied)
        if not column:
            continue
        made.kwargs["postgresql_partition_by"] = f"RANGE ({column})"
        names = [one.name for one in made.primary_key.columns]
        if column not in names:
            made.c[column].primary_key = True
            made.append_constraint(
                PrimaryKeyConstraint(*(made.c[name] for name in (*names, column)))
            )
    return copied
