"""How payers' lanes stand: who had trouble of late, and which way is taken instead.

A lane is one payer and type of claims. Without a row there was no trouble. Knows no batch.
"""

from dataclasses import astuple, dataclass

from sqlalchemy import bindparam, select, update

from clearlane.store.database import Tx
from clearlane.store.schema import lanes
from clearlane.store.sql import Statement, insertion


@dataclass(frozen=True, slots=True)
class Lane:
    """How a payer has behaved of late."""

    payer_id: str
    type: str
    failures: int = 0
    """In a row."""
    open_until: int | None = None
    """Until then nothing is tried."""
    fault: str = ""
    route_id: int | None = None
    """The way that is used instead of the first."""
    since: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.type, self.payer_id


async def all_lanes(tx: Tx) -> dict[tuple[str, str], Lane]:
    """Every lane that has had trouble."""
    return {lane.key: lane for lane in (Lane(*row) for row in await tx.rows(_ALL))}


async def lock_lane(tx: Tx, key: tuple[str, str]) -> Lane:
    """A lane, held until the transaction ends: two nodes cannot both begin to send on it."""
    type, payer_id = key
    await tx.run(_NEW, payer_id=payer_id, type=type, failures=0, fault="")
    row = await tx.row(_LOCK, payer_id=payer_id, type=type)
    assert row is not None
    return Lane(*row)


async def set_lane(tx: Tx, lane: Lane) -> None:
    """Note how a lane stands."""
    values = dict(zip(_NAMES, astuple(lane), strict=True))
    facts = {f"to_{name}": values.pop(name) for name in _FACTS}
    await tx.run(_SET, **values, **facts)


_NAMES = ("payer_id", "type", "failures", "open_until", "fault", "route_id", "since")
_FACTS = _NAMES[2:]
_ALL = Statement(select(*(lanes.c[name] for name in _NAMES)))
_OF = (lanes.c.payer_id == bindparam("payer_id"), lanes.c.type == bindparam("type"))
_LOCK = Statement(select(*(lanes.c[name] for name in _NAMES)).where(*_OF).with_for_update())
_NEW = Statement(insertion(lanes, "payer_id", "type", "failures", "fault").on_conflict_do_nothing())
_SET = Statement(
    update(lanes).where(*_OF).values({name: bindparam(f"to_{name}") for name in _FACTS})
)
