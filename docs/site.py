"""Build the documentation as a site that needs no network: ``python -m docs.site [DIRECTORY]``.

The folders are the navigation. Every page is one HTML file with the same frame; nothing is loaded from
elsewhere and nothing is run. A link that leads nowhere stops the build.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SITE = ROOT / "site"

# The folders in the order a newcomer needs them, and the pages at the root of the repository.
SECTIONS: dict[str, str] = {
    "tutorial": "Tutorial",
    "how-to": "How-to",
    "reference": "Reference",
    "explanation": "Explanation",
    "decisions": "Decisions",
    "project": "Project",
}
PROJECT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")
LOOSE = ("glossary.md", "dependencies.md")

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#4a525c;--paper:#fff;--panel:#f4f6f9;--edge:#ccd3dc;
--link:#174ea6;--code:#f0f3f7}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#b3bcc8;--paper:#14171b;--panel:#1b2027;
--edge:#3a434e;--link:#8ab4f8;--code:#20262e}}
*{box-sizing:border-box}
body{margin:0;font:1rem/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
a{color:var(--link)}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);
outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.5rem}
header{padding:.75rem 1rem;border-bottom:1px solid var(--edge);background:var(--panel)}
header{display:flex;justify-content:space-between}
header a{font-weight:700;text-decoration:none;color:var(--ink)}
.frame{display:grid;grid-template-columns:minmax(0,1fr);max-width:84rem;margin:0 auto}
nav{padding:.5rem 1rem}nav ul{list-style:none;margin:0;padding:0 0 .5rem .75rem}
nav li{padding:.15rem 0}nav a{text-decoration:none}nav a:hover{text-decoration:underline}
nav [aria-current]{font-weight:700;color:var(--ink)}nav h2{font-size:.9rem;margin:.75rem 0 .25rem}
summary{cursor:pointer;font-weight:700;padding:.4rem 0}
main{padding:1rem;min-width:0;max-width:54rem}
h1{line-height:1.2;font-size:1.9rem}h2{margin-top:2.2rem;border-bottom:1px solid var(--edge)}
h1,h2,h3,h4{scroll-margin-top:1rem;overflow-wrap:anywhere}
.anchor{margin-left:.4rem;text-decoration:none;opacity:.5}.anchor:hover,.anchor:focus{opacity:1}
pre{background:var(--code);border:1px solid var(--edge);border-radius:6px;padding:.75rem;overflow-x:auto;
line-height:1.45}
code{font:.9em ui-monospace,monospace;background:var(--code);padding:.1em .25em;border-radius:4px;
overflow-wrap:anywhere}pre code{padding:0;background:none;overflow-wrap:normal}
.wide{overflow-x:auto;margin:1rem 0;border:1px solid var(--edge);border-radius:6px}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--edge)}
th{background:var(--panel)}tr:last-child td{border-bottom:0}
td code{overflow-wrap:normal;white-space:nowrap}
img{width:100%;min-width:40rem;height:auto;display:block}
.turn{display:flex;flex-wrap:wrap;justify-content:space-between;gap:1rem;margin-top:3rem;
border-top:1px solid var(--edge);padding-top:1rem}
footer{color:var(--soft);padding:1rem;border-top:1px solid var(--edge);font-size:.9rem}
@media(min-width:60rem){.frame{grid-template-columns:17rem minmax(0,1fr)}.to-pages{display:none}
main{grid-column:2;grid-row:1}nav{grid-column:1;grid-row:1;position:sticky;top:0;align-self:start;max-height:100vh;overflow-y:auto;border-right:1px solid var(--edge)}
main{padding:1rem 2rem}}
@media print{nav,.skip,.anchor,.turn{display:none}}
""".strip()


@dataclass(frozen=True, slots=True)
class Page:
    """A page: where it comes from, where it goes, and under which heading it is listed."""

    source: Path
    target: PurePosixPath
    section: str
    title: str

    def link_from(self, other: "Page") -> str:
        """Return the address of this page as another links to it."""
        return relpath(self.target, other.target.parent)


class DeadLink(Exception):
    """A link of the site leads nowhere."""


def build(site: Path = SITE) -> list[Page]:
    """Write the whole site anew, and prove that every link of it leads somewhere."""
    pages = list(find_pages())
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    (site / "style.css").write_text(STYLE + "\n", encoding="utf-8")
    for page in pages:
        target = site / page.target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(page, pages, site), encoding="utf-8")
    dead = list(dead_links(site))
    if dead:
        raise DeadLink("\n".join(dead))
    return pages


def find_pages() -> Iterator[Page]:
    """Return every page, in the order of the navigation."""
    yield _page(DOCS / "index.md", "index.html", "")
    for section in SECTIONS:
        for source in sorted((DOCS / section).glob("*.md")):
            yield _page(source, f"{section}/{source.stem}.html", section)
        if section == "reference":
            for name in LOOSE:
                yield _page(DOCS / name, f"{Path(name).stem}.html", section)
    for name in PROJECT:
        yield _page(ROOT / name, f"project/{_project_name(name)}.html", "project")


def render(page: Page, pages: list[Page], site: Path) -> str:
    """Return a page in its frame."""
    text = page.source.read_text(encoding="utf-8")
    tokens = _reader().parse(text)
    _anchor_headings(tokens)
    _lead_links(tokens, page, pages, site)
    body = _reader().renderer.render(tokens, _reader().options, {})
    body = body.replace(
        "<table>", '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>'
    )
    body = body.replace("</table>", "</table></div>")
    body = re.sub(
        r"<p>(<img [^>]*>)</p>",
        r'<div class="wide" role="region" aria-label="Picture" tabindex="0">\1</div>',
        body,
    )
    home = relpath("index.html", page.target.parent)
    name = escape(page.title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name} - Clearlane</title>
