"""Files: what payers sent and what went to them, for operators, and what sites sent and fetch, for their people too.

Newest first. Payers' files that were not understood have a tab of their own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.responses import Response

from clearlane.accounts.model import vendor_scopes
from clearlane.claims.responses.identify import REPORT
from clearlane.console.frame import page_text
from clearlane.console.frame.list_filters import GivenFilters, given_filters
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.kernel.client_file import (
    CLIENT_FILE_FILTERS,
    FileChannel,
    FileDirection,
    FileState,
    counted_noun,
)
from clearlane.kernel.ids import SiteId
from clearlane.kernel.list_filter import ListFilter
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
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.files.client_files import ClientFile

pages = PageRows(roles=EVERYBODY, menu="/files")

FILES_PER_PAGE = 50
REVIEW_MAX = 200
"""How many files that need attention are listed at once."""

PAYER_TABS = {"": "From payers", "out": "To payers", "review": "Need you"}
"""For operators."""
SITE_TABS = {"sent": "From sites", "fetch": "For sites"}
DIRECTIONS = {"sent": FileDirection.IN, "fetch": FileDirection.OUT}
LEFT_OUT = {"sent": {"direction", "not_fetched", "answers"}, "fetch": {"direction", "state"}}
"""Filters that do not apply to the files of a tab."""
FILTERS: dict[str, Sequence[ListFilter[Any]]] = {
    "": INBOX_FILTERS,
    "out": BATCH_FILTERS,
    **{
        tab: [one for one in CLIENT_FILE_FILTERS if one.name not in left_out]
        for tab, left_out in LEFT_OUT.items()
    },
}
"""By tab; those that need attention are few."""
SHADOW_LABEL = ("late", "Shadow")
"""Label of a file whose claims are judged and never sent, and of the responses to it, beside that of its state."""
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
SITE_LABELS = {
    FileState.RECEIVED: ("wait", "Being read"),
    FileState.ACCEPTED: ("good", "Accepted"),
    FileState.PARTLY_ACCEPTED: ("act", "Partly accepted"),
    FileState.REJECTED: ("act", "Rejected"),
    FileState.UNREADABLE: ("act", "Unreadable"),
    FileState.READY: ("wait", "Not fetched"),
}
"""Kind and words of the label, by state."""
STATE_WORDS: dict[str, dict[str, str]] = {
    tab: {state: words for state, (_, words) in labels.items()}
    for tab, labels in (("", IN_LABELS), ("out", OUT_LABELS), ("sent", SITE_LABELS))
}
"""What the states of files are called in the filter of a tab: as their labels."""
FETCHED_LABEL = ("done", "Fetched")
CHANNEL_WORDS = {
    FileChannel.HTTPS: "by https",
    FileChannel.SFTP: "by SFTP",
    FileChannel.CLI: "by command line",
    FileChannel.SYSTEM: "written by us",
}
EMPTY = {
    "": "No file has come in yet.",
    "out": "No file has gone out yet.",
    "review": "Nothing needs you: every file was understood, and every file is known to have arrived.",
    "sent": "No file was sent yet. A site sends 837 files by https, by SFTP or with clearlane file send.",
    "fetch": "No file to fetch yet. A 999 and a 277CA follow within seconds of a file that was sent, an 835 with a payment.",
}


class FileRowTexts(NamedTuple):
    """One file of a list, whichever way it went."""

    path: str
    label: tuple[str, str]
    id: int | str
    name: str
    party: str
    """The payer, or the site."""
    type: str
    holds: str
    at: str
    sentence: str
    mark: tuple[str, str] | None = None
    """A second label."""


@pages.page("/files")
async def show_files(request: PageRequest) -> Response:
    """Show a page of files: of payers to operators, of sites to each person who may see them."""
    tabs = (PAYER_TABS if request.is_operator else {}) | SITE_TABS
    tab = request.query("tab") if request.query("tab") in tabs else next(iter(tabs))
    given = given_filters(request, FILTERS.get(tab, ()), {"state": STATE_WORDS.get(tab, {})})
    needing = await _needing_attention(request) if request.is_operator else []
    if tab in SITE_TABS:
        rows = await _site_rows(request, tab, given)
    elif tab == "review":
        rows = needing
    else:
        rows = await _payer_rows(request, tab, given)
    has_older = tab != "review" and len(rows) > FILES_PER_PAGE
    rows = rows if tab == "review" else rows[:FILES_PER_PAGE]
    kept = {"tab": tab, **given.texts}
    return request.render(
        "files.html",
        "Files",
        rows=rows,
        tab=tab,
        tabs=[
            (
                title,
                request.url("/files", tab=name),
                name == tab,
                len(needing) if name == "review" else None,
            )
            for name, title in tabs.items()
        ],
        of_sites=tab in SITE_TABS,
        empty=EMPTY[tab],
        given=given,
        chips=given.chips(request, "/files", tab=tab),
        newer=request.url("/files", **kept) if request.query("before") else "",
        older=request.url("/files", **kept, before=rows[-1].id) if has_older else "",
    )


async def _needing_attention(request: PageRequest) -> list[FileRowTexts]:
    """Return the payers' files that a person should look at."""
    query = FileQuery(where={"state": inbox.NEEDS_ATTENTION}, limit=REVIEW_MAX)
    async with request.context.database.read(route_traffic.SCOPE) as tx:
        review = await find_inbox_files(tx, query)
        in_doubt = [one for one in await batches.list_undelivered(tx) if one.state == "in_doubt"]
    rows = [out_row(request, one) for one in in_doubt[:REVIEW_MAX]]
    return rows + [in_row(request, one) for one in review]


