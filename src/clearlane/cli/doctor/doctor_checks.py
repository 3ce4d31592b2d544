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


def judge(name: str, says: str, do: str = "") -> DoctorCheck:
    """Return a check that passed; a warning if there is something to do."""
    return DoctorCheck(name, DoctorVerdict.WARNING if do else DoctorVerdict.FINE, says, do)
