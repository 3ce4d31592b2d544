"""Every complaint and adjustment of a payer in the caller's own fields and in words.

    for told in refusal(fact, claim): ...         # TA1, 999, 277CA, 277
    for told in decision(remitted, claim): ...    # the adjustments of an 835
    told.fields[0].path, told.fields[0].box       # F33A_BillingProviderNpi, 33a
    told.happened, told.todo

Every element of an 837 came from a named field, and the placement tables say which: here they are read
backwards. Of the fields that may stand at a place those the claim has filled are named; where one is missing,
all that could fill it.

Knows the placement tables, the catalogue and the tables of advice; knows no file and no database. What it says of
a claim names fields and never their values.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

import msgspec

from clearlane.claims import code_advice
from clearlane.claims.facts import Complaint, Fact, Kind, Value
from clearlane.claims.field_lookup import places, source
from clearlane.claims.fields import PAPERS, Claim, ClaimKind, kind_of, lines_of, rows
from clearlane.claims.rules.people import relationship
from clearlane.x12 import codes
from clearlane.x12.path import Path
from clearlane.x12.views import remittance
from clearlane.x12.views import shared_types as views

SELF = "18"
MISSING = frozenset({"1", "2", "3", "I6", "I7", "I8", "I9", "I11"})
"""Codes of a 999 that object to something that is not there."""
LINE_SEGMENT = {ClaimKind.MEDICAL: "SV1", ClaimKind.DENTAL: "SV3"}
PERIOD = frozenset({2, 3})
"""The elements that a period of days takes in a DTP."""


TAKEN = "Nothing now: the payer took the claim all the same. Put it right in the next one."


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the caller's claim."""

    path: str
    """Inside the claim: ``F24_ClaimLines[0].F24F_Charges``."""
    label: str = ""
    box: str = ""
    form: str = ""
    place: str = ""
    """Where it stands in the 837."""


class Told(Value, frozen=True):
    """One complaint or adjustment, told. A payer's own words may name a patient, so it prints none of them."""

    source: str
    """TA1, 999, 277CA, 277 or 835."""
    code: str
    happened: str
    todo: str
    fields: tuple[Field, ...] = ()
    line: int = 0
    """The claim's line, from 1; 0 for the claim as a whole."""
    amount: Decimal | None = None
    """Of an adjustment."""


def refusal(fact: Fact, claim: Claim | ClaimKind, controls: Sequence[str] = ()) -> Iterator[Told]:
    """What a TA1, 999, 277CA or 277 objects to. ``controls`` are the line control numbers as sent."""
    for one in fact.complaints:
        told = _TELLERS[one.source](one, claim, controls)
        yield msgspec.structs.replace(told, todo=TAKEN) if fact.kind is Kind.ACCEPTED_999 else told
    if fact.kind is Kind.SEND_AGAIN:
        happened = "The payer refused the set this claim went in, because of other claims in it."
        yield Told(
            source=fact.source, code="", happened=happened, todo="Nothing: it is sent again."
        )
    elif not fact.complaints and fact.kind in _SILENT:
        happened, todo = _SILENT[fact.kind]
        yield Told(source=fact.source, code="", happened=happened, todo=todo)


def decision(
    paid: remittance.Claim, claim: Claim | ClaimKind, controls: Sequence[str] = ()
) -> Iterator[Told]:
    """Why an 835 did not pay all of the charge: every adjustment of the claim, then those of its lines."""
    at = {control: number for number, control in enumerate(controls, 1)}
    whole = paid.outpatient or paid.inpatient
    remarks = whole.remarks if whole else ()
    for one in paid.adjustments:
        yield _adjustment(one, remarks, claim, 0, paid)
    for line in paid.lines:
        for one in line.adjustments:
            yield _adjustment(one, line.remarks, claim, at.get(line.control, 0), paid)


def fields_at(
    claim: Claim | ClaimKind,
    asked: Iterable[str],
    *,
    line: int = 0,
    missing: bool = False,
    nth: int = 0,
) -> tuple[Field, ...]:
    """The fields that stand at places such as ``2010AA/NM1/09``, ``2300/HI`` or ``2300/REF:G1/02``."""
    kind = claim if isinstance(claim, ClaimKind) else kind_of(claim)
    found: dict[str, _Row] = {}
    for place in asked:
        for row in _standing(kind, place, nth):
            known = found.setdefault(row.name, row)
            if known.item != row.item:
                # Several items of an array are named as the array.
                found[row.name] = known._replace(item=-1)
    filled = [row for row in found.values() if not missing and _is_filled(row, claim, line)]
    if not line and not isinstance(claim, ClaimKind) and len(lines_of(claim)) == 1:
        line = 1
    return tuple(_field(kind, row, line) for row in filled or found.values())


def values_at(claim: Claim, place: str) -> str:
    """What the claim says at a place of the claim level, as text; empty where it says nothing."""
    for row in _standing(kind_of(claim), place, 0):
        value = claim.__dict__.get(row.name)
        if value is not None and not row.line:
            return str(value)
    return ""


# Acknowledgements.


