"""Save new claims, each under its vendor's claim id, which it may take over from an earlier claim. Knows no field of a claim."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, TypeAlias

from sqlalchemy import bindparam, select

from clearlane.claims.codes import CORRECTING
from clearlane.claims.kinds import X12
from clearlane.claims.lifecycle import REFUSED_OR_CANCELED, ClaimState
from clearlane.claims.resubmission import ORIGINAL, TAKES_THE_ID, ResubmissionDecision
from clearlane.store.claims import account_numbers, claim_ids, new_claims
from clearlane.store.claims.account_numbers import AccountNumber
from clearlane.store.claims.claim_ids import ClaimId
from clearlane.store.claims.claims import (
    IS_NOT_SUPERSEDED,
    NOT_ACCEPTED,
    RECEIVED,
    SUPERSEDED,
    add_event,
)
from clearlane.store.claims.earlier_claims import (
    StoredPredecessor,
    decide,
    find_corrected,
    find_not_accepted,
    find_others,
    find_predecessors,
    find_superseded,
)
from clearlane.store.claims.new_claims import ClaimInsertResult, NewClaim, is_accepted
from clearlane.store.claims.reinstatement import supersede_again
from clearlane.store.database.database import Tx
from clearlane.store.database.group_commit import LockContention
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import among, scoped_select, scoped_update

TAKE_OVER_ATTEMPTS_MAX = 10
NONE_NAMED: Mapping[str, str] = MappingProxyType({})


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


Refuse: TypeAlias = Callable[[NewClaim, ClaimInsertResult], NewClaim]
"""Returns a claim without errors as it is kept if the claim that has its id does not let it be accepted."""


async def save(
    tx: Tx, new: Sequence[NewClaim], judge: ResubmissionJudge, refuse: Refuse | None = None
) -> list[ClaimInsertResult]:
    """Store claims in this order, and return the result for each. Without ``refuse``, what has no free id is not kept.

    The table of ids decides which concurrent submission gets a vendor's claim id. An id that was never seen costs no
    statement beyond its insertion and a look at that table, which also tells of earlier claims that were not accepted.
    """
    if any(claim.form == X12 for claim in new):
        return [await _save_correction_of_file(tx, claim, judge) for claim in new]
    first, later = _by_vendor_claim(new)
    refused = [claim for claim in new if claim.state == NOT_ACCEPTED]
    accounts = await _take_account_numbers(tx, first)
    await claim_ids.add(tx, [one.id for one in first], [one.id for one in refused])
    hashes = {one.vendor_claim_hash for one in (*first, *refused)}
    under_ids = await claim_ids.list_under(tx, hashes)
    saving = _Saving(tx, judge, under_ids.holders, accounts)
    await new_claims.insert(tx, [*filter(saving.is_stored, first), *refused], accounts)
    await saving.load_holders(first)
    # Each result is decided before the next claim under the same id may take it over.
    results = {claim.claim_number: await saving.take_id(claim) for claim in first}
    for claim in later:
        if decide(await saving.holder(claim), claim) in _MAY_TAKE_THE_ID:
            accounts |= await _take_account_numbers(tx, [claim])
        results[claim.claim_number] = await saving.take_id(claim)
    kept = {claim.claim_number for claim in (*first, *later) if saving.is_stored(claim)}
    await account_numbers.release(tx, accounts - kept)
    stored = [(c, results.get(c.claim_number) or ClaimInsertResult(c.claim_number)) for c in new]
    if refuse is not None:
        without_id = [
            refuse(*one) for one in stored if one[0].state == RECEIVED and not is_accepted(*one)
        ]
        await claim_ids.add(tx, (), [one.id for one in without_id])
        await new_claims.insert(tx, without_id)
        refused += without_id
    not_accepted = await _list_not_accepted(tx, under_ids.others, refused)
    return await _supersede_not_accepted(tx, stored, not_accepted)


class _Saving:
    """The claims that hold the ids of new ones, while these are saved."""

    def __init__(
        self, tx: Tx, judge: ResubmissionJudge, holders: dict[str, str], accounts: set[str]
    ) -> None:
        self._tx = tx
        self._judge = judge
        self._holders = holders
        """The claim numbers, by the keyed hashes of the vendors' claim ids."""
        self._accounts = accounts
        """The claim numbers of new claims that carry the account number."""
        self._loaded: dict[str, StoredPredecessor] = {}

    def is_stored(self, claim: NewClaim) -> bool:
        """Return whether a new claim holds its id."""
        return self._holders[claim.vendor_claim_hash] == claim.claim_number

    async def load_holders(self, new: Sequence[NewClaim]) -> None:
        """Load the claims that hold the ids of these."""
        wanted = {self._holders[one.vendor_claim_hash] for one in new if not self.is_stored(one)}
        found = await find_predecessors(self._tx, sorted(wanted))
        self._loaded |= {one.claim_number: one for one in found}

    async def holder(self, claim: NewClaim) -> StoredPredecessor:
        """Return the claim that holds the id of a new one."""
        number = self._holders[claim.vendor_claim_hash]
        if number not in self._loaded:
            await self.load_holders([claim])
        return self._loaded[number]

    async def take_id(self, claim: NewClaim) -> ClaimInsertResult:
        """Let a new claim take over its vendor's claim id if the rules allow it.

        If another claim took it first, that one is looked at, so the decision is never made on an old state.
        """
        result = ClaimInsertResult(claim.claim_number)
        attempts = 0
        while not self.is_stored(claim):
            holder = await self.holder(claim)
            earlier, decision = await self._judged(claim, holder)
            result = _insert_result(claim, earlier, decision)
            if decision not in TAKES_THE_ID:
                break
            if (attempts := attempts + 1) > TAKE_OVER_ATTEMPTS_MAX:
                raise LockContention(f"the predecessor of {claim.claim_number} keeps changing")
            if await _take_over(self._tx, claim, holder, earlier, decision):
                content = claim
                if claim.depends_on_predecessor:
                    content = await self._judge.complete(self._tx, claim, earlier, decision)
                links = _links(holder, earlier, decision)
                await new_claims.insert(self._tx, [content], self._accounts, links)
                self._holders[claim.vendor_claim_hash] = claim.claim_number
            else:
                found = await claim_ids.list_under(self._tx, [claim.vendor_claim_hash])
                self._holders |= found.holders
        return result

    async def _judged(
        self, claim: NewClaim, holder: StoredPredecessor
    ) -> tuple[StoredPredecessor, ResubmissionDecision]:
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
        others = await find_others(self._tx, claim) if is_shared else []
        return await self._judge.choose(self._tx, claim, [holder, *others])


