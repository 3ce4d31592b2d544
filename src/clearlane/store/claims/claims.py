"""Claims and their events. The claims table is the outbox: an accepted row waits to be sent.

Columns hold ids, codes, days and amounts; what a patient or provider wrote is sealed by the vault, and
what must be found again is a keyed hash. Knows no field of a claim.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Protocol, TypeAlias

import msgspec
from sqlalchemy import bindparam, delete, literal, select

from clearlane.claims.claim_subject import SubjectComparison
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.resubmission import (
    ORIGINAL,
    REFUSALS,
    REFUSED_OR_CANCELED,
    TAKES_THE_ID,
    EarlierClaim,
    ResubmissionDecision,
    ResubmissionTimes,
    decide_resubmission,
)
from clearlane.kernel.clock import from_micros
from clearlane.store.claims.reinstatement import supersede_again
from clearlane.store.database.database import Tx
from clearlane.store.database.group_commit import LockContention
from clearlane.store.database.schema import (
    NOT_ACCEPTED_STATE,
    claim_events,
    claim_references,
    claims,
)
from clearlane.store.database.sql import (
    Statement,
    among,
    insert_into,
    scoped_insert,
    scoped_select,
    scoped_union,
    scoped_update,
)

TABLE = "claims"

RECEIVED = "received"
NOT_ACCEPTED = NOT_ACCEPTED_STATE
TAKE_OVER_ATTEMPTS_MAX = 10
SUPERSEDED = "Superseded"
"""The event of a claim whose vendor's claim id a successor took over."""


class NewClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A claim to be stored. ``payload`` and ``status`` are already sealed."""

    claim_number: str
    kind: str
    form: str
    state: str
    payer_id: str
    vendor_claim_hash: str
    """Keyed hash of the vendor's claim id."""
    content_hash: str
    """Keyed hash of everything in the claim."""
    frequency: str
    """The claim frequency code (CLM05-3): 1 original, 7 replacement, 8 void."""
    reference: str
    """Keyed hash of the account number to be sent as CLM01; empty if it cannot be."""
    times: ResubmissionTimes
    """How old an earlier claim under its id must be for it to take over the id."""
    total_cents: int
    created_at: int
    created_day: str
    service_day: str | None = None
    """The first day of service."""
    label: str = "received"
    """What people call it (``pipeline.claim_label``)."""
    payload: bytes
    status: bytes | None = None
    """Its row of the status list; None if it is not listed."""
    account_key: int | None = None
    """Keyed hashes that it is found by, cut to 64 bits: of the account number, the patient's last
    name with birth date, the start of that name, and the member id; None if it has none."""
    patient_key: int | None = None
    name_key: int | None = None
    member_key: int | None = None
    depends_on_predecessor: bool = False
    """Whether its content is still to be decided by the claim that it takes over from, if there is one."""
    corrects: str = ""
    """The claim that a person or a v1 call named to be corrected; empty for a claim that was just sent."""
    replaces_key: int | None = None
    """Keyed hash of the payer's number of the claim that it replaces or voids, cut to 64 bits."""
    prior_payer_claim: str | None = None
    """The claim to an earlier payer whose decision it carries to the next one."""

    def __repr__(self) -> str:
        """Leave out sealed values."""
        return f"NewClaim({self.claim_number} {self.state})"


@dataclass(frozen=True, slots=True)
class CurrentClaim:
    """The claim that a vendor's claim id means now."""

    claim_number: str
    content_hash: str
    state: str
    created_at: int
    updated_at: int
    paid_cents: int
    patient_cents: int
    predecessor_id: str | None
    """The claim that it took over from."""
    former_holder: str | None
    """The claim that had the id before it and is live as well; None for nearly all."""


@dataclass(frozen=True, slots=True)
class StoredPredecessor:
    """A claim under a vendor's claim id that another came under, sealed."""

    claim_number: str
    kind: str
    form: str
    state: str
    payer_id: str
    content_hash: str
    created_at: int
    updated_at: int
    paid_cents: int
    patient_cents: int
    predecessor_id: str | None
    former_holder: str | None
    payer_number_key: int | None
    event_sequence: int
    """The number of events about it that its vendor was given."""
    payload: bytes = field(repr=False)
    status: bytes = field(repr=False)


