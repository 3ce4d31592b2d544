"""``clearlane inbox``: files from payers, and what an operator decides about them."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearlane.cli.command.filter_options import filter_options
from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    show_facts,
    show_json,
    show_rows,
    show_table,
)
from clearlane.cli.command.output import show_error, show_text
from clearlane.cli.command.storage_command import operator
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import seconds_text
from clearlane.store.delivery import inbox
from clearlane.store.delivery.file_query import INBOX_FILTERS, FileQuery, find_inbox_files
from clearlane.store.delivery.inbox import InboxFile
from clearlane.store.delivery.routes import PAYERS_REVISION
from clearlane.wiring import Installation

if TYPE_CHECKING:
    from clearlane.claims.responses.facts import UnmatchedFact
    from clearlane.pipeline.operator.inbox_admin import InboxFileDetails

ADMIN = "pipeline.operator.inbox_admin"
INBOX_LISTED = 200
TEST_MARK = "Test file"

app = typer.Typer(
    no_args_is_help=True,
    help="Files from payers: list, show, replay, accept, discard.",
    add_completion=False,
)

Id = Annotated[int, typer.Argument(metavar="ID", help="The file's number.", min=1)]


@app.command("list")
@filter_options(INBOX_FILTERS)
@in_installation()
async def list_(
    installation: Installation,
    where: dict[str, Any],
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Include stored, applied and discarded files.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the files that need an operator, the newest first.

    parked: applied, except statements about unknown claims. quarantined: cannot be read, or is for
    another receiver. unknown_sender: its route does not know who sent it; it is not applied
    before you `accept` it. test_file: marked as a test (ISA15 is T) and this installation is in
    production; `accept ID --test-file` posts it. With --all also stored (to be posted within seconds), applied, discarded.

    Example: clearlane inbox list --all --data .data
    """
    filtered = any(where.values())
    if not everything and where["state"] is None:
        where["state"] = inbox.NEEDS_ATTENTION

    async with installation.database.read(inbox.SCOPE) as tx:
        files = await find_inbox_files(tx, FileQuery(where=where, limit=INBOX_LISTED))
        polls = (await inbox.all_polls(tx)).values()
    found = [facts(file) for file in files]
    marked = any(row["mark"] for row in found)
    show_rows(
        [one for one in COLUMNS if marked or one is not MARK],
        found,
        as_json=as_json,
        noun="file",
        hint="" if everything or filtered else "need attention. Use --all to list every file.",
    )
    for poll in filter(lambda one: one.passed_over, polls):
        show_error(
            f"Route {poll.route_id} ({poll.type} {poll.payer_id}): {poll.passed_over} files are not collected because of "
            "their names (hidden, paths, or too long)."
        )


