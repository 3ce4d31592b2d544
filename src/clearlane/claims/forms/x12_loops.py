"""Turn a claim that a reader closed into a value to be stored, and that value back into loops.

    claim = claim_of_unit(unit)                     # a unit of a streaming reader
    loops = loops_of(claim)
    loops.claim, loops.parents                      # the loop 2300, and those around it

The automaton that placed the segments when the file was read places them again, so the loops are the same.

Knows loops and segments; knows no value in them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from clearlane.claims.kinds import KINDS, X12
from clearlane.claims.x12_claim import X12Claim, X12Part
from clearlane.kernel.finding import Finding
from clearlane.x12.automaton import compile_guide
from clearlane.x12.checker.collector import FindingCollector
from clearlane.x12.guides import by_kind
from clearlane.x12.reader.loop_parser import LoopParser
from clearlane.x12.reader.reader_events import UnitClosed
from clearlane.x12.tree import Loop, get_element

TRANSACTIONS = tuple(row.file_tag for row in KINDS.values() if X12 in row.submitted_on)
"""The transactions whose claims are taken from files."""
CLAIM = "2300"
LEVELS = ("2000A", "2000B", "2000C", CLAIM)
"""The loops that a claim consists of: the levels around it from the outside in, and its own."""
LEVEL_RULES = "HL-"
"""What the rules about the numbers of levels begin with."""
_TRACE = "D9"
_LEVELS_BEGIN = "2"


class ClaimLoops(NamedTuple):
    """The loops of a stored claim."""

    claim: Loop
    parents: tuple[Loop, ...]
    """The loops around it, the root first."""
    numbers: tuple[int, ...]
    """The number in the sender's file of each segment, by its position in these loops; the first is that of the ST."""


def claim_of_unit(unit: UnitClosed) -> X12Claim:
    """Return a claim that a reader closed as a value of its own. The set must be one of ``TRANSACTIONS``."""
    return UnitLevels().claim_of(unit)


class UnitLevels:
    """The levels around the claims of a set: claims of one provider or subscriber share what these say."""

    def __init__(self) -> None:
        self._known: list[tuple[Loop, Loop, X12Part]] = []
        """The loops around the last claim, each as it is stored: without the claims in it, and as a part."""

    def claim_of(self, unit: UnitClosed) -> X12Claim:
        """Return a claim that a reader closed as a value of its own."""
        set, loop = unit.set, unit.loop
        assert set.guide, "a set without a guide has no claims"
        before = set.first_segment - 1
        parts = [part for _, _, part in self._around(unit)]
        parts.append(X12Part(CLAIM, before + loop.position, _text(loop)))
        interchange = set.group.interchange
        trace = loop.segment("REF", _TRACE)
        return X12Claim(
            transaction=set.guide.kind,
            parts=tuple(parts),
            delimiters=interchange.delimiters,
            usage=get_element(interchange.header, 15),
            claim_type=set.root.value("BHT", 6),
            sender_trace=get_element(trace, 2) if trace else "",
        )

    def loops_around(self, unit: UnitClosed) -> list[Loop]:
        """Return the levels around a claim as ``loops_of`` finds them in the stored claim."""
        return [level for _, level, _ in self._around(unit)]

    def _around(self, unit: UnitClosed) -> list[tuple[Loop, Loop, X12Part]]:
        around = [parent for parent in unit.parents if parent.node.id in LEVELS]
        before = unit.set.first_segment - 1
        for at, parent in enumerate(around):
            if at < len(self._known) and self._known[at][0] is parent:
                continue
            level = Loop(parent.node, parent.position, [*parent.heading(*LEVELS)])
            part = X12Part(parent.node.id, before + parent.position, _text(level))
            self._known[at:] = [(parent, level, part)]
        del self._known[len(around) :]
        return self._known


def _text(loop: Loop) -> str:
    return "~".join(["*".join(segment) for segment in loop.all_segments()])


def loops_of(claim: X12Claim) -> ClaimLoops:
    """Return the loops of a stored claim, placed by the guide as they were when its file was read."""
    guide = by_kind(claim.transaction)
    root = Loop(guide.root, 1, [["ST", guide.transaction, "0001", guide.id]])
    findings: list[Finding] = []
    parser = LoopParser(
        root, compile_guide(guide), FindingCollector(findings), check=False, on_closed=None
    )
    segments = [segment for part in claim.parts for segment in part.segments]
    parser.consume([], segments)
    around = [root]
    while around[-1].node.id != CLAIM:
        *_, inner = around[-1].loops(*LEVELS)
        around.append(inner)
    *parents, own = around
    return ClaimLoops(own, tuple(parents), (0, *claim.segment_numbers()))


def claim_findings(claim: X12Claim, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings about the file that a claim came in that are about the claim or the levels around it."""
    if not findings:
        return ()
    numbers = set(claim.segment_numbers())
    return tuple(
        finding
        for finding in findings
        if finding.position is not None and finding.position.file_segment in numbers
    )


def check_claim(claim: X12Claim) -> tuple[Finding, ...]:
    """Check a claim by its guide alone, as a reader checks it in its file; for one that was changed since.

    Levels are numbered when a claim is written, so their numbers are not looked at.
    """
    guide = by_kind(claim.transaction)
    texts = [text for part in claim.parts for text in part.text.split("~")]
    root = Loop(guide.root, 1, [["ST", guide.transaction, "0001", guide.id]])
    findings: list[Finding] = []
    # A position counts from the ST, which is 1.
    collector = FindingCollector(findings, set=1, first_segment=1)
    parser = LoopParser(
        root,
        compile_guide(guide),
        collector,
        check=True,
        on_closed=None,
        held_separators=claim.delimiters.held_separators(),
    )
    parser.consume(texts, [text.split("*") for text in texts])
    parser.end_without_se()
    numbers = (0, *claim.segment_numbers())
    return tuple(
        replace(finding, position=replace(at, file_segment=_number_at(numbers, at.segment)))
        for finding in findings
        if (at := finding.position) is not None
        and at.loop.startswith(_LEVELS_BEGIN)
        and not finding.rule.startswith(LEVEL_RULES)
    )


def _number_at(numbers: Sequence[int], position: int) -> int:
    """Return the number of a segment in the sender's file; of one that is missing at the end, that of the last."""
    return numbers[min(position, len(numbers)) - 1]