EarlierRow: TypeAlias = CurrentClaim | StoredPredecessor


class ResubmissionJudge(Protocol):
    """Opens the claims under a vendor's claim id, inside the transaction, for what depends on their content."""

    async def choose(
        self, tx: Tx, claim: NewClaim, earlier: Sequence[StoredPredecessor]
    ) -> tuple[StoredPredecessor, ResubmissionDecision]:
        """Return the one of these that a claim is judged by, and what it is to that one. The id's holder comes first."""

    async def complete(
        self,
        tx: Tx,
        claim: NewClaim,
        earlier: StoredPredecessor,
        decision: ResubmissionDecision,
    ) -> NewClaim:
        """Return a claim as it goes out after another."""


Refuse: TypeAlias = Callable[[NewClaim, "ClaimInsertResult"], NewClaim]
"""Returns a claim without errors as it is kept if the claim that has its id does not let it be accepted."""


@dataclass(frozen=True, slots=True)
class ClaimInsertResult:
    """The result of storing one claim of a submission."""

    claim_number: str
    """Id of the stored claim: the new one, or the one that existed."""
    decision: ResubmissionDecision | None = None
    """What the claim is to the one that had its vendor's claim id; None if none had it."""
    earlier_id: str = ""
    """Id of the claim that had the vendor's claim id."""
    earlier_state: str = ""
    not_accepted_before: tuple[str, ...] = ()
    """Ids of claims under its vendor's claim id that were not accepted, and whose place it takes."""


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A stored claim."""

    claim_number: str
    kind: str
    form: str
    state: str
    payer_id: str
    account_as_number: bool
    """Whether CLM01 is the patient's account number; else it is the request id."""
    created_at: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SupersededClaim:
    """A stored claim that another took the place of."""

    claim: StoredClaim
    event_sequence: int
    """The number of events about it that its vendor was given."""

    @property
    def claim_number(self) -> str:
        """Our number of it."""
        return self.claim.claim_number


async def add(
    tx: Tx, new: Sequence[NewClaim], judge: ResubmissionJudge, refuse: Refuse | None = None
) -> list[ClaimInsertResult]:
    """Store claims in this order, and return the result for each. Without ``refuse``, what has no free id is not kept.

    The unique index over current claims decides which concurrent submission gets a vendor's claim id. An id that
    was never seen costs no statement beyond its insertion and the look at the index. The same look finds claims under
    the ids that were not accepted; these cost a statement only if there are any.
    """
    first, later = _by_vendor_claim(new)
    accounts = await _take_references(tx, first)
    refused = [claim for claim in new if claim.state == NOT_ACCEPTED]
    await tx.many(_ADD, [_row(claim, accounts) for claim in (*first, *refused)])
    current, not_accepted = await _claims_under_ids(tx, (*first, *refused))
    decided = await _supersede(tx, first, current, accounts, judge)
    # Each result is decided before the next claim under the same id may take it over.
    results = {c.claim_number: _insert_result(c, decided) for c in first}
    for claim in later:
        if decide(_current(claim, current), claim) in _MAY_TAKE_THE_ID:
            accounts |= await _take_references(tx, [claim])
        decided |= await _supersede(tx, [claim], current, accounts, judge)
        results[claim.claim_number] = _insert_result(claim, decided)
    kept = {c.claim_number for c in (*first, *later) if _is_stored(c, current)}
    await release_account_numbers(tx, accounts - kept)
    stored = [(c, results.get(c.claim_number) or ClaimInsertResult(c.claim_number)) for c in new]
    if refuse is not None:
        without_id = [
            refuse(*one) for one in stored if one[0].state == RECEIVED and not is_accepted(*one)
        ]
        await _add_without_id(tx, without_id, not_accepted)
    return await _supersede_not_accepted(tx, stored, not_accepted)


