"""Read a payer's reply to a 276: an answer for each claim, or for a level whose claims it does not name.

    file = read(content)
    for answer in file.answers:
        trace_number(answer)                      # our trace number, to find the question by
        match_answer(answer, inquiry, trace)      # MATCHED, WRONG_PATIENT, WRONG_PAYER or OTHER_CLAIM
        build_answer(answer, inquiry, ...)        # the answer as it is stored
        claim_fact(answer.content, number)        # what it states about the claim; None if it says nothing about it

A TA1 or 999 instead of a 277 is read by ``inquiry.refusals``. Knows 277s; knows no connection, no store and no clock.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial

from msgspec.structs import replace

from clearlane.claims.inquiry.answer_result import (
    ABOUT_THE_QUESTION,
    ANSWER,
    AnswerResult,
    result_of,
)
from clearlane.claims.inquiry.status_answer import StatusAnswer, weightiest_result
from clearlane.claims.inquiry.status_inquiry import QuestionKeys, StatusInquiry
from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import (
    ClaimStatusReport,
    position_in_file,
    same_number,
)
from clearlane.claims.responses.claim_parts import CLAIM_PART
from clearlane.claims.responses.facts import ClaimKey, Fact, FilePosition
from clearlane.inquiry.response_file import AnswerMatch, ResponseFile, read_response
from clearlane.kernel.compared_names import search_name
from clearlane.x12 import tree
from clearlane.x12.reader.extract import extract_loops
from clearlane.x12.views import status as statuses
from clearlane.x12.views.original import SeparatorRestorer
from clearlane.x12.writer.encode import clean

LEVEL_NAMES = {"A": "source", "B": "receiver", "C": "provider", "D": "claim", "E": "claim"}
LEVELS = tuple(f"2000{letter}" for letter in LEVEL_NAMES)
NO_TRACE = frozenset({"", "0"})
"""TRN02 of a level that has no trace number of its own."""
PAYER_NUMBER, ACCOUNT_NUMBER, CLAIM_NUMBER = "1K", "EJ", "D9"
SERVICE_DAYS = "472"
ACCOUNT_CHARACTERS_KEPT = 20
"""Payers may cut an account number to these."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StatusReply:
    """The part of a 277 that answers one question: a claim, or a level above the claims."""

    level: str
    """claim, provider or receiver."""
    report: statuses.StatusReportView
    reference: str
    """BHT03, which some payers repeat from the 276."""
    payer_id: str
    payer_name: str
    member_id: str
    last_name: str
    """Of the patient; empty above the claims."""
    where: FilePosition
    """The place of its claim or level in the file."""
    has_alike: bool = False
    """Whether the payer states another claim with the same charge under the same trace number."""
    make_content: Callable[[], bytes]

    @property
    def content(self) -> bytes:
        """The 277 with this claim only."""
        return self.make_content()

    @property
    def number(self) -> str:
        """The trace number of the claim or level; may be empty."""
        return self.report.trace.number if self.report.trace else ""

    @property
    def charges(self) -> frozenset[Decimal]:
        """The total charges that it states of the claim."""
        stated = (status.charged for status in self.report.statuses)
        return frozenset(charge for charge in stated if charge is not None)

    def references(self, qualifier: str) -> list[str]:
        """Return the numbers of a kind that it states of the claim."""
        return [one.value for one in self.report.references if one.qualifier == qualifier]

    def __repr__(self) -> str:
        return f"StatusReply({self.level})"


def read(content: bytes) -> ResponseFile[StatusReply]:
    """Return the answers and refusals of a file."""
    return read_response(content, ANSWER, _replies)


def trace_number(reply: StatusReply) -> str:
    """Return our trace number: that of the claim or the level, else BHT03."""
    return reply.reference if reply.number in NO_TRACE else reply.number


def match_answer(reply: StatusReply, inquiry: StatusInquiry, trace: str) -> AnswerMatch:
    """Return whether a reply belongs to the question that was sent with this trace number.

    Our trace number decides, unless the patient is clearly another. A level above the claims may have none. A payer
    that searched by patient and days returns every claim that it found, so what it states must agree with ours.
    """
    if not _is_from_payer(reply, inquiry):
        return AnswerMatch.WRONG_PAYER
    if reply.number in NO_TRACE and reply.level != "claim":
        return AnswerMatch.MATCHED
    if reply.number != trace or _is_other_patient(reply, inquiry):
        return AnswerMatch.WRONG_PATIENT
    is_other = _is_of_other_claim(reply, inquiry)
    return AnswerMatch.OTHER_CLAIM if is_other else AnswerMatch.MATCHED


def may_be_resent(reply: StatusReply) -> bool:
    """Return whether the payer could not answer now: it has no other status than E1 or E2."""
    found = [code.category for status in reply.report.statuses for code in status.codes]
    return bool(found) and all(result_of(one) is AnswerResult.TRY_LATER for one in found)


def build_answer(
    reply: StatusReply, inquiry: StatusInquiry, trace: str, now: datetime
) -> StatusAnswer:
    """Return the answer to a question as it is stored."""
    report = reply.report
    number = next(iter(reply.references(PAYER_NUMBER)), "")
    return StatusAnswer(
        created_at=now,
        level=reply.level,
        trace_number=trace,
        path=inquiry.path,
        caller_trace=inquiry.trace,
        payer_name=reply.payer_name,
        payer_control_number=number,
        statuses=report.statuses,
        lines=report.lines,
        is_of_other_claim=_is_of_other_claim(reply, inquiry),
    )


