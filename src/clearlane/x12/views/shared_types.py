"""Views that several transactions share: parties, dates, references, amounts, adjustments, procedures.

Codes are kept as in the file, with their meaning beside them if a list has it. Amounts are ``Decimal``, days are ``date``.
Knows segments; knows no guide.
"""

from datetime import date
from decimal import Decimal
from functools import lru_cache

from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.x12.tree import Segment
from clearlane.x12.views.binding import (
    ELEMENT_READERS,
    Binding,
    View,
    ViewBuilder,
    append,
    cached,
    code_words,
    extend,
    fill,
    parse_day,
    parse_number,
    read_into,
    set_once,
)


class ReferenceView(View, frozen=True):
    """REF: a reference number."""

    qualifier: str = ""
    value: str = ""
    description: str = ""
    further: tuple[str, ...] = ()


class DateView(View, frozen=True):
    """DTP or DTM: a day, a period, or another date format as in the file."""

    qualifier: str = ""
    start: date | None = None
    end: date | None = None
    """The last day of a period; None for a single day."""
    form: str = ""
    text: str = ""
    """Filled, with the format in ``form``, if it is neither a day nor a period of days."""


class AmountView(View, frozen=True):
    """AMT: a monetary amount."""

    qualifier: str = ""
    qualifier_words: str = ""
    amount: Decimal | None = None


class QuantityView(View, frozen=True):
    """QTY: a quantity."""

    qualifier: str = ""
    qualifier_words: str = ""
    quantity: Decimal | None = None


class TraceView(View, frozen=True):
    """TRN: the trace number that ties a response to its request, or a payment to its remittance."""

    kind: str = ""
    number: str = ""
    originator: str = ""
    further: str = ""


class AdjustmentView(View, frozen=True):
    """One adjustment of a CAS: why less (or more) was paid than charged."""

    group: str = ""
    reason: str = ""
    reason_words: str = ""
    amount: Decimal | None = None
    quantity: Decimal | None = None


class RemarkView(View, frozen=True):
    """A remark code, with the name of its code list."""

    code: str = ""
    code_words: str = ""
    code_list: str = ""


class ProcedureView(View, frozen=True):
    """A procedure with its modifiers."""

    qualifier: str = ""
    code: str = ""
    modifiers: tuple[str, ...] = ()
    description: str = ""
    range_end: str = ""


class ContactNumberView(View, frozen=True):
    """One communication number of a contact."""

    kind: str = ""
    number: str = ""


class ContactView(View, frozen=True):
    """PER: a contact."""

    function: str = ""
    name: str = ""
    numbers: tuple[ContactNumberView, ...] = ()


class SpecialtyView(View, frozen=True):
    """PRV: the specialty of a provider."""

    role: str = ""
    qualifier: str = ""
    code: str = ""
    state: str = ""


class DeliveryView(View, frozen=True):
    """RDM: how the payee of an 835 receives the remittance advice."""

    method: str = ""
    name: str = ""
    address: str = ""
    """An address or number for the method: an e-mail address, a telephone number, a web address."""


class PartyView(View, frozen=True):
    """A person or organization: name, identifiers, address and other details."""

    role: str = ""
    role_words: str = ""
    kind: str = ""
    """1 for a person, 2 for an organization."""
    name: str = ""
    """The last name of a person, or the name of an organization."""
    first: str = ""
    middle: str = ""
    prefix: str = ""
    suffix: str = ""
    id_qualifier: str = ""
    id: str = ""
    relationship: str = ""
    second_role: str = ""
    second_name: str = ""
    street: tuple[str, ...] = ()
    city: str = ""
    state: str = ""
    zip: str = ""
    country: str = ""
    location_qualifier: str = ""
    location: str = ""
    subdivision: str = ""
    contacts: tuple[ContactView, ...] = ()
    references: tuple[ReferenceView, ...] = ()
    specialty: SpecialtyView | None = None
    birth: date | None = None
    sex: str = ""
    marital: str = ""
    dates: tuple[DateView, ...] = ()
    delivery: DeliveryView | None = None
    other: tuple[list[str], ...] = ()


class LevelView(View, frozen=True):
    """HL: the number of a level, its parent, its code, and whether levels follow below."""

    number: str = ""
    parent: str = ""
    code: str = ""
    child: str = ""


