"""``clearlane claim x12`` and ``claim explain``: a stored claim as it is written for its payer.

These need the installation's database and the tables of the 837.
"""

import sys
from dataclasses import asdict

from clearlane.claims.read.repair_summary import summarize_repairs
from clearlane.claims.responses.explain import FieldExplanation, explain
from clearlane.claims.write.batch_naming import DEFAULT_SUBMITTER
from clearlane.claims.write.claim_context import OutgoingClaim
from clearlane.claims.write.write_837 import Envelope, TradingPartner, write_claims
from clearlane.cli.claim.claim_output import show_explained
from clearlane.cli.claim.claim_show import claim_json, find_claim_number, load_named_history
from clearlane.cli.command.operator_command import in_installation, show_json
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.kernel.finding import Finding
from clearlane.pipeline.load_claim import LoadedClaim, load_claim
from clearlane.pipeline.other_payer import find_other_payer_id
from clearlane.wiring import Installation


@in_installation()
async def print_x12(installation: Installation, claim: str) -> None:
    """Print a claim as the interchange a payer would get."""
    found = await _load(installation, claim)
    if found.row.state == "not_accepted":
        refuse(
            f"{found.row.claim_number} was not accepted, so there is no 837 of it. See: clearlane claim explain"
        )
    envelope = Envelope(
        sender=DEFAULT_SUBMITTER.id,
        receiver=found.row.payer_id,
        control=1,
        moment=installation.clock.now(),
        usage="T" if installation.settings.sandbox else "P",
    )
    receiver = TradingPartner(
        name=_payer_name(installation, found) or found.row.payer_id, id=found.row.payer_id
    )
    content = b"".join(
        write_claims([_outgoing(installation, found)], envelope, installation.submitter, receiver)
    )
    sys.stdout.buffer.write(content.replace(b"~", b"~\n"))


@in_installation()
async def print_explained(installation: Installation, claim: str, *, as_json: bool) -> None:
    """Print a claim field by field: form box, value given, X12 element, and findings."""
    history = await load_named_history(installation, claim)
    found = history.loaded
    findings = (*found.findings, *history.findings)
    rows = explain(_outgoing(installation, found), findings, found.given)
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


def _outgoing(installation: Installation, found: LoadedClaim) -> OutgoingClaim:
    return OutgoingClaim(
        claim=found.claim,
        number=found.row.claim_number,
        payer_id=found.row.payer_id,
        payer_name=_payer_name(installation, found),
        other_payer_id=find_other_payer_id(installation.payers, found.claim) or "",
        account_as_number=found.row.account_as_number,
    )


def _payer_name(installation: Installation, found: LoadedClaim) -> str:
    payer = installation.payers.find(found.row.payer_id, found.row.kind.title())
    return payer.name if payer else ""


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
