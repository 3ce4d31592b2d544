"""Claims and their events. The claims table is the outbox: an accepted row waits to be sent.

Columns hold ids, codes, days and amounts; what a patient or provider wrote is sealed by the vault, and
what must be found again is a keyed hash. Knows no field of a claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

from sqlalchemy import and_, bindparam, delete, literal, or_, select

from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros
from clearlane.store.database import Tx
from clearlane.store.schema import claim_events, claim_references, claims
from clearlane.store.sql import Statement, among, insert_into, scoped_insert, scoped_select

TABLE = "claims"

RECEIVED = "Received"
NOT_ACCEPTED = "NotAccepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClaim:
    """A claim to be stored. ``payload`` and ``status`` are already sealed."""

    request_id: str
    kind: str
    state: str
    payer_id: str
    vendor_claim_hash: str
    """Keyed hash of the vendor's claim id."""
    content_hash: str
    """Keyed hash of everything in the claim."""
    reference: str
    """Keyed hash of the account number to be sent as CLM01; empty where it cannot be."""
    total_cents: int
    created_at: int
    created_day: str
    payload: bytes = field(repr=False)
    status: bytes | None = field(default=None, repr=False)
    """Its row of the status list; None where it is not listed."""


@dataclass(frozen=True, slots=True)
class ClaimInsertResult:
    """The result of storing one claim of a submission."""

    request_id: str
    """Id of the stored claim: the new one, or the one that existed."""
    is_duplicate: bool = False
    """Whether a live claim has the vendor's claim id already."""
    is_identical: bool = True
    """Whether that one has the same content."""


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A stored claim."""

    request_id: str
    kind: str
    state: str
    payer_id: str
    account_as_number: bool
    """Whether CLM01 is the patient's account number; else it is the request id."""
    created_at: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ListedClaim:
    """A row of the console's claim list; nothing in it names a patient."""

    request_id: str
    created_at: datetime
    created_day: str
    kind: str
    payer_id: str
    state: str
    total_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimListRange:
    """The days of a claim list, both included, and where the page before ended."""

    first: str
    last: str
    before: tuple[str, str] | None = None
    """Day and request id of the last claim listed."""


async def add(tx: Tx, new: Sequence[NewClaim]) -> list[ClaimInsertResult]:
    """Store claims in this order, and return the result for each.

    The unique index over live claims decides which concurrent submission gets a vendor's claim id.
    """
    taken: dict[tuple[str, str], NewClaim] = {}
    for claim in new:
        if claim.state == RECEIVED:
            taken.setdefault((claim.kind, claim.vendor_claim_hash), claim)
    first = list(taken.values())
    accounts = await _take_references(tx, first)
    refused = [claim for claim in new if claim.state == NOT_ACCEPTED]
    rows = [_row(claim, accounts) for claim in (*first, *refused)]
    await tx.many(_ADD, rows)
    live = await _live_claims(tx, first)
    stored = [
        claim for claim in first if live[claim.kind, claim.vendor_claim_hash][0] == claim.request_id
    ]
    await _release_references(tx, accounts - {claim.request_id for claim in stored})
    await tx.many(
        _EVENT,
        [_event(claim, claim.state) for claim in (*stored, *refused)],
    )
    return [_insert_result(claim, live) for claim in new]


async def find(tx: Tx, request_id: str) -> StoredClaim | None:
    """Return one claim of the scope."""
    row = await tx.row(_FIND, request_id=request_id)
    return None if row is None else _stored(row)


async def find_many(tx: Tx, request_ids: Sequence[str]) -> list[StoredClaim]:
    """Return those of these claims that belong to the scope."""
    return [_stored(row) for row in await tx.rows(_SOME, request_ids=list(request_ids))]


async def list_events(tx: Tx, request_id: str) -> list[tuple[int, str]]:
    """Return time and event of a claim, in order."""
    return [(at, event) for at, event in await tx.rows(_EVENTS, request_id=request_id)]


async def list_claims(tx: Tx, days: ClaimListRange) -> list[ListedClaim]:
    """Return a page of the site's claims, newest first, and one more. The read is audited."""
    day, request_id = days.before or ("", "")
    values = {"first": days.first, "last": days.last}
    if days.before is None:
        rows = await tx.rows(_LIST_CLAIMS, **values)
    else:
        rows = await tx.rows(_LIST_OLDER_CLAIMS, day=day, before=request_id, **values)
    tx.audit("console.claims", count=len(rows), detail=f"{days.first} to {days.last}")
    return [ListedClaim(row[0], from_micros(row[1]), *row[2:]) for row in rows]


async def find_owner(tx: Tx, request_id: str) -> tuple[int, int] | None:
    """Return vendor and site of a claim, for an operator who has its request id only."""
    row = await tx.row(_OWNER, request_id=request_id)
    return None if row is None else (int(row[0]), int(row[1]))


