"""The little Markdown that the generated pages are made of."""

from collections.abc import Iterator, Sequence


def cell(text: object) -> str:
    """Return text that is safe in a cell of a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def grid(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Return a Markdown table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(cell, row)) + " |"


def part(title: str, *paragraphs: str, level: int = 2) -> Iterator[str]:
    """Return a heading and its paragraphs, between blank lines."""
    yield ""
    yield f"{'#' * level} {title}"
    yield ""
    for paragraph in paragraphs:
        yield paragraph
        yield ""


def first_words(text: str | None) -> str:
    """Return the first paragraph of a description, on one line."""
    return (text or "").partition("\n\n")[0].replace("\n", " ").replace("``", "`").strip()
