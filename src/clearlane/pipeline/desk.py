"""What a verb of the engine is handed: its desk, its steps, and its row in the tables.

Knows no engine library: a verb is a plain coroutine, told what it needs. What passes through the
engine's tables is stored in clear, so only ids may pass, and of a fault only its code.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clearlane.claims.batching import US
from clearlane.claims.interchange import Party
from clearlane.connect.lines import Lines
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import Payers
from clearlane.pipeline.rush import Rush
from clearlane.store.database import Database
from clearlane.store.vault import Vault

if TYPE_CHECKING:
    from clearlane.pipeline.asking import Asking

Id = str | int
Plain = None | bool | int | str | list[str] | list[int]
Result = TypeVar("Result", bound=Plain)


class Failed(Exception):
    """Work that cannot go on. It has a code and nothing else, because the engine keeps it in clear."""

    def __init__(self, code: str) -> None:
        super().__init__(code if _WORD.fullmatch(code) else "unnamed")

    @property
    def code(self) -> str:
        """What went wrong, in one word."""
        return str(self.args[0])


class NotAnId(TypeError):
    """Something other than an id was about to enter the engine's tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What verbs that deal with payers use as well. The directories are snapshots: ask each time."""

    vault: Vault
    payers: Callable[[], Payers]
    lines: Callable[[], Lines]
    sandbox: bool
    submitter: Party = US
    """Who we are to payers, whom they may call."""
    asking: "Asking | None" = None
    """Questions to payers; None where nobody is asked."""
    eligibility_days: int = limits.ELIGIBILITY_KEPT_DAYS
    rush: Rush = field(default_factory=Rush)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every verb may use."""

    database: Database
    clock: Clock
    data: Path
    node: str
    beyond: Outside | None = None

    @property
    def outside(self) -> Outside:
        """The way to payers, on a node that has one."""
        assert self.beyond is not None, "this desk has no way to payers"
        return self.beyond


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
