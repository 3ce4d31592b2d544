"""``clearlane claim x12`` and ``claim explain``: a stored claim as it is written for its payer.

These need the installation's database and the tables of the 837.
"""

import sys
from dataclasses import asdict

from clearlane.claims.read.repair_summary import summarize_repairs
from clearlane.claims.responses.explain import FieldExplanation, explain
from clearlane.cli.claim.claim_output import show_explained
from clearlane.cli.claim.claim_show import claim_json, find_claim_number, load_named_history
from clearlane.cli.command.operator_command import in_installation, show_json
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.kernel.finding import Finding
from clearlane.pipeline.intake.claim_x12 import claim_837, outgoing_claim
from clearlane.pipeline.load_claim import LoadedClaim, find_claim_scope, load_claim
from clearlane.store.claims.claims import WITH_ERRORS
from clearlane.store.database.database import require_row
from clearlane.wiring import Installation


@in_installation()
async def print_x12(installation: Installation, claim: str) -> None:
    """Print a claim as the interchange a payer would get."""
    found = await _load(installation, claim)
    number = found.row.claim_number
    if found.row.state in WITH_ERRORS:
        refuse(f"{number} was not accepted, so there is no 837 of it. See: clearlane claim explain")
    scope = require_row(
        await find_claim_scope(installation.database, number), "the client of a claim"
    )
    context, now = installation.work_context, installation.clock.now()
    sys.stdout.buffer.write(await claim_837(context, scope, found, now=now))


@in_installation()
async def print_explained(installation: Installation, claim: str, *, as_json: bool) -> None:
    """Print a claim field by field: form box, value given, X12 element, and findings."""
    history = await load_named_history(installation, claim)
    found = history.loaded
    findings = (*found.findings, *history.findings)
    row = found.row
    out = outgoing_claim(
        installation.work_context,
        found.claim,
        number=row.claim_number,
        payer_id=row.payer_id,
        account_as_number=row.account_as_number,
    )
    rows = explain(out, findings, found.given)
    if as_json:
        show_json(_explained_json(found, rows))
    else:
        show_explained(found, rows)


async def _load(installation: Installation, claim: str) -> LoadedClaim:
    number = await find_claim_number(installation, claim)
    found = await load_claim(installation.database, installation.vault, number, actor=operator())
    if found is None:
        refuse(f"There is no claim {number} any more.")
    return found


def _explained_json(found: LoadedClaim, rows: list[FieldExplanation]) -> dict[str, object]:
    return {
        **claim_json(found, found.row.state),
        "repairs": [{"field": path, "repair": kind} for path, kind in found.repairs],
        "repair_summary": summarize_repairs(found.repairs),
        "fields": [_field_json(row) for row in rows],
    }


def _field_json(row: FieldExplanation) -> dict[str, object]:
    return {
        "field": row.field,
        "form": row.box,
        "label": row.label,
        "given": row.given,
        "repaired": row.repaired,
        "sent": [{"place": one.place, "value": one.value} for one in row.sent],
        "not_sent": row.not_sent,
        "derived": row.derived,
        "findings": [_finding_json(finding) for finding in row.findings],
    }


def _finding_json(finding: Finding) -> dict[str, object]:
    facts = asdict(finding)
    return {"spot" if name == "position" else name: value for name, value in facts.items()}
