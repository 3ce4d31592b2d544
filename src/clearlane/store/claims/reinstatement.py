"""Reinstate claims whose successor never took effect, and supersede them again.

A void or replacement that was canceled before it was sent leaves the claim before it as it was. One that the payer rejected
never entered its system, and leaves a claim that is with the payer or was decided as it was. Such a claim keeps its link to
the successor, and is listed, counted and waited for again.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

from sqlalchemy import BigInteger, bindparam, select, update

from clearlane.claims.lifecycle import REFUSED_OR_CANCELED, WITH_THE_PAYER, ClaimState
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.claims.earlier_claims import StoredPredecessor
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement, among, inlined, scoped_select, scoped_update

REINSTATED_MICROS = 3_600_000_000
"""How long after it is reinstated a claim is due whose moment had passed."""

SucceedingClaim: TypeAlias = ClaimStateRow | StoredPredecessor
"""A claim that took over from another."""


class _Predecessor(NamedTuple):
    """A claim that another took over from, locked."""

    claim_number: str
    state: str
    predecessor_id: str | None
    successor_id: str | None
    is_superseded: int
    paid_cents: int
    patient_cents: int
    after: str
    """The state of the claim that took over from it."""

    @property
    def is_due(self) -> bool:
        """Whether the payer paid something of it, or left it to the patient."""
        return self.state == ClaimState.COMPLETE and (self.paid_cents > 0 or self.patient_cents > 0)


class _Statements(NamedTuple):
    """The statements of one kind of scope."""

    lock: Statement
    mark: Statement
    wait_again: Statement
    """Lets claims whose moment passed while another had their place wait from now on: the search for due ones is past it."""


def took_no_effect(successor_state: str, state: str) -> bool:
    """Return whether the state of its successor leaves a claim of this state as it was.

    A rejected claim is not reinstated by a rejected successor: both would ask for the same correction.
    """
    if successor_state == ClaimState.CANCELED:
        return True
    return successor_state == ClaimState.REJECTED and state in WITH_THE_PAYER


async def lock_before(tx: Tx, claim_number: str) -> None:
    """Lock the claim before one that is about to be canceled: everything locks the older claim first."""
    row = await tx.row(_PREDECESSOR, claim_number=claim_number)
    if row and row[0]:
        await tx.rows(_OF_SITE.lock, claim_numbers=[row[0]])


async def reinstate_before(tx: Tx, canceled: SucceedingClaim, at: int) -> None:
    """Reinstate the claim of the scope before one that was just canceled."""
    await _reinstate(tx, _OF_SITE, [canceled], ClaimState.CANCELED, at)


async def reinstate_before_rejected(tx: Tx, rejected: Sequence[SucceedingClaim], at: int) -> None:
    """Reinstate claims of any client before ones that were just rejected. The caller has locked all of them."""
    await _reinstate(tx, _OF_ALL, rejected, ClaimState.REJECTED, at)


async def supersede_before(tx: Tx, sent: Sequence[SucceedingClaim]) -> None:
    """Supersede claims of any client again before ones that are no longer rejected. The caller has locked all of them."""
    before = await _list_before(tx, _OF_ALL, sent, ClaimState.REJECTED)
    await _mark(tx, _OF_ALL, [one for one in before if not one.is_superseded], superseded=True)


async def supersede_again(
    tx: Tx, earlier: SucceedingClaim, state: str, *, is_correction: bool
) -> bool:
    """Supersede the claims of the scope before one that never took effect and is taken over now; return if there were any.

    A claim that is paid, or left to the patient, stays as it is if what takes over is not a correction: its replacement
    was not requested.
    """
    before = await _list_before(tx, _OF_SITE, [earlier], state)
    again = [one for one in before if not one.is_superseded and (is_correction or not one.is_due)]
    await _mark(tx, _OF_SITE, again, superseded=True)
    return bool(again)


async def reinstate(tx: Tx, claim_numbers: Sequence[str], at: int) -> None:
    """Reinstate claims of any client."""
    await tx.run(_OF_ALL.mark, claim_numbers=list(claim_numbers), superseded=0)
    await tx.run(_OF_ALL.wait_again, claim_numbers=list(claim_numbers), at=at)


async def supersede(tx: Tx, claim_numbers: Sequence[str]) -> None:
    """Supersede claims of any client that are rejected as well as what took over from them."""
    await tx.run(_OF_ALL.mark, claim_numbers=list(claim_numbers), superseded=1)


async def _reinstate(
    tx: Tx, statements: _Statements, successors: Sequence[SucceedingClaim], state: str, at: int
) -> None:
    before = await _list_before(tx, statements, successors, state)
    back = [one for one in before if one.is_superseded and took_no_effect(one.after, one.state)]
    await _mark(tx, statements, back, superseded=False)
    if back:
        await tx.run(statements.wait_again, claim_numbers=[one.claim_number for one in back], at=at)


async def _list_before(
    tx: Tx, statements: _Statements, successors: Sequence[SucceedingClaim], state: str
) -> list[_Predecessor]:
    """Lock and return the claims before these, and on through those that never took effect themselves."""
    found: list[_Predecessor] = []
    after = {one.predecessor_id: (one.claim_number, state) for one in successors}
    while wanted := sorted(filter(None, after)):
        rows = [
            _Predecessor._make((*row, after[row[0]][1]))
            for row in await tx.rows(statements.lock, claim_numbers=wanted)
        ]
        # Another claim may have taken its place since.
        rows = [one for one in rows if one.successor_id == after[one.claim_number][0]]
        found += rows
        after = {
            one.predecessor_id: (one.claim_number, one.state)
            for one in rows
            if one.state in REFUSED_OR_CANCELED
        }
    return found


async def _mark(
    tx: Tx, statements: _Statements, found: Collection[_Predecessor], *, superseded: bool
) -> None:
    if found:
        numbers = [one.claim_number for one in found]
        await tx.run(statements.mark, claim_numbers=numbers, superseded=int(superseded))


_THESE = among(claims.c.claim_number, "claim_numbers")
_LOCK = (
    select(*(claims.c[name] for name in _Predecessor._fields[:-1]))
    .where(_THESE)
    .order_by(claims.c.claim_number)
    .with_for_update()
)
_PREDECESSOR = scoped_select(
    select(claims.c.predecessor_id).where(claims.c.claim_number == bindparam("claim_number")),
    claims,
)
_PASSED = _THESE & (claims.c.awaited_by <= bindparam("at"))
_WAIT_AGAIN = {
    "awaited_since": bindparam("at", type_=BigInteger),
    "awaited_by": bindparam("at", type_=BigInteger) + inlined(REINSTATED_MICROS),
}
_OF_SITE = _Statements(
    scoped_select(_LOCK, claims),
    scoped_update(claims, _THESE, is_superseded=bindparam("superseded")),
    scoped_update(claims, _PASSED, **_WAIT_AGAIN),
)
_OF_ALL = _Statements(
    Statement(_LOCK, system=True),
    Statement(
        update(claims).where(_THESE).values(is_superseded=bindparam("superseded")), system=True
    ),
    Statement(update(claims).where(_PASSED).values(**_WAIT_AGAIN), system=True),
)
