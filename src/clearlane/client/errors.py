"""The exceptions of the client, as a tree.

::

    ClearlaneError
    ├── BadCredentials        401 (proxy login: 404 that begins with 101:)
    ├── BaaMissing            401 whose text before the first colon is 201
    ├── NotAllowed            403: an API key without the scope or the site, a suspended account
    ├── InvalidRequest        400 and similar: ``model_state``, ``errors``, ``faults``
    │   ├── Conflict          409: the present state forbids it, such as a claim that another has taken over from
    │   └── TooLarge          413
    ├── NotFound              404
    ├── RateLimited           429: ``retry_after``
    ├── NotImported           204 to claims: nothing was stored, sending again is safe
    ├── Unavailable           5xx, or no answer at all
    │   ├── NotReached        the connection was never made, so nothing was processed
    │   │   └── CertificateRefused
    │   └── AnswerLost        sent, but no answer came: it may have been processed
    ├── StillWaiting          not everything has come after the time given: ``answer``
    └── UnexpectedAnswer      not an answer that V3 defines

Exceptions end in logs, so their texts name calls, statuses and fields, never values of fields. What the
service reported about values is in the attributes. Credentials are in neither.
"""

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from clearlane.client import limits
from clearlane.client.transport import Response

BAA_NOT_ACCEPTED = 201
CREDENTIALS_UNKNOWN = 101


