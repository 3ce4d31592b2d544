"""The form of claims that come as 837 files: reads a claim's loops into the view.

    form = FORMS_BY_TRANSACTION["837P"]
    view = form.view(claim)                          # a stored claim
    view = form.view_of_loops(loop, parents)         # the loop 2300 and the loops around it

A value that is faulty in its form (a date, an amount) is None in the view: the checks of the guide report it.

Knows loops and the view; ``x12_places`` knows where each value is. Checks nothing.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import (
    Any,
    NamedTuple,
    TypeAlias,
)
from weakref import ref

from clearlane.claims import codes
from clearlane.claims.cob import ZERO, EarlierDecision, EarlierLineDecision, total_paid
from clearlane.claims.forms import x12_view as table
from clearlane.claims.forms.x12_changes import (
    PatchedElement,
    parse_location,
    with_element,
    with_values,
)
from clearlane.claims.forms.x12_institutional import codes_of
from clearlane.claims.forms.x12_loops import CLAIM, loops_of
from clearlane.claims.forms.x12_places import (
    GLASSES,
    ClaimPlaces,
    LoopRows,
    Place,
    TransactionPlaces,
    first_day,
    hint_of,
    last_day,
)
from clearlane.claims.institutional_view import CodeView
from clearlane.claims.kinds import X12, ClaimKind
from clearlane.claims.value_types import EarlierAdjustment
from clearlane.claims.view import (
    ClaimAttachmentView,
    ClaimView,
    LineToothView,
    LineView,
    PayerView,
)
from clearlane.claims.view_builder import make
from clearlane.claims.x12_claim import ENCOUNTER, X12Claim
from clearlane.kernel import limits
from clearlane.x12.guides import g837d, g837i, g837p
from clearlane.x12.tree import Loop, get_element
from clearlane.x12.views.binding import parse_number

DIAGNOSES = {"ABK": "10", "ABF": "10", "BK": "9", "BF": "9"}
"""The lists (HI01-1) of the principal and other diagnoses, and their ICD versions."""

AnyValue: TypeAlias = Any  # Any: a value of the view, each of a type of its own


class _Part:
    """The values of a claim, another payer or a line while they are read: by part of the view."""

    __slots__ = ("at", "places", "values")

    def __init__(self, places: ClaimPlaces, at: str) -> None:
        self.places = places
        self.at = at
        """The path of the part, with a dot at its end; empty for the claim."""
        self.values: dict[str, dict[str, object]] = {"": {}}

    def get(self, part: str, attribute: str) -> AnyValue:
        return self.values.get(part, {}).get(attribute)

    def put(self, part: str, attribute: str, value: object, place: Place) -> None:
        """Set a value unless an earlier segment did; None is a value that cannot be read."""
        path = self.at + (f"{part}.{attribute}" if part else attribute)
        if path in self.places.known:
            return
        self.places.known[path] = place
        if value is None:
            self.places.faulty.add(path)
        elif part in self.values:
            self.values[part][attribute] = value
        else:
            self.values[part] = {attribute: value}

    def read(self, loop: Loop, rows: LoopRows) -> None:
        """Read the segments of a loop."""
        for segment in loop.items:
            if segment.__class__ is not list or segment[0] not in rows:
                continue
            size = len(segment)
            at, others, qualified = rows[segment[0]]
            own = qualified.get(segment[at], others) if qualified and at < size else others
            for part, attribute, _, _, _, element, component, last, read in own:
                if element >= size or not segment[element]:
                    continue
                text: str = segment[element]
                if component and not last:
                    words = text.split(":", component)
                    text = words[component - 1] if len(words) >= component else ""
                if text:
                    place = Place(loop, segment, element, 0 if last else component)
                    self.put(part, attribute, read(text), place)

    def copy(self) -> "_Part":
        """Return the values so far, for one more claim in the same loops."""
        part = _Part(self.places.copy(), self.at)
        part.values = {name: dict(own) for name, own in self.values.items()}
        return part

    def build(self, view: type) -> AnyValue:
        """Return the part of the view."""
        values = dict(self.values[""])
        for part, own in self.values.items():
            if part and own and part != "decision":
                values[part] = make(hint_of(view, part), own)
        return make(view, values)


class _LoopState(NamedTuple):
    """How far a loop was read: it grows at its end, where a reader also drops the claims that it closed."""

    loop: Loop
    items: int
    last_loop: str
    last_items: int

    @classmethod
    def of(cls, loop: Loop) -> "_LoopState":
        last = loop.items[-1]
        if last.__class__ is not Loop:
            return cls(loop, len(loop.items), "", 0)
        return cls(loop, len(loop.items), last.node.id, len(last.items))

    def is_same(self, other: "_LoopState") -> bool:
        # Loops are compared by identity: two with the same content have two places.
        return self.loop is other.loop and self[1:] == other[1:]


class LoopsAround:
    """What was read of the loops around the last claim. The next claims of a provider or subscriber share it."""

    def __init__(self) -> None:
        self._read: list[tuple[_LoopState, _Part]] = []
        """The loops from the outside in, each with the values of itself and those around it."""

    def read(
        self,
        form: "X12Form",
        parents: Iterable[Loop],
        first_segment: int,
        numbers: Sequence[int] = (),
    ) -> _Part:
        """Return the values of the loops around a claim; reads the loops that the last claim did not have."""
        states = [_LoopState.of(loop) for loop in parents if loop.node.id in form.around]
        same = 0
        while same < min(len(states), len(self._read)) and states[same].is_same(
            self._read[same][0]
        ):
            same += 1
        del self._read[same:]
        whole = ClaimPlaces(form, first_segment, numbers)
        part = self._read[-1][1] if self._read else _Part(whole, "")
        for state in states[same:]:
            part = part.copy()
            form.read_around(part, state.loop)
            self._read.append((state, part))
        return part.copy()


class X12Form(TransactionPlaces):
    """The form of the claims of one transaction. All have one name: a claim of it knows its transaction."""

    name = X12
    form_name = ""
    """The paper form: none."""

    @property
    def line_segment(self) -> str:
        """The segment that begins with a line's procedure."""
        row = self.row("lines[].procedure")
        assert row is not None, "every 837 has procedures"
        return row.segment

    def view(self, claim: X12Claim) -> ClaimView:
        """Return the view of a stored claim.

        It is remembered while anyone holds it, and for a while after: what asks for many claims again and again holds theirs.
        """
        remembered: ref[ClaimView] | None = claim.__dict__.get(VIEW)
        found = remembered() if remembered is not None else None
        if found is None:
            loops = loops_of(claim)
            found = self.view_of_loops(
                loops.claim, loops.parents, numbers=loops.numbers, claim_type=claim.claim_type
            )
            if claim.vendor_claim_id:
                found = replace(found, vendor_claim_id=claim.vendor_claim_id)
            self.remember_view(claim, found)
        return found

    def remember_view(self, claim: X12Claim, view: ClaimView) -> None:
        """Remember the view of a claim that was just read: its loops need not be found again."""
        claim.__dict__[VIEW] = ref(view)
        _LAST_VIEWS.append(view)

    def places(self, claim: X12Claim) -> ClaimPlaces:
        """Return where the sender wrote the values of a stored claim."""
        places = self.view(claim).form
        assert isinstance(places, ClaimPlaces), "the form of a claim in a file tells places"
        return places

    def value(self, claim: X12Claim, path: str) -> AnyValue:
        """Return one value of a claim, by its path in the view; None if it has none."""
        return _value_in(self.view(claim), path)

    def values(self, claim: X12Claim, *paths: str) -> list[AnyValue]:
        """Return several values of a claim, as :meth:`value` returns each."""
        view = self.view(claim)
        return [_value_in(view, path) for path in paths]

    def frequency(self, claim: X12Claim) -> str:
        """Return the claim frequency: 1 original, 7 replacement, 8 void."""
        return self.view(claim).frequency or codes.ORIGINAL

    def agreeing_fields(self, claim: X12Claim, name: str) -> tuple[str, ...]:
        """Return no field: an 837 states a person once."""
        return ()

    def with_changes(self, claim: X12Claim, changes: Mapping[str, str | None]) -> X12Claim:
        """Return a claim with other values, by their paths in the view or by the locations that findings name; None
        removes a value.

        A path that is not one element of the claim, and no segment that could be added to it, is a ValueError.
        """
        for path, value in changes.items():
            at = parse_location(path)
            claim = (
                with_element(claim, at, value or "")
                if at is not None
                else self._with_value(claim, path, value)
            )
        return claim

    def _with_value(self, claim: X12Claim, path: str, value: str | None) -> X12Claim:
        places, row = self.places(claim), self.row(path)
        place = places.place(path)
        is_stated = path in places.known or (place.element and place.segment[0] != "REF")
        if row is None or row.last or not (is_stated or place.loop.node.id == CLAIM):
            raise ValueError(f"{path} cannot be written: it is not one element of the claim")
        if row.segment != "REF" and is_stated:
            at = PatchedElement(places.number(place), place.element, place.component)
            return with_element(claim, at, value or "")
        qualifier = f":{row.qualifier}" if row.qualifier else ""
        where = f"{CLAIM}/{row.segment}{qualifier}/{row.element:02}"
        return with_values(claim, {where: value})

    def view_of_loops(
        self,
        claim: Loop,
        parents: Iterable[Loop],
        first_segment: int = 1,
        around: LoopsAround | None = None,
        numbers: Sequence[int] = (),
        claim_type: str = "",
    ) -> ClaimView:
        """Return the view of a claim by its loop 2300 and the loops around it.

        ``first_segment`` is the number of the ST in its file; ``around`` remembers what claims of the file share;
        ``numbers`` are those of the segments in their file, if they do not follow each other; ``claim_type`` is BHT06.
        """
        own = (around or LoopsAround()).read(self, parents, first_segment, numbers)
        places = own.places
        places.loops[""] = claim
        own.read(claim, self.claim)
        for loop in claim.loops():
            self._read_provider(own, loop, self.providers)
        values = own.values[""]
        _read_lists(own, claim)
        if self.kind is ClaimKind.INSTITUTIONAL:
            _read_codes(own, claim)
        lines = [loop for loop in claim.loops() if loop.node.id == "2400"]
        read = [self._read_line(own, at, loop) for at, loop in enumerate(lines)]
        others = [loop for loop in claim.loops() if loop.node.id == "2320"]
        payers = tuple(
            self._read_other_payer(own, at, loop, lines) for at, loop in enumerate(others)
        )
        values["other_payers"] = payers
        first = next((other.decision for other in payers if other.decision), None)
        if first is not None:
            for line, decision in zip(read, first.lines, strict=True):
                line.values[""]["decision"] = decision
        values["lines"] = tuple(line.build(LineView) for line in read)
        values["is_encounter"] = claim_type == ENCOUNTER
        values["form"] = places
        view: ClaimView = own.build(ClaimView)
        return view

    def read_around(self, own: _Part, parent: Loop) -> None:
        """Read a loop around the claim and the people and payers in it; a patient's own level comes last and counts."""
        if parent.node.id == "2000C":
            own.places.known.pop("subscriber.relationship", None)
        for loop in (parent, *parent.loops()):
            rows = self.around.get(loop.node.id)
            if rows and (loop is parent or loop.node.id.startswith("2010")):
                own.read(loop, rows)
                own.places.loops[table.AROUND_PARTS[loop.node.id]] = loop

    def _read_provider(self, own: _Part, loop: Loop, known: Mapping[str, LoopRows]) -> None:
        code = get_element(next(loop.all_segments()), 1)
        rows = known.get(code) if loop.node.id.startswith(("2310", "2420")) else None
        role = table.ROLES.get(code, "")
        if rows and own.at + role not in own.places.loops:
            own.places.loops[own.at + role] = loop
            own.read(loop, rows)

    def _read_line(self, claim: _Part, at: int, loop: Loop) -> _Part:
        path = f"lines[{at}]"
        line = _Part(claim.places, f"{path}.")
        claim.places.loops[path] = loop
        line.read(loop, self.line)
        claim.read(loop, self.claim_in_lines)
        for inner in loop.loops():
            if inner.node.id == "2410":
                _read_drug(line, inner, self.drug)
            elif inner.node.id == "2430":
                _read_line_decision(line, inner, self.line_decision)
            else:
                self._read_provider(line, inner, self.line_providers)
                self._read_provider(claim, inner, self.line_providers_of_claim)
        _read_teeth(line, loop)
        # A line repeats neither the claim's place nor, in an 837D, the days of service of all lines.
        place = claim.places.known.get("place")
        if place is not None:
            line.put("", "place", claim.get("", "place"), place)
        days = claim.places.known.get("dates.service")
        if days is not None and line.get("", "first_day") is None:
            text = get_element(days.segment, 3)
            line.put("", "first_day", first_day(text), days)
            line.put("", "last_day", last_day(text), days)
        return line

    def _read_other_payer(
        self, claim: _Part, at: int, loop: Loop, lines: Sequence[Loop]
    ) -> PayerView:
        path = f"other_payers[{at}]"
        other = _Part(claim.places, f"{path}.")
        claim.places.loops[path] = loop
        for inner in (loop, *loop.loops()):
            other.read(inner, self.other_payer.get(inner.node.id, {}))
            if inner.node.id == "2330A":
                claim.places.loops[f"{path}.insured"] = inner
        for segment in loop.segments("SBR"):
            claim_reason = get_element(segment, 5)
            if claim_reason:
                claim.put("", "medicare_reason", claim_reason, Place(loop, segment, 5))
        for segment in loop.segments("CAS"):
            group = f"{path}.decision.groups.{get_element(segment, 1)}"
            claim.places.known.setdefault(group, Place(loop, segment, 1))
        _copy_amount(claim, "remaining_liability", loop, "EAF")
        _copy_amount(claim, "earlier_paid", loop, "D")
        values = other.values[""]
        values["is_named"] = True
        if self.kind is ClaimKind.INSTITUTIONAL:
            values["decided_a_stay"] = loop.segment("MIA") is not None
            values["decided_outpatient"] = loop.segment("MOA") is not None
        values["decision"] = _decision(other, loop, lines)
        view: PayerView = other.build(PayerView)
        return view


