"""Decide how corrections of earlier claims go out, with what is stored of those.

For ``submit``. ``claims.resubmission`` decides; here the earlier claim is opened for it. A claim under an id that was
never seen costs nothing here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.claim_subject import SubjectComparison, compare_subjects
from clearlane.claims.lifecycle import NOT_DELIVERED, ClaimState
from clearlane.claims.read.changed_fields import changed_fields
from clearlane.claims.resubmission import (
    REPLACEMENT,
    PredecessorClaim,
    ResubmissionDecision,
    ResubmissionTimes,
    as_it_went_out,
    correction_numbers,
    is_silent,
    needs_predecessor,
    plan_another_claim,
    plan_correction,
)
from clearlane.claims.rules import apply_rule
from clearlane.events.event import NewEvent
from clearlane.pipeline.intake.correction_guard import (
    KEEPS_ITS_SUBJECT,
    CorrectionConflict,
    require_successor,
)
from clearlane.pipeline.intake.prepare_claims import PreparedClaim, correct_claim, fill
from clearlane.pipeline.load_claim import open_claim, open_header
from clearlane.pipeline.stored_facts import open_claim_status
from clearlane.store.claims.claims import NOT_ACCEPTED
from clearlane.store.claims.earlier_claims import (
    StoredPredecessor,
    decide,
    find_live,
    find_predecessors,
    find_superseded,
)
from clearlane.store.claims.new_claims import ClaimInsertResult, NewClaim
from clearlane.store.database.database import Database, Tx
from clearlane.store.vault.vault import Vault

FIRST_PAYER_PAID = "C113"
_ANOTHER = ResubmissionDecision.ANOTHER_CLAIM


async def correct_replacements(
    database: Database, vault: Vault, site: Site, prepared: Sequence[PreparedClaim]
) -> list[PreparedClaim]:
    """Return prepared claims as replacements and voids among them go out.

    One statement more, if one of them leaves the payer's number to be found.
    """
    wanting = [one for one in prepared if _leaves_the_number(one)]
    found: dict[str, StoredPredecessor] = {}
    if wanting:
        async with database.read(site.scope) as tx:
            live = await find_live(tx, [one.row for one in wanting])
            await _load_keys(tx, vault, [each for under_id in live.values() for each in under_id])
        for one in wanting:
            under_id = live.get(one.row.claim_number, [])
            if replaced := _find_replaced(vault, site, one, under_id):
                found[one.row.claim_number] = replaced
    return [
        _correct(vault, site, one, found.get(one.row.claim_number))
        if one.row.claim_number in found or one.row.frequency == REPLACEMENT
        else one
        for one in prepared
    ]


class SuccessorCorrections:
    """Judges and corrects claims inside the transaction that finds out which claims came before them."""

    def __init__(self, vault: Vault, sites: Mapping[str, tuple[Site, PreparedClaim]]) -> None:
        self._vault = vault
        self._sites = sites
        self.reasons: dict[str, str] = {}
        """Why claims go out as they do, by claim number."""
        self.prior_payer_claims: dict[str, str] = {}
        """The claims of earlier payers, by the claim numbers of the secondary ones."""

    async def choose(
        self, tx: Tx, claim: NewClaim, earlier: Sequence[StoredPredecessor]
    ) -> tuple[StoredPredecessor, ResubmissionDecision]:
        """Return the claim under the same id that a claim is judged by, and what it is to that one."""
        site, prepared = self._sites[claim.claim_number]
        await _load_keys(tx, self._vault, earlier)
        chosen = choose_earlier(self._vault, site, prepared, earlier)
        return chosen.claim, chosen.decision

    async def complete(
        self,
        tx: Tx,
        claim: NewClaim,
        earlier: StoredPredecessor,
        decision: ResubmissionDecision,
    ) -> NewClaim:
        """Return the claim as it goes out after an earlier one."""
        site, prepared = self._sites[claim.claim_number]
        await _load_keys(tx, self._vault, [earlier])
        prepared = fill(self._vault, site, prepared)
        if decision is ResubmissionDecision.ANOTHER_CLAIM:
            completed = _another_claim(self._vault, site, prepared, earlier)
        else:
            completed = _correct(self._vault, site, prepared, earlier)
        facts = completed.facts
        warnings = apply_rule(FIRST_PAYER_PAID, completed.judgement.claim, facts)
        self.reasons[claim.claim_number] = " ".join(
            [facts.correction, *(message for _, message in warnings)]
        )
        if prior := completed.row.prior_payer_claim:
            self.prior_payer_claims[claim.claim_number] = prior
        return completed.row


class ChosenEarlier(NamedTuple):
    """The claim under a vendor's claim id that another is judged by, and what that one is to it."""

    claim: StoredPredecessor
    decision: ResubmissionDecision


