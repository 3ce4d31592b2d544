"""``clearlane claim x12``, ``claim explain`` and ``claim show``: what became of a stored claim.

These need the installation's database; the rest of ``clearlane claim`` works on files alone.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from clearlane.claims.batch_naming import US
from clearlane.claims.claim_context import Outgoing
from clearlane.claims.explain import Explained, explain
from clearlane.claims.fields import ClaimKind
from clearlane.claims.provenance import Told
from clearlane.claims.write_837 import Envelope, Party, write_claims
from clearlane.cli.operator_command import serve
from clearlane.cli.storage_command import operator, refuse
from clearlane.pipeline.load_claim import Recalled, recall
from clearlane.pipeline.query.claim_history import Story, tell_story
from clearlane.wiring import House


def print_x12(request_id: str, data: Path | None) -> None:
    """The claim as the interchange a payer would get."""

    async def work(house: House) -> bytes:
        found = await _found(house, request_id)
        if found.row.state == "NotAccepted":
            refuse(
                f"{request_id} was not accepted, so there is no 837 of it. See: clearlane claim explain"
            )
        kind = ClaimKind(found.row.kind)
        envelope = Envelope(
            sender=US.id,
            receiver=found.row.payer_id,
            control=1,
            moment=house.clock.now(),
            usage="T" if house.settings.sandbox else "P",
        )
        receiver = Party(
            name=_payer_name(house, found) or found.row.payer_id, id=found.row.payer_id
        )
        return b"".join(
            write_claims(kind, [_outgoing(house, found)], envelope, house.submitter, receiver)
        )

    sys.stdout.buffer.write(serve(data, work).replace(b"~", b"~\n"))


def print_explained(request_id: str, data: Path | None, *, as_json: bool) -> None:
    """The claim side by side: field, form box, X12 element, and what was found."""

    async def work(house: House) -> tuple[Recalled, list[Explained]]:
        story = await _story(house, request_id)
        found = story.recalled
        return found, explain(_outgoing(house, found), (*found.findings, *story.findings))

    found, rows = serve(data, work)
    (_print_json if as_json else _print_table)(found, rows)


def print_story(request_id: str, data: Path | None, *, as_json: bool) -> None:
    """The claim from its coming to its payment."""

    async def work(house: House) -> Story:
        return await _story(house, request_id)

    story = serve(data, work)
    (_print_story_json if as_json else _print_story)(story)


async def _story(house: House, request_id: str) -> Story:
    found = await tell_story(house.database, house.vault, request_id.strip(), actor=operator())
    if found is None:
        refuse(f"There is no claim with the RequestId {request_id}.")
    return found


async def _found(house: House, request_id: str) -> Recalled:
    found = await recall(house.database, house.vault, request_id.strip(), actor=operator())
    if found is None:
        refuse(f"There is no claim with the RequestId {request_id}.")
    return found


def _outgoing(house: House, found: Recalled) -> Outgoing:
    return Outgoing(
        claim=found.claim,
        number=found.row.request_id,
        payer_id=found.row.payer_id,
        payer_name=_payer_name(house, found),
        account_as_number=found.row.account_as_number,
    )


def _print_story(story: Story) -> None:
    row, status = story.recalled.row, story.status
    typer.echo(f"{row.request_id}: {row.kind}, payer {row.payer_id}, {_state(story)}")
    if status:
        amounts = ("TotalClaimAmount", "PayerAmount", "PatientAmount", "Adjustments")
        typer.echo("  " + "  ".join(f"{name} {status[name]:.2f}" for name in amounts))
    for chapter in story.chapters:
        typer.echo(f"\n{chapter.at:%Y-%m-%d %H:%M:%S}  {chapter.headline}")
        notes = [chapter.file and f"file {chapter.file}", *chapter.sentences]
        notes += [chapter.document_id and f"document {chapter.document_id}"]
        for note in filter(None, notes):
            typer.echo(f"    {note}")
        for told in chapter.told:
            _print_told(told)


def _print_told(told: Told) -> None:
    amount = f" {told.amount:.2f}" if told.amount is not None else ""
    line = f"line {told.line}: " if told.line else ""
    typer.echo(f"    {told.source} {told.code}{amount}: {line}{told.happened}")
    for field in told.fields:
        box = f", {field.form} box {field.box}" if field.box else ""
        typer.echo(f"      {field.path} ({field.label}{box}, {field.place})")
    if told.todo:
        typer.echo(f"      What to do: {told.todo}")


def _print_story_json(story: Story) -> None:
    shown = {
        "RequestId": story.recalled.row.request_id,
        "State": _state(story),
        "Status": story.status,
        "Timeline": [
            asdict(chapter) | {"told": [msgspec.to_builtins(told) for told in chapter.told]}
            for chapter in story.chapters
        ],
    }
    typer.echo(json.dumps(shown, indent=2, default=str))


def _state(story: Story) -> str:
    return str(story.status.get("CurrentState") or story.recalled.row.state)


def _payer_name(house: House, found: Recalled) -> str:
    payer = house.payers.find(found.row.payer_id, found.row.kind.title())
    return payer.name if payer else ""


def _print_json(found: Recalled, rows: list[Explained]) -> None:
    shown = {
        "RequestId": found.row.request_id,
        "State": found.row.state,
        "Repairs": [{"field": path, "repair": kind} for path, kind in found.repairs],
        "Fields": [asdict(row) for row in rows],
    }
    typer.echo(json.dumps(shown, indent=2, default=str))


def _print_table(found: Recalled, rows: list[Explained]) -> None:
    console = Console()
    console.print(f"{found.row.request_id}: {found.row.kind}, {found.row.state}", highlight=False)
    repaired = dict(found.repairs)
    grid = Table("Field", "Box", "Given", "X12", "Sent as", "Findings and repairs")
    for row in rows:
        notes = [finding.message for finding in row.findings]
        notes += [f"Repaired: {repaired[row.field]}."] if row.field in repaired else []
        grid.add_row(
            row.field,
            row.form,
            row.given,
            "\n".join(sent.place for sent in row.sent) or row.not_sent,
            "\n".join(sent.value for sent in row.sent),
            "\n".join(notes),
        )
    console.print(grid, highlight=False)