def _copy_amount(part: _Part, attribute: str, loop: Loop, qualifier: str) -> None:
    """Read an amount of another payer into a value of the claim or line."""
    for segment in loop.segments("AMT", qualifier):
        part.put("", attribute, parse_number(get_element(segment, 2)), Place(loop, segment, 2))


def _read_lists(claim: _Part, loop: Loop) -> None:
    """Read what a claim may have several of: diagnoses, attachments, missing teeth, glasses."""
    values = claim.values[""]
    known = claim.places.known
    values["diagnoses"] = _diagnoses(claim, loop)
    attachments: list[ClaimAttachmentView] = []
    for segment in loop.segments("PWK"):
        path = f"attachments[{len(attachments)}]"
        found = {}
        for name, element in (("report_type", 1), ("transmission", 2), ("control_number", 6)):
            known[f"{path}.{name}"] = Place(loop, segment, element)
            found[name] = get_element(segment, element) or None
        attachments.append(ClaimAttachmentView(**found))
    values["attachments"] = tuple(attachments)
    teeth = []
    for segment in loop.segments("DN2", "M", at=2):
        known.setdefault("missing_teeth", Place(loop, segment, 1))
        teeth.append(get_element(segment, 1) or None)
    values["missing_teeth"] = tuple(teeth)
    for segment in loop.segments("DN1"):
        claim.put("", "is_orthodontic", True, Place(loop, segment))
    for segment in loop.segments("CRC", *GLASSES):
        text = ",".join(filter(None, segment[3:8]))
        claim.put("", GLASSES[segment[1]], text, Place(loop, segment, 3))


