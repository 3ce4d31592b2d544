"""The processes in which `make test` runs the tests: nothing that goes wrong in one is lost."""

import os
import re
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT
from tests.forked_workers import in_parts

TESTS = """
    import os
    import pytest

    @pytest.fixture(scope="session")
    def shared():
        yield os.getpid()
        raise ValueError("the end of a worker")

    SEEN = set()

    @pytest.mark.group("together")
    @pytest.mark.parametrize("number", range(20))
    def test_a_group_has_one_process(number):
        SEEN.add(number)
        assert SEEN == set(range(number + 1))

    def test_a_fault_is_shown(tmp_path):
        print("what it printed")
        assert tmp_path.parent.name.startswith("worker-"), "each worker has its own files"
        assert [1, 2] == [1, 3]

    def test_a_process_dies():
        os._exit(3)

    def test_one_is_skipped():
        pytest.skip("a reason")

    def test_what_all_share_ends_badly(shared):
        assert shared == os.getpid() != int(os.environ["FIRST"])
"""


@pytest.fixture
def run(tmp_path):
    """Run tests by three workers in a new pytest, and return what it prints."""
    lines = [line[4:] for line in TESTS.splitlines()]
    (tmp_path / "test_it.py").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  group\n  slow\n", encoding="utf-8")

    def run(*options: str) -> str:
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.forked_workers", "--workers=3", "-ra", *options],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "FIRST": "0"},
        )  # fmt: skip
        assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout + ended.stderr
        return ended.stdout

    return run


def test_every_outcome_is_reported_whichever_process_it_is_in(run):
    said = run()
    assert re.search(r"= 2 failed, 21 passed, 1 skipped, 1 error in", said), said
    assert "ERROR test_it.py::test_what_all_share_ends_badly" in said
    assert "ValueError: the end of a worker" in said
    assert "FAILED test_it.py::test_a_process_dies" in said
    assert "The process of this test ended before it." in said
    assert "At index 1 diff: 2 != 3" in said
    assert "what it printed" in said
    assert re.search(r"SKIPPED \[1\] test_it.py:\d+: a reason", said)


def test_no_test_begins_after_the_last_failure_that_is_allowed(run):
    said = run("-x", "-k", "fault or skipped")
    assert re.search(r"stopping after 1 failure", said)


def test_long_groups_begin_first_and_slow_tests_before_others():
    class Item:
        def __init__(self, **markers):
            self.get_closest_marker = markers.get

    group = pytest.mark.group("a").mark
    usual, slow, one, two = Item(), Item(slow=True), Item(group=group), Item(group=group)
    assert in_parts([usual, one, slow, two]) == [[one, two], [slow], [usual]]
