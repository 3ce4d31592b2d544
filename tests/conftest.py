"""Settings of every test: how long one may take, which need a server, and why some were skipped."""

import asyncio
import atexit
import functools
import gc
import inspect
import os
import signal
import sys
from collections import Counter, deque
from types import SimpleNamespace

import pytest
import uvloop
from hypothesis import HealthCheck, settings
from typer import testing

from tests.authorities import trust_none_of_the_machine
from tests.cases import IS_QUICK, IS_THOROUGH
from tests.memory_files import write_to_memory
from tests.safe_defaults import POINTS
from tests.server_marker import EXEMPT, asks_a_witness, starts_a_server, watch_servers
from tests.sized_marker import is_sized

pytest_plugins = ["tests.databases", "tests.forked_workers", "tests.slow_tests"]

write_to_memory()
trust_none_of_the_machine()

# Commands that tests start have no terminal, however wide the one of the run is.
os.environ.pop("COLUMNS", None)

# A slow machine is no fault of the code: properties are not timed. The same examples are tried each time, so that
# what a run says depends on the code alone; `CLEARLANE_TEST_PROFILE=random` tries others. `make quick` tries fewer, `make
# thorough` more.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("full", UNTIMED, derandomize=True)
settings.register_profile("random", UNTIMED)
settings.register_profile("thorough", UNTIMED, max_examples=500)
settings.register_profile("quick", UNTIMED, max_examples=10, derandomize=True)
settings.load_profile(os.environ.get("CLEARLANE_TEST_PROFILE", "full"))

# The modules, tables and syntax trees of the tests stay: garbage is looked for seldom.
gc.set_threshold(100_000 if IS_QUICK else 10_000, 20, 20)
if IS_QUICK:
    # The loop of the service: a third faster than the standard one for tests that mostly wait for a database. With
    # servers in the process of a test it warns about connections that the other one lets go.
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

# The tree of an app's commands is built from their signatures, and again for each command that a test runs.
testing._get_command = functools.cache(testing._get_command)  # type: ignore[attr-defined]  # what a runner imports

# What is imported and collected stays too: nothing of it is garbage.
gc.disable()


def pytest_collection_finish():
    """Look for garbage among what the tests make, never among what was imported for them."""
    gc.freeze()
    gc.enable()


STATUS = pytest.StashKey[int]()


def pytest_sessionfinish(session, exitstatus):
    session.config.stash[STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """End a whole run once all is printed: the interpreter would take seconds to take modules and trees apart."""
    is_whole = IS_QUICK or config.option.workers
    if is_whole and "coverage" not in sys.modules:  # which writes its file later
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash.get(STATUS, pytest.ExitCode.INTERNAL_ERROR))


# Test packages whose tests share one running service for each database.
SERVED = ("api", "client", "console", "eligibility", "enrollment", "journey")
KINDS = ("sqlite", "postgresql")
NO_PARAMETERS = SimpleNamespace(params={})

# Far beyond what any test takes. A test that hangs fails with its name, and the run goes on.
TEST_SECONDS_MAX = 600


