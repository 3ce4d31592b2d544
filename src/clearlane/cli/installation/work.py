"""``clearlane work``: durable work that stopped because the nodes that did it kept dying."""

from typing import Annotated

import typer

from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    show_change,
    show_rows,
)
from clearlane.cli.command.output import printable
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import from_micros
from clearlane.wiring import Installation

app = typer.Typer(help="Durable work that stopped: list, release.", add_completion=False)

COLUMNS = (
    TableColumn("work", "work"),
    TableColumn("parked at", "parked_at"),
    TableColumn("takeovers", "takeovers", right=True),
    TableColumn("last node", "last_node"),
)
WorkId = Annotated[str, typer.Argument(metavar="WORK", help="The work's id, as `list` shows it.")]


@app.command("list")
@in_installation(uses="pipeline.schedule")
async def list_(installation: Installation, as_json: AsJson = False) -> None:
    """List work that stopped, because the nodes that did it kept dying, the oldest first.

    The first word of an id is the kind of work, the number after it what it works on: `deliver-12-...` delivers batch
    12, `post-31-...` posts inbox file 31. Work whose batch was delivered or whose file was posted in another way is not
    listed; a running node removes it.

    Example: clearlane work list
    """
    from clearlane.engine.parked_work import find_finished_work, list_parked_work
    from clearlane.pipeline.schedule import WORKFLOWS

    parked = await list_parked_work(installation.database)
    finished = await find_finished_work(installation.work_context, WORKFLOWS, parked)
    found = [
        {
            "work": one.work,
            "parked_at": from_micros(one.parked_at),
            "takeovers": one.takeovers,
            "last_node": one.last_node,
        }
        for one in parked
        if one.work not in finished
    ]
    show_rows(COLUMNS, found, as_json=as_json, noun="stopped work item")


@app.command()
@in_installation(uses="pipeline.schedule")
async def release(installation: Installation, id: WorkId, as_json: AsJson = False) -> None:
    """Let stopped work continue at its first unfinished step. First find out what ended the nodes: their logs, their memory.

    Resets its recovery count. Before a step is repeated, Clearlane looks for what it has already done outside. Audited.

    Example: clearlane work release deliver-12-1-29384756
    """
    from clearlane.engine.engine_storage import engine_database_url
    from clearlane.engine.parked_work import release_parked_work
    from clearlane.engine.workflow_client import WorkflowClient
    from clearlane.pipeline.schedule import TABLES

    settings = installation.settings
    client = WorkflowClient(engine_database_url(settings.data, settings.session_url))
    try:
        released = await release_parked_work(
            installation.database, client, id, queue_of=TABLES.queue_of, actor=operator()
        )
    finally:
        await client.close()
    if not released:
        refuse(f"No stopped work has the id {printable(id)}. See: clearlane work list")
    show_change(
        f"{id} goes on when a node takes it from its queue.", as_json=as_json, changed=True, work=id
    )
