"""Two checkouts measured in turns. Also tests `bench/__main__` and `bench/harness`."""

import shutil
import sys

import pytest

from bench.__main__ import choose
from bench.against import ROOT, Checkout, Comparison, compare, run_against
from bench.harness import Measure, parse_measure

FAMILY = """
from bench.harness import Measure, bench
from clearlane import SPEED

@bench("demo.speed")
def speed():
    yield Measure("demo.speed", SPEED, "claims/s", 2, "a peer")
    yield Measure("demo.memory", 50, "% of a core")
"""


def rates(*values: float, unit: str = "claims/s") -> tuple[Measure, ...]:
    return tuple(Measure("x", value, unit) for value in values)


@pytest.mark.parametrize(
    "measure",
    [Measure("v3.submit50", 1234, "claims/s", 0.5, "raw"), Measure("idle", 2.5, "% of a core", 1, "1000 claims")],
)  # fmt: skip
def test_a_line_is_read_as_it_was_printed(measure):
    assert parse_measure(str(measure)) == measure
    assert parse_measure(f"[1/2] {measure.name}") is None


@pytest.mark.parametrize(
    ("here", "there", "unit", "said"),
    [
        ((90, 110, 100), (100, 100, 200), "claims/s", "100 100 claims/s quotient=0.900 spread=0.600"),
        ((20, 20), (10, 10), "ms", "20 10 ms quotient=0.500 spread=0.000"),
        ((0, 0), (0, 0), "MB", "0 0 MB quotient=1.000 spread=0.000"),
    ],
)  # fmt: skip
def test_under_one_is_worse_in_rates_and_in_times(here, there, unit, said):
    found = Comparison(rates(*here, unit=unit), rates(*there, unit=unit))
    assert str(found).splitlines()[1] == f"AGAINST x {said}"


def test_rounds_alternate_and_start_with_the_other_every_second_time():
    order = []

    def side(name):
        def run(_):
            order.append(name)
            return [
                Measure("x", 1, "s", 1, "one"),
                Measure("x", 2, "s", 1, "two"),
                Measure(name, 1, "s"),
            ]

        return run  # fmt: skip

    found = [*compare("x", side("here"), side("there"), rounds=3)]
    assert order == ["here", "there", "there", "here", "here", "there"]
    # Lines of one name are told apart by their order; a line that only one side has is left out.
    assert [one.here[0].versus for one in found] == ["one", "two"]


def test_a_measurement_that_fails_is_not_compared():
    assert [*compare("x", lambda _: [Measure("x", 1, "s")], lambda _: [], rounds=3)] == []


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ([], ["v3.submit50", "v3.submit5000", "auth"]),
        (["v3.submit50"], ["v3.submit50"]),
        (["submit"], ["v3.submit50", "v3.submit5000"]),
        (["auth", "v3.submit50"], ["v3.submit50", "auth"]),
        (["nothing"], []),
    ],
)
def test_a_name_chooses_itself_before_all_that_contain_it(names, chosen):
    assert choose(names, ["v3.submit50", "v3.submit5000", "auth"]) == chosen


def checkout(folder, speed):
    """A checkout with one measurement, of how fast its own code says it is."""
    for package in ("bench", "src/clearlane"):
        (folder / package).mkdir(parents=True)
    for name in ("__init__.py", "__main__.py", "against.py", "harness.py"):
        shutil.copy(ROOT / "bench" / name, folder / "bench" / name)
    (folder / "bench/demo.py").write_text(FAMILY)
    (folder / "src/clearlane/__init__.py").write_text(f"SPEED = {speed}\n")
    return folder


@pytest.mark.server
def test_each_checkout_runs_its_own_code(tmp_path, monkeypatch, capsys):
    here, there = checkout(tmp_path / "here", 300), checkout(tmp_path / "there", 200)
    monkeypatch.setattr("bench.against.ROOT", here)
    assert run_against(there, ["demo.speed", "demo.new"], rounds=1) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "BENCH demo.speed 300 claims/s ratio=2 vs=a peer",
        "AGAINST demo.speed 300 200 claims/s quotient=1.500 spread=0.000",
        "BENCH demo.memory 50 % of a core ratio=1 vs=none",
        "AGAINST demo.memory 50 50 % of a core quotient=1.000 spread=0.000",
    ]
    assert "demo.new is not measured" in said.err


@pytest.mark.server
def test_an_environment_of_the_checkout_is_used_if_there_is_one(tmp_path):
    there = checkout(tmp_path / "there", 200)
    (there / ".venv/bin").mkdir(parents=True)
    (there / ".venv/bin/python").write_text(f'#!/bin/sh\ntouch used\nexec {sys.executable} "$@"\n')
    (there / ".venv/bin/python").chmod(0o755)
    assert Checkout(there).names() == ["demo.speed"]
    assert (there / "used").exists()
    assert Checkout(there).measure("demo.gone") == []
