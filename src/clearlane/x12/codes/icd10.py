"""Which ICD-10-CM codes exist, and which are complete enough to be billed.

The list is the plain text file in the package simple-icd-10-cm. It is read directly, without importing the package, whose
module parses a large XML file for seconds on import; ``importlib.resources`` would import it too. If the package is not
installed every function returns None.

The list is one edition, named by the month from which it applies: the package has CDC's release of April 2026. Editions
change on April 1 and October 1 of each year (section 1886(d)(5)(K)(vii) of the Social Security Act), so an edition ends
with the day before the next of the two. Of services after that day the list says only which codes it knows.
"""

from calendar import month_name
from datetime import date, timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "simple_icd_10_cm"
CHANGE_MONTHS = (4, 10)
MONTHS = {name: number for number, name in enumerate(month_name) if name}


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


@cache
def last_day(*, package: str = PACKAGE) -> date | None:
    """Return the last day of service that the edition of the list is for; None if there is no list."""
    month, _, year = edition(package=package).partition("-")
    if month not in MONTHS or not year.isdecimal():
        return None
    begins = date(int(year), MONTHS[month], 1)
    changes = [date(begins.year + later, at, 1) for later in (0, 1) for at in CHANGE_MONTHS]
    return next(day for day in changes if day > begins) - timedelta(days=1)


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
