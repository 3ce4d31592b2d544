"""``clearlane worker``: a node that does durable work and opens no door.

Several workers share a PostgreSQL. With SQLite `serve` does the work itself, and a worker runs only
while no server does.
"""

import asyncio
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from clearlane.settings import BadSettings, Settings, load

app = typer.Typer(help="Run a worker without the front door.", add_completion=False)

CHECK_SECONDS_MAX = 60
MISUSED = 2


@app.command()
def worker(
    data: Annotated[Path | None, typer.Option(help="Data directory, as for `serve`.")] = None,
    self_check: Annotated[
        bool,
        typer.Option(
            "--self-check",
            help="Send a piece of work through the engine, say how it went, and end.",
        ),
    ] = False,
) -> None:
    """Run a worker until it is told to stop (SIGTERM or SIGINT); work in hand is handed on.

    Example: CLEARLANE_DATABASE_URL=postgresql://clearlane@db/clearlane clearlane worker
    """
    import uvloop

    from clearlane.kernel.faults import WorkFailed
    from clearlane.wiring import Refused

    try:
        settings = load(overrides={"data": data})
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_check(settings) if self_check else _work(settings))
    except (BadSettings, Refused) as refused:
        typer.echo(f"clearlane worker: {refused}", err=True)
        raise typer.Exit(MISUSED) from None
    except (WorkFailed, TimeoutError) as fault:
        why = f"it failed ({fault})" if isinstance(fault, WorkFailed) else "it did not end in time"
        typer.echo(f"The engine does not work: a piece of work was sent and {why}.", err=True)
        raise typer.Exit(1) from None


async def _work(settings: Settings) -> None:
    from clearlane.api import logs
    from clearlane.wiring import open_house

    writer = logs.configure(settings.log_level)
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.set_exception_handler(logs.on_loop_fault)
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    async with open_house(settings, role="worker") as house:
        typer.echo(f"clearlane worker ready {house.engine.node}")
        sys.stdout.flush()
        await stop.wait()
    writer.flush()


async def _check(settings: Settings) -> None:
    """Send work to whoever does it: a node that runs here already, or one started for the check."""
    from clearlane.api import logs
    from clearlane.engine.dbos_engine import EngineRefused
    from clearlane.wiring import open_house

    logs.configure(settings.log_level)
    try:
        async with open_house(settings, role="worker"):
            await _send(settings)
    except EngineRefused:
        await _send(settings)


async def _send(settings: Settings) -> None:
    from clearlane.engine.engine_storage import address
    from clearlane.engine.self_check import STEPS, check
    from clearlane.engine.workflow_client import Ledger

    ledger = Ledger(address(settings.data, settings.database_url))
    began = time.monotonic()
    try:
        nodes = await check(ledger, settings.data, seconds=CHECK_SECONDS_MAX)
    finally:
        await ledger.close()
    seconds = time.monotonic() - began
    typer.echo(f"The engine works: {STEPS} steps in {seconds:.2f} s, done by {' '.join(nodes)}.")
