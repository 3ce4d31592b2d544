"""A target for atheris: whatever the bytes, the engine reports findings and writes the segments back.

    python -m pip install atheris
    python tests/fuzz/fuzz_reader.py [corpus folder]

Not part of the tests.
"""

import sys
from datetime import UTC, datetime

import atheris

with atheris.instrument_imports():
    from clearlane.x12.ack import acknowledge
    from clearlane.x12.check import check
    from clearlane.x12.reader import parse
    from clearlane.x12.writer import write

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def one_input(data: bytes) -> None:
    """Read, check, write back, acknowledge: none may raise, and writing is stable."""
    once = write(parse(data))
    assert write(parse(once)) == once
    verdict = check(data)
    assert all(finding.message for finding in verdict.findings)
    for answer in acknowledge(data, control=1, moment=NOW):
        assert not check(answer.ta1).findings


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
