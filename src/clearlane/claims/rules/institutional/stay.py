"""I101 to I126: type of bill, statement, admission and discharge of an institutional claim.

What depends on the type of bill is in ``bill_types``. A rule whose id begins with I2 is the warning beside the error of
the same number.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from clearlane.claims.codes import NOTICES
from clearlane.claims.institutional_view import InstitutionalView
from clearlane.claims.rules.institutional.bill_types import (
    BILL_TYPES,
    BillElement,
    forbids,
    is_bill_type,
    requires,
)
from clearlane.claims.rules.institutional.facility_codes import (
    ADMISSION_TYPES,
    DEATH,
    DIED,
    DIED_IN_HOSPICE,
    NEWBORN,
    NEWBORN_ORIGINS,
    ORIGINS,
    PATIENT_STATUSES,
    SAME_DAY_TRANSFER,
    SAME_DAY_TRANSFERS,
    STILL_A_PATIENT,
)
from clearlane.claims.rules.registry import (
    BILL_TYPE,
    GUIDE_LIMITS,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel.finding import Severity
from clearlane.x12 import codes

STATEMENT = ("institutional.last_day", "institutional.first_day")
ADMISSION = "dates.admission"
ADMISSION_TIME = "institutional.admission_time"
DISCHARGE_HOUR = "institutional.discharge_hour"
ADMISSION_TYPE, ORIGIN = "institutional.admission_type", "institutional.origin"
STATUS = "institutional.status"
LISTED = "The field has a list, which C310 checks."
FIRST_FREQUENCIES = frozenset({"1", "2"})
"""Bills that begin with the admission."""
FINAL_FREQUENCIES = frozenset({"1", "4"})
INTERIM_FREQUENCIES = frozenset({"2", "3"})
PRE_ADMISSION_DAYS = timedelta(days=3)
"""Services of these days before an admission may be part of the stay."""
TIME_CHARACTERS = len("CCYYMMDDHHMM")

_FREQUENCIES: Mapping[str, tuple[BillElement, str]] = {
    **dict.fromkeys("234", (BillElement.INTERIM, "an interim bill")),
    **dict.fromkeys(NOTICES, (BillElement.NOTICE, "a notice")),
    "9": (BillElement.FINAL_EPISODE, "the final bill of an episode of home health"),
}


def named_bill_type(view: ClaimView) -> str:
    """Return the type of bill of a claim as a sentence names it: ``111 (hospital, stay)``."""
    given = view.institutional.bill_type or ""
    words = BILL_TYPES.get(given)
    return f"{given}{view.frequency or ''}" + (f" ({words})" if words else "")


def is_notice(view: ClaimView) -> bool:
    """Return whether a claim is a notice of admission or election, which asks for no money."""
    return view.frequency in NOTICES


_FREQUENCY_APART = "; the frequency has a place of its own (CLM05-3)"


@rule("I101", paths=(BILL_TYPE,), x12="2300/CLM/05-1")
def bill_type_is_a_facility_and_a_classification(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The type of bill is a facility and a classification, without a leading zero."""
    given = view.institutional.bill_type
    if given and not is_bill_type(given):
        yield (
            BILL_TYPE,
            f"There is no type of bill {quoted(given)}; give a facility and a classification, such as 11 or 13"
            f"{_FREQUENCY_APART if len(given) > 2 else ''}.",
        )


