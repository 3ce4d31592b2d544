"""Map a benefit of a 271 (loop 2110) to an element of ``Benefits``.

Knows the benefit loops; knows no person.
"""

from collections.abc import Iterable
from decimal import Decimal

from clearlane.api.v3.benefits import benefit_names, field_mapping, json_types, response_parties
from clearlane.api.v3.benefits.field_mapping import Fields, Unmapped
from clearlane.api.v3.benefits.json_types import InformationJson
from clearlane.api.v3.benefits.qualifiers import BENEFIT_DATES, BENEFIT_REFERENCES, PLAN_NAME
from clearlane.eligibility.benefit_answer import patient_share
from clearlane.x12 import codes
from clearlane.x12.views import benefits, shared_types

PLACE_OF_SERVICE = "ZZ"


def map_benefit(benefit: benefits.BenefitView, location: str) -> json_types.BenefitJson:
    """Return the element of ``Benefits`` for one EB loop."""
    unmapped: Unmapped = [
        info for condition in benefit.conditions for info in _condition(condition)
    ]
    found: Fields = {}
    unmapped += field_mapping.map_references(
        BENEFIT_REFERENCES, benefit.references, found, PLAN_NAME
    )
    unmapped += field_mapping.map_dates(BENEFIT_DATES, benefit.dates, found)
    for pointer in benefit.pointers:
        unmapped.append(InformationJson(Qualifier="EB:14", Code=pointer))
    schedules = tuple(_schedule(one, unmapped) for one in benefit.deliveries)
    procedure = _procedure(benefit.procedure, unmapped)
    amount = field_mapping.map_number(benefit.amount, "EB:07", unmapped)
    share = field_mapping.map_number(patient_share(benefit), "EB:08", unmapped)
    quantity = field_mapping.map_number(benefit.quantity, "EB:10", unmapped)
    unmapped += field_mapping.unmapped_segments(benefit.other)
    for party in benefit.parties:
        unmapped += response_parties.entity_information(party)
    place = next((one.code for one in benefit.conditions if one.code_list == PLACE_OF_SERVICE), "")
    return json_types.BenefitJson(
        **found,
        Type=_name("benefits", benefit.benefit),
        TypesOfService=tuple(
            benefit_names.name("service_types", one) for one in benefit.service_types
        ),
        LevelOfCoverage=_name("coverage_levels", benefit.level),
        PlaceOfService=codes.load("places_of_service").get(place, place) or None,
        TypeOfInsurance=_name("insurance_types", benefit.insurance),
        PlanCoverageDescription=benefit.plan or None,
        BenefitTimePeriod=_name("time_periods", benefit.period),
        BenefitAmount=amount,
        PatientResponsibilityPercentage=share,
        BenefitQuantity=_quantity(benefit, quantity),
        AuthenticationOrCertificationRequired=_name("answers", benefit.authorization),
        PlanInNetwork=_name("answers", benefit.in_network),
        Procedure=procedure,
        DeliverySchedules=schedules or None,
        Errors=field_mapping.map_refusals(benefit.refusals, location, {}),
        Messages=benefit.messages or None,
        AdditionalInformation=tuple(unmapped) or None,
        BenefitEntities=tuple(map(response_parties.map_entity, benefit.parties)) or None,
    )


def _name(list: str, code: str) -> str | None:
    return benefit_names.name(list, code) or None


def _quantity(
    benefit: benefits.BenefitView, amount: Decimal | None
) -> json_types.QuantityJson | None:
    if amount is None and not benefit.quantity_qualifier:
        return None
    unit = benefit_names.name("quantities", benefit.quantity_qualifier) or "Unknown"
    return json_types.QuantityJson(Unit=unit, Amount=amount)


def _procedure(
    procedure: shared_types.ProcedureView | None, unmapped: Unmapped
) -> json_types.ProcedureCodeJson | None:
    if procedure is None:
        return None
    for value, place in ((procedure.description, "EB:13-7"), (procedure.range_end, "EB:13-8")):
        if value:
            unmapped.append(InformationJson(Qualifier=place, Text=value))
    return json_types.ProcedureCodeJson(
        Qualifier=procedure.qualifier or None,
        Code=procedure.code or None,
        Modifiers=procedure.modifiers,
    )


def _schedule(
    delivery: benefits.ServiceDeliveryView, unmapped: Unmapped
) -> json_types.DeliveryScheduleJson:
    every = field_mapping.map_number(delivery.every, "HSD:04", unmapped)
    if delivery.unit or every is not None:
        text = None if every is None else f"{every:f}"
        unmapped.append(InformationJson(Qualifier="HSD:03", Code=delivery.unit or None, Text=text))
    if delivery.time:
        unmapped.append(InformationJson(Qualifier="HSD:08", Code=delivery.time))
    return json_types.DeliveryScheduleJson(
        Quantity=field_mapping.map_number(delivery.quantity, "HSD:02", unmapped),
        Unit=benefit_names.name("quantities", delivery.qualifier) or None,
        Period=benefit_names.name("time_periods", delivery.period) or None,
        PeriodCount=field_mapping.map_number(delivery.periods, "HSD:06", unmapped),
        Pattern=benefit_names.name("delivery_patterns", delivery.pattern) or None,
    )


def _condition(condition: benefits.BenefitConditionView) -> Iterable[InformationJson]:
    """Yield the information of an III segment. Its category (III03) and text (III04) are a separate pair."""
    if condition.code_list or condition.code or (condition.text and not condition.category):
        text = "" if condition.category else condition.text
        yield InformationJson(
            Qualifier=condition.code_list or None, Code=condition.code or None, Text=text or None
        )
    if condition.category:
        yield InformationJson(
            Qualifier="III:03", Code=condition.category, Text=condition.text or None
        )
    yield from field_mapping.unmapped_segments(condition.other)
