"""A client knows the service's day, which in a sandbox is not this machine's."""

from datetime import date, datetime

import pytest

from clearlane.client import Client, NotReached, Response, UnexpectedAnswer
from clearlane.client.service_time import ServiceTime
from tests.client import sample_calls
from tests.client.scripted_service import Reply

AHEAD = {"X-Service-Time": "2031-05-05T23:59:30Z"}
DAY = date(2031, 5, 5)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"x-service-time": "2031-05-05T23:59:30Z"}, "2031-05-05T23:59:30+00:00"),
        ({"x-service-time": "2031-05-05T23:59:30+02:00"}, "2031-05-05T21:59:30+00:00"),
        (
            {"x-service-time": "soon", "date": "Fri, 30 Jan 2026 09:30:00 GMT"},
            "2026-01-30T09:30:00+00:00",
        ),
        ({"date": "Fri, 30 Jan 2026 09:30:00 GMT"}, "2026-01-30T09:30:00+00:00"),
        ({"x-service-time": "2031-05-05"}, None),
        ({"date": "yesterday"}, None),
        ({}, None),
    ],
)
def test_the_time_is_that_of_the_headers(headers, expected):
    service_time = ServiceTime(clock=lambda: 0.0)
    service_time.note(Response(200, headers, b""))
    assert service_time.now() == (expected and datetime.fromisoformat(expected))


def test_what_passes_after_an_answer_counts():
    passed = iter([10.0, 25.0, 45.0])
    service_time = ServiceTime(clock=lambda: next(passed))
    service_time.note(Response(200, {"x-service-time": AHEAD["X-Service-Time"]}, b""))
    assert service_time.today() == DAY
    assert service_time.today() == date(2031, 5, 6)


def test_an_answer_without_a_time_changes_nothing():
    service_time = ServiceTime(clock=lambda: 0.0)
    service_time.note(Response(200, {"x-service-time": AHEAD["X-Service-Time"]}, b""))
    service_time.note(Response(200, {}, b""))
    assert service_time.today() == DAY


def test_today_is_of_the_last_answer_and_costs_no_call(service, client):
    service.answer(Reply(body=[sample_calls.PAYER], headers=AHEAD))
    client.payers()
    asked = len(service.received)
    assert client.today() == DAY
    assert len(service.received) == asked


async def test_today_asks_where_there_was_no_answer_even_a_refusal_will_do(service, async_client):
    service.answer(Reply(401, "101: Unknown.", headers=AHEAD))
    assert await async_client.today() == DAY


def test_a_service_that_cannot_be_reached_tells_no_day(client, pauses):
    class Nowhere:
        def send(self, request):
            raise NotReached("Nobody is there.", call=request.name)

        def close(self): ...

    with pytest.raises(NotReached):
        Client(client.account, transport=Nowhere(), sleep=pauses.append).today()


def test_a_service_without_any_time_is_no_service(client, pauses):
    class Timeless:
        def send(self, request):
            return Response(200, {}, b"[]")

        def close(self): ...

    with pytest.raises(UnexpectedAnswer, match="Date"):
        Client(client.account, transport=Timeless(), sleep=pauses.append).today()
