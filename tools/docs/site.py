"""Build the documentation as a site that needs no network: ``python -m tools.docs.site [DIRECTORY]``.

MkDocs with the Material theme renders the pages; this module gives it the pages in their order, those at the
root of the repository among them, and leads links between sources to the pages made from them. The built site
goes into the package, where the service finds it. No page loads anything from another host or runs an inline
script, so that it can be served under a strict policy. A link that leads nowhere stops the build.
"""

import hashlib
import logging
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

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
UNUSED = ("sitemap.xml*", "404.html", "**/*.map", "assets/javascripts/lunr")
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class DeadLink(Exception):
    """A link of the site leads nowhere."""


def build(site: Path = SITE) -> list[SourcePage]:
    """Write the whole site, and prove that every link of it leads somewhere."""
    from mkdocs.commands.build import build as render
    from mkdocs.config import load_config

    pages = list(find_pages(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder) / "pages"
        for page in pages:
            stage(page, pages, staged)
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
    return pages


def navigation(pages: list[SourcePage]) -> list[dict[str, Any]]:
    """Return the order of the pages as MkDocs reads it."""
    sections = [
        {label: [{page.title: str(page.target)} for page in pages if page.section == section]}
        for section, label in SECTIONS.items()
    ]
    return [{"Start": "index.md"}, *sections]


def stage(page: SourcePage, pages: list[SourcePage], staged: Path) -> None:
    """Copy a page to the place in which MkDocs finds it, with its links led to what is staged, and the files it names."""
    text = page.source.read_text(encoding="utf-8")
    # A picture drawn from the same table is beside a diagram's text, which would need a script of another host.
    text = FENCE.sub(lambda found: "" if found[2] == "mermaid" else found[0], text)
    made = {other.source: other.target for other in pages}

    def lead(found: re.Match[str]) -> str:
        link = found[2]
        parts = urlsplit(link)
        if not parts.path or parts.scheme or parts.netloc:
            return found[0]
        named = (page.source.parent / unquote(parts.path)).resolve()
        end = f"#{parts.fragment}" if parts.fragment else ""
        target = made.get(named)
        if target is None:
            target = _bring(named, staged, page, link)
        return f"{found[1]}{relpath(target, page.target.parent)}{end}{found[3]}"

    written = staged / page.target
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text(_outside_fences(text, lambda part: LINK.sub(lead, part)), encoding="utf-8")


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