def _diagnoses(claim: _Part, loop: Loop) -> tuple[str, ...]:
    """Return the principal and the other diagnoses; none if one of them cannot be read, since lines count them."""
    codes: list[str] = []
    for segment in loop.segments("HI"):
        if not any(text.partition(":")[0] in DIAGNOSES for text in segment[1:]):
            continue
        for element, text in enumerate(segment[1:], 1):
            listed, _, rest = text.partition(":")
            # X837-ICD-DOT reports a dot.
            code = rest.partition(":")[0].replace(".", "")
            place = Place(loop, segment, element, 2)
            claim.places.known[f"diagnoses[{len(codes)}]"] = place
            claim.places.known.setdefault("diagnoses", Place(loop, segment))
            if listed in DIAGNOSES and code:
                claim.put("", "icd_version", DIAGNOSES[listed], place._replace(component=1))
                codes.append(code)
            elif text:
                return ()
    return tuple(codes)


def _read_codes(claim: _Part, loop: Loop) -> None:
    """Read the codes of an institutional claim, each list into its own value."""
    part, known = "institutional", claim.places.known
    found: dict[str, tuple[CodeView, ...]] = {}
    for name, place, code in codes_of(loop, table.CODE_LISTS):
        before = found.get(name, ())
        known[f"{part}.{name}[{len(before)}]"] = place
        known.setdefault(f"{part}.{name}", Place(loop, place.segment))
        found[name] = (*before, code)
    claim.values.setdefault(part, {}).update(found)


