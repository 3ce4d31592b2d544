"""Where an 837 has the values of a view: the places that a guide has, and those of one claim in its file.

    places = GuidePlaces(g837p.GUIDE)
    places.name_of("billing.npi")                    # the billing provider's NPI (NM109)
    view.form.place("lines[2].procedure")            # its segment, element and component

Knows loops, and the places of ``x12_view``; reads no claim.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_type_hints

from clearlane.claims.codes import POINTED_PLACES
from clearlane.claims.forms import x12_view as table
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.value_types import ADJUSTMENT_GROUPS
from clearlane.claims.view import ClaimView, LineView, PayerView
from clearlane.kernel import limits
from clearlane.kernel.formats import parse_x12_date
from clearlane.x12 import grammar
from clearlane.x12.path import node_at, parse_path
from clearlane.x12.tree import Loop, Segment, get_element
from clearlane.x12.views.binding import parse_number

_INDEX = re.compile(r"\[\d+\]")
_ITEM = re.compile(r"(.+)\[(\d+)\]")
_PLACE = re.compile(r"([A-Z0-9]+)(?::(\w+))?/(\d\d)(?:-(\d)(?:-(\d))?)?")
_DAYS = re.compile(r"(\d{8})(?:\d{4})?(?:-(\d{8})(?:\d{4})?)?", re.ASCII)
# The codes that mean yes: a mark, minutes, a predetermination, a replacement.
_YES = frozenset({"Y", "MJ", "PB", "R"})
_LAST_DAYS = ("last_day", "disability_until")
_QUALIFIER_NAMES_SEGMENT = frozenset({"AMT", "DTP", "HI", "REF"})
GLASSES = {"E1": "spectacle_lenses", "E2": "contact_lenses", "E3": "spectacle_frames"}


class Place(NamedTuple):
    """A place in a file: a loop, a segment of its own, and the element; 0 for the whole segment."""

    loop: Loop
    segment: Segment
    element: int = 0
    component: int = 0


class PlaceRow(NamedTuple):
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
    read: Callable[[str], object]

    @property
    def name(self) -> str:
        """The element as people write it: ``NM109``, ``CLM05-3``, ``REF*F8``."""
        if self.segment in _QUALIFIER_NAMES_SEGMENT:
            return f"{self.segment}*{self.qualifier}"
        component = f"-{self.component}" if self.component and not self.last else ""
        return f"{self.segment}{self.element:02}{component}"


class SegmentRows(NamedTuple):
    """The rows of one segment of a loop, by its qualifier: a segment has few of them, and is read by these alone."""

    qualifier_at: int
    others: tuple[PlaceRow, ...]
    """The rows of a segment with another qualifier, or none."""
    qualified: Mapping[str, tuple[PlaceRow, ...]]

    @classmethod
    def of(cls, rows: Sequence[PlaceRow]) -> "SegmentRows":
        """Return the rows of a segment, each time in their order: the first that is filled counts."""
        qualified = {
            code: tuple(row for row in rows if row.qualifier in ("", code))
            for code in {row.qualifier for row in rows}
        }
        return cls(rows[0].qualifier_at, qualified.pop("", ()), qualified)


LoopRows = Mapping[str, SegmentRows]
"""The rows of a loop by segment."""


PAYER_ID_HINT = (
    "write an id of the payer list in NM109 of loop 2010BB, or ask the operator for an alias"
)
"""What a sender is advised who names a payer that is not known."""


class TransactionPlaces:
    """The places that the guide of one transaction has for the values of a view."""

    def __init__(
        self, guide: grammar.Guide, kind: ClaimKind, diagnoses_max: int, duplicates: Sequence[str]
    ) -> None:
        self.guide = guide
        self.kind = kind
        self.diagnoses_max = diagnoses_max
        self.duplicate_paths = tuple(duplicates)
        self.pointers = tuple(str(number) for number in range(1, diagnoses_max + 1))
        self._by_path: dict[str, PlaceRow] = {}
        self._provider_loops: dict[str, str] = {}
        """The loops of providers, by their part of the view."""
        self._nodes = {node.id: node for node in _loops(guide.root)}
        transaction = guide.kind
        self.around = {id: self._rows(id, rows) for id, rows in table.AROUND.items()}
        own = {**table.CLAIM, **table.OWN_OF_CLAIM[transaction]}
        self.claim = self._rows("2300", own)
        self.other_payer = {
            id: self._rows(id, rows, "other_payers[].", PayerView)
            for id, rows in table.OTHER_PAYER.items()
        }
        line = {**table.LINE, **table.OWN_OF_LINE[transaction]}
        self.line = self._rows("2400", line, "lines[].", LineView)
        self.drug = self._rows("2410", table.DRUG, "lines[].", LineView)
        self.line_decision = self._rows("2430", table.LINE_DECISION, "lines[].", LineView)
        self.claim_in_lines = self._rows("2400", table.CLAIM_IN_LINES)
        self.providers = self._provider_rows("2310", table.ROLES)
        self.line_providers = self._provider_rows("2420", ("82", "DN"), "lines[].", LineView)
        # The view has one ordering provider for the claim; an 837P states it by line.
        self.line_providers_of_claim = self._provider_rows("2420", ("DK",))
        self._more = self._paths_of_lists()
        known = {*self._by_path, *self._more}
        self.paths = frozenset(known)
        """The paths of the values that the transaction can state, with indexes left out."""
        self._known = known | {
            path[:at] for path in known for at, mark in enumerate(path) if mark in ".["
        }
        self._known |= {f"{path}[]" for path in known} | {"lines[]", "other_payers[]"}

    def _rows(self, loop: str, rows: table.Rows, at: str = "", view: type = ClaimView) -> LoopRows:
        """Return the rows of a loop that the guide has, by segment."""
        found: dict[str, list[PlaceRow]] = {}
        for path, places in rows.items():
            for place in places.split():
                row = _compile(view, path, place)
                if self._is_in_guide(loop, row):
                    found.setdefault(row.segment, []).append(row)
                    self._by_path.setdefault(at + path, row)
        return {segment: SegmentRows.of(own) for segment, own in found.items()}

    def _is_in_guide(self, loop: str, row: PlaceRow) -> bool:
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
    ) -> dict[str, LoopRows]:
        """Return the rows of the providers that the guide has in certain loops, by the codes of their NM1."""
        found = {
            code: (id, self._rows(id, table.PROVIDER_ROWS[code], at, view))
            for id, node in self._nodes.items()
            if id.startswith(loops)
            for code in node.head.elements[0].codes
            if code in codes
        }
        for code, (id, _) in found.items():
            parts = {f"{at}{path}".rpartition(".")[0] for path in table.PROVIDER_ROWS[code]}
            for part in parts:
                self._provider_loops.setdefault(part, id)
        return {code: rows for code, (_, rows) in found.items()}

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
            if self._is_in_guide(loop, PlaceRow("", "", segment, "", 0, element, 0, 0, str))
            for path, name in names.items()
        }

    def row(self, path: str) -> PlaceRow | None:
        """Return the row of a path, or None."""
        return self._by_path.get(_INDEX.sub("[]", path))

    def has(self, path: str) -> bool:
        """Return whether the transaction has a place for a path of the view."""
        return _INDEX.sub("[]", path) in self._known

    def name_of(self, path: str) -> str:
        """Return what the trade calls the value of a path, with its element: ``the billing provider's NPI (NM109)``."""
        pattern = _INDEX.sub("[]", path)
        if pattern in table.COMPONENTS:
            return table.COMPONENTS[pattern]
        row = self._by_path.get(pattern)
        part, _, attribute = pattern.removesuffix("[]").rpartition(".")
        words = table.WORDS.get(attribute, attribute.replace("_", " "))
        owner = f"{table.OWNERS[part]} " if part else ""
        element = row.name if row else self._more.get(pattern.removesuffix("[]"), "")
        if row and part in self._provider_loops:
            element = f"{row.name} of loop {self._provider_loops[part]}"
        return f"the {owner}{words}" + (f" ({element})" if element else "")


