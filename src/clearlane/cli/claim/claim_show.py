"""``clearlane claim show``: the history of a stored claim, from submission to payment.

Needs the installation's database, and not the tables of the 837: those cost more than the rest of the command.
"""

import msgspec

from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.cli.claim.claim_ids import choose_claim_number
from clearlane.cli.claim.claim_output import ShownState, claim_state, show_history
from clearlane.cli.command.operator_command import in_installation, show_json
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payers.filing_limits import NO_CONTRACT
from clearlane.payments.as_json import series_object
from clearlane.pipeline.awaited_thing import awaited_thing_of
from clearlane.pipeline.claim_label import shown_label
from clearlane.pipeline.enrollment.era_answer import explain_claim_era
from clearlane.pipeline.filing_limit import filing_of
from clearlane.pipeline.find_claim import find_claim_numbers
from clearlane.pipeline.load_claim import LoadedClaim, find_claim_scope, open_header
from clearlane.pipeline.query.history.claim_details import details_object
from clearlane.pipeline.query.history.claim_history import ClaimHistory
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.store import filing_alarms
from clearlane.store.claims import claim_query
from clearlane.store.database.database import require_row
from clearlane.wiring import Installation


@in_installation()
async def print_history(installation: Installation, claim: str, *, as_json: bool) -> None:
    """Print a claim's history, from submission to payment."""
    history = await load_named_history(installation, claim)
    number = history.loaded.row.claim_number
    shown = await _shown_state(installation, number, history.status)
    if as_json:
        # Imported here: it knows the rules' words, which the text needs not.
        from clearlane.pipeline.query.claim_list import claim_object, find_claim

        scope = require_row(await find_claim_scope(installation.database, number), "the claim")
        row = require_row(await find_claim(installation.work_context, number, scope), "the claim")
        details = await details_object(installation.database, installation.vault, history)
        show_json(_history_json(history, shown) | claim_object(row) | details)
    else:
        show_history(history, shown)


async def _shown_state(
    installation: Installation, number: str, status: ClaimStatus | None
) -> ShownState:
    """Return what lists show of a claim: its vendor's id and label, what it awaits, and by when it is to be filed."""
    scope = require_row(await find_claim_scope(installation.database, number), "the claim")
    async with installation.database.read(scope) as tx:
        row = (await claim_query.claims_by_number(tx, [number]))[number]
        contract = (await filing_alarms.load_contracts(tx)).get(row.site_id, NO_CONTRACT)
        await installation.vault.load_keys_of(tx, [row.header])
    label = shown_label(ClaimLabel(row.label), is_replaced=bool(row.is_superseded))
    header = open_header(installation.vault, scope, number, row.header)
    payer = installation.payers.find(row.payer_id, KINDS[ClaimKind(row.kind)].payer_type)
    filing = filing_of(header, label, status, payer, contract)
    now = installation.clock.now()
    site = next((one for one in installation.accounts.sites if one.scope == scope), None)
    era = None
    if site is not None:
        database, vault = installation.database, installation.vault
        era = await explain_claim_era(database, vault, site, row, status, payer, now)
    awaiting = awaited_thing_of(row, now)
    return ShownState(header.vendor_claim_id, label, awaiting, filing, era)


async def find_claim_number(installation: Installation, given: str) -> str:
    """Return the number of the claim that was named by its number or by the vendor's claim id."""
    wanted = given.strip()
    numbers = await find_claim_numbers(
        installation.database, installation.vault, installation.accounts.sites, wanted
    )
    return choose_claim_number(wanted, numbers, refuse)


async def load_named_history(installation: Installation, claim: str) -> ClaimHistory:
    """Return the history of the claim that was named by its number or by the vendor's claim id."""
    number = await find_claim_number(installation, claim)
    found = await load_claim_history(
        installation.database, installation.vault, number, actor=operator()
    )
    if found is None:
        refuse(f"There is no claim {number} any more.")
    return found


def claim_json(found: LoadedClaim, state: str) -> dict[str, object]:
    """Return what identifies a claim, for programs."""
    return {
        "claim_number": found.row.claim_number,
        "vendor_claim_id": found.vendor_claim_id,
        "payer_id": found.row.payer_id,
        "kind": found.row.kind,
        "state": state,
    }


def _history_json(history: ClaimHistory, shown: ShownState) -> dict[str, object]:
    """Return what an operator sees beside what v1 shows of a claim."""
    return {
        **claim_json(history.loaded, claim_state(history)),
        "label": shown.label,
        "awaiting": shown.awaiting.as_json() if shown.awaiting else None,
        "filing_limit": shown.filing.as_json() if shown.filing else None,
        "era": shown.era.as_json() if shown.era else None,
        "came_in": history.came_in._asdict() if history.came_in else None,
        "predecessor": history.predecessor,
        "successor": history.successor,
        "prior_payer_claim": history.prior_payer_claim,
        "related": [
            {
                "relation": one.relation.lower(),
                "claim_number": one.claim_number,
                "payer_id": one.payer_id,
            }
            for one in history.related
        ],
        "series": series_object(history.series),
        "status": msgspec.structs.asdict(history.status) if history.status else None,
        "timeline": [
            {
                "at": entry.at,
                "headline": entry.headline,
                "file": entry.file,
                "document_id": entry.document_id,
                "sentences": [*entry.sentences, *entry.operator_sentences],
                "explanations": [msgspec.to_builtins(each) for each in entry.explanations],
            }
            for entry in history.entries
        ],
    }
