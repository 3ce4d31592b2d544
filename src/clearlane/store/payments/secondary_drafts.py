"""Drafts of secondary claims: one for each claim whose payer decided and that names another insurance.

The posting of a payment only notes that a draft is due; it is made afterward. Knows no field: contents come sealed.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import bindparam, func, or_, select, update

from clearlane.claims.awaiting import NOTHING_AWAITED, OF_DRAFTS, AwaitedState
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import claims, secondary_drafts
from clearlane.store.database.sql import (
    Statement,
    among,
    inlined,
    insert_into,
    scoped_insert,
    scoped_select,
    scoped_update,
    select_as,
)

TABLE = "secondary_drafts"
SCOPE = SystemScope("drafts of secondary claims of all clients are made by the service")


class DraftState(StrEnum):
    """What became of the draft of a secondary claim."""

    NEW = "new"
    """It is due, and not made yet."""
    FAILED = "failed"
    """It could not be made several times; it is tried again, and a person can look."""
    OPEN = "open"
    """Something must be known before it can be sent."""
    READY = "ready"
    FORWARDED = "forwarded"
    """The payer before forwarded the claim itself; the next payer's answer is awaited."""
    ANSWERED = "answered"
    """The next payer answered what the payer before forwarded: there is nothing to bill."""
    WITHDRAWN = "withdrawn"
    """The payer before took its decision back."""
    SENT = "sent"
    TO_CORRECT = "to_correct"
    """It was sent, and the payer before changed its decision afterward: correct it, or refund."""


UNSENT = tuple(
    one.value for one in DraftState if one not in {DraftState.SENT, DraftState.TO_CORRECT}
)
TO_DO = (DraftState.FAILED, DraftState.OPEN, DraftState.READY, DraftState.TO_CORRECT)
"""The states in which a person has something to do."""


class CrossoverStep(StrEnum):
    """What was done about a crossover that the next payer does not answer."""

    NONE = ""
    ASKED = "asked"
    """The time for its answer is over; it was asked, if it takes questions."""
    UNANSWERED = "unanswered"
    """It still did not answer: the claim for it is drafted."""


class DueDraft(NamedTuple):
    """A draft that is to be made, or made again."""

    vendor_id: int
    site_id: int
    claim_number: str
    due: int
    failures: int


@shows("claim_number", "state")
class DraftRow(NamedTuple):
    """The draft of a secondary claim. ``payload`` is sealed."""

    claim_number: str
    state: str
    due: int
    claim_payment_id: str
    payer_id: str
    patient_cents: int
    secondary_claim: str | None
    changed_at: int
    version: int
    failures: int
    next_at: int | None
    crossover: str
    payload: bytes | None


class ChainLink(NamedTuple):
    """A claim of a chain of payers, and what its payer decided."""

    claim_number: str
    payer_id: str
    state: str
    label: str
    total_cents: int
    paid_cents: int
    patient_cents: int
    prior_payer_claim: str | None
    successor_id: str | None
    is_superseded: int


async def note_due(tx: Tx, owned: Iterable[tuple[int, int, str]], at: int) -> None:
    """Have the drafts of these claims made, or made again: vendor, site and number of each. For any client."""
    rows = [
        {"vendor_id": vendor, "site_id": site, "claim_number": number, "changed_at": at}
        for vendor, site, number in owned
    ]
    await tx.many(_ADD, rows)
    await note_changed(tx, [str(row["claim_number"]) for row in rows])


async def note_changed(tx: Tx, claim_numbers: Sequence[str]) -> None:
    """Have the drafts of these claims made again, of those that have one. For any client."""
    await tx.run(_NOTE, claim_numbers=sorted(claim_numbers))


async def list_due(tx: Tx, at: int, limit: int, after: str = "") -> list[DueDraft]:
    """Return drafts of any client that are to be made, in the order of their claims' numbers, after one of these."""
    return await list_rows(tx, DueDraft, _DUE, at=at, limit=limit, after=after)


async def list_waiting(tx: Tx, at: int, limit: int) -> list[DueDraft]:
    """Return drafts of any client that the service acts on by itself now, the oldest first."""
    return await list_rows(tx, DueDraft, _WAITING, at=at, limit=limit)


async def wait_for_person(tx: Tx, claim_number: str, version: int) -> bool:
    """Leave a draft to a person; False if it changed since it was seen."""
    return bool(await tx.run(_LEAVE, of=claim_number, seen_version=version))


async def note_failure(
    tx: Tx, failed: DueDraft, next_at: int, state: DraftState | None = None
) -> bool:
    """Put off a draft that could not be made; ``state`` is written if nothing was sent. False if it changed."""
    seen = {"of": failed.claim_number, "seen_due": failed.due, "next_at": next_at}
    statement = _FAIL if state is None else _FAIL_AS
    return bool(await tx.run(statement, **seen, **({"state": state.value} if state else {})))


