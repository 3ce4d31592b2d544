"""Decode a submission document into claims, or into findings about its shape.

Shape is what the interface refuses with status 400: JSON, types, required fields, date formats. A finding's
location is the path in the document, ``Claims[1].F24_ClaimLines[0].F24A_DateOfServiceFrom``.

A large document is split into raw claims first, so that no call blocks the event loop for long: the caller
decodes a few claims at a time and yields in between.

Knows no claim rule and no response format.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Any

import msgspec
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from clearlane.claims.fields import (
    Claim,
    ClaimPart,
    JsonClaim,
    drop_empty_fields,
    nested_parts,
)
from clearlane.claims.finding import (
    ClaimFinding,
    count_findings,
    limit_shape_findings,
    shape_finding,
)
from clearlane.claims.forms import FORMS, AnyForm
from clearlane.claims.kinds import X12
from clearlane.claims.read.repairs import Repair
from clearlane.claims.read.tolerant_reading import (
    OTHER_NAMES,
    REPEATED,
    is_known_in_another_case,
    read_tolerantly,
)
from clearlane.claims.x12_claim import decode_x12_claim
from clearlane.kernel import limits
from clearlane.kernel.json_names import (
    decode_as_written,
    find_fields,
    fold_name,
    fold_names,
    is_null,
    quote_json,
    show_json,
    sort_by_last_use,
    take_fields,
)

CLAIM_BYTES_MAX = 512 * 1024


DOCUMENT = "Document"
"""The location of a finding about the document as a whole."""


@dataclass(frozen=True, slots=True)
class DecodedClaim:
    """The result of decoding one raw claim: a claim or findings, and the paths of unknown fields."""

    claim: JsonClaim | None
    findings: tuple[ClaimFinding, ...] = ()
    ignored_fields: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    """Values that were read in another form than they were sent."""


@dataclass(slots=True)
class _ReadingState:
    """What the claims of a document that were read mean for those to come."""

    findings_left: int = limits.SHAPE_FINDINGS_MAX
    findings_left_out: int = 0
    has_other_names: bool = False
    """Whether a claim had names in another case: the next ones are read tolerantly at once."""

    def limit(self, findings: tuple[ClaimFinding, ...]) -> tuple[ClaimFinding, ...]:
        """Return the findings that the document may still list; count the others."""
        listed = findings[: self.findings_left]
        self.findings_left -= len(listed)
        self.findings_left_out += count_findings(findings[len(listed) :])
        return listed


@dataclass(frozen=True, slots=True, repr=False)
class SubmissionDocument:
    """A document split into raw claims. ``count`` exceeds the limit by at most one."""

    form: AnyForm
    raw_claims: Sequence[msgspec.Raw] = ()
    findings: tuple[ClaimFinding, ...] = ()
    ignored_fields: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    """What was tolerated of the document itself; recorded with each of its claims."""
    state: _ReadingState = field(default_factory=_ReadingState)

    @property
    def count(self) -> int:
        """The number of claims in the document."""
        return len(self.raw_claims)

    def reopened(self) -> "SubmissionDocument":
        """Return the document as it was before its claims were read."""
        return replace(self, state=_ReadingState())

    def read(self, start: int, stop: int) -> list[DecodedClaim]:
        """Decode the claims from ``start`` up to ``stop``, in the order of the document.

        After ten thousand findings the others are counted, and the last claim has one that says how many.
        """
        found: list[DecodedClaim] = []
        state = self.state
        for at, raw in enumerate(self.raw_claims[start:stop], start):
            other_names = state.has_other_names
            read = read_claim(self.form, bytes(raw), f"Claims[{at}]", other_names=other_names)
            if self.repairs:
                read = replace(read, repairs=(*self.repairs, *read.repairs))
            state.has_other_names = other_names or OTHER_NAMES in read.repairs
            if read.findings:
                read = replace(read, findings=state.limit(read.findings), claim=None)
            if state.findings_left_out and at == self.count - 1:
                read = replace(read, findings=(*read.findings, _left_out(state)), claim=None)
            found.append(read)
        return found


def open_document(
    body: bytes, form: AnyForm, *, claims_max: int = limits.CLAIMS_PER_DOCUMENT_MAX
) -> SubmissionDocument:
    """Split a document into raw claims; findings are about the document itself."""
    body = body.removeprefix(BOM_UTF8)
    try:
        top, ignored_fields = _top(body, claims_max)
        findings = list(_document_type(top.DocumentType, form))
    except msgspec.ValidationError:
        return SubmissionDocument(
            form, findings=(shape_finding(DOCUMENT, "The document must be a JSON object."),)
        )
    except RecursionError:
        return SubmissionDocument(
            form, findings=(shape_finding(DOCUMENT, "The document is nested too deeply."),)
        )
    except (msgspec.DecodeError, UnicodeDecodeError):
        return SubmissionDocument(
            form,
            findings=(shape_finding(DOCUMENT, "The document is not valid JSON in UTF-8."),),
        )
    raws: Sequence[msgspec.Raw] = ()
    try:
        raws = top.cut or _slices(top.Claims, claims_max)
    except (msgspec.DecodeError, RecursionError):
        findings.append(shape_finding("Claims", "The Claims field must be an array of claims."))
    else:
        if not raws:
            findings.append(shape_finding("Claims", "At least one claim is required."))
    repairs = tuple(Repair(name, REPEATED) for name in top.repeated)
    return SubmissionDocument(form, raws, tuple(findings), ignored_fields, repairs)


def read_document(body: bytes, form: AnyForm) -> tuple[SubmissionDocument, list[DecodedClaim]]:
    """Open a document and decode all its claims at once, for small documents and offline work."""
    document = open_document(body, form)
    return document, document.read(0, document.count)


def read_claim(form: AnyForm, raw: bytes, at: str, *, other_names: bool = False) -> DecodedClaim:
    """Decode one claim from its JSON; ``other_names`` says that exact names are not to be expected."""
    if len(raw) > CLAIM_BYTES_MAX:
        message = f"A claim may take {CLAIM_BYTES_MAX} bytes at most."
        return DecodedClaim(None, (shape_finding(at, message),))
    if other_names:
        return _read_tolerantly(form, raw, at)
    try:
        claim = form.claim.__pydantic_validator__.validate_json(raw)
    except ValidationError as error:
        if error.error_count() == 1 and error.errors()[0]["type"] == "json_invalid":
            return _unreadable(at)
        return _read_tolerantly(form, raw, at)
    ignored_fields: tuple[str, ...] = ()
    if drop_empty_fields(claim):
        if _has_names_in_another_case(claim):
            return _read_tolerantly(form, raw, at)
        ignored_fields = _forget_unknown_fields(claim, at)
    lines: tuple[ClaimPart, ...] = claim.__dict__[form.lines_field]
    missing = [*form.missing_fields(claim.__dict__, [line.__dict__ for line in lines])]
    if claim.__dict__[form.id_field].isspace():  # the one text that is kept with its blanks
        missing.append(form.id_field)
    if missing:
        findings = [_missing_finding(f"{at}.{path}") for path in missing]
        return DecodedClaim(None, limit_shape_findings(findings, at), ignored_fields)
    return DecodedClaim(claim, (), ignored_fields)


def restore_claim(form: str, stored: bytes) -> Claim:
    """Decode a stored claim of any form, by the form's name, from the text that ``fields.encode`` made of it."""
    return decode_x12_claim(stored) if form == X12 else restore(FORMS[form], stored)


