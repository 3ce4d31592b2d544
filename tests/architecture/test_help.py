"""Every command has a help text with an example of its own.

Also tests `cli/root`, `cli/__main__` and `__main__`.
"""

import pytest
from typer.main import get_command

from clearlane.cli.root import COMMANDS, _load
from tests.cases import every_case


def commands(command, path):
    inner = getattr(command, "commands", None)
    if inner is None:
        yield pytest.param(command, path, id=path)
    else:
        for name, each in inner.items():
            yield from commands(each, f"{path} {name}")


EVERY = [
    each
    for name, entry in COMMANDS.items()
    for each in commands(get_command(_load(entry)), f"clearlane {name}")
]


@every_case(("command", "path"), EVERY)
def test_help_has_an_example_of_the_command(command, path):
    _, found, example = (command.help or "").partition("Example")
    assert found, "no example"
    assert path in example


@every_case(("command", "path"), EVERY)
def test_every_option_is_explained(command, path):
    options = [each for each in command.params if each.param_type_name == "option"]
    assert [each.name for each in options if not each.help] == []
