"""Build the elements of the response from a payer's answer, level by level.

Codes become the names of Vendor API V3; a code that no list has stays as it is.

Knows the stored answer and the JSON objects of the response; knows no bytes and no request.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clearlane.api.v3.benefits import benefit_names, field_mapping, json_types, response_parties
from clearlane.api.v3.benefits.field_mapping import Fields
from clearlane.api.v3.benefits.json_types import format_day_text
from clearlane.api.v3.benefits.qualifiers import (
    DEPENDENT_FAULTS,
    LICENSE_STATE,
    PAYEE_FAULTS,
    PAYEE_IDS,
    PAYEE_REFERENCES,
    PAYER_FAULTS,
    PAYER_IDS,
    PERSON_DATES,
    PERSON_IDS,
    PERSON_REFERENCES,
    PLAN_NAME,
    SUBSCRIBER_FAULTS,
)
from clearlane.api.v3.benefits.response_benefits import map_benefit
from clearlane.eligibility.benefit_answer import BenefitAnswer
from clearlane.eligibility.model import ORIGINATOR
from clearlane.inquiry.inquiry_result import (
    AnswerError,
    InquiryError,
    InquiryTrace,
    InterchangeStatus,
)
from clearlane.x12.reader.lexer import decode_part
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.views import benefits, shared_types
from clearlane.x12.views.binding import parse_day

UPDATE = ("001", "25")
"""INS03 and INS04 of a member whose identifying data the payer corrected."""


class Locations(NamedTuple):
    """Where each level is: the paths in the request, else the loops of the 271."""

    payer: str
    payee: str
    subscriber: str
    dependent: str


LOOPS = Locations("2100A", "2100B", "2100C", "2100D")


def build_response(answer: BenefitAnswer, x12: bytes = b"") -> json_types.BenefitResponseJson:
    """Return the element of ``Responses`` for an answer; ``x12`` is shown in it if given."""
    locations = request_locations(answer.path)
    whole = locations.payer if answer.path else "2000A"
    refusals = field_mapping.map_refusals(answer.transaction_refusals, whole, {})
    errors = (*map(build_error, answer.envelope_errors), *(refusals or ()))
    return json_types.BenefitResponseJson(
        GroupControlNumber=answer.group_control_number or None,
        TradingPartnerId=answer.sender_id or None,
        Payers=(build_payer(answer.source, answer, locations),) if answer.source else (),
        EnvelopeErrors=errors or None,
        X12Document=decode_part(x12) or None,
        DocumentId=answer.document_id,
        CreateDate=json_types.format_timestamp(answer.created_at),
    )


def build_error_response(error: InquiryError, x12: bytes = b"") -> json_types.ErrorResponseJson:
    """Return the element of ``ErrorResponses`` for an inquiry that got no 271."""
    location = request_locations(error.path).payer if error.path else ""
    return json_types.ErrorResponseJson(
        Type=error.kind,
        PayeeTraceNumber=_caller_trace(error.caller_trace),
        Errors=tuple(build_error(one, location) for one in error.errors),
        X12Document=decode_part(x12) or None,
    )


def build_interchange_status(status: InterchangeStatus) -> json_types.InterchangeStatusJson:
    """Return the element of ``InterchangeStatuses`` for an acknowledgement."""
    return json_types.InterchangeStatusJson(
        InterchangeControlNumber=status.control_number or None,
        Status=benefit_names.INTERCHANGE_STATUSES.get(status.verdict, "Rejected"),
        Code=status.code or None,
        Message=status.message or None,
    )


def build_error(error: AnswerError, location: str = "") -> json_types.ErrorJson:
    """Return the element of ``Errors``; ``location`` is that of an error without one."""
    return json_types.ErrorJson(
        Code=error.code or None,
        Message=error.message or None,
        Location=error.location or location or None,
    )


def request_locations(path: str) -> Locations:
    """Return the path of each level above a patient; the loops of the 271 if the path is empty."""
    if not path:
        return LOOPS
    subscriber = path.partition(".Dependents[")[0]
    return Locations(
        path.partition(".Payees[")[0],
        path.partition(".Subscribers[")[0],
        subscriber,
        path if path != subscriber else LOOPS.dependent,
    )


def build_payer(
    source: benefits.InformationSourceView, answer: BenefitAnswer, locations: Locations
) -> json_types.PayerJson:
    """Return the element of ``Payers`` for loops 2000A and 2100A, with the levels below."""
    party = source.party
    return json_types.PayerJson(
        **response_parties.party_fields(party, PAYER_IDS),
        **response_parties.full_name(party),
        Type=benefit_names.name("payer_roles", party.role) or None if party else None,
        Contacts=response_parties.map_contacts(party) or None,
        Payees=(build_payee(answer.receiver, answer, locations),) if answer.receiver else (),
        Errors=field_mapping.map_refusals(source.refusals, locations.payer, PAYER_FAULTS),
    )


def build_payee(
    receiver: benefits.InformationReceiverView, answer: BenefitAnswer, locations: Locations
) -> json_types.PayeeJson:
    """Return the element of ``Payees`` for loops 2000B and 2100B, with the levels below."""
    party, subscriber = receiver.party, answer.subscriber
    found = response_parties.party_fields(party, PAYEE_IDS) | response_parties.full_name(party)
    if party is not None:
        found["Type"] = benefit_names.name("payee_roles", party.role) or None
        field_mapping.map_references(PAYEE_REFERENCES, party.references, found, LICENSE_STATE)
        found["PhysicalAddress"] = response_parties.map_address(party)
        found |= response_parties.map_specialty(
            party, "ProviderRole", "ReceivingProviderTaxonomyCode"
        )
    return json_types.PayeeJson(
        **found,
        Subscribers=(build_subscriber(subscriber, answer, locations),) if subscriber else (),
        Errors=field_mapping.map_refusals(receiver.refusals, locations.payee, PAYEE_FAULTS),
    )


def build_subscriber(
    member: benefits.MemberView, answer: BenefitAnswer, locations: Locations
) -> json_types.SubscriberJson:
    """Return the element of ``Subscribers`` for loops 2000C, 2100C and 2110C, with the dependent."""
    dependent = answer.dependent
    # The trace numbers that we sent are listed once, at the patient.
    traces = {} if dependent else _known_traces(answer)
    return json_types.SubscriberJson(
        **_person(member, locations.subscriber, SUBSCRIBER_FAULTS, traces, insured=True),
        Dependents=(build_dependent(dependent, answer, locations),) if dependent else None,
    )


def build_dependent(
    member: benefits.MemberView, answer: BenefitAnswer, locations: Locations
) -> json_types.DependentJson:
    """Return the element of ``Dependents`` for loops 2000D, 2100D and 2110D."""
    traces = _known_traces(answer)
    found = _person(member, locations.dependent, DEPENDENT_FAULTS, traces, insured=False)
    relationship = member.insured_status.relationship if member.insured_status else ""
    return json_types.DependentJson(
        **found, Relationship=benefit_names.name("relationships", relationship) or None
    )


def _known_traces(answer: BenefitAnswer) -> dict[str, json_types.TraceJson]:
    """Return the trace numbers that are known without the file, which take precedence over those in it."""
    found: dict[str, json_types.TraceJson] = {}
    if answer.trace_number:
        found["ClearinghouseTraceNumber"] = json_types.TraceJson(
            OriginatorID=ORIGINATOR, Number=answer.trace_number
        )
    payee_trace = _caller_trace(answer.caller_trace)
    if payee_trace is not None:
        found["PayeeTraceNumber"] = payee_trace
    return found


def _caller_trace(trace: InquiryTrace | None) -> json_types.TraceJson | None:
    """Return the caller's trace number as the caller wrote it."""
    if trace is None:
        return None
    return json_types.TraceJson(OriginatorID=trace.originator or None, Number=trace.number or None)


