"""I169 to I185: the lines of an institutional claim."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from clearlane.claims.rules.institutional.bill_types import BillElement, forbids, requires
from clearlane.claims.rules.institutional.facility_codes import (
    DETAILED_DRUGS,
    HIPPS_REVENUE,
    LEAVE_OF_ABSENCE,
    LEAVE_SPAN,
    TOTAL_LINE,
    asks_for_procedure,
    has_four_digits,
    is_accommodation,
    is_revenue_code,
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
    is_whole,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView, LineView
from clearlane.kernel.formats import format_amount

REVENUE = "lines[].revenue_code"
PROCEDURE, PROCEDURE_TYPE = "lines[].procedure", "lines[].procedure_type"
LINE_DAY = "lines[].first_day"
HIPPS, HCPCS, HIPPS_CHARACTERS = "HP", "HC", 5
DAYS, UNITS = "DA", "UN"
MEDICARE_PART_A, MEDICARE_LINES_MAX = "MA", 449
ZERO = Decimal(0)


@rule("I169", paths=(REVENUE,), x12="2400/SV2/01")
def revenue_codes_have_four_digits(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A revenue code has four digits; the total (0001) is no line."""
    for at, line in enumerate(view.lines):
        code = line.revenue_code
        if code == TOTAL_LINE:
            yield (
                f"lines[{at}].revenue_code",
                "Revenue code 0001 is the total of a paper bill; leave the line out: the total is in "
                f"{view.form.name_of('total_charge')}.",
            )
        elif code and not has_four_digits(code):
            yield (
                f"lines[{at}].revenue_code",
                f"There is no revenue code {quoted(code)}; give four digits with the leading zero, such as 0120.",
            )


