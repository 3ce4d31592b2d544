"""Decode an eligibility request into structs, or into findings that name every error of its format.

    StepwiseCall(decode_stepwise(document))      # its result: DecodedRequest(request, findings, ignored)

    StepwiseCall(decode_stepwise(document))      # the same with pauses, for thousands of patients

Format errors are those that Vendor API V3 answers with 400: JSON, types, required fields, date formats. A finding's
location is a path of the document, ``BenefitInquiries[0].Payers[0].PayerId``. The number of patients is not checked.

Knows the field catalogue; knows no business rule and no response format.
"""

from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import msgspec

from clearlane.eligibility import json_struct
from clearlane.eligibility.fields import EligibilityRequest, RequestSubscriber
from clearlane.eligibility.json_struct import EligibilityType, JsonStruct
from clearlane.kernel import limits
from clearlane.kernel.client_dates import FORMS_IN_WORDS, parse_client_date
from clearlane.kernel.finding import Finding, Stage
from clearlane.kernel.json_names import decode_as_written, decode_in_order, fold_name, quote_json

ELIGIBILITY_VALUES_MAX = 2_000_000


DOCUMENT = "Document"
"""The location of findings about the document as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RequestFinding(Finding):
    """A finding about a request. Its message may quote the request, so its repr leaves the message out."""

    def __repr__(self) -> str:
        return f"RequestFinding({self.rule} {self.severity} at {self.location})"


@dataclass(frozen=True, slots=True)
class DecodedRequest:
    """The decoded document: a request or findings, and the paths of unknown fields."""

    request: EligibilityRequest | None
    findings: tuple[RequestFinding, ...] = ()
    ignored: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    """Paths of fields that came under two spellings; the last was taken."""


def decode_stepwise(document: bytes) -> Generator[None, None, DecodedRequest]:
    """Decode a document with a pause after each subscriber."""
    document = document.removeprefix(BOM_UTF8)
    # A hostile document of tiny values would take twenty times its size in memory.
    if sum(document.count(sign) for sign in b"{[,") > ELIGIBILITY_VALUES_MAX:
        message = f"A document holds {ELIGIBILITY_VALUES_MAX} values at most."
        return DecodedRequest(None, (_make_finding(DOCUMENT, message),))
    try:
        value = decode_as_written(document)
    except RecursionError:
        return DecodedRequest(
            None, (_make_finding(DOCUMENT, "The document is nested too deeply."),)
        )
    except (msgspec.DecodeError, UnicodeDecodeError):
        return DecodedRequest(
            None, (_make_finding(DOCUMENT, "The document is not valid JSON in UTF-8."),)
        )
    if not isinstance(value, dict):
        return DecodedRequest(
            None, (_make_finding(DOCUMENT, "The document must be a JSON object."),)
        )
    decoded = yield from _decode_value_of(value)
    if decoded.repeated and len(document) <= limits.SMALL_DOCUMENT_BYTES_MAX:
        # A dictionary keeps the place of a name's first use, and the last use decides.
        try:
            value = decode_in_order(document)
        except RecursionError:
            return DecodedRequest(
                None, (_make_finding(DOCUMENT, "The document is nested too deeply."),)
            )
        decoded = yield from _decode_value_of(value)
    return decoded


def _decode_value_of(value: dict[str, Any]) -> Generator[None, None, DecodedRequest]:
    collector = _Collector()
    request: Any = None
    try:
        request = yield from _decode_struct(EligibilityRequest, value, "", collector)
    except _TooManyFindingsError:
        collector.findings.append(
            _make_finding(DOCUMENT, "There are more errors than can be listed.")
        )
    return DecodedRequest(
        None if collector.findings else request,
        tuple(collector.findings),
        tuple(collector.ignored),
        tuple(collector.repeated),
    )


# --- structs --------------------------------------------------------------------------------------


class _TooManyFindingsError(Exception):
    """Raised when the limit of findings is reached, to stop decoding."""


@dataclass(slots=True)
class _Collector:
    """Findings and unknown fields collected while decoding."""

    findings: list[RequestFinding] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)

    def add_finding(self, path: str, message: str) -> None:
        if len(self.findings) >= limits.SHAPE_FINDINGS_MAX:
            raise _TooManyFindingsError
        self.findings.append(_make_finding(path, message))

    def ignore(self, path: str) -> None:
        if len(self.ignored) < limits.IGNORED_FIELDS_SHOWN_MAX:
            self.ignored.append(path)

    def repeat(self, path: str) -> None:
        if len(self.repeated) < limits.IGNORED_FIELDS_SHOWN_MAX:
            self.repeated.append(path)


class _FieldDecoder(NamedTuple):
    """How one field of a struct is decoded."""

    name: str
    required: bool
    read: Callable[[Any], Any]
    message: str
    """The message for an invalid value."""
    many: bool = False
    part: type[JsonStruct] | None = None
    """The struct that the field holds, once or as an array."""


def _decode_struct(
    cls: type[JsonStruct], value: dict[str, Any], path: str, collector: _Collector
) -> Generator[None, None, JsonStruct | None]:
    """Decode one object. Returns None after any finding; collects all findings."""
    found: dict[str, Any] = {}
    decoders = _field_decoders(cls)
    before = len(collector.findings)
    for name, (decoder, item) in _take_fields(cls, value, path, collector).items():
        if item.__class__ is str and not item.strip():
            continue
        elif decoder.part is None:
            found[name] = _decode_value(decoder, item, path + name, collector)
        else:
            found[name] = yield from (_decode_structs if decoder.many else _decode_nested)(
                decoder, item, path + name, collector
            )
    required = [decoder.name for decoder in decoders.values() if decoder.required]
    if cls is RequestSubscriber:
        required += _required_names(found)
        yield
    for name in required:
        if name not in found:
            collector.add_finding(path + name, f"The {name} field is required.")
    return cls(**found) if len(collector.findings) == before else None


def _take_fields(
    cls: type[JsonStruct], value: dict[str, Any], path: str, collector: _Collector
) -> dict[str, tuple[_FieldDecoder, Any]]:
    """Return the known fields of an object, the last spelling of each that is not null."""
    decoders = _field_decoders(cls)
    sent: dict[str, tuple[_FieldDecoder, Any]] = {}
    for spelling, item in value.items():
        decoder = decoders.get(spelling) or _folded_decoders(cls).get(fold_name(spelling))
        if decoder is None:
            collector.ignore(path + spelling[: limits.IGNORED_FIELD_CHARACTERS_MAX])
            continue
        if item is None:
            continue  # missing: it hides no value under another spelling
        if decoder.name in sent:
            collector.repeat(path + decoder.name)
        sent[decoder.name] = decoder, item  # of two spellings the last wins
    return sent


def _decode_value(decoder: _FieldDecoder, item: Any, path: str, collector: _Collector) -> Any:
    decoded = decoder.read(item)
    if decoded is _INVALID:
        collector.add_finding(
            path, decoder.message.format(value=quote_json(item), field=decoder.name)
        )
    return decoded


def _decode_nested(
    decoder: _FieldDecoder, item: Any, path: str, collector: _Collector
) -> Generator[None, None, JsonStruct | None]:
    assert decoder.part is not None, "an object field has a struct type"
    if item.__class__ is not dict:
        collector.add_finding(path, f"The {decoder.name} field must be an object.")
        return None
    return (yield from _decode_struct(decoder.part, item, path + ".", collector))


def _decode_structs(
    decoder: _FieldDecoder, items: Any, path: str, collector: _Collector
) -> Generator[None, None, Any]:
    if items.__class__ is not list:
        collector.add_finding(path, f"The {decoder.name} field must be an array.")
        return ()
    found = []
    for at, item in enumerate(items):
        found.append((yield from _decode_nested(decoder, item, f"{path}[{at}]", collector)))
    if decoder.required and not found:
        collector.add_finding(path, f"The {decoder.name} field needs at least one element.")
    return tuple(found)


def _required_names(subscriber: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the name fields that a subscriber must have: a patient needs them, a dependent's subscriber does not."""
    is_patient = subscriber.get("RequestedBenefits") or not subscriber.get("Dependents")
    return ("CommonName", "FirstName") if is_patient else ()