def _person(
    member: benefits.MemberView,
    location: str,
    fields_by_reason: Mapping[str, str],
    traces: dict[str, json_types.TraceJson],
    *,
    insured: bool,
) -> Fields:
    """Return the fields that subscribers and dependents share."""
    party = member.party
    found = response_parties.party_fields(party, PERSON_IDS) | response_parties.full_name(party)
    if party is not None:
        field_mapping.map_references(PERSON_REFERENCES, party.references, found, PLAN_NAME)
        found["PhysicalAddress"] = response_parties.map_address(party)
        found["BirthDate"] = format_day_text(party.birth) if party.birth else None
        found["Gender"] = benefit_names.name("genders", party.sex) or None
        found |= response_parties.map_specialty(party, "TaxonomyRole", "TaxonomyCode")
    field_mapping.map_dates(PERSON_DATES, member.dates, found)
    military = next((one for one in member.other if one[0] == "MPI"), None)
    return {
        **found,
        **_map_traces(member.traces),
        **traces,
        **_map_member_status(member.insured_status, insured=insured),
        "Benefits": tuple(map_benefit(one, location) for one in member.benefits),
        "MilitaryService": _military(military) if military else None,
        "Errors": field_mapping.map_refusals(member.refusals, location, fields_by_reason),
    }


def _map_traces(received: Iterable[shared_types.TraceView]) -> dict[str, json_types.TraceJson]:
    """Map TRN segments; the first of a field counts."""
    found: dict[str, json_types.TraceJson] = {}
    for trace in received:
        made = json_types.TraceJson(
            OriginatorID=trace.originator or None,
            OriginatorSecondaryID=trace.further or None,
            Number=trace.number or None,
        )
        found.setdefault(_trace_field(trace), made)
    return found


def _trace_field(trace: shared_types.TraceView) -> str:
    """Return the field of a trace number."""
    # TRN01: 1 is the payer's own number, 2 is one from the 270, Clearlane's or the caller's.
    if trace.kind == "1":
        return "PayerTraceNumber"
    return "ClearinghouseTraceNumber" if trace.originator == ORIGINATOR else "PayeeTraceNumber"


def _map_member_status(status: benefits.InsuredStatusView | None, *, insured: bool) -> Fields:
    """Return the fields of an INS; ``insured`` is what holds without one."""
    if status is None:
        return {"IsInsured": insured, "PrimaryInformationChanged": False}
    return {
        "IsInsured": status.subscriber == "Y" if status.subscriber else insured,
        "PrimaryInformationChanged": (status.maintenance, status.maintenance_reason) == UPDATE,
        "MultipleBirthSequenceNumber": status.birth_sequence or None,
    }


def _military(segment: Segment) -> json_types.MilitaryServiceJson:
    """Return the military service of an MPI: three codes, description, rank, and a day or a period."""
    start, _, end = get_element(segment, 7).partition("-")
    first, last = parse_day(start), parse_day(end)
    name = benefit_names.name
    return json_types.MilitaryServiceJson(
        InformationStatus=name("information_statuses", get_element(segment, 1)) or None,
        EmploymentStatus=name("military_statuses", get_element(segment, 2)) or None,
        ServiceAffiliation=name("service_affiliations", get_element(segment, 3)) or None,
        Description=get_element(segment, 4) or None,
        Rank=get_element(segment, 5) or None,
        Start=format_day_text(first) if first else None,
        End=format_day_text(last) if last else None,
    )
