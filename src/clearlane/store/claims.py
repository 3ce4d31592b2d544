"""Claims and their events. The claims table is the outbox: an accepted row waits to be sent.

Columns hold ids, codes, days and amounts; what a patient or provider wrote is sealed by the vault, and
what must be found again is a keyed hash. Knows no field of a claim.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeAlias

import msgspec
from sqlalchemy import bindparam, delete, literal, select

from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.resubmission import (
    EarlierClaim,
    ResubmissionDecision,
    ResubmissionTimes,
    decide_resubmission,
)
from clearlane.kernel.clock import from_micros
from clearlane.store.database import Tx
from clearlane.store.group_commit import LockContention
from clearlane.store.schema import claim_events, claim_references, claims
from clearlane.store.sql import (
    Statement,
    among,
    insert_into,
    scoped_insert,
    scoped_select,
    scoped_update,
)

TABLE = "claims"

RECEIVED = "Received"
NOT_ACCEPTED = "NotAccepted"
TAKE_OVER_ATTEMPTS_MAX = 10
SUPERSEDED = "Superseded"
"""The event of a claim whose vendor's claim id a successor took over."""


class NewClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A claim to be stored. ``payload`` and ``status`` are already sealed."""

    request_id: str
    kind: str
    state: str
    payer_id: str
    vendor_claim_hash: str
    """Keyed hash of the vendor's claim id."""
    content_hash: str
    """Keyed hash of everything in the claim."""
    frequency: str
    """The claim frequency code (CLM05-3): 1 original, 7 replacement, 8 void."""
    reference: str
    """Keyed hash of the account number to be sent as CLM01; empty where it cannot be."""
    times: ResubmissionTimes
    """How old an earlier claim under its id must be for it to take over the id."""
    total_cents: int
    created_at: int
    created_day: str
    service_day: str | None = None
    """The first day of service."""
    payload: bytes
    status: bytes | None = None
    """Its row of the status list; None where it is not listed."""
    account_key: int | None = None
    """Keyed hashes that it is found by, cut to 64 bits: of the account number, the patient's last
    name with birth date, the start of that name, and the member id; None where it has none."""
    patient_key: int | None = None
    name_key: int | None = None
    member_key: int | None = None
    depends_on_predecessor: bool = False
    """Whether its content is still to be decided by the claim that it takes over from, if there is one."""

    def __repr__(self) -> str:
        """Leave out sealed values."""
        return f"NewClaim({self.request_id} {self.state})"


@dataclass(frozen=True, slots=True)
class CurrentClaim:
    """The claim that a vendor's claim id means now."""

    request_id: str
    content_hash: str
    state: str
    created_at: int
    updated_at: int
    paid_cents: int


@dataclass(frozen=True, slots=True)
class StoredPredecessor:
    """A claim that another takes over from, sealed."""

    request_id: str
    kind: str
    state: str
    payer_id: str
    content_hash: str
    created_at: int
    updated_at: int
    paid_cents: int
    event_sequence: int
    """The number of events about it that its vendor was given."""
    payload: bytes = field(repr=False)
    status: bytes = field(repr=False)


Correct: TypeAlias = Callable[[Tx, NewClaim, StoredPredecessor], Awaitable[NewClaim]]
"""Decides the content of a claim that depends on its predecessor."""


@dataclass(frozen=True, slots=True)
class ClaimInsertResult:
    """The result of storing one claim of a submission."""

    request_id: str
    """Id of the stored claim: the new one, or the one that existed."""
    decision: ResubmissionDecision | None = None
    """What the claim is to the one that had its vendor's claim id; None where none had it."""
    earlier_id: str = ""
    """Id of the claim that had the vendor's claim id."""
    earlier_state: str = ""


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


async def as_it_is(tx: Tx, claim: NewClaim, predecessor: StoredPredecessor) -> NewClaim:
    """Let a claim go out as it is."""
    return claim


