"""Where an operator's command is served: what `vendor`, `site` and `payer` have in common.

Opens the house, names the operator for the audit, waits until running nodes have seen a change, and
prints. Knows no vendor, site or payer.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Protocol, TypeVar

import typer

from clearlane.cli.output import show_facts, show_json, show_table
from clearlane.cli.storage_command import operator, refusals, refuse
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.settings import load
from clearlane.store.accounts import AccountRefused
from clearlane.store.database import Actor, Database
from clearlane.store.nodes import wait_until_seen
from clearlane.wiring import House, open_house

__all__ = [
    "AsJson",
    "Stored",
    "change",
    "reached",
    "serve",
    "show_facts",
    "show_json",
    "show_table",
]

T = TypeVar("T")

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


def serve(data: Path | None, work: Callable[[House], Awaitable[T]]) -> T:
    """Run a command's work in the opened house; a refusal is a sentence and an exit code."""

    async def opened() -> T:
        async with open_house(load(overrides={"data": data}), role="command") as house:
            return await work(house)

    with refusals():
        try:
            return asyncio.run(opened())
        except AccountRefused as refused:
            refuse("\n".join(map(_sentence, refused.findings)))


class Stored(Protocol):
    """Any change that is stored."""

    @property
    def revision(self) -> int | None:
        """What running nodes must have loaded; None when there was nothing to change."""


def change(
    data: Path | None, name: str, said: str, make: Callable[[House, Actor], Awaitable[Stored]]
) -> None:
    """Make a change to a snapshot that nodes keep, wait until they have it, and say so."""

    async def work(house: House) -> bool:
        done = await make(house, operator())
        await reached(house.database, name, done.revision)
        return done.revision is not None

    typer.echo(said if serve(data, work) else f"{said} It was so before.")


async def reached(
    database: Database,
    name: str,
    revision: int | None,
    *,
    seconds: float = limits.NODES_WAIT_SECONDS_MAX,
) -> None:
    """Return when every live node works with the change; name those that do not in time."""
    if revision is None:
        return
    silent = await wait_until_seen(database, name, revision, seconds)
    if silent:
        refuse(
            f"The change is stored, but after {seconds} seconds these nodes have not loaded it: "
            f"{', '.join(silent)}. They may still work with what was before."
        )


def _sentence(finding: Finding) -> str:
    return f"{finding.location}: {finding.message}" if finding.location else finding.message