async def _payer_rows(request: PageRequest, tab: str, given: GivenFilters) -> list[FileRowTexts]:
    before = read_number(request.query("before"))
    query = FileQuery(where=given.values, before=before, limit=FILES_PER_PAGE + 1)
    async with request.context.database.read(route_traffic.SCOPE) as tx:
        if tab == "out":
            return [out_row(request, one) for one in await find_batches(tx, query)]
        return [in_row(request, one) for one in await find_inbox_files(tx, query)]


async def _site_rows(request: PageRequest, tab: str, given: GivenFilters) -> list[FileRowTexts]:
    """Return the files of the chosen sites, and one more than a page if there are older ones."""
    query = ClientFileQuery(
        where={**given.values, "direction": DIRECTIONS[tab]},
        after=request.query("before") or None,
        limit=FILES_PER_PAGE + 1,
    )
    found: list[ClientFile] = []
    for scope in vendor_scopes(request.chosen_sites):
        async with request.context.database.read(scope) as tx:
            found += await find_page(tx, query)
    found.sort(key=lambda one: one.file_id, reverse=True)
    names = {site.id: site.name for site in request.chosen_sites}
    return [
        FileRowTexts(
            path=f"/files/sites/{one.file_id}",
            label=site_label(one),
            id=one.file_id,
            name=one.name or one.file_id,
            party=names[SiteId(one.site_id)],
            type=CHANNEL_WORDS[FileChannel(one.channel)],
            holds=one.type or "-",
            at=request.stored_moment(one.received_at or one.created_at),
            sentence=site_sentence(one),
            mark=shadow_mark(one),
        )
        for one in found[: query.limit]
    ]


def site_label(file: ClientFile) -> tuple[str, str]:
    """Return kind and words of the label of a file that a site sent or fetches."""
    state = FileState(file.state)
    return FETCHED_LABEL if state is FileState.READY and file.fetched_at else SITE_LABELS[state]


def shadow_mark(file: ClientFile) -> tuple[str, str] | None:
    """Return the label of a shadow file."""
    return SHADOW_LABEL if file.is_shadow else None


def site_sentence(file: ClientFile) -> str:
    """Return what became of a file that a site sent, or what one for it is about."""
    if file.direction == FileDirection.OUT:
        about = f"Responds to file {file.answers}." if file.answers else ""
    elif file.state == FileState.RECEIVED:
        about = "It is read within seconds."
    elif file.claims:
        counted = page_text.count(file.claims, counted_noun(file.type))
        about = f"{counted}: {file.accepted:,} accepted, {file.not_accepted:,} not."
    else:
        about = "" if file.note else "No claim in it was taken in."
    return f"{about} {file.note}".strip()


def in_row(request: PageRequest, file: InboxFile) -> FileRowTexts:
    """Return the texts of a file that came in."""
    return FileRowTexts(
        path=f"/files/in/{file.id}",
        label=IN_LABELS[file.state],
        id=file.id,
        name=file.name,
        party=request.payer_name(file.payer_id, file.type),
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
        party=request.payer_name(batch.payer_id, batch.type),
        type=batch.type.lower() + (f", over {batch.hop}" if batch.hop else ""),
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
    if file.kinds == REPORT:
        named = page_text.count(file.applied, "claim")
        return f"A report in words. It is shown at {named} that it names; nothing is read from it."
    applied = page_text.count(file.applied, "statement")
    if file.parked:
        return f"{applied} applied; {file.parked:,} about claims that are not known here."
    return f"{applied} about claims applied." if file.applied else "It says nothing about a claim."


def payer_text(request: PageRequest, type: str, payer_id: str) -> str:
    """Return a payer's name and type."""
    return f"{request.payer_name(payer_id, type)}, {type.lower()}"
