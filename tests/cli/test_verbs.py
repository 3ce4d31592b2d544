"""The verbs of a noun are those that the library would build, and each is built when it is named."""

from typing import Annotated

import pytest
import typer
from typer.main import get_command

from clearlane.cli.command.help_text import HelpContext
from clearlane.cli.command.root import COMMANDS, _load
from clearlane.cli.command.verbs import Verbs, build_command


@pytest.fixture
def app():
    made = typer.Typer(rich_markup_mode=None)
    inner = typer.Typer(help="Things inside.")

    @made.callback()
    def noun() -> None:
        """A noun."""

    @made.command()
    def show_one(thing: Annotated[str, typer.Argument(help="Which.")]) -> None:
        """Show a thing."""

    @made.command("list", hidden=True)
    def list_all(limit: int = 5) -> None:
        """List things."""

    @inner.command()
    def add(thing: str) -> None:
        """Add a thing."""

    made.add_typer(inner, name="inside")
    return made


def test_a_verb_is_built_when_it_is_named_and_only_once(app):
    verbs = Verbs(app)
    assert [*verbs] == ["show-one", "list", "inside"]
    assert len(verbs) == 3
    assert "list" in verbs
    assert verbs.get("other") is None
    assert not verbs._built
    assert verbs["list"] is verbs["list"]
    assert [*verbs._built] == ["list"]
    assert verbs["list"].hidden


def test_a_verb_has_our_help_whether_the_noun_is_asked_or_not(app):
    built = build_command(app)
    verb = built.commands["show-one"]
    assert verb.context_class is HelpContext
    assert [one.metavar for one in verb.params] == ["THING"]
    assert verb.params[0].metavar == built.commands["show-one"].params[0].metavar
    assert built.commands["inside"].commands is not None
    assert [len(app.registered_commands), len(app.registered_groups)] == [2, 1]


def test_a_command_without_verbs_is_built_at_once():
    app = typer.Typer(add_completion=False)

    @app.command()
    def run(thing: str) -> None:
        """Run."""

    assert [one.metavar for one in build_command(app).params] == ["THING"]


@pytest.mark.parametrize("noun", COMMANDS)
def test_nouns_have_the_verbs_that_the_library_builds(noun):
    app = _load(COMMANDS[noun])
    ours, theirs = build_command(app), get_command(app)
    assert type(ours) is type(theirs)
    assert [*getattr(ours, "commands", ())] == [*getattr(theirs, "commands", ())]
    for name, verb in getattr(theirs, "commands", {}).items():
        made = ours.commands[name]
        assert (made.name, made.help, made.hidden) == (verb.name, verb.help, verb.hidden)
        assert [one.opts for one in made.params] == [one.opts for one in verb.params]
