"""What is said of wrong words of a command: all of it, in lines that fit, with what would pass."""

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import COMMANDS, _command, app
from clearlane.cli.command.usage_faults import SEARCHES

RUNNER = CliRunner()


NO_SERVICE = {
    "CLEARLANE_CLIENT_URL": "https://127.0.0.1:1",
    "CLEARLANE_CLIENT_KEY": "ACME",
    "CLEARLANE_CLIENT_PASSWORD": "secret",
}


def misused(*words, typed=""):
    said = RUNNER.invoke(
        app, words, input=typed, prog_name="clearlane", env={"COLUMNS": "80", **NO_SERVICE}
    )
    assert said.exit_code == 2
    return said.stderr


def faults(*words):
    return misused(*words).partition("Error: ")[2]


def test_every_missing_word_is_named_with_one_example():
    assert faults("claim", "void") == (
        "Missing argument 'CLAIM'.\nMissing option '--because'.\n"
        'Example: clearlane claim void SAMPLE-1 --because "billed twice" --dry-run\n'
    )


def test_a_wrong_value_is_named_beside_a_missing_one():
    said = faults("claim", "form", "SAMPLE-1", "--sheet", "fancy")
    assert "Missing option '--out' / '-o'.\n" in said
    assert "Invalid value for '--sheet': 'fancy' is not one of 'preprinted', 'plain'.\n" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["claim", "list", "--from", "2026-01-31"], "There is no option --from. Perhaps: --"),
        (["payment", "list", "--labels", "x"], "There is no option --labels."),
        (["doctor", "nope"], "'nope' is not expected here: the command takes options only.\n"),
        (["claim", "show", "SAMPLE-1", "and"], "'and' is not expected after CLAIM.\n"),
        (["claim", "list", "ARDEN"], "Perhaps: clearlane claim find ARDEN\n"),
        (["payment", "list", "--limit", "0"], "'--limit': 1 or more is expected.\n"),
    ],
)
def test_words_that_a_command_does_not_take_lead_somewhere(words, said):
    text = faults(*words)
    assert said in text
    assert "Example: clearlane " in text
    assert "--help" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_every_search_is_a_command_for_a_list_without_an_argument():
    for (noun, verb), search in SEARCHES.items():
        verbs = _command(noun, COMMANDS[noun]).commands
        assert all(one.param_type_name == "option" for one in verbs[verb].params)
        _, noun_of_search, verb_of_search, *_ = search.split()
        assert verb_of_search in _command(noun_of_search, COMMANDS[noun_of_search]).commands


def test_an_address_to_listen_for_leads_to_the_option_that_posts_events_there():
    said = misused("listen", "http://127.0.0.1:3000/hook")
    assert said.endswith("clearlane listen --forward http://127.0.0.1:3000/hook\n")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("[]", "Standard input names no DocumentType: give --kind medical, dental or"),
        ("ISA*00", "Standard input is not JSON: invalid character (byte 0).\n"),
    ],
)
def test_what_is_piped_in_is_not_called_by_its_dash(typed, said):
    assert misused("claim", "submit", "-", typed=typed).startswith(said)
