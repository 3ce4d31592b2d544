"""``clearlane file``: send 837 files as practice systems write them, and fetch what comes back, over the service."""

import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import (
    OVER_SERVICE,
    STANDARD,
    AsJson,
    CaFile,
    ClientSession,
    Data,
    Key,
    ServiceOptions,
    Site,
    Url,
    client_session,
    exit_with,
    usage_error,
    vendor_command,
)
from clearlane.cli.command.filter_options import filter_options
from clearlane.cli.command.output import show_facts, show_json, show_limited, show_table, show_text
from clearlane.cli.command.table import TableColumn
from clearlane.cli.file.watch_folder import watch_folder
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.client_file import CLIENT_FILE_FILTERS, FileChannel, FileDirection, FileState

if TYPE_CHECKING:
    from clearlane.client import FileDetails

app = typer.Typer(
    help="Files: send 837s, and fetch 999, 277CA and 835 files.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)

LIMIT_DEFAULT = 100
WAIT_SECONDS = 60.0
WATCH_SECONDS = 5.0
COLUMNS = (
    TableColumn("file id", "file_id"),
    TableColumn("direction", "direction", drop=4),
    TableColumn("type", "type"),
    TableColumn("state", "state", state=True),
    TableColumn("name", "name", drop=1),
    TableColumn("claims", "claims", right=True, drop=3),
    TableColumn("accepted", "accepted", right=True, drop=3),
    TableColumn("answers", "answers", drop=5),
    TableColumn("site", "site", drop=7),
    TableColumn("time", "received_at", drop=2),
    TableColumn("fetched", "fetched_at", drop=6),
)
NO_COUNTS = {"claims": None, "accepted": None}
"""What the table shows of a file to fetch, whose claims are not counted."""
RESPONSES = ("file id", "type", "name", TableColumn("bytes", right=True), "fetched")
SETS = (
    TableColumn("set"),
    "type",
    TableColumn("state", state=True),
    TableColumn("claims", right=True, drop=1),
    TableColumn("accepted", right=True, drop=2),
    TableColumn("not accepted", right=True, drop=2),
    TableColumn("reason", wrap=True),
)
SET_FACTS = ("type", "state", "claims", "accepted", "not_accepted", "reason")
NOT_ACCEPTED = (
    "claim number",
    TableColumn("vendor claim id", drop=1),
    TableColumn("reason", wrap=True),
)
NOT_ACCEPTED_SHOWN = 20
"""How many claims that were not accepted are shown with a file."""
NOT_TAKEN = (FileState.REJECTED, FileState.UNREADABLE, FileState.PARTLY_ACCEPTED)
FileId = Annotated[str, typer.Argument(metavar="ID", help="The id of the file.")]


@vendor_command(app)
def send(
    session: ClientSession,
    file: Annotated[str, typer.Argument(help="The file, such as an 837; - for standard input.")],
    wait: Annotated[
        float,
        typer.Option(
            help="Seconds to wait until it is known what became of it; 0 does not wait.", min=0
        ),
    ] = WAIT_SECONDS,
) -> None:
    """Send a file, and show what became of it: its claims, and the files that came back.

    Exit status: 0 accepted, 1 not or in part, 2 the file cannot be read here, 3 the service is not available.

    Examples: clearlane file send claims.837; clearlane file send claims.837 --json
    """
    from clearlane.client import StillWaiting

    content, name = _read(file)
    sent = session.client.files.send(content, name=name, channel=FileChannel.CLI.value)
    try:
        found = session.client.files.wait(sent.file_id, seconds=wait)
    except StillWaiting as waiting:
        found = waiting.answer
    _show(session, found)
    exit_with(fine=found.state not in NOT_TAKEN)


@filter_options(CLIENT_FILE_FILTERS, read=False)
def list_files(
    where: Mapping[str, str | bool | None],
    *,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of files.")] = LIMIT_DEFAULT,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV for a spreadsheet.")] = False,
    as_json: AsJson = False,
    data: Data = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """List files that were sent or are to be fetched, newest first.

    Examples: clearlane file list --direction out --not-fetched; clearlane file list --state rejected --json
    """
    if as_csv and as_json:
        usage_error("Give one of --csv and --json.")
    options = ServiceOptions(
        data=data, url=url, key=key, site=site, ca_file=ca_file, as_json=as_json
    )
    filters = {name: value for name, value in where.items() if value}
    with client_session(options) as session:
        files = session.client.files.find(**filters, site=session.site)
        found = [one.raw for one in islice(files, limit + 1)]
    if not (as_csv or as_json):
        found = [
            {**one, **NO_COUNTS} if one["direction"] == FileDirection.OUT else one for one in found
        ]
    show_limited(
        COLUMNS,
        found,
        limit=limit,
        names=(one.name for one in COLUMNS),
        as_csv=as_csv,
        as_json=as_json,
        noun="file",
        hint="Send one with: clearlane file send FILE.",
    )


