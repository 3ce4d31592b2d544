"""The documentation as pages of this service: addresses, parts, links between them, and search over titles and headings.

Pages are read once; a part is rendered when it is asked for.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from clearlane.api.pages.page_cutting import Part, cut_page
from clearlane.api.pages.page_frame import Entry, Group
from clearlane.api.pages.page_html import render_markdown
from clearlane.api.pages.page_list import SECTIONS, SourcePage, find_pages

ROOT = "/docs/"
FOUND_MAX = 20
WORDS_MAX = 8
MEANT_MAX = 5
PATH_CHARACTERS_MAX = 200
PARTS_KEPT_MAX = 64
FILE_SUFFIXES = (".svg", ".png")
"""Files of ``docs`` that pages show."""


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """A part of a page, and what is before and after it."""

    page: SourcePage
    part: Part
    address: str
    before: Entry | None
    after: Entry | None
    contents: tuple[Entry, ...]
    """The parts of a page that has several."""


class MarkdownSite:
    """The pages of one directory, such as a checkout's."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pages = list(find_pages(root))
        self._parts = {
            page.target: cut_page(page.source.read_text(encoding="utf-8")) for page in self.pages
        }
        self._by_source = {page.source.resolve(): page for page in self.pages}
        self._places = {each.address: each for each in self._all_places()}
        self.entries = tuple(self._search_entries())
        self._html = lru_cache(PARTS_KEPT_MAX)(self._render)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The navigation: the first page, then the sections."""
        start = Group("", (Entry("Start", ROOT),))
        sections = [
            Group(title, tuple(Entry(p.title, _address(p)) for p in self.pages if p.section == key))
            for key, title in SECTIONS.items()
        ]
        return (start, *(each for each in sections if each.entries))

    def place(self, address: str) -> PlacedPart | None:
        """Return the part of a page at an address; None if there is none."""
        return self._places.get(address)

    def html(self, place: PlacedPart) -> str:
        """Return the part as HTML."""
        return self._html(place.address)

    def _render(self, address: str) -> str:
        place = self._places[address]

        def lead(link: str) -> str:
            return self._lead(place.page, link)

        return render_markdown(place.part.text, place.part.headings, lead)

    def _lead(self, page: SourcePage, link: str) -> str:
        """Return the address of a link's target here; empty for a file that is not a page of the documentation."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return link
        named = (page.source.parent / unquote(parts.path)).resolve() if parts.path else page.source
        target = self._by_source.get(named.resolve())
        if target is not None:
            return self._anchor_address(target, parts.fragment)
        docs = (self.root / "docs").resolve()
        if named.suffix in FILE_SUFFIXES and named.is_relative_to(docs):
            return f"{ROOT}{named.relative_to(docs).as_posix()}"
        return ""

    def _anchor_address(self, page: SourcePage, anchor: str) -> str:
        for part in self._parts[page.target]:
            if anchor and any(each.anchor == anchor for each in part.headings):
                return f"{_address(page, part)}#{anchor}"
        return _address(page)

    def _all_places(self) -> Iterable[PlacedPart]:
        order = [(page, part) for page in self.pages for part in self._parts[page.target]]
        entries = [Entry(part.title or page.title, _address(page, part)) for page, part in order]
        for at, (page, part) in enumerate(order):
            yield PlacedPart(
                page=page,
                part=part,
                address=entries[at].address,
                before=entries[at - 1] if at else None,
                after=entries[at + 1] if at + 1 < len(order) else None,
                contents=self._contents(page, part),
            )

    def _contents(self, page: SourcePage, shown: Part) -> tuple[Entry, ...]:
        parts = self._parts[page.target]
        if len(parts) == 1:
            return ()
        return tuple(
            Entry(each.title, _address(page, each), "here" if each is shown else "")
            for each in parts
            if each.name
        )

    def _search_entries(self) -> Iterable[Entry]:
        for page in self.pages:
            section = SECTIONS.get(page.section, "")
            yield Entry(page.title, _address(page), section)
            note = f"{section}: {page.title}" if section else page.title
            for part in self._parts[page.target]:
                for heading in part.headings:
                    if heading.level > 1:
                        yield Entry(heading.text, f"{_address(page, part)}#{heading.anchor}", note)


def search(entries: Sequence[Entry], words: str) -> list[Entry]:
    """Return the entries that have all words in their title or note, the best first."""
    wanted = words.lower().split()[:WORDS_MAX]
    if not wanted:
        return []
    ranked = []
    for at, entry in enumerate(entries):
        title, note = entry.title.lower(), entry.note.lower()
        if all(word in title or word in note for word in wanted):
            ranked.append((_rank(title, wanted), at))
    return [entries[at] for _, at in sorted(ranked)[:FOUND_MAX]]


def meant(entries: Sequence[Entry], path: str) -> list[Entry]:
    """Return the entries that a path without a page may mean: those with the words of its last name."""
    name = PurePosixPath(path[:PATH_CHARACTERS_MAX]).stem
    return search(entries, " ".join(re.findall(r"[^\W_]+", name)))[:MEANT_MAX]


def _rank(title: str, wanted: Sequence[str]) -> tuple[int, int]:
    """Return how far a title is from the words: whole words of it first, then parts of words, then the note alone."""
    whole = set(re.findall(r"[\w-]+", title))
    missed = sum(0 if word in whole else 1 if word in title else 3 for word in wanted)
    return missed, len(title)


def _address(page: SourcePage, part: Part | None = None) -> str:
    name = f"{part.name}/" if part and part.name else ""
    return f"{ROOT}{page.address}{name}"
