"""The pages of the documentation, in the order a newcomer needs them: where each comes from, its place and its title.

The service shows them as they are; ``tools/docs/site.py`` builds the same pages as a site for publishing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PACKAGED = Path(__file__).parent / "documents"
"""Where the wheel has the Markdown pages; its build configuration puts them there."""
CHECKOUT = Path(__file__).parents[4]
START = PurePosixPath("index.md")
SECTIONS: dict[str, str] = {
    "tutorial": "Tutorial",
    "how-to": "How-to",
    "reference": "Reference",
    "explanation": "Explanation",
    "decisions": "Decisions",
    "project": "Project",
}
PROJECT = (
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "SUPPORT.md", "CODE_OF_CONDUCT.md",
    "examples/README.md",
)  # fmt: skip
"""Pages outside of ``docs``."""
LOOSE = ("glossary.md", "dependencies.md")
"""Pages of ``docs`` without a folder; they are listed as references."""
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page: where it comes from, where it is in the site, and under which heading it is listed."""

    source: Path
    target: PurePosixPath
    section: str
    title: str

    @property
    def address(self) -> str:
        """The page's address below ``/docs/``; empty for the first page."""
        return "" if self.target == START else f"{self.target.with_suffix('')}/"


def documents_root(checkout: Path = CHECKOUT, packaged: Path = PACKAGED) -> Path | None:
    """Return the directory with ``docs`` and the pages beside it: a checkout's, else the wheel's; None without either."""
    if (checkout / "pyproject.toml").is_file() and (checkout / "docs" / START).is_file():
        return checkout
    return packaged if (packaged / "docs" / START).is_file() else None


def find_pages(root: Path = CHECKOUT) -> Iterator[SourcePage]:
    """Return every page, in the order of the navigation; pages outside of ``docs`` only if they are there."""
    docs = root / "docs"
    yield _page(docs / START, str(START), "")
    for section in SECTIONS:
        for source in sorted((docs / section).glob("*.md")):
            yield _page(source, f"{section}/{source.name}", section)
        if section == "reference":
            for name in LOOSE:
                if (docs / name).is_file():
                    yield _page(docs / name, name, section)
    for name in PROJECT:
        if (root / name).is_file():
            yield _page(root / name, f"project/{_project_name(name)}.md", "project")


def _page(source: Path, target: str, section: str) -> SourcePage:
    first = _TITLE.search(source.read_text(encoding="utf-8"))
    if first is None:
        raise ValueError(f"{source} has no heading")
    return SourcePage(source, PurePosixPath(target), section, first[1].replace("`", ""))


def _project_name(name: str) -> str:
    path = PurePosixPath(name)
    return path.parent.name or path.stem.lower()
