"""What is wrong, where, and what would pass: one value for every check in the house.

Knows no format, no wire and no database: rendering a finding belongs to the faces.
"""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding weighs."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Stage(StrEnum):
    """Which check speaks: the shape of a document, a rule of the trade, or an X12 file."""

    SHAPE = "shape"
    RULE = "rule"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A position in an X12 file. Counts start at 1; 0 means "does not apply"."""

    interchange: int = 0
    group: int = 0
    set: int = 0
    segment: int = 0
    """Position of the segment in its transaction set, the ST being 1, as a 999 counts."""
    line: int = 0
    """Position of the segment in the whole file, the first ISA being 1."""
    loop: str = ""
    segment_id: str = ""
    element: int = 0
    component: int = 0
    repetition: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault, told in a sentence that says what would pass.

    The message names fields and kinds. It never holds a value that could be patient data.
    """

    rule: str
    message: str
    severity: Severity = Severity.ERROR
    stage: Stage = Stage.RULE
    location: str = ""
    """The caller's own path, such as ``Claims[1].F24_ClaimLines[0].F24F_Charges``."""
    snip: int | None = None
    """The SNIP type (1 to 7) of a file finding."""
    spot: Spot | None = None
    kind: str = ""
    """What sort of value was found (``empty``, ``text``, ``digits``, ...), never the value."""
    syntax_error: str = ""
    """The 999 code (IK304, IK403, IK502, AK905) or TA105 note that reports this finding."""
