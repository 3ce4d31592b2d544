"""Decode an enrollment request into enrollments, or into findings that name every error at once.

A finding's location is a path of the document, such as ``Enrollments[0].Npi``, or ``Document`` for the body as a
whole. The array is first split into raw elements, so that the caller can decode a few at a time and let other
work run in between. Knows no response format.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

import msgspec

from clearlane.enrollment.fields import FIELDS, Enrollment, TextFormat, TypeOfNpi
from clearlane.enrollment.rules import (
    NOT_READABLE,
    NOT_UNIQUE,
    REQUIRED,
    WRONG_FORM,
    check_fields,
    make_finding,
    parse_npi_type,
)
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.kernel.json_names import (
    NumberText,
    decode_as_written,
    find_fields,
    fold_name,
    fold_names,
    is_null,
    sort_by_last_use,
    take_fields,
)

ENROLLMENT_BYTES_MAX = 128 * 1024


DOCUMENT, VERSION, ENROLLMENTS = "Document", "Version", "Enrollments"
VERSION_READ = 1


@dataclass(frozen=True, slots=True, repr=False)
class EnrollmentDocument:
    """A request split into raw elements: at most one more than the limit, which proves that it is exceeded."""

    elements: Sequence[msgspec.Raw] = ()
    findings: tuple[Finding, ...] = ()
    ignored: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    """Fields that came under two spellings; the last was taken."""


@dataclass(frozen=True, slots=True)
class DecodedEnrollment:
    """One decoded element: an enrollment, or the findings that prevent it."""

    enrollment: Enrollment | None
    findings: tuple[Finding, ...] = ()
    ignored: tuple[str, ...] = ()
    request_id: str = field(default="", repr=False)
    """The caller's id, also of an element with findings, so that a repeated id is found."""
    repeated: tuple[str, ...] = ()
    """Paths of fields that came under two spellings; the last was taken."""


def split_request(
    body: bytes, *, enrollments_max: int = limits.ENROLLMENTS_PER_REQUEST_MAX
) -> EnrollmentDocument:
    """Split a request into raw elements; findings concern the request itself."""
    try:
        request, ignored, repeated = _request_fields(body)
    except msgspec.ValidationError:
        return _unreadable("The document must be a JSON object.")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _unreadable("The document is not valid JSON in UTF-8.")
    findings = [*_check_version(request.Version)]
    elements: Sequence[msgspec.Raw] = ()
    try:
        elements = _split_array(request.Enrollments, enrollments_max + 1)
    except (msgspec.DecodeError, RecursionError):
        message = "The Enrollments field must be an array of enrollments."
        findings.append(make_finding(NOT_READABLE, ENROLLMENTS, message))
    else:
        if not elements:
            message = "At least one enrollment is required."
            findings.append(make_finding(REQUIRED, ENROLLMENTS, message))
    return EnrollmentDocument(
        elements, tuple(findings), ignored[: limits.IGNORED_FIELDS_SHOWN_MAX], repeated
    )


def decode_enrollment(raw: bytes, at: str) -> DecodedEnrollment:
    """Decode one element of the array. Null, an empty text and blanks count as missing."""
    if len(raw) > ENROLLMENT_BYTES_MAX:
        message = f"An enrollment may take {ENROLLMENT_BYTES_MAX} bytes at most."
        return DecodedEnrollment(None, (make_finding(NOT_READABLE, at, message),))
    try:
        fields_sent = _decode_object(raw)
        sent, ignored, repeated = _known_fields(fields_sent)
        if repeated:
            sent, *_ = _known_fields(sort_by_last_use(raw, fields_sent))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        is_json = isinstance(error, msgspec.ValidationError)
        message = f"An enrollment must be {'a JSON object' if is_json else 'valid JSON in UTF-8'}."
        return DecodedEnrollment(None, (make_finding(NOT_READABLE, at, message),))
    ignored = tuple(f"{at}.{name}" for name in ignored)
    values = {name: _as_text(name, sent[name]) for name in FIELDS if not _is_blank(sent.get(name))}
    numbers = {f"{at}.{name}" for name, value in values.items() if value is not sent[name]}
    findings = tuple(_explain_number(each, numbers) for each in check_fields(values, at))
    id = values.get("RequestId")
    return DecodedEnrollment(
        None if findings else _build(values),
        findings,
        ignored[: limits.IGNORED_FIELDS_SHOWN_MAX],
        id if isinstance(id, str) else "",
        tuple(f"{at}.{name}" for name in repeated),
    )


def find_repeated_ids(enrollments: Iterable[DecodedEnrollment]) -> list[Finding]:
    """Return a finding for each repeated RequestId of a request, after its first use."""
    first: dict[str, int] = {}
    findings = []
    for index, enrollment in enumerate(enrollments):
        if enrollment.request_id and first.setdefault(enrollment.request_id, index) != index:
            message = (
                f"The RequestId is that of Enrollments[{first[enrollment.request_id]}] already; "
                "it must be unique within the request."
            )
            findings.append(make_finding(NOT_UNIQUE, f"{ENROLLMENTS}[{index}].RequestId", message))
    return findings


