"""Routes to payers, their secrets sealed.

A change is one transaction: the row, the audit entry and the revisions that running nodes watch. The
payers' revision changes too, because the directory shows who has a route. Knows no connection.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import bindparam, select, union, update

from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.payers.hops import HOP, Hop, HopPayer, shared_ids
from clearlane.payers.route_change import differences, moves
from clearlane.payers.routes import FILE_KINDS, SENDER_SEPARATOR, Route, RouteKind, RouteSecrets
from clearlane.store.database.database import (
    Actor,
    Database,
    OperationRefused,
    Row,
    SystemScope,
    Tx,
)
from clearlane.store.database.schema import ROUTE_ACTIONS, audit, hop_payers, revisions, routes
from clearlane.store.database.sql import Statement, inlined, insert_into
from clearlane.store.installation.nodes import bump_revision
from clearlane.store.vault.vault import Vault

REVISION = "routes"
PAYERS_REVISION = "payers"
SCOPE = SystemScope("routes belong to the installation")
OWNER = 0
"""The data key that seals the secrets is the installation's, which is not a vendor."""
TABLE = "routes"
SENDERS = "senders"


@dataclass(frozen=True, slots=True)
class RouteChange:
    """A route as it is stored now."""

    route: Route
    revision: int | None
    """The revision that running nodes must load; None when nothing changed."""


@dataclass(frozen=True, slots=True)
class RouteWithSecrets:
    """A route with the secrets it logs in with."""

    route: Route
    secrets: RouteSecrets


class ActiveRoutes:
    """The active routes as one snapshot, found by payer, in their order."""

    def __init__(
        self,
        routes: Iterable[RouteWithSecrets],
        payers_of_hops: Mapping[int, Sequence[HopPayer]] = MappingProxyType({}),
        inactive_hops: Iterable[Route] = (),
    ) -> None:
        """``payers_of_hops`` are the payers that each route to a hop serves, by the number of the route."""
        self.hops: dict[int, Hop] = {}
        """The hops that are in use, by the number of their route."""
        self._by_payer: dict[tuple[str, str], list[RouteWithSecrets]] = defaultdict(list)
        # Of one position, a payer's own route comes before a hop.
        order = sorted(routes, key=lambda r: (r.route.position, r.route.type == HOP, r.route.id))
        active = [one for one in order if one.route.active]
        for stored in active:
            if stored.route.type == HOP and stored.route.carries_files:
                self.hops[stored.route.id] = _hop(stored.route, payers_of_hops)
        for stored in active:
            self._by_payer[stored.route.payer_key].append(stored)
            if hop := self.hop_of(stored.route):
                for payer in hop.served:
                    self._by_payer[payer.key].append(stored)
        # Files of a hop may wait, or be posted again, when its route is no longer used: the newest one counts then.
        newest = sorted(inactive_hops, key=lambda route: route.id, reverse=True)
        self._known_hops = (*self.hops.values(), *(_hop(one, payers_of_hops) for one in newest))

    def file_routes(self, type: str, payer_id: str) -> list[RouteWithSecrets]:
        """Return the routes for files, first choice first."""
        return [r for r in self._of(type, payer_id) if r.route.carries_files]

    def realtime_routes(self, type: str, payer_id: str) -> list[RouteWithSecrets]:
        """Return the routes for real-time inquiries, first choice first."""
        return [r for r in self._of(type, payer_id) if not r.route.carries_files]

    def hop_of(self, route: Route) -> Hop | None:
        """Return the hop of a route to it; a route in real time has the map of the one for files."""
        if route.type != HOP:
            return None
        return next((one for one in self.hops.values() if one.id == route.payer_id), None)

    def find_hop(self, id: str) -> Hop | None:
        """Return a hop for what comes back: the one that is in use, else the one that was."""
        return next((one for one in self._known_hops if one.id == id), None)

    def _of(self, type: str, payer_id: str) -> Sequence[RouteWithSecrets]:
        return self._by_payer.get((type, payer_id.casefold()), ())

    def all_file_routes(self) -> list[RouteWithSecrets]:
        """Return the routes for files of every payer and hop, whose mailboxes are polled."""
        found = {
            r.route.id: r
            for of_payer in self._by_payer.values()
            for r in of_payer
            if r.route.carries_files
        }
        return list(found.values())


