"""Routes to payers as rows, their secrets sealed.

A change is one transaction: the row, the audit line and the revisions that running nodes watch. The
payers' revision moves too, because the directory says who has a route. Knows no connection.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import bindparam, select, update

from clearlane.kernel.clock import micros, moment
from clearlane.payers.routes import MAILBOXES, Kind, Route, Secrets
from clearlane.store.database import Actor, Database, Refused, Row, System, Tx
from clearlane.store.nodes import bump
from clearlane.store.schema import revisions, routes
from clearlane.store.sql import Statement, insertion
from clearlane.store.vault import Vault

REVISION = "routes"
PAYERS_REVISION = "payers"
SCOPE = System("routes belong to the installation")
OWNER = 0
"""Whose data key seals the secrets: the installation's, which is no vendor."""
TABLE = "routes"


@dataclass(frozen=True, slots=True)
class Stored:
    """A route as it is stored now."""

    route: Route
    revision: int | None
    """What running nodes must have loaded; None when nothing changed."""


@dataclass(frozen=True, slots=True)
class Cable:
    """A route with what it logs in with."""

    route: Route
    secrets: Secrets


class Routes:
    """The active routes as one snapshot, found by payer, in their order."""

    def __init__(self, cables: Iterable[Cable]) -> None:
        self._by_payer: dict[tuple[str, str], list[Cable]] = defaultdict(list)
        for cable in sorted(cables, key=lambda c: (c.route.position, c.route.id)):
            if cable.route.active:
                self._by_payer[cable.route.payer_key].append(cable)

    def mailboxes(self, type: str, payer_id: str) -> list[Cable]:
        """The ways for files, the first choice first."""
        return [c for c in self._of(type, payer_id) if c.route.carries_files]

    def realtime(self, type: str, payer_id: str) -> list[Cable]:
        """The ways for questions, the first choice first."""
        return [c for c in self._of(type, payer_id) if not c.route.carries_files]

    def _of(self, type: str, payer_id: str) -> Sequence[Cable]:
        return self._by_payer.get((type, payer_id.casefold()), ())

    def all_mailboxes(self) -> list[Cable]:
        """Every way for files, of every payer: where we look for what came."""
        return [c for cables in self._by_payer.values() for c in cables if c.route.carries_files]


async def load_routes(database: Database, vault: Vault) -> Routes:
    """The active routes with their secrets."""
    async with database.read(SCOPE) as tx:
        rows = [row for row in await tx.rows(_ALL) if row[_ACTIVE]]
        await vault.fetch(tx, [row[_SEALED] for row in rows if row[_SEALED]])
    return Routes(Cable(_route(row), _secrets(vault, row)) for row in rows)


async def list_routes(database: Database) -> list[tuple[Route, bool]]:
    """Every route, and whether it has secrets."""
    async with database.read(SCOPE) as tx:
        return [(_route(row), bool(row[_SEALED])) for row in await tx.rows(_ALL)]


async def open_route(database: Database, vault: Vault, id: int) -> Cable:
    """One route with its secrets, active or not."""
    async with database.read(SCOPE) as tx:
        row = await _existing(tx, id)
        await vault.fetch(tx, [row[_SEALED]] if row[_SEALED] else [])
    return Cable(_route(row), _secrets(vault, row))


async def add_route(
    database: Database,
    vault: Vault,
    route: Route,
    secrets: Secrets,
    *,
    now: datetime,
    actor: Actor,
) -> Stored:
    """Add a route. Its secrets are sealed for its row."""
    await vault.ready(OWNER)
    held = secrets.filled()

    async def job(tx: Tx) -> Stored:
        await tx.row(_LOCK)
        await _refuse_taken_position(tx, route)
        row = await tx.row(
            _ADD,
            payer_id=route.payer_id,
            type=route.type,
            position=route.position,
            kind=route.kind.value,
            facts=json.dumps(dict(route.facts)),
            secrets=None,
            active=int(route.active),
            created_at=micros(now),
        )
        assert row is not None
        if held:
            sealed = vault.seal(OWNER, TABLE, row[0], json.dumps(held).encode())
            await tx.run(_SEAL, id=row[0], sealed=sealed)
        added = replace(route, id=row[0], created_at=now)
        return Stored(added, await _changed(tx, "route.add", added))

    return await database.write(SCOPE, job, actor=actor)


async def set_active(database: Database, id: int, *, active: bool, actor: Actor) -> Stored:
    """Use a route, or use it no more."""

    async def job(tx: Tx) -> Stored:
        await tx.row(_LOCK)
        route = _route(await _existing(tx, id))
        if route.active == active:
            return Stored(route, None)
        changed = replace(route, active=active)
        if active:
            await _refuse_taken_position(tx, changed)
        await tx.run(_SWITCH, id=id, now_active=int(active))
        action = "route.enable" if active else "route.disable"
        return Stored(changed, await _changed(tx, action, changed))

    return await database.write(SCOPE, job, actor=actor)


async def _existing(tx: Tx, id: int) -> Row:
    row = await tx.row(_ONE, id=id)
    if row is None:
        raise Refused(f"There is no route {id}. `clearlane route list` shows them.")
    return row


async def _changed(tx: Tx, action: str, route: Route) -> int:
    tx.audit(action, ids=[str(route.id)], detail=f"{route.type} {route.payer_id} {route.kind}")
    await bump(tx, REVISION)
    return await bump(tx, PAYERS_REVISION)


async def _refuse_taken_position(tx: Tx, route: Route) -> None:
    """Two active routes of one sort and payer have an order, or nobody could say which comes first."""
    for other in map(_route, await tx.rows(_ALL)):
        same = other.payer_key == route.payer_key and other.carries_files == route.carries_files
        if same and other.active and other.position == route.position:
            raise Refused(
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
        kind=Kind(kind),
        facts=json.loads(facts),
        active=bool(active),
        created_at=moment(created_at),
    )


def _secrets(vault: Vault, row: Row) -> Secrets:
    if not row[_SEALED]:
        return Secrets()
    held: Mapping[str, str] = json.loads(vault.open(OWNER, TABLE, row[0], row[_SEALED]))
    return Secrets(**held)


_NAMES = ("payer_id", "type", "position", "kind", "facts", "secrets", "active", "created_at")
_SEALED, _ACTIVE = 6, 7
_COLUMNS = select(routes.c.id, *(routes.c[name] for name in _NAMES))
_ALL = Statement(
    _COLUMNS.order_by(routes.c.type, routes.c.payer_id, routes.c.position, routes.c.id)
)
_ONE = Statement(_COLUMNS.where(routes.c.id == bindparam("id")))
_ADD = Statement(insertion(routes, *_NAMES).returning(routes.c.id))
_SEAL = Statement(
    update(routes).where(routes.c.id == bindparam("id")).values(secrets=bindparam("sealed"))
)
_SWITCH = Statement(
    update(routes).where(routes.c.id == bindparam("id")).values(active=bindparam("now_active"))
)
# Read first by every change, so that two commands cannot both take one position.
_LOCK = Statement(
    select(revisions.c.revision).where(revisions.c.name == REVISION).with_for_update()
)
ROUTED = Statement(
    select(routes.c.type, routes.c.payer_id).where(
        routes.c.active == 1, routes.c.kind.in_(sorted(MAILBOXES))
    )
)
"""Who can be sent claims, for the payer directory."""
