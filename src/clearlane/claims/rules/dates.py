"""C8: the order of dates, and accidents."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from clearlane.claims import codes
from clearlane.claims.fields import Claim, DentalClaim, Line, MedicalClaim, MedicalLine, lines_of
from clearlane.claims.rules.people import patient_birth
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    on_line,
    rule,
)
from clearlane.kernel import limits

SERVICE = (
    "F24A_DateOfServiceFrom",
    "F24A_DateOfServiceTo",
    "F24_DateOfServiceFrom",
    "F24_DateOfServiceTo",
)
# First day, last day, and what lies between.
PERIODS = (
    ("F18_HospitalizationDateFrom", "F18_HospitalizationDateTo", "hospital stay"),
    ("X12_DisabilityDateFrom", "X12_DisabilityDateTo", "disability"),
    ("F15_AssumedCareStartDate", "F15_AssumedCareEndDate", "assumed care"),
    ("F16_LastWorkedDate", "F16_AuthorizedReturnToWorkDate", "absence from work"),
)
# Periods whose end has no meaning without a beginning.
NEEDS_BEGINNING = frozenset({"F18_HospitalizationDateTo"})
# Days that have happened when the claim is written, and that the patient has lived through.
PAST = (
    "F12_PatientAuthorizationDate",
    "F14_DateOfCurrentIllnessOrSymptom",
    "F14_LastMenstrualPeriodDate",
    "F15_InitialTreatmentDate",
    "F15_LastSeenDate",
    "F15_AcuteManifestionDate",
    "F15_AccidentDate",
    "F15_LastXRayDate",
    "F15_HearingAndVisionPrescriptionDate",
    "F15_AssumedCareStartDate",
    "F15_PropertyCasualtyFirstContactDate",
    "F16_LastWorkedDate",
    "F18_HospitalizationDateFrom",
    "F18_HospitalizationDateTo",
    "X12_DisabilityDateFrom",
    "F36_PatientSignatureDate",
    "F37_InsuredSignatureDate",
    "F41_DateAppliancePlaced",
    "F44_ProsthesisDateOfPriorPlacement",
    "F46_AccidentDate",
    "F53_TreatingDentistSignatureDate",
    "X12_ServiceDate",
)
MEDICAL_PAST = tuple(name for name in PAST if name in MedicalClaim.model_fields)
DENTAL_PAST = tuple(name for name in PAST if name in DentalClaim.model_fields)
ACCIDENT_DATES = ("F15_AccidentDate", "F46_AccidentDate")
ACCIDENT_STATES = ("F10B_PatientCondAutoAccidentState", "F47_AutoAccidentState")
ACCIDENT_MARKS = {
    "F10B_PatientCondAutoAccident": "AA",
    "F10A_PatientCondEmployment": "EM",
    "F10C_PatientCondOtherAccident": "OA",
}
INPATIENT = frozenset({"21", "51", "61"})


def is_predetermination(claim: Claim) -> bool:
    """Return whether the claim asks what would be paid, for services not yet done."""
    return isinstance(claim, DentalClaim) and claim.F01_TypeOfTransaction == codes.PREDETERMINATION


def accidents(claim: Claim) -> list[str]:
    """Return the causes of the condition as X12 codes: AA auto, EM employment, OA other accident."""
    if isinstance(claim, MedicalClaim):
        given = claim.__dict__
        return [code for name, code in ACCIDENT_MARKS.items() if given.get(name)]
    cause = claim.F45_TreatmentResultingFrom
    return [] if cause is None or cause == codes.NO_ACCIDENT else [cause]


def service_days(line: Line) -> tuple[date | None, date | None]:
    """Return the first and last day of a line; the last is None where it was not given."""
    if isinstance(line, MedicalLine):
        return line.F24A_DateOfServiceFrom, line.F24A_DateOfServiceTo
    return line.F24_DateOfServiceFrom, line.F24_DateOfServiceTo


class Span(NamedTuple):
    """The days of service of a claim's lines, and the first and last of all."""

    lines: list[tuple[date | None, date | None]]
    first: date
    last: date


def span(claim: Claim) -> Span | None:
    """Return the days of service of a claim; None where no line has one."""
    lines = [service_days(line) for line in lines_of(claim)]
    days = [day for line in lines for day in line if day is not None]
    return Span(lines, min(days), max(days)) if days else None


def _from(claim: Claim, at: int) -> str:
    return on_line(claim, at, SERVICE[0] if isinstance(claim, MedicalClaim) else SERVICE[2])


def _to(claim: Claim, at: int) -> str:
    return on_line(claim, at, SERVICE[1] if isinstance(claim, MedicalClaim) else SERVICE[3])


