"""An eligibility request becomes structures, or findings that tell every fault of its shape.

    read(document)                       # Read(request, findings, ignored)

    Steps(reading(document))             # the same with pauses, for thousands of patients

Shape is what the interface answers with 400: JSON, types, required fields, date forms. A finding's location is
the document's own key, ``BenefitInquiries[0].Payers[0].PayerId``. Too many patients are no fault of shape.

Knows the catalogue; knows no rule of the trade and no answer's form.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import msgspec

from clearlane.eligibility import wire_struct
from clearlane.eligibility.fields import EligibilityRequest, Subscriber
from clearlane.eligibility.stepwise import finish
from clearlane.eligibility.wire_struct import Kind, Shape
from clearlane.kernel import formats, limits
from clearlane.kernel.finding import Finding, Stage

DOCUMENT = "Document"
"""The location of what is wrong with the document as a whole."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RequestFinding(Finding):
    """A finding about a request. Its sentence may quote what was sent, so it does not print it."""

    def __repr__(self) -> str:
        return f"RequestFinding({self.rule} {self.severity} at {self.location})"


@dataclass(frozen=True, slots=True)
class Read:
    """What a document became: a request or findings, and the paths of fields nobody knows."""

    request: EligibilityRequest | None
    findings: tuple[RequestFinding, ...] = ()
    ignored: tuple[str, ...] = ()


def read(document: bytes) -> Read:
    """A whole document at once."""
    return finish(reading(document))


def reading(document: bytes) -> Generator[None, None, Read]:
    """The same with a pause after each subscriber."""
    document = document.removeprefix(BYTE_ORDER_MARK)
    # A hostile document of tiny values would take twenty times its size in memory.
    if sum(document.count(sign) for sign in b"{[,") > limits.ELIGIBILITY_VALUES_MAX:
        most = f"A document holds {limits.ELIGIBILITY_VALUES_MAX} values at most."
        return Read(None, (_fault(DOCUMENT, most),))
    try:
        value = msgspec.json.decode(document)
    except RecursionError:
        return Read(None, (_fault(DOCUMENT, "The document is nested too deeply."),))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Read(None, (_fault(DOCUMENT, "The document is not valid JSON in UTF-8."),))
    if not isinstance(value, dict):
        return Read(None, (_fault(DOCUMENT, "The document must be a JSON object."),))
    out = _Out()
    try:
        request: Any = yield from _part(EligibilityRequest, value, "", out)
    except _EnoughError:
        out.findings.append(_fault(DOCUMENT, "There are more faults than can be told."))
    return Read(None if out.findings else request, tuple(out.findings), tuple(out.ignored))


# --- the walk -------------------------------------------------------------------------------------


class _EnoughError(Exception):
    """So many faults that the others are not told."""


@dataclass(slots=True)
class _Out:
    """What is found on the way."""

    findings: list[RequestFinding] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def fault(self, path: str, message: str) -> None:
        if len(self.findings) >= limits.SHAPE_FINDINGS_MAX:
            raise _EnoughError
        self.findings.append(_fault(path, message))

    def ignore(self, path: str) -> None:
        if len(self.ignored) < limits.IGNORED_FIELDS_SHOWN_MAX:
            self.ignored.append(path)


class _Row(NamedTuple):
    """One field of a structure, ready to be read."""

    name: str
    required: bool
    read: Callable[[Any], Any]
    words: str
    """What is said of a value that is refused."""
    many: bool = False
    part: type[Shape] | None = None
    """The structure that the field holds, once or many times."""


def _part(
    cls: type[Shape], value: dict[str, Any], path: str, out: _Out
) -> Generator[None, None, Shape | None]:
    """One structure. None where a required field is missing; every fault is told."""
    found: dict[str, Any] = {}
    rows = _rows(cls)
    before = len(out.findings)
    for name, item in value.items():
        row = rows.get(name)
        if row is None:
            out.ignore(path + name[: limits.IGNORED_FIELD_CHARACTERS_MAX])
        elif item is None or (item.__class__ is str and not item.strip()):
            continue
        elif row.part is None:
            found[name] = _value(row, item, path + name, out)
        else:
            found[name] = yield from (_parts if row.many else _one)(row, item, path + name, out)
    wanted = [row.name for row in rows.values() if row.required]
    if cls is Subscriber:
        wanted += _wanted_names(found)
        yield
    for name in wanted:
        if name not in found:
            out.fault(path + name, f"The {name} field is required.")
    return cls(**found) if len(out.findings) == before else None


