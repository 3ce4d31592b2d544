"""``clearlane codes``: the code lists that claims are judged by, each with its days."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from enum import StrEnum
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from clearlane.cli.codes.list_facts import (
    COLUMNS,
    LISTS_OF_WORDS,
    STATUS,
    edition_rows,
    embedded_names,
    stored_facts,
    title_and_publisher,
)
from clearlane.cli.command.client_command import usage_error
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    run_in_installation,
    show_change,
    show_rows,
)
from clearlane.cli.command.output import counted, show_facts, show_json
from clearlane.cli.command.progress import ShowProgress, progress
from clearlane.cli.command.storage_command import MISUSED, Data, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.code_files.columns import CodeRow
from clearlane.code_files.content import CodeFileRefused
from clearlane.code_files.readers import READERS, find_readers
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.operator.import_codes import NewEdition, import_codes, remove_codes
from clearlane.store.database.schema.code_list_tables import IN_FORCE
from clearlane.store.installation.code_lists import (
    REVISION,
    EditionChange,
    ask_large_lists,
    list_editions,
    load_code_lists,
)
from clearlane.store.installation.code_trials import (
    CANCELED,
    ENDING,
    OPEN,
    PASSING,
    CodeTrial,
    end_trial,
    find_trial,
    list_found,
    list_trials,
)
from clearlane.store.installation.nodes import SCOPE as NODES
from clearlane.store.installation.nodes import live_nodes
from clearlane.wiring import Installation
from clearlane.x12 import codes
from clearlane.x12.codes.dated_codes import DatedCodes


def _list_name(given: str) -> str:
    """Return the name of a list as it is stored: publishers write ICD-10-CM."""
    return given.strip().lower()


app = typer.Typer(
    help="Code lists with days: import, list, show, status, remove, try.", add_completion=False
)

ListName = Annotated[
    str,
    typer.Argument(
        metavar="LIST", help="A list such as icd-10-cm; see `codes status`.", callback=_list_name
    ),
]
FileList = Annotated[
    str,
    typer.Argument(
        metavar="LIST", help="The list that the file is of; may be left out if the file tells."
    ),
]
EditionFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE", help="The publisher's own file, plain or as its zip.", show_default=False
    ),
]
FirstDay = Annotated[
    date,
    day_option("--from", help="First day of the edition."),
]
LastDay = Annotated[
    date,
    day_option("--to", help="Last day of the edition."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Take a file that lacks many codes of the edition before.")
]
TrialId = Annotated[int, typer.Argument(metavar="TRIAL", help="The number of a trial.")]
TRIAL_FACTS = (
    "id", "list", "first_day", "last_day", "source", "state", "started_by", "total", "read", "ending", "passing",
)  # fmt: skip
_DROPPED = {"source": 1, "started_by": 2, "total": 3, "last_day": 4}
TRIALS = tuple(
    TableColumn(name.replace("_", " "), name, drop=_DROPPED.get(name, 0)) for name in TRIAL_FACTS
)
CLAIMS_DAYS = 365
CODES_SHOWN = 10
POLL_SECONDS = 0.5


class TrialChange(StrEnum):
    """What a trial says of a claim."""

    ENDING = ENDING
    PASSING = PASSING


PERIODS = (
    TableColumn("first day", "first_day"),
    TableColumn("last day", "last_day"),
    TableColumn("attributes", "attributes"),
)


@app.command("import")
def import_(
    list: FileList,
    file: EditionFile = None,
    *,
    first: FirstDay,
    last: LastDay,
    force: Force = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Import an edition of a code list, all of it or nothing.

    On its days the edition takes the place of what was in force before; `codes remove` takes it back. Running nodes load it
    without a restart.

    Example: clearlane codes import icd-10-cm icd10cm-order-2027.txt --from 2026-10-01 --to 2027-09-30
    """
    with _edition_file(list, file, first, last, "Importing") as read:

        async def work(installation: Installation) -> EditionChange:
            done = await import_codes(
                installation.database,
                read.new,
                read.rows,
                actor=operator(),
                force=force,
                left_out=read.left_out,
                show=read.show,
            )
            await confirm_loaded(installation.database, REVISION, done.revision)
            return done

        done = run_in_installation(data, work)
    edition, changed = done.edition, done.revision is not None
    if as_json:
        show_json({"changed": changed, **stored_facts(edition)})
    elif changed:
        days = f"from {edition.first_day} to {edition.last_day}"
        typer.echo(
            f"{edition.list}: edition {edition.edition} with {counted(edition.codes, 'code')} is in force {days}."
        )
        if edition.missing:
            typer.echo(f"Codes that were valid before and are not in it: {edition.missing:,}.")
        if edition.left_out:
            lines = "line" if edition.left_out == 1 else "lines"
            where = f"{lines} {', '.join(map(str, read.left_out))}"
            typer.echo(f"Rows of the file that are no codes: {edition.left_out} ({where}).")
    else:
        typer.echo(f"{edition.list}: edition {edition.edition} is this file; nothing changed.")