class HeadingView(View, frozen=True):
    """BHT: purpose and identification of a set."""

    structure: str = ""
    purpose: str = ""
    reference: str = ""
    day: date | None = None
    time: str = ""
    kind: str = ""


class SetHeaderView(View, frozen=True):
    """ST: the header of a set."""

    transaction: str = ""
    control: str = ""
    version: str = ""


class SetTrailerView(View, frozen=True):
    """SE: the trailer of a set."""

    segments: str = ""
    control: str = ""


class NoteView(View, frozen=True):
    """NTE: a note."""

    kind: str = ""
    text: str = ""


class AdjudicationView(View, frozen=True):
    """MIA or MOA: inpatient or outpatient adjudication, with the claim's remark codes."""

    covered_days: Decimal | None = None
    operating_outlier: Decimal | None = None
    psychiatric_days: Decimal | None = None
    drg_amount: Decimal | None = None
    disproportionate_share: Decimal | None = None
    pass_through: Decimal | None = None
    capital: Decimal | None = None
    capital_federal: Decimal | None = None
    capital_hospital: Decimal | None = None
    capital_disproportionate_share: Decimal | None = None
    old_capital: Decimal | None = None
    capital_education: Decimal | None = None
    hospital_drg: Decimal | None = None
    cost_report_days: Decimal | None = None
    federal_drg: Decimal | None = None
    capital_outlier: Decimal | None = None
    indirect_teaching: Decimal | None = None
    professional_component: Decimal | None = None
    capital_exception: Decimal | None = None
    rate: Decimal | None = None
    payable: Decimal | None = None
    renal_disease: Decimal | None = None
    remarks: tuple[RemarkView, ...] = ()


def read_dtp(segment: Segment, other: list[Segment]) -> DateView:
    """Read a DTP: qualifier, format, text."""
    if len(segment) != 4:
        other.append(segment)
        return DateView(qualifier=segment[1] if len(segment) > 1 else "")
    _, qualifier, form, text = segment
    if form == "D8":
        start = parse_day(text)
        if start is not None:
            return DateView(qualifier=qualifier, start=start)
    elif form == "RD8":
        first, _, last = text.partition("-")
        start, end = parse_day(first), parse_day(last)
        if start is not None and end is not None:
            return DateView(qualifier=qualifier, start=start, end=end)
    return DateView(qualifier=qualifier, form=form, text=text)


def read_dtm(segment: Segment, other: list[Segment]) -> DateView:
    """Read a DTM: qualifier and day."""
    if len(segment) == 3:
        start = parse_day(segment[2])
        if start is not None:
            return DateView(segment[1], start)
    other.append(segment)
    return DateView(segment[1] if len(segment) > 1 else "")


def read_reference(segment: Segment, other: list[Segment]) -> ReferenceView:
    """Read a REF, which usually has two elements."""
    if len(segment) == 3:
        return ReferenceView(segment[1], segment[2])
    return _long_reference(segment, other)  # type: ignore[no-any-return]  # compiled readers are of any type


def read_party_name(segment: Segment, other: list[Segment]) -> PartyView:
    """Read a party that consists of its NM1 alone, which usually has nine elements."""
    if len(segment) != 10:
        return _long_name(segment, other)  # type: ignore[no-any-return]  # compiled readers are of any type
    _, role, kind, name, first, middle, prefix, suffix, qualifier, id = segment
    role_words = code_words("entities", role)
    return PartyView(role, role_words, kind, name, first, middle, prefix, suffix, qualifier, id)


def read_adjustments(segment: Segment, other: list[Segment]) -> tuple[AdjustmentView, ...]:
    """Read the adjustments of a CAS."""
    found = []
    size = len(segment)
    group = segment[1] if size > 1 else ""
    whole = size > 2
    for at in range(2, size, 3):
        reason = segment[at]
        amount_text = segment[at + 1] if size > at + 1 else ""
        quantity_text = segment[at + 2] if size > at + 2 else ""
        if not (reason or amount_text or quantity_text):
            continue
        amount = parse_number(amount_text) if amount_text else None
        quantity = parse_number(quantity_text) if quantity_text else None
        whole = whole and (amount is not None) and (quantity is not None or not quantity_text)
        found.append(
            AdjustmentView(
                group=group,
                reason=reason,
                reason_words=code_words("carc", reason),
                amount=amount,
                quantity=quantity,
            )
        )
    if not whole:
        other.append(segment)
    return tuple(found)


