"""The form of claims that come as 837 files: reads a claim's loops into the view, and tells where each value is.

    form = FORMS_BY_TRANSACTION["837P"]
    view = form.view(loop, parents)                  # the loop 2300 and the loops around it
    view.form.place("lines[2].procedure")            # its segment, element and component

A value that is faulty in its form (a date, an amount) is None in the view: the checks of the guide report it.

Knows loops and the view; the places are in ``x12_view``. Checks nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple, get_type_hints

from clearlane.claims.cob import ZERO, EarlierDecision, EarlierLineDecision, total_paid
from clearlane.claims.codes import POINTED_PLACES
from clearlane.claims.forms import x12_view as table
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.value_types import ADJUSTMENT_GROUPS, EarlierAdjustment
from clearlane.claims.view import (
    ClaimAttachmentView,
    ClaimView,
    LineToothView,
    LineView,
    PayerView,
)
from clearlane.claims.view_builder import make
from clearlane.kernel import limits
from clearlane.kernel.formats import parse_x12_date
from clearlane.x12 import grammar
from clearlane.x12.guides import g837d, g837i, g837p
from clearlane.x12.path import node_at, parse_path
from clearlane.x12.tree import Loop, Segment, get_element
from clearlane.x12.views.binding import parse_number

_INDEX = re.compile(r"\[\d+\]")
_ITEM = re.compile(r"(.+)\[(\d+)\]")
_PLACE = re.compile(r"([A-Z0-9]+)(?::(\w+))?/(\d\d)(?:-(\d)(?:-(\d))?)?")
_DAYS = re.compile(r"(\d{8})(?:\d{4})?(?:-(\d{8})(?:\d{4})?)?", re.ASCII)
DIAGNOSES = {"ABK": "10", "ABF": "10", "BK": "9", "BF": "9"}
"""The lists (HI01-1) of the principal and other diagnoses, and their ICD versions."""
# The codes that mean yes: a mark, minutes, a predetermination, a replacement.
_YES = frozenset({"Y", "MJ", "PB", "R"})
_LAST_DAYS = ("last_day", "disability_until")
_QUALIFIER_NAMES_SEGMENT = frozenset({"AMT", "DTP", "REF"})
GLASSES = {"E1": "spectacle_lenses", "E2": "contact_lenses", "E3": "spectacle_frames"}


class Place(NamedTuple):
    """A place in a file: a loop, a segment of its own, and the element; 0 for the whole segment."""

    loop: Loop
    segment: Segment
    element: int = 0
    component: int = 0


class _Row(NamedTuple):
    """One row of the table, compiled."""

    part: str
    """The part of the view that the value is in; empty for the view itself."""
    attribute: str
    segment: str
    qualifier: str
    qualifier_at: int
    element: int
    component: int
    last: int
    """The last component of a list; 0 for one value."""
    read: Callable[[str], Any]

    @property
    def name(self) -> str:
        """The element as people write it: ``NM109``, ``CLM05-3``, ``REF*F8``."""
        if self.segment in _QUALIFIER_NAMES_SEGMENT:
            return f"{self.segment}*{self.qualifier}"
        component = f"-{self.component}" if self.component and not self.last else ""
        return f"{self.segment}{self.element:02}{component}"


_Rows = Mapping[str, tuple[_Row, ...]]
"""The rows of a loop by segment."""


class _Part:
    """The values of a claim, another payer or a line while they are read: by part of the view."""

    __slots__ = ("at", "places", "values")

    def __init__(self, places: "ClaimPlaces", at: str) -> None:
        self.places = places
        self.at = at
        """The path of the part, with a dot at its end; empty for the claim."""
        self.values: dict[str, dict[str, Any]] = {"": {}}

    def get(self, part: str, attribute: str) -> Any:
        return self.values.get(part, {}).get(attribute)

    def put(self, part: str, attribute: str, value: Any, place: Place) -> None:
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

    def read(self, loop: Loop, rows: _Rows) -> None:
        """Read the segments of a loop."""
        for segment in loop.items:
            if segment.__class__ is not list or segment[0] not in rows:
                continue
            size = len(segment)
            for row in rows[segment[0]]:
                part, attribute, _, qualifier, at, element, component, last, read = row
                if element >= size or not segment[element]:
                    continue
                if qualifier and (at >= size or segment[at] != qualifier):
                    continue
                text: str = segment[element]
                if component and not last:
                    words = text.split(":", component)
                    text = words[component - 1] if len(words) >= component else ""
                if text:
                    place = Place(loop, segment, element, 0 if last else component)
                    self.put(part, attribute, read(text), place)

    def build(self, view: type) -> Any:
        """Return the part of the view."""
        values = dict(self.values[""])
        for part, own in self.values.items():
            if part and own and part != "decision":
                values[part] = make(_hint(view, part), own)
        return make(view, values)


class ClaimPlaces:
    """What the view of a claim knows of the file that it is in: a form of its own for each claim."""

    def __init__(self, form: "X12Form", claim: Loop, first_segment: int) -> None:
        self._form = form
        self._first_segment = first_segment
        self.known: dict[str, Place] = {}
        """The places of the values, by path."""
        self.faulty: set[str] = set()
        """The paths of values that cannot be read: the guide's checks report them."""
        self.loops: dict[str, Loop] = {"": claim}
        """The loops of the parts, by path."""
        self.kind = form.kind
        self.diagnoses_max = form.diagnoses_max
        self.duplicate_paths = form.duplicate_paths
        self.pointers = form.pointers
        self.has = form.has
        self.name_of = form.name_of

    def place(self, path: str) -> Place:
        """Return the place of a value; of one that the claim lacks, the segment that should have it, or opens its loop."""
        known = self.known.get(path)
        if known is not None:
            return known
        item = _ITEM.fullmatch(path)
        row = self._form.row(item[1] if item else path)
        listed = self.known.get(item[1]) if item else None
        if item and listed is not None:
            first = row.component if row else 1
            return listed._replace(component=first + int(item[2]))
        around = path
        while around not in self.loops:
            around = around.rpartition(".")[0]
        loop = self.loops[around]
        if row is not None:
            for segment in loop.segments(row.segment):
                if not row.qualifier or get_element(segment, row.qualifier_at) == row.qualifier:
                    return Place(loop, segment, row.element, 0 if row.last else row.component)
        return Place(loop, next(loop.all_segments()))

    def position(self, path: str) -> int:
        """Return the number of the segment of a path in its transaction set."""
        return position_of(self.place(path))

    def locate(self, path: str) -> str:
        """Return where the sender wrote the value of a path: loop, element, and the number of the segment in the file."""
        place = self.place(path)
        number = self._first_segment + position_of(place) - 1
        if path in self.loops and path.startswith("lines["):
            return f"line {int(path[6:-1]) + 1} (segment {number})"
        element = f"{place.element:02}" if place.element else ""
        component = f"-{place.component}" if place.component else ""
        return f"{place.loop.id}/{place.segment[0]}{element}{component} (segment {number})"