@app.command()
@in_installation(uses=ADMIN)
async def show(
    installation: Installation,
    id: Id,
    numbers: Annotated[
        bool,
        typer.Option("--numbers", help="Show the claim numbers of parked statements. Audited."),
    ] = False,
    content: Annotated[
        bool, typer.Option("--content", help="Write the file itself to standard output. Audited.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a file: its kinds, its state, and which of its statements were not applied.

    Example: clearlane inbox show 7 --numbers --data .data
    """
    from clearlane.pipeline.operator import inbox_admin

    context = installation.work_context
    if content:
        sys.stdout.buffer.write(await inbox_admin.read_content(context, id, actor=operator()))
        return
    found = await inbox_admin.load_file(context, id, with_statements=numbers, actor=operator())
    parked = _parked(found)
    if as_json:
        show_json(facts(found.file) | {"statements": parked})
        return
    show_facts(list(facts(found.file).items()))
    if parked:
        show_table(
            [TableColumn(name, wrap=name == "reason") for name in parked[0]],
            [list(row.values()) for row in parked],
        )


@app.command()
@in_installation(uses=ADMIN)
async def replay(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Post a file again, after a claim, a route or a reader was corrected.

    Statements that were applied before count once, so a file can be replayed at any time.

    Example: clearlane inbox replay 7 --data .data
    """
    from clearlane.pipeline.operator import inbox_admin

    _show_result(
        await inbox_admin.replay(installation.work_context, id, actor=operator()), as_json=as_json
    )


@app.command()
@in_installation(uses=ADMIN)
async def accept(
    installation: Installation,
    id: Id,
    remember: Annotated[
        bool, typer.Option("--remember", help="The route knows this sender from now on.")
    ] = False,
    test_file: Annotated[
        bool, typer.Option("--test-file", help="Post a file that is marked as a test (ISA15 is T).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Apply a file that waits: of a sender that its route does not know, or with --test-file a test file.

    With --remember the sender's addresses are added to the route, and the other files that wait because
    of them are applied too. A test file is posted like any other: its payments count. It stays marked as
    a test in every list.

    Example: clearlane inbox accept 7 --remember --data .data
    """
    from clearlane.pipeline.operator import inbox_admin

    if remember and test_file:
        raise typer.BadParameter("Give --remember or --test-file, not both.")
    context = installation.work_context
    if test_file:
        file = await inbox_admin.accept_test_file(context, id, actor=operator())
    else:
        file, revision = await inbox_admin.accept(context, id, remember=remember, actor=operator())
        await confirm_loaded(installation.database, PAYERS_REVISION, revision)
    _show_result(file, as_json=as_json)


@app.command()
@in_installation(
    ask="The statements of file {id} are not applied to any claim from now on.", uses=ADMIN
)
async def discard(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Put aside a file that cannot be used. It is kept, and statements applied from it stay applied.

    Example: clearlane inbox discard 7 --data .data
    """
    from clearlane.pipeline.operator import inbox_admin

    _show_result(
        await inbox_admin.discard(installation.work_context, id, actor=operator()), as_json=as_json
    )


MARK = TableColumn("mark", "mark")
"""Shown only if a file in the list has one."""
COLUMNS = (
    TableColumn("id", "id"),
    TableColumn("state", "state", state=True),
    MARK,
    TableColumn("payer", "payer_id"),
    TableColumn("kinds", "kinds", drop=2),
    TableColumn("applied", "applied", right=True, drop=4),
    TableColumn("parked", "parked", right=True),
    TableColumn("file", "name", drop=1),
    TableColumn("type", "type", drop=3),
    TableColumn("received", "received_at", drop=5),
    TableColumn("what to look at", "reason", wrap=True),
)


def facts(file: InboxFile) -> dict[str, object]:
    """Return the printable facts of a file."""
    return {
        "id": file.id,
        "payer_id": file.payer_id,
        "type": file.type,
        "route_id": file.route_id,
        "name": file.name,
        "bytes": file.bytes,
        "state": file.state,
        "mark": TEST_MARK if file.is_test else "",
        "kinds": file.kinds,
        "reason": file.reason,
        "applied": file.applied,
        "parked": file.parked,
        "received_at": seconds_text(file.received_at),
        "settled_at": seconds_text(file.processed_at),
    }


def _show_result(file: InboxFile, *, as_json: bool) -> None:
    if as_json:
        show_json(facts(file))
        return
    typer.echo(
        f"File {file.id} is {file.state}: {file.applied} statements applied, {file.parked} parked."
    )
    if file.reason:
        show_text(file.reason)


def _parked(found: "InboxFileDetails") -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {"kind": row.kind, "reason": row.reason} for row in found.parked
    ]
    for row, said in zip(rows, found.statements, strict=False):
        row |= _numbers(said)
    return rows


def _numbers(said: "UnmatchedFact") -> dict[str, object]:
    return {
        "account": said.claim.account_number,
        "number": said.claim.claim_number,
        "payer_number": said.claim.payer_control_number,
        "lines": list(said.claim.line_controls),
    }