async def set_awaited(tx: Tx, claim_number: str, awaited: AwaitedState) -> None:
    """Write what a decided claim awaits because of its draft; one that awaits something else is left alone."""
    values = {f"new_{name}": value for name, value in awaited._asdict().items()}
    await tx.run(_AWAIT, of=claim_number, **values)


async def find_awaited(tx: Tx, claim_number: str) -> AwaitedState | None:
    """Return what a claim of the site awaits; None if there is no such claim."""
    return await find_row(tx, AwaitedState, _AWAITED, of=claim_number)


async def find_draft(tx: Tx, claim_number: str) -> DraftRow | None:
    """Return the draft of the claim after this one."""
    return await find_row(tx, DraftRow, _FIND, claim_number=claim_number)


async def find_replaced_draft(tx: Tx, claim_number: str) -> DraftRow | None:
    """Return the draft that was sent after the claim which this one replaces, or after one before that; None if none was."""
    seen = {claim_number}
    while (number := await find_row(tx, str, _PREDECESSOR, of=claim_number)) and number not in seen:
        draft = await find_draft(tx, number)
        if draft is not None and draft.secondary_claim:
            return draft
        seen.add(number)
        claim_number = number
    return None


async def lock_as_seen(tx: Tx, seen: DraftRow) -> bool:
    """Lock a draft until the transaction ends; False if it changed since it was seen."""
    return bool(await tx.run(_LOCK, of=seen.claim_number, seen_version=seen.version))


async def take_over(tx: Tx, claim_number: str, replaced: DraftRow, at: int) -> None:
    """Move what was sent after a replaced claim to the draft after its replacement. The caller has locked the first."""
    await tx.run(_GIVE, of=replaced.claim_number, at=at)
    await tx.run(_TAKE, of=claim_number, secondary=replaced.secondary_claim)
    await set_awaited(tx, replaced.claim_number, NOTHING_AWAITED)


async def add_draft(tx: Tx, claim_number: str, at: int) -> bool:
    """Add an empty draft; False if the claim has one."""
    return bool(await tx.run(_ADD_OWN, claim_number=claim_number, changed_at=at, **_EMPTY))


async def save_draft(tx: Tx, draft: DraftRow, seen: DraftRow) -> bool:
    """Replace a draft; False if it is due again, was sent, or was answered by someone else, since it was seen."""
    values = {f"new_{name}": getattr(draft, name) for name in _SAVED}
    values |= {"of": draft.claim_number, "seen_due": seen.due, "seen_version": seen.version}
    return bool(await tx.run(_SAVE, seen_secondary=seen.secondary_claim or "", **values))


async def mark_sent(tx: Tx, claim_number: str, secondary_claim: str, at: int) -> bool:
    """Record that the secondary claim was sent; False if another one was."""
    sent = {"of": claim_number, "secondary": secondary_claim, "at": at}
    return bool(await tx.run(_SENT, states=list(UNSENT), **sent))


async def find_link(tx: Tx, claim_number: str) -> ChainLink | None:
    """Return a claim of the site as a link of its chain."""
    return await find_row(tx, ChainLink, _LINK, of=claim_number)


async def find_link_after(tx: Tx, claim_number: str) -> ChainLink | None:
    """Return the claim that was sent to the next payer after this one; if it was corrected, the correction in force."""
    link = await find_row(tx, ChainLink, _LINK_AFTER, of=claim_number)
    return None if link is None else await find_in_force(tx, link)


async def find_in_force(tx: Tx, link: ChainLink) -> ChainLink:
    """Return the claim that took a claim's place, or the one that took its place; the claim itself if none did."""
    seen: set[str] = set()
    while link.is_superseded and link.successor_id not in seen:
        seen.add(link.claim_number)
        successor = await find_link(tx, link.successor_id or "")
        if successor is None:
            break
        link = successor
    return link


async def count_event(tx: Tx, claim_number: str) -> int:
    """Count one more event of a claim of the site, and return its number."""
    await tx.run(_COUNT_EVENT, of=claim_number)
    return await find_row(tx, int, _EVENTS, of=claim_number) or 0