def position_of(place: Place) -> int:
    """Return the number of a place's segment in its transaction set."""
    found = place.loop.find(place.segment)
    return found[0] if found else place.loop.position


class X12Form:
    """The form of the claims of one transaction."""

    def __init__(
        self, guide: grammar.Guide, kind: ClaimKind, diagnoses_max: int, duplicates: Sequence[str]
    ) -> None:
        self.kind = kind
        self.diagnoses_max = diagnoses_max
        self.duplicate_paths = tuple(duplicates)
        self.pointers = tuple(str(number) for number in range(1, diagnoses_max + 1))
        self._by_path: dict[str, _Row] = {}
        self._nodes = {node.id: node for node in _loops(guide.root)}
        transaction = guide.kind
        self._around = {id: self._rows(id, rows) for id, rows in table.AROUND.items()}
        own = {**table.CLAIM, **table.OWN_OF_CLAIM[transaction]}
        self._claim = self._rows("2300", own)
        self._other_payer = {
            id: self._rows(id, rows, "other_payers[].", PayerView)
            for id, rows in table.OTHER_PAYER.items()
        }
        line = {**table.LINE, **table.OWN_OF_LINE[transaction]}
        self._line = self._rows("2400", line, "lines[].", LineView)
        self._drug = self._rows("2410", table.DRUG, "lines[].", LineView)
        self._line_decision = self._rows("2430", table.LINE_DECISION, "lines[].", LineView)
        self._claim_in_lines = self._rows("2400", table.CLAIM_IN_LINES)
        self._providers = self._provider_rows("2310", table.ROLES)
        self._line_providers = self._provider_rows("2420", ("82",), "lines[].", LineView)
        # The view has one ordering provider for the claim; an 837P states it by line.
        self._line_providers_of_claim = self._provider_rows("2420", ("DK",))
        self._more = self._paths_of_lists()
        known = {*self._by_path, *self._more}
        self.paths = frozenset(known)
        """The paths of the values that the transaction can state, with indexes left out."""
        self._known = known | {
            path[:at] for path in known for at, mark in enumerate(path) if mark in ".["
        }
        self._known |= {f"{path}[]" for path in known} | {"lines[]", "other_payers[]"}

    def _rows(self, loop: str, rows: table.Rows, at: str = "", view: type = ClaimView) -> _Rows:
        """Return the rows of a loop that the guide has, by segment."""
        found: dict[str, tuple[_Row, ...]] = {}
        for path, places in rows.items():
            for place in places.split():
                row = _compile(view, path, place)
                if self._is_in_guide(loop, row):
                    found[row.segment] = (*found.get(row.segment, ()), row)
                    self._by_path.setdefault(at + path, row)
        return found

    def _is_in_guide(self, loop: str, row: _Row) -> bool:
        node = self._nodes.get(loop)
        qualifier = f":{row.qualifier}" if row.qualifier and row.qualifier_at == 1 else ""
        try:
            where = parse_path(f"{loop}/{row.segment}{qualifier}/{row.element:02}")
            elements = node_at(node, where).elements if node else ()
        except ValueError:
            return False
        return len(elements) >= row.element and elements[row.element - 1].usage != "N"

    def _provider_rows(
        self, loops: str, codes: Iterable[str], at: str = "", view: type = ClaimView
    ) -> dict[str, _Rows]:
        """Return the rows of the providers that the guide has in certain loops, by the codes of their NM1."""
        return {
            code: self._rows(id, table.PROVIDER_ROWS[code], at, view)
            for id, node in self._nodes.items()
            if id.startswith(loops)
            for code in node.head.elements[0].codes
            if code in codes
        }

    def _paths_of_lists(self) -> dict[str, str]:
        """Return the names of the elements of values that are read from lists, by path."""
        found = {
            ("2300", "HI", 1): {"diagnoses": "HI", "icd_version": "HI01-1"},
            ("2300", "PWK", 1): {
                "attachments[].report_type": "PWK01",
                "attachments[].transmission": "PWK02",
                "attachments[].control_number": "PWK06",
            },
            ("2300", "DN1", 1): {"is_orthodontic": "DN1"},
            ("2300", "DN2", 1): {"missing_teeth": "DN201"},
            ("2300", "CRC", 3): {name: f"CRC*{code}" for code, name in GLASSES.items()},
            ("2320", "CAS", 1): {
                f"other_payers[].decision.groups.{group}": f"CAS*{group}"
                for group in ADJUSTMENT_GROUPS
            },
            ("2320", "AMT", 2): {"earlier_paid": "AMT*D", "remaining_liability": "AMT*EAF"},
            ("2400", "TOO", 2): {
                "lines[].teeth": "TOO",
                "lines[].teeth[].number": "TOO02",
                "lines[].teeth[].surfaces": "TOO03",
            },
            ("2410", "CTP", 4): {
                f"lines[].drug.{name}": "CTP04" for name in table.DRUG_UNITS.values()
            },
            ("2430", "DTP", 3): {"lines[].decision.day": "DTP*573"},
            ("2430", "AMT", 2): {"lines[].remaining_liability": "AMT*EAF"},
        }
        return {
            path: name
            for (loop, segment, element), names in found.items()
            if self._is_in_guide(loop, _Row("", "", segment, "", 0, element, 0, 0, str))
            for path, name in names.items()
        }

    def row(self, path: str) -> _Row | None:
        """Return the row of a path, or None."""
        return self._by_path.get(_INDEX.sub("[]", path))

    def has(self, path: str) -> bool:
        """Return whether the transaction has a place for a path of the view."""
        return _INDEX.sub("[]", path) in self._known

    def name_of(self, path: str) -> str:
        """Return what the trade calls the value of a path, with its element: ``the billing provider's NPI (NM109)``."""
        pattern = _INDEX.sub("[]", path)
        row = self._by_path.get(pattern)
        part, _, attribute = pattern.removesuffix("[]").rpartition(".")
        words = table.WORDS.get(attribute, attribute.replace("_", " "))
        owner = f"{table.OWNERS[part]} " if part else ""
        element = row.name if row else self._more.get(pattern.removesuffix("[]"), "")
        return f"the {owner}{words}" + (f" ({element})" if element else "")

    def view(self, claim: Loop, parents: Iterable[Loop], first_segment: int = 1) -> ClaimView:
        """Return the view of a claim by its loop 2300 and the loops around it.

        ``first_segment`` is the number of the ST in its file.
        """
        places = ClaimPlaces(self, claim, first_segment)
        own = _Part(places, "")
        for parent in parents:
            self._read_around(own, parent)
        own.read(claim, self._claim)
        for loop in claim.loops():
            self._read_provider(own, loop, self._providers)
        values = own.values[""]
        _read_lists(own, claim)
        lines = [loop for loop in claim.loops() if loop.node.id == "2400"]
        read = [self._read_line(own, at, loop) for at, loop in enumerate(lines)]
        others = [loop for loop in claim.loops() if loop.node.id == "2320"]
        values["other_payers"] = tuple(
            self._read_other_payer(own, at, loop, lines) for at, loop in enumerate(others)
        )
        first = next((other.decision for other in values["other_payers"] if other.decision), None)
        if first is not None:
            for line, decision in zip(read, first.lines, strict=True):
                line.values[""]["decision"] = decision
        values["lines"] = tuple(line.build(LineView) for line in read)
        values["form"] = places
        view: ClaimView = own.build(ClaimView)
        return view

    def _read_around(self, own: _Part, parent: Loop) -> None:
        """Read a loop around the claim and the people and payers in it; a patient's own level comes last and counts."""
        if parent.node.id == "2000C":
            own.places.known.pop("subscriber.relationship", None)
        for loop in (parent, *parent.loops()):
            rows = self._around.get(loop.node.id)
            if rows and (loop is parent or loop.node.id.startswith("2010")):
                own.read(loop, rows)
                own.places.loops[table.AROUND_PARTS[loop.node.id]] = loop

    def _read_provider(self, own: _Part, loop: Loop, known: Mapping[str, _Rows]) -> None:
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
        line.read(loop, self._line)
        claim.read(loop, self._claim_in_lines)
        for inner in loop.loops():
            if inner.node.id == "2410":
                _read_drug(line, inner, self._drug)
            elif inner.node.id == "2430":
                _read_line_decision(line, inner, self._line_decision)
            else:
                self._read_provider(line, inner, self._line_providers)
                self._read_provider(claim, inner, self._line_providers_of_claim)
        _read_teeth(line, loop)
        # A line repeats neither the claim's place nor, in an 837D, the days of service of all lines.
        place = claim.places.known.get("place")
        if place is not None:
            line.put("", "place", claim.get("", "place"), place)
        days = claim.places.known.get("dates.service")
        if days is not None and line.get("", "first_day") is None:
            text = get_element(days.segment, 3)
            line.put("", "first_day", _first_day(text), days)
            line.put("", "last_day", _last_day(text), days)
        return line

    def _read_other_payer(
        self, claim: _Part, at: int, loop: Loop, lines: Sequence[Loop]
    ) -> PayerView:
        path = f"other_payers[{at}]"
        other = _Part(claim.places, f"{path}.")
        claim.places.loops[path] = loop
        for inner in (loop, *loop.loops()):
            other.read(inner, self._other_payer.get(inner.node.id, {}))
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


