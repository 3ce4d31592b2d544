"""Run the tests in several processes that are forked after the tests were collected: `--workers 4`.

Importing and collecting ten thousand tests takes longer than running most of them. Here it is done once, and the
workers share its memory. Each takes the next part of the tests from a pipe when it has finished one, and sends its
reports to the first process, which shows them. A part is one test, or all tests of one group (tests/conftest.py).
"""

import atexit
import json
import os
import secrets
import signal
import traceback
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Literal

import pytest

# The number of a part in the pipe. All of them fit into a pipe of the usual size, so that nobody waits to write.
NUMBER_BYTES = 2
PIPE_BYTES = 65_536

RUN_NAME = "CLEARLANE_TEST_RUN"
"""The environment variable with the name of a run, the same in all its workers."""

Part = list[pytest.Item]
Phase = Literal["setup", "call", "teardown"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=0, help="run the tests in this many processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests in workers, if the command asks for them."""
    options = session.config.option
    if not options.workers or options.collectonly or session.testsfailed:
        return None
    os.environ[RUN_NAME] = secrets.token_hex(8)
    parts = in_parts(session.items)
    queue = _filled_pipe(len(parts))
    folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # pytest sets it later
    workers: list[Worker] = []
    for number in range(options.workers):
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            for inherited in (ours, *(worker.line.fileno() for worker in workers)):
                os.close(inherited)
            _work(session, parts, queue, Messages(theirs), folder / f"worker-{number}")
        os.close(theirs)
        workers.append(Worker(pid, Connection(ours, writable=False)))
    try:
        _show(session, workers, queue)
    finally:
        for worker in workers:
            worker.end()
        os.close(queue)
    return True


def in_parts(items: list[pytest.Item]) -> list[Part]:
    """Return the lists of tests that run in one process: the longest first, and what is slow before what is not."""
    grouped: dict[object, Part] = defaultdict(list)
    for item in items:
        marker = item.get_closest_marker("group")
        grouped[marker.args[0] if marker else item].append(item)

    def urgency(part: Part) -> tuple[int, bool]:
        return -len(part), part[0].get_closest_marker("slow") is None

    return sorted(grouped.values(), key=urgency)


def _filled_pipe(count: int) -> int:
    """Return the end of a pipe from which each number below the count can be read once."""
    assert count * NUMBER_BYTES <= PIPE_BYTES, "more parts than a pipe holds"
    queue, filling = os.pipe()
    os.write(filling, b"".join(number.to_bytes(NUMBER_BYTES, "big") for number in range(count)))
    os.close(filling)
    return queue


@dataclass(eq=False)
class Worker:
    """A worker as the first process sees it."""

    pid: int
    line: Connection
    test: str = ""
    """The last test that it began."""

    def end(self) -> None:
        """Wait until it has ended; one that still runs tests is told to tidy up and end."""
        if not self.line.closed:
            os.kill(self.pid, signal.SIGINT)
            self.line.close()
        os.waitpid(self.pid, 0)


def _show(session: pytest.Session, workers: list[Worker], queue: int) -> None:
    """Hand all reports of the workers to pytest, and fail the tests that a worker left undone."""
    hook = session.config.hook
    places = {item.nodeid: item.location for item in session.items}
    left = dict.fromkeys(places)
    by_line = {worker.line: worker for worker in workers}
    while by_line:
        for line in wait([*by_line]):
            assert isinstance(line, Connection)
            worker = by_line[line]
            try:
                kind, content = json.loads(line.recv_bytes())
            except EOFError:
                del by_line[line]
                line.close()
                continue
            if kind == "start":
                worker.test = content
            elif kind == "report":
                hook.pytest_runtest_logreport(report=_report(session.config, content))
            elif kind == "finish":
                left.pop(content, None)
                hook.pytest_runtest_logfinish(nodeid=content, location=places[content])
            else:
                hook.pytest_runtest_logreport(report=_failed(worker.test, content, "teardown"))
        if session.shouldfail or session.shouldstop:
            while os.read(queue, PIPE_BYTES):  # what was not begun is not run
                pass
            left.clear()
    for test in left:
        hook.pytest_runtest_logreport(
            report=_failed(test, "The process of this test ended before it.")
        )
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def _report(config: pytest.Config, data: dict[str, object]) -> pytest.TestReport:
    """Return a report as its worker made it."""
    report = config.hook.pytest_report_from_serializable(config=config, data=data)
    if isinstance(report.longrepr, list):  # where and why a test was skipped
        report.longrepr = tuple(report.longrepr)
    return report


def _failed(test: str, why: str, when: Phase = "call") -> pytest.TestReport:
    """Return a report about what no worker could report."""
    path = test.partition("::")[0]
    return pytest.TestReport(test, (path, None, test), {}, "failed", why, when)


class Messages:
    """What a worker sends to the first process."""

    def __init__(self, pipe: int) -> None:
        self._line = Connection(pipe, readable=False)
        self._config: pytest.Config | None = None

    def send(self, kind: str, content: object = None) -> None:
        self._line.send_bytes(json.dumps([kind, content]).encode())

    def pytest_configure(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        config = self._config
        assert config is not None
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        self.send("report", data)


def _work(
    session: pytest.Session, parts: list[Part], queue: int, messages: Messages, folder: Path
) -> None:
    """Be a worker: run parts until none is left, tidy up and end the process."""
    status = 1
    try:
        stand_alone(session, folder)
        session.config.pluginmanager.register(messages)
        try:
            _run_parts(session, parts, queue, messages)
        finally:
            outcome = int(bool(session.testsfailed))
            session.config.hook.pytest_sessionfinish(session=session, exitstatus=outcome)
            session.config._cleanup_stack.close()
            atexit._run_exitfuncs()
        status = 0
    except BaseException:
        messages.send("fault", traceback.format_exc())
    finally:
        os._exit(status)  # the interpreter would take seconds to take modules and trees apart


def stand_alone(session: pytest.Session, folder: Path) -> None:
    """Part from the first process what pytest keeps for the whole run: reports, captured output, temporary files."""
    plugins = session.config.pluginmanager
    kept = (session, plugins.getplugin("logging-plugin"))
    listening = session.config.hook.pytest_runtest_logreport.get_hookimpls()
    for plugin in (*(each.plugin for each in listening), plugins.getplugin("nfplugin")):
        if plugin is not None and plugin not in kept:
            plugins.unregister(plugin)
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    folder.mkdir(mode=0o700)
    temporary = session.config._tmp_path_factory  # type: ignore[attr-defined]  # pytest sets it later
    atexit.unregister(temporary._exit_stack.close)
    temporary._basetemp, temporary._exit_stack = folder, ExitStack()


def _run_parts(session: pytest.Session, parts: list[Part], queue: int, messages: Messages) -> None:
    """Run each part that this worker is the first to take."""
    while number := os.read(queue, NUMBER_BYTES):
        part = parts[int.from_bytes(number, "big")]
        # After a part only the fixtures of the session stay: no one knows yet what comes next.
        for item, following in zip(part, [*part[1:], session], strict=True):
            messages.send("start", item.nodeid)
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            messages.send("finish", item.nodeid)
            if session.shouldfail or session.shouldstop:
                return
