"""The locators of the UB-04 for institutional claims.

Days are ``MMDDYY`` (the birth date ``MMDDCCYY``), codes have no dot, and amounts no point: the form has a line before the
cents. A claim of more than 22 lines has further pages; line 23 numbers the pages, and on the last has the totals.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from clearlane.claims.institutional_view import CodeView
from clearlane.claims.printing import form_notation as notation
from clearlane.claims.printing.cms1500_boxes import drug, patient
from clearlane.claims.printing.printed_form import (
    Box,
    FormPage,
    FormPlace,
    LineBox,
    OnPages,
    PageSide,
    PrintedForm,
    Texts,
    places,
)
from clearlane.claims.view import LineView, PayerView, ProviderView
from clearlane.x12.codes import load

ROWS = 22
TOTAL = "0001"
RIGHT, LAST = PageSide.RIGHT, OnPages.LAST
MONEY_WIDTH, DAY_WIDTH, DESCRIPTION_WIDTH = 9, 6, 24
BILL_TYPE_CHARACTERS = 4
HOUR_AT, HOUR_CHARACTERS = 8, 2
TAXONOMY = "B3"
"""The qualifier of a taxonomy code in FL81."""
WHOLE_VALUES = frozenset(
    "37 38 39 46 48 49 50 51 52 53 54 56 57 58 59 60 61 67 68 80 81 82 83 84 85 A0 A8 A9 D5 G8".split()  # noqa: SIM905
)
"""The value codes that state a number and no amount of money: they end before the line of the cents."""

PAYER_LINES, INSURED_LINES, NUMBER_LINES = (42, 43, 44), (46, 47, 48), (50, 51, 52)


def _one(text: str | None) -> Texts:
    return (notation.capitals(text),)


def _codes(name: str) -> Callable[[FormPage], Texts]:
    return lambda page: [notation.capitals(one.code) for one in _listed(page, name)]


def _diagnoses(name: str) -> Callable[[FormPage], Texts]:
    return lambda page: [notation.without_dot(one.code) for one in _listed(page, name)]


def _days(name: str) -> Callable[[FormPage], Texts]:
    """Return what reads the first days of codes; their number is that of the codes, which name what has no place."""
    return lambda page: [notation.short_day(one.first_day) for one in _listed(page, name)]


def _last_days(name: str) -> Callable[[FormPage], Texts]:
    return lambda page: [notation.short_day(one.last_day) for one in _listed(page, name)]


def _present(name: str) -> Callable[[FormPage], Texts]:
    return lambda page: [one.present_on_admission for one in _listed(page, name)]


def _listed(page: FormPage, name: str) -> Sequence[CodeView]:
    found: Sequence[CodeView] = getattr(page.view.institutional, name)
    return found


def _value(one: CodeView) -> str:
    """Return what a value code states, with two blanks for the cents that a number does not have."""
    if one.code in WHOLE_VALUES and one.amount is not None:
        number = notation.count(one.amount)
        return notation.Notation(f"{number}  ", number)
    return notation.joined_cents(one.amount)


def _values(page: FormPage) -> Texts:
    return [_value(one) for one in page.view.institutional.value_codes]


def _address_lines(name: str, of: ProviderView | PayerView, more: str = "") -> list[str]:
    return [one for one in (name, notation.street(of), notation.city(of), more) if one]


def _billing(page: FormPage) -> Texts:
    billing = page.view.billing
    phone = "".join(notation.phone_parts(billing.phone))
    return _address_lines(notation.spoken_name(billing), billing, phone)


def _pay_to(page: FormPage) -> Texts:
    where = page.view.pay_to
    name = notation.spoken_name(where) or notation.spoken_name(page.view.billing)
    return _address_lines(name, where) if where.street else ()


def _responsible(page: FormPage) -> Texts:
    payer = page.view.payer
    return _address_lines(notation.capitals(payer.name), payer)


def _bill_type(page: FormPage) -> Texts:
    stated = f"{page.view.institutional.bill_type or ''}{page.view.frequency or ''}"
    return (stated.rjust(BILL_TYPE_CHARACTERS, "0") if stated else None,)


def _admission_hour(page: FormPage) -> Texts:
    return ((page.view.institutional.admission_time or "")[HOUR_AT : HOUR_AT + HOUR_CHARACTERS],)


def _discharge_hour(page: FormPage) -> Texts:
    return ((page.view.institutional.discharge_hour or "")[:HOUR_CHARACTERS],)


def _of_payers(value: Callable[[PayerView], str | None]) -> Callable[[FormPage], Texts]:
    """Return what reads a value of each payer, in the order in which they decide."""
    return lambda page: [value(one) for one in page.view.payers]


def _of_insured(name: str) -> Callable[[FormPage], Texts]:
    """Return what reads a value of each payer's insured."""

    def value(page: FormPage) -> Texts:
        people = (
            page.view.subscriber if one is page.view.payer else one.insured
            for one in page.view.payers
        )
        return [notation.capitals(getattr(person, name)) for person in people]

    return value


