"""The finding a claim check makes.

Its sentence may quote the value it refuses, because the caller is told what was found. So it keeps
the sentence out of logs: printed, it says which rule spoke and where, and nothing else.
"""

from dataclasses import dataclass

from clearlane.kernel.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimFinding(Finding):
    """A finding about a field of a claim."""

    def __repr__(self) -> str:
        return f"ClaimFinding({self.rule} {self.severity} at {self.location})"
