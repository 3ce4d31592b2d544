"""Which batch goes next, over which route, and what follows from a failure: decided without any I/O.

Also tests `connect/connections` and `store/delivery/route_health`.
"""

from dataclasses import replace

import pytest

from clearlane.claims.batch_lifecycle import BatchEvent, BatchState
from clearlane.connect.connections import PayerRoute
from clearlane.connect.port import Presence
from clearlane.kernel import limits
from clearlane.pipeline.outbound.delivery_policy import (
    DENIED_SECONDS,
    NO_ROUTE,
    SECOND,
    DeliveryFailure,
    after_delivery,
    after_failure,
    choose_route,
    is_paused,
    next_batches,
    pause_seconds,
    placeholder_route,
)
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.route_health import RouteHealth
from tests.cases import every_case

NOW = 1_000_000 * SECOND
TAKEOVER = 100
AWAY = DeliveryFailure(Presence.ABSENT, "It is away.")
LOST = DeliveryFailure(Presence.UNKNOWN, "The connection broke.")
DENIED = DeliveryFailure(Presence.ABSENT, "The login was refused.", lasting=True)
HEALTHY = RouteHealth("MM001", "Medical")


def batch(id=1, state=BatchState.READY, payer_id="MM001", **own):
    facts = {
        "type": "Medical", "kind": "medical", "route_id": 1, "control": id, "name": f"{id}.x12", "digest": "", "claims": 1,
        "bytes": 1, "created_at": 0, "attempts": 1, "not_before": NOW, "holder": "", "lease_until": None,
        "arriving": False, "failing_since": None, "delivered_at": None, "acknowledged_at": None, "fault": "",
    }  # fmt: skip
    return Batch(id=id, state=state, payer_id=payer_id, **(facts | own))


def route(id):
    return PayerRoute(
        route_id=id, payer_id="MM001", type="Medical", kind="memory", sender_id="CLEARLANE",
        receiver_id="MEADOW", takeover_seconds=TAKEOVER,
    )  # fmt: skip


FIRST, SECOND_ROUTE, THIRD = route(1), route(2), route(3)
ROUTES = [FIRST, SECOND_ROUTE, THIRD]
SENDING = {"state": BatchState.SENDING, "holder": "w"}
PAUSED = replace(HEALTHY, failures=1, paused_until=NOW + 1)

# The waiting batches, the health of their payer, and the ids of those that go now.
NEXT_BATCHES = {
    "none waits": ([], None, []),
    "the oldest goes": ([batch(3), batch(2)], None, [2]),
    "the oldest that is due goes": ([batch(2, not_before=NOW + 1), batch(3)], None, [3]),
    "none is due": ([batch(2, not_before=NOW + 1)], None, []),
    "one is being sent": ([batch(2, **SENDING, lease_until=NOW + 1), batch(3)], None, []),
    "a lease has ended": ([batch(2, **SENDING, lease_until=NOW), batch(3)], None, [2]),
    "a pause of its own": (
        [batch(2, BatchState.SENDING, not_before=NOW + 1), batch(3)],
        None,
        [3],
    ),
    "in doubt or delivered": (
        [batch(1, BatchState.IN_DOUBT), batch(2, BatchState.DELIVERED)],
        None,
        [],
    ),
    "one in doubt holds no other": ([batch(1, BatchState.IN_DOUBT), batch(2)], None, [2]),
    "the payer is paused": ([batch(2)], PAUSED, []),
    "the pause has ended": ([batch(2)], replace(PAUSED, paused_until=NOW), [2]),
    "failures without a pause": ([batch(2)], replace(PAUSED, paused_until=None), [2]),
    "payers side by side": ([batch(2), batch(3, payer_id="HH001")], PAUSED, [3]),
    "types side by side": ([batch(2), batch(3, type="Dental")], PAUSED, [3]),
}


@every_case("case", NEXT_BATCHES)
def test_next_batches(case):
    waiting, health, expected = NEXT_BATCHES[case]
    health_of = {health.key: health} if health else {}
    assert [one.id for one in next_batches(waiting, health_of, NOW)] == expected


def test_times_that_a_clock_ahead_recorded_hold_nothing_up():
    year = 365 * 86_400 * SECOND
    for one in (
        batch(not_before=NOW + year),
        batch(**SENDING, lease_until=NOW + year),
    ):
        assert next_batches([one], {}, NOW) == [one]
    paused = {("Medical", "MM001"): replace(HEALTHY, failures=1, paused_until=NOW + year)}
    assert next_batches([batch()], paused, NOW) == [batch()]


def test_without_a_row_of_health_nothing_is_paused():
    assert not is_paused(None, NOW)
    assert is_paused(PAUSED, NOW)


def on_fallback(route_id, since=0):
    return replace(HEALTHY, fallback_route_id=route_id, fallback_since=NOW - since * SECOND)