@rule("I269", paths=(REVENUE,), x12="2400/SV2/01", severity=WARNING)
def revenue_codes_are_in_a_category(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A revenue code is of a category that exists."""
    for at, line in enumerate(view.lines):
        code = line.revenue_code or TOTAL_LINE
        if code != TOTAL_LINE and has_four_digits(code) and not is_revenue_code(code):
            yield (
                f"lines[{at}].revenue_code",
                f"The revenue code {quoted(code)} is in no category that Clearlane knows; give a code of the list, such as 0120.",
            )


@rule(
    "I170",
    paths=(PROCEDURE, REVENUE, BILL_TYPE),
    if_form_has=BILL_TYPE,
    x12="2400/SV2/02-02",
    severity=WARNING,
)
def outpatient_services_have_a_procedure(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Laboratory, imaging, emergency care and detailed drugs of an outpatient have a procedure (HCPCS)."""
    if not requires(BillElement.LINE_PROCEDURE, view.institutional.bill_type):
        return
    for at, line in enumerate(view.lines):
        if asks_for_procedure(line.revenue_code) and not line.procedure:
            yield (
                f"lines[{at}].procedure",
                f"Revenue code {line.revenue_code} of the type of bill {named_bill_type(view)} has a procedure; give its HCPCS "
                f"code in {view.form.name_of(PROCEDURE)}.",
            )


@rule(
    "I171",
    paths=("lines[].procedure_type", PROCEDURE, REVENUE),
    x12="2400/SV2/02-01",
    severity=WARNING,
)
def rate_codes_are_on_their_lines(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Lines 0022, 0023 and 0024 have a HIPPS rate code of five characters, and other lines have none."""
    for at, line in enumerate(view.lines):
        is_rate_line, is_rate = line.revenue_code in HIPPS_REVENUE, line.procedure_type == HIPPS
        if is_rate_line and (not is_rate or len(line.procedure) != HIPPS_CHARACTERS):
            yield (
                f"lines[{at}].procedure_type",
                f"Revenue code {line.revenue_code} has a HIPPS rate code; give its five characters in "
                f"{view.form.name_of(PROCEDURE)}{_with_type(view, HIPPS)}.",
            )
        elif is_rate and line.revenue_code and not is_rate_line:
            yield (
                f"lines[{at}].procedure_type",
                f"A HIPPS rate code is on a line 0022, 0023 or 0024, and this one is {quoted(line.revenue_code)}; give the "
                f"procedure{_with_type(view, HCPCS)}.",
            )


def _with_type(view: ClaimView, type: str) -> str:
    """Return where the type of a procedure is stated, if the form states it; else it follows from the revenue code."""
    name = view.form.name_of(PROCEDURE_TYPE)
    return "" if name == view.form.name_of(PROCEDURE) else f" with {type} in {name}"


def _undated(view: ClaimView) -> list[int]:
    """Return the lines without a day in a bill whose lines have days."""
    if not requires(BillElement.LINE_DATE, view.institutional.bill_type) or is_notice(view):
        return []
    return [at for at, line in enumerate(view.lines) if line.first_day is None]


def _is_one_day(view: ClaimView) -> bool:
    days = statement_days(view.institutional)
    return days is not None and days[0] == days[1]


@rule("I172", paths=(LINE_DAY, BILL_TYPE), if_form_has=BILL_TYPE, x12="2400/DTP:472/03")
def outpatient_lines_have_a_day(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Each line of an outpatient has its day of service."""
    for at in [] if _is_one_day(view) else _undated(view):
        yield (
            f"lines[{at}].first_day",
            f"The line has no day, and the type of bill {named_bill_type(view)} has one on each line; give "
            f"{view.form.name_of(LINE_DAY)}.",
        )


@rule(
    "I272",
    paths=(LINE_DAY, BILL_TYPE),
    if_form_has=BILL_TYPE,
    x12="2400/DTP:472/03",
    severity=WARNING,
)
def lines_of_one_day_have_a_day(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Each line of an outpatient has its day of service, as most payers want it also if the statement is one day."""
    for at in _undated(view) if _is_one_day(view) else []:
        yield (
            f"lines[{at}].first_day",
            f"The line has no day, and the type of bill {named_bill_type(view)} has one on each line; give "
            f"{view.form.name_of(LINE_DAY)}.",
        )


@rule("I173", paths=(LINE_DAY, BILL_TYPE), if_form_has=BILL_TYPE, x12="2400/DTP:472/03")
def line_days_are_in_the_statement(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The days of a line are those of the statement, or up to three days before it."""
    days = statement_days(view.institutional)
    if days is None:
        return
    first, last = days[0] - PRE_ADMISSION_DAYS, days[1]
    for at, line in enumerate(view.lines):
        outside = _day_outside(line, first, last)
        if outside is not None:
            yield (
                f"lines[{at}].first_day",
                f"The line is of {outside}, and the statement is from {days[0]} to {days[1]}; give a day of the statement, or "
                "correct its days.",
            )


def _day_outside(line: LineView, first: date, last: date) -> date | None:
    given = [day for day in (line.first_day, line.last_day) if day is not None]
    return next((day for day in given if not first <= day <= last), None)


@rule("I174", paths=("lines[].unit", REVENUE), x12="2400/SV2/04", severity=WARNING)
def accommodation_is_in_days(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Accommodation is counted in days (DA), all else in units (UN)."""
    for at, line in enumerate(view.lines):
        wanted = DAYS if is_accommodation(line.revenue_code) else UNITS
        if line.unit in (DAYS, UNITS) and line.revenue_code and line.unit != wanted:
            yield (
                f"lines[{at}].unit",
                f"Revenue code {line.revenue_code} is counted in {'days (DA)' if wanted == DAYS else 'units (UN)'}, and the line "
                f"has {line.unit}; give {wanted}.",
            )


@rule("I175", paths=("lines[].unit", "lines[].units"), x12="2400/SV2/05")
def days_are_whole(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Days are counted as whole ones."""
    for at, line in enumerate(view.lines):
        if line.unit == DAYS and line.units is not None and not is_whole(line.units):
            yield f"lines[{at}].units", f"There are {line.units} days; give a whole number."


@rule("I177", paths=(REVENUE, BILL_TYPE), x12="2400/SV2/01", severity=WARNING)
def stay_has_accommodation(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A stay has at least one line of accommodation (010x to 021x)."""
    bill_type = view.institutional.bill_type
    if not view.lines or not requires(BillElement.ACCOMMODATION, bill_type):
        return
    if not any(is_accommodation(line.revenue_code) for line in view.lines):
        yield (
            "lines[0].revenue_code",
            f"The type of bill {named_bill_type(view)} has accommodation, and no line has it (revenue codes 0100 to 0219); "
            "give its days.",
        )


@rule("I178", paths=(REVENUE, BILL_TYPE), x12="2400/SV2/01", severity=WARNING)
def outpatient_has_no_accommodation(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A bill of an outpatient, or of a stay under Part B, has no accommodation."""
    if not forbids(BillElement.ACCOMMODATION, view.institutional.bill_type):
        return
    for at, line in enumerate(view.lines):
        if is_accommodation(line.revenue_code):
            yield (
                f"lines[{at}].revenue_code",
                f"Revenue code {line.revenue_code} is accommodation, which the type of bill {named_bill_type(view)} does not "
                "have; give the service, or the type of bill of a stay.",
            )


@rule("I179", paths=(REVENUE, "lines[].units"), x12="2400/SV2/05", severity=WARNING)
def leave_days_are_those_of_the_span(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Days of leave (018x) are those of the spans of leave (74)."""
    lines = [
        at
        for at, line in enumerate(view.lines)
        if (line.revenue_code or "").startswith(LEAVE_OF_ABSENCE)
    ]
    if not lines:
        return
    billed = sum([view.lines[at].units or ZERO for at in lines], ZERO)
    spans = [one for one in view.institutional.occurrence_spans if one.code == LEAVE_SPAN]
    days = sum(
        (one.last_day - one.first_day).days + 1
        for one in spans
        if one.first_day and one.last_day and one.first_day <= one.last_day
    )
    if billed != days:
        yield (
            f"lines[{lines[0]}].units",
            f"There are {billed} days of leave (revenue code 018x), and {days} in spans of leave (74); make them equal.",
        )


@rule("I180", paths=(REVENUE, "lines[].charge"), x12="2400/SV2/03", severity=WARNING)
def lines_ask_for_something(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Only lines of prospective payment (0022 to 0024) have a charge of 0."""
    for at, line in enumerate(view.lines):
        is_free = line.revenue_code in HIPPS_REVENUE or is_notice(view) or view.is_encounter
        if line.charge == ZERO and not is_free and line.revenue_code:
            yield (
                f"lines[{at}].charge",
                f"The charge of revenue code {line.revenue_code} is 0.00; some payers reject such a line.",
            )


@rule("I182", paths=("lines[].not_covered", "lines[].charge"), x12="2400/SV2/07")
def not_covered_is_part_of_the_charge(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """What is not covered of a line is not more than its charge."""
    for at, line in enumerate(view.lines):
        if line.not_covered is None or line.charge is None:
            continue
        if line.not_covered > line.charge or line.not_covered < ZERO:
            yield (
                f"lines[{at}].not_covered",
                f"Of the charge {format_amount(line.charge)} the amount {format_amount(line.not_covered)} is said to be not "
                "covered; give an amount from 0 to the charge.",
            )


@rule(
    "I184",
    paths=(PROCEDURE, REVENUE),
    if_form_has=BILL_TYPE,
    x12="2400/SV2/02-02",
    severity=WARNING,
)
def detailed_drugs_have_a_code(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Drugs with detailed coding (0636) have their HCPCS code, also on a stay."""
    if requires(BillElement.LINE_PROCEDURE, view.institutional.bill_type):
        return  # I170 finds it.
    for at, line in enumerate(view.lines):
        if line.revenue_code == DETAILED_DRUGS and not line.procedure:
            yield (
                f"lines[{at}].procedure",
                f"Revenue code 0636 is for drugs with their own code; give the HCPCS code in {view.form.name_of(PROCEDURE)}, or "
                "revenue code 0250.",
            )


@rule("I185", paths=(REVENUE, "lines", "payer.coverage"), x12="2400/LX/01", severity=WARNING)
def medicare_takes_449_lines(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Medicare takes at most 449 lines of a claim."""
    if view.payer.coverage == MEDICARE_PART_A and len(view.lines) > MEDICARE_LINES_MAX:
        yield (
            f"lines[{MEDICARE_LINES_MAX}]",
            f"There are {len(view.lines)} lines, and Medicare takes {MEDICARE_LINES_MAX}; divide the claim, or add lines up.",
        )