def _read_teeth(line: _Part, loop: Loop) -> None:
    teeth: list[LineToothView] = []
    for segment in loop.segments("TOO"):
        path = f"{line.at}teeth[{len(teeth)}]"
        line.places.known.setdefault(f"{line.at}teeth", Place(loop, segment))
        line.places.known[f"{path}.number"] = Place(loop, segment, 2)
        surfaces = get_element(segment, 3)
        line.places.known[f"{path}.surfaces"] = Place(loop, segment, 3)
        found = tuple(surfaces.split(":")) if surfaces else ()
        for at in range(len(found)):
            line.places.known[f"{path}.surfaces[{at}]"] = Place(loop, segment, 3, at + 1)
        teeth.append(LineToothView(number=get_element(segment, 2) or None, surfaces=found))
    line.values[""]["teeth"] = tuple(teeth)


def _read_drug(line: _Part, loop: Loop, rows: LoopRows) -> None:
    line.places.loops.setdefault(f"{line.at}drug", loop)
    line.read(loop, rows)
    for segment in loop.segments("CTP"):
        unit = table.DRUG_UNITS.get(get_element(segment, 5).partition(":")[0])
        if unit:
            quantity = parse_number(get_element(segment, 4))
            line.put("drug", unit, quantity, Place(loop, segment, 4))


