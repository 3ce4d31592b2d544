"""The error shape of ``/clearlane/v1``: problem details (RFC 9457), with every fault of a call at once.

Knows no endpoint and no database.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.error_shape import (
    ENCODED_BODY,
    ENCODINGS_READ,
    UNAVAILABLE,
    DocumentedError,
)
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.kernel import limits

PROBLEM_JSON = "application/problem+json"
REALM = "Clearlane"
TYPE_PREFIX = "urn:clearlane:problem:"


class ProblemField(JsonModel):
    """What is wrong with one field or parameter."""

    field: Annotated[str, Field(description="The field of the body, or the query parameter.")]
    message: Annotated[str, Field(description="What would pass.")]


class Problem(JsonModel):
    """Why a call was refused (RFC 9457)."""

    type: Annotated[
        str, Field(description="The kind of problem, for programs. Kinds are added over time.")
    ]
    title: Annotated[str, Field(description="The kind of problem in words.")]
    status: Annotated[int, Field(description="The status of the answer.")]
    detail: Annotated[str, Field(description="What is wrong with this call, and what would pass.")]
    errors: Annotated[
        list[ProblemField],
        Field(description="Every fault of the call, if it has several or they have fields."),
    ]


# Kinds of problems, by the status that they come with when nothing says more.
KINDS: Mapping[int, tuple[str, str]] = {
    400: ("invalid_request", "The request cannot be read"),
    401: ("bad_credentials", "Invalid credentials"),
    403: ("forbidden", "Not allowed"),
    404: ("not_found", "Not found"),
    405: ("wrong_verb", "Not a verb of this path"),
    408: ("too_slow", "The request was not received in time"),
    409: ("conflict", "It cannot be done in the present state"),
    413: ("too_large", "The body is too large"),
    415: ("wrong_media_type", "The body is not JSON"),
    422: ("unprocessable", "The request cannot be processed"),
    429: ("too_many_calls", "Too many calls"),
    431: ("headers_too_large", "The headers are too large"),
    500: ("internal_error", "A fault of the service"),
    503: ("unavailable", "A part of the service does not answer"),
}


def problem(
    status: int,
    detail: str,
    *,
    kind: str = "",
    errors: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a problem; ``errors`` are field and sentence of each fault."""
    usual, title = KINDS.get(status) or (f"status_{status}", HTTPStatus(status).phrase)
    content = {
        "type": TYPE_PREFIX + (kind or usual),
        "title": title,
        "status": status,
        "detail": detail,
        "errors": [{"field": field, "message": message} for field, message in errors],
    }
    own = {"Content-Type": PROBLEM_JSON, **(headers or {})}
    return Response(msgspec.json.encode(content), status, own)


def refuse(status: int, detail: str, *, kind: str = "") -> RequestRefusal:
    """Return a refusal to raise: a problem of this status."""
    return RequestRefusal(problem(status, detail, kind=kind))


def _documented(when: str, *headers: str) -> DocumentedError:
    return DocumentedError(when, Problem, headers, PROBLEM_JSON)


COMMON_ERRORS: Mapping[int, DocumentedError] = {
    400: _documented("A parameter or the body cannot be read, or the `site` is unknown."),
    401: _documented("Invalid credentials.", "WWW-Authenticate"),
    403: _documented(
        "The API key lacks the scope or the site, the request was not encrypted, the client has not accepted the BAA, "
        "or its account is suspended."
    ),
    404: _documented("No such path, or the vendor has nothing under this id."),
    405: _documented("Another verb.", "Allow"),
    408: _documented("The request was not received in time."),
    409: _documented("It cannot be done in the present state."),
    413: _documented("The body is too large."),
    415: _documented("The body is not declared as JSON."),
    422: _documented("The content cannot be accepted, or the `Idempotency-Key` came with another call."),
    429: _documented("The vendor's limit of calls is exceeded, or that of wrong credentials.", "Retry-After"),
    431: _documented("The request line and headers are too large."),
    500: _documented("A fault of the service; quote the request id."),
    503: _documented("A part of the service does not answer.", "Retry-After"),
}  # fmt: skip


