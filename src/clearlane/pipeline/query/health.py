"""How the installation is, in words for somebody who does not run it.

Names parts and what is wrong with them; no address, no client, no number of rows.
"""

from collections import Counter
from dataclasses import dataclass

from clearlane.store.database import Database
from clearlane.store.nodes import NODES, living


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the installation."""

    name: str
    well: bool
    words: str


async def health(database: Database) -> list[Part]:
    """Every part, the one that everything needs first."""
    async with database.read(NODES) as tx:
        roles = Counter(node.role for node in await living(tx))
    counted = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    anchored = not database.anchor_fault
    return [
        Part("Database", True, "answers"),
        Part("Nodes", bool(roles), f"alive: {counted}" if roles else "none is alive"),
        Part("Audit trail", anchored, "anchored" if anchored else "is not being anchored"),
    ]
