"""``clearlane x12``: read, check, explain and convert X12 files, without a server.

Each command reads files or standard input, runs the engine, and prints. Findings go to standard output; errors of
opening a file go to standard error.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn, TypeVar

import typer

from clearlane.kernel.finding import Finding, SegmentPosition, Severity, Stage
from clearlane.kernel.limits import CHUNK_BYTES
from clearlane.x12.check import CheckResult, check

if TYPE_CHECKING:
    from clearlane.x12.diff import Change

BYTES_WITHOUT_PROGRESS_BAR_MAX = 4 * 1024 * 1024

app = typer.Typer(
    help="Read, check, explain and convert X12 files.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

T = TypeVar("T")

STANDARD = "-"
UNOPENED = "FILE-OPEN"
"""The rule of the one finding about a file that cannot be opened."""
FINE, FAULTY, UNREADABLE = 0, 1, 2
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
HEADINGS = ("line", "segment", "element", "severity", "finding")
# Messages for files that cannot be opened.
REFUSALS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file",
    IsADirectoryError: "this is a directory; name the files in it",
    PermissionError: "this user may not read it",
}

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]...", help="Files to read; - or none for standard input."),
]
File = Annotated[
    str, typer.Argument(metavar="[FILE]", help="The file to read; - or none for standard input.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


@app.callback()
def x12() -> None:
    """Read, check, explain and convert X12 files.

    Works on files alone; `-` or no file reads standard input.
    """


@app.command("check")
def check_(
    files: Files = None,
    strict: Annotated[bool, typer.Option("--strict", help="Count warnings as errors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check files and list everything that is wrong, in words.

    Exit status: 0 no errors, 1 errors, 2 a file could not be read.

    Examples: clearlane x12 check claims.837; clearlane x12 check --json *.835; cat era | clearlane x12 check
    """
    worst = FINE
    for name in files or [STANDARD]:
        verdict = _check_file(name)
        (_print_json if as_json else _print_table)(_display_name(name), verdict)
        worst = max(worst, _status(verdict, strict=strict))
    raise typer.Exit(worst)


@app.command()
def describe(
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Explain every segment in words: its loop, its elements, and what the codes mean.

    Shows the file's own values, those of patients too. Example: clearlane x12 describe answer.271
    """
    from clearlane.x12.describe import describe as explained

    for name in files or [STANDARD]:
        loop = None
        for segment in _nonempty(name, explained(_read(name))):
            if as_json:
                typer.echo(json.dumps(asdict(segment), ensure_ascii=False))
                continue
            if (segment.loop, segment.loop_name) != loop:
                loop = (segment.loop, segment.loop_name)
                typer.echo(typer.style(f"{segment.loop} {segment.loop_name}".strip(), bold=True))
            typer.echo(f"  {segment.line}  {segment.segment}  {segment.name}")
            for part in segment.parts:
                words = f"  ({part.words})" if part.words else ""
                typer.echo(f"      {part.place}  {part.name}: {part.value}{words}")


@app.command("json")
def json_(
    files: Files = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="One object a line as they come, for files of any size.")
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
            whole = encode(list(_nonempty(name, views.read_views(_read(name)))))
            typer.echo(msgspec.json.format(whole, indent=2).decode())
            continue
        try:
            for piece in _nonempty(name, views.stream_views(_read(name))):
                fields = {key: value for key, value in piece._asdict().items() if value is not None}
                typer.echo(encode(fields).decode())
        except views.TooManySegmentsError as many:
            _stop(f"{_display_name(name)}: {many}")


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
    from clearlane.x12.diff import diff as differences
    from clearlane.x12.diff import summarize
    from clearlane.x12.reader import parse

    files = [parse(_read(name), check=False) for name in (old, new)]
    for name, file in zip((old, new), files, strict=True):
        if not file.interchanges:
            _stop(f"{_display_name(name)}: cannot be read as X12")
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
        int, typer.Option(min=1, max=999_999_998, help="Control number of the first answer.")
    ] = 1,
) -> None:
    """Write the acknowledgement that a receiver of the file would send: a 999, or with --ta1 a TA1.

    An interchange whose envelope is refused gets a TA1 in any case.

    Examples: clearlane x12 ack claims.837 > claims.999; clearlane x12 ack --ta1 claims.837
    """
    from clearlane.kernel.clock import SystemClock
    from clearlane.x12.ack import acknowledge

    replies = acknowledge(_read(file), control=control, moment=SystemClock().now())
    for reply in _nonempty(file, replies):
        sys.stdout.buffer.write(reply.ta1 if ta1 or not reply.ack_999 else reply.ack_999)


@app.command()
def reformat(
    file: File = STANDARD,
    element: Annotated[str, typer.Option(help="Separates elements.")] = "*",
    component: Annotated[str, typer.Option(help="Separates components.")] = ":",
    repetition: Annotated[str, typer.Option(help="Separates repetitions.")] = "^",
    terminator: Annotated[str, typer.Option(help="Ends segments.")] = "~",
    newline: Annotated[
        bool, typer.Option("--newline/--no-newline", help="A line a segment.")
    ] = True,
) -> None:
    """Write the same segments in other separators, one a line or all in one.

    Examples: clearlane x12 reformat claims.837; clearlane x12 reformat --element "|" --no-newline claims.837
    """
    from clearlane.x12.delimiters import Delimiters
    from clearlane.x12.reformat import SeparatorConflictError
    from clearlane.x12.reformat import reformat as rewritten

    ending = "\n" if newline else ""
    target = Delimiters(element, component, repetition, terminator, ending)
    try:
        _write(file, rewritten(_read(file), target))
    except SeparatorConflictError as unfit:
        _stop(f"{_display_name(file)}: {unfit}", FAULTY)


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

    from clearlane.x12.redact import redact as redacted

    if key:
        _write(file, redacted(_read(file), sha256(key.encode()).digest()))
        return
    content = b"".join(_read(file))
    _write(file, redacted(content, sha256(content).digest()))


def _write(name: str, out: Iterable[bytes]) -> None:
    """Write bytes to standard output."""
    for piece in _nonempty(name, filter(None, out)):
        sys.stdout.buffer.write(piece)


def _nonempty(name: str, out: Iterable[T]) -> Iterator[T]:
    """Yield items unchanged; end the command where there is none, because the file is no X12."""
    nothing = True
    for one in out:
        nothing = False
        yield one
    if nothing:
        _stop(f"{_display_name(name)}: cannot be read as X12")


def _change(change: "Change") -> str:
    location = f"{change.path}: {change.place}".rstrip(": ")
    name = f" {change.name}" if change.name else ""
    if change.kind == "changed":
        return f"{location}{name}: {change.old or 'nothing'} became {change.new or 'nothing'}"
    value = change.old or change.new
    return f"{location}{name} {change.kind}" + (f": {value}" if value else "")


def _check_file(name: str) -> CheckResult:
    """Check a file; one that cannot be opened has one finding."""
    try:
        return check(read_chunks(name))
    except OSError as error:
        message = f"{_display_name(name)}: {open_failure(error)}"
        finding = Finding(
            rule=UNOPENED, message=message, stage=Stage.FILE, position=SegmentPosition()
        )
        typer.echo(f"clearlane: {message}", err=True)
        return CheckResult(readable=False, findings=(finding,))


def _status(verdict: CheckResult, *, strict: bool) -> int:
    if not verdict.readable:
        return UNREADABLE
    return FAULTY if verdict.errors or (strict and verdict.warnings) else FINE


def _ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings in the order of the file."""
    return sorted(
        findings,
        key=lambda f: (f.position.file_segment, f.position.element) if f.position else (0, 0),
    )


def _print_json(name: str, verdict: CheckResult) -> None:
    answer = {
        "file": name,
        "readable": verdict.readable,
        "errors": verdict.errors,
        "warnings": verdict.warnings,
        "findings": [_finding(finding) for finding in _ordered(verdict.findings)],
    }
    typer.echo(json.dumps(answer, ensure_ascii=False))


def _finding(finding: Finding) -> dict[str, Any]:
    position = finding.position or SegmentPosition()
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "snip": finding.snip,
        "interchange": position.interchange,
        "group": position.group,
        "set": position.set,
        "segment": position.segment,
        "line": position.file_segment,
        "loop": position.loop,
        "segment_id": position.segment_id,
        "element": position.element,
        "component": position.component,
        "repetition": position.repetition,
        "kind": finding.kind,
        "message": finding.message,
    }


