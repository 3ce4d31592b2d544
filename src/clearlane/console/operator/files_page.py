"""Files: what payers sent and what went to them, newest first; those that were not understood on a tab of their own."""

from typing import NamedTuple

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.pipeline.query.route_states import NO_FILE
from clearlane.store.delivery import batches, inbox, route_traffic
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.inbox import InboxFile

pages = PageRows(roles=OPERATORS, menu="/files")

FILES_PER_PAGE = 50
REVIEW_MAX = 200
"""How many files that need attention are listed at once."""

TABS = {"": "Came in", "out": "Went out", "review": "Need you"}
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
    before = read_number(request.query("before")) or NO_FILE
    async with request.context.database.read(route_traffic.SCOPE) as tx:
        review = await inbox.list_files(tx, inbox.NEEDS_ATTENTION, REVIEW_MAX)
        in_doubt = [one for one in await batches.list_undelivered(tx) if one.state == "in_doubt"]
        limit = FILES_PER_PAGE + 1
        if tab == "out":
            sent = await route_traffic.list_sent(tx, None, before=before, limit=limit)
            rows = [out_row(request, one) for one in sent]
        elif tab == "review":
            ids = [one.id for one in in_doubt[:REVIEW_MAX]]
            rows = [out_row(request, one) for one in await route_traffic.list_sent_by_id(tx, ids)]
            rows += [in_row(request, one) for one in review]
        else:
            received = await route_traffic.list_received(tx, None, before=before, limit=limit)
            rows = [in_row(request, one) for one in received]
    has_older = tab != "review" and len(rows) > FILES_PER_PAGE
    rows = rows if tab == "review" else rows[:FILES_PER_PAGE]
    return request.render(
        "files.html",
        "Files",
        rows=rows,
        tab=tab,
        tabs=[
            (title, request.url("/files", tab=name), name == tab, _count(name, review, in_doubt))
            for name, title in TABS.items()
        ],
        newer=request.url("/files", tab=tab) if before != NO_FILE else "",
        older=request.url("/files", tab=tab, before=rows[-1].id) if has_older else "",
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


def _count(tab: str, review: list[InboxFile], in_doubt: list[batches.Batch]) -> int | None:
    return len(review) + len(in_doubt) if tab == "review" else None
