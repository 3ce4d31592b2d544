"""One file that a site sent, or one for it to fetch: its sets, claims with findings at their segments, and responses.

Every look at a file, and every download, is audited. A download by a person does not mark a file as fetched: software that
asks for files which were not fetched still gets it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from clearlane.accounts.model import Site, vendor_scopes
from clearlane.claims.finding import ClaimFinding
from clearlane.console.claims.claim_words import row_tag
from clearlane.console.files.file_contents import (
    EXPLAINED_BYTES_MAX,
    FINDING_LABELS,
    FileSummary,
    describe_content,
    explain_content,
    too_large,
)
from clearlane.console.files.files_page import CHANNEL_WORDS, site_label, site_sentence
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.console.frame.rendering import download
from clearlane.kernel.client_file import FileChannel, FileDirection, FileState
from clearlane.pipeline.load_claim import open_claim
from clearlane.pipeline.query.claim_list import ClaimRow, load_claim_rows, stored_claim
from clearlane.store.database.database import write_audit
from clearlane.store.files import client_files, file_parts, file_sets, staged_claims
from clearlane.store.files.client_files import ClientFile
from clearlane.store.files.file_sets import FileSet, SetClaim

pages = PageRows(roles=EVERYBODY, menu="/files")

PATH = "/files/sites/{id}"
FILE_ID_CHARACTERS_MAX = 40
SETS_SHOWN = 100
CLAIMS_PER_PAGE = 50
FINDINGS_PER_CLAIM = 10
TEXT = "text"
"""The type of a report in words, which the page shows itself."""
NOT_THERE = "There is no such file among yours."
SET_LABELS = {
    "accepted": ("good", "Accepted"),
    "partly_accepted": ("act", "Partly accepted"),
    "rejected": ("act", "Rejected"),
}


class ClaimLine(NamedTuple):
    """A claim of a file as its page shows it."""

    row: ClaimRow
    set_words: str
    position: int
    findings: Sequence[ClaimFinding]


class FileClaimPage(NamedTuple):
    """A page of the claims of a file."""

    places: list[tuple[FileSet, SetClaim]]
    older: str
    """The place after which the next page begins; empty if there is none."""


@pages.page(PATH)
async def show_site_file(request: PageRequest) -> Response:
    """Show a file that a site sent, or one for it to fetch."""
    file, site = await _require_file(request)
    async with request.context.database.read(site.scope) as tx:
        sets = await file_sets.list_sets(tx, file.file_id)
        responses = await client_files.list_responses(tx, file.file_id)
        judged = await staged_claims.count_of_file(tx, file.file_id)
        answered = await client_files.find(tx, file.answers) if file.answers else None
    shows_all = request.query("claims") == "all" or not file.not_accepted
    page = await _claims_after(request, site, sets, not_accepted=not shows_all)
    path = PATH.format(id=file.file_id)
    content, summary = await _read_summary(request, file, site)
    return request.render(
        "site_file.html",
        file.name or file.file_id,
        file=file,
        site=site,
        path=path,
        label=site_label(file),
        sentence=site_sentence(file),
        channel=CHANNEL_WORDS[FileChannel(file.channel)],
        is_sent=file.direction == FileDirection.IN,
        judged=judged if file.state == FileState.RECEIVED else 0,
        answered=answered,
        sets=sets[:SETS_SHOWN],
        sets_left_out=max(0, len(sets) - SETS_SHOWN),
        set_labels=SET_LABELS,
        claims=await _claim_lines(request, site, page),
        claim_tabs=[
            ("Not accepted", request.url(path), not shows_all, file.not_accepted),
            ("All", request.url(path, claims="all"), shows_all, file.claims),
        ],
        is_first=not request.query("after"),
        newer=request.url(path, claims=request.query("claims")) if request.query("after") else "",
        older=request.url(path, claims=request.query("claims"), after=page.older)
        if page.older
        else "",
        tag=row_tag,
        finding_labels=FINDING_LABELS,
        responses=responses,
        response_label=site_label,
        summary=summary,
        report=content.decode(errors="replace") if file.type == TEXT else "",
        moment=request.stored_moment,
    )


@pages.page(f"{PATH}/raw")
async def download_site_file(request: PageRequest) -> Response:
    """Return a file as it came, or as it was written."""
    file, site = await _require_file(request)
    content = await _read(request, file, site, "download")
    return download(content, file.name or file.file_id, "application/octet-stream")


@pages.page(f"{PATH}/x12")
async def explain_site_file(request: PageRequest) -> Response:
    """Show a file with every element explained, and what is wrong at its place."""
    file, site = await _require_file(request)
    content = await _read(request, file, site, "explained")
    path, name = PATH.format(id=file.file_id), file.name or file.file_id
    return await explain_content(request, content, path, name)


async def _require_file(request: PageRequest) -> tuple[ClientFile, Site]:
    """Return the file of the address and its site, if the user may see it."""
    id = request.parts["id"]
    fits = id.isascii() and id.isalnum() and len(id) <= FILE_ID_CHARACTERS_MAX
    sites = [site for site in request.sites if site.baa_accepted]
    for scope in vendor_scopes(sites) if fits else ():
        async with request.context.database.read(scope) as tx:
            file = await client_files.find(tx, id)
        if file is not None and file.state != FileState.UPLOADING:
            return file, next(site for site in sites if site.id == file.site_id)
    raise NoSuchPage(NOT_THERE)


async def _read(request: PageRequest, file: ClientFile, site: Site, use: str) -> bytes:
    context = request.context
    await write_audit(
        context.database,
        site.scope,
        "console.file",
        ids=[file.file_id],
        detail=use,
        actor=request.actor,
    )
    return await file_parts.read_content(context.database, context.vault, site.scope, file.file_id)


async def _read_summary(
    request: PageRequest, file: ClientFile, site: Site
) -> tuple[bytes, FileSummary]:
    if file.bytes > EXPLAINED_BYTES_MAX:
        return b"", too_large(file.bytes)
    content = await _read(request, file, site, "page")
    return content, await describe_content(content)


async def _claims_after(
    request: PageRequest, site: Site, sets: Sequence[FileSet], *, not_accepted: bool
) -> FileClaimPage:
    """Return the claims after the place that the address names: ``SET:POSITION``, the set counted in the file."""
    first, _, position = request.query("after").partition(":")
    begin, after = read_number(first) or 0, read_number(position) or 0
    found: list[tuple[FileSet, SetClaim]] = []
    async with request.context.database.read(site.scope) as tx:
        for number, one in enumerate(sets):
            counted = one.not_accepted if not_accepted else one.claims
            if number < begin or not counted:
                continue
            claims = await file_sets.list_claims(
                tx,
                one.set_id,
                after=after if number == begin else 0,
                limit=CLAIMS_PER_PAGE + 1 - len(found),
                not_accepted=not_accepted,
            )
            found += [(one, claim) for claim in claims]
            if len(found) > CLAIMS_PER_PAGE:
                break
    if len(found) <= CLAIMS_PER_PAGE:
        return FileClaimPage(found, "")
    del found[CLAIMS_PER_PAGE:]
    last_set, last = found[-1]
    return FileClaimPage(found, f"{sets.index(last_set)}:{last.position}")


async def _claim_lines(request: PageRequest, site: Site, page: FileClaimPage) -> list[ClaimLine]:
    """Return claims with the findings of our check; the look is one audit row with their numbers."""
    context = request.context.work_context
    numbers = [claim.claim_number for _, claim in page.places]
    loaded = await load_claim_rows(
        context, site, numbers, actor=request.actor, action="console.file.claims"
    )
    rows = {row.number: row for row in loaded}
    return [
        ClaimLine(row, one.words, claim.position, _findings(request, row))
        for one, claim in page.places
        if (row := rows.get(claim.claim_number))
    ]


def _findings(request: PageRequest, row: ClaimRow) -> Sequence[ClaimFinding]:
    # The keys were loaded with the row, and the look was audited.
    opened = open_claim(request.context.vault, row.site.scope, stored_claim(row.stored))
    return sorted(opened.findings, key=lambda one: list(FINDING_LABELS).index(one.severity))[
        :FINDINGS_PER_CLAIM
    ]