def _by_vendor_claim(new: Sequence[NewClaim]) -> tuple[list[NewClaim], list[NewClaim]]:
    """Return the accepted claims that are the first under their vendor's claim id here, and the later ones."""
    received = [claim for claim in new if claim.state == RECEIVED]
    first: dict[str, NewClaim] = {}
    for claim in received:
        first.setdefault(claim.vendor_claim_hash, claim)
    later = [claim for claim in received if first[claim.vendor_claim_hash] is not claim]
    return list(first.values()), later


async def _take_account_numbers(tx: Tx, new: Sequence[NewClaim]) -> set[str]:
    """Take the account numbers that no live claim to the payer carries; return the claims that got theirs."""
    wanted = [AccountNumber(c.payer_id, c.reference, c.claim_number) for c in new if c.reference]
    return await account_numbers.take(tx, wanted)


async def _list_not_accepted(
    tx: Tx, others: dict[str, list[str]], refused: Sequence[NewClaim]
) -> dict[str, list[str]]:
    """Return the claims under each id that were not accepted and not superseded: earlier ones, and these."""
    waiting = {claim.claim_number for claim in refused}
    earlier = {number for numbers in others.values() for number in numbers} - waiting
    if earlier:
        rows = await tx.rows(_NOT_ACCEPTED, claim_numbers=sorted(earlier))
        waiting |= {str(number) for (number,) in rows}
    found = {key: {*numbers} & waiting for key, numbers in others.items()}
    for claim in refused:
        found.setdefault(claim.vendor_claim_hash, set()).add(claim.claim_number)
    return {key: sorted(numbers) for key, numbers in found.items()}


