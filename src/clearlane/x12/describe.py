"""Every segment of a file in words: its loop, its name, and what each element is and means.

    for said in describe(source):
        said.line, said.loop, said.segment, said.name
        for part in said.parts: part.place, part.name, part.value, part.words

Names come from the guide, meanings from the guide's lists and the code lists. Values are shown as the file has
them: it is the reader's own file. One set is held at a time. Knows guides; knows no claim form.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from clearlane.kernel import formats
from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.x12 import codes, envelope, grammar, reader, tree
from clearlane.x12.guides.dictionary import DICTIONARY
from clearlane.x12.guides.ta1 import SEGMENT as TA1

# Short lists that the guides keep to themselves, for the places that come most often.
_YES = {"Y": "Yes", "N": "No"}
_FORMS = {"D8": "A day", "RD8": "A period of days", "DT": "A day and time", "TM": "A time"}
_IDENTIFIERS = {
    "24": "Employer number", "34": "Social security number", "46": "Electronic transmitter number",
    "FI": "Federal tax number", "II": "Standard unique health number", "MI": "Member number",
    "PI": "Payer number", "SV": "Service provider number", "XV": "National plan number",
    "XX": "National provider identifier",
}  # fmt: skip
FEW: dict[tuple[str, int], dict[str, str]] = {
    ("NM1", 2): {"1": "Person", "2": "Organisation"},
    ("NM1", 8): _IDENTIFIERS,
    ("N1", 3): _IDENTIFIERS,
    ("DMG", 1): _FORMS,
    ("DMG", 3): {"F": "Female", "M": "Male", "U": "Unknown"},
    ("DTP", 2): _FORMS,
    ("HL", 3): {
        "19": "Provider of service", "20": "Information source", "21": "Information receiver",
        "22": "Subscriber", "23": "Dependent", "PT": "Patient",
    },
    ("HL", 4): {"0": "No level below", "1": "A level below follows"},
    ("SBR", 1): {"P": "Primary", "S": "Secondary", "T": "Tertiary"},
    ("ISA", 15): {"P": "Production", "T": "Test"},
    ("EB", 11): _YES,
    ("EB", 12): _YES,
    ("AAA", 1): _YES,
    ("INS", 1): _YES,
    ("CLM", 6): _YES,
    ("CLM", 8): _YES,
    ("BPR", 3): {"C": "Credit", "D": "Debit"},
}  # fmt: skip
CONTROL = {"GS": envelope.GS, "GE": envelope.GE, "IEA": envelope.IEA, "TA1": TA1, "SE": envelope.SE}


@dataclass(frozen=True, slots=True)
class Part:
    """One element or component, in words."""

    place: str
    """``CLM05-3``; the second of a repeating element is ``EB03 (2)``."""
    name: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Said:
    """One segment, in words."""

    line: int
    """Its position in the file, the first ISA being 1."""
    loop: str
    loop_name: str
    segment: str
    name: str
    parts: tuple[Part, ...]


def describe(source: reader.Source) -> Iterator[Said]:
    """The segments of a file, explained in order."""
    for line, (loop, segment, interchange) in enumerate(unrolled(source), 1):
        yield explain(segment, loop, interchange, line)


def explain(
    segment: tree.Segment, loop: tree.Loop | None, interchange: tree.Interchange, line: int
) -> Said:
    """One segment of a loop; ``loop`` is None for the envelope's."""
    node = node_of(loop.node if loop else None, segment)
    name = node.name if node else "Not in the dictionary"
    inside = (loop.node.id, loop.node.name) if loop else ("", "Envelope")
    elements = node.elements if node else ()
    parts = (_header if segment[0] == "ISA" else _parts)(segment, elements)
    told = tuple(Part(p.place, p.name, interchange.original(p.value), p.words) for p in parts)
    return Said(line, *inside, segment[0], name, told)


def node_of(loop: grammar.Loop | None, segment: tree.Segment) -> grammar.Segment | None:
    """What a segment is where it stands; where it has no place, what the dictionary says of it."""
    id = segment[0]
    if loop is not None:
        places = [c for c in loop.children if isinstance(c, grammar.Segment) and c.id == id]
        for place in places:
            if not place.qualifiers or _key(place, segment) in place.qualifiers:
                return place
        if places:
            return places[0]
    return CONTROL.get(id) or _from_dictionary(id)