def encode(enrollment: Enrollment) -> bytes:
    """Return an enrollment as the vault stores it: the filled fields as JSON."""
    values = {entry.name: getattr(enrollment, entry.name) for entry in fields(enrollment)}
    return msgspec.json.encode({name: value for name, value in values.items() if value is not None})


def restore(stored: bytes) -> Enrollment:
    """Return the enrollment that :func:`encode` was given."""
    return _build(msgspec.json.decode(stored, type=dict[str, str]))


def _build(values: Mapping[str, Any]) -> Enrollment:
    type = parse_npi_type(values["NpiType"])
    return Enrollment(**{**values, "NpiType": type or TypeOfNpi.UNKNOWN})


_FOLDED_NAMES = fold_names(FIELDS)
_FOLDED_TOP_NAMES = fold_names((VERSION, ENROLLMENTS))


def _decode_object(raw: bytes) -> dict[str, Any]:
    value = decode_as_written(raw)
    if not isinstance(value, dict):
        raise msgspec.ValidationError("not an object")
    return value


def _known_fields(
    sent: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Return the values by exact name, the last spelling of each, the names of no field, and those with two spellings."""
    known: dict[str, Any] = {}
    ignored, repeated = [], []
    for spelling, value in sent.items():
        name = spelling if spelling in FIELDS else _FOLDED_NAMES.get(fold_name(spelling))
        if name is None:
            ignored.append(spelling)
            continue
        if value is None:
            continue  # missing: it hides no value under another spelling
        if name in known:
            repeated.append(name)
        known[name] = value
    return known, tuple(ignored), tuple(dict.fromkeys(repeated))


def _as_text(name: str, value: Any) -> Any:
    """Return a number as its digits; the type of NPI has numbers of its own."""
    is_number = type(value) is NumberText or (
        type(value) is int and value.bit_length() <= limits.NUMBER_AS_TEXT_BITS_MAX
    )
    return str(value) if is_number and FIELDS[name].format is not TextFormat.NPI_TYPE else value


def _explain_number(finding: Finding, numbers: Collection[str]) -> Finding:
    if finding.location not in numbers or finding.rule != WRONG_FORM:
        return finding
    return replace(finding, message=f"{finding.message} {NO_LEADING_ZEROS}")


NO_LEADING_ZEROS = "It came as a JSON number, which has no leading zeros; send it as text."

RawField = msgspec.Raw | msgspec.UnsetType


class _RequestFields(msgspec.Struct):
    """The two fields of a request as raw JSON."""

    Version: RawField = msgspec.UNSET
    Enrollments: RawField = msgspec.UNSET


def _request_fields(body: bytes) -> tuple[_RequestFields, tuple[str, ...], tuple[str, ...]]:
    """Return the two fields, the names of unknown fields, and those that came under two spellings."""
    # A large document could hold millions of unknown names, so they are not collected.
    if len(body) > limits.SMALL_DOCUMENT_BYTES_MAX:
        exact = msgspec.json.decode(body, type=_RequestFields)
        if not any(_is_missing(each) for each in (exact.Version, exact.Enrollments)):
            return exact, (), ()
        return _spelled_fields(find_fields(body, (VERSION, ENROLLMENTS)))
    sent = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    found = _spelled_fields(sent)
    return _spelled_fields(sort_by_last_use(body, sent)) if found[2] else found


def _spelled_fields(
    sent: Mapping[str, msgspec.Raw],
) -> tuple[_RequestFields, tuple[str, ...], tuple[str, ...]]:
    taken = take_fields(sent, _FOLDED_TOP_NAMES)
    return _RequestFields(**taken.fields), taken.unknown, tuple(dict.fromkeys(taken.repeated))


def _is_missing(raw: RawField) -> bool:
    return raw is msgspec.UNSET or is_null(raw)


def _check_version(raw: RawField) -> Iterable[Finding]:
    value = None if raw is msgspec.UNSET else _decode_value(raw)
    if value is None:
        yield make_finding(REQUIRED, VERSION, "The Version field is required; it must be 1.")
    elif not (type(value) is int and value == VERSION_READ) and value != str(VERSION_READ):
        yield make_finding(NOT_READABLE, VERSION, "The Version field must be the number 1.")


def _decode_value(raw: msgspec.Raw) -> object:
    """Return the value of a field; an empty text, which no check accepts, if it cannot be decoded."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return ""


def _split_array(raw: RawField, limit: int) -> Sequence[msgspec.Raw]:
    """Return the first elements of the array without copying them."""
    if raw is msgspec.UNSET or is_null(raw):
        return ()
    slots = msgspec.json.decode(raw, type=_array_prefix(limit))
    return [item for item in msgspec.structs.astuple(slots) if item is not msgspec.UNSET]


@cache
def _array_prefix(count: int) -> type[msgspec.Struct]:
    """Return a type that decodes only the first ``count`` elements of an array.

    msgspec skips the rest of an array-like struct; a list would hold millions of elements in memory.
    """
    slots = [(f"e{index}", RawField, msgspec.UNSET) for index in range(count)]
    return msgspec.defstruct("Slots", slots, array_like=True)


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _unreadable(message: str) -> EnrollmentDocument:
    return EnrollmentDocument(findings=(make_finding(NOT_READABLE, DOCUMENT, message),))
