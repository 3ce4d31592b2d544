"""``clearlane x12``: read, check, explain and convert X12 files, without a server.

Each command reads files or standard input, runs the engine, and prints. Findings go to standard output; errors of
opening a file go to standard error.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.x12.x12_check import check_files
from clearlane.cli.x12.x12_files import (
    FAULTY,
    FINE,
    STANDARD,
    AsJson,
    File,
    Files,
    display_name,
    nonempty,
    read_or_stop,
    stop,
)

if TYPE_CHECKING:
    from clearlane.claims.rules.file_findings import KnownOfClaim
    from clearlane.x12.show.diff import Change

app = typer.Typer(
    help="Read, check, explain and convert X12 files.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def x12() -> None:
    """Read, check, explain and convert X12 files.

    Works on files alone; `-` or no file reads standard input.
    """


@app.command("check")
def check_(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Files, folders or quoted patterns; - or none for standard input.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Count warnings as errors.")] = False,
    site: Annotated[
        str,
        typer.Option(
            metavar="VENDOR_SITE_ID",
            help="Check as claims of this site: with what its payers want, the settings of rules, and the code lists in force.",
        ),
    ] = "",
    as_json: AsJson = False,
    data: Annotated[
        Path | None, typer.Option(help="With --site: the data directory, as for `serve`.")
    ] = None,
) -> None:
    """Check files and list everything that is wrong, in words.

    The claims of an 837 are also checked by the claim rules that need nothing but the claim; their findings may quote values
    of the file. A folder means the files in it and below. Several files end with a summary. Exit status: 0 no
    errors, 1 errors, 2 a file could not be read.

    Examples: clearlane x12 check claims.837; clearlane x12 check --json inbox/ "archive/**/*.835"; cat era | clearlane x12 check
    """

    def check_with(known_of: "KnownOfClaim | None") -> int:
        return check_files(files or [STANDARD], strict=strict, as_json=as_json, known_of=known_of)

    if not site:
        raise typer.Exit(check_with(None))
    # Imported here: most checks need no installation.
    from clearlane.cli.x12.x12_site import check_as_site

    raise typer.Exit(check_as_site(site, data, check_with))


@app.command()
def describe(
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Explain every segment in words: its loop, its elements, and what the codes mean.

    Shows the file's own values, including those of patients. Example: clearlane x12 describe answer.271
    """
    from clearlane.x12.show.describe import describe as explained

    for name in files or [STANDARD]:
        loop = None
        for segment in nonempty(name, explained(read_or_stop(name))):
            if as_json:
                typer.echo(json.dumps(asdict(segment), ensure_ascii=False))
                continue
            if (segment.loop, segment.loop_name) != loop:
                loop = (segment.loop, segment.loop_name)
                typer.echo(typer.style(f"{segment.loop} {segment.loop_name}".strip(), bold=True))
            typer.echo(f"  {segment.file_segment}  {segment.segment}  {segment.name}")
            for part in segment.parts:
                words = f"  ({part.words})" if part.words else ""
                typer.echo(f"      {part.place}  {part.name}: {part.value}{words}")


@app.command()
def html(
    file: File = STANDARD,
    out: Annotated[
        str, typer.Option("-o", "--output", help="The page to write; standard output if none.")
    ] = "",
    redact: Annotated[
        bool, typer.Option("--redact", help="Show pseudonyms instead of patient data.")
    ] = False,
    key: Annotated[
        str, typer.Option(help="With --redact: the key of the pseudonyms, as for x12 redact.")
    ] = "",
) -> None:
    """Write the file as one page: segments in their loops, every element explained, findings at their place.

    The page is one file that loads nothing, to open, print or mail. It shows the file's own values, including those of patients,
    unless --redact is given.

    Examples: clearlane x12 html claims.837 -o claims.html; clearlane x12 html --redact era.835 > era.html
    """
    from clearlane.cli.x12.x12_html import write_html

    write_html(file, out, redact=redact, key=key)


