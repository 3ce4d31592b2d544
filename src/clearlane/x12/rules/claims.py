"""Rules of whole claims of an 837: totals, numbers, dates, diagnoses, pointers.

Errors break the file; what a payer may reject is a warning. Knows claim loops; knows no other file and no
clock.
"""

import re
from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import (
    CLAIM_NUMBERS_REMEMBERED_MAX,
    CLAIMS_PER_SET_MAX,
    CONTROL_NUMBERS_REMEMBERED_MAX,
)
from clearlane.x12.rules import SET, RuleContext, RuleFinding, is_repeated, parse_cents, rule
from clearlane.x12.rules.claims_parts import (
    CLAIM_KINDS,
    ICD9,
    ICD10,
    Row,
    claim_parts,
    set_date,
    value_at,
)
from clearlane.x12.tree import Loop

CLAIM_NUMBER_CHARACTERS_MAX = 20
ICD10_FROM = "20151001"
INPATIENT = frozenset({"21", "51", "61"})
WARNING, INFO = Severity.WARNING, Severity.INFO
# Placeholders that senders write if there is no number.
PLACEHOLDERS = frozenset({"NONE", "N/A", "NA", "UNKNOWN", "0"})
PERIODS_ONLY = frozenset({"314", "434"})
"""Dates (DTP01) that the guides want as a period (RD8) even if it is a single day: a disability with both its days in an
837P, the statement of an 837I."""

_ICD10 = re.compile(r"[A-Z][0-9A][0-9A-Z][0-9A-Z]{0,4}", re.ASCII)
_ICD9 = re.compile(r"\d{3,5}|V\d{2,4}|E(?:0[0-3]\d|[89]\d\d)\d?", re.ASCII)
_ICD10_PROCEDURE = re.compile(r"[0-9A-HJ-NP-Z]{7}", re.ASCII)
_ICD9_PROCEDURE = re.compile(r"\d{2,4}", re.ASCII)
# The form of the codes of each list.
FORMS = {
    **dict.fromkeys(("ABK", "ABF", "ABJ", "APR", "ABN"), (_ICD10, "an ICD-10-CM code")),
    **dict.fromkeys(("BK", "BF", "BJ", "PR", "BN"), (_ICD9, "an ICD-9-CM code")),
    **dict.fromkeys(("BBR", "BBQ"), (_ICD10_PROCEDURE, "an ICD-10-PCS code")),
    **dict.fromkeys(("BR", "BQ"), (_ICD9_PROCEDURE, "an ICD-9-CM procedure code")),
}


