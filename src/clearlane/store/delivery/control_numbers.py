"""Counters that only go up: control numbers of interchanges, and the numbers of vendors' requests to payers.

A control number is given once, for all payers. A request number is given once to a vendor and fits a 32-bit signed
integer, because that is what vendors' programs store it in. After a restore both go on far ahead of what can have been
given since the backup.
"""

import secrets
from collections.abc import Sequence

from sqlalchemy import BigInteger, BindParameter, Case, bindparam, case, select, update

from clearlane.kernel.ids import VendorId
from clearlane.store.database.database import Row, Tx, find_row, require_row
from clearlane.store.database.schema import control_numbers
from clearlane.store.database.sql import Statement, insert_into

CONTROL_NUMBERS_SKIPPED = 1_000_000
"""How many are left out after a restore: more than can have been used since the backup."""
INTERCHANGE = "interchange"
REQUEST_NUMBER_MAX = 2**31 - 1
# A vendor's numbers start anywhere in here: numbers given after a backup that knows no counter of the vendor are then
# not given again, and more than a thousand million are left.
REQUEST_NUMBER_START_MIN, REQUEST_NUMBER_START_MAX = 100_000_000, 1_000_000_000
REQUEST_NUMBERS_SKIPPED = 10_000_000
"""How many are left out at least after a restore: those of a day with a hundred requests a second."""
REQUESTS_OF_VENDOR = "inquiry requests of vendor "


async def next_control_number(tx: Tx, *, skip: int = 0) -> int:
    """Return a control number that was never used before, after skipping some."""
    return require_row(
        await find_row(tx, int, _NEXT, name=INTERCHANGE, number=1 + skip, step=1 + skip),
        "a control number",
    )


async def last_control_number(tx: Tx) -> int:
    """Return the last control number used."""
    return await find_row(tx, int, _GIVEN, name=INTERCHANGE) or 0


async def next_request_number(tx: Tx, vendor_id: VendorId) -> int:
    """Return the number of a vendor's next request to payers; the first starts anywhere."""
    spread = REQUEST_NUMBER_START_MAX - REQUEST_NUMBER_START_MIN
    start = REQUEST_NUMBER_START_MIN + secrets.randbelow(spread)
    return require_row(
        await find_row(
            tx, int, _NEXT_REQUEST, name=f"{REQUESTS_OF_VENDOR}{vendor_id}", number=start
        ),
        "a request number",
    )


async def last_request_numbers(tx: Tx) -> list[Row]:
    """Return the last request number of each vendor, for ``skip_request_numbers`` after a restore."""
    return await tx.rows(_GIVEN_REQUESTS)


async def skip_request_numbers(tx: Tx, last: Sequence[Row] = ()) -> None:
    """Let every vendor's request numbers go on far ahead; ``last`` are those of the replaced database, if it is known.

    The step is random, so that a backup that is restored twice does not go on from the same numbers twice.
    """
    await tx.many(_KEEP_LATER, [{"name": name, "number": number} for name, number in last])
    step = REQUEST_NUMBERS_SKIPPED + secrets.randbelow(REQUEST_NUMBERS_SKIPPED)
    await tx.run(_SKIP_REQUESTS, step=step)


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


def _ahead(step: int | BindParameter[int]) -> Case[int]:
    """Return the number that is ``step`` ahead; after the last one they begin at 1, where old requests are purged."""
    number = control_numbers.c.number
    return case(
        (number > REQUEST_NUMBER_MAX - step, number + step - REQUEST_NUMBER_MAX),
        else_=number + step,
    )


_NEXT_REQUEST = Statement(
    _NUMBER.on_conflict_do_update(index_elements=["name"], set_={"number": _ahead(1)}).returning(
        control_numbers.c.number
    )
)
_OF_VENDORS = control_numbers.c.name.startswith(REQUESTS_OF_VENDOR)
_GIVEN_REQUESTS = Statement(
    select(control_numbers.c.name, control_numbers.c.number).where(_OF_VENDORS)
)
_KEEP_LATER = Statement(
    _NUMBER.on_conflict_do_update(
        index_elements=["name"],
        set_={"number": _NUMBER.excluded.number},
        where=_NUMBER.excluded.number > control_numbers.c.number,
    )
)
_SKIP_REQUESTS = Statement(
    update(control_numbers)
    .where(_OF_VENDORS)
    .values(number=_ahead(bindparam("step", type_=BigInteger)))
)
