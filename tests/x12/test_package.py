"""The public interface of the package: the example runs, the names exist, the import is cheap."""

import doctest
import subprocess
import sys

import pytest

from clearlane import x12


def test_the_example_of_the_package_runs():
    outcome = doctest.testmod(x12)
    assert outcome.attempted > 10
    assert outcome.failed == 0


@pytest.mark.parametrize("name", x12.__all__)
def test_every_public_name_exists(name):
    assert getattr(x12, name).__name__ == name
    assert name in dir(x12)


@pytest.mark.parametrize("module", ["ack", "build", "check", "guides", "placement", "views"])
def test_every_module_is_an_attribute(module):
    found = getattr(x12, module).__name__
    assert found.startswith("clearlane.x12.")
    assert found.endswith(f".{module}")
    assert module in dir(x12)


def test_an_unknown_name_raises():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = x12.nothing


def test_the_package_imports_nothing_before_first_use():
    program = (
        "import sys, clearlane.x12 as x12; before = [m for m in sys.modules if m.startswith('clearlane.x12.')]; "
        "x12.parse; after = 'clearlane.x12.reader.reader' in sys.modules; print(before, after)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"[]", b"True"]
