"""Build the documentation as a site that needs no network: ``python -m tools.docs.site [DIRECTORY]``.

MkDocs with the Material theme renders the pages; this module gives it the pages in their order, those at the
root of the repository among them, and leads links between sources to the pages made from them. The built site
goes into the package, where the service finds it. A long page is cut as the service cuts it, with the same addresses. No
page loads anything from another host or runs an inline script, so that it can be served under a strict policy. A link that
leads nowhere stops the build.
"""

import hashlib
import logging
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from clearlane.api.pages.page_cutting import Part, cut_page
from clearlane.api.pages.page_list import SECTIONS, SourcePage, find_pages

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = ROOT / "src" / "clearlane" / "api" / "pages" / "site"
CONFIGURATION = Path(__file__).with_name("mkdocs.yml")
# Files of the frame that mkdocs.yml names, and their places in the repository.
ASSETS = {
    "assets/site.css": Path(__file__).with_name("site.css"),
    "assets/icon.svg": ROOT / "src" / "clearlane" / "console" / "pages" / "icon.svg",
}

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^( *)```(\w*)\n.*?^\1```\n", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,3} .+$", re.MULTILINE)
UNUSED = ("sitemap.xml*", "404.html", "**/*.map", "assets/javascripts/lunr")
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class DeadLink(Exception):
    """A link of the site leads nowhere."""


@dataclass(frozen=True, slots=True)
class StagedPage:
    """A page with its parts, and where each of them is staged. A page that is not cut has one, which is the page."""

    page: SourcePage
    parts: Sequence[Part]

    @classmethod
    def of(cls, page: SourcePage) -> "StagedPage":
        return cls(page, cut_page(page.source.read_text(encoding="utf-8")))

    @property
    def is_cut(self) -> bool:
        return len(self.parts) > 1

    def target(self, part: Part) -> PurePosixPath:
        """Return the place of a part: the first one has the address of the page."""
        if not self.is_cut:
            return self.page.target
        return self.page.target.with_suffix("") / f"{part.name or 'index'}.md"

    def target_of(self, anchor: str) -> PurePosixPath:
        """Return the place of the part with a heading; of the first one if no heading is named."""
        named = (each for each in self.parts if anchor in {one.anchor for one in each.headings})
        return self.target(next(named, self.parts[0]))


def build(site: Path = SITE) -> list[SourcePage]:
    """Write the whole site, and prove that every link of it leads somewhere."""
    from mkdocs.commands.build import build as render
    from mkdocs.config import load_config

    pages = [StagedPage.of(page) for page in find_pages(ROOT)]
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder) / "pages"
        for page in pages:
            for part in page.parts:
                stage(page, part, pages, staged)
        for name, source in ASSETS.items():
            (staged / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source, staged / name)
        faults = _Faults()
        logging.getLogger("mkdocs").addHandler(faults)
        try:
            config = load_config(
                str(CONFIGURATION),
                docs_dir=str(staged),
                site_dir=str(site),
                nav=navigation(pages),
                strict=False,  # every warning is collected, and then the build is stopped
            )
            render(config)
        finally:
            logging.getLogger("mkdocs").removeHandler(faults)
    if faults.found:
        raise DeadLink("\n".join(faults.found))
    lift_scripts(site)
    remove_unused(site)
    dead = list(dead_links(site))
    if dead:
        raise DeadLink("\n".join(dead))
    return [each.page for each in pages]


def navigation(pages: list[StagedPage]) -> list[dict[str, Any]]:
    """Return the order of the pages as MkDocs reads it."""
    sections = [
        {label: [_entry(each) for each in pages if each.page.section == section]}
        for section, label in SECTIONS.items()
    ]
    return [{"Start": "index.md"}, *sections]


def _entry(staged: StagedPage) -> dict[str, Any]:
    """Return a page in the navigation; one that is cut holds its parts."""
    places = [str(staged.target(part)) for part in staged.parts]
    if not staged.is_cut:
        return {staged.page.title: places[0]}
    titles = [part.title for part in staged.parts[1:]]
    others = [{title: place} for title, place in zip(titles, places[1:], strict=True)]
    return {staged.page.title: [places[0], *others]}