# --- decisions of other payers ---------------------------------------------------------------------------------


def _read_line_decision(line: _Part, loop: Loop, rows: LoopRows) -> None:
    """Note the places of a line's first decision; ``_decision`` reads its values, with those of the payer."""
    line.places.loops.setdefault(f"{line.at}decision", loop)
    line.read(loop, rows)
    for segment in loop.segments("DTP", "573"):
        line.put("decision", "day", first_day(get_element(segment, 3)), Place(loop, segment, 3))
    _copy_amount(line, "remaining_liability", loop, "EAF")


class _UnreadableError(ValueError):
    """An amount of a decision cannot be read, so that nothing is known of the whole."""


def _decision(other: _Part, loop: Loop, lines: Sequence[Loop]) -> EarlierDecision | None:
    """Return what a payer decided of a claim and of its lines; None if nothing, or if an amount cannot be read."""
    payer = other.get("", "id")
    try:
        decided = tuple(_line_decision(line, payer) for line in lines)
        groups = _adjustments([loop])
    except _UnreadableError:
        return None
    day, paid = other.get("decision", "day"), other.get("decision", "paid")
    if paid is None and f"{other.at}decision.paid" in other.places.faulty:
        return None
    if paid is None and day is None and not groups and not any(decided):
        return None
    return EarlierDecision(total_paid(decided) if paid is None else paid, groups, day, decided)


