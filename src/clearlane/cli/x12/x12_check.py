"""``clearlane x12 check``: check many files, print their findings, and at the end a summary.

The claims of 837 files are checked by the claim rules too.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from clearlane.cli.command.output import counted, show_table
from clearlane.cli.command.table import TableColumn
from clearlane.cli.x12.x12_files import (
    FAULTY,
    FINE,
    UNREADABLE,
    ReadProgress,
    display_name,
    find_files,
    megabytes,
    open_failure,
    read_chunks,
    terminal,
)
from clearlane.kernel.clock import SystemClock
from clearlane.kernel.finding import Finding, SegmentPosition, Severity, Stage
from clearlane.x12.checker.check import CheckResult, check

if TYPE_CHECKING:
    from clearlane.claims.rules.file_findings import KnownOfClaim

UNOPENED = "FILE-OPEN"
"""The rule of the one finding about a file that cannot be opened."""
FINDINGS = (
    "number",
    "segment",
    "element",
    TableColumn("severity", state=True),
    TableColumn("finding", wrap=True),
)
RULES_SUMMED_UP_MAX = 5


@dataclass(slots=True)
class CheckSummary:
    """The counts over all files of a run."""

    files: Counter[int] = field(default_factory=Counter)
    """How many files by exit status."""
    errors: int = 0
    warnings: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    """How many errors and warnings by rule."""

    def add(self, verdict: CheckResult) -> None:
        """Add one file."""
        self.files[file_status(verdict, strict=False)] += 1
        self.errors += verdict.errors if verdict.readable else 0
        self.warnings += verdict.warnings
        if verdict.readable:
            self.rules.update(f.rule for f in verdict.findings if f.severity is not Severity.INFO)

    def lines(self, progress: ReadProgress, left_out: int) -> Iterator[str]:
        """Yield the summary in words."""
        total = self.files.total()
        size = f"{megabytes(progress.bytes)} MB, {progress.segments:,} segments"
        yield f"{counted(total, 'file')}, {size}"
        parts = [f"{self.files[FINE]} without errors", f"{self.files[FAULTY]} with errors"]
        if self.files[UNREADABLE]:
            parts.append(f"{self.files[UNREADABLE]} that cannot be read")
        if left_out:
            parts.append(f"{left_out} left out (no X12)")
        yield "  " + ", ".join(parts)
        yield f"  {counted(self.errors, 'error')}, {counted(self.warnings, 'warning')}"
        often = self.rules.most_common(RULES_SUMMED_UP_MAX)
        if often:
            yield "  most frequent: " + ", ".join(f"{rule} {number:,}" for rule, number in often)


def check_files(
    names: list[str], *, strict: bool, as_json: bool, known_of: "KnownOfClaim | None" = None
) -> int:
    """Check files, folders and patterns, print what is wrong, and return the exit status."""
    found = find_files(names)
    for refusal in found.refusals:
        typer.echo(f"clearlane: {refusal}", err=True)
    for name in found.left_out:
        typer.echo(f"clearlane: {name}: left out, it holds no X12", err=True)
    worst = UNREADABLE if found.refusals else FINE
    progress, summary = ReadProgress(found.names, screen=terminal()), CheckSummary()
    for name in found.names:
        verdict = _check_file(name, progress, known_of)
        (_print_json if as_json else _print_table)(display_name(name), verdict)
        summary.add(verdict)
        worst = max(worst, file_status(verdict, strict=strict))
    if not as_json and (len(found.names) > 1 or found.left_out):
        for line in summary.lines(progress, len(found.left_out)):
            typer.echo(line)
    return worst


def _check_file(name: str, progress: ReadProgress, known_of: "KnownOfClaim | None") -> CheckResult:
    """Check a file; one that cannot be opened has one finding."""
    # Imported here: most commands about files need no claim rules.
    from clearlane.claims.rules.file_findings import FileFindings

    progress.open(name)
    findings_of = FileFindings(SystemClock().now().date(), known_of)
    try:
        return check(
            read_chunks(name), on_progress=progress.advance, findings_of=findings_of, decode=True
        )
    except OSError as error:
        message = f"{display_name(name)}: {open_failure(error)}"
        finding = Finding(
            rule=UNOPENED, message=message, stage=Stage.FILE, position=SegmentPosition()
        )
        progress.erase()
        typer.echo(f"clearlane: {message}", err=True)
        return CheckResult(readable=False, findings=(finding,))
    finally:
        progress.close()


def file_status(verdict: CheckResult, *, strict: bool) -> int:
    """Return the exit status of one file."""
    if not verdict.readable:
        return UNREADABLE
    return FAULTY if verdict.errors or (strict and verdict.warnings) else FINE


def _ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in the order of the file."""
    return sorted(
        findings,
        key=lambda f: (f.position.file_segment, f.position.element) if f.position else (0, 0),
    )


def _print_json(name: str, verdict: CheckResult) -> None:
    answer = {
        "file": name,
        "readable": verdict.readable,
        "errors": verdict.errors,
        "warnings": verdict.warnings,
        "findings": [_finding(finding) for finding in _ordered(verdict.findings)],
    }
    typer.echo(json.dumps(answer, ensure_ascii=False))


def _finding(finding: Finding) -> dict[str, Any]:
    position = finding.position or SegmentPosition()
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "snip": finding.snip,
        "interchange": position.interchange,
        "group": position.group,
        "set": position.set,
        "segment": position.segment,
        "file_segment": position.file_segment,
        "loop": position.loop,
        "segment_id": position.segment_id,
        "element": position.element,
        "component": position.component,
        "repetition": position.repetition,
        "kind": finding.kind,
        "message": finding.message,
    }


def _print_table(name: str, verdict: CheckResult) -> None:
    if any(finding.rule == UNOPENED for finding in verdict.findings):
        return
    if not verdict.readable:
        typer.echo(f"{name}: cannot be read as X12")
    else:
        counts = f"{counted(verdict.errors, 'error')}, {counted(verdict.warnings, 'warning')}"
        typer.echo(f"{name}: {counts}")
    if rows := [_row(finding) for finding in _ordered(verdict.findings)]:
        show_table(FINDINGS, rows)


def _row(finding: Finding) -> tuple[str, ...]:
    position = finding.position or SegmentPosition()
    segment = f"{position.segment_id} ({position.loop})" if position.loop else position.segment_id
    element = f"{position.element:02}" if position.element else ""
    if position.component:
        element += f"-{position.component}"
    message = f"{finding.message} [{finding.rule}]"
    return (str(position.file_segment or ""), segment, element, finding.severity.value, message)