def stage(page: StagedPage, part: Part, pages: Sequence[StagedPage], staged: Path) -> None:
    """Copy a part of a page to the place in which MkDocs finds it, with its links led to what is staged, and the files it names."""
    text = _part_text(page, part) if page.is_cut else page.page.source.read_text(encoding="utf-8")
    # A picture drawn from the same table is beside a diagram's text, which would need a script of another host.
    text = FENCE.sub(lambda found: "" if found[2] == "mermaid" else found[0], text)
    made = {other.page.source: other for other in pages}
    own = page.target(part)

    def lead(found: re.Match[str]) -> str:
        link = found[2]
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not (parts.path or page.is_cut):
            return found[0]
        named = page.page.source
        if parts.path:
            named = (named.parent / unquote(parts.path)).resolve()
        end = f"#{parts.fragment}" if parts.fragment else ""
        if named in made:
            target = made[named].target_of(parts.fragment)
        else:
            target = _bring(named, staged, page.page, link)
        return f"{found[1]}{relpath(target, own.parent)}{end}{found[3]}"

    written = staged / own
    written.parent.mkdir(parents=True, exist_ok=True)
    led = _outside_fences(text, lambda some: LINK.sub(lead, some))
    written.write_text(led + ("" if part.name else _list_of_parts(page)), encoding="utf-8")


def _list_of_parts(page: StagedPage) -> str:
    """Return links to the other parts of a page; empty for one that is not cut."""
    others = [f"* [{one.title}]({page.target(one).name})\n" for one in page.parts[1:]]
    return "".join(["\nThis page goes on:\n\n", *others]) if others else ""


def _part_text(page: StagedPage, part: Part) -> str:
    """Return a part of a page that is cut: with a title, and its headings named as in the whole page."""
    anchors = iter(part.headings)

    def named(found: re.Match[str]) -> str:
        return f"{found[0]} {{: #{next(anchors).anchor} }}"

    text = _outside_fences(part.text, lambda some: HEADING.sub(named, some))
    return f"# {page.page.title}: {part.title} {{: #part }}\n\n{text}" if part.name else text


def lift_scripts(site: Path) -> None:
    """Move inline scripts of pages into files, so that a policy need not allow any in a page."""
    for file in sorted(site.rglob("*.html")):
        text = file.read_text(encoding="utf-8")

        def lift(found: re.Match[str], file: Path = file) -> str:
            name = f"assets/javascripts/{hashlib.sha256(found[1].encode()).hexdigest()[:16]}.js"
            (site / name).write_text(found[1], encoding="utf-8")
            return f'<script src="{relpath(site / name, file.parent)}"></script>'

        file.write_text(SCRIPT.sub(lift, text), encoding="utf-8")


def remove_unused(site: Path) -> None:
    """Remove what no page of ours uses: maps of the theme's sources, other languages' search, a site map."""
    for pattern in UNUSED:
        for file in list(site.glob(pattern)):
            shutil.rmtree(file) if file.is_dir() else file.unlink()


def dead_links(site: Path) -> Iterator[str]:
    """Return every link of a site that leads to no file of it, or to no place of the file."""
    looked = {file: _LinkReader.at(file) for file in sorted(site.rglob("*.html"))}
    for file, seen in looked.items():
        for link in seen.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{file.relative_to(site)}: {link} leads to no file"
            elif parts.fragment and parts.fragment not in looked[target].ids:
                yield f"{file.relative_to(site)}: {link} leads to no place"


def _bring(named: Path, staged: Path, page: SourcePage, link: str) -> PurePosixPath:
    """Stage a file that is not a page, such as a picture or an example."""
    if not named.is_file() or not named.is_relative_to(ROOT):
        raise DeadLink(f"{page.source.relative_to(ROOT)}: {link} names no file of the repository")
    target = PurePosixPath("files") / named.relative_to(ROOT)
    copy = staged / target
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(named, copy)
    return target


def _outside_fences(text: str, change: Any) -> str:
    """Return a text changed everywhere but in its blocks of code."""
    parts, at = [], 0
    for found in FENCE.finditer(text):
        parts += [change(text[at : found.start()]), found[0]]
        at = found.end()
    return "".join([*parts, change(text[at:])])


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


class _Faults(logging.Handler):
    """What MkDocs warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record.getMessage())


def main() -> None:
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    try:
        pages = build(site)
    except DeadLink as fault:
        sys.exit(f"The site was not built.\n{fault}")
    print(f"wrote {len(pages)} pages: {site}/index.html")


if __name__ == "__main__":
    main()
