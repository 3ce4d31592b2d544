"""JSON names in any case, and JSON numbers as they were written, for decoders that read a document a second time.

Clients of Json.NET write ``documentType`` for ``DocumentType`` and ``57104`` for ``"57104"``. Decoders look up the
exact name first; only a name that is not found is folded here. Knows no field and no document.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from clearlane.kernel import limits

FIELD_SPELLINGS_MAX = 16
FIELD_OCCURRENCES_MAX = 1_000


T = TypeVar("T")
RawOrUnset = msgspec.Raw | msgspec.UnsetType


class NumberText(str):
    """A JSON number with a fraction or an exponent, in the characters of the document."""

    __slots__ = ()


_DECODER = msgspec.json.Decoder(float_hook=NumberText)


def decode_as_written(text: bytes | msgspec.Raw) -> Any:
    """Decode JSON; fractions become :class:`NumberText`, integers ``int``.

    Raises what ``msgspec.json.decode`` raises.
    """
    return _DECODER.decode(text)


def decode_in_order(text: bytes) -> Any:
    """Decode JSON as :func:`decode_as_written` does, with each object's names in the order of their last use.

    Several times slower. It is needed only if two spellings of one field decide which value is the last.
    """
    return json.loads(text, object_pairs_hook=_by_last_use, parse_float=NumberText)


def sort_by_last_use(text: bytes, fields: Mapping[str, T]) -> dict[str, T]:
    """Return the fields of a JSON object by name, in the order of each name's last use.

    A dictionary keeps the place of a name's first use. It is needed if two spellings of one field decide which value
    is the last, and one of them occurs twice.
    """
    return {name: fields[name] for name in decode_in_order(text)}


def quote_json(value: object) -> str:
    """Return a value of a document as a message shows it: a text in quotes, any other as JSON."""
    return f"'{show_json(value)}'" if type(value) is str else show_json(value)


def show_json(value: object) -> str:
    """Return a value of a document without quotes: short, and never a whole object."""
    if isinstance(value, (list, tuple)):
        return "[...]"
    if isinstance(value, dict):
        return "{...}"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[: limits.QUOTED_CHARACTERS_MAX]


def note_repeated_fields(paths: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each field that came under two spellings."""
    return tuple(
        f"{path} came under two spellings; the last was taken." for path in dict.fromkeys(paths)
    )


def fold_names(names: Iterable[str]) -> Mapping[str, str]:
    """Return the names by their folded form."""
    return {fold_name(name): name for name in names}


def fold_name(name: str) -> str:
    """Return an ASCII name in lower case, and any other as it is: other alphabets have letters that fold into ASCII."""
    if len(name) > limits.FIELD_NAME_CHARACTERS_MAX or not name.isascii():
        return name
    return name.lower()


class TakenFields(NamedTuple, Generic[T]):
    """The fields of an object by their exact names, the last spelling of each that is not null."""

    fields: dict[str, T]
    unknown: tuple[str, ...]
    """Names that match no field in any case."""
    repeated: tuple[str, ...]
    """Fields that came under another spelling before, once for each time."""


def take_fields(sent: Mapping[str, T], folded: Mapping[str, str]) -> TakenFields[T]:
    """Return the fields that ``folded`` (see :func:`fold_names`) knows among values by name.

    Null counts as missing: it hides no value that the field has under another spelling.
    """
    fields: dict[str, T] = {}
    unknown: list[str] = []
    repeated: list[str] = []
    for spelling, value in sent.items():
        name = folded.get(fold_name(spelling))
        if name is None:
            unknown.append(spelling)
            continue
        if is_null(value):
            continue
        if name in fields:
            repeated.append(name)
        fields[name] = value
    return TakenFields(fields, tuple(unknown), tuple(repeated))


def is_null(value: object) -> bool:
    """Return whether a value, decoded or raw, is the JSON null."""
    if isinstance(value, msgspec.Raw):
        return bytes(memoryview(value)[:5]).strip() == b"null"
    return value is None


def find_fields(text: bytes, names: Iterable[str]) -> dict[str, msgspec.Raw]:
    """Return some fields of a large JSON object under all spellings that occur in it, in their order.

    A dictionary of all names could hold millions of them; a struct with the few spellings skips the others.
    """
    spellings = sorted(_spellings_in(text, names).items(), key=lambda each: each[1])
    found = [spelling for spelling, _ in spellings[-FIELD_SPELLINGS_MAX:]]
    fields = [(f"f{at}", RawOrUnset, msgspec.UNSET) for at in range(len(found))]
    rename = {f"f{at}": name for at, name in enumerate(found)}
    value = msgspec.json.decode(text, type=msgspec.defstruct("Spelled", fields, rename=rename))
    given = zip(found, msgspec.structs.astuple(value), strict=True)
    return {name: raw for name, raw in given if raw is not msgspec.UNSET}


def _spellings_in(text: bytes, names: Iterable[str]) -> dict[str, int]:
    """Return how names are spelled in a text, with the place of the last use that was looked at."""
    found: dict[str, int] = {}
    folded = text.lower()
    for name in names:
        quoted = f'"{fold_name(name)}"'.encode()
        start, stop = 0, len(folded)
        for turn in range(FIELD_OCCURRENCES_MAX):
            # Alternately from both ends: a field of the object itself is before or after the large one.
            is_forward = turn % 2 == 0
            at = (folded.find if is_forward else folded.rfind)(quoted, start, stop)
            if at < 0:
                break
            spelling = text[at + 1 : at + len(quoted) - 1].decode()
            found[spelling] = max(at, found.get(spelling, 0))
            start, stop = (at + 1, stop) if is_forward else (start, at + len(quoted) - 1)
    return found


def _by_last_use(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        found.pop(name, None)
        found[name] = value
    return found
