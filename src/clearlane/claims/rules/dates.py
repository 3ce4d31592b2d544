"""C8: the order of dates, and accidents."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from clearlane.claims.rules.registry import (
    GUIDE_LIMITS,
    OUR_FIELDS,
    OUR_WRITER,
    TEETH,
    WARNING,
    FieldFinding,
    RuleInputs,
    rule,
)
from clearlane.claims.view import ClaimView

SERVICE_AGE_YEARS_MAX = 20


SERVICE = ("lines[].first_day", "lines[].last_day")
# First day, last day, and what lies between.
PERIODS = (
    ("admission", "discharge", "hospital stay"),
    ("disability_from", "disability_until", "disability"),
    ("assumed_care_from", "assumed_care_until", "assumed care"),
    ("last_worked", "return_to_work", "absence from work"),
)
# Periods whose end has no meaning without a beginning.
NEEDS_BEGINNING = frozenset({"discharge"})
# Days that have happened when the claim is written, and that the patient has lived through.
PAST = (
    "release",
    "assignment",
    "appliance_placed",
    "prior_placement",
    "onset",
    "last_menstrual_period",
    "initial_treatment",
    "last_seen",
    "acute_manifestation",
    "accident",
    "last_x_ray",
    "prescription",
    "assumed_care_from",
    "first_contact",
    "last_worked",
    "admission",
    "discharge",
    "disability_from",
    "provider_signature",
    "service",
)
PAST_PATHS = [f"dates.{name}" for name in PAST]
CAUSES = ("causes",)
ACCIDENT_DATE = ("dates.accident",)
ACCIDENT_STATE = ("accident_state",)
AUTO, OTHER = "AA", "OA"
CAUSES_MAX = 2
INPATIENT = frozenset({"21", "51", "61"})


class Span(NamedTuple):
    """The days of service of a claim's lines, and the first and last of all and of its statement."""

    lines: list[tuple[date | None, date | None]]
    first: date
    last: date


def span(view: ClaimView) -> Span | None:
    """Return the days of service of a claim: those of its lines, and of a statement; None if there is none."""
    lines = [(line.first_day, line.last_day) for line in view.lines]
    days = [day for line in lines for day in line if day is not None]
    if view.institutional.last_day is not None:
        days += [
            view.institutional.first_day or view.institutional.last_day,
            view.institutional.last_day,
        ]
    return Span(lines, min(days), max(days)) if days else None


def age_on(birth: date, day: date) -> int:
    """Return the age in years on a day."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


@rule("C801", paths=SERVICE, x12="2400/DTP:472/03", reading=span, covers=("X837-PERIOD",))
def service_ends_after_it_begins(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service ends on or after the day it begins."""
    for at, (first, last) in enumerate(days.lines):
        if last and first and last < first:
            yield (
                f"lines[{at}].last_day",
                f"The service ends on {last}, before it begins on {first}; give the later day last.",
            )


@rule("C802", paths=SERVICE, x12="2400/DTP:472/03", reading=span, covers=("X837-FUTURE",))
def service_is_past(view: ClaimView, inputs: RuleInputs, days: Span) -> Iterator[FieldFinding]:
    """A service is not in the future."""
    if days.last <= inputs.today:
        return
    if view.is_predetermination:
        return
    for at, line in enumerate(days.lines):
        for day, name in zip(line, ("first_day", "last_day"), strict=True):
            if day and day > inputs.today:
                yield (
                    f"lines[{at}].{name}",
                    f"The day of service {day} is in the future; give a day up to {inputs.today}.",
                )
                break


