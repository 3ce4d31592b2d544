"""``clearlane batch``: files on their way to payers, and what a person decides about them."""

from datetime import datetime
from typing import Annotated

import typer

from clearlane.cli.operator_command import AsJson, serve, show_facts, show_json, show_table
from clearlane.cli.storage_command import Data, operator
from clearlane.kernel import limits
from clearlane.kernel.clock import moment
from clearlane.pipeline.operator import batch_admin
from clearlane.pipeline.operator.batch_admin import Shown
from clearlane.store import batches as store
from clearlane.store.batches import Batch
from clearlane.wiring import House, desk_of

app = typer.Typer(help="Files to payers: list, show, resend, mark-delivered.", add_completion=False)

Id = Annotated[int, typer.Argument(metavar="ID", help="The batch's number.", min=1)]


@app.command("list")
def list_(
    everything: Annotated[
        bool, typer.Option("--all", help="The newest, delivered ones too.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """List the batches that are not delivered, the oldest first.

    Fixed: waits to go. Sending: on its way, or its arrival is being looked up. InDoubt: nobody can
    say whether it arrived; find out, then `resend` or `mark-delivered`. When the payer answers all of its
    claims, it counts as delivered by itself.

    Example: clearlane batch list --all
    """

    async def work(house: House) -> list[Batch]:
        async with house.database.read(store.SCOPE) as tx:
            if everything:
                return await store.newest(tx, limits.BATCHES_LISTED)
            return await store.undelivered(tx)

    found = [facts(batch) for batch in serve(data, work)]
    if as_json:
        show_json(found)
    else:
        show_table(list(LABELS), [[row[name] for name in LABELS.values()] for row in found])


@app.command()
def show(id: Id, as_json: AsJson = False, data: Data = None) -> None:
    """Show a batch with its claims.

    Example: clearlane batch show 12
    """

    async def work(house: House) -> Shown:
        return await batch_admin.show(desk_of(house), id)

    found = serve(data, work)
    told = facts(found.batch) | {
        "claims_answered": found.answered,
        "payer_rests_until": _time(found.lane.open_until if found.lane else None),
        "claims": [{"request_id": one.request_id, "sending": one.attempt} for one in found.members],
    }
    if as_json:
        show_json(told)
        return
    show_facts([(name, value) for name, value in told.items() if name != "claims"])
    show_table(["claim", "sending"], [[one.request_id, one.attempt] for one in found.members])


@app.command()
def resend(
    id: Id,
    even_if_answered: Annotated[
        bool,
        typer.Option(
            "--even-if-answered", help="Send it though the payer knows some of its claims."
        ),
    ] = False,
    data: Data = None,
) -> None:
    """Send a batch now: you know that the payer does not have it, or want no more waiting.

    Example: clearlane batch resend 12
    """

    async def work(house: House) -> None:
        await batch_admin.resend(
            desk_of(house), id, actor=operator(), even_if_answered=even_if_answered
        )

    serve(data, work)
    typer.echo(f"Batch {id} is sent again as soon as a node runs.")


@app.command("mark-delivered")
def mark_delivered(id: Id, data: Data = None) -> None:
    """Say that the payer has a batch: its claims count as sent, and it is not sent again.

    Example: clearlane batch mark-delivered 12
    """

    async def work(house: House) -> None:
        await batch_admin.mark_delivered(desk_of(house), id, actor=operator())

    serve(data, work)
    typer.echo(f"Batch {id} is delivered.")


@app.command("after-restore")
def after_restore(data: Data = None) -> None:
    """Say that the database was restored by its own tools, as one does with PostgreSQL.

    Whatever waited or was on its way then may have gone out since, so it is in doubt; control numbers
    jump ahead. `clearlane restore` does this by itself.

    Example: clearlane batch after-restore --data /var/lib/clearlane
    """

    async def work(house: House) -> tuple[int, int]:
        return await batch_admin.after_restore(desk_of(house), actor=operator())

    batches, claims = serve(data, work)
    typer.echo(
        f"{batches} batches and {claims} claims that waited are in doubt. See: clearlane batch list"
    )


LABELS = {
    "Id": "id",
    "State": "state",
    "Type": "type",
    "Payer": "payer_id",
    "Claims": "claims",
    "File": "name",
    "Attempts": "attempts",
    "Next": "next_at",
    "What stands in the way": "fault",
}


def facts(batch: Batch) -> dict[str, object]:
    """What may be told of a batch."""
    waits = batch.state in {store.FIXED, store.SENDING}
    return {
        "id": batch.id,
        "state": batch.state,
        "type": batch.type,
        "payer_id": batch.payer_id,
        "claims": batch.claims,
        "name": batch.name,
        "control": batch.control,
        "route": batch.route_id,
        "bytes": batch.bytes,
        "sha256": batch.digest,
        "created_at": _time(batch.created_at),
        "attempts": batch.attempts,
        "next_at": _time(batch.next_at if waits else None),
        "failing_since": _time(batch.failing_since),
        "delivered_at": _time(batch.delivered_at),
        "fault": batch.fault,
    }


def _time(micros: int | None) -> str:
    if micros is None:
        return ""
    at: datetime = moment(micros)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
