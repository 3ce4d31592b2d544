"""One page of a list that is read as a whole and ordered by something else than time, such as rules and connections."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.path_number import read_number

Row = TypeVar("Row")


class ListPage(NamedTuple, Generic[Row]):
    """The rows of a page, and the addresses of the pages beside it; empty if there is none."""

    rows: Sequence[Row]
    previous: str
    next: str


def list_page(
    request: PageRequest, path: str, rows: Sequence[Row], *, size: int, **query: str
) -> ListPage[Row]:
    """Return the page that the address asks for by its first row; ``query`` is kept in the addresses of the others."""
    wanted = read_number(request.query("start")) or 0
    start = wanted if wanted < len(rows) else 0
    before, after = max(start - size, 0), start + size
    return ListPage(
        rows=rows[start:after],
        previous=request.url(path, **query, start=before or "") if start else "",
        next=request.url(path, **query, start=after) if after < len(rows) else "",
    )
