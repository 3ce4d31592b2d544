"""``clearlane file``: send 837, 270 and 276 files as practice systems write them, and fetch what comes back, over the service."""

import itertools
import sys
from collections.abc import Iterator, Mapping
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
from clearlane.cli.command.list_options import AsCsv, refuse_both
from clearlane.cli.command.output import (
    counted,
    show_facts,
    show_json,
    show_limited,
    show_table,
    show_text,
)
from clearlane.cli.command.table import TableColumn
from clearlane.cli.file.watch_folder import watch_folder
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.client_file import (
    CLIENT_FILE_FILTERS,
    FileChannel,
    FileDirection,
    FileState,
    counted_noun,
    is_counted,
)
from clearlane.kernel.finding import SEVERITY_NOUNS, Severity

if TYPE_CHECKING:
    from clearlane.client import FileClaimInfo, FileDetails

app = typer.Typer(
    help="Files: send 837s, 270s and 276s, and fetch what comes back.",
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
    TableColumn("responds to", "answers", drop=5),
    TableColumn("site", "site", drop=7),
    TableColumn("time", "received_at", drop=2),
    TableColumn("fetched", "fetched_at", drop=6),
)
NO_COUNTS = {"claims": None, "accepted": None}
"""What the table shows of a file whose claims are not counted."""
RESPONSES = ("file id", "type", "name", TableColumn("bytes", right=True), "fetched")
SET_FACTS = ("type", "state", "claims", "accepted", "not_accepted", "reason")
NOT_ACCEPTED = (
    TableColumn("your id"),
    TableColumn("claim number", drop=1),
    TableColumn("finding", wrap=True),
)
SHADOW = {
    True: "Its claims are judged and never sent.",
    False: "What it says is compared with the claims of shadow files.",
}
"""What a shadow file is for, by whether it has claims that are counted."""
NOT_TAKEN = (FileState.REJECTED, FileState.UNREADABLE, FileState.PARTLY_ACCEPTED)
FileId = Annotated[str, typer.Argument(metavar="ID", help="The id of the file.")]


@vendor_command(app)
def send(
    session: ClientSession,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files, such as an 837; - for standard input."),
    ],
    wait: Annotated[
        float,
        typer.Option(
            help="Seconds to wait until it is known what became of each; 0 does not wait.", min=0
        ),
    ] = WAIT_SECONDS,
    shadow: Annotated[
        bool,
        typer.Option(
            "--shadow",
            help="Judge its claims and send none; what another clearinghouse sent is compared with them.",
        ),
    ] = False,
) -> None:
    """Send files, and show what became of them: their claims, and the files that came back.

    Exit status: 0 all accepted, 1 not or in part, 2 a file cannot be read here, 3 the service is not available.
    JSON is that of the file, or a list for several.

    Examples: clearlane file send claims.837; clearlane file send claims.837 --json;
    clearlane file send *.837 --shadow
    """
    from clearlane.client import StillWaiting

    read = [_read(file) for file in files]  # before any is sent
    found: list[FileDetails] = []
    for content, name in read:
        sent = session.client.files.send(
            content, name=name, channel=FileChannel.CLI.value, shadow=shadow
        )
        try:
            found.append(session.client.files.wait(sent.file_id, seconds=wait))
        except StillWaiting as waiting:
            found.append(waiting.answer)
        if not session.as_json:
            if len(found) > 1:
                typer.echo()
            _show(session, found[-1])
    if session.as_json:
        show_json(dict(found[0].raw) if len(found) == 1 else [dict(one.raw) for one in found])
    exit_with(fine=all(one.state not in NOT_TAKEN for one in found))