async def load_routes(database: Database, vault: Vault) -> ActiveRoutes:
    """Load the active routes with their secrets, and the maps of hops that are no longer in use."""
    async with database.read(SCOPE) as tx:
        every = await tx.rows(_ALL)
        rows = [row for row in every if row[_ACTIVE]]
        await vault.load_keys_of(tx, [row[_SEALED] for row in rows if row[_SEALED]])
        payers_of_hops = await _payers_of_hops(tx)
    stored = [RouteWithSecrets(_route(row), _secrets(vault, row)) for row in rows]
    inactive = [_route(row) for row in every if not row[_ACTIVE]]
    hops = [one for one in inactive if one.type == HOP and one.carries_files]
    return ActiveRoutes(stored, payers_of_hops, hops)


def _hop(route: Route, payers_of_hops: Mapping[int, Sequence[HopPayer]]) -> Hop:
    name = route.text("receiver_name") or route.payer_id
    return Hop(route.payer_id, name, payers_of_hops.get(route.id, ()))


async def list_hop_payers(database: Database, id: int) -> list[HopPayer]:
    """Return the payers that a hop serves, and those that it served."""
    async with database.read(SCOPE) as tx:
        return (await _payers_of_hops(tx)).get(id, [])


async def set_hop_payers(
    database: Database,
    id: int,
    given: Iterable[HopPayer],
    *,
    drop_others: bool = False,
    actor: Actor,
) -> RouteChange:
    """Set payers of a hop's map; with ``drop_others`` all that are not given are taken off it."""

    async def job(tx: Tx) -> RouteChange:
        await tx.row(_LOCK)
        route = _route(await _existing(tx, id))
        if route.type != HOP:
            raise OperationRefused(f"Route {id} goes to a payer: only a hop has a map of payers.")
        before = {one.key: one for one in (await _payers_of_hops(tx)).get(id, [])}
        after = {one.key: one for one in given}
        if drop_others:
            gone = (one for key, one in before.items() if key not in after)
            after |= {one.key: one._replace(active=False) for one in gone}
        changed = [one for key, one in after.items() if before.get(key) != one]
        if not changed:
            return RouteChange(route, None)
        if shared := shared_ids((before | after).values()):
            raise OperationRefused(" ".join(shared))
        await tx.many(
            _SET_HOP_PAYER,
            [{"route_id": id, **one._asdict(), "active": int(one.active)} for one in changed],
        )
        words = _map_words(changed)
        return RouteChange(route, await _record_change(tx, "route.payers", route, words))

    return await database.write(SCOPE, job, actor=actor)


def _map_words(changed: Sequence[HopPayer]) -> str:
    """Return what changed in a map: the payer if it is one, else how many."""
    if len(changed) > 1:
        return f"{len(changed)} payers of the map"
    one = changed[0]
    sent = f"as {one.hop_payer_id}" if one.active else "taken off the map"
    return f"{one.type} {one.payer_id} {sent}"


async def _payers_of_hops(tx: Tx) -> dict[int, list[HopPayer]]:
    found: dict[int, list[HopPayer]] = {}
    for route_id, type, payer_id, sent, active in await tx.rows(_HOP_PAYERS):
        found.setdefault(route_id, []).append(HopPayer(type, payer_id, sent, bool(active)))
    return found


async def list_routes(
    database: Database, *, with_removed: bool = False
) -> list[tuple[Route, bool]]:
    """Return every route, and whether it has secrets; removed ones only if they are asked for."""
    async with database.read(SCOPE) as tx:
        found = [(_route(row), bool(row[_SEALED])) for row in await tx.rows(_ALL)]
    return [one for one in found if with_removed or one[0].removed_at is None]


