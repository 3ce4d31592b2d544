"""Write the 271 that answers a sender's 270: what payers answered, in the sender's terms, and refusals for the rest.

    write_answer(envelope, reference, [answered(patient, content, trace), refused(other, NO_ANSWER)])

Each patient's answer is a chain of levels, outermost first. Payers that follow each other share a level. The sender finds
his own trace numbers at the patient, his own id of the payer, and his BHT03. Knows 271s; knows no payer and no store.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from clearlane.eligibility.benefit_answer import ANSWER
from clearlane.eligibility.build_inquiry import clean_element
from clearlane.eligibility.patient_levels import LEVELS, own_segments
from clearlane.eligibility.read_270 import SentPatient
from clearlane.inquiry.response_file import read_response
from clearlane.x12 import guides, tree
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.writer.writer import Envelope, wrap_sets

GUIDE = guides.by_kind("271")
ECHOED = "2"
"""TRN01 of a trace number that the answer repeats."""
TRACES_MAX = 3
SHARED_LEVELS = 2
"""How many levels patients may share: the payer and the receiver."""

Level: TypeAlias = list[Segment]
"""The segments of one level, HL first."""


class Refusal(NamedTuple):
    """Why there is no answer: the elements of an AAA, and whether the payer as a whole is concerned."""

    valid: str
    """AAA01: N if the inquiry itself is at fault."""
    reason: str
    follow_up: str
    of_payer: bool = False

    @property
    def segment(self) -> Segment:
        """The AAA."""
        return ["AAA", self.valid, "", self.reason, self.follow_up]


PAYER_UNKNOWN = Refusal("N", "79", "C", of_payer=True)
"""Invalid participant identification; please correct and resubmit."""
PAYER_NOT_ASKED = Refusal("Y", "42", "N", of_payer=True)
"""The payer takes no inquiries in real time here; resubmission not allowed."""
TOO_MANY_PATIENTS = Refusal("N", "04", "C", of_payer=True)
"""Authorized quantity exceeded; please correct and resubmit."""
NO_ANSWER = Refusal("Y", "42", "R")
"""Unable to respond at current time; resubmission allowed."""
NOT_TAKEN = Refusal("Y", "42", "N")
"""The payer refused the inquiry as a file; the same would be refused again."""


def answered(patient: SentPatient, content: bytes, payer_id: str) -> list[Level]:
    """Return the levels of a payer's 271 about one patient; ``payer_id`` is what the payer was asked under."""
    sets = read_response(content, ANSWER, lambda found, _: [found]).answers
    levels = list(_chain(sets[0])) if sets else []
    if not levels:
        return refused(patient, NO_ANSWER)
    for segment in levels[0]:
        if segment[0] == "NM1" and get_element(segment, 9).strip() == payer_id:
            segment[8:10] = patient.payer[8:10]
    if len(levels) > SHARED_LEVELS:
        levels[SHARED_LEVELS:] = [
            [s for s in level if s[0] != "TRN" or get_element(s, 1) != ECHOED]
            for level in levels[SHARED_LEVELS:]
        ]
        _add_traces(levels[-1], patient)
    return levels


def refused(patient: SentPatient, refusal: Refusal) -> list[Level]:
    """Return the levels of an answer without benefits: names as the sender wrote them, and the reason."""
    levels = [[s for s in level if s[0] in {"HL", "NM1"}] for level in patient.levels]
    if refusal.of_payer:
        levels = levels[:1]
    else:
        _add_traces(levels[-1], patient)
    levels[-1].append(refusal.segment)
    return levels


def write_answer(envelope: Envelope, reference: str, chains: Iterable[Sequence[Level]]) -> bytes:
    """Return a 271 with the answers about some patients; ``reference`` is BHT03 of the 270."""
    moment = envelope.moment
    heading = ["BHT", "0022", "11", reference, f"{moment:%Y%m%d}", f"{moment:%H%M}"]
    foreign = envelope.delimiters.blank_foreign()
    body = (
        "*".join(map(_plain, segment)).translate(foreign).rstrip("*")
        for segment in (heading, *_numbered(_merged(chains)))
    )
    return b"".join(wrap_sets(envelope, GUIDE, [body]))


def _plain(text: str) -> str:
    """Return an element as it is if it is ASCII, which is all that an answer holds; else in plain letters."""
    return text if text.isascii() else clean_element(text)


@dataclass(slots=True, repr=False)
class _Node:
    """A level with those below it."""

    segments: Level
    below: list["_Node"] = field(default_factory=list)


def _chain(set: tree.TransactionSet) -> Iterator[Level]:
    """Yield the levels of the one patient of a payer's 271, in the usual separators."""
    foreign = set.group.interchange.delimiters.blank_foreign()
    loop: tree.Loop | None = set.root
    while loop is not None and (loop := loop.loop(*LEVELS)) is not None:
        yield [[text.translate(foreign) for text in segment] for segment in own_segments(loop)]


def _add_traces(level: Level, patient: SentPatient) -> None:
    """Put the sender's trace numbers first in the patient's level, as those that the answer repeats."""
    own = [["TRN", ECHOED, *trace[2:]] for trace in patient.traces]
    others = [segment for segment in level[1:] if segment[0] == "TRN"]
    rest = [segment for segment in level[1:] if segment[0] != "TRN"]
    level[1:] = [*[*own, *others][:TRACES_MAX], *rest]


def _merged(chains: Iterable[Sequence[Level]]) -> list[_Node]:
    """Return the levels as trees: a patient shares those of payer and receiver with the patient before."""
    roots: list[_Node] = []
    for chain in chains:
        beside = roots
        for depth, level in enumerate(chain):
            is_last = depth == len(chain) - 1
            before = beside[-1] if beside and depth < SHARED_LEVELS else None
            # A level that refuses has none below; it is said once for all its patients.
            if before is None or before.segments[1:] != level[1:] or bool(before.below) is is_last:
                beside.append(_Node(level))
            beside = beside[-1].below
    return roots


def _numbered(roots: Iterable[_Node]) -> Iterator[Segment]:
    """Yield the segments of all levels, with their numbers, parents and whether there are levels below."""
    count = 0

    def walk(nodes: Iterable[_Node], parent: str) -> Iterator[Segment]:
        nonlocal count
        for node in nodes:
            count += 1
            number, code = str(count), get_element(node.segments[0], 3)
            yield ["HL", number, parent, code, "1" if node.below else "0"]
            yield from node.segments[1:]
            yield from walk(node.below, number)

    return walk(roots, "")
