"""JSON names in any case, and JSON numbers as they were written, for decoders that read a document a second time.

Clients of Json.NET write ``documentType`` for ``DocumentType`` and ``57104`` for ``"57104"``. Decoders look up the
exact name first; only a name that is not found is folded here. Knows no field and no document.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from clearlane.kernel import limits


class NumberText(str):
    """A JSON number with a fraction or an exponent, in the characters of the document."""

    __slots__ = ()


_DECODER = msgspec.json.Decoder(float_hook=NumberText)


def decode_as_written(text: bytes) -> Any:
    """Decode JSON; fractions become :class:`NumberText`, integers ``int``.

    Raises what ``msgspec.json.decode`` raises.
    """
    return _DECODER.decode(text)


def decode_in_order(text: bytes) -> Any:
    """Decode JSON as :func:`decode_as_written` does, with each object's names in the order of their last use.

    Several times slower. It is needed only where two spellings of one field decide which value is the last.
    """
    return json.loads(text, object_pairs_hook=_by_last_use, parse_float=NumberText)


def fold_names(names: Iterable[str]) -> Mapping[str, str]:
    """Return the names by their folded form."""
    return {fold_name(name): name for name in names}


def fold_name(name: str) -> str:
    """Return an ASCII name in lower case, and any other as it is: other alphabets have letters that fold into ASCII."""
    if len(name) > limits.FIELD_NAME_CHARACTERS_MAX or not name.isascii():
        return name
    return name.lower()


def _by_last_use(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        found.pop(name, None)
        found[name] = value
    return found
