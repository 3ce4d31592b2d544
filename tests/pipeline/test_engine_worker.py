"""The command `clearlane worker`, as an operator starts it.

Also tests `cli/worker`.
"""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager

from tests.patience import PATIENCE_SECONDS

WORKER = (sys.executable, "-m", "clearlane", "worker")


@asynccontextmanager
async def command(place, *more, **given):
    given |= {"CLEARLANE_DATA": str(place.data), "CLEARLANE_DATABASE_URL": place.url}
    process = await asyncio.create_subprocess_exec(
        *WORKER, *more, env={**os.environ, **given},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ended(process):
    """The exit code of a command and what it said, on standard output and error."""
    said, faults = await process.communicate()
    return process.returncode, said.decode(), faults.decode()


async def test_a_worker_reports_that_it_is_ready_and_stops_on_a_signal(new_place):
    async with command(await new_place("postgresql")) as worker:
        assert (await worker.stdout.readline()).startswith(b"clearlane worker ready ")
        worker.send_signal(signal.SIGTERM)
        code, _, faults = await ended(worker)
        assert code == 0
        assert "Traceback" not in faults


async def test_on_sqlite_one_process_does_all_the_work_and_can_be_checked_from_beside(new_place):
    place = await new_place("sqlite")
    async with command(place) as worker:
        node = (await worker.stdout.readline()).decode().split()[-1]
        async with command(place, "--self-check") as check, command(place) as beside:
            code, said, faults = await ended(check)
            assert (code, faults) == (0, "")
            assert said.startswith("The engine works: 3 steps in ")
            assert said.endswith(f" done by {node}.\n")
            code, said, faults = await ended(beside)
            assert (code, said) == (2, "")
            assert "Another process uses" in faults
            assert "With SQLite one process does all the work" in faults
        worker.send_signal(signal.SIGINT)
        assert await ended(worker) == (0, "", "")


async def test_a_worker_in_production_wants_its_tables_first(new_place):
    place = await new_place("postgresql", upgraded=False)
    async with command(place, CLEARLANE_MODE="production") as worker:
        code, _, faults = await ended(worker)
        assert (code, "CLEARLANE_SUBMITTER_NAME" in faults) == (2, True)
    named = {"CLEARLANE_SUBMITTER_NAME": "FERNHILL", "CLEARLANE_SUBMITTER_PHONE": "5125550142"}
    async with command(place, CLEARLANE_MODE="production", **named) as worker:
        code, _, faults = await ended(worker)
        assert code == 2
        assert "Run: clearlane db upgrade" in faults
