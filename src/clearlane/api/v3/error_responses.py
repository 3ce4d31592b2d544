"""The error shape of Vendor API V3: the response, and its documentation, for every refused call.

Knows no endpoint and no database. Texts and statuses are part of the V3 contract.
"""

from collections.abc import Callable, Mapping, Sequence

from starlette.responses import Response

from clearlane.api.frame.error_shape import (
    ENCODED_BODY,
    ENCODINGS_READ,
    UNAVAILABLE,
    DocumentedError,
)
from clearlane.api.http.http_responses import text_response
from clearlane.api.v3 import responses
from clearlane.kernel import limits

REALM = "Invalid or unknown credentials or vendor not authorized"

# One row per status that the shared checks give.
COMMON_ERRORS: Mapping[int, DocumentedError] = {
    400: DocumentedError(
        "The `vendorSiteId` is unknown, or a parameter or the body cannot be read.",
        responses.Message | responses.MessageDetail | responses.ModelState,
    ),
    401: DocumentedError(
        "Invalid credentials (`101:`), or the client has not accepted the BAA (`201:`).",
        None,
        ("WWW-Authenticate",),
    ),
    403: DocumentedError("The request was not encrypted.", responses.Message),
    404: DocumentedError(
        "No such path, or no `vendorSiteId`.", responses.Message | responses.MessageDetail
    ),
    405: DocumentedError("Another verb than POST.", responses.Message, ("Allow",)),
    408: DocumentedError("The request was not received in time.", responses.Message),
    413: DocumentedError("The body is too large.", responses.Message),
    415: DocumentedError("The body is not declared as JSON.", responses.Message),
    429: DocumentedError(
        "The vendor's limit of calls is exceeded, or that of wrong credentials from one address.",
        responses.Message,
        ("Retry-After",),
    ),
    431: DocumentedError("The request line and headers are too large.", responses.Message),
    500: DocumentedError("A fault of the service; quote the request id.", responses.Message),
    503: DocumentedError(
        "A part of the service does not answer.", responses.Message, ("Retry-After",)
    ),
}

# Statuses of single endpoints whose response has no body.
ENDPOINT_ERRORS: Mapping[int, DocumentedError] = {
    204: DocumentedError(
        "The claims could not be imported; nothing was stored.", None, ("X-Message",)
    ),
}


FaultsResponse = Callable[[Mapping[str, Sequence[str]]], Response]


class V3Errors:
    """The errors of V3. Implements :class:`~clearlane.api.frame.error_shape.ErrorShape`."""

    common_errors = COMMON_ERRORS
    endpoint_errors = ENDPOINT_ERRORS

    def __init__(self, faults_response: FaultsResponse = responses.model_state) -> None:
        """``faults_response`` writes the faults of a document: enrollment has a form of its own."""
        self._faults_response = faults_response

    def message(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
        """Return an error of one sentence."""
        return responses.message(status, text, headers)

    def invalid_fields(self, faults: Mapping[str, Sequence[str]]) -> Response:
        """Return 400 with all sentences of a document by field."""
        return self._faults_response(faults)

    def invalid_document(self, sentence: str) -> Response:
        """Return 400 for a body that cannot be read as a whole."""
        return self._faults_response({responses.DOCUMENT: [sentence]})

    def https_required(self) -> Response:
        """Return 403 for a request that was not encrypted."""
        return responses.message(403, "HTTPS is required.")

    def no_resource(self) -> Response:
        """Return 404 for an unknown path, or a call without ``vendorSiteId``."""
        return responses.message(404, responses.NO_RESOURCE)

    def wrong_verb(self, verb: str, allowed: str) -> Response:
        """Return 405 with the verbs that are allowed."""
        text = f"The requested resource does not support http method '{verb}'."
        return responses.message(405, text, {"Allow": allowed})

    def bad_credentials(self, status: int) -> Response:
        """Return 401 with its challenge, or 404 with the same text as proxy login does."""
        challenge = {"WWW-Authenticate": f'Basic realm="{REALM}"'} if status == 401 else {}
        text = "101: Invalid or unknown vendor credentials or vendor not authorized."
        return text_response(status, text, challenge)

    def scope_missing(self, scope: str, scopes: Sequence[str]) -> Response:
        """Return 403 for an API key without the scope of the call; no call of V3 takes a key."""
        return responses.message(403, f"The API key lacks the scope {scope}.")

    def site_not_allowed(self, sites: Sequence[str]) -> Response:
        """Return 403 for an API key of other sites; no call of V3 takes a key."""
        return responses.message(403, "The API key is not for this site.")

    def baa_missing(self) -> Response:
        """Return 401 for a client without a Business Associate Agreement."""
        text = "201: The client has not accepted the Business Associate Agreement."
        return text_response(401, text)

    def bad_site(self, sites: Sequence[str]) -> Response:
        """Return 400 for a site that is unknown or another vendor's."""
        return responses.message(400, "Invalid VendorSiteId")

    def repeated_parameter(self, name: str) -> Response:
        """Return 400 for a parameter that may be given once: two readers would take different ones."""
        return responses.message(
            400, f"The parameter '{name}' is given more than once; give it once."
        )

    def too_large(self, bytes_max: int) -> Response:
        """Return 413 for a body above the limit."""
        return responses.message(413, f"The request body is larger than {bytes_max} bytes.")

    def wrong_media_type(self) -> Response:
        """Return 415 for a body that is not declared as JSON in a charset that is read."""
        text = (
            "The Content-Type of a request with a body is application/json, with the charset utf-8, utf-16, "
            "us-ascii or iso-8859-1."
        )
        return responses.message(415, text)

    def wrong_content_encoding(self) -> Response:
        """Return 415 for a compressed body."""
        return responses.message(415, ENCODED_BODY, ENCODINGS_READ)

    def too_slow(self) -> Response:
        """Return 408 and close the connection, whose body is incomplete."""
        text = "The request was not received in time."
        return responses.message(408, text, {"Connection": "close"})

    def too_many_calls(self, rate_per_minute: int, retry_seconds: int) -> Response:
        """Return 429 with the seconds to wait."""
        text = f"The limit of {rate_per_minute} calls a minute is exceeded."
        return responses.message(429, text, {"Retry-After": str(retry_seconds)})

    def too_many_failures(self, retry_seconds: int) -> Response:
        """Return 429 for wrong credentials beyond the limit, and close the connection."""
        text = "Too many calls with wrong credentials came from this address. Right ones are always served."
        return responses.message(
            429, text, {"Retry-After": str(retry_seconds), "Connection": "close"}
        )

    def unavailable(self, text: str = UNAVAILABLE) -> Response:
        """Return 503: nothing was stored, so the same call may be sent again."""
        return responses.message(503, text, {"Retry-After": str(limits.RETRY_SECONDS)})

    def internal_error(self) -> Response:
        """Return 500. The caller learns the request id and nothing else."""
        return responses.message(500, "An error has occurred.")


V3_ERRORS = V3Errors()