def restore(form: AnyForm, stored: bytes) -> JsonClaim:
    """Decode a stored claim of a JSON form from the text that ``fields.encode`` made of it."""
    claim: JsonClaim = form.claim.__pydantic_validator__.validate_json(stored)
    drop_empty_fields(claim)
    return claim


# --- the document ---------------------------------------------------------------------------------


RawOrUnset = msgspec.Raw | msgspec.UnsetType


class _Top(msgspec.Struct):
    """The two fields of a document, not decoded; the claims of a large one may be split already."""

    DocumentType: RawOrUnset = msgspec.UNSET
    Claims: RawOrUnset = msgspec.UNSET
    cut: Sequence[msgspec.Raw] = ()
    repeated: tuple[str, ...] = ()
    """Fields that came under two spellings."""


_TOP = msgspec.json.Decoder(_Top)
_TOP_NAMES = ("DocumentType", "Claims")
_EXACT_TOP_NAMES = frozenset(_TOP_NAMES)
_FOLDED_TOP_NAMES = fold_names(_TOP_NAMES)
_NAMES = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def _top(body: bytes, claims_max: int) -> tuple[_Top, tuple[str, ...]]:
    """Return the two fields of a document and the names of unknown ones."""
    # A large document could hold millions of names, so they are not collected.
    if len(body) > limits.SMALL_DOCUMENT_BYTES_MAX:
        return _large_top(body, claims_max), ()
    found = _NAMES.decode(body)
    top, ignored_fields = _top_of(found)
    return _top_of(sort_by_last_use(body, found)) if top.repeated else (top, ignored_fields)