@rule("X837-TOTAL", loop="2300", kinds=CLAIM_KINDS, snip=3, places=("2300/CLM/02",))
def total_is_the_sum_of_lines(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The total charge of a claim is the sum of its line charges."""
    parts = claim_parts(loop, ctx)
    charges = [line.charge for line in parts.lines]
    if parts.total is None or None in charges or not charges:
        return
    if parts.total != sum(charges):  # type: ignore[arg-type]  # none is None here
        yield RuleFinding(
            "CLM02 (total charge) must equal the sum of the line charges", parts.clm, 2
        )


@rule("X837-NUMBER-TWICE", loop="2300", kinds=CLAIM_KINDS, snip=7, severity=WARNING)
def claim_number_is_used_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim number occurs once in a file."""
    clm = claim_parts(loop, ctx).clm
    seen: set[str] = ctx.file_state.setdefault("837-numbers", set())
    number = value_at(clm, 1)
    if number and is_repeated(number, seen, CLAIM_NUMBERS_REMEMBERED_MAX):
        yield RuleFinding(
            "CLM01 (claim number) should be unlike that of every earlier claim of the file", clm, 1
        )


@rule("X837-NUMBER-LONG", loop="2300", kinds=CLAIM_KINDS, snip=7, severity=WARNING)
def claim_number_comes_back_whole(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim number has at most 20 characters, because responses need not carry more."""
    clm = claim_parts(loop, ctx).clm
    if len(value_at(clm, 1)) > CLAIM_NUMBER_CHARACTERS_MAX:
        yield RuleFinding(
            f"CLM01 (claim number) should have at most {CLAIM_NUMBER_CHARACTERS_MAX} characters",
            clm,
            1,
        )


@rule("X837-COUNT", loop="2300", kinds=CLAIM_KINDS, snip=7, severity=WARNING)
def claims_fit_a_set(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A transaction set holds at most 5,000 claims."""
    count = ctx.set_state["837-count"] = ctx.set_state.get("837-count", 0) + 1
    if count == CLAIMS_PER_SET_MAX + 1:
        yield RuleFinding(
            f"A set should hold at most {CLAIMS_PER_SET_MAX:,} claims", claim_parts(loop, ctx).clm
        )


@rule("X837-NO-CLAIM", loop=SET, kinds=CLAIM_KINDS, snip=2)
def set_holds_a_claim(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A transaction set of claims holds at least one claim."""
    if not ctx.set_state.get("837-count"):
        yield RuleFinding("The set must hold at least one claim (CLM)")


@rule("X837-BATCH-TWICE", loop=SET, kinds=CLAIM_KINDS, snip=7, severity=WARNING)
def batch_number_is_used_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A batch number (BHT03) occurs once in a file."""
    row = loop.segment("BHT")
    seen: set[str] = ctx.file_state.setdefault("837-batches", set())
    number = value_at(row, 3)
    if number and is_repeated(number, seen, CONTROL_NUMBERS_REMEMBERED_MAX):
        message = "BHT03 (batch number) should be unlike that of every earlier set of the file"
        yield RuleFinding(message, row, 3)


@rule("X837-ORIGINAL", loop="2300", kinds=CLAIM_KINDS, snip=4, places=("2300/REF:F8/02",))
def replacement_names_the_original(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A replacement or void (frequency 7 or 8) names the payer's number of the earlier claim."""
    parts = claim_parts(loop, ctx)
    if value_at(parts.clm, 5, 3) in {"7", "8"} and parts.first("REF", "F8") is None:
        yield RuleFinding(
            "A claim with frequency 7 or 8 needs REF*F8 with the payer's claim number",
            parts.clm,
            5,
            3,
        )


@rule(
    "X837-ACCIDENT-DATE", loop="2300", kinds=("837P", "837D"), snip=4, places=("2300/DTP:439/03",)
)
def accident_has_a_date(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim caused by an accident has the date of the accident."""
    parts = claim_parts(loop, ctx)
    if not value_at(parts.clm, 11):
        return
    causes = set(value_at(parts.clm, 11).split(":")[:3])
    if parts.first("DTP", "439") is not None:
        return
    if causes & {"AA", "OA"}:
        yield RuleFinding(
            "A claim from an accident (AA, OA) needs DTP*439 with its day", parts.clm, 11, 1
        )
    elif "EM" in causes:
        # A cause in employment need not be an accident, but most payers ask for the day.
        message = "A claim from employment (EM) should have DTP*439 if there was an accident"
        yield RuleFinding(message, parts.clm, 11, 1, severity=WARNING)


@rule(
    "X837-ACCIDENT-CAUSE",
    loop="2300",
    kinds=("837P", "837D"),
    snip=4,
    needs=("DTP",),
    places=("2300/DTP:439/03",),
)
def accident_date_has_a_cause(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The date of an accident comes with the kind of accident (CLM11)."""
    parts = claim_parts(loop, ctx)
    row = parts.first("DTP", "439")
    if row is not None and not value_at(parts.clm, 11):
        message = "DTP*439 (day of the accident) needs CLM11 with its kind: AA, EM or OA"
        yield RuleFinding(message, row, 1)


@rule("X837-ACCIDENT-STATE", loop="2300", kinds=("837P", "837D"), snip=4, places=("2300/CLM/11-4",))
def car_accident_has_a_state(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A car accident happened in a state, or in another country."""
    clm = claim_parts(loop, ctx).clm
    if (
        len(clm) > 11
        and "AA" in value_at(clm, 11).split(":")[:3]
        and not (value_at(clm, 11, 4) or value_at(clm, 11, 5))
    ):
        yield RuleFinding(
            "CLM11-4 (state of the accident) is required for a car accident (AA)", clm, 11, 4
        )


@rule(
    "X837-ADMISSION",
    loop="2300",
    kinds=("837P",),
    snip=7,
    severity=WARNING,
    places=("2300/DTP:435/03",),
)
def inpatient_has_an_admission_date(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A service to an inpatient (place 21, 51 or 61) comes with the day of admission."""
    parts = claim_parts(loop, ctx)
    inside = len(parts.clm) > 5 and parts.clm[5].partition(":")[0] in INPATIENT
    if inside and parts.first("DTP", "435") is None:
        message = "A service to an inpatient (place 21, 51 or 61) should have DTP*435, the day of admission"
        yield RuleFinding(message, parts.clm, 5, 1)


@rule(
    "X837-ATTACHMENT",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("PWK", "2400/PWK"),
    places=(
        "2300/PWK/06",
        "2400/PWK/06",
    ),
)
def attachment_can_be_found(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """An attachment that travels apart from the claim has a control number."""
    for row in claim_parts(loop, ctx).all_segments("PWK"):
        if value_at(row, 2) in {"BM", "EL", "EM", "FT", "FX"} and not value_at(row, 6):
            message = "PWK06 (attachment control number) is required unless PWK02 is AA"
            yield RuleFinding(message, row, 6)


@rule("X837-ICD-DOT", loop="2300", kinds=CLAIM_KINDS, snip=5, needs=("HI",))
def codes_have_no_dot(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A diagnosis or procedure code is written without its dot."""
    for row, number, listed, code in claim_parts(loop, ctx).codes:
        if listed in FORMS and "." in code:
            yield RuleFinding(
                f"HI{number:02}-2 (code) must be written without a dot", row, number, 2, "6"
            )


@rule("X837-ICD-FORM", loop="2300", kinds=CLAIM_KINDS, snip=5, needs=("HI",))
def codes_fit_their_list(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A diagnosis or procedure code has the form of the ICD version its code list names."""
    for row, number, listed, code in claim_parts(loop, ctx).codes:
        form = FORMS.get(listed) if code else None  # A code that is missing is reported already.
        if form is not None and "." not in code and form[0].fullmatch(code) is None:
            message = (
                f"HI{number:02}-2 (code) must have the form of {form[1]}, as {listed} requires"
            )
            yield RuleFinding(message, row, number, 2, "7")


@rule(
    "X837-ICD-MIX", loop="2300", kinds=CLAIM_KINDS, snip=4, needs=("HI",), places=("2300/HI/01-1",)
)
def one_icd_version(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """All diagnoses and procedures of a claim are of one ICD version."""
    first = ""
    for row, number, listed, _ in claim_parts(loop, ctx).codes:
        version = "ICD-10" if listed in ICD10 else "ICD-9" if listed in ICD9 else ""
        if first and version and version != first:
            yield RuleFinding(
                f"HI{number:02}-1 must be of {first} like the codes before it", row, number, 1
            )
            return
        first = first or version


@rule("X837-ICD-DAY", loop="2300", kinds=CLAIM_KINDS, snip=7, severity=WARNING, needs=("HI",))
def icd_version_fits_the_day(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Services since 1 October 2015 have ICD-10 codes."""
    parts = claim_parts(loop, ctx)
    old = next(((row, number) for row, number, listed, _ in parts.codes if listed in ICD9), None)
    if old is None:
        return
    days = [
        value_at(row, 3)[-8:]
        for row in parts.all_segments("DTP")
        if value_at(row, 1) in {"472", "434"}
    ]
    if days and max(days) >= ICD10_FROM:
        yield RuleFinding(
            "ICD-9 code lists ended with services of September 2015; use ICD-10", *old, 1
        )


@rule(
    "X837-ICD-TWICE", loop="2300", kinds=("837P", "837D"), snip=7, severity=WARNING, needs=("HI",)
)
def diagnosis_occurs_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A diagnosis occurs once in a claim."""
    seen: set[str] = set()
    for row, number, listed, code in claim_parts(loop, ctx).codes:
        # A code that is missing is reported already.
        if code and listed in FORMS:
            if code in seen:
                yield RuleFinding(
                    f"HI{number:02}-2 (code) should not repeat an earlier diagnosis", row, number, 2
                )
            seen.add(code)


@rule(
    "X837-POINTER",
    loop="2300",
    kinds=("837P", "837D"),
    snip=4,
    places=(
        "2400/SV1/07",
        "2400/SV3/11",
    ),
)
def pointers_point_at_diagnoses(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Each diagnosis pointer points at a diagnosis of the claim, and no two at the same."""
    parts = claim_parts(loop, ctx)
    if not parts.diagnoses and ctx.kind == "837P":
        return  # The missing HI is reported already.
    element = 7 if ctx.kind == "837P" else 11
    valid = {""}
    for line in parts.lines:
        text = value_at(line.service, element)
        if text not in valid:
            found = list(_pointers(line.service, element, text.split(":"), parts.diagnoses))
            # Lines tend to have the same pointers, so most are checked once.
            valid |= set() if found else {text}
            yield from found


def _pointers(
    row: Row | None, element: int, pointers: list[str], most: int
) -> Iterator[RuleFinding]:
    for number, pointer in enumerate(pointers, 1):
        # A pointer that is no small number is reported by the guide itself.
        if not pointer.isdecimal() or len(pointer) > 2:
            continue
        name = f"{'SV1' if element == 7 else 'SV3'}{element:02}-{number}"
        if not 1 <= int(pointer) <= most:
            yield RuleFinding(
                f"{name} must point at one of the {most} diagnoses in HI", row, element, number
            )
        elif pointer in pointers[: number - 1]:
            message = f"{name} should not point at the same diagnosis again"
            yield RuleFinding(message, row, element, number, severity=WARNING)


@rule(
    "X837-PERIOD",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("DTP", "2400/DTP"),
    places=(
        "2300/DTP/02",
        "2400/DTP/02",
    ),
)
def periods_run_forwards(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The first day of a period is not after its last; a single day needs no period, unless the guide asks for one."""
    for row in claim_parts(loop, ctx).all_segments("DTP"):
        if value_at(row, 2) != "RD8":
            continue
        first, _, last = value_at(row, 3).partition("-")
        if len(first) == len(last) and first > last:
            yield RuleFinding(
                "DTP03 must be a period whose first day is not after its last", row, 3
            )
        elif first == last and value_at(row, 1) not in PERIODS_ONLY:
            message = "DTP03 may be a single day (D8): the period begins and ends on the same"
            yield RuleFinding(message, row, 3, severity=INFO)


@rule(
    "X837-FUTURE",
    loop="2300",
    kinds=("837P", "837D"),
    snip=7,
    severity=WARNING,
    needs=("DTP", "2400/DTP"),
)
def services_are_past(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A service was given before the claim was written."""
    day = set_date(ctx)
    if not day:
        return
    for row in claim_parts(loop, ctx).all_segments("DTP"):
        if len(row) > 3 and row[1] == "472" and row[3][:8] > day:
            yield RuleFinding("DTP03 (service) should not be after the day in BHT04", row, 3)


@rule("X837-PAID", loop="2300", kinds=("837P", "837D"), snip=7, severity=WARNING, needs=("AMT",))
def patient_paid_something(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The amount a patient paid is sent only if it is not zero, and is not more than the charge."""
    parts = claim_parts(loop, ctx)
    row = parts.first("AMT", "F5")
    paid, total = parse_cents(value_at(row, 2)), parts.total
    if row is None or paid is None:
        return
    if paid <= 0:
        yield RuleFinding(
            "AMT*F5 (paid by the patient) should be left out if nothing was paid", row, 2
        )
    elif total is not None and paid > total:
        yield RuleFinding("AMT*F5 (paid by the patient) should not exceed the total charge", row, 2)


@rule(
    "X837-EMPTY-NUMBER",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=7,
    severity=WARNING,
    needs=("REF", "2400/REF"),
)
def references_say_something(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A reference number that does not exist is left out."""
    for row in claim_parts(loop, ctx).all_segments("REF"):
        if len(row) > 2 and row[2] in PLACEHOLDERS:
            yield RuleFinding(
                "REF02 should be a real number; leave the segment out otherwise", row, 2
            )
