"""``clearlane batch``: files of claims to payers, and what an operator decides about them."""

from typing import Annotated, Any

import typer

from clearlane.claims.batch_lifecycle import BatchEvent, allows
from clearlane.cli.command.filter_options import filter_options
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    show_change,
    show_facts,
    show_json,
    show_rows,
    show_table,
)
from clearlane.cli.command.storage_command import DryRun, Yes, confirm, operator
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import from_micros, seconds_text, to_micros
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import UNDELIVERED, Batch
from clearlane.store.delivery.file_query import BATCH_FILTERS, FileQuery, find_batches
from clearlane.wiring import Installation

ADMIN = "pipeline.operator.batch_admin"
BATCHES_LISTED = 200
UNLIMITED = 1 << 62

app = typer.Typer(help="Files to payers: list, show, resend, mark-delivered.", add_completion=False)

Id = Annotated[int, typer.Argument(metavar="ID", help="The batch's number.", min=1)]


@app.command("list")
@filter_options(BATCH_FILTERS)
@in_installation()
async def list_(
    installation: Installation,
    where: dict[str, Any],
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Include delivered batches, the newest first.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the batches that are not delivered, the oldest first.

    ready: waits to be sent. sending: being sent, or its arrival is being checked. in_doubt: it is not known
    whether it arrived; find out, then `resend` or `mark-delivered`. When the payer answers all of its
    claims, it counts as delivered by itself.

    Example: clearlane batch list --all
    """
    everything = everything or where["state"] is not None

    async with installation.database.read(batches.SCOPE) as tx:
        if everything:
            found = await find_batches(tx, FileQuery(where=where, limit=BATCHES_LISTED))
        else:
            undelivered = FileQuery(where=where | {"state": UNDELIVERED}, limit=UNLIMITED)
            found = (await find_batches(tx, undelivered))[::-1]
    hint = (
        "Other filters may list some."
        if any(where.values())
        else "One is made when a claim is accepted."
        if everything
        else "Everything is delivered. Use --all to list every batch."
    )
    rows = [facts(batch, _next_attempt(installation, batch)) for batch in found]
    show_rows(COLUMNS, rows, as_json=as_json, noun="batch", hint=hint)


@app.command()
@in_installation(uses=ADMIN)
async def show(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Show a batch with its claims.

    Example: clearlane batch show 12
    """
    from clearlane.pipeline.operator import batch_admin

    found = await batch_admin.load_batch(installation.work_context, id)
    row = facts(found.batch, _next_attempt(installation, found.batch)) | {
        "claims_answered": found.answered,
        "refused": f"TA1 {found.refusal.note}" if found.refusal else "",
        "sent_again_at": _time(found.refusal.requeued_at if found.refusal else None),
        "payer_rests_until": _time(found.route_health.paused_until if found.route_health else None),
        "claims": [
            {"claim_number": one.claim_number, "sending": one.attempt} for one in found.members
        ],
    }
    if as_json:
        show_json(row)
        return
    show_facts([(name, value) for name, value in row.items() if name != "claims"])
    show_table(
        ["claim number", "sending"], [[one.claim_number, one.attempt] for one in found.members]
    )


@app.command()
@in_installation(uses=ADMIN)
async def resend(
    installation: Installation,
    id: Id,
    even_if_answered: Annotated[
        bool,
        typer.Option(
            "--even-if-answered", help="Send it even if the payer has answered some of its claims."
        ),
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Send a batch now: the payer does not have it, or it must not wait any longer.

    If the payer refused the file (TA1), its claims go in a new file with a new control number, except
    claims that were replaced or answered.

    Example: clearlane batch resend 12
    """
    from clearlane.pipeline.operator import batch_admin

    if even_if_answered:
        confirm(f"Claims of batch {id} that the payer has would reach it twice.", yes=yes)

    await batch_admin.resend(
        installation.work_context, id, actor=operator(), even_if_answered=even_if_answered
    )
    show_change(f"Batch {id} is sent again as soon as a node runs.", as_json=as_json, id=id)


@app.command("mark-delivered")
@in_installation(ask="Batch {id} will never be sent: its claims count as sent.", uses=ADMIN)
async def mark_delivered(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Record that the payer has a batch: its claims count as sent, and it is not sent again.

    Example: clearlane batch mark-delivered 12
    """
    from clearlane.pipeline.operator import batch_admin

    await batch_admin.mark_delivered(installation.work_context, id, actor=operator())
    show_change(f"Batch {id} is delivered.", as_json=as_json, id=id)


@app.command("after-restore")
@in_installation(uses=ADMIN)
async def after_restore(
    installation: Installation, dry_run: DryRun = False, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Record that the database was restored with its own tools, as with PostgreSQL.

    Batches that waited at the time of the backup may have been sent since, so they are in doubt; control
    numbers jump ahead. `clearlane restore` does this by itself. All nodes must be stopped.

    Example: clearlane batch after-restore --yes --data /var/lib/clearlane
    """
    from clearlane.pipeline.operator import batch_admin

    context = installation.work_context
    if dry_run:
        batch_count, claims = await batch_admin.count_unsent(context)
    else:
        confirm("Everything that waits to be sent will be in doubt, until you decide.", yes=yes)
        batch_count, claims = await batch_admin.mark_in_doubt_after_restore(
            context, actor=operator()
        )
    would = "would be" if dry_run else "are"
    show_change(
        f"{batch_count} batches and {claims} claims that waited {would} in doubt. See: clearlane batch list",
        as_json=as_json,
        changed=True,
        dry_run=dry_run,
        batches=batch_count,
        claims=claims,
    )


COLUMNS = (
    TableColumn("id", "id"),
    TableColumn("state", "state", state=True),
    TableColumn("payer", "payer_id"),
    TableColumn("over", "hop", drop=1),
    TableColumn("claims", "claims", right=True),
    TableColumn("file", "name"),
    TableColumn("type", "type", drop=2),
    TableColumn("attempts", "attempts", right=True, drop=3),
    TableColumn("next", "next_at", drop=1),
    TableColumn("fault", "fault", wrap=True),
)


def facts(batch: Batch, next_at: int | None = None) -> dict[str, object]:
    """Return the printable facts of a batch; its next attempt may have to wait for a send window."""
    waits = allows(batch.state, BatchEvent.ATTEMPTED)
    return {
        "id": batch.id,
        "state": batch.state,
        "type": batch.type,
        "payer_id": batch.payer_id,
        "hop": batch.hop,
        "hop_payer_id": batch.hop_payer_id,
        "claims": batch.claims,
        "name": batch.name,
        "control": batch.control,
        "route": batch.route_id,
        "bytes": batch.bytes,
        "sha256": batch.digest,
        "created_at": _time(batch.created_at),
        "attempts": batch.attempts,
        "next_at": _time((next_at or batch.due_at) if waits else None),
        "failing_since": _time(batch.failing_since),
        "delivered_at": _time(batch.delivered_at),
        "fault": batch.fault,
    }


def _next_attempt(installation: Installation, batch: Batch) -> int:
    """Return when a batch may be attempted: when it is due, in a send window of its route."""
    routes = installation.connections.mailbox_routes(*batch.destination)
    route = next((route for route in routes if route.route_id == batch.route_id), None)
    if route is None or not route.send_windows:
        return batch.due_at
    moment = max(from_micros(batch.due_at), installation.clock.now())
    return to_micros(route.next_sending(moment))


def _time(micros: int | None) -> str:
    return seconds_text(micros) or ""