# What the running process has started.
STARTED = watch_servers()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail a test without the marker `server` that started a server or a process."""
    STARTED.clear()
    result = yield
    marked = item.nodeid.startswith(EXEMPT) or item.get_closest_marker("server")
    if STARTED and not marked and not starts_a_server(item):
        pytest.fail(f"{item.nodeid} started {STARTED[0]}, unseen by tests/server_marker.py")
    return result


def _logged_faults() -> deque[str]:
    """Return the lines that services logged during this test as a warning or worse; none if no test starts one."""
    services = sys.modules.get("tests.api.service_process")
    return services.LOGGED_FAULTS if services else deque()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Show beside a failure what the services logged: a caller of theirs learns only that there was a fault."""
    report = yield
    if report.failed and (lines := [*_logged_faults()]):
        report.sections.append(("Warnings and errors that services logged", "".join(lines)))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Interrupt a test that hangs, whether it is set up, run or torn down."""

    def interrupt(_signal, _frame):
        signal.alarm(60)  # what tidies up may hang as well
        pytest.fail(f"{item.nodeid} took more than {TEST_SECONDS_MAX} seconds")

    _logged_faults().clear()
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(TEST_SECONDS_MAX)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _limited(test):
    """Return the coroutine test with a time limit, so that it is canceled before the alarm."""

    @functools.wraps(test)
    async def limited(*args, **kwargs):
        async with asyncio.timeout(TEST_SECONDS_MAX - 10):
            return await test(*args, **kwargs)

    return limited


def pytest_collection_modifyitems(config, items):
    """Limit coroutine tests, mark those that start a server if tests are chosen by marks, group those that share one.

    The tests of a group run on one worker, so that the server they share starts once.
    """
    _leave_out_repeats(config, items)
    for item in items:
        if inspect.iscoroutinefunction(getattr(item, "obj", None)):
            item.obj = _limited(item.obj)
        if config.option.markexpr and starts_a_server(item):
            item.add_marker(pytest.mark.server)
        if config.option.markexpr and asks_a_witness(item):
            item.add_marker(pytest.mark.witness)
        # Of tests with a server `make cov` runs none.
        if config.option.markexpr and not item.get_closest_marker("server") and is_sized(item):
            item.add_marker(pytest.mark.sized)
        for marker in item.iter_markers("safe_default"):
            assert POINTS.keys() >= set(marker.args) != set(), f"{item.nodeid}: no such row"
        group = _group(item)
        if group and item.get_closest_marker("group") is None:
            item.add_marker(pytest.mark.group(group))


def _leave_out_repeats(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests with the mark `one_database` to SQLite, unless everything is tried: `make thorough`.

    In a module with this mark, a test that has SQL of its own has the mark `both_databases`. If each of its cases runs the
    same statements, the mark says `first_case=True`: the others are left to SQLite.
    """
    if IS_THOROUGH:
        return
    tried: set[str] = set()
    repeats = [item for item in items if _is_repeat(item, tried)]
    if repeats:
        config.hook.pytest_deselected(items=repeats)
        left_out = set(repeats)
        items[:] = [item for item in items if item not in left_out]


def _is_repeat(item: pytest.Item, tried: set[str]) -> bool:
    """Return whether PostgreSQL adds nothing to a test; note the names of those that it was seen with."""
    if "postgresql" not in getattr(item, "callspec", NO_PARAMETERS).params.values():
        return False
    both, test = item.get_closest_marker("both_databases"), item.nodeid.partition("[")[0]
    was_tried = test in tried
    tried.add(test)
    if both is None:
        return item.get_closest_marker("one_database") is not None
    return was_tried and bool(both.kwargs.get("first_case"))


def _group(item: pytest.Item) -> str:
    """Return what the tests share that must run on one worker; nothing where they share nothing."""
    package = item.nodeid.split("/")[1] if item.nodeid.count("/") else ""
    kind = next((kind for kind in KINDS if f"[{kind}" in item.nodeid), "")
    if package == "architecture":  # they share the syntax trees
        return package
    if package in SERVED and kind:
        return f"{package} {kind}"
    fixtures = getattr(item, "_fixtureinfo", None)
    shared = [
        name
        for name, definitions in (fixtures.name2fixturedefs.items() if fixtures else ())
        if definitions[-1].scope == "module"
    ]
    if not shared:
        return ""
    module = item.nodeid.partition(".py")[0].replace("/", ".")
    # A fixture of a module is made once for each of its parameters.
    parameters = item.callspec.indices if hasattr(item, "callspec") else {}
    return " ".join([module, *(str(parameters[name]) for name in shared if name in parameters)])


def pytest_terminal_summary(terminalreporter):
    """Print how many tests were skipped for each reason, so that a missing corpus is noticed."""
    reasons = Counter(
        report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for report in terminalreporter.getreports("skipped")
    )
    if reasons:
        terminalreporter.section("skipped, by reason")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count:6}  {reason.removeprefix('Skipped: ')}")
