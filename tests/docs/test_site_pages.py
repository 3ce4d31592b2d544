"""The site of the documentation, built: every page is in it, its links lead somewhere, anyone can read it."""

import json
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.architecture.test_documentation import PROSE
from tools.docs import site

ROOT = Path(__file__).resolve().parents[2]
# The site is built once, not by every worker.
pytestmark = pytest.mark.group("site")


class Page(HTMLParser):
    """What a page of the site is made of."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


@cache
def page_of(file: Path) -> Page:
    """Return a page of the site, read once."""
    return Page(file)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site, built once; building it proves its links."""
    directory = tmp_path_factory.mktemp("built") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "tools.docs.site", str(directory)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


def test_every_page_of_the_documentation_is_in_the_site(built):
    sources = {page.source for page in site.find_pages()}
    assert set(PROSE) <= sources
    assert not list(site.dead_links(built))


def test_a_page_of_the_site_can_be_read_by_anyone(built):
    for file in built.rglob("*.html"):
        page = page_of(file)
        assert len(page.all("h1")) == 1, file
        assert page.all("html")[0].get("lang") == "en"
        assert "width=device-width" in next(
            each["content"] for each in page.all("meta") if each.get("name") == "viewport"
        )
        assert page.all("main")
        assert all(
            each.get("aria-label") or each.get("aria-labelledby") for each in page.all("nav")
        )
        assert all(picture.get("alt") for picture in page.all("img"))
        ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
        assert len(ids) == len(set(ids)), file


def test_the_site_loads_nothing_from_elsewhere_and_needs_no_script_in_a_page(built):
    for file in built.rglob("*.html"):
        page = page_of(file)
        loaded = [
            each.get("src") or each.get("href")
            for each in page.all("img") + page.all("link") + page.all("script")
        ]
        assert not [address for address in loaded if "//" in (address or "")], file
        assert not [
            each for each in page.all("script") if not each.get("src") and not each.get("type")
        ]
        assert not [tag for tag, each in page.tags if {"style", "onclick", "onload"} & each.keys()]
        assert not page.all("style")


def test_the_site_has_search_copy_buttons_neighbors_and_colors(built):
    index = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert len({each["location"].partition("#")[0] for each in index["docs"]}) == len(
        list(built.rglob("*.html"))
    )
    text = (built / "tutorial" / "2-a-denial" / "index.html").read_text(encoding="utf-8")
    assert "content.code.copy" in text
    assert 'class="md-footer__link md-footer__link--prev"' in text
    assert 'class="md-footer__link md-footer__link--next"' in text
    samples = (built / "reference" / "claim-samples").rglob("index.html")
    assert any('<span class="nt">' in file.read_text("utf-8") for file in samples)


def test_a_long_page_is_cut_where_the_service_cuts_it(built):
    cut = [each for each in map(site.StagedPage.of, site.find_pages()) if each.is_cut]
    assert len(cut) >= 5
    for page in cut:
        first = page_of(built / page.page.address / "index.html")
        led = {each["href"] for each in first.all("a") if each.get("href")}
        for part in page.parts:
            folder = built / page.page.address / part.name
            ids = {value["id"] for _, value in page_of(folder / "index.html").tags if "id" in value}
            assert {each.anchor for each in part.headings} <= ids, folder
            assert not part.name or f"{part.name}/" in led, folder


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html">x</a><a href="#there">y</a></p>'
    )
    assert len(list(site.dead_links(tmp_path))) == 2
    (tmp_path / "a.html").write_text('<p id="here"><a href="a.html#here">x</a></p>')
    assert not list(site.dead_links(tmp_path))


def test_the_tables_are_drawn_in_the_site(built):
    text = (built / "reference" / "states" / "index.html").read_text(encoding="utf-8")
    assert "claim-life.svg" in text
    assert "stateDiagram" not in text
    assert (built / "files" / "docs" / "pictures" / "claim-life.svg").is_file()
