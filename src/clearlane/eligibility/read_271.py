"""Read a payer's response to a 270: answers patient by patient, or a refusal of the file.

    file = read(content)
    for answer in file.answers:                   # one patient each
        trace_number(answer)                      # our trace number, to find the inquiry by
        match_answer(answer, inquiry, trace)      # MATCHED, WRONG_PATIENT or WRONG_PAYER
        build_response(answer, inquiry, ...)      # the element of ``Responses``
    for refusal in file.refusals:                 # TA1 or 999 instead of a 271
        build_refusal(refusal, inquiry)           # the element of ``ErrorResponses``
        refusal.status                            # the element of ``InterchangeStatuses``

Each answer has one patient and the levels above it. A 999 or TA1 that accepts is ignored. Content that is not X12
has neither answers nor refusals.

Knows 271s, 999s and TA1s; knows no connection, no store and no clock.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from clearlane.eligibility import (
    field_mapping,
    patient_levels,
    response,
    response_builder,
    services,
)
from clearlane.eligibility import refusals as refusals_of
from clearlane.eligibility.field_mapping import Fields
from clearlane.eligibility.inbound import AnswerMatch, FileRefusal, PatientAnswer, ResponseFile
from clearlane.eligibility.matching import match_answer, may_be_resent, trace_number
from clearlane.eligibility.model import ORIGINATOR, Inquiry, InquiryParty, InquiryPerson
from clearlane.eligibility.wire_struct import format_wire_day
from clearlane.kernel.finding import Severity
from clearlane.x12 import grammar, guides, reader, tree, views
from clearlane.x12.tree import get_element
from clearlane.x12.views import benefits

__all__ = [
    "AnswerMatch",
    "FileRefusal",
    "PatientAnswer",
    "ResponseFile",
    "build_connection_error",
    "build_refusal",
    "build_response",
    "caller_trace",
    "format_timestamp",
    "match_answer",
    "may_be_resent",
    "read",
    "trace_number",
]  # fmt: skip


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


def build_response(
    answer: PatientAnswer,
    inquiry: Inquiry | None,
    *,
    document_id: str,
    created: datetime,
    trace: str = "",
    with_x12: bool = False,
) -> response.BenefitResponseJson:
    """Return the element of ``Responses`` for a patient.

    Levels that the payer left out are filled from the inquiry, so that the caller always finds its own trace number
    at the patient.
    """
    payers: tuple[response.PayerJson, ...] = ()
    if answer.source is not None or inquiry is not None:
        payers = (_payer(answer, inquiry, trace),)
    return response.BenefitResponseJson(
        GroupControlNumber=answer.group_control_number or None,
        TradingPartnerId=answer.sender_id or None,
        Payers=payers,
        EnvelopeErrors=_envelope_errors(answer, inquiry),
        X12Document=answer.content.decode("latin-1") if with_x12 else None,
        DocumentId=document_id,
        CreateDate=format_timestamp(created),
        AdditionalInformation=response_builder.unmapped_information(answer.other),
    )


def build_refusal(
    refusal: FileRefusal, inquiry: Inquiry | None, *, with_x12: bool = False
) -> response.ErrorResponseJson:
    """Return the element of ``ErrorResponses`` for an inquiry whose file was rejected."""
    return response.ErrorResponseJson(
        Type="TA1" if refusal.kind == "TA1" else "999",
        PayeeTraceNumber=caller_trace(inquiry),
        Errors=refusal.errors,
        X12Document=refusal.content.decode("latin-1") if with_x12 else None,
    )


def build_connection_error(
    inquiry: Inquiry | None, code: str, message: str
) -> response.ErrorResponseJson:
    """Return the element of ``ErrorResponses`` for an inquiry that did not reach its payer."""
    error = response.ErrorJson(
        Code=code, Message=message, Location=inquiry.payer_path if inquiry else None
    )
    return response.ErrorResponseJson(
        Type="Connection", PayeeTraceNumber=caller_trace(inquiry), Errors=(error,)
    )


def caller_trace(inquiry: Inquiry | None) -> response.TraceJson | None:
    """Return the caller's trace number as the caller wrote it."""
    if inquiry is None or inquiry.trace is None:
        return None
    trace = inquiry.trace
    return response.TraceJson(OriginatorID=trace.originator or None, Number=trace.number or None)


def format_timestamp(time: datetime) -> str:
    """Return a time in the format of the response: ISO 8601, UTC."""
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z"


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
    for nth, levels in enumerate(patients):
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
            other=view.other if nth == 0 else (),
            make_content=partial(bytes, content)
            if alone
            else partial(patient_levels.extract_patient, set, levels.at),
        )


