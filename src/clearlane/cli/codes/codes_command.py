"""``clearlane codes``: the code lists that claims are judged by, each with its days."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.client_command import usage_error
from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    run_in_installation,
    show_change,
    show_rows,
)
from clearlane.cli.command.output import show_facts, show_json
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import MISUSED, Data, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.code_files.content import CodeFileRefused
from clearlane.code_files.readers import READERS
from clearlane.pipeline.operator.import_codes import NewEdition, import_codes, remove_codes
from clearlane.store.database.schema.code_lists import IN_FORCE
from clearlane.store.installation.code_lists import (
    REVISION,
    EditionChange,
    StoredEdition,
    ask_large_lists,
    list_editions,
    load_code_lists,
)
from clearlane.wiring import Installation
from clearlane.x12.codes import dated_codes

app = typer.Typer(
    help="Code lists with days: import, list, show, status, remove.", add_completion=False
)

EMBEDDED = "embedded"
"""The edition and the source of a list of the package."""

ListName = Annotated[
    str, typer.Argument(metavar="LIST", help="A list such as icd-10-cm; see `codes status`.")
]
DAY_FORMAT = ["%Y-%m-%d"]
STATUS = (
    TableColumn("list", "list"),
    TableColumn("edition", "edition"),
    TableColumn("first day", "first_day"),
    TableColumn("last day", "last_day"),
    TableColumn("codes", "codes"),
)
COLUMNS = (
    *STATUS,
    TableColumn("state", "state"),
    TableColumn("source", "source", wrap=True, drop=1),
    TableColumn("sha256", "hash", drop=2),
)
PERIODS = (
    TableColumn("first day", "first_day"),
    TableColumn("last day", "last_day"),
    TableColumn("attributes", "attributes"),
)


@app.command("import")
def import_(
    list: Annotated[str, typer.Argument(metavar="LIST", help="The list that the file is of.")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The publisher's own file, plain or as its zip.")
    ],
    first: Annotated[
        datetime,
        typer.Option("--from", formats=DAY_FORMAT, metavar="DAY", help="First day of the edition."),
    ],
    last: Annotated[
        datetime,
        typer.Option("--to", formats=DAY_FORMAT, metavar="DAY", help="Last day of the edition."),
    ],
    force: Annotated[
        bool,
        typer.Option("--force", help="Import a file that lacks many codes of the edition before."),
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Import an edition of a code list, all of it or nothing.

    On its days the edition takes the place of what was in force before; `codes remove` takes it back. Running nodes load it
    without a restart.

    Example: clearlane codes import icd-10-cm icd10cm-order-2027.txt --from 2026-10-01 --to 2027-09-30
    """
    reader = READERS.get(list)
    if reader is None:
        usage_error(f"{list} is no list that can be imported. Give one of: {', '.join(READERS)}.")
    if last < first:
        usage_error("--to is before --from: give the first day and the last day of the edition.")
    with progress("Checking") as show, _opened(file) as stream:
        size = file.stat().st_size
        new = NewEdition(
            list=list,
            first_day=first.date(),
            last_day=last.date(),
            source=file.name,
            hash=hashlib.file_digest(stream, "sha256").hexdigest(),
        )
        stream.seek(0)
        show(0, total=size, label="Importing")

        async def work(installation: Installation) -> EditionChange:
            done = await import_codes(
                installation.database,
                new,
                reader.read(stream),
                actor=operator(),
                force=force,
                show=lambda: show(min(stream.tell(), size)),
            )
            await confirm_loaded(installation.database, REVISION, done.revision)
            return done

        try:
            done = run_in_installation(data, work)
        except CodeFileRefused as refused:
            refuse(f"{file.name}: {refused}. Nothing is imported.")
    edition, changed = done.edition, done.revision is not None
    if as_json:
        show_json({"changed": changed, **_stored_facts(edition)})
    elif changed:
        days = f"from {edition.first_day} to {edition.last_day}"
        typer.echo(
            f"{list}: edition {edition.edition} with {edition.codes:,} codes is in force {days}."
        )
    else:
        typer.echo(f"{list}: edition {edition.edition} is this file; nothing changed.")


@app.command("list")
@in_installation()
async def list_(installation: Installation, as_json: AsJson = False) -> None:
    """List the editions of every code list, the one that was imported last first.

    Example: clearlane codes list
    """
    stored = await list_editions(installation.database)
    names = sorted({*dated_codes.names(), *(one.list for one in stored)})
    rows = [
        row
        for name in names
        for row in (
            *(_stored_facts(one) for one in stored if one.list == name),
            *_embedded_facts(name),
        )
    ]
    show_rows(COLUMNS, rows, as_json=as_json, noun="edition")


@app.command()
@in_installation()
async def status(installation: Installation, as_json: AsJson = False) -> None:
    """Show the edition of each code list: the one that was imported last, else the embedded one.

    Example: clearlane codes status --json
    """
    found: dict[str, Mapping[str, object]] = {}
    for one in await list_editions(installation.database):
        if one.state == IN_FORCE:
            found.setdefault(one.list, _stored_facts(one))
    for name in dated_codes.names() - found.keys():
        (found[name],) = _embedded_facts(name)
    rows = [{one.name: found[name][one.name] for one in STATUS} for name in sorted(found)]
    show_rows(STATUS, rows, as_json=as_json, noun="list")


@app.command()
@in_installation()
async def show(
    installation: Installation,
    list: ListName,
    code: Annotated[str, typer.Argument(metavar="[CODE]", help="A code of the list.")] = "",
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
    if known is None and list not in lists.large:
        names = ", ".join(lists)
        refuse(f"No list {list} is in force. Lists in force: {names}.")
    if wanted and known is not None:
        periods = [
            {
                "first_day": one.first_day.isoformat(),
                "last_day": one.last_day.isoformat(),
                "attributes": " ".join(sorted(one.attributes)),
            }
            for one in known.periods(wanted)
        ]
        hint = f"{list} has no {wanted} on any day from {known.first_day} to {known.last_day}."
        show_rows(PERIODS, periods, as_json=as_json, noun="period", hint=hint)
        if not periods:
            raise typer.Exit(1)
        return
    editions = [one for one in await list_editions(database) if one.list == list]
    rows = [*map(_stored_facts, editions), *_embedded_facts(list)]
    reader = READERS.get(list)
    facts = {
        "list": list,
        "title": reader.title if reader else list,
        "publisher": reader.publisher if reader else "",
        "editions": rows,
    }
    if as_json:
        show_json(facts)
        return
    show_facts([(name, value) for name, value in facts.items() if name != "editions"])
    show_rows(COLUMNS, rows, as_json=False, noun="edition")


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


def _stored_facts(edition: StoredEdition) -> dict[str, object]:
    return {column.name: getattr(edition, column.name) for column in COLUMNS}


def _embedded_facts(name: str) -> Iterator[dict[str, object]]:
    """Yield the facts of the list of the package, if it has one of this name."""
    known = dated_codes.find(name)
    if known is not None:
        yield {
            "list": name,
            "edition": EMBEDDED,
            "first_day": known.first_day.isoformat(),
            "last_day": known.last_day.isoformat(),
            "codes": len({code for code, _ in known}),
            "state": IN_FORCE,
            "source": EMBEDDED,
            "hash": "",
        }


def _opened(file: Path) -> BufferedReader:
    try:
        return file.open("rb")
    except OSError as fault:
        refuse(f"{file} cannot be read: {fault.strerror}.", MISUSED)
