"""Load the history of a claim. The access is audited."""

from collections.abc import Iterator

from clearlane.kernel.ids import Scope
from clearlane.payments.claim_series import series_of
from clearlane.pipeline.claim_succession import open_status
from clearlane.pipeline.load_claim import find_claim_scope, load_claim_in_scope
from clearlane.pipeline.query.history.claim_history import (
    ClaimHistory,
    IdRelation,
    IneffectiveSuccessor,
    RelatedClaim,
)
from clearlane.pipeline.query.history.history_entries import list_entries
from clearlane.pipeline.query.history.history_rows import HistoryRows, load_rows
from clearlane.store.claims import claim_history
from clearlane.store.database.database import Actor, Database
from clearlane.store.vault.vault import Vault


async def load_claim_history(
    database: Database, vault: Vault, claim_number: str, *, actor: Actor
) -> ClaimHistory | None:
    """Load the history of a claim of any client; return None if there is no such claim."""
    scope = await find_claim_scope(database, claim_number)
    if scope is None:
        return None
    return await load_history_in_scope(database, vault, scope, claim_number, actor=actor)


async def load_history_in_scope(
    database: Database, vault: Vault, scope: Scope, claim_number: str, *, actor: Actor
) -> ClaimHistory | None:
    """Load the history of a claim of a known client; return None if it has none of this number."""
    loaded = await load_claim_in_scope(database, vault, scope, claim_number, actor=actor)
    if loaded is None:
        return None
    async with database.read(scope) as tx:
        state = await claim_history.find_state(tx, claim_number)
        if state is None:
            return None
        rows = await load_rows(tx, state)
        sealed = [row.payload for row in rows.facts] + [row.payload for row in rows.documents]
        sealed += [one.status for one in (state, rows.successor) if one and one.status]
        await vault.load_keys_of(tx, sealed)
    status = open_status(vault, state) if state.status else None
    entries = sorted(list_entries(vault, loaded, rows, status), key=lambda one: one.at)
    return ClaimHistory(
        loaded,
        status,
        tuple(entries),
        predecessor=state.predecessor_id or "",
        successor=rows.successor.claim_number if rows.successor and state.is_superseded else "",
        ineffective_successor=_ineffective_successor(vault, rows),
        prior_payer_claim=state.prior_payer_claim or "",
        related=tuple(_related(rows)),
        sendings=tuple(rows.sendings),
        documents=tuple(rows.documents),
        payments=tuple(rows.payments),
        came_in=rows.came_in,
        series=series_of(rows.series),
    )


def _related(rows: HistoryRows) -> Iterator[RelatedClaim]:
    own = rows.state
    for other in rows.under_same_id:
        if other.claim_number in (own.predecessor_id, own.successor_id):
            continue
        same_services = (other.patient_key, other.service_day) == (own.patient_key, own.service_day)
        if own.prior_payer_claim == other.claim_number:
            relation = IdRelation.SECONDARY_OF
        elif other.prior_payer_claim == own.claim_number or (
            same_services and other.payer_id != own.payer_id
        ):
            relation = IdRelation.ALSO_BILLED_TO
        else:
            relation = IdRelation.SAME_ID
        yield RelatedClaim(relation, other.claim_number, other.payer_id)


def _ineffective_successor(vault: Vault, rows: HistoryRows) -> IneffectiveSuccessor | None:
    after = rows.successor
    if after is None or rows.state.is_superseded:
        return None
    is_void = after.status is not None and open_status(vault, after).is_void
    return IneffectiveSuccessor(after.claim_number, is_void, after.state)
