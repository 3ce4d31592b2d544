"""What can go wrong with a call, as a tree.

::

    ClearlaneError
    ├── BadCredentials        401 (proxy login: 404 that begins with 101:)
    ├── BaaMissing            401 whose text before the first colon is 201
    ├── InvalidRequest        400 and the like: ``model_state``, ``errors``, ``faults``
    │   └── TooLarge          413
    ├── NotFound              404
    ├── RateLimited           429: ``retry_after``
    ├── NotImported           204 to claims: nothing was stored, sending again is safe
    ├── Unavailable           5xx, or no answer at all
    │   ├── NotReached        the connection was never made, so nothing was taken
    │   │   └── CertificateRefused
    │   └── AnswerLost        sent, but the answer did not come: it may have been taken
    ├── StillWaiting          eligibility answers are missing after the time given: ``answer``
    └── UnexpectedAnswer      not what the interface says

Texts name calls, statuses and fields, never what fields hold: exceptions end in logs. What the
service said about values is in the attributes. No credential is ever part of either.
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
    """Anything a call can end with instead of an answer."""

    repeatable = False
    """Whether the same call may succeed a little later."""
    untaken = False
    """Whether it is certain that the service has not taken the request."""

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


class InvalidRequest(ClearlaneError):
    """The service cannot use the request; nothing was taken."""

    untaken = True

    def __init__(
        self,
        message: str,
        *,
        model_state: Mapping[str, list[str]] | None = None,
        errors: list[tuple[str, list[str]]] | None = None,
        detail: str = "",
        **where: Any,
    ) -> None:
        super().__init__(message, **where)
        self.model_state = dict(model_state or {})
        """Sentences by field, as the service gave them."""
        self.errors = list(errors or [])
        """The key/value details of an enrollment refusal."""
        self.detail = detail
        """``MessageDetail``, where there is one."""

    @property
    def faults(self) -> dict[str, list[str]]:
        """Sentences by field, wherever the service put them."""
        merged = {field: list(said) for field, said in self.model_state.items()}
        for field, said in self.errors:
            merged.setdefault(field, []).extend(said)
        return merged

    def __str__(self) -> str:
        fields = list(self.faults)
        if not fields:
            return super().__str__()
        shown = ", ".join(fields[: limits.FIELDS_NAMED_MAX])
        more = len(fields) - limits.FIELDS_NAMED_MAX
        return f"{super().__str__()} Fields: {shown}{f' and {more} more' if more > 0 else ''}."


class TooLarge(InvalidRequest):
    """The body is larger than the service takes, or holds too many claims."""


class NotFound(ClearlaneError):
    """There is no such thing, or no such call."""


class RateLimited(ClearlaneError):
    """Too many calls; the service took none of this one."""

    repeatable = True
    untaken = True


class NotImported(ClearlaneError):
    """The claims were not imported, none of them. Sending the same document again is safe."""

    repeatable = True
    untaken = True


class Unavailable(ClearlaneError):
    """The service cannot answer now."""

    repeatable = True


class NotReached(Unavailable):
    """The connection was never made."""

    untaken = True


class CertificateRefused(NotReached):
    """The service's certificate is not one we trust. Trying again would not change that."""

    repeatable = False


class AnswerLost(Unavailable):
    """The request went out and no answer came back."""


class StillWaiting(ClearlaneError):
    """Not every response has arrived in the time given."""

    def __init__(self, message: str, answer: Any) -> None:
        super().__init__(message)
        self.answer = answer
        """The last answer: what has arrived is in it."""


class UnexpectedAnswer(ClearlaneError):
    """The service answered something that the interface does not know."""


def refusal(call: str, response: Response) -> ClearlaneError:
    """The exception for an answer that is no success."""
    said = Said(response)
    where = {
        "call": call,
        "status": response.status,
        "request_id": response.headers.get("x-request-id", ""),
        "retry_after": said.retry_after,
    }
    make = BY_STATUS.get(response.status)
    if make is None:
        make = _unavailable if response.status >= 500 else _unexpected
    return make(said, where)


class Said:
    """The body and headers of a refusal, read with patience: shapes differ between services."""

    def __init__(self, response: Response) -> None:
        body = response.body.removeprefix(BOM_UTF8)
        self.text = body.decode("utf-8", "replace").strip()
        try:
            parsed = msgspec.json.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            parsed = None
        self.object: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
        if isinstance(parsed, str):  # a text that was sent as JSON
            self.text = parsed
        self.headers = response.headers

    @property
    def message(self) -> str:
        given = self.object.get("Message") or self.headers.get("x-message")
        text = str(given) if given else "" if self.object else self.text
        return text[: limits.TEXT_CHARACTERS_MAX]

    @property
    def number(self) -> int | None:
        """The text before the first colon as an integer, as the interface tells to read it."""
        head, colon, _ = self.text.partition(":")
        try:
            return int(head) if colon else None
        except ValueError:
            return None

    @property
    def model_state(self) -> dict[str, list[str]]:
        state = self.object.get("ModelState")
        if not isinstance(state, dict):
            return {}
        return {str(field): _sentences(said) for field, said in state.items()}

    @property
    def errors(self) -> list[tuple[str, list[str]]]:
        """The array of key/value details, under whatever name it comes."""
        arrays = [value for value in self.object.values() if isinstance(value, list)]
        return [
            (str(item["Key"]), _sentences(item.get("Value")))
            for array in arrays
            for item in array
            if isinstance(item, dict) and "Key" in item
        ]

    @property
    def retry_after(self) -> float | None:
        """Seconds, also where the service names a moment: its own ``Date`` says how far off that is."""
        text = self.headers.get("retry-after", "").strip()
        if text.isdecimal():
            return float(text)
        try:
            wait = parsedate_to_datetime(text) - parsedate_to_datetime(self.headers.get("date", ""))
        except (ValueError, TypeError):
            return None
        return max(0.0, wait.total_seconds())


Where = Mapping[str, Any]
Make = Callable[[Said, Where], ClearlaneError]


def _sentences(said: Any) -> list[str]:
    return [str(each) for each in said] if isinstance(said, list) else [str(said)]


def _unauthorized(said: Said, where: Where) -> ClearlaneError:
    kind = BaaMissing if said.number == BAA_NOT_ACCEPTED else BadCredentials
    return kind(said.message or "The credentials were refused.", **where)


def _not_found(said: Said, where: Where) -> ClearlaneError:
    kind = BadCredentials if said.number == CREDENTIALS_UNKNOWN else NotFound
    return kind(said.message or "Not found.", **where)


def _invalid(said: Said, where: Where) -> ClearlaneError:
    kind = TooLarge if where["status"] == 413 else InvalidRequest
    return kind(
        said.message or "The request is invalid.",
        model_state=said.model_state,
        errors=said.errors,
        detail=str(said.object.get("MessageDetail") or ""),
        **where,
    )


def _unavailable(said: Said, where: Where) -> ClearlaneError:
    fault = Unavailable(said.message or "The service is not available.", **where)
    # A service that says when to come back has refused before it took anything.
    fault.untaken = fault.status == 503 and fault.retry_after is not None
    return fault


def _unexpected(said: Said, where: Where) -> ClearlaneError:
    return UnexpectedAnswer("The service answered with a status that the interface lacks.", **where)


BY_STATUS: Mapping[int, Make] = {
    204: lambda said, where: NotImported(
        said.message or "The claims could not be imported.", **where
    ),
    400: _invalid,
    401: _unauthorized,
    404: _not_found,
    413: _invalid,
    415: _invalid,
    429: lambda said, where: RateLimited(said.message or "Too many calls.", **where),
}
