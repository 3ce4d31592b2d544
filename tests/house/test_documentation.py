"""The documentation says what the tables say."""

import re
from pathlib import Path

import pytest

from docs.generate import PAGES, REFERENCE, text_of

ROOT = Path(__file__).resolve().parents[2]
PROSE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_agrees_with_its_table(page):
    written = (REFERENCE / page).read_text(encoding="utf-8")
    assert written == text_of(page), f"docs/reference/{page} is old: run `make docs`"


@pytest.mark.parametrize("file", PROSE, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_link_leads_somewhere(file):
    missing = [
        target
        for target in LINK.findall(file.read_text(encoding="utf-8"))
        if not (file.parent / target).exists()
    ]
    assert not missing


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
