"""Guards of data and access raise, so that they hold under ``python -O``, which removes assertions."""

import ast
from types import SimpleNamespace

import pytest

from clearlane.api import sandbox_endpoints
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.path_table import PathTable
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.connect.factory import open_mailbox, open_realtime
from clearlane.kernel.clock import SystemClock
from clearlane.payers.routes import RouteSecrets
from clearlane.store.database.database import MissingRow, require_row
from clearlane.wiring import installation
from tests.architecture.source import SOURCE, nodes_of
from tests.connect.invented import route

# Assertions in the packages that touch data, by module: each says what our own code, a statement that always
# returns a row, or a library makes impossible. Anything that data or a caller could bring about raises.
CANNOT_BE = {
    "store/delivery/batches.py": 1,  # INSERT ... RETURNING
    "store/vault/keys.py": 1,  # keys that the same transaction has added
    "store/delivery/routes.py": 1,  # INSERT ... RETURNING
}


def test_packages_that_touch_data_assert_only_what_cannot_be():
    found = {}
    for package in ("pipeline", "store", "connect", "api", "console", "wiring"):
        top = SOURCE / package
        for file in [top] if top.is_file() else sorted(top.rglob("*.py")):
            if count := sum(isinstance(node, ast.Assert) for node in nodes_of(file)):
                found[file.relative_to(SOURCE).as_posix()] = count
    assert found == CANNOT_BE


def a_route(kind):
    login = RouteSecrets(password="invented")
    made, secrets = route(kind, login, url="https://meadow.example/core", username="clearlane")
    return lambda opening: opening(made, secrets, clock=SystemClock())


GUARDS = {
    "a row that others refer to": (lambda: require_row(None, "a batch"), MissingRow),
    "an installation that is not open": (
        lambda: installation._require_opened(None),
        installation.InstallationNotOpen,
    ),
    "a path that hides another": (
        lambda: PathTable([("/a/b", 1), ("/A/b/", 2)]),
        ValueError,
    ),
    "real time over a route for files": (lambda: a_route("core")(open_realtime), KeyError),
    "files over a real-time route": (lambda: a_route("core-realtime")(open_mailbox), KeyError),
}


@pytest.mark.parametrize("name", GUARDS)
def test_a_guard_raises(name):
    attempt, fault = GUARDS[name]
    with pytest.raises(fault):
        attempt()


def test_what_is_there_is_returned():
    assert require_row("row", "a batch") == "row"
    assert installation._require_opened("part") == "part"


def test_sandbox_endpoints_are_not_there_without_a_sandbox():
    call = SimpleNamespace(context=SimpleNamespace(sandbox_control=None), errors=V3_ERRORS)
    with pytest.raises(RequestRefusal) as refused:
        sandbox_endpoints._control(call)
    assert refused.value.response.status_code == 404
