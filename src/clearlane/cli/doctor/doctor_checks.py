"""Results of the doctor's checks, for the modules that make them and the command that shows them."""

from dataclasses import dataclass
from enum import StrEnum


class DoctorVerdict(StrEnum):
    """Result of a check."""

    FINE = "fine"
    WARNING = "warning"
    FAULT = "fault"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """A check with its result, and what to do."""

    name: str
    verdict: DoctorVerdict
    says: str
    do: str = ""


def fine(name: str, says: str) -> DoctorCheck:
    """Return a check that passed."""
    return DoctorCheck(name, DoctorVerdict.FINE, says)
