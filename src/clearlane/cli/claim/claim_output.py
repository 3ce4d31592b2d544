"""Output of `clearlane claim show` and `claim explain`: a stored claim as a person reads it, wrapped to the terminal.

Values of a claim in, printed lines out. Everything is wrapped and nothing is cut.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import typer

from clearlane.claims.read.repair_summary import summarize_repairs
from clearlane.cli.claim.claim_service import show_amounts
from clearlane.cli.command.output import minute_text, printable, show_lines, show_text
from clearlane.cli.command.table import wrapped
from clearlane.cli.command.terminal import bold, colored, output_width
from clearlane.kernel.claim_label import LABEL_WORDS, SHADOW_LABELS, ClaimLabel
from clearlane.kernel.finding import SEVERITY_NOUNS, Severity, errors_first
from clearlane.payments.claim_series import ClaimSeries
from clearlane.payments.wording import money, series_words
from clearlane.pipeline.awaited_thing import AwaitedThing
from clearlane.pipeline.enrollment.era_answer import EraAnswer, EraState
from clearlane.pipeline.filing_limit import ClaimFiling
from clearlane.pipeline.load_claim import LoadedClaim
from clearlane.pipeline.query.history.claim_history import ClaimHistory, HistoryEntry, IdRelation

if TYPE_CHECKING:
    from clearlane.claims.responses.explain import FieldExplanation
    from clearlane.claims.responses.provenance import Explanation

STATE_COLORS = {
    "complete": "green",
    "rejected": "red",
    "not_accepted": "red",
    "shadow_not_accepted": "red",
}
SEVERITY_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: ""}


_RELATIONS = {
    IdRelation.SECONDARY_OF: "secondary of {number}, payer {payer}",
    IdRelation.ALSO_BILLED_TO: "also billed to payer {payer} as {number}",
    IdRelation.SAME_ID: "another claim under the same id: {number}, payer {payer}",
}


def claim_state(history: ClaimHistory) -> str:
    """Return the state of the claim."""
    return history.status.state if history.status else history.loaded.row.state


class ShownState(NamedTuple):
    """What lists show of a claim beside its history."""

    vendor_claim_id: str
    label: ClaimLabel
    awaiting: AwaitedThing | None
    filing: ClaimFiling | None
    era: EraAnswer | None


def show_history(history: ClaimHistory, shown: ShownState) -> None:
    """Print a claim's history, oldest event first."""
    label, awaiting = shown.label, shown.awaiting
    closing = history.status.closing if history.status else None
    words = dict.fromkeys(filter(None, (label, claim_state(history), closing)))
    state = ", ".join(map(_state_words, words))
    _show_heading(history.loaded, shown.vendor_claim_id, state, payer=True)
    if status := history.status:
        decided = (status.payer_cents, status.patient_cents) if history.payments else (None, None)
        amounts = (status.total_cents, *decided, status.adjustment_cents)
        show_amounts(*(None if cents is None else cents / 100 for cents in amounts))
    if awaiting:
        by = f", by {minute_text(awaiting.by)}" if awaiting.by else ""
        overdue = ", overdue" if awaiting.overdue else ""
        since = f"since {minute_text(awaiting.since)}{by}{overdue}"
        show_text(f"awaiting {awaiting.words} from {awaiting.source} {since}", "  ")
    if shown.filing:
        show_text(shown.filing.sentence(), "  ")
    if shown.era and shown.era.state is not EraState.RECEIVED:
        show_text(shown.era.sentence, "  ")
    if history.came_in:
        show_text(f"came in {history.came_in.sentence}", "  ")
    _show_other_claims(history)
    repairs = summarize_repairs(history.loaded.repairs)
    for entry in history.entries:
        typer.echo()
        _show_headline(entry)
        _show_entry(entry, repairs)


def _show_other_claims(history: ClaimHistory) -> None:
    """Print the claims before and after a claim, those under its id, and the other bills of its stay."""
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
    if history.series:
        for text, before in _series_lines(history.series, history.loaded.row.claim_number):
            show_text(text, before)


def _series_lines(series: ClaimSeries, claim_number: str) -> Iterator[tuple[str, str]]:
    """Yield what the bills of a stay come to, and each of them, with the indent."""
    yield f"{series_words(series)}.", "  "
    for one in series.members:
        this = ", this claim" if one.claim_number == claim_number else ""
        counts = "" if one.claim_number in series.counted else ", does not count"
        days = " to ".join(filter(None, (one.service_day, one.last_day)))
        amounts = f"charge {money(one.total_cents)}, paid {money(one.paid_cents)}"
        label = LABEL_WORDS[ClaimLabel(one.label)].lower()
        named = f"{one.claim_number} frequency {one.frequency}, {days}"
        yield f"{named}: {amounts}, {label}{counts}{this}", "    "


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
    _show_heading(found, found.vendor_claim_id, _state_words(found.row.state))
    sent = "would be sent" if found.row.state in SHADOW_LABELS else "sent"
    for row in rows:
        box = f"box {row.box}" if row.box else ""
        about = ", ".join(filter(None, (box, row.label)))
        show_text(f"{row.field}  {about}".rstrip(), indent=2)
        show_text(_value_words(row, sent), "    ")
        for finding in errors_first(row.findings):
            severity = colored(SEVERITY_NOUNS[finding.severity], SEVERITY_COLORS[finding.severity])
            show_text(finding.message, f"    {severity}: ", indent=6)
    typer.echo()
    for sentence in summarize_repairs(found.repairs):
        show_text(sentence)


def _value_words(row: "FieldExplanation", sent: str) -> str:
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
    return f"{given}{repaired}, {sent} {' and '.join(places)}{derived}"


def _state_words(state: str) -> str:
    """Return a state as people say it, if it is one of claims of shadow files."""
    return LABEL_WORDS[ClaimLabel(state)].lower() if state in SHADOW_LABELS else state


def _show_heading(
    found: LoadedClaim, vendor_claim_id: str, state: str, *, payer: bool = False
) -> None:
    row = found.row
    of_payer = f", payer {row.payer_id or 'unknown'}" if payer else ""
    shown = colored(state, STATE_COLORS.get(row.state, ""))
    heading = f"{row.claim_number} ({printable(vendor_claim_id)}): {row.kind}{of_payer}, {state}"
    lines = wrapped(heading, "", output_width(), indent=2)
    lines[0] = lines[0].replace(row.claim_number, bold(row.claim_number), 1)
    if lines[-1].endswith(state):  # not if it is wrapped
        lines[-1] = lines[-1].removesuffix(state) + shown
    show_lines(lines)
