"""What every test may use."""

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.databases"]

# A slow machine is no fault of the code: properties are not timed.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


# Whoever tests through a running service shares it with its neighbours: by room and by database.
SERVED = ("api", "client", "console", "eligibility", "enrollment", "journey")
KINDS = ("sqlite", "postgresql")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Keep the tests of a group on one worker, so that the server they share starts once.

    pytest-xdist 3.8 writes the group's name into ``_nodeid``, and since 9.2 pytest reads ``_id``.
    """
    for item in items:
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
