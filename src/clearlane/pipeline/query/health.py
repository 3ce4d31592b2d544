"""Report the health of an installation to users who do not operate it.

Names parts and what is wrong with them; no address, no client, no number of rows.
"""

from collections import Counter
from dataclasses import dataclass

from clearlane.store.database import Database
from clearlane.store.nodes import SCOPE, live_nodes


@dataclass(frozen=True, slots=True)
class HealthPart:
    """The health of one part of the installation."""

    name: str
    healthy: bool
    detail: str


async def health(database: Database) -> list[HealthPart]:
    """Return the health of every part, the database first."""
    async with database.read(SCOPE) as tx:
        roles = Counter(node.role for node in await live_nodes(tx))
    counted = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    anchored = not database.anchor_fault
    return [
        HealthPart("Database", True, "answers"),
        HealthPart("Nodes", bool(roles), f"alive: {counted}" if roles else "none is alive"),
        HealthPart("Audit trail", anchored, "anchored" if anchored else "is not being anchored"),
    ]