# --- values ---------------------------------------------------------------------------------------

_INVALID = object()
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
_BITS = {1: True, 0: False}


def _text(value: Any) -> Any:
    """Return a text; a whole number as its digits."""
    if value.__class__ is str:
        return value.strip()
    is_number = value.__class__ is int and value.bit_length() <= limits.NUMBER_AS_TEXT_BITS_MAX
    return str(value) if is_number else _INVALID


def _texts(value: Any) -> Any:
    """Return an array of texts without its blank elements."""
    if value.__class__ is not list:
        return _INVALID
    found = tuple(_text(item) for item in value if item is not None)
    return _INVALID if _INVALID in found else tuple(filter(None, found))


def _boolean(value: Any) -> Any:
    if value is True or value is False:
        return value
    if value.__class__ is int:
        return _BITS.get(value, _INVALID)
    found = _BOOLEANS.get(value.strip().lower()) if value.__class__ is str else None
    return _INVALID if found is None else found


def _date(value: Any) -> date | object:
    return (parse_client_date(value) if value.__class__ is str else None) or _INVALID


_NO_DATE = f"The value {{value}} is not a valid date: write it {FORMS_IN_WORDS}."

_DECODERS: Mapping[EligibilityType, tuple[Callable[[Any], Any], str]] = {
    EligibilityType.TEXT: (_text, "The value {value} is not a string."),
    EligibilityType.TEXTS: (_texts, "The {field} field must be an array of strings."),
    EligibilityType.BOOLEAN: (_boolean, "The value {value} is not true or false."),
    EligibilityType.DATE: (_date, _NO_DATE),
    EligibilityType.BIRTH_DATE: (_date, _NO_DATE),
}  # fmt: skip


@cache
def _folded_decoders(cls: type[JsonStruct]) -> dict[str, _FieldDecoder]:
    return {fold_name(name): decoder for name, decoder in _field_decoders(cls).items()}


@cache
def _field_decoders(cls: type[JsonStruct]) -> dict[str, _FieldDecoder]:
    return {
        name: _field_decoder(cls, name, spec)
        for name, spec in json_struct.eligibility_fields(cls).items()
    }


def _field_decoder(
    cls: type[JsonStruct], name: str, spec: json_struct.EligibilityField
) -> _FieldDecoder:
    if spec.type in _DECODERS:
        decode, message = _DECODERS[spec.type]
        return _FieldDecoder(name, spec.required, decode, message)
    many = spec.type is EligibilityType.OBJECTS
    return _FieldDecoder(name, spec.required, _text, "", many, json_struct.nested_struct(cls, name))


# --- texts ----------------------------------------------------------------------------------------


def _make_finding(location: str, message: str) -> RequestFinding:
    return RequestFinding(rule="shape", message=message, stage=Stage.SHAPE, location=location)