def _insured_names(page: FormPage) -> Texts:
    view = page.view
    people = (view.subscriber if one is view.payer else one.insured for one in view.payers)
    return [notation.comma_name(person) for person in people]


def _own(path: str) -> Callable[[FormPage], Texts]:
    """Return what reads a value of the claim into the line of its own payer."""

    def value(page: FormPage) -> Texts:
        stated: Any = page.view
        for name in path.split("."):
            stated = getattr(stated, name)
        return [
            notation.capitals(stated) if one is page.view.payer else "" for one in page.view.payers
        ]

    return value


def _paid(payer: PayerView) -> str:
    return notation.joined_cents(payer.decision.paid if payer.decision else None)


def _due(page: FormPage) -> Texts:
    share = page.view.institutional.patient_share
    return [
        notation.joined_cents(share) if one is page.view.payer else "" for one in page.view.payers
    ]


def _providers(page: FormPage) -> list[tuple[str, ProviderView]]:
    """Return the providers of FL78 and FL79 with their qualifiers."""
    view = page.view
    named = (("ZZ", view.other_operating), ("82", view.rendering), ("DN", view.referring))
    return [(code, one) for code, one in named if one.last_name or one.npi]


def _remarks(page: FormPage) -> Texts:
    return notation.fold_text(page.view.note, [one.width for one in REMARKS])


def _sum(amounts: Iterable[Decimal | None]) -> str:
    found = [one for one in amounts if one is not None]
    return notation.joined_cents(sum(found, Decimal(0))) if found else ""


def _drug_or_description(line: LineView, page: FormPage) -> Texts:
    words = load("revenue_codes").get(line.revenue_code or "", "")
    named = line.description or (words if len(words) <= DESCRIPTION_WIDTH else "")
    return (drug(line).replace("   ", "") or notation.capitals(named),)


def _procedure(line: LineView, page: FormPage) -> Texts:
    return (f"{line.procedure}{''.join(line.modifiers)}",)


def _version(page: FormPage) -> Texts:
    return ("9" if page.view.icd_version == "9" else "0",)


def _physician(number: str, words: str, role: str, line: int) -> tuple[Box, ...]:
    """Return the boxes of one physician: NPI, other number, last and first name."""

    def read(name: str) -> Callable[[FormPage], Texts]:
        return lambda page: _one(getattr(getattr(page.view, role), name))

    def license_of(page: FormPage) -> ProviderView:
        found: ProviderView = getattr(page.view, role)
        return found

    return (
        Box(number, f"{words}'s NPI", read("npi"), (FormPlace(line, 60, 11),)),
        Box(number, "Which other number", lambda page: ("0B" if license_of(page).license else None,), (FormPlace(line, 72, 2),)),
        Box(number, f"{words}'s license", read("license"), (FormPlace(line, 74, 9),)),
        Box(number, f"{words}'s last name", read("last_name"), (FormPlace(line + 1, 54, 16),), is_prose=True),
        Box(number, f"{words}'s first name", read("first_name"), (FormPlace(line + 1, 72, 11),), is_prose=True),
    )  # fmt: skip


