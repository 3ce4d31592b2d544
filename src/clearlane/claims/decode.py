"""A submission document becomes claims, or findings that tell every fault of its shape.

Shape is what the interface answers with 400: JSON, types, required fields, date forms. A finding's
location is the document's own key, ``Claims[1].F24_ClaimLines[0].F24A_DateOfServiceFrom``.

A large document is sliced into raw claims first, so that nobody holds the interpreter for long: the
caller reads a few claims at a time and lets others run in between.

Knows no rule of the trade and no answer's form.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

import msgspec
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from clearlane.claims import codes
from clearlane.claims.fields import PAPERS, Claim, ClaimKind, Fields, Paper, parts, rows, thin
from clearlane.claims.finding import ClaimFinding
from clearlane.kernel import limits
from clearlane.kernel.finding import Stage

DOCUMENT = "Document"
"""The location of what is wrong with the document as a whole."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Read:
    """What one raw claim became: a claim or findings, and the paths of fields nobody knows."""

    claim: Claim | None
    findings: tuple[ClaimFinding, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(slots=True)
class _Patience:
    """How many more findings a document may have."""

    left: int = limits.SHAPE_FINDINGS_MAX


@dataclass(frozen=True, slots=True, repr=False)
class Sheaf:
    """A document cut into raw claims. ``count`` may be one more than the limit, never larger."""

    kind: ClaimKind
    raws: Sequence[msgspec.Raw] = ()
    findings: tuple[ClaimFinding, ...] = ()
    ignored: tuple[str, ...] = ()
    patience: _Patience = field(default_factory=_Patience)

    @property
    def count(self) -> int:
        """How many claims the document holds."""
        return len(self.raws)

    def read(self, start: int, stop: int) -> list[Read]:
        """The claims from ``start`` up to ``stop``.

        A document with thousands of faults is refused anyway: after ten thousand the others are not told.
        """
        found: list[Read] = []
        for at, raw in enumerate(self.raws[start:stop], start):
            if self.patience.left <= 0:
                found.append(Read(None))
                continue
            read = read_claim(self.kind, bytes(raw), f"Claims[{at}]")
            found.append(read)
            self.patience.left -= len(read.findings)
            if self.patience.left <= 0:
                last = _fault(
                    DOCUMENT, f"There are more faults; those up to Claims[{at}] are told."
                )
                found[-1] = Read(None, (*read.findings, last), read.ignored)
        return found


def open_document(
    body: bytes, kind: ClaimKind, *, claims_max: int = limits.CLAIMS_PER_DOCUMENT_MAX
) -> Sheaf:
    """Cut a document into claims; what is wrong with the document itself is in the findings."""
    body = body.removeprefix(BYTE_ORDER_MARK)
    try:
        top, ignored = _top(body, claims_max)
    except msgspec.ValidationError:
        return Sheaf(kind, findings=(_fault(DOCUMENT, "The document must be a JSON object."),))
    except RecursionError:
        return Sheaf(kind, findings=(_fault(DOCUMENT, "The document is nested too deeply."),))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Sheaf(kind, findings=(_fault(DOCUMENT, "The document is not valid JSON in UTF-8."),))
    findings = list(_document_type(top.DocumentType, PAPERS[kind]))
    raws: Sequence[msgspec.Raw] = ()
    try:
        raws = top.cut or _slices(top.Claims, claims_max)
    except (msgspec.DecodeError, RecursionError):
        findings.append(_fault("Claims", "The Claims field must be an array of claims."))
    else:
        if not raws:
            findings.append(_fault("Claims", "At least one claim is required."))
    return Sheaf(kind, raws, tuple(findings), ignored)


def read_document(body: bytes, kind: ClaimKind) -> tuple[Sheaf, list[Read]]:
    """Open a document and read all its claims at once; for small documents and offline work."""
    sheaf = open_document(body, kind)
    return sheaf, sheaf.read(0, sheaf.count)


def read_claim(kind: ClaimKind, raw: bytes, at: str) -> Read:
    """One claim from its JSON."""
    if len(raw) > limits.CLAIM_BYTES_MAX:
        return Read(
            None, (_fault(at, f"A claim may take {limits.CLAIM_BYTES_MAX} bytes at most."),)
        )
    paper = PAPERS[kind]
    try:
        claim = paper.claim.__pydantic_validator__.validate_json(raw)
    except ValidationError as refused:
        return _read_slowly(kind, raw, at, refused)
    ignored = _strange(claim, at) if thin(claim) else ()
    lines: tuple[Fields, ...] = claim.__dict__[paper.lines]
    missing = [*_MISSING[kind](claim.__dict__, [line.__dict__ for line in lines])]
    if missing:
        return Read(None, tuple(_required(f"{at}.{path}") for path in missing), ignored)
    return Read(claim, (), ignored)


def restore(kind: ClaimKind, stored: bytes) -> Claim:
    """A claim from the text that ``fields.encode`` made of it."""
    claim: Claim = PAPERS[kind].claim.__pydantic_validator__.validate_json(stored)
    thin(claim)
    return claim


# --- the document ---------------------------------------------------------------------------------


Cut = msgspec.Raw | msgspec.UnsetType


class _Top(msgspec.Struct):
    """The two fields of a document, unread; the claims of a large one may be cut already."""

    DocumentType: Cut = msgspec.UNSET
    Claims: Cut = msgspec.UNSET
    cut: Sequence[msgspec.Raw] = ()


_TOP = msgspec.json.Decoder(_Top)
_NAMES = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def _top(body: bytes, claims_max: int) -> tuple[_Top, tuple[str, ...]]:
    """The two fields, and the names of fields nobody knows."""
    # A large document could hold millions of names: nobody asks for them.
    if len(body) > limits.SMALL_DOCUMENT_BYTES_MAX:
        return _large_top(body, claims_max), ()
    found = _NAMES.decode(body)
    known = _Top(found.pop("DocumentType", msgspec.UNSET), found.pop("Claims", msgspec.UNSET))
    return known, tuple(found)


def _large_top(body: bytes, claims_max: int) -> _Top:
    """Cut in one scan, since nobody else runs meanwhile; the scan in two steps tells what is wrong."""
    try:
        top = _large(claims_max + 1).decode(body)
    except msgspec.ValidationError:
        return _TOP.decode(body)
    return _Top(top.DocumentType, cut=_filled_slots(top.Claims))


def _document_type(raw: Cut, paper: Paper) -> Iterator[ClaimFinding]:
    value = None if raw is msgspec.UNSET else msgspec.json.decode(raw)
    if value is None or (isinstance(value, str) and not value.strip()):
        yield _required("DocumentType")
    elif value != paper.document_type:
        yield _fault(
            "DocumentType",
            f"The value {_quoted(value)} does not belong to this path: it takes '{paper.document_type}'.",
        )


def _slices(raw: Cut, claims_max: int) -> Sequence[msgspec.Raw]:
    """The elements of the array, at most one more than the limit."""
    if raw is msgspec.UNSET or bytes(memoryview(raw)[:5]) == b"null":
        return ()
    if memoryview(raw).nbytes <= limits.SMALL_DOCUMENT_BYTES_MAX:
        return _LIST.decode(raw)[: claims_max + 1]
    return _filled_slots(msgspec.json.decode(raw, type=_slots(claims_max + 1)))


@cache
def _slots(count: int) -> type[msgspec.Struct]:
    """The first elements of an array; the others are skipped without being stored.

    A list would hold every element of a hostile array: a gigabyte for 16 million ones.
    """
    fields = [(f"c{at}", Cut, msgspec.UNSET) for at in range(count)]
    return msgspec.defstruct("Slots", fields, array_like=True)


@cache
def _large(count: int) -> msgspec.json.Decoder[Any]:
    """A decoder of a document whose claims are cut."""
    fields = [
        ("DocumentType", Cut, msgspec.UNSET),
        ("Claims", _slots(count), msgspec.NODEFAULT),
    ]
    return msgspec.json.Decoder(msgspec.defstruct("Large", fields, kw_only=True))


def _filled_slots(slots: msgspec.Struct) -> list[msgspec.Raw]:
    return [item for item in msgspec.structs.astuple(slots) if item is not msgspec.UNSET]


# --- one claim, slowly: blanks count as missing, and every fault is told ------------------------------


def _read_slowly(kind: ClaimKind, raw: bytes, at: str, refused: ValidationError) -> Read:
    paper = PAPERS[kind]
    try:
        if refused.error_count() == 1 and refused.errors()[0]["type"] == "json_invalid":
            raise msgspec.DecodeError
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Read(None, (_fault(DOCUMENT, f"The JSON of {at} cannot be read."),))
    if not isinstance(value, dict):
        return Read(None, (_fault(at, "A claim must be a JSON object."),))
    ignored: list[str] = []
    findings: list[ClaimFinding] = []
    filled = _prune(value, paper.claim, at, ignored, findings)
    claim: Claim | None = None
    try:
        claim = paper.claim.__pydantic_validator__.validate_python(filled, strict=False)
        thin(claim)
    except ValidationError as faults:
        findings += [
            _told(fault, at)
            for fault in faults.errors(include_url=False)
            # A list of nothing but faulty items counts as empty; its items have been told about.
            if not (fault["type"] == "too_short" and fault["input"])
        ]
    lines = filled.get(paper.lines)
    known = [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []
    told = {finding.location for finding in findings}
    missing = (f"{at}.{path}" for path in _MISSING[kind](filled, known))
    findings += [_required(path) for path in missing if path not in told]
    return Read(None if findings else claim, tuple(findings), tuple(ignored))


def _prune(
    value: dict[str, Any],
    part: type[Fields],
    at: str,
    ignored: list[str],
    findings: list[ClaimFinding],
) -> dict[str, Any]:
    """Only known fields, without nulls and blanks; lists cut to a length that can be told about."""
    spellings = _spellings(part)
    inner = parts(part)
    kept: dict[str, Any] = {}
    for name, item in value.items():
        path = f"{at}.{name}"
        if name not in spellings:
            if len(ignored) < limits.IGNORED_FIELDS_SHOWN_MAX:
                ignored.append(path)
        elif isinstance(item, list):
            if len(item) > limits.LIST_ITEMS_READ_MAX:
                findings.append(
                    _fault(path, f"At most {limits.LIST_ITEMS_READ_MAX} items are read.")
                )
            items = item[: limits.LIST_ITEMS_READ_MAX]
            if name in inner:
                items = [
                    _prune(each, inner[name], f"{path}[{index}]", ignored, findings)
                    if isinstance(each, dict)
                    else each
                    for index, each in enumerate(items)
                ]
            items = [None if _blank(each) else each for each in items]
            if any(each is not None for each in items):
                kept[name] = items
        elif not _blank(item):
            kept[name] = item
    return kept


@cache
def _spellings(part: type[Fields]) -> frozenset[str]:
    return frozenset(name for row in rows(part).values() for name in (row.name, *row.also))


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _strange(claim: Fields, at: str) -> tuple[str, ...]:
    """The first paths of fields that the catalogue does not know; the claim forgets them all."""
    found = tuple(islice(_strange_paths(claim, at), limits.IGNORED_FIELDS_SHOWN_MAX))
    for part in _all_parts(claim):
        part.__pydantic_extra__.clear()
    return found


def _strange_paths(part: Fields, at: str) -> Iterator[str]:
    yield from (f"{at}.{name}" for name in part.__pydantic_extra__)
    for name in parts(type(part)):
        for index, inner in enumerate(part.__dict__.get(name, ())):
            yield from _strange_paths(inner, f"{at}.{name}[{index}]")


def _all_parts(part: Fields) -> Iterator[Fields]:
    yield part
    for name in parts(type(part)):
        for inner in part.__dict__.get(name, ()):
            yield from _all_parts(inner)


# --- required in one case and not in another -----------------------------------------------------------

Filled = Mapping[str, Any]

_RENDERING = (
    "X12_RendProviderNameFirst",
    "X12_RendProviderNameMiddle",
    "X12_RendProviderSuffix",
    "X12_RendProviderTaxonomyCode",
    "X12_RendProviderStateLicenseNumber",
    "X12_RendProviderUpinNumber",
    "X12_RendProviderCommercialNumber",
    "X12_RendProviderLocationNumber",
    "X12_RenderingNPI",
)
_DEPENDENT = (
    "F20_PatientLastName",
    "F20_PatientFirstName",
    "F20_PatientAddress",
    "F20_PatientCity",
    "F20_PatientST",
    "F20_PatientZip",
    "F20_PatientDOB",
    "F22_PatientSex",
)


def _missing_medical(claim: Filled, lines: Sequence[Filled]) -> Iterator[str]:
    get = claim.get
    if get("F25_FederalTaxIdEin") is None and get("F25_FederalTaxIdSsn") is None:
        yield "F25_FederalTaxIdEin"
    if get("X12_RendProviderNameLast") is None and any(
        get(name) is not None for name in _RENDERING
    ):
        yield "X12_RendProviderNameLast"
    if not _any_text(get("F21_DiagnosisCodes")):
        yield "F21_DiagnosisCodes"
    for at, line in enumerate(lines):
        if not _any_text(line.get("F24E_DiagnosisPointers")):
            yield f"F24_ClaimLines[{at}].F24E_DiagnosisPointers"


def _missing_dental(claim: Filled, lines: Sequence[Filled]) -> Iterator[str]:
    get = claim.get
    relationship = _code("relationship", get("F18_PatientRelationship"))
    if relationship not in (None, codes.SELF):
        yield from (name for name in _DEPENDENT if get(name) is None)
    if _code("transaction_type", get("F01_TypeOfTransaction")) == codes.PREDETERMINATION:
        return
    if get("X12_ServiceDate") is None:
        yield "X12_ServiceDate"
    for at, line in enumerate(lines):
        if line.get("F24_DateOfServiceFrom") is None:
            yield f"LineItems[{at}].F24_DateOfServiceFrom"


_MISSING: Mapping[ClaimKind, Callable[[Filled, Sequence[Filled]], Iterator[str]]] = {
    ClaimKind.MEDICAL: _missing_medical,
    ClaimKind.DENTAL: _missing_dental,
}


def _any_text(value: Any) -> bool:
    # What is no array at all, or not there, has been told about already.
    if not isinstance(value, (list, tuple)):
        return True
    return value[0] is not None or any(item is not None for item in value)


def _code(name: str, value: Any) -> str | None:
    return codes.find(name, value) if isinstance(value, str) else None


# --- words -----------------------------------------------------------------------------------------------

_WORDS: Mapping[str, str] = {
    "missing": "The {field} field is required.",
    "too_short": "The {field} field is required.",
    "day": "The value {value} is not a valid date in the format yyyy-mm-dd.",
    "number": "The value {value} is not a valid number.",
    "flag": "The value {value} is not true or false.",
    "tooth": "The value {value} is not a tooth: give its number or letter.",
    "adjustments": "The value {value} is not an adjustment: give an amount, or pairs of reason and "
    "amount such as 45:12.50, separated by commas.",
    "string_type": "The value {value} is not a string.",
    "tuple_type": "The {field} field must be an array.",
    "model_type": "The {field} field must be an object.",
}


def _told(fault: ErrorDetails, at: str) -> ClaimFinding:
    path = at
    for step in fault["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    field = next((str(step) for step in reversed(fault["loc"]) if isinstance(step, str)), at)
    words = _WORDS.get(fault["type"], "The {field} field cannot be read.")
    return _fault(path, words.format(field=field, value=_quoted(fault["input"])))


def _required(path: str) -> ClaimFinding:
    field = path.rpartition(".")[2]
    return _fault(path, _WORDS["missing"].format(field=field))


def _fault(location: str, message: str) -> ClaimFinding:
    return ClaimFinding(rule="shape", message=message, stage=Stage.SHAPE, location=location)


def _quoted(value: object) -> str:
    """A refused value as the answer shows it: short, and never a whole object."""
    if isinstance(value, (list, tuple)):
        return "[...]"
    if isinstance(value, dict):
        return "{...}"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"'{text[: limits.QUOTED_CHARACTERS_MAX]}'"