def _top_of(found: Mapping[str, msgspec.Raw]) -> tuple[_Top, tuple[str, ...]]:
    """Return the two fields among values by name, the last spelling of each, and the unknown names."""
    if found.keys() == _EXACT_TOP_NAMES:  # as most callers send them
        return _Top(found["DocumentType"], found["Claims"]), ()
    taken = take_fields(found, _FOLDED_TOP_NAMES)
    kind, claims = (taken.fields.get(name, msgspec.UNSET) for name in _TOP_NAMES)
    return _Top(kind, claims, repeated=taken.repeated), taken.unknown


def _large_top(body: bytes, claims_max: int) -> _Top:
    """Split a large document in one pass, since it blocks; fall back on more passes to find what is wrong."""
    try:
        top = _large(claims_max + 1).decode(body)
    except msgspec.ValidationError:
        exact = _TOP.decode(body)
    else:
        if not _is_missing(top.DocumentType):
            return _Top(top.DocumentType, cut=_filled_slots(top.Claims))
        exact = _TOP.decode(body)
    if not (_is_missing(exact.Claims) or _is_missing(exact.DocumentType)):
        return exact
    return _top_of(find_fields(body, _TOP_NAMES))[0]


def _is_missing(raw: RawOrUnset) -> bool:
    return raw is msgspec.UNSET or is_null(raw)


def _document_type(raw: RawOrUnset, form: AnyForm) -> Iterator[ClaimFinding]:
    value = None if raw is msgspec.UNSET else decode_as_written(raw)
    if value is None or (isinstance(value, str) and not value.strip()):
        yield _missing_finding("DocumentType")
    elif not isinstance(value, str) or fold_name(value.strip()) != fold_name(form.document_type):
        yield shape_finding(
            "DocumentType",
            f"The value {quote_json(value)} does not belong to this path: it takes '{form.document_type}'.",
        )


def _slices(raw: RawOrUnset, claims_max: int) -> Sequence[msgspec.Raw]:
    """Return the elements of the array, at most one more than the limit."""
    if raw is msgspec.UNSET or is_null(raw):
        return ()
    if memoryview(raw).nbytes <= limits.SMALL_DOCUMENT_BYTES_MAX:
        return _LIST.decode(raw)[: claims_max + 1]
    return _filled_slots(msgspec.json.decode(raw, type=_slots(claims_max + 1)))


@cache
def _slots(count: int) -> type[msgspec.Struct]:
    """Return a type for the first elements of an array; the others are skipped without being stored.

    A list would hold every element of a hostile array: a gigabyte for 16 million elements.
    """
    fields = [(f"c{at}", RawOrUnset, msgspec.UNSET) for at in range(count)]
    return msgspec.defstruct("Slots", fields, array_like=True)


@cache
def _large(count: int) -> msgspec.json.Decoder[Any]:
    """Return a decoder that splits the claims of a document."""
    fields = [
        ("DocumentType", RawOrUnset, msgspec.UNSET),
        ("Claims", _slots(count), msgspec.NODEFAULT),
    ]
    return msgspec.json.Decoder(msgspec.defstruct("Large", fields, kw_only=True))


def _filled_slots(slots: msgspec.Struct) -> list[msgspec.Raw]:
    return [item for item in msgspec.structs.astuple(slots) if item is not msgspec.UNSET]


# --- second reading: blanks count as missing, other spellings are read, every error is reported ------------