async def _supersede_not_accepted(
    tx: Tx, stored: Sequence[tuple[NewClaim, ClaimInsertResult]], not_accepted: dict[str, list[str]]
) -> list[ClaimInsertResult]:
    """Let stored claims take the place of earlier ones under their ids that were not accepted; return their results.

    Of several under one id the last counts, whether it was accepted or not: a list shows one claim to work on.
    """
    places = {claim.claim_number: at for at, (claim, _) in enumerate(stored)}
    last = {claim.vendor_claim_hash: at for at, (claim, _) in enumerate(stored)}
    results = [result for _, result in stored]
    for key, waiting in not_accepted.items():
        claim, result = stored[last[key]]
        numbers = [number for number in waiting if places.get(number, -1) < last[key]]
        # A repeated request stores nothing, so their vendor gets no event.
        is_new = is_accepted(claim, result) and result.claim_number == claim.claim_number
        for number in numbers:
            values = {"of": number, "successor": result.claim_number, "events": int(is_new)}
            if await tx.run(_SUPERSEDE_NOT_ACCEPTED, **values):
                await add_event(tx, number, claim.created_at, SUPERSEDED)
        if is_new:
            results[last[key]] = replace(result, not_accepted_before=tuple(numbers))
    return results


async def _take_over(
    tx: Tx,
    claim: NewClaim,
    holder: StoredPredecessor,
    earlier: StoredPredecessor,
    decision: ResubmissionDecision,
) -> bool:
    """Take the id from its holder, and the place of the earlier claim for its successor; False if another has the id.

    The row of the id is locked first, so that submissions under one id follow each other. If a claim has changed since it
    was seen (a payment was posted), all is tried again.
    """
    held = ClaimId(claim.vendor_claim_hash, holder.claim_number)
    if not await claim_ids.hand_over(tx, held, claim.claim_number):
        return False
    is_successor = decision is ResubmissionDecision.SUCCESSOR
    if is_successor and earlier.claim_number == holder.claim_number:
        # Before the claim itself is changed: everything locks the older claim first.
        await _supersede_again(tx, claim, earlier)
        is_as_seen = True
    else:
        is_as_seen = bool(await tx.run(_LOCK_AS_SEEN, **_as_seen(holder)))
    if is_successor and is_as_seen:
        is_as_seen = bool(
            await tx.run(_SUPERSEDE, successor=claim.claim_number, **_as_seen(earlier))
        )
        await add_event(tx, earlier.claim_number, claim.created_at, SUPERSEDED)
    if not is_as_seen:
        raise LockContention(f"the predecessor of {claim.claim_number} has changed")
    return True


async def _supersede_again(tx: Tx, claim: NewClaim, earlier: StoredPredecessor) -> None:
    """Supersede what was live again because the earlier claim never took effect."""
    if earlier.predecessor_id and ClaimState(earlier.state) in REFUSED_OR_CANCELED:
        is_correction = bool(claim.corrects) or claim.frequency != ORIGINAL
        await supersede_again(tx, earlier, earlier.state, is_correction=is_correction)


def _as_seen(claim: StoredPredecessor) -> dict[str, object]:
    return {"of": claim.claim_number, "seen_at": claim.updated_at}


def _links(
    holder: StoredPredecessor, earlier: StoredPredecessor, decision: ResubmissionDecision
) -> dict[str, str | None]:
    """Return the links of a new claim to those under the same id."""
    is_successor = decision is ResubmissionDecision.SUCCESSOR
    replaces_holder = is_successor and earlier.claim_number == holder.claim_number
    return {
        "predecessor_id": earlier.claim_number if is_successor else None,
        "former_holder": holder.former_holder if replaces_holder else holder.claim_number,
    }


def _insert_result(
    claim: NewClaim, earlier: StoredPredecessor, decision: ResubmissionDecision
) -> ClaimInsertResult:
    is_repeated = decision is ResubmissionDecision.REPEATED_REQUEST
    return ClaimInsertResult(
        earlier.claim_number if is_repeated else claim.claim_number,
        decision,
        earlier.claim_number,
        earlier.state,
    )


_MAY_TAKE_THE_ID = TAKES_THE_ID | {ResubmissionDecision.UNDECIDED}
_NOT_ACCEPTED = scoped_select(
    select(claims.c.claim_number).where(
        among(claims.c.claim_number, "claim_numbers"),
        claims.c.state == NOT_ACCEPTED,
        IS_NOT_SUPERSEDED,
    ),
    claims,
)
_OF = claims.c.claim_number == bindparam("of")
_AS_SEEN = claims.c.updated_at == bindparam("seen_at")
_SUCCESSOR = {"is_superseded": 1, "successor_id": bindparam("successor")}
_SUPERSEDE_NOT_ACCEPTED = scoped_update(
    claims,
    _OF,
    IS_NOT_SUPERSEDED,
    event_sequence=claims.c.event_sequence + bindparam("events"),
    **_SUCCESSOR,
)
_SUPERSEDE = scoped_update(
    claims,
    _OF,
    _AS_SEEN,
    IS_NOT_SUPERSEDED,
    event_sequence=claims.c.event_sequence + 1,  # that it was corrected
    **_SUCCESSOR,
)
_LOCK_AS_SEEN = scoped_select(
    select(claims.c.claim_number).where(_OF, _AS_SEEN).with_for_update(), claims
)