def unrolled(
    source: reader.Source,
) -> Iterator[tuple[tree.Loop | None, tree.Segment, tree.Interchange]]:
    """Every segment of a file in order, with its loop (None in the envelope) and its interchange.

    What was told is let go, so that one set is held at a time.
    """
    for event in reader.read(source, stream=False, check=False):
        match event:
            case reader.InterchangeOpened(interchange):
                yield None, interchange.header, interchange
            case reader.GroupOpened(group):
                yield from _strays(group.interchange, group.number)
                yield None, group.header, group.interchange
            case reader.SetOpened(set):
                yield from _strays(set.group, set.number)
            case reader.SetClosed(set):
                set.group.sets.clear()
                for loop, segment in within(set.root):
                    yield loop, segment, set.group.interchange
            case reader.GroupClosed(group):
                group.interchange.groups.clear()
                yield from _end(group)
            case reader.InterchangeClosed(interchange):
                yield from _end(interchange)


def _end(
    part: tree.Interchange | tree.Group,
) -> Iterator[tuple[None, tree.Segment, tree.Interchange]]:
    """What is left of a part, and its trailer."""
    yield from _strays(part)
    if part.trailer is not None:
        interchange = part if isinstance(part, tree.Interchange) else part.interchange
        yield None, part.trailer, interchange


def _strays(
    part: tree.Interchange | tree.Group, number: int | None = None
) -> Iterator[tuple[None, tree.Segment, tree.Interchange]]:
    """The segments that stand before a group or set of this number, or all that are left."""
    interchange = part if isinstance(part, tree.Interchange) else part.interchange
    while part.stray and (number is None or part.stray[0][0] < number):
        yield None, part.stray.pop(0)[1], interchange


def within(loop: tree.Loop) -> Iterator[tuple[tree.Loop, tree.Segment]]:
    """Every segment of a loop, in file order, with the loop it stands in."""
    for item in loop.items:
        if isinstance(item, tree.Loop):
            yield from within(item)
        else:
            yield loop, item


def _key(place: grammar.Segment, segment: tree.Segment) -> str:
    number, component = place.key
    text = tree.element(segment, number)
    return text.split(":")[component - 1] if component else text


@lru_cache(VALUES_REMEMBERED_MAX)
def _from_dictionary(id: str) -> grammar.Segment | None:
    base = DICTIONARY.get(id)
    return grammar.Segment(id, base.name, "S", 0, base.elements) if base else None


def _header(segment: tree.Segment, elements: tuple[grammar.Element, ...]) -> Iterator[Part]:
    """An ISA: its elements are padded, and two of them are separators."""
    for element, text in zip(elements, segment[1:], strict=False):
        if text.strip():
            words = FEW.get(("ISA", element.number), {}).get(text, "")
            yield Part(f"ISA{element.number:02}", element.name, text.strip(), words)


def _parts(segment: tree.Segment, elements: tuple[grammar.Element, ...]) -> Iterator[Part]:
    before = ""
    for number, text in enumerate(segment[1:], 1):
        element = elements[number - 1] if number <= len(elements) else None
        texts = text.split("^")
        for nth, one in enumerate(texts, 1):
            again = f" ({nth})" if nth > 1 else ""
            place = f"{segment[0]}{number:02}"
            if element is not None and element.components and one:
                yield from _components(place, again, one, element)
            elif one:
                yield _part(place, again, one, element, (segment[0], number, 0), before)
        before = text


def _components(place: str, again: str, text: str, element: grammar.Element) -> Iterator[Part]:
    before = ""
    for at, one in enumerate(text.split(":"), 1):
        part = element.components[at - 1] if at <= len(element.components) else None
        if one:
            spot = (place[:-2], element.number, at)
            yield _part(f"{place}-{at}", again, one, part, spot, before)
        before = one


def _part(
    place: str,
    again: str,
    text: str,
    element: grammar.Element | None,
    spot: tuple[str, int, int],
    before: str,
) -> Part:
    name = element.name if element else "Not in the guide"
    return Part(place + again, name, text, _words(text, element, spot, before))


def _words(
    text: str, element: grammar.Element | None, spot: tuple[str, int, int], before: str
) -> str:
    """What a code means, or a day in the usual form."""
    segment, number, component = spot
    if element is not None and element.list:
        found = codes.load(element.list).get(text, "")
        if found:
            return found
    if element is not None and (element.type == "DT" or (element.type == "TP" and before == "D8")):
        day = formats.x12_date(text)
        return day.isoformat() if day else ""
    if element is not None and element.type == "TP" and before == "RD8":
        days = [formats.x12_date(part) for part in text.split("-")]
        return " to ".join(day.isoformat() for day in days if day)
    return codes.meaning(segment, number, text, component) or FEW.get((segment, number), {}).get(
        text, ""
    )
