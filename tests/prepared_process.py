"""Processes that start at once, forked from one that has imported the product: one for all workers of a run.

Importing takes most of what a service or a command costs a test. A forked process is as real as any other: it has
its own memory and number, and is killed without warning like any other. New interpreters are started by
`pipeline/test_engine_worker`, `cli/test_command_imports` and by the README, which `journey` follows.

Who wants a process connects to the forker and sends an order with the three streams of the process. It is told the
number of the process and then how it ended. If it hangs up before, the process gets the signal that the order names.
"""

import asyncio
import atexit
import fcntl
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
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.forked_workers import RUN_NAME
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[1]
ORDER_BYTES_MAX = 128 * 1024
ANSWER_BYTES_MAX = 32
# The status of an interpreter that could not write all its output.
FLUSH_FAILED = 120
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
        order = {
            "module": module, "arguments": arguments, "env": dict(env), "cwd": str(cwd),
            "if_left": signal.SIGKILL,
        }  # fmt: skip
        pipes = [os.pipe() for _ in range(2)]
        nothing = os.open(os.devnull, os.O_RDONLY)
        theirs = [nothing, *(write for _, write in pipes)]
        with FINDING:
            self._line = connected(forker().address)
        socket.send_fds(self._line, [json.dumps(order).encode()], theirs)
        for stream in theirs:
            os.close(stream)
        self.pid = int(self._line.recv(ANSWER_BYTES_MAX))
        mode, encoding = ("r", "utf-8") if text else ("rb", None)
        self.stdout, self.stderr = (os.fdopen(read, mode, encoding=encoding) for read, _ in pipes)
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
            if self.returncode is None and select.select([self._line], [], [], seconds)[0]:
                self.returncode = int(self._line.recv(ANSWER_BYTES_MAX))
                self._line.close()
            return self.returncode


FINDING = threading.Lock()


@dataclass(frozen=True)
class Forker:
    """The process that forks the others, as a worker knows it: it ends when the last worker has hung up."""

    address: str
    presence: socket.socket


@cache
def forker() -> Forker:
    """Find the forker of this run, and start it if this worker is the first that needs it."""
    run = os.environ.get(RUN_NAME) or f"{os.getpid()}-{secrets.token_hex(4)}"
    address = Path(tempfile.gettempdir()) / f"clearlane-forker-{run}"
    with _alone(address):
        if not address.exists():
            _start(address)
        presence = connected(str(address))
    atexit.register(presence.close)
    return Forker(str(address), presence)


@contextmanager
def _alone(address: Path) -> Iterator[None]:
    """Let one process at a time start the forker, or the forker end."""
    with address.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _start(address: Path) -> None:
    """Start the forker. It listens already: who connects waits until it has imported everything."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(address))
        listening.listen()
        started = subprocess.Popen(
            [sys.executable, "-m", __name__, str(listening.fileno())],
            cwd=ROOT, pass_fds=[listening.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    started.returncode = 0  # nobody waits for it: it may serve other workers longer than this one


def connected(address: str) -> socket.socket:
    """Return a connection to the forker."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.connect(address)
    return made


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
    from clearlane.api.pages.public_pages import build_pages
    from clearlane.api.versions import VERSIONS

    pages = build_pages(*VERSIONS)
    for page in pages:
        page.content.made()
    service.build_pages = lambda *_: pages  # type: ignore[attr-defined]  # what the service imports, made already


def fork_on_demand(listening: socket.socket) -> dict:
    """Fork for each order and tell its sender how the process ends; return, in each of them, its order."""
    callers: dict[int, socket.socket] = {}
    running: dict[
        int, tuple[int, int, int]
    ] = {}  # the handle of a process: its number, its caller, the signal
    polled = select.poll()
    polled.register(listening, select.POLLIN)
    while True:
        for ready, _ in polled.poll():
            if ready == listening.fileno():
                caller, _ = listening.accept()
                callers[caller.fileno()] = caller
                polled.register(caller, select.POLLIN)
            elif ready in running:
                polled.unregister(ready)
                pid, at, _ = running.pop(ready)
                _, status = os.waitpid(pid, 0)
                os.close(ready)
                if at in callers:
                    _answer(callers[at], os.waitstatus_to_exitcode(status))
                    polled.unregister(at)
                    callers.pop(at).close()
            else:
                content, streams, *_ = socket.recv_fds(callers[ready], ORDER_BYTES_MAX, 3)
                if not content:
                    polled.unregister(ready)
                    callers.pop(ready).close()
                    for pid, at, number in running.values():
                        if at == ready:
                            os.kill(pid, number)
                    if not callers.keys() - {at for _, at, _ in running.values()}:
                        _end_if_alone(listening, [pid for pid, *_ in running.values()])
                    continue
                order = json.loads(content)
                pid = os.fork()
                if pid == 0:
                    for number, stream in enumerate(streams):
                        os.dup2(stream, number)
                    listening.close()
                    for caller in callers.values():
                        caller.close()
                    for each in (*streams, *running):
                        os.close(each)
                    return order
                for stream in streams:
                    os.close(stream)
                handle = os.pidfd_open(pid)
                running[handle] = pid, ready, order["if_left"]
                polled.register(handle, select.POLLIN)
                _answer(callers[ready], pid)


def _answer(caller: socket.socket, number: int) -> None:
    with suppress(OSError):  # it has hung up
        caller.send(str(number).encode())


def _end_if_alone(listening: socket.socket, running: list[int]) -> None:
    """End after the last worker, unless another one is about to connect."""
    address = Path(listening.getsockname())
    with _alone(address):
        if select.select([listening], [], [], 0)[0]:
            return
        address.unlink(missing_ok=True)
        address.with_suffix(".lock").unlink(missing_ok=True)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    end_at_once(0)


def set_up(order: dict) -> None:
    """Take over the environment and the directory of an order."""
    from clearlane.api.frame import app

    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    os.chdir(order["cwd"])
    # Made when it is imported, and different in every process.
    app._PROCESS, app._COUNT = secrets.token_hex(8), itertools.count(secrets.randbits(48))


def run(order: dict) -> None:
    """Be the process that was ordered: a module, or the command that was typed."""
    set_up(order)
    if order["module"] is None:
        from clearlane.cli import main

        sys.argv = ["clearlane", *order["arguments"]]
        main()
        return
    sys.argv = [order["module"], *order["arguments"]]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)


def status_of(order: dict) -> int:
    """Be the process that was ordered; return the status with which the interpreter would end it."""
    try:
        run(order)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        sys.stderr.write(f"{ended.code}\n")
        return 1
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def end_at_once(status: int) -> None:
    """End as the interpreter does, but let all modules be: to take them apart copies 100 MB that are shared until then."""
    threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does it
    atexit._run_exitfuncs()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except OSError:
        status = FLUSH_FAILED
    os._exit(status & 0xFF)


if __name__ == "__main__":
    import_all()
    end_at_once(status_of(fork_on_demand(socket.socket(fileno=int(sys.argv[1])))))
