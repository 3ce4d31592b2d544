"""``clearlane claim check``: what the server would answer to a document, offline.

A module of its own, since the rules and forms of claims take a while to load, and other commands do not need them.
"""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from clearlane.claims.decode import open_document
from clearlane.claims.fields import ClaimKind
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import FORMS
from clearlane.claims.repair_summary import summarise_repairs
from clearlane.claims.rules import CheckedClaim, RuleInputs, repair_and_check, skipped_rules
from clearlane.kernel.finding import Severity

ACCEPTED, REFUSED = 0, 1
INVALID = "The request is invalid."
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}


@dataclass(frozen=True, slots=True, repr=False)
class DocumentVerdict:
    """The server's expected answer to a document."""

    kind: ClaimKind
    shape: list[ClaimFinding]
    claims: list[tuple[str, CheckedClaim]]
    """Vendor claim id and rule findings of each claim; empty where the JSON has the wrong shape."""
    ignored: list[str]
    facts: RuleInputs

    @property
    def status(self) -> int:
        """The exit status."""
        if self.shape or not all(judgement.accepted for _, judgement in self.claims):
            return REFUSED
        return ACCEPTED


def check_document(body: bytes, kind: ClaimKind, today: date) -> DocumentVerdict:
    """Return what the server would answer to a document."""
    document = open_document(body, kind)
    facts = RuleInputs(today=today, available=frozenset())
    reads = document.read(0, document.count)
    shape = [*document.findings, *(finding for read in reads for finding in read.findings)]
    judged = [
        (
            read.claim.Svc_VendorClaimId,
            repair_and_check(read.claim, facts, at=f"Claims[{at}]", tolerated=read.repairs),
        )
        for at, read in enumerate(reads)
        if read.claim and not shape
    ]
    ignored = [*document.ignored_fields, *(path for read in reads for path in read.ignored_fields)]
    return DocumentVerdict(kind, shape, judged, ignored, facts)


def kind_of(body: bytes) -> ClaimKind:
    """Return the kind of the document's DocumentType; medical where it has none."""
    try:
        raw = msgspec.json.decode(body, type=dict[str, msgspec.Raw]).get("DocumentType")
        word = msgspec.json.decode(raw) if raw is not None else ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        word = ""
    kinds = {form.document_type: kind for kind, form in FORMS.items()}
    return kinds.get(word, ClaimKind.MEDICAL) if isinstance(word, str) else ClaimKind.MEDICAL


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
    rules = skipped_rules(verdict.kind, verdict.facts)
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
    console = Console()
    findings = verdict.shape or [finding for _, one in verdict.claims for finding in one.findings]
    if findings:
        grid = Table("Field", "Rule", "Severity", "What is wrong")
        for finding in findings:
            colour = COLOURS[finding.severity]
            grid.add_row(
                finding.location, finding.rule, f"[{colour}]{finding.severity}[/]", finding.message
            )
        console.print(grid)
    for path in verdict.ignored:
        console.print(f"Ignored, unknown field: {path}", markup=False)
    for claim_id, judgement in verdict.claims:
        word = "Accepted" if judgement.accepted else "NotAccepted"
        console.print(f"{claim_id}: {word}, {len(judgement.repairs)} values repaired", markup=False)
        for sentence in summarise_repairs(judgement.repairs):
            console.print(f"  {sentence}", markup=False, highlight=False)
    if verdict.shape:
        console.print("The server would answer 400, and nothing would be stored.", markup=False)
    needs = dict.fromkeys(str(rule.requires) for rule in skipped_rules(verdict.kind, verdict.facts))
    console.print(f"Not checked here: rules that need {', '.join(needs)}.", markup=False)
