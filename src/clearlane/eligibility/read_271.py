"""Read a payer's response to a 270: answers patient by patient, or a refusal of the file.

    file = read(content)
    for answer in file.answers:                   # one patient each
        trace_number(answer)                      # our trace number, to find the inquiry by
        match_answer(answer, inquiry, trace)      # MATCHED, WRONG_PATIENT or WRONG_PAYER
        build_answer(answer, inquiry, ...)        # the answer as it is stored
    for refusal in file.refusals:                 # TA1 or 999 instead of a 271
        build_refusal(refusal, inquiry)           # the error that is stored in its place

Each answer has one patient and the levels above it. A 999 or TA1 that accepts is ignored. Content that is not X12
has neither answers nor refusals.

Knows 271s, 999s and TA1s; knows no connection, no store and no clock.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from clearlane.eligibility import patient_levels
from clearlane.eligibility import refusals as refusals_of
from clearlane.eligibility.benefit_answer import (
    CONNECTION,
    AnswerError,
    BenefitAnswer,
    InquiryError,
)
from clearlane.eligibility.inbound import AnswerMatch, FileRefusal, PatientAnswer, ResponseFile
from clearlane.eligibility.matching import match_answer, may_be_resent, trace_number
from clearlane.eligibility.model import Inquiry, InquiryParty, InquiryPerson
from clearlane.kernel.finding import Severity
from clearlane.x12 import grammar, guides, tree, views
from clearlane.x12.reader import reader
from clearlane.x12.tree import get_element
from clearlane.x12.views import benefits, shared_types

__all__ = [
    "AnswerMatch",
    "FileRefusal",
    "PatientAnswer",
    "ResponseFile",
    "build_answer",
    "build_connection_error",
    "build_refusal",
    "match_answer",
    "may_be_resent",
    "read",
    "trace_number",
]  # fmt: skip

PERSON = "1"
"""NM102 of a person."""


def read(content: bytes) -> ResponseFile:
    """Return the answers and refusals of a file."""
    file = reader.parse(content, check=False, choose_guide=_choose)
    answers: list[PatientAnswer] = []
    refusals: list[FileRefusal] = []
    for interchange in file.interchanges:
        refusals += refusals_of.interchange_refusals(interchange)
        for set in interchange.sets():
            if set.guide is not None and set.guide.kind == "271":
                answers += _answers(set, content)
            elif set.guide is not None and set.guide.kind == "999":
                refusals += refusals_of.set_refusals(set)
    return ResponseFile(
        answers=tuple(answers), refusals=tuple(refusals), is_x12=bool(file.interchanges)
    )


def build_answer(
    answer: PatientAnswer,
    inquiry: Inquiry | None,
    *,
    document_id: str,
    created_at: datetime,
    trace: str = "",
) -> BenefitAnswer:
    """Return the answer about a patient as it is stored.

    Levels that the payer left out are filled from the inquiry, so that the caller always finds its own trace number
    at the patient.
    """
    source, count = answer.source, answer.transaction_refusal_count
    levels = _fill_levels(answer, inquiry)
    return BenefitAnswer(
        document_id=document_id,
        created_at=created_at,
        group_control_number=answer.group_control_number,
        sender_id=answer.sender_id,
        path=inquiry.path if inquiry else "",
        trace_number=trace,
        caller_trace=inquiry.trace if inquiry else None,
        envelope_errors=answer.envelope_errors,
        transaction_refusals=source.refusals[:count] if source else (),
        source=levels.source and _strip_source(levels.source, count),
        receiver=levels.receiver and replace(levels.receiver, subscribers=()),
        subscriber=levels.subscriber and _strip_member(levels.subscriber),
        dependent=levels.dependent and _strip_member(levels.dependent),
    )


def build_refusal(refusal: FileRefusal, inquiry: Inquiry | None) -> InquiryError:
    """Return the error of an inquiry whose file was rejected."""
    return InquiryError(
        kind=refusal.kind,
        path=inquiry.path if inquiry else "",
        caller_trace=inquiry.trace if inquiry else None,
        errors=refusal.errors,
        status=refusal.status,
    )


def build_connection_error(
    inquiry: Inquiry | None, code: str, message: str, payer_text: str = ""
) -> InquiryError:
    """Return the error of an inquiry that did not reach its payer; ``payer_text`` is for operators."""
    return InquiryError(
        kind=CONNECTION,
        path=inquiry.path if inquiry else "",
        caller_trace=inquiry.trace if inquiry else None,
        errors=(AnswerError(code=code, message=message, payer_text=payer_text),),
    )


def _choose(transaction: str, version: str) -> grammar.Guide | None:
    """Return the guide of a set. Any version of a 271 is read by the one guide, so that no answer is lost."""
    found = guides.by_version(transaction, version)
    return guides.by_kind("271") if found is None and transaction == "271" else found


def _answers(set: tree.TransactionSet, content: bytes) -> Iterator[PatientAnswer]:
    view = views.view_set(set)
    assert isinstance(view, benefits.EligibilityView), "a 271 has this view"
    group, interchange = set.group, set.group.interchange
    errors = tuple(_read_envelope_errors(set))
    patients = list(patient_levels.patient_levels(view))
    alone = len(patients) == 1 and sum(1 for _ in interchange.sets()) == 1
    for levels in patients:
        yield PatientAnswer(
            group_control_number=group.control,
            sender_id=get_element(interchange.header, 6).strip(),
            reference=view.heading.reference if view.heading else "",
            source=levels.source,
            receiver=levels.receiver,
            subscriber=levels.subscriber,
            dependent=levels.dependent,
            envelope_errors=errors,
            transaction_refusal_count=patient_levels.count_transaction_refusals(set, levels.at),
            make_content=partial(bytes, content)
            if alone
            else partial(patient_levels.extract_patient, set, levels.at),
        )


def _read_envelope_errors(set: tree.TransactionSet) -> Iterator[AnswerError]:
    """Yield the errors of the envelopes around a set."""
    group, interchange = set.group, set.group.interchange
    for part, location in ((interchange, "ISA"), (group, "GS"), (set, "ST")):
        for finding in part.findings:
            if finding.severity is Severity.ERROR and finding.rule.startswith(_ENVELOPE_RULES):
                yield AnswerError(
                    code=finding.syntax_error or finding.rule,
                    message=f"{finding.message}.",
                    location=location,
                )


_ENVELOPE_RULES = ("ISA-", "IEA-", "GS-", "GE-", "ST-", "SE-")


# ---- levels of an answer -----------------------------------------------------------------------


class _Levels(NamedTuple):
    source: benefits.InformationSourceView | None
    receiver: benefits.InformationReceiverView | None
    subscriber: benefits.MemberView | None
    dependent: benefits.MemberView | None


def _fill_levels(answer: PatientAnswer, inquiry: Inquiry | None) -> _Levels:
    """Return the levels of an answer, with those of the inquiry where the payer left them out."""
    source, receiver = answer.source, answer.receiver
    subscriber, dependent = answer.subscriber, answer.dependent
    if inquiry is not None:
        source = source or benefits.InformationSourceView(party=_party(inquiry.payer, "PI"))
        receiver = receiver or benefits.InformationReceiverView(party=_party(inquiry.payee, "XX"))
        # A payer may reject the subscriber before it looks for the dependent.
        if inquiry.dependent and not subscriber:
            dependent = dependent or benefits.MemberView(party=_person(inquiry.dependent))
        asked = _person(inquiry.subscriber, inquiry.member_id)
        subscriber = subscriber or benefits.MemberView(party=asked)
    return _Levels(source, receiver, subscriber, dependent)


def _strip_source(
    source: benefits.InformationSourceView, transaction_refusals: int
) -> benefits.InformationSourceView:
    return replace(source, receivers=(), refusals=source.refusals[transaction_refusals:])


def _strip_member(member: benefits.MemberView) -> benefits.MemberView:
    """Return a member without dependents, and with benefits that stood outside their loop among the others."""
    misplaced, rest = _misplaced_benefits(member.other)
    return replace(
        member, dependents=(), benefits=(*member.benefits, *misplaced), other=tuple(rest)
    )


def _misplaced_benefits(
    segments: Iterable[tree.Segment],
) -> tuple[list[benefits.BenefitView], list[tree.Segment]]:
    """Return benefits outside their loop, each with the segments after it, and the other segments."""
    misplaced: list[list[tree.Segment]] = []
    rest: list[tree.Segment] = []
    for segment in segments:
        if segment[0] == "EB":
            misplaced.append([segment])
        elif misplaced and segment[0] != "MPI":
            misplaced[-1].append(segment)
        else:
            rest.append(segment)
    return [benefits.BENEFIT.build(one) for one in misplaced], rest


def _party(party: InquiryParty, id_qualifier: str) -> shared_types.PartyView:
    return shared_types.PartyView(
        role=party.role,
        kind=party.entity_type,
        name=party.name,
        first=party.first,
        id_qualifier=id_qualifier,
        id=party.id,
    )


def _person(person: InquiryPerson, member_id: str = "") -> shared_types.PartyView:
    return shared_types.PartyView(
        kind=PERSON,
        name=person.last,
        first=person.first,
        birth=person.birth,
        sex=person.sex,
        id_qualifier="MI" if member_id else "",
        id=member_id,
    )