async def find_live(tx: Tx, new: Sequence[NewClaim]) -> dict[str, list[StoredPredecessor]]:
    """Return the claims under the vendor's claim ids of these that no other superseded, by the request ids of these.

    The holder of the id comes first. Only an id with more than one costs a statement of its own.
    """
    current = await _current_claims(tx, new)
    found = await find_predecessors(tx, [one.claim_number for one in current.values()])
    by_id = {one.claim_number: one for one in found}
    live: dict[str, list[StoredPredecessor]] = {}
    for claim in new:
        if holder := current.get((claim.kind, claim.vendor_claim_hash)):
            others = await _find_others(tx, claim) if holder.former_holder else []
            live[claim.claim_number] = [by_id[holder.claim_number], *others]
    return live


async def find_predecessors(tx: Tx, claim_numbers: Sequence[str]) -> list[StoredPredecessor]:
    """Return accepted claims of the scope with what decides how a correction of them goes out."""
    if not claim_numbers:
        return []
    rows = await tx.rows(_PREDECESSORS, claim_numbers=list(claim_numbers))
    return [StoredPredecessor(*row) for row in rows]


async def find_superseded(tx: Tx, claim_numbers: Sequence[str]) -> list[SupersededClaim]:
    """Return claims of the scope that others took the place of, accepted or not."""
    rows = await tx.rows(_SUPERSEDED, claim_numbers=list(claim_numbers))
    return [SupersededClaim(_stored(row[:-1]), int(row[-1])) for row in rows]


async def find(tx: Tx, claim_number: str) -> StoredClaim | None:
    """Return one claim of the scope."""
    row = await tx.row(_FIND, claim_number=claim_number)
    return None if row is None else _stored(row)


async def find_many(tx: Tx, claim_numbers: Sequence[str]) -> list[StoredClaim]:
    """Return those of these claims that belong to the scope."""
    return [_stored(row) for row in await tx.rows(_SOME, claim_numbers=list(claim_numbers))]


async def list_events(tx: Tx, claim_number: str) -> list[tuple[int, str]]:
    """Return time and event of a claim, in order."""
    return [(at, event) for at, event in await tx.rows(_EVENTS, claim_number=claim_number)]


async def find_owner(tx: Tx, claim_number: str) -> tuple[int, int] | None:
    """Return vendor and site of a claim, for an operator who has its request id only."""
    row = await tx.row(_OWNER, claim_number=claim_number)
    return None if row is None else (int(row[0]), int(row[1]))


async def _take_references(tx: Tx, new: Sequence[NewClaim]) -> set[str]:
    """Take the account numbers that no live claim to the payer carries; return the request ids that got theirs."""
    wanted = [claim for claim in new if claim.reference]
    if not wanted:
        return set()
    rows = [
        {"payer_id": c.payer_id, "reference": c.reference, "claim_number": c.claim_number}
        for c in wanted
    ]
    await tx.many(_TAKE_REFERENCE, rows)
    found = await tx.rows(_REFERENCES, claim_numbers=[claim.claim_number for claim in wanted])
    return {str(claim_number) for (claim_number,) in found}


async def release_account_numbers(tx: Tx, claim_numbers: set[str]) -> None:
    """Let other claims carry the account numbers of these, which were never sent."""
    if claim_numbers:
        await tx.run(_DROP_REFERENCES, claim_numbers=sorted(claim_numbers))


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
ClaimsByVendorId: TypeAlias = dict[tuple[str, str], list[str]]
"""The numbers of claims of each kind and vendor's claim id."""


async def _claims_under_ids(
    tx: Tx, new: Sequence[NewClaim]
) -> tuple[CurrentClaims, ClaimsByVendorId]:
    """Return the current claims under the ids of these, and those that were not accepted and not superseded."""
    current: CurrentClaims = {}
    not_accepted: ClaimsByVendorId = {}
    for kind in dict.fromkeys([claim.kind for claim in new]):
        wanted = [claim.vendor_claim_hash for claim in new if claim.kind == kind]
        for vendor_claim, *rest in await tx.rows(_UNDER_IDS, kind=kind, vendor_claims=wanted):
            found = CurrentClaim(*rest)
            if found.state == NOT_ACCEPTED:
                not_accepted.setdefault((kind, str(vendor_claim)), []).append(found.claim_number)
            else:
                current[kind, str(vendor_claim)] = found
    return current, not_accepted


