"""The protocol of a call without I/O: a generator yields requests and pauses and receives responses.

Both clients run these generators, so retrying, polling and reading are written and tested once.
"""

import logging
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

import msgspec

from clearlane.client import calls, limits, models
from clearlane.client.account import Account
from clearlane.client.build import ClaimKind
from clearlane.client.calls import Call
from clearlane.client.errors import (
    ClearlaneError,
    InvalidRequest,
    StillWaiting,
    TooLarge,
    UnexpectedAnswer,
    error_from_response,
)
from clearlane.client.models import ClaimResult, ClaimSubmission, EligibilityAnswer
from clearlane.client.retry import Retry
from clearlane.client.service_time import ServiceTime
from clearlane.client.transport import Request, Response

T = TypeVar("T")
log = logging.getLogger("clearlane.client")


# V3 defines 200 and, for enrollment, any 2xx; 204 means that claims were not imported.
SUCCESS = frozenset(range(200, 300)) - {204}


@dataclass(frozen=True, slots=True)
class Pause:
    """A step that waits instead of sending."""

    seconds: float


Step: TypeAlias = Request | Pause
TransportResult: TypeAlias = Response | ClearlaneError | None
CallSteps: TypeAlias = Generator[Step, TransportResult, T]


@dataclass(frozen=True, slots=True)
class CallProtocol:
    """The protocol for one account and retry policy."""

    account: Account
    retry: Retry
    timeout_seconds: float | None = None
    """How long to wait for each answer; None: as long as the call usually needs."""
    service_time: ServiceTime = field(default_factory=ServiceTime)

    def perform(self, call: Call[T]) -> CallSteps[T]:
        """Send one call, retry it if that is safe, and return its result."""
        request = self.account.request(call)
        if self.timeout_seconds is not None:
            request = replace(request, timeout_seconds=self.timeout_seconds)
        began, attempt = self.retry.clock(), 0
        while True:
            attempt += 1
            result = yield request
            assert result is not None, "a request has a result"
            if isinstance(result, Response):
                self.service_time.note(result)
                if result.status in SUCCESS:
                    return _read(call, result)
                fault = error_from_response(call.name, result)
            else:
                fault = result
            wait = self.retry.pause_before_retry(
                fault, call.retry_rule, attempt=attempt, elapsed=self.retry.clock() - began
            )
            if wait is None:
                raise fault
            log.warning(
                "%s failed (%s), attempt %d of %d; again in %.1f seconds",
                call.name,
                f"status {fault.status}" if fault.status else type(fault).__name__,
                attempt,
                self.retry.attempts_max,
                wait,
            )
            yield Pause(wait)

    def submit_part(
        self, kind: ClaimKind, claims: list[msgspec.Raw]
    ) -> CallSteps[tuple[ClaimResult, ...]]:
        """Submit claims that fit in a document; if the service takes less, in halves."""
        try:
            answer = yield from self.perform(calls.submission(kind, claims, self.account.site))
        except TooLarge:
            if len(claims) == 1:
                raise
            half = len(claims) // 2
            first = yield from self.submit_part(kind, claims[:half])
            return first + (yield from self.submit_part(kind, claims[half:]))
        if answer.DocumentLevelErrors:
            errors = answer.DocumentLevelErrors
            raise InvalidRequest(
                "The document was refused as a whole.",
                call="submit",
                errors=[
                    (error.Location or "", [error.SupplementalInformation]) for error in errors
                ],
            )
        return answer.ClaimResults

    def today(self) -> CallSteps[date]:
        """Return the service's day, from its last answer, or from one to a call that reads nothing."""
        if self.service_time.today() is None:
            try:
                yield from self.perform(calls.documents([]))
            except ClearlaneError:
                if self.service_time.today() is None:
                    raise
        found = self.service_time.today()
        if found is None:
            raise UnexpectedAnswer(
                "The service sends neither X-Service-Time nor Date.", call="today", status=200
            )
        return found

    def wait_for_eligibility(
        self, about: EligibilityAnswer | Mapping[str, Any] | int, seconds: float
    ) -> CallSteps[EligibilityAnswer]:
        """Submit or poll a request until every response has arrived."""
        began, wait = self.retry.clock(), float(limits.FIRST_POLL_SECONDS)
        if isinstance(about, EligibilityAnswer):
            answer = about
        elif isinstance(about, int):
            answer = yield from self.perform(calls.eligibility_responses(about))
        else:
            answer = yield from self.perform(calls.eligibility(about))
        while answer.waiting:
            left = seconds - (self.retry.clock() - began)
            if left <= 0:
                raise StillWaiting(
                    f"Request {answer.RequestId} lacks responses after {seconds:g} seconds.", answer
                )
            yield Pause(min(wait, left))
            wait = min(wait * 2, float(limits.POLL_SECONDS_MAX))
            answer = yield from self.perform(calls.eligibility_responses(answer.RequestId))
        return answer


def date_windows(start: date, end: date, days: int) -> list[tuple[date, date]]:
    """Return the days from start to end, both included, split into windows of some days."""
    if days < 1:
        raise ValueError("A window is one day at least.")
    if start > end:
        raise ValueError("start must not be after end.")
    windows = []
    while start <= end:
        last = min(start + timedelta(days=days - 1), end)
        windows.append((start, last))
        start = last + timedelta(days=1)
    return windows


def to_date(given: date | str) -> date:
    """Return a date, also from its ISO text."""
    return date.fromisoformat(str(given)[:10])


def _read(call: Call[T], response: Response) -> T:
    try:
        text = response.body.decode("latin-1") if call.reads_text else ""
        value = call.read(text if call.reads_text else models.parse(response.body))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as fault:
        raise UnexpectedAnswer(
            f"The answer is not one that V3 defines ({type(fault).__name__}).",
            call=call.name,
            status=response.status,
            request_id=response.headers.get("x-request-id", ""),
        ) from None
    if not isinstance(value, ClaimSubmission):
        return value
    ignored, notes = (response.headers.get(name, "").split(separator) for name, separator in _LISTS)
    return replace(
        value,
        ignored_fields=tuple(unquote(path.strip()) for path in ignored if path.strip()),
        notes=(*value.notes, *(note.strip() for note in notes if note.strip())),
    )


_LISTS = (("x-ignored-fields", ","), ("x-notes", "|"))
"""Headers with several values, and what separates them."""
