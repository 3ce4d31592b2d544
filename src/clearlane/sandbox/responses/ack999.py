"""Write the 999: which sets a payer accepts, and where the others fail.

Most of it comes from the engine's findings. Two objections are the payer's own: a transaction that it does not
accept, and the scenario that refuses one claim. Knows sets and their claims; knows no benefits.
"""

from bisect import bisect, bisect_left

from clearlane.kernel.finding import Finding, SegmentPosition, Severity, Stage
from clearlane.sandbox.model import Claim
from clearlane.sandbox.read_837 import KINDS, PROCEDURE, SERVICES, GroupRead, SetRead
from clearlane.sandbox.scenarios import REFUSED_IN_999
from clearlane.x12 import guides
from clearlane.x12.checker import ack
from clearlane.x12.writer.writer import Envelope, body_texts, wrap_sets

NOT_SUPPORTED, INVALID_CODE = "1", "7"
REFUSED = "R"
CODE = 2


def add_payer_objections(group: GroupRead) -> None:
    """Add the payer's own objections to the engine's findings."""
    for one in group.sets:
        guide = guides.by_version(one.verdict.transaction, one.verdict.version)
        if guide is not None and guide.kind not in KINDS:
            one.verdict.findings.append(_not_supported())
        for claim in one.claims:
            if claim.member == REFUSED_IN_999 and claim.lines:
                one.verdict.findings.append(_refused(claim))
        if one.verdict.code == REFUSED:
            # A refusal lists errors alone: a reader would take a warning for a reason of the refusal.
            one.verdict.findings = [f for f in one.verdict.findings if f.severity is Severity.ERROR]
        one.verdict.units = _units_with_findings(one)


def accepted_sets(group: GroupRead) -> list[SetRead]:
    """Return the sets that are accepted."""
    if not group.verdict.accepted:
        return []
    return [one for one in group.sets if one.verdict.code != REFUSED]


def acknowledged_groups(groups: list[GroupRead]) -> list[GroupRead]:
    """Return the groups that a 999 acknowledges: an acknowledgement is never acknowledged."""
    return [group for group in groups if group.verdict.functional_id != ack.ACKNOWLEDGEMENT]


def write(groups: list[GroupRead], envelope: Envelope) -> bytes:
    """Return the interchange with the verdicts."""
    bodies = [body_texts(ack.build_999(group.verdict)) for group in groups]
    return b"".join(wrap_sets(envelope, guides.by_kind("999"), bodies))


def _units_with_findings(one: SetRead) -> list[tuple[int, int, str, str]]:
    """Return the claims with findings: only these are named in the 999."""
    found = sorted(finding.position.segment for finding in one.verdict.findings if finding.position)
    return [
        unit for unit in one.verdict.units if bisect_left(found, unit[0]) < bisect(found, unit[1])
    ]


def _refused(claim: Claim) -> Finding:
    """Return a finding that the procedure code of the first line is not valid."""
    line = claim.lines[0]
    spot = SegmentPosition(
        segment=line.position,
        loop="2400",
        segment_id=SERVICES[claim.kind],
        element=PROCEDURE[claim.kind],
        component=CODE,
    )
    return Finding(
        rule="PAYER-PROCEDURE",
        message="The payer does not know the procedure code.",
        stage=Stage.FILE,
        position=spot,
        syntax_error=INVALID_CODE,
    )


def _not_supported() -> Finding:
    return Finding(
        rule="ST-SUPPORTED",
        message="The payer takes claims only.",
        stage=Stage.FILE,
        position=SegmentPosition(segment=1, segment_id="ST"),
        syntax_error=NOT_SUPPORTED,
    )
