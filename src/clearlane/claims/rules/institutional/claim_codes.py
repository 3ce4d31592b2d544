"""I129 to I158: diagnoses, procedures and the other codes of an institutional claim.

That a diagnosis is valid on the day, complete, given once, and may come first is checked with the diagnoses of all claims
(C5); the days of service of an institutional claim are those of its statement.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from clearlane.claims.institutional_view import CodeView
from clearlane.claims.rules.diagnoses import ICD_10_CM, dotted, icd_version
from clearlane.claims.rules.institutional.bill_types import BillElement, forbids, requires
from clearlane.claims.rules.institutional.facility_codes import (
    ACCIDENTS,
    CAR_ACCIDENTS,
    CONDITION,
    COVERED_DAYS,
    DEMAND_BILL,
    DENIAL_NOTICE,
    EMPLOYMENT,
    EMPLOYMENT_ACCIDENT,
    HEIGHT,
    NOT_COVERED_DAYS,
    OCCURRENCE,
    OCCURRENCE_SPAN,
    STILL_A_PATIENT,
    UNSCHEDULED,
    VALUE,
    WEIGHT,
    is_accommodation,
    is_operation,
    is_unscheduled_visit,
)
from clearlane.claims.rules.institutional.stay import (
    PRE_ADMISSION_DAYS,
    is_notice,
    named_bill_type,
    statement_days,
)
from clearlane.claims.rules.registry import (
    BILL_TYPE,
    WARNING,
    FieldFinding,
    RuleInputs,
    edit_rule,
    is_whole,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel.finding import Severity

ICD_10_PCS = "icd-10-pcs"
UNACCEPTABLE = "unacceptable"
"""What the Medicare Code Editor says of a diagnosis that is no reason for a stay."""
DIAGNOSES, PRESENT = "institutional.diagnoses", "present_on_admission"
ADMITTING = "institutional.admitting_diagnosis"
VISIT_REASONS = "institutional.visit_reasons"
EXTERNAL_CAUSES = "institutional.external_causes"
PROCEDURES, DRG = "institutional.procedures", "institutional.drg"
SPANS, OCCURRENCES = "institutional.occurrence_spans", "institutional.occurrences"
VALUES, CONDITIONS = "institutional.value_codes", "institutional.condition_codes"
TREATMENT_CODES = "institutional.treatment_codes"
HI = "2300/HI"
NOT_COVERED = "lines[].not_covered"

_EXTERNAL_CAUSE = re.compile(r"[V-Y]")
_DRG = re.compile(r"\d{3,4}", re.ASCII)
_PCS = re.compile(r"[0-9A-HJ-NP-Z]{7}", re.ASCII)
# Families of ICD-10-CM with codes that are exempt from the mark: of these nothing is asked.
_MAY_BE_EXEMPT = re.compile(
    r"[QV-Z]|B9[0-4]|E64|I252|I69|O09|O665|O80|O94|P0[0-4]|R297|.{6}[DS]", re.ASCII
)


# Families whose codes are all exempt.
_IS_EXEMPT = re.compile(r"Q|B9[0-4]|E64|I252|I69|O80", re.ASCII)
_INJURY = re.compile(r"[STV-Y]", re.ASCII)


def _codes(found: Sequence[CodeView]) -> list[str]:
    return [one.code for one in found]


@rule("I130", paths=(EXTERNAL_CAUSES,), x12=HI)
def external_causes_are_external(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The list of external causes has codes V00 to Y99 alone."""
    for at, code in enumerate(_codes(view.institutional.external_causes)):
        if icd_version(view) == "10" and not _EXTERNAL_CAUSE.match(code):
            yield (
                f"{EXTERNAL_CAUSES}[{at}]",
                f"The code {quoted(dotted(code))} is no external cause (V00 to Y99); give it as another diagnosis.",
            )


