"""What a node costs that has nothing to do: CPU in percent of one core, and how much of it the engine's library takes.

The node runs in a process of this module, whose threads are distinguished by their names: those of the engine's library
poll its queues and schedules; the event loop runs everything else, also the work that the library hands to it.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg

from bench.harness import Measure, bench
from bench.submit import postgresql

SECONDS = float(os.environ.get("BENCH_IDLE_SECONDS", "60"))
SETTLED_SECONDS = 10
REPORT_FILE = "BENCH_IDLE_THREADS"
LIBRARY_THREADS = re.compile(
    r"queue-worker-|dbos|\((queue_thread|dynamic_scheduler_loop|run_notification_listener|run_notifier|_loop)\)"
)
ENDED = "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database"
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def thread_seconds() -> dict[str, float]:
    """Return the CPU seconds of each thread of this process, by name."""
    names = {one.native_id: one.name for one in threading.enumerate()}
    found: defaultdict[str, float] = defaultdict(float)
    for task in Path("/proc/self/task").iterdir():
        try:
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        found[names.get(int(task.name), "other")] += sum(map(int, fields[11:13])) / TICKS_PER_SECOND
    return dict(found)


def _report(*_: object) -> None:
    file = Path(os.environ[REPORT_FILE])
    file.with_suffix(".new").write_text(json.dumps(thread_seconds()))
    file.with_suffix(".new").rename(file)


@contextmanager
def idle_node(database_url: str) -> Iterator[tuple[int, Path]]:
    """Run a node on fresh data; yield its process and the file of its threads."""
    with tempfile.TemporaryDirectory() as folder:
        threads = Path(folder) / "threads.json"
        environment = {
            name: v for name, v in os.environ.items() if not name.startswith("CLEARLANE_")
        } | {
            "CLEARLANE_LOG_LEVEL": "warning",
            "CLEARLANE_DATABASE_URL": database_url,
            REPORT_FILE: str(threads),
        }
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "bench.idle",
                "serve",
                "--data",
                f"{folder}/data",
                "--port",
                "0",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("clearlane ready"):
                    break
            yield process.pid, threads
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _threads_of(pid: int, file: Path) -> dict[str, float]:
    file.unlink(missing_ok=True)
    os.kill(pid, signal.SIGRTMIN)
    while not file.exists():
        time.sleep(0.05)
    return json.loads(file.read_text())


def _transactions(database_url: str) -> int:
    """Return how many transactions the server has ended; 0 for SQLite, which does not count them."""
    if not database_url:
        return 0

    async def ask() -> int:
        connection = await asyncpg.connect(database_url)
        try:
            return int(await connection.fetchval(ENDED))
        finally:
            await connection.close()

    return asyncio.run(ask())


def _measure(kind: str, database_url: str) -> list[Measure]:
    with idle_node(database_url) as (pid, file):
        time.sleep(SETTLED_SECONDS)
        ended = _transactions(database_url)
        began, before = time.monotonic(), _threads_of(pid, file)
        time.sleep(SECONDS)
        elapsed, after = time.monotonic() - began, _threads_of(pid, file)
        ended = _transactions(database_url) - ended
    spent = {name: 100 * (after[name] - before.get(name, 0)) / elapsed for name in after}
    if os.environ.get("BENCH_IDLE_DETAIL"):
        for name, percent in sorted(spent.items(), key=lambda item: -item[1]):
            print(f"  {percent:6.2f} %  {name}", file=sys.stderr)
    whole = sum(spent.values())
    library = sum(percent for name, percent in spent.items() if LIBRARY_THREADS.search(name))
    made = [Measure(f"idle.transactions.{kind}", 60 * ended / elapsed, "1/min")] if ended else []
    return [
        *made,
        Measure(f"idle.cpu.{kind}", whole, "% of a core"),
        Measure(f"idle.cpu.{kind}.library", library, "% of a core", library / whole, "all"),
    ]


@bench("idle.cpu.sqlite")
def on_sqlite() -> list[Measure]:
    return _measure("sqlite", "")


@bench("idle.cpu.postgresql")
def on_postgresql() -> list[Measure]:
    with postgresql() as url:
        return _measure("postgresql", url)


def main() -> None:
    """Run a command of clearlane that tells its threads' CPU when it is sent SIGRTMIN."""
    from clearlane.cli.command.root import app

    signal.signal(signal.SIGRTMIN, _report)
    app()


if __name__ == "__main__":
    main()
