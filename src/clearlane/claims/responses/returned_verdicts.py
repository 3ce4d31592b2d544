"""What a payer says of a claim, as an acknowledgement tells it to the sender of the file that the claim came in.

    returned_verdict(facts, claim)         # for a 277CA; None if there is nothing to tell
    returned_statuses(facts)               # for a 277

The codes of a payer's 277CA come back as they are; that a clearinghouse on the way took a claim is A1:19 and never A2,
which states that the payer has it. A 999 or a refused set becomes the status of the place that it
names: the sender never saw the file that the payer refused.

Knows facts and codes; knows no file that is written.
"""

from collections.abc import Iterable, Iterator

from clearlane.claims.responses.ack_verdicts import (
    RECEIPT,
    AckStatus,
    ClaimVerdict,
    allowed_entities,
    place_status,
)
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim
from clearlane.claims.responses.facts import Complaint, Fact, FactKind
from clearlane.claims.responses.rule_status import INVALID, MISSING, UNPROCESSABLE, RuleStatus
from clearlane.x12 import codes

REFUSALS = frozenset({FactKind.CLAIM_REFUSED, FactKind.SET_REFUSED})
RETURNED = REFUSALS | {FactKind.STATUS}
"""The kinds of facts that a sender is given. A set that is sent again, or that a 999 accepts, is our business."""
ACKNOWLEDGEMENTS = "A"
"""The categories of an acknowledgement begin so; those of a 277 about pending and finalized claims do not."""
TAKEN = frozenset({"A1", "A2"})
"""The categories of a claim that was received, or accepted."""
LINE = "line"
# IK304 and IK403 of what is not there.
MISSING_ERRORS = frozenset(
    {("segment", code) for code in ("3", "I6", "I7")}
    | {("element", code) for code in ("1", "2", "I9")}
)
ERROR_LISTS = {"segment": "segment_errors", "element": "element_errors"}


def returned_verdict(facts: Iterable[Fact], claim: AcknowledgedClaim) -> ClaimVerdict | None:
    """Return what facts of one payer's file say of a claim."""
    own: list[AckStatus] = []
    lines: dict[int, tuple[AckStatus, ...]] = {}
    number = ""
    for fact in facts:
        if fact.kind is FactKind.STATUS:
            own += _statuses(fact)
            number = fact.claim.payer_control_number or number
            reported = _line_statuses(fact, claim)
        elif fact.kind in REFUSALS:
            reported = _refusals(fact, claim)
        else:
            continue
        for line, status in reported:
            if line is None:
                own.append(status)
            else:
                lines[line] = (*lines.get(line, ()), status)
    if lines and all(status.accepts for status in own):
        # A line that is refused refuses its claim, which then has a status of its own.
        first = next(iter(lines.values()))[0].codes[0]
        own = [AckStatus((first._replace(status="247", entity=""),))]
    return ClaimVerdict(tuple(dict.fromkeys(own)), lines, number) if own else None


def returned_statuses(facts: Iterable[Fact]) -> tuple[tuple[AckStatus, ...], str]:
    """Return what facts of one payer's file say of a claim that is worked on or decided, and the payer's number of it."""
    reported = [fact for fact in facts if fact.kind is FactKind.STATUS]
    statuses = [
        AckStatus((RuleStatus(code.category, code.status, code.entity),), day=fact.day)
        for fact in reported
        for code in fact.codes
        if not code.category.startswith(ACKNOWLEDGEMENTS)
    ]
    numbers = [fact.claim.payer_control_number for fact in reported]
    return tuple(dict.fromkeys(statuses)), next(filter(None, numbers), "")


def _statuses(fact: Fact) -> Iterator[AckStatus]:
    """Yield what a 277CA says of the claim itself, or of a level above it."""
    texts = {
        (one.category, one.code, one.entity): one.text
        for one in fact.complaints
        if one.level != LINE
    }
    for code in fact.codes:
        if code.category.startswith(ACKNOWLEDGEMENTS):
            text = texts.get((code.category, code.status, code.entity), "")
            status = _allowed(code.category, code.status, code.entity)
            if fact.is_passed_on and code.category in TAKEN:
                [status] = RECEIPT.statuses[0].codes
            yield AckStatus((status,), text, day=fact.day)


def _line_statuses(fact: Fact, claim: AcknowledgedClaim) -> Iterator[tuple[int | None, AckStatus]]:
    for one in fact.complaints:
        if one.level == LINE and one.category.startswith(ACKNOWLEDGEMENTS):
            status = AckStatus((_allowed(one.category, one.code, one.entity),), one.text, fact.day)
            if not status.accepts:
                yield _line(one, claim), status


def _refusals(fact: Fact, claim: AcknowledgedClaim) -> Iterator[tuple[int | None, AckStatus]]:
    """Yield why a 999 refuses a claim; a set may be refused without a word on any segment."""
    found = False
    for one in fact.complaints:
        found = True
        category = INVALID
        if (one.level, one.code) in MISSING_ERRORS:
            category = MISSING
        elif one.level not in ERROR_LISTS:
            category = UNPROCESSABLE
        element = f"{one.element:02}" if one.element else ""
        place = f"{one.loop}/{one.segment}{element}: " if one.segment else ""
        words = codes.load(ERROR_LISTS.get(one.level, "set_errors")).get(one.code, "")
        found_codes = place_status(category, claim.transaction, one.loop, one.segment, one.element)
        yield _line(one, claim), AckStatus(found_codes, f"999 {place}{words}")
    if not found:
        codes_of_set = place_status(UNPROCESSABLE, claim.transaction)
        yield None, AckStatus(codes_of_set, "999: the payer refused the set")


def _line(complaint: Complaint, claim: AcknowledgedClaim) -> int | None:
    """Return the index of the line that a complaint is about; None for the claim, or a line that cannot be named."""
    for at, line in enumerate(claim.lines):
        is_meant = complaint.line == at + 1 or (line.control and line.control == complaint.control)
        if is_meant and line.service:
            return at
    return None


def _allowed(category: str, status: str, entity: str) -> RuleStatus:
    return RuleStatus(category, status, entity if entity in allowed_entities() else "")