@app.command("json")
def json_(
    files: Files = None,
    lines: Annotated[
        bool,
        typer.Option("--lines", help="One object per line as they come, for files of any size."),
    ] = False,
) -> None:
    """Show files as typed data: remittances, benefits, statuses, verdicts, claims.

    Amounts are strings with decimal numbers, days are yyyy-mm-dd. Data without a field of its own is under "other".

    Examples: clearlane x12 json era.835; clearlane x12 json --lines era.835 | head
    """
    import msgspec

    from clearlane.x12 import views

    encode = msgspec.json.encode
    for name in files or [STANDARD]:
        if not lines:
            whole = encode(list(nonempty(name, views.read_views(read_or_stop(name)))))
            typer.echo(msgspec.json.format(whole, indent=2).decode())
            continue
        try:
            for piece in nonempty(name, views.stream_views(read_or_stop(name))):
                fields = {key: value for key, value in piece._asdict().items() if value is not None}
                typer.echo(encode(fields).decode())
        except views.TooManySegmentsError as many:
            stop(f"{display_name(name)}: {many}")


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="One file; - for standard input.")],
    new: Annotated[str, typer.Argument(help="The other file.")],
    ignore_envelopes: Annotated[
        bool,
        typer.Option(
            "--ignore-envelopes", help="Leave out control numbers, dates and times of envelopes."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two files by what they mean, claim by claim and line by line.

    Exit status: 0 no differences, 1 differences, 2 a file could not be read.

    Example: clearlane x12 diff --ignore-envelopes sent.837 again.837
    """
    from clearlane.x12.reader.reader import parse
    from clearlane.x12.show.diff import diff as differences
    from clearlane.x12.show.diff import summarize

    files = [parse(read_or_stop(name), check=False) for name in (old, new)]
    for name, file in zip((old, new), files, strict=True):
        if not file.interchanges:
            stop(f"{display_name(name)}: cannot be read as X12")
    changes = list(differences(*files, envelopes=not ignore_envelopes))
    if as_json:
        typer.echo(json.dumps([asdict(change) for change in changes], ensure_ascii=False))
    else:
        for change in changes:
            typer.echo(_change(change))
        typer.echo(summarize(changes))
    raise typer.Exit(FAULTY if changes else FINE)


@app.command()
def ack(
    file: File = STANDARD,
    ta1: Annotated[bool, typer.Option("--ta1", help="The TA1, not the 999.")] = False,
    control: Annotated[
        int,
        typer.Option(min=1, max=999_999_998, help="Control number of the first acknowledgement."),
    ] = 1,
) -> None:
    """Write the acknowledgement that a receiver of the file would send: a 999, or with --ta1 a TA1.

    An interchange whose envelope is refused gets a TA1 in any case.

    Examples: clearlane x12 ack claims.837 > claims.999; clearlane x12 ack --ta1 claims.837
    """
    from clearlane.kernel.clock import SystemClock
    from clearlane.x12.checker.ack import acknowledge

    replies = acknowledge(read_or_stop(file), control=control, moment=SystemClock().now())
    for reply in nonempty(file, replies):
        sys.stdout.buffer.write(reply.ta1 if ta1 or not reply.ack_999 else reply.ack_999)


@app.command()
def reformat(
    file: File = STANDARD,
    element: Annotated[str, typer.Option(help="Separates elements.")] = "*",
    component: Annotated[str, typer.Option(help="Separates components.")] = ":",
    repetition: Annotated[str, typer.Option(help="Separates repetitions.")] = "^",
    terminator: Annotated[str, typer.Option(help="Ends segments.")] = "~",
    newline: Annotated[
        bool, typer.Option("--newline/--no-newline", help="One line per segment.")
    ] = True,
) -> None:
    """Write the same segments with other separators, one per line or all in one.

    Examples: clearlane x12 reformat claims.837; clearlane x12 reformat --element "|" --no-newline claims.837
    """
    from clearlane.x12.delimiters import Delimiters
    from clearlane.x12.show.reformat import SeparatorConflictError
    from clearlane.x12.show.reformat import reformat as rewritten

    ending = "\n" if newline else ""
    target = Delimiters(element, component, repetition, terminator, ending)
    try:
        _write(file, rewritten(read_or_stop(file), target))
    except SeparatorConflictError as unfit:
        stop(f"{display_name(file)}: {unfit}", FAULTY)


@app.command()
def redact(
    file: File = STANDARD,
    key: Annotated[
        str,
        typer.Option(
            help="The same key gives the same pseudonyms in several files. Keep it to yourself."
        ),
    ] = "",
) -> None:
    """Write the file without patient data: same structure and lengths, no names, numbers, addresses or notes.

    Without a key the pseudonyms depend on the file alone. Days are moved back by the same number of weeks.

    Example: clearlane x12 redact claims.837 > claims-to-show.837
    """
    from hashlib import sha256

    from clearlane.x12.show.redact import redact as redacted

    if key:
        _write(file, redacted(read_or_stop(file), sha256(key.encode()).digest()))
        return
    content = b"".join(read_or_stop(file))
    _write(file, redacted(content, sha256(content).digest()))


def _write(name: str, out: Iterable[bytes]) -> None:
    """Write bytes to standard output."""
    for piece in nonempty(name, filter(None, out)):
        sys.stdout.buffer.write(piece)


def _change(change: "Change") -> str:
    location = f"{change.path}: {change.place}".rstrip(": ")
    name = f" {change.name}" if change.name else ""
    if change.kind == "changed":
        return f"{location}{name}: {change.old or 'nothing'} became {change.new or 'nothing'}"
    value = change.old or change.new
    return f"{location}{name} {change.kind}" + (f": {value}" if value else "")
