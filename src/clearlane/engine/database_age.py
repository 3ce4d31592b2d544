"""Check that the database is not older than its anchor, before the engine of a node starts.

If it is, what may have been sent is put in doubt first. Refuses while other nodes work on the database, because they
would go on sending.
"""

import os
from pathlib import Path

from clearlane.engine.engine_storage import lock_data_directory
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.kernel.log import get_logger
from clearlane.store.audit.set_back import SetBack, confirm_anchor, is_set_back
from clearlane.store.database.database import Actor, Database, OperationRefused
from clearlane.store.installation.nodes import wait_for_nodes

log = get_logger()

NODES_ALIVE = "The database is older than its anchor, and these nodes work on it: {nodes}. Stop every node, then start one."


async def confirm_database_age(
    database: Database, data: Path, *, node: str, clock: Clock, sandbox: bool
) -> SetBack | None:
    """Return what was put in doubt if the database was set back; None if it was not."""
    if await is_set_back(database):
        await _require_alone(database, data)
    found = await confirm_anchor(
        database, clock=clock, actor=Actor("node", node), may_start_over=sandbox
    )
    if found is not None:
        log.error(
            "database set back",
            reason=found.sentence,
            batches_in_doubt=found.batches,
            claims_in_doubt=found.claims,
        )
    return found


async def _require_alone(database: Database, data: Path) -> None:
    if database.dialect == "sqlite":
        os.close(lock_data_directory(data))
        return
    alive = await wait_for_nodes(database, lambda _: False, limits.NODES_WAIT_SECONDS_MAX)
    if alive:
        raise OperationRefused(NODES_ALIVE.format(nodes=", ".join(alive)))
