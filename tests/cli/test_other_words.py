"""What people type leads somewhere: to the command that they mean, to a suggestion, or to the verbs of the noun.

Also tests `cli/command/root`.
"""

import re

from typer import BadParameter, Context
from typer.testing import CliRunner

from clearlane.cli.command.other_words import (
    NOUNS_MEANT,
    PAIRS,
    PAIRS_MEANT,
    REWRITTEN,
    SAME_VERBS,
    VERBS_MEANT,
)
from clearlane.cli.command.root import COMMANDS, _command, app
from tests.cases import every_case

NOUNS = {name: _command(name, entry) for name, entry in COMMANDS.items()}
VERBS = {name: set(getattr(one, "commands", {})) for name, one in NOUNS.items()}
RUNNER = CliRunner()
USAGE_ERROR = BadParameter.__base__


def run(line):
    return RUNNER.invoke(
        app, line.split(), prog_name="clearlane", env={"COLUMNS": "80", "CLEARLANE_DATA": ""}
    )


def test_every_suggestion_is_a_command():
    lines = [line for lines in (*NOUNS_MEANT.values(), *REWRITTEN.values()) for line in lines]
    every_verb = set().union(*VERBS.values())
    known = {*VERBS, *(f"{noun} {verb}" for noun, verbs in VERBS.items() for verb in verbs)}
    assert {line for line in lines if " " in line} <= known
    assert {line for lines in NOUNS_MEANT.values() for line in lines} <= known
    assert {verb for verbs in SAME_VERBS.values() for verb in verbs} <= every_verb
    assert {verb for verbs in VERBS_MEANT.values() for verb in verbs} <= every_verb
    assert {" ".join(pair) for pair in PAIRS}.isdisjoint(known)
    assert NOUNS_MEANT.keys().isdisjoint(VERBS)


def test_every_suggestion_for_a_pair_is_a_verb_with_its_options():
    for (noun, word), lines in PAIRS_MEANT.items():
        for line in lines:
            verb, *rest = line.split()
            options = {name for one in NOUNS[noun].commands[verb].params for name in one.opts}
            assert {name for name in rest if name.startswith("--")} <= options, line
        said = run(f"{noun} {word} ARDEN").stderr
        assert f"`{noun}` has no verb {word!r}. Perhaps:\n  clearlane {noun} {lines[0]}\n" in said


def test_help_breaks_no_line_within_an_option():
    for name, noun in NOUNS.items():
        for verb in VERBS[name] or {""}:
            said = run(f"{name} {verb} --help").stdout
            broken = [line for line in said.splitlines() if re.search(r"--(\w+-)*$", line)]
            assert broken == [], (name, verb, noun)
            assert said.isascii(), (name, verb)


def test_a_word_that_is_not_on_the_list_is_answered_with_the_list():
    said = run("claim sample --kind vet").stderr
    assert "Invalid value for '--kind': 'vet' is not one of 'medical', 'dental'" in said


@every_case(
    ("typed", "said"),
    [
        ("claim sample --count 0", "'--count': 1 or more is expected."),
        ("serve --port 99999", "'--port': 65535 or less is expected."),
        ("batch show x", "'ID': A whole number is expected."),
        ("events list --hours x", "'--hours': A number is expected."),
    ],
)
def test_a_number_that_does_not_fit_is_answered_with_one_that_does(typed, said):
    assert said in run(typed).stderr


def test_help_as_a_verb_is_the_help_of_the_noun():
    assert run("claim help").stdout == run("claim --help").stdout == run("help claim").stdout


def test_every_noun_with_every_word_is_a_verb_or_names_the_verbs():
    words = {*SAME_VERBS, *VERBS_MEANT, *set().union(*VERBS.values()), "xyzzy"}
    for noun, verbs in VERBS.items():
        for word in words if verbs else ():
            context = Context(NOUNS[noun], info_name=noun)
            try:
                name, command, _ = NOUNS[noun].resolve_command(context, [word])
            except USAGE_ERROR as fault:
                said = " ".join(fault.message.split())
                assert f"`{noun}` has no verb {word!r}." in said
                assert [verb for verb in verbs if verb not in said] == []
            else:
                assert command is not None
                assert name in verbs


LACKING = sorted(
    f"{noun} {verb}"
    for noun, one in NOUNS.items()
    for verb, command in getattr(one, "commands", {}).items()
    if any(param.required for param in getattr(command, "params", ()))
)
"""Every verb that cannot do without an argument or an option."""


@every_case("typed", LACKING)
def test_a_verb_that_lacks_something_is_answered_with_an_example(typed):
    result = run(typed)
    said = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert "Missing " in said
    assert re.search(r"Example: .*clearlane ", said), said


@every_case(
    ("typed", "usage"),
    [
        ("help", "clearlane [OPTIONS]"),
        ("help claim show", "clearlane claim show"),
        ("claims -h", "clearlane claim [OPTIONS]"),
        ("claims show -h", "clearlane claim show"),
        ("claims --tab paid -h", "clearlane claim list"),
        ("batches --help", "clearlane batch [OPTIONS]"),
        ("batches list -h", "clearlane batch list"),
        ("event follow -h", "clearlane events follow"),
        ("claim get -h", "clearlane claim show"),
        ("claim validate -h", "clearlane claim check"),
        ("webhook listen -h", "clearlane listen"),
        ("vendor create -h", "clearlane vendor add"),
        ("open -h", "clearlane console open"),
        ("batch", "clearlane batch [OPTIONS]"),
    ],
)
def test_other_words_lead_to_the_command(typed, usage):
    shown = run(typed).output
    assert shown.startswith(f"Usage: {usage}")


@every_case(
    ("typed", "said"),
    [
        ("remittances", "clearlane payment list"),
        ("clam list", "clearlane claim"),
        ("logs", "clearlane events list"),
        ("claim delete", "claim cancel"),
        ("claim resend", "claim resubmit"),
        ("payment shw", "payment show"),
        ("claim xyzzy", "It has: check, sample"),
        ("backup list", "./list.backup"),
    ],
)
def test_a_word_that_is_no_command_is_answered_with_what_may_be_meant(typed, said):
    result = run(typed)
    assert result.exit_code != 0
    assert said in " ".join(result.stderr.split())
    assert max(map(len, result.stderr.splitlines())) <= 80


def test_version_is_a_word_too():
    assert run("version").stdout == run("--version").stdout