@filter_options(CLIENT_FILE_FILTERS, read=False)
def list_files(
    where: Mapping[str, str | bool | None],
    *,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of files.")] = LIMIT_DEFAULT,
    as_csv: AsCsv = False,
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
    refuse_both(as_csv=as_csv, as_json=as_json)
    options = ServiceOptions(
        data=data, url=url, key=key, site=site, ca_file=ca_file, as_json=as_json
    )
    filters = {name: value for name, value in where.items() if value}
    with client_session(options) as session:
        files = session.client.files.find(**filters, site=session.site)
        found = [one.raw for one in itertools.islice(files, limit + 1)]
    if not (as_csv or as_json):
        found = [
            one if is_counted(one["direction"], one["type"]) else {**one, **NO_COUNTS}
            for one in found
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

    Examples: clearlane file get F0H2K5MZQ7R3TAB9XYW; clearlane file get F0H2K5MZQ7R3TAB9XYW -o claims.999
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
    is_judged = is_counted(file.direction, file.type)
    noun = f"{counted_noun(file.type)}s"
    counts = f"{file.claims:,}: {file.accepted:,} accepted, {file.not_accepted:,} not"
    if file.state == FileState.RECEIVED:
        counts = f"{file.raw.get('claims_judged', 0):,} read so far"
    show_facts(
        [
            ("File", file.file_id),
            ("Name", file.name),
            *([("Shadow", SHADOW[is_judged])] if file.shadow and is_sent else []),
            ("Type", file.type),
            ("State", file.state),
            *([(noun.capitalize(), counts)] if is_judged else []),
            *([] if is_sent else [("Responds to", file.answers)]),
            ("Received" if is_sent else "Written", file.received_at),
        ]
    )
    if file.note:
        show_text(file.note)
    if file.sets:
        typer.echo()
        show_table(
            _set_columns(noun),
            (
                (
                    f"{one.get('interchange')}.{one.get('group')}.{one.get('position')}",
                    *(one.get(name) for name in SET_FACTS),
                )
                for one in file.sets
            ),
        )
    if file.not_accepted_claims:
        _show_not_accepted(file)
    if file.responses:
        typer.echo()
        rows = ((r.file_id, r.type, r.name, f"{r.bytes:,}", r.fetched_at) for r in file.responses)
        show_table(RESPONSES, rows)


def _set_columns(noun: str) -> list[TableColumn]:
    """Return the columns of a file's sets, which hold claims or patients."""
    return [
        TableColumn("set"),
        TableColumn("type"),
        TableColumn("state", state=True),
        TableColumn(noun, right=True, drop=1),
        TableColumn("accepted", right=True, drop=2),
        TableColumn("not accepted", right=True, drop=2),
        TableColumn("reason", wrap=True),
    ]


def _show_not_accepted(file: "FileDetails") -> None:
    """Print the claims of a file that were not accepted, each with its errors at their places in the file."""
    typer.echo()
    show_table(
        NOT_ACCEPTED, itertools.chain.from_iterable(map(_findings, file.not_accepted_claims))
    )
    listed = len(file.not_accepted_claims)
    if file.not_accepted > listed:
        state = ClaimLabel.SHADOW_NOT_ACCEPTED if file.shadow else ClaimLabel.NOT_ACCEPTED
        show_text(
            f"{listed} of {file.not_accepted:,}. All that are kept: "
            f"clearlane claim list --state {state.value} --file {file.file_id}"
        )


def _findings(claim: "FileClaimInfo") -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a claim: an error each, with the ids of the claim at the first. Warnings stop no claim: they are counted."""
    ids = (claim.vendor_claim_id, claim.claim_number)
    errors = [one for one in claim.findings if one.severity == Severity.ERROR]
    for finding in errors:
        place = f" at {finding.field}" if finding.field else ""
        severity = SEVERITY_NOUNS[Severity(finding.severity)].capitalize()
        yield (*ids, f"{severity}{place}: {finding.message} ({finding.rule})")
        ids = ("", "")
    if others := len(claim.findings) - len(errors) + claim.more_findings:
        more = counted(others, "more finding")
        yield (*ids, f"{more}: clearlane claim show {claim.claim_number}")