class ProblemErrors:
    """The errors of ``/clearlane/v1``. Implements :class:`~clearlane.api.frame.error_shape.ErrorShape`."""

    common_errors = COMMON_ERRORS
    endpoint_errors: Mapping[int, DocumentedError] = {}

    def message(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
        """Return an error of one sentence."""
        return problem(status, text, headers=headers)

    def invalid_fields(self, faults: Mapping[str, Sequence[str]]) -> Response:
        """Return 400 with all sentences by field."""
        errors = [(field, message) for field, messages in faults.items() for message in messages]
        detail = " ".join(f"{field}: {message}" for field, message in errors[:FAULTS_IN_DETAIL_MAX])
        return problem(400, detail, errors=errors)

    def invalid_document(self, sentence: str) -> Response:
        """Return 400 for a body that cannot be read as a whole."""
        return problem(400, sentence)

    def https_required(self) -> Response:
        """Return 403 for a request that was not encrypted."""
        return problem(403, "HTTPS is required.", kind="https_required")

    def no_resource(self) -> Response:
        """Return 404 for an unknown path."""
        return problem(404, "There is nothing under this path.")

    def wrong_verb(self, verb: str, allowed: str) -> Response:
        """Return 405 with the verbs that are allowed."""
        return problem(405, f"This path takes {allowed}, not {verb}.", headers={"Allow": allowed})

    def bad_credentials(self, status: int) -> Response:
        """Return 401 with its challenges, the same for every way in which credentials can be wrong."""
        text = "The vendor key and password, or the API key, are wrong, have expired or are not accepted."
        challenges = f'Basic realm="{REALM}", Bearer realm="{REALM}"'
        return problem(status, text, headers={"WWW-Authenticate": challenges})

    def scope_missing(self, scope: str, scopes: Sequence[str]) -> Response:
        """Return 403 for an API key without the scope of the call."""
        text = f"The API key lacks the scope {scope}; it has {', '.join(scopes)}."
        return problem(403, text, kind="scope_missing")

    def site_not_allowed(self, sites: Sequence[str]) -> Response:
        """Return 403 for an API key of other sites; ``sites`` are those of the key if the call is about one."""
        known = ", ".join(sorted(sites)[:SITES_NAMED_MAX])
        text = (
            f"The API key is for other sites: {known}."
            if known
            else "The call is for all sites of the vendor, and the API key for some of them only."
        )
        return problem(403, text, kind="site_not_allowed")

    def baa_missing(self) -> Response:
        """Return 403 for a client without a Business Associate Agreement."""
        text = "The client has not accepted the Business Associate Agreement."
        return problem(403, text, kind="baa_missing")

    def bad_site(self, sites: Sequence[str]) -> Response:
        """Return 400 for a site that is unknown or another vendor's, with the first of those that there are."""
        known = ", ".join(sorted(sites)[:SITES_NAMED_MAX]) or "none"
        text = f"It is not a site of this vendor, whose sites are: {known}."
        return self.invalid_fields({"site": [text]})

    def repeated_parameter(self, name: str) -> Response:
        """Return 400 for a parameter that is given twice."""
        return self.invalid_fields({name: ["It is given more than once; give it once."]})

    def too_large(self, bytes_max: int) -> Response:
        """Return 413 for a body above the limit."""
        return problem(413, f"The request body is larger than {bytes_max} bytes.")

    def wrong_media_type(self) -> Response:
        """Return 415 for a body that is not declared as JSON in a charset that is read."""
        return problem(
            415,
            "The Content-Type of a request with a body is application/json, with the charset utf-8, utf-16, us-ascii "
            "or iso-8859-1.",
        )

    def wrong_content_encoding(self) -> Response:
        """Return 415 for a compressed body."""
        return problem(415, ENCODED_BODY, headers=ENCODINGS_READ)

    def too_slow(self) -> Response:
        """Return 408 and close the connection, whose body is incomplete."""
        return problem(
            408, "The request was not received in time.", headers={"Connection": "close"}
        )

    def too_many_calls(self, rate_per_minute: int, retry_seconds: int) -> Response:
        """Return 429 with the seconds to wait."""
        text = f"The limit of {rate_per_minute} calls a minute is exceeded."
        return problem(429, text, headers={"Retry-After": str(retry_seconds)})

    def too_many_failures(self, retry_seconds: int) -> Response:
        """Return 429 for wrong credentials beyond the limit, and close the connection."""
        text = "Too many calls with wrong credentials came from this address. Right ones are always served."
        headers = {"Retry-After": str(retry_seconds), "Connection": "close"}
        return problem(429, text, kind="too_many_failures", headers=headers)

    def unavailable(self, text: str = UNAVAILABLE) -> Response:
        """Return 503: nothing was stored, so the same call may be sent again."""
        return problem(503, text, headers={"Retry-After": str(limits.RETRY_SECONDS)})

    def internal_error(self) -> Response:
        """Return 500. The caller learns the request id and nothing else."""
        return problem(500, "An error has occurred.")


FAULTS_IN_DETAIL_MAX = 5
SITES_NAMED_MAX = 20
PROBLEMS = ProblemErrors()