_EIGHT = places((10, 11), (1, 11, 21, 31), 2)
_FOUR = places((10, 11), (41, 58), 2)
_DIAGNOSES = places((53, 54), [2 + 8 * at for at in range(9)], 7)
_PROCEDURES = places((57, 59), (1, 16, 31), 7)
REMARKS = (FormPlace(60, 6, 19), *places((61, 62, 63), (1,), 24))


def _moved(of: Sequence[FormPlace], columns: int, width: int) -> tuple[FormPlace, ...]:
    """Return the places beside others, as many columns to the right."""
    return tuple(FormPlace(one.line, one.column + columns, width) for one in of)


_TOP = (
    Box("FL01", "Billing provider", _billing, places((1, 2, 3, 4), (1,), 25), is_prose=True),
    Box("FL02", "Pay-to address", _pay_to, places((1, 2, 3, 4), (26,), 25), is_prose=True),
    Box("FL03a", "Patient's control number", lambda page: _one(page.view.account_number or page.view.vendor_claim_id), (FormPlace(1, 54, 24),)),
    Box("FL03b", "Medical record number", lambda page: _one(page.view.medical_record_number), (FormPlace(2, 54, 24),)),
    Box("FL04", "Type of bill", _bill_type, (FormPlace(2, 78, 4),)),
    Box("FL05", "Federal tax ID", lambda page: (notation.tax_id(page.view.billing.ein or page.view.billing.ssn),), (FormPlace(4, 51, 10),)),
    Box(
        "FL06", "Statement from and through",
        lambda page: (notation.short_day(page.view.institutional.first_day), notation.short_day(page.view.institutional.last_day)),
        places((4,), (61, 68), DAY_WIDTH),
    ),
    Box("FL08", "Patient's name", lambda page: (notation.comma_name(patient(page)),), (FormPlace(6, 2, 29),), is_prose=True),
    Box("FL09a", "Patient's street", lambda page: (notation.street(patient(page)),), (FormPlace(5, 42, 40),), is_prose=True),
    Box("FL09b", "Patient's city", lambda page: _one(patient(page).city), (FormPlace(6, 32, 32),), is_prose=True),
    Box("FL09c", "Patient's state", lambda page: _one(patient(page).state), (FormPlace(6, 65, 2),)),
    Box("FL09d", "Patient's ZIP code", lambda page: (notation.zip_code(patient(page).zip),), (FormPlace(6, 69, 10),)),
    Box("FL09e", "Patient's country", lambda page: _one(patient(page).country), (FormPlace(6, 81, 2),)),
    Box("FL10", "Patient's birth date", lambda page: (notation.long_day(patient(page).birth),), (FormPlace(8, 1, 8),)),
    Box("FL11", "Patient's sex", lambda page: (patient(page).sex,), (FormPlace(8, 10),)),
    Box("FL12", "Day of admission", lambda page: (notation.short_day(page.view.dates.admission),), (FormPlace(8, 13, DAY_WIDTH),)),
    Box("FL13", "Hour of admission", _admission_hour, (FormPlace(8, 19, 2),)),
    Box("FL14", "Type of admission", lambda page: (page.view.institutional.admission_type,), (FormPlace(8, 22),)),
    Box("FL15", "Point of origin", lambda page: (page.view.institutional.origin,), (FormPlace(8, 25),)),
    Box("FL16", "Hour of discharge", _discharge_hour, (FormPlace(8, 28, 2),)),
    Box("FL17", "Patient's status", lambda page: (page.view.institutional.status,), (FormPlace(8, 31, 2),)),
    Box("FL18-28", "Condition codes", _codes("condition_codes"), places((8,), [34 + 3 * at for at in range(11)], 2)),
    Box("FL29", "State of the accident", lambda page: _one(page.view.accident_state), (FormPlace(8, 67, 2),)),
)  # fmt: skip
_CODES = (
    Box("FL31-34", "Occurrence codes", _codes("occurrences"), _EIGHT),
    Box("FL31-34", "Days of the occurrences", lambda page: _days("occurrences")(page)[: len(_EIGHT)], _moved(_EIGHT, 3, DAY_WIDTH)),
    Box("FL35-36", "Occurrence span codes", _codes("occurrence_spans"), _FOUR),
    Box("FL35-36", "First days of the spans", lambda page: _days("occurrence_spans")(page)[: len(_FOUR)], _moved(_FOUR, 3, DAY_WIDTH)),
    Box("FL35-36", "Last days of the spans", lambda page: _last_days("occurrence_spans")(page)[: len(_FOUR)], _moved(_FOUR, 10, DAY_WIDTH)),
    Box("FL38", "Payer's name and address", _responsible, places((13, 14, 15, 16, 17), (2,), 40), is_prose=True),
    Box("FL39-41", "Value codes", _codes("value_codes"), places((13, 14, 15, 16), (44, 57, 70), 2)),
    Box("FL39-41", "What the value codes state", lambda page: _values(page)[:12], places((13, 14, 15, 16), (48, 61, 74), MONEY_WIDTH), side=RIGHT),
)  # fmt: skip
_TOTALS = (
    Box("FL42", "Line of the totals", lambda page: (TOTAL,), (FormPlace(40, 1, 4),), pages=LAST),
    Box("FL43", "Page and pages", lambda page: (str(page.number), str(page.count)), (FormPlace(40, 11, 3), FormPlace(40, 17, 3))),
    Box("FL45", "Day the form was made", lambda page: (notation.short_day(page.made_on),), (FormPlace(40, 46, DAY_WIDTH),)),
    Box("FL47", "Total charge", lambda page: (notation.joined_cents(page.view.total_charge),), (FormPlace(40, 61, MONEY_WIDTH),), side=RIGHT, pages=LAST),
    Box("FL48", "Total not covered", lambda page: (_sum(line.not_covered for line in page.view.lines),), (FormPlace(40, 71, MONEY_WIDTH),), side=RIGHT, pages=LAST),
)  # fmt: skip
_PAYERS = (
    Box("FL50", "Payers", _of_payers(lambda payer: notation.capitals(payer.name or payer.plan_name)), places(PAYER_LINES, (1,), 22), is_prose=True),
    Box("FL51", "Payers' IDs", _of_payers(lambda payer: notation.capitals(payer.id)), places(PAYER_LINES, (24,), 15)),
    Box("FL52", "Release of information", _own("release"), places(PAYER_LINES, (39,), 1)),
    Box("FL53", "Benefits assigned", _own("benefits_assigned"), places(PAYER_LINES, (42,), 1)),
    Box("FL54", "Prior payments", _of_payers(_paid), places(PAYER_LINES, (44,), 10), side=RIGHT),
    Box("FL55", "Expected from the patient", _due, places(PAYER_LINES, (55,), 10), side=RIGHT),
    Box("FL56", "Billing provider's NPI", lambda page: _one(page.view.billing.npi), (FormPlace(41, 68, 15),)),
    Box("FL57", "Billing provider's number with the payer", _own("billing.commercial_number"), places(PAYER_LINES, (68,), 15)),
    Box("FL58", "Insured people", _insured_names, places(INSURED_LINES, (1,), 25), is_prose=True),
    Box("FL59", "Patient's relationship to them", _of_insured("relationship"), places(INSURED_LINES, (27,), 2)),
    Box("FL60", "Member IDs", _of_insured("member_id"), places(INSURED_LINES, (30,), 20)),
    Box("FL61", "Groups", _of_insured("plan_name"), places(INSURED_LINES, (50,), 14), is_prose=True),
    Box("FL62", "Group numbers", _of_insured("group_number"), places(INSURED_LINES, (65,), 17)),
    Box("FL63", "Authorization or referral number", lambda page: [a or b for a, b in zip(_own("prior_authorization")(page), _own("referral_number")(page), strict=True)], places(NUMBER_LINES, (1,), 30)),
    Box("FL64", "Payer's number of the original claim", _own("original_reference"), places(NUMBER_LINES, (32,), 26)),
    Box("FL65", "Employers", _of_insured("employer"), places(NUMBER_LINES, (58,), 25), is_prose=True),
)  # fmt: skip
_DIAGNOSED = (
    Box("FL66", "Version of the codes: 0 for ICD-10, 9 for ICD-9", _version, (FormPlace(54, 1),)),
    Box("FL67", "Diagnoses, the principal one first", _diagnoses("diagnoses"), _DIAGNOSES),
    Box("FL67", "Present on admission", lambda page: _present("diagnoses")(page)[: len(_DIAGNOSES)], _moved(_DIAGNOSES, 7, 1)),
    Box("FL69", "Admitting diagnosis", _diagnoses("admitting_diagnosis"), (FormPlace(55, 5, 7),)),
    Box("FL70", "Reasons for the visit", _diagnoses("visit_reasons"), places((55,), (17, 24, 31), 7)),
    Box("FL71", "Diagnosis related group", _codes("drg"), (FormPlace(55, 43, 4),), side=RIGHT),
    Box("FL72", "External causes", _diagnoses("external_causes"), places((55,), (49, 57, 65), 7)),
    Box("FL72", "Causes present on admission", lambda page: _present("external_causes")(page)[:3], places((55,), (56, 64, 72), 1)),
    Box("FL74", "Procedures, the principal one first", _codes("procedures"), _PROCEDURES),
    Box("FL74", "Days of the procedures", lambda page: _days("procedures")(page)[: len(_PROCEDURES)], _moved(_PROCEDURES, 9, DAY_WIDTH)),
    *_physician("FL76", "Attending provider", "attending", 56),
    *_physician("FL77", "Operating physician", "operating", 58),
    Box("FL78-79", "Which other providers", lambda page: [code for code, _ in _providers(page)[:2]], places((60, 62), (56,), 2)),
    Box("FL78-79", "Other providers' NPIs", lambda page: [one.npi for _, one in _providers(page)[:2]], places((60, 62), (60,), 11)),
    Box("FL78-79", "Other providers' last names", lambda page: [notation.capitals(one.last_name) for _, one in _providers(page)], places((61, 63), (54,), 16), is_prose=True),
    Box("FL78-79", "Other providers' first names", lambda page: [notation.capitals(one.first_name) for _, one in _providers(page)[:2]], places((61, 63), (72,), 11), is_prose=True),
    Box("FL80", "Remarks", _remarks, REMARKS, is_prose=True),
    Box("FL81", "Which code", lambda page: (TAXONOMY if page.view.billing.taxonomy else None,), (FormPlace(60, 27, 2),)),
    Box("FL81", "Billing provider's taxonomy code", lambda page: _one(page.view.billing.taxonomy), (FormPlace(60, 29, 10),)),
)  # fmt: skip
_LINE = (
    LineBox("FL42", "Revenue code", lambda line, page: (line.revenue_code and line.revenue_code.rjust(4, "0"),), (FormPlace(0, 1, 4),)),
    LineBox("FL43", "Description or drug", _drug_or_description, (FormPlace(0, 6, DESCRIPTION_WIDTH),), is_prose=True),
    LineBox("FL44", "Procedure with modifiers", _procedure, (FormPlace(0, 31, 14),)),
    LineBox("FL45", "Day", lambda line, page: (notation.short_day(line.first_day),), (FormPlace(0, 46, DAY_WIDTH),)),
    LineBox("FL46", "Units or days", lambda line, page: (notation.count(line.units),), (FormPlace(0, 53, 7),), RIGHT),
    LineBox("FL47", "Charge", lambda line, page: (notation.joined_cents(line.charge),), (FormPlace(0, 61, MONEY_WIDTH),), RIGHT),
    LineBox("FL48", "Not covered", lambda line, page: (notation.joined_cents(line.not_covered),), (FormPlace(0, 71, MONEY_WIDTH),), RIGHT),
)  # fmt: skip

FORM = PrintedForm(
    name="UB-04",
    boxes=(*_TOP, *_CODES, *_TOTALS, *_PAYERS, *_DIAGNOSED),
    line_boxes=_LINE,
    first_row=18,
    row_lines=1,
    rows=ROWS,
    left=10.8,
    top=7.0,
)