async def add(
    tx: Tx, new: Sequence[NewClaim], correct: Correct = as_it_is
) -> list[ClaimInsertResult]:
    """Store claims in this order, and return the result for each.

    The unique index over current claims decides which concurrent submission gets a vendor's claim id. An id that
    was never seen costs no statement beyond its insertion and the look at the index.
    """
    first, later = _by_vendor_claim(new)
    accounts = await _take_references(tx, first)
    refused = [claim for claim in new if claim.state == NOT_ACCEPTED]
    await tx.many(_ADD, [_row(claim, accounts) for claim in (*first, *refused)])
    current = await _current_claims(tx, first)
    predecessors = await _supersede(tx, first, current, accounts, correct)
    # Each result is decided before the next claim under the same id may take it over.
    results = {c.request_id: _insert_result(c, current, predecessors) for c in first}
    for claim in later:
        if decide(_current(claim, current), claim) is ResubmissionDecision.SUCCESSOR:
            accounts |= await _take_references(tx, [claim])
            predecessors |= await _supersede(tx, [claim], current, accounts, correct)
        results[claim.request_id] = _insert_result(claim, current, predecessors)
    stored = [claim for claim in (*first, *later) if _is_stored(claim, current)]
    await release_account_numbers(tx, accounts - {claim.request_id for claim in stored})
    return [results.get(c.request_id) or ClaimInsertResult(c.request_id) for c in new]


async def find_current(tx: Tx, new: Sequence[NewClaim]) -> dict[str, StoredPredecessor]:
    """Return the current claims under the vendor's claim ids of these, by the request ids of these."""
    current = await _current_claims(tx, new)
    found = await find_predecessors(tx, [one.request_id for one in current.values()])
    by_id = {one.request_id: one for one in found}
    return {
        claim.request_id: by_id[current[key].request_id]
        for claim in new
        if (key := (claim.kind, claim.vendor_claim_hash)) in current
    }


async def find_predecessors(tx: Tx, request_ids: Sequence[str]) -> list[StoredPredecessor]:
    """Return accepted claims of the scope with what decides how a correction of them goes out."""
    if not request_ids:
        return []
    rows = await tx.rows(_PREDECESSORS, request_ids=list(request_ids))
    return [StoredPredecessor(*row) for row in rows]


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


async def release_account_numbers(tx: Tx, request_ids: set[str]) -> None:
    """Let other claims carry the account numbers of these, which were never sent."""
    if request_ids:
        await tx.run(_DROP_REFERENCES, request_ids=sorted(request_ids))


def _by_vendor_claim(new: Sequence[NewClaim]) -> tuple[list[NewClaim], list[NewClaim]]:
    """Return the accepted claims that are the first under their vendor's claim id here, and the later ones."""
    first: dict[tuple[str, str], NewClaim] = {}
    later: list[NewClaim] = []
    for claim in new:
        if claim.state != RECEIVED:
            continue
        if (key := (claim.kind, claim.vendor_claim_hash)) in first:
            later.append(claim)
        else:
            first[key] = claim
    return list(first.values()), later


CurrentClaims: TypeAlias = dict[tuple[str, str], CurrentClaim]
"""The current claim of each kind and vendor's claim id."""


async def _current_claims(tx: Tx, new: Sequence[NewClaim]) -> CurrentClaims:
    current: CurrentClaims = {}
    for kind in dict.fromkeys([claim.kind for claim in new]):
        wanted = [claim.vendor_claim_hash for claim in new if claim.kind == kind]
        for vendor_claim, *rest in await tx.rows(_CURRENT, kind=kind, vendor_claims=wanted):
            current[kind, str(vendor_claim)] = CurrentClaim(*rest)
    return current


async def _supersede(
    tx: Tx,
    new: Sequence[NewClaim],
    current: CurrentClaims,
    accounts: set[str],
    correct: Correct,
) -> dict[str, CurrentClaim]:
    """Let new claims take over their vendor's claim ids where the rules allow it; return their predecessors.

    Updates ``current``. A predecessor that changed meanwhile (a payment was posted, another successor came) is
    looked at again, so the decision is never made on an old state.
    """
    predecessors: dict[str, CurrentClaim] = {}
    for claim in new:
        attempts = 0
        while not _is_stored(claim, current):
            earlier = _current(claim, current)
            if decide(earlier, claim) is not ResubmissionDecision.SUCCESSOR:
                break
            if (attempts := attempts + 1) > TAKE_OVER_ATTEMPTS_MAX:
                raise LockContention(f"the predecessor of {claim.request_id} keeps changing")
            taken_over = await tx.run(
                _TAKE_OVER,
                earlier_id=earlier.request_id,
                seen_at=earlier.updated_at,
                successor=claim.request_id,
            )
            if taken_over:
                content = claim
                if claim.depends_on_predecessor:
                    [found] = await find_predecessors(tx, [earlier.request_id])
                    content = await correct(tx, claim, found)
                await tx.run(_ADD, **_row(content, accounts, predecessor_id=earlier.request_id))
                await tx.run(
                    _EVENT, request_id=earlier.request_id, at=claim.created_at, event=SUPERSEDED
                )
                predecessors[claim.request_id] = earlier
            current.update(await _current_claims(tx, [claim]))
    return predecessors


