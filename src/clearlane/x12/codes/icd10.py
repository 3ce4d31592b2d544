"""Which ICD-10-CM codes exist, and which are complete enough to be billed.

The list is the plain text file in the package simple-icd-10-cm. It is read directly, without importing the package, whose
module parses a large XML file for seconds on import; ``importlib.resources`` would import it too. If the package is not
installed every function returns None.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "simple_icd_10_cm"


def exists(code: str, *, package: str = PACKAGE) -> bool | None:
    """Return whether the list has this code, with or without its dot; None if there is no list."""
    known = _codes(package)
    return None if known is None else _plain(code) in known


def is_billable(code: str, *, package: str = PACKAGE) -> bool | None:
    """Return whether the code exists and no longer code refines it; None if there is no list."""
    known = _codes(package)
    return None if known is None else known.get(_plain(code), False)


def edition(*, package: str = PACKAGE) -> str:
    """Return the edition of the list, such as ``April-2026``; empty if there is no list."""
    file = _file(package)
    return "" if file is None else file.stem.removeprefix("code-list-")


def _plain(code: str) -> str:
    return code.replace(".", "").upper()


@cache
def _codes(package: str) -> dict[str, bool] | None:
    """Return every code, and whether no other code refines it."""
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
