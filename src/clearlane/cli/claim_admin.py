"""``clearlane claim x12``, ``claim explain`` and ``claim show``: a stored claim and its history.

These need the installation's database; the rest of ``clearlane claim`` does not.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from clearlane.claims.batch_naming import DEFAULT_SUBMITTER
from clearlane.claims.claim_context import OutgoingClaim
from clearlane.claims.explain import FieldExplanation, explain
from clearlane.claims.fields import ClaimKind
from clearlane.claims.provenance import Explanation
from clearlane.claims.write_837 import Envelope, TradingPartner, write_claims
from clearlane.cli.operator_command import run_in_installation
from clearlane.cli.storage_command import operator, refuse
from clearlane.kernel.finding import Finding
from clearlane.pipeline.load_claim import LoadedClaim, load_claim
from clearlane.pipeline.query.claim_history import ClaimHistory, load_claim_history
from clearlane.wiring import Installation


def print_x12(request_id: str, data: Path | None) -> None:
    """Print a claim as the interchange a payer would get."""

    async def work(installation: Installation) -> bytes:
        found = await _load(installation, request_id)
        if found.row.state == "NotAccepted":
            refuse(
                f"{request_id} was not accepted, so there is no 837 of it. See: clearlane claim explain"
            )
        kind = ClaimKind(found.row.kind)
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
        return b"".join(
            write_claims(
                kind, [_outgoing(installation, found)], envelope, installation.submitter, receiver
            )
        )

    sys.stdout.buffer.write(run_in_installation(data, work).replace(b"~", b"~\n"))


def print_explained(request_id: str, data: Path | None, *, as_json: bool) -> None:
    """Print a claim side by side: field, form box, X12 element, and findings."""

    async def work(installation: Installation) -> tuple[LoadedClaim, list[FieldExplanation]]:
        history = await _load_history(installation, request_id)
        found = history.loaded
        return found, explain(_outgoing(installation, found), (*found.findings, *history.findings))

    found, rows = run_in_installation(data, work)
    (_print_json if as_json else _print_table)(found, rows)


def print_history(request_id: str, data: Path | None, *, as_json: bool) -> None:
    """Print a claim's history, from submission to payment."""

    async def work(installation: Installation) -> ClaimHistory:
        return await _load_history(installation, request_id)

    history = run_in_installation(data, work)
    (_print_history_json if as_json else _print_history)(history)


async def _load_history(installation: Installation, request_id: str) -> ClaimHistory:
    found = await load_claim_history(
        installation.database, installation.vault, request_id.strip(), actor=operator()
    )
    if found is None:
        refuse(f"There is no claim with the RequestId {request_id}.")
    return found


async def _load(installation: Installation, request_id: str) -> LoadedClaim:
    found = await load_claim(
        installation.database, installation.vault, request_id.strip(), actor=operator()
    )
    if found is None:
        refuse(f"There is no claim with the RequestId {request_id}.")
    return found


def _outgoing(installation: Installation, found: LoadedClaim) -> OutgoingClaim:
    return OutgoingClaim(
        claim=found.claim,
        number=found.row.request_id,
        payer_id=found.row.payer_id,
        payer_name=_payer_name(installation, found),
        account_as_number=found.row.account_as_number,
    )


def _print_history(history: ClaimHistory) -> None:
    row, status = history.loaded.row, history.status
    typer.echo(f"{row.request_id}: {row.kind}, payer {row.payer_id}, {_state(history)}")
    if status:
        amounts = ("TotalClaimAmount", "PayerAmount", "PatientAmount", "Adjustments")
        typer.echo("  " + "  ".join(f"{name} {status[name]:.2f}" for name in amounts))
    for entry in history.entries:
        typer.echo(f"\n{entry.at:%Y-%m-%d %H:%M:%S}  {entry.headline}")
        notes = [entry.file and f"file {entry.file}", *entry.sentences]
        notes += [entry.document_id and f"document {entry.document_id}"]
        for note in filter(None, notes):
            typer.echo(f"    {note}")
        for explanation in entry.explanations:
            _print_explanation(explanation)


def _print_explanation(explanation: Explanation) -> None:
    amount = f" {explanation.amount:.2f}" if explanation.amount is not None else ""
    line = f"line {explanation.line}: " if explanation.line else ""
    typer.echo(f"    {explanation.source} {explanation.code}{amount}: {line}{explanation.happened}")
    for field in explanation.fields:
        box = f", {field.form} box {field.box}" if field.box else ""
        typer.echo(f"      {field.path} ({field.label}{box}, {field.place})")
    if explanation.todo:
        typer.echo(f"      What to do: {explanation.todo}")


def _print_history_json(history: ClaimHistory) -> None:
    shown = {
        "RequestId": history.loaded.row.request_id,
        "State": _state(history),
        "Status": history.status,
        "Timeline": [
            {
                "at": entry.at,
                "headline": entry.headline,
                "file": entry.file,
                "document_id": entry.document_id,
                "sentences": entry.sentences,
                "explanations": [msgspec.to_builtins(each) for each in entry.explanations],
            }
            for entry in history.entries
        ],
    }
    typer.echo(json.dumps(shown, indent=2, default=str))


def _state(history: ClaimHistory) -> str:
    return str(history.status.get("CurrentState") or history.loaded.row.state)


def _payer_name(installation: Installation, found: LoadedClaim) -> str:
    payer = installation.payers.find(found.row.payer_id, found.row.kind.title())
    return payer.name if payer else ""


def _print_json(found: LoadedClaim, rows: list[FieldExplanation]) -> None:
    shown = {
        "RequestId": found.row.request_id,
        "State": found.row.state,
        "Repairs": [{"field": path, "repair": kind} for path, kind in found.repairs],
        "Fields": [_field_json(row) for row in rows],
    }
    typer.echo(json.dumps(shown, indent=2, default=str))


def _field_json(row: FieldExplanation) -> dict[str, object]:
    return {
        "field": row.field,
        "form": row.box,
        "label": row.label,
        "given": row.stored,
        "sent": row.sent,
        "not_sent": row.not_sent,
        "findings": [_finding_json(finding) for finding in row.findings],
    }


def _finding_json(finding: Finding) -> dict[str, object]:
    facts = asdict(finding)
    return {"spot" if name == "position" else name: value for name, value in facts.items()}


def _print_table(found: LoadedClaim, rows: list[FieldExplanation]) -> None:
    console = Console()
    console.print(f"{found.row.request_id}: {found.row.kind}, {found.row.state}", highlight=False)
    repaired = dict(found.repairs)
    grid = Table("Field", "Box", "Given", "X12", "Sent as", "Findings and repairs")
    for row in rows:
        notes = [finding.message for finding in row.findings]
        notes += [f"Repaired: {repaired[row.field]}."] if row.field in repaired else []
        grid.add_row(
            row.field,
            row.box,
            row.stored,
            "\n".join(sent.place for sent in row.sent) or row.not_sent,
            "\n".join(sent.value for sent in row.sent),
            "\n".join(notes),
        )
    console.print(grid, highlight=False)