def claim_fact(content: bytes, claim_number: str) -> Fact | None:
    """Return what a 277 about one claim states about it, under our claim number; None if it names no claim."""
    for message in acks.read(content):
        if isinstance(message, ClaimStatusReport):
            number = message.fact.claim.payer_control_number
            key = ClaimKey(claim_number=claim_number, payer_control_number=number)
            return replace(message.fact, claim=key)
    return None


def _replies(set: tree.TransactionSet, content: bytes) -> Iterator[StatusReply]:
    originals = SeparatorRestorer(set.group.interchange.delimiters)
    reference = set.root.value("BHT", 3)
    replies = list(_level_replies(set, (set.root,), originals, reference))
    if len(replies) == 1 and sum(1 for _ in set.group.interchange.sets()) == 1:
        # Nothing else is in the file: it is kept as it came.
        replies = [dataclasses.replace(replies[0], make_content=partial(bytes, content))]
    alike = Counter((one.number, one.charges) for one in replies)
    for one in replies:
        is_alone = alike[one.number, one.charges] == 1
        yield one if is_alone else dataclasses.replace(one, has_alike=True)


def _level_replies(
    set: tree.TransactionSet,
    around: tuple[tree.Loop, ...],
    originals: SeparatorRestorer,
    reference: str,
) -> Iterator[StatusReply]:
    """Yield the answers of a level and of those below it."""
    for level in around[-1].loops(*LEVELS):
        letter = level.id[-1]
        chain = (*around, level)
        names = {one.id[-1]: one.loop(f"2100{one.id[-1]}") for one in chain[1:]}
        for loop in level.loops(f"2200{letter}"):
            source, subscriber = names["A"], names.get("D")
            patient = names.get(letter) if letter in "DE" else None
            yield StatusReply(
                level=LEVEL_NAMES[letter],
                report=originals.restore(statuses.REPORT(loop)),
                reference=reference,
                payer_id=source.value("NM1", 9) if source else "",
                payer_name=originals.restore(source.value("NM1", 3)) if source else "",
                member_id=subscriber.value("NM1", 9) if subscriber else "",
                last_name=patient.value("NM1", 3) if patient else "",
                where=position_in_file(set, loop.position),
                make_content=partial(_extract, set, chain, loop),
            )
        yield from _level_replies(set, chain, originals, reference)


def _extract(set: tree.TransactionSet, chain: tuple[tree.Loop, ...], claim: tree.Loop) -> bytes:
    """Return a file with the one claim, or with a level and its own status."""
    if claim.id[-1] not in "DE":
        return extract_loops(set, chain, (), CLAIM_PART)
    return extract_loops(set, chain, list(claim.all_segments()), CLAIM_PART)


def _is_from_payer(reply: StatusReply, inquiry: StatusInquiry) -> bool:
    """Return whether the source has an id or name of the payer. A source without either is accepted."""
    known = {clean(name)[0] for name in (*inquiry.payer_names, inquiry.payer.id) if name}
    if reply.payer_id:
        return clean(reply.payer_id)[0] in known
    return not reply.payer_name or clean(reply.payer_name)[0] in known | {inquiry.payer.name}


def _is_other_patient(reply: StatusReply, inquiry: StatusInquiry) -> bool:
    """Return whether both the last name and the member id differ from what was asked about."""
    people = [person for person in (inquiry.subscriber, inquiry.dependent) if person]
    last = search_name(reply.last_name)
    other_name = bool(last) and last not in {search_name(one.last) for one in people}
    other_id = bool(reply.member_id) and search_name(reply.member_id) != search_name(
        inquiry.member_id
    )
    return other_name and other_id


def _is_of_other_claim(reply: StatusReply, inquiry: StatusInquiry) -> bool:
    """Return whether what is stated of a claim does not agree with ours, or does not suffice to know that it is ours.

    A sender's own 276 asks about a claim that is not known here. An answer that found no claim may state any charge.
    """
    if reply.level != "claim" or not inquiry.claim_number:
        return False
    accounts, payer_numbers = reply.references(ACCOUNT_NUMBER), reply.references(PAYER_NUMBER)
    if any(not _is_our_number(one, inquiry) for one in accounts):
        return True
    if any(not _is_our_day(day, inquiry) for day in _service_days(reply)):
        return True
    # A payer may give a claim another number later: our own claim number, which no other claim has, decides then.
    is_certain = inquiry.claim_number in (*accounts, *reply.references(CLAIM_NUMBER))
    known = inquiry.payer_control_number
    if known and not is_certain and any(not same_number(one, known) for one in payer_numbers):
        return True
    report = reply.report
    if weightiest_result(report.statuses, report.lines) in ABOUT_THE_QUESTION:
        return False
    if inquiry.charge is not None and reply.charges - {inquiry.charge}:
        return True
    is_named = is_certain or bool(accounts) or bool(known and payer_numbers)
    if reply.has_alike:
        return not is_named
    return inquiry.keys is QuestionKeys.DAYS and not (is_named or reply.charges)


def _is_our_number(stated: str, inquiry: StatusInquiry) -> bool:
    """Return whether an account number is one that the claim was sent with."""
    for ours in filter(None, (inquiry.account_number, inquiry.claim_number)):
        if same_number(clean(stated)[0], ours):
            return True
        if len(stated) >= ACCOUNT_CHARACTERS_KEPT and ours.startswith(stated):
            return True
    return False


def _service_days(reply: StatusReply) -> Iterator[date]:
    """Yield the days of service that are stated of a claim and its lines."""
    report = reply.report
    for stated in (*report.dates, *(one for line in report.lines for one in line.dates)):
        if stated.qualifier == SERVICE_DAYS:
            yield from filter(None, (stated.start, stated.end))


def _is_our_day(day: date, inquiry: StatusInquiry) -> bool:
    period = inquiry.period
    return period is None or period[0] <= day <= period[1]
