"""Explain every complaint and adjustment of a payer in the caller's own fields.

    for one in explain_complaints(fact, claim): ...      # TA1, 999, 277CA, 277
    for one in explain_adjustments(paid, claim): ...     # 835
    one.fields[0].path, one.fields[0].box                # F33A_BillingProviderNpi, 33a
    one.happened, one.todo

Every element of an 837 came from a named field: the placement tables, read backwards, give the fields of a place.
Those that the claim has filled are named; for a missing value, all that could fill it.

Knows the placement tables, the catalogue and the tables of advice; knows no file and no database. An explanation
names fields of a claim and never their values.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clearlane.claims.fields import Claim, JsonClaim, fields_of
from clearlane.claims.forms import FORMS, AnyForm, ClaimForm, form_of, institutional_places
from clearlane.claims.forms.x12_segments import element_sent_at, elements_at
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.responses import code_advice
from clearlane.claims.responses.adjustment_advice import advise_adjustment
from clearlane.claims.responses.advice_act import CORRECTED, Advice, AdviceAct
from clearlane.claims.responses.facts import ClaimValue, Complaint, Fact, FactKind
from clearlane.claims.responses.field_lookup import field_places, source_field
from clearlane.claims.resubmission import VOID
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.formats import lower_first
from clearlane.x12 import codes
from clearlane.x12.path import ElementPath

if TYPE_CHECKING:
    from clearlane.x12.views import remittance, shared_types

SELF = "18"
MISSING = frozenset({"1", "2", "3", "I6", "I7", "I8", "I9", "I11"})
"""Codes of a 999 for something that is missing."""
PERIOD = frozenset({2, 3})
"""The elements that a period of days takes in a DTP."""


PAYER_TEXT = " The payer writes: "
"""The words before a payer's own text."""
FILE_CHECK = "The payer's check of the file objects to "
"""The words before the fields that a 999 objects to."""
NOTHING_TO_DO = (
    "Nothing now: the payer accepted the claim all the same. Correct it in the next one."
)


NOTHING_WRONG = "Nothing in the claim is wrong: send it again; if it is rejected again, the operator of the clearinghouse must look."
# A refused file goes again from the operator, and the payer may have it all the same: a second claim could be a duplicate.
FILE_REFUSED = (
    "Nothing in the claim is wrong: do not send it again. The operator of the clearinghouse sees to the file, and the "
    "claim goes again by itself, unless the payer has it already."
)


