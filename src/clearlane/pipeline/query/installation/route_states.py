"""How each payer is reached, and how that goes: works, down, paused, in doubt, and what waits for it.

    states = await load_route_states(database, connections, payers)       # down ones first
    page = await load_traffic(database, states[:50], now)                 # their newest files
    days = await load_days(database, destination, now, time_zone)         # 30 days, for one route

One state is one destination: a payer and a type of claims. Knows no HTTP and no text for people beyond the faults that
connections word themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.connect.connections import Connections, PayerRoute
from clearlane.kernel.clock import from_micros, to_local, to_micros
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.hops import HOP, Hop
from clearlane.payers.routes import Route
from clearlane.pipeline.query.installation.waiting_claims import (
    Destination,
    WaitingClaims,
    waiting_by_payer,
)
from clearlane.store.database.database import Database, Tx
from clearlane.store.delivery import inbox, route_traffic
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.file_query import FileQuery, find_batches, find_inbox_files
from clearlane.store.delivery.inbox import InboxFile, RoutePoll
from clearlane.store.delivery.route_health import RouteHealth, all_route_health
from clearlane.store.delivery.route_traffic import UnansweredFiles
from clearlane.store.delivery.routes import list_routes
from clearlane.store.events import delivery_failures
from clearlane.store.events.delivery_failures import DeliveryFailureRow
from clearlane.store.installation import operating_counts

DAYS_SHOWN = 30
FILES_COUNTED_MAX = 5_000
TRIES_SHOWN = 5
ANSWER_LATE_DAYS = 2


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
    """Claims that wait, in a batch or for one, as ``waiting_by_payer`` counts them."""
    cents: int = 0
    oldest_at: int | None = None
    failing_since: int | None = None
    fault: str = ""
    next_try: int | None = None
    tries: int = 0

    @property
    def is_some(self) -> bool:
        """Whether anything waits, for the payer or for a person."""
        return bool(self.claims or self.in_doubt)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteState:
    """One payer and type of claims: its routes, their health, and what waits."""

    destination: Destination
    name: str
    hop: Hop | None = None
    """The hop, with the payers that it serves; None for a payer."""
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
            (RouteCondition.NO_ROUTE, not self.routes and self.waiting.is_some),
            (RouteCondition.IN_DOUBT, bool(self.waiting.in_doubt)),
            (RouteCondition.NOT_READ, any(poll.fault for poll in self.polls)),
            (RouteCondition.FALLBACK, bool(self.health and self.health.fallback_route_id)),
            (RouteCondition.UNUSED, not self.routes and not self.is_asked),
        ):
            if holds:
                return condition
        return RouteCondition.WORKS

    @property
    def is_asked(self) -> bool:
        """Whether it is asked in real time."""
        return any(one.active and not one.carries_files for one in self.stored)

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
        names = [route.kind for route in self.routes]
        names += [one.kind.value for one in self.stored if one.active and not one.carries_files]
        names = names or [one.kind.value for one in self.stored]
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTraffic:
    """The newest files of a destination."""

    last_out: Batch | None
    last_in: InboxFile | None
    late: UnansweredFiles
    """The files that the payer has and has not answered after some days."""
    failures: tuple[DeliveryFailureRow, ...] = ()
    """The last tries that failed."""


@dataclass(frozen=True, slots=True)
class OpenAtPayer:
    """What is on its way to or at a payer and has no answer yet."""

    files: int
    """Files that the payer has, and has answered for no claim; of the newest UNANSWERED_FILES_MAX."""
    questions: int
    """Questions about benefits or claims."""


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
        waiting = await waiting_by_payer(tx)
        cents = await _sum_waiting(tx, waiting)
    active: dict[Destination, list[PayerRoute]] = {}
    for route in connections.all_mailbox_routes():
        active.setdefault((route.type, route.payer_id), []).append(route)
    keys = {*active, *waiting}
    keys |= {(route.type, route.payer_id) for route in stored}
    states = []
    hops = {(HOP, hop.id): hop for hop in connections.hops()}
    for key in keys:
        payer = payers.find(key[1], key[0]) or hops.get(key)
        is_hop = key in hops
        health = _hop_health(key[1], waiting, health_of) if is_hop else health_of.get(key)
        routes = connections.mailbox_routes(*key) if key not in active else active[key]
        states.append(
            RouteState(
                destination=key,
                name=payer.name if payer else key[1],
                hop=hops.get(key),
                routes=tuple(routes),
                stored=tuple(one for one in stored if (one.type, one.payer_id) == key),
                health=health,
                polls=tuple(poll for poll in polls if (poll.type, poll.payer_id) == key),
                waiting=_hop_backlog(key[1], waiting, health)
                if is_hop
                else _backlog(waiting.get(key, WaitingClaims()), cents.get(key, 0), health),
            )
        )
    order = list(RouteCondition)
    return sorted(
        states, key=lambda one: (order.index(one.condition), one.name.casefold(), one.destination)
    )


def _failing_over(
    hop: str, waiting: Mapping[Destination, WaitingClaims]
) -> dict[Destination, Batch]:
    """Return by payer the file to a hop that has failed for the longest time."""
    return {
        key: worst
        for key, one in waiting.items()
        if (worst := one.failing) is not None and worst.hop == hop
    }


def _hop_health(
    hop: str,
    waiting: Mapping[Destination, WaitingClaims],
    health_of: Mapping[Destination, RouteHealth],
) -> RouteHealth | None:
    """Return the worst health of the payers whose files fail on the way to a hop: health is kept by payer."""
    found = [health_of[key] for key in _failing_over(hop, waiting) if key in health_of]
    worst = max(found, key=lambda one: one.failures, default=None)
    # A person pauses payers, and each has its own other routes.
    return worst and replace(worst, held_since=None, fallback_route_id=None)


def _hop_backlog(
    hop: str, waiting: Mapping[Destination, WaitingClaims], health: RouteHealth | None
) -> RouteBacklog:
    """Return since when and why a hop is down; what waits for it is counted at its payers."""
    failing = WaitingClaims(batches=[*_failing_over(hop, waiting).values()])
    return replace(_backlog(failing, 0, health), files=0, claims=0, oldest_at=None)


async def _sum_waiting(
    tx: Tx, waiting: Mapping[Destination, WaitingClaims]
) -> dict[Destination, int]:
    """Return the cents of the claims that wait, by destination."""
    found: dict[Destination, int] = {}
    for (payer_id, kind), cents in (await route_traffic.sum_queued(tx)).items():
        key = (KINDS[ClaimKind(kind)].payer_type, payer_id)
        found[key] = found.get(key, 0) + cents
    sending = [batch for one in waiting.values() for batch in one.sending]
    of_batch = await route_traffic.sum_batches(tx, [batch.id for batch in sending])
    for batch in sending:
        key = batch.destination
        found[key] = found.get(key, 0) + of_batch.get(batch.id, 0)
    return found


def _backlog(waiting: WaitingClaims, cents: int, health: RouteHealth | None) -> RouteBacklog:
    """Return what waits for one destination."""
    due = [one.due_at for one in waiting.sending if one.fault]
    paused = health.paused_until if health else None
    return RouteBacklog(
        files=len(waiting.sending),
        in_doubt=len(waiting.in_doubt),
        in_doubt_since=min((one.created_at for one in waiting.in_doubt), default=None),
        claims=waiting.claims,
        cents=cents,
        oldest_at=waiting.oldest_at,
        # The route fails, whatever a person must decide about the file that it failed with.
        failing_since=min(
            filter(None, (one.failing_since for one in waiting.batches)), default=None
        ),
        fault=(health.fault if health else "") or next((b.fault for b in waiting.batches), ""),
        next_try=max(filter(None, (paused, min(due, default=None))), default=None),
        tries=health.failures if health else 0,
    )


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
            received = await find_inbox_files(tx, _files_of(key, limit=1))
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


async def count_open(database: Database, destination: Destination, now: datetime) -> OpenAtPayer:
    """Count what a destination has and has not answered."""
    at = to_micros(now)
    since = at - delivery_failures.FAILURES_KEPT_DAYS * delivery_failures.DAY_MICROS
    async with database.read(route_traffic.SCOPE) as tx:
        unanswered = await route_traffic.find_unanswered(
            tx, destination, delivered_from=since, delivered_before=at
        )
        questions = await operating_counts.count_open_inquiries(tx)
    asked = sum(one.inquiries for one in questions if (one.type, one.payer_id) == destination)
    return OpenAtPayer(unanswered.files, asked)


async def list_files(
    tx: Tx, destination: Destination, limit: int
) -> tuple[list[Batch], list[InboxFile]]:
    """Return the newest files of a destination: those that went out, and those that came in."""
    return (
        await find_batches(tx, _batches_of(destination, limit)),
        await find_inbox_files(tx, _files_of(destination, limit)),
    )


def _batches_of(destination: Destination, limit: int) -> FileQuery:
    """Return the query of what was sent: to a hop, the files for every payer that it serves."""
    type, id = destination
    return (
        FileQuery(where={"hop": id}, limit=limit) if type == HOP else _files_of(destination, limit)
    )


def _files_of(destination: Destination, limit: int) -> FileQuery:
    return FileQuery(where=dict(zip(("type", "payer"), destination, strict=True)), limit=limit)


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
        sent, received = await list_files(tx, destination, limit)
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