class ClaimPlaces:
    """What the view of a claim knows of the file that it is in: a form of its own for each claim."""

    def __init__(
        self, form: TransactionPlaces, first_segment: int, numbers: Sequence[int] = ()
    ) -> None:
        """``numbers`` are those of the segments in their file, if they do not follow each other."""
        self._form = form
        self._first_segment = first_segment
        self._numbers = numbers
        self.known: dict[str, Place] = {}
        """The places of the values, by path."""
        self.faulty: set[str] = set()
        """The paths of values that cannot be read: the guide's checks report them."""
        self.loops: dict[str, Loop] = {}
        """The loops of the parts, by path; that of the claim is the empty one's."""
        self.kind = form.kind
        self.diagnoses_max = form.diagnoses_max
        self.duplicate_paths = form.duplicate_paths
        self.pointers = form.pointers
        self.has = form.has
        self.name_of = form.name_of
        self.payer_id_hint = PAYER_ID_HINT

    def copy(self) -> "ClaimPlaces":
        """Return the same places, for one more claim in the same loops."""
        copied = ClaimPlaces(self._form, self._first_segment, self._numbers)
        copied.known, copied.faulty = self.known.copy(), self.faulty.copy()
        copied.loops = self.loops.copy()
        return copied

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

    def number(self, place: Place) -> int:
        """Return the number of the segment of a place in its file."""
        return self._number_at(position_of(place))

    def numbers_of(self, loop: Loop) -> tuple[int, int]:
        """Return the numbers of the first and the last segment of a loop in its file."""
        last = loop.position + loop.size() - 1
        return self._number_at(loop.position), self._number_at(last)

    def _number_at(self, position: int) -> int:
        if self._numbers:
            return self._numbers[position - 1]
        return self._first_segment + position - 1

    def locate(self, path: str) -> str:
        """Return where the sender wrote the value of a path: loop, element, and the number of the segment in the file."""
        place = self.place(path)
        number = self.number(place)
        if path in self.loops and path.startswith("lines["):
            return f"line {int(path[6:-1]) + 1} (segment {number})"
        element = f"{place.element:02}" if place.element else ""
        component = f"-{place.component}" if place.component else ""
        where = f" (segment {number})" if number else ""
        return f"{place.loop.id}/{place.segment[0]}{element}{component}{where}"


