"""Check files: every finding, and a verdict.

    verdict = check(data)
    verdict.readable, verdict.errors, verdict.warnings
    for finding in verdict.findings: ...

    for finding in findings(chunks): ...          # as they come, memory flat, any size

What can be found stands in ``faults.FAULTS`` (the engine's own faults) and in ``rules.RULES`` (what needs
several segments at once). Knows files; knows no claim form.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import guides
from clearlane.x12.reader import (
    Event,
    FileClosed,
    GroupClosed,
    Guides,
    InterchangeClosed,
    InterchangeOpened,
    SetClosed,
    Source,
    read,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a check found."""

    readable: bool
    """Whether there was an interchange at all."""
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return sum(finding.severity is Severity.WARNING for finding in self.findings)


def check(source: Source, *, choose: Guides = guides.by_version) -> Verdict:
    """Check a file to its end."""
    readable = False
    found: list[Finding] = []
    for event in read(source, choose=choose):
        readable = readable or event.__class__ is InterchangeOpened
        found += of_event(event)
    return Verdict(readable=readable, findings=tuple(found))


def findings(source: Source, *, choose: Guides = guides.by_version) -> Iterator[Finding]:
    """The findings of a file, set by set, while it is read."""
    for event in read(source, choose=choose):
        yield from of_event(event)


def of_event(event: Event) -> list[Finding]:
    """The findings that an event of the reader completes; each finding comes with one event only."""
    match event:
        case SetClosed(part) | GroupClosed(part) | InterchangeClosed(part) | FileClosed(part):
            return part.findings
        case _:
            return []
