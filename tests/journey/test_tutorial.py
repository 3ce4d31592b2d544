"""The tutorial is followed to the letter, page after page on one sandbox, as a reader does."""

import pytest

from tests.journey.follower import ROOT, Follower, steps
from tests.journey.newcomer import checkout, sandbox_at

pytestmark = pytest.mark.xdist_group("tutorial")

PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))


def test_the_tutorial_works_as_written(tmp_path):
    directory = checkout(tmp_path)
    with sandbox_at(directory), Follower(directory) as reader:
        for page in PAGES:
            reader.follow(page.read_text(encoding="utf-8"))


def test_the_tutorial_has_its_five_pages():
    assert [page.name[:2] for page in PAGES] == ["1-", "2-", "3-", "4-", "5-"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_of_the_tutorial_shows_what_its_commands_say(page):
    told = [step for step in steps(page.read_text(encoding="utf-8")) if step.shown]
    assert told
