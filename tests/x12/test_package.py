"""The package as a newcomer meets it: the example runs, the names are there, the import is cheap."""

import doctest
import subprocess
import sys

import pytest

from clearlane import x12


def test_the_example_of_the_package_is_true():
    outcome = doctest.testmod(x12)
    assert outcome.attempted > 10
    assert outcome.failed == 0


@pytest.mark.parametrize("name", x12.__all__)
def test_every_public_name_is_there(name):
    assert getattr(x12, name).__name__ == name
    assert name in dir(x12)


@pytest.mark.parametrize("room", ["ack", "build", "check", "guides", "overlay", "place", "views"])
def test_every_room_is_reached_by_its_name(room):
    assert getattr(x12, room).__name__ == f"clearlane.x12.{room}"
    assert room in dir(x12)


def test_what_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = x12.nothing


def test_the_package_loads_nothing_before_it_is_asked():
    program = (
        "import sys, clearlane.x12 as x12; before = [m for m in sys.modules if m.startswith('clearlane.x12.')]; "
        "x12.parse; after = 'clearlane.x12.reader' in sys.modules; print(before, after)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"[]", b"True"]