@rule("C801", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_ends_after_it_begins(
    claim: Claim, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service ends on or after the day it begins."""
    for at, (first, last) in enumerate(days.lines):
        if last and first and last < first:
            yield (
                _to(claim, at),
                f"The service ends on {last}, before it begins on {first}; give the later day last.",
            )


@rule("C802", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_is_past(claim: Claim, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """A service is not in the future."""
    if days.last <= inputs.today or is_predetermination(claim):
        return
    for at, (first, last) in enumerate(days.lines):
        for day, path in ((first, _from(claim, at)), (last, _to(claim, at))):
            if day and day > inputs.today:
                yield (
                    path,
                    f"The day of service {day} is in the future; give a day up to {inputs.today}.",
                )
                break


@rule("C803", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_is_after_birth(claim: Claim, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """A service is not before the patient's birth."""
    birth = patient_birth(claim)
    if days.first >= birth:
        return
    for at, (first, _) in enumerate(days.lines):
        if first and first < birth:
            yield (
                _from(claim, at),
                f"The day of service {first} is before the patient's birth; give the right day.",
            )


@rule("C804", fields=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_is_not_absurdly_old(
    claim: Claim, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service is not older than twenty years."""
    oldest = inputs.today.year - limits.SERVICE_AGE_YEARS_MAX
    if days.first.year >= oldest:
        return
    for at, (first, _) in enumerate(days.lines):
        if first and first.year < oldest:
            yield (
                _from(claim, at),
                f"The day of service {first} is more than {limits.SERVICE_AGE_YEARS_MAX} years ago; "
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
    given = claim.__dict__
    for name in MEDICAL_PAST if isinstance(claim, MedicalClaim) else DENTAL_PAST:
        day = given.get(name)
        if day is not None and day > inputs.today and not is_predetermination(claim):
            yield name, f"The day {day} is in the future; give a day up to {inputs.today}."


@rule("C807", fields=PAST, x12="DTP/03", when_filled=PAST)
def past_days_are_after_birth(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """What has happened to the patient happened on or after the day of birth."""
    given = claim.__dict__
    birth = patient_birth(claim)
    for name in MEDICAL_PAST if isinstance(claim, MedicalClaim) else DENTAL_PAST:
        day = given.get(name)
        if day is not None and day < birth:
            yield (
                name,
                f"The day {day} is before the patient's birth on {birth}; give the right day.",
            )


@rule(
    "C808",
    fields=("F18_HospitalizationDateFrom",),
    x12="2300/DTP:435/03",
    kinds=(MEDICAL,),
    severity=WARNING,
)
def inpatient_service_has_an_admission(
    claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A service to an inpatient comes with the day of admission."""
    if claim.F18_HospitalizationDateFrom is None and any(
        line.F24B_PlaceOfServiceCode in INPATIENT for line in claim.F24_ClaimLines
    ):
        yield (
            "F18_HospitalizationDateFrom",
            "A line was rendered to an inpatient; payers want the day of admission.",
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
    when_filled=(*ACCIDENT_MARKS, "F45_TreatmentResultingFrom"),
)
def accident_has_a_date(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An auto or other accident has a date."""
    name = _pick(claim, ACCIDENT_DATES)
    causes = accidents(claim)
    if claim.__dict__.get(name) is None and ("AA" in causes or "OA" in causes):
        yield name, f"The condition results from an accident, but its day is missing; give {name}."


@rule("C852", fields=ACCIDENT_DATES, x12="2300/CLM/11", when_filled=ACCIDENT_DATES)
def accident_date_has_an_accident(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An accident date comes with the kind of accident."""
    name = _pick(claim, ACCIDENT_DATES)
    if claim.__dict__.get(name) is not None and not accidents(claim):
        marks = (
            "F45_TreatmentResultingFrom" if isinstance(claim, DentalClaim) else "F10A, F10B or F10C"
        )
        yield name, f"There is an accident date, but no kind of accident; set {marks} too."


@rule(
    "C853",
    fields=ACCIDENT_STATES,
    x12="2300/CLM/11-04",
    when_filled=(*ACCIDENT_MARKS, "F45_TreatmentResultingFrom"),
)
def auto_accident_has_a_state(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An auto accident has a state."""
    name = _pick(claim, ACCIDENT_STATES)
    if "AA" in accidents(claim) and claim.__dict__.get(name) is None:
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
    name = _pick(claim, ACCIDENT_STATES)
    if claim.__dict__.get(name) is not None and "AA" not in accidents(claim):
        yield name, "There is a state of an auto accident, but no auto accident, so it is not sent."


@rule(
    "C855", fields=ACCIDENT_DATES, x12="2300/DTP:439/03", when_filled=ACCIDENT_DATES, reading=span
)
def accident_is_before_treatment(
    claim: Claim, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """An accident is not after the last day of service."""
    name = _pick(claim, ACCIDENT_DATES)
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
    if len(accidents(claim)) > 2:
        yield (
            "F10C_PatientCondOtherAccident",
            "Three causes are marked; only two can be sent, the first two are.",
        )


def _pick(claim: Claim, names: tuple[str, str]) -> str:
    return names[0] if isinstance(claim, MedicalClaim) else names[1]
