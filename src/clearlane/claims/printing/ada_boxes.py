"""The boxes of the ADA claim form of 2024 for dental claims.

Days are ``MM/DD/CCYY``, amounts have their decimal point, diagnoses their dot. A claim of more than ten lines goes on
another form, which is complete by itself: each form has the total of its own lines.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from clearlane.claims import codes
from clearlane.claims.printing import form_notation as notation
from clearlane.claims.printing.cms1500_boxes import other_insured, patient
from clearlane.claims.printing.printed_form import (
    Box,
    FormPage,
    FormPlace,
    LineBox,
    PageSide,
    PrintedForm,
    Texts,
    places,
)
from clearlane.claims.view import LineView, PayerView, PersonView, ProviderView

ROWS = 10
ADULT_TEETH = 32
YES, NO = "Y", "N"
RIGHT = PageSide.RIGHT
DAY_WIDTH = 10
DEPENDENT, OTHER = "19", "G8"
LIST_OF_VERSION = MappingProxyType({"10": "AB", "9": "B"})
"""What box 34 calls the list of the diagnoses."""

_SEX_WORDS = {"F": "Female", "M": "Male", "U": "Unknown"}
_YES_NO_WORDS = {YES: "Yes", NO: "No"}
_CAUSES = {"EM": "Employment", "AA": "Auto accident", "OA": "Another accident"}


def _one(text: str | None) -> Texts:
    return (notation.capitals(text),)


def _marks(line: float, columns: Mapping[str, float]) -> dict[str, FormPlace]:
    return {value: FormPlace(line, column) for value, column in columns.items()}


def _tooth_marks() -> dict[str, FormPlace]:
    """Return the places of the missing teeth: 1 to 16 from the left, 32 to 17 below them."""
    half = ADULT_TEETH // 2
    upper = {str(tooth): FormPlace(41.0, 2.5 + 2 * tooth) for tooth in range(1, half + 1)}
    lower = {
        str(tooth): FormPlace(42.0, 2.5 + 2 * (ADULT_TEETH + 1 - tooth))
        for tooth in range(half + 1, ADULT_TEETH + 1)
    }
    return upper | lower


def _address(name: str, of: PersonView | ProviderView | PayerView, lines: int) -> Texts:
    """Return name and address in as many lines as the box has; the second line of a street needs a line of its own."""
    first, second = notation.streets(of)
    streets = [first, second] if lines > len((name, first, second)) else [notation.street(of)]
    return [one for one in (name, *streets, notation.city(of)) if one]


def _payer(page: FormPage) -> Texts:
    payer = page.view.payer
    return _address(notation.capitals(payer.name), payer, 4)


def _first_other(page: FormPage) -> PayerView:
    others = page.view.other_payers
    return others[0] if others else PayerView()


def _others(page: FormPage) -> Texts:
    other = _first_other(page)
    return _address(notation.capitals(other.name or other.plan_name), other, 3)


def _has_other(page: FormPage) -> Texts:
    return ("plan",) if page.view.other_coverage or page.view.other_payers else ()


def _person(person: Callable[[FormPage], PersonView]) -> Callable[[FormPage], Texts]:
    return lambda page: _address(notation.ada_name(person(page)), person(page), 4)


def _subscriber(page: FormPage) -> PersonView:
    return page.view.subscriber


def _relationship(person: PersonView) -> Texts:
    """Return the relationship as the form has it: self, spouse, dependent, or other."""
    stated = person.relationship
    return (stated if stated in (None, codes.SELF, "01", DEPENDENT) else OTHER,)


def _yes_no(is_so: Callable[[FormPage], bool | None]) -> Callable[[FormPage], Texts]:
    def value(page: FormPage) -> Texts:
        found = is_so(page)
        return () if found is None else (YES if found else NO,)

    return value


def _is_replacement(page: FormPage) -> bool | None:
    return page.view.replaces_prosthesis or bool(page.view.dates.prior_placement)


def _day(name: str) -> Callable[[FormPage], Texts]:
    return lambda page: (notation.slashed_day(getattr(page.view.dates, name)),)


def _signature(page: FormPage) -> Texts:
    view = page.view
    if view.release_signature is None:
        return (notation.ON_FILE,) if view.release in {"Y", "I"} else ()
    return _written(view.release_signature)


def _assignment(page: FormPage) -> Texts:
    view = page.view
    if view.benefits_signature is None:
        return (notation.ON_FILE,) if view.benefits_assigned == "Y" else ()
    return _written(view.benefits_signature)


def _dentist_signature(page: FormPage) -> Texts:
    view = page.view
    if view.provider_signature is None:
        return (notation.ON_FILE,) if view.signature_on_file else ()
    return _written(view.provider_signature)


def _written(signature: str) -> Texts:
    """Return a signature; callers write Y for one that is on file."""
    text = notation.capitals(signature)
    if text in codes.NOT_SIGNED:
        return ()
    return (notation.ON_FILE,) if text in {"Y", "YES", "TRUE"} else (text,)


def _teeth(line: LineView, page: FormPage) -> Texts:
    return (",".join(tooth.number for tooth in line.teeth if tooth.number),)


def _surfaces(line: LineView, page: FormPage) -> Texts:
    """Return the surfaces of the teeth: once, if all have the same."""
    each = ["".join(filter(None, tooth.surfaces)) for tooth in line.teeth]
    return (",".join(dict.fromkeys(each) if len(set(each)) == 1 else each).strip(","),)


def _tooth_system(line: LineView, page: FormPage) -> Texts:
    return (line.tooth_system or (codes.UNIVERSAL_TEETH if line.teeth else None),)


def _line_day(line: LineView, page: FormPage) -> Texts:
    return (notation.slashed_day(line.first_day or page.view.dates.service),)


def _total_of_page(page: FormPage) -> Texts:
    charges = [line.charge for line in page.lines if line.charge is not None]
    return (notation.with_point(sum(charges, Decimal(0)) if charges else None),)


def _remarks(page: FormPage) -> Texts:
    view = page.view
    numbers = (
        ("CLAIM", view.original_reference),
        ("REFERRAL", view.referral_number),
    )
    named = [f"{words} {number}" for words, number in numbers if number]
    return notation.fold_text(" ".join([*named, view.note or ""]), [one.width for one in REMARKS])


def _dentist(page: FormPage) -> ProviderView:
    view = page.view
    return view.rendering if view.rendering.npi or view.rendering.last_name else view.billing


def _treated_at(page: FormPage) -> Texts:
    place = page.view.facility if page.view.facility.street else page.view.billing
    return notation.street(place), notation.city(place)


def _phone(
    number: str, words: str, of: Callable[[FormPage], str | None], columns: Sequence[float]
) -> Box:
    at = tuple(
        FormPlace(63.8, column, width) for column, width in zip(columns, (3, 3, 5), strict=True)
    )
    return Box(number, words, lambda page: notation.phone_parts(of(page)), at, is_one_value=True)


def _months(page: FormPage) -> Texts:
    return (notation.count(page.view.orthodontic_months),)


REMARKS = (FormPlace(43.1, 9.6, 73), FormPlace(44.1, 4.1, 78))

_INSURANCE = (
    Box(
        "1", "Type of transaction", lambda page: ("estimate" if page.view.is_predetermination else "done",),
        marks=_marks(5.4, {"done": 4.4, "estimate": 19.4}),
        mark_words={"done": "Services that were done", "estimate": "Request for a predetermination"},
    ),
    Box("2", "Authorization or predetermination number", lambda page: [one for one in (page.view.prior_authorization, page.view.predetermination_id) if one], (FormPlace(7.1, 4.1, 38),)),
    Box("3", "Payer's name and address", _payer, places((9.6, 10.6, 11.6, 12.6), (4.2,), 37), is_prose=True),
    Box("3a", "Payer's ID", lambda page: _one(page.view.payer.id), (FormPlace(14, 8.7, 16),)),
    Box("4", "Other coverage", _has_other, marks=_marks(16, {"plan": 8.4}), mark_words={"plan": "Dental plan"}),
    Box("5", "Other subscriber's name", lambda page: (notation.ada_name(other_insured(page)),), (FormPlace(17.8, 4.4, 38),), is_prose=True),
    Box("6", "Other subscriber's birth date", lambda page: (notation.slashed_day(other_insured(page).birth),), (FormPlace(19.6, 4.4, DAY_WIDTH),)),
    Box("7", "Other subscriber's sex", lambda page: (other_insured(page).sex,), marks=_marks(19.6, {"M": 18.4, "F": 20.6, "U": 22.6}), mark_words=_SEX_WORDS),
    Box("8", "Other subscriber's member ID", lambda page: _one(other_insured(page).member_id), (FormPlace(19.6, 26.5, 16),)),
    Box("9", "Other group number", lambda page: _one(other_insured(page).group_number), (FormPlace(21.4, 4.4, 13),)),
    Box(
        "10", "Patient's relationship to the other subscriber", lambda page: _relationship(other_insured(page)),
        marks=_marks(21.4, {codes.SELF: 18.4, "01": 23.4, DEPENDENT: 29.4, OTHER: 36.4}), mark_words=codes.meanings("relationship"),
    ),
    Box("11", "Other payer's name and address", _others, places((23.1, 24.1, 25.1), (4.4,), 37), is_prose=True),
    Box("11a", "Other payer's ID", lambda page: [one.id for one in page.view.other_payers], (FormPlace(26.2, 11.6, 16),)),
)  # fmt: skip
_PEOPLE = (
    Box("12", "Subscriber's name and address", _person(_subscriber), places((9, 10, 11, 12), (45.5,), 37), is_prose=True),
    Box("13", "Subscriber's birth date", lambda page: (notation.slashed_day(_subscriber(page).birth),), (FormPlace(14, 45.5, DAY_WIDTH),)),
    Box("14", "Subscriber's sex", lambda page: (_subscriber(page).sex,), marks=_marks(14, {"M": 58.4, "F": 60.6, "U": 62.9}), mark_words=_SEX_WORDS),
    Box("15", "Subscriber's member ID", lambda page: _one(_subscriber(page).member_id), (FormPlace(14, 67.2, 16),)),
    Box("16", "Group number", lambda page: _one(_subscriber(page).group_number), (FormPlace(16, 45.5, 12),)),
    Box("17", "Employer", lambda page: _one(_subscriber(page).employer), (FormPlace(16, 58.9, 25),), is_prose=True),
    Box(
        "18", "Patient's relationship to the subscriber", lambda page: _relationship(_subscriber(page)),
        marks=_marks(19.1, {codes.SELF: 45.4, "01": 50.4, DEPENDENT: 56.4, OTHER: 65.4}), mark_words=codes.meanings("relationship"),
    ),
    Box("20", "Patient's name and address", _person(patient), places((21.1, 22.1, 23.1, 24.1), (45.5,), 37), is_prose=True),
    Box("21", "Patient's birth date", lambda page: (notation.slashed_day(patient(page).birth),), (FormPlace(26, 45.5, DAY_WIDTH),)),
    Box("22", "Patient's sex", lambda page: (patient(page).sex,), marks=_marks(26, {"M": 58.4, "F": 60.4, "U": 62.4}), mark_words=_SEX_WORDS),
    Box("23", "Patient's account number", lambda page: _one(page.view.account_number or page.view.vendor_claim_id), (FormPlace(26, 67.2, 16),)),
)  # fmt: skip
_TREATMENT = (
    Box("33", "Missing teeth", lambda page: page.view.missing_teeth, marks=_tooth_marks()),
    Box("34", "List of the diagnoses", lambda page: [LIST_OF_VERSION.get(page.view.icd_version or "10", "AB") for one in page.view.diagnoses[:1] if one], (FormPlace(40.1, 52.5, 2),)),
    Box(
        "34a", "Diagnoses", lambda page: [notation.with_dot(one) for one in page.view.diagnoses],
        (FormPlace(41, 51.2, 8), FormPlace(42, 51.2, 8), FormPlace(41, 62, 8), FormPlace(42, 62, 8)),
    ),
    Box("32", "Total of the page's fees", _total_of_page, (FormPlace(42, 75.9, 8),), side=RIGHT),
    Box("35", "Remarks", _remarks, REMARKS, is_prose=True),
    Box("36", "Patient's consent", _signature, (FormPlace(49, 4.9, 25),), is_prose=True),
    Box("36", "Day of the consent", _day("release"), (FormPlace(49, 31.6, DAY_WIDTH),)),
    Box("37", "Benefits assigned to the dentist", _assignment, (FormPlace(52.7, 4.9, 25),), is_prose=True),
    Box("37", "Day of the assignment", _day("assignment"), (FormPlace(52.7, 31.6, DAY_WIDTH),)),
    Box("38", "Place of treatment", lambda page: (page.view.place,), (FormPlace(45.7, 52.1, 2),)),
    Box("39", "Enclosures", _yes_no(lambda page: bool(page.view.attachments)), (FormPlace(45.5, 78),)),
    Box("40", "Orthodontic treatment", _yes_no(lambda page: bool(page.view.is_orthodontic)), marks=_marks(48.4, {NO: 45.3, YES: 54.3}), mark_words=_YES_NO_WORDS),
    Box("41", "Day the appliance was placed", _day("appliance_placed"), (FormPlace(48.4, 68.5, DAY_WIDTH),)),
    Box("42", "Months of treatment", _months, (FormPlace(50.3, 44.4, 3),)),
    Box("43", "Replacement of a prosthesis", _yes_no(_is_replacement), marks=_marks(50.3, {NO: 54.3, YES: 57.3}), mark_words=_YES_NO_WORDS),
    Box("44", "Day of the prior placement", _day("prior_placement"), (FormPlace(50.3, 68.4, DAY_WIDTH),)),
    Box("45", "What the treatment results from", lambda page: page.view.causes, marks=_marks(52.1, {"EM": 45.3, "AA": 60.3, "OA": 70.3}), mark_words=_CAUSES),
    Box("46", "Day of the accident", _day("accident"), (FormPlace(53.3, 59.3, DAY_WIDTH),)),
    Box("47", "State of the auto accident", lambda page: _one(page.view.accident_state), (FormPlace(53.3, 80.4, 2),)),
)  # fmt: skip
_DENTISTS = (
    Box("48", "Billing dentist", lambda page: _address(notation.ada_name(page.view.billing), page.view.billing, 4), places((57.1, 58.1, 59.1, 60.1), (4.4,), 37), is_prose=True),
    Box("49", "Billing dentist's NPI", lambda page: _one(page.view.billing.npi), (FormPlace(62.4, 4.5, 11),)),
    Box("50", "Billing dentist's license", lambda page: _one(page.view.billing.license), (FormPlace(62.4, 17.6, 11),)),
    Box("51", "Billing dentist's tax ID", lambda page: _one(page.view.billing.ein or page.view.billing.ssn), (FormPlace(62.4, 30.5, 12),)),
    _phone("52", "Billing dentist's phone", lambda page: page.view.billing.phone, (9.2, 13.4, 17.2)),
    Box("52a", "Billing dentist's number with the payer", lambda page: _one(page.view.billing.commercial_number), (FormPlace(63.8, 30.9, 11),)),
    Box("53", "Treating dentist's signature", _dentist_signature, (FormPlace(56.5, 43.9, 25),), is_prose=True),
    Box("53", "Day of that signature", _day("provider_signature"), (FormPlace(56.5, 71.7, DAY_WIDTH),)),
    Box("54", "Treating dentist's NPI", lambda page: _one(_dentist(page).npi), (FormPlace(59.3, 46, 16),)),
    Box("55", "Treating dentist's license", lambda page: _one(_dentist(page).license), (FormPlace(59.2, 71.1, 12),)),
    Box("56a", "Treating dentist's taxonomy code", lambda page: _one(_dentist(page).taxonomy), (FormPlace(60.4, 73.9, 10),)),
    Box("56", "Where the treatment was given", _treated_at, places((61.4, 62.4), (44.7,), 36), is_prose=True),
    _phone("57", "Treating dentist's phone", lambda page: _dentist(page).phone, (49, 52.9, 56.8)),
    Box("58", "Treating dentist's number with the payer", lambda page: _one(_dentist(page).commercial_number), (FormPlace(63.8, 69.9, 14),)),
)  # fmt: skip
_LINE = (
    LineBox("24", "Day", _line_day, (FormPlace(0, 4.5, DAY_WIDTH),)),
    LineBox("25", "Area of the mouth", lambda line, page: line.areas, (FormPlace(0, 15.1, 2),)),
    LineBox("26", "Tooth numbering", _tooth_system, (FormPlace(0, 18.2, 2),)),
    LineBox("27", "Tooth numbers", _teeth, (FormPlace(0, 21.2, 11),)),
    LineBox("28", "Surfaces", _surfaces, (FormPlace(0, 33.1, 5),)),
    LineBox("29", "Procedure", lambda line, page: (line.procedure,), (FormPlace(0, 39.1, 5),)),
    LineBox("29a", "Diagnoses", lambda line, page: (notation.pointer_letters(line.pointers),), (FormPlace(0, 45.1, 4),)),
    LineBox("29b", "Quantity", lambda line, page: (notation.count(line.units),), (FormPlace(0, 50.1, 2),)),
    LineBox("30", "Description", lambda line, page: _one(line.description), (FormPlace(0, 53.1, 22),), is_prose=True),
    LineBox("31", "Fee", lambda line, page: (notation.with_point(line.charge),), (FormPlace(0, 75.9, 8),), RIGHT),
)  # fmt: skip

FORM = PrintedForm(
    name="ADA 2024",
    boxes=(*_INSURANCE, *_PEOPLE, *_TREATMENT, *_DENTISTS),
    line_boxes=_LINE,
    first_row=30,
    row_lines=1,
    rows=ROWS,
    left=0.0,
    top=-4.0,
)
