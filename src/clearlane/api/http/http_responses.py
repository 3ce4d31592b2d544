"""Plain HTTP responses that every version of the API is built from: JSON, text, and safe header values.

Knows no version, no error shape and no route.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from clearlane.kernel import limits

JSON = "application/json"
JSON_UTF8 = f"{JSON}; charset=utf-8"
"""The Content-Type of JSON answers."""
TEXT = "text/plain"
X12 = "application/edi-x12"
NOTES_SHOWN_MAX = 10
# On every answer. Browsers reach the service by https alone, guess no type, and keep nothing that may be of a patient;
# a response that sets one of these itself keeps its own.
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"strict-transport-security", b"max-age=31536000"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)


def json_response(status: int, value: object, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response whose body is the value as JSON."""
    content = msgspec.json.encode(value)
    return Response(content, status, {"Content-Type": JSON_UTF8, **(headers or {})})


def text_response(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response whose body is a plain text."""
    return Response(text.encode(), status, {"Content-Type": TEXT, **(headers or {})})


def with_security_headers(
    headers: Iterable[tuple[bytes, bytes]],
) -> list[tuple[bytes, bytes]]:
    """Return the headers of a response, completed by the security headers that it does not set."""
    own = list(headers)
    names = {name.lower() for name, _ in own}
    return own + [header for header in SECURITY_HEADERS if header[0] not in names]


def ignored_fields_header(paths: Iterable[str]) -> str:
    """Return the value of ``X-Ignored-Fields``: the first paths, percent-encoded for a header."""
    first = list(dict.fromkeys(paths))[: limits.IGNORED_FIELDS_SHOWN_MAX]
    return ", ".join(_header_path(path) for path in first)


def notes_header(notes: Iterable[str]) -> str:
    """Return the value of ``X-Notes``: the first sentences, and how many more there are."""
    distinct = list(dict.fromkeys(notes))
    first = [header_text(note) for note in distinct[:NOTES_SHOWN_MAX]]
    more = len(distinct) - len(first)
    return " | ".join([*first, *([f"{more} more"] if more else [])])


def header_text(text: str) -> str:
    """Return the text with every character replaced that could break out of its header line."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def _header_path(path: str) -> str:
    short = path[: limits.IGNORED_FIELD_CHARACTERS_MAX]
    return quote(short, safe="!#$&'()*+./:;<=>?@[]^_`{|}~-", errors="replace")