async def load_route(
    database: Database, vault: Vault, id: int, *, even_removed: bool = False
) -> RouteWithSecrets:
    """Load one route with its secrets, active or not."""
    async with database.read(SCOPE) as tx:
        row = await _existing(tx, id, even_removed=even_removed)
        await vault.load_keys_of(tx, [row[_SEALED]] if row[_SEALED] else [])
    return RouteWithSecrets(_route(row), _secrets(vault, row))


async def add_route(
    database: Database,
    vault: Vault,
    route: Route,
    secrets: RouteSecrets,
    *,
    now: datetime,
    actor: Actor,
) -> RouteChange:
    """Add a route. Its secrets are sealed for its row."""
    await vault.ensure_key(OWNER)
    given = secrets.filled()

    async def job(tx: Tx) -> RouteChange:
        await tx.row(_LOCK)
        if route.active:
            await _refuse_taken_position(tx, route)
        row = await tx.row(
            _ADD,
            payer_id=route.payer_id,
            type=route.type,
            position=route.position,
            kind=route.kind.value,
            facts=json.dumps(dict(route.options)),
            secrets=None,
            active=int(route.active),
            created_at=to_micros(now),
        )
        assert row is not None
        if given:
            sealed = vault.seal(OWNER, TABLE, row[0], json.dumps(given).encode())
            await tx.run(_SEAL, id=row[0], sealed=sealed)
        added = replace(route, id=row[0], created_at=now)
        return RouteChange(added, await _record_change(tx, "route.add", added))

    return await database.write(SCOPE, job, actor=actor)


async def set_active(database: Database, id: int, *, active: bool, actor: Actor) -> RouteChange:
    """Activate or deactivate a route."""

    async def job(tx: Tx) -> RouteChange:
        await tx.row(_LOCK)
        route = _route(await _existing(tx, id))
        if route.active == active:
            return RouteChange(route, None)
        changed = replace(route, active=active)
        if active:
            await _refuse_taken_position(tx, changed)
        await tx.run(_SWITCH, id=id, now_active=int(active))
        action = "route.enable" if active else "route.disable"
        return RouteChange(changed, await _record_change(tx, action, changed))

    return await database.write(SCOPE, job, actor=actor)


async def remember_senders(
    database: Database, id: int, senders: Iterable[str], *, actor: Actor
) -> RouteChange:
    """Add addresses to those that the payer of a route is known to send from."""

    async def job(tx: Tx) -> RouteChange:
        await tx.row(_LOCK)
        route = _route(await _existing(tx, id))
        known = [each for each in route.text(SENDERS).split(SENDER_SEPARATOR) if each]
        more = [each for each in sorted(senders) if each not in known]
        if not more:
            return RouteChange(route, None)
        options = {**route.options, SENDERS: SENDER_SEPARATOR.join([*known, *more])}
        changed = replace(route, options=options)
        await tx.run(_SET_FACTS, id=id, new_facts=json.dumps(options))
        return RouteChange(changed, await _record_change(tx, "route.senders", changed))

    return await database.write(SCOPE, job, actor=actor)


async def change_route(
    database: Database,
    vault: Vault,
    before: RouteWithSecrets,
    after: RouteWithSecrets,
    *,
    actor: Actor,
) -> RouteChange:
    """Change a route that was loaded before; refuse if it has changed since, or if a file may be lost sight of."""
    route = after.route
    changes = differences(before.route, route, before.secrets, after.secrets)
    if not changes:
        return RouteChange(route, None)
    await vault.ensure_key(OWNER)

    async def job(tx: Tx) -> RouteChange:
        await tx.row(_LOCK)
        row = await _existing(tx, route.id)
        if (_route(row), _secrets(vault, row)) != (before.route, before.secrets):
            raise OperationRefused(
                f"Someone else changed route {route.id} first: look at it again."
            )
        if route.active and route.position != before.route.position:
            await _refuse_taken_position(tx, route)
        await _refuse_move(tx, route.id, moves(changes))
        given = after.secrets.filled()
        sealed = vault.seal(OWNER, TABLE, route.id, json.dumps(given).encode()) if given else None
        await tx.run(
            _CHANGE,
            id=route.id,
            new_facts=json.dumps(dict(route.options)),
            new_position=route.position,
            sealed=sealed,
        )
        words = "; ".join(change.sentence for change in changes)
        return RouteChange(route, await _record_change(tx, "route.change", route, words))

    return await database.write(SCOPE, job, actor=actor)