@rule("I201", paths=(BILL_TYPE,), x12="2300/CLM/05-1", severity=WARNING)
def bill_type_is_known(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A facility has the classification that the type of bill states, as far as Clearlane knows."""
    given = view.institutional.bill_type
    if given and is_bill_type(given) and given not in BILL_TYPES:
        yield (
            BILL_TYPE,
            f"The type of bill {quoted(given)} is not one that Clearlane knows, and what depends on it is not checked; make "
            "sure that the payer takes it.",
        )


@rule(
    "I102",
    paths=("frequency", BILL_TYPE),
    if_form_has=BILL_TYPE,
    x12="2300/CLM/05-3",
    not_in_files=GUIDE_LIMITS,
)
def frequency_exists(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The third character of a type of bill is a frequency of the list."""
    given = view.frequency or ""
    if not codes.is_listed("claim_frequencies", given):
        found = f"There is no frequency {quoted(given)}" if given else "There is no frequency"
        yield (
            "frequency",
            f"{found}; give the third character of the type of bill, such as 1 (original), 7 (replacement) or 8 (void).",
        )


@rule("I103", paths=(BILL_TYPE, "frequency"), x12="2300/CLM/05-3", severity=WARNING)
def frequency_fits_the_bill_type(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Interim bills, notices and final bills of an episode are for types of bill that have them."""
    element, what = _FREQUENCIES.get(view.frequency or "", (None, ""))
    if element is not None and forbids(element, view.institutional.bill_type):
        yield (
            "frequency",
            f"Frequency {view.frequency} is {what}, which the type of bill {named_bill_type(view)} does not have; "
            "give 1 for a bill from the first day to the last.",
        )


@rule("I108", paths=STATEMENT, x12="2300/DTP:434/03", severity=WARNING)
def statement_is_past(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A statement ends on a day that is past, unless it is a notice."""
    last = view.institutional.last_day
    if last is not None and last > inputs.today and not is_notice(view):
        yield (
            STATEMENT[0],
            f"The statement ends on {last}, which is in the future; give a day up to {inputs.today}.",
        )


@rule("I110", paths=(ADMISSION_TIME, ADMISSION), x12="2300/DTP:435/03")
def stay_has_an_admission_date(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A stay, home health and hospice have the day of admission or the start of care (interpretations 1479 and 1520)."""
    stay = view.institutional
    if requires(BillElement.ADMISSION_DATE, stay.bill_type) and not stay.admission_time:
        yield (
            ADMISSION,
            f"The type of bill {named_bill_type(view)} has an admission or a start of care, and its day is missing; "
            f"give {view.form.name_of(ADMISSION)}.",
        )


@rule("I111", paths=(ADMISSION_TIME,), x12="2300/DTP:435/03")
def admission_has_an_hour(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A stay has the hour of admission, except in a nursing facility or a swing bed (interpretation 1520)."""
    stay = view.institutional
    is_needed = requires(BillElement.ADMISSION_HOUR, stay.bill_type)
    if is_needed and stay.admission_time and len(stay.admission_time) < TIME_CHARACTERS:
        yield (
            ADMISSION_TIME,
            f"The type of bill {named_bill_type(view)} has the hour of admission, and there is the day alone; give "
            f"{view.form.name_of('institutional.admission_hour')}.",
        )


@rule("I112", paths=(ADMISSION_TIME,), x12="2300/DTP:435/03", severity=Severity.INFO)
def outpatient_has_no_admission(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An outpatient bill has no admission date, unless its payer asks for one."""
    stay = view.institutional
    if stay.admission_time and forbids(BillElement.ADMISSION_DATE, stay.bill_type):
        yield (
            ADMISSION_TIME,
            f"The type of bill {named_bill_type(view)} has no admission; leave its day out unless the payer asks for it.",
        )


@rule("I113", paths=(ADMISSION_TIME, *STATEMENT), x12="2300/DTP:435/03")
def admission_is_before_the_end(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient is admitted on or before the last day of the statement."""
    admitted, last = view.dates.admission, view.institutional.last_day
    if admitted and last and admitted > last:
        yield (
            ADMISSION_TIME,
            f"The admission on {admitted} is after the end of the statement on {last}; give the day of admission.",
        )


@rule("I213", paths=(ADMISSION_TIME, *STATEMENT), x12="2300/DTP:435/03", severity=WARNING)
def first_bill_begins_with_the_admission(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The first bill of a stay begins on the day of admission, or up to three days before it."""
    stay, admitted = view.institutional, view.dates.admission
    if (
        admitted is None
        or stay.first_day is None
        or (stay.last_day and admitted > stay.last_day)
        or view.frequency not in FIRST_FREQUENCIES
        or not requires(BillElement.ADMISSION_ON_FIRST_DAY, stay.bill_type)
    ):
        return
    if not admitted - PRE_ADMISSION_DAYS <= stay.first_day <= admitted:
        yield (
            ADMISSION_TIME,
            f"The statement begins on {stay.first_day}, and the patient was admitted on {admitted}; the first bill of "
            "a stay begins with the admission, or up to three days before it.",
        )


@rule("I114", paths=(DISCHARGE_HOUR, STATUS), x12="2300/DTP:096/03")
def final_bill_has_a_discharge_hour(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The only or last bill of a stay has the hour of discharge, except in a nursing facility or a swing bed."""
    stay = view.institutional
    if (
        requires(BillElement.DISCHARGE_HOUR, stay.bill_type)
        and view.frequency in FINAL_FREQUENCIES
        and stay.status not in (None, STILL_A_PATIENT)
        and not stay.discharge_hour
    ):
        yield (
            DISCHARGE_HOUR,
            f"The type of bill {named_bill_type(view)} with patient status {stay.status} has the hour of discharge, and it "
            f"is missing; give {view.form.name_of(DISCHARGE_HOUR)}.",
        )


@rule("I115", paths=(DISCHARGE_HOUR, STATUS), x12="2300/DTP:096/03", severity=WARNING)
def patient_who_stays_has_no_discharge_hour(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A patient who is still there has no hour of discharge."""
    stay = view.institutional
    stays = stay.status == STILL_A_PATIENT or view.frequency in INTERIM_FREQUENCIES
    if stays and stay.discharge_hour:
        yield (
            DISCHARGE_HOUR,
            "There is an hour of discharge, and the patient is still there by patient status or frequency; leave it out, "
            "or correct these.",
        )


@rule("I117", paths=(STATUS,), x12="2300/CL1/03", not_in_json=LISTED)
def patient_status_exists(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient status is on the list."""
    given = view.institutional.status
    if given and given not in PATIENT_STATUSES:
        yield (
            STATUS,
            f"There is no patient status {quoted(given)}; give two digits of the list, such as 01 ({PATIENT_STATUSES['01']}) "
            f"or 30 ({PATIENT_STATUSES['30']}).",
        )


@rule("I118", paths=(ADMISSION_TYPE,), x12="2300/CL1/01", not_in_json=LISTED)
def admission_type_exists(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An admission type is on the list."""
    given = view.institutional.admission_type
    if given and given not in ADMISSION_TYPES:
        yield (
            ADMISSION_TYPE,
            f"There is no admission type {quoted(given)}; give {_choices(ADMISSION_TYPES)}.",
        )


@rule("I119", paths=(ADMISSION_TYPE,), x12="2300/CL1/01")
def stay_has_an_admission_type(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A stay has an admission type."""
    stay = view.institutional
    if requires(BillElement.ADMISSION_TYPE, stay.bill_type) and not stay.admission_type:
        yield (
            ADMISSION_TYPE,
            f"The type of bill {named_bill_type(view)} has an admission type; give {_choices(ADMISSION_TYPES)} in "
            f"{view.form.name_of(ADMISSION_TYPE)}.",
        )


@rule("I120", paths=(ORIGIN,), x12="2300/CL1/02", not_in_json=LISTED)
def origin_exists(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A point of origin is on the list."""
    given = view.institutional.origin
    if given and given not in ORIGINS:
        yield ORIGIN, f"There is no point of origin {quoted(given)}; give {_choices(ORIGINS)}."


@rule("I121", paths=(ORIGIN, ADMISSION_TYPE), x12="2300/CL1/02", severity=WARNING)
def newborn_has_an_origin_of_newborns(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A newborn was born here or elsewhere: its point of origin is 5 or 6."""
    stay = view.institutional
    is_known = stay.origin in ORIGINS
    if stay.admission_type == NEWBORN and is_known and stay.origin not in NEWBORN_ORIGINS:
        yield (
            ORIGIN,
            f"The admission type is 4 (newborn), and the point of origin is {quoted(stay.origin)}; give 5 (born here) or 6 "
            "(born elsewhere).",
        )


@rule("I122", paths=(ORIGIN,), x12="2300/CL1/02")
def origin_is_given(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A bill says where the patient came from, unless it is for laboratory tests of others or a notice."""
    stay = view.institutional
    if requires(BillElement.ORIGIN, stay.bill_type) and not stay.origin and not is_notice(view):
        yield (
            ORIGIN,
            f"The type of bill {named_bill_type(view)} has a point of origin; give {_choices(ORIGINS)} in "
            f"{view.form.name_of(ORIGIN)}.",
        )


def _stays_on_a_final_bill(view: ClaimView) -> bool:
    final = view.frequency in FINAL_FREQUENCIES
    return final and view.institutional.status == STILL_A_PATIENT


_FINAL = (
    "The patient status is 30 (still a patient), and frequency {} is a bill until the discharge; give the status at the "
    "discharge, or frequency 2 or 3."
)


@rule("I123", paths=(STATUS, "frequency"), x12="2300/CL1/03")
def final_bill_ends_the_stay(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """On the only or last bill of a stay, of home health or of a hospice the patient is no longer there."""
    if _stays_on_a_final_bill(view) and requires(
        BillElement.DISCHARGE, view.institutional.bill_type
    ):
        yield STATUS, _FINAL.format(view.frequency)


@rule("I223", paths=(STATUS, "frequency"), x12="2300/CL1/03", severity=WARNING)
def final_outpatient_bill_ends_the_care(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """On the only or last bill of an outpatient the patient is no longer there, as most payers read it."""
    if _stays_on_a_final_bill(view) and not requires(
        BillElement.DISCHARGE, view.institutional.bill_type
    ):
        yield STATUS, _FINAL.format(view.frequency)


@rule("I124", paths=(STATUS, "frequency"), x12="2300/CL1/03", severity=WARNING)
def interim_bill_says_still_a_patient(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A first or continuing interim bill says that the patient is still there."""
    stay = view.institutional
    if (
        view.frequency in INTERIM_FREQUENCIES
        and requires(BillElement.DISCHARGE, stay.bill_type)
        and stay.status in PATIENT_STATUSES
        and stay.status != STILL_A_PATIENT
    ):
        yield (
            STATUS,
            f"Frequency {view.frequency} is an interim bill, and the patient status is {quoted(stay.status)}; give 30 (still "
            "a patient), or frequency 4 for the last bill.",
        )


@rule("I125", paths=(STATUS, "institutional.occurrences"), x12="2300/CL1/03", severity=WARNING)
def death_has_a_day(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who died has the day of death (occurrence 55); 40 to 42 are for hospices alone."""
    stay = view.institutional
    if stay.status not in DIED:
        return
    if stay.status in DIED_IN_HOSPICE and forbids(BillElement.HOSPICE_DEATH, stay.bill_type):
        yield (
            STATUS,
            f"Patient status {stay.status} is for hospices, and the type of bill is {named_bill_type(view)}; give 20.",
        )
    elif all(one.code != DEATH for one in stay.occurrences):
        yield (
            STATUS,
            f"The patient died by patient status {stay.status}, and the day of death is missing; give it with occurrence 55.",
        )


@rule(
    "I126",
    paths=(STATUS, "institutional.condition_codes"),
    x12="2300/CL1/03",
    severity=WARNING,
)
def same_day_transfer_is_marked(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is transferred from a hospital on the day of admission has condition 40."""
    stay, admitted = view.institutional, view.dates.admission
    if (
        requires(BillElement.SAME_DAY_TRANSFER, stay.bill_type)
        and admitted is not None
        and admitted == stay.last_day
        and stay.status in SAME_DAY_TRANSFERS
        and all(one.code != SAME_DAY_TRANSFER for one in stay.condition_codes)
    ):
        yield (
            STATUS,
            f"The patient was admitted on {admitted} and transferred on the same day (patient status {stay.status}); give "
            "condition 40.",
        )


def _choices(known: Mapping[str, str]) -> str:
    """Return the codes of a short list with their words."""
    *most, last = [f"{code} ({words})" for code, words in known.items()]
    return f"{', '.join(most)} or {last}"


def statement_days(stay: InstitutionalView) -> tuple[date, date] | None:
    """Return the first and the last day of a statement; None if it has none, or runs backwards."""
    if stay.first_day is None or stay.last_day is None or stay.first_day > stay.last_day:
        return None
    return stay.first_day, stay.last_day
