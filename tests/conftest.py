"""What every test may use, and how long one may take."""

import asyncio
import functools
import inspect
import signal

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.databases"]

# A slow machine is no fault of the code: properties are not timed.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


# Whoever tests through a running service shares it with its neighbours: by room and by database.
SERVED = ("api", "client", "console", "eligibility", "enrollment", "journey")
KINDS = ("sqlite", "postgresql")

# Far beyond what any test takes. What hangs fails alone and says where; the run goes on.
TEST_SECONDS_MAX = 600


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Interrupt a test that hangs, whether it is set up, run or torn down."""

    def interrupt(_signal, _frame):
        signal.alarm(60)  # what tidies up may hang as well
        pytest.fail(f"{item.nodeid} took more than {TEST_SECONDS_MAX} seconds")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(TEST_SECONDS_MAX)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _limited(test):
    """The same coroutine test, cancelled where it waits before the alarm interrupts its loop."""

    @functools.wraps(test)
    async def limited(*args, **kwargs):
        async with asyncio.timeout(TEST_SECONDS_MAX - 10):
            return await test(*args, **kwargs)

    return limited


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Keep the tests of a group on one worker, so that the server they share starts once.

    pytest-xdist 3.8 writes the group's name into ``_nodeid``, and since 9.2 pytest reads ``_id``.
    """
    for item in items:
        if inspect.iscoroutinefunction(getattr(item, "obj", None)):
            item.obj = _limited(item.obj)
        group = _group(item.nodeid)
        if group and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    for item in items:
        grouped = vars(item).get("_nodeid")
        if grouped and item.nodeid != grouped:
            item._id = type(item._id).parse(grouped)


def _group(nodeid: str) -> str:
    """The room and the database of a test that needs a service; of others nothing."""
    room = nodeid.split("/")[1] if nodeid.count("/") else ""
    kind = next((kind for kind in KINDS if f"[{kind}" in nodeid), "")
    return f"{room} {kind}" if room in SERVED and kind else ""
