"""What a 271 says, level by level, as the elements of the response.

Codes become the interface's words; a code that no list knows stays as it is.

Knows the values of the 271 view and the structures of the response; knows no bytes and no request.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import UnsetType

from clearlane.eligibility import field_mapping, response, response_parties, services
from clearlane.eligibility.field_mapping import Extra, Fields
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
from clearlane.eligibility.response import Information
from clearlane.eligibility.response_benefits import benefit
from clearlane.eligibility.wire_struct import stamp
from clearlane.x12.tree import Segment, element
from clearlane.x12.views import benefits
from clearlane.x12.views import shared_types as view_parts
from clearlane.x12.views.binding import day

UPDATE = ("001", "25")
"""INS03 and INS04 of a person whose identifying data the payer corrected."""


def payer(
    source: benefits.Source, payees: Sequence[response.Payee], location: str = "2100A"
) -> response.Payer:
    """2000A and 2100A."""
    extra: Extra = []
    found = response_parties.named(source.party, "payer_roles", PAYER_IDS, extra)
    found["Contacts"] = response_parties.contacts(source.party) or None
    response_parties.rest(source.party, extra, "contacts")
    field_mapping.unread(source.other, extra)
    return response.Payer(
        **found,
        Payees=tuple(payees),
        Errors=field_mapping.troubles(source.refusals, location, PAYER_FAULTS),
        AdditionalInformation=field_mapping.kept(extra),
    )


def payee(
    receiver: benefits.Receiver,
    subscribers: Sequence[response.Subscriber],
    location: str = "2100B",
) -> response.Payee:
    """2000B and 2100B."""
    extra: Extra = []
    party = receiver.party
    found = response_parties.named(party, "payee_roles", PAYEE_IDS, extra)
    if party is not None:
        field_mapping.references(PAYEE_REFERENCES, party.references, found, extra, LICENCE_STATE)
        found["PhysicalAddress"] = response_parties.address(party, extra)
        response_parties.specialty(
            party, found, extra, "ProviderRole", "ReceivingProviderTaxonomyCode"
        )
    response_parties.rest(party, extra)
    field_mapping.unread(receiver.other, extra)
    return response.Payee(
        **found,
        Subscribers=tuple(subscribers),
        Errors=field_mapping.troubles(receiver.refusals, location, PAYEE_FAULTS),
        AdditionalInformation=field_mapping.kept(extra),
    )


def subscriber(
    member: benefits.Member,
    dependents: Sequence[response.Dependent],
    location: str = "2100C",
    traces: Mapping[str, response.Trace] | None = None,
) -> response.Subscriber:
    """2000C, 2100C and 2110C. ``traces`` are told instead of those of the file."""
    found = _person(member, location, SUBSCRIBER_FAULTS, dict(traces or {}), insured=True)
    related = member.standing.relationship if member.standing else ""
    if related not in {"", "18"}:
        found["AdditionalInformation"] = (
            *(found["AdditionalInformation"] or ()),
            Information(Qualifier="INS:02", Code=related),
        )
    return response.Subscriber(**found, Dependents=tuple(dependents) or None)


def dependent(
    member: benefits.Member,
    location: str = "2100D",
    traces: Mapping[str, response.Trace] | None = None,
) -> response.Dependent:
    """2000D, 2100D and 2110D."""
    found = _person(member, location, DEPENDENT_FAULTS, dict(traces or {}), insured=False)
    related = member.standing.relationship if member.standing else ""
    return response.Dependent(**found, Relationship=services.name("relationships", related) or None)


def leftover(segments: Iterable[Segment]) -> tuple[Information, ...] | UnsetType:
    """Segments that belong to no level."""
    extra: Extra = []
    field_mapping.unread(segments, extra)
    return field_mapping.kept(extra)


def _person(
    member: benefits.Member,
    location: str,
    faults: Mapping[str, str],
    traces: dict[str, response.Trace],
    *,
    insured: bool,
) -> Fields:
    """What subscribers and dependents have in common."""
    extra: Extra = []
    party = member.party
    found = response_parties.named(party, "", PERSON_IDS, extra)
    found.pop("Type", None)
    if party is not None:
        field_mapping.references(PERSON_REFERENCES, party.references, found, extra, PLAN_NAME)
        found["PhysicalAddress"] = response_parties.address(party, extra)
        found["BirthDate"] = stamp(party.birth) if party.birth else None
        found["Gender"] = services.name("genders", party.sex) or None
        response_parties.specialty(party, found, extra, "TaxonomyRole", "TaxonomyCode")
    response_parties.rest(party, extra, "birth", "sex")
    field_mapping.dates(PERSON_DATES, member.dates, found, extra)
    _traces(member.traces, traces, extra)
    _standing(member.standing, found, extra, insured=insured)
    for diagnosis in member.diagnoses:
        extra.append(Information(Qualifier=f"HI:{diagnosis.qualifier}", Code=diagnosis.code))
    military = next((one for one in member.other if one[0] == "MPI"), None)
    stray, unread = _stray_benefits([one for one in member.other if one is not military])
    field_mapping.unread(unread, extra)
    return {
        **found,
        **traces,
        "Benefits": tuple(benefit(one, location) for one in (*member.benefits, *stray)),
        "MilitaryService": _military(military, extra) if military else None,
        "Errors": field_mapping.troubles(member.refusals, location, faults),
        "AdditionalInformation": field_mapping.kept(extra),
    }


def _stray_benefits(segments: Sequence[Segment]) -> tuple[list[benefits.Benefit], list[Segment]]:
    """Benefits that stand where the guide has no place for them, each with what follows it."""
    stray: list[list[Segment]] = []
    unread: list[Segment] = []
    for segment in segments:
        if segment[0] == "EB":
            stray.append([segment])
        elif stray:
            stray[-1].append(segment)
        else:
            unread.append(segment)
    return [benefits.BENEFIT.of(one) for one in stray], unread


def _traces(
    told: Iterable[view_parts.Trace], traces: dict[str, response.Trace], extra: Extra
) -> None:
    """Which trace number is whose: TRN01 of 1 is the payer's own, 2 an echo of ours or of the caller's."""
    for trace in told:
        slot = trace_slot(trace)
        known = traces.get(slot)
        if known is None:
            traces[slot] = response.Trace(
                OriginatorID=trace.originator or None,
                OriginatorSecondaryID=trace.further or None,
                Number=trace.number or None,
            )
        elif (known.Number or "").upper() != trace.number.upper():
            text = " ".join(filter(None, (trace.originator, trace.further)))
            extra.append(
                Information(Qualifier=f"TRN:{trace.kind}", Code=trace.number, Text=text or None)
            )


def trace_slot(trace: view_parts.Trace) -> str:
    """The field of a trace number."""
    if trace.kind == "1":
        return "PayerTraceNumber"
    return "ClearinghouseTraceNumber" if trace.originator == ORIGINATOR else "PayeeTraceNumber"


def _standing(
    standing: benefits.Standing | None, found: Fields, extra: Extra, *, insured: bool
) -> None:
    found["IsInsured"] = insured
    found["PrimaryInformationChanged"] = False
    if standing is None:
        return
    if standing.subscriber:
        found["IsInsured"] = standing.subscriber == "Y"
    change = (standing.maintenance, standing.maintenance_reason)
    found["PrimaryInformationChanged"] = change == UPDATE
    if any(change) and change != UPDATE:
        extra.append(
            Information(Qualifier="INS:03", Code=change[0] or None, Text=change[1] or None)
        )
    found["MultipleBirthSequenceNumber"] = standing.birth_sequence or None
    for name, at in (("student", "09"), ("handicapped", "10")):
        if value := getattr(standing, name):
            extra.append(Information(Qualifier=f"INS:{at}", Code=value))


def _military(segment: Segment, extra: Extra) -> response.Military:
    """An MPI: three codes, a description, a rank, and a day or a period."""
    start, _, end = element(segment, 7).partition("-")
    first, last = day(start), day(end)
    if element(segment, 7) and (first is None or (end and last is None)):
        extra.append(Information(Qualifier="MPI:07", Text=element(segment, 7)))
    if len(segment) > 8:
        field_mapping.unread([segment], extra)
    return response.Military(
        InformationStatus=services.name("information_statuses", element(segment, 1)) or None,
        EmploymentStatus=services.name("military_statuses", element(segment, 2)) or None,
        ServiceAffiliation=services.name("service_affiliations", element(segment, 3)) or None,
        Description=element(segment, 4) or None,
        Rank=element(segment, 5) or None,
        Start=stamp(first) if first else None,
        End=stamp(last) if last else None,
    )
