"""Open an installation: connect settings, database, payers, engine and sandbox.

The only package that knows all packages. The roles ``serve`` and ``worker`` are nodes, with a heartbeat, snapshots
that follow the database and a durable engine; ``command`` loads the snapshots once, and so does ``helper``, a process
that a node starts for one piece of its work.

    opening            opens it
    installation       what is open
    node               what only nodes do
    sandbox_runtime    what only a sandbox has
    faces              what a node serves beside the API
"""

from clearlane.store.database.database import OperationRefused
from clearlane.wiring.installation import Installation, Role
from clearlane.wiring.opening import open_installation

__all__ = ["Installation", "OperationRefused", "Role", "open_installation"]
