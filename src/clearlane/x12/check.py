"""Check X12 files and return every finding.

    result = check(data)
    result.readable, result.errors, result.warnings
    for finding in result.findings: ...

    for finding in iter_findings(chunks): ...     # while reading: constant memory, any size

All possible findings are listed in ``finding_catalogue.FINDING_TYPES`` (single segments, envelopes) and ``rules.RULES``
(several segments at once). Knows files; knows no claim form.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import guides
from clearlane.x12.reader import (
    Event,
    FileClosed,
    GroupClosed,
    GuideChooser,
    InterchangeClosed,
    InterchangeOpened,
    SetClosed,
    Source,
    read,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The findings of a whole file."""

    readable: bool
    """Whether the file contains an interchange at all."""
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return sum(finding.severity is Severity.WARNING for finding in self.findings)


def check(source: Source, *, choose_guide: GuideChooser = guides.by_version) -> CheckResult:
    """Check a file to its end and return all findings."""
    readable = False
    found: list[Finding] = []
    for event in read(source, choose_guide=choose_guide):
        readable = readable or event.__class__ is InterchangeOpened
        found += event_findings(event)
    return CheckResult(readable=readable, findings=tuple(found))


def iter_findings(
    source: Source, *, choose_guide: GuideChooser = guides.by_version
) -> Iterator[Finding]:
    """Yield the findings of a file set by set, while it is read."""
    for event in read(source, choose_guide=choose_guide):
        yield from event_findings(event)


def event_findings(event: Event) -> list[Finding]:
    """Return the findings that an event of the reader completes; each finding comes with one event only."""
    match event:
        case SetClosed(part) | GroupClosed(part) | InterchangeClosed(part) | FileClosed(part):
            return part.findings
        case _:
            return []
