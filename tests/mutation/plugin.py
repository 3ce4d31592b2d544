"""Run sampled mutants under the tests that reach their line, each in a process forked after the tests were collected.

First a forked process runs every test once and records which lines each reaches. Then each mutant gets a process of its
own, in which the code of its function is replaced; it runs the tests that reach the line, the fastest first, until
one fails. A mutant that no test fails on has survived.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import coverage
import pytest

from tests.mutation.mutants import Mutant, compile_mutant, mutants_of, sample
from tests.mutation.packages import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
CPU_SECONDS_MAX = 60
"""A mutant that runs longer never ends, and is noticed by that."""
WALL_SECONDS_MAX = 300
SURVIVED, KILLED, UNFIT, BROKEN = 0, 1, 2, 3

Functions = dict[tuple[str, str, int], list[FunctionType]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutate", metavar="PACKAGE", help="run mutants of a package")
    parser.addoption("--mutants", type=int, default=500, help="how many")
    parser.addoption("--mutation-seed", type=int, default=1, help="which ones")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    name = session.config.option.mutate
    if not name or session.testsfailed:
        return None
    run = MutationRun(session, name)
    session.testsfailed += run.run()
    return True


class MutationRun:
    """The mutants of one package, and the tests that were collected for it."""

    def __init__(self, session: pytest.Session, name: str) -> None:
        self._session = session
        self._package = PACKAGES[name]
        self._name = name
        self._folder = Path(tempfile.mkdtemp(prefix="clearlane-mutants-"))
        self._processes = 0
        gc.unfreeze()  # what is frozen is not among the objects
        self._functions = _functions_of({str(ROOT / each) for each in self._files})

    @property
    def _files(self) -> list[Path]:
        return [
            file.relative_to(ROOT)
            for file in sorted(each for glob in self._package.files for each in ROOT.glob(glob))
            if not any(part in file.parts for part in self._package.data)
        ]

    def run(self) -> int:
        """Run the sample, print what survived, and return 1 if too few mutants were killed."""
        option = self._session.config.option
        seconds, lines = self._record()
        reached = [
            mutant
            for file in self._files
            for mutant in mutants_of(file, ROOT)
            if lines.get(str(ROOT / mutant.file), {}).get(mutant.line)
        ]
        chosen = sample(reached, option.mutants, option.mutation_seed)
        print(
            f"\n{self._name}: {len(chosen)} of {len(reached)} mutants on lines that a test reaches,"
            f" seed {option.mutation_seed}, {len(seconds)} tests",
            flush=True,
        )
        counts: Counter[int] = Counter()
        for at, mutant in enumerate(chosen, 1):
            tests = sorted(lines[str(ROOT / mutant.file)][mutant.line], key=seconds.__getitem__)
            verdict = self._try(mutant, tests)
            counts[verdict] += 1
            if verdict == SURVIVED:
                print(f"[{at}/{len(chosen)}] survived: {mutant} ({len(tests)} tests)", flush=True)
            elif at % 25 == 0:
                print(f"[{at}/{len(chosen)}] {counts[SURVIVED]} survived", flush=True)
        tried = counts[SURVIVED] + counts[KILLED]
        share = counts[KILLED] / tried if tried else 1.0
        print(
            f"MUTANTS {self._name} killed={counts[KILLED]} of={tried} share={share:.3f}"
            f" seed={option.mutation_seed} unfit={counts[UNFIT]} broken={counts[BROKEN]}",
            flush=True,
        )
        return int(share < self._package.killed_min or counts[BROKEN] > 0)

    def _record(self) -> tuple[dict[str, float], dict[str, dict[int, list[str]]]]:
        """Return the seconds of each test, and the tests that reach each line of each file."""
        kept = self._folder / "lines.json"

        def record() -> int:
            watch = coverage.Coverage(
                data_file=None,
                config_file=False,
                include=[str(ROOT / file) for file in self._files],
            )
            seconds = {}
            watch.start()
            for item, following in _in_order(self._session.items):
                watch.switch_context(item.nodeid)
                began = time.process_time()
                failed = self._session.testsfailed
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._session.testsfailed == failed:
                    seconds[item.nodeid] = time.process_time() - began
            watch.stop()
            data = watch.get_data()
            lines = {
                file: {
                    line: [test for test in tests if test in seconds]
                    for line, tests in data.contexts_by_lineno(file).items()
                }
                for file in data.measured_files()
            }
            kept.write_text(json.dumps([seconds, lines]), encoding="utf-8")
            return KILLED

        if self._fork(record, limited=False) != KILLED:
            raise pytest.UsageError("the tests could not be run once without a mutant")
        seconds, lines = json.loads(kept.read_text(encoding="utf-8"))
        whole = {file: {int(n): tests for n, tests in by.items()} for file, by in lines.items()}
        return seconds, whole

    def _try(self, mutant: Mutant, tests: list[str]) -> int:
        functions = self._functions.get(
            (str(ROOT / mutant.file), mutant.function, mutant.first_line), []
        )
        by_name = {item.nodeid: item for item in self._session.items}

        def run() -> int:
            try:
                code = compile_mutant(mutant, ROOT)
                for function in functions:
                    function.__code__ = code
            except (SyntaxError, ValueError):  # no such program, or with other free variables
                return UNFIT
            if not functions:
                return UNFIT
            for item, following in _in_order([by_name[test] for test in tests]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._session.testsfailed:
                    return KILLED
            return SURVIVED

        return self._fork(run, limited=True)

    def _fork(self, run: Callable[[], int], *, limited: bool) -> int:
        """Return what a function returns in a process of its own; a mutant that had to be ended is killed."""
        from tests.forked_workers import stand_alone  # a plugin that pytest has to import first

        self._processes += 1
        folder = self._folder / f"process-{self._processes}"
        pid = os.fork()
        if pid == 0:
            status = BROKEN
            try:
                os.setsid()
                nowhere = os.open(os.devnull, os.O_RDWR)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
                stand_alone(self._session, folder)
                if limited:
                    used = int(time.process_time())
                    resource.setrlimit(
                        resource.RLIMIT_CPU, (used + CPU_SECONDS_MAX, used + 2 * CPU_SECONDS_MAX)
                    )
                status = run()
            finally:
                sys.stdout.flush()
                os._exit(status)
        return _wait(pid, WALL_SECONDS_MAX if limited else None)


def _wait(pid: int, seconds_max: int | None) -> int:
    began = time.monotonic()
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # what the tests left behind
            return KILLED if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if seconds_max is not None and time.monotonic() - began > seconds_max:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return KILLED
        time.sleep(0.01)


def _in_order(items: list[pytest.Item]) -> list[tuple[pytest.Item, pytest.Item | None]]:
    """Return each test with the one after it, as fixtures want to know."""
    return [*zip(items, [*items[1:], None], strict=True)]


def _functions_of(files: set[str]) -> Functions:
    """Return the functions whose code is in one of the files, by file, name and first line."""
    found: Functions = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in files:
            code = each.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(each)
    return found
