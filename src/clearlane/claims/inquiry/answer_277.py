"""Write the 277 that answers a sender's 276: what payers answered, in the sender's terms, and refusals for the rest.

    write_answer(envelope, reference, [answered(claim, content, today), refused(other, Refusal.NO_ANSWER, today)])

Each claim's answer is a chain of levels, outermost first. Neighbors share levels. The sender finds its own trace number at
each claim, its own id of the payer, and its BHT03. A payer may answer above the claim: the sender gets that status at the
claim, since other claims of its file are answered otherwise. Knows 277s; knows no payer and no store.
"""

from collections.abc import Iterable, Sequence
from datetime import date

from clearlane.claims.inquiry.answer_result import ANSWER
from clearlane.claims.inquiry.read_276 import CLAIM_NUMBER, PERSON_LEVELS, SentQuestion
from clearlane.inquiry.response_file import read_response
from clearlane.inquiry.sender_levels import Level, answer_levels, restore_payer, write_levels
from clearlane.inquiry.sent_inquiry import Refusal
from clearlane.x12 import guides
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.writer.writer import Envelope

GUIDE = guides.by_kind(ANSWER)
ECHOED = "2"
"""TRN01 of a trace number that the answer repeats."""
SHARED_LEVELS = 4
"""How many levels claims may share: payer, receiver, provider and the subscriber of a dependent."""
REPEATED = ("1K", "BLT", "EJ", "XZ", CLAIM_NUMBER)
"""Numbers of the question that an answer without a payer's has too, in the order of the guide."""
REFUSALS = {
    # Errors in the request: the payer's id, the provider (not approved as an electronic submitter), the file as a whole.
    Refusal.PAYER_UNKNOWN: "E0:153:PR",
    Refusal.OTHER_PROVIDER: "E0:24:1P",
    Refusal.NOT_TAKEN: "E0:0",
    # A requirement of the trading partner is not met: the number of claims, or the enrollment of the provider.
    Refusal.TOO_MANY: "E4:0",
    Refusal.NOT_ENROLLED: "E4:24:1P",
    # No answer is possible, or none came: ask again later.
    Refusal.PAYER_NOT_ASKED: "E1:0:PR",
    Refusal.NO_ANSWER: "E2:0:PR",
}
"""STC01: category, status and entity."""


def answered(claim: SentQuestion, content: bytes, today: date) -> list[Level]:
    """Return the levels of a payer's 277 about one claim, under the sender's id of the payer."""
    sets = read_response(content, ANSWER, lambda found, _: [found]).answers
    levels = list(answer_levels(sets[0])) if sets else []
    statuses = [s for level in levels for s in level if s[0] == "STC"]
    if not statuses:
        return refused(claim, Refusal.NO_ANSWER, today)
    if len(levels) <= PERSON_LEVELS:
        return _with_statuses(claim, statuses)
    restore_payer(levels[0], claim.payer)
    levels[-1] = [_own_trace(segment, claim) for segment in levels[-1]]
    return levels


def refused(claim: SentQuestion, refusal: Refusal, today: date) -> list[Level]:
    """Return the levels of an answer that no payer gave: names as the sender wrote them, and the reason."""
    return _with_statuses(claim, [["STC", REFUSALS[refusal], f"{today:%Y%m%d}"]])


def write_answer(envelope: Envelope, reference: str, chains: Iterable[Sequence[Level]]) -> bytes:
    """Return a 277 with the answers about some claims; ``reference`` is BHT03 of the 276."""
    moment = envelope.moment
    heading = ["BHT", "0010", "08", reference, f"{moment:%Y%m%d}", f"{moment:%H%M}", "DG"]
    return write_levels(envelope, GUIDE, heading, chains, shared=SHARED_LEVELS)


def _with_statuses(claim: SentQuestion, statuses: Iterable[Segment]) -> list[Level]:
    """Return the sender's own levels with statuses of the claim, and with the numbers that the sender knows it by."""
    levels = [[list(s) for s in level if s[0] in {"HL", "NM1"}] for level in claim.levels]
    levels[-1] += [_own_trace(trace, claim) for trace in claim.traces]
    levels[-1] += [list(one) for one in statuses]
    numbers = ((one, claim.reference(one)) for one in REPEATED)
    levels[-1] += [["REF", qualifier, number] for qualifier, number in numbers if number]
    return levels


def _own_trace(segment: Segment, claim: SentQuestion) -> Segment:
    """Return a trace number as the one that the sender gave the claim; other segments as they are."""
    if segment[0] != "TRN" or not claim.traces:
        return segment
    return ["TRN", ECHOED, get_element(claim.traces[0], 2)]