@rule("I132", paths=(DIAGNOSES, BILL_TYPE), x12="2300/HI/01-02", severity=WARNING)
def principal_diagnosis_is_a_reason_to_stay(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The principal diagnosis of a hospital stay is one that the Medicare Code Editor takes as such."""
    stay = view.institutional
    principal = _codes(stay.diagnoses)[:1]
    if not requires(BillElement.PRINCIPAL_DIAGNOSIS, stay.bill_type) or stay.last_day is None:
        return
    known = inputs.code_lists[ICD_10_CM]
    for code in principal:
        if icd_version(view) == "10" and UNACCEPTABLE in known.attributes_on(code, stay.last_day):
            yield (
                f"{DIAGNOSES}[0]",
                f"The diagnosis {quoted(dotted(code))} is no reason for a stay by the Medicare Code Editor; give the disease "
                "or injury first.",
            )


@rule("I133", paths=(ADMITTING, BILL_TYPE), x12=HI)
def stay_has_an_admitting_diagnosis(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A stay has the diagnosis at admission; home health has none (interpretation 1479)."""
    stay = view.institutional
    if requires(BillElement.ADMITTING_DIAGNOSIS, stay.bill_type) and not stay.admitting_diagnosis:
        yield (
            ADMITTING,
            f"The type of bill {named_bill_type(view)} has the diagnosis at admission, and it is missing; give "
            f"{view.form.name_of(ADMITTING)}.",
        )
    elif stay.admitting_diagnosis and forbids(BillElement.ADMITTING_DIAGNOSIS, stay.bill_type):
        yield (
            f"{ADMITTING}[0]",
            f"The type of bill {named_bill_type(view)} has no admitting diagnosis; leave it out.",
        )


@rule("I134", paths=(VISIT_REASONS, "lines[].revenue_code"), x12=HI, severity=WARNING)
def unscheduled_visit_has_a_reason(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An unscheduled outpatient visit (emergency, urgent care, observation) has the patient's reason."""
    stay = view.institutional
    if (
        requires(BillElement.VISIT_REASON, stay.bill_type)
        and stay.admission_type in UNSCHEDULED
        and not stay.visit_reasons
        and any(is_unscheduled_visit(line.revenue_code) for line in view.lines)
    ):
        yield (
            VISIT_REASONS,
            f"The visit was not scheduled (admission type {stay.admission_type} with emergency care, urgent care or "
            f"observation), and the patient's reason is missing; give {view.form.name_of(VISIT_REASONS)}.",
        )


@rule("I135", paths=(VISIT_REASONS, BILL_TYPE), x12=HI)
def stay_has_no_visit_reason(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A stay has an admitting diagnosis, and no reason for a visit."""
    stay = view.institutional
    if stay.visit_reasons and forbids(BillElement.VISIT_REASON, stay.bill_type):
        yield (
            f"{VISIT_REASONS}[0]",
            f"The type of bill {named_bill_type(view)} has no reason for a visit; give "
            f"{view.form.name_of(ADMITTING)} in its place.",
        )


@rule("I136", paths=(DIAGNOSES, BILL_TYPE), x12="2300/HI/01-02", severity=WARNING)
def diagnoses_say_what_was_present(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Each diagnosis of a hospital stay says whether it was present on admission, unless its code is exempt."""
    stay = view.institutional
    if not requires(BillElement.PRESENT_ON_ADMISSION, stay.bill_type):
        return
    for at, one in enumerate(stay.diagnoses):
        is_asked = icd_version(view) == "10" and not _MAY_BE_EXEMPT.match(one.code)
        if is_asked and one.present_on_admission is None:
            yield (
                f"{DIAGNOSES}[{at}]",
                f"The diagnosis {quoted(dotted(one.code))} does not say whether it was present on admission; give Y, N, U or W "
                f"in {view.form.name_of(f'{DIAGNOSES}[{at}].{PRESENT}')}.",
            )


@rule("I137", paths=(DIAGNOSES, BILL_TYPE), x12="2300/HI/01-02", severity=WARNING)
def exempt_diagnoses_say_nothing(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A diagnosis that is exempt from the mark does not say whether it was present on admission."""
    stay = view.institutional
    if not requires(BillElement.PRESENT_ON_ADMISSION, stay.bill_type) or icd_version(view) != "10":
        return
    for at, one in enumerate(stay.diagnoses):
        if one.present_on_admission and _IS_EXEMPT.match(one.code):
            yield (
                f"{DIAGNOSES}[{at}]",
                f"The diagnosis {quoted(dotted(one.code))} is exempt from the mark of what was present on admission; leave out "
                f"{view.form.name_of(f'{DIAGNOSES}[{at}].{PRESENT}')}.",
            )


@rule("I138", paths=(DIAGNOSES, BILL_TYPE), x12="2300/HI/01-02", severity=WARNING)
def outpatient_has_nothing_present(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An outpatient bill does not say what was present on admission."""
    stay = view.institutional
    if not forbids(BillElement.PRESENT_ON_ADMISSION, stay.bill_type):
        return
    for path, found in ((DIAGNOSES, stay.diagnoses), (EXTERNAL_CAUSES, stay.external_causes)):
        for at, one in enumerate(found):
            if one.present_on_admission:
                yield (
                    f"{path}[{at}]",
                    f"The type of bill {named_bill_type(view)} has no admission, and the diagnosis {quoted(dotted(one.code))} "
                    "is marked as present on admission or not; leave out "
                    f"{view.form.name_of(f'{path}[{at}].{PRESENT}')}.",
                )


@rule("I141", paths=(PROCEDURES,), x12=HI)
def procedures_are_valid(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An ICD-10-PCS code is valid on the last day of the statement, unless that is later than the list."""
    stay, known = view.institutional, inputs.code_lists[ICD_10_PCS]
    if stay.last_day is None or icd_version(view) != "10" or not known.covers(stay.last_day):
        return
    for at, code in enumerate(_codes(stay.procedures)):
        if _PCS.fullmatch(code) and not known.is_valid(code, stay.last_day, stay.last_day):
            yield (
                f"{PROCEDURES}[{at}]",
                f"There is no ICD-10-PCS code {quoted(code)} on {stay.last_day}; give a code that is valid then.",
            )


@rule("I143", paths=(PROCEDURES, BILL_TYPE), x12=HI, severity=WARNING)
def procedures_are_in_the_stay(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A procedure is done in the days of the statement, or up to three days before them."""
    days = statement_days(view.institutional)
    if days is None:
        return
    first = days[0] if (admitted := view.dates.admission) is None else min(days[0], admitted)
    for at, one in enumerate(view.institutional.procedures):
        if one.first_day and not first - PRE_ADMISSION_DAYS <= one.first_day <= days[1]:
            yield (
                f"{PROCEDURES}[{at}]",
                f"The procedure {quoted(one.code)} was done on {one.first_day}, and the stay is from {first} to {days[1]}; give "
                "its day, or leave it to the bill of that day.",
            )


@rule("I144", paths=(PROCEDURES, BILL_TYPE), x12=HI, severity=WARNING)
def icd_procedures_are_for_stays(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """ICD procedures are for stays; other bills state procedures on their lines (HCPCS)."""
    stay = view.institutional
    if stay.procedures and forbids(BillElement.ICD_PROCEDURE, stay.bill_type):
        yield (
            f"{PROCEDURES}[0]",
            f"The type of bill {named_bill_type(view)} has its procedures on the lines (HCPCS), no ICD procedures; leave them "
            "out.",
        )


@rule(
    "I145",
    paths=("operating.last_name", PROCEDURES, "lines[].revenue_code"),
    x12="NM1/03",
    severity=WARNING,
)
def operation_has_a_surgeon(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim with a surgical procedure names the operating physician."""
    is_surgical = any(map(_is_surgery, _codes(view.institutional.procedures))) or any(
        is_operation(line.revenue_code) for line in view.lines
    )
    if is_surgical and not (view.operating.last_name or view.operating.npi):
        yield (
            "operating.last_name",
            "There is an operation, and no one is named who operated; give the operating physician, beginning with "
            f"{view.form.name_of('operating.last_name')}.",
        )


def _is_surgery(code: str) -> bool:
    """Return whether a code of ICD-10-PCS is of its section of operations, in obstetrics too."""
    return code[:1] in ("0", "1")


@rule("I146", paths=(DRG,), x12=HI, severity=WARNING)
def drg_exists(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A diagnosis related group has three or four digits."""
    for code in _codes(view.institutional.drg):
        if not _DRG.fullmatch(code):
            yield (
                f"{DRG}[0]",
                f"There is no diagnosis related group {quoted(code)}; give three or four digits.",
            )


@edit_rule("I147", edit="drg", paths=(DRG, BILL_TYPE), x12=HI)
def payer_prices_by_group(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A hospital stay for a payer that prices by diagnosis related group has one."""
    stay = view.institutional
    if requires(BillElement.PRINCIPAL_DIAGNOSIS, stay.bill_type) and not stay.drg:
        yield (
            DRG,
            f"The payer {quoted(view.payer.id)} prices a stay by its diagnosis related group, and there is none; give "
            f"{view.form.name_of(DRG)}.",
        )


def _repeated(
    path: str, keys: Sequence[object], codes: Sequence[str], what: str
) -> Iterator[FieldFinding]:
    """Yield a finding for each code that repeats an earlier one."""
    seen: Counter[object] = Counter()
    for at, key in enumerate(keys):
        seen[key] += 1
        if seen[key] == 2:
            yield f"{path}[{at}]", f"The {what} {quoted(codes[at])} is given twice; give each once."


@rule("I148", paths=(CONDITIONS,), x12=HI, severity=WARNING)
def condition_codes_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A condition code is given once."""
    codes = _codes(view.institutional.condition_codes)
    yield from _repeated(CONDITIONS, codes, codes, "condition code")


@rule("I248", paths=(CONDITIONS,), x12=HI, severity=WARNING)
def condition_codes_exist(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A condition code is in a range that exists: 01 to 99, or a letter with a second character."""
    codes = _codes(view.institutional.condition_codes)
    yield from _outside(CONDITIONS, codes, CONDITION, "condition code, such as 02 or D1")


def _outside(
    path: str, codes: Sequence[str], form: re.Pattern[str], what: str
) -> Iterator[FieldFinding]:
    """Yield a finding for each code that is in no range of its list."""
    for at, code in enumerate(codes):
        if not form.fullmatch(code):
            yield (
                f"{path}[{at}]",
                f"The code {quoted(code)} is no {what}; give a code of that list.",
            )


@rule("I149", paths=(OCCURRENCES,), x12=HI, severity=WARNING)
def occurrences_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An occurrence code is given once for a day."""
    found = view.institutional.occurrences
    keys = [(one.code, one.first_day) for one in found]
    yield from _repeated(OCCURRENCES, keys, _codes(found), "occurrence code")


@rule("I249", paths=(OCCURRENCES, SPANS), x12=HI, severity=WARNING)
def occurrences_and_spans_have_their_own_codes(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Occurrences are 01 to 69 and A0 to L9, spans of days are 70 to 99 and M0 to Z9."""
    stay = view.institutional
    occurrences, spans = _codes(stay.occurrences), _codes(stay.occurrence_spans)
    yield from _outside(OCCURRENCES, occurrences, OCCURRENCE, "occurrence (01 to 69, A0 to L9)")
    yield from _outside(SPANS, spans, OCCURRENCE_SPAN, "occurrence span (70 to 99, M0 to Z9)")


@rule("I150", paths=(SPANS,), x12=HI)
def spans_run_forwards(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A span of days begins in the patient's life, and ends on or after the day it begins."""
    found = view.institutional.occurrence_spans
    for at, one in enumerate(found):
        if one.first_day and one.last_day and one.last_day < one.first_day:
            yield (
                f"{SPANS}[{at}]",
                f"The span {quoted(one.code)} ends on {one.last_day}, before it begins on {one.first_day}; give the later day "
                "last.",
            )
        elif one.first_day and view.patient_birth and one.first_day < view.patient_birth:
            yield (
                f"{SPANS}[{at}]",
                f"The span {quoted(one.code)} begins on {one.first_day}, before the patient's birth on {view.patient_birth}; "
                "correct one of these days.",
            )


@rule("I250", paths=(SPANS,), x12=HI, severity=WARNING)
def spans_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A span of days is given once."""
    found = view.institutional.occurrence_spans
    keys = [(one.code, one.first_day, one.last_day) for one in found]
    yield from _repeated(SPANS, keys, _codes(found), "occurrence span")


@rule("I151", paths=(VALUES,), x12=HI, severity=WARNING)
def value_codes_are_different(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A value code is given once."""
    codes = _codes(view.institutional.value_codes)
    yield from _repeated(VALUES, codes, codes, "value code")


@rule("I251", paths=(VALUES,), x12=HI, severity=WARNING)
def value_codes_exist(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A value code is in a range that exists, and states an amount."""
    found = view.institutional.value_codes
    yield from _outside(VALUES, _codes(found), VALUE, "value code, such as 01 or A8")
    for at, one in enumerate(found):
        if one.amount is None:
            yield (
                f"{VALUES}[{at}]",
                f"The value {quoted(one.code)} has no amount; give it in {view.form.name_of(f'{VALUES}[{at}].amount')}.",
            )


def _stay_days(view: ClaimView) -> int | None:
    """Return the days of a statement as a stay counts them: from the admission, and the last one only of a patient who is
    still there."""
    stay, admitted = view.institutional, view.dates.admission
    days = statement_days(stay)
    if days is None:
        return None
    first = max(days[0], admitted) if admitted and admitted <= days[1] else days[0]
    counted = (days[1] - first).days + (stay.status == STILL_A_PATIENT)
    # Who comes and goes on one day was there for a day.
    return max(counted, 1)


@rule("I152", paths=(VALUES, "lines[].units", "institutional.last_day"), x12=HI, severity=WARNING)
def days_add_up(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Covered and not covered days (values 80 and 81) are the days of the statement, and the units of accommodation."""
    stay = view.institutional
    covered = stay.amount_of(COVERED_DAYS)
    if covered is None or not requires(BillElement.COVERED_DAYS, stay.bill_type):
        return
    stated = covered + (stay.amount_of(NOT_COVERED_DAYS) or 0)
    days = _stay_days(view)
    at = _codes(stay.value_codes).index(COVERED_DAYS)
    if days is not None and stated != days:
        yield (
            f"{VALUES}[{at}]",
            f"Covered and not covered days (values 80 and 81) add up to {_shown(stated)}, and the statement has {days}; make "
            "them equal.",
        )
    stays = [line for line in view.lines if is_accommodation(line.revenue_code)]
    units = sum([line.units or Decimal(0) for line in stays], Decimal(0))
    if stays and units != stated:
        yield (
            f"{VALUES}[{at}]",
            f"Covered and not covered days (values 80 and 81) add up to {_shown(stated)}, and accommodation has {_shown(units)} "
            "days; make them equal.",
        )


def _shown(number: Decimal) -> str:
    return str(number.to_integral_value()) if is_whole(number) else str(number)


@rule("I153", paths=(VALUES, BILL_TYPE), x12=HI, severity=WARNING)
def stay_has_covered_days(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A stay states its covered days (value 80)."""
    stay = view.institutional
    if requires(BillElement.COVERED_DAYS, stay.bill_type) and stay.amount_of(COVERED_DAYS) is None:
        yield (
            VALUES,
            f"The type of bill {named_bill_type(view)} states its covered days; give value 80, and 81 for days that are not "
            "covered.",
        )


@rule("I154", paths=(CONDITIONS, OCCURRENCES), x12=HI, severity=WARNING)
def employment_has_its_accident(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A condition that comes from employment (02) has the day of the accident (occurrence 04)."""
    stay = view.institutional
    conditions = _codes(stay.condition_codes)
    if EMPLOYMENT in conditions and EMPLOYMENT_ACCIDENT not in _codes(stay.occurrences):
        yield (
            f"{CONDITIONS}[{conditions.index(EMPLOYMENT)}]",
            "The condition comes from employment (02), and the day of its accident is missing; give occurrence 04.",
        )


@rule("I254", paths=(OCCURRENCES, DIAGNOSES), x12=HI, severity=WARNING)
def accident_has_an_injury(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim with the day of an accident or crime (occurrences 01 to 06) has an injury or its cause among its diagnoses."""
    stay = view.institutional
    stated = [*stay.diagnoses, *stay.external_causes]
    if icd_version(view) != "10" or any(_INJURY.match(one.code) for one in stated):
        return
    for at, code in enumerate(_codes(stay.occurrences)):
        if code in ACCIDENTS:
            yield (
                f"{OCCURRENCES}[{at}]",
                f"Occurrence {code} is an accident or a crime, and no diagnosis is an injury (S00 to T88) or an external cause; "
                "give one, or leave the occurrence out.",
            )


@rule(
    "I354",
    paths=("accident_state", OCCURRENCES, EXTERNAL_CAUSES),
    if_form_has=BILL_TYPE,
    x12="2300/REF:LU/02",
    severity=WARNING,
)
def car_accident_has_its_state(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim with the day of a car accident (occurrences 01 to 03, cause V00 to V99) names the state of the accident."""
    stay = view.institutional
    causes = [*stay.diagnoses, *stay.external_causes]
    is_traffic = icd_version(view) == "10" and any(one.code[:1] == "V" for one in causes)
    if view.accident_state or not is_traffic:
        return
    for code in _codes(stay.occurrences):
        if code in CAR_ACCIDENTS:
            yield (
                "accident_state",
                f"Occurrence {code} with a cause of V00 to V99 is a car accident, and its state is missing; give "
                f"{view.form.name_of('accident_state')}.",
            )
            return


@rule("I156", paths=(TREATMENT_CODES, BILL_TYPE), x12=HI, severity=Severity.INFO)
def treatment_codes_are_past(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Treatment authorization codes were of home health, until 2019."""
    stay = view.institutional
    is_theirs = not forbids(BillElement.TREATMENT_CODE, stay.bill_type)
    if stay.treatment_codes and not (is_theirs and stay.last_day and stay.last_day.year < 2020):
        yield (
            f"{TREATMENT_CODES}[0]",
            "Treatment authorization codes (HI*TC) were of home health, until the end of 2019; leave them out.",
        )


@rule("I157", paths=(VALUES, BILL_TYPE), x12=HI, severity=WARNING)
def dialysis_has_weight_and_height(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A bill of a dialysis center has the patient's weight and height (values A8 and A9)."""
    stay = view.institutional
    given = set(_codes(stay.value_codes))
    if requires(BillElement.DIALYSIS_MEASURES, stay.bill_type) and not {WEIGHT, HEIGHT} <= given:
        yield (
            VALUES,
            "A dialysis center states the patient's weight in kilograms (value A8) and height in centimeters (value A9); "
            "give both.",
        )


@rule("I158", paths=(CONDITIONS, "lines[].not_covered"), x12=HI, severity=WARNING)
def denial_notice_covers_nothing(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A bill for a denial (condition 21) has all charges as not covered, one on demand (20) some."""
    conditions = _codes(view.institutional.condition_codes)
    open_lines = [line for line in view.lines if line.charge and line.not_covered != line.charge]
    if DENIAL_NOTICE in conditions and open_lines:
        yield (
            f"{CONDITIONS}[{conditions.index(DENIAL_NOTICE)}]",
            "The bill asks for a denial (condition 21), and not all of its charges are stated as not covered; give the "
            f"charge of each line in {view.form.name_of(NOT_COVERED)} too.",
        )
    elif (
        DEMAND_BILL in conditions
        and view.lines
        and not any(line.not_covered for line in view.lines)
        and not is_notice(view)
    ):
        yield (
            f"{CONDITIONS}[{conditions.index(DEMAND_BILL)}]",
            "The patient demands the bill (condition 20), and no charge is stated as not covered; give the charge of the "
            f"lines in question in {view.form.name_of(NOT_COVERED)} too.",
        )