async def _take_references(tx: Tx, new: Sequence[NewClaim]) -> set[str]:
    """Take the account numbers that no live claim to the payer carries; return the request ids that got theirs."""
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


async def _release_references(tx: Tx, request_ids: set[str]) -> None:
    if request_ids:
        await tx.run(_DROP_REFERENCES, request_ids=sorted(request_ids))


async def _live_claims(tx: Tx, new: Sequence[NewClaim]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return request id and content hash of the live claim of each vendor's claim id."""
    live = {}
    for kind in dict.fromkeys([claim.kind for claim in new]):
        wanted = [claim.vendor_claim_hash for claim in new if claim.kind == kind]
        for vendor_claim, id, content in await tx.rows(_LIVE, kind=kind, vendor_claims=wanted):
            live[kind, vendor_claim] = (id, content)
    return live


def _insert_result(
    claim: NewClaim, live: dict[tuple[str, str], tuple[str, str]]
) -> ClaimInsertResult:
    if claim.state == NOT_ACCEPTED:
        return ClaimInsertResult(claim.request_id)
    request_id, content = live[claim.kind, claim.vendor_claim_hash]
    return ClaimInsertResult(
        request_id, request_id != claim.request_id, content == claim.content_hash
    )


def _row(claim: NewClaim, accounts: set[str]) -> dict[str, object]:
    row = dict(zip(_NEW_COLUMNS, _new_values(claim), strict=True))
    row["updated_at"] = claim.created_at
    row["account_as_number"] = int(claim.request_id in accounts)
    row["queued"] = int(claim.state == RECEIVED)
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


_NEW_COLUMNS = (
    "request_id", "kind", "state", "payer_id", "vendor_claim_hash", "content_hash", "total_cents",
    "created_at", "created_day", "payload", "status",
)  # fmt: skip
_new_values = attrgetter(*_NEW_COLUMNS)

# The only possible conflict: a live claim has the vendor's claim id.
_ADD = scoped_insert(
    claims, *_NEW_COLUMNS, "updated_at", "account_as_number", "queued", ignore_conflict=True
)
_EVENT = scoped_insert(claim_events, "request_id", "at", "event")
# The states are part of the SQL text: with placeholders no database knows that the partial index over
# live claims applies, and reads every claim of the site.
_NOT_LIVE = [literal(state, literal_execute=True) for state in ("Rejected", NOT_ACCEPTED)]
_LIVE = scoped_select(
    select(claims.c.vendor_claim_hash, claims.c.request_id, claims.c.content_hash).where(
        claims.c.kind == bindparam("kind"),
        among(claims.c.vendor_claim_hash, "vendor_claims"),
        claims.c.state.not_in(_NOT_LIVE),
    ),
    claims,
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
_FIND = scoped_select(_STORED.where(claims.c.request_id == bindparam("request_id")), claims)
_SOME = scoped_select(_STORED.where(among(claims.c.request_id, "request_ids")), claims)
_EVENTS = scoped_select(
    select(claim_events.c.at, claim_events.c.event)
    .where(claim_events.c.request_id == bindparam("request_id"))
    .order_by(claim_events.c.id),
    claim_events,
)
_OWNER = Statement(
    select(claims.c.vendor_id, claims.c.site_id).where(
        claims.c.request_id == bindparam("request_id")
    ),
    system=True,
)
_TAKE_REFERENCE = Statement(
    insert_into(claim_references, "payer_id", "reference", "request_id").on_conflict_do_nothing(
        index_elements=["payer_id", "reference"]
    )
)
_REFERENCES = Statement(
    select(claim_references.c.request_id).where(among(claim_references.c.request_id, "request_ids"))
)
_DROP_REFERENCES = Statement(
    delete(claim_references).where(among(claim_references.c.request_id, "request_ids"))
)
_LIST_PAGE = (
    select(
        claims.c.request_id,
        claims.c.created_at,
        claims.c.created_day,
        claims.c.kind,
        claims.c.payer_id,
        claims.c.state,
        claims.c.total_cents,
    )
    .where(
        claims.c.created_day >= bindparam("first"),
        claims.c.created_day <= bindparam("last"),
        claims.c.state != NOT_ACCEPTED,
    )
    .order_by(claims.c.created_day.desc(), claims.c.request_id.desc())
    .limit(limits.CONSOLE_CLAIMS_PAGE_ROWS + 1)
)
_LIST_CLAIMS = scoped_select(_LIST_PAGE, claims)
_LIST_OLDER_CLAIMS = scoped_select(
    _LIST_PAGE.where(
        or_(
            claims.c.created_day < bindparam("day"),
            and_(
                claims.c.created_day == bindparam("day"), claims.c.request_id < bindparam("before")
            ),
        )
    ),
    claims,
)