setattr(list_files, OVER_SERVICE, True)
app.command("list")(list_files)


@vendor_command(app)
def show(session: ClientSession, file: FileId) -> None:
    """Show what became of a file: its sets, its claims, and the files that came back.

    Example: clearlane file show F0H2K5MZQ7R3TAB9XYW
    """
    _show(session, session.client.files.get(file))


@vendor_command(app)
def get(
    session: ClientSession,
    file: FileId,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Where to write it; by default standard output."),
    ] = STANDARD,
) -> None:
    """Fetch the bytes of a file. A file that waits to be fetched is then marked as fetched.

    Examples: clearlane file get F0H2K5MZQ7R3TAB9XYW; clearlane file get F0H2K5MZQ7R3TAB9XYW -o answer.999
    """
    content = session.client.files.content(file)
    if output == STANDARD:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    try:
        Path(output).write_bytes(content)
    except OSError as fault:
        usage_error(f"{output} cannot be written: {fault.strerror}.")


@vendor_command(app)
def watch(
    session: ClientSession,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder.")],
    every: Annotated[
        float, typer.Option(help="Seconds between two looks.", min=0.1, max=3_600)
    ] = WATCH_SECONDS,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
) -> None:
    """Send what appears in a folder, and write what comes back, until Ctrl-C.

    A file that did not change between two looks is sent and then moved to the folder `sent` in it; what comes back for
    the site is written to the folder `received`. Names that begin with a dot or end with .part, .tmp or .filepart are
    left alone. Started again, it goes on: the same file is stored once.

    Examples: clearlane file watch claims; clearlane file watch claims --every 30 --json
    """
    if not folder.is_dir():
        usage_error(f"{folder} is not a folder.")
    try:
        watch_folder(session, folder, every=every, once=once)
    except KeyboardInterrupt:  # the way to end it, not a fault
        raise typer.Exit(0) from None


def _read(file: str) -> tuple[bytes, str | None]:
    try:
        if file == STANDARD:
            return sys.stdin.buffer.read(), None
        return Path(file).read_bytes(), Path(file).name
    except OSError as fault:
        usage_error(f"{file} cannot be read: {fault.strerror}.")


def _show(session: ClientSession, file: "FileDetails") -> None:
    """Print a file with its sets and what came back."""
    if session.as_json:
        show_json(dict(file.raw))
        return
    is_sent = file.direction == FileDirection.IN
    counts = f"{file.claims:,}: {file.accepted:,} accepted, {file.not_accepted:,} not"
    show_facts(
        [
            ("File", file.file_id),
            ("Name", file.name),
            ("Type", file.type),
            ("State", file.state),
            ("Claims", counts) if is_sent else ("Answers", file.answers),
            ("Received" if is_sent else "Written", file.received_at),
        ]
    )
    if file.note:
        show_text(file.note)
    if file.sets:
        typer.echo()
        show_table(
            SETS,
            (
                (
                    f"{one.get('interchange')}.{one.get('group')}.{one.get('position')}",
                    *(one.get(name) for name in SET_FACTS),
                )
                for one in file.sets
            ),
        )
    if file.not_accepted:
        _show_not_accepted(session, file)
    if file.responses:
        typer.echo()
        rows = ((r.file_id, r.type, r.name, f"{r.bytes:,}", r.fetched_at) for r in file.responses)
        show_table(RESPONSES, rows)


def _show_not_accepted(session: ClientSession, file: "FileDetails") -> None:
    """Print the claims of a file that were not accepted, with what to correct; a key may be one that reads no claims."""
    from clearlane.client import NotAllowed

    claims = session.client.claims.find(
        file=file.file_id, state=ClaimLabel.NOT_ACCEPTED.value, site=session.site
    )
    try:
        found = list(islice(claims, NOT_ACCEPTED_SHOWN + 1))
    except NotAllowed:
        return
    if not found:  # all of them are of sets that were rejected as a whole
        return
    typer.echo()
    show_table(
        NOT_ACCEPTED,
        ((one.claim_number, one.vendor_claim_id, one.reason) for one in found[:NOT_ACCEPTED_SHOWN]),
    )
    show_text("All findings of one: clearlane claim show NUMBER.")
    if len(found) > NOT_ACCEPTED_SHOWN:
        show_text(f"More: clearlane claim list --state not_accepted --file {file.file_id}")
