"""The boxes of the CMS-1500 (02/12) for medical claims, as the manual of its committee (NUCC) wants them filled.

Names have commas, addresses no punctuation; days are ``MM DD YY``, birth dates ``MM DD CCYY``; diagnoses have no dot and
amounts no point. A claim of more than six lines has further pages: each repeats the boxes, the last has the totals.
"""

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from types import MappingProxyType

from clearlane.claims import codes
from clearlane.claims.printing import form_notation as notation
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
from clearlane.claims.view import LineView, PersonView, ProviderView

ROWS = 6
YES, NO = "Y", "N"
RIGHT = PageSide.RIGHT
NAME_WIDTH = 28

OTHER = "Other"
COVERAGES = MappingProxyType(
    {"MA": "Medicare", "MB": "Medicare", "MC": "Medicaid", "CH": "TRICARE", "VA": "CHAMPVA", "OF": "FECA"}
)  # fmt: skip
"""What box 1 calls the types of coverage (SBR09); all others are ticked as other."""
COVERAGE_COLUMNS = {
    "Medicare": 1,
    "Medicaid": 8,
    "TRICARE": 15,
    "CHAMPVA": 24,
    "FECA": 39,
    OTHER: 45,
}
RELATIONSHIPS = MappingProxyType({codes.SELF: "Self", "01": "Spouse", "19": "Child"})
RELATIONSHIP_COLUMNS = {"Self": 33, "Spouse": 38, "Child": 42, OTHER: 47}
OTHER_DATES = (
    ("454", "initial_treatment"),
    ("304", "last_seen"),
    ("453", "acute_manifestation"),
    ("439", "accident"),
    ("455", "last_x_ray"),
    ("471", "prescription"),
    ("090", "assumed_care_from"),
    ("091", "assumed_care_until"),
    ("444", "first_contact"),
)
"""The days of box 15 with their qualifiers."""
SENDERS = (("DN", "referring"), ("DK", "ordering"), ("DQ", "supervising"))
"""The providers of box 17 with their qualifiers; the first that the claim names is printed."""
NUMBERS = ("prior_authorization", "referral_number", "clia_number", "mammography_number")
"""The numbers of box 23, which has space for one."""
PROVIDER_NUMBERS = (
    ("0B", "license"),
    ("1G", "upin"),
    ("G2", "commercial_number"),
    ("LU", "location_number"),
    ("ZZ", "taxonomy"),
)
"""A provider's other numbers with their qualifiers."""
DRUG_UNITS = (
    ("F2", "international_units"),
    ("GR", "grams"),
    ("ME", "milligrams"),
    ("ML", "milliliters"),
    ("UN", "units"),
)


def patient(page: FormPage) -> PersonView:
    """Return the patient; a claim for the subscriber need not repeat the subscriber's data."""
    view = page.view
    return view.patient if view.patient.last_name else view.subscriber


def other_insured(page: FormPage) -> PersonView:
    """Return the insured of the first other payer, or an empty person."""
    others = page.view.other_payers
    return others[0].insured if others else PersonView()


def numbers_of(provider: ProviderView) -> list[tuple[str, str]]:
    """Return a provider's other numbers with their qualifiers."""
    found = ((qualifier, getattr(provider, name)) for qualifier, name in PROVIDER_NUMBERS)
    return [(qualifier, number) for qualifier, number in found if number]


def drug(line: LineView) -> str:
    """Return the drug of a line as boxes have it: N4, code, unit and quantity."""
    if not line.drug.code:
        return ""
    units = ((unit, getattr(line.drug, name)) for unit, name in DRUG_UNITS)
    stated = [f"{unit}{notation.count(number)}" for unit, number in units if number is not None]
    plain = (
        [] if stated or line.drug.quantity is None else [f"UN{notation.count(line.drug.quantity)}"]
    )
    return "   ".join([f"N4{line.drug.code.replace('-', '')}", *(stated or plain)[:1]])


def amount_paid(page: FormPage) -> Decimal | None:
    """Return what the patient and other payers paid."""
    view = page.view
    decided = view.decision.paid if view.decision else None
    payer = decided if decided is not None else view.payer_paid
    found = [one for one in (view.patient_paid, payer) if one is not None]
    return sum(found, Decimal(0)) if found else None


