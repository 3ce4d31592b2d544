"""One node as a process of its own, so that a test can kill it.

Started with one argument, a JSON object; prints ``ready`` when its engine works, ends on SIGTERM.
"""

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from clearlane.engine import self_check
from clearlane.engine.dbos_engine import Engine, EngineRefused, RecoverySettings
from clearlane.engine.workflows import Workflow, WorkSchedule, WorkTables
from clearlane.kernel.clock import SystemClock
from clearlane.pipeline import schedule
from clearlane.store.installation.nodes import NodeRegistration
from tests.contexts import EngineContext
from tests.databases import Place
from tests.patience import PATIENCE_SECONDS


async def poison(context, steps, id):
    """Work that kills its node in the second step."""

    async def die():
        write_line(context, id, "died")
        os.kill(os.getpid(), signal.SIGKILL)

    await steps.run("live", lambda: asyncio.sleep(0))
    await steps.run("die", die)


async def tick(context, steps):
    """A schedule that writes a line."""
    write_line(context, "ticks", steps.work)


def read_marks(data, id):
    """The marks of a self-check, the oldest first."""
    file = self_check._file(data, id)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def write_line(context, name, line):
    with (context.data / name).open("a") as file:
        file.write(f"{line} {context.node}\n")


TABLES = WorkTables(
    queues=tuple(replace(row, poll_seconds=0.1) for row in schedule.QUEUES),
    workflows=(*schedule.WORKFLOWS, Workflow(name="poison", verb=poison, queue="work")),
    schedules=(WorkSchedule(name="tick", verb=tick, cron="* * * * * *", queue="work"),),
)


async def main(given):
    place = Place(given["kind"], given["url"], Path(given["data"]))
    database = await place.open(SystemClock(), anchor=f"anchor-{given['node']}")
    nodes = NodeRegistration(
        database, id=given["node"], role="worker", heartbeat_seconds=1, keys=place.keys()
    )
    context = EngineContext(database, SystemClock(), place.data, nodes.id)
    recovery = RecoverySettings(
        heartbeat_seconds=1, dead_node_seconds=2, takeovers_max=1, finished_work_days=7
    )
    engine = Engine(
        context,
        TABLES,
        nodes=nodes,
        url=place.url,
        recovery_settings=recovery,
        stop_seconds=PATIENCE_SECONDS,
    )
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    try:
        await engine.start()
    except EngineRefused as refused:
        print("refused", refused, flush=True)
    else:
        print("ready", flush=True)
        await stop.wait()
        await engine.stop()
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
