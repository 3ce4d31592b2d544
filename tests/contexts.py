"""Work contexts for tests: with the parts that a test gives, and empty ones for the rest."""

from dataclasses import dataclass
from pathlib import Path

from clearlane.kernel.clock import Clock, SystemClock
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.work_context import PayerAccess, WorkContext, WorkLimits
from clearlane.store.database.database import Database


class NoConnections:
    """A directory of connections in which no payer has any."""

    def mailbox_routes(self, type, payer_id):
        return []

    def all_mailbox_routes(self):
        return []

    def hops(self):
        return []

    def find_hop(self, id):
        return None

    def open_mailbox(self, route):
        raise LookupError(f"there is no mailbox of the route {route.route_id}")

    def realtime_connections(self, type, payer_id):
        return []

    async def close(self):
        pass


def work_context(
    database,
    vault,
    clock=None,
    *,
    payers=None,
    connections=None,
    inquiry_runner=None,
    accounts=None,
    node="test",
    data=Path(),
    sandbox=False,
    **limits,
):
    """A context of a node that reaches the payers of a test; without connections it reaches none."""
    payers = payers or PayerDirectory([], sandbox=sandbox)
    reached = connections or NoConnections()
    return WorkContext(
        database=database,
        vault=vault,
        clock=clock or SystemClock(),
        node=node,
        data=data,
        sandbox=sandbox,
        accounts=lambda: accounts,
        payer_access=PayerAccess(
            payers=lambda: payers,
            connections=lambda: reached,
            inquiry_runner=inquiry_runner,
        ),
        limits=WorkLimits(**limits),
    )


@dataclass(frozen=True)
class EngineContext:
    """What the engine itself needs of a context, for work that knows no domain."""

    database: Database
    clock: Clock
    data: Path
    node: str
