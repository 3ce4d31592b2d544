"""The documentation agrees with the tables, and its commands, paths and words exist."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from clearlane.cli.command.root import app
from tests.cases import every_case
from tools.docs.generate import PAGES, REFERENCE, text_of
from tools.docs.pictures import DRAWN, PICTURES

ROOT = Path(__file__).resolve().parents[2]
PROSE = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "SUPPORT.md",
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(clearlane [^`]+)`(?!`)")
ENDS = re.compile(r"\s(?:\||>|2>|<|<<|&|#|&&|;)(?:\s|$|').*", re.DOTALL)
# Pages whose shell blocks are typed by a test of tests/journey.
FOLLOWED = (
    "README.md",
    "examples/README.md",
    "docs/tutorial/",
    "docs/how-to/",
    "docs/reference/sandbox.md",
)


def named(file: Path) -> str:
    return str(file.relative_to(ROOT))


@every_case("page", PAGES)
def test_a_generated_page_agrees_with_its_table(page):
    written = (REFERENCE / page).read_text(encoding="utf-8")
    assert written == text_of(page), f"docs/reference/{page} is old: run `make docs`"


@pytest.mark.parametrize("picture", DRAWN)
def test_a_picture_agrees_with_its_table(picture):
    written = (PICTURES / picture).read_text(encoding="utf-8")
    assert written == DRAWN[picture](), f"docs/pictures/{picture} is old: run `make docs`"


def test_no_generated_page_is_left_behind():
    by_hand = {"interface-decisions.md"}
    assert {file.name for file in REFERENCE.glob("*.md")} == PAGES.keys() | by_hand
    assert {file.name for file in PICTURES.glob("*.svg")} == DRAWN.keys()


@every_case("file", PROSE, ids=named)
def test_every_link_leads_somewhere(file):
    missing = [
        target
        for target in LINK.findall(file.read_text(encoding="utf-8"))
        if not (file.parent / target).exists()
    ]
    assert not missing


def shown_commands(text: str) -> set[str]:
    """Every `clearlane` command that a page shows, in a block or in a sentence, up to a pipe or a comment."""
    found = [re.sub(r"\s+", " ", command) for command in INLINE.findall(text)]
    for language, body in FENCE.findall(text):
        if language == "sh":
            parts = re.split(r"\s*(?:\||&&|;|\n)\s*", body.replace("\\\n", " "))
            found += [part for part in parts if part.startswith("clearlane ")]
    return {ENDS.sub("", command).strip() for command in found}


@cache
def root_command():
    return get_command(app)


@cache
def fault_of(command: str) -> str:
    """What is wrong with a command: a word or an option that does not exist."""
    words = shlex.split(command)[1:]
    at = root_command()
    if verb := at.unnamed_verb(*words):
        words.insert(1, verb)
    context = at.make_context("clearlane", [], None, resilient_parsing=True)
    while isinstance(at, TyperGroup) and words and not words[0].startswith("-"):
        # `clearlane batch list|show` names two commands; what follows is checked against the first.
        choices = words.pop(0).split("|")
        known = at.list_commands(context)
        if set(choices) - set(known):
            return f"{command}: there is no {' or '.join(sorted(set(choices) - set(known)))}"
        at = at.get_command(context, choices[0])
        context = at.make_context(at.name, [], context, resilient_parsing=True)
    options = {
        name for each in at.get_params(context) for name in (*each.opts, *each.secondary_opts)
    }
    words = words[: words.index("--")] if "--" in words else words
    given = {word.split("=")[0].strip("[]") for word in words if word.strip("[]").startswith("--")}
    return f"{command}: there is no {', '.join(given - options)}" if given - options else ""


def test_the_search_for_commands_finds_them():
    text = "see `clearlane batch list`\n```sh\nclearlane claim sample | clearlane claim submit -\n```\n"
    assert shown_commands(text) == {
        "clearlane batch list",
        "clearlane claim sample",
        "clearlane claim submit -",
    }
    assert fault_of("clearlane batch list --data .data") == ""
    assert "nonsense" in fault_of("clearlane batch nonsense")
    assert "--nonsense" in fault_of("clearlane batch list --nonsense")


@every_case("file", PROSE, ids=named)
def test_every_command_that_is_shown_exists(file):
    if file.name == "commands.md":
        pytest.skip("made from the commands themselves")
    faults = map(fault_of, sorted(shown_commands(file.read_text(encoding="utf-8"))))
    assert not [fault for fault in faults if fault]


def test_the_changelog_names_each_thing_once():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    titles = re.findall(r"^\* \*\*(.+?)\*\*", "\n".join(lines), re.MULTILINE)
    assert len(titles) == len(set(titles))
    long_lines = [line for line in lines if len(line) > 20]
    assert len(long_lines) == len(set(long_lines))


def test_every_page_with_commands_to_type_is_followed_by_a_test():
    typed = [named(file) for file in PROSE if "```sh" in file.read_text(encoding="utf-8")]
    assert not [name for name in typed if not name.startswith(FOLLOWED)]


def test_every_decision_record_has_the_same_furniture():
    for record in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        text = record.read_text(encoding="utf-8")
        for heading in (
            "## Context",
            "## Decision",
            "## Consequences",
            "## Alternatives",
            "## Where it shows",
        ):
            assert heading in text, f"{record.name} lacks {heading}"
        assert DATED.search(text), f"{record.name} lacks its date and status"


def test_every_decision_has_a_number_of_its_own():
    numbers = [file.name[:4] for file in (ROOT / "docs" / "decisions").glob("[0-9]*.md")]
    assert len(numbers) == len(set(numbers))


def test_a_superseded_decision_and_its_successor_name_each_other():
    texts = {
        int(file.name[:4]): file.read_text(encoding="utf-8")
        for file in (ROOT / "docs" / "decisions").glob("[0-9]*.md")
    }
    named = {
        (number, int(other))
        for number, text in texts.items()
        for status in DATED.findall(text)
        for other in re.findall(r"supersede[sd][^.]*?\[(\d+)\]", status)
    }
    assert named == {(other, number) for number, other in named}
    assert len(named) > 3


# The second line of each decision record.
DATED = re.compile(
    r"^# .+\n\nDate: \d{4}-\d\d-\d\d\. Status: (accepted.*|superseded.+)$", re.MULTILINE
)
TOUR = ROOT / "docs" / "explanation" / "tour.md"
TOUR_PATH = re.compile(r"`((?:[\w.]+/)*(?:\w+\.py|\w+/))`")


def test_every_path_that_the_tour_names_exists():
    named_paths = TOUR_PATH.findall(TOUR.read_text(encoding="utf-8"))
    assert len(named_paths) > 50
    missing = [
        path
        for path in named_paths
        if not (ROOT / "src" / "clearlane" / path).exists() and not (ROOT / path).exists()
    ]
    assert not missing


def test_every_path_that_a_decision_record_or_an_explanation_names_exists():
    pattern = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.(?:py|md))?)`")
    pages = [
        *(ROOT / "docs" / "decisions").glob("*.md"),
        *(ROOT / "docs" / "explanation").glob("*.md"),
    ]
    missing = [
        f"{page.name}: {path}"
        for page in pages
        for path in pattern.findall(page.read_text(encoding="utf-8"))
        if not any((base / path).exists() for base in (ROOT, ROOT / "src" / "clearlane"))
        and path != "site/"
    ]
    assert not missing


def test_every_word_of_the_glossary_is_explained_once():
    rows = re.findall(r"^\| (?!Word)([^|]+) \| ([^|]+) \|$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)  # fmt: skip
    words = [word.strip() for cell, _ in rows for word in cell.split(",")]
    assert len(words) == len(set(words))
    assert all(meaning.strip().endswith(".") for _, meaning in rows)
