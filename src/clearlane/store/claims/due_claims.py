"""Find claims whose awaited answer is due, each once; record the steps that are taken about them.

The search reads a vendor's claims in the order of the moments by which something is to come. How far it came is stored, and
changes in the transaction that acts on them. A moment that is written lies in the future, so none is passed over. Runs
over all clients.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, case, func, select, update

from clearlane.claims.awaiting import ANSWERS, ASKS, BY_LABEL, Awaited, OverdueStep
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.store.claims.claim_updates import CountedEvent
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED
from clearlane.store.database.database import SystemScope, Tx, list_rows
from clearlane.store.database.schema import claims, due_scans, overdue_steps, vendors
from clearlane.store.database.sql import (
    Statement,
    among,
    insert_into,
    scoped_insert,
    scoped_select,
    select_as,
)

SCOPE = SystemScope("claims of all vendors are looked through for answers that are due")
DUE_CLAIMS_AT_ONCE = 2_000
WAITING_LABELS = [
    label.value
    for label, awaited in BY_LABEL.items()
    if awaited in ANSWERS and label not in {ClaimLabel.NO_ANSWER, ClaimLabel.FORWARDED}
]
"""The labels of claims that await their payer's answer. A person has the others, or the next payer has."""
LOOK_MICROS_MAX = 24 * 3_600 * 1_000_000
"""How long a look that finds nothing is not recorded."""


class DueClaim(NamedTuple):
    """A claim whose answer is due."""

    vendor_id: int
    site_id: int
    claim_number: str
    kind: str
    payer_id: str
    awaiting: str
    awaited_since: int
    awaited_by: int


class DueClaims(NamedTuple):
    """The claims of one vendor whose answer became due since the last look."""

    claims: list[DueClaim]
    through: int
    """Up to which moment was looked."""


async def list_vendors(tx: Tx, now: int) -> list[int]:
    """Return the vendors whose claims are to be looked through: one is due, or the last look is a day ago."""
    found = []
    for vendor, through in await tx.rows(_VENDORS):
        last = int(through or 0)
        is_old = last < now - LOOK_MICROS_MAX
        if is_old or await tx.rows(_NEXT, vendor=vendor, last=last, now=now, limit=1):
            found.append(int(vendor))
    return found


async def find_due(tx: Tx, vendor_id: int, now: int) -> DueClaims:
    """Return the next claims of a vendor whose answer is due; locks how far was looked."""
    await tx.run(_BEGIN, vendor_id=vendor_id, through=0)
    [(last,)] = await tx.rows(_LOCK, vendor=vendor_id)
    limit = DUE_CLAIMS_AT_ONCE
    found = await list_rows(tx, DueClaim, _NEXT, vendor=vendor_id, last=last, now=now, limit=limit)
    if len(found) < limit:
        return DueClaims(found, max(now, int(last)))
    # All that are due at the same moment as the last one belong together.
    through = found[-1].awaited_by
    more = await list_rows(tx, DueClaim, _AT, vendor=vendor_id, at=through)
    return DueClaims(sorted({*found, *more}), through)


async def save_progress(tx: Tx, vendor_id: int, through: int) -> None:
    """Keep how far a vendor's claims were looked through."""
    await tx.run(_SET, vendor=vendor_id, to=through)


async def lock_waiting(tx: Tx, waiting: Sequence[DueClaim], now: int) -> list[DueClaim]:
    """Lock those of the claims whose answer is still overdue, and return them: others were answered since they were found."""
    numbers = sorted({one.claim_number for one in waiting})
    kept = {number for (number,) in await tx.rows(_LOCK_WAITING, claim_numbers=numbers, now=now)}
    return [one for one in waiting if one.claim_number in kept]


async def mark_unanswered(tx: Tx, claim_numbers: Sequence[str]) -> list[CountedEvent]:
    """Give claims the label of those whose payer does not answer, and count one event of each."""
    rows = await tx.rows(_MARK, claim_numbers=sorted(set(claim_numbers)))
    return sorted((CountedEvent(*row) for row in rows), key=lambda one: one.claim_number)


