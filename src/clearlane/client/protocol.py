"""A call as a conversation, without a network: requests and pauses come out, responses go in.

The two clients only carry them. So repeating, waiting and reading are written and tested once.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

import msgspec

from clearlane.client import calls, limits, models
from clearlane.client.account import Account
from clearlane.client.calls import Call
from clearlane.client.errors import ClearlaneError, StillWaiting, UnexpectedAnswer, refusal
from clearlane.client.models import ClaimSubmission, EligibilityAnswer
from clearlane.client.retry import Retry
from clearlane.client.transport import Request, Response

T = TypeVar("T")


# The interface promises 200 and, for enrollment, anything in its range; 204 is its word for a failure.
SUCCESS = frozenset(range(200, 300)) - {204}


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for a while."""

    seconds: float


Step: TypeAlias = Request | Pause
Heard: TypeAlias = Response | ClearlaneError | None
Talk: TypeAlias = Generator[Step, Heard, T]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who speaks, and with how much patience."""

    account: Account
    retry: Retry

    def say(self, call: Call[T]) -> Talk[T]:
        """One call: sent, repeated where that is safe, read."""
        request = self.account.request(call)
        began, attempt = self.retry.clock(), 0
        while True:
            attempt += 1
            heard = yield request
            assert heard is not None, "a request is answered"
            fault = heard if isinstance(heard, ClearlaneError) else None
            if isinstance(heard, Response):
                if heard.status in SUCCESS:
                    return _read(call, heard)
                fault = refusal(call.name, heard)
            assert fault is not None
            wait = self.retry.pause(
                fault, call.repeat, attempt=attempt, elapsed=self.retry.clock() - began
            )
            if wait is None:
                raise fault
            yield Pause(wait)

    def wait_for_eligibility(
        self, about: EligibilityAnswer | Mapping[str, Any] | int, seconds: float
    ) -> Talk[EligibilityAnswer]:
        """Ask (or ask again) until every response is in."""
        began, wait = self.retry.clock(), float(limits.FIRST_LOOK_SECONDS)
        if isinstance(about, EligibilityAnswer):
            answer = about
        elif isinstance(about, int):
            answer = yield from self.say(calls.eligibility_responses(about))
        else:
            answer = yield from self.say(calls.eligibility(about))
        while answer.waiting:
            left = seconds - (self.retry.clock() - began)
            if left <= 0:
                raise StillWaiting(
                    f"Request {answer.RequestId} lacks responses after {seconds:g} seconds.", answer
                )
            yield Pause(min(wait, left))
            wait = min(wait * 2, float(limits.LOOK_SECONDS_MAX))
            answer = yield from self.say(calls.eligibility_responses(answer.RequestId))
        return answer


def windows(start: date, end: date, days: int) -> list[tuple[date, date]]:
    """The days from start to end, both included, in pieces."""
    if days < 1:
        raise ValueError("A window is one day at least.")
    if start > end:
        raise ValueError("start must not be after end.")
    found = []
    while start <= end:
        last = min(start + timedelta(days=days - 1), end)
        found.append((start, last))
        start = last + timedelta(days=1)
    return found


def as_day(given: date | str) -> date:
    """A day, also from its text."""
    return date.fromisoformat(str(given)[:10])


def _read(call: Call[T], response: Response) -> T:
    try:
        value = call.read(models.parse(response.body))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as fault:
        raise UnexpectedAnswer(
            f"The answer is not what the interface says ({type(fault).__name__}).",
            call=call.name,
            status=response.status,
            request_id=response.headers.get("x-request-id", ""),
        ) from None
    ignored = response.headers.get("x-ignored-fields", "")
    if ignored and isinstance(value, ClaimSubmission):
        named = tuple(unquote(path.strip()) for path in ignored.split(","))
        return replace(value, ignored_fields=named)
    return value
