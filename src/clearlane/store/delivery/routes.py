"""Routes to payers, their secrets sealed.

A change is one transaction: the row, the audit entry and the revisions that running nodes watch. The
payers' revision changes too, because the directory shows who has a route. Knows no connection.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import bindparam, select, update

from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros, to_micros
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
from clearlane.store.database.schema import ROUTE_ACTIONS, audit, revisions, routes
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

    def __init__(self, routes: Iterable[RouteWithSecrets]) -> None:
        self._by_payer: dict[tuple[str, str], list[RouteWithSecrets]] = defaultdict(list)
        for stored in sorted(routes, key=lambda r: (r.route.position, r.route.id)):
            if stored.route.active:
                self._by_payer[stored.route.payer_key].append(stored)

    def file_routes(self, type: str, payer_id: str) -> list[RouteWithSecrets]:
        """Return the routes for files, first choice first."""
        return [r for r in self._of(type, payer_id) if r.route.carries_files]

    def realtime_routes(self, type: str, payer_id: str) -> list[RouteWithSecrets]:
        """Return the routes for real-time inquiries, first choice first."""
        return [r for r in self._of(type, payer_id) if not r.route.carries_files]

    def _of(self, type: str, payer_id: str) -> Sequence[RouteWithSecrets]:
        return self._by_payer.get((type, payer_id.casefold()), ())

    def all_file_routes(self) -> list[RouteWithSecrets]:
        """Return the routes for files of every payer, whose mailboxes are polled."""
        return [
            r for of_payer in self._by_payer.values() for r in of_payer if r.route.carries_files
        ]


async def load_routes(database: Database, vault: Vault) -> ActiveRoutes:
    """Load the active routes with their secrets."""
    async with database.read(SCOPE) as tx:
        rows = [row for row in await tx.rows(_ALL) if row[_ACTIVE]]
        await vault.load_keys_of(tx, [row[_SEALED] for row in rows if row[_SEALED]])
    return ActiveRoutes(RouteWithSecrets(_route(row), _secrets(vault, row)) for row in rows)


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
PAYERS_WITH_FILE_ROUTES = Statement(
    select(routes.c.type, routes.c.payer_id).where(
        routes.c.active == 1, routes.c.kind.in_(sorted(FILE_KINDS))
    )
)
"""Type and id of the payers that claims can be sent to, for the payer directory."""
