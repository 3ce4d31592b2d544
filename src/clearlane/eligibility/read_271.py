"""Read a payer's response to a 270: answers patient by patient, or a refusal of the file.

    file = read(content)
    for answer in file.answers:                   # one patient each
        trace_number(answer)                      # our trace number, to find the inquiry by
        match_answer(answer, inquiry, trace)      # MATCHED, WRONG_PATIENT or WRONG_PAYER
        build_answer(answer, inquiry, ...)        # the answer as it is stored

Each answer has one patient and the levels above it. A TA1 or 999 instead of a 271 is read by ``inquiry.refusals``. Knows
271s; knows no connection, no store and no clock.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from clearlane.eligibility import patient_levels
from clearlane.eligibility.benefit_answer import ANSWER, BenefitAnswer
from clearlane.eligibility.inbound import PatientAnswer
from clearlane.eligibility.matching import match_answer, may_be_resent, trace_number
from clearlane.eligibility.model import Inquiry, InquiryParty, InquiryPerson
from clearlane.inquiry.inquiry_result import AnswerError
from clearlane.inquiry.response_file import ResponseFile, read_response
from clearlane.kernel.finding import Severity
from clearlane.x12 import tree, views
from clearlane.x12.tree import get_element
from clearlane.x12.views import benefits, shared_types

__all__ = ["build_answer", "match_answer", "may_be_resent", "read", "trace_number"]

PERSON = "1"
"""NM102 of a person."""


def read(content: bytes) -> ResponseFile[PatientAnswer]:
    """Return the answers and refusals of a file."""
    return read_response(content, ANSWER, _answers)


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


def _fill_levels(answer: PatientAnswer, inquiry: Inquiry | None) -> PatientAnswer:
    """Return an answer with the levels of the inquiry that the payer left out."""
    if inquiry is None:
        return answer
    asked = _person(inquiry.subscriber, inquiry.member_id)
    dependent = answer.dependent
    # A payer may reject the subscriber before it looks for the dependent.
    if inquiry.dependent and not answer.subscriber:
        dependent = dependent or benefits.MemberView(party=_person(inquiry.dependent))
    return dataclasses.replace(
        answer,
        source=answer.source or benefits.InformationSourceView(party=_party(inquiry.payer, "PI")),
        receiver=answer.receiver
        or benefits.InformationReceiverView(party=_party(inquiry.payee, "XX")),
        subscriber=answer.subscriber or benefits.MemberView(party=asked),
        dependent=dependent,
    )


def _strip_source(
    source: benefits.InformationSourceView, transaction_refusals: int
) -> benefits.InformationSourceView:
    return replace(source, receivers=(), refusals=source.refusals[transaction_refusals:])


def _strip_member(member: benefits.MemberView) -> benefits.MemberView:
    """Return a member without dependents, with the benefits that were outside their loop added to the others."""
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
