"""How long payers took for each step of their answers: counted by a daily job, and the figures estimated from it.

Runs over all clients; holds counts alone. Knows no estimate.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

from sqlalchemy import bindparam, delete, func, select

from clearlane.claims.answer_times import AnswerFigures
from clearlane.claims.awaiting import ANSWERS
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED
from clearlane.store.database.database import SystemScope, Tx, list_rows
from clearlane.store.database.schema import (
    answer_delays,
    answer_figures,
    answer_scans,
    claim_facts,
    claims,
    inbox,
)
from clearlane.store.database.sql import Statement, among, inlined, insert_into, select_as

SCOPE = SystemScope("delays of payers are counted over the claims of all vendors")
SCAN = "facts"
DAY_MICROS = 86_400_000_000

PayerStep: TypeAlias = tuple[str, str, str]
"""Kind of claim, payer and what was awaited."""


class FactTime(NamedTuple):
    """A fact of a claim, and when it came; ``id`` is in the order of arrival."""

    id: int
    claim_number: str
    kind: str
    at: int


class DelayCount(NamedTuple):
    """How many claims waited how many business days for a step, by the month in which the wait began."""

    kind: str
    payer_id: str
    awaiting: str
    month: str
    days: int
    answered: int
    unanswered: int


class WaitingCount(NamedTuple):
    """How many claims of a payer wait for a step since a day, counted from 1970."""

    kind: str
    payer_id: str
    awaiting: str
    day: int
    claims: int


class FigureRow(NamedTuple):
    """Within how many business days a payer takes a step; None if it does not take it."""

    kind: str
    payer_id: str
    awaiting: str
    days: int | None
    claims: int


async def lock_through(tx: Tx) -> int:
    """Return the number of the last fact that was counted, locked: one node counts at a time."""
    await tx.run(_BEGIN, name=SCAN, through=0)
    [(through,)] = await tx.rows(_LOCK, name=SCAN)
    return int(through)


async def save_through(tx: Tx, through: int) -> None:
    """Keep the number of the last fact that was counted."""
    await tx.run(_SET, name=SCAN, through=through)


async def list_new(tx: Tx, after: int, limit: int) -> list[FactTime]:
    """Return the next facts that payers' files brought, in their order."""
    return await list_rows(tx, FactTime, _NEW, after=after, limit=limit)


async def list_of_claims(tx: Tx, claim_numbers: Sequence[str]) -> list[FactTime]:
    """Return all facts of claims, in their order."""
    return await list_rows(tx, FactTime, _OF_CLAIMS, claim_numbers=list(claim_numbers))


async def list_payers(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return kind and payer of claims, by their numbers."""
    rows = await tx.rows(_PAYERS, claim_numbers=list(claim_numbers))
    return {str(number): (kind, payer_id) for number, kind, payer_id in rows}


async def add(tx: Tx, counts: Sequence[DelayCount]) -> None:
    """Add to the counts."""
    if counts:
        await tx.many(_ADD, [one._asdict() for one in counts])


async def list_counts(tx: Tx, since_month: str) -> list[DelayCount]:
    """Return the counts of the months from this one on."""
    return await list_rows(tx, DelayCount, _COUNTS, month=since_month)


async def list_waiting(tx: Tx) -> list[WaitingCount]:
    """Count the claims that wait for a payer's answer now."""
    return await list_rows(tx, WaitingCount, _WAITING)


async def replace_figures(tx: Tx, figures: Sequence[FigureRow], before_month: str) -> None:
    """Replace the figures, and forget the counts before a month."""
    await tx.run(_CLEAR)
    if figures:
        await tx.many(_PUT, [one._asdict() for one in figures])
    await tx.run(_FORGET, month=before_month)


async def load_figures(tx: Tx, payer_ids: Collection[str]) -> AnswerFigures:
    """Return the figures of payers."""
    rows = await list_rows(tx, FigureRow, _FIGURES, payer_ids=sorted(payer_ids))
    return {(one.kind, one.payer_id, one.awaiting): one.days for one in rows}


_BEGIN = Statement(insert_into(answer_scans, "name", "through").on_conflict_do_nothing())
_OF_SCAN = answer_scans.c.name == bindparam("name")
_LOCK = Statement(select(answer_scans.c.through).where(_OF_SCAN).with_for_update())
_KEPT = insert_into(answer_scans, "name", "through")
_SET = Statement(
    _KEPT.on_conflict_do_update(
        index_elements=["name"], set_={"through": _KEPT.excluded["through"]}
    )
)
_FACTS = select(
    claim_facts.c.id,
    claim_facts.c.claim_number,
    claim_facts.c.kind,
    func.coalesce(inbox.c.received_at, claim_facts.c.at),
).order_by(claim_facts.c.id)
_NEW = Statement(
    _FACTS.join_from(claim_facts, inbox, inbox.c.id == claim_facts.c.inbox_id)
    .where(claim_facts.c.id > bindparam("after"))
    .limit(bindparam("limit")),
    system=True,
)
_OF_CLAIMS = Statement(
    _FACTS.outerjoin_from(claim_facts, inbox, inbox.c.id == claim_facts.c.inbox_id).where(
        among(claim_facts.c.claim_number, "claim_numbers")
    ),
    system=True,
)
_PAYERS = Statement(
    select(claims.c.claim_number, claims.c.kind, claims.c.payer_id).where(
        among(claims.c.claim_number, "claim_numbers")
    ),
    system=True,
)
_COUNTED = ("answered", "unanswered")
_NEW_COUNT = insert_into(answer_delays, *DelayCount._fields)
_ADD = Statement(
    _NEW_COUNT.on_conflict_do_update(
        index_elements=[name for name in DelayCount._fields if name not in _COUNTED],
        set_={name: answer_delays.c[name] + _NEW_COUNT.excluded[name] for name in _COUNTED},
    )
)
_COUNTS = Statement(
    select_as(answer_delays, DelayCount).where(answer_delays.c.month >= bindparam("month"))
)
_SINCE_DAY = claims.c.awaited_since // inlined(DAY_MICROS)
_WAITING = Statement(
    select(
        claims.c.kind,
        claims.c.payer_id,
        claims.c.awaiting,
        func.min(claims.c.awaited_since // inlined(DAY_MICROS)),
        func.count(),
    )
    .where(
        claims.c.awaited_by.is_not(None),
        claims.c.awaiting.in_([one.value for one in ANSWERS]),
        IS_NOT_SUPERSEDED,
    )
    .group_by(claims.c.kind, claims.c.payer_id, claims.c.awaiting, _SINCE_DAY),
    system=True,
)
_CLEAR = Statement(delete(answer_figures))
_PUT = Statement(insert_into(answer_figures, *FigureRow._fields))
_FORGET = Statement(delete(answer_delays).where(answer_delays.c.month < bindparam("month")))
_FIGURES = Statement(
    select_as(answer_figures, FigureRow).where(among(answer_figures.c.payer_id, "payer_ids"))
)
