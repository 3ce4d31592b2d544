"""What several views share: parties, dates, numbers, amounts, adjustments, procedures.

Codes stand as the file has them, with their words beside them where a list tells them. Amounts are
``Decimal``, days are ``date``. Knows segments; knows no guide.
"""

from datetime import date
from decimal import Decimal
from functools import lru_cache

from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.x12.tree import Segment
from clearlane.x12.views.binding import (
    KINDS,
    Row,
    Sorter,
    Value,
    day,
    each,
    every,
    fill,
    into,
    number,
    once,
    remembered,
    words,
)


class Reference(Value, frozen=True):
    """REF: a number of something."""

    qualifier: str = ""
    value: str = ""
    description: str = ""
    further: tuple[str, ...] = ()


class Dated(Value, frozen=True):
    """DTP or DTM: a day, a period, or another form of time as the file has it."""

    qualifier: str = ""
    start: date | None = None
    end: date | None = None
    """The last day of a period; None for a single day."""
    form: str = ""
    text: str = ""
    """Filled, with the form, where the time is no day and no period of days."""


class Amount(Value, frozen=True):
    """AMT."""

    qualifier: str = ""
    qualifier_words: str = ""
    amount: Decimal | None = None


class Quantity(Value, frozen=True):
    """QTY."""

    qualifier: str = ""
    qualifier_words: str = ""
    quantity: Decimal | None = None


class Trace(Value, frozen=True):
    """TRN: what ties an answer to a question, or a payment to its advice."""

    kind: str = ""
    number: str = ""
    originator: str = ""
    further: str = ""


class Adjustment(Value, frozen=True):
    """One reason of a CAS: why less (or more) was paid than charged."""

    group: str = ""
    reason: str = ""
    reason_words: str = ""
    amount: Decimal | None = None
    quantity: Decimal | None = None


class Remark(Value, frozen=True):
    """A remark code, with the list it stands in."""

    code: str = ""
    code_words: str = ""
    code_list: str = ""


class Procedure(Value, frozen=True):
    """A procedure with its modifiers."""

    qualifier: str = ""
    code: str = ""
    modifiers: tuple[str, ...] = ()
    description: str = ""
    range_end: str = ""


class ContactNumber(Value, frozen=True):
    """One way to reach a contact."""

    kind: str = ""
    number: str = ""


class Contact(Value, frozen=True):
    """PER."""

    function: str = ""
    name: str = ""
    numbers: tuple[ContactNumber, ...] = ()


class Specialty(Value, frozen=True):
    """PRV."""

    role: str = ""
    qualifier: str = ""
    code: str = ""
    state: str = ""


class Party(Value, frozen=True):
    """A person or organisation: its name, numbers, address and whatever else is said of it."""

    role: str = ""
    role_words: str = ""
    kind: str = ""
    """1 for a person, 2 for an organisation."""
    name: str = ""
    """The last name of a person, or the name of an organisation."""
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
    contacts: tuple[Contact, ...] = ()
    references: tuple[Reference, ...] = ()
    specialty: Specialty | None = None
    birth: date | None = None
    sex: str = ""
    marital: str = ""
    dates: tuple[Dated, ...] = ()
    other: tuple[list[str], ...] = ()


class Level(Value, frozen=True):
    """HL: the number of a level, the one around it, its code, and whether levels follow below."""

    number: str = ""
    parent: str = ""
    code: str = ""
    child: str = ""


class Heading(Value, frozen=True):
    """BHT: what a set is for."""

    structure: str = ""
    purpose: str = ""
    reference: str = ""
    day: date | None = None
    time: str = ""
    kind: str = ""


class Start(Value, frozen=True):
    """ST."""

    transaction: str = ""
    control: str = ""
    version: str = ""


class End(Value, frozen=True):
    """SE."""

    segments: str = ""
    control: str = ""


class Note(Value, frozen=True):
    """NTE."""

    kind: str = ""
    text: str = ""


class Decision(Value, frozen=True):
    """MIA or MOA: what was decided of an inpatient or an outpatient claim, and the claim's remarks."""

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
    remarks: tuple[Remark, ...] = ()


def dated(segment: Segment, other: list[Segment]) -> Dated:
    """A DTP: qualifier, form, text."""
    if len(segment) != 4:
        other.append(segment)
        return Dated(qualifier=segment[1] if len(segment) > 1 else "")
    _, qualifier, form, text = segment
    if form == "D8":
        start = day(text)
        if start is not None:
            return Dated(qualifier=qualifier, start=start)
    elif form == "RD8":
        first, _, last = text.partition("-")
        start, end = day(first), day(last)
        if start is not None and end is not None:
            return Dated(qualifier=qualifier, start=start, end=end)
    return Dated(qualifier=qualifier, form=form, text=text)


