"""The little Markdown that the generated pages are made of."""

from collections.abc import Iterator, Sequence


def cell(text: object) -> str:
    """Text that can stand in a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def grid(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """A Markdown table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(cell, row)) + " |"


def part(title: str, *paragraphs: str, level: int = 2) -> Iterator[str]:
    """A heading and what is said under it, between blank lines."""
    yield ""
    yield f"{'#' * level} {title}"
    yield ""
    for paragraph in paragraphs:
        yield paragraph
        yield ""


def first_words(text: str | None) -> str:
    """The first paragraph of a description, on one line."""
    return (text or "").partition("\n\n")[0].replace("\n", " ").replace("``", "`").strip()