def _print_table(name: str, verdict: CheckResult) -> None:
    if any(finding.rule == UNOPENED for finding in verdict.findings):
        return
    if not verdict.readable:
        typer.echo(f"{name}: cannot be read as X12")
    else:
        counts = f"{_count(verdict.errors, 'error')}, {_count(verdict.warnings, 'warning')}"
        typer.echo(f"{name}: {counts}")
    rows = [_row(finding) for finding in _ordered(verdict.findings)]
    if not rows:
        return
    widths = [max(len(row[at]) for row in (HEADINGS, *rows)) for at in range(len(HEADINGS) - 1)]
    for row in (HEADINGS, *rows):
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        colour = COLOURS.get(row[3])  # type: ignore[call-overload]
        cells[3] = typer.style(cells[3], fg=colour) if colour else cells[3]
        typer.echo("  " + "  ".join((*cells, row[4])))


def _row(finding: Finding) -> tuple[str, ...]:
    position = finding.position or SegmentPosition()
    segment = f"{position.segment_id} ({position.loop})" if position.loop else position.segment_id
    element = f"{position.element:02}" if position.element else ""
    if position.component:
        element += f"-{position.component}"
    message = f"{finding.message} [{finding.rule}]"
    return (str(position.file_segment or ""), segment, element, finding.severity.value, message)


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


# Files in, with a bar for large ones.


def read_chunks(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks; raise OSError where it cannot be opened."""
    if name == STANDARD:
        if sys.stdin.isatty():
            typer.echo("Reading standard input; end it with Ctrl-D.", err=True)
        yield from _chunks(sys.stdin.buffer)
        return
    path = Path(name)
    with path.open("rb") as file:
        size = path.stat().st_size
        if size <= BYTES_WITHOUT_PROGRESS_BAR_MAX or not sys.stderr.isatty():
            yield from _chunks(file)
            return
        with typer.progressbar(length=size, label=path.name, file=sys.stderr) as bar:
            for chunk in _chunks(file):
                yield chunk
                bar.update(len(chunk))


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def open_failure(error: OSError) -> str:
    """Return why a file cannot be opened."""
    known = next((words for kind, words in REFUSALS.items() if isinstance(error, kind)), "")
    return known or f"it cannot be read: {error.strerror or 'the system gives no reason'}"


def _read(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file; end the command where it cannot be opened."""
    try:
        yield from read_chunks(name)
    except OSError as error:
        _stop(f"{_display_name(name)}: {open_failure(error)}")


def _stop(message: str, status: int = UNREADABLE) -> NoReturn:
    """Print a message and end the command."""
    typer.echo(f"clearlane: {message}", err=True)
    raise typer.Exit(status)


def _display_name(name: str) -> str:
    return "standard input" if name == STANDARD else name