def position_of(place: Place) -> int:
    """Return the number of a place's segment in its transaction set."""
    found = place.loop.find(place.segment)
    return found[0] if found else place.loop.position


# --- compiling rows --------------------------------------------------------------------------------------------


def _compile(view: type, path: str, place: str) -> PlaceRow:
    found = _PLACE.fullmatch(place)
    assert found, f"{place} is not a place"
    part, _, attribute = path.rpartition(".")
    kind = hint_of(hint_of(view, part) if part and part != "decision" else view, attribute)
    segment, qualifier, element, component, last = found.groups()
    read = _reader(attribute, int(component or 0), int(last or 0), kind)
    at = table.QUALIFIED_AT.get(segment, 1)
    return PlaceRow(
        part, attribute, segment, qualifier or "", at,
        int(element), int(component or 0), int(last or 0), read,
    )  # fmt: skip


def _reader(attribute: str, first: int, last: int, kind: object) -> Callable[[str], object]:
    """Return the function that reads the text of an element as the type of its attribute."""
    if attribute == "pointers":
        return _pointers
    if last:
        return lambda text: tuple(filter(None, text.split(":")[first - 1 : last]))
    if attribute in _LAST_DAYS:
        return last_day
    known: dict[object, Callable[[str], object]] = {
        date: first_day,
        Decimal: parse_number,
        bool: _YES.__contains__,
    }
    return known.get(kind, str)


@cache
def hint_of(view: type, attribute: str) -> Any:  # Any: a class, or another hint
    """Return the type of an attribute of the view, without its None."""
    if attribute in ("paid", "units"):
        return Decimal
    if attribute == "day":
        return date
    hint = _hints_of(view)[attribute]
    kinds = [kind for kind in getattr(hint, "__args__", ()) if kind is not type(None)]
    return kinds[0] if kinds and type(None) in hint.__args__ else hint


@cache
def _hints_of(view: type) -> dict[str, Any]:  # Any: a class, or another hint
    return get_type_hints(view)


def _pointers(text: str) -> tuple[str, ...] | None:
    """Return the pointers of a line, or None if one is not a small number."""
    found = tuple(filter(None, text.split(":")))
    return found if all(pointer in POINTED_PLACES for pointer in found) else None


@lru_cache(limits.CHECK_RESULTS_CACHED_MAX)
def first_day(text: str) -> date | None:
    """Return the first day of a date or period of X12, or None if it is neither."""
    found = _DAYS.fullmatch(text)
    return parse_x12_date(found[1]) if found else None


@lru_cache(limits.CHECK_RESULTS_CACHED_MAX)
def last_day(text: str) -> date | None:
    """Return the last day of a date or period of X12, or None if it is neither."""
    found = _DAYS.fullmatch(text)
    return parse_x12_date(found[2] or found[1]) if found else None


def _loops(loop: grammar.LoopSpec) -> Iterator[grammar.LoopSpec]:
    yield loop
    for child in loop.children:
        if isinstance(child, grammar.LoopSpec):
            yield from _loops(child)