async def remove_route(database: Database, id: int, *, now: datetime, actor: Actor) -> RouteChange:
    """Remove a route for good: its secrets are forgotten, its row stays for what names it."""

    async def job(tx: Tx) -> RouteChange:
        await tx.row(_LOCK)
        route = replace(_route(await _existing(tx, id)), active=False, removed_at=now)
        await tx.run(_REMOVE, id=id, moment=to_micros(now))
        return RouteChange(route, await _record_change(tx, "route.remove", route))

    return await database.write(SCOPE, job, actor=actor)


@dataclass(frozen=True, slots=True)
class RouteHistoryEntry:
    """One change of a route, from the audit trail."""

    at: datetime
    actor: str
    action: str
    detail: str


async def route_history(database: Database, id: int) -> list[RouteHistoryEntry]:
    """Return the changes of a route, the oldest first."""
    async with database.read(SCOPE) as tx:
        rows = await tx.rows(_HISTORY, ids=json.dumps([str(id)]))
    return [RouteHistoryEntry(from_micros(row[0]), *row[1:]) for row in rows]


async def count_waiting(database: Database, id: int) -> int:
    """Return how many undelivered batches were written for a route."""
    from clearlane.store.delivery import batches

    async with database.read(SCOPE) as tx:
        return sum(batch.route_id == id for batch in await batches.list_undelivered(tx))


async def _existing(tx: Tx, id: int, *, even_removed: bool = False) -> Row:
    row = await tx.row(_ONE, id=id)
    if row is None:
        raise OperationRefused(f"There is no route {id}. `clearlane route list` shows them.")
    removed_at = _route(row).removed_at
    if removed_at is not None and not even_removed:
        raise OperationRefused(f"Route {id} was removed on {removed_at:%Y-%m-%d}.")
    return row


async def _refuse_move(tx: Tx, id: int, names: Sequence[str]) -> None:
    """Refuse to change where files go while one of them may be there: it would be looked for elsewhere."""
    if not names:
        return
    from clearlane.claims.batch_lifecycle import BatchState
    from clearlane.store.delivery import batches

    for batch in await batches.list_undelivered(tx):
        if batch.route_id == id and batch.state is BatchState.SENDING:
            raise OperationRefused(
                f"Batch {batch.id} is being sent over route {id}, or may be there: {', '.join(names)} cannot be changed "
                f"now. Wait for it, or first decide: `clearlane batch mark-delivered {batch.id}` or `resend`."
            )


async def _record_change(tx: Tx, action: str, route: Route, words: str = "") -> int:
    kind = f"{route.type} {route.payer_id} {route.kind}"
    detail = f"{kind}: {words}" if words else kind
    tx.audit(action, ids=[str(route.id)], detail=detail[: limits.AUDIT_DETAIL_CHARACTERS_MAX])
    await bump_revision(tx, REVISION)
    return await bump_revision(tx, PAYERS_REVISION)


async def _refuse_taken_position(tx: Tx, route: Route) -> None:
    """Refuse a second active route of one sort, payer and position, which would leave their order open."""
    for other in map(_route, await tx.rows(_ALL)):
        same = other.payer_key == route.payer_key and other.carries_files == route.carries_files
        if same and other.active and other.id != route.id and other.position == route.position:
            raise OperationRefused(
                f"Position {route.position} of this payer is taken by route {other.id}. Give another "
                f"--position, or first `clearlane route disable {other.id}`."
            )


