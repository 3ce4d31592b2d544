"""The verbs of a noun, each built when it is named.

The library reads the options of every function of a noun before it runs one of them, which takes longer than most
commands do. Knows no command.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import partial
from typing import Any

import typer
from typer.main import (
    get_command,
    get_command_from_info,
    get_command_name,
    get_group,
    get_group_from_info,
)

from clearlane.cli.command.help_text import show_plainly
from clearlane.cli.command.usage_faults import find_every_fault


class Verbs(Mapping[str, Any]):
    """The commands of a noun by name: a verb is built when it is looked up, and only once."""

    def __init__(self, app: typer.Typer) -> None:
        shared: dict[str, Any] = {
            "pretty_exceptions_short": app.pretty_exceptions_short,
            "rich_markup_mode": app.rich_markup_mode,
        }
        self._makers: dict[str, Callable[[], Any]] = {}
        for command in app.registered_commands:
            name = command.name or get_command_name(getattr(command.callback, "__name__", ""))
            self._makers[name] = partial(get_command_from_info, command, **shared)
        for group in app.registered_groups:
            shares = {**shared, "suggest_commands": app.suggest_commands}
            self._makers[str(group.name)] = partial(get_group_from_info, group, **shares)
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = self._makers[name]()
            _in_our_words(self._built[name])
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def build_command(app: typer.Typer) -> Any:
    """Return the command of an app, in our words: a noun, whose verbs are built when they are named, or a verb alone."""
    is_noun = app.registered_callback or app.registered_groups or len(app.registered_commands) > 1
    without_verbs = copy(app)
    if is_noun:
        without_verbs.registered_commands, without_verbs.registered_groups = [], []
    command: Any = get_group(without_verbs) if is_noun else get_command(app)
    _in_our_words(command)
    if is_noun:
        command.commands = Verbs(app)
    return command


def _in_our_words(command: Any) -> None:
    """Give a command, and those below it, our help texts and our words for faults."""
    show_plainly(command)
    for one in getattr(command, "commands", {}).values():
        _in_our_words(one)
    if not hasattr(command, "commands"):
        find_every_fault(command)
