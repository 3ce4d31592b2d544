"""The notation in which guides are written, and the nodes it builds.

A guide is a tree of loops and segments. The dictionary (``guides/dictionary.py``) defines the elements of each segment
once; a guide says for each place of the segment how they are used:

    seg("NM1", "Billing provider name", "R", 1, "R=85 R=1|2 R S S - S S=XX S")

One token per element, in order; elements after the last token are not used:

    R  S  -          required, situational, not used
    R=85|87          only these codes
    S=@states        only codes of a named list (``codes/``)
    R<20   R>2       at most 20, at least 2 characters, if the guide is narrower than the dictionary
    S*5              the element may repeat five times (between repetition separators)
    R(R=HC R S S)    a composite: one token per component, in the same notation

Does not know files, findings or claims.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

USAGE = {"R": "R", "S": "S", "-": "N"}


@dataclass(frozen=True, slots=True)
class ElementSpec:
    """One element, or one component of a composite, at one place of a guide."""

    number: int
    name: str
    type: str
    """AN, ID, DT, TM, R, N0, N2 or B as in X12; TP is text whose format the qualifier before it names."""
    min: int
    max: int
    usage: str = "N"
    codes: tuple[str, ...] = ()
    code_list: str = ""
    """The name of an external code list, or empty."""
    repeat: int = 1
    components: tuple["ElementSpec", ...] = ()
    """The components of a composite, whose own type is then ``C``."""


@dataclass(frozen=True, slots=True)
class DictionarySegment:
    """A segment as the X12 dictionary defines it, before a guide narrows it."""

    name: str
    elements: tuple[ElementSpec, ...]
    syntax: tuple[str, ...] = ()
    """Syntax notes such as ``P0304`` (paired), ``R0203`` (one required), ``E0203`` (exclusive),
    ``C0504`` (if 5 then 4) and ``L030405`` (if 3, then 4 or 5)."""
    key: tuple[int, int] = (0, 0)
    """(element, component) whose code distinguishes the uses of the segment; (0, 0) for none."""


@dataclass(frozen=True, slots=True, eq=False)
class SegmentSpec:
    """A segment at one place of a guide."""

    id: str
    name: str
    usage: str
    repeat: int
    """How often it may occur here; 0 means without limit."""
    elements: tuple[ElementSpec, ...]
    syntax: tuple[str, ...] = ()
    key: tuple[int, int] = (0, 0)

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """The codes of the key element, which distinguish this segment from its siblings."""
        number, component = self.key
        if not number:
            return ()
        element = self.elements[number - 1]
        return (element.components[component - 1] if component else element).codes


@dataclass(frozen=True, slots=True, eq=False)
class LoopSpec:
    """A loop at one place of a guide. Its first child is the segment that opens it."""

    id: str
    name: str
    usage: str
    repeat: int
    children: tuple["SegmentSpec | LoopSpec", ...] = field(repr=False)

    @property
    def head(self) -> SegmentSpec:
        """The segment that opens the loop."""
        first = self.children[0]
        return first if isinstance(first, SegmentSpec) else first.head


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """One implementation guide."""

    id: str
    """The version in GS08 and ST03, such as ``005010X222A1``."""
    kind: str
    """The usual name: 837P, 837D, 837I, 270, 271, 276, 277, 277CA, 835, 999."""
    transaction: str
    """ST01."""
    functional_id: str
    """GS01."""
    name: str
    root: LoopSpec
    """The transaction set, from ST to SE."""
    earlier_ids: tuple[str, ...] = ()
    """Ids of earlier errata that are read as this guide."""
    later_ids: tuple[str, ...] = ()
    """Ids of later errata, which HIPAA has not adopted and which are read as this guide too."""
    unit: str = ""
    """The loop that is one unit of work: 2300 in an 837, 2100 in an 835. The reader can yield one at a time."""

    @property
    def all_ids(self) -> tuple[str, ...]:
        """Every version that is read as this guide, its own first."""
        return (self.id, *self.earlier_ids, *self.later_ids)


_TOKEN = re.compile(
    r"(?P<usage>[RS-])(?:=(?P<codes>[^\s()<>*]+))?(?:<(?P<max>\d+))?(?:>(?P<min>\d+))?"
    r"(?P<open>\()?(?(open)(?P<inner>[^()]*)\))(?:\*(?P<repeat>\d+))?(?:\s+|$)"
)


def _tokens(pattern: str) -> Iterator[re.Match[str]]:
    at = 0
    text = pattern.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"usage pattern {pattern!r} is not understood at {text[at:]!r}")
        yield match
        at = match.end()


def _narrow(base: ElementSpec, token: re.Match[str]) -> ElementSpec:
    codes = token["codes"] or ""
    named = codes.startswith("@")
    return replace(
        base,
        usage=USAGE[token["usage"]],
        codes=() if named or not codes else tuple(codes.split("|")),
        code_list=codes[1:] if named else "",
        max=int(token["max"]) if token["max"] else base.max,
        min=int(token["min"]) if token["min"] else base.min,
        repeat=int(token["repeat"]) if token["repeat"] else base.repeat,
        components=apply_usage(base.components, token["inner"])
        if token["open"]
        else base.components,
    )


def apply_usage(elements: tuple[ElementSpec, ...], pattern: str) -> tuple[ElementSpec, ...]:
    """Return elements of the dictionary narrowed by a usage pattern."""
    tokens = list(_tokens(pattern))
    if len(tokens) > len(elements):
        raise ValueError(f"usage pattern {pattern!r} names more than {len(elements)} elements")
    narrowed = [_narrow(base, token) for base, token in zip(elements, tokens, strict=False)]
    return (*narrowed, *elements[len(tokens) :])


def make_seg(dictionary: Mapping[str, DictionarySegment]) -> Callable[..., SegmentSpec]:
    """Return the ``seg`` function of a dictionary."""
    # Many places of a guide use a segment in the same way.
    narrowed: dict[tuple[str, str], tuple[ElementSpec, ...]] = {}

    def seg(
        id: str,
        name: str,
        usage: str,
        repeat: int,
        pattern: str,
        *,
        key: tuple[int, int] | None = None,
    ) -> SegmentSpec:
        base = dictionary[id]
        elements = narrowed.get((id, pattern))
        if elements is None:
            elements = narrowed[id, pattern] = apply_usage(base.elements, pattern)
        return SegmentSpec(
            id=id,
            name=name,
            usage=usage,
            repeat=repeat,
            elements=elements,
            syntax=base.syntax,
            key=base.key if key is None else key,
        )

    return seg


def loop(
    id: str, name: str, usage: str, repeat: int, *children: SegmentSpec | LoopSpec
) -> LoopSpec:
    """Return a loop of a guide; ``repeat`` 0 means without limit."""
    return LoopSpec(id, name, usage, repeat, children)


def dictionary_segment(
    name: str, elements: str, *, syntax: str = "", key: tuple[int, int] = (0, 0)
) -> DictionarySegment:
    """Return a segment of the dictionary from a text with one element per line.

    A line is ``Name: TYPE min-max``; the components of a composite are indented below ``Name: C``:

        Entity identifier code: ID 2-3
        Procedure: C
          Qualifier: ID 2-2
          Code: AN 1-48
    """
    rows: list[tuple[int, ElementSpec]] = []
    for line in filter(str.strip, elements.splitlines()):
        label, _, form = line.strip().partition(": ")
        kind, _, lengths = form.partition(" ")
        low, _, high = lengths.partition("-")
        deep = 1 if line.startswith("  ") else 0
        rows.append((deep, ElementSpec(0, label, kind, int(low or 0), int(high or 0))))
    top: list[ElementSpec] = []
    for deep, element in rows:
        if not deep:
            top.append(replace(element, number=len(top) + 1))
            continue
        parent = top[-1]
        part = replace(element, number=len(parent.components) + 1)
        top[-1] = replace(parent, components=(*parent.components, part))
    return DictionarySegment(name, tuple(top), tuple(syntax.split()), key)
