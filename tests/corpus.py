"""Public sample files in `../shared/corpus`, where that folder exists.

They are never copied into the project. A test that needs them is skipped where they are missing, and the
summary of the run counts those tests.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.cases import full_or_quick

ROOT = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"
MISSING = "no public sample files: ../shared/corpus is missing"


@dataclass(frozen=True, slots=True)
class Sample:
    """One file of the corpus."""

    kind: str
    path: Path
    guide: str
    clean: bool

    def __str__(self) -> str:
        return f"{self.kind}/{self.path.name}"


@cache
def samples() -> tuple[Sample, ...]:
    """Return every file that the index names; none where there is no corpus."""
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


def corpus_files(*kinds: str, clean: bool | None = None) -> list[object]:
    """Return parameters for ``pytest.mark.parametrize``: samples of these kinds, or one that skips.

    `make quick` takes every third.
    """
    wanted = [
        pytest.param(sample, id=str(sample))
        for sample in samples()
        if (not kinds or sample.kind in kinds) and clean in (None, sample.clean)
    ][:: full_or_quick(1, 3)]
    return wanted or [pytest.param(None, marks=pytest.mark.skip(reason=MISSING))]
