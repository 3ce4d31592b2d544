"""One file that a site sent, or one for it to fetch: its sets, claims with findings at their segments, and responses.

Every look at a file, and every download, is audited. A download by a person does not mark a file as fetched: software that
asks for files which were not fetched still gets it.
"""

from collections.abc import Sequence

from starlette.responses import Response

from clearlane.accounts.model import Site, vendor_scopes
from clearlane.console.claims.claim_words import row_tag
from clearlane.console.files.file_contents import (
    EXPLAINED_BYTES_MAX,
    FINDING_LABELS,
    FileSummary,
    describe_content,
    explain_content,
    too_large,
)
from clearlane.console.files.files_page import (
    CHANNEL_WORDS,
    shadow_mark,
    site_label,
    site_sentence,
)
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.console.frame.rendering import stream_download
from clearlane.kernel.client_file import (
    FileChannel,
    FileDirection,
    FileState,
    counted_noun,
    is_counted,
)
from clearlane.pipeline.intake.files.rejection_reason import NO_CLAIM, NO_PAYER
from clearlane.pipeline.query.file_claim_list import FileClaimPlace, load_file_claims
from clearlane.store.database.database import write_audit
from clearlane.store.files import client_files, file_parts, file_sets, staged_claims
from clearlane.store.files.client_files import ClientFile
from clearlane.store.files.file_sets import FileSet

pages = PageRows(roles=EVERYBODY, menu="/files")

PATH = "/files/sites/{id}"
FILE_ID_CHARACTERS_MAX = 40
SETS_SHOWN = 100
CLAIMS_PER_PAGE = 50
FINDINGS_PER_CLAIM = 10
TEXT = "text"
"""The type of a report in words, which the page shows itself."""
NOT_THERE = "There is no such file among yours."
ONE_BY_ONE = (NO_CLAIM, NO_PAYER)
"""The reasons of sets that are rejected because nothing in them is accepted; others are rejected as a whole."""
SET_LABELS = {
    "accepted": ("good", "Accepted"),
    "partly_accepted": ("act", "Partly accepted"),
    "rejected": ("act", "Rejected"),
}


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
    page = await load_file_claims(
        request.context.work_context,
        site,
        sets,
        after=_place(request.query("after")),
        limit=CLAIMS_PER_PAGE,
        not_accepted=not shows_all,
        actor=request.actor,
        action="console.file.claims",
    )
    path = PATH.format(id=file.file_id)
    content, summary = await _read_summary(request, file, site, sets)
    return request.render(
        "site_file.html",
        file.name or file.file_id,
        file=file,
        site=site,
        noun=counted_noun(file.type),
        path=path,
        label=site_label(file),
        mark=shadow_mark(file),
        sentence=site_sentence(file),
        channel=CHANNEL_WORDS[FileChannel(file.channel)],
        is_sent=file.direction == FileDirection.IN,
        is_counted=is_counted(file.direction, file.type),
        judged=judged if file.state == FileState.RECEIVED else 0,
        answered=answered,
        sets=sets[:SETS_SHOWN],
        sets_left_out=max(0, len(sets) - SETS_SHOWN),
        set_labels=SET_LABELS,
        claims=page.claims,
        findings_shown=FINDINGS_PER_CLAIM,
        claim_tabs=[
            ("Not accepted", request.url(path), not shows_all, file.not_accepted),
            ("All", request.url(path, claims="all"), shows_all, file.claims),
        ],
        is_first=not request.query("after"),
        newer=request.url(path, claims=request.query("claims")) if request.query("after") else "",
        older=request.url(path, claims=request.query("claims"), after="{}:{}".format(*page.last))
        if page.last
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
    await _audit_look(request, file, site, "download")
    context = request.context
    pieces = file_parts.read_chunks(context.database, context.vault, site.scope, file.file_id)
    return stream_download(pieces, file.name or file.file_id, file.bytes)


FORMAT_ALONE = (
    "This is what the guide says of the format. What was accepted, and what stops a claim, is on the page of the file: "
    "a claim may be accepted with findings here, such as letters that were replaced when it went out."
)


@pages.page(f"{PATH}/x12")
async def explain_site_file(request: PageRequest) -> Response:
    """Show a file with every element explained, and what is wrong at its place."""
    file, site = await _require_file(request)
    content = await _read(request, file, site, "explained")
    path, name = PATH.format(id=file.file_id), file.name or file.file_id
    return await explain_content(request, content, path, name, FORMAT_ALONE)


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


async def _audit_look(request: PageRequest, file: ClientFile, site: Site, use: str) -> None:
    await write_audit(
        request.context.database,
        site.scope,
        "console.file",
        ids=[file.file_id],
        detail=use,
        actor=request.actor,
    )


async def _read(request: PageRequest, file: ClientFile, site: Site, use: str) -> bytes:
    await _audit_look(request, file, site, use)
    context = request.context
    return await file_parts.read_content(context.database, context.vault, site.scope, file.file_id)


async def _read_summary(
    request: PageRequest, file: ClientFile, site: Site, sets: Sequence[FileSet]
) -> tuple[bytes, FileSummary]:
    """Return the bytes of a file and what it says. Of one that was sent, findings of claims are shown at these."""
    if file.bytes > EXPLAINED_BYTES_MAX:
        return b"", too_large(file.bytes)
    content = await _read(request, file, site, "page")
    if not is_counted(file.direction, file.type):
        return content, await describe_content(content)
    rejected = [
        (one.interchange, one.group_number, one.position)
        for one in sets
        if one.state == FileState.REJECTED and one.reason not in ONE_BY_ONE
    ]
    return content, await describe_content(content, rejected)


def _place(text: str) -> FileClaimPlace:
    """Return the place that the address names as SET:POSITION, the set counted in the file."""
    first, _, position = text.partition(":")
    return FileClaimPlace(read_number(first) or 0, read_number(position) or 0)
