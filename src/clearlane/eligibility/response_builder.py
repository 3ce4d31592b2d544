"""Build the elements of the response from a 271, level by level.

Codes become the names of Vendor API V3; a code that no list has stays as it is.

Knows the values of the 271 view and the JSON objects of the response; knows no bytes and no request.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import UnsetType

from clearlane.eligibility import field_mapping, response, response_parties, services
from clearlane.eligibility.field_mapping import Fields, Unmapped
from clearlane.eligibility.model import ORIGINATOR
from clearlane.eligibility.qualifiers import (
    DEPENDENT_FAULTS,
    LICENCE_STATE,
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
from clearlane.eligibility.response import InformationJson
from clearlane.eligibility.response_benefits import map_benefit
from clearlane.eligibility.wire_struct import format_wire_day
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.views import benefits
from clearlane.x12.views import shared_types as view_parts
from clearlane.x12.views.binding import parse_day

UPDATE = ("001", "25")
"""INS03 and INS04 of a member whose identifying data the payer corrected."""


def build_payer(
    source: benefits.InformationSourceView,
    payees: Sequence[response.PayeeJson],
    location: str = "2100A",
) -> response.PayerJson:
    """Return the element of ``Payers`` for loops 2000A and 2100A."""
    unmapped: Unmapped = []
    found = response_parties.party_fields(source.party, "payer_roles", PAYER_IDS, unmapped)
    found["Contacts"] = response_parties.map_contacts(source.party) or None
    response_parties.add_unmapped_party(source.party, unmapped, "contacts")
    field_mapping.add_unmapped_segments(source.other, unmapped)
    return response.PayerJson(
        **found,
        Payees=tuple(payees),
        Errors=field_mapping.map_refusals(source.refusals, location, PAYER_FAULTS),
        AdditionalInformation=field_mapping.unmapped_or_unset(unmapped),
    )


def build_payee(
    receiver: benefits.InformationReceiverView,
    subscribers: Sequence[response.SubscriberJson],
    location: str = "2100B",
) -> response.PayeeJson:
    """Return the element of ``Payees`` for loops 2000B and 2100B."""
    unmapped: Unmapped = []
    party = receiver.party
    found = response_parties.party_fields(party, "payee_roles", PAYEE_IDS, unmapped)
    if party is not None:
        field_mapping.map_references(
            PAYEE_REFERENCES, party.references, found, unmapped, LICENCE_STATE
        )
        found["PhysicalAddress"] = response_parties.map_address(party, unmapped)
        response_parties.map_specialty(
            party, found, unmapped, "ProviderRole", "ReceivingProviderTaxonomyCode"
        )
    response_parties.add_unmapped_party(party, unmapped)
    field_mapping.add_unmapped_segments(receiver.other, unmapped)
    return response.PayeeJson(
        **found,
        Subscribers=tuple(subscribers),
        Errors=field_mapping.map_refusals(receiver.refusals, location, PAYEE_FAULTS),
        AdditionalInformation=field_mapping.unmapped_or_unset(unmapped),
    )


def build_subscriber(
    member: benefits.MemberView,
    dependents: Sequence[response.DependentJson],
    location: str = "2100C",
    traces: Mapping[str, response.TraceJson] | None = None,
) -> response.SubscriberJson:
    """Return the element of ``Subscribers`` for loops 2000C, 2100C and 2110C.

    ``traces`` take precedence over the trace numbers of the file.
    """
    found = _person(member, location, SUBSCRIBER_FAULTS, dict(traces or {}), insured=True)
    relationship = member.insured_status.relationship if member.insured_status else ""
    if relationship not in {"", "18"}:
        found["AdditionalInformation"] = (
            *(found["AdditionalInformation"] or ()),
            InformationJson(Qualifier="INS:02", Code=relationship),
        )
    return response.SubscriberJson(**found, Dependents=tuple(dependents) or None)


def build_dependent(
    member: benefits.MemberView,
    location: str = "2100D",
    traces: Mapping[str, response.TraceJson] | None = None,
) -> response.DependentJson:
    """Return the element of ``Dependents`` for loops 2000D, 2100D and 2110D."""
    found = _person(member, location, DEPENDENT_FAULTS, dict(traces or {}), insured=False)
    relationship = member.insured_status.relationship if member.insured_status else ""
    return response.DependentJson(
        **found, Relationship=services.name("relationships", relationship) or None
    )


def unmapped_information(segments: Iterable[Segment]) -> tuple[InformationJson, ...] | UnsetType:
    """Return the information for segments that belong to no level."""
    unmapped: Unmapped = []
    field_mapping.add_unmapped_segments(segments, unmapped)
    return field_mapping.unmapped_or_unset(unmapped)


def _person(
    member: benefits.MemberView,
    location: str,
    fields_by_reason: Mapping[str, str],
    traces: dict[str, response.TraceJson],
    *,
    insured: bool,
) -> Fields:
    """Return the fields that subscribers and dependents share."""
    unmapped: Unmapped = []
    party = member.party
    found = response_parties.party_fields(party, "", PERSON_IDS, unmapped)
    found.pop("Type", None)
    if party is not None:
        field_mapping.map_references(
            PERSON_REFERENCES, party.references, found, unmapped, PLAN_NAME
        )
        found["PhysicalAddress"] = response_parties.map_address(party, unmapped)
        found["BirthDate"] = format_wire_day(party.birth) if party.birth else None
        found["Gender"] = services.name("genders", party.sex) or None
        response_parties.map_specialty(party, found, unmapped, "TaxonomyRole", "TaxonomyCode")
    response_parties.add_unmapped_party(party, unmapped, "birth", "sex")
    field_mapping.map_dates(PERSON_DATES, member.dates, found, unmapped)
    _map_traces(member.traces, traces, unmapped)
    _map_member_status(member.insured_status, found, unmapped, insured=insured)
    for diagnosis in member.diagnoses:
        unmapped.append(InformationJson(Qualifier=f"HI:{diagnosis.qualifier}", Code=diagnosis.code))
    military = next((one for one in member.other if one[0] == "MPI"), None)
    misplaced, rest = _misplaced_benefits([one for one in member.other if one is not military])
    field_mapping.add_unmapped_segments(rest, unmapped)
    return {
        **found,
        **traces,
        "Benefits": tuple(map_benefit(one, location) for one in (*member.benefits, *misplaced)),
        "MilitaryService": _military(military, unmapped) if military else None,
        "Errors": field_mapping.map_refusals(member.refusals, location, fields_by_reason),
        "AdditionalInformation": field_mapping.unmapped_or_unset(unmapped),
    }


def _misplaced_benefits(
    segments: Sequence[Segment],
) -> tuple[list[benefits.BenefitView], list[Segment]]:
    """Return benefits outside their loop, each with the segments after it, and the other segments."""
    misplaced: list[list[Segment]] = []
    rest: list[Segment] = []
    for segment in segments:
        if segment[0] == "EB":
            misplaced.append([segment])
        elif misplaced:
            misplaced[-1].append(segment)
        else:
            rest.append(segment)
    return [benefits.BENEFIT.build(one) for one in misplaced], rest


def _map_traces(
    received: Iterable[view_parts.TraceView],
    traces: dict[str, response.TraceJson],
    unmapped: Unmapped,
) -> None:
    """Map TRN segments; one that differs from a known trace number of its field stays unmapped."""
    for trace in received:
        field = trace_field(trace)
        known = traces.get(field)
        if known is None:
            traces[field] = response.TraceJson(
                OriginatorID=trace.originator or None,
                OriginatorSecondaryID=trace.further or None,
                Number=trace.number or None,
            )
        elif (known.Number or "").upper() != trace.number.upper():
            text = " ".join(filter(None, (trace.originator, trace.further)))
            unmapped.append(
                InformationJson(Qualifier=f"TRN:{trace.kind}", Code=trace.number, Text=text or None)
            )


def trace_field(trace: view_parts.TraceView) -> str:
    """Return the field of a trace number."""
    # TRN01: 1 is the payer's own number, 2 is one from the 270, Clearlane's or the caller's.
    if trace.kind == "1":
        return "PayerTraceNumber"
    return "ClearinghouseTraceNumber" if trace.originator == ORIGINATOR else "PayeeTraceNumber"


def _map_member_status(
    status: benefits.InsuredStatusView | None, found: Fields, unmapped: Unmapped, *, insured: bool
) -> None:
    found["IsInsured"] = insured
    found["PrimaryInformationChanged"] = False
    if status is None:
        return
    if status.subscriber:
        found["IsInsured"] = status.subscriber == "Y"
    change = (status.maintenance, status.maintenance_reason)
    found["PrimaryInformationChanged"] = change == UPDATE
    if any(change) and change != UPDATE:
        unmapped.append(
            InformationJson(Qualifier="INS:03", Code=change[0] or None, Text=change[1] or None)
        )
    found["MultipleBirthSequenceNumber"] = status.birth_sequence or None
    for name, at in (("student", "09"), ("handicapped", "10")):
        if value := getattr(status, name):
            unmapped.append(InformationJson(Qualifier=f"INS:{at}", Code=value))


def _military(segment: Segment, unmapped: Unmapped) -> response.MilitaryServiceJson:
    """Return the military service of an MPI: three codes, description, rank, and a day or a period."""
    start, _, end = get_element(segment, 7).partition("-")
    first, last = parse_day(start), parse_day(end)
    if get_element(segment, 7) and (first is None or (end and last is None)):
        unmapped.append(InformationJson(Qualifier="MPI:07", Text=get_element(segment, 7)))
    if len(segment) > 8:
        field_mapping.add_unmapped_segments([segment], unmapped)
    return response.MilitaryServiceJson(
        InformationStatus=services.name("information_statuses", get_element(segment, 1)) or None,
        EmploymentStatus=services.name("military_statuses", get_element(segment, 2)) or None,
        ServiceAffiliation=services.name("service_affiliations", get_element(segment, 3)) or None,
        Description=get_element(segment, 4) or None,
        Rank=get_element(segment, 5) or None,
        Start=format_wire_day(first) if first else None,
        End=format_wire_day(last) if last else None,
    )
