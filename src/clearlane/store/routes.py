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

from clearlane.kernel.clock import from_micros, to_micros
from clearlane.payers.routes import FILE_KINDS, SENDER_SEPARATOR, Route, RouteKind, RouteSecrets
from clearlane.store.database import Actor, Database, OperationRefused, Row, SystemScope, Tx
from clearlane.store.nodes import bump_revision
from clearlane.store.schema import revisions, routes
from clearlane.store.sql import Statement, insert_into
from clearlane.store.vault import Vault

REVISION = "routes"
PAYERS_REVISION = "payers"
SCOPE = SystemScope("routes belong to the installation")
OWNER = 0
"""The data key that seals the secrets is the installation's, which is no vendor."""
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


async def list_routes(database: Database) -> list[tuple[Route, bool]]:
    """Return every route, and whether it has secrets."""
    async with database.read(SCOPE) as tx:
        return [(_route(row), bool(row[_SEALED])) for row in await tx.rows(_ALL)]


async def load_route(database: Database, vault: Vault, id: int) -> RouteWithSecrets:
    """Load one route with its secrets, active or not."""
    async with database.read(SCOPE) as tx:
        row = await _existing(tx, id)
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


async def _existing(tx: Tx, id: int) -> Row:
    row = await tx.row(_ONE, id=id)
    if row is None:
        raise OperationRefused(f"There is no route {id}. `clearlane route list` shows them.")
    return row


async def _record_change(tx: Tx, action: str, route: Route) -> int:
    tx.audit(action, ids=[str(route.id)], detail=f"{route.type} {route.payer_id} {route.kind}")
    await bump_revision(tx, REVISION)
    return await bump_revision(tx, PAYERS_REVISION)


async def _refuse_taken_position(tx: Tx, route: Route) -> None:
    """Refuse a second active route of one sort, payer and position, which would leave their order open."""
    for other in map(_route, await tx.rows(_ALL)):
        same = other.payer_key == route.payer_key and other.carries_files == route.carries_files
        if same and other.active and other.position == route.position:
            raise OperationRefused(
                f"Position {route.position} of this payer is taken by route {other.id}. Give another "
                f"--position, or first `clearlane route disable {other.id}`."
            )


def _route(row: Row) -> Route:
    id, payer_id, type, position, kind, facts, _, active, created_at = row
    return Route(
        id=id,
        payer_id=payer_id,
        type=type,
        position=position,
        kind=RouteKind(kind),
        options=json.loads(facts),
        active=bool(active),
        created_at=from_micros(created_at),
    )


def _secrets(vault: Vault, row: Row) -> RouteSecrets:
    if not row[_SEALED]:
        return RouteSecrets()
    opened: Mapping[str, str] = json.loads(vault.open(OWNER, TABLE, row[0], row[_SEALED]))
    return RouteSecrets(**opened)


_NAMES = ("payer_id", "type", "position", "kind", "facts", "secrets", "active", "created_at")
_SEALED, _ACTIVE = 6, 7
_COLUMNS = select(routes.c.id, *(routes.c[name] for name in _NAMES))
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
