"""Steps of work as spans of traces: what was done, about which ids, from when to when.

Values alone. Where they go is a :class:`TraceSink`; without one nothing is collected.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

now_nanos = time.time_ns
"""The wall clock: a sandbox's own clock may be months ahead."""


class TraceKey(NamedTuple):
    """Names a trace by what it is about, so that every node knows it without asking: ``batch``, ``17``."""

    subject: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """A span."""

    name: str
    trace: TraceKey
    began: int
    """Nanoseconds of the wall clock."""
    ended: int
    ids: Mapping[str, str | int | Sequence[str]]
    """Only ids and counts: spans leave the installation."""
    links: Sequence[TraceKey] = field(default=())
    """Other traces that it belongs to, by their first spans."""
    is_first: bool = False
    """Whether the others of its trace are below it."""


class TraceSink(Protocol):
    """Takes steps. It must not wait."""

    def add(self, *steps: TraceStep) -> None:
        """Take steps that have ended."""
        ...