@rule("C803", paths=SERVICE, x12="2400/DTP:472/03", reading=span)
def service_is_after_birth(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service is not before the patient's birth."""
    birth = view.patient_birth
    if birth is None or days.first >= birth or birth > inputs.today:
        return
    for at, (first, _) in enumerate(days.lines):
        if first and first < birth:
            yield (
                f"lines[{at}].first_day",
                f"The day of service {first} is before the patient's birth; give the right day.",
            )


@rule(
    "C804",
    paths=SERVICE,
    x12="2400/DTP:472/03",
    reading=span,
    not_in_files="A file may be an old one; this is about claims that are going out.",
)
def service_is_not_absurdly_old(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service is not older than twenty years."""
    oldest = inputs.today.year - SERVICE_AGE_YEARS_MAX
    if days.first.year >= oldest:
        return
    for at, (first, _) in enumerate(days.lines):
        if first and first.year < oldest:
            yield (
                f"lines[{at}].first_day",
                f"The day of service {first} is more than {SERVICE_AGE_YEARS_MAX} years ago; "
                "give the right year.",
            )


@rule(
    "C805",
    paths=[f"dates.{name}" for period in PERIODS for name in period[:2]],
    x12="2300/DTP",
    when_filled=[f"dates.{end}" for _, end, _ in PERIODS],
    covers=("X837-PERIOD",),
)
def periods_end_after_they_begin(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A period ends on or after the day it begins."""
    for begin, end, what in PERIODS:
        first, last = getattr(view.dates, begin), getattr(view.dates, end)
        if first and last and last < first:
            yield (
                f"dates.{end}",
                f"The {what} ends on {last}, before it begins on {first}; give the later day last.",
            )
        elif last and not first and end in NEEDS_BEGINNING:
            path = f"dates.{begin}"
            yield (
                path,
                f"The {what} has an end but no beginning; give {view.form.name_of(path)}.",
            )


@rule("C806", paths=PAST_PATHS, x12="DTP/03", when_filled=PAST_PATHS)
def past_days_are_past(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A day of something that has happened is not in the future."""
    for name in PAST:
        day = getattr(view.dates, name)
        if day is not None and day > inputs.today and not view.is_predetermination:
            yield (
                f"dates.{name}",
                f"The day {day} is in the future; give a day up to {inputs.today}.",
            )


@rule("C807", paths=PAST_PATHS, x12="DTP/03", when_filled=PAST_PATHS)
def past_days_are_after_birth(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """What has happened to the patient happened on or after the day of birth."""
    birth = view.patient_birth
    for name in PAST:
        day = getattr(view.dates, name)
        if day is not None and birth is not None and day < birth:
            yield (
                f"dates.{name}",
                f"The day {day} is before the patient's birth on {birth}; give the right day.",
            )


@rule(
    "C808",
    paths=("dates.admission", "place", "lines[].place"),
    x12="2300/DTP:435/03",
    severity=WARNING,
    covers=("X837-ADMISSION",),
)
def inpatient_service_has_an_admission(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A service to an inpatient (place 21, 51 or 61) comes with the day of admission."""
    if view.dates.admission is None and (
        view.place in INPATIENT or any(line.place in INPATIENT for line in view.lines)
    ):
        yield (
            "dates.admission",
            "The service was rendered to an inpatient (place 21, 51 or 61), and payers want the day of admission; "
            f"give {view.form.name_of('dates.admission')}.",
        )


@rule(
    "C809",
    paths=("dates.last_menstrual_period", "patient.sex"),
    x12="2300/DTP:484/03",
    when_filled=("dates.last_menstrual_period",),
)
def last_period_fits_the_patient(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A last menstrual period is given for a patient who may have one."""
    sex = view.patient.sex or view.subscriber.sex
    if view.dates.last_menstrual_period and sex == "M":
        yield (
            "dates.last_menstrual_period",
            "There is a last menstrual period of a male patient; leave it out, or correct the sex.",
        )


@rule(
    "C811",
    paths=("dates.onset",),
    x12="2300/DTP:431/03",
    when_filled=("dates.onset",),
    reading=span,
)
def onset_is_before_the_service(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """An illness begins on or before the last day of service."""
    onset = view.dates.onset
    if onset and onset > days.last:
        yield (
            "dates.onset",
            f"The illness began on {onset}, after the last service on {days.last}; give the day it began.",
        )


@rule(
    "C812",
    paths=SERVICE,
    x12="2400/DTP:472/03",
    if_form_has=TEETH,
    covers=("X837D-PREDETERMINATION",),
    not_in_json=OUR_FIELDS,
)
def dental_service_has_a_day(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A dental service has a day, its own or the claim's; a predetermination has none."""
    for at, line in enumerate(() if view.is_predetermination else view.lines):
        if line.first_day is None:
            yield (
                f"lines[{at}].first_day",
                "The service has no day; give it, or send the claim as a predetermination.",
            )


@rule(
    "C810",
    paths=("dates.service",),
    x12="2300/DTP:472/03",
    severity=WARNING,
    when_filled=("dates.service",),
    reading=span,
    not_in_files=OUR_WRITER,
)
def claim_day_is_a_line_day(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """The day of a dental claim lies among the days of its lines."""
    day = view.dates.service
    if day and not days.first <= day <= days.last:
        yield (
            "dates.service",
            f"The claim's day {day} is not among those of its lines, {days.first} to {days.last}; the lines' "
            "days are sent.",
        )


@rule(
    "C851",
    paths=ACCIDENT_DATE,
    x12="2300/DTP:439/03",
    when_filled=CAUSES,
    covers=("X837-ACCIDENT-DATE",),
)
def accident_has_a_date(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An auto or other accident has a date."""
    if view.dates.accident is None and (AUTO in view.causes or OTHER in view.causes):
        name = view.form.name_of("dates.accident")
        yield (
            "dates.accident",
            f"The condition results from an accident, but its day is missing; give {name}.",
        )


@rule(
    "C852",
    paths=ACCIDENT_DATE,
    x12="2300/CLM/11",
    when_filled=ACCIDENT_DATE,
    covers=("X837-ACCIDENT-CAUSE",),
)
def accident_date_has_an_accident(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An accident date comes with the kind of accident."""
    if view.dates.accident is not None and not view.causes:
        yield (
            "dates.accident",
            "There is an accident date, but no kind of accident; "
            f"set {view.form.name_of('causes')} too.",
        )


@rule(
    "C853",
    paths=ACCIDENT_STATE,
    x12="2300/CLM/11-04",
    when_filled=CAUSES,
    covers=("X837-ACCIDENT-STATE",),
)
def auto_accident_has_a_state(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An auto accident has a state."""
    if AUTO in view.causes and view.accident_state is None:
        name = view.form.name_of("accident_state")
        yield (
            "accident_state",
            f"The condition results from an auto accident, but the state is missing; give {name}.",
        )


@rule(
    "C854",
    paths=ACCIDENT_STATE,
    if_form_has="causes",
    x12="2300/CLM/11-04",
    severity=WARNING,
    when_filled=ACCIDENT_STATE,
    not_in_files=OUR_WRITER,
)
def accident_state_has_an_auto_accident(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A state of an accident comes with an auto accident; without one it is not sent."""
    if view.accident_state is not None and AUTO not in view.causes:
        yield (
            "accident_state",
            "There is a state of an auto accident, but no auto accident, so it is not sent.",
        )


@rule("C855", paths=ACCIDENT_DATE, x12="2300/DTP:439/03", when_filled=ACCIDENT_DATE, reading=span)
def accident_is_before_treatment(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """An accident is not after the last day of service."""
    day = view.dates.accident
    if day is not None and day > days.last:
        yield (
            "dates.accident",
            f"The accident on {day} is after the last service on {days.last}; give the right day.",
        )


@rule(
    "C856",
    paths=CAUSES,
    x12="2300/CLM/11",
    severity=WARNING,
    when_filled=CAUSES,
    not_in_files=GUIDE_LIMITS,
)
def causes_are_few(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim can name two causes of the condition."""
    if len(view.causes) > CAUSES_MAX:
        yield (
            f"causes[{CAUSES_MAX}]",
            "Three causes are marked; only two can be sent, the first two are.",
        )