# The health and the routes of a payer, and the route that is used.
CHOSEN = {
    "no trouble": (None, ROUTES, 1),
    "trouble, no fallback": (replace(HEALTHY, failures=3), ROUTES, 1),
    "a fallback is in use": (on_fallback(2), ROUTES, 2),
    "another fallback": (on_fallback(3, TAKEOVER - 1), ROUTES, 3),
    "the first is tried again": (on_fallback(2, TAKEOVER), ROUTES, 1),
    "the fallback is gone": (on_fallback(9), ROUTES, 1),
    "the fallback became the first": (on_fallback(1), ROUTES, 1),
    "one route is left": (on_fallback(2), [FIRST], 1),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_choose_route(case):
    health, routes, expected = CHOSEN[case]
    assert choose_route(health, routes, NOW).route_id == expected


def failing(seconds, **own):
    return batch(state=BatchState.SENDING, failing_since=NOW - seconds * SECOND, **own)


PAUSE = pause_seconds(1)
# Batch, health, routes, failure; then event, pause of the batch and of the payer in seconds, fallback route.
FAILURES = {
    "the first failure pauses the payer": (
        failing(0), HEALTHY, [FIRST], AWAY,
        BatchEvent.NOT_ARRIVED, PAUSE, PAUSE, None,
    ),
    "it may have arrived": (
        failing(0), HEALTHY, [FIRST], LOST,
        BatchEvent.MAY_HAVE_ARRIVED, PAUSE, PAUSE, None,
    ),
    "a pause grows with the failures of the payer": (
        failing(0), replace(HEALTHY, failures=3), [FIRST], AWAY,
        BatchEvent.NOT_ARRIVED, pause_seconds(4), pause_seconds(4), None,
    ),
    "what a person must correct keeps the batch back for longer": (
        failing(0), HEALTHY, [FIRST], DENIED,
        BatchEvent.NOT_ARRIVED, DENIED_SECONDS, PAUSE, None,
    ),
    "a second route waits for its time": (
        failing(TAKEOVER - 1), HEALTHY, ROUTES, AWAY,
        BatchEvent.NOT_ARRIVED, PAUSE, PAUSE, None,
    ),
    "after its time it takes over at once": (
        failing(TAKEOVER), HEALTHY, ROUTES, AWAY,
        BatchEvent.NOT_ARRIVED, 0, None, 2,
    ),
    "what may have arrived waits for its own route": (
        failing(TAKEOVER), HEALTHY, ROUTES, LOST,
        BatchEvent.MAY_HAVE_ARRIVED, PAUSE, None, 2,
    ),
    "one route has nothing to take over": (
        failing(TAKEOVER), HEALTHY, [FIRST], AWAY,
        BatchEvent.NOT_ARRIVED, PAUSE, PAUSE, None,
    ),
    "a fallback that fails hands over to the next": (
        failing(TAKEOVER, route_id=2), on_fallback(2), ROUTES, AWAY,
        BatchEvent.NOT_ARRIVED, 0, None, 3,
    ),
    "the last hands back to the first": (
        failing(TAKEOVER, route_id=3), on_fallback(3), ROUTES, AWAY,
        BatchEvent.NOT_ARRIVED, 0, None, None,
    ),
    "the first tried again in vain: the fallback goes on": (
        failing(0), on_fallback(3, TAKEOVER), ROUTES, AWAY,
        BatchEvent.NOT_ARRIVED, 0, None, 3,
    ),
    "the first tried again in vain, the fallback gone": (
        failing(0), on_fallback(9, TAKEOVER), ROUTES, AWAY,
        BatchEvent.NOT_ARRIVED, 0, None, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILURES)
def test_after_failure(case):
    one, health, routes, failure, event, rest, pause, fallback = FAILURES[case]
    after = after_failure(one, health, routes, failure, NOW)
    assert (after.event, after.not_before) == (event, NOW + rest * SECOND)
    assert after.failing_since == one.failing_since
    assert after.health.paused_until == (None if pause is None else NOW + pause * SECOND)
    assert after.health.fallback_route_id == fallback
    assert (after.health.fallback_since is None) is (fallback is None)
    assert after.health.fault == failure.fault


def test_a_failure_is_counted_from_the_first():
    assert after_failure(batch(), HEALTHY, [FIRST], AWAY, NOW).failing_since == NOW


@pytest.mark.parametrize(
    ("one", "health", "routes"),
    [
        (failing(0, route_id=1, attempts=2), on_fallback(2), ROUTES),  # another route is in use
        (failing(0, route_id=9, attempts=2), HEALTHY, ROUTES),  # its route is gone
    ],
)
def test_a_failure_on_a_route_that_is_not_used_says_nothing_of_the_one_that_is(one, health, routes):
    after = after_failure(one, health, routes, LOST, NOW)
    assert after.health is health
    assert after.not_before == NOW + pause_seconds(2) * SECOND


TROUBLED = replace(PAUSED, failures=4, fault="It is away.")


@pytest.mark.parametrize(
    ("health", "expected"),
    [
        (TROUBLED, HEALTHY),
        (replace(TROUBLED, fallback_route_id=2, fallback_since=5), HEALTHY),  # the first is back
        (
            replace(TROUBLED, fallback_route_id=1, fallback_since=5),
            replace(HEALTHY, fallback_route_id=1, fallback_since=5),
        ),
    ],
)
def test_after_delivery(health, expected):
    assert after_delivery(batch(route_id=1), health) == expected


@pytest.mark.parametrize(
    ("payer_id", "receiver"),
    [
        ("MM001", "MM001"),
        ("mm001", "MM001"),
        ("7", "P7"),
        ("", "P"),
        ("A" * 80, "A" * 15),
        ("A" * 14 + " B", "A" * 14),
    ],
)
def test_a_placeholder_has_ids_that_fit_the_envelope(payer_id, receiver):
    made = placeholder_route("Medical", payer_id)
    assert (made.route_id, made.payer_id, made.receiver_id) == (NO_ROUTE, payer_id, receiver)


def test_pauses_double_up_to_the_longest():
    assert [pause_seconds(failures) for failures in (1, 2, 3)] == [15, 30, 60]
    assert pause_seconds(10_000) == limits.RETRY_SECONDS_MAX
