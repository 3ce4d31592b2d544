"""The finding of a claim check, and the limit of findings that one claim may have.

Its message may quote the refused value, which may be patient data. So the repr, which may reach a log, shows rule,
severity and location only.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from clearlane.kernel.finding import SEVERITY_NOUNS, Finding, Severity, Stage

FINDINGS_PER_CLAIM_MAX = 50

LEFT_OUT = "more"
"""The rule of the finding that says how many others are not listed."""
_IN_DOCUMENT = re.compile(r"^Claims\[\d+\]\.?")
NO_CHANGES: Mapping[str, Severity | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimFinding(Finding):
    """A finding about a field of a claim."""

    count: int = 1
    """The number of findings that this one represents: several if the others are not listed."""
    act: str = ""
    """What a payer's answer asks for (``AdviceAct``); empty for a finding of our own checks."""

    def __repr__(self) -> str:
        return f"ClaimFinding({self.rule} {self.severity} at {self.location})"


def path_in_claim(path: str) -> str:
    """Return a field's path without the place of its claim in the document that it came with."""
    return _IN_DOCUMENT.sub("", path)


class LimitedFindings:
    """The findings of one claim: the first of each severity, and how many more there were.

    A claim with a hundred lines can have a thousand findings, and a document thousands of claims.
    """

    def __init__(self, at: str, severities: Mapping[str, Severity | None] = NO_CHANGES) -> None:
        """``at`` is the claim's own path, such as ``Claims[1]``; ``severities`` are those that settings changed."""
        self._at = at
        self._severities = severities
        self._kept: list[ClaimFinding] = []
        self._counts: dict[Severity, int] = {}

    def add(self, rule: str, severity: Severity, location: str, message: str) -> None:
        """Add a finding, with the severity that settings give its rule; beyond the limit it is counted only."""
        if rule in self._severities:
            changed = self._severities[rule]
            if changed is None:
                return
            severity = changed
        count = self._counts[severity] = self._counts.get(severity, 0) + 1
        if count <= FINDINGS_PER_CLAIM_MAX:
            self._kept.append(
                ClaimFinding(rule=rule, message=message, severity=severity, location=location)
            )

    def all(self) -> list[ClaimFinding]:
        """Return the findings that are listed, and one for those of each severity that are not."""
        return self._kept + [
            _left_out(severity, count - FINDINGS_PER_CLAIM_MAX, self._at)
            for severity, count in self._counts.items()
            if count > FINDINGS_PER_CLAIM_MAX
        ]


def shape_finding(location: str, message: str, count: int = 1) -> ClaimFinding:
    """Return a finding about the shape of a document, which is refused with it."""
    return ClaimFinding(
        rule="shape", message=message, stage=Stage.SHAPE, location=location, count=count
    )


def limit_shape_findings(findings: Sequence[ClaimFinding], at: str) -> tuple[ClaimFinding, ...]:
    """Return the first findings about a claim's shape, and one that says how many more there are."""
    more = len(findings) - FINDINGS_PER_CLAIM_MAX
    if more <= 0:
        return tuple(findings)
    last = shape_finding(at, _left_out(Severity.ERROR, more, at).message, more)
    return (*findings[:FINDINGS_PER_CLAIM_MAX], last)


def count_findings(findings: Iterable[ClaimFinding]) -> int:
    """Return how many findings there are, with those that are not listed."""
    return sum(finding.count for finding in findings)


def _left_out(severity: Severity, count: int, at: str) -> ClaimFinding:
    noun = SEVERITY_NOUNS[severity] if count == 1 else f"{SEVERITY_NOUNS[severity]}s"
    return ClaimFinding(
        rule=LEFT_OUT,
        severity=severity,
        location=at,
        message=f"And {count} more {noun} in this claim: the first {FINDINGS_PER_CLAIM_MAX} are listed.",
        count=count,
    )