<link rel="stylesheet" href="{relpath("style.css", page.target.parent)}">
</head>
<body>
<a class="skip" href="#content">Skip to the page</a>
<header><a href="{home}">Clearlane</a><a class="to-pages" href="#pages">All pages</a></header>
<div class="frame">
<main id="content">
{body}
{_neighbours(page, pages)}
</main>
<nav id="pages" aria-label="All pages">
{_navigation(page, pages)}
</nav>
</div>
<footer>Clearlane, the clearinghouse anyone can run. Apache-2.0.</footer>
</body>
</html>
"""


def dead_links(site: Path) -> Iterator[str]:
    """Return every link of a site that leads to no file of it, or to no place of the file."""
    looked = {file: _LinkReader.at(file) for file in sorted(site.rglob("*.html"))}
    for file, seen in looked.items():
        for link in seen.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                yield f"{file.relative_to(site)}: {link} leads to no file"
            elif parts.fragment and parts.fragment not in looked[target].ids:
                yield f"{file.relative_to(site)}: {link} leads to no place"


def slug(text: str) -> str:
    """Return the anchor that a heading has on GitHub and here."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _page(source: Path, target: str, section: str) -> Page:
    first = re.search(r"^# (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert first, f"{source} has no heading"
    return Page(source, PurePosixPath(target), section, first[1].replace("`", ""))


def _project_name(name: str) -> str:
    path = PurePosixPath(name)
    return path.parent.name or path.stem.lower()


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    # A picture drawn from the same table is beside it; a diagram's text helps nobody here.
    reader.renderer.rules["fence"] = _fence
    return reader


def _fence(tokens: list[Token], at: int, _options: object, _env: object) -> str:
    block = tokens[at]
    if block.info == "mermaid":
        return ""
    language = f' class="language-{escape(block.info)}"' if block.info else ""
    return f'<pre tabindex="0"><code{language}>{escape(block.content)}</code></pre>\n'


def _anchor_headings(tokens: list[Token]) -> None:
    """Give every heading an id, and a link to itself."""
    taken: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        inline = tokens[at + 1]
        name = slug(_plain(inline))
        count = taken[name] = taken.get(name, -1) + 1
        id = f"{name}-{count}" if count else name
        token.attrSet("id", id)
        if token.tag != "h1":
            mark = Token("html_inline", "", 0)
            label = escape(f"Link to {_plain(inline)}")
            mark.content = f'<a class="anchor" href="#{id}" aria-label="{label}">#</a>'
            inline.children = [*(inline.children or []), mark]


def _plain(inline: Token) -> str:
    return "".join(
        part.content for part in inline.children or [] if part.type in {"text", "code_inline"}
    )


def _lead_links(tokens: list[Token], page: Page, pages: list[Page], site: Path) -> None:
    """Lead links between sources to the pages made from them, and bring along other files that are named."""
    made = {other.source: other for other in pages}
    for token in (part for block in tokens for part in block.children or []):
        for name in ("href", "src"):
            link = str(token.attrGet(name) or "")
            parts = urlsplit(link)
            if not parts.path or parts.scheme or parts.netloc:
                continue
            named = (page.source.parent / unquote(parts.path)).resolve()
            end = f"#{parts.fragment}" if parts.fragment else ""
            if named in made:
                token.attrSet(name, made[named].link_from(page) + end)
            elif named.is_file():
                copy = site / "files" / named.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(named, copy)
                token.attrSet(name, relpath(copy, site / page.target.parent) + end)
            elif named.is_dir():
                raise DeadLink(f"{page.source.relative_to(ROOT)}: {link} is a folder; name a page")


def _navigation(page: Page, pages: list[Page]) -> str:
    parts = []
    for section, label in SECTIONS.items():
        rows = "".join(
            f'<li><a href="{other.link_from(page)}"'
            + (' aria-current="page"' if other is page else "")
            + f">{escape(other.title)}</a></li>"
            for other in pages
            if other.section == section
        )
        opened = " open" if section in {page.section, "" if page.section else "tutorial"} else ""
        parts.append(f"<details{opened}><summary>{label}</summary><ul>{rows}</ul></details>")
    return "\n".join(parts)


def _neighbours(page: Page, pages: list[Page]) -> str:
    """Return links to the pages before and after in the same folder."""
    same = [other for other in pages if other.section == page.section]
    if page.section != "tutorial":
        return ""
    at = same.index(page)
    before = (
        f'<a rel="prev" href="{same[at - 1].link_from(page)}">Before: {escape(same[at - 1].title)}</a>'
        if at
        else "<span></span>"
    )
    after = (
        f'<a rel="next" href="{same[at + 1].link_from(page)}">Next: {escape(same[at + 1].title)}</a>'
        if at + 1 < len(same)
        else ""
    )
    return f'<div class="turn">{before}{after}</div>'


class _LinkReader(HTMLParser):
    """The links of a file and the places in it that links can lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []

    @classmethod
    def at(cls, file: Path) -> "_LinkReader":
        looked = cls()
        looked.feed(file.read_text(encoding="utf-8"))
        return looked

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.links.append(value)
            elif name == "id" and value:
                self.ids.append(value)


def main() -> None:
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    try:
        pages = build(site)
    except DeadLink as fault:
        sys.exit(f"The site was not built.\n{fault}")
    print(f"wrote {len(pages)} pages: {site}/index.html")


if __name__ == "__main__":
    main()
