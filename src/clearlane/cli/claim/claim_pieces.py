"""A document of any number of claims, cut into documents that the service takes, and their answers put together.

Pure: documents and answers in, documents and one answer out. Paths (``Claims[7]``) are those of the whole file. Imports
nothing from the server.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clearlane.kernel.limits import CLAIMS_PER_DOCUMENT_MAX

CLAIMS_PER_PIECE = 1_000
"""The size of a piece of a larger file: small enough to show progress, large enough that round trips cost little."""

_CLAIM = re.compile(r"Claims\[(\d+)\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """A part of a document, as a document of its own."""

    document: Mapping[str, Any]
    first: int
    """How many claims of the whole document come before it."""
    count: int


def cut_document(document: Mapping[str, Any], *, skip: int = 0) -> list[DocumentPiece]:
    """Return a document in pieces, in order, without its first claims; one piece if it is small enough."""
    claims = document.get("Claims")
    if not isinstance(claims, list):
        return [DocumentPiece(document, 0, 0)]  # the service says what is wrong with it
    left = len(claims) - skip
    if left <= CLAIMS_PER_DOCUMENT_MAX:
        part = document if not skip else {**document, "Claims": claims[skip:]}
        return [DocumentPiece(part, skip, left)]
    parts = [
        (start, claims[start : start + CLAIMS_PER_PIECE])
        for start in range(skip, len(claims), CLAIMS_PER_PIECE)
    ]
    return [DocumentPiece({**document, "Claims": part}, start, len(part)) for start, part in parts]


def move_path(text: str, by: int) -> str:
    """Return a text whose paths count the claims of the whole file."""
    return _CLAIM.sub(lambda found: f"Claims[{int(found[1]) + by}]", text, count=1) if by else text


@dataclass(slots=True)
class WholeAnswer:
    """The service's answers to all pieces, as one answer of V3's shape."""

    results: list[dict[str, Any]] = field(default_factory=list)
    document_errors: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def add(
        self, raw: Mapping[str, Any], notes: Iterable[str], ignored: Iterable[str], *, first: int
    ) -> None:
        """Add the answer to one piece."""
        for result in raw.get("ClaimResults") or ():
            errors = [_moved(error, first) for error in result.get("Errors") or ()]
            self.results.append({**result, "Errors": errors})
        self.document_errors += [_moved(one, first) for one in raw.get("DocumentLevelErrors") or ()]
        self.notes += [move_path(note, first) for note in notes]
        self.ignored += [move_path(path, first) for path in ignored]

    @property
    def accepted(self) -> int:
        """How many claims were accepted."""
        return sum(result.get("Status") == "Accepted" for result in self.results)

    @property
    def fine(self) -> bool:
        """Whether every claim was accepted."""
        whole = bool(self.results) and not self.document_errors
        return whole and self.accepted == len(self.results)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of one answer."""
        return {"ClaimResults": self.results, "DocumentLevelErrors": self.document_errors}


def _moved(error: Mapping[str, Any], by: int) -> dict[str, Any]:
    location = error.get("Location")
    return (
        {**error, "Location": move_path(location, by)} if isinstance(location, str) else {**error}
    )
