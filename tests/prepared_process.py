"""Processes that start at once, forked from one that has imported the product.

Importing takes most of what a service or a command costs a test. A forked process is as real as any other: it has
its own memory and number, and is killed without warning like any other. New interpreters are started by
`pipeline/test_engine_worker`, `cli/test_command_imports` and by the pages that `journey` follows.
"""

import asyncio
import atexit
import gc
import importlib
import itertools
import json
import os
import pkgutil
import re
import runpy
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[1]
ORDER_BYTES_MAX = 128 * 1024
# What a node and the processes of the tests import while they run.
IMPORTED = (
    "asyncssh", "dbos", "psycopg", "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite", "uvloop", "tests.pipeline.outbound",
)  # fmt: skip


# Modules that do something when they are imported.
RUN_ONLY = re.compile(r"__main__$|\.migrations\.")


class PreparedProcess:
    """A module run as ``python -m`` would, in a process of its own; used like ``subprocess.Popen``."""

    def __init__(
        self,
        module: str,
        *arguments: str,
        env: Mapping[str, str],
        cwd: Path = ROOT,
        text: bool = False,
    ) -> None:
        sys.audit("subprocess.Popen", sys.executable, [module, *arguments], str(cwd), None)
        order = {"module": module, "arguments": arguments, "env": dict(env), "cwd": str(cwd)}
        pipes = [os.pipe() for _ in range(3)]
        theirs = [write for _, write in pipes]
        with ORDERING:
            socket.send_fds(_forker(), [json.dumps(order).encode()], theirs)
            self.pid = int(_forker().recv(ORDER_BYTES_MAX))
        for write in theirs:
            os.close(write)
        mode, encoding = ("r", "utf-8") if text else ("rb", None)
        self.stdout, self.stderr = (
            os.fdopen(read, mode, encoding=encoding) for read, _ in pipes[:2]
        )
        self._ending = os.fdopen(pipes[2][0], "rb", buffering=0)
        self._waiting = threading.Lock()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return how it ended, or None if it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return how it ended: a status, or a negative signal."""
        if (code := self._ended(timeout)) is None:
            raise subprocess.TimeoutExpired("a prepared process", timeout or 0)
        return code

    async def ends(self) -> int:
        """Wait for its end beside the loop, whatever it says, and return how it ended."""
        code = await asyncio.to_thread(self.wait, PATIENCE_SECONDS)
        self.close()
        return code

    @classmethod
    async def run(cls, module: str, *arguments: str, env: Mapping[str, str]) -> int:
        """Run a module to its end, and return how it ended."""
        return await (await asyncio.to_thread(cls, module, *arguments, env=env)).ends()

    def communicate(self) -> tuple:
        """Read what it says until it has ended."""
        said: list = []
        reader = threading.Thread(target=lambda: said.append(self.stdout.read()))
        reader.start()
        faults = self.stderr.read()
        reader.join()
        self.wait()
        self.close()
        return said[0], faults

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        self.stdout.close()
        self.stderr.close()

    def _ended(self, seconds: float | None) -> int | None:
        """Wait for so long, and return how it ended if it did."""
        with self._waiting:
            if self.returncode is None and select.select([self._ending], [], [], seconds)[0]:
                self.returncode = int(self._ending.read())
                self._ending.close()
            return self.returncode


ORDERING = threading.Lock()


@cache
def _forker() -> socket.socket:
    """Start the process that forks the others; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(theirs.fileno())],
        cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def import_all() -> None:
    """Import every module of the product and build its public pages, so that no forked process does."""
    import clearlane

    found = pkgutil.walk_packages(clearlane.__path__, "clearlane.")
    names = [each.name for each in found if not RUN_ONLY.search(each.name)]
    for name in (*names, *IMPORTED):
        importlib.import_module(name)
    _build_pages()
    gc.collect()
    gc.freeze()


def _build_pages() -> None:
    """Build the public pages, which takes most of what the start of a service costs and is always the same."""
    from clearlane.api import service
    from clearlane.api.versions import VERSIONS

    pages = service.build_pages(*VERSIONS)
    service.build_pages = lambda *_: pages


def fork_on_demand(orders: socket.socket) -> dict:
    """Fork for each order and report the ends of the processes; return, in each of them, its order."""
    running: dict[int, tuple[int, int]] = {}
    polled = select.poll()
    polled.register(orders, select.POLLIN)
    while True:
        for ready, _ in polled.poll():
            if ready in running:
                polled.unregister(ready)
                pid, ending = running.pop(ready)
                _, status = os.waitpid(pid, 0)
                os.write(ending, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(ending)
                os.close(ready)
                continue
            content, given, *_ = socket.recv_fds(orders, ORDER_BYTES_MAX, 3)
            if not content:
                for pid, _ in running.values():
                    os.kill(pid, signal.SIGKILL)
                sys.exit()
            pid = os.fork()
            if pid == 0:
                orders.close()
                os.dup2(given[0], 1)
                os.dup2(given[1], 2)
                for each in (*given, *running, *(ending for _, ending in running.values())):
                    os.close(each)
                return json.loads(content)
            for each in given[:2]:
                os.close(each)
            handle = os.pidfd_open(pid)
            running[handle] = pid, given[2]
            polled.register(handle, select.POLLIN)
            orders.send(str(pid).encode())


def run(order: dict) -> None:
    """Be the process that was ordered."""
    from clearlane.api.frame import app

    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    os.chdir(order["cwd"])
    # Made when it is imported, and different in every process.
    app._PROCESS, app._COUNT = secrets.token_hex(8), itertools.count(secrets.randbits(48))
    sys.argv = [order["module"], *order["arguments"]]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    import_all()
    run(fork_on_demand(socket.socket(fileno=int(sys.argv[1]))))
