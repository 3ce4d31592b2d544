"""What was sent over each route since it is there: attempts, failures and deliveries.

Counted in the transaction that records the attempt, so that no crash loses or doubles one. The caller has locked the
health of the destination, so two nodes never wait for each other here. Knows no batch.
"""

from dataclasses import dataclass

from sqlalchemy import BigInteger, bindparam, func, select

from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import route_counts
from clearlane.store.database.sql import Statement, insert_into


@dataclass(frozen=True, slots=True)
class RouteCounts:
    """The attempts to deliver over one route, and how they ended."""

    type: str
    payer_id: str
    route_id: int
    attempts: int = 0
    failures: int = 0
    deliveries: int = 0
    last_delivered_at: int | None = None


async def all_route_counts(tx: Tx) -> list[RouteCounts]:
    """Return the counts of every route that was ever used."""
    return await list_rows(tx, RouteCounts, _ALL)


async def count_delivery(
    tx: Tx,
    destination: tuple[str, str],
    route_id: int,
    *,
    attempts: int = 0,
    failures: int = 0,
    deliveries: int = 0,
    at: int | None = None,
) -> None:
    """Add to the counts of a route; ``at`` is when a file was delivered."""
    type, payer_id = destination
    await tx.run(
        _ADD,
        type=type,
        payer_id=payer_id,
        route_id=route_id,
        attempts=attempts,
        failures=failures,
        deliveries=deliveries,
        last_delivered_at=at,
    )


_KEY = ("type", "payer_id", "route_id")
_COUNTED = ("attempts", "failures", "deliveries")
_NEW = insert_into(route_counts, *_KEY, *_COUNTED).values(
    last_delivered_at=bindparam("last_delivered_at", type_=BigInteger)
)
_ADD = Statement(
    _NEW.on_conflict_do_update(
        index_elements=list(_KEY),
        set_={
            **{name: route_counts.c[name] + _NEW.excluded[name] for name in _COUNTED},
            "last_delivered_at": func.coalesce(
                _NEW.excluded.last_delivered_at, route_counts.c.last_delivered_at
            ),
        },
    )
)
_ALL = Statement(select(*route_counts.columns))