def _one(text: str | None) -> Texts:
    return (notation.capitals(text),)


def _both(one: date | None, other: date | None) -> Texts:
    return notation.spaced_day(one), notation.spaced_day(other)


def _coverage(page: FormPage) -> Texts:
    stated = page.view.payer.coverage
    return (COVERAGES.get(stated, OTHER),) if stated else ()


def _relationship(page: FormPage) -> Texts:
    stated = page.view.subscriber.relationship
    return (RELATIONSHIPS.get(stated, OTHER),) if stated else ()


def _marks(line: float, columns: Mapping[str, int]) -> dict[str, FormPlace]:
    return {value: FormPlace(line, column) for value, column in columns.items()}


def _yes_no(is_so: Callable[[FormPage], bool | None]) -> Callable[[FormPage], Texts]:
    def value(page: FormPage) -> Texts:
        found = is_so(page)
        return () if found is None else (YES if found else NO,)

    return value


def _caused_by(code: str) -> Callable[[FormPage], Texts]:
    return _yes_no(lambda page: code in page.view.causes)


def _other_dates(page: FormPage) -> list[tuple[str, str]]:
    found = ((code, getattr(page.view.dates, name)) for code, name in OTHER_DATES)
    return [(code, notation.spaced_day(day)) for code, day in found if day]


def _first_dates(page: FormPage) -> list[tuple[str, str]]:
    dates = page.view.dates
    stated = (("431", dates.onset), ("484", dates.last_menstrual_period))
    return [(code, notation.spaced_day(day)) for code, day in stated if day]


def _senders(page: FormPage) -> list[tuple[str, ProviderView]]:
    found = ((code, getattr(page.view, name)) for code, name in SENDERS)
    return [(code, one) for code, one in found if one.last_name or one.npi]


def _first(pairs: list[tuple[str, str]]) -> Texts:
    return [one for one, _ in pairs[:1]]


def _rest(pairs: list[tuple[str, str]]) -> Texts:
    return [one for _, one in pairs]


def _accepts(page: FormPage) -> bool | None:
    stated = page.view.accepts_assignment
    return None if stated is None else stated != "C"


def _sex(person: PersonView) -> Texts:
    return (person.sex if person.sex != "U" else None,)


def _phone_boxes(
    number: str, words: str, of: Callable[[FormPage], str | None], *at: FormPlace
) -> Box:
    return Box(number, words, lambda page: notation.phone_parts(of(page)), at, is_one_value=True)


def _birth(person: Callable[[FormPage], PersonView]) -> Callable[[FormPage], Texts]:
    return lambda page: (notation.spaced_long_day(person(page).birth),)


def _subscriber(page: FormPage) -> PersonView:
    return page.view.subscriber


def _dates_of_line(line: LineView, page: FormPage) -> Texts:
    first = line.first_day or page.view.dates.service
    return _both(first, line.last_day or first)


def _rendering(line: LineView, page: FormPage) -> ProviderView:
    own = line.rendering
    return own if own.npi or own.last_name else page.view.rendering


def _supplement(line: LineView, page: FormPage) -> Texts:
    return (drug(line) or notation.capitals(line.note or line.description),)


def _modifiers(line: LineView, page: FormPage) -> Texts:
    return (" ".join(line.modifiers),)


def _payer_block(page: FormPage) -> Texts:
    payer = page.view.payer
    lines = (notation.capitals(payer.name), *notation.streets(payer), notation.city(payer))
    return tuple(filter(None, lines))


def _address_block(of: ProviderView) -> Texts:
    if not (of.last_name or of.street):
        return ()
    return notation.spoken_name(of), notation.street(of), notation.city(of)


def _tax_id_kind(page: FormPage) -> Texts:
    billing = page.view.billing
    return ("EIN",) if billing.ein else ("SSN",) if billing.ssn else ()


def _page_number(page: FormPage) -> Texts:
    return (f"PAGE {page.number:02} OF {page.count:02}",) if page.count > 1 else ()


def _has_other_plan(page: FormPage) -> bool | None:
    return page.view.other_coverage or bool(page.view.other_payers)


def _signed(is_signed: Callable[[FormPage], bool]) -> Callable[[FormPage], Texts]:
    return lambda page: (notation.ON_FILE,) if is_signed(page) else ()


