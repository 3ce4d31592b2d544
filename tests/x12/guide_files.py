"""Files of claims made from the guides, as practice systems might send them: a pure function of a number.

The first files of a kind are filled nearly to the last element, so that a few of them show every loop and segment; the
others are mostly sparse. They differ in separators and line ends, in what they are for (ISA15, BHT06), and in how many
interchanges, groups, sets, providers and payers they have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from clearlane.x12.guides import by_kind
from tests.x12.samples837 import DENSITIES, Maker, Row

KINDS = ("837P", "837D")
FULL_FILES = 10
"""How many files are filled nearly to the last element."""
FULL_DENSITY = 0.95
SETS_MAX = 3
SEPARATORS = ("*:^~", "*:^~", "*>^~", "|:^~", "|^}~", "*:!'", "~|^\n", "\x1d\x1f\x1e\x1c")
LINE_ENDS = ("", "\n", "\r\n")
# A value may hold what separates in another file.
STREET, STREETS = (
    "ALDER STREET",
    ("ALDER STREET", "ALDER STREET 4:B", "ALDER * STREET", "ALDER ~ STREET"),
)
NAME, NAMES = "QUILL", ("QUILL", "quill", "Nu\u00f1ez")


@dataclass(frozen=True, slots=True)
class GuideFile:
    """A file made from a guide."""

    number: int
    kind: str
    content: bytes
    sets: tuple[tuple[Row, ...], ...]
    for_witness: bool
    """False if it may hold what pyx12 wrongly refuses."""

    @property
    def name(self) -> str:
        return f"{self.number:04}.{self.kind}"


def guide_file(number: int, payers: Mapping[str, Sequence[str]]) -> GuideFile:
    """Return the file of a number, with claims to payers of its kind."""
    rng = Random(270_000 + number)
    kind = KINDS[number % len(KINDS)]
    is_full = number < FULL_FILES
    everything = is_full or not number % 5
    # Some have little but what is required: x12sdk takes no more.
    is_lean = not everything and number % 6 == 2
    sets = []
    for at in range(1 if is_full else rng.randint(1, SETS_MAX)):
        density = FULL_DENSITY if is_full else 0.0 if is_lean else rng.choice(DENSITIES)
        own = Maker(
            rng,
            kind,
            number * SETS_MAX + at + 1,
            density,
            everything=everything,
            payers=payers[kind],
        )
        sets.append(own.claims(*((2, 1) if is_full else (rng.randint(1, 3), rng.randint(1, 2)))))
    separators, line_end = rng.choice(SEPARATORS[: 4 if is_lean else None]), rng.choice(LINE_ENDS)
    usage = "T" if rng.random() < 0.2 else "P"
    text = _interchanges(rng, kind, number, sets, usage)
    text = text.translate(str.maketrans("*:^~", separators))
    if separators[3] != "\n":
        text = text.replace(separators[3], separators[3] + line_end)
    street = rng.choice(STREETS)
    if not set(street) & set(separators):
        text = text.replace(STREET, street)
    text = text.replace(f"{NAME}{separators[0]}", f"{rng.choice(NAMES)}{separators[0]}")
    encoding = rng.choice(["utf-8", "latin-1"])
    return GuideFile(
        number, kind, text.encode(encoding), tuple(map(tuple, sets)), for_witness=not everything
    )


def _interchanges(
    rng: Random, kind: str, number: int, sets: Sequence[list[Row]], usage: str
) -> str:
    """Return the sets in one interchange or in one for each, in one group or in one for each."""
    several = len(sets) > 1 and rng.random() < 0.2
    parts = [[one] for one in sets] if several else [list(sets)]
    return "".join(
        _interchange(rng, kind, number * SETS_MAX + at, part, usage)
        for at, part in enumerate(parts, 1)
    )


def _interchange(
    rng: Random, kind: str, control: int, sets: Sequence[list[Row]], usage: str
) -> str:
    guide = by_kind(kind).id
    groups = [[one] for one in sets] if rng.random() < 0.2 else [list(sets)]
    rows: list[Row] = [
        ["ISA", "00", " " * 10, "00", " " * 10, "ZZ", "FERNHILL       ", "ZZ", "CLEARLANE      ",
         "250301", "1200", "^", "00501", f"{control:09}", rng.choice("01"), usage, ":"],
    ]  # fmt: skip
    for at, own in enumerate(groups, 1):
        group = f"{control}{at}"
        rows.append(["GS", "HC", "FERNHILL", "CLEARLANE", "20250301", "1200", group, "X", guide])
        rows += [row for one in own for row in one]
        rows.append(["GE", str(len(own)), group])
    rows.append(["IEA", str(len(groups)), f"{control:09}"])
    return "".join("*".join(row) + "~" for row in rows)
