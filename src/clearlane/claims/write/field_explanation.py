"""What an explanation of a claim says of one field, or of one segment of a sender's file.

Knows no form and no file.
"""

from dataclasses import dataclass
from typing import NamedTuple

from clearlane.kernel.finding import Finding

REFUSED = "The claim was not accepted, so nothing is sent."


class SentValue(NamedTuple):
    """A place in the file and its value."""

    place: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FieldExplanation:
    """One field of a claim; without a repr, because it holds patient data."""

    field: str
    """The field's path in the claim, such as ``F24_ClaimLines[0].F24F_Charges``; of a file, the loop, segment and number."""
    box: str
    label: str
    given: str
    """The value as it was given; empty for a field that only a finding names."""
    repaired: str
    """The value that it was repaired to; empty if nothing was repaired."""
    sent: tuple[SentValue, ...]
    not_sent: str
    """The reason why nothing is sent; empty if a value is."""
    findings: tuple[Finding, ...]
    derived: str = ""
    """What the last of the values sent was made of, if the claim does not state it; else empty."""
