"""README and tutorial are followed to the letter, one after the other on one sandbox, as a reader does."""

import json

import pytest

from tests.journey.follower import ROOT, Follower, steps
from tests.journey.newcomer import checkout, sandbox_at

pytestmark = pytest.mark.xdist_group("tutorial")

PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))


def test_readme_and_tutorial_work_as_written(tmp_path):
    directory = checkout(tmp_path)
    with sandbox_at(directory), Follower(directory) as reader:
        reader.follow((ROOT / "README.md").read_text(encoding="utf-8"))
        listed = json.loads(reader.type("clearlane claim status --json"))
        states = {row["VendorClaimId"]: row["CurrentState"] for row in listed}
        assert states == {"FIRST-1": "Complete"}
        reader.names.clear()  # the tutorial's ids are its own, though README shows equal ones
        for page in PAGES:
            reader.follow(page.read_text(encoding="utf-8"))


def test_the_tutorial_has_its_five_pages():
    assert [page.name[:2] for page in PAGES] == ["1-", "2-", "3-", "4-", "5-"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_of_the_tutorial_shows_what_its_commands_say(page):
    told = [step for step in steps(page.read_text(encoding="utf-8")) if step.shown]
    assert told
