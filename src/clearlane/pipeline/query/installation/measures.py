"""Measure an installation for its operator: what flows, what waits, and how this node does.

    measures = await source.current()     # at most MEASURED_SECONDS old

The counts come from the database, in one snapshot, and are kept for some seconds, so that a monitoring system that asks
often costs little; claims by state are read from what a node has counted (``claim_counts``). ``conditions`` says what is
wrong.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from operator import itemgetter

from clearlane.connect.connections import Connections
from clearlane.engine.backlog import EngineBacklog
from clearlane.kernel.clock import Clock, from_micros, to_micros
from clearlane.kernel.durations import Durations
from clearlane.pipeline.query.installation.claim_counts import (
    REST_FACTOR,
    ClaimCounts,
    count_claims,
    load_claim_counts,
)
from clearlane.pipeline.query.installation.waiting_claims import (
    Destination,
    WaitingClaims,
    waiting_by_payer,
)
from clearlane.pipeline.retention.purge_runs import Purge, PurgeRun, load_purge_runs
from clearlane.store.audit.anchor import AnchorFault
from clearlane.store.audit.set_back import SetBack
from clearlane.store.database.database import Database, StoreWaits, Tx
from clearlane.store.database.schema.partitions import PartitionState
from clearlane.store.delivery import file_refusals, inbox, proof_log
from clearlane.store.delivery.file_refusals import RefusedFiles
from clearlane.store.delivery.inbox import RoutePoll
from clearlane.store.delivery.route_counts import RouteCounts, all_route_counts
from clearlane.store.delivery.route_health import RouteHealth, all_route_health
from clearlane.store.events import webhooks
from clearlane.store.files import due_responses
from clearlane.store.installation import code_lists, operating_counts
from clearlane.store.installation.nodes import Node, live_nodes
from clearlane.store.installation.operating_counts import (
    DeliveredFiles,
    InboxCounts,
    InquiryCounts,
    OpenClaims,
    OpenInquiries,
    PaymentCounts,
    SilentNode,
)

MEASURED_SECONDS = 5
CLAIMS_COUNTED_SECONDS = 60
"""Claims are counted again after a multiple of the last count's duration: two percent of a core at most."""
NODE_SILENT_SECONDS = 120
RESPONSE_FAILURES_MIN = 5
"""How often a file for a sender could not be written before an operator is warned: some five minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeliveredClaims:
    """What waits to be delivered to one payer, as claims and as files."""

    type: str
    payer_id: str
    claims: int = 0
    """In files and not yet in one."""
    files: int = 0
    oldest_at: int | None = None
    """Since when the oldest claim or file waits."""
    failing_since: int | None = None
    """Since when deliveries fail; None if none has."""
    fault: str = ""
    """Why the last attempt failed."""
    route_id: int | None = None
    route_kind: str = ""
    hop: str = ""
    """The hop that deliveries fail to, if they go over one."""
    has_route: bool = True
    held_since: int | None = None
    """Since when a person has paused the payer; None if no one has."""
    in_doubt: int = 0
    """Files whose delivery is unconfirmed; they are not counted in ``files``, nor their claims in ``claims``."""
    claims_in_doubt: int = 0
    """Claims that may have been sent before a restore, and wait for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutePolling:
    """The last look into the mailbox of a route."""

    type: str
    payer_id: str
    route_id: int
    route_kind: str = ""
    fault: str = ""
    passed_over: int = 0
    overdue_seconds: float = 0.0
    """How long ago the next look was due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMeasures:
    """What only this process knows."""

    database: str = "sqlite"
    write_fault: str = ""
    reserve_warning: str = ""
    anchor_fault: str = ""
    anchor_age_seconds: float | None = None
    """How long ago the anchor was saved; None if none was."""
    anchor_behind_seconds: float = 0.0
    """How long the first row waits that the anchor does not vouch for."""
    set_back: str = ""
    """What is known of an older database that took the place of this one."""
    certificate_ends_at: datetime | None = None
    waits: StoreWaits = field(default_factory=lambda: StoreWaits(0, 0.0, Durations(), Durations()))
    backlog: EngineBacklog | None = None
    """None in a command, which has no engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of an installation at one moment."""

    at: datetime
    """By the clock of claims."""
    wall: datetime
    sandbox: bool = False
    open_claims: tuple[OpenClaims, ...] = ()
    claims_last_day: int = 0
    claims_counted_at: int | None = None
    """When the open claims and those of the last day were counted; everything else is counted now."""
    undelivered: tuple[UndeliveredClaims, ...] = ()
    delivered: tuple[DeliveredFiles, ...] = ()
    routes: tuple[RouteCounts, ...] = ()
    refused: tuple[RefusedFiles, ...] = ()
    """Files that payers refused for their envelope, with claims that wait."""
    polls: tuple[RoutePolling, ...] = ()
    inbox: tuple[InboxCounts, ...] = ()
    payments: PaymentCounts = field(default_factory=PaymentCounts)
    inquiries: tuple[InquiryCounts, ...] = ()
    open_inquiries: tuple[OpenInquiries, ...] = ()
    nodes: tuple[Node, ...] = ()
    silent_nodes: tuple[SilentNode, ...] = ()
    parked_work: int = 0
    failed_responses: int = 0
    """Files for senders that could not be written several times."""
    disabled_webhooks: int = 0
    webhook_due_at: int | None = None
    """Since when, in real time, the oldest delivery waits that could be made; None if none does."""
    """Webhook endpoints of vendors that failed too long, so that nothing is sent to them."""
    unsigned_since: int | None = None
    """When the oldest entry of the log of filings that no checkpoint covers was added; None if there is none."""
    code_lists: Mapping[str, date] = field(default_factory=dict)
    """The last day of each code list in force."""
    backup_at: int | None = None
    """When the last backup was written, by the wall clock; if there is none, when the installation was first used."""
    backup_known: bool = False
    used_since: int | None = None
    """When the installation was first used, by the wall clock; None if it never was."""
    purges: Mapping[Purge, PurgeRun] = field(default_factory=dict)
    """What each purge did last; one that never ran is missing."""
    partitions: PartitionState | None = None
    """Until when PostgreSQL has partitions; None on SQLite."""
    node: NodeMeasures = field(default_factory=NodeMeasures)

    @property
    def purges_since(self) -> datetime | None:
        """Since when purges are to run; None in a sandbox, which need not run at night."""
        return None if self.sandbox or self.used_since is None else from_micros(self.used_since)

    @property
    def webhook_wait_seconds(self) -> float:
        """How long the oldest delivery to a webhook endpoint waits that could be made; 0 if none does."""
        return (
            0.0
            if self.webhook_due_at is None
            else max(0.0, (to_micros(self.wall) - self.webhook_due_at) / 1_000_000)
        )

    def seconds_since(self, micros: int) -> float:
        """Return how long ago a moment of the clock of claims was."""
        return (to_micros(self.at) - micros) / 1_000_000


BacklogReader = Callable[[], Awaitable[EngineBacklog | None]]


@dataclass(slots=True, kw_only=True)
class MeasureSource:
    """Measures an installation, and keeps what it found for some seconds."""

    database: Database
    clock: Clock
    wall: Clock
    connections: Callable[[], Connections]
    sandbox: bool = False
    set_back: SetBack | None = None
    certificate_ends: Callable[[], datetime | None] = lambda: None
    """Returns when the certificate that this node serves ends."""
    backlog: BacklogReader | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _last: tuple[float, Measures] | None = None
    _claims: tuple[float, ClaimCounts] | None = None
    """When claims are counted again, if no node does it, and what was counted."""

    async def current(self) -> Measures:
        """Return measures that are at most MEASURED_SECONDS old. Several askers cost one measurement."""
        async with self._lock:
            now = time.monotonic()
            if self._last is None or now - self._last[0] >= MEASURED_SECONDS:
                self._last = (now, await self.measure())
            return self._last[1]

    async def measure(self) -> Measures:
        """Measure now; only claims by state may be a minute or more old."""
        at, wall = self.clock.now(), self.wall.now()
        now = to_micros(at)
        backlog = await self.backlog() if self.backlog else None
        partitions = await self.database.partition_state()
        async with self.database.read(operating_counts.SCOPE) as tx:
            backup_at = await operating_counts.last_backup_at(tx)
            used_since = await operating_counts.first_audited_at(tx)
            claims = await self._claim_counts(tx, now)
            return Measures(
                at=at,
                wall=wall,
                sandbox=self.sandbox,
                open_claims=claims.open_claims,
                claims_last_day=claims.last_day,
                claims_counted_at=claims.counted_at,
                undelivered=await self._undelivered(tx),
                delivered=tuple(await operating_counts.count_delivered(tx, now)),
                routes=tuple(await all_route_counts(tx)),
                refused=tuple(await file_refusals.count_open(tx)),
                polls=await self._polls(tx, now),
                inbox=tuple(await operating_counts.count_inbox(tx, now)),
                payments=await operating_counts.count_payments(tx, now),
                inquiries=tuple(await operating_counts.count_inquiries(tx, now)),
                open_inquiries=tuple(await operating_counts.count_open_inquiries(tx)),
                nodes=tuple(await live_nodes(tx)),
                silent_nodes=tuple(
                    await operating_counts.list_silent_nodes(tx, NODE_SILENT_SECONDS * 1_000_000)
                ),
                parked_work=await operating_counts.count_parked_work(tx),
                failed_responses=await due_responses.count_failed(tx, RESPONSE_FAILURES_MIN),
                disabled_webhooks=await webhooks.count_disabled(tx),
                webhook_due_at=await webhooks.oldest_due(tx, to_micros(wall)),
                unsigned_since=await proof_log.oldest_waiting(tx),
                code_lists=await code_lists.last_days(tx),
                backup_at=backup_at or used_since,
                backup_known=backup_at is not None,
                used_since=used_since,
                purges=await load_purge_runs(tx),
                partitions=partitions,
                node=await self._node(tx, wall, backlog),
            )

    async def _claim_counts(self, tx: Tx, now: int) -> ClaimCounts:
        """Return what a node has counted lately, else count."""
        kept = await load_claim_counts(tx, now)
        if kept is not None:
            return kept
        began = time.monotonic()
        if self._claims is None or began >= self._claims[0]:
            counted = await count_claims(tx, now)
            # If very many claims are open, counting them is slow: they are counted less often then.
            ended = time.monotonic()
            rest = max(CLAIMS_COUNTED_SECONDS, REST_FACTOR * (ended - began))
            self._claims = (ended + rest, counted)
        return self._claims[1]

    async def _undelivered(self, tx: Tx) -> tuple[UndeliveredClaims, ...]:
        found, health = await waiting_by_payer(tx), await all_route_health(tx)
        return tuple(
            self._sum_up(key, waiting, health.get(key))
            for key, waiting in sorted(found.items(), key=itemgetter(0))
        )

    def _sum_up(
        self, key: Destination, waiting: WaitingClaims, health: RouteHealth | None
    ) -> UndeliveredClaims:
        worst = waiting.failing
        routes = self.connections().mailbox_routes(*key)
        kinds = {route.route_id: route.kind for route in routes}
        route_id = worst.route_id if worst else next(iter(kinds), None)
        return UndeliveredClaims(
            type=key[0],
            payer_id=key[1],
            claims=waiting.claims,
            files=len(waiting.sending),
            oldest_at=waiting.oldest_at,
            failing_since=worst.failing_since if worst else None,
            fault=worst.fault if worst else "",
            route_id=route_id,
            route_kind="" if route_id is None else kinds.get(route_id, ""),
            hop=worst.hop if worst else "",
            has_route=bool(routes),
            held_since=health.held_since if health else None,
            in_doubt=len(waiting.in_doubt),
            claims_in_doubt=waiting.queued_in_doubt,
        )

    async def _polls(self, tx: Tx, now: int) -> tuple[RoutePolling, ...]:
        """Return the last look over each route that is in use."""
        polls: Mapping[tuple[str, str, int], RoutePoll] = await inbox.all_polls(tx)
        found = []
        for route in self.connections().all_mailbox_routes():
            poll = polls.get((route.type, route.payer_id, route.route_id))
            if poll is not None:
                found.append(
                    RoutePolling(
                        type=route.type,
                        payer_id=route.payer_id,
                        route_id=route.route_id,
                        route_kind=route.kind,
                        fault=poll.fault,
                        passed_over=poll.passed_over,
                        overdue_seconds=max(0.0, (now - poll.next_at) / 1_000_000),
                    )
                )
        return tuple(found)

    async def _node(self, tx: Tx, wall: datetime, backlog: EngineBacklog | None) -> NodeMeasures:
        database = self.database
        fault, age, behind = await self._anchor(tx, wall)
        return NodeMeasures(
            database=database.dialect,
            write_fault=database.write_fault,
            reserve_warning=database.reserve_warning,
            anchor_fault=database.anchor_fault or fault,
            anchor_age_seconds=age,
            anchor_behind_seconds=behind,
            set_back=self.set_back.sentence if self.set_back else "",
            certificate_ends_at=self.certificate_ends(),
            waits=database.waits,
            backlog=backlog,
        )

    async def _anchor(self, tx: Tx, wall: datetime) -> tuple[str, float | None, float]:
        """Return what is wrong with the anchor, how old it is, and how long it lags behind the chain."""
        if self.database.anchor is None:
            return "", None, 0.0
        try:
            note = await asyncio.to_thread(self.database.anchor.read)
        except (AnchorFault, OSError) as fault:
            return str(fault), None, 0.0
        if note is None:
            return "", None, 0.0
        now = to_micros(wall)
        # Nodes that share a database anchor what they write themselves, so that an idle one lags without a fault.
        first = None
        if self.database.dialect == "sqlite":
            first = await operating_counts.first_audited_at(tx, after=note.head.seq)
        behind = 0.0 if first is None else (now - first) / 1_000_000
        return "", (now - note.at) / 1_000_000, behind
