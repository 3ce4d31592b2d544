"""Which ICD-10-CM codes exist, and which are complete enough to stand on a claim.

The list is the plain text file that the package simple-icd-10-cm carries. It is read directly and
without importing the package, whose own module parses a large XML file for seconds when it is imported;
``importlib.resources`` would import it too. Where the package is not installed nobody can tell, and
every answer is None.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "simple_icd_10_cm"


def exists(code: str, *, package: str = PACKAGE) -> bool | None:
    """Whether the list has this code, with or without its dot; None where there is no list."""
    known = _codes(package)
    return None if known is None else _plain(code) in known


def billable(code: str, *, package: str = PACKAGE) -> bool | None:
    """Whether the code exists and no longer code refines it; None where there is no list."""
    known = _codes(package)
    return None if known is None else known.get(_plain(code), False)


def edition(*, package: str = PACKAGE) -> str:
    """The edition of the list, such as ``April-2026``; empty where there is no list."""
    file = _file(package)
    return "" if file is None else file.stem.removeprefix("code-list-")


def _plain(code: str) -> str:
    return code.replace(".", "").upper()


@cache
def _codes(package: str) -> dict[str, bool] | None:
    """Every code, and whether it is the last of its branch."""
    file = _file(package)
    if file is None:
        return None
    # Chapters are bare numbers and blocks are ranges; the rest is in the order of the tree, so a code
    # is refined exactly when the next one begins with it.
    lines = [
        line
        for line in file.read_text(encoding="utf-8").split()
        if "-" not in line and len(line) > 2
    ]
    return {
        code: not following.startswith(code)
        for code, following in zip(lines, [*lines[1:], ""], strict=True)
    }


@cache
def _file(package: str) -> Path | None:
    spec = find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    files = (file for folder in folders for file in Path(folder, "data").glob("code-list-*.txt"))
    return max(files, default=None)