@app.command("list")
@in_installation()
async def list_(installation: Installation, as_json: AsJson = False) -> None:
    """List the editions of every code list, the one that was imported last first.

    The state of an edition is `covered` if later ones cover all of its days.

    Example: clearlane codes list
    """
    stored = await list_editions(installation.database)
    names = sorted(embedded_names().union(one.list for one in stored))
    rows = [row for name in names for row in edition_rows(stored, name)]
    show_rows(COLUMNS, rows, as_json=as_json, noun="edition")


@app.command()
@in_installation()
async def status(installation: Installation, as_json: AsJson = False) -> None:
    """Show the edition of each code list: the one that was imported last, else the embedded one.

    Example: clearlane codes status --json
    """
    stored = [one for one in await list_editions(installation.database) if one.state == IN_FORCE]
    names = sorted(embedded_names().union(one.list for one in stored))
    editions = (next(edition_rows(stored, name)) for name in names)
    rows = [{one.name: facts[one.name] for one in STATUS} for facts in editions]
    show_rows(STATUS, rows, as_json=as_json, noun="list")


@app.command()
@in_installation()
async def show(
    installation: Installation,
    list: ListName,
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code of the list.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show a code list and the days it covers, or when a code of it is valid.

    Example: clearlane codes show icd-10-cm I42.0
    """
    database = installation.database
    lists = await load_code_lists(database, only=list)
    wanted = code.upper().replace(".", "")
    asked = await ask_large_lists(database, lists, {list: [wanted]} if wanted else {})
    known = asked.find(list)
    if known is None and list not in lists.large and list not in LISTS_OF_WORDS:
        names = ", ".join(sorted(embedded_names().union(lists)))
        refuse(f"No list {list} is in force. Lists in force: {names}.")
    if wanted and known is not None:
        _show_periods(list, wanted, known, as_json=as_json)
        return
    if wanted:
        _show_meaning(list, wanted, as_json=as_json)
        return
    rows = [*edition_rows(await list_editions(database), list)]
    title, publisher = title_and_publisher(list)
    facts = {"list": list, "title": title, "publisher": publisher, "editions": rows}
    if as_json:
        show_json(facts)
        return
    show_facts([(name, value) for name, value in facts.items() if name != "editions"])
    show_rows(COLUMNS, rows, as_json=False, noun="edition")


def _show_periods(list: str, code: str, known: DatedCodes, *, as_json: bool) -> None:
    """Print when a code is valid."""
    periods = [
        {
            "first_day": one.first_day.isoformat(),
            "last_day": one.last_day.isoformat(),
            "attributes": " ".join(sorted(one.attributes)),
        }
        for one in known.periods(code)
    ]
    if as_json or periods:
        show_rows(PERIODS, periods, as_json=as_json, noun="period")
    if not periods:
        refuse(
            f"There is no code {code} in {list} on any day from {known.first_day} to {known.last_day}."
        )


def _show_meaning(list: str, code: str, *, as_json: bool) -> None:
    """Print what a code means, of a list of the package that has no days."""
    meaning = codes.load_column(LISTS_OF_WORDS[list], 1).get(code)
    if meaning is None:
        refuse(f"There is no code {code} in {list}, as far as the list of the package goes.")
    facts = {"list": list, "code": code, "meaning": meaning}
    if as_json:
        show_json(facts)
    else:
        show_facts([*facts.items()])


@app.command()
@in_installation(ask="Take the edition of {list} out of force?")
async def remove(
    installation: Installation,
    list: ListName,
    edition: Annotated[
        str,
        typer.Option(metavar="EDITION", help="The edition (default: the one imported last)."),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Take an edition out of force: what was in force before it is in force again.

    Example: clearlane codes remove icd-10-cm --yes
    """
    done = await remove_codes(installation.database, list, edition, actor=operator())
    if done is None:
        refuse(f"No imported edition{edition and ' ' + edition} of {list} is in force.")
    await confirm_loaded(installation.database, REVISION, done.revision)
    show_change(
        f"{list}: edition {done.edition.edition} is out of force.", as_json=as_json, changed=True
    )


@app.command("try")
def try_(
    list: FileList,
    file: EditionFile = None,
    *,
    first: FirstDay,
    last: LastDay,
    since: Annotated[
        date | None,
        day_option(help="Read the claims that came since this day (default: a year ago)."),
    ] = None,
    background: Annotated[
        bool, typer.Option("--background", help="Do not wait for the result.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Say what an edition would change over the stored claims, and change nothing.

    Counts the claims that use codes which end, and those that were not accepted and would lose an error: compared with the
    day before --from, and with what is in force on the same days. A running node does the work, after the claims that come
    in; without one this command does. Ctrl-C cancels.

    Example: clearlane codes try icd10cm-order-2027.txt --from 2026-10-01 --to 2027-09-30
    """
    with _edition_file(list, file, first, last, "Reading the file") as read:

        async def work(installation: Installation) -> CodeTrial:
            from clearlane.pipeline.operator.try_codes import start_trial

            day = since or installation.clock.now().date() - timedelta(days=CLAIMS_DAYS)
            context = installation.work_context
            started = await start_trial(
                context,
                read.new,
                read.rows,
                since=day,
                actor=operator(),
                force=force,
                show=read.show,
            )
            if background:
                return started
            read.bar(0, total=started.total, label="Reading claims")
            return await _wait(installation, started, read.bar)

        done = run_in_installation(data, work)
    _show_trial(done, as_json=as_json)


@app.command("trials")
@in_installation()
async def trials(installation: Installation, as_json: AsJson = False) -> None:
    """List the trials of code lists, the newest first.

    Example: clearlane codes trials
    """
    rows = [_trial_facts(one) for one in await list_trials(installation.database)]
    show_rows(TRIALS, rows, as_json=as_json, noun="trial")


@app.command("trial")
@in_installation()
async def trial(
    installation: Installation,
    trial: TrialId,
    claims: Annotated[
        TrialChange | None,
        typer.Option(metavar="CHANGE", help="List the numbers of the claims: ending or passing."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a trial, or the numbers of the claims that it found.

    Example: clearlane codes trial 3 --claims ending
    """
    found = await find_trial(installation.database, trial)
    if found is None:
        refuse(f"There is no trial {trial}.")
    if claims is None:
        _show_trial(found, as_json=as_json)
        return
    numbers = await list_found(installation.database, trial, claims.value)
    show_rows(
        (TableColumn("claim", "claim_number"),),
        [{"claim_number": number} for number in numbers],
        as_json=as_json,
        noun="claim",
    )


@app.command()
@in_installation()
async def cancel(installation: Installation, trial: TrialId, as_json: AsJson = False) -> None:
    """Cancel a trial that is open; what it found stays.

    Example: clearlane codes cancel 3
    """
    done = await end_trial(installation.database, trial, CANCELED, actor=operator())
    if done is None:
        refuse(f"No trial {trial} is open.")
    show_change(f"Trial {trial} is canceled.", as_json=as_json, changed=True)


async def _wait(installation: Installation, started: CodeTrial, show: ShowProgress) -> CodeTrial:
    """Wait until a trial has ended; without a node that works on it, work on it here. An interruption cancels it."""
    from clearlane.pipeline.operator.try_codes import work_on_trials

    database = installation.database
    async with database.read(NODES) as tx:
        alone = not await live_nodes(tx)
    working = asyncio.create_task(work_on_trials(installation.work_context)) if alone else None
    try:
        while True:
            found = await find_trial(database, started.id)
            if found is None or found.state != OPEN:
                return found or started
            if working is not None and working.done():
                await working  # shows why it ended before the trial did
            show(found.read, total=found.total)
            await asyncio.sleep(POLL_SECONDS)
    except asyncio.CancelledError:
        await end_trial(database, started.id, CANCELED, actor=operator())
        raise
    finally:
        if working is not None:
            await cancel_all([working])


def _show_trial(trial: CodeTrial, *, as_json: bool) -> None:
    """Print what a trial found."""
    facts = _trial_facts(trial)
    if as_json:
        show_json(facts)
        return
    codes = json.loads(trial.codes)
    words = ", ".join(f"{code} ({count:,})" for code, count in islice(codes.items(), CODES_SHOWN))
    show_facts([(name, value) for name, value in facts.items() if name != "codes"])
    typer.echo(
        f"{trial.ending:,} of {counted(trial.read, 'claim')} use codes that end{words and f': {words}'}. "
        f"{counted(trial.passing, 'claim')} that were not accepted would lose an error."
    )
    for change in (ENDING, PASSING):
        if getattr(trial, change):
            typer.echo(f"Claim numbers: clearlane codes trial {trial.id} --claims {change}")


def _trial_facts(trial: CodeTrial) -> dict[str, object]:
    facts: dict[str, object] = {name: getattr(trial, name) for name in TRIAL_FACTS}
    return facts | {"codes": json.loads(trial.codes)}


class _EditionRead(NamedTuple):
    """A publisher's file that is open: what it is, its codes as they are read, and how progress is shown."""

    new: NewEdition
    rows: Iterator[CodeRow]
    left_out: Sequence[int]
    """The lines that were no codes, as far as they are read."""
    show: Callable[[], None]
    """Shows how much of the file is read."""
    bar: ShowProgress


@contextmanager
def _edition_file(
    list: str, file: Path | None, first: date, last: date, label: str
) -> Iterator[_EditionRead]:
    """Open a publisher's file; what is wrong with it ends the command. Without ``file``, ``list`` is the file."""
    file, name = (file, _list_name(list)) if file else (Path(list), "")
    if name and name not in READERS:
        usage_error(f"{list} is no list that can be imported. Give one of: {', '.join(READERS)}.")
    if last < first:
        usage_error("--to is before --from: give the first day and the last day of the edition.")
    with progress("Checking") as show, _opened(file) as stream:
        reader = READERS[name or _list_of(file, stream)]
        size = file.stat().st_size
        new = NewEdition(
            list=reader.name,
            first_day=first,
            last_day=last,
            source=file.name,
            hash=hashlib.file_digest(stream, "sha256").hexdigest(),
        )
        stream.seek(0)
        show(0, total=size, label=label)
        left_out: MutableSequence[int] = []
        rows = reader.read(stream, left_out)
        try:
            yield _EditionRead(new, rows, left_out, lambda: show(min(stream.tell(), size)), show)
        except CodeFileRefused as refused:
            refuse(f"{file.name}: {refused}. Nothing is imported.")


def _list_of(file: Path, stream: BufferedReader) -> str:
    """Return the list that a file is of; ends the command if it does not tell."""
    found = [reader.name for reader in find_readers(file.name, stream)]
    if len(found) != 1:
        why = f"may be of {' or '.join(found)}" if found else "does not tell of which list it is"
        usage_error(
            f"{file.name} {why}: give the list before the file, one of: {', '.join(READERS)}."
        )
    return found[0]


def _opened(file: Path) -> BufferedReader:
    try:
        return file.open("rb")
    except OSError as fault:
        refuse(f"{file} cannot be read: {fault.strerror}.", MISUSED)