_BIRTH_WIDTH, _DAY_WIDTH = 10, 8
_YES_NO_WORDS = {YES: "Yes", NO: "No"}
_SEX_WORDS = {"F": "Female", "M": "Male"}

_TOP = (
    Box("Payer", "Payer's name and address", _payer_block, places((2, 3, 4, 5), (41,), 31), is_prose=True),
    Box("Page", "Page of the claim", _page_number, (FormPlace(6, 41, 31),)),
    Box("1", "Type of coverage", _coverage, marks=_marks(8, COVERAGE_COLUMNS)),
    Box("1a", "Insured's member ID", lambda page: _one(page.view.subscriber.member_id), (FormPlace(8, 50, 29),)),
    Box("2", "Patient's name", lambda page: (notation.comma_name(patient(page)),), (FormPlace(10, 1, NAME_WIDTH),), is_prose=True),
    Box("3", "Patient's birth date", _birth(patient), (FormPlace(10, 31, _BIRTH_WIDTH),)),
    Box("3", "Patient's sex", lambda page: _sex(patient(page)), marks=_marks(10, {"M": 42, "F": 47}), mark_words=_SEX_WORDS),
    Box("4", "Insured's name", lambda page: (notation.comma_name(_subscriber(page)),), (FormPlace(10, 50, 29),), is_prose=True),
    Box("5", "Patient's street", lambda page: (notation.street(patient(page)),), (FormPlace(12, 1, NAME_WIDTH),), is_prose=True),
    Box("6", "Patient's relationship to the insured", _relationship, marks=_marks(12, RELATIONSHIP_COLUMNS)),
    Box("7", "Insured's street", lambda page: (notation.street(_subscriber(page)),), (FormPlace(12, 50, 29),), is_prose=True),
    Box("5", "Patient's city", lambda page: _one(patient(page).city), (FormPlace(14, 1, 24),), is_prose=True),
    Box("5", "Patient's state", lambda page: _one(patient(page).state), (FormPlace(14, 26, 3),)),
    Box("7", "Insured's city", lambda page: _one(_subscriber(page).city), (FormPlace(14, 50, 23),), is_prose=True),
    Box("7", "Insured's state", lambda page: _one(_subscriber(page).state), (FormPlace(14, 74, 4),)),
    Box("5", "Patient's ZIP code", lambda page: (notation.zip_code(patient(page).zip),), (FormPlace(16, 1, 12),)),
    _phone_boxes("5", "Patient's phone", lambda page: patient(page).phone, FormPlace(16, 15, 3), FormPlace(16, 19, 3), FormPlace(16, 22, 7)),
    Box("7", "Insured's ZIP code", lambda page: (notation.zip_code(_subscriber(page).zip),), (FormPlace(16, 50, 12),)),
    _phone_boxes("7", "Insured's phone", lambda page: _subscriber(page).phone, FormPlace(16, 65, 3), FormPlace(16, 69, 3), FormPlace(16, 72, 7)),
)  # fmt: skip
_INSURANCE = (
    Box("9", "Other insured's name", lambda page: (notation.comma_name(other_insured(page)),), (FormPlace(18, 1, NAME_WIDTH),), is_prose=True),
    Box("11", "Insured's policy or group number", lambda page: _one(page.view.subscriber.group_number), (FormPlace(18, 50, 29),)),
    Box(
        "9a", "Other insured's policy or group number",
        lambda page: _one(other_insured(page).group_number or other_insured(page).policy_number), (FormPlace(20, 1, 28),),
    ),
    Box("10a", "Caused by employment", _caused_by("EM"), marks=_marks(20, {YES: 35, NO: 41}), mark_words=_YES_NO_WORDS),
    Box("11a", "Insured's birth date", _birth(_subscriber), (FormPlace(20, 53, _BIRTH_WIDTH),)),
    Box("11a", "Insured's sex", lambda page: _sex(_subscriber(page)), marks=_marks(20, {"M": 68, "F": 75}), mark_words=_SEX_WORDS),
    Box("10b", "Caused by an auto accident", _caused_by("AA"), marks=_marks(22, {YES: 35, NO: 41}), mark_words=_YES_NO_WORDS),
    Box("10b", "State of the accident", lambda page: _one(page.view.accident_state), (FormPlace(22, 45, 2),)),
    Box("10c", "Caused by another accident", _caused_by("OA"), marks=_marks(24, {YES: 35, NO: 41}), mark_words=_YES_NO_WORDS),
    Box("11c", "Plan or program", lambda page: _one(page.view.subscriber.plan_name), (FormPlace(24, 50, 29),), is_prose=True),
    Box(
        "9d", "Other insured's plan or program",
        lambda page: [notation.capitals(one.plan_name or one.name) for one in page.view.other_payers], (FormPlace(26, 1, 28),), is_prose=True,
    ),
    Box("11d", "Another health plan", _yes_no(_has_other_plan), marks=_marks(26, {YES: 52, NO: 57}), mark_words=_YES_NO_WORDS),
    Box("12", "Release of information", _signed(lambda page: page.view.release in {"Y", "I"}), (FormPlace(29, 7, 25),)),
    Box("12", "Day of the release", lambda page: (notation.spaced_day(page.view.dates.release),), (FormPlace(29, 38, _DAY_WIDTH),)),
    Box("13", "Benefits assigned to the provider", _signed(lambda page: page.view.benefits_assigned == "Y"), (FormPlace(29, 55, 24),)),
)  # fmt: skip
_CONDITION = (
    Box("14", "Onset, or last menstrual period", lambda page: _rest(_first_dates(page)), (FormPlace(32, 2, _DAY_WIDTH),)),
    Box("14", "Which of these", lambda page: _first(_first_dates(page)), (FormPlace(32, 16, 3),)),
    Box("15", "Which other day", lambda page: _first(_other_dates(page)), (FormPlace(32, 31, 3),)),
    Box("15", "Other day", lambda page: _rest(_other_dates(page)), (FormPlace(32, 37, _DAY_WIDTH),)),
    Box(
        "16", "Unable to work, from and to",
        lambda page: _both(page.view.dates.disability_from or page.view.dates.last_worked, page.view.dates.disability_until or page.view.dates.return_to_work),
        places((32,), (54, 68), _DAY_WIDTH),
    ),
    Box(
        "17a", "Other number of that provider",
        lambda page: [f"G2 {one.other_id}" for _, one in _senders(page)[:1] if one.other_id], (FormPlace(33, 30, 20),),
    ),
    Box("17", "Which provider referred, ordered or supervised", lambda page: [code for code, _ in _senders(page)[:1]], (FormPlace(34, 1, 2),)),
    Box("17", "That provider's name", lambda page: [notation.spoken_name(one) for _, one in _senders(page)], (FormPlace(34, 4, 25),), is_prose=True),
    Box("17b", "That provider's NPI", lambda page: [one.npi for _, one in _senders(page)[:1]], (FormPlace(34, 33, 10),)),
    Box(
        "18", "Hospital stay, from and to",
        lambda page: _both(page.view.dates.admission, page.view.dates.discharge), places((34,), (54, 68), _DAY_WIDTH),
    ),
    Box("19", "Note of the claim", lambda page: _one(page.view.note), (FormPlace(36, 1, 48),), is_prose=True),
    Box("21", "Version of the diagnoses: 0 for ICD-10, 9 for ICD-9", lambda page: ("9" if page.view.icd_version == "9" else "0",), (FormPlace(37, 42),)),
    Box("22", "Frequency of the claim", lambda page: [one for one in [page.view.frequency] if one not in (None, codes.ORIGINAL)], (FormPlace(38, 50, 11),)),
    Box("22", "Payer's number of the original claim", lambda page: _one(page.view.original_reference), (FormPlace(38, 62, 18),)),
    Box(
        "21", "Diagnoses", lambda page: [notation.without_dot(one) for one in page.view.diagnoses],
        places((38, 39, 40), (3, 16, 29, 42), 7),
    ),
    Box("23", "Authorization, referral, CLIA or mammography number", lambda page: [one for name in NUMBERS if (one := getattr(page.view, name))], (FormPlace(40, 50, 29),)),
)  # fmt: skip
_END = (
    Box("25", "Billing provider's tax ID", lambda page: ((page.view.billing.ein or page.view.billing.ssn or "").replace("-", ""),), (FormPlace(56, 1, 15),)),
    Box("25", "Which tax ID", _tax_id_kind, marks=_marks(56, {"SSN": 17, "EIN": 19})),
    Box("26", "Patient's account number", lambda page: _one(page.view.account_number or page.view.vendor_claim_id), (FormPlace(56, 23, 14),)),
    Box("27", "Provider accepts assignment", _yes_no(_accepts), marks=_marks(56, {YES: 38, NO: 43}), mark_words=_YES_NO_WORDS),
    Box("28", "Total charge", lambda page: (notation.two_columns(page.view.total_charge),), (FormPlace(56, 50, 10),), side=RIGHT, pages=OnPages.LAST),
    Box("28", "The claim goes on", lambda page: ("CONTINUED",), (FormPlace(56, 50, 10),), side=RIGHT, pages=OnPages.BEFORE_LAST),
    Box("29", "Amount paid", lambda page: (notation.two_columns(amount_paid(page)),), (FormPlace(56, 61, 9),), side=RIGHT, pages=OnPages.LAST),
    _phone_boxes("33", "Billing provider's phone", lambda page: page.view.billing.phone, FormPlace(57, 66, 3), FormPlace(57, 70, 3), FormPlace(57, 73, 7)),
    Box("32", "Where the services were given", lambda page: _address_block(page.view.facility), places((58, 59, 60), (23,), 26), is_prose=True),
    Box("33", "Billing provider", lambda page: _address_block(page.view.billing), places((58, 59, 60), (50,), 29), is_prose=True),
    Box("31", "Provider's signature", _signed(lambda page: bool(page.view.signature_on_file)), (FormPlace(60, 1, 21),)),
    Box("32a", "NPI of the place", lambda page: _one(page.view.facility.npi), (FormPlace(61, 23, 10),)),
    Box("32b", "Other number of the place", lambda page: [code + number for code, number in numbers_of(page.view.facility)], (FormPlace(61, 35, 14),)),
    Box("33a", "Billing provider's NPI", lambda page: _one(page.view.billing.npi), (FormPlace(61, 50, 10),)),
    Box("33b", "Billing provider's other number", lambda page: [code + number for code, number in numbers_of(page.view.billing)], (FormPlace(61, 63, 17),)),
)  # fmt: skip

