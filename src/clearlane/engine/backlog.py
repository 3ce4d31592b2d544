"""How much durable work waits for its turn, by queue, and for how long. For operators; knows no domain."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clearlane.engine.workflow_client import ENGINE_PAGE_ROWS, QUEUED, WorkflowClient

if TYPE_CHECKING:
    from dbos import DBOSClient


@dataclass(frozen=True, slots=True)
class EngineBacklog:
    """The work that no node has begun, up to BACKLOG_ROWS_MAX pieces."""

    waiting: Mapping[str, int] = field(default_factory=dict)
    """Pieces of work by queue."""
    oldest_at_millis: int | None = None
    """When the oldest was put on its queue, by the engine's clock."""

    @property
    def total(self) -> int:
        """How many pieces wait; BACKLOG_ROWS_MAX means so many or more."""
        return sum(self.waiting.values())


BACKLOG_ROWS_MAX = ENGINE_PAGE_ROWS


async def read_backlog(client: WorkflowClient) -> EngineBacklog:
    """Return the work that waits on the queues, counted up to a page of the oldest."""

    def ask(dbos: "DBOSClient") -> list[Any]:
        return dbos.list_workflows(
            status=list(QUEUED), limit=BACKLOG_ROWS_MAX, load_input=False, load_output=False
        )

    rows = await client.call(ask)
    waiting = Counter(str(row.queue_name or "") for row in rows)
    return EngineBacklog(waiting, min((int(row.created_at) for row in rows), default=None))
