"""Write a file as one HTML page: segments in their loops, every element explained, findings at their place.

    for piece in write_page(lambda: path.open("rb"), title="claims.837"):
        out.write(piece)

The page needs nothing else: no script, no picture, no font, and its policy lets a browser load none. The file is read
twice, once for the summary at the top and once for the body, which is written while it is read: memory stays constant.
Every text of the file is escaped. With a ``redactor`` the page shows pseudonyms where the file has patient data; findings
name no values anyway.

:func:`write_contents` writes the same without the document around it, for a page of another program: with the style
sheet of :func:`read_contents_style`, below an element of the class ``x12``, and with the colors of page.css.

With ``name_fields`` an element also has the name of the field that the caller wrote it from, and ``spell`` rewrites the
words of an explanation, if the caller writes days in a manner of its own.

Knows outlines and descriptions; knows no claim form and no clock.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TypeAlias

from clearlane.kernel.finding import Finding, SegmentPosition, Severity
from clearlane.x12 import grammar, guides, tree
from clearlane.x12.reader import reader
from clearlane.x12.reader.outline import (
    LoopClosed,
    LoopOpened,
    OutlineEvent,
    OutlineSegment,
    iter_outline,
)
from clearlane.x12.show.describe import ElementDescription, describe_segment
from clearlane.x12.show.page_summary import (
    UNITS,
    FindingGroup,
    KindSummary,
    PageSummary,
    SetKey,
    summarize,
)
from clearlane.x12.show.redact import Redactor

SEGMENTS_OPEN_MAX = 1_500
"""In a longer file segments and units begin folded, except those with findings."""
FINDING_GROUPS_SHOWN_MAX = 200
GIST_CHARACTERS_MAX = 80

# The elements of a first segment that tell a loop from its siblings when it is folded.
GISTS: dict[str, tuple[int, ...]] = {
    "CLM": (1, 2), "CLP": (1, 3, 4), "LX": (1,), "HL": (1,), "NM1": (3, 4), "N1": (2,), "SVC": (1, 2, 3),
    "SBR": (1,), "EB": (1, 3), "TRN": (2,), "AK2": (1, 2), "IK3": (1, 2), "PLB": (1,), "LIN": (3,), "SVD": (1, 2),
}  # fmt: skip
ENVELOPE = frozenset({"ISA", "GS", "ST", "SE", "GE", "IEA"})
"""Segments that begin folded unless they have findings: few readers look at them."""
INTERCHANGE_FACTS = (("Sender", 6), ("Receiver", 8), ("Control number", 13))
USAGE = {"P": "Production", "T": "Test"}
# Control characters become the pictures that Unicode has for them: a browser would drop or obey them.
_VISIBLE = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
_VISIBLE |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


NameFields: TypeAlias = Callable[[tree.Loop | None, tree.Segment], Mapping[str, str]]
"""A follower of the segments of one set: it returns names of fields by element, such as ``CLM05-3``."""
FollowSet: TypeAlias = Callable[[grammar.Guide], NameFields | None]
"""The follower of a set of a guide; None if its elements came from no fields."""


Spell: TypeAlias = Callable[[str], str]
"""How a text with ISO days is written for people."""


class UnreadablePageError(ValueError):
    """A file without an interchange, which has nothing to show."""


def write_page(
    open_source: Callable[[], reader.Source],
    *,
    title: str,
    redactor: Redactor | None = None,
    name_fields: FollowSet | None = None,
) -> Iterator[str]:
    """Yield the page piece by piece; ``open_source`` is called twice.

    Raises UnreadablePageError before the first piece if the file is not X12.
    """
    contents = write_contents(
        open_source,
        heading=f"<h1>{visible(title)}</h1>",
        redactor=redactor,
        name_fields=name_fields,
    )
    first = next(contents)
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{style_policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">'
        f"<title>{visible(title)}</title><style>{read_style()}</style></head>"
        '<body><main class="x12">\n'
    )
    yield first
    yield from contents
    yield "</main></body></html>\n"


def write_contents(
    open_source: Callable[[], reader.Source],
    *,
    heading: str = "",
    redactor: Redactor | None = None,
    name_fields: FollowSet | None = None,
    spell: Spell = str,
) -> Iterator[str]:
    """Yield what a page says of a file, without the document around it; ``heading`` is HTML above it.

    Raises UnreadablePageError before the first piece if the file is not X12.
    """
    summary = summarize(open_source())
    if not summary.interchange_count:
        raise UnreadablePageError("cannot be read as X12")
    yield from _head(summary, heading, redactor, spell)
    body = _Body(summary, redactor, name_fields, spell)
    for event in iter_outline(open_source()):
        yield from body.write(event)
    yield from body.end()


@cache
def read_style() -> str:
    """Return the style sheet of a page."""
    document = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return document + read_contents_style()


@cache
def read_contents_style() -> str:
    """Return the style sheet of the contents, all of it below the class ``x12``."""
    return Path(__file__).with_name("page_contents.css").read_text(encoding="utf-8")


def style_policy() -> str:
    """Return the content policy: this style sheet and nothing else."""
    digest = b64encode(sha256(read_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def visible(text: str) -> str:
    """Return a text for HTML: escaped, its control characters visible."""
    return escape(text.translate(_VISIBLE))


def _head(
    summary: PageSummary, heading: str, redactor: Redactor | None, spell: Spell
) -> Iterator[str]:
    note = "<br>Names, numbers, addresses and days are pseudonyms." if redactor else ""
    yield f'<header>{heading}<p class="soft">{visible(_subject(summary))}{note}</p>'
    yield f'<p class="verdict">{"".join(_verdict(summary))}</p></header>\n'
    yield '<section class="panel"><h2>Summary</h2>'
    yield from _facts(summary, redactor, spell)
    yield "</section>\n"
    if summary.groups:
        yield '<section class="panel"><h2>Findings</h2><ul class="findings">'
        yield from _finding_list(summary)
        yield "</ul></section>\n"


def _subject(summary: PageSummary) -> str:
    """Return what the file is: its transactions and its size."""
    names = [f"{kind} {guides.by_kind(kind).name}" for kind in summary.kinds if kind]
    names += ["sets of an unknown guide"] * ("" in summary.kinds)
    names += ["no transaction set"] * (not summary.kinds)
    return ", ".join(names) + f" · {_count(summary.segments, 'segment')}"


def _verdict(summary: PageSummary) -> Iterator[str]:
    if not summary.errors:
        yield '<span class="label good">No errors</span>'
    for severity in (Severity.ERROR, Severity.WARNING):
        if number := summary.counts[severity]:
            yield _label(severity, number)


def _label(severity: Severity, number: int) -> str:
    return f'<span class="label {severity}">{_count(number, severity)}</span>'


def _facts(summary: PageSummary, redactor: Redactor | None, spell: Spell) -> Iterator[str]:
    for header in summary.interchanges:
        shown = redactor.segment(header, None) if redactor else header
        pairs = [(name, tree.get_element(shown, at).strip()) for name, at in INTERCHANGE_FACTS]
        day, time = tree.get_element(shown, 9), tree.get_element(shown, 10)
        sent = f"20{day[:2]}-{day[2:4]}-{day[4:]} {time[:2]}:{time[2:]}"
        pairs.append(("Sent", spell(sent)))
        usage = tree.get_element(shown, 15)
        pairs.append(("Usage", USAGE.get(usage, usage)))
        yield _fact_row(pairs)
    if summary.interchange_count > len(summary.interchanges):
        rest = summary.interchange_count - len(summary.interchanges)
        yield _fact_row([("And", _count(rest, "interchange"))])
    for name, kind in summary.kinds.items():
        yield _fact_row(_kind_facts(name, kind))


def _kind_facts(name: str, kind: KindSummary) -> list[tuple[str, str]]:
    pairs = [("Transaction", name or "unknown guide"), ("Version", kind.version)]
    pairs.append(("Sets", f"{kind.sets:,}"))
    if name:
        pairs.append((f"{UNITS[name].word.capitalize()}s", f"{kind.units:,}"))
    return pairs + [(word.capitalize(), f"{total:,.2f}") for word, total in kind.amounts.items()]


def _fact_row(pairs: list[tuple[str, str]]) -> str:
    cells = (f"<div><dt>{name}</dt><dd>{visible(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{"".join(cells)}</dl>'


def _finding_list(summary: PageSummary) -> Iterator[str]:
    ordered = sorted(
        summary.groups.values(),
        key=lambda group: (_ORDER[group.finding.severity], group.places[0].file_segment),
    )
    for group in ordered[:FINDING_GROUPS_SHOWN_MAX]:
        yield _finding_item(group)
    hidden = len(ordered) - FINDING_GROUPS_SHOWN_MAX
    if hidden > 0:
        yield f'<li><span class="label">more</span><span>{_count(hidden, "other sentence")} at their places below.</span></li>'
    if summary.findings_left_out:
        number = _count(summary.findings_left_out, "finding")
        yield f'<li><span class="label">more</span><span>{number} counted and not shown at their places.</span></li>'


def _finding_item(group: FindingGroup) -> str:
    finding = group.finding
    links = ", ".join(map(_place_link, group.places))
    more = group.count - len(group.places)
    tail = f" and {more:,} more" if more else ""
    times = f" <small>{group.count:,} times</small>" if group.count > 1 else ""
    return (
        f'<li><span class="label {finding.severity}">{finding.severity}</span>'
        f"<span>{visible(finding.message)} <small>[{visible(finding.rule)}]</small>{times}</span>"
        f'<span class="where">{links}{tail}</span></li>'
    )


def _place_link(position: SegmentPosition) -> str:
    number = position.file_segment
    if not number:
        return "file"
    element = f"{position.element:02}" if position.element else ""
    component = f"-{position.component}" if position.component else ""
    loop = f" in {position.loop}" if position.loop else ""
    name = f"{position.segment_id}{element}{component}{loop}".strip() or "segment"
    return f'<a href="#s{number}">{visible(name)}, segment {number}</a>'


class _Body:
    """The body of a page, written event by event."""

    def __init__(
        self,
        summary: PageSummary,
        redactor: Redactor | None,
        name_fields: FollowSet | None,
        spell: Spell,
    ) -> None:
        self._summary = summary
        self._redactor = redactor
        self._name_fields = name_fields
        self._spell = spell
        self._fields: NameFields | None = None
        self._is_long = summary.segments > SEGMENTS_OPEN_MAX
        self._line = 0
        self._set_line = 0
        """The line of the ST of the set that is open."""
        self._key: SetKey = (0, 0, 0)
        self._unit = ""

    def write(self, event: OutlineEvent) -> Iterator[str]:
        """Yield the HTML of one event."""
        match event:
            case OutlineSegment():
                yield from self._segment(event)
            case LoopOpened(loop):
                yield self._loop(loop)
            case LoopClosed():
                yield "</details>\n"
            case reader.InterchangeOpened(interchange):
                self._key = (interchange.number, 0, 0)
                control = visible(self._shown(interchange.header, None)[13])
                yield self._part("Interchange", control)
            case reader.GroupOpened(group):
                self._key = (group.interchange.number, group.number, 0)
            case reader.SetOpened(set):
                self._key = (set.group.interchange.number, set.group.number, set.number)
                self._set_line = self._line + 1
                self._unit = set.guide.unit if set.guide else ""
                self._fields = (
                    self._name_fields(set.guide) if self._name_fields and set.guide else None
                )
                name = f"{set.guide.kind} {set.guide.name}" if set.guide else "Unknown guide"
                yield f'<details class="loop" open><summary><span class="lid">Set {visible(set.control)}</span> {visible(name)}</summary>'
            case reader.SetClosed(set):
                yield from self._rest()
                yield "</details>\n"
                self._key = (set.group.interchange.number, set.group.number, 0)
            case reader.GroupClosed(group):
                yield from self._rest()
                self._key = (group.interchange.number, 0, 0)
            case _:  # the interchange is closed
                yield from self._rest()
                self._key = (0, 0, 0)
                yield "</div></details>\n"

    def end(self) -> Iterator[str]:
        """Yield the findings that belong to no segment."""
        rest = [f for key in sorted(self._summary.findings) for f in self._summary.take_rest(key)]
        if rest:
            yield '<section class="panel"><h2>About the file</h2><div class="body">'
            yield "".join(map(_note, rest))
            yield "</div></section>\n"

    def _part(self, name: str, gist: str) -> str:
        return (
            f'<details class="part panel" open><summary>{name} <span class="gist">{gist}</span></summary>'
            '<div class="body">'
        )

    def _rest(self) -> Iterator[str]:
        yield "".join(map(_note, self._summary.take_rest(self._key)))

    def _loop(self, loop: tree.Loop) -> str:
        is_unit = loop.node.id == self._unit
        faults: Counter[Severity] = Counter()
        if is_unit:
            faults = self._summary.faulty_units.get(self._key, {}).get(loop.position, faults)
        is_open = not (self._is_long and is_unit) or faults
        labels = "".join(
            f" {_label(severity, faults[severity])}"
            for severity in (Severity.ERROR, Severity.WARNING)
            if faults[severity]
        )
        return (
            f'<details class="loop{" unit" if is_unit else ""}"{" open" if is_open else ""}><summary>'
            f'<span class="lid">{visible(loop.node.id)}</span> {visible(loop.node.name)}'
            f'<span class="gist">{visible(self._gist(loop))}</span>{labels}</summary>'
        )

    def _gist(self, loop: tree.Loop) -> str:
        head = loop.items[0] if loop.items else None
        if not isinstance(head, list) or head[0] not in GISTS:
            return ""
        shown = self._shown(head, loop.node)
        texts = (tree.get_element(shown, at) for at in GISTS[head[0]])
        return " · ".join(filter(None, texts))[:GIST_CHARACTERS_MAX]

    def _shown(self, segment: tree.Segment, loop: grammar.LoopSpec | None) -> tree.Segment:
        return self._redactor.segment(segment, loop) if self._redactor else segment

    def _segment(self, event: OutlineSegment) -> Iterator[str]:
        self._line = self._set_line + event.position - 1 if event.position else self._line + 1
        findings = self._summary.take(self._key, event.position or self._line)
        loop, interchange = event.loop, event.interchange
        shown = self._shown(event.segment, loop.node if loop else None)
        described = describe_segment(shown, loop, interchange, self._line)
        raw = interchange.to_original("*".join(shown))
        is_open = bool(findings) or not (self._is_long or shown[0] in ENVELOPE)
        yield (
            f'<details class="seg" id="s{self._line}"{" open" if is_open else ""}><summary>'
            f'<span class="no">{self._line}</span><span class="sid">{visible(described.segment)}</span>'
            f'<span class="sname">{visible(described.name)}</span><span class="raw">{visible(raw)}</span></summary>'
        )
        if described.parts:
            marks = _marks(findings)
            names = self._fields(loop, event.segment) if self._fields else {}
            parts = (_element(part, marks, names, self._spell) for part in described.parts)
            yield f'<dl class="els">{"".join(parts)}</dl>'
        yield "".join(map(_note, findings)) + "</details>\n"


def _marks(findings: list[Finding]) -> dict[str, Severity]:
    """Return the severity by the place that findings name, the worst if several do."""
    marks: dict[str, Severity] = {}
    for finding in sorted(findings, key=lambda f: _ORDER[f.severity], reverse=True):
        position = finding.position
        if position is not None and position.element:
            component = f"-{position.component}" if position.component else ""
            marks[f"{position.segment_id}{position.element:02}{component}"] = finding.severity
    return marks


def _element(
    part: ElementDescription,
    marks: dict[str, Severity],
    names: Mapping[str, str],
    spell: Spell,
) -> str:
    place = part.place.split(" ")[0]
    mark = marks.get(place) or marks.get(place.split("-")[0])
    meaning = f'<dd class="m">{visible(spell(part.words))}</dd>' if part.words else ""
    if name := names.get(place):
        meaning += f'<dd class="f">from {visible(name)}</dd>'
    marked = f' class="{mark}"' if mark else ""
    return (
        f"<div{marked}><dt><b>{visible(part.place)}</b> {visible(part.name)}</dt>"
        f'<dd class="v">{visible(part.value)}</dd>{meaning}</div>'
    )


def _note(finding: Finding) -> str:
    return f'<p class="note {finding.severity}">{visible(finding.message)} <small>[{visible(finding.rule)}]</small></p>'


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
