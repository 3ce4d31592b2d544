"""Sample files of every kind of transaction: our own in `tests/samples`, and public ones in `../shared/corpus`.

Our own are written by hand, with the invented cast, so that a checkout alone proves what the tests of samples say. A file
whose name starts with `faulty` is not clean. The public ones are never copied into the project, and
are left out where they are missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.cases import full_or_quick

OWN = Path(__file__).resolve().parent / "samples"
ROOT = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"


@dataclass(frozen=True, slots=True)
class Sample:
    """One file."""

    kind: str
    path: Path
    guide: str
    clean: bool

    def __str__(self) -> str:
        return f"{self.kind}/{self.path.name}"


@cache
def own_samples() -> tuple[Sample, ...]:
    """Return every file that is written by hand."""
    return tuple(
        Sample(path.parent.name, path, "", clean=not path.name.startswith("faulty"))
        for path in sorted(OWN.glob("*/*.x12"))
    )


@cache
def public_samples() -> tuple[Sample, ...]:
    """Return every public file that the index names; none where there is no corpus."""
    index = ROOT / "INDEX.md"
    if not index.exists():
        return ()
    found = []
    for line in index.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 7 or not (path := ROOT / cells[0] / cells[1]).is_file():
            continue
        found.append(Sample(cells[0], path, cells[5], cells[6] == "yes"))
    return tuple(found)


def samples() -> tuple[Sample, ...]:
    """Return every file, our own first."""
    return own_samples() + public_samples()


def corpus_files(*kinds: str, clean: bool | None = None) -> Sequence[object]:
    """Return parameters for ``pytest.mark.parametrize``: samples of these kinds, or of every kind.

    `make quick` takes our own, and of the public ones every third.
    """
    own, public = (
        [
            pytest.param(sample, id=str(sample))
            for sample in samples
            if (not kinds or sample.kind in kinds) and clean in (None, sample.clean)
        ]
        for samples in (own_samples(), public_samples())
    )
    assert own, f"no sample of our own of {kinds}"
    return own + public[:: full_or_quick(1, 3)]
