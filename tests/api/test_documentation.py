"""`/docs/` shows the built site, else the Markdown pages: led links, parts of bearable length, search; nothing beside them.

Also tests `api/pages/page_list`, `api/pages/page_cutting`, `api/pages/page_html`, `api/pages/page_frame` and
`api/pages/markdown_site`.
"""

import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clearlane.api.pages.documentation import Documentation, page_policy
from clearlane.api.pages.markdown_site import MarkdownSite, search
from clearlane.api.pages.page_cutting import PART_PIXELS_MAX, cut_page
from clearlane.api.pages.page_frame import Entry
from clearlane.api.pages.page_html import render_markdown
from clearlane.api.pages.page_list import PACKAGED, documents_root
from clearlane.api.v3.error_responses import V3_ERRORS
from tests.api.test_root_page import a_request

CHECKOUT = Path(__file__).resolve().parents[2]
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


class Links(HTMLParser):
    """The links of a page and the places in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links, self.ids = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in {"href", "src"}]
        self.ids += [value for name, value in attrs if name == "id"]


@pytest.fixture(scope="module")
def own() -> MarkdownSite:
    """The pages of this repository."""
    return MarkdownSite(CHECKOUT)


@pytest.fixture
def places(tmp_path):
    site, root = tmp_path / "site", tmp_path / "checkout"
    (root / "docs" / "tutorial").mkdir(parents=True)
    (root / "docs" / "pictures").mkdir()
    (root / "docs" / "index.md").write_text(
        "# Start\n\n[first](tutorial/1-first.md#a-place) [out](../../outside.txt) [far](https://example.org) "
        "![x](pictures/a.svg)\n<script>alert(1)</script>\n"
    )
    (root / "docs" / "pictures" / "a.svg").write_text("<svg/>")
    (root / "docs" / "pictures" / "away.svg").symlink_to(root / "pyproject.toml")
    (root / "docs" / "tutorial" / "1-first.md").write_text(
        "# First\n\n## A `place`\n\n```sh\nls\n```\n"
    )
    (root / "pyproject.toml").write_text("secret = 1\n")
    (tmp_path / "outside.txt").write_text("secret")
    return site, root


def built(site):
    (site / "tutorial" / "1-first").mkdir(parents=True)
    (site / "index.html").write_text("<script>start()</script><script src='a.js'></script>")
    (site / "tutorial" / "1-first" / "index.html").write_text("<h1>First</h1>")
    (site / "a.js").write_text("1")
    (site / "away").symlink_to(site.parent / "outside.txt")


async def read(places, path, method="GET", query=b"", **asked):
    site, root = places
    pages = Documentation(V3_ERRORS, site=site, root=documents_root(root, root / "none"))
    request = a_request(path, method, **asked)
    request.scope["query_string"] = query
    return await pages.answer(request, "127.0.0.1", "id")


@pytest.mark.parametrize(
    ("path", "status", "media_type", "content"),
    [
        ("/docs/", 200, "text/html", b"start()"),
        ("/docs/a.js", 200, "text/javascript", b"1"),
        ("/docs/tutorial/1-first/", 200, "text/html", b"<h1>First"),
        ("/docs/tutorial/1-first", 308, "", b""),
        ("/docs", 308, "", b""),
        ("/docs/pages.css", 200, "text/css", b".prose"),
        ("/docs/none", 404, "application/json", b"No HTTP resource"),
        ("/docs/away", 404, "application/json", b"No HTTP resource"),
        ("/docs/../outside.txt", 404, "application/json", b"No HTTP resource"),
        ("/docs/\x00", 404, "application/json", b"No HTTP resource"),
        ("/docs/" + "x" * 9_000, 404, "application/json", b"No HTTP resource"),
    ],
)
async def test_the_built_site_is_served_and_nothing_beside_it(
    places, path, status, media_type, content
):
    built(places[0])
    answer = await read(places, path)
    assert answer.status_code == status
    assert answer.headers.get("content-type", "").startswith(media_type)
    assert content in answer.body


@pytest.mark.parametrize(
    ("path", "status", "content"),
    [
        ("/docs/", 200, b'<a href="/docs/tutorial/1-first/#a-place">first</a>'),
        ("/docs/tutorial/1-first/", 200, b'<h2 id="a-place">A <code>place</code></h2>'),
        ("/docs/tutorial/1-first", 308, b""),
        ("/docs/tutorial/1-first.md", 308, b""),
        ("/docs/pictures/a.svg", 200, b"<svg/>"),
        ("/docs/pictures/away.svg", 404, b"No HTTP resource"),
        ("/docs/../pyproject.toml", 404, b"No HTTP resource"),
        ("/docs/index.md", 404, b"No HTTP resource"),
        ("/docs/none.md", 404, b"No HTTP resource"),
        ("/docs/\x00", 404, b"No HTTP resource"),
        ("/docs/" + "x" * 9_000 + ".svg", 404, b"No HTTP resource"),
    ],
)
async def test_without_the_site_the_markdown_pages_are_rendered(places, path, status, content):
    answer = await read(places, path)
    assert (answer.status_code, content in answer.body) == (status, True)


async def test_a_page_shows_markup_as_text_leads_no_link_out_and_loads_from_here_alone(places):
    answer = await read(places, "/docs/")
    page = answer.body.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<a>out</a>" in page
    assert '<a href="https://example.org">far</a>' in page
    assert 'src="/docs/pictures/a.svg"' in page
    loaded = re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="([^"]+)"', page)
    assert all(address.startswith(("/docs/", "/console/")) for address in loaded)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("words", "found"),
    [("place", ["A place"]), ("FIRST place", ["A place"]), ("nothing of it", []), ("", [])],
)
async def test_a_search_finds_titles_and_headings(places, words, found):
    query = f"q={words.replace(' ', '+')}".encode()
    rows = json.loads((await read(places, "/docs/search.json", query=query)).body)
    assert [row["title"] for row in rows] == found
    page = (await read(places, "/docs/search", query=query)).body
    assert all(title.encode() in page for title in found)


async def test_words_of_a_search_are_text(places):
    answer = await read(places, "/docs/search", query=b"q=%22%3E%3Cscript%3Ealert(1)")
    assert b"<script>alert" not in answer.body


def test_whole_words_of_a_title_come_first():
    entries = [Entry("Claims", "/a", "claim"), Entry("List", "/b", "claim"), Entry("A claim", "/c")]
    assert [each.address for each in search(entries, "claim")] == ["/c", "/a", "/b"]


async def test_an_installation_without_pages_says_so(places):
    (places[1] / "docs" / "index.md").unlink()
    assert b"does not have the documentation" in (await read(places, "/docs/")).body


def test_the_wheel_has_the_pages_in_a_folder_of_the_package(places):
    wheel = places[1]
    (wheel / "pyproject.toml").unlink()
    assert documents_root(wheel, wheel) == wheel
    assert [page.title for page in MarkdownSite(wheel).pages] == ["Start", "First"]


def test_the_build_puts_the_pages_where_the_package_looks():
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    wheel = tomllib.loads(text)["tool"]["hatch"]["build"]["targets"]["wheel"]
    package = PACKAGED.relative_to(CHECKOUT / "src")
    assert Path(wheel["sources"]["docs"]) == package / "docs"
    assert "docs" in wheel["only-include"]


@pytest.mark.parametrize("is_built", [False, True])
async def test_a_browser_gets_a_page_that_says_there_is_none(places, is_built):
    if is_built:
        built(places[0])
    answer = await read(places, "/docs/how-to/first-%22<b>", accept=BROWSER)
    page = answer.body.decode()
    assert (answer.status_code, answer.headers["vary"]) == (404, "Accept")
    assert "There is no page at this address" in page
    assert 'action="/docs/search"' in page
    assert "<b>" not in page
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_the_page_names_what_the_address_may_mean(places):
    page = (await read(places, "/docs/first.html", accept=BROWSER)).body.decode()
    assert '<li><a href="/docs/tutorial/1-first/">First</a>' in page


async def test_the_documentation_is_read_only(places):
    assert (await read(places, "/docs/", "POST")).status_code == 405


def test_a_page_runs_its_own_scripts_and_no_others():
    policy = page_policy(b"<script>a</script><script src='x'>b</script><SCRIPT type=t>c</SCRIPT>")
    assert policy.count("'sha256-") == 2
    assert "'unsafe-inline'" not in policy.partition("script-src")[2]


def test_a_long_table_is_cut_between_rows_and_keeps_its_head():
    rows = [f"| {at} | {'word ' * 20}|" for at in range(200)]
    text = "\n".join(
        ["# Long", "", "## Table", "", "| A | B |", "|---|---|", *rows, "", "## End", "x"]
    )
    parts = cut_page(text)
    assert [part.name for part in parts][:3] == ["", "table-2", "table-3"]
    assert parts[1].title == "Table, continued (2)"
    for part in parts[1:]:
        html = render_markdown(part.text, part.headings, str)
        assert html.count("<th>A</th>") == 1
    shown = [row for part in parts for row in re.findall(r"^\| (\d+) ", part.text, re.MULTILINE)]
    assert shown == [str(at) for at in range(200)]
    assert [heading.anchor for heading in parts[-1].headings] == ["end"]


def test_code_is_not_cut_and_its_comments_are_no_headings():
    code = "\n".join(["```sh", *["# a comment"] * 900, "```"])
    parts = cut_page(f"# Page\n\n{code}\n\n## Next\n\n{'text ' * 4_000}\n")
    assert [[each.text for each in part.headings] for part in parts] == [["Page"], ["Next"]]
    assert cut_page("# Same\n\n## A\n\n## A\n")[0].headings[2].anchor == "a_1"


def test_every_link_of_these_pages_leads_somewhere_and_no_part_is_too_long(own):
    places = {place.address: place for place in map(own.place, own._places)}
    seen = {address: Links(own.html(place)) for address, place in places.items()}
    dead = [
        (address, link)
        for address, page in seen.items()
        for link in page.links
        if not link.startswith("https://")
        and not (link.startswith("/docs/") and _leads(own, seen, *link.partition("#")[::2]))
    ]
    assert not dead
    shown = " ".join(place.part.text for place in places.values())
    assert "stateDiagram" not in shown
    assert "Written by `make docs`" not in shown
    assert len(places) > len(own.pages)
    assert PART_PIXELS_MAX < 10_000


def _leads(own, seen, address, anchor) -> bool:
    if address in seen:
        return not anchor or anchor in seen[address].ids
    return (own.root / "docs" / address.removeprefix("/docs/")).is_file()