def choose_earlier(
    vault: Vault, site: Site, prepared: PreparedClaim, earlier: Sequence[StoredPredecessor]
) -> ChosenEarlier:
    """Return the one of the live claims under an id that a prepared claim is judged by; the id's holder comes first.

    That is the one that it names, or whose content it has; else, after a decision on the holder, the one about the same
    subject and services, else about the same services, else about the same subject, else the holder.
    """
    row = prepared.row
    holder = _find_named(row, earlier) or earlier[0]
    decision = decide(holder, row)
    if decision is not ResubmissionDecision.UNDECIDED:
        return ChosenEarlier(holder, decision)
    candidates = [holder] if holder.claim_number == row.corrects else earlier
    compared = [_compare(vault, site, prepared, one) for one in candidates]
    best = max(range(len(candidates)), key=lambda at: _closeness(compared[at]))
    return ChosenEarlier(candidates[best], decide(candidates[best], row, compared[best]))


def _find_named(row: NewClaim, earlier: Sequence[StoredPredecessor]) -> StoredPredecessor | None:
    """Return the claim that a claim says it corrects, or repeats, or replaces by the payer's number."""
    for one in earlier:
        if one.claim_number == row.corrects:
            return one
    for one in earlier:
        if row.is_same_as(one.content_hash):
            return one
    numbered = (one for one in earlier if one.payer_number_key == row.replaces_key)
    return next(numbered, None) if row.replaces_key is not None else None


def _closeness(compared: SubjectComparison) -> tuple[bool, bool, bool]:
    is_subject = compared.same_subject
    return is_subject and compared.common_day, compared.same_services, is_subject


def _compare(
    vault: Vault, site: Site, prepared: PreparedClaim, earlier: StoredPredecessor
) -> SubjectComparison:
    before = open_header(vault, site.scope, earlier.claim_number, earlier.header)
    return compare_subjects(
        prepared.judgement.header, prepared.row.payer_id, before, earlier.payer_id
    )


def _find_replaced(
    vault: Vault, site: Site, prepared: PreparedClaim, earlier: Sequence[StoredPredecessor]
) -> StoredPredecessor | None:
    """Return the claim that a replacement or void without a number means; None if several could be meant."""
    if len(earlier) < 2:
        return next(iter(earlier), None)
    if repeated := [one for one in earlier if prepared.row.is_same_as(one.content_hash)]:
        return repeated[0]
    close = [
        one
        for one in earlier
        if (compared := _compare(vault, site, prepared, one)).same_subject and compared.common_day
    ]
    return close[0] if len(close) == 1 else None


def _another_claim(
    vault: Vault, site: Site, prepared: PreparedClaim, earlier: StoredPredecessor
) -> PreparedClaim:
    """Return a prepared claim as it goes out beside an earlier one under the same id, which stays as it is."""
    compared = _compare(vault, site, prepared, earlier)
    sent = correction_numbers(prepared.judgement.header, prepared.row.payer_id)
    is_paid_by_another = (
        compared.same_services
        and not compared.same_payer
        and not compared.is_next_payers
        and earlier.paid_cents > 0
    )
    facts = replace(
        prepared.facts, paid_by_another=earlier.claim_number if is_paid_by_another else ""
    )
    completed = correct_claim(
        vault,
        site,
        prepared._replace(facts=facts),
        plan_another_claim(sent, compared, earlier.claim_number, ClaimState(earlier.state)),
    )
    link = earlier.claim_number if compared.is_next_payers else None
    return completed._replace(row=msgspec.structs.replace(completed.row, prior_payer_claim=link))


async def preview_correction(
    database: Database, vault: Vault, site: Site, prepared: PreparedClaim, predecessor: str
) -> PreparedClaim:
    """Return a prepared claim as it would go out after this predecessor, which is canceled first if it is unsent.

    A predecessor that was not accepted has no id: then the claims under the id decide, if there are any. Raises a
    ``CorrectionConflict`` if one of them stops it.
    """
    async with database.read(site.scope) as tx:
        found = await find_predecessors(tx, [predecessor])
        live = (
            []
            if found
            else (await find_live(tx, [prepared.row])).get(prepared.row.claim_number, [])
        )
        await _load_keys(tx, vault, [*found, *live])
    if live and prepared.judgement.accepted:
        return _preview_after_not_accepted(vault, site, prepared, predecessor, live)
    if not found or not prepared.row.depends_on_predecessor:
        return prepared
    earlier = found[0]
    if ClaimState(earlier.state) in NOT_DELIVERED:
        earlier = replace(earlier, state=ClaimState.CANCELED.value)
    if choose_earlier(vault, site, prepared, [earlier]).decision is _ANOTHER:
        raise CorrectionConflict(KEEPS_ITS_SUBJECT)
    return _correct(vault, site, prepared, earlier)


