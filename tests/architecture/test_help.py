"""Every command has a help text with an example of its own.

Also tests `cli/command/root`, `cli/command/help_text`, `cli/__main__` and `__main__`.
"""

import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from clearlane.cli.command.root import COMMANDS, _load, app
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


@every_case(("command", "path"), EVERY)
def test_help_says_what_to_type_in_words(command, path):
    shown = CliRunner().invoke(app, [*path.split()[1:], "--help"], env={"COLUMNS": "80"}).stdout
    usage = shown[: shown.index("\n\n")]
    assert re.search(r"[{}]|\[\[| [a-z_]+$", usage.partition("[OPTIONS]")[2]) is None
    assert re.search(r"<(str|int|float|bool|path|Path|list)\b|<=|>=", shown) is None
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@every_case("name", list(COMMANDS))
def test_no_sentence_of_a_groups_help_is_cut(name):
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "80"}).stdout
    lines = [line for line in shown.splitlines() if not line.startswith("Usage")]
    assert [line for line in lines if line.endswith("...") or len(line) > 80] == []
