"""C8: the order of dates, and accidents."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from clearlane.claims.fields import Claim, DentalClaim, MedicalClaim
from clearlane.claims.forms import AnyForm, fields_of_forms, form_of, names_of_forms
from clearlane.claims.forms.medical import ACCIDENT_MARKS
from clearlane.claims.forms.medical import accidents as medical_accidents
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    rule,
)

SERVICE_AGE_YEARS_MAX = 20


SERVICE = fields_of_forms(lambda form: [form.names.first_day, form.names.last_day])
# First day, last day, and what lies between.
PERIODS = (
    ("F18_HospitalizationDateFrom", "F18_HospitalizationDateTo", "hospital stay"),
    ("X12_DisabilityDateFrom", "X12_DisabilityDateTo", "disability"),
    ("F15_AssumedCareStartDate", "F15_AssumedCareEndDate", "assumed care"),
    ("F16_LastWorkedDate", "F16_AuthorizedReturnToWorkDate", "absence from work"),
)
# Periods whose end has no meaning without a beginning.
NEEDS_BEGINNING = frozenset({"F18_HospitalizationDateTo"})
PAST = fields_of_forms(lambda form: form.past_days)
ACCIDENTS = fields_of_forms(lambda form: form.accident_fields)
ACCIDENT_DATES = names_of_forms(lambda names: names.accident_date)
ACCIDENT_STATES = names_of_forms(lambda names: names.accident_state)
INPATIENT = frozenset({"21", "51", "61"})


class Span(NamedTuple):
    """The days of service of a claim's lines, and the first and last of all."""

    lines: list[tuple[date | None, date | None]]
    first: date
    last: date


def span(claim: Claim) -> Span | None:
    """Return the days of service of a claim; None where no line has one."""
    form = form_of(claim)
    lines = [form.service_days(line) for line in form.lines(claim)]
    days = [day for line in lines for day in line if day is not None]
    return Span(lines, min(days), max(days)) if days else None


def _first_path(form: AnyForm, at: int) -> str:
    return form.line_path(at, form.names.first_day)


def _last_path(form: AnyForm, at: int) -> str:
    return form.line_path(at, form.names.last_day)


