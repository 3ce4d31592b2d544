"""Make the partitions that a new database on PostgreSQL begins with. They depend on the day, so no migration has them written out."""

from collections.abc import Iterable

from sqlalchemy import text

from clearlane.kernel.clock import SystemClock
from clearlane.store.database.schema.core import MigrationOperations
from clearlane.store.database.schema.partitions import (
    MONTHS_AHEAD,
    default_partition,
    earlier_partition,
    list_quarters,
    quarter_partition,
)


def make_first_partitions(op: MigrationOperations, tables: Iterable[str]) -> None:
    """Make the partitions of this quarter and ahead, of what is older, and of what no other takes."""
    quarters = list_quarters(SystemClock().now(), MONTHS_AHEAD)
    for table in tables:
        made = [quarter_partition(table, quarter) for quarter in quarters]
        for one in (earlier_partition(table, quarters[0]), *made, default_partition(table)):
            for statement in one.statements:
                op.execute(text(statement))
