"""Claims and what happened to them. The claims table is the outbox: an accepted row waits to be sent.

Columns hold ids, codes, days and amounts; what a patient or provider wrote is sealed by the vault, and
what must be found again is a keyed hash. Knows no field of a claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from sqlalchemy import bindparam, delete, literal, select

from clearlane.store.database import Tx
from clearlane.store.schema import claim_events, claim_references, claims
from clearlane.store.sql import Statement, among, insertion, mine

TABLE = "claims"

RECEIVED = "Received"
NOT_ACCEPTED = "NotAccepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClaim:
    """A claim about to be stored. ``payload`` and ``status`` are already sealed."""

    request_id: str
    kind: str
    state: str
    payer_id: str
    vendor_claim: str
    """Keyed hash of the caller's id."""
    content: str
    """Keyed hash of everything the claim says."""
    reference: str
    """Keyed hash of the account number that wants to be CLM01; empty where it cannot."""
    total_cents: int
    created_at: int
    created_day: str
    payload: bytes = field(repr=False)
    status: bytes | None = field(default=None, repr=False)
    """Its row of the status list; None where it is not listed."""


@dataclass(frozen=True, slots=True)
class Settled:
    """How one claim of a submission ended in the database."""

    request_id: str
    """Of the stored claim: our own, or the earlier one's."""
    earlier: bool = False
    """Whether a living claim had taken the caller's id before."""
    same: bool = True
    """Whether that one says the same."""


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A claim as it stands in the database."""

    request_id: str
    kind: str
    state: str
    payer_id: str
    account_as_number: bool
    """Whether CLM01 is the patient's account number; else it is the request id."""
    created_at: int
    payload: bytes = field(repr=False)


async def settle(tx: Tx, new: Sequence[NewClaim]) -> list[Settled]:
    """Store claims in this order, and say what became of each.

    The index over living claims decides who took a caller's id first, whatever runs beside us.
    """
    taken: dict[tuple[str, str], NewClaim] = {}
    for claim in new:
        if claim.state == RECEIVED:
            taken.setdefault((claim.kind, claim.vendor_claim), claim)
    first = list(taken.values())
    accounts = await _take_references(tx, first)
    refused = [claim for claim in new if claim.state == NOT_ACCEPTED]
    rows = [_row(claim, accounts) for claim in (*first, *refused)]
    await tx.many(_ADD, rows)
    living = await _living(tx, first)
    stored = [
        claim for claim in first if living[claim.kind, claim.vendor_claim][0] == claim.request_id
    ]
    await _give_back(tx, accounts - {claim.request_id for claim in stored})
    await tx.many(
        _EVENT,
        [_event(claim, claim.state) for claim in (*stored, *refused)],
    )
    return [_settled(claim, living) for claim in new]


async def find(tx: Tx, request_id: str) -> StoredClaim | None:
    """One claim of the scope."""
    row = await tx.row(_FIND, request_id=request_id)
    return None if row is None else _stored(row)


async def some(tx: Tx, request_ids: Sequence[str]) -> list[StoredClaim]:
    """The claims of the scope among these."""
    return [_stored(row) for row in await tx.rows(_SOME, request_ids=list(request_ids))]


async def events(tx: Tx, request_id: str) -> list[tuple[int, str]]:
    """What happened to a claim, in order: moment and event."""
    return [(at, event) for at, event in await tx.rows(_EVENTS, request_id=request_id)]


async def owner(tx: Tx, request_id: str) -> tuple[int, int] | None:
    """Vendor and site of a claim: for an operator, who names a claim by its request id alone."""
    row = await tx.row(_OWNER, request_id=request_id)
    return None if row is None else (int(row[0]), int(row[1]))


async def _take_references(tx: Tx, new: Sequence[NewClaim]) -> set[str]:
    """Claim the account numbers that no living claim to the payer carries; request ids that got theirs."""
    wanted = [claim for claim in new if claim.reference]
    if not wanted:
        return set()
    rows = [
        {"payer_id": c.payer_id, "reference": c.reference, "request_id": c.request_id}
        for c in wanted
    ]
    await tx.many(_TAKE_REFERENCE, rows)
    found = await tx.rows(_REFERENCES, request_ids=[claim.request_id for claim in wanted])
    return {str(request_id) for (request_id,) in found}


