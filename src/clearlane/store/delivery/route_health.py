"""Route health: recent delivery failures by payer and type of claims, and the fallback route in use.

Without a row there was no failure. Knows no batch.
"""

from dataclasses import astuple, dataclass

from sqlalchemy import bindparam, select, update

from clearlane.store.database.database import Tx, find_row, require_row
from clearlane.store.database.schema import route_health
from clearlane.store.database.sql import Statement, insert_into


@dataclass(frozen=True, slots=True)
class RouteHealth:
    """Recent failures of deliveries to one payer for one type of claims."""

    payer_id: str
    type: str
    failures: int = 0
    """Consecutive failures."""
    paused_until: int | None = None
    """Nothing is sent before this time."""
    fault: str = ""
    fallback_route_id: int | None = None
    """The route used instead of the first one."""
    fallback_since: int | None = None
    held_since: int | None = None
    """Since when a person has paused it; None if it is not paused."""
    retried_at: int | None = None
    """When a poll last made the batches due; None after a delivery or a poll that failed."""

    @property
    def key(self) -> tuple[str, str]:
        return self.type, self.payer_id


async def all_route_health(tx: Tx) -> dict[tuple[str, str], RouteHealth]:
    """Return the health of every destination that ever had a failure."""
    return {health.key: health for health in (RouteHealth(*row) for row in await tx.rows(_ALL))}


async def find_route_health(tx: Tx, key: tuple[str, str]) -> RouteHealth | None:
    """Return the health of a destination without a lock; None if it never had a failure."""
    type, payer_id = key
    return await find_row(tx, RouteHealth, _FIND, payer_id=payer_id, type=type)


async def lock_route_health(tx: Tx, key: tuple[str, str]) -> RouteHealth:
    """Return the health of a destination and lock its row: two nodes cannot both begin to send to it."""
    type, payer_id = key
    await tx.run(_NEW, payer_id=payer_id, type=type, failures=0, fault="")
    row = await tx.row(_LOCK, payer_id=payer_id, type=type)
    return RouteHealth(*require_row(row, "the health of a route"))


async def set_route_health(tx: Tx, health: RouteHealth) -> None:
    """Record the health of a destination."""
    values = dict(zip(_NAMES, astuple(health), strict=True))
    facts = {f"to_{name}": values.pop(name) for name in _FACTS}
    await tx.run(_SET, **values, **facts)


_NAMES = (
    "payer_id",
    "type",
    "failures",
    "paused_until",
    "fault",
    "fallback_route_id",
    "fallback_since",
    "held_since",
    "retried_at",
)
_FACTS = _NAMES[2:]
_ALL = Statement(select(*(route_health.c[name] for name in _NAMES)))
_OF = (route_health.c.payer_id == bindparam("payer_id"), route_health.c.type == bindparam("type"))
_FIND = Statement(select(*(route_health.c[name] for name in _NAMES)).where(*_OF))
_LOCK = Statement(select(*(route_health.c[name] for name in _NAMES)).where(*_OF).with_for_update())
_NEW = Statement(
    insert_into(route_health, "payer_id", "type", "failures", "fault").on_conflict_do_nothing()
)
_SET = Statement(
    update(route_health).where(*_OF).values({name: bindparam(f"to_{name}") for name in _FACTS})
)
