"""Random, valid, richly filled sets of the guides other than claims, made by walking the guides.

A pure function of a ``random.Random``. The guide decides what is allowed where; the tables here define what
sensible values are, and a few plans keep the parts of a set in agreement: amounts that balance, levels
that count, verdicts that follow from what they are made of.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta
from random import Random
from typing import Any

from clearlane.kernel.finding import Finding
from clearlane.x12 import codes
from clearlane.x12.grammar import ElementSpec, LoopSpec, SegmentSpec
from clearlane.x12.guides import by_kind
from clearlane.x12.reader.reader import SetClosed, parse, read
from tests.x12.findings_of import all_findings

Row = list[str]
Avoid = Mapping[str, Iterable[str] | int | None]
"""What a witness cannot take, by place (``2110C/EB/09``, ``EB/03``, ``2110C/III``, ``2100C``): codes not to
use, how often at most, or None for never. ``SVC/07!`` is an element that it cannot miss; ``2200D+2000E``
keeps two loops from occurring together."""

PEOPLE = [("ARDEN", "ROSA"), ("ARDEN", "MILO"), ("LUND", "IVO"), ("QUILL", "TESSA")]
PLACES = ["FERNHILL FAMILY PRACTICE", "LARKSPUR DENTAL"]
PAYERS = ["MEADOW MUTUAL", "HARBOR HEALTH PLAN", "SUMMIT DENTAL"]
WORDS = ["PLAN", "VISIT", "COVERED", "AFTER", "APPROVAL", "ONCE", "A", "YEAR", "SEE", "BOOK"]
CITIES = [
    ("PORTLAND", "OR", "972011234"),
    ("MADISON", "WI", "537031020"),
    ("AUSTIN", "TX", "787010042"),
]
NPIS = ["1234567893", "1679576722", "1245319599"]
ORGANIZATIONS = {"PR", "PRP", "SEP", "TTP", "TT", "36", "2B", "GP", "P5", "80", "FA"}
REASONS = {
    "CO": ["45", "97", "253", "24"],
    "PR": ["1", "2", "3", "66"],
    "OA": ["94", "100", "23", "102"],
    "PI": ["95", "150", "204", "50"],
}
REMARKS = ["M15", "N130", "MA01", "N19", "M80"]
STATUSES = ["20", "65", "107", "3"]
ENTITIES = tuple(codes.load("entities"))
DRUG_STATUSES = ["75", "70", "79"]
ACCEPTING, REFUSING = ["A1", "A2"], ["A3", "A7"]
FIRST_DAY = date(2023, 1, 2)


def made(
    rng: Random, kind: str, *, number: int = 1, fill: float = 0.7, avoid: Avoid | None = None
) -> list[Row]:
    """One transaction set, ST to SE. ``fill`` is how likely a situational part is there."""
    return Maker(rng, kind, number, fill, avoid or {}).whole()


def interchange(kind: str, sets: list[list[Row]]) -> str:
    """An interchange of one group around some transaction sets."""
    guide = by_kind(kind)
    head = [
        "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240501*1200*^*00501*000000017*0*T*:",
        f"GS*{guide.functional_id}*SENDER*RECEIVER*20240501*1200*17*X*{guide.id}",
    ]
    tail = [f"GE*{len(sets)}*17", "IEA*1*000000017"]
    rows = ["*".join(row) for rows in sets for row in rows]
    return "~\n".join([*head, *rows, *tail]) + "~\n"


class Maker:
    """Makes one set."""

    def __init__(self, rng: Random, kind: str, number: int, fill: float, avoid: Avoid) -> None:
        self.rng = rng
        self.kind = kind
        self.number = number
        self.fill = fill
        self.avoid = avoid
        self.guide = by_kind(kind)
        self.level = 0
        self.count = 0
        self.plan: dict[str, Any] = {}  # what a guide has: each kind of set plans other things
        self.rows: list[Row] = []

    def whole(self) -> list[Row]:
        """The rows of the set, ST to SE."""
        self.rows = list(self.loop(self.guide.root, ""))
        FINISH.get(self.kind, lambda maker: None)(self)
        self.rows[-1] = ["SE", str(len(self.rows)), f"{self.number:04}"]
        return [trimmed(row) for row in self.rows]

    # The walk.

    def loop(self, node: LoopSpec, parent: str) -> Iterator[Row]:
        BEFORE.get((self.kind, node.id), lambda maker: None)(self)
        head: Row | None = None
        below = False
        for child in node.children:
            if isinstance(child, SegmentSpec):
                for row in self.segment(child, node.id):
                    if row[0] == "HL":
                        self.level += 1
                        row[1], row[2] = str(self.level), parent
                        head = row
                    yield row
            else:
                mine = head[1] if head else parent
                for _ in range(self.times(child, child.id)):
                    below = below or child.head.id == "HL"
                    yield from self.loop(child, mine)
        if head is not None and node.head.elements[3].usage != "N":
            head[4] = "1" if below else "0"

    def times(self, node: LoopSpec | SegmentSpec, place: str) -> int:
        """How often a part occurs here."""
        most = self.avoid.get(place, 3)
        if most is None:
            return 0
        most = most if isinstance(most, int) else 3
        wanted = COUNTS.get((self.kind, place))
        if wanted is not None:
            return min(wanted(self), most)
        if node.usage == "S" and self.rng.random() > self.fill:
            return 0
        return self.rng.randint(1, min(node.repeat or 3, most))

    def segment(self, node: SegmentSpec, loop: str) -> Iterator[Row]:
        special = ROWS.get((self.kind, f"{loop}/{node.id}"))
        if special is not None:
            yield from special(self, node, loop)
            return
        place = f"{loop}/{node.id}"
        keys = list(node.qualifiers)
        self.rng.shuffle(keys)
        banned = self.banned(loop, node.id, node.key[0])
        keys = [key for key in keys if key not in banned]
        times = self.times(node, place)
        for nth in range(min(times, len(keys)) if node.key[0] and keys else times):
            row = self.filled(node, loop)
            if keys:
                put(row, node.key, keys[nth])
            EDITS.get(node.id, lambda maker, row, loop: None)(self, row, loop)
            yield row

    def banned(self, loop: str, id: str, number: int) -> set[str]:
        found: set[str] = set()
        for place in (f"{id}/{number:02}", f"{loop}/{id}/{number:02}"):
            given = self.avoid.get(place)
            found |= set(given) if given and not isinstance(given, int) else set()
        return found

    def empty(self, loop: str, id: str, number: int) -> bool:
        places = (f"{id}/{number:02}", f"{loop}/{id}/{number:02}")
        return any(place in self.avoid and self.avoid[place] is None for place in places)

    def needed(self, loop: str, id: str, number: int) -> bool:
        return f"{id}/{number:02}!" in self.avoid or f"{loop}/{id}/{number:02}!" in self.avoid

    # Elements.

    def filled(self, node: SegmentSpec, loop: str) -> Row:
        used = {e.number for e in node.elements if e.usage != "N"}
        must = {e.number for e in node.elements if e.usage == "R"}
        must |= {n for n in used if self.needed(loop, node.id, n)}
        there = must | {
            n for n in used if self.rng.random() < self.fill and not self.empty(loop, node.id, n)
        }
        usable = used - {n for n in used if self.empty(loop, node.id, n)}
        # A segment without elements would be left out.
        there = settled(there or set(sorted(usable)[:1]), node.syntax, usable, must)
        row = [node.id] + [""] * len(node.elements)
        for element in node.elements:
            if element.number in there:
                row[element.number] = self.value(node, loop, element, row)
        return row

    def value(self, node: SegmentSpec, loop: str, element: ElementSpec, row: Row) -> str:
        for place in (f"{loop}/{node.id}{element.number:02}", f"{node.id}{element.number:02}"):
            if place in VALUES:
                return VALUES[place](self)
        if element.components:
            return self.composite(element)
        times = self.rng.randint(1, min(element.repeat, 3))
        banned = self.banned(loop, node.id, element.number)
        return "^".join(dict.fromkeys(self.plain(element, row, banned) for _ in range(times)))

    def composite(self, element: ElementSpec) -> str:
        parts = [""] * len(element.components)
        for part in element.components:
            if part.usage == "R" or (part.usage == "S" and self.rng.random() < 0.5):
                parts[part.number - 1] = self.plain(part, parts, set())
        return ":".join(trimmed(parts))

    def plain(self, element: ElementSpec, before: Row, banned: set[str]) -> str:
        allowed = [code for code in element.codes if code not in banned]
        if allowed:
            return self.rng.choice(allowed)
        if element.code_list:
            return LISTED[element.code_list](self)
        return TYPES[element.type](self, element, before)

    # Values.

    def day(self) -> str:
        return f"{FIRST_DAY + timedelta(days=self.rng.randrange(400)):%Y%m%d}"

    def text(self, low: int, high: int) -> str:
        size = self.rng.randint(low, max(low, min(high, 12)))
        return "".join(self.rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(size))

    def words(self, high: int) -> str:
        return " ".join(self.rng.sample(WORDS, 3))[:high].strip()

    def money(self, low: int = 100, high: int = 90_000) -> str:
        return amount(self.rng.randrange(low, high))

    def fresh(self) -> str:
        self.count += 1
        return f"T{self.number}X{self.count:05}"


def settled(there: set[int], notes: Iterable[str], usable: set[int], must: set[int]) -> set[int]:
    """The elements that are there, changed until the syntax notes hold."""
    for _ in range(4):
        for note in notes:
            kind, numbers = note[0], [int(n) for n in re.findall(r"\d\d", note)]
            found = [n for n in numbers if n in there]
            if kind == "P" and found and len(found) < len(numbers):
                there = (
                    there | set(numbers) if set(numbers) <= usable else there - set(numbers) | must
                )
            elif kind == "R" and not found:
                there = there | set([n for n in numbers if n in usable][:1])
            elif kind == "E" and len(found) > 1:
                there = there - set(found[1:])
            elif kind == "C" and numbers[0] in there and len(found) < len(numbers):
                there = (
                    there | set(numbers) if set(numbers) <= usable else there - {numbers[0]} | must
                )
            elif kind == "L" and found == numbers[:1]:
                rest = [n for n in numbers[1:] if n in usable]
                there = there | set(rest[:1]) if rest else there - {numbers[0]}
    return there


def trimmed(row: Row) -> Row:
    """The row without empty elements at its end."""
    size = len(row)
    while size > 1 and not row[size - 1]:
        size -= 1
    return row[:size]


def put(row: Row, key: tuple[int, int], code: str) -> None:
    number, component = key
    if not component:
        row[number] = code
        return
    parts = row[number].split(":")
    parts[component - 1] = code
    row[number] = ":".join(parts)


def amount(cents: int) -> str:
    """Cents as X12 writes money: no trailing zeros."""
    sign, cents = ("-", -cents) if cents < 0 else ("", cents)
    whole, part = divmod(cents, 100)
    return sign + (f"{whole}.{part:02}".rstrip("0") if part else str(whole))


# What fits where: by type, by list, and by place.

TYPES: dict[str, Callable[[Maker, ElementSpec, Row], str]] = {
    "AN": lambda m, e, row: m.text(e.min, e.max),
    "ID": lambda m, e, row: m.text(e.min, e.max),
    "R": lambda m, e, row: m.money() if e.max == 18 else str(m.rng.randint(1, 9)),
    "N0": lambda m, e, row: str(m.rng.randint(1, 9)),
    "DT": lambda m, e, row: m.day(),
    "TM": lambda m, e, row: "1230",
    "TP": lambda m, e, row: period(m, row[e.number - 1]),
}
LISTED: dict[str, Callable[[Maker], str]] = {
    "carc": lambda m: "45",
    "countries": lambda m: "CA",
    "currencies": lambda m: m.rng.choice(["CAD", "EUR", "GBP", "JPY", "USD"]),
    "entities": lambda m: m.rng.choice(ENTITIES),
    "places_of_service": lambda m: m.rng.choice(["11", "12", "21", "22", "99"]),
    "states": lambda m: "OR",
    "status_categories": lambda m: m.rng.choice(["F1", "F2", "P1", "E0"]),
    "statuses": lambda m: m.rng.choice(STATUSES),
}
VALUES: dict[str, Callable[[Maker], str]] = {
    "BHT03": lambda m: m.fresh(),
    "BPR10": lambda m: "1123456789",
    "EB05": lambda m: m.words(50),
    "EB08": lambda m: m.rng.choice(["0", "0.2", ".15", "1"]),
    "EB13": lambda m: "HC:99213:25",
    "EB14": lambda m: "1",
    "EQ02": lambda m: "HC:99213:25",
    "EQ05": lambda m: "1",
    "2100C/HI01": lambda m: m.rng.choice(["ABK:E119", "ABK:I10"]),
    "2100D/HI01": lambda m: m.rng.choice(["ABK:E119", "ABK:I10"]),
    "MPI04": lambda m: m.words(80),
    "MSG01": lambda m: m.words(264),
    "N301": lambda m: "12 ELM STREET",
    "N302": lambda m: "SUITE 5",
    "N102": lambda m: m.rng.choice(PAYERS),
    "RDM03": lambda m: "PO BOX 12",
    "STC12": lambda m: m.words(264),
    "TRN02": lambda m: m.fresh(),
    "TRN03": lambda m: "1123456789",
    "TS302": lambda m: "11",
    **{
        f"HI{n:02}": lambda m: m.rng.choice(["ABF:J0190", "ABF:M545", "ABF:R51"])
        for n in range(2, 13)
    },
}


def period(maker: Maker, form: str) -> str:
    first, last = sorted((maker.day(), maker.day()))
    return f"{first}-{last}" if form == "RD8" else first


def edit_nm1(maker: Maker, row: Row, loop: str) -> None:
    person = row[2] == "1"
    if row[1] in ORGANIZATIONS and maker.kind not in {"270", "271"}:
        person = person and row[1] not in ORGANIZATIONS
    last, first = maker.rng.choice(PEOPLE)
    if row[3] or maker.kind in {"270", "271", "276", "277", "277CA"}:
        row[3] = last if person else maker.rng.choice(PAYERS if row[1] in {"PR", "TT"} else PLACES)
    row[4] = first if person else ""
    row[5] = "Q" if person and row[5] else ""
    row[7] = "JR" if person and row[7] else ""
    if row[8] == "XX":
        row[9] = maker.rng.choice(NPIS)
    elif row[8]:
        row[9] = maker.rng.choice(["123456789", "987654321"])


def edit_n1(maker: Maker, row: Row, loop: str) -> None:
    row[2] = maker.rng.choice(PLACES if row[1] == "PE" else PAYERS)
    if row[3] == "XX":
        row[4] = maker.rng.choice(NPIS)


def edit_n4(maker: Maker, row: Row, loop: str) -> None:
    row[1], row[2], row[3] = maker.rng.choice(CITIES)
    row[4] = row[7] = ""
    if row[5]:
        row[6] = "1"


def edit_per(maker: Maker, row: Row, loop: str) -> None:
    row[2] = "CLAIMS DESK" if row[2] else ""
    if maker.kind == "835" and row[1] != "IC" and not row[3]:
        row[3], row[4] = "TE", ""
    used: set[str] = set()
    for at in (3, 5, 7):
        if row[at] in used or (row[at] == "EX" and row[at - 2] not in {"TE", "WP"}):
            row[at] = ""
        if not row[at]:
            row[at : at + 2] = ["", ""]
        used.add(row[at])
        row[at + 1] = {"": "", "EM": "DESK@EXAMPLE.COM", "UR": "WWW.EXAMPLE.COM", "EX": "123"}.get(
            row[at], "5035550142"
        )
    # What was emptied leaves no gap.
    pairs = [row[at : at + 2] for at in (3, 5, 7) if row[at]]
    row[3:9] = [part for pair in pairs for part in pair] + [""] * (6 - 2 * len(pairs))


def edit_prv(maker: Maker, row: Row, loop: str) -> None:
    if row[2] == "PXC":
        row[3] = "207Q00000X"
    elif row[2] == "HPI":
        row[3] = NPIS[0]


def edit_dmg(maker: Maker, row: Row, loop: str) -> None:
    row[1], row[2] = "D8", "19800229"


EDITS: dict[str, Callable[[Maker, Row, str], None]] = {
    "DMG": edit_dmg,
    "N1": edit_n1,
    "N4": edit_n4,
    "NM1": edit_nm1,
    "PER": edit_per,
    "PRV": edit_prv,
}

# Special rows, counts and plans, kind by kind.

ROWS: dict[tuple[str, str], Callable[[Maker, SegmentSpec, str], Iterator[Row]]] = {}
COUNTS: dict[tuple[str, str], Callable[[Maker], int]] = {}
BEFORE: dict[tuple[str, str], Callable[[Maker], None]] = {}
FINISH: dict[str, Callable[[Maker], None]] = {}


def header(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = ["ST", maker.guide.transaction, f"{maker.number:04}"]
    yield row if maker.kind == "835" else [*row, maker.guide.id]


def always(maker: Maker) -> int:
    return 1


def never(maker: Maker) -> int:
    return 0


def some(maker: Maker) -> int:
    return maker.rng.randint(1, 3)


for _kind in ("270", "271", "276", "277", "277CA", "835", "999"):
    ROWS[_kind, f"{by_kind(_kind).root.id}/ST"] = header
for _kind in ("270", "271", "276", "277", "277CA"):
    for _level in ("2000A", "2000B"):
        COUNTS[_kind, _level] = always

# Eligibility: a member number, a name and a birth date; a patient is answered or refused, not both.


def patient_of_270(maker: Maker) -> None:
    maker.plan["dependents"] = maker.rng.choice([0, 0, 1, 2])


def with_dependents(maker: Maker, both: str) -> int:
    """How often a subscriber has what the dependents have too."""
    if maker.plan["dependents"]:
        return 0 if both in maker.avoid else maker.rng.randint(0, 2)
    return maker.rng.randint(1, 2)


COUNTS["270", "2000C"] = some
BEFORE["270", "2000C"] = patient_of_270
COUNTS["270", "2000D"] = lambda m: int(m.plan["dependents"])
COUNTS["270", "2110C"] = lambda m: with_dependents(m, "2110C+2000D")
COUNTS["270", "2110D"] = some
COUNTS["270", "2100D/INS"] = always
for _loop in ("2100C", "2100D"):
    for _kind in ("270", "271"):
        COUNTS[_kind, f"{_loop}/DMG"] = always
        COUNTS[_kind, f"{_loop}/HI"] = always


def named(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    last, first = maker.rng.choice(PEOPLE)
    row[2:5] = ["1", last, first]
    row[5] = "Q" if row[5] else ""
    if loop == "2100C":
        row[8:10] = [maker.rng.choice(["MI", "II"]), "W123456789"]
    yield row


def inquired(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    if row[1] and row[2]:
        row[maker.rng.choice([1, 2])] = ""
    yield row


for _kind in ("270", "271"):
    for _loop in ("2100C", "2100D"):
        ROWS[_kind, f"{_loop}/NM1"] = named
for _loop in ("2110C", "2110D"):
    ROWS["270", f"{_loop}/EQ"] = inquired


def subscriber_of_271(maker: Maker) -> None:
    maker.plan["subscriber"] = True
    maker.plan["refused"] = maker.rng.random() < 0.2


def dependent_of_271(maker: Maker) -> None:
    maker.plan["subscriber"] = False
    maker.plan["refused"] = maker.rng.random() < 0.2


def benefit_of_271(maker: Maker) -> None:
    maker.plan["parties"] = maker.rng.random() < maker.fill


def benefits_of_271(maker: Maker) -> int:
    if maker.plan["refused"]:
        return 0
    # A refused subscriber has no dependents here; one whose dependents answer may be silent.
    alone = maker.plan["dependents"] and maker.plan["subscriber"] and "2110C+2000D" in maker.avoid
    return 0 if alone else maker.rng.randint(1, 3)


def benefit(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    if row[1] == "A":
        row[7], row[8] = "", "0.2"
    elif row[1] in "BCGJY" or row[7]:
        row[7], row[8] = maker.money(), ""
    yield row


def refusal(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    for _ in range(maker.rng.randint(0, 2) if not maker.plan.get("refused") else 1):
        row = maker.filled(node, loop)
        row[1] = "N" if maker.plan.get("refused") else "Y"
        yield row


def source_refusal(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    for _ in range(maker.rng.randint(0, 2)):
        row = maker.filled(node, loop)
        row[1] = "Y"
        yield row


COUNTS["271", "2000C"] = some
BEFORE["271", "2000C"] = patient_of_270
COUNTS["271", "2000D"] = COUNTS["270", "2000D"]
ROWS["271", "2000A/AAA"] = source_refusal
for _letter in "CD":
    BEFORE["271", f"2100{_letter}"] = subscriber_of_271 if _letter == "C" else dependent_of_271
    BEFORE["271", f"2110{_letter}"] = benefit_of_271
    COUNTS["271", f"2110{_letter}"] = benefits_of_271
    COUNTS["271", f"2110{_letter}/LS"] = lambda m: int(bool(m.plan["parties"]))
    COUNTS["271", f"2110{_letter}/LE"] = lambda m: int(bool(m.plan["parties"]))
    COUNTS["271", f"2120{_letter}"] = lambda m: m.rng.randint(1, 3) if m.plan["parties"] else 0
    ROWS["271", f"2100{_letter}/AAA"] = refusal
    ROWS["271", f"2110{_letter}/EB"] = benefit

# Claim status.


def patient_of_276(maker: Maker) -> None:
    maker.plan["dependents"] = maker.rng.choice([0, 0, 1, 2])


def once_named(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    last, first = maker.rng.choice(PEOPLE)
    row[2:5] = ["1", last, first]
    row[5] = "Q" if row[5] else ""
    if row[8]:
        row[9] = "W123456789"
    yield row


for _kind in ("276", "277"):
    BEFORE[_kind, "2000D"] = patient_of_276
    COUNTS[_kind, "2000C"] = some
    COUNTS[_kind, "2000D"] = some
    COUNTS[_kind, "2000E"] = lambda m: int(m.plan["dependents"])
    COUNTS[_kind, "2200D"] = lambda m: with_dependents(m, "2200D+2000E")
    for _loop in ("2100D", "2100E"):
        ROWS[_kind, f"{_loop}/NM1"] = once_named
for _loop in ("2000D/DMG", "2200D/DTP", "2200E/DTP"):
    COUNTS["276", _loop] = always


def line(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    row[1] = maker.rng.choice(["HC:99213:25", "AD:D1110", "N4:00093721410", "NU:0450"])
    yield row


def status(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    """Statuses that name whom they are about."""
    for _ in range(maker.times(node, f"{loop}/STC")):
        row = maker.filled(node, loop)
        for at in (1, 10, 11):
            if not row[at]:
                continue
            parts = node.elements[at - 1].components
            entities = parts[2].codes or ENTITIES
            category = maker.rng.choice(["F1", "F2", "P1", "E0"])
            if parts[3].usage == "S" and maker.rng.random() < 0.2:
                row[at] = f"{category}:{maker.rng.choice(DRUG_STATUSES)}::RX"
            else:
                row[at] = (
                    f"{category}:19:{maker.rng.choice(entities)}"
                    if maker.rng.random() < 0.5
                    else f"{category}:65"
                )
        if row[9]:
            row[8] = row[8] or maker.day()
        yield row


for _loop in ("2200B", "2200C", "2200D", "2200E", "2220D", "2220E"):
    ROWS["277", f"{_loop}/STC"] = status
for _kind, _loops in (
    ("276", ("2210D", "2210E")),
    ("277", ("2220D", "2220E")),
    ("277CA", ("2220D",)),
):
    for _loop in _loops:
        ROWS[_kind, f"{_loop}/SVC"] = line


def verdict(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    """A verdict whose action agrees with its category."""
    for _ in range(maker.times(node, f"{loop}/STC")):
        row = maker.filled(node, loop)
        refuses = maker.rng.random() < 0.4 or loop == "2220D"
        row[3] = "U" if refuses else "WQ"
        for at in (1, 10, 11):
            if row[at]:
                entity = maker.rng.choice(node.elements[at - 1].components[2].codes or ENTITIES)
                row[at] = f"{maker.rng.choice(REFUSING if refuses else ACCEPTING)}:19:{entity}"
        yield row


def billing_level(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    row[1] = "85"
    edit_nm1(maker, row, loop)
    yield row


def patient_level(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    row[1] = "QC"
    edit_nm1(maker, row, loop)
    yield row


def patient_hl(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    yield ["HL", "", "", "PT", ""]


for _loop in ("2200B", "2200C", "2200D", "2220D"):
    ROWS["277CA", f"{_loop}/STC"] = verdict
ROWS["277CA", "2100C/NM1"] = billing_level
ROWS["277CA", "2100D/NM1"] = patient_level
ROWS["277CA", "2000D/HL"] = patient_hl
COUNTS["277CA", "2200A"] = always
COUNTS["277CA", "2200D/DTP"] = always
COUNTS["277CA", "2200B"] = always
COUNTS["277CA", "2000C"] = some
COUNTS["277CA", "2000D"] = some


def finish_277ca(maker: Maker) -> None:
    """Totals that are those of the claims: a receiver's and a provider's."""
    heads = [at for at, row in enumerate(maker.rows) if row[0] == "HL"]
    claims = [(at, *claim) for at in heads for claim in claims_of_277ca(maker.rows, at, heads)]
    for at, row in enumerate(maker.rows):
        if row[0] not in {"QTY", "AMT"}:
            continue
        own = max(head for head in heads if head < at)
        next_provider = next(
            (h for h in heads if h > own and maker.rows[h][3] == "19"), len(maker.rows)
        )
        end = len(maker.rows) if maker.rows[own][3] == "21" else next_provider
        refused = row[1] in {"AA", "QC", "YY"}
        mine = [cents for head, no, cents in claims if own < head < end and no is refused]
        row[2] = str(len(mine)) if row[0] == "QTY" else amount(sum(mine))


def claims_of_277ca(rows: list[Row], at: int, heads: list[int]) -> Iterator[tuple[bool, int]]:
    """Each claim of a patient level: whether it is refused, and its charge."""
    end = min((head for head in heads if head > at), default=len(rows))
    claim: list[Row] = []
    of_line = False
    for row in [*(rows[at:end] if rows[at][3] == "PT" else []), ["TRN"]]:
        if row[0] == "TRN" and claim:
            yield any(stc[3] == "U" for stc in claim), cents_of(claim[0][4])
            claim = []
        of_line = row[0] == "SVC" or (of_line and row[0] != "TRN")
        if row[0] == "STC" and not of_line:
            claim.append(row)


FINISH["277CA"] = finish_277ca

# Remittances: a plan a claim holds its lines, each with a charge and adjustments; what is left is paid.


def adjusted(maker: Maker, most: int) -> dict[str, list[tuple[str, int]]]:
    """Adjustments by group, together at most ``most`` cents."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for group in maker.rng.sample(sorted(REASONS), maker.rng.randint(0, 3)):
        reasons = maker.rng.sample(REASONS[group], maker.rng.randint(1, 4))
        groups[group] = [(reason, maker.rng.randint(1, max(1, most // 16))) for reason in reasons]
    return groups


def total(groups: dict[str, list[tuple[str, int]]], group: str = "") -> int:
    return sum(cents for name, parts in groups.items() if group in {"", name} for _, cents in parts)


def claim_of_835(maker: Maker) -> None:
    lines: list[dict[str, Any]] = [
        {"charge": maker.rng.randrange(1_000, 50_000)} for _ in range(maker.rng.randint(0, 3))
    ]
    for one in lines:
        one["groups"] = adjusted(maker, one["charge"])
    charge = sum(one["charge"] for one in lines) or maker.rng.randrange(1_000, 50_000)
    groups = adjusted(maker, charge // 4)
    taken = total(groups) + sum(total(one["groups"]) for one in lines)
    share = total(groups, "PR") + sum(total(one["groups"], "PR") for one in lines)
    maker.plan["claim"] = {
        "charge": charge,
        "paid": charge - taken,
        "share": share,
        "groups": groups,
        "number": maker.fresh(),
    }
    maker.plan["lines"] = lines


def line_of_835(maker: Maker) -> None:
    maker.plan["line"] = maker.plan["lines"].pop()


def claim_row(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row, plan = maker.filled(node, loop), maker.plan["claim"]
    row[1], row[2] = plan["number"], maker.rng.choice(["1", "2", "3", "19"])
    row[3], row[4], row[5] = amount(plan["charge"]), amount(plan["paid"]), amount(plan["share"])
    row[5] = "" if row[5] == "0" else row[5]
    yield row


def line_row(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row, plan = maker.filled(node, loop), maker.plan["line"]
    row[1] = maker.rng.choice(["HC:99213:25", "AD:D1110", "NU:0450"])
    row[6] = "HC:99214" if row[6] else ""
    row[2], row[3] = amount(plan["charge"]), amount(plan["charge"] - total(plan["groups"]))
    yield row


def adjustment_rows(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    plan = maker.plan["claim" if loop == "2100" else "line"]
    for group, parts in plan["groups"].items():
        row = ["CAS", group]
        for reason, cents in parts:
            row += [reason, amount(cents), maker.rng.choice(["", "1"])]
        yield trimmed(row)


def dates(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    """A period with both ends, or one date."""
    first, last = sorted((maker.day(), maker.day()))
    if loop == "2100":
        if "232" in node.qualifiers:
            yield ["DTM", "232", first]
            yield ["DTM", "233", last]
        elif maker.rng.random() < maker.fill:
            yield ["DTM", node.qualifiers[0], first]
    elif maker.rng.random() < 0.5:
        yield ["DTM", "472", first]
    else:
        yield ["DTM", "150", first]
        yield ["DTM", "151", last]


def remark(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    for _ in range(maker.times(node, f"{loop}/LQ")):
        yield maker.rng.choice([["LQ", "HE", maker.rng.choice(REMARKS)], ["LQ", "RX", "75"]])


def remarks_in(*places: int) -> Callable[[Maker, SegmentSpec, str], Iterator[Row]]:
    def rows(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
        for _ in range(maker.times(node, f"{loop}/{node.id}")):
            row = maker.filled(node, loop)
            for at in places:
                row[at] = maker.rng.choice(REMARKS) if row[at] else ""
            if node.id == "MOA":
                row[1] = "0.5" if row[1] else ""
                if not any(row[1:]):
                    row[3] = "MA01"
            yield row

    return rows


def finish_835(maker: Maker) -> None:
    """The sums of providers, interest and the check."""
    match_interest(maker.rows)
    paid = charged = claims = 0
    summary: Row | None = None
    withheld = 0
    for row in maker.rows:
        if row[0] == "LX":
            summary, charged, claims = None, 0, 0
        elif row[0] == "TS3":
            summary = row
        elif row[0] == "CLP":
            paid += cents_of(row[4])
            charged, claims = charged + cents_of(row[3]), claims + 1
            if summary:
                summary[4], summary[5] = str(claims), amount(charged)
        elif row[0] == "PLB":
            withheld += sum(cents_of(text) for text in row[4 : len(row) : 2] if text)
    bpr = next(row for row in maker.rows if row[0] == "BPR")
    bpr[2] = amount(paid - withheld)
    if bpr[4] == "NON" or bpr[1] == "H":
        bpr[1], bpr[4] = "I", "CHK"
    if bpr[4] in {"ACH", "BOP", "FWT"}:
        bpr[5:16] = [
            "CCP" if bpr[4] == "ACH" else "",
            "01",
            "123456780",
            "DA",
            "4455",
            "1123456789",
            "",
            "01",
            "987654320",
            "DA",
            "6677",
        ]
    else:
        bpr[5:16] = [""] * 11


def match_interest(rows: list[Row]) -> None:
    """Let one PLB amount of L6 pay the interest of the claims (AMT*I); without one of both, there is none."""
    claims = [row for row in rows if row[:2] == ["AMT", "I"]]
    interest = sum(cents_of(row[2]) for row in claims)
    places = [
        (row, at)
        for row in rows
        if row[0] == "PLB"
        for at in range(3, len(row), 2)
        if row[at].startswith("L6")
    ]
    if interest and places:
        row, at = places.pop(0)
        row[at + 1] = amount(-interest)
    else:
        for row in claims:
            row[1] = "AU"
    for row, at in places:
        row[at] = row[at].replace("L6", "WO", 1)


def cents_of(text: str) -> int:
    whole, _, part = text.lstrip("-").partition(".")
    return (-1 if text.startswith("-") else 1) * (int(whole) * 100 + int(part.ljust(2, "0") or 0))


def provider_row(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    for _ in range(maker.times(node, f"{loop}/PLB")):
        row = ["PLB", NPIS[0], "20231231"]
        for _ in range(maker.rng.randint(1, 6)):
            reason = maker.rng.choice(node.elements[2].components[0].codes)
            row += [f"{reason}:{maker.text(3, 20)}", amount(maker.rng.randint(1, 40))]
        yield row


def heading(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    maker.count += 1
    yield ["LX", str(maker.count)]


BEFORE["835", "2100"] = claim_of_835
BEFORE["835", "2110"] = line_of_835
COUNTS["835", "2000"] = some
COUNTS["835", "2100"] = some
COUNTS["835", "2110"] = lambda m: len(m.plan["lines"])
ROWS["835", "2000/LX"] = heading
ROWS["835", "2100/CLP"] = claim_row
ROWS["835", "2110/SVC"] = line_row
ROWS["835", "835/PLB"] = provider_row
ROWS["835", "2110/LQ"] = remark
ROWS["835", "2100/MIA"] = remarks_in(5, 20, 21, 22, 23)
ROWS["835", "2100/MOA"] = remarks_in(3, 4, 5, 6, 7)
for _loop in ("2100", "2110"):
    ROWS["835", f"{_loop}/CAS"] = adjustment_rows
    ROWS["835", f"{_loop}/DTM"] = dates
FINISH["835"] = finish_835

# Acknowledgements: a verdict that follows from the reported errors.


def set_of_999(maker: Maker) -> None:
    maker.plan["errors"] = maker.rng.choice([0, 0, 1, 2])


def segment_of_999(maker: Maker) -> None:
    maker.plan["elements"] = maker.rng.choice([0, 1, 2])


def error_row(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    error = (
        "8"
        if maker.plan["elements"]
        else maker.rng.choice([code for code in node.elements[3].codes if code != "8"])
    )
    yield [
        "IK3",
        maker.rng.choice(["CLM", "NM1", "REF"]),
        str(maker.rng.randint(3, 400)),
        maker.rng.choice(["", "2300", "2400"]),
        error,
    ]


def element_row(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    row = maker.filled(node, loop)
    row[1] = maker.rng.choice(["2", "5:3", "1::2"])
    row[2] = "127" if row[2] else ""
    yield row


def context_row(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    if "CLM01" in node.qualifiers:
        if not maker.plan["context"] and maker.rng.random() < maker.fill:
            yield ["CTX", f"{maker.rng.choice(node.qualifiers)}:{maker.fresh()}"]
        return
    times = maker.times(node, f"{loop}/CTX")
    maker.plan["context"] = times and "2100/CTX+CTX" in maker.avoid
    for _ in range(times):
        yield trimmed(
            [
                "CTX",
                "SITUATIONAL TRIGGER",
                "CLM",
                str(maker.rng.randint(3, 400)),
                maker.rng.choice(["", "2300"]),
                maker.rng.choice(["", "5:3"]),
            ]
        )


def set_verdict(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    errors = maker.plan["errors"]
    yield (
        ["IK5", maker.rng.choice("ER"), "5", *maker.rng.choice([[], ["I5"]])]
        if errors
        else ["IK5", "A"]
    )


def set_row(maker: Maker, node: SegmentSpec, loop: str) -> Iterator[Row]:
    maker.count += 1
    yield trimmed(["AK2", "837", f"{maker.count:04}", maker.rng.choice(["", "005010X222A1"])])


def finish_999(maker: Maker) -> None:
    verdicts = [row[1] for row in maker.rows if row[0] == "IK5"]
    accepted = sum(verdict in "AE" for verdict in verdicts)
    if accepted == len(verdicts):
        group = "E" if "E" in verdicts else "A"
    else:
        group = "P" if accepted else "R"
    at = next(i for i, row in enumerate(maker.rows) if row[0] == "AK9")
    errors = maker.rows[at][5:] if group != "A" else []
    maker.rows[at] = ["AK9", group, str(len(verdicts)), str(len(verdicts)), str(accepted), *errors]


BEFORE["999", "2000"] = set_of_999
BEFORE["999", "2100"] = segment_of_999
COUNTS["999", "2000"] = some
COUNTS["999", "2100"] = lambda m: int(m.plan["errors"])
COUNTS["999", "2110"] = lambda m: int(m.plan["elements"])
ROWS["999", "2000/AK2"] = set_row
ROWS["999", "2000/IK5"] = set_verdict
ROWS["999", "2100/IK3"] = error_row
ROWS["999", "2100/CTX"] = context_row
ROWS["999", "2110/CTX"] = context_row
ROWS["999", "2110/IK4"] = element_row
FINISH["999"] = finish_999


# Small sets written by hand, and single edits that break them.


def rows(text: str) -> list[Row]:
    """The rows of a set written one segment a line."""
    return [line.split("*") for line in text.split("\n") if line]


def findings(kind: str, changed: list[Row]) -> list[Finding]:
    """What is found in a set. A reader that lets each unit go finds the same as one that keeps all."""
    changed[-1][1] = str(len(changed))
    data = interchange(kind, [changed]).encode()
    found = list(all_findings(parse(data)))
    streamed = [
        f for event in read(data) if isinstance(event, SetClosed) for f in event.set.findings
    ]
    kept = [f for f in found if f.position and f.position.set]
    assert sorted((f.rule, f.message) for f in streamed) == sorted(
        (f.rule, f.message) for f in kept
    )
    return found


Edit = Callable[[list[Row]], None]


def set_to(id: str, nth: int, element: int, value: str) -> Edit:
    """Change one element of the nth segment of an id."""

    def edit(changed: list[Row]) -> None:
        row = [row for row in changed if row[0] == id][nth - 1]
        row.extend([""] * (element + 1 - len(row)))
        row[element] = value
        while not row[-1]:
            row.pop()

    return edit


def drop(id: str, nth: int = 1) -> Edit:
    """Leave out the nth segment of an id."""

    def edit(changed: list[Row]) -> None:
        del changed[[i for i, row in enumerate(changed) if row[0] == id][nth - 1]]

    return edit


def after(id: str, nth: int, *texts: str) -> Edit:
    """Put segments after the nth segment of an id."""

    def edit(changed: list[Row]) -> None:
        at = [i for i, row in enumerate(changed) if row[0] == id][nth - 1]
        changed[at + 1 : at + 1] = [text.split("*") for text in texts]

    return edit


def both(*edits: Edit) -> Edit:
    """Several edits, one after the other."""

    def edit(changed: list[Row]) -> None:
        for one in edits:
            one(changed)

    return edit