# --- claims of files ------------------------------------------------------------------------------------------------


async def _save_correction_of_file(
    tx: Tx, claim: NewClaim, judge: ResubmissionJudge
) -> ClaimInsertResult:
    """Store the correction of a claim of a file, which takes the place of the claim that it names."""
    (earlier,) = await find_superseded(tx, [claim.corrects])
    was_accepted = earlier.state != NOT_ACCEPTED
    if was_accepted:
        _, decision = await judge.choose(tx, claim, [earlier])
        if decision is not ResubmissionDecision.SUCCESSOR:  # the caller stores nothing then
            return _insert_result(claim, earlier, decision)
        if claim.depends_on_predecessor:
            claim = await judge.complete(tx, claim, earlier, decision)
    if not was_accepted:
        number = earlier.claim_number
        values = {"of": number, "successor": claim.claim_number, "events": 1}
        if await tx.run(_SUPERSEDE_NOT_ACCEPTED, **values):
            await add_event(tx, number, claim.created_at, SUPERSEDED)
        await save_file_claims(tx, [claim])
        return ClaimInsertResult(claim.claim_number, not_accepted_before=(number,))
    await save_file_claims(tx, [claim], {claim.claim_number: earlier.claim_number})
    return ClaimInsertResult(
        claim.claim_number, ResubmissionDecision.SUCCESSOR, earlier.claim_number, earlier.state
    )


async def save_shadow_claims(tx: Tx, new: Sequence[NewClaim]) -> None:
    """Store claims of a shadow file. They take neither an id nor an account number, and the place of no other claim."""
    await claim_ids.add(tx, (), [claim.id for claim in new])
    await new_claims.insert(tx, new, {claim.claim_number for claim in new})


async def save_file_claims(
    tx: Tx, new: Sequence[NewClaim], corrected: Mapping[str, str] = NONE_NAMED
) -> dict[str, str]:
    """Store claims of a sender's file; return those that replacements and voids among them take over from, by number.

    ``corrected`` are the claims that corrections take over from; of other replacements and voids they are looked for.

    Several claims may have one vendor's claim id, which is an account number: none of them holds it.
    """
    accepted = [claim for claim in new if claim.state == RECEIVED]
    not_accepted = await find_not_accepted(tx, new)
    await claim_ids.add(tx, (), [claim.id for claim in new])
    # CLM01 goes out as it came, whether another claim to the payer has it or not.
    await new_claims.insert(tx, new, {claim.claim_number for claim in new})
    taken = await _take_account_numbers(tx, accepted)
    await account_numbers.share(
        tx,
        [
            AccountNumber(claim.payer_id, claim.reference, claim.claim_number)
            for claim in accepted
            if claim.reference and claim.claim_number not in taken
        ],
    )
    for number, successor in not_accepted.items():
        # No event for the vendor: the claim that he sent again has its own.
        if await tx.run(_SUPERSEDE_NOT_ACCEPTED, of=number, successor=successor, events=0):
            await add_event(tx, number, new[0].created_at, SUPERSEDED)
    links: dict[str, str] = {}
    for claim in accepted:
        earlier = corrected.get(claim.claim_number, "")
        if not earlier and claim.frequency in CORRECTING:
            earlier = await find_corrected(tx, claim)
        if earlier:
            await tx.run(_SUPERSEDE_BY_FILE, of=earlier, successor=claim.claim_number)
            await tx.run(_LINK, of=claim.claim_number, predecessor=earlier)
            await add_event(tx, earlier, claim.created_at, SUPERSEDED)
            links[claim.claim_number] = earlier
    return links


_SUPERSEDE_BY_FILE = scoped_update(
    claims,
    _OF,
    event_sequence=claims.c.event_sequence + 1,  # that it was corrected
    **_SUCCESSOR,
)
_LINK = scoped_update(claims, _OF, predecessor_id=bindparam("predecessor"))
