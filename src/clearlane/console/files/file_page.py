"""One file from or to a payer: sentences first, then every element explained; replay, accept, put aside, send again."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from starlette.responses import Response

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.responses.facts import FactKind
from clearlane.claims.responses.identify import REPORT
from clearlane.console.files.file_contents import (
    EXPLAINED_BYTES_MAX,
    FileSummary,
    describe_content,
    explain_content,
    too_large,
)
from clearlane.console.files.files_page import (
    IN_LABELS,
    OUT_LABELS,
    in_sentence,
    payer_text,
    test_mark,
)
from clearlane.console.frame.act_question import REPEATS_SAFELY, ActQuestion, AskFirst
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import path_number
from clearlane.console.frame.rendering import download
from clearlane.pipeline.operator import batch_admin, inbox_admin
from clearlane.store.database.database import OperationRefused
from clearlane.store.delivery import inbox
from clearlane.store.delivery.file_refusals import payer_may_hold
from clearlane.store.payments.payments import list_of_file

pages = PageRows(roles=OPERATORS, menu="/files")

CLAIMS_SHOWN = 100
PARKED_SHOWN = 100

IN_NOTICES = {
    "replayed": "The file was read again. Facts that were recorded before count once.",
    "accepted": "The sender is accepted, and the file was read.",
    "test-accepted": "The test file was posted. It stays marked as a test file.",
    "discarded": "The file is put aside. It is kept, and what was recorded from it stays.",
}
OUT_NOTICES = {
    "resent": "The file goes out again within seconds.",
    "delivered": "The claims of the file count as sent.",
}
NOT_THERE = "There is no such file."
KIND_WORDS = {
    FactKind.SENT: "Sent",
    FactKind.ACCEPTED_999: "Accepted as a file (999)",
    FactKind.SEND_AGAIN: "To be sent again (999)",
    FactKind.CLAIM_REFUSED: "Refused (999)",
    FactKind.SET_REFUSED: "Set refused (999)",
    FactKind.TA1_REFUSED: "File refused (TA1)",
    FactKind.REQUEUED: "To be sent in a new file",
    FactKind.STATUS: "Status (277)",
    FactKind.REMIT: "Payment (835)",
    FactKind.REPORT: "Named in a report",
}
"""What a statement of a payer's file is called, by its kind."""


@pages.page("/files/in/{id}", notices=IN_NOTICES)
async def show_incoming(request: PageRequest) -> Response:
    """Show a file that came in."""
    id = path_number(request, "id", "file")
    try:
        found = await inbox_admin.load_file(
            request.context.work_context, id, with_statements=True, actor=request.actor
        )
        is_report = found.file.kinds == REPORT
        size = found.file.bytes
        summary = await _summary(request, incoming=True, id=id, size=size, is_report=is_report)
    except OperationRefused as why:
        raise NoSuchPage(NOT_THERE) from why
    async with request.context.database.read(inbox.SCOPE) as tx:
        payments = await list_of_file(tx, id)
    file = found.file
    return request.render(
        "file_in.html",
        f"File {id} from {payer_text(request, file.type, file.payer_id)}",
        file=file,
        label=IN_LABELS[file.state],
        sentence=in_sentence(file),
        summary=summary,
        parked=list(zip(found.parked, found.statements, strict=True))[:PARKED_SHOWN],
        kind_words=KIND_WORDS,
        payments=payments,
        received=request.stored_moment(file.received_at),
        may_discard=file.state not in {inbox.APPLIED, inbox.DISCARDED},
        is_unknown_sender=file.state == inbox.UNKNOWN_SENDER,
        is_test_file=file.state == inbox.TEST_FILE,
        mark=test_mark(file),
    )


@pages.page("/files/out/{id}", notices=OUT_NOTICES)
async def show_outgoing(request: PageRequest) -> Response:
    """Show a file that goes or went out."""
    id = path_number(request, "id", "file")
    try:
        found = await batch_admin.load_batch(request.context.work_context, id)
        summary = await _summary(request, incoming=False, id=id, size=found.batch.bytes)
    except OperationRefused as why:
        raise NoSuchPage(NOT_THERE) from why
    batch = found.batch
    return request.render(
        "file_out.html",
        f"File {id} to {f'{batch.hop}, for ' if batch.hop else ''}"
        f"{payer_text(request, batch.type, batch.payer_id)}",
        batch=batch,
        label=OUT_LABELS[batch.state],
        summary=summary,
        members=found.members[:CLAIMS_SHOWN],
        answered=found.answered,
        is_open=batch.state is not BatchState.DELIVERED,
        is_refused=found.is_refused,
        refusal=found.refusal,
        may_be_held=found.refusal is not None and payer_may_hold(found.refusal),
        moment=request.stored_moment,
    )


# ---- acts ----------------------------------------------------------------------------------------


