"""Control numbers of interchanges: each is given once, for all payers, and never again."""

from sqlalchemy import BigInteger, bindparam, select

from clearlane.store.database import Tx
from clearlane.store.schema import control_numbers
from clearlane.store.sql import Statement, insert_into

CONTROL_NUMBERS_SKIPPED = 1_000_000
"""How many are left out after a restore: more than can have been used since the backup."""
INTERCHANGE = "interchange"


async def next_control_number(tx: Tx, *, skip: int = 0) -> int:
    """Return a control number that was never used before, after skipping some."""
    row = await tx.row(_NEXT, name=INTERCHANGE, number=1 + skip, step=1 + skip)
    assert row is not None
    return int(row[0])


async def last_control_number(tx: Tx) -> int:
    """Return the last control number used."""
    row = await tx.row(_GIVEN, name=INTERCHANGE)
    return int(row[0]) if row else 0


_NUMBER = insert_into(control_numbers, "name", "number")
_NEXT = Statement(
    _NUMBER.on_conflict_do_update(
        index_elements=["name"],
        set_={"number": control_numbers.c.number + bindparam("step", type_=BigInteger)},
    ).returning(control_numbers.c.number)
)
_GIVEN = Statement(
    select(control_numbers.c.number).where(control_numbers.c.name == bindparam("name"))
)