def _interchange(one: Complaint, claim: Claim | ClaimKind, controls: Sequence[str]) -> Told:
    words = codes.load("ta1_notes").get(one.code, "")
    return Told(
        source="TA1",
        code=one.code,
        happened=_sentence("The payer refused the whole file this claim went in", words),
        todo="Nothing in the claim is wrong: send it again; if it is refused again, the operator of the clearinghouse must look.",
    )


_FAULT_LISTS = {
    "element": "element_errors",
    "segment": "segment_errors",
    "set": "set_errors",
    "group": "group_errors",
}


def _syntax(one: Complaint, claim: Claim | ClaimKind, controls: Sequence[str]) -> Told:
    words = codes.load(_FAULT_LISTS[one.level]).get(one.code, f"Error {one.code}")
    if one.level in {"set", "group"}:
        return Told(
            source="999",
            code=one.code,
            happened=_sentence(f"The payer refused the whole {one.level} of claims", words),
            todo="Nothing in the claim is wrong: send it again; if it is refused again, the operator of the clearinghouse must look.",
        )
    place = _place(one)
    # Where an element has no field of its own (a qualifier, say), its segment's fields are named.
    segment = "/".join(place.split("/")[:2])
    found = fields_at(
        claim, [place], line=one.line, missing=one.code in MISSING, nth=one.nth
    ) or fields_at(claim, [segment], line=one.line, nth=one.nth)
    what = _named(found) or f"the place {place}"
    return Told(
        source="999",
        code=one.code,
        happened=_sentence(f"The payer's check of the file objects to {what}", words),
        todo=code_advice.CORRECT if found else "The operator of the clearinghouse must look.",
        fields=found,
        line=one.line,
    )


def _place(one: Complaint) -> str:
    """The complaint's place as a path; without an element where it concerns the segment."""
    place = f"{one.loop}/{one.segment}"
    if one.qualifier and _has_qualifier(one.loop, one.segment, one.qualifier):
        place += f":{one.qualifier}"
    if one.element:
        place += f"/{one.element:02}"
        place += f"-{one.component}" if one.component else ""
    return place


# Statuses.


def _status(one: Complaint, claim: Claim | ClaimKind, controls: Sequence[str]) -> Told:
    line = one.line or (controls.index(one.control) + 1 if one.control in controls else 0)
    kind = claim if isinstance(claim, ClaimKind) else kind_of(claim)
    loop = _entity_loop(one.entity, claim)
    spoken = code_advice.STATUS_PLACES.get(one.code, ())
    asked = [place.format(e=loop, line=LINE_SEGMENT[kind]) for place in spoken]
    found = fields_at(claim, asked, line=line) if one.entity not in code_advice.OURS else ()
    words = codes.load("statuses").get(one.code, "") or f"Status {one.code}"
    who = codes.load("entities").get(one.entity, "")
    about = f" ({who[:1].lower() + who[1:]})" if who else ""
    category = codes.load("status_categories").get(one.category, "") or one.category
    text = f" The payer writes: {one.text}" if one.text else ""
    named = f" It concerns {_named(found)}." if found else ""
    level = _LEVELS.get(one.level, "The claim")
    return Told(
        source=one.source,
        code=f"{one.category}:{one.code}" + (f":{one.entity}" if one.entity else ""),
        happened=f"{level}: {category}. {words}{about}.{named}{text}",
        todo=code_advice.STATUS_ADVICE.get(one.code)
        or code_advice.CATEGORY_ADVICE.get(one.category)
        or code_advice.LETTER_ADVICE.get(one.category[:1], "Ask the payer."),
        fields=found,
        line=line,
    )


_LEVELS = {
    "line": "A line of the claim",
    "receiver": "The whole batch",
    "provider": "All claims of the provider",
    "above": "A level above the claim",
}


def _entity_loop(entity: str, claim: Claim | ClaimKind) -> str:
    loop = code_advice.ENTITY_LOOPS.get(entity, "")
    return "2010BA" if loop == "2010CA" and _is_own_patient(claim) else loop


def _is_own_patient(claim: Claim | ClaimKind) -> bool:
    return not isinstance(claim, ClaimKind) and relationship(claim) == SELF


# Remittances.


def _adjustment(
    one: views.Adjustment,
    remarks: Sequence[views.Remark],
    claim: Claim | ClaimKind,
    line: int,
    paid: remittance.Claim,
) -> Told:
    kind = claim if isinstance(claim, ClaimKind) else kind_of(claim)
    spoken = [*code_advice.REASON_PLACES.get(one.reason, ())]
    # A remark tells more exactly what a reason such as "information is missing" is about.
    for remark in remarks:
        spoken += code_advice.REMARK_PLACES.get(remark.code, ())
    spoken = spoken or ["2400/{line}/02" if line else "2300/CLM/02"]
    asked = [_own(place, claim).format(line=LINE_SEGMENT[kind], e="") for place in spoken]
    words = one.reason_words or codes.load("carc").get(one.reason, "") or f"Reason {one.reason}"
    bears = codes.load("adjustment_groups").get(one.group, one.group)
    amount = f"${one.amount:,.2f}" if one.amount is not None else "An amount"
    said = [f"{amount} was not paid: {words}. {bears}."]
    said += [f"{remark.code}: {words}." for remark in remarks if (words := _remark(remark))]
    todo = code_advice.REASON_ADVICE.get(one.reason) or code_advice.GROUP_ADVICE.get(
        one.group, "Ask the payer."
    )
    if one.group == "PR" and paid.forwarded_to is not None:
        todo = "Nothing yet: the payer forwarded the claim to the next one."
    return Told(
        source="835",
        code=f"{one.group}-{one.reason}",
        happened=" ".join(said),
        todo=todo,
        fields=fields_at(claim, asked, line=line),
        line=line,
        amount=one.amount,
    )