class FileAct(NamedTuple):
    """Something that an operator does with a file of the address."""

    path: str
    """The direction of the file, and the name of the act."""
    verb: Callable[..., Awaitable[object]]
    done: str
    """The notice afterward."""
    refused: str
    """The title of the page that says why it was not done."""
    question: ActQuestion | None = None
    """None for one that repeats safely."""
    option: tuple[str, str] = ("", "")
    """A field of the form that may be ticked, and the parameter of the verb that it sets."""


FILE_ACTS = (
    FileAct("in/replay", inbox_admin.replay, "replayed", "Not replayed"),
    FileAct(
        "in/accept", inbox_admin.accept, "accepted", "Not accepted",
        ActQuestion(
            title="Accept file {id}?",
            sentence="Its payments and answers are recorded on the claims that it names, and vendors get events. That "
            "cannot be undone. If you ticked it, the route trusts this sender from now on.",
            button="It is the payer's: accept",
        ),
        ("remember", "remember"),
    ),
    FileAct(
        "in/accept-test", inbox_admin.accept_test_file, "test-accepted", "Not posted",
        ActQuestion(
            title="Post test file {id}?",
            sentence="The payer marked it as a test. Posted, its payments and answers count as real: they are recorded on "
            "the claims that it names, and vendors get events. That cannot be undone. The file stays marked as a test.",
            button="Post the test file",
        ),
    ),
    FileAct(
        "in/discard", inbox_admin.discard, "discarded", "Not put aside",
        ActQuestion(
            title="Put file {id} aside permanently?",
            sentence="Nothing more of it is recorded, and no one is asked about it again. The file itself is kept, and "
            "so is what was recorded from it before.",
            button="Put it aside",
        ),
    ),
    FileAct(
        "out/resend", batch_admin.resend, "resent", "Not sent again",
        ActQuestion(
            title="Send file {id} again?",
            sentence="The payer gets every claim of this file once more. If it has the file already, it may deny them as "
            "duplicates. Ask the payer first.",
            button="Send it again",
        ),
        ("answered", "even_if_answered"),
    ),
    FileAct(
        "out/delivered", batch_admin.mark_delivered, "delivered", "Not recorded",
        ActQuestion(
            title="Record that the payer has file {id}?",
            sentence="Its claims count as sent, and the file is never sent again. If the payer does not have it, these "
            "claims are lost until someone notices.",
            button="The payer has it",
        ),
    ),
)  # fmt: skip


async def do_act(request: PageRequest, act: FileAct) -> Response:
    """Do something with the file of the address, and show the file again or why it was refused."""
    id = path_number(request, "id", "file")
    field, parameter = act.option
    options = {parameter: request.form.get(field) == "yes"} if field else {}
    try:
        await act.verb(request.context.work_context, id, actor=request.actor, **options)
    except OperationRefused as why:
        return request.message(409, act.refused, str(why))
    return request.redirect(f"/files/{act.path.partition('/')[0]}/{id}", done=act.done)


for _act in FILE_ACTS:
    _direction, _, _name = _act.path.partition("/")
    _file = f"/files/{_direction}/{{id}}"
    _asked = AskFirst(back=_file, question=_act.question) if _act.question else REPEATS_SAFELY
    pages.act(f"{_file}/{_name}", _asked)(partial(do_act, act=_act))


# ---- contents ------------------------------------------------------------------------------------


async def _content(request: PageRequest, *, incoming: bool, id: int) -> bytes:
    read = inbox_admin.read_content if incoming else batch_admin.read_content
    try:
        return await read(request.context.work_context, id, actor=request.actor)
    except OperationRefused as why:
        raise NoSuchPage(NOT_THERE) from why


async def download_file(request: PageRequest, *, incoming: bool) -> Response:
    """Return a file as it was received, or is sent."""
    id = path_number(request, "id", "file")
    content = await _content(request, incoming=incoming, id=id)
    return download(content, f"{'in' if incoming else 'out'}-{id}.x12", "application/edi-x12")


async def explain_file(request: PageRequest, *, incoming: bool) -> Response:
    """Show a file with every element explained."""
    id = path_number(request, "id", "file")
    content = await _content(request, incoming=incoming, id=id)
    direction = "in" if incoming else "out"
    name = f"File {id} {direction}"
    return await explain_content(request, content, f"/files/{direction}/{id}", name)


async def _summary(
    request: PageRequest, *, incoming: bool, id: int, size: int, is_report: bool = False
) -> FileSummary:
    if size > EXPLAINED_BYTES_MAX:
        return too_large(size)
    content = await _content(request, incoming=incoming, id=id)
    if is_report:
        return FileSummary(is_readable=False, text=content.decode("utf-8", errors="replace"))
    return await describe_content(content)


for _direction in ("in", "out"):
    _incoming = _direction == "in"
    pages.page(f"/files/{_direction}/{{id}}/raw")(partial(download_file, incoming=_incoming))
    pages.page(f"/files/{_direction}/{{id}}/x12")(partial(explain_file, incoming=_incoming))
