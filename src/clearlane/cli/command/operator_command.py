"""Run operator commands in an open installation: what `vendor`, `site`, `payer` and others share.

Opens the installation, waits until running nodes have loaded a change, and prints. Knows no vendor, site or payer.
"""

import asyncio
import importlib
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TypeVar

from clearlane.cli.command.client_command import AsJson, Yes, confirm, declare_options
from clearlane.cli.command.output import (
    show_change,
    show_facts,
    show_json,
    show_list,
    show_record,
    show_rows,
    show_table,
)
from clearlane.cli.command.storage_command import Data, exit_on_refusal, refuse
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.settings import Settings, load
from clearlane.store.accounts.accounts import AccountRefused
from clearlane.store.database.database import Database
from clearlane.store.installation.nodes import wait_until_loaded
from clearlane.wiring import Installation, open_installation

__all__ = [
    "AsJson",
    "StoredChange",
    "Switch",
    "confirm_loaded",
    "in_installation",
    "make_change",
    "run_in_installation",
    "show_change",
    "show_facts",
    "show_json",
    "show_list",
    "show_record",
    "show_rows",
    "show_table",
]

T = TypeVar("T")


class Switch(StrEnum):
    """On or off."""

    ON = "on"
    OFF = "off"


def run_in_installation(
    data: Path | None, work: Callable[[Installation], Awaitable[T]], *, creates: bool = False
) -> T:
    """Run a command's work in the open installation; a refusal ends it with a message and an exit status.

    A sandbox is made when it is first opened. But what ``--data`` names must be there, unless the command ``creates`` it: a
    mistyped path would make another one.
    """

    async def run() -> T:
        settings = load(overrides={"data": data})
        if data is not None and not creates:
            _require_installation(settings)
        async with open_installation(settings, role="command") as installation:
            with _warnings_to_standard_error():
                return await work(installation)

    with exit_on_refusal():
        try:
            return asyncio.run(run())
        except AccountRefused as refused:
            refuse("\n".join(map(_sentence, refused.findings)))


def in_installation(
    *, ask: str = "", uses: str = "", creates: bool = False
) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Return a decorator that makes a command with ``--data`` of a function that takes the open installation.

    With ``ask`` the command has ``--yes``, and asks this question before it opens anything; names in braces are options.
    ``uses`` names a module that the function imports and that logs: loggers are set up when the installation is open.
    ``creates``: the command is the first of a new installation.
    """
    asked: dict[str, tuple[Any, Any]] = {"yes": (Yes, False)} if ask else {}

    def decorate(work: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            data = given.pop("data")
            if ask:
                confirm(ask.format(**given), yes=given.pop("yes"))
            if uses:
                importlib.import_module(f"clearlane.{uses}")
            run_in_installation(
                data, lambda installation: work(installation, **given), creates=creates
            )

        added = asked | {"data": (Data, None)}
        return declare_options(command, work, added, last=("yes", "as_json", "data"))

    return decorate


def _require_installation(settings: Settings) -> None:
    """Refuse a data directory without an installation."""
    if not settings.on_postgresql and not settings.sqlite_file.exists():
        refuse(
            f"There is no installation in {settings.data}. Check --data; clearlane serve --data makes a new one."
        )


@contextmanager
def _warnings_to_standard_error() -> Iterator[None]:
    """Keep log lines of the work out of a command's output: warnings go to standard error, others nowhere."""
    if (
        "structlog" not in sys.modules
    ):  # work that logs has imported it; others need not wait for it
        yield
        return
    from clearlane.kernel.log import structlog

    before = structlog.get_config()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        yield
    finally:
        structlog.configure(**before)


class StoredChange(Protocol):
    """A stored change of a snapshot that nodes keep."""

    @property
    def revision(self) -> int | None:
        """The revision that running nodes must load; None when there was nothing to change."""


async def make_change(
    installation: Installation,
    name: str,
    message: str,
    change: Awaitable[StoredChange],
    *,
    as_json: bool,
) -> None:
    """Make a change, wait until running nodes have loaded it, and print a message."""
    done = await change
    await confirm_loaded(installation.database, name, done.revision)
    show_change(message, as_json=as_json, changed=done.revision is not None)


async def confirm_loaded(
    database: Database,
    name: str,
    revision: int | None,
    *,
    seconds: float = limits.NODES_WAIT_SECONDS_MAX,
) -> None:
    """Wait until every live node has loaded a change; name those that have not in time."""
    if revision is None:
        return
    silent = await wait_until_loaded(database, name, revision, seconds)
    if silent:
        refuse(
            f"The change is stored, but after {seconds} seconds these nodes have not loaded it: "
            f"{', '.join(silent)}. They may still work with the old state."
        )


def _sentence(finding: Finding) -> str:
    return f"{finding.location}: {finding.message}" if finding.location else finding.message