def read_contact(segment: Segment, other: list[Segment]) -> ContactView:
    """Read a PER with up to three numbers."""
    if len(segment) > 9:
        other.append(segment)
    _, function, name, *rest = [*segment[:9], *[""] * (9 - len(segment))]
    pairs = zip(rest[::2], rest[1::2], strict=True)
    numbers = tuple(
        ContactNumberView(kind=kind, number=number) for kind, number in pairs if kind or number
    )
    return ContactView(function=function, name=name, numbers=numbers)


@lru_cache(VALUES_REMEMBERED_MAX)
def read_procedure(text: str) -> ProcedureView | None:
    """Read a procedure; None if the composite has more than its eight components."""
    qualifier, code, *rest = [*text.split(":"), ""]
    if len(rest) > 7:
        return None
    return ProcedureView(
        qualifier=qualifier,
        code=code,
        modifiers=tuple(modifier for modifier in rest[:4] if modifier),
        description=rest[4] if len(rest) > 4 else "",
        range_end=rest[5] if len(rest) > 5 else "",
    )


def _remark(code: str) -> RemarkView:
    return RemarkView(code=code, code_words=code_words("rarc", code))


ELEMENT_READERS["procedure"] = read_procedure
ELEMENT_READERS["remark"] = _remark

_long_reference = read_into(ReferenceView, "qualifier value description further=parts")

_INPATIENT = (
    "covered_days$ operating_outlier$ psychiatric_days$ drg_amount$ remarks+=remark"
    " disproportionate_share$ pass_through$ capital$ capital_federal$ capital_hospital$"
    " capital_disproportionate_share$ old_capital$ capital_education$ hospital_drg$"
    " cost_report_days$ federal_drg$ capital_outlier$ indirect_teaching$ professional_component$"
    " remarks+=remark remarks+=remark remarks+=remark remarks+=remark capital_exception$"
)
_OUTPATIENT = (
    "rate$ payable$ remarks+=remark remarks+=remark remarks+=remark remarks+=remark"
    " remarks+=remark renal_disease$ professional_component$"
)
NM1 = (
    "role?entities kind name first middle prefix suffix id_qualifier id relationship second_role"
    " second_name"
)
_long_name = read_into(PartyView, NM1)
read_remark = read_into(RemarkView, "code_list code?rarc")

BIRTH = fill("-=d8 birth! sex marital")
PARTY_ROWS: dict[str, Binding] = {
    "NM1": fill(NM1),
    "N1": fill("role?entities name id_qualifier id relationship second_role"),
    "N3": fill("street+ street+"),
    "N4": fill("city state zip country location_qualifier location subdivision"),
    "PER": append("contacts", read_contact),
    "REF": append("references", read_reference),
    "PRV": set_once("specialty", cached(read_into(SpecialtyView, "role qualifier code state"))),
    "DMG": BIRTH,
}
PARTY = ViewBuilder(PartyView, {**PARTY_ROWS, "DTP": append("dates", read_dtp)})
PAYEE = ViewBuilder(
    PartyView,
    {**PARTY_ROWS, "RDM": set_once("delivery", read_into(DeliveryView, "method name address"))},
)

DATES = append("dates", read_dtp, cache=True)
REFERENCES = append("references", read_reference)
AMOUNTS = append("amounts", read_into(AmountView, "qualifier?amounts amount$"), cache=True)
QUANTITIES = append(
    "quantities", read_into(QuantityView, "qualifier?quantities quantity$"), cache=True
)
ADJUSTMENTS = extend("adjustments", read_adjustments)
INPATIENT = set_once("inpatient", cached(read_into(AdjudicationView, _INPATIENT)))
OUTPATIENT = set_once("outpatient", cached(read_into(AdjudicationView, _OUTPATIENT)))
NOTES = append("notes", read_into(NoteView, "kind text"))
LEVEL = set_once("level", read_into(LevelView, "number parent code child"))
TRACE = read_into(TraceView, "kind number originator further")
TRACES = append("traces", TRACE)
ENDS: dict[str, Binding] = {
    "ST": set_once("start", read_into(SetHeaderView, "transaction control version")),
    "SE": set_once("end", read_into(SetTrailerView, "segments control")),
}
FRAME: dict[str, Binding] = {
    **ENDS,
    "BHT": set_once(
        "heading", read_into(HeadingView, "structure purpose reference day! time kind")
    ),
}
