"""Read what is stored about one claim, for its history."""

from dataclasses import dataclass

from clearlane.claims.kinds import KINDS, ClaimKind, id_in_claims
from clearlane.claims.lifecycle import REFUSED_OR_CANCELED
from clearlane.payments.claim_series import SeriesMember
from clearlane.pipeline.query.history.claim_history import ClaimFile
from clearlane.store.claims import (
    claim_history,
    claims,
    documents,
    due_claims,
    facts,
    rule_overrides,
)
from clearlane.store.claims.claim_history import ClaimSending, FactSource
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.claims.due_claims import TakenStep
from clearlane.store.claims.facts import FactRow
from clearlane.store.claims.rule_overrides import RuleOverride
from clearlane.store.database.database import Tx
from clearlane.store.delivery.payers import find_payer
from clearlane.store.files import client_files, file_sets, shadow_claims
from clearlane.store.files.shadow_claims import ShadowStatement
from clearlane.store.payments import claim_payments
from clearlane.store.payments.claim_payments import ClaimPaymentDocument

PAYMENTS_SHOWN_MAX = 200


@dataclass(frozen=True, slots=True)
class HistoryRows:
    """The rows that the history of a claim is made of."""

    state: ClaimStateRow
    facts: list[FactRow]
    sources: dict[str, FactSource]
    sendings: list[ClaimSending]
    documents: list[StoredDocument]
    payments: list[ClaimPaymentDocument]
    events: list[tuple[int, str]]
    overrides: list[RuleOverride]
    successor: ClaimStateRow | None
    """The last claim that was sent in its place."""
    under_same_id: list[ClaimStateRow]
    came_in: ClaimFile | None
    series: list[SeriesMember]
    overdue_steps: list[TakenStep]
    sent_payer_id: str
    """The payer's id in claims of this kind."""
    imported: list[tuple[ShadowStatement, str]]
    """What another clearinghouse said of a claim of a shadow file, each with the name of the imported file."""


async def load_rows(tx: Tx, state: ClaimStateRow) -> HistoryRows:
    """Read the rows of a claim."""
    number = state.claim_number
    return HistoryRows(
        state,
        await facts.list_own(tx, [number]),
        await claim_history.list_sources(tx, number),
        await claim_history.list_sendings(tx, number),
        await documents.list_for_claims(tx, [number]),
        await claim_payments.list_own_of_claim(tx, number, limit=PAYMENTS_SHOWN_MAX),
        await claims.list_events(tx, number),
        await rule_overrides.list_of_claim(tx, number),
        await _find_successor(tx, state),
        await claim_history.list_under_same_id(tx, state),
        await _find_file(tx, number),
        await claim_history.list_series(tx, number)
        if KINDS[ClaimKind(state.kind)].has_series
        else [],
        await due_claims.list_steps(tx, number),
        await _find_sent_payer_id(tx, state),
        await _list_imported(tx, number) if state.state in claims.SHADOWS else [],
    )


async def _find_successor(tx: Tx, state: ClaimStateRow) -> ClaimStateRow | None:
    """Return the last claim that was sent in the place of one; those between them never took effect."""
    last = None
    while state.successor_id and (last is None or state.is_superseded):
        found = await claim_history.find_state(tx, state.successor_id)
        if found is None:
            break
        last = state = found
        if found.state not in REFUSED_OR_CANCELED:
            break
    return last


async def _find_sent_payer_id(tx: Tx, state: ClaimStateRow) -> str:
    """Return the id that the payer of a claim has in claims of its kind."""
    kind = ClaimKind(state.kind)
    payer = await find_payer(tx, state.payer_id, KINDS[kind].payer_type)
    return id_in_claims(payer, kind) if payer else state.payer_id


async def _find_file(tx: Tx, number: str) -> ClaimFile | None:
    """Return the file that a claim came in."""
    place = (await file_sets.find_claims(tx, [number])).get(number)
    if place is None:
        return None
    found = (await file_sets.find_sets(tx, [place.set_id]))[place.set_id]
    file = await client_files.find(tx, found.file_id)
    return ClaimFile(found.file_id, file.name if file else "", found.words, place.position)


async def _list_imported(tx: Tx, number: str) -> list[tuple[ShadowStatement, str]]:
    """Return what was imported about a claim of a shadow file and about its set."""
    place = (await file_sets.find_claims(tx, [number])).get(number)
    subjects = [place.set_id, number] if place else [number]
    found = await shadow_claims.list_statements(tx, subjects)
    imported = [one for subject in subjects for one in found.get(subject, ())]
    names: dict[str, str] = {}
    for file_id in {one.file_id for one in imported}:
        file = await client_files.find(tx, file_id)
        names[file_id] = file.name if file and file.name else file_id
    return [(one, names[one.file_id]) for one in imported]