def _read_drug(line: _Part, loop: Loop, rows: _Rows) -> None:
    line.places.loops.setdefault(f"{line.at}drug", loop)
    line.read(loop, rows)
    for segment in loop.segments("CTP"):
        unit = table.DRUG_UNITS.get(get_element(segment, 5).partition(":")[0])
        if unit:
            quantity = parse_number(get_element(segment, 4))
            line.put("drug", unit, quantity, Place(loop, segment, 4))


# --- decisions of other payers ---------------------------------------------------------------------------------


def _read_line_decision(line: _Part, loop: Loop, rows: _Rows) -> None:
    """Note the places of a line's first decision; ``_decision`` reads its values, with those of the payer."""
    line.places.loops.setdefault(f"{line.at}decision", loop)
    line.read(loop, rows)
    for segment in loop.segments("DTP", "573"):
        line.put("decision", "day", _first_day(get_element(segment, 3)), Place(loop, segment, 3))
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
    days = [_first_day(loop.value("DTP", 3, "573")) for loop in parts]
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


# --- compiling rows --------------------------------------------------------------------------------------------


def _compile(view: type, path: str, place: str) -> _Row:
    found = _PLACE.fullmatch(place)
    assert found, f"{place} is not a place"
    part, _, attribute = path.rpartition(".")
    kind = _hint(_hint(view, part) if part and part != "decision" else view, attribute)
    segment, qualifier, element, component, last = found.groups()
    read = _reader(attribute, int(component or 0), int(last or 0), kind)
    at = table.QUALIFIED_AT.get(segment, 1)
    return _Row(
        part, attribute, segment, qualifier or "", at,
        int(element), int(component or 0), int(last or 0), read,
    )  # fmt: skip