class FieldReference(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the caller's claim."""

    path: str
    """Inside the claim: ``F24_ClaimLines[0].F24F_Charges``."""
    label: str = ""
    box: str = ""
    form: str = ""
    place: str = ""
    """Its place in the 837."""


class Explanation(ClaimValue, frozen=True):
    """One complaint or adjustment in words. A payer's text may name a patient, so the repr shows none of it."""

    source: str
    """TA1, 999, 277CA, 277 or 835."""
    code: str
    happened: str
    todo: str
    act: AdviceAct = AdviceAct.NOTHING
    """What to do, as a value: the main button of the claim's page."""
    enclose: tuple[str, ...] = ()
    """What to enclose, if something goes to the payer outside a claim."""
    fields: tuple[FieldReference, ...] = ()
    line: int = 0
    """The service line, from 1; 0 for the claim as a whole."""
    amount: Decimal | None = None
    """The amount of an adjustment."""
    names_fields: bool = True
    """Whether the code is about the fields; False if they only hold the charge that it reduces."""

    @property
    def is_group_fixable(self) -> bool:
        """Whether a correction of the fields answers it, in every claim that has it."""
        return self.act in CORRECTED and self.names_fields and bool(self.fields)


def explain_complaints(
    fact: Fact, claim: Claim | AnyForm, controls: Sequence[str] = ()
) -> Iterator[Explanation]:
    """Explain the complaints of a TA1, 999, 277CA or 277. ``controls`` are the line control numbers as sent."""
    for one in fact.complaints:
        explanation = _EXPLAINERS[one.source](one, claim, controls)
        yield (
            msgspec.structs.replace(explanation, todo=NOTHING_TO_DO, act=AdviceAct.NOTHING)
            if fact.kind is FactKind.ACCEPTED_999
            else explanation
        )
    if fact.kind is FactKind.SEND_AGAIN:
        happened = "The payer refused the set this claim went in, because of other claims in it."
        yield Explanation(
            source=fact.source,
            code="",
            happened=happened,
            todo="Nothing: it is sent again.",
            act=AdviceAct.WAIT,
        )
    elif not fact.complaints and fact.kind in _WITHOUT_REASON:
        happened, todo, act = _WITHOUT_REASON[fact.kind]
        yield Explanation(source=fact.source, code="", happened=happened, todo=todo, act=act)


def explain_adjustments(
    paid: "remittance.RemittanceClaimView", claim: Claim | AnyForm, controls: Sequence[str] = ()
) -> Iterator[Explanation]:
    """Explain why an 835 did not pay the whole charge: the adjustments of the claim, then of its lines."""
    at = {control: number for number, control in enumerate(controls, 1)}
    whole = paid.outpatient or paid.inpatient
    remarks = whole.remarks if whole else ()
    for one in paid.adjustments:
        yield _adjustment(one, remarks, claim, 0, paid)
    for line in paid.lines:
        for one in line.adjustments:
            yield _adjustment(one, line.remarks, claim, at.get(line.control, 0), paid)


def by_field(explanations: Iterable[Explanation]) -> Iterator[tuple[str, Explanation]]:
    """Yield the path of each field that is explained, with what was said of it.

    A payer adjusts each line by itself, and all for the same reason: a field of the whole claim has that once, with the
    sum of the amounts.
    """
    found: dict[tuple[str, Explanation], list[Explanation]] = {}
    for one in explanations:
        alike = msgspec.structs.replace(
            one, happened=one.happened.removeprefix(_money(one)), amount=None, fields=(), line=0
        )
        for field in one.fields:
            found.setdefault((field.path, alike), []).append(one)
    for (path, alike), (first, *others) in found.items():
        if first.amount is None:
            yield path, first
            continue
        amount = sum((one.amount or Decimal(0) for one in others), first.amount)
        summed = msgspec.structs.replace(first, amount=amount)
        yield path, msgspec.structs.replace(summed, happened=_money(summed) + alike.happened)


def _money(one: "Explanation | shared_types.AdjustmentView") -> str:
    """Return the amount with which the sentence of an adjustment begins; empty if there is none."""
    return "" if one.amount is None else f"${one.amount:,.2f}"


def fields_at(
    claim: Claim | AnyForm,
    wanted: Iterable[str],
    *,
    line: int = 0,
    missing: bool = False,
    nth: int = 0,
) -> tuple[FieldReference, ...]:
    """Return the fields at places such as ``2010AA/NM1/09``, ``2300/HI`` or ``2300/REF:G1/02``.

    A place of the patient is looked up in the insured's loop if both are one person.
    """
    if isinstance(claim, X12Claim):
        return _file_fields_at(claim, wanted, line=line, nth=nth)
    form = _form(claim)
    found: dict[str, _Row] = {}
    for place in wanted:
        for row in _person_rows_at(claim, place, nth):
            known = found.setdefault(row.name, row)
            if known.item != row.item:
                # Several items of an array are named as the array.
                found[row.name] = known._replace(item=-1)
    filled = [row for row in found.values() if not missing and _is_filled(row, claim, line)]
    if not line and not isinstance(claim, ClaimForm) and len(form_of(claim).lines(claim)) == 1:
        line = 1
    return tuple(_field(form, row, line) for row in filled or found.values())


def _file_fields_at(
    claim: X12Claim, wanted: Iterable[str], *, line: int, nth: int
) -> tuple[FieldReference, ...]:
    """Return the elements of the sender's file at places; the place itself if the file has nothing there."""
    found: dict[str, FieldReference] = {}
    for place in wanted:
        for one in elements_at(claim, place, line=line, nth=nth):
            found[one.location] = FieldReference(path=one.location, label=one.name, place=place)
    return tuple(found.values())


def _file_field_sent_at(
    claim: Claim | AnyForm, one: Complaint, place: str
) -> tuple[FieldReference, ...]:
    """Return the element of the sender's file that a 999 names by its position in ours; none if it names no position."""
    if not isinstance(claim, X12Claim) or not one.offset:
        return ()
    found = element_sent_at(claim, one.sent_level, one.offset, one.element, one.component)
    return (FieldReference(path=found.location, label=found.name, place=place),) if found else ()


def value_at(claim: Claim, place: str) -> str:
    """Return the claim's value at a place of the claim level as text; empty if it has none."""
    if isinstance(claim, X12Claim):
        return next((one.text for one in elements_at(claim, place)), "")
    for row in _rows_at(form_of(claim), place, 0):
        value = claim.__dict__.get(row.name)
        if value is not None and not row.line:
            return str(value)
    return ""


# Acknowledgements.


def _interchange(one: Complaint, claim: Claim | AnyForm, controls: Sequence[str]) -> Explanation:
    words = codes.load("ta1_notes").get(one.code, "")
    return Explanation(
        source="TA1",
        code=one.code,
        happened=_sentence("The payer refused the whole file this claim went in", words),
        todo=FILE_REFUSED,
        act=AdviceAct.WAIT,
    )


_FAULT_LISTS = {
    "element": "element_errors",
    "segment": "segment_errors",
    "set": "set_errors",
    "group": "group_errors",
}


def _syntax(one: Complaint, claim: Claim | AnyForm, controls: Sequence[str]) -> Explanation:
    words = codes.load(_FAULT_LISTS[one.level]).get(one.code, f"Error {one.code}")
    if one.level in {"set", "group"}:
        return Explanation(
            source="999",
            code=one.code,
            happened=_sentence(f"The payer refused the whole {one.level} of claims", words),
            todo=NOTHING_WRONG,
            act=AdviceAct.SEND_AGAIN,
        )
    place = _place(one)
    # If an element has no field of its own (a qualifier, say), its segment's fields are named.
    segment = "/".join(place.split("/")[:2])
    found = (
        _file_field_sent_at(claim, one, place)
        or fields_at(claim, [place], line=one.line, missing=one.code in MISSING, nth=one.nth)
        or fields_at(claim, [segment], line=one.line, nth=one.nth)
    )
    what = _named(found) or f"the place {place}"
    advice = code_advice.CORRECT if found else code_advice.ASK_OPERATOR
    return Explanation(
        source="999",
        code=one.code,
        happened=_sentence(f"{FILE_CHECK}{what}", words),
        todo=advice.sentence,
        act=advice.act,
        fields=found,
        line=one.line,
    )


def _place(one: Complaint) -> str:
    """Return the complaint's place as a path; without an element if it concerns the segment."""
    place = f"{one.loop}/{one.segment}"
    if one.qualifier and _has_qualifier(one.loop, one.segment, one.qualifier):
        place += f":{one.qualifier}"
    if one.element:
        place += f"/{one.element:02}"
        place += f"-{one.component}" if one.component else ""
    return place


# Statuses.


def _status(one: Complaint, claim: Claim | AnyForm, controls: Sequence[str]) -> Explanation:
    line = one.line or (controls.index(one.control) + 1 if one.control in controls else 0)
    places = code_advice.STATUS_PLACES.get(one.code, ())
    wanted = _places(claim, places, one.entity, one.code)
    found = (
        fields_at(claim, wanted, line=line)
        if one.entity not in code_advice.CLEARINGHOUSE_ENTITIES
        else ()
    )
    words = codes.load("statuses").get(one.code, "") or f"Status {one.code}"
    who = codes.load("entities").get(one.entity, "")
    about = f" ({lower_first(who)})" if who else ""
    category = codes.load("status_categories").get(one.category, "") or one.category
    text = f"{PAYER_TEXT}{one.text}" if one.text else ""
    named = f" It concerns {_named(found)}." if found else ""
    level = _LEVELS.get(one.level, "The claim")
    advice = _status_advice(one)
    return Explanation(
        source=one.source,
        code=f"{one.category}:{one.code}" + (f":{one.entity}" if one.entity else ""),
        happened=f"{level}: {category}. {words}{about}.{named}{text}",
        todo=advice.sentence,
        act=advice.act,
        enclose=advice.enclose,
        fields=found,
        line=line,
    )


def _status_advice(one: Complaint) -> Advice:
    return (
        code_advice.STATUS_ADVICE.get(one.code)
        or code_advice.CATEGORY_ADVICE.get(one.category)
        or code_advice.LETTER_ADVICE.get(one.category[:1], code_advice.ASK_PAYER)
    )


_LEVELS = {
    "line": "A line of the claim",
    "receiver": "The whole batch",
    "provider": "All claims of the provider",
    "above": "A level above the claim",
}


def _places(
    claim: Claim | AnyForm, places: Iterable[str], entity: str = "", status: str = ""
) -> list[str]:
    """Return the places of a code in the 837 of a claim, with the loop of the entity that a status names."""
    form = claim if isinstance(claim, ClaimForm) else form_of(claim)
    if form.kind is ClaimKind.INSTITUTIONAL:
        return institutional_places.places_in_837i(places, entity, status)
    loop = code_advice.ENTITY_LOOPS.get(entity, "")
    return [place.format(e=loop, line=_line_segment(claim)) for place in places]


def _line_segment(claim: Claim | AnyForm) -> str:
    """Return the segment that begins with a line's procedure."""
    form = claim if isinstance(claim, ClaimForm) else form_of(claim)
    return form.line_segment


def _form(claim: JsonClaim | AnyForm) -> AnyForm:
    return claim if isinstance(claim, ClaimForm) else form_of(claim)


# Remittances.


def _adjustment(
    one: "shared_types.AdjustmentView",
    remarks: "Sequence[shared_types.RemarkView]",
    claim: Claim | AnyForm,
    line: int,
    paid: "remittance.RemittanceClaimView",
) -> Explanation:
    places = [*code_advice.REASON_PLACES.get(one.reason, ())]
    # A remark is more precise than a reason such as "information is missing".
    for remark in remarks:
        places += code_advice.REMARK_PLACES.get(remark.code, ())
    names_fields = bool(places)
    places = places or ["2400/{line}/02" if line else "2300/CLM/02"]
    wanted = _places(claim, places)
    words = one.reason_words or codes.load("carc").get(one.reason, "") or f"Reason {one.reason}"
    bears = codes.load("adjustment_groups").get(one.group, one.group)
    sentences = [f"{_money(one) or 'An amount'} was not paid: {words}. {bears}."]
    sentences += [f"{remark.code}: {words}." for remark in remarks if (words := _remark(remark))]
    is_medicaid = not isinstance(claim, ClaimForm) and (
        value_at(claim, "2000B/SBR/09") == code_advice.MEDICAID
    )
    # A void is paid nothing whatever the reason, and none of its fields is to be corrected.
    is_void = not isinstance(claim, ClaimForm) and form_of(claim).frequency(claim) == VOID
    advice = (
        code_advice.VOIDED_ADVICE
        if is_void
        else advise_adjustment(one, remarks, paid, claim, is_medicaid=is_medicaid)
    )
    return Explanation(
        source="835",
        code=f"{one.group}-{one.reason}",
        happened=" ".join(sentences),
        todo=advice.sentence,
        act=advice.act,
        enclose=advice.enclose,
        fields=() if is_void else fields_at(claim, wanted, line=line),
        line=line,
        amount=one.amount,
        names_fields=names_fields,
    )


def _remark(remark: "shared_types.RemarkView") -> str:
    return remark.code_words or codes.load("rarc").get(remark.code, "")


# The placement tables, read backwards.


class _Row(NamedTuple):
    """A field and a place that holds its value."""

    name: str
    line: bool
    """Whether it is a field of a line."""
    place: str
    at: ElementPath
    nth: int
    """0 if the table does not number its segments."""
    item: int
    """The index in an array whose items have places of their own; -1 for none."""
    of_patient: bool
    """Whether it is a value of the patient in the insured's loop."""


@cache
def _table(form: AnyForm) -> dict[tuple[str, str], tuple[_Row, ...]]:
    """Return every field with its places, by loop and segment; a field's own places before echoes."""
    seen: dict[str, int] = {}
    found: dict[tuple[str, str], list[_Row]] = {}
    for place in field_places(form):
        number = seen[place.name] = seen.get(place.name, -1) + 1
        # Only arrays with a place an item are numbered: HI/01, HI/02; DN2#1, DN2#2.
        known = fields_of(form.claim).get(place.name)
        item = number if known is not None and known.is_array else -1
        nth = place.path.nth if "#" in place.place else 0
        row = _Row(place.name, place.of_line, place.place, place.path, nth, item, place.of_patient)
        found.setdefault((place.path.loop, place.path.id), []).append(row)
    return {key: tuple(value) for key, value in found.items()}


def _person_rows_at(claim: JsonClaim | AnyForm, place: str, nth: int) -> list[_Row]:
    """Return the rows of a place; for a patient who is the insured, those in the insured's loop.

    There name, birth date and sex are sent from the insured's boxes, and the patient's must agree (rule C201): both
    are corrected, and the patient's come first if the place is the patient's. An address need not agree, so the
    box that is sent comes first.
    """
    form = _form(claim)
    if isinstance(claim, ClaimForm):
        return [*_rows_at(form, place, nth)]
    if form_of(claim).value(claim, "subscriber.relationship") != SELF:
        return [row for row in _rows_at(form, place, nth) if not row.of_patient]
    rows = [*_rows_at(form, place.replace("2010CA", "2010BA"), nth)]
    if place.startswith("2010CA"):
        agreeing = {patient for patient, _, _ in form.persons}
        rows.sort(key=lambda row: row.name not in agreeing)
    return rows


def _rows_at(form: AnyForm, place: str, nth: int) -> Iterator[_Row]:
    """Yield the rows of a place, or of every element of a segment if no element is named."""
    loop, id, *rest = place.split("/")
    id, _, qualifier = id.partition(":")
    number, _, component = rest[0].partition("-") if rest else ("", "", "")
    for row in _of_segment(form, loop, id):
        if qualifier and row.at.qualifier not in {"", qualifier}:
            continue
        if row.nth and nth not in {0, row.nth}:
            continue
        if not nth and "[" in row.name and row.name[row.name.index("[") + 1] != "]":
            continue  # one of several teeth: which one is not known
        if number and not _covers(row, int(number), int(component or 0)):
            continue
        yield row


def _of_segment(form: AnyForm, loop: str, id: str) -> Iterator[_Row]:
    table = _table(form)
    exact = table.get((loop, id))
    if exact is not None:
        yield from exact
        return
    # IK303 holds only four characters of a loop's name: 2010 may be 2010AA, 2010BA and so on.
    for (other, segment), found in table.items():
        if segment == id and len(loop) == 4 and other != loop and other.startswith(loop):
            yield from found


def _covers(row: _Row, element: int, component: int) -> bool:
    if not row.at.element:
        return element in PERIOD
    if row.at.element != element:
        return False
    return not component or row.at.component in {0, component}


@cache
def _has_qualifier(loop: str, id: str, qualifier: str) -> bool:
    """Return whether some table distinguishes segments of this place by this qualifier."""
    return any(
        row.at.qualifier == qualifier
        for form in FORMS.values()
        for row in _of_segment(form, loop, id)
    )


def _is_filled(row: _Row, claim: JsonClaim | AnyForm, line: int) -> bool:
    if isinstance(claim, ClaimForm):
        return False
    base = row.name.partition("[")[0].partition(".")[0]
    if not row.line:
        value = claim.__dict__.get(base)
        return value is not None and (row.item < 0 or row.item < len(value))
    lines = form_of(claim).lines(claim)
    chosen = lines[line - 1 : line] if line else lines
    return any(base in one.__dict__ for one in chosen)


def _field(form: AnyForm, row: _Row, line: int) -> FieldReference:
    name = row.name if row.item < 0 else f"{row.name}[{row.item}]"
    found = source_field(form, name, of_line=row.line, line=line)
    return FieldReference(
        path=found.field,
        label=found.label,
        box=found.box,
        form=form.form_name if found.box else "",
        place=row.place,
    )


def _named(found: Sequence[FieldReference]) -> str:
    """Return fields in words; three at most."""
    named = [
        f"{one.label} ({one.path}" + (f", box {one.box} of the {one.form}" if one.box else "") + ")"
        for one in found[:3]
    ]
    return ", ".join(named)


def _sentence(start: str, words: str) -> str:
    return f"{start}: {lower_first(words)}." if words else f"{start}."


_EXPLAINERS = {"TA1": _interchange, "999": _syntax, "277CA": _status, "277": _status}
_WITHOUT_REASON = {
    FactKind.TA1_REFUSED: (
        "The payer refused the whole file this claim went in and did not say why.",
        FILE_REFUSED,
        AdviceAct.WAIT,
    ),
    FactKind.SET_REFUSED: (
        "The payer refused the set this claim went in and did not say why.",
        "Send the claim again; if it is rejected again, the operator of the clearinghouse must look.",
        AdviceAct.SEND_AGAIN,
    ),
}
