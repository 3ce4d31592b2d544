"""The tests that `make quick` leaves out because they take long, as a list that a run writes: `slow_tests.txt`.

They get the marker `slow`, as those that have it in their module. Write the list again when `make quick` takes more than
90 seconds::

    CLEARLANE_TEST_PROFILE=quick .venv/bin/python -m pytest -q -m "not server and not witness" --record-slow
"""

import time
from collections import defaultdict
from pathlib import Path

import pytest

LIST = Path(__file__).with_suffix(".txt")
CPU_SECONDS_MIN = 0.15
"""A test that takes this long, with what is set up for it alone, is slow."""
ALWAYS_QUICK = ("tests/architecture/",)
"""What `make quick` is for, however long it takes."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-slow", action="store_true", help=f"write {LIST.name} from this run")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.record_slow:
        config.pluginmanager.register(Recorder())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.markexpr or config.option.record_slow:
        return
    slow = frozenset(LIST.read_text(encoding="utf-8").splitlines())
    for item in items:
        if name_of(item.nodeid) in slow:
            item.add_marker(pytest.mark.slow)


def name_of(nodeid: str) -> str:
    """Return the name of a test whatever its parameters are."""
    return nodeid.partition("[")[0]


class Recorder:
    """Measures each test, and writes the list at the end."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._shared = 0.0
        """What was set up during this test for others too: without it, the next test would set it up."""
        self._depth = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> object:
        if fixturedef.scope == "function":
            return (yield)
        self._depth += 1
        began = time.process_time()
        try:
            return (yield)
        finally:
            self._depth -= 1
            if not self._depth:
                self._shared += time.process_time() - began

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> object:
        began, self._shared = time.process_time(), 0.0
        try:
            return (yield)
        finally:
            self._seconds[name_of(item.nodeid)] += time.process_time() - began - self._shared

    def pytest_sessionfinish(self) -> None:
        found = sorted(
            name
            for name, seconds in self._seconds.items()
            if seconds >= CPU_SECONDS_MIN and not name.startswith(ALWAYS_QUICK)
        )
        LIST.write_text("".join(f"{name}\n" for name in found), encoding="utf-8")