def _preview_after_not_accepted(
    vault: Vault,
    site: Site,
    prepared: PreparedClaim,
    corrected: str,
    live: Sequence[StoredPredecessor],
) -> PreparedClaim:
    """Return the correction of a claim that was not accepted as it would go out after the claims under its id."""
    earlier, decision = choose_earlier(vault, site, prepared, live)
    is_repeated = decision is ResubmissionDecision.REPEATED_REQUEST
    number = earlier.claim_number if is_repeated else prepared.row.claim_number
    result = ClaimInsertResult(number, decision, earlier.claim_number, earlier.state)
    require_successor(corrected, NOT_ACCEPTED, result)
    if not prepared.row.depends_on_predecessor:
        return prepared
    complete = _another_claim if decision is _ANOTHER else _correct
    return complete(vault, site, prepared, earlier)


async def successor_events(
    tx: Tx, vault: Vault, site: Site, successors: Mapping[str, PreparedClaim], at: int
) -> list[NewEvent]:
    """Return the events of claims that others took over from, by their numbers: which fields changed."""
    stored = await find_superseded(tx, list(successors))
    await vault.load_keys_of(tx, [one.payload for one in stored])
    events: list[NewEvent] = []
    for one in stored:
        after = fill(vault, site, successors[one.claim_number])
        before = open_claim(vault, site.scope, one).claim
        events.append(
            NewEvent(
                "claim.corrected",
                at,
                site.vendor_id,
                site.id,
                one.claim_number,
                one.event_sequence,
                {
                    "state": one.state,
                    "successor": after.row.claim_number,
                    "changed_fields": changed_fields(before, after.judgement.claim),
                },
            )
        )
    return events


def _leaves_the_number(prepared: PreparedClaim) -> bool:
    row = prepared.row
    if row.frequency not in {"7", "8"}:
        return False
    sent = correction_numbers(prepared.judgement.header, row.payer_id)
    return needs_predecessor(sent, _replacements(prepared))


def _correct(
    vault: Vault, site: Site, prepared: PreparedClaim, stored: StoredPredecessor | None
) -> PreparedClaim:
    row = prepared.row
    sent = correction_numbers(prepared.judgement.header, row.payer_id)
    predecessor = _open(vault, site, stored, row.times) if stored else None
    correction = plan_correction(
        sent,
        predecessor,
        replacements=_replacements(prepared),
        chosen=prepared.chosen_frequency,
        is_correction=stored is not None and row.corrects == stored.claim_number,
        same_content=stored is not None and row.is_same_as(stored.content_hash),
    )
    if stored and predecessor and _is_repeated(stored, row):
        correction = as_it_went_out(predecessor)
    if correction is None:
        return prepared
    if stored is not None and stored.prior_payer_claim and not row.prior_payer_claim:
        linked = msgspec.structs.replace(row, prior_payer_claim=stored.prior_payer_claim)
        prepared = prepared._replace(row=linked)
    corrected = correct_claim(vault, site, prepared, correction)
    # A number that no rule lets through, such as one with characters X12 cannot carry, is not used.
    spoilt = prepared.judgement.accepted and not corrected.judgement.accepted
    return prepared if spoilt else corrected


def _is_repeated(stored: StoredPredecessor, row: NewClaim) -> bool:
    return decide(stored, row) is ResubmissionDecision.REPEATED_REQUEST


def _replacements(prepared: PreparedClaim) -> str:
    payer = prepared.facts.payer
    return payer.replacements if payer else ""


async def _load_keys(tx: Tx, vault: Vault, found: Sequence[StoredPredecessor]) -> None:
    await vault.load_keys_of(tx, [sealed for one in found for sealed in (one.header, one.status)])


def _open(
    vault: Vault, site: Site, stored: StoredPredecessor, times: ResubmissionTimes
) -> PredecessorClaim:
    header = open_header(vault, site.scope, stored.claim_number, stored.header)
    status = open_claim_status(vault, site.vendor_id, stored.claim_number, stored.status)
    return PredecessorClaim(
        claim_number=stored.claim_number,
        state=ClaimState(stored.state),
        is_silent=is_silent(stored.as_earlier(), times),
        payer_number=status.payer_control_number,
        numbers=correction_numbers(header, stored.payer_id),
        is_unprocessable=status.unprocessable,
    )
