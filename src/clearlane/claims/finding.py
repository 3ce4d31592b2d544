"""The finding of a claim check.

Its message may quote the refused value, which may be patient data. So the repr, which may reach a log, shows rule,
severity and location only.
"""

from dataclasses import dataclass

from clearlane.kernel.finding import Finding, Stage


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimFinding(Finding):
    """A finding about a field of a claim."""

    def __repr__(self) -> str:
        return f"ClaimFinding({self.rule} {self.severity} at {self.location})"


def shape_finding(location: str, message: str) -> ClaimFinding:
    """Return a finding about the shape of a document, which is refused with it."""
    return ClaimFinding(rule="shape", message=message, stage=Stage.SHAPE, location=location)