def _reader(attribute: str, first: int, last: int, kind: Any) -> Callable[[str], Any]:
    """Return the function that reads the text of an element as the type of its attribute."""
    if attribute == "pointers":
        return _pointers
    if last:
        return lambda text: tuple(filter(None, text.split(":")[first - 1 : last]))
    if attribute in _LAST_DAYS:
        return _last_day
    known: dict[Any, Callable[[str], Any]] = {
        date: _first_day,
        Decimal: parse_number,
        bool: _YES.__contains__,
    }
    return known.get(kind, str)


@cache
def _hint(view: type, attribute: str) -> Any:
    """Return the type of an attribute of the view, without its None."""
    if attribute in ("paid", "units"):
        return Decimal
    if attribute == "day":
        return date
    hint = get_type_hints(view)[attribute]
    kinds = [kind for kind in getattr(hint, "__args__", ()) if kind is not type(None)]
    return kinds[0] if kinds and type(None) in hint.__args__ else hint


def _pointers(text: str) -> tuple[str, ...] | None:
    """Return the pointers of a line, or None if one is not a small number."""
    found = tuple(filter(None, text.split(":")))
    return found if all(pointer in POINTED_PLACES for pointer in found) else None


@lru_cache(limits.CHECK_RESULTS_CACHED_MAX)
def _first_day(text: str) -> date | None:
    found = _DAYS.fullmatch(text)
    return parse_x12_date(found[1]) if found else None


@lru_cache(limits.CHECK_RESULTS_CACHED_MAX)
def _last_day(text: str) -> date | None:
    found = _DAYS.fullmatch(text)
    return parse_x12_date(found[2] or found[1]) if found else None


def _loops(loop: grammar.LoopSpec) -> Iterator[grammar.LoopSpec]:
    yield loop
    for child in loop.children:
        if isinstance(child, grammar.LoopSpec):
            yield from _loops(child)


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
    # Lines of an institutional claim may differ in their revenue codes alone, which no rule compares yet.
    "837I": X12Form(g837i.GUIDE, ClaimKind.INSTITUTIONAL, INSTITUTIONAL_DIAGNOSES_MAX, ()),
}
