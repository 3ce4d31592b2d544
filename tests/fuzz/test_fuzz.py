"""The fuzz target runs, and what it found before stays mended."""

from datetime import UTC, datetime

import pytest

from clearlane.x12.checker.ack import acknowledge
from clearlane.x12.checker.check import check
from tests.fuzz import __main__ as fuzz
from tests.fuzz.targets import TARGETS, FuzzTarget
from tests.x12.injected_faults import good

SECONDS_EACH = 0.2
FILE = "".join(row + "~\n" for row in good("837P")).encode()

# Found by fuzzing: the target, and an input on which it failed.
FOUND: list[tuple[str, bytes]] = [
    # A stray segment in a group put a note of a TA1 into AK908.
    ("acknowledger", FILE.replace(b"GS*HC", b"GS~*HC", 1)),
    # A segment id of one character left IK301 empty.
    ("acknowledger", FILE.replace(b"HL*2*1", b"L*2*1", 1)),
    # A document type that is no UTF-8 raised.
    ("claims", b'{"DocumentType": "\xff", "Claims": []}'),
]


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_was_found_stays_mended(name, data):
    TARGETS[name].run(data)


def test_a_stray_segment_in_a_group_has_no_code_of_a_group():
    (answer,) = acknowledge(
        FILE.replace(b"ST*", b"ZZ*1~ST*", 1), control=1, moment=datetime(2024, 5, 1, tzinfo=UTC)
    )
    assert b"AK9*R*1*1*0~" in answer.ack_999
    assert check(answer.ack_999).errors == 0


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_target_passes_its_seeds_and_a_short_run(name, capsys):
    for data in TARGETS[name].seeds():
        TARGETS[name].run(data)
    arguments = ["--engine", "hypothesis", "--seed", "7", "--target", name]
    assert fuzz.main([*arguments, "--seconds", str(SECONDS_EACH)]) == 0
    assert f"{name}: " in capsys.readouterr().out


def test_a_failure_is_reported_with_the_smallest_input():
    def run(data: bytes) -> None:
        assert b"\x00" not in data

    target = FuzzTarget("broken", run, lambda: (b"good",), (b"\x00",))
    with pytest.raises(AssertionError):
        fuzz.run_hypothesis(target, 5, 1)
