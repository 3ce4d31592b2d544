"""The engine's vocabulary: queues, workflows, schedules, and what a step may store.

Knows no engine library and no domain. Arguments and results pass through the engine's tables in clear,
so only ids may pass.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.store.database import Database

Id = str | int
Plain = None | bool | int | str | list[str] | list[int]
Result = TypeVar("Result", bound=Plain)


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


class Steps(Protocol):
    """The steps of one piece of work. A finished step is remembered and never runs again."""

    @property
    def work(self) -> str:
        """The id of this piece of work."""

    async def run(
        self, name: str, job: Callable[[], Awaitable[Result]], *, attempts: int = 1
    ) -> Result:
        """Run one step. It may run twice when a node dies in it, so it must bear that.

        Attempts after the first wait 1, 2, 4 ... seconds. They are for seconds of trouble: what may
        last longer is a moment in our own rows, and a tick that looks for what is due.
        """

    async def start(self, name: str, *ids: Id, key: str = "") -> str:
        """Put other work on its queue. The same key is the same work: it is started once."""


Verb = Callable[..., Awaitable[Plain]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """One row: how much of a kind of work a node does at a time, and how soon it looks again.

    A node starts at most ``at_once / look_seconds`` pieces of work a second from a queue.
    """

    name: str
    at_once: int
    look_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One row: work of several steps, ``async def verb(desk, steps, *ids)``."""

    name: str
    verb: Verb
    queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One row: a tick, ``async def verb(desk, steps)``, once over all nodes.

    Six cron fields, seconds first. A tick only wakes: it looks for what is due, so a missed one is
    made good by the next and is never repeated.
    """

    name: str
    verb: Verb
    cron: str
    queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What an engine can do: its queues, its work and its ticks."""

    queues: tuple[Queue, ...]
    workflows: tuple[Workflow, ...]
    schedules: tuple[Schedule, ...] = ()

    @property
    def queue_of(self) -> dict[str, str]:
        """The queue of each kind of work."""
        rows: tuple[Workflow | Schedule, ...] = (*self.workflows, *self.schedules)
        return {row.name: row.queue for row in rows}

    def check(self) -> None:
        """Two rows of one name, or work on a queue that nobody looks at, are mistakes of ours."""
        names = [row.name for row in self.workflows] + [row.name for row in self.schedules]
        twice = {name for name in names if names.count(name) > 1}
        lost = set(self.queue_of.values()) - {queue.name for queue in self.queues}
        if twice or lost:
            raise ValueError(f"names given twice: {sorted(twice)}; queues missing: {sorted(lost)}")


def only_ids(values: Sequence[object]) -> list[Any]:
    """The values, when each is an id; :class:`NotAnId` names the first place that is not."""
    for place, value in enumerate(values, start=1):
        if not _is_id(value):
            raise NotAnId(
                f"value {place} is no id: give a whole number or a short word without spaces"
            )
    return list(values)


def plain(value: object) -> Plain:
    """What a step may leave behind: nothing, a yes or no, an id, or a list of ids."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | int):
        only_ids([value])
        return value
    if isinstance(value, list | tuple) and len(value) <= limits.ENGINE_LIST_IDS_MAX:
        return only_ids(value)
    raise NotAnId("a step leaves only ids behind: a number, a short word, or a list of them")


# No spaces and no punctuation of prose: a sentence, and so most of what must not pass, does not fit.
_WORD = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/+-]{{0,{limits.ENGINE_ID_CHARACTERS_MAX - 1}}}")


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, str) and bool(_WORD.fullmatch(value)))
