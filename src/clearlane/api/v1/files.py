"""Files of ``/clearlane/v1``: send an 837 as it is, see what became of it, and fetch what came back."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.accounts.model import Site, SiteState
from clearlane.api.frame.endpoint import BodyUse, Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.idempotency import RecordedResponse, find_streamed_answer
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.http.stream import stream_text
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import FindingJson
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import (
    Page,
    Resource,
    ResourceRows,
    page_response,
    require_site,
)
from clearlane.kernel.client_file import CLIENT_FILE_FILTERS, FileChannel, FileDirection, FileState
from clearlane.kernel.clock import micros_text, to_micros
from clearlane.kernel.list_filter import FilterType, combinations
from clearlane.pipeline.intake.files.upload import ClientFileTooLarge, Upload
from clearlane.pipeline.query.file_claim_list import FileClaimRow, load_file_claims
from clearlane.pipeline.query.history.claim_details import finding_object
from clearlane.pipeline.work_context import FILE_BYTES_MAX
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.files import client_files, file_parts, file_sets, staged_claims
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.files.client_files import ClientFile
from clearlane.store.files.file_sets import FileSet

endpoints = ResourceRows(Resource.FILES, reads=KeyScope.FILES, changes=KeyScope.FILES)

LIST = "files"
CONTENT_TYPE = "application/octet-stream"
FILTERS = tuple(
    parameters.list_filter_parameter(one.type, one.name, one.help, one.choices)
    for one in CLIENT_FILE_FILTERS
)
NO_FILE = "The vendor has no file of this id."
NOT_ACCEPTED_SHOWN = 20
FINDINGS_SHOWN = 20


class FileJson(JsonModel):
    """A file that a site sent, or one for it to fetch."""

    id: str
    file_id: str
    site: Annotated[str, Field(description="The vendor site id.")]
    direction: Annotated[str, Field(description="`in`: the site sent it; `out`: for it to fetch.")]
    name: str
    channel: Annotated[
        str,
        Field(description="How it came: `https`, `sftp`, `cli`; `system` if Clearlane wrote it."),
    ]
    type: Annotated[
        str | None,
        Field(
            description="What it holds, such as `837P`, `999`, `277CA`, `835`, `text`; null while that is not known."
        ),
    ]
    state: Annotated[
        str,
        Field(
            description="`received`, and then `accepted`, `partly_accepted`, `rejected` or `unreadable`; `ready` for a file "
            "to fetch."
        ),
    ]
    bytes: int
    claims: Annotated[
        int,
        Field(
            description="The claims in it; the patients in a 270, the claims that a 276 asks about."
        ),
    ]
    accepted: int
    not_accepted: int
    shadow: Annotated[
        bool,
        Field(
            description="Whether it is a shadow file, whose claims are judged and never sent, or responds to one."
        ),
    ]
    answers: Annotated[str | None, Field(description="The file that it responds to.")]
    note: Annotated[str | None, Field(description="What a person should know.")]
    created_at: datetime
    received_at: datetime | None
    processed_at: datetime | None
    fetched_at: datetime | None


class FileResponseJson(JsonModel):
    """A file that came back for a file."""

    id: str
    file_id: str
    type: Annotated[str, Field(description="`TA1`, `999`, `277CA`, `277`, `835`, `271` or `text`.")]
    name: str
    bytes: int
    created_at: datetime
    fetched_at: datetime | None


class FileSetJson(JsonModel):
    """A transaction set of a file, which is accepted or rejected as a whole."""

    id: str
    set_id: str
    interchange: Annotated[int, Field(description="Its interchange in the file, counted from 1.")]
    group: Annotated[int, Field(description="Its group in the interchange.")]
    position: Annotated[int, Field(description="Its place in the group.")]
    type: str
    state: Annotated[str, Field(description="`accepted`, `partly_accepted` or `rejected`.")]
    reason: Annotated[str | None, Field(description="Why it was not accepted, in a sentence.")]
    claims: int
    accepted: int
    not_accepted: int


class FileClaimJson(JsonModel):
    """A claim of a file that was not accepted."""

    claim_number: str
    vendor_claim_id: Annotated[str, Field(description="CLM01, as it was sent.")]
    set_id: str
    position: Annotated[int, Field(description="Its place among the claims of its set.")]
    findings: Annotated[
        list[FindingJson],
        Field(
            description=f"What our checks found, errors first, each with its segment in the file; at most {FINDINGS_SHOWN}."
        ),
    ]
    more_findings: Annotated[int, Field(description="How many findings more it has.")]


class FileDetailsJson(FileJson):
    """A file with its sets and what came back."""

    claims_judged: Annotated[
        int | None,
        Field(
            description="How many claims were judged so far, while the file is processed; null otherwise."
        ),
    ]
    sets: list[FileSetJson]
    not_accepted_claims: Annotated[
        list[FileClaimJson],
        Field(
            description="The claims that were not accepted, with what to correct: the first "
            f"{NOT_ACCEPTED_SHOWN} of those that `not_accepted` counts. `GET claims` with `file` lists all of "
            "them; claims of a set that was rejected as a whole are not listed."
        ),
    ]
    responses: Annotated[
        list[FileResponseJson], Field(description="The files that came back for it.")
    ]


def file_object(file: ClientFile, site: str) -> dict[str, object]:
    """Return a file as v1 shows it."""
    return {
        "id": file.file_id,
        "file_id": file.file_id,
        "site": site,
        "direction": file.direction,
        "name": file.name,
        "channel": file.channel,
        "type": file.type or None,
        "state": file.state,
        "bytes": file.bytes,
        "claims": file.claims,
        "accepted": file.accepted,
        "not_accepted": file.not_accepted,
        "shadow": bool(file.is_shadow),
        "answers": file.answers or None,
        "note": file.note or None,
        "created_at": micros_text(file.created_at),
        "received_at": micros_text(file.received_at),
        "processed_at": micros_text(file.processed_at),
        "fetched_at": micros_text(file.fetched_at),
    }


@endpoints.change(
    "SendFile",
    "files",
    "Send a file: an 837 as a practice system writes it.",
    FileJson,
    success_status=202,
    body_use=BodyUse.STREAM,
    parameters=(
        parameters.filter_parameter(FilterType.TEXT, "name", "The name of the file, for people."),
        parameters.filter_parameter(
            FilterType.CHOICE, "channel", "How it came; `https` if left out.",
            (FileChannel.HTTPS, FileChannel.CLI),
        ),
        parameters.filter_parameter(
            FilterType.FLAG, "shadow",
            "Judge its claims and send none of them. Acknowledgements and remittances of another clearinghouse in such a file "
            "are compared with them.",
        ),
    ),
    description=f"The body is the file, of any Content-Type and up to {FILE_BYTES_MAX // 1024 // 1024} MB. It is stored "
    "as it is before it is understood, so any file is answered with 202. What became of it is in its `state`; a TA1, 999, "
    "277CA or a report in words comes back as a file of its own. The same bytes again lead to the same acknowledgements, "
    "and nothing is sent twice.",
)  # fmt: skip
async def send_file(call: Call) -> Response:
    """Store a file as it comes."""
    site = _sending_site(call)
    name = call.parameters["name"] or ""
    channel = FileChannel(call.parameters["channel"] or FileChannel.HTTPS)
    context = call.context.work_context
    upload = await Upload.begin(
        context,
        site,
        name=name,
        channel=channel,
        actor=call.actor,
        is_shadow=bool(call.parameters["shadow"]),
    )
    try:
        async for chunk in call.body.stream(context.limits.file_bytes_max):
            await upload.write(chunk)
        earlier = await find_streamed_answer(call, upload.digest)
    except ClientFileTooLarge:
        raise RequestRefusal(call.errors.too_large(context.limits.file_bytes_max)) from None
    except Exception:  # what is left if this fails too is removed after a day
        with suppress(StoreFault):
            await upload.abandon()
        raise
    if earlier is not None:
        await upload.abandon()
        return earlier

    async def respond(_: Tx, file: ClientFile) -> Response:
        return json_response(202, file_object(file, site.vendor_site_id))

    recorded = RecordedResponse(call, respond)
    await upload.finish(name, extend=recorded.extend)
    return recorded.response


@endpoints.read(
    "GetFiles",
    "files",
    "Files that were sent or are to be fetched, newest first.",
    Page[FileJson],
    parameters=parameters.page(LIST, *FILTERS),
)
async def list_files(call: Call) -> Response:
    """Return a page of files."""
    parameters.require_few(call)
    limit = call.parameters["limit"]
    given = {one.name: call.parameters[one.name] for one in CLIENT_FILE_FILTERS}
    found: dict[str, ClientFile] = {}
    async with call.context.database.read(call.scope) as tx:
        for where in combinations(given):
            query = ClientFileQuery(where=where, after=call.parameters["after"], limit=limit + 1)
            found |= {one.file_id: one for one in await find_page(tx, query)}
    rows = [found[id] for id in sorted(found, reverse=True)][: limit + 1]
    sites: dict[int, str] = {site.id: site.vendor_site_id for site in call.sites}
    return page_response(
        rows,
        limit=limit,
        of_list=LIST,
        position=lambda file: (file.file_id,),
        as_json=lambda file: file_object(file, sites[file.site_id]),
    )


@endpoints.read(
    "GetFile",
    "files/{file_id}",
    "What became of a file: its sets, its claims, and the files that came back.",
    FileDetailsJson,
)
async def get_file(call: Call) -> Response:
    """Return one file with its sets and the files that came back for it."""
    file, site = await _require_file(call)
    async with call.context.database.read(site.scope) as tx:
        sets = await file_sets.list_sets(tx, file.file_id)
        responses = await client_files.list_responses(tx, file.file_id)
        judged = await staged_claims.count_of_file(tx, file.file_id)
    refused = await load_file_claims(
        call.context.work_context,
        site,
        sets,
        limit=NOT_ACCEPTED_SHOWN,
        not_accepted=True,
        actor=call.actor,
        action="file.claims",
    )
    is_waiting = file.state == FileState.RECEIVED
    details = {
        "claims_judged": judged if is_waiting else None,
        "sets": [_set_object(one) for one in sets],
        "not_accepted_claims": [_claim_object(one) for one in refused.claims],
        "responses": [_response_object(one) for one in responses],
    }
    return json_response(200, file_object(file, site.vendor_site_id) | details)


@endpoints.read(
    "GetFileContent",
    "files/{file_id}/content",
    "The bytes of a file.",
    None,
    media_type=CONTENT_TYPE,
)
async def get_file_content(call: Call) -> Response:
    """Return the bytes of a file, as they came or were written; a file to fetch is then marked as fetched."""
    file, site = await _require_file(call)
    context = call.context

    async def fetch(tx: Tx) -> None:
        if file.direction == FileDirection.OUT:
            await client_files.mark_fetched(tx, [file.file_id], to_micros(call.now))
        tx.audit("file.fetched", ids=[file.file_id])

    await context.database.write(site.scope, fetch, actor=call.actor)
    pieces = file_parts.read_chunks(context.database, context.vault, site.scope, file.file_id)
    return await stream_text(pieces, CONTENT_TYPE)


async def _require_file(call: Call) -> tuple[ClientFile, Site]:
    async with call.context.database.read(call.scope) as tx:
        file = await client_files.find(tx, call.path["file_id"])
    if file is None or file.state == FileState.UPLOADING:
        raise refuse(404, NO_FILE)
    return file, next(site for site in call.sites if site.id == file.site_id)


def _sending_site(call: Call) -> Site:
    """Return the site that sends a file; a vendor with one site need not name it."""
    site = require_site(call)
    if site.state is SiteState.SUSPENDED:
        raise refuse(403, "The client account is suspended.", kind="account_suspended")
    return site


def _set_object(one: FileSet) -> dict[str, object]:
    return {
        "id": one.set_id,
        "set_id": one.set_id,
        "interchange": one.interchange,
        "group": one.group_number,
        "position": one.position,
        "type": one.type,
        "state": one.state,
        "reason": one.reason or None,
        "claims": one.claims,
        "accepted": one.accepted,
        "not_accepted": one.not_accepted,
    }


def _claim_object(one: FileClaimRow) -> dict[str, object]:
    return {
        "claim_number": one.row.number,
        "vendor_claim_id": one.row.vendor_claim_id,
        "set_id": one.of_set.set_id,
        "position": one.position,
        "findings": [finding_object(finding) for finding in one.findings[:FINDINGS_SHOWN]],
        "more_findings": max(0, len(one.findings) - FINDINGS_SHOWN),
    }


def _response_object(file: ClientFile) -> dict[str, object]:
    return {
        "id": file.file_id,
        "file_id": file.file_id,
        "type": file.type,
        "name": file.name,
        "bytes": file.bytes,
        "created_at": micros_text(file.received_at),
        "fetched_at": micros_text(file.fetched_at),
    }
