"""CI runs each test: one that `make test BESIDE="check cov"` leaves out is run by `make cov`, and in its full size."""

import re
import subprocess

from tests.architecture.source import ROOT
from tests.sized_marker import SIZES, _sized_names


def commands(*words: str) -> str:
    """Return what `make` would run."""
    return subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "--assume-old=.venv/.installed", *words],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_what_is_left_out_beside_cov_is_what_cov_runs():
    parts = re.findall(r'-m "([^"]*)"', commands("cov"))
    assert len(parts) > 1
    [marks] = {*parts}
    assert f'-m "not ({marks}) or sized"' in commands("test", "BESIDE=check cov")
    assert "-m" not in re.findall(r"pytest (.*)", commands("test"))[0].split()
    assert 'make test BESIDE="check cov"' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_folder_of_tests_is_in_one_part_of_cov():
    folders = {f"tests/{each.parent.name}" for each in (ROOT / "tests").glob("*/test_*.py")}
    named = re.findall(r"tests/\w+", commands("cov"))
    assert sorted(folders - {*named}) == []
    assert len(named) == len({*named})


def test_a_test_is_sized_by_what_it_or_its_fixtures_name():
    def sized(file):
        return _sized_names(ROOT / "tests" / file) - SIZES

    assert sized("architecture/test_sized_marker.py") == set()
    # By a decorator, by a constant, and by a fixture of the module whose constant it is.
    assert sized("x12/test_reformat.py") == {
        "test_a_public_file_has_the_same_segments_in_other_separators"
    }
    assert sized("claims/test_mutated_claims.py") >= {"CLAIMS", "test_every_rule_of_v3_fires_often"}
    found = sized("claims/test_file_findings.py")
    assert found >= {"both", "test_a_covered_finding_is_never_shown_beside_that_of_the_claim_rule"}
    assert "test_covered_rules_exist" not in found
    assert sized("x12/test_own_samples.py") == set(), "samples of our own are never fewer"