_VENDORS = Statement(
    select(vendors.c.id, due_scans.c.through)
    .outerjoin_from(vendors, due_scans, due_scans.c.vendor_id == vendors.c.id)
    .order_by(vendors.c.id)
)
_BEGIN = Statement(insert_into(due_scans, "vendor_id", "through").on_conflict_do_nothing())
_OF_SCAN = due_scans.c.vendor_id == bindparam("vendor")
_LOCK = Statement(select(due_scans.c.through).where(_OF_SCAN).with_for_update())
_SET = Statement(update(due_scans).where(_OF_SCAN).values(through=bindparam("to")))
_WAITS = (
    claims.c.awaiting.in_([one.value for one in ANSWERS]),
    claims.c.label.in_(WAITING_LABELS),
    IS_NOT_SUPERSEDED,
)
_OF_VENDOR = select_as(claims, DueClaim).where(claims.c.vendor_id == bindparam("vendor"), *_WAITS)
_LOCK_WAITING = Statement(
    select(claims.c.claim_number)
    .where(
        among(claims.c.claim_number, "claim_numbers"),
        claims.c.awaited_by <= bindparam("now"),
        *_WAITS,
    )
    .order_by(claims.c.claim_number)
    .with_for_update(),
    system=True,
)
_NEXT = Statement(
    _OF_VENDOR.where(
        claims.c.awaited_by > bindparam("last"), claims.c.awaited_by <= bindparam("now")
    )
    .order_by(claims.c.awaited_by, claims.c.claim_number)
    .limit(bindparam("limit")),
    system=True,
)
_AT = Statement(_OF_VENDOR.where(claims.c.awaited_by == bindparam("at")), system=True)
_MARK = Statement(
    update(claims)
    .where(among(claims.c.claim_number, "claim_numbers"))
    .values(label=ClaimLabel.NO_ANSWER.value, event_sequence=claims.c.event_sequence + 1)
    .returning(
        claims.c.vendor_id, claims.c.site_id, claims.c.claim_number, claims.c.event_sequence
    ),
    system=True,
)


# --- the steps that were taken about overdue claims ---------------------------------------------------------------


class NewStep(NamedTuple):
    """A step to be recorded."""

    vendor_id: int
    site_id: int
    claim_number: str
    awaiting: str
    since: int
    step: str
    at: int
    next_at: int | None
    for_person: int = 0
    """1 if the payer's answer to the question of this step came before the step was recorded, and leaves the claim to a person."""


class DueStep(NamedTuple):
    """A step after which the next one is due."""

    id: int
    step: str
    at: int
    next_at: int
    for_person: int
    """1 if the payer answered the question in a way that leaves the claim to a person."""
    asked: int
    """How often the service asked about this claim while it awaited the same."""
    still_waits: int
    """1 if the claim still waits for the same; else no further step is taken."""
    vendor_id: int
    site_id: int
    claim_number: str
    kind: str
    payer_id: str
    awaiting: str
    since: int

    @property
    def claim(self) -> DueClaim:
        """The claim that it is about."""
        return DueClaim(*self[7:], 0)


class TakenStep(NamedTuple):
    """A step that was taken."""

    at: int
    step: str
    awaiting: str


async def add_steps(tx: Tx, steps: Sequence[NewStep]) -> None:
    """Record steps; one that was recorded before stays as it is."""
    await tx.many(_ADD_STEPS, [one._asdict() for one in steps])


async def add_own_step(
    tx: Tx, claim_number: str, awaited: Awaited, since: int, step: OverdueStep, at: int
) -> None:
    """Record a step about a claim of the scope after which the sweep takes no other."""
    values = {"awaiting": awaited.value, "since": since, "step": step.value, "at": at}
    await tx.run(_ADD_OWN_STEP, claim_number=claim_number, next_at=None, for_person=0, **values)


async def list_due_steps(tx: Tx, now: int, limit: int) -> list[DueStep]:
    """Return the steps after which the next one is due, the earliest first."""
    return await list_rows(tx, DueStep, _DUE_STEPS, now=now, limit=limit)


async def lock_steps(tx: Tx, due: Sequence[DueStep]) -> list[DueStep]:
    """Lock those of the steps that are still open, and return them: another node may have acted on them.

    A payer that is asked in real time may have answered before this, so that the claim is left to a person.
    """
    rows = await tx.rows(_LOCK_STEPS, ids=[one.id for one in due])
    now = {id: (next_at, for_person) for id, next_at, for_person in rows}
    kept = [
        one for one in due if one.id in now and (one.next_at == now[one.id][0] or now[one.id][1])
    ]
    return [one._replace(for_person=now[one.id][1]) for one in kept]


async def close_steps(tx: Tx, ids: Sequence[int]) -> None:
    """Mark that the step after these was taken, or is not needed."""
    if ids:
        await tx.run(_SET_NEXT, ids=list(ids), to=None)