async def _current_claims(tx: Tx, new: Sequence[NewClaim]) -> CurrentClaims:
    current: CurrentClaims = {}
    for kind in dict.fromkeys([claim.kind for claim in new]):
        wanted = [claim.vendor_claim_hash for claim in new if claim.kind == kind]
        for vendor_claim, *rest in await tx.rows(_CURRENT, kind=kind, vendor_claims=wanted):
            current[kind, str(vendor_claim)] = CurrentClaim(*rest)
    return current


_Decided: TypeAlias = dict[str, tuple[ResubmissionDecision, EarlierRow]]
"""What claims are to the earlier ones under their ids, by request id; without those under an id that was free."""


async def _supersede(
    tx: Tx,
    new: Sequence[NewClaim],
    current: CurrentClaims,
    accounts: set[str],
    judge: ResubmissionJudge,
) -> _Decided:
    """Let new claims take over their vendor's claim ids if the rules allow it; return what was decided.

    Updates ``current``. A predecessor that changed in between (a payment was posted, another successor came) is
    looked at again, so the decision is never made on an old state.
    """
    decided: _Decided = {}
    for claim in new:
        attempts = 0
        while not _is_stored(claim, current):
            holder = _current(claim, current)
            earlier, decision = await _judge(tx, claim, holder, judge)
            decided[claim.claim_number] = decision, earlier
            if decision not in TAKES_THE_ID:
                break
            if (attempts := attempts + 1) > TAKE_OVER_ATTEMPTS_MAX:
                raise LockContention(f"the predecessor of {claim.claim_number} keeps changing")
            if await _take_over(tx, claim, holder, earlier, decision):
                content = claim
                if claim.depends_on_predecessor:
                    found = await _with_content(tx, earlier)
                    content = await judge.complete(tx, claim, found, decision)
                links = _links(holder, earlier, decision)
                await tx.run(_ADD, **_row(content, accounts) | links)
            current.update(await _current_claims(tx, [claim]))
    return decided


async def _add_without_id(
    tx: Tx, refused: Sequence[NewClaim], not_accepted: ClaimsByVendorId
) -> None:
    """Store claims that are not accepted because another claim has their id; add them to those that were not accepted."""
    if refused:
        await tx.many(_ADD, [_row(claim, set()) for claim in refused])
    for claim in refused:
        key = (claim.kind, claim.vendor_claim_hash)
        not_accepted.setdefault(key, []).append(claim.claim_number)


async def _supersede_not_accepted(
    tx: Tx, stored: Sequence[tuple[NewClaim, ClaimInsertResult]], not_accepted: ClaimsByVendorId
) -> list[ClaimInsertResult]:
    """Let stored claims take the place of earlier ones under their ids that were not accepted; return their results.

    Of several under one id the last counts, whether it was accepted or not: a list shows one claim to work on.
    """
    places = {claim.claim_number: at for at, (claim, _) in enumerate(stored)}
    last = {(claim.kind, claim.vendor_claim_hash): at for at, (claim, _) in enumerate(stored)}
    before: dict[int, list[str]] = {}
    for key, numbers in not_accepted.items():
        earlier = [number for number in numbers if places.get(number, -1) < last[key]]
        before.setdefault(last[key], []).extend(sorted(earlier))
    results = [result for _, result in stored]
    for at, numbers in before.items():
        claim, result = stored[at]
        # A repeated request stores nothing, so their vendor gets no event.
        is_new = is_accepted(claim, result) and result.claim_number == claim.claim_number
        for number in numbers:
            values = {"of": number, "successor": result.claim_number, "events": int(is_new)}
            if await tx.run(_SUPERSEDE_NOT_ACCEPTED, **values):
                await tx.run(_EVENT, claim_number=number, at=claim.created_at, event=SUPERSEDED)
        if is_new:
            results[at] = replace(result, not_accepted_before=tuple(numbers))
    return results


