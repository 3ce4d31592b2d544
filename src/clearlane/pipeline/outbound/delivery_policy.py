"""Decide which batch goes next to which payer, over which route, and what follows from a failure.

A destination is one payer and type of claims. It gets one file at a time, the oldest first, so that a payer sees its
files in order and a slow one delays only itself. After a failure the destination is paused, longer each time, and then
one file is tried. Pure: takes what was read, returns what to write.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from clearlane.claims.batch_lifecycle import BatchEvent, allows
from clearlane.claims.write.batch_naming import DEFAULT_SUBMITTER
from clearlane.connect.connections import PayerRoute
from clearlane.connect.port import Presence
from clearlane.events.event import EventData, NewEvent
from clearlane.kernel import limits
from clearlane.store.delivery.batches import PAUSE_MICROS_MAX, Batch
from clearlane.store.delivery.route_health import RouteHealth
from clearlane.x12.writer.encode import clean

# How soon a payer that cannot be reached is tried again, and one that refused; ISA06 and ISA08 have fifteen places.
RETRY_SECONDS_FIRST = 15
DENIED_SECONDS = 3_600
ENVELOPE_ID_CHARACTERS_MAX = 15

SECOND = 1_000_000
"""In microseconds, as all stored times."""

NO_ROUTE = -1

Destination = tuple[str, str]
"""Type of claims and payer id."""


@dataclass(frozen=True, slots=True)
class DeliveryFailure:
    """An attempt to deliver that did not succeed."""

    arrival: Presence
    """ABSENT or UNKNOWN; THERE would be a success."""
    fault: str
    """A sentence without any content of the file."""
    lasting: bool = False
    """Whether only a person can correct it, so that it is tried less often."""


@dataclass(frozen=True, slots=True)
class DeliveryDecision:
    """What an attempt means for a batch, and the new health of its destination."""

    event: BatchEvent
    not_before: int
    failing_since: int
    health: RouteHealth


def _always(batch: Batch) -> bool:
    return True


def next_batches(
    batches: Iterable[Batch],
    health_of: Mapping[Destination, RouteHealth],
    now: int,
    may_go: Callable[[Batch], bool] = _always,
) -> list[Batch]:
    """Return the batch to send now for each destination that has one.

    ``may_go`` says whether the route of a batch is in a send window; it is asked of due batches alone.
    """
    by_destination: dict[Destination, list[Batch]] = defaultdict(list)
    for batch in batches:
        if allows(batch.state, BatchEvent.ATTEMPTED):
            by_destination[batch.destination].append(batch)
    found = []
    for key, waiting in by_destination.items():
        health = health_of.get(key)
        if is_paused(health, now) or any(batch.is_being_sent(now) for batch in waiting):
            continue
        due = [batch for batch in waiting if batch.is_due(now) and may_go(batch)]
        if due:
            found.append(min(due, key=lambda batch: batch.id))
    return found


def is_paused(health: RouteHealth | None, now: int) -> bool:
    """Return whether nothing is sent to a destination now, because of failures or by a person's decision.

    A pause after failures that is longer than any is of a clock that was ahead.
    """
    if health is None:
        return False
    if health.held_since is not None:
        return True
    if health.paused_until is None:
        return False
    return now < health.paused_until <= now + PAUSE_MICROS_MAX


def choose_route(health: RouteHealth | None, routes: Sequence[PayerRoute], now: int) -> PayerRoute:
    """Return the route to use: the first, or the fallback while that is in use."""
    if health is not None and not _failover_is_over(health, routes[0], now):
        for route in routes[1:]:
            if route.route_id == health.fallback_route_id:
                return route
    return routes[0]


def route_of(
    batch: Batch, health: RouteHealth | None, routes: Sequence[PayerRoute], now: int
) -> PayerRoute | None:
    """Return the route that a batch takes now; None if the one it was written for is gone.

    Only what is known not to have been sent is written again for another route; a batch of inquiries, which has no
    claims, stays with its own.
    """
    if routes and batch.claims and allows(batch.state, BatchEvent.REROUTED):
        return choose_route(health, routes, now)
    return next((route for route in routes if route.route_id == batch.route_id), None)


def placeholder_route(type: str, payer_id: str) -> PayerRoute:
    """Return what a file is addressed by while its payer has no route. It is written again when it has one."""
    id = clean(payer_id)[0][:ENVELOPE_ID_CHARACTERS_MAX].strip()
    return PayerRoute(
        route_id=NO_ROUTE,
        payer_id=payer_id,
        type=type,
        kind="none",
        sender_id=DEFAULT_SUBMITTER.id,
        receiver_id=id if len(id) > 1 else f"P{id}",
    )


def pause_seconds(failures: int) -> int:
    """Return how long to wait after a number of failures in a row: it doubles up to a maximum."""
    doublings = min(failures - 1, limits.RETRY_SECONDS_MAX.bit_length())
    return min(RETRY_SECONDS_FIRST << doublings, limits.RETRY_SECONDS_MAX)


def after_failure(
    batch: Batch,
    health: RouteHealth,
    routes: Sequence[PayerRoute],
    failure: DeliveryFailure,
    now: int,
) -> DeliveryDecision:
    """Return what follows from a failed attempt."""
    absent = failure.arrival is Presence.ABSENT
    event = BatchEvent.NOT_ARRIVED if absent else BatchEvent.MAY_HAVE_ARRIVED
    since = now if batch.failing_since is None else batch.failing_since
    current = next((route for route in routes if route.route_id == batch.route_id), None)
    if current is None or current.route_id != choose_route(health, routes, now).route_id:
        # The batch is in doubt on a route that is no longer used: that says nothing about the route in use.
        return DeliveryDecision(event, now + SECOND * pause_seconds(batch.attempts), since, health)
    health = replace(health, failures=health.failures + 1, fault=failure.fault)
    pause = SECOND * pause_seconds(health.failures)
    if len(routes) > 1 and _should_fail_over(health, routes, current, now - since, now):
        health = _fail_over(health, routes, current, now)
        # Known to be absent, it takes the other route at once; else it waits until this route can be asked.
        return DeliveryDecision(event, now if absent else now + pause, since, health)
    rest = SECOND * DENIED_SECONDS if failure.lasting else pause
    return DeliveryDecision(event, now + rest, since, replace(health, paused_until=now + pause))


def after_poll(
    health: RouteHealth, routes: Sequence[PayerRoute], polled: int, now: int, *, worked: bool
) -> RouteHealth:
    """Return the health after a poll of a route: one that worked ends the pause of deliveries over the same route.

    Once only, until a delivery succeeds or a poll fails: a payer that can be read from, but takes no files, is not tried
    at every poll. Asked only if there was a failure, or a batch waits for its next attempt.
    """
    if not worked:
        return replace(health, retried_at=None)
    in_use = routes and choose_route(health, routes, now).route_id == polled
    if not in_use or health.retried_at is not None:
        return health
    return replace(health, paused_until=None, retried_at=now)


def after_delivery(batch: Batch, health: RouteHealth) -> RouteHealth:
    """Return the health after a delivery: no failures; a fallback route in use stays in use."""
    if batch.route_id == health.fallback_route_id:
        return replace(health, failures=0, paused_until=None, fault="", retried_at=None)
    return RouteHealth(health.payer_id, health.type, held_since=health.held_since)


def route_events(before: RouteHealth, after: RouteHealth, at: int) -> list[NewEvent]:
    """Return the event of a route that begins to fail, or works again."""
    was_down, is_down = before.paused_until is not None, after.paused_until is not None
    if was_down == is_down:
        return []
    data: EventData = {"payer_id": after.payer_id, "payer_type": after.type}
    return [NewEvent("route.down" if is_down else "route.up", at, data=data)]


def _failover_is_over(health: RouteHealth, first: PayerRoute, now: int) -> bool:
    return (
        health.fallback_since is None
        or now - health.fallback_since >= SECOND * first.takeover_seconds
    )


def _should_fail_over(
    health: RouteHealth, routes: Sequence[PayerRoute], current: PayerRoute, failing: int, now: int
) -> bool:
    """Return whether a route has failed long enough that the next one takes over.

    The first route is tried again now and then; if that fails the fallback continues at once.
    """
    tried_again = current is routes[0] and health.fallback_route_id is not None
    return tried_again or failing >= SECOND * current.takeover_seconds


def _fail_over(
    health: RouteHealth, routes: Sequence[PayerRoute], current: PayerRoute, now: int
) -> RouteHealth:
    after = routes[(routes.index(current) + 1) % len(routes)]
    if current is routes[0] and any(
        route.route_id == health.fallback_route_id for route in routes[1:]
    ):
        after = next(route for route in routes if route.route_id == health.fallback_route_id)
    route_id, since = (None, None) if after is routes[0] else (after.route_id, now)
    return replace(
        health, failures=0, paused_until=None, fallback_route_id=route_id, fallback_since=since
    )
