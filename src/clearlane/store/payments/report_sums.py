"""Daily sums of a site's claims and of what payers decided on them: the rows that reports add up.

A row is of the claims of one day of receipt, so that a day is summed again as a whole when one of its claims changes.
Knows which claims and claim payments count; opens nothing that is sealed.
"""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from clearlane.store.claims.claims import IS_REAL
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claim_payments, claims, report_sums
from clearlane.store.database.sql import (
    AnyColumn,
    Statement,
    among,
    inlined,
    scoped_delete,
    scoped_insert,
    scoped_select,
    select_as,
    without_index,
)

MONTH_CHARACTERS = 7
"""Of a day: its year and month."""


class SumKind(StrEnum):
    """What a row of sums is about."""

    RECEIVED = "received"
    """Claims by day of receipt and label, the last of those that took over from each other."""
    OPEN = "open"
    """Those of them that await something."""
    DECIDED = "decided"
    """Claim payments in force, by day of payment and label."""
    ADJUSTED = "adjusted"
    """Their adjustments, by reason as well."""


class SumKey(NamedTuple):
    """What a row of sums is of."""

    kind: str
    day: str = ""
    payer_id: str = ""
    provider: str = ""
    """NPI of the billing provider."""
    label: str = ""
    reason: str = ""
    """Group and reason of an adjustment, such as CO-45."""


class SumAmounts(NamedTuple):
    """The sums of a row. Amounts are cents."""

    claims: int = 0
    charge_cents: int = 0
    paid_cents: int = 0
    patient_cents: int = 0
    adjusted_cents: int = 0
    denied_cents: int = 0
    """What was adjusted by reasons that deny."""

    def plus(self, other: "SumAmounts") -> "SumAmounts":
        """Return the sums of both."""
        return SumAmounts(*(one + more for one, more in zip(self, other, strict=True)))


ReportSum = tuple[SumKey, SumAmounts]
"""A row of sums."""
KEYS = SumKey._fields[1:]
"""What rows can be added up by."""


class SummedClaim(NamedTuple):
    """A claim of a day. ``header`` is sealed."""

    claim_number: str
    payer_id: str
    label: str
    awaiting: str | None
    is_superseded: int
    total_cents: int
    paid_cents: int
    patient_cents: int
    header: bytes


class SummedPayment(NamedTuple):
    """A claim payment in force."""

    claim_number: str
    identity: str
    label: str
    paid_day: str
    charge_cents: int
    paid_cents: int
    patient_cents: int
    reasons: str


async def list_changed_days(tx: Tx, since: int) -> list[str]:
    """Return the days of receipt of the site's claims that changed since a moment, or that others took over from."""
    days = {str(day) for (day,) in await tx.rows(_CHANGED_DAYS, since=since)}
    before = [str(number) for (number,) in await tx.rows(_CHANGED_BEFORE, since=since)]
    if before:
        days |= {str(day) for (day,) in await tx.rows(_DAYS_OF, claim_numbers=before)}
    return sorted(days)


async def list_claims_of_day(tx: Tx, day: str, *, after: str, limit: int) -> list[SummedClaim]:
    """Return the claims that were received on a day, in the order of their numbers."""
    return await list_rows(tx, SummedClaim, _OF_DAY, day=day, after=after, limit=limit)


async def list_payments_in_force(tx: Tx, claim_numbers: Sequence[str]) -> list[SummedPayment]:
    """Return what payers decided on claims, without what was reversed or replaced."""
    return await list_rows(tx, SummedPayment, _IN_FORCE, claim_numbers=list(claim_numbers))


async def replace_day(tx: Tx, day: str, rows: Sequence[ReportSum]) -> None:
    """Replace the sums of the claims that were received on a day."""
    await tx.run(_REMOVE, created_day=day)
    await tx.many(
        _ADD, [{"created_day": day, **key._asdict(), **sums._asdict()} for key, sums in rows]
    )


async def add_up(
    tx: Tx,
    kind: SumKind,
    *,
    keys: Collection[str],
    months: bool,
    first: str,
    last: str,
    given: Mapping[str, Sequence[str]],
    denied: bool,
    limit: int,
) -> list[ReportSum]:
    """Return the sums of days, added up by some of ``KEYS``: the other keys are empty in what is returned.

    ``months`` makes the key of days the month; ``given`` limits keys to values; ``denied`` is for adjustments that deny.
    """
    by = tuple(key for key in KEYS if key in keys)
    statement = _sums(by, months, tuple(sorted(given)), denied)
    values = {f"of_{key}": list(given[key]) for key in given}
    rows = await tx.rows(statement, kind=kind.value, first=first, last=last, limit=limit, **values)
    return [
        (
            SumKey(kind.value, **dict(zip(by, map(str, row), strict=False))),
            SumAmounts(*map(int, row[len(by) :])),
        )
        for row in rows
        if row[-1] is not None  # without keys there is always a row
    ]


_SUMS = report_sums.c
_CHANGED = (claims.c.updated_at >= bindparam("since"), IS_REAL)
# Few claims changed since, and SQLite would read all of the site in the order of their days.
_CHANGED_DAYS = scoped_select(
    select(without_index(claims.c.created_day)).where(*_CHANGED).distinct(),
    claims,
    site_finds=False,
)
_CHANGED_BEFORE = scoped_select(
    select(claims.c.predecessor_id).where(*_CHANGED, claims.c.predecessor_id.is_not(None)), claims
)
_DAYS_OF = scoped_select(
    select(claims.c.created_day).where(among(claims.c.claim_number, "claim_numbers")).distinct(),
    claims,
)
_OF_DAY = scoped_select(
    select_as(claims, SummedClaim)
    .where(
        claims.c.created_day == bindparam("day"),
        claims.c.claim_number > bindparam("after"),
        IS_REAL,
    )
    .order_by(claims.c.claim_number)
    .limit(bindparam("limit")),
    claims,
)
_IN_FORCE = scoped_select(
    select_as(claim_payments, SummedPayment).where(
        among(claim_payments.c.claim_number, "claim_numbers"),
        claim_payments.c.in_force == inlined(1),
        claim_payments.c.replaced == inlined(0),
    ),
    claim_payments,
)
_REMOVE = scoped_delete(report_sums, _SUMS.created_day == bindparam("created_day"))
_ADD = scoped_insert(report_sums, "created_day", *SumKey._fields, *SumAmounts._fields)


@lru_cache(maxsize=256)
def _sums(by: tuple[str, ...], months: bool, given: tuple[str, ...], denied: bool) -> Statement:  # noqa: FBT001
    """Return the statement of one way to add up."""
    columns: dict[str, AnyColumn] = {key: _SUMS[key] for key in by}
    if months and "day" in columns:
        columns["day"] = func.substr(_SUMS.day, 1, MONTH_CHARACTERS)
    keys = list(columns.values())
    where = [
        _SUMS.kind == bindparam("kind"),
        _SUMS.day >= bindparam("first"),
        _SUMS.day <= bindparam("last"),
        *(among(_SUMS[key], f"of_{key}") for key in given),
        *([_SUMS.denied_cents > 0] if denied else []),
    ]
    found = select(*keys, *(func.sum(_SUMS[name]) for name in SumAmounts._fields)).where(*where)
    if keys:
        found = found.group_by(*keys).order_by(*keys)
    return scoped_select(found.limit(bindparam("limit")), report_sums)