def decide(earlier: CurrentClaim | StoredPredecessor, claim: NewClaim) -> ResubmissionDecision:
    """Return what a claim is to the current one under its vendor's claim id."""
    return decide_resubmission(
        EarlierClaim(
            state=ClaimState(earlier.state),
            accepted_at=from_micros(earlier.created_at),
            last_word_at=from_micros(earlier.updated_at),
            paid_cents=earlier.paid_cents,
        ),
        same_content=earlier.content_hash == claim.content_hash,
        frequency=claim.frequency,
        times=claim.times,
    )


def _is_stored(claim: NewClaim, current: CurrentClaims) -> bool:
    return _current(claim, current).request_id == claim.request_id


def _current(claim: NewClaim, current: CurrentClaims) -> CurrentClaim:
    return current[claim.kind, claim.vendor_claim_hash]


def _insert_result(
    claim: NewClaim,
    current: CurrentClaims,
    predecessors: dict[str, CurrentClaim],
) -> ClaimInsertResult:
    if earlier := predecessors.get(claim.request_id):
        return ClaimInsertResult(
            claim.request_id, ResubmissionDecision.SUCCESSOR, earlier.request_id, earlier.state
        )
    if _is_stored(claim, current):
        return ClaimInsertResult(claim.request_id)
    earlier = _current(claim, current)
    decision = decide(earlier, claim)
    known = (decision, earlier.request_id, earlier.state)
    if decision is ResubmissionDecision.REPEATED_REQUEST:
        return ClaimInsertResult(earlier.request_id, *known)
    if decision is ResubmissionDecision.SUCCESSOR:
        raise LookupError(f"claim {claim.request_id} takes over an id and was not stored")
    return ClaimInsertResult(claim.request_id, *known)


def _row(
    claim: NewClaim, accounts: set[str], *, predecessor_id: str | None = None
) -> dict[str, object]:
    row = dict(zip(_NEW_COLUMNS, _new_values(claim), strict=True))
    row["is_current"] = int(claim.state == RECEIVED)
    row["predecessor_id"] = predecessor_id
    row["updated_at"] = claim.created_at
    row["account_as_number"] = int(claim.request_id in accounts)
    row["queued"] = int(claim.state == RECEIVED)
    return row


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
    "created_at", "created_day", "payload", "status", "account_key", "patient_key", "name_key",
    "member_key", "service_day",
)  # fmt: skip
_new_values = attrgetter(*_NEW_COLUMNS)

# The only possible conflict: a current claim has the vendor's claim id.
_ADD = scoped_insert(
    claims, *_NEW_COLUMNS, "updated_at", "account_as_number", "queued", "is_current", "predecessor_id",
    ignore_conflict=True,
)  # fmt: skip
_EVENT = scoped_insert(claim_events, "request_id", "at", "event")
# The value is part of the SQL text: with a placeholder no database knows that the partial index over
# current claims applies, and reads every claim of the site.
IS_CURRENT = claims.c.is_current == literal(1, literal_execute=True)
_CURRENT = scoped_select(
    select(
        claims.c.vendor_claim_hash, claims.c.request_id, claims.c.content_hash, claims.c.state,
        claims.c.created_at, claims.c.updated_at, claims.c.paid_cents,
    ).where(
        claims.c.kind == bindparam("kind"),
        among(claims.c.vendor_claim_hash, "vendor_claims"),
        IS_CURRENT,
    ),
    claims,
)  # fmt: skip
_TAKE_OVER = scoped_update(
    claims,
    claims.c.request_id == bindparam("earlier_id"),
    claims.c.updated_at == bindparam("seen_at"),
    IS_CURRENT,
    is_current=0,
    successor_id=bindparam("successor"),
    event_sequence=claims.c.event_sequence + 1,  # that it was corrected
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
_PREDECESSORS = scoped_select(
    select(
        claims.c.request_id, claims.c.kind, claims.c.state, claims.c.payer_id, claims.c.content_hash,
        claims.c.created_at, claims.c.updated_at, claims.c.paid_cents, claims.c.event_sequence,
        claims.c.payload, claims.c.status,
    ).where(among(claims.c.request_id, "request_ids"), claims.c.status.is_not(None)),
    claims,
)  # fmt: skip
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