def _route(row: Row) -> Route:
    id, payer_id, type, position, kind, facts, _, active, created_at, removed_at = row
    return Route(
        id=id,
        payer_id=payer_id,
        type=type,
        position=position,
        kind=RouteKind(kind),
        options=json.loads(facts),
        active=bool(active),
        created_at=from_micros(created_at),
        removed_at=None if removed_at is None else from_micros(removed_at),
    )


def _secrets(vault: Vault, row: Row) -> RouteSecrets:
    if not row[_SEALED]:
        return RouteSecrets()
    opened: Mapping[str, str] = json.loads(vault.open(OWNER, TABLE, row[0], row[_SEALED]))
    return RouteSecrets(**opened)


_NAMES = ("payer_id", "type", "position", "kind", "facts", "secrets", "active", "created_at")
_SEALED, _ACTIVE = 6, 7
_COLUMNS = select(routes.c.id, *(routes.c[name] for name in _NAMES), routes.c.removed_at)
_ALL = Statement(
    _COLUMNS.order_by(routes.c.type, routes.c.payer_id, routes.c.position, routes.c.id)
)
_ONE = Statement(_COLUMNS.where(routes.c.id == bindparam("id")))
_ADD = Statement(insert_into(routes, *_NAMES).returning(routes.c.id))
_SEAL = Statement(
    update(routes).where(routes.c.id == bindparam("id")).values(secrets=bindparam("sealed"))
)
_SET_FACTS = Statement(
    update(routes).where(routes.c.id == bindparam("id")).values(facts=bindparam("new_facts"))
)
_SWITCH = Statement(
    update(routes).where(routes.c.id == bindparam("id")).values(active=bindparam("now_active"))
)
_CHANGE = Statement(
    update(routes)
    .where(routes.c.id == bindparam("id"))
    .values(
        facts=bindparam("new_facts"),
        position=bindparam("new_position"),
        secrets=bindparam("sealed"),
    )
)
_REMOVE = Statement(
    update(routes)
    .where(routes.c.id == bindparam("id"))
    .values(active=0, secrets=None, removed_at=bindparam("moment"))
)
_HISTORY = Statement(
    select(audit.c.at, audit.c.actor, audit.c.action, audit.c.detail)
    .where(
        audit.c.action.in_([inlined(action) for action in ROUTE_ACTIONS]),
        audit.c.ids == bindparam("ids"),
    )
    .order_by(audit.c.seq)
)
# Read first by every change, so that two commands cannot both take one position.
_LOCK = Statement(
    select(revisions.c.revision).where(revisions.c.name == REVISION).with_for_update()
)
_HOP_PAYERS = Statement(
    select(hop_payers).order_by(hop_payers.c.route_id, hop_payers.c.type, hop_payers.c.payer_id)
)
_ADD_HOP_PAYER = insert_into(hop_payers, "route_id", "type", "payer_id", "hop_payer_id", "active")
_SET_HOP_PAYER = Statement(
    _ADD_HOP_PAYER.on_conflict_do_update(
        index_elements=["route_id", "type", "payer_id"],
        set_={name: _ADD_HOP_PAYER.excluded[name] for name in ("hop_payer_id", "active")},
    )
)
PAYERS_WITH_FILE_ROUTES = Statement(
    union(
        select(routes.c.type, routes.c.payer_id).where(
            routes.c.active == 1, routes.c.kind.in_(sorted(FILE_KINDS))
        ),
        select(hop_payers.c.type, hop_payers.c.payer_id)
        .select_from(hop_payers.join(routes, routes.c.id == hop_payers.c.route_id))
        .where(routes.c.active == 1, hop_payers.c.active == 1),
    )
)
"""Type and id of the payers that claims can be sent to, for the payer directory."""
