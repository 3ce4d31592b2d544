"""A benefit of a 271 with everything that belongs to it, as an element of ``Benefits``.

Knows the benefit loops; knows no person.
"""

from collections.abc import Iterable
from decimal import Decimal

from clearlane.eligibility import field_mapping, response, response_parties, services
from clearlane.eligibility.field_mapping import Extra, Fields
from clearlane.eligibility.qualifiers import BENEFIT_DATES, BENEFIT_REFERENCES, PLAN_NAME
from clearlane.eligibility.response import Information
from clearlane.x12 import codes
from clearlane.x12.views import benefits, shared_types

PLACE_OF_SERVICE = "ZZ"


def benefit(told: benefits.Benefit, location: str) -> response.Benefit:
    """2110 with what belongs to it."""
    extra: Extra = [info for condition in told.conditions for info in _condition(condition)]
    found: Fields = {}
    field_mapping.references(BENEFIT_REFERENCES, told.references, found, extra, PLAN_NAME)
    field_mapping.dates(BENEFIT_DATES, told.dates, found, extra)
    for pointer in told.pointers:
        extra.append(Information(Qualifier="EB:14", Code=pointer))
    schedules = tuple(_schedule(one, extra) for one in told.deliveries)
    procedure = _procedure(told.procedure, extra)
    amount = field_mapping.number(told.amount, "EB:07", extra)
    fraction = field_mapping.number(told.fraction, "EB:08", extra)
    quantity = field_mapping.number(told.quantity, "EB:10", extra)
    field_mapping.unread(told.other, extra)
    place = next((one.code for one in told.conditions if one.code_list == PLACE_OF_SERVICE), "")
    return response.Benefit(
        **found,
        Type=services.name("benefits", told.benefit) or None,
        TypesOfService=tuple(services.name("service_types", one) for one in told.service_types),
        LevelOfCoverage=services.name("coverage_levels", told.level) or None,
        PlaceOfService=codes.load("places_of_service").get(place, place) or None,
        TypeOfInsurance=services.name("insurance_types", told.insurance) or None,
        PlanCoverageDescription=told.plan or None,
        BenefitTimePeriod=services.name("time_periods", told.period) or None,
        BenefitAmount=amount,
        # A share above one can only be meant per cent: 20 is told as 0.2.
        PatientResponsibilityPercentage=fraction / 100 if fraction and fraction > 1 else fraction,
        BenefitQuantity=_quantity(told, quantity),
        AuthenticationOrCertificationRequired=services.name("answers", told.authorisation) or None,
        PlanInNetwork=services.name("answers", told.in_network) or None,
        Procedure=procedure,
        DeliverySchedules=schedules or None,
        Errors=field_mapping.troubles(told.refusals, location, {}),
        Messages=told.messages or None,
        AdditionalInformation=tuple(extra) or None,
        BenefitEntities=tuple(map(response_parties.entity, told.parties)) or None,
    )


def _quantity(told: benefits.Benefit, amount: Decimal | None) -> response.Quantity | None:
    if amount is None and not told.quantity_qualifier:
        return None
    unit = services.name("quantities", told.quantity_qualifier) or "Unknown"
    return response.Quantity(Unit=unit, Amount=amount)


def _procedure(told: shared_types.Procedure | None, extra: Extra) -> response.ProcedureCode | None:
    if told is None:
        return None
    for value, place in ((told.description, "EB:13-7"), (told.range_end, "EB:13-8")):
        if value:
            extra.append(Information(Qualifier=place, Text=value))
    return response.ProcedureCode(
        Qualifier=told.qualifier or None, Code=told.code or None, Modifiers=told.modifiers
    )


def _schedule(told: benefits.Delivery, extra: Extra) -> response.DeliverySchedule:
    every = field_mapping.number(told.every, "HSD:04", extra)
    if told.unit or every is not None:
        text = None if every is None else f"{every:f}"
        extra.append(Information(Qualifier="HSD:03", Code=told.unit or None, Text=text))
    if told.time:
        extra.append(Information(Qualifier="HSD:08", Code=told.time))
    return response.DeliverySchedule(
        Quantity=field_mapping.number(told.quantity, "HSD:02", extra),
        Unit=services.name("quantities", told.qualifier) or None,
        Period=services.name("time_periods", told.period) or None,
        PeriodCount=field_mapping.number(told.periods, "HSD:06", extra),
        Pattern=services.name("delivery_patterns", told.pattern) or None,
    )


def _condition(told: benefits.Condition) -> Iterable[Information]:
    """An III. Its category and text are a pair of their own."""
    if told.code_list or told.code or (told.text and not told.category):
        text = "" if told.category else told.text
        yield Information(
            Qualifier=told.code_list or None, Code=told.code or None, Text=text or None
        )
    if told.category:
        yield Information(Qualifier="III:03", Code=told.category, Text=told.text or None)
    extra: Extra = []
    field_mapping.unread(told.other, extra)
    yield from extra
