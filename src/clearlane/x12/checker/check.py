"""Check X12 files and return every finding.

    result = check(data)
    result.readable, result.errors, result.warnings
    for finding in result.findings: ...

    for finding in iter_findings(chunks): ...     # while reading: constant memory, any size

All possible findings are listed in ``finding_catalogue.FINDING_TYPES`` (single segments, envelopes) and ``rules.RULES``
(several segments at once). Knows files; knows no claim form.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import guides
from clearlane.x12.reader.reader import (
    Event,
    FileClosed,
    GroupClosed,
    GuideChooser,
    InterchangeClosed,
    InterchangeOpened,
    Reader,
    SetClosed,
    Source,
    iter_chunks,
    read,
)

ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Takes the bytes of a chunk that was checked, and how many segments of the file were read so far."""


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


def check(
    source: Source,
    *,
    choose_guide: GuideChooser = guides.by_version,
    on_progress: ProgressCallback | None = None,
    findings_of: Callable[[Event], list[Finding]] | None = None,
    decode: bool = False,
) -> CheckResult:
    """Check a file to its end and return all findings.

    ``on_progress`` is called after each chunk; ``findings_of`` returns the findings of an event of the reader, by
    default those of the engine. With ``decode``, segments in UTF-8 are read as such, as files of senders are.
    """
    findings_of = findings_of or event_findings
    readable = False
    found: list[Finding] = []
    reader = Reader(choose_guide=choose_guide, decode=decode)

    def take(events: list[Event]) -> None:
        nonlocal readable, found
        for event in events:
            readable = readable or event.__class__ is InterchangeOpened
            found += findings_of(event)

    for chunk in iter_chunks(source):
        take(reader.feed(chunk))
        if on_progress is not None:
            on_progress(len(chunk), reader.segments)
    take(reader.finish())
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
