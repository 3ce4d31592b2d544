"""Decide how corrections of earlier claims go out, with what is stored of those.

For ``submit``. ``claims.resubmission`` decides; here the earlier claim is opened for it. A claim under an id that was
never seen costs nothing here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clearlane.accounts.model import Site
from clearlane.claims.changed_fields import changed_fields
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.resubmission import (
    NOT_DELIVERED,
    REPLACEMENT,
    EarlierClaim,
    PredecessorClaim,
    ResubmissionDecision,
    ResubmissionTimes,
    as_it_went_out,
    correction_numbers,
    is_silent,
    needs_predecessor,
    plan_correction,
)
from clearlane.events.event import NewEvent
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.intake.prepare_claims import PreparedClaim, correct_claim, with_lines
from clearlane.pipeline.load_claim import open_claim
from clearlane.pipeline.stored_facts import open_payer_number
from clearlane.store import claims as store
from clearlane.store.claims import NewClaim, StoredClaim, StoredPredecessor
from clearlane.store.database import Database, Tx
from clearlane.store.vault import Vault


async def correct_replacements(
    database: Database, vault: Vault, site: Site, prepared: Sequence[PreparedClaim]
) -> list[PreparedClaim]:
    """Return prepared claims as replacements and voids among them go out.

    One statement more, where one of them leaves the payer's number to be found.
    """
    wanting = [one for one in prepared if _leaves_the_number(one)]
    found: Mapping[str, StoredPredecessor] = {}
    if wanting:
        async with database.read(site.scope) as tx:
            found = await store.find_current(tx, [one.row for one in wanting])
            await _load_keys(tx, vault, list(found.values()))
    return [
        _correct(vault, site, one, found.get(one.row.request_id))
        if one.row.request_id in found or one.row.frequency == REPLACEMENT
        else one
        for one in prepared
    ]


class SuccessorCorrections:
    """Corrects claims inside the transaction that finds out which claim they take over from."""

    def __init__(self, vault: Vault, sites: Mapping[str, tuple[Site, PreparedClaim]]) -> None:
        self._vault = vault
        self._sites = sites
        self.reasons: dict[str, str] = {}
        """Why claims go out as they do, by request id."""

    async def correct(self, tx: Tx, claim: NewClaim, predecessor: StoredPredecessor) -> NewClaim:
        """Return the claim as it goes out after its predecessor."""
        site, prepared = self._sites[claim.request_id]
        await _load_keys(tx, self._vault, [predecessor])
        prepared = with_lines(self._vault, site, prepared)
        corrected = _correct(self._vault, site, prepared, predecessor)
        self.reasons[claim.request_id] = corrected.facts.correction
        return corrected.row


async def preview_correction(
    database: Database, vault: Vault, site: Site, prepared: PreparedClaim, predecessor: str
) -> PreparedClaim:
    """Return a prepared claim as it would go out after this predecessor, of which an unsent one is canceled first."""
    async with database.read(site.scope) as tx:
        found = await store.find_predecessors(tx, [predecessor])
        await _load_keys(tx, vault, found)
    if not found or not prepared.row.depends_on_predecessor:
        return prepared
    earlier = found[0]
    if ClaimState(earlier.state) in NOT_DELIVERED:
        earlier = replace(earlier, state=ClaimState.CANCELED.value)
    return _correct(vault, site, prepared, earlier)


async def successor_events(
    tx: Tx, vault: Vault, site: Site, successors: Mapping[str, PreparedClaim], at: int
) -> list[NewEvent]:
    """Return the events of claims that others took over from, by their numbers: which fields changed."""
    stored = await store.find_predecessors(tx, list(successors))
    await _load_keys(tx, vault, stored)
    events: list[NewEvent] = []
    for one in stored:
        after = with_lines(vault, site, successors[one.request_id])
        before = open_claim(vault, site.scope, _as_stored_claim(one)).claim
        events.append(
            NewEvent(
                "claim.corrected",
                at,
                site.vendor_id,
                site.id,
                one.request_id,
                one.event_sequence,
                {
                    "state": one.state,
                    "successor": after.row.request_id,
                    "changed_fields": changed_fields(before, after.judgement.claim),
                },
            )
        )
    return events


def _leaves_the_number(prepared: PreparedClaim) -> bool:
    row = prepared.row
    if row.frequency not in {"7", "8"}:
        return False
    sent = correction_numbers(prepared.judgement.claim, row.payer_id)
    return needs_predecessor(sent, _replacements(prepared))


def _correct(
    vault: Vault, site: Site, prepared: PreparedClaim, stored: StoredPredecessor | None
) -> PreparedClaim:
    row = prepared.row
    sent = correction_numbers(prepared.judgement.claim, row.payer_id)
    predecessor = _open(vault, site, stored, row.times) if stored else None
    correction = plan_correction(
        sent, predecessor, replacements=_replacements(prepared), chosen=prepared.chosen_frequency
    )
    if stored and predecessor and _is_repeated(stored, row):
        correction = as_it_went_out(predecessor)
    if correction is None:
        return prepared
    corrected = correct_claim(vault, site, prepared, correction)
    # A number that no rule lets through, such as one with characters X12 cannot carry, is not used.
    spoilt = prepared.judgement.accepted and not corrected.judgement.accepted
    return prepared if spoilt else corrected


def _is_repeated(stored: StoredPredecessor, row: NewClaim) -> bool:
    return store.decide(stored, row) is ResubmissionDecision.REPEATED_REQUEST


def _replacements(prepared: PreparedClaim) -> str:
    payer = prepared.facts.payer
    return payer.replacements if payer else ""


async def _load_keys(tx: Tx, vault: Vault, found: Sequence[StoredPredecessor]) -> None:
    await vault.load_keys_of(tx, [sealed for one in found for sealed in (one.payload, one.status)])


def _open(
    vault: Vault, site: Site, stored: StoredPredecessor, times: ResubmissionTimes
) -> PredecessorClaim:
    state = ClaimState(stored.state)
    earlier = EarlierClaim(
        state=state,
        accepted_at=from_micros(stored.created_at),
        last_word_at=from_micros(stored.updated_at),
        paid_cents=stored.paid_cents,
    )
    loaded = open_claim(vault, site.scope, _as_stored_claim(stored))
    return PredecessorClaim(
        request_id=stored.request_id,
        state=state,
        is_silent=is_silent(earlier, times),
        payer_number=open_payer_number(vault, site.vendor_id, stored.request_id, stored.status),
        numbers=correction_numbers(loaded.claim, stored.payer_id),
    )


def _as_stored_claim(stored: StoredPredecessor) -> StoredClaim:
    return StoredClaim(
        stored.request_id,
        stored.kind,
        stored.state,
        stored.payer_id,
        account_as_number=False,
        created_at=stored.created_at,
        payload=stored.payload,
    )
