"""Output of `clearlane claim show` and `claim explain`: a stored claim as a person reads it, wrapped to the terminal.

Values of a claim in, printed lines out. Everything is wrapped and nothing is cut.
"""

from typing import TYPE_CHECKING

import typer

from clearlane.claims.read.repair_summary import summarize_repairs
from clearlane.cli.claim.claim_service import show_amounts
from clearlane.cli.command.output import minute_text, printable, show_lines, show_text
from clearlane.cli.command.table import wrapped
from clearlane.cli.command.terminal import bold, colored, output_width
from clearlane.kernel.finding import Severity
from clearlane.pipeline.load_claim import LoadedClaim
from clearlane.pipeline.query.claim_history import ClaimHistory, HistoryEntry, IdRelation

if TYPE_CHECKING:
    from clearlane.claims.responses.explain import FieldExplanation
    from clearlane.claims.responses.provenance import Explanation

STATE_COLORS = {"complete": "green", "rejected": "red", "not_accepted": "red"}
SEVERITY_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: ""}


_RELATIONS = {
    IdRelation.SECONDARY_OF: "secondary of {number}, payer {payer}",
    IdRelation.ALSO_BILLED_TO: "also billed to payer {payer} as {number}",
    IdRelation.SAME_ID: "another claim under the same id: {number}, payer {payer}",
}


def claim_state(history: ClaimHistory) -> str:
    """Return the state of the claim."""
    return history.status.state if history.status else history.loaded.row.state


def show_history(history: ClaimHistory, label: str) -> None:
    """Print a claim's history, oldest event first."""
    closing = history.status.closing if history.status else None
    words = dict.fromkeys(filter(None, (label, claim_state(history), closing)))
    _show_heading(history.loaded, ", ".join(words), payer=True)
    if status := history.status:
        decided = (status.payer_cents, status.patient_cents) if history.payments else (None, None)
        amounts = (status.total_cents, *decided, status.adjustment_cents)
        show_amounts(*(None if cents is None else cents / 100 for cents in amounts))
    if history.came_in:
        show_text(f"came in {history.came_in.sentence}", "  ")
    if history.predecessor:
        typer.echo(f"  takes over from {history.predecessor}")
    if history.successor:
        typer.echo(f"  sent again as {history.successor}")
    if history.ineffective_successor:
        typer.echo(f"  {history.ineffective_successor.sentence}")
    for one in history.related:
        typer.echo(
            f"  {_RELATIONS[one.relation].format(number=one.claim_number, payer=one.payer_id)}"
        )
    repairs = summarize_repairs(history.loaded.repairs)
    for entry in history.entries:
        typer.echo()
        _show_headline(entry)
        _show_entry(entry, repairs)


def _show_headline(entry: HistoryEntry) -> None:
    when = f"{minute_text(entry.at)}  "
    lines = wrapped(printable(entry.headline), when, output_width())
    show_lines(line[: len(when)] + bold(line[len(when) :]) for line in lines)


def _show_entry(entry: HistoryEntry, repairs: list[str]) -> None:
    notes = [entry.file and f"file {entry.file}"]
    notes += [sentence for sentence in entry.sentences if sentence not in repairs]
    notes += entry.operator_sentences
    if repairs and set(repairs) <= set(entry.sentences):
        notes.append(f"Repaired: {' '.join(repairs)}")
    notes.append(entry.document_id and f"document {entry.document_id}")
    for note in filter(None, notes):
        show_text(note, "    ")
    for explanation in entry.explanations:
        _show_explanation(explanation)


def _show_explanation(explanation: "Explanation") -> None:
    amount = f" {explanation.amount:.2f}" if explanation.amount is not None else ""
    line = f"line {explanation.line}: " if explanation.line else ""
    code = f"{explanation.source} {explanation.code}{amount}"
    show_text(f"{code}: {line}{explanation.happened}", "    ")
    for field in explanation.fields:
        box = f", {field.form} box {field.box}" if field.box else ""
        show_text(f"{field.path} ({field.label}{box}, {field.place})", "      ")
    if explanation.todo:
        show_text(f"What to do: {explanation.todo} [{explanation.act}]", "      ")


def show_explained(found: LoadedClaim, rows: "list[FieldExplanation]") -> None:
    """Print a claim field by field: what was given, what it was repaired to, what is sent where, what is wrong."""
    _show_heading(found, found.row.state)
    for row in rows:
        box = f"box {row.box}" if row.box else ""
        about = ", ".join(filter(None, (box, row.label)))
        show_text(f"{row.field}  {about}".rstrip(), indent=2)
        show_text(_value_words(row), "    ")
        for finding in row.findings:
            color = SEVERITY_COLORS[finding.severity]
            show_text(finding.message, f"    {colored('!', color)} ", indent=6)
    typer.echo()
    for sentence in summarize_repairs(found.repairs):
        show_text(sentence)


def _value_words(row: "FieldExplanation") -> str:
    """Return what became of a value: given, repaired, and sent as what in which places."""
    given = f"given {row.given}" if row.given else "not given"
    repaired = f", repaired to {row.repaired}" if row.repaired else ""
    if row.not_sent:
        return f"{given}{repaired}. Not sent: {row.not_sent}"
    before = row.repaired or row.given
    places = [
        f"in {one.place}" if one.value == before else f"as {one.value} in {one.place}"
        for one in row.sent
    ]
    derived = f". {row.derived}" if row.derived else ""
    return f"{given}{repaired}, sent {' and '.join(places)}{derived}"


def _show_heading(found: LoadedClaim, state: str, *, payer: bool = False) -> None:
    row = found.row
    vendor_claim_id = printable(found.vendor_claim_id)
    of_payer = f", payer {row.payer_id}" if payer else ""
    shown = colored(state, STATE_COLORS.get(row.state, ""))
    heading = f"{row.claim_number} ({vendor_claim_id}): {row.kind}{of_payer}, {state}"
    lines = wrapped(heading, "", output_width(), indent=2)
    lines[0] = lines[0].replace(row.claim_number, bold(row.claim_number), 1)
    lines[-1] = lines[-1].removesuffix(state) + shown
    show_lines(lines)
