"""An enrollment request becomes enrollments, or findings that tell every fault at once.

A location is the document's own key, such as ``Enrollments[0].Npi``; what is wrong with the body as a
whole stands at ``Document``. The array is cut into raw elements first, so that the caller reads a few
at a time and lets others run in between. Knows no answer's form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import msgspec

from clearlane.enrollment.fields import ROWS, Enrollment, TypeOfNpi
from clearlane.enrollment.rules import (
    NOT_READABLE,
    NOT_UNIQUE,
    REQUIRED,
    faults,
    finding,
    npi_type,
)
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding

DOCUMENT, VERSION, ENROLLMENTS = "Document", "Version", "Enrollments"
VERSION_READ = 1


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """A request cut into raw elements: at most one more than the limit."""

    raws: Sequence[msgspec.Raw] = ()
    findings: tuple[Finding, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """What one raw element became."""

    enrollment: Enrollment | None
    findings: tuple[Finding, ...] = ()
    ignored: tuple[str, ...] = ()
    request_id: str = field(default="", repr=False)
    """The caller's id, also of an element with faults, so that a second use of it is told."""


def open_request(
    body: bytes, *, enrollments_max: int = limits.ENROLLMENTS_PER_REQUEST_MAX
) -> Opened:
    """Cut a request; what is wrong with the request itself is in the findings."""
    try:
        top, ignored = _top(body)
    except msgspec.ValidationError:
        return _unreadable("The document must be a JSON object.")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _unreadable("The document is not valid JSON in UTF-8.")
    findings = [*_version(top.Version)]
    raws: Sequence[msgspec.Raw] = ()
    try:
        raws = _cut(top.Enrollments, enrollments_max + 1)
    except (msgspec.DecodeError, RecursionError):
        message = "The Enrollments field must be an array of enrollments."
        findings.append(finding(NOT_READABLE, ENROLLMENTS, message))
    else:
        if not raws:
            message = "At least one enrollment is required."
            findings.append(finding(REQUIRED, ENROLLMENTS, message))
    return Opened(raws, tuple(findings), ignored[: limits.IGNORED_FIELDS_SHOWN_MAX])


def read_enrollment(raw: bytes, at: str) -> Read:
    """One element of the array. Null, an empty text and blanks count as missing."""
    if len(raw) > limits.ENROLLMENT_BYTES_MAX:
        message = f"An enrollment may take {limits.ENROLLMENT_BYTES_MAX} bytes at most."
        return Read(None, (finding(NOT_READABLE, at, message),))
    try:
        found = msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as why:
        is_json = isinstance(why, msgspec.ValidationError)
        message = f"An enrollment must be {'a JSON object' if is_json else 'valid JSON in UTF-8'}."
        return Read(None, (finding(NOT_READABLE, at, message),))
    ignored = tuple(f"{at}.{name}" for name in found if name not in ROWS)
    values = {name: found[name] for name in ROWS if not _is_blank(found.get(name))}
    wrong = tuple(faults(values, at))
    id = values.get("RequestId")
    return Read(
        None if wrong else _made(values),
        wrong,
        ignored[: limits.IGNORED_FIELDS_SHOWN_MAX],
        id if isinstance(id, str) else "",
    )


def repeated(reads: Iterable[Read]) -> list[Finding]:
    """The ids that stand in one request more than once: each use after the first."""
    first: dict[str, int] = {}
    found = []
    for at, read in enumerate(reads):
        if read.request_id and first.setdefault(read.request_id, at) != at:
            message = (
                f"The RequestId is that of Enrollments[{first[read.request_id]}] already; "
                "it must be unique within the request."
            )
            found.append(finding(NOT_UNIQUE, f"{ENROLLMENTS}[{at}].RequestId", message))
    return found


def encode(enrollment: Enrollment) -> bytes:
    """An enrollment as the vault keeps it: the filled fields."""
    values = {line.name: getattr(enrollment, line.name) for line in fields(enrollment)}
    return msgspec.json.encode({name: value for name, value in values.items() if value is not None})


def restore(stored: bytes) -> Enrollment:
    """An enrollment from the text that :func:`encode` made of it."""
    return _made(msgspec.json.decode(stored, type=dict[str, str]))


def _made(values: Mapping[str, Any]) -> Enrollment:
    type = npi_type(values["NpiType"])
    return Enrollment(**{**values, "NpiType": type or TypeOfNpi.UNKNOWN})


Cut = msgspec.Raw | msgspec.UnsetType


class _Top(msgspec.Struct):
    """The two fields of a request, unread."""

    Version: Cut = msgspec.UNSET
    Enrollments: Cut = msgspec.UNSET


def _top(body: bytes) -> tuple[_Top, tuple[str, ...]]:
    """The two fields, and the names of fields nobody knows."""
    # A large document could hold millions of names: nobody asks for them.
    if len(body) > limits.SMALL_DOCUMENT_BYTES_MAX:
        return msgspec.json.decode(body, type=_Top), ()
    found = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    known = _Top(found.pop(VERSION, msgspec.UNSET), found.pop(ENROLLMENTS, msgspec.UNSET))
    return known, tuple(found)


def _version(raw: Cut) -> Iterable[Finding]:
    value = None if raw is msgspec.UNSET else _plain(raw)
    if value is None:
        yield finding(REQUIRED, VERSION, "The Version field is required; it must be 1.")
    elif value != VERSION_READ or type(value) is not int:
        yield finding(NOT_READABLE, VERSION, "The Version field must be the number 1.")


def _plain(raw: msgspec.Raw) -> object:
    """The value of a field; a text that cannot be read is no value that anybody wants."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return ""


def _cut(raw: Cut, most: int) -> Sequence[msgspec.Raw]:
    """The first elements of the array, uncopied."""
    if raw is msgspec.UNSET or bytes(memoryview(raw)[:5]).strip() == b"null":
        return ()
    slots = msgspec.json.decode(raw, type=_slots(most))
    return [item for item in msgspec.structs.astuple(slots) if item is not msgspec.UNSET]


@cache
def _slots(count: int) -> type[msgspec.Struct]:
    """So many elements of an array; the others are skipped, because a list would hold millions of them."""
    lines = [(f"e{at}", Cut, msgspec.UNSET) for at in range(count)]
    return msgspec.defstruct("Slots", lines, array_like=True)


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _unreadable(message: str) -> Opened:
    return Opened(findings=(finding(NOT_READABLE, DOCUMENT, message),))
