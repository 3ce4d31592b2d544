"""``clearlane claim check``: what the server would answer to a document, offline.

A module of its own, since the rules and forms of claims take a while to load, and other commands do not need them.
"""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import msgspec
import typer

from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import FORMS, AnyForm
from clearlane.claims.read.decode import open_document
from clearlane.claims.read.repair_summary import summarize_repairs
from clearlane.claims.rules import CheckedClaim, RuleInputs, repair_and_check, skipped_rules
from clearlane.cli.command.output import counted, printable, show_table, show_text
from clearlane.cli.command.progress import progress
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.finding import Severity

ACCEPTED, REFUSED = 0, 1
INVALID = "The request is invalid."
CLAIMS_CHECKED_MAX = 1_000_000
"""A file of any number of claims is checked as `claim submit` would send it: in several documents."""
CLAIMS_LISTED_MAX = 50
FINDINGS = (
    "field",
    "rule",
    TableColumn("severity", state=True),
    TableColumn("what is wrong", wrap=True),
)


@dataclass(frozen=True, slots=True, repr=False)
class DocumentVerdict:
    """The server's expected answer to a document."""

    form: AnyForm
    shape: list[ClaimFinding]
    claims: list[tuple[str, CheckedClaim]]
    """Vendor claim id and rule findings of each claim; empty if the JSON has the wrong shape."""
    ignored: list[str]
    facts: RuleInputs

    @property
    def status(self) -> int:
        """The exit status."""
        if self.shape or not all(judgement.accepted for _, judgement in self.claims):
            return REFUSED
        return ACCEPTED


def check_document(body: bytes, form: AnyForm, today: date) -> DocumentVerdict:
    """Return what the server would answer to a document."""
    document = open_document(body, form, claims_max=CLAIMS_CHECKED_MAX)
    facts = RuleInputs(today=today, available=frozenset())
    shape = list(document.findings)
    judged: list[tuple[str, CheckedClaim]] = []
    ignored = list(document.ignored_fields)
    with progress("Checking", document.count) as show:
        for at in range(document.count):
            read = document.read(at, at + 1)[0]
            shape += read.findings
            ignored += read.ignored_fields
            if read.claim and not shape:
                checked = repair_and_check(
                    read.claim, facts, at=f"Claims[{at}]", tolerated=read.repairs
                )
                judged.append((checked.header.vendor_claim_id, checked))
            show(at + 1)
    return DocumentVerdict(form, shape, [] if shape else judged, ignored, facts)


def form_named_in(body: bytes) -> AnyForm:
    """Return the form of the document's DocumentType; the first one if it has none."""
    try:
        raw = msgspec.json.decode(body, type=dict[str, msgspec.Raw]).get("DocumentType")
        word = msgspec.json.decode(raw) if raw is not None else ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        word = ""
    first, *_ = FORMS.values()
    return next((form for form in FORMS.values() if form.document_type == word), first)


def print_json(verdict: DocumentVerdict) -> None:
    """Print a verdict in the shape of the server's answer."""
    answer: dict[str, Any]
    if verdict.shape:
        state: dict[str, list[str]] = {}
        for finding in verdict.shape:
            state.setdefault(finding.location, []).append(finding.message)
        answer = {"Message": INVALID, "ModelState": state}
    else:
        answer = {
            "ClaimResults": [_result(*judged) for judged in verdict.claims],
            "DocumentLevelErrors": [],
        }
    rules = skipped_rules(verdict.form, verdict.facts)
    answer["NotChecked"] = [
        {"Rule": rule.id, "Needs": rule.requires, "Says": rule.sentence} for rule in rules
    ]
    answer["IgnoredFields"] = verdict.ignored
    typer.echo(json.dumps(answer, indent=2))


def _result(claim_id: str, judgement: CheckedClaim) -> dict[str, Any]:
    errors = [finding for finding in judgement.findings if finding.severity is Severity.ERROR]
    others = [finding for finding in judgement.findings if finding.severity is not Severity.ERROR]
    return {
        "VendorClaimId": claim_id,
        "Status": "Accepted" if judgement.accepted else "NotAccepted",
        "Errors": [
            {
                "Type": "Validation",
                "Code": "Validation",
                "Location": finding.location,
                "SupplementalInformation": finding.message,
            }
            for finding in errors
        ],
        "RequestId": None,
        "Warnings": [
            {"Rule": f.rule, "Location": f.location, "Message": f.message} for f in others
        ],
        "Repairs": [{"Field": repair.field, "Kind": repair.kind} for repair in judgement.repairs],
    }


def print_table(verdict: DocumentVerdict) -> None:
    """Print a verdict for people."""
    findings = verdict.shape or [finding for _, one in verdict.claims for finding in one.findings]
    if findings:
        show_table(
            FINDINGS, ((one.location, one.rule, one.severity, one.message) for one in findings)
        )
    for path in verdict.ignored:
        show_text(f"Ignored, unknown field: {path}")
    for claim_id, checked in verdict.claims if len(verdict.claims) <= CLAIMS_LISTED_MAX else ():
        _print_claim(claim_id, checked)
    if verdict.claims:
        accepted = sum(one.accepted for _, one in verdict.claims)
        others = len(verdict.claims) - accepted
        words = f"{accepted:,} would be accepted" + (f", {others:,} not" if others else "")
        typer.echo(f"{counted(len(verdict.claims), 'claim')}: {words}.")
    if verdict.shape:
        typer.echo("The server would answer 400, and nothing would be stored.")
    needs = dict.fromkeys(str(rule.requires) for rule in skipped_rules(verdict.form, verdict.facts))
    show_text(f"Not checked here: rules that need {', '.join(needs)}.")


def _print_claim(claim_id: str, checked: CheckedClaim) -> None:
    word = "Accepted" if checked.accepted else "NotAccepted"
    typer.echo(f"{printable(claim_id)}: {word}, {counted(len(checked.repairs), 'value')} repaired")
    for sentence in summarize_repairs(checked.repairs):
        show_text(sentence, "  ")