def _line_decision(line: Loop, payer: str | None) -> EarlierLineDecision | None:
    """Return what a payer decided of a line; one that it split has several parts, which are added."""
    parts = [
        loop
        for loop in line.loops()
        if payer and loop.node.id == "2430" and loop.value("SVD", 1) == payer
    ]
    if not parts:
        return None
    paid = sum([_amount(loop.value("SVD", 2)) for loop in parts], ZERO)
    days = [first_day(loop.value("DTP", 3, "573")) for loop in parts]
    units = parse_number(parts[0].value("SVD", 5))
    return EarlierLineDecision(paid, _adjustments(parts), next(filter(None, days), None), units)


def _adjustments(loops: Iterable[Loop]) -> dict[str, tuple[EarlierAdjustment, ...]]:
    """Return the adjustments of some loops by group."""
    groups: dict[str, tuple[EarlierAdjustment, ...]] = {}
    for segment in chain.from_iterable(loop.segments("CAS") for loop in loops):
        for at in range(2, len(segment), 3):
            if segment[at]:
                amount = _amount(get_element(segment, at + 1))
                found = EarlierAdjustment(
                    segment[at], amount, parse_number(get_element(segment, at + 2))
                )
                groups[segment[1]] = (*groups.get(segment[1], ()), found)
    return groups


def _amount(text: str) -> Decimal:
    amount = parse_number(text)
    if amount is None:
        raise _UnreadableError
    return amount


VIEW = "view"
"""The attribute of a claim that refers to its view, weakly: a batch holds thousands of claims, and a view is many times as large."""
VIEWS_REMEMBERED_MAX = 160
_LAST_VIEWS: deque[ClaimView] = deque(maxlen=VIEWS_REMEMBERED_MAX)
"""The views of the last claims, which are kept even if no one holds them."""


INSTITUTIONAL_DIAGNOSES_MAX = 25
"""The principal diagnosis and 24 others."""
MEDICAL_DUPLICATES = ("first_day", "procedure", "modifiers", "place", "drug.code")
FORMS_BY_TRANSACTION: Mapping[str, X12Form] = {
    "837P": X12Form(
        g837p.GUIDE, ClaimKind.MEDICAL, limits.MEDICAL_DIAGNOSES_MAX, MEDICAL_DUPLICATES
    ),
    "837D": X12Form(
        g837d.GUIDE,
        ClaimKind.DENTAL,
        limits.DENTAL_DIAGNOSES_MAX,
        ("first_day", "procedure", "teeth", "areas"),
    ),
    # Equal lines of a stay without a procedure are usual: each day of the same charge may have its own.
    "837I": X12Form(g837i.GUIDE, ClaimKind.INSTITUTIONAL, INSTITUTIONAL_DIAGNOSES_MAX, ()),
}


def _value_in(found: object, path: str) -> AnyValue:
    """Return the value at a path of a view; None if it has none."""
    for word in path.split("."):
        name, _, index = word.rstrip("]").partition("[")
        found = getattr(found, name, None)
        if index:
            found = found[int(index)] if found and int(index) < len(found) else None
    return found