def is_accepted(claim: NewClaim, result: ClaimInsertResult) -> bool:
    """Return whether a claim is answered as accepted: it has no errors, and its id is free or its own."""
    return claim.state == RECEIVED and result.decision not in REFUSALS


async def _judge(
    tx: Tx, claim: NewClaim, holder: CurrentClaim, judge: ResubmissionJudge
) -> tuple[EarlierRow, ResubmissionDecision]:
    """Return the claim under its id that a claim is judged by, and what it is to that one.

    Contents are opened for that only if they decide, or if the id has more than one live claim.
    """
    decision = decide(holder, claim)
    # A claim before a canceled one is live again, and a person may have named it.
    may_be_named = claim.corrects not in {"", holder.claim_number} and (
        holder.state == ClaimState.CANCELED and holder.predecessor_id is not None
    )
    is_shared = may_be_named or holder.former_holder is not None
    if decision is ResubmissionDecision.REPEATED_REQUEST or not (
        is_shared or decision is ResubmissionDecision.UNDECIDED
    ):
        return holder, decision
    others = await _find_others(tx, claim) if is_shared else []
    return await judge.choose(
        tx, claim, [*await find_predecessors(tx, [holder.claim_number]), *others]
    )


async def _take_over(
    tx: Tx,
    claim: NewClaim,
    holder: CurrentClaim,
    earlier: EarlierRow,
    decision: ResubmissionDecision,
) -> bool:
    """Take the id from its holder, and the place of the earlier claim for its successor; False if one has changed."""
    is_successor = decision is ResubmissionDecision.SUCCESSOR
    if is_successor and earlier.claim_number == holder.claim_number:
        # Before the claim itself is changed: everything locks the older claim first.
        again = await _supersede_again(tx, claim, earlier)
        taken = await _succeed(tx, claim, earlier, _TAKE_OVER)
        if again and not taken:
            raise LockContention(f"the predecessor of {claim.claim_number} has changed")
    else:
        taken = bool(
            await tx.run(_PASS_ON, earlier_id=holder.claim_number, seen_at=holder.updated_at)
        )
        if taken and is_successor and not await _succeed(tx, claim, earlier, _TAKE_PLACE):
            raise LockContention(f"the predecessor of {claim.claim_number} has changed")
    return taken


async def _supersede_again(tx: Tx, claim: NewClaim, earlier: EarlierRow) -> bool:
    """Supersede what was live again because the earlier claim never took effect; return whether there was something."""
    if earlier.predecessor_id is None or ClaimState(earlier.state) not in REFUSED_OR_CANCELED:
        return False
    is_correction = bool(claim.corrects) or claim.frequency != ORIGINAL
    return await supersede_again(tx, earlier, earlier.state, is_correction=is_correction)


async def _succeed(tx: Tx, claim: NewClaim, earlier: EarlierRow, statement: Statement) -> bool:
    """Take the place of an earlier claim, and record it there; False if that has changed."""
    values = {"earlier_id": earlier.claim_number, "seen_at": earlier.updated_at}
    if not await tx.run(statement, successor=claim.claim_number, **values):
        return False
    await tx.run(_EVENT, claim_number=earlier.claim_number, at=claim.created_at, event=SUPERSEDED)
    return True


def _links(
    holder: CurrentClaim, earlier: EarlierRow, decision: ResubmissionDecision
) -> dict[str, object]:
    """Return the links of a new claim to those under the same id."""
    is_successor = decision is ResubmissionDecision.SUCCESSOR
    replaces_holder = is_successor and earlier.claim_number == holder.claim_number
    return {
        "predecessor_id": earlier.claim_number if is_successor else None,
        "former_holder": holder.former_holder if replaces_holder else holder.claim_number,
    }


async def _with_content(tx: Tx, earlier: EarlierRow) -> StoredPredecessor:
    if isinstance(earlier, StoredPredecessor):
        return earlier
    [found] = await find_predecessors(tx, [earlier.claim_number])
    return found


async def _find_others(tx: Tx, claim: NewClaim) -> list[StoredPredecessor]:
    """Return the live claims under a claim's id beside its holder, the latest first."""
    rows = await tx.rows(_OTHERS, kind=claim.kind, vendor_claim=claim.vendor_claim_hash)
    return [StoredPredecessor(*row) for row in rows]


