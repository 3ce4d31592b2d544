"""Where claims stand, for whoever learns something about them: held, told anew, given back.

Claims of several clients are told in one transaction, so every statement here runs in a System scope. Knows no
fact.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, literal, select, update

from clearlane.store import claim_lookup
from clearlane.store.claims import NOT_ACCEPTED
from clearlane.store.database import Tx
from clearlane.store.schema import (
    claim_events,
    claim_references,
    claims,
    sites,
)
from clearlane.store.sql import Statement, among, insertion

REJECTED = "Rejected"


class Held(NamedTuple):
    """A claim that nobody else can tell anything about until the transaction ends."""

    vendor_id: int
    site_id: int
    request_id: str
    kind: str
    state: str
    payer_id: str
    vendor_claim: str
    total_cents: int
    created_day: str
    sendings: int
    waits: int
    status: bytes | None
    vendor_site_id: str
    time_zone: str

    def __repr__(self) -> str:
        """Without what is sealed."""
        return f"Held({self.request_id})"


class Stood(NamedTuple):
    """What a claim's row says from now on. ``status`` is sealed."""

    of: str
    now_state: str
    now_waits: int
    now_updated: int
    now_status: bytes

    def __repr__(self) -> str:
        """Without what is sealed."""
        return f"Stood({self.of})"


async def hold(tx: Tx, request_ids: Sequence[str]) -> dict[str, Held]:
    """Lock claims, always in one order, so that what is read of their facts afterwards is all there is."""
    found = await tx.rows(_HOLD, request_ids=sorted(set(request_ids)))
    return {held.request_id: held for held in (Held(*row) for row in found)}


async def payload(tx: Tx, request_id: str) -> bytes:
    """What the vault holds of a claim."""
    row = await tx.row(_PAYLOAD, of=request_id)
    assert row is not None, "a claim that is held is there"
    return bytes(row[0])


async def stand(tx: Tx, rows: Sequence[Stood]) -> None:
    """Write where claims stand."""
    await tx.many(_STAND, [row._asdict() for row in rows])


async def note(tx: Tx, held: Sequence[tuple[Held, str]], at: int) -> None:
    """Note an event of each claim."""
    rows = [
        {
            "vendor_id": one.vendor_id,
            "site_id": one.site_id,
            "request_id": one.request_id,
            "at": at,
            "event": event,
        }
        for one, event in held
    ]
    await tx.many(_EVENT, rows)


async def replaced(tx: Tx, held: Held) -> bool:
    """Whether a living claim has taken the caller's id of this refused one since."""
    row = await tx.row(
        _LIVING, of=held.vendor_id, at=held.site_id, sort=held.kind, same=held.vendor_claim
    )
    return row is not None


async def give_back(tx: Tx, held: Sequence[Held]) -> None:
    """Free the account numbers of refused claims, and remember who had them: an answer may be late."""
    owners = {one.request_id: (one.vendor_id, one.site_id) for one in held}
    rows = await tx.rows(_REFERENCES, request_ids=sorted(owners)) if owners else []
    if not rows:
        return
    await claim_lookup.keep(tx, owners, rows)
    await tx.run(_DROP_REFERENCES, request_ids=sorted(owners))


_HOLD = Statement(
    select(
        *(claims.c[name] for name in Held._fields[:-2]), sites.c.vendor_site_id, sites.c.time_zone
    )
    .join_from(claims, sites, (sites.c.vendor_id == claims.c.vendor_id) & (sites.c.id == claims.c.site_id))
    .where(among(claims.c.request_id, "request_ids"))
    .order_by(claims.c.request_id)
    .with_for_update(of=claims),
    system=True,
)  # fmt: skip
_PAYLOAD = Statement(
    select(claims.c.payload).where(claims.c.request_id == bindparam("of")), system=True
)
_STAND = Statement(
    update(claims)
    .where(claims.c.request_id == bindparam("of"))
    .values(
        state=bindparam("now_state"),
        waits=bindparam("now_waits"),
        updated_at=bindparam("now_updated"),
        status=bindparam("now_status"),
    ),
    system=True,
)
_EVENT = Statement(insertion(claim_events, "request_id", "at", "event"), system=True)
# The states stand in the text itself, or no database could use the index over living claims.
_DEAD = [literal(state, literal_execute=True) for state in (REJECTED, NOT_ACCEPTED)]
_LIVING = Statement(
    select(claims.c.request_id).where(
        claims.c.vendor_id == bindparam("of"),
        claims.c.site_id == bindparam("at"),
        claims.c.kind == bindparam("sort"),
        claims.c.vendor_claim == bindparam("same"),
        claims.c.state.not_in(_DEAD),
    ),
    system=True,
)
_REFERENCES = Statement(
    select(
        claim_references.c.payer_id, claim_references.c.reference, claim_references.c.request_id
    ).where(among(claim_references.c.request_id, "request_ids"))
)
_DROP_REFERENCES = Statement(
    delete(claim_references).where(among(claim_references.c.request_id, "request_ids"))
)
