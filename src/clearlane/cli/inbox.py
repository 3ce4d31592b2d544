"""``clearlane inbox``: files that came from payers, and what a person does about those that need one."""

import sys
from typing import Annotated

import typer

from clearlane.claims.facts import Unmatched
from clearlane.cli.operator_command import AsJson, serve, show_facts, show_json, show_table
from clearlane.cli.storage_command import Data, operator
from clearlane.kernel import limits
from clearlane.kernel.clock import moment
from clearlane.pipeline.operator import inbox_admin
from clearlane.pipeline.operator.inbox_admin import Looked
from clearlane.store import inbox as store
from clearlane.store.inbox import StoredFile
from clearlane.wiring import House, desk_of

app = typer.Typer(
    no_args_is_help=True,
    help="Files from payers: list, show, replay, discard.",
    add_completion=False,
)

Id = Annotated[int, typer.Argument(metavar="ID", help="The file's number.", min=1)]
NEEDS_SOMEBODY = (store.STORED, store.PARKED, store.QUARANTINED)
EVERY_STATE = (*NEEDS_SOMEBODY, store.APPLIED, store.DISCARDED)


@app.command("list")
def list_(
    everything: Annotated[
        bool, typer.Option("--all", help="Applied and discarded files too.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """List the files that wait or need somebody, the newest first.

    Stored: waits to be posted. Parked: applied, but for statements about claims that we do not know.
    Quarantined: nobody can read it.

    Example: clearlane inbox list --all --data .data
    """
    states = EVERY_STATE if everything else NEEDS_SOMEBODY

    async def work(house: House) -> list[StoredFile]:
        async with house.database.read(store.SCOPE) as tx:
            return await store.listing(tx, states, limits.INBOX_LISTED)

    found = [facts(file) for file in serve(data, work)]
    if as_json:
        show_json(found)
    else:
        show_table(list(LABELS), [[row[name] for name in LABELS.values()] for row in found])


@app.command()
def show(
    id: Id,
    numbers: Annotated[
        bool,
        typer.Option("--numbers", help="Show what parked statements call their claims. Audited."),
    ] = False,
    content: Annotated[
        bool, typer.Option("--content", help="Write the file itself to standard output. Audited.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Show a file: what it is, what became of it, and which of its statements were not applied.

    Example: clearlane inbox show 7 --numbers --data .data
    """
    if content:
        sys.stdout.buffer.write(
            serve(data, lambda house: inbox_admin.read(desk_of(house), id, actor=operator()))
        )
        return

    async def work(house: House) -> Looked:
        return await inbox_admin.look(desk_of(house), id, numbers=numbers, actor=operator())

    found = serve(data, work)
    parked = _parked(found)
    if as_json:
        show_json(facts(found.file) | {"statements": parked})
        return
    show_facts(list(facts(found.file).items()))
    if parked:
        show_table(list(parked[0]), [list(row.values()) for row in parked])


@app.command()
def replay(id: Id, as_json: AsJson = False, data: Data = None) -> None:
    """Post a file again: after a claim or a route was put right, or a reader was mended.

    What was told before counts once, so a file can be replayed at any time.

    Example: clearlane inbox replay 7 --data .data
    """

    async def work(house: House) -> StoredFile:
        return await inbox_admin.replay(desk_of(house), id, actor=operator())

    _tell(serve(data, work), as_json=as_json)


@app.command()
def discard(id: Id, as_json: AsJson = False, data: Data = None) -> None:
    """Put a file aside that nobody can use. It is kept, and what it told stays told.

    Example: clearlane inbox discard 7 --data .data
    """

    async def work(house: House) -> StoredFile:
        return await inbox_admin.discard(desk_of(house), id, actor=operator())

    _tell(serve(data, work), as_json=as_json)


LABELS = {
    "Id": "id",
    "State": "state",
    "Type": "type",
    "Payer": "payer_id",
    "Kinds": "kinds",
    "Applied": "applied",
    "Parked": "parked",
    "File": "name",
    "Received": "received_at",
    "What to look at": "reason",
}


def facts(file: StoredFile) -> dict[str, object]:
    """A file as people and programs read it."""
    told = file._asdict()
    del told["digest"]
    for name in ("received_at", "settled_at"):
        at = told[name]
        told[name] = None if at is None else f"{moment(at):%Y-%m-%dT%H:%M:%SZ}"
    return told


def _tell(file: StoredFile, *, as_json: bool) -> None:
    if as_json:
        show_json(facts(file))
        return
    typer.echo(
        f"File {file.id} is {file.state}: {file.applied} statements applied, {file.parked} parked."
    )
    if file.reason:
        typer.echo(file.reason)


def _parked(found: Looked) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {"kind": row.kind, "reason": row.reason} for row in found.parked
    ]
    for row, said in zip(rows, found.statements, strict=False):
        row |= _numbers(said)
    return rows


def _numbers(said: Unmatched) -> dict[str, object]:
    return {
        "account": said.claim.account,
        "number": said.claim.number,
        "payer_number": said.claim.payer_number,
        "lines": list(said.claim.controls),
    }
