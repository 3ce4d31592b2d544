"""The calls of Clearlane's own API as values: path, query, body, and how the answer is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

from clearlane.client import build, limits, models, v1_models
from clearlane.client.calls import V1, Call, RetryRule

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list."""

    items: list[T] = field(repr=False)
    next: str | None


ListCall = Callable[[str | None], Call[ListPage[T]]]
"""Returns the call for the page after a cursor; None for the first."""


def query_of(filters: Mapping[str, object]) -> dict[str, str]:
    """Return filters as a query: those that are None are left out, true and false are words."""
    words = {True: "true", False: "false"}
    return {
        name: words[value] if isinstance(value, bool) else str(value)
        for name, value in filters.items()
        if value is not None
    }


def page(name: str, path: str, model: type[T], filters: Mapping[str, object]) -> ListCall[T]:
    """Return the calls for the pages of a list."""

    def call(after: str | None) -> Call[ListPage[T]]:
        return Call(
            name=name,
            path=path,
            read=lambda value: _page(model, value),
            query=query_of({**filters, "after": after}),
            verb="GET",
            version=V1,
        )

    return call


def one(name: str, path: str, model: type[T], query: Mapping[str, str] | None = None) -> Call[T]:
    """Return the call for one object."""
    return Call(
        name=name,
        path=path,
        read=lambda value: models.read(model, value),
        query=query or {},
        verb="GET",
        version=V1,
    )


def few(name: str, path: str, model: type[T]) -> Call[tuple[T, ...]]:
    """Return the call for a list that is one page."""
    return Call(
        name=name,
        path=path,
        read=lambda value: tuple(_page(model, value).items),
        query={},
        verb="GET",
        version=V1,
    )


def text(name: str, path: str) -> Call[str]:
    """Return the call for a text, such as an 837."""
    return Call(name=name, path=path, read=str, query={}, verb="GET", version=V1, reads_text=True)


def change(
    name: str,
    path: str,
    model: type[T],
    *,
    body: object = None,
    query: Mapping[str, str] | None = None,
    key: str | None = None,
) -> Call[T]:
    """Return a call that changes something. Its key lets it be repeated: it is done once."""
    return Call(
        name=name,
        path=path,
        read=lambda value: models.read(model, value),
        query=query or {},
        body=b"" if body is None else build.encode_json(body),
        version=V1,
        idempotency_key=key or str(uuid4()),
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
    )


def claim_verb(number: str, verb: str) -> Call[v1_models.ClaimInfo]:
    """Return the call of hold, release or cancel."""
    name = f"{verb.capitalize()}Claim"
    return change(name, f"claims/{segment(number)}/{verb}", v1_models.ClaimInfo)


def correction(
    number: str, fields: Mapping[str, Any], *, dry_run: bool
) -> Call[v1_models.CorrectionResult]:
    """Return the call of a correction."""
    return change(
        "CorrectClaim",
        f"claims/{segment(number)}/correct",
        v1_models.CorrectionResult,
        body={"fields": dict(fields)},
        query={"dry_run": "true"} if dry_run else {},
    )


def anyway(number: str, user: str, reason: str) -> Call[v1_models.CorrectionResult]:
    """Return the call that sends a claim in spite of a rule."""
    return change(
        "SendClaimAnyway",
        f"claims/{segment(number)}/send_anyway",
        v1_models.CorrectionResult,
        body={"user": user, "reason": reason},
    )


def validation(document: Mapping[str, Any], site: str | None) -> Call[v1_models.ValidationResult]:
    """Return the call that validates a document."""
    return Call(
        name="ValidateClaims",
        path="claims/validate",
        read=lambda value: models.read(v1_models.ValidationResult, value),
        query=query_of({"site": site}),
        body=build.encode_json(document),
        version=V1,
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
    )


def file_upload(
    content: bytes, *, name: str | None, site: str | None, channel: str | None, key: str | None
) -> Call[v1_models.FileInfo]:
    """Return the call that sends a file. Its key lets it be repeated: it is stored once."""
    return Call(
        name="SendFile",
        path="files",
        read=lambda value: models.read(v1_models.FileInfo, value),
        query=query_of({"name": name, "site": site, "channel": channel}),
        body=content,
        version=V1,
        idempotency_key=key or str(uuid4()),
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
        content_type="application/octet-stream",
    )


def file_content(file_id: str) -> Call[bytes]:
    """Return the call for the bytes of a file."""
    return Call(
        name="GetFileContent",
        path=f"files/{segment(file_id)}/content",
        # The text of a body has a character for each byte.
        read=lambda text: str(text).encode("latin-1"),
        query={},
        verb="GET",
        version=V1,
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
        reads_text=True,
    )


def inquiry(content: str | bytes, site: str | None) -> Call[str]:
    """Return the call of a 270. It is sent again only if no payer can have been asked."""
    return Call(
        name="AnswerX12",
        path="x12",
        read=str,
        query=query_of({"site": site}),
        body=content.encode() if isinstance(content, str) else content,
        version=V1,
        reads_text=True,
        retry_rule=RetryRule.IF_NOT_PROCESSED,
    )


def segment(value: str) -> str:
    """Return a value as one segment of a path."""
    if not value:
        raise ValueError("An id must be given.")
    return quote(value, safe="")


def _page(model: type[T], value: Any) -> ListPage[T]:
    if not isinstance(value, Mapping):
        raise TypeError(f"an object was expected, not {type(value).__name__}")
    following = value.get("next")
    return ListPage(
        models.read_list(model)(value.get("data")), None if following is None else str(following)
    )
