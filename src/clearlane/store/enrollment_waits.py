"""Claims that nothing but an enrollment keeps from their payers, over all clients; each with its sealed header."""

from typing import NamedTuple

from sqlalchemy import bindparam

from clearlane.claims.awaiting import Awaited
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import SystemScope, Tx, list_rows
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement, inlined, scoped_update, select_as

SCOPE = SystemScope("claims of all vendors are looked through for enrollments that count now")


@shows("claim_number", "state")
class EnrollmentWait(NamedTuple):
    """A claim that waits."""

    vendor_id: int
    site_id: int
    claim_number: str
    kind: str
    payer_id: str
    state: str
    header: bytes


async def list_waits(tx: Tx, *, after: str, limit: int) -> list[EnrollmentWait]:
    """Return the next claims that wait, by their numbers."""
    return await list_rows(tx, EnrollmentWait, _PAGE, after=after, limit=limit)


async def end_wait(tx: Tx, claim_number: str, awaited: Awaited, at: int) -> bool:
    """Let a claim of the scope that waits for an enrollment await something else; return whether it did wait."""
    return bool(await tx.run(_END, of=claim_number, to=awaited.value, at=at))


# In the words of the index, so that the usual answer, none, reads no claim.
_WAITS = claims.c.awaiting == inlined(Awaited.ENROLLMENT.value)
_PAGE = Statement(
    select_as(claims, EnrollmentWait)
    .where(_WAITS, claims.c.is_superseded == 0, claims.c.claim_number > bindparam("after"))
    .order_by(claims.c.claim_number)
    .limit(bindparam("limit")),
    system=True,
)
_END = scoped_update(
    claims,
    _WAITS,
    claims.c.claim_number == bindparam("of"),
    awaiting=bindparam("to"),
    awaited_since=bindparam("at"),
)
