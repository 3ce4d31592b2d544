"""Where findings are collected: of a file, an interchange, a group or a set, never too many.

Knows where its part of the file stands; knows no guide.
"""

from clearlane.kernel.finding import Finding, Severity, Spot, Stage
from clearlane.kernel.limits import FINDINGS_PER_SET_MAX
from clearlane.x12.finding_catalogue import FAULTS
from clearlane.x12.findings import Flaw


class Report:
    """Turns faults into findings with their position."""

    __slots__ = ("_counts", "_findings", "_group", "_interchange", "_line", "_set")

    def __init__(
        self,
        findings: list[Finding],
        *,
        interchange: int = 0,
        group: int = 0,
        set: int = 0,
        line: int = 0,
    ) -> None:
        self._findings = findings
        self._interchange = interchange
        self._group = group
        self._set = set
        self._line = line
        self._counts = dict.fromkeys(Severity, 0)

    @property
    def full(self) -> bool:
        """Whether more errors were found than are told: elements are not looked at any more then."""
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
        """Report a fault. What the table ``FAULTS`` says of the rule holds unless said otherwise.

        ``position`` counts from the first segment of this part of the file, which is 1.
        """
        known = FAULTS.get(rule)
        if known is not None:
            severity, snip = severity or known.severity, snip or known.snip
            code = known.code if code is None else code
        assert severity is not None, f"rule {rule} is not in the table and has no severity"
        if not self._room(severity):
            return
        spot = Spot(
            interchange=self._interchange,
            group=self._group,
            set=self._set,
            segment=position if self._set else 0,
            line=self._line + position - 1 if position else self._line,
            loop=loop,
            segment_id=segment_id,
            element=element,
            component=component,
            repetition=repetition,
        )
        self._findings.append(
            Finding(
                rule=rule,
                message=message,
                severity=severity,
                stage=Stage.FILE,
                snip=snip,
                spot=spot,
                kind=kind,
                syntax_error=code or "",
            )
        )

    def flaw(self, flaw: Flaw, segment_id: str, position: int, loop: str) -> None:
        """Report what is wrong with an element."""
        self.add(
            flaw.rule,
            flaw.message,
            segment_id,
            position,
            loop=loop,
            element=flaw.element,
            component=flaw.component,
            repetition=flaw.repetition,
            kind=flaw.kind,
        )

    def _room(self, severity: Severity) -> bool:
        """Errors are counted apart from warnings, so that many of these do not hide one of those."""
        self._counts[severity] += 1
        count = self._counts[severity]
        if count == FINDINGS_PER_SET_MAX + 1:
            message = f"More than {FINDINGS_PER_SET_MAX} findings of severity {severity}: the others are left out"
            spot = Spot(
                interchange=self._interchange, group=self._group, set=self._set, line=self._line
            )
            # Told with the severity of those left out, so that a reader of errors alone sees it.
            self._findings.append(
                Finding(rule="LIMIT-FINDINGS", message=message, severity=severity, stage=Stage.FILE,
                        snip=FAULTS["LIMIT-FINDINGS"].snip, spot=spot)
            )  # fmt: skip
        return count <= FINDINGS_PER_SET_MAX
