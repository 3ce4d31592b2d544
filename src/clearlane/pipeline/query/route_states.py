"""How each payer is reached, and how that goes: works, down, paused, in doubt, and what waits for it.

    states = await load_route_states(database, connections, payers)       # down ones first
    page = await load_traffic(database, states[:50], now)                 # their newest files
    days = await load_days(database, destination, now, time_zone)         # 30 days, for one route

One state is one destination: a payer and a type of claims. Knows no HTTP and no text for people beyond the faults that
connections word themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.fields import ClaimKind
from clearlane.claims.forms import FORMS
from clearlane.connect.connections import Connections, PayerRoute
from clearlane.kernel.clock import from_micros, to_local, to_micros
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.routes import Route
from clearlane.store.claims.claim_queue import PayerQueue, list_payer_queues
from clearlane.store.database.database import Database
from clearlane.store.delivery import batches, inbox, route_traffic
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.inbox import InboxFile, RoutePoll
from clearlane.store.delivery.route_health import RouteHealth, all_route_health
from clearlane.store.delivery.route_traffic import SentFile, UnansweredFiles
from clearlane.store.delivery.routes import list_routes
from clearlane.store.events import delivery_failures
from clearlane.store.events.delivery_failures import DeliveryFailureRow

DAYS_SHOWN = 30
FILES_COUNTED_MAX = 5_000
TRIES_SHOWN = 5
ANSWER_LATE_DAYS = 2
NO_FILE = 1 << 62
"""Above every id of a file."""

Destination = tuple[str, str]
"""Type of claims and payer id."""


class RouteCondition(StrEnum):
    """How it goes with a destination, the worst first."""

    DOWN = "down"
    NO_ROUTE = "no route"
    IN_DOUBT = "in doubt"
    NOT_READ = "mailbox not read"
    HELD = "paused"
    FALLBACK = "second route in use"
    WORKS = "works"
    UNUSED = "not used yet"


BROKEN = frozenset({RouteCondition.DOWN, RouteCondition.NO_ROUTE, RouteCondition.NOT_READ})
"""Conditions in which files do not go out or come in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteBacklog:
    """What waits for one destination, and how the tries to send it went."""

    files: int = 0
    """Batches that wait."""
    in_doubt: int = 0
    in_doubt_since: int | None = None
    """When the oldest batch in doubt was made."""
    claims: int = 0
    """Claims that wait, in a batch or for one."""
    cents: int = 0
    oldest_at: int | None = None
    failing_since: int | None = None
    fault: str = ""
    next_try: int | None = None
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteState:
    """One payer and type of claims: its routes, their health, and what waits."""

    destination: Destination
    name: str
    routes: tuple[PayerRoute, ...]
    """Active, first choice first."""
    stored: tuple[Route, ...] = ()
    """As they were set up, inactive ones too; none for a simulated payer."""
    health: RouteHealth | None = None
    polls: tuple[RoutePoll, ...] = ()
    waiting: RouteBacklog = field(default_factory=RouteBacklog)

    @property
    def condition(self) -> RouteCondition:
        """How it goes."""
        if self.health and self.health.held_since is not None:
            return RouteCondition.HELD
        for condition, holds in (
            (RouteCondition.DOWN, bool(self.health and self.health.failures)),
            (RouteCondition.NO_ROUTE, not self.routes and bool(self.waiting.claims)),
            (RouteCondition.IN_DOUBT, bool(self.waiting.in_doubt)),
            (RouteCondition.NOT_READ, any(poll.fault for poll in self.polls)),
            (RouteCondition.FALLBACK, bool(self.health and self.health.fallback_route_id)),
            (RouteCondition.UNUSED, not self.routes),
        ):
            if holds:
                return condition
        return RouteCondition.WORKS

    @property
    def type(self) -> str:
        """The type of claims."""
        return self.destination[0]

    @property
    def payer_id(self) -> str:
        """The payer."""
        return self.destination[1]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of connection, each once."""
        names = [route.kind for route in self.routes] or [one.kind.value for one in self.stored]
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTraffic:
    """The newest files of a destination."""

    last_out: SentFile | None
    last_in: InboxFile | None
    late: UnansweredFiles
    """The files that the payer has and has not answered after some days."""
    failures: tuple[DeliveryFailureRow, ...] = ()
    """The last tries that failed."""


@dataclass(slots=True)
class RouteDay:
    """One day of a destination."""

    day: date
    out: int = 0
    received: int = 0
    failures: int = 0
    faults: set[str] = field(default_factory=set)


async def load_route_states(
    database: Database, connections: Connections, payers: PayerDirectory
) -> list[RouteState]:
    """Return every destination that has a route, or something that waits; the worst first."""
    stored = [route for route, _ in await list_routes(database)]
    async with database.read(route_traffic.SCOPE) as tx:
        health_of = await all_route_health(tx)
        polls = list((await inbox.all_polls(tx)).values())
        queues = await list_payer_queues(tx)
        waiting = await batches.list_undelivered(tx)
        queued = await route_traffic.sum_queued(tx)
        cents = await route_traffic.sum_batches(tx, [batch.id for batch in waiting])
    active: dict[Destination, list[PayerRoute]] = {}
    for route in connections.all_mailbox_routes():
        active.setdefault((route.type, route.payer_id), []).append(route)
    keys = {*active, *(batch.destination for batch in waiting), *map(_queue_key, queues)}
    keys |= {(route.type, route.payer_id) for route in stored if route.carries_files}
    backlog = _WaitingRows(queues, waiting, queued, cents)
    states = []
    for key in keys:
        payer = payers.find(key[1], key[0])
        routes = connections.mailbox_routes(*key) if key not in active else active[key]
        states.append(
            RouteState(
                destination=key,
                name=payer.name if payer else key[1],
                routes=tuple(routes),
                stored=tuple(one for one in stored if (one.type, one.payer_id) == key),
                health=health_of.get(key),
                polls=tuple(poll for poll in polls if (poll.type, poll.payer_id) == key),
                waiting=backlog.of(key, health_of.get(key)),
            )
        )
    order = list(RouteCondition)
    return sorted(
        states, key=lambda one: (order.index(one.condition), one.name.casefold(), one.destination)
    )


@dataclass(frozen=True, slots=True)
class _WaitingRows:
    """Claims that wait for a batch, and batches that wait to be delivered."""

    queues: Sequence[PayerQueue]
    batches: Sequence[Batch]
    queued_cents: Mapping[tuple[str, str], int]
    batch_cents: Mapping[int, int]

    def of(self, key: Destination, health: RouteHealth | None) -> RouteBacklog:
        """Return what waits for one destination."""
        queues = [one for one in self.queues if _queue_key(one) == key]
        own = [one for one in self.batches if one.destination == key]
        sending = [one for one in own if one.state is not BatchState.IN_DOUBT]
        doubts = [one.created_at for one in own if one.state is BatchState.IN_DOUBT]
        oldest = [one.oldest_at for one in queues] + [one.created_at for one in own]
        failing = [one.failing_since for one in own if one.failing_since is not None]
        due = [one.due_at for one in sending if one.fault]
        paused = health.paused_until if health else None
        return RouteBacklog(
            files=len(sending),
            in_doubt=len(doubts),
            in_doubt_since=min(doubts, default=None),
            claims=sum(one.claims for one in queues) + sum(one.claims for one in own),
            cents=sum(self.queued_cents.get((one.payer_id, one.kind), 0) for one in queues)
            + sum(self.batch_cents.get(one.id, 0) for one in own),
            oldest_at=min(oldest, default=None),
            failing_since=min(failing, default=None),
            fault=(health.fault if health else "") or next((one.fault for one in own), ""),
            next_try=max(filter(None, (paused, min(due, default=None))), default=None),
            tries=health.failures if health else 0,
        )


def _queue_key(queue: PayerQueue) -> Destination:
    return FORMS[ClaimKind(queue.kind)].payer_type, queue.payer_id


async def load_traffic(
    database: Database, states: Iterable[RouteState], now: datetime
) -> dict[Destination, RouteTraffic]:
    """Return the newest files of some destinations, and the last tries of those that are down."""
    found: dict[Destination, RouteTraffic] = {}
    at = to_micros(now)
    since = at - delivery_failures.FAILURES_KEPT_DAYS * delivery_failures.DAY_MICROS
    late = at - ANSWER_LATE_DAYS * delivery_failures.DAY_MICROS
    async with database.read(route_traffic.SCOPE) as tx:
        for state in states:
            key = state.destination
            sent = await route_traffic.last_delivered(tx, key)
            received = await route_traffic.list_received(tx, key, before=NO_FILE, limit=1)
            unanswered = await route_traffic.find_unanswered(
                tx, key, delivered_from=since, delivered_before=late
            )
            failures = (
                await delivery_failures.list_failures(tx, key, since=since, limit=TRIES_SHOWN)
                if state.waiting.tries
                else []
            )
            found[key] = RouteTraffic(
                last_out=sent,
                last_in=received[0] if received else None,
                late=unanswered,
                failures=tuple(failures),
            )
    return found


async def load_days(
    database: Database, destination: Destination, now: datetime, time_zone: str
) -> list[RouteDay]:
    """Return the last days of a destination in a time zone, the oldest first."""
    today = to_local(now, time_zone).date()
    days = {
        day: RouteDay(day)
        for day in (today - timedelta(days=back) for back in reversed(range(DAYS_SHOWN)))
    }
    since = to_micros(now - timedelta(days=DAYS_SHOWN))
    limit = FILES_COUNTED_MAX
    async with database.read(route_traffic.SCOPE) as tx:
        sent = await route_traffic.list_sent(tx, destination, before=NO_FILE, limit=limit)
        received = await route_traffic.list_received(tx, destination, before=NO_FILE, limit=limit)
        failures = await delivery_failures.list_failures(tx, destination, since=since, limit=limit)

    def of(micros: int | None) -> RouteDay | None:
        return None if micros is None else days.get(to_local(from_micros(micros), time_zone).date())

    for batch in sent:
        if day := of(batch.delivered_at):
            day.out += 1
    for file in received:
        if day := of(file.received_at):
            day.received += 1
    for failure in failures:
        if day := of(failure.at):
            day.failures += 1
            day.faults.add(failure.fault)
    return list(days.values())