def _read_tolerantly(form: AnyForm, raw: bytes, at: str) -> DecodedClaim:
    try:
        reading = read_tolerantly(raw, form.claim, at)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _unreadable(at)
    if reading is None:
        return DecodedClaim(None, (shape_finding(at, "A claim must be a JSON object."),))
    findings, filled = reading.findings, reading.filled
    claim: JsonClaim | None = None
    try:
        claim = form.claim.__pydantic_validator__.validate_python(filled, strict=False)
        drop_empty_fields(claim)
    except ValidationError as errors:
        findings += [
            _finding_of_pydantic(error, at)
            for error in errors.errors(include_url=False)
            # A list of only faulty items counts as empty; its items have been reported.
            if not (error["type"] == "too_short" and error["input"])
        ]
    lines = filled.get(form.lines_field)
    known = [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []
    reported = {finding.location for finding in findings}
    missing = (f"{at}.{path}" for path in form.missing_fields(filled, known))
    findings += [_missing_finding(path) for path in missing if path not in reported]
    return DecodedClaim(
        None if findings else claim,
        limit_shape_findings(findings, at),
        tuple(reading.ignored_fields),
        tuple(reading.repairs),
    )


def _unreadable(at: str) -> DecodedClaim:
    return DecodedClaim(None, (shape_finding(DOCUMENT, f"The JSON of {at} cannot be read."),))


def _has_names_in_another_case(claim: ClaimPart) -> bool:
    return any(
        is_known_in_another_case(type(part), name)
        for part in _all_parts(claim)
        for name in part.__pydantic_extra__
    )


def _forget_unknown_fields(claim: ClaimPart, at: str) -> tuple[str, ...]:
    """Remove unknown fields from a claim and return the paths of the first few."""
    found = tuple(islice(_unknown_paths(claim, at), limits.IGNORED_FIELDS_SHOWN_MAX))
    for part in _all_parts(claim):
        part.__pydantic_extra__.clear()
    return found


def _unknown_paths(part: ClaimPart, at: str) -> Iterator[str]:
    yield from (f"{at}.{name}" for name in part.__pydantic_extra__)
    for name in nested_parts(type(part)):
        for index, inner in enumerate(part.__dict__.get(name, ())):
            yield from _unknown_paths(inner, f"{at}.{name}[{index}]")


def _all_parts(part: ClaimPart) -> Iterator[ClaimPart]:
    yield part
    for name in nested_parts(type(part)):
        for inner in part.__dict__.get(name, ()):
            yield from _all_parts(inner)


# --- messages --------------------------------------------------------------------------------------------

_MESSAGES: Mapping[str, str] = {
    "missing": "The {field} field is required.",
    "too_short": "The {field} field is required.",
    "too_long": "The {field} field has more items than the {most} that fit; leave out the others.",
    "day": "The value {quoted} is not a valid date in the format yyyy-mm-dd.",
    "number": "The value {value} is not a valid number.",
    "flag": "The value {value} is not true or false.",
    "tooth": "The value {value} is not a tooth: give its number or letter.",
    "adjustments": "The value {value} is not an adjustment: give an amount, or pairs of reason and "
    "amount such as 45:12.50, separated by commas.",
    "adjustment_group": "The value {value} names an adjustment group that is not the field's; give the reason "
    "and amount without a group, such as 45:12.50, or use the field of that group.",
    "string_type": "The value {value} is not a string.",
    "tuple_type": "The {field} field must be an array.",
    "model_type": "The {field} field must be an object.",
}


def _finding_of_pydantic(error: ErrorDetails, at: str) -> ClaimFinding:
    path = at
    for step in error["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    field = next((str(step) for step in reversed(error["loc"]) if isinstance(step, str)), at)
    value = error["input"]
    # The interface quotes a refused date, whatever its type.
    quoted = show_json(value) if isinstance(value, (dict, list)) else f"'{show_json(value)}'"
    words = _MESSAGES.get(error["type"], "The {field} field cannot be read.")
    most = error.get("ctx", {}).get("max_length", "")
    return shape_finding(
        path, words.format(field=field, value=quote_json(value), quoted=quoted, most=most)
    )


def _left_out(state: _ReadingState) -> ClaimFinding:
    count = state.findings_left_out
    errors = "1 more error" if count == 1 else f"{count} more errors"
    message = f"And {errors} in this document: the first {limits.SHAPE_FINDINGS_MAX} are listed."
    return shape_finding(DOCUMENT, message, count)


def _missing_finding(path: str) -> ClaimFinding:
    field = path.rpartition(".")[2]
    return shape_finding(path, _MESSAGES["missing"].format(field=field))
