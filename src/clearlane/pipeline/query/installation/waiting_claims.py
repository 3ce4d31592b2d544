"""Count the claims that wait for each payer, for metrics, `status`, conditions and the console.

    waiting = await waiting_by_payer(tx)
    waiting["Medical", "TST01"].claims

Knows claims that are in no file and files that are not delivered; knows no route.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.store.claims.claim_queue import list_payer_queues
from clearlane.store.database.database import Tx
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import Batch

Destination = tuple[str, str]
"""Type of claims and payer id."""


@dataclass(slots=True)
class WaitingClaims:
    """What waits to be delivered to one payer, as claims and as files."""

    queued: int = 0
    """Claims that are in no file yet."""
    queued_in_doubt: int = 0
    """Claims in no file that may have been sent before a restore, and wait for a person."""
    queued_since: list[int] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    """Files that are not delivered, oldest first."""

    @property
    def sending(self) -> Sequence[Batch]:
        """The files that are sent without a person."""
        return [batch for batch in self.batches if batch.state is not BatchState.IN_DOUBT]

    @property
    def in_doubt(self) -> Sequence[Batch]:
        """The files whose delivery is unconfirmed."""
        return [batch for batch in self.batches if batch.state is BatchState.IN_DOUBT]

    @property
    def claims(self) -> int:
        """The claims that go out by themselves, in a file or not yet in one."""
        return self.queued + sum(batch.claims for batch in self.sending)

    @property
    def oldest_at(self) -> int | None:
        """Since when the oldest claim or file waits."""
        return min([*self.queued_since, *(one.created_at for one in self.sending)], default=None)

    @property
    def failing(self) -> Batch | None:
        """The file whose deliveries have failed for the longest time."""
        failing = [one for one in self.sending if one.failing_since is not None]
        return min(failing, key=lambda one: one.failing_since or 0, default=None)


async def waiting_by_payer(tx: Tx) -> dict[Destination, WaitingClaims]:
    """Return what waits for each payer that anything waits for.

    Claims of a file in doubt do not count as waiting: the payer may have them, and they go nowhere until a person
    decides. Such files are counted apart, as are claims that may have been sent before a restore.
    """
    found: dict[Destination, WaitingClaims] = {}
    for in_doubt in (False, True):
        for queue in await list_payer_queues(tx, in_doubt=in_doubt):
            key = (KINDS[ClaimKind(queue.kind)].payer_type, queue.payer_id)
            waiting = found.setdefault(key, WaitingClaims())
            if in_doubt:
                waiting.queued_in_doubt += queue.claims
            else:
                waiting.queued += queue.claims
                waiting.queued_since.append(queue.oldest_at)
    for batch in await batches.list_undelivered(tx):
        found.setdefault(batch.destination, WaitingClaims()).batches.append(batch)
    return found
