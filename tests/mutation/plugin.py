"""Run sampled mutants under the tests that reach their line, each in a process forked after the tests were collected.

First a forked process runs every test once and records which lines each reaches. Then each mutant gets a process of its
own, in which the code of its function is replaced; it runs the tests that reach the line until one fails, the likeliest
first. A mutant that no test fails on has survived; `survivors.py` says why it may.
"""

import contextlib
import functools
import gc
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import FunctionType

import coverage
import pytest

from tests.mutation.mutants import Mutant, compile_mutant, mutants_of, sample
from tests.mutation.packages import PACKAGES
from tests.mutation.survivors import EQUIVALENT, UNNOTICED, by_change, change_of

ROOT = Path(__file__).resolve().parents[2]
CPU_SECONDS_MAX = 20
"""A test that takes so much longer than it did without a mutant never ends, and has noticed it."""
WALL_SECONDS_MAX = 300
"""A process that begins no other test in this time waits for something that never comes, and has noticed it."""
MEMORY_BYTES_MAX = 4 << 30
"""How much more a mutant may allocate: some loops collect for ever."""
FAST_TESTS = 30
"""So many of the fastest tests are tried before those that are run file by file."""
SURVIVED, KILLED, UNFIT, BROKEN, ENDED = range(5)

Seconds = dict[str, float]
Lines = dict[str, dict[int, list[str]]]
"""The tests that reach each line of each file."""
Begin = Callable[[], object]
"""What a process calls before each test."""
Functions = dict[tuple[str, str, int], list[FunctionType]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutate", metavar="PACKAGE", help="run mutants of a package")
    parser.addoption("--mutants", type=int, default=500, help="how many")
    parser.addoption("--mutation-seed", type=int, default=1, help="which ones")
    parser.addoption("--mutants-with", default="", help="only those whose line matches")
    parser.addoption("--mutants-at-once", type=int, default=1, help="how many processes")


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
        files = {str(ROOT / each) for each in self._files}
        self._functions, self._memories = _functions_of(files), _memories_of(files)
        gc.freeze()  # or each process would look through all of it
        self._by_name = {item.nodeid: item for item in session.items}
        self._noticed: dict[Path, list[str]] = defaultdict(list)

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
        chosen = [mutant for mutant in chosen if re.search(option.mutants_with, str(mutant))]
        print(
            f"\n{self._name}: {len(chosen)} of {len(reached)} mutants on lines that a test reaches,"
            f" seed {option.mutation_seed}, {len(seconds)} tests",
            flush=True,
        )
        same, known = by_change(EQUIVALENT), by_change(UNNOTICED)
        counts: Counter[int] = Counter()
        equivalent = 0
        for at, (mutant, verdict) in enumerate(self._verdicts(chosen, seconds, lines), 1):
            change, tests = change_of(mutant), len(lines[str(ROOT / mutant.file)][mutant.line])
            if verdict == SURVIVED and change in same:
                equivalent += 1
                continue
            counts[verdict] += 1
            said = f"[{at}/{len(chosen)}]"
            if verdict == SURVIVED:
                reason = known.get(change, "no reason is known")
                print(f"{said} survived: {mutant} ({tests} tests): {reason}", flush=True)
            elif verdict != UNFIT and (change in same or change in known):
                print(f"{said} noticed after all: {mutant}", flush=True)
            elif at % 25 == 0:
                print(f"{said} {counts[SURVIVED]} survived", flush=True)
        killed = counts[KILLED] + counts[ENDED]
        tried = counts[SURVIVED] + killed
        share = killed / tried if tried else 1.0
        print(
            f"MUTANTS {self._name} killed={killed} of={tried} share={share:.3f}"
            f" seed={option.mutation_seed} equivalent={equivalent} ended={counts[ENDED]}"
            f" unfit={counts[UNFIT]} broken={counts[BROKEN]}",
            flush=True,
        )
        return int(share < self._package.killed_min or counts[BROKEN] > 0)

    def _record(self) -> tuple[Seconds, Lines]:
        """Return the seconds of each test, and the tests that reach each line of each file."""
        kept = self._folder / "lines.json"

        def record(_begin: Begin) -> int:
            watch = coverage.Coverage(
                data_file=None,
                config_file=False,
                include=[str(ROOT / file) for file in self._files],
            )
            seconds = {}
            watch.start()
            for item, following in _in_order(self._session.items):
                for memory in self._memories:  # or only the first test would reach what it keeps
                    memory.cache_clear()
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

        process = self._fork(record)
        while (verdict := process.verdict()) is None:
            time.sleep(0.1)
        if verdict != KILLED:
            raise pytest.UsageError("the tests could not be run once without a mutant")
        seconds, lines = json.loads(kept.read_text(encoding="utf-8"))
        whole = {file: {int(n): tests for n, tests in by.items()} for file, by in lines.items()}
        return seconds, whole

    def _verdicts(
        self, mutants: list[Mutant], seconds: Seconds, lines: Lines
    ) -> Iterator[tuple[Mutant, int]]:
        """Try all mutants, some at once, and return each with its verdict when it is known."""
        left = iter(mutants)
        running: list[tuple[Process, Mutant, list[str]]] = []
        while True:
            free = self._session.config.option.mutants_at_once - len(running)
            for mutant in islice(left, free):
                tests = lines[str(ROOT / mutant.file)][mutant.line]
                turn = in_turn(tests, seconds, mutant.file, self._noticed[mutant.file])
                running.append((self._try(mutant, turn, seconds), mutant, turn))
            if not running:
                return
            for each in [*running]:
                process, mutant, turn = each
                if (verdict := process.verdict()) is not None:
                    running.remove(each)
                    if verdict == KILLED and process.begun:
                        self._noticed[mutant.file].append(turn[process.begun - 1])
                    yield mutant, verdict
            time.sleep(0.01)

    def _try(self, mutant: Mutant, tests: list[str], seconds: Seconds) -> "Process":
        functions = self._functions.get(
            (str(ROOT / mutant.file), mutant.function, mutant.first_line), []
        )

        def run(begin: Begin) -> int:
            try:
                code = compile_mutant(mutant, ROOT)
                for function in functions:
                    function.__code__ = code
            except (SyntaxError, ValueError):  # no such program, or with other free variables
                return UNFIT
            if not functions:
                return UNFIT
            _limit_memory()
            for item, following in _in_order([self._by_name[test] for test in tests]):
                _limit_time(seconds[item.nodeid])
                begin()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._session.testsfailed:
                    return KILLED
            return SURVIVED

        return self._fork(run)

    def _fork(self, run: Callable[[Begin], int]) -> "Process":
        """Run a function in a process of its own; it says when it begins a test, and returns a verdict."""
        from tests.forked_workers import stand_alone  # a plugin that pytest has to import first

        self._processes += 1
        folder = self._folder / f"process-{self._processes}"
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = BROKEN
            try:
                os.setsid()
                os.close(ours)
                nowhere = os.open(os.devnull, os.O_RDWR)
                os.dup2(nowhere, 1)
                os.dup2(nowhere, 2)
                stand_alone(self._session, folder)
                status = run(lambda: os.write(theirs, b"."))
            finally:
                sys.stdout.flush()
                os._exit(status)
        os.close(theirs)
        os.set_blocking(ours, False)
        return Process(pid, ours)


@dataclass(eq=False)
class Process:
    """A forked process, and how many tests it has begun."""

    pid: int
    pipe: int
    begun: int = 0
    at: float = field(default_factory=time.monotonic)
    """When it began the last one."""

    def verdict(self) -> int | None:
        """Return what it has found out; nothing while it runs. A mutant that has to be ended is killed by that."""
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        self._listen()
        if not ended:
            # The process that records the lines has all the time it needs, and does not say what it begins.
            if not self.begun or time.monotonic() - self.at <= WALL_SECONDS_MAX:
                return None
            os.killpg(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # what the tests left behind
        os.close(self.pipe)
        return ENDED if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def _listen(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if begun := len(os.read(self.pipe, 65_536)):
                self.begun += begun
                self.at = time.monotonic()


def in_turn(tests: list[str], seconds: Seconds, file: Path, noticed: list[str]) -> list[str]:
    """Return the tests of a line in the order in which they are tried.

    First those that noticed another mutant of this file, the last one first, then those of the module's own name, the
    fastest ones, and the rest file by file, so that fixtures of a file are made once.
    """
    fast = sorted(tests, key=seconds.__getitem__)
    reaching = {*tests}
    name = f"test_{file.stem}.py"
    by_file: defaultdict[str, float] = defaultdict(float)
    for test in tests:
        by_file[_file_of(test)] += seconds[test]
    return [
        *dict.fromkeys(
            [
                *(test for test in reversed(noticed) if test in reaching),
                *(test for test in fast if Path(_file_of(test)).name == name),
                *fast[:FAST_TESTS],
                *sorted(fast, key=lambda test: (by_file[_file_of(test)], _file_of(test))),
            ]
        )
    ]


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _limit_time(seconds: float) -> None:
    used = time.process_time()
    soft = int(used + 2 * seconds + CPU_SECONDS_MAX)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES_MAX
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def _in_order(items: list[pytest.Item]) -> list[tuple[pytest.Item, pytest.Item | None]]:
    """Return each test with the one after it, as fixtures want to know."""
    return [*zip(items, [*items[1:], None], strict=True)]


def _memories_of(files: set[str]) -> "list[functools._lru_cache_wrapper[object]]":
    """Return the functions of the files that remember what they returned."""
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, functools._lru_cache_wrapper)
        and isinstance(each.__wrapped__, FunctionType)
        and each.__wrapped__.__code__.co_filename in files
    ]


def _functions_of(files: set[str]) -> Functions:
    """Return the functions whose code is in one of the files, by file, name and first line."""
    found: Functions = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in files:
            code = each.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(each)
    return found