async def _give_back(tx: Tx, request_ids: set[str]) -> None:
    if request_ids:
        await tx.run(_DROP_REFERENCES, request_ids=sorted(request_ids))


async def _living(tx: Tx, new: Sequence[NewClaim]) -> dict[tuple[str, str], tuple[str, str]]:
    """Request id and content of the living claim of each caller's id."""
    living = {}
    for kind in dict.fromkeys([claim.kind for claim in new]):
        wanted = [claim.vendor_claim for claim in new if claim.kind == kind]
        for vendor_claim, id, content in await tx.rows(_LIVING, kind=kind, vendor_claims=wanted):
            living[kind, vendor_claim] = (id, content)
    return living


def _settled(claim: NewClaim, living: dict[tuple[str, str], tuple[str, str]]) -> Settled:
    if claim.state == NOT_ACCEPTED:
        return Settled(claim.request_id)
    request_id, content = living[claim.kind, claim.vendor_claim]
    return Settled(request_id, request_id != claim.request_id, content == claim.content)


def _row(claim: NewClaim, accounts: set[str]) -> dict[str, object]:
    row = dict(zip(_GIVEN, _given(claim), strict=True))
    row["updated_at"] = claim.created_at
    row["account_as_number"] = int(claim.request_id in accounts)
    row["waits"] = int(claim.state == RECEIVED)
    return row


def _event(claim: NewClaim, event: str) -> dict[str, object]:
    return {"request_id": claim.request_id, "at": claim.created_at, "event": event}


def _stored(row: tuple[object, ...]) -> StoredClaim:
    request_id, kind, state, payer_id, account, created_at, payload = row
    return StoredClaim(
        str(request_id),
        str(kind),
        str(state),
        str(payer_id),
        bool(account),
        int(created_at),  # type: ignore[call-overload]
        bytes(payload),  # type: ignore[call-overload]
    )


_GIVEN = (
    "request_id", "kind", "state", "payer_id", "vendor_claim", "content", "total_cents",
    "created_at", "created_day", "payload", "status",
)  # fmt: skip
_given = attrgetter(*_GIVEN)

# The only conflict that may be: a living claim has the caller's id.
_ADD = Statement(
    insertion(claims, *_GIVEN, "updated_at", "account_as_number", "waits").on_conflict_do_nothing()
)
_EVENT = Statement(insertion(claim_events, "request_id", "at", "event"))
# The index over living claims serves this only where the states stand in the text itself: a database
# that sees placeholders cannot know that they are the index's own, and reads every claim of the site.
_DEAD = [literal(state, literal_execute=True) for state in ("Rejected", NOT_ACCEPTED)]
_LIVING = Statement(
    select(claims.c.vendor_claim, claims.c.request_id, claims.c.content).where(
        mine(claims),
        claims.c.kind == bindparam("kind"),
        among(claims.c.vendor_claim, "vendor_claims"),
        claims.c.state.not_in(_DEAD),
    )
)
_STORED = select(
    claims.c.request_id,
    claims.c.kind,
    claims.c.state,
    claims.c.payer_id,
    claims.c.account_as_number,
    claims.c.created_at,
    claims.c.payload,
)
_FIND = Statement(_STORED.where(mine(claims), claims.c.request_id == bindparam("request_id")))
_SOME = Statement(_STORED.where(mine(claims), among(claims.c.request_id, "request_ids")))
_EVENTS = Statement(
    select(claim_events.c.at, claim_events.c.event)
    .where(mine(claim_events), claim_events.c.request_id == bindparam("request_id"))
    .order_by(claim_events.c.id)
)
_OWNER = Statement(
    select(claims.c.vendor_id, claims.c.site_id).where(
        claims.c.request_id == bindparam("request_id")
    ),
    system=True,
)
_TAKE_REFERENCE = Statement(
    insertion(claim_references, "payer_id", "reference", "request_id").on_conflict_do_nothing(
        index_elements=["payer_id", "reference"]
    )
)
_REFERENCES = Statement(
    select(claim_references.c.request_id).where(among(claim_references.c.request_id, "request_ids"))
)
_DROP_REFERENCES = Statement(
    delete(claim_references).where(among(claim_references.c.request_id, "request_ids"))
)