def _value(row: _Row, item: Any, path: str, out: _Out) -> Any:
    taken = row.read(item)
    if taken is _REFUSED:
        out.fault(path, row.words.format(value=_quoted(item), field=row.name))
    return taken


def _one(row: _Row, item: Any, path: str, out: _Out) -> Generator[None, None, Shape | None]:
    assert row.part is not None, "a field of structures names its structure"
    if item.__class__ is not dict:
        out.fault(path, f"The {row.name} field must be an object.")
        return None
    return (yield from _part(row.part, item, path + ".", out))


def _parts(row: _Row, items: Any, path: str, out: _Out) -> Generator[None, None, Any]:
    if items.__class__ is not list:
        out.fault(path, f"The {row.name} field must be an array.")
        return ()
    found = []
    for at, item in enumerate(items):
        found.append((yield from _one(row, item, f"{path}[{at}]", out)))
    if row.required and not found:
        out.fault(path, f"The {row.name} field needs at least one element.")
    return tuple(found)


def _wanted_names(subscriber: Mapping[str, Any]) -> tuple[str, ...]:
    """Who is asked about has a name; the subscriber of a dependent need not tell it."""
    asked = subscriber.get("RequestedBenefits") or not subscriber.get("Dependents")
    return ("CommonName", "FirstName") if asked else ()


# --- values ---------------------------------------------------------------------------------------

_REFUSED = object()
_TRUTHS = {"true": True, "false": False}


def _text(value: Any) -> Any:
    return value.strip() if value.__class__ is str else _REFUSED


def _texts(value: Any) -> Any:
    """An array of texts; blanks in it count as left out."""
    if value.__class__ is not list:
        return _REFUSED
    found = tuple(_text(item) for item in value if item is not None)
    return _REFUSED if _REFUSED in found else tuple(filter(None, found))


def _flag(value: Any) -> Any:
    if value is True or value is False:
        return value
    found = _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else None
    return _REFUSED if found is None else found


def _day(value: Any) -> date | object:
    found = formats.iso_date(value.strip()) if isinstance(value, str) else None
    return found or _REFUSED


def _birth(value: Any) -> date | object:
    """A day in either form, never in a mixture of both."""
    if isinstance(value, str) and "/" in value and "-" not in value:
        return _day(value.replace("/", "-"))
    return _day(value)


_READERS: Mapping[Kind, tuple[Callable[[Any], Any], str]] = {
    Kind.TEXT: (_text, "The value {value} is not a string."),
    Kind.TEXTS: (_texts, "The {field} field must be an array of strings."),
    Kind.FLAG: (_flag, "The value {value} is not true or false."),
    Kind.DAY: (_day, "The value {value} is not a valid date in the format yyyy-mm-dd."),
    Kind.BIRTH: (
        _birth, "The value {value} is not a valid date in the format yyyy-mm-dd or yyyy/mm/dd."
    ),
}  # fmt: skip


@cache
def _rows(cls: type[Shape]) -> dict[str, _Row]:
    return {name: _row(cls, name, line) for name, line in wire_struct.lines(cls).items()}


def _row(cls: type[Shape], name: str, line: wire_struct.Line) -> _Row:
    if line.kind in _READERS:
        take, words = _READERS[line.kind]
        return _Row(name, line.required, take, words)
    many = line.kind is Kind.PARTS
    return _Row(name, line.required, _text, "", many, wire_struct.inner(cls, name))


# --- words ----------------------------------------------------------------------------------------


def _fault(location: str, message: str) -> RequestFinding:
    return RequestFinding(rule="shape", message=message, stage=Stage.SHAPE, location=location)


def _quoted(value: object) -> str:
    """A refused value as the answer shows it: short, and never a whole object."""
    if isinstance(value, list):
        return "[...]"
    if isinstance(value, dict):
        return "{...}"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"'{text[: limits.QUOTED_CHARACTERS_MAX]}'"
