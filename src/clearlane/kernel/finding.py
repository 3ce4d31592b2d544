"""Findings: what is wrong in a vendor's or payer's data, where, and what would pass. One type for every check.

Knows no format, no API and no database. The API, the console and the commands render findings.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar


class Severity(StrEnum):
    """The weight of a finding: only an error blocks."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


SEVERITY_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
"""What people call findings of each severity, in the order in which they are shown."""


class Stage(StrEnum):
    """The check that made a finding: the shape of a document, a business rule, or an X12 file."""

    SHAPE = "shape"
    RULE = "rule"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentPosition:
    """A position in an X12 file. Counts start at 1; 0 means "does not apply"."""

    interchange: int = 0
    group: int = 0
    set: int = 0
    segment: int = 0
    """Position of the segment in its transaction set, the ST being 1, as a 999 counts."""
    file_segment: int = 0
    """Position of the segment in the whole file, the first ISA being 1."""
    loop: str = ""
    segment_id: str = ""
    element: int = 0
    component: int = 0
    repetition: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, with a sentence that says what would pass.

    The message names fields and kinds of values. It never contains a value that could be patient data.
    """

    rule: str
    message: str
    severity: Severity = Severity.ERROR
    stage: Stage = Stage.RULE
    location: str = ""
    """The path in the caller's own document, such as ``Claims[1].F24_ClaimLines[0].F24F_Charges``."""
    snip: int | None = None
    """The SNIP type (1 to 7) of a file finding."""
    position: SegmentPosition | None = None
    kind: str = ""
    """The kind of value that was found (``empty``, ``text``, ``digits``, ...), never the value."""
    syntax_error: str = ""
    """The 999 code (IK304, IK403, IK502, AK905) or TA105 note that reports this finding."""


AnyFinding = TypeVar("AnyFinding", bound=Finding)


def errors_first(findings: Iterable[AnyFinding]) -> list[AnyFinding]:
    """Return findings as people read them: errors, then warnings, then notes."""
    order = [*SEVERITY_NOUNS]
    return sorted(findings, key=lambda one: order.index(one.severity))


def make_shape_finding(
    rule: str, location: str, message: str, severity: Severity = Severity.ERROR
) -> Finding:
    """Return a finding about the shape of a document, a file or a form."""
    return Finding(
        rule=rule, message=message, severity=severity, stage=Stage.SHAPE, location=location
    )
