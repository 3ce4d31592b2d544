"""Collect findings of a file, an interchange, a group or a set, up to a limit.

Knows where its part of the file begins; knows no guide.
"""

from clearlane.kernel.finding import Finding, SegmentPosition, Severity, Stage
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES
from clearlane.x12.checker.findings import ElementFinding

FINDINGS_PER_SET_MAX = 1_000


class FindingCollector:
    """A collector that adds the position in the file to each finding."""

    __slots__ = (
        "_counts", "_finding_type", "_findings", "_first_segment", "_group", "_interchange", "_set", "_warnings",
    )  # fmt: skip

    def __init__(
        self,
        findings: list[Finding],
        *,
        interchange: int = 0,
        group: int = 0,
        set: int = 0,
        first_segment: int = 0,
        warnings: frozenset[str] = frozenset(),
        finding_type: type[Finding] = Finding,
    ) -> None:
        """Collect into ``findings``; errors of the rules in ``warnings`` are warnings here."""
        self._finding_type = finding_type
        self._findings = findings
        self._interchange = interchange
        self._group = group
        self._set = set
        self._first_segment = first_segment
        self._warnings = warnings
        self._counts = dict.fromkeys(Severity, 0)

    @property
    def is_full(self) -> bool:
        """Whether more errors were found than are kept: element checks stop then."""
        return self._counts[Severity.ERROR] > FINDINGS_PER_SET_MAX

    def add(
        self,
        rule: str,
        message: str,
        segment_id: str = "",
        position: int = 0,
        *,
        loop: str = "",
        element: int = 0,
        component: int = 0,
        repetition: int = 0,
        kind: str = "",
        severity: Severity | None = None,
        snip: int | None = None,
        code: str | None = None,
    ) -> None:
        """Add a finding. Severity, SNIP type and code come from ``FINDING_TYPES`` unless given.

        ``position`` counts from the first segment of this part of the file, which is 1.
        """
        known = FINDING_TYPES.get(rule)
        if known is not None:
            lowered = Severity.WARNING if rule in self._warnings else known.severity
            severity, snip = severity or lowered, snip or known.snip
            code = known.code if code is None else code
        assert severity is not None, f"rule {rule} is not in the table and has no severity"
        if not self._count(severity):
            return
        at = SegmentPosition(
            interchange=self._interchange,
            group=self._group,
            set=self._set,
            segment=position if self._set else 0,
            file_segment=self._first_segment + position - 1 if position else self._first_segment,
            loop=loop,
            segment_id=segment_id,
            element=element,
            component=component,
            repetition=repetition,
        )
        self._findings.append(
            self._finding_type(
                rule=rule,
                message=message,
                severity=severity,
                stage=Stage.FILE,
                snip=snip,
                position=at,
                kind=kind,
                syntax_error=code or "",
            )
        )

    def add_element_finding(
        self, finding: ElementFinding, segment_id: str, position: int, loop: str
    ) -> None:
        """Add a finding about an element."""
        self.add(
            finding.rule,
            finding.message,
            segment_id,
            position,
            loop=loop,
            element=finding.element,
            component=finding.component,
            repetition=finding.repetition,
            kind=finding.kind,
            severity=finding.severity,
            code=finding.code or None,
        )

    def _count(self, severity: Severity) -> bool:
        """Count a finding; return whether it is still within the limit.

        Errors are counted apart from warnings, so that many warnings do not hide an error.
        """
        self._counts[severity] += 1
        count = self._counts[severity]
        if count == FINDINGS_PER_SET_MAX + 1:
            message = f"More than {FINDINGS_PER_SET_MAX} findings of severity {severity}: the others are left out"
            at = SegmentPosition(
                interchange=self._interchange,
                group=self._group,
                set=self._set,
                file_segment=self._first_segment,
            )
            # It has the severity of those left out, so that a reader of errors alone sees it.
            self._findings.append(
                Finding(rule="LIMIT-FINDINGS", message=message, severity=severity, stage=Stage.FILE,
                        snip=FINDING_TYPES["LIMIT-FINDINGS"].snip, position=at)
            )  # fmt: skip
        return count <= FINDINGS_PER_SET_MAX
