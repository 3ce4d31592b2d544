"""Write the 271 that answers a sender's 270: what payers answered, in the sender's terms, and refusals for the rest.

    write_answer(envelope, reference, [answered(patient, content), refused(other, Refusal.NO_ANSWER)])

Each patient's answer is a chain of levels, outermost first. Payers that follow each other share a level. The sender finds
its own trace numbers at the patient, its own id of the payer, and its BHT03. Knows 271s; knows no payer and no store.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clearlane.eligibility.benefit_answer import ANSWER
from clearlane.eligibility.read_270 import SentPatient
from clearlane.inquiry.response_file import read_response
from clearlane.inquiry.sender_levels import Level, answer_levels, restore_payer, write_levels
from clearlane.inquiry.sent_inquiry import Refusal
from clearlane.x12 import guides
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.writer.writer import Envelope

GUIDE = guides.by_kind("271")
ECHOED = "2"
"""TRN01 of a trace number that the answer repeats."""
TRACES_MAX = 3
SHARED_LEVELS = 2
"""How many levels patients may share: the payer and the receiver."""


OF_PAYER, OF_PROVIDER = 1, 2
"""How many levels of an inquiry a refusal concerns that holds for all patients of a payer, or of a provider."""


class RefusalCodes(NamedTuple):
    """The elements of an AAA, and the level that it concerns."""

    valid: str
    """AAA01: N if the inquiry itself is at fault."""
    reason: str
    follow_up: str
    levels: int | None = None
    """How many levels of the inquiry it concerns: the payer alone, the provider too, or all."""

    @property
    def segment(self) -> Segment:
        """The AAA."""
        return ["AAA", self.valid, "", self.reason, self.follow_up]


REFUSALS = {
    # Invalid participant identification; please correct and resubmit.
    Refusal.PAYER_UNKNOWN: RefusalCodes("N", "79", "C", levels=OF_PAYER),
    # Unable to respond at current time; resubmission not allowed, or allowed.
    Refusal.PAYER_NOT_ASKED: RefusalCodes("Y", "42", "N", levels=OF_PAYER),
    Refusal.NO_ANSWER: RefusalCodes("Y", "42", "R"),
    Refusal.NOT_TAKEN: RefusalCodes("Y", "42", "N"),
    # Provider ineligible for inquiries; please correct and resubmit.
    Refusal.NOT_ENROLLED: RefusalCodes("N", "50", "C", levels=OF_PROVIDER),
    # Authorized quantity exceeded; please correct and resubmit.
    Refusal.TOO_MANY: RefusalCodes("N", "04", "C", levels=OF_PAYER),
}


def answered(patient: SentPatient, content: bytes) -> list[Level]:
    """Return the levels of a payer's 271 about one patient, under the sender's id of the payer."""
    sets = read_response(content, ANSWER, lambda found, _: [found]).answers
    levels = list(answer_levels(sets[0])) if sets else []
    if not levels:
        return refused(patient, Refusal.NO_ANSWER)
    restore_payer(levels[0], patient.payer)
    if len(levels) > SHARED_LEVELS:
        levels[SHARED_LEVELS:] = [
            [s for s in level if s[0] != "TRN" or get_element(s, 1) != ECHOED]
            for level in levels[SHARED_LEVELS:]
        ]
        _add_traces(levels[-1], patient)
    return levels


def refused(patient: SentPatient, refusal: Refusal) -> list[Level]:
    """Return the levels of an answer without benefits: names as the sender wrote them, and the reason."""
    codes = REFUSALS[refusal]
    levels = [[s for s in level if s[0] in {"HL", "NM1"}] for level in patient.levels]
    if codes.levels is not None:
        levels = levels[: codes.levels]
    else:
        _add_traces(levels[-1], patient)
    levels[-1].append(codes.segment)
    return levels


def write_answer(envelope: Envelope, reference: str, chains: Iterable[Sequence[Level]]) -> bytes:
    """Return a 271 with the answers about some patients; ``reference`` is BHT03 of the 270."""
    moment = envelope.moment
    heading = ["BHT", "0022", "11", reference, f"{moment:%Y%m%d}", f"{moment:%H%M}"]
    return write_levels(envelope, GUIDE, heading, chains, shared=SHARED_LEVELS)


def _add_traces(level: Level, patient: SentPatient) -> None:
    """Put the sender's trace numbers first in the patient's level, as those that the answer repeats."""
    own = [["TRN", ECHOED, *trace[2:]] for trace in patient.traces]
    others = [segment for segment in level[1:] if segment[0] == "TRN"]
    rest = [segment for segment in level[1:] if segment[0] != "TRN"]
    level[1:] = [*[*own, *others][:TRACES_MAX], *rest]