_EMPTY = {
    "state": DraftState.NEW.value,
    "due": 0,
    "claim_payment_id": "",
    "payer_id": "",
    "patient_cents": 0,
    "version": 0,
    "failures": 0,
    "crossover": CrossoverStep.NONE.value,
}
_SAVED = (
    "state", "claim_payment_id", "payer_id", "patient_cents", "changed_at", "next_at", "crossover", "payload",
)  # fmt: skip
_TABLE = secondary_drafts.c
_ADD = Statement(
    insert_into(secondary_drafts, "claim_number", "changed_at")
    .values(**_EMPTY)
    .on_conflict_do_nothing(),
    system=True,
)
_NOTE = Statement(
    update(secondary_drafts)
    .where(among(_TABLE.claim_number, "claim_numbers"))
    .values(due=_TABLE.due + 1),
    system=True,
)
_DUE_DRAFTS = select_as(secondary_drafts, DueDraft)
_DUE = Statement(
    _DUE_DRAFTS.where(
        _TABLE.due > inlined(0),
        or_(_TABLE.next_at.is_(None), _TABLE.next_at <= bindparam("at"), _TABLE.failures == 0),
        _TABLE.claim_number > bindparam("after"),
    )
    .order_by(_TABLE.claim_number)
    .limit(bindparam("limit")),
    system=True,
)
_WAITING = Statement(
    _DUE_DRAFTS.where(
        _TABLE.next_at <= bindparam("at"),
        _TABLE.state.in_([DraftState.FORWARDED.value, DraftState.READY.value]),
        _TABLE.due == inlined(0),
    )
    .order_by(_TABLE.next_at, _TABLE.claim_number)
    .limit(bindparam("limit")),
    system=True,
)
_DRAFTS = select_as(secondary_drafts, DraftRow)
_FIND = scoped_select(
    _DRAFTS.where(_TABLE.claim_number == bindparam("claim_number")), secondary_drafts
)
_ADD_OWN = scoped_insert(
    secondary_drafts, "claim_number", "changed_at", *_EMPTY, ignore_conflict=True
)
_SAVE = scoped_update(
    secondary_drafts,
    _TABLE.claim_number == bindparam("of"),
    _TABLE.due == bindparam("seen_due"),
    _TABLE.version == bindparam("seen_version"),
    func.coalesce(_TABLE.secondary_claim, "") == bindparam("seen_secondary"),
    due=0,
    failures=0,
    version=_TABLE.version + 1,
    **{name: bindparam(f"new_{name}") for name in _SAVED},
)
_IS_AS_SEEN = (
    _TABLE.claim_number == bindparam("of"),
    _TABLE.version == bindparam("seen_version"),
)
_LOCK = scoped_update(secondary_drafts, *_IS_AS_SEEN, version=_TABLE.version)
_GIVE = scoped_update(
    secondary_drafts,
    _TABLE.claim_number == bindparam("of"),
    state=DraftState.WITHDRAWN.value,
    secondary_claim=None,
    next_at=None,
    changed_at=bindparam("at"),
    version=_TABLE.version + 1,
)
_TAKE = scoped_update(
    secondary_drafts,
    _TABLE.claim_number == bindparam("of"),
    secondary_claim=bindparam("secondary"),
)
_LEAVE = scoped_update(secondary_drafts, *_IS_AS_SEEN, next_at=None)
_IS_SEEN = (_TABLE.claim_number == bindparam("of"), _TABLE.due == bindparam("seen_due"))
_FAILURE = {"failures": _TABLE.failures + 1, "next_at": bindparam("next_at")}
_FAIL = scoped_update(secondary_drafts, *_IS_SEEN, **_FAILURE)
_FAIL_AS = scoped_update(
    secondary_drafts,
    *_IS_SEEN,
    _TABLE.secondary_claim.is_(None),
    state=bindparam("state"),
    version=_TABLE.version + 1,
    **_FAILURE,
)
_SENT = scoped_update(
    secondary_drafts,
    _TABLE.claim_number == bindparam("of"),
    among(_TABLE.state, "states"),
    _TABLE.secondary_claim.is_(None),
    state=DraftState.SENT.value,
    secondary_claim=bindparam("secondary"),
    changed_at=bindparam("at"),
    version=_TABLE.version + 1,
    next_at=None,
    due=0,
)
_OF = claims.c.claim_number == bindparam("of")
_COUNT_EVENT = scoped_update(claims, _OF, event_sequence=claims.c.event_sequence + 1)
_EVENTS = scoped_select(select(claims.c.event_sequence).where(_OF), claims)
_PREDECESSOR = scoped_select(select(claims.c.predecessor_id).where(_OF), claims)
_AWAITED = scoped_select(select_as(claims, AwaitedState).where(_OF), claims)
_AWAIT = scoped_update(
    claims,
    _OF,
    or_(claims.c.awaiting.is_(None), claims.c.awaiting.in_(sorted(OF_DRAFTS))),
    **{name: bindparam(f"new_{name}") for name in AwaitedState._fields},
)
_LINKS = select_as(claims, ChainLink)
_LINK = scoped_select(_LINKS.where(_OF), claims)
_LINK_AFTER = scoped_select(
    _LINKS.join_from(
        claims, secondary_drafts, _TABLE.secondary_claim == claims.c.claim_number
    ).where(_TABLE.claim_number == bindparam("of")),
    claims,
    secondary_drafts,
)