async def postpone_steps(tx: Tx, ids: Sequence[int], to: int) -> None:
    """Put off the step after these to a moment."""
    if ids:
        await tx.run(_SET_NEXT, ids=list(ids), to=to)


async def leave_to_person(tx: Tx, claim_number: str, at: int) -> None:
    """Let a person have an overdue claim at once whose payer was asked about it.

    The answer may come before the step is recorded that asked: then the step before it is open. Nothing is changed for a claim
    that is not overdue.
    """
    await tx.run(_LEAVE_TO_PERSON, of=claim_number, to=at)


async def find_next(tx: Tx) -> int | None:
    """Return the moment of the next step about any claim; None if there is none."""
    [(step,)] = await tx.rows(_NEXT_STEP)
    moments = [] if step is None else [int(step)]
    for vendor, through in await tx.rows(_VENDORS):
        [(by,)] = await tx.rows(_NEXT_BY, vendor=vendor, last=int(through or 0))
        moments += [] if by is None else [int(by)]
    return min(moments, default=None)


async def list_steps(tx: Tx, claim_number: str) -> list[TakenStep]:
    """Return the steps that were taken about a claim of the scope, in order."""
    return await list_rows(tx, TakenStep, _STEPS_OF_CLAIM, claim_number=claim_number)


_ADD_STEPS = Statement(
    insert_into(overdue_steps, *NewStep._fields[2:]).on_conflict_do_nothing(), system=True
)
_ADD_OWN_STEP = scoped_insert(overdue_steps, *NewStep._fields[2:], ignore_conflict=True)
_STILL_WAITS = (
    (claims.c.awaiting == overdue_steps.c.awaiting)
    & (claims.c.awaited_since == overdue_steps.c.since)
    & (claims.c.is_superseded == 0)
)
_BEFORE = overdue_steps.alias("before")
_IS_ASK = [one.value for one in ASKS]
_ASKED = (
    select(func.count())
    .where(
        _BEFORE.c.claim_number == overdue_steps.c.claim_number,
        _BEFORE.c.awaiting == overdue_steps.c.awaiting,
        _BEFORE.c.step.in_(_IS_ASK),
    )
    .scalar_subquery()
)
_DUE_STEPS = Statement(
    select(
        overdue_steps.c.id,
        overdue_steps.c.step,
        overdue_steps.c.at,
        overdue_steps.c.next_at,
        overdue_steps.c.for_person,
        _ASKED,
        case((_STILL_WAITS, 1), else_=0),
        claims.c.vendor_id,
        claims.c.site_id,
        claims.c.claim_number,
        claims.c.kind,
        claims.c.payer_id,
        overdue_steps.c.awaiting,
        overdue_steps.c.since,
    )
    .join_from(overdue_steps, claims, claims.c.claim_number == overdue_steps.c.claim_number)
    .where(overdue_steps.c.next_at <= bindparam("now"))
    .order_by(overdue_steps.c.next_at, overdue_steps.c.id)
    .limit(bindparam("limit")),
    system=True,
)
_LOCK_STEPS = Statement(
    select(overdue_steps.c.id, overdue_steps.c.next_at, overdue_steps.c.for_person)
    .where(among(overdue_steps.c.id, "ids"), overdue_steps.c.next_at.is_not(None))
    .order_by(overdue_steps.c.id)
    .with_for_update(),
    system=True,
)
_SET_NEXT = Statement(
    update(overdue_steps).where(among(overdue_steps.c.id, "ids")).values(next_at=bindparam("to")),
    system=True,
)
_LEAVE_TO_PERSON = Statement(
    update(overdue_steps)
    .where(
        overdue_steps.c.claim_number == bindparam("of"),
        overdue_steps.c.next_at.is_not(None),
    )
    .values(next_at=bindparam("to"), for_person=1),
    system=True,
)
_NEXT_STEP = Statement(select(func.min(overdue_steps.c.next_at)), system=True)
_NEXT_BY = Statement(
    select(func.min(claims.c.awaited_by)).where(
        claims.c.vendor_id == bindparam("vendor"), claims.c.awaited_by > bindparam("last"), *_WAITS
    ),
    system=True,
)
_STEPS_OF_CLAIM = scoped_select(
    select_as(overdue_steps, TakenStep)
    .where(overdue_steps.c.claim_number == bindparam("claim_number"))
    .order_by(overdue_steps.c.id),
    overdue_steps,
)
