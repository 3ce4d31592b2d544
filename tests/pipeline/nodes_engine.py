"""One node as a process of its own, so that a test can kill it.

Started with one argument, a JSON object; says ``ready`` when its engine works, ends on SIGTERM.
"""

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from clearlane.engine.dbos_engine import Engine, EngineRefused, Pace
from clearlane.engine.workflows import Schedule, Tables, Workflow
from clearlane.kernel.clock import SystemClock
from clearlane.pipeline import schedule
from clearlane.pipeline.work_context import Desk
from clearlane.store.nodes import Nodes
from tests.databases import Place
from tests.patience import PATIENCE_SECONDS


async def poison(desk, steps, id):
    """Work that kills whoever does it, in its second step."""

    async def die():
        leave(desk, id, "died")
        os.kill(os.getpid(), signal.SIGKILL)

    await steps.run("live", lambda: asyncio.sleep(0))
    await steps.run("die", die)


async def tick(desk, steps):
    """A tick that signs the list."""
    leave(desk, "ticks", steps.work)


def leave(desk, name, line):
    with (desk.data / name).open("a") as file:
        file.write(f"{line} {desk.node}\n")


TABLES = Tables(
    queues=tuple(replace(row, look_seconds=0.1) for row in schedule.QUEUES),
    workflows=(*schedule.WORKFLOWS, Workflow(name="poison", verb=poison, queue="work")),
    schedules=(Schedule(name="tick", verb=tick, cron="* * * * * *", queue="house"),),
)


async def main(given):
    place = Place(given["kind"], given["url"], Path(given["data"]))
    database = await place.open(SystemClock(), anchor=f"anchor-{given['node']}")
    nodes = Nodes(database, id=given["node"], role="worker", beat_seconds=1, keys=place.keys())
    desk = Desk(database=database, clock=SystemClock(), data=place.data, node=nodes.id)
    pace = Pace(heartbeat_seconds=1, dead_node_seconds=2, takeovers_max=1, finished_work_days=7)
    engine = Engine(
        desk, TABLES, nodes=nodes, url=place.url, pace=pace, stop_seconds=PATIENCE_SECONDS
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