def decide(
    earlier: EarlierRow, claim: NewClaim, compared: SubjectComparison | None = None
) -> ResubmissionDecision:
    """Return what a claim is to an earlier one under its vendor's claim id."""
    return decide_resubmission(
        EarlierClaim(
            state=ClaimState(earlier.state),
            accepted_at=from_micros(earlier.created_at),
            last_word_at=from_micros(earlier.updated_at),
            paid_cents=earlier.paid_cents,
            patient_cents=earlier.patient_cents,
        ),
        same_content=earlier.content_hash == claim.content_hash,
        frequency=claim.frequency,
        times=claim.times,
        is_correction=claim.corrects == earlier.claim_number,
        compared=compared,
    )


_MAY_TAKE_THE_ID = TAKES_THE_ID | {ResubmissionDecision.UNDECIDED}


def _is_stored(claim: NewClaim, current: CurrentClaims) -> bool:
    return _current(claim, current).claim_number == claim.claim_number


def _current(claim: NewClaim, current: CurrentClaims) -> CurrentClaim:
    return current[claim.kind, claim.vendor_claim_hash]


def _insert_result(claim: NewClaim, decided: _Decided) -> ClaimInsertResult:
    if claim.claim_number not in decided:
        return ClaimInsertResult(claim.claim_number)
    decision, earlier = decided[claim.claim_number]
    is_repeated = decision is ResubmissionDecision.REPEATED_REQUEST
    return ClaimInsertResult(
        earlier.claim_number if is_repeated else claim.claim_number,
        decision,
        earlier.claim_number,
        earlier.state,
    )


def _row(claim: NewClaim, accounts: set[str]) -> dict[str, object]:
    row = dict(zip(_NEW_COLUMNS, _new_values(claim), strict=True))
    row["is_current"] = int(claim.state == RECEIVED)
    row["predecessor_id"] = row["former_holder"] = None
    row["updated_at"] = claim.created_at
    row["account_as_number"] = int(claim.claim_number in accounts)
    row["queued"] = int(claim.state == RECEIVED)
    return row


def _stored(row: tuple[object, ...]) -> StoredClaim:
    claim_number, kind, form, state, payer_id, account, created_at, payload = row
    return StoredClaim(
        str(claim_number),
        str(kind),
        str(form),
        str(state),
        str(payer_id),
        bool(account),
        int(created_at),  # type: ignore[call-overload]
        bytes(payload),  # type: ignore[call-overload]
    )


_NEW_COLUMNS = (
    "claim_number", "kind", "form", "state", "payer_id", "vendor_claim_hash", "content_hash", "total_cents",
    "created_at", "created_day", "payload", "status", "account_key", "patient_key", "name_key",
    "member_key", "service_day", "prior_payer_claim", "label",
)  # fmt: skip
_new_values = attrgetter(*_NEW_COLUMNS)