_LINE = (
    LineBox("24", "Drug or note", _supplement, (FormPlace(0, 1, 61),), is_prose=True),
    LineBox("24I", "Which other number", lambda line, page: [code for code, _ in numbers_of(_rendering(line, page))[:1]], (FormPlace(0, 65, 2),)),
    LineBox("24J", "Rendering provider's other number", lambda line, page: [one for _, one in numbers_of(_rendering(line, page))], (FormPlace(0, 68, 11),)),
    LineBox("24A", "First and last day", _dates_of_line, places((1,), (1, 10), _DAY_WIDTH)),
    LineBox("24B", "Place of service", lambda line, page: (line.place or page.view.place,), (FormPlace(1, 19, 2),)),
    LineBox("24C", "Emergency", lambda line, page: (YES if line.emergency else None,), (FormPlace(1, 22),)),
    LineBox("24D", "Procedure", lambda line, page: (line.procedure,), (FormPlace(1, 25, 6),)),
    LineBox("24D", "Modifiers", _modifiers, (FormPlace(1, 33, 11),)),
    LineBox("24E", "Diagnoses of the line", lambda line, page: (notation.pointer_letters(line.pointers),), (FormPlace(1, 45, 4),)),
    LineBox("24F", "Charge", lambda line, page: (notation.two_columns(line.charge),), (FormPlace(1, 49, 9),), RIGHT),
    LineBox("24G", "Units or minutes", lambda line, page: (notation.count(line.units),), (FormPlace(1, 59, 3),), RIGHT),
    LineBox("24H", "EPSDT or family planning", lambda line, page: (YES if line.epsdt or line.family_planning else None,), (FormPlace(1, 63),)),
    LineBox("24J", "Rendering provider's NPI", lambda line, page: (_rendering(line, page).npi,), (FormPlace(1, 68, 10),)),
)  # fmt: skip

FORM = PrintedForm(
    name="CMS-1500 (02/12)",
    boxes=(*_TOP, *_INSURANCE, *_CONDITION, *_END),
    line_boxes=_LINE,
    first_row=43,
    row_lines=2,
    rows=ROWS,
    left=22.0,
    top=20.0,
)