class ClearlaneError(Exception):
    """The base of all errors of a call."""

    retryable = False
    """Whether the same call may succeed a little later."""
    not_processed = False
    """Whether it is certain that the service has not processed the request."""

    def __init__(
        self,
        message: str,
        *,
        call: str = "",
        status: int | None = None,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.call = call
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        head = ": ".join(str(part) for part in (self.call, self.status) if part)
        tail = f" (X-Request-Id {self.request_id})" if self.request_id else ""
        return (f"{head}: " if head else "") + self.message + tail


class BadCredentials(ClearlaneError):
    """The service does not know this vendor key and password."""


class BaaMissing(ClearlaneError):
    """The client of this site has not accepted the Business Associate Agreement."""


class NotAllowed(ClearlaneError):
    """The credentials are right, and not for this call: the message names the scope or site that an API key lacks."""

    not_processed = True


class InvalidRequest(ClearlaneError):
    """The service refused the request; nothing was processed."""

    not_processed = True

    def __init__(
        self,
        message: str,
        *,
        model_state: Mapping[str, list[str]] | None = None,
        errors: list[tuple[str, list[str]]] | None = None,
        detail: str = "",
        **context: Any,
    ) -> None:
        super().__init__(message, **context)
        self.model_state = dict(model_state or {})
        """Sentences by field, as the service gave them."""
        self.errors = list(errors or [])
        """The key/value details of a refused enrollment request."""
        self.detail = detail
        """``MessageDetail``, if there is one."""

    @property
    def faults(self) -> dict[str, list[str]]:
        """Sentences by field, from ``model_state`` and ``errors``."""
        merged = {field: list(sentences) for field, sentences in self.model_state.items()}
        for field, sentences in self.errors:
            merged.setdefault(field, []).extend(sentences)
        return merged

    def __str__(self) -> str:
        fields = list(self.faults)
        if not fields:
            return super().__str__()
        shown = ", ".join(fields[: limits.FIELDS_NAMED_MAX])
        more = len(fields) - limits.FIELDS_NAMED_MAX
        return f"{super().__str__()} Fields: {shown}{f' and {more} more' if more > 0 else ''}."


class Conflict(InvalidRequest):
    """The present state forbids it: a batch has the claim, or another correction was faster. Look at it again."""


class TooLarge(InvalidRequest):
    """The body is larger than the service allows, or has too many claims."""


class NotFound(ClearlaneError):
    """There is no such object, or no such call."""


class RateLimited(ClearlaneError):
    """Too many calls; the service did not process this one."""

    retryable = True
    not_processed = True


class NotImported(ClearlaneError):
    """The claims were not imported, none of them. Sending the same document again is safe."""

    retryable = True
    not_processed = True


class Unavailable(ClearlaneError):
    """The service cannot answer at the moment."""

    retryable = True


class NotReached(Unavailable):
    """The connection was never made."""

    not_processed = True


class CertificateRefused(NotReached):
    """The service's certificate is not trusted; a retry would not change that."""

    retryable = False


class AnswerLost(Unavailable):
    """The request went out and no answer came back."""


class StillWaiting(ClearlaneError):
    """Not every response has arrived, or a claim is not decided, in the time given."""

    def __init__(self, message: str, answer: Any) -> None:
        super().__init__(message)
        self.answer = answer
        """The last answer, or the claim's last status: what has arrived is in it."""


class UnexpectedAnswer(ClearlaneError):
    """The service gave an answer that V3 does not define."""


class SignatureRefused(ClearlaneError):
    """A webhook is not signed with the secret, was changed, or is too old."""


def error_from_response(call: str, response: Response) -> ClearlaneError:
    """Return the exception for a response that is not a success."""
    body = ErrorBody(response)
    context = {
        "call": call,
        "status": response.status,
        "request_id": response.headers.get("x-request-id", ""),
        "retry_after": body.retry_after,
    }
    make = FACTORIES_BY_STATUS.get(response.status)
    if make is None:
        make = _unavailable if response.status >= 500 else _unexpected
    return make(body, context)


class ErrorBody:
    """The body and headers of an error response, read tolerantly: shapes differ between services."""

    def __init__(self, response: Response) -> None:
        body = response.body.removeprefix(BOM_UTF8)
        self.text = body.decode("utf-8", "replace").strip()
        try:
            parsed = msgspec.json.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            parsed = None
        self.object: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
        if isinstance(parsed, str):  # a text that was sent as a JSON string
            self.text = parsed
        self.headers = response.headers

    @property
    def message(self) -> str:
        """The sentence of the error, from body or header."""
        problem = self.object.get("detail")  # RFC 9457, of V1
        given = self.object.get("Message") or problem or self.headers.get("x-message")
        text = str(given) if given else "" if self.object else self.text
        return text[: limits.TEXT_CHARACTERS_MAX]

    @property
    def number(self) -> int | None:
        """The text before the first colon as an integer, as V3 defines its error numbers."""
        head, colon, _ = self.text.partition(":")
        try:
            return int(head) if colon else None
        except ValueError:
            return None

    @property
    def model_state(self) -> dict[str, list[str]]:
        """Sentences by field."""
        state = self.object.get("ModelState")
        if not isinstance(state, dict):
            return self._problem_fields()
        return {str(field): _sentences(found) for field, found in state.items()}

    def _problem_fields(self) -> dict[str, list[str]]:
        """Return the sentences by field of a problem (RFC 9457)."""
        found: dict[str, list[str]] = {}
        errors = self.object.get("errors")
        for one in errors if isinstance(errors, list) else ():
            if isinstance(one, dict) and "field" in one:
                found.setdefault(str(one["field"]), []).append(str(one.get("message", "")))
        return found

    @property
    def errors(self) -> list[tuple[str, list[str]]]:
        """The array of key/value details, under any name."""
        arrays = [value for value in self.object.values() if isinstance(value, list)]
        return [
            (str(item["Key"]), _sentences(item.get("Value")))
            for array in arrays
            for item in array
            if isinstance(item, dict) and "Key" in item
        ]

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait; if the service names a time, the distance from its own ``Date`` header."""
        text = self.headers.get("retry-after", "").strip()
        if text.isdecimal():
            return float(text)
        try:
            wait = parsedate_to_datetime(text) - parsedate_to_datetime(self.headers.get("date", ""))
        except (ValueError, TypeError):
            return None
        return max(0.0, wait.total_seconds())


ErrorContext = Mapping[str, Any]
ErrorFactory = Callable[[ErrorBody, ErrorContext], ClearlaneError]


def _sentences(found: Any) -> list[str]:
    return [str(each) for each in found] if isinstance(found, list) else [str(found)]


def _unauthorized(body: ErrorBody, context: ErrorContext) -> ClearlaneError:
    kind = BaaMissing if body.number == BAA_NOT_ACCEPTED else BadCredentials
    return kind(body.message or "The credentials were refused.", **context)


def _forbidden(body: ErrorBody, context: ErrorContext) -> ClearlaneError:
    type = str(body.object.get("type", ""))
    if type.endswith("baa_missing"):
        return BaaMissing(body.message or "The agreement is missing.", **context)
    # V3 defines no 403.
    return (
        NotAllowed(body.message or "Not allowed.", **context)
        if type
        else _unexpected(body, context)
    )


def _not_found(body: ErrorBody, context: ErrorContext) -> ClearlaneError:
    kind = BadCredentials if body.number == CREDENTIALS_UNKNOWN else NotFound
    return kind(body.message or "Not found.", **context)


def _invalid(body: ErrorBody, context: ErrorContext) -> ClearlaneError:
    kind = INVALID_BY_STATUS.get(context["status"], InvalidRequest)
    return kind(
        body.message or "The request is invalid.",
        model_state=body.model_state,
        errors=body.errors,
        detail=str(body.object.get("MessageDetail") or ""),
        **context,
    )


def _unavailable(body: ErrorBody, context: ErrorContext) -> ClearlaneError:
    fault = Unavailable(body.message or "The service is not available.", **context)
    # A service that names a time to retry has refused the request before processing it.
    fault.not_processed = fault.status == 503 and fault.retry_after is not None
    return fault


def _unexpected(body: ErrorBody, context: ErrorContext) -> ClearlaneError:
    return UnexpectedAnswer(
        "The service answered with a status that V3 does not define.", **context
    )


INVALID_BY_STATUS: Mapping[int, type[InvalidRequest]] = {409: Conflict, 413: TooLarge}
FACTORIES_BY_STATUS: Mapping[int, ErrorFactory] = {
    204: lambda body, context: NotImported(
        body.message or "The claims could not be imported.", **context
    ),
    400: _invalid,
    401: _unauthorized,
    403: _forbidden,
    404: _not_found,
    409: _invalid,
    413: _invalid,
    415: _invalid,
    422: _invalid,
    429: lambda body, context: RateLimited(body.message or "Too many calls.", **context),
}