# The only possible conflict: a current claim has the vendor's claim id.
_ADD = scoped_insert(
    claims, *_NEW_COLUMNS, "updated_at", "account_as_number", "queued", "is_current", "predecessor_id",
    "former_holder", ignore_conflict=True,
)  # fmt: skip
_EVENT = scoped_insert(claim_events, "claim_number", "at", "event")
# The value is part of the SQL text: with a placeholder no database knows that the partial index over
# current claims applies, and reads every claim of the site.
HOLDS_ID = claims.c.is_current == literal(1, literal_execute=True)
IS_NOT_SUPERSEDED = claims.c.is_superseded == literal(0, literal_execute=True)
"""What lists, sums and worklists ask of a claim: no other was sent in its place. Of several under one vendor's claim id
more than one may be so; of those that were not accepted, the last one, until a claim is accepted under the id."""
_OF_IDS = select(
    claims.c.vendor_claim_hash, claims.c.claim_number, claims.c.content_hash, claims.c.state,
    claims.c.created_at, claims.c.updated_at, claims.c.paid_cents, claims.c.patient_cents,
    claims.c.predecessor_id, claims.c.former_holder,
).where(
    claims.c.kind == bindparam("kind"), among(claims.c.vendor_claim_hash, "vendor_claims")
)  # fmt: skip
_CURRENT = scoped_select(_OF_IDS.where(HOLDS_ID), claims)
# Those that were not accepted are found by ``ix_claims_former``, which holds no claim whose id nothing else came under.
_UNDER_IDS = scoped_union(
    claims,
    _OF_IDS.where(HOLDS_ID),
    _OF_IDS.where(
        claims.c.is_current == literal(0, literal_execute=True),
        IS_NOT_SUPERSEDED,
        claims.c.state == literal(NOT_ACCEPTED, literal_execute=True),
    ),
)
_SUPERSEDE_NOT_ACCEPTED = scoped_update(
    claims,
    claims.c.claim_number == bindparam("of"),
    IS_NOT_SUPERSEDED,
    is_superseded=1,
    successor_id=bindparam("successor"),
    event_sequence=claims.c.event_sequence + bindparam("events"),
)
_AS_SEEN = (
    claims.c.claim_number == bindparam("earlier_id"),
    claims.c.updated_at == bindparam("seen_at"),
)
_SUCCEEDED = {
    "is_superseded": 1,
    "successor_id": bindparam("successor"),
    "event_sequence": claims.c.event_sequence + 1,  # that it was corrected
}
_TAKE_OVER = scoped_update(claims, *_AS_SEEN, HOLDS_ID, is_current=0, **_SUCCEEDED)
# Of a claim that no longer holds the id.
_TAKE_PLACE = scoped_update(claims, *_AS_SEEN, claims.c.is_superseded == 0, **_SUCCEEDED)
# The id alone: the claim stays as it is.
_PASS_ON = scoped_update(claims, *_AS_SEEN, HOLDS_ID, is_current=0)
_STORED = select(
    claims.c.claim_number,
    claims.c.kind,
    claims.c.form,
    claims.c.state,
    claims.c.payer_id,
    claims.c.account_as_number,
    claims.c.created_at,
    claims.c.payload,
)
_FIND = scoped_select(_STORED.where(claims.c.claim_number == bindparam("claim_number")), claims)
_SOME = scoped_select(_STORED.where(among(claims.c.claim_number, "claim_numbers")), claims)
_SUPERSEDED = scoped_select(
    _STORED.add_columns(claims.c.event_sequence).where(
        among(claims.c.claim_number, "claim_numbers")
    ),
    claims,
)
_WITH_CONTENT = select(
    *(claims.c[each.name] for each in fields(StoredPredecessor)),
).where(claims.c.status.is_not(None))
_PREDECESSORS = scoped_select(
    _WITH_CONTENT.where(among(claims.c.claim_number, "claim_numbers")), claims
)
_OTHERS = scoped_select(
    _WITH_CONTENT.where(
        claims.c.kind == bindparam("kind"),
        claims.c.vendor_claim_hash == bindparam("vendor_claim"),
        claims.c.is_current == literal(0, literal_execute=True),
        IS_NOT_SUPERSEDED,
    ).order_by(claims.c.claim_number.desc()),
    claims,
)
_EVENTS = scoped_select(
    select(claim_events.c.at, claim_events.c.event)
    .where(claim_events.c.claim_number == bindparam("claim_number"))
    .order_by(claim_events.c.id),
    claim_events,
)
_OWNER = Statement(
    select(claims.c.vendor_id, claims.c.site_id).where(
        claims.c.claim_number == bindparam("claim_number")
    ),
    system=True,
)
_TAKE_REFERENCE = Statement(
    insert_into(claim_references, "payer_id", "reference", "claim_number").on_conflict_do_nothing(
        index_elements=["payer_id", "reference"]
    )
)
_REFERENCES = Statement(
    select(claim_references.c.claim_number).where(
        among(claim_references.c.claim_number, "claim_numbers")
    )
)
_DROP_REFERENCES = Statement(
    delete(claim_references).where(among(claim_references.c.claim_number, "claim_numbers"))
)