@rule("C801", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_ends_after_it_begins(
    claim: Claim, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service ends on or after the day it begins."""
    for at, (first, last) in enumerate(days.lines):
        if last and first and last < first:
            yield (
                _last_path(form_of(claim), at),
                f"The service ends on {last}, before it begins on {first}; give the later day last.",
            )


@rule("C802", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_is_past(claim: Claim, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """A service is not in the future."""
    if days.last <= inputs.today:
        return
    form = form_of(claim)
    if form.is_predetermination(claim):
        return
    for at, (first, last) in enumerate(days.lines):
        for day, path in ((first, _first_path(form, at)), (last, _last_path(form, at))):
            if day and day > inputs.today:
                yield (
                    path,
                    f"The day of service {day} is in the future; give a day up to {inputs.today}.",
                )
                break


@rule("C803", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_is_after_birth(claim: Claim, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """A service is not before the patient's birth."""
    birth = form_of(claim).patient_birth(claim)
    if days.first >= birth:
        return
    for at, (first, _) in enumerate(days.lines):
        if first and first < birth:
            yield (
                _first_path(form_of(claim), at),
                f"The day of service {first} is before the patient's birth; give the right day.",
            )


@rule("C804", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_is_not_absurdly_old(
    claim: Claim, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service is not older than twenty years."""
    oldest = inputs.today.year - SERVICE_AGE_YEARS_MAX
    if days.first.year >= oldest:
        return
    for at, (first, _) in enumerate(days.lines):
        if first and first.year < oldest:
            yield (
                _first_path(form_of(claim), at),
                f"The day of service {first} is more than {SERVICE_AGE_YEARS_MAX} years ago; "
                "give the right year.",
            )


@rule(
    "C805",
    fields=[name for period in PERIODS for name in period[:2]],
    x12="2300/DTP",
    kinds=(MEDICAL,),
    when_filled=[period[1] for period in PERIODS],
)
def periods_end_after_they_begin(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A period ends on or after the day it begins."""
    given = claim.__dict__
    for begin, end, what in PERIODS:
        first, last = given.get(begin), given.get(end)
        if first and last and last < first:
            yield (
                end,
                f"The {what} ends on {last}, before it begins on {first}; give the later day last.",
            )
        elif last and not first and end in NEEDS_BEGINNING:
            yield begin, f"The {what} has an end but no beginning; give {begin}."


@rule("C806", fields=PAST, x12="DTP/03", when_filled=PAST)
def past_days_are_past(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A day of something that has happened is not in the future."""
    given, form = claim.__dict__, form_of(claim)
    for name in form.past_days:
        day = given.get(name)
        if day is not None and day > inputs.today and not form.is_predetermination(claim):
            yield name, f"The day {day} is in the future; give a day up to {inputs.today}."


@rule("C807", fields=PAST, x12="DTP/03", when_filled=PAST)
def past_days_are_after_birth(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """What has happened to the patient happened on or after the day of birth."""
    given, form = claim.__dict__, form_of(claim)
    birth = form.patient_birth(claim)
    for name in form.past_days:
        day = given.get(name)
        if day is not None and day < birth:
            yield (
                name,
                f"The day {day} is before the patient's birth on {birth}; give the right day.",
            )


@rule(
    "C808",
    fields=("F18_HospitalizationDateFrom", "X12_PlaceOfServiceCode", "F24B_PlaceOfServiceCode"),
    x12="2300/DTP:435/03",
    kinds=(MEDICAL,),
    severity=WARNING,
)
def inpatient_service_has_an_admission(
    claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A service to an inpatient (place 21, 51 or 61) comes with the day of admission."""
    if claim.F18_HospitalizationDateFrom is None and (
        claim.X12_PlaceOfServiceCode in INPATIENT
        or any(line.F24B_PlaceOfServiceCode in INPATIENT for line in claim.F24_ClaimLines)
    ):
        yield (
            "F18_HospitalizationDateFrom",
            "The service was rendered to an inpatient (place 21, 51 or 61), and payers want the day of admission; "
            "give F18_HospitalizationDateFrom.",
        )


@rule(
    "C809",
    fields=("F14_LastMenstrualPeriodDate", "F03_PatientSex"),
    x12="2300/DTP:484/03",
    kinds=(MEDICAL,),
    severity=WARNING,
    when_filled=("F14_LastMenstrualPeriodDate",),
)
def last_period_fits_the_patient(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A last menstrual period is given for a patient who may have one."""
    if claim.F14_LastMenstrualPeriodDate and claim.F03_PatientSex == "M":
        yield (
            "F14_LastMenstrualPeriodDate",
            "There is a last menstrual period of a male patient; check both.",
        )


@rule(
    "C810",
    fields=("X12_ServiceDate",),
    x12="2300/DTP:472/03",
    kinds=(DENTAL,),
    severity=WARNING,
    when_filled=("X12_ServiceDate",),
    reading=span,
)
def claim_day_is_a_line_day(
    claim: DentalClaim, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """The day of a dental claim lies among the days of its lines."""
    day = claim.X12_ServiceDate
    if day and not days.first <= day <= days.last:
        yield (
            "X12_ServiceDate",
            f"The claim's day {day} is not among those of its lines, {days.first} to {days.last}; the lines' "
            "days are sent.",
        )


@rule(
    "C851",
    fields=ACCIDENT_DATES,
    x12="2300/DTP:439/03",
    when_filled=ACCIDENTS,
)
def accident_has_a_date(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An auto or other accident has a date."""
    form = form_of(claim)
    name, causes = form.names.accident_date, form.accidents(claim)
    if claim.__dict__.get(name) is None and ("AA" in causes or "OA" in causes):
        yield name, f"The condition results from an accident, but its day is missing; give {name}."


@rule("C852", fields=ACCIDENT_DATES, x12="2300/CLM/11", when_filled=ACCIDENT_DATES)
def accident_date_has_an_accident(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An accident date comes with the kind of accident."""
    form = form_of(claim)
    name = form.names.accident_date
    if claim.__dict__.get(name) is not None and not form.accidents(claim):
        yield (
            name,
            "There is an accident date, but no kind of accident; "
            f"set {form.accident_fields_text} too.",
        )


@rule(
    "C853",
    fields=ACCIDENT_STATES,
    x12="2300/CLM/11-04",
    when_filled=ACCIDENTS,
)
def auto_accident_has_a_state(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An auto accident has a state."""
    form = form_of(claim)
    name = form.names.accident_state
    if "AA" in form.accidents(claim) and claim.__dict__.get(name) is None:
        yield (
            name,
            f"The condition results from an auto accident, but the state is missing; give {name}.",
        )


@rule(
    "C854",
    fields=ACCIDENT_STATES,
    x12="2300/CLM/11-04",
    severity=WARNING,
    when_filled=ACCIDENT_STATES,
)
def accident_state_has_an_auto_accident(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A state of an accident comes with an auto accident; without one it is not sent."""
    form = form_of(claim)
    name = form.names.accident_state
    if claim.__dict__.get(name) is not None and "AA" not in form.accidents(claim):
        yield name, "There is a state of an auto accident, but no auto accident, so it is not sent."


@rule(
    "C855", fields=ACCIDENT_DATES, x12="2300/DTP:439/03", when_filled=ACCIDENT_DATES, reading=span
)
def accident_is_before_treatment(
    claim: Claim, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """An accident is not after the last day of service."""
    name = form_of(claim).names.accident_date
    day = claim.__dict__.get(name)
    if day is not None and day > days.last:
        yield (
            name,
            f"The accident on {day} is after the last service on {days.last}; give the right day.",
        )


@rule(
    "C856",
    fields=tuple(ACCIDENT_MARKS),
    x12="2300/CLM/11",
    kinds=(MEDICAL,),
    severity=WARNING,
    when_filled=ACCIDENT_MARKS,
)
def causes_are_few(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim can name two causes of the condition."""
    if len(medical_accidents(claim)) > 2:
        yield (
            "F10C_PatientCondOtherAccident",
            "Three causes are marked; only two can be sent, the first two are.",
        )
