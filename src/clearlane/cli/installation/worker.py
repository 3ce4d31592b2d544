"""``clearlane worker``: a node that does durable work and has no API server.

Several workers share a PostgreSQL. With SQLite `serve` does the work itself, and a worker runs only
while no server does.
"""

import asyncio
import signal
import sys
import time
from typing import Annotated

import typer

from clearlane.cli.command.list_options import InstallationData
from clearlane.cli.installation.serve import server_url
from clearlane.kernel import limits
from clearlane.settings import InvalidSettings, Settings, load, require_submitter

app = typer.Typer(help="Run a worker without the API server.", add_completion=False)

CHECK_SECONDS_MAX = 60
MISUSED = 2


@app.command()
def worker(
    data: InstallationData = None,
    ops_port: Annotated[
        int | None,
        typer.Option(
            help="Port of the operations address; 0 picks one.", min=0, max=limits.PORT_MAX
        ),
    ] = None,
    self_check: Annotated[
        bool,
        typer.Option(
            "--self-check",
            help="Run a test job through the engine, report the result, and exit.",
        ),
    ] = False,
) -> None:
    """Run a worker until SIGTERM or SIGINT; unfinished work is handed on.

    /healthz, /readyz and /metrics answer on its operations address. SIGUSR1 writes debug lines to the log too, SIGUSR2
    goes back.

    Example: CLEARLANE_DATABASE_URL=postgresql://clearlane@db/clearlane clearlane worker
    """
    import uvloop

    from clearlane.api.http.server import ListenError
    from clearlane.kernel.faults import WorkFailed
    from clearlane.wiring import OperationRefused

    try:
        settings = load(overrides={"data": data, "worker_operations_port": ops_port})
        require_submitter(settings)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_check(settings) if self_check else _work(settings))
    except (InvalidSettings, ListenError, OperationRefused) as refused:
        typer.echo(f"clearlane worker: {refused}", err=True)
        raise typer.Exit(MISUSED) from None
    except (WorkFailed, TimeoutError) as fault:
        why = f"it failed ({fault})" if isinstance(fault, WorkFailed) else "it did not end in time"
        typer.echo(f"The engine does not work: a test job was sent and {why}.", err=True)
        raise typer.Exit(1) from None


async def _work(settings: Settings) -> None:
    from clearlane.api.http.server import listen
    from clearlane.api.operations import logs
    from clearlane.api.operations.operations_server import serve_operations
    from clearlane.wiring import open_installation

    host, port = settings.operations_host, settings.worker_operations_port
    setting = "--ops-port or CLEARLANE_WORKER_OPERATIONS_PORT"
    listener = listen(host, port, "The operations address", setting)
    writer = logs.configure(settings.log_level, settings.log_format)
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.set_exception_handler(logs.log_loop_fault)
    logs.change_level_on_signals(loop, settings.log_level)
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    async with open_installation(settings, role="worker") as installation:
        node = installation.engine.node
        logs.log_start(node, role="worker", mode=settings.mode)
        async with serve_operations(installation, listener):
            url = server_url("http", host, listener.getsockname()[1])
            typer.echo(f"clearlane worker ready {node}")
            typer.echo(f"  operations  {url}/healthz /readyz /metrics")
            sys.stdout.flush()
            await stop.wait()
            logs.log_stopping()
    logs.log_stop(writer)


async def _check(settings: Settings) -> None:
    """Run a test job on a node that runs here already, or on one started for the check."""
    from clearlane.api.operations import logs
    from clearlane.engine.dbos_engine import EngineRefused
    from clearlane.wiring import open_installation

    logs.configure(settings.log_level, settings.log_format)
    try:
        async with open_installation(settings, role="worker"):
            await _send(settings)
    except EngineRefused:
        await _send(settings)


async def _send(settings: Settings) -> None:
    from clearlane.engine.engine_storage import engine_database_url
    from clearlane.engine.self_check import STEPS, check_engine
    from clearlane.engine.workflow_client import WorkflowClient

    ledger = WorkflowClient(engine_database_url(settings.data, settings.session_url))
    began = time.monotonic()
    try:
        nodes = await check_engine(ledger, settings.data, seconds=CHECK_SECONDS_MAX)
    finally:
        await ledger.close()
    seconds = time.monotonic() - began
    typer.echo(f"The engine works: {STEPS} steps in {seconds:.2f} s, done by {' '.join(nodes)}.")