def _own(place: str, claim: Claim | ClaimKind) -> str:
    """A patient who is the insured stands in the insured's loop."""
    return place.replace("2010CA", "2010BA") if _is_own_patient(claim) else place


def _remark(remark: views.Remark) -> str:
    return remark.code_words or codes.load("rarc").get(remark.code, "")


# The placement tables, read backwards.


class _Row(NamedTuple):
    """A field and a place it is told at."""

    name: str
    line: bool
    """Whether it is a field of a line."""
    place: str
    at: Path
    nth: int
    """0 where the table does not number its segments."""
    item: int
    """Its place in an array of which every item has a place of its own; -1 for none."""


@cache
def _table(kind: ClaimKind) -> dict[tuple[str, str], tuple[_Row, ...]]:
    """Every field with its places, by loop and segment; a field's own places before echoes."""
    seen: dict[str, int] = {}
    found: dict[tuple[str, str], list[_Row]] = {}
    for place in places(kind):
        number = seen[place.name] = seen.get(place.name, -1) + 1
        # Only arrays with a place an item are numbered: HI/01, HI/02; DN2#1, DN2#2.
        known = rows(PAPERS[kind].claim).get(place.name)
        item = number if known is not None and known.many else -1
        nth = place.at.nth if "#" in place.text else 0
        row = _Row(place.name, place.of_line, place.text, place.at, nth, item)
        found.setdefault((place.at.loop, place.at.id), []).append(row)
    return {key: tuple(value) for key, value in found.items()}


def _standing(kind: ClaimKind, place: str, nth: int) -> Iterator[_Row]:
    """The rows at a place, or at every element of a segment where no element is named."""
    loop, id, *rest = place.split("/")
    id, _, qualifier = id.partition(":")
    number, _, component = rest[0].partition("-") if rest else ("", "", "")
    for row in _of_segment(kind, loop, id):
        if qualifier and row.at.qualifier not in {"", qualifier}:
            continue
        if row.nth and nth not in {0, row.nth}:
            continue
        if not nth and "[" in row.name and row.name[row.name.index("[") + 1] != "]":
            continue  # one of several teeth: which one is not known
        if number and not _covers(row, int(number), int(component or 0)):
            continue
        yield row


def _of_segment(kind: ClaimKind, loop: str, id: str) -> Iterator[_Row]:
    table = _table(kind)
    exact = table.get((loop, id))
    if exact is not None:
        yield from exact
        return
    # A 999 has room for four characters of a loop's name: 2010 may be any of its kind.
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
    """Whether some table tells segments of this place apart by this qualifier."""
    return any(
        row.at.qualifier == qualifier for kind in ClaimKind for row in _of_segment(kind, loop, id)
    )


def _is_filled(row: _Row, claim: Claim | ClaimKind, line: int) -> bool:
    if isinstance(claim, ClaimKind):
        return False
    base = row.name.partition("[")[0].partition(".")[0]
    if not row.line:
        value = claim.__dict__.get(base)
        return value is not None and (row.item < 0 or row.item < len(value))
    lines = lines_of(claim)
    chosen = lines[line - 1 : line] if line else lines
    return any(base in one.__dict__ for one in chosen)


def _field(kind: ClaimKind, row: _Row, line: int) -> Field:
    name = row.name if row.item < 0 else f"{row.name}[{row.item}]"
    found = source(kind, name, of_line=row.line, line=line)
    return Field(
        path=found.field,
        label=found.label,
        box=found.form,
        form=PAPERS[kind].form if found.form else "",
        place=row.place,
    )


def _named(found: Sequence[Field]) -> str:
    """Fields as a person would name them; three at most."""
    named = [
        f"{one.label} ({one.path}" + (f", box {one.box} of the {one.form}" if one.box else "") + ")"
        for one in found[:3]
    ]
    return ", ".join(named)


def _sentence(start: str, words: str) -> str:
    return f"{start}: {words[:1].lower() + words[1:]}." if words else f"{start}."


_TELLERS = {"TA1": _interchange, "999": _syntax, "277CA": _status, "277": _status}
_SILENT = {
    Kind.TA1_REFUSED: (
        "The payer refused the whole file this claim went in and did not say why.",
        "Send the claim again; if it is refused again, the operator of the clearinghouse must look.",
    ),
    Kind.SET_REFUSED: (
        "The payer refused the set this claim went in and did not say why.",
        "Send the claim again; if it is refused again, the operator of the clearinghouse must look.",
    ),
}