def dated_short(segment: Segment, other: list[Segment]) -> Dated:
    """A DTM: qualifier and day."""
    if len(segment) == 3:
        start = day(segment[2])
        if start is not None:
            return Dated(segment[1], start)
    other.append(segment)
    return Dated(segment[1] if len(segment) > 1 else "")


def reference(segment: Segment, other: list[Segment]) -> Reference:
    """A REF, which has two elements as a rule."""
    if len(segment) == 3:
        return Reference(segment[1], segment[2])
    return _long_reference(segment, other)  # type: ignore[no-any-return]


def party_name(segment: Segment, other: list[Segment]) -> Party:
    """A party of which only the name is told: nine elements as a rule."""
    if len(segment) != 10:
        return _long_name(segment, other)  # type: ignore[no-any-return]
    _, role, kind, name, first, middle, prefix, suffix, qualifier, id = segment
    told = words("entities", role)
    return Party(role, told, kind, name, first, middle, prefix, suffix, qualifier, id)


def adjustments(segment: Segment, other: list[Segment]) -> tuple[Adjustment, ...]:
    """The reasons of a CAS."""
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
        amount = number(amount_text) if amount_text else None
        quantity = number(quantity_text) if quantity_text else None
        whole = whole and (amount is not None) and (quantity is not None or not quantity_text)
        found.append(
            Adjustment(
                group=group,
                reason=reason,
                reason_words=words("carc", reason),
                amount=amount,
                quantity=quantity,
            )
        )
    if not whole:
        other.append(segment)
    return tuple(found)


def contact(segment: Segment, other: list[Segment]) -> Contact:
    """A PER with up to three numbers."""
    if len(segment) > 9:
        other.append(segment)
    _, function, name, *rest = [*segment[:9], *[""] * (9 - len(segment))]
    pairs = zip(rest[::2], rest[1::2], strict=True)
    numbers = tuple(
        ContactNumber(kind=kind, number=number) for kind, number in pairs if kind or number
    )
    return Contact(function=function, name=name, numbers=numbers)


@lru_cache(VALUES_REMEMBERED_MAX)
def procedure(text: str) -> Procedure | None:
    """A procedure; None where the composite has more than its eight components."""
    qualifier, code, *rest = [*text.split(":"), ""]
    if len(rest) > 7:
        return None
    return Procedure(
        qualifier=qualifier,
        code=code,
        modifiers=tuple(modifier for modifier in rest[:4] if modifier),
        description=rest[4] if len(rest) > 4 else "",
        range_end=rest[5] if len(rest) > 5 else "",
    )


def _remark(code: str) -> Remark:
    return Remark(code=code, code_words=words("rarc", code))


KINDS["procedure"] = procedure
KINDS["remark"] = _remark

_long_reference = into(Reference, "qualifier value description further=parts")

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
_long_name = into(Party, NM1)
remark = into(Remark, "code_list code?rarc")

BIRTH = fill("-=d8 birth! sex marital")
PARTY_ROWS: dict[str, Row] = {
    "NM1": fill(NM1),
    "N1": fill("role?entities name id_qualifier id relationship second_role"),
    "N3": fill("street+ street+"),
    "N4": fill("city state zip country location_qualifier location subdivision"),
    "PER": each("contacts", contact),
    "REF": each("references", reference),
    "PRV": once("specialty", remembered(into(Specialty, "role qualifier code state"))),
    "DMG": BIRTH,
}
PARTY = Sorter(Party, {**PARTY_ROWS, "DTP": each("dates", dated)})

DATES = each("dates", dated, remember=True)
REFERENCES = each("references", reference)
AMOUNTS = each("amounts", into(Amount, "qualifier?amounts amount$"), remember=True)
QUANTITIES = each("quantities", into(Quantity, "qualifier?quantities quantity$"), remember=True)
ADJUSTMENTS = every("adjustments", adjustments)
INPATIENT = once("inpatient", remembered(into(Decision, _INPATIENT)))
OUTPATIENT = once("outpatient", remembered(into(Decision, _OUTPATIENT)))
NOTES = each("notes", into(Note, "kind text"))
LEVEL = once("level", into(Level, "number parent code child"))
TRACE = into(Trace, "kind number originator further")
TRACES = each("traces", TRACE)
ENDS: dict[str, Row] = {
    "ST": once("start", into(Start, "transaction control version")),
    "SE": once("end", into(End, "segments control")),
}
FRAME: dict[str, Row] = {
    **ENDS,
    "BHT": once("heading", into(Heading, "structure purpose reference day! time kind")),
}
