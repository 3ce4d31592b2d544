"""The 999: which sets a payer takes in, and where the others fail.

What the engine found makes most of it. Two grounds are the payer's own: a kind of claim it does not take, and the
scenario that has one claim refused. Knows sets and their claims; knows no benefits.
"""

from bisect import bisect, bisect_left

from clearlane.kernel.finding import Finding, Severity, Spot, Stage
from clearlane.sandbox.model import Claim
from clearlane.sandbox.read_837 import KINDS, SERVICES, GroupRead, SetRead
from clearlane.sandbox.scenarios import REFUSED_IN_999
from clearlane.x12 import ack, guides
from clearlane.x12.writer import Envelope, body, seal

NOT_SUPPORTED, INVALID_CODE = "1", "7"
REFUSED = "R"
PROCEDURE, CODE = 1, 2


def object_to(group: GroupRead) -> None:
    """Add the payer's own objections to what the engine found."""
    for one in group.sets:
        guide = guides.by_version(one.verdict.transaction, one.verdict.version)
        if guide is not None and guide.kind not in KINDS:
            one.verdict.findings.append(_not_supported())
        for claim in one.claims:
            if claim.member == REFUSED_IN_999 and claim.lines:
                one.verdict.findings.append(_refused(claim))
        if one.verdict.code == REFUSED:
            # A refusal tells its grounds and nothing that would have been borne: whoever reads it takes every
            # complaint for a ground.
            one.verdict.findings = [f for f in one.verdict.findings if f.severity is Severity.ERROR]
        one.verdict.units = _concerned(one)


def taken(group: GroupRead) -> list[SetRead]:
    """The sets that are taken in."""
    if not group.verdict.accepted:
        return []
    return [one for one in group.sets if one.verdict.code != REFUSED]


def answered(groups: list[GroupRead]) -> list[GroupRead]:
    """The groups a 999 speaks of: an acknowledgement is never acknowledged."""
    return [group for group in groups if group.verdict.functional != ack.ACKNOWLEDGEMENT]


def write(groups: list[GroupRead], envelope: Envelope) -> bytes:
    """The interchange that carries the verdicts."""
    bodies = [body(ack.nine(group.verdict)) for group in groups]
    return b"".join(seal(envelope, guides.by_kind("999"), bodies))


def _concerned(one: SetRead) -> list[tuple[int, int, str, str]]:
    """The claims in which something was found: only these are told by name."""
    found = sorted(finding.spot.segment for finding in one.verdict.findings if finding.spot)
    return [
        unit for unit in one.verdict.units if bisect_left(found, unit[0]) < bisect(found, unit[1])
    ]


def _refused(claim: Claim) -> Finding:
    """The procedure code of the first line, as a code that is not valid here."""
    line = claim.lines[0]
    spot = Spot(
        segment=line.position,
        loop="2400",
        segment_id=SERVICES[claim.kind],
        element=PROCEDURE,
        component=CODE,
    )
    return Finding(
        rule="PAYER-PROCEDURE",
        message="The payer does not know the procedure code.",
        stage=Stage.FILE,
        spot=spot,
        syntax_error=INVALID_CODE,
    )


def _not_supported() -> Finding:
    return Finding(
        rule="ST-SUPPORTED",
        message="The payer takes professional and dental claims only.",
        stage=Stage.FILE,
        spot=Spot(segment=1, segment_id="ST"),
        syntax_error=NOT_SUPPORTED,
    )
