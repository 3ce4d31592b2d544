"""Name the claim fields that the elements of an 837 came from, segment by segment.

    follower = ElementFields(claim)                       # or a kind of claim, for a file of many
    follower.follow(loop, segment)["CLM02"]               # F28_TotalCharge (box 28)

The placement tables, read backwards, give the fields of an element. If there are several, the one whose value is
in the element counts; a value computed from several fields has all their names. A field that only repeats another's
value is named if its value is there and that of no field of the element's own is.

In a file of many claims the values of fields are not known, and the segments decide what they can: the component and the
part of a structure come before the whole, a cause of the condition has one mark, and a patient's field is in the
insured's loop only if both are one person (SBR02).

Knows the placement tables, the catalogue and segments; knows no file and no page.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache

from clearlane.claims.fields import ClaimPart, JsonClaim
from clearlane.claims.forms import AnyForm, ClaimForm, field_at, form_of
from clearlane.claims.forms.medical_view import ACCIDENT_MARKS
from clearlane.claims.responses.field_lookup import FieldPlace, field_places, source_field
from clearlane.x12 import tree
from clearlane.x12.writer.encode import format_element

DAYS_ELEMENT = 3
"""The element of a DTP that holds its day or days."""
ADJUSTMENT_ELEMENTS, GROUP_ELEMENT = 3, 1
"""A CAS has its group first, then reason, amount and quantity of each adjustment."""
CODE_COMPONENT = 2
"""The component of an HI that holds the diagnosis; the first names its list."""
SUBSCRIBER_LOOP, RELATIONSHIP_ELEMENT, SELF = "2000B", 2, "18"
NO = "N"
NOTHING_GIVEN: Sequence[list[str]] = ([], [NO])
"""The texts of a field from which nothing is computed: an empty one, and a No, which is only sent unchanged."""
_INDEX = re.compile(r"\[\d*\]")
_NOWHERE: Mapping[str, str] = {}


class ElementFields:
    """A follower of the segments of an 837 that names the fields of each; of one claim, or of many of a kind."""

    def __init__(self, source: JsonClaim | AnyForm) -> None:
        self._claim = None if isinstance(source, ClaimForm) else source
        self._form = source if isinstance(source, ClaimForm) else form_of(source)
        self._loop: tree.Loop | None = None
        self._line = 0
        self._seen: dict[str, int] = {}
        self._is_self = True
        """Whether the insured is the patient, or may be."""

    def follow(self, loop: tree.Loop | None, segment: tree.Segment) -> Mapping[str, str]:
        """Return the names of fields by element, such as ``CLM02`` or ``SV101-2``, of the next segment."""
        if loop is None:
            return _NOWHERE
        id = segment[0]
        if loop is not self._loop:
            self._loop, self._seen = loop, {}
        self._seen[id] = self._seen.get(id, 0) + 1
        if id == "CLM":
            self._line = 0
        elif id == "LX":
            self._line += 1
        elif id == "SBR" and loop.node.id == SUBSCRIBER_LOOP:
            self._is_self = tree.get_element(segment, RELATIONSHIP_ELEMENT) == SELF
        places = _by_segment(self._form).get((loop.node.id, id), ())
        own = [place for place in places if self._is_of(place, segment)]
        found: dict[str, str] = {}
        for number, text in enumerate(segment[1:], 1) if own else ():
            for key, component, value in _parts(f"{id}{number:02}", text):
                if value and (names := self._name(own, number, component, value)):
                    found[key] = names
        return found

    def _is_of(self, place: FieldPlace, segment: tree.Segment) -> bool:
        """Return whether a place may be of this segment: of its qualifier, and of its number if it has one."""
        qualifier = tree.get_element(segment, 1).partition(":")[0]
        is_numbered = "#" in place.place
        return (
            place.path.qualifier in {"", qualifier}
            and (not is_numbered or place.path.nth == self._seen[segment[0]])
            and (self._is_self or not place.of_patient)
        )

    def _name(self, places: Sequence[FieldPlace], number: int, component: int, value: str) -> str:
        """Return the names of the fields that a value came from, as people read them.

        A branch for each way to choose among fields of one element: a mark of an accident, the table alone if there is
        no claim, or else the field with this value, and of these not one that repeats another.
        """
        same = [place for place in places if _has_element(place, number)]
        at = [place for place in same if place.path.component in {0, component}]
        chosen = [place for place in at if ACCIDENT_MARKS.get(place.name) == value]
        if not chosen and self._claim is None:
            chosen = self._by_table(places, at, component)
        elif not chosen:
            exact = [place for place in at or same if value in self._texts(place)]
            chosen = [place for place in exact if not place.echo] or exact or self._filled(at)
        wholes = {place.name.partition("[")[0] for place in chosen if "." in place.name}
        parts = [place for place in chosen if place.name not in wholes]
        return ", ".join(dict.fromkeys(_words(self._form, place) for place in parts))

    def _by_table(
        self, places: Sequence[FieldPlace], at: Sequence[FieldPlace], component: int
    ) -> list[FieldPlace]:
        """Return the places of an element that any claim may fill, those of its component if there are some."""
        # That a first name makes its owner a person can only be said of a claim that has one.
        own = {place.name for place in places if place.unchanged}
        chosen = [one for one in at if not one.echo and (one.unchanged or one.name not in own)]
        return [one for one in chosen if self._is_finer(one, component)] or chosen

    def _filled(self, places: Sequence[FieldPlace]) -> list[FieldPlace]:
        """Return the places whose field this claim fills."""
        return [one for one in places if not one.echo and self._texts(one) not in NOTHING_GIVEN]

    def _is_finer(self, place: FieldPlace, component: int) -> bool:
        """Return whether a place is of this very component: by its table, or as a diagnosis and not its list."""
        if place.path.id == "HI" and component == CODE_COMPONENT:
            return place.name != field_at(self._form, "icd_version")
        return bool(component and place.path.component)

    def _texts(self, place: FieldPlace) -> list[str]:
        """Return the values of a field in this claim, or in the line that is followed, as elements hold them."""
        if self._claim is None:
            return []
        holders: list[object] = [self._claim]
        if place.of_line:
            lines = form_of(self._claim).lines(self._claim)
            holders = [*(lines[self._line - 1 : self._line] if self._line else lines)]
        for step in _INDEX.sub("", place.name).split("."):
            values = (getattr(holder, "__dict__", {}).get(step) for holder in holders)
            holders = [one for value in values for one in _items(value)]
        return [text for holder in holders for text in _element_texts(holder)]


@cache
def _by_segment(form: AnyForm) -> Mapping[tuple[str, str], Sequence[FieldPlace]]:
    found: dict[tuple[str, str], list[FieldPlace]] = {}
    for place in field_places(form):
        found.setdefault((place.path.loop, place.path.id), []).append(place)
    return found


def _parts(key: str, text: str) -> Iterator[tuple[str, int, str]]:
    """Yield the key, the component and the value of an element as a whole and of each of its components."""
    yield key, 0, text
    for component, value in enumerate(text.split(":"), 1):
        yield f"{key}-{component}", component, value


def _has_element(place: FieldPlace, number: int) -> bool:
    if place.path.id == "CAS" and place.path.element > GROUP_ELEMENT:
        # An adjustment takes the elements from its reason on, and a part of it every third.
        steps, rest = divmod(number - place.path.element, ADJUSTMENT_ELEMENTS)
        return steps >= 0 and ("." not in place.name or not rest)
    return number == (place.path.element or DAYS_ELEMENT)


def _items(value: object) -> Sequence[object]:
    if value is None:
        return ()
    return [*value] if isinstance(value, tuple | list) else (value,)


def _element_texts(value: object) -> Iterator[str]:
    """Yield a value as elements hold it; the parts of a structure, and of a list that is written in one text."""
    if isinstance(value, bool):
        yield "Y" if value else NO
    elif isinstance(value, ClaimPart):
        for inner in value.__dict__.values():
            yield from _element_texts(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _element_texts(inner)
    elif isinstance(value, str | date | Decimal):
        text = format_element(value)
        yield text
        if "," in text:
            yield from text.split(",")


@cache
def _words(form: AnyForm, place: FieldPlace) -> str:
    field = source_field(form, _INDEX.sub("[]", place.name), of_line=place.of_line)
    name = _INDEX.sub("", place.name).rpartition(".")[2]
    return f"{name} (box {field.box})" if field.box else name