def _read_envelope_errors(set: tree.TransactionSet) -> Iterator[response.ErrorJson]:
    """Yield the errors of the envelopes around a set."""
    group, interchange = set.group, set.group.interchange
    for part, location in ((interchange, "ISA"), (group, "GS"), (set, "ST")):
        for finding in part.findings:
            if finding.severity is Severity.ERROR and finding.rule.startswith(_ENVELOPE_RULES):
                yield response.ErrorJson(
                    Code=finding.syntax_error or finding.rule,
                    Message=f"{finding.message}.",
                    Location=location,
                )


def _envelope_errors(
    answer: PatientAnswer, inquiry: Inquiry | None
) -> tuple[response.ErrorJson, ...] | None:
    """Return errors of the envelopes, and refusals of the whole transaction (AAA in loop 2000A)."""
    refusals = answer.source.refusals[: answer.transaction_refusal_count] if answer.source else ()
    errors = field_mapping.map_refusals(refusals, inquiry.payer_path if inquiry else "2000A", {})
    return (*answer.envelope_errors, *(errors or ())) or None


_ENVELOPE_RULES = ("ISA-", "IEA-", "GS-", "GE-", "ST-", "SE-")


def _payer(answer: PatientAnswer, inquiry: Inquiry | None, trace: str) -> response.PayerJson:
    location = inquiry.payer_path if inquiry else "2100A"
    payees: tuple[response.PayeeJson, ...] = ()
    if answer.receiver is not None or inquiry is not None:
        payees = (_payee(answer, inquiry, trace),)
    if answer.source is None:
        assert inquiry is not None, "the caller has checked"
        return response.PayerJson(
            **_party_fields(inquiry.payer, "payer_roles"), PayerId=inquiry.payer.id, Payees=payees
        )
    own = replace(
        answer.source, refusals=answer.source.refusals[answer.transaction_refusal_count :]
    )
    return response_builder.build_payer(own, payees, location)


def _payee(answer: PatientAnswer, inquiry: Inquiry | None, trace: str) -> response.PayeeJson:
    location = inquiry.payee_path if inquiry else "2100B"
    subscribers: tuple[response.SubscriberJson, ...] = ()
    if answer.subscriber is not None or inquiry is not None:
        subscribers = (_subscriber(answer, inquiry, trace),)
    if answer.receiver is None:
        assert inquiry is not None, "the caller has checked"
        return response.PayeeJson(
            **_party_fields(inquiry.payee, "payee_roles"),
            NationalProviderId=inquiry.payee.id,
            Subscribers=subscribers,
        )
    return response_builder.build_payee(answer.receiver, subscribers, location)


def _subscriber(
    answer: PatientAnswer, inquiry: Inquiry | None, trace: str
) -> response.SubscriberJson:
    location = inquiry.subscriber_path if inquiry else "2100C"
    dependents: tuple[response.DependentJson, ...] = ()
    if answer.dependent is not None:
        path = inquiry.path if inquiry and inquiry.dependent else "2100D"
        dependents = (
            response_builder.build_dependent(answer.dependent, path, _known_traces(inquiry, trace)),
        )
    elif inquiry is not None and inquiry.dependent and not answer.subscriber:
        traces = _known_traces(inquiry, trace)
        dependents = (
            response.DependentJson(**_person_fields(inquiry.dependent), **traces, IsInsured=False),
        )
    # The trace numbers are listed once, at the patient.
    traces = {} if dependents else _known_traces(inquiry, trace)
    if answer.subscriber is None:
        assert inquiry is not None, "the caller has checked"
        return response.SubscriberJson(
            **_person_fields(inquiry.subscriber),
            **traces,
            IsInsured=True,
            MemberId=inquiry.member_id,
            Dependents=dependents or None,
        )
    return response_builder.build_subscriber(answer.subscriber, dependents, location, traces)


def _known_traces(inquiry: Inquiry | None, trace: str) -> Fields:
    """Return the trace numbers that are known without the file."""
    found: Fields = {}
    if trace:
        found["ClearinghouseTraceNumber"] = response.TraceJson(
            OriginatorID=ORIGINATOR, Number=trace
        )
    payee_trace = caller_trace(inquiry)
    if payee_trace is not None:
        found["PayeeTraceNumber"] = payee_trace
    return found


def _party_fields(party: InquiryParty, roles: str) -> Fields:
    return {
        "Type": services.name(roles, party.role),
        "EntityType": services.name("entity_types", party.entity_type),
        "CommonName": party.name,
        "FirstName": party.first or None,
    }


def _person_fields(person: InquiryPerson) -> Fields:
    return {
        "EntityType": "Individual",
        "CommonName": person.last or None,
        "FirstName": person.first or None,
        "BirthDate": format_wire_day(person.birth) if person.birth else None,
        "Gender": services.name("genders", person.sex) or None,
    }
