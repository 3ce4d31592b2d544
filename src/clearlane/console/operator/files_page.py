"""Files: what payers sent and what went to them, newest first; those that were not understood on a tab of their own."""

from typing import NamedTuple

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.list_filters import given_filters
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.store.delivery import batches, inbox, route_traffic
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.file_query import (
    BATCH_FILTERS,
    INBOX_FILTERS,
    FileQuery,
    find_batches,
    find_inbox_files,
)
from clearlane.store.delivery.inbox import InboxFile

pages = PageRows(roles=OPERATORS, menu="/files")

FILES_PER_PAGE = 50
REVIEW_MAX = 200
"""How many files that need attention are listed at once."""

TABS = {"": "Came in", "out": "Went out", "review": "Need you"}
FILTERS = {"": INBOX_FILTERS, "out": BATCH_FILTERS}
"""By tab; those that need attention are few."""
TEST_LABEL = ("late", "Test file")
"""Label of a file that is marked as a test, beside that of its state."""

IN_LABELS = {
    inbox.STORED: ("wait", "Being read"),
    inbox.APPLIED: ("good", "Applied"),
    inbox.PARKED: ("late", "Partly applied"),
    inbox.QUARANTINED: ("act", "Not understood"),
    inbox.UNKNOWN_SENDER: ("act", "Unknown sender"),
    inbox.TEST_FILE: ("act", "Test file"),
    inbox.DISCARDED: ("done", "Put aside"),
}
OUT_LABELS = {
    "ready": ("wait", "Waits"),
    "sending": ("wait", "On its way"),
    "delivered": ("good", "Delivered"),
    "in_doubt": ("late", "Delivery in doubt"),
}
"""Kind and words of the label, by state."""


class FileRowTexts(NamedTuple):
    """One file of a list, whichever way it went."""

    path: str
    label: tuple[str, str]
    id: int
    name: str
    payer: str
    type: str
    holds: str
    at: str
    sentence: str
    mark: tuple[str, str] | None = None
    """A second label."""


@pages.page("/files")
async def show_files(request: PageRequest) -> Response:
    """Show a page of files."""
    tab = request.query("tab") if request.query("tab") in TABS else ""
    given = given_filters(request, FILTERS.get(tab, ()))
    before = read_number(request.query("before"))
    async with request.context.database.read(route_traffic.SCOPE) as tx:
        review = await find_inbox_files(
            tx, FileQuery(where={"state": inbox.NEEDS_ATTENTION}, limit=REVIEW_MAX)
        )
        in_doubt = [one for one in await batches.list_undelivered(tx) if one.state == "in_doubt"]
        query = FileQuery(where=given.values, before=before, limit=FILES_PER_PAGE + 1)
        if tab == "out":
            rows = [out_row(request, one) for one in await find_batches(tx, query)]
        elif tab == "review":
            rows = [out_row(request, one) for one in in_doubt[:REVIEW_MAX]]
            rows += [in_row(request, one) for one in review]
        else:
            rows = [in_row(request, one) for one in await find_inbox_files(tx, query)]
    has_older = tab != "review" and len(rows) > FILES_PER_PAGE
    rows = rows if tab == "review" else rows[:FILES_PER_PAGE]
    kept = {"tab": tab, **given.texts}
    return request.render(
        "files.html",
        "Files",
        rows=rows,
        tab=tab,
        tabs=[
            (title, request.url("/files", tab=name), name == tab, _count(name, review, in_doubt))
            for name, title in TABS.items()
        ],
        given=given,
        chips=given.chips(request, "/files", tab=tab),
        newer=request.url("/files", **kept) if before else "",
        older=request.url("/files", **kept, before=rows[-1].id) if has_older else "",
    )


def in_row(request: PageRequest, file: InboxFile) -> FileRowTexts:
    """Return the texts of a file that came in."""
    return FileRowTexts(
        path=f"/files/in/{file.id}",
        label=IN_LABELS[file.state],
        id=file.id,
        name=file.name,
        payer=request.payer_name(file.payer_id, file.type),
        type=file.type.lower(),
        holds=file.kinds or "-",
        at=request.stored_moment(file.received_at),
        sentence=in_sentence(file),
        mark=test_mark(file),
    )


def test_mark(file: InboxFile) -> tuple[str, str] | None:
    """Return the label of a test file whose state does not say so itself."""
    return TEST_LABEL if file.is_test and file.state != inbox.TEST_FILE else None


def out_row(request: PageRequest, batch: Batch) -> FileRowTexts:
    """Return the texts of a file that went out."""
    return FileRowTexts(
        path=f"/files/out/{batch.id}",
        label=OUT_LABELS[batch.state],
        id=batch.id,
        name=batch.name,
        payer=request.payer_name(batch.payer_id, batch.type),
        type=batch.type.lower(),
        holds=page_text.count(batch.claims, "claim"),
        at=request.stored_moment(batch.delivered_at or batch.created_at),
        sentence=batch.fault,
    )


def in_sentence(file: InboxFile) -> str:
    """Return what became of a file that came in."""
    if file.reason:
        return file.reason
    if file.state == inbox.STORED:
        return "It is read within seconds."
    applied = page_text.count(file.applied, "statement")
    if file.parked:
        return f"{applied} applied; {file.parked:,} about claims that are not known here."
    return f"{applied} about claims applied." if file.applied else "It says nothing about a claim."


def payer_text(request: PageRequest, type: str, payer_id: str) -> str:
    """Return a payer's name and type."""
    return f"{request.payer_name(payer_id, type)}, {type.lower()}"


def _count(tab: str, review: list[InboxFile], in_doubt: list[Batch]) -> int | None:
    return len(review) + len(in_doubt) if tab == "review" else None
