"""Queues, workflows, schedules, and the values that a step may store.

Knows no engine library and no domain. Arguments and results are stored in the engine's tables in clear text, so only
ids are allowed.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from clearlane.kernel.clock import Clock
from clearlane.store.database.database import Database

ENGINE_ID_CHARACTERS_MAX = 128
ENGINE_LIST_IDS_MAX = 10_000

Id = str | int
StepValue = None | bool | int | str | list[str] | list[int]
Result = TypeVar("Result", bound=StepValue)


class NotAnId(TypeError):
    """Something other than an id was about to enter the engine's tables."""


class NodeContext(Protocol):
    """What the engine itself needs of the context that it hands to every verb."""

    @property
    def database(self) -> Database:
        """The installation's database."""

    @property
    def clock(self) -> Clock:
        """The clock that work is scheduled by; a sandbox may advance it."""

    @property
    def data(self) -> Path:
        """The data directory of this node."""

    @property
    def node(self) -> str:
        """The name of this node."""


class WorkSteps(Protocol):
    """Runs the steps of one piece of work. A finished step is recorded and never runs again."""

    @property
    def work(self) -> str:
        """The id of this piece of work."""

    async def run(
        self, name: str, job: Callable[[], Awaitable[Result]], *, attempts: int = 1
    ) -> Result:
        """Run one step. It may run twice when a node dies in it, so it must be idempotent.

        Attempts after the first wait 1, 2, 4 ... seconds, for short faults. What may last longer is a due time in our
        own rows, and a schedule that looks for it.
        """

    async def start(self, name: str, *ids: Id, key: str = "", alone: str = "") -> str:
        """Put other work on its queue; return its id. The same key is the same work: it is started once.

        Work that is ``alone`` under a word is not started while other such work waits or runs on any node.
        """


Verb = Callable[..., Awaitable[StepValue]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkQueue:
    """A queue: how many pieces of work a node runs at once, and how soon it notices those of other nodes.

    The shortest ``poll_seconds`` of all queues counts. Work of its own is noticed at once.
    """

    name: str
    at_once: int
    poll_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A kind of work with steps: ``async def verb(context, steps, *ids)``."""

    name: str
    verb: Verb
    queue: str
    find_finished: Callable[[Any, Sequence[int]], Awaitable[Collection[int]]] | None = None
    """Takes the context and the numbers that such work is about; returns those that need no more work."""
    begins_at_once: bool = False
    """Whether a tick that starts such work begins it on its own node, without a poll of the queue, if none runs there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSchedule:
    """A schedule: ``async def verb(context, steps)``, run on one of the nodes.

    Six cron fields, seconds first. The verb looks for what is due, so a missed run is made good by the next.
    """

    name: str
    verb: Verb
    cron: str
    queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTick:
    """A tick: ``async def verb(context, steps)``, run by the timer of every node.

    The engine records none of it. The verb looks for what is due and may be repeated; rows of our own keep two nodes from
    doing a thing twice. A run may last longer than the pause: ``at_once`` runs may go on side by side.
    """

    name: str
    verb: Verb
    every_seconds: float
    at_once: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTables:
    """The queues, workflows, schedules and ticks of an engine."""

    queues: tuple[WorkQueue, ...]
    workflows: tuple[Workflow, ...]
    schedules: tuple[WorkSchedule, ...] = ()
    ticks: tuple[WorkTick, ...] = ()

    @property
    def queue_of(self) -> dict[str, str]:
        """The queue of each kind of work."""
        rows: tuple[Workflow | WorkSchedule, ...] = (*self.workflows, *self.schedules)
        return {row.name: row.queue for row in rows}

    def check(self) -> None:
        """Raise ValueError for two rows of one name, and for a queue that does not exist."""
        rows: tuple[Workflow | WorkSchedule | WorkTick, ...] = (
            *self.workflows,
            *self.schedules,
            *self.ticks,
        )
        names = [row.name for row in rows]
        twice = {name for name in names if names.count(name) > 1}
        missing = set(self.queue_of.values()) - {queue.name for queue in self.queues}
        if twice or missing:
            raise ValueError(
                f"names given twice: {sorted(twice)}; queues missing: {sorted(missing)}"
            )


def check_ids(values: Sequence[object]) -> list[Any]:
    """Return the values if each is an id; :class:`NotAnId` names the position of the first that is not."""
    for position, value in enumerate(values, start=1):
        if not _is_id(value):
            raise NotAnId(
                f"value {position} is not an id: give a whole number or a short word without spaces"
            )
    return list(values)


def check_step_value(value: object) -> StepValue:
    """Return the value if a step may store it: None, a bool, an id, or a list of ids."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | int):
        check_ids([value])
        return value
    if isinstance(value, list | tuple) and len(value) <= ENGINE_LIST_IDS_MAX:
        return check_ids(value)
    raise NotAnId("a step returns only ids: a number, a short word, or a list of them")


# No spaces and no punctuation of prose: sentences and names of people do not match.
_WORD = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/+-]{{0,{ENGINE_ID_CHARACTERS_MAX - 1}}}")


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, str) and bool(_WORD.fullmatch(value)))
