"""Random, valid, richly filled claims of the three kinds, made by walking the guides.

A pure function of a ``random.Random``. The guide decides what is allowed where; the tables here define what
sensible values are, and a plan for each claim keeps its parts in agreement (totals, pointers,
other payers, accidents, predeterminations).
"""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

from clearlane.x12.grammar import ElementSpec, LoopSpec, SegmentSpec
from clearlane.x12.guides import by_kind

Row = list[str]

PEOPLE = [("ARDEN", "ROSA"), ("ARDEN", "MILO"), ("LUND", "IVO"), ("QUILL", "TESSA")]
PROVIDERS = [("BIRCH", "NORA"), ("FENN", "OSKAR")]
PLACES = ["FERNHILL FAMILY PRACTICE", "LARKSPUR DENTAL"]
PAYERS = ["MEADOW MUTUAL", "HARBOR HEALTH PLAN", "SUMMIT DENTAL"]
WORDS = ["FOLLOW", "UP", "CARE", "PLAN", "VISIT", "NOTED", "WITHOUT", "CHANGE", "SEE", "RECORD"]
CITIES = [
    ("PORTLAND", "OR", "972011234"),
    ("MADISON", "WI", "537031020"),
    ("AUSTIN", "TX", "787010042"),
]
ICD10 = [
    "E119",
    "I10",
    "J0190",
    "M5450",
    "K0530",
    "Z0000",
    "N390",
    "R519",
    "S93401A",
    "L309",
    "F329",
    "H6690",
    "K029",
]
ICD9 = [
    "25000",
    "4019",
    "4660",
    "7245",
    "52300",
    "V700",
    "5990",
    "7840",
    "84500",
    "6929",
    "311",
    "3829",
]
INJURIES10, INJURIES9 = ["W1830XA", "V4352XA", "Y9301"], ["E8859", "E8120"]
SURGERY10, SURGERY9 = ["0DTJ4ZZ", "0SRD0J9"], ["4709", "8154"]
CPT = ["99213", "99214", "36415", "71046", "90471", "97110"]
ANESTHESIA = ["00100", "00400", "01967"]
REASONS = ["1", "2", "3", "45", "96", "97", "16", "23"]
REMARKS = ["M15", "N130", "MA01", "N19"]
TAXONOMIES = ["207Q00000X", "1223G0001X", "282N00000X"]
NPIS = ["1234567893", "1679576722", "1245319599"]
ANTERIOR = {"6", "7", "8", "9", "10", "11", "22", "23", "24", "25", "26", "27", *"CDEFGHMNOPQR"}
# Mostly sparse, some full: what is rare in one claim is common in a run.
DENSITIES = [*[0.04] * 12, 0.15, 0.15, 0.4, 0.95]
# How many days before the last service something happened, by the code of its date.
DAYS_BEFORE = {
    "090": 60, "091": 40, "096": 21, "296": 22, "297": 44, "304": 30, "314": 44, "360": 44, "361": 22, "431": 40,
    "435": 31, "439": 45, "444": 35, "453": 39, "454": 38, "455": 35, "471": 50, "484": 60,
}  # fmt: skip
TEETH = [*map(str, range(1, 33)), *"ABCDEFGHIJKLMNOPQRST"]


def claims(
    rng: Random, kind: str, *, subscribers: int = 4, number: int = 1, everything: bool = False
) -> list[Row]:
    """One transaction set, ST to SE. ``everything`` adds what the witness wrongly refuses."""
    return Maker(rng, kind, number, everything=everything).claims(subscribers)


def interchange(kind: str, sets: list[list[Row]]) -> str:
    """An interchange of one group around some transaction sets."""
    guide = by_kind(kind)
    head = [
        ["ISA", "00", " " * 10, "00", " " * 10, "ZZ", "CLEARLANE      ", "ZZ", "PAYER          ",
         "250301", "1200", "^", "00501", "000000001", "0", "T", ":"],
        ["GS", "HC", "CLEARLANE", "PAYER", "20250301", "1200", "1", "X", guide.id],
    ]  # fmt: skip
    tail = [["GE", str(len(sets)), "1"], ["IEA", "1", "000000001"]]
    return "".join(
        "*".join(row) + "~\n" for row in [*head, *(row for s in sets for row in s), *tail]
    )


def plain(kind: str, seed: int = 1) -> list[Row]:
    """One small claim with little but what is required, the patient being the subscriber."""
    return Maker(Random(seed), kind, 1, density=0.0).claims(1)


@dataclass
class OtherPayer:
    """Another payer of a claim and what it decided, in cents."""

    id: str
    order: str
    decided: str
    """"" (not yet), "claim" or "line"."""
    paid: list[int]


@dataclass
class Plan:
    """The facts of one claim that several segments must agree on."""

    charges: list[int]
    diagnoses: list[str]
    icd: str
    accident: bool
    frequency: str
    predetermination: bool
    orthodontics: bool
    day: date
    dates_on_lines: bool
    stay: bool | None
    """Whether a professional claim names the day of an admission."""
    others: list[OtherPayer] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.charges)


def a_loop(node: SegmentSpec | LoopSpec) -> LoopSpec:
    """Return a node of a guide that is a loop."""
    assert isinstance(node, LoopSpec), node.id
    return node


def a_segment(node: SegmentSpec | LoopSpec) -> SegmentSpec:
    """Return a node of a guide that is a segment."""
    assert isinstance(node, SegmentSpec), node.id
    return node


class Maker:
    """Walks a guide and fills it."""

    def __init__(
        self,
        rng: Random,
        kind: str,
        number: int,
        density: float | None = None,
        *,
        everything: bool = False,
        payers: Sequence[str] = (),
    ) -> None:
        """``payers`` are the ids that claims name in 2010BB; without them any."""
        self.rng = rng
        self.payers = payers
        self.everything = everything
        self.kind = kind
        self.guide = by_kind(kind)
        self.number = number
        self.density = rng.choice(DENSITIES) if density is None else density
        self.count = 0
        self.level = 0
        self.plan: Plan | None = None
        self.order = "P"
        self.loop = ""
        self.own = False
        self.sex = ""
        self.is_atypical = False
        """Whether the billing provider has no NPI, and so a number that the payer gave."""

    # The hierarchy.

    def claims(self, subscribers: int, providers: int = 1) -> list[Row]:
        rows = [
            row
            for child in self.guide.root.children
            for _ in range(providers if child.id == "2000A" else 1)
            for row in self._top(child, subscribers)
        ]
        rows[0] = ["ST", "837", f"{self.number:04}", self.guide.id]
        rows[-1] = ["SE", str(len(rows)), f"{self.number:04}"]
        rows[1][3] = f"B{self.number:05}"
        return rows

    def _top(self, child: SegmentSpec | LoopSpec, subscribers: int) -> list[Row]:
        if isinstance(child, LoopSpec) and child.id == "2000A":
            return self._billing(child, subscribers)
        return self.fill(child)

    def _billing(self, node: LoopSpec, subscribers: int) -> list[Row]:
        rows, mine = [], self._next_level()
        for child in node.children:
            if isinstance(child, LoopSpec) and child.id == "2000B":
                for _ in range(subscribers):
                    rows += self._subscriber(child, mine)
            elif child.id == "HL":
                rows.append(["HL", mine, "", "20", "1"])
            else:
                rows += self.fill(child)
                if child.id == "2010AA":
                    self.is_atypical = not any(row[0] == "NM1" and len(row) > 9 for row in rows)
        return rows

    def _subscriber(self, node: LoopSpec, parent: str) -> list[Row]:
        mine, own = self._next_level(), self.density == 0 or self.rng.random() < 0.5
        self.own = own
        self.order = self.rng.choice("PST") if self.density else "P"
        must = {"N3", "N4", "DMG"} if own else set()
        rows: list[Row] = []
        for child in node.children:
            if child.id == "HL":
                rows.append(["HL", mine, parent, "22", "0" if own else "1"])
            elif child.id == "SBR":
                row = self.segment(a_segment(child))
                row[1:3] = [self.order, "18" if own else ""]
                rows.append(self._medicare(row))
            elif child.id == "PAT":
                rows += self.fill(child) if own else []
            elif child.id == "2300":
                rows += [
                    row
                    for _ in range(self._several() if own else 0)
                    for row in self._claim(a_loop(child))
                ]
            elif child.id == "2000C":
                rows += (
                    []
                    if own
                    else [
                        row
                        for _ in range(self._several())
                        for row in self._patient(a_loop(child), mine)
                    ]
                )
            else:
                own_rows = self.fill(child, must=must if child.id == "2010BA" else set())
                rows += self._payer(own_rows) if child.id == "2010BB" else own_rows
        return rows

    def _payer(self, rows: list[Row]) -> list[Row]:
        if self.payers:
            rows[0][9] = self.rng.choice(self.payers)
        if self.is_atypical and not any(row[:2] == ["REF", "G2"] for row in rows):
            rows = [row for row in rows if row[:2] != ["REF", "LU"]]
            rows.append(["REF", "G2", "PROV77"])
        return rows

    def _medicare(self, row: Row) -> Row:
        if self.kind != "837I" and row[1] not in "PU" and row[9] in {"MA", "MB"}:
            row[5] = self.rng.choice(["12", "43", "47"])
        return row

    def _patient(self, node: LoopSpec, parent: str) -> list[Row]:
        rows = [["HL", self._next_level(), parent, "23", "0"]]
        for child in node.children[1:]:
            repeat = self._several() if child.id == "2300" else 1
            rows += [
                r
                for _ in range(repeat)
                for r in (self._claim(a_loop(child)) if child.id == "2300" else self.fill(child))
            ]
        return rows

    def _next_level(self) -> str:
        self.level += 1
        return str(self.level)

    def _several(self) -> int:
        return self.rng.randint(1, 2) if self.density else 1

    # The claim.

    def _plan(self) -> Plan:
        rng = self.rng
        icd = "10" if not self.density or rng.random() < 0.85 else "9"
        limit = {"837P": 12, "837D": 4, "837I": 1}[self.kind]
        start = date(2024, 1, 5) if icd == "10" else date(2014, 1, 5)
        lines = rng.randint(1, 3) if self.density else 2
        plan = Plan(
            charges=[rng.randint(1, 90_000) for _ in range(lines)],
            diagnoses=rng.sample(ICD10 if icd == "10" else ICD9, rng.randint(1, limit)),
            icd=icd,
            accident=self.chance(),
            frequency=rng.choice("178") if self.density else "1",
            predetermination=self.kind == "837D" and rng.random() < self.density / 4,
            orthodontics=self.kind == "837D" and self.chance(),
            day=start + timedelta(days=rng.randint(0, 400)),
            dates_on_lines=self.kind != "837D" or not self.density or rng.random() < 0.5,
            stay=self.chance() if self.kind == "837P" else None,
        )
        others = rng.choice([0, 1, 1, 2]) if self.density else 0
        places = rng.sample([o for o in "PSTABC" if o != self.order], others)
        if "P" not in (self.order, *places):
            places[:1] = "P"
        for place in places:
            decided = rng.choice(["", "claim", "line"])
            paid = [
                rng.randint(0, charge) if rng.random() < 0.9 else charge for charge in plan.charges
            ]
            plan.others.append(
                OtherPayer(f"{rng.randint(10_000, 99_999)}{place}", place, decided, paid)
            )
        return plan

    def _claim(self, node: LoopSpec) -> list[Row]:
        self.plan = plan = self._plan()
        self.count += 1
        rows: list[Row] = []
        for child in node.children:
            if child.id == "2320":
                rows += [
                    row for other in plan.others for row in self._coverage(a_loop(child), other)
                ]
            elif child.id == "2400":
                rows += [
                    row for at in range(len(plan.charges)) for row in self._line(a_loop(child), at)
                ]
            elif isinstance(child, SegmentSpec):
                rows += self._claim_segment(child)
            else:
                rows += self.fill(child)
        self.plan = None
        return rows

    def _claim_segment(self, node: SegmentSpec) -> list[Row]:
        plan = self.plan
        assert plan is not None
        key = (node.id, *node.qualifiers[:1])
        wanted = {
            ("DTP", "439"): plan.accident,
            ("DTP", "484"): False if self.sex == "M" else None,
            ("DTP", "435"): plan.stay,
            ("DTP", "096"): None if plan.stay is not False else False,
            ("DTP", "452"): plan.orthodontics,
            ("DTP", "472"): not plan.predetermination and not plan.dates_on_lines,
            ("DN1",): plan.orthodontics,
            ("REF", "F8"): plan.frequency in "78",
        }.get(key)
        if wanted is not None:
            return [self.segment(node)] if wanted else []
        if node.id == "CLM":
            return [self._clm(node)]
        if node.id == "DN2":
            teeth = self.rng.sample(TEETH, self.rng.randint(1, 4)) if self.chance() else []
            return [["DN2", tooth, self.rng.choice("EM"), "", "", "", "JP"] for tooth in teeth]
        if node.id == "HI" and node.qualifiers[0] in {"ABK", "ABF"}:
            return self._diagnoses(node)
        return self.fill(node)

    def _clm(self, node: SegmentSpec) -> Row:
        plan = self.plan
        assert plan is not None
        row = self.segment(node)
        row += [""] * (21 - len(row))
        row[1], row[2] = f"C{self.number:04}N{self.count:04}", money(plan.total)
        if self.kind == "837I":
            row[5] = f"{self.rng.choice(['11', '13', '21', '83'])}:A:{plan.frequency}"
        else:
            row[5] = f"11:B:{plan.frequency}"
            row[11] = (
                self.rng.choice(["AA:::TX", "EM", "OA", "AA:EM::OR", "EM:OA", "AA::::MX"])
                if plan.accident
                else ""
            )
        if self.kind == "837D":
            row[19] = "PB" if plan.predetermination else ""
        return trimmed(row)

    def _diagnoses(self, node: SegmentSpec) -> list[Row]:
        plan = self.plan
        assert plan is not None
        first, rest = ("ABK", "ABF") if plan.icd == "10" else ("BK", "BF")
        if node.qualifiers[0] == "ABF":
            if not self.chance():
                return []
            several = self.rng.sample(
                (ICD10 if plan.icd == "10" else ICD9)[1:], self.rng.randint(1, 8)
            )
            return [["HI", *(f"{rest}:{code}" for code in several)]]
        if node.usage == "S" and not self.chance():
            plan.diagnoses.clear()
            return []
        codes = [first, *[rest] * (len(plan.diagnoses) - 1)]
        return [["HI", *(f"{a}:{b}" for a, b in zip(codes, plan.diagnoses, strict=True))]]

    def _coverage(self, node: LoopSpec, other: OtherPayer) -> list[Row]:
        plan = self.plan
        assert plan is not None
        paid, rows = sum(other.paid), []
        for child in node.children:
            key = (child.id, *(child.qualifiers[:1] if isinstance(child, SegmentSpec) else ()))
            if child.id == "SBR":
                row = self.segment(a_segment(child))
                row[1] = other.order
                rows.append(self._medicare(row))
            elif child.id == "CAS":
                rows += self._adjust(plan.total - paid) if other.decided == "claim" else []
            elif key == ("AMT", "D"):
                rows += [["AMT", "D", money(paid)]] if other.decided else []
            elif key == ("AMT", "A8"):
                rows += (
                    [["AMT", "A8", money(plan.total)]]
                    if not other.decided and self.chance()
                    else []
                )
            elif key == ("AMT", "EAF"):
                rows += self.fill(child) if other.decided == "claim" else []
            elif child.id == "2330B":
                rows += self._other_payer(a_loop(child), other)
            else:
                rows += self.fill(child)
        return rows

    def _other_payer(self, node: LoopSpec, other: OtherPayer) -> list[Row]:
        must, never = ({"DTP"}, set()) if other.decided == "claim" else (set(), {"DTP"})
        rows = self.fill(node, must=must, never=never)
        rows[0][8:10] = ["PI", other.id]
        return rows

    def _adjust(self, rest: int) -> list[Row]:
        """Adjustments that add up to an amount, one segment a group."""
        rows = []
        for group in self.rng.sample(["CO", "PR", "OA", "PI"], self.rng.randint(1, 3)):
            row = ["CAS", group]
            # A segment has room for six reasons.
            several, share = (6, rest // 6) if self.density > 0.9 else (3, rest)
            for reason in self.rng.sample(REASONS, self.rng.randint(1, several)):
                part = self.rng.randint(1, share) if rest > share > 0 else rest
                if not part:
                    break
                row += [reason, money(part), "1" if self.chance() else ""]
                rest -= part
            rows += [trimmed(row)] if len(row) > 2 else []
        if rest:
            rows.append(["CAS", "CR", "45", money(rest)])
        return rows

    # The line.

    def _line(self, node: LoopSpec, at: int) -> list[Row]:
        plan = self.plan
        assert plan is not None
        rows: list[Row] = []
        service = {"837P": self._professional, "837D": self._dental, "837I": self._institutional}[
            self.kind
        ]
        extra: list[Row] = []
        for child in node.children:
            key = (child.id, *(child.qualifiers[:1] if isinstance(child, SegmentSpec) else ()))
            if child.id == "LX":
                rows.append(["LX", str(at + 1)])
            elif child.id in {"SV1", "SV2", "SV3"}:
                row, extra = service(a_segment(child), at)
                rows.append(row)
            elif child.id == "TOO":
                rows += [row for row in extra if row[0] == "TOO"]
            elif key == ("DTP", "472"):
                rows += self._service_date(a_segment(child))
            elif key == ("DTP", "139"):  # the first qualifier of the place
                rows += [row for row in extra if row[:2] == ["DTP", "441"]]
            elif child.id == "2430":
                rows += [
                    row
                    for o in plan.others
                    if o.decided == "line"
                    for row in self._decision(a_loop(child), o, at)
                ]
            elif key == ("REF", "6R"):
                rows.append(["REF", "6R", f"L{self.count}X{at + 1}"])
            else:
                rows += self.fill(child)
        return rows

    def _service_date(self, node: SegmentSpec) -> list[Row]:
        plan = self.plan
        assert plan is not None
        if plan.predetermination or (self.kind == "837D" and not plan.dates_on_lines):
            return []
        return [self.segment(node)]

    def _professional(self, node: SegmentSpec, at: int) -> tuple[Row, list[Row]]:
        plan, rng = self.plan, self.rng
        assert plan is not None
        row = self.segment(node)
        minutes = self.chance() and rng.random() < 0.3
        modifiers = rng.sample(
            ["25", "59", "76", "LT", "RT"], rng.randint(0, 4) if self.density else 0
        )
        code = ":".join(["HC", rng.choice(ANESTHESIA if minutes else CPT), *modifiers])
        if self.chance():
            code += ":" * (7 - len(code.split(":"))) + "EXTENDED VISIT"
        pointers = rng.sample(range(1, len(plan.diagnoses) + 1), min(4, len(plan.diagnoses)))
        row[1:5] = [code, money(plan.charges[at]), *(("MJ", "45") if minutes else ("UN", "1"))]
        row[7] = ":".join(map(str, pointers[: rng.randint(1, 4)]))
        return trimmed(row), []

    def _dental(self, node: SegmentSpec, at: int) -> tuple[Row, list[Row]]:
        plan, rng = self.plan, self.rng
        assert plan is not None
        extra: list[Row] = []
        choice = rng.randint(0, 3) if self.density else 0
        row = self.segment(node)
        row += [""] * (12 - len(row))
        row[4:6] = ["", ""]
        if choice == 0:
            code = "D1110"
        elif choice == 1:
            code, tooth = "D2392", rng.choice([t for t in TEETH if t not in ANTERIOR])
            extra.append(["TOO", "JP", tooth, ":".join(rng.sample("MODBL", rng.randint(1, 5)))])
        elif choice == 2:
            code, row[5] = "D2740", rng.choice("IR")
            extra.append(["TOO", "JP", rng.choice(TEETH[:32])])
            extra += (
                [["DTP", "441", "D8", f"{plan.day - timedelta(days=3000):%Y%m%d}"]]
                if row[5] == "R"
                else []
            )
        else:
            code, row[4] = "D4341", rng.choice(["10", "20", "30", "40", "10:20"])
        if self.density > 0.9 and self.chance():
            code += ":22:52:53:59:AS PLANNED"
            row[4] = row[4] and "10:20:30:40:L"
        row[1], row[2], row[6] = f"AD:{code}", money(plan.charges[at]), "1" if self.chance() else ""
        count = len(plan.diagnoses)
        pointers = map(str, rng.sample(range(1, count + 1), rng.randint(1, count) if count else 0))
        row[11] = ":".join(pointers) if self.chance() else ""
        return trimmed(row), extra

    def _institutional(self, node: SegmentSpec, at: int) -> tuple[Row, list[Row]]:
        plan = self.plan
        assert plan is not None
        row = self.segment(node)
        row[1:4] = [
            self.rng.choice(["0120", "0250", "0300", "0450"]),
            "HC:99213",
            money(plan.charges[at]),
        ]
        row[4:6] = ["UN", "2"]
        return trimmed(row), []

    def _decision(self, node: LoopSpec, other: OtherPayer, at: int) -> list[Row]:
        plan, rows = self.plan, []
        assert plan is not None
        for child in node.children:
            if child.id == "SVD":
                row = self.segment(a_segment(child))
                row[1:3] = [other.id, money(other.paid[at])]
                rows.append(trimmed(row))
            elif child.id == "CAS":
                rows += self._adjust(plan.charges[at] - other.paid[at])
            else:
                rows += self.fill(child)
        return rows

    # The generic walk.

    def chance(self) -> bool:
        return self.rng.random() < self.density

    def fill(
        self,
        node: SegmentSpec | LoopSpec,
        *,
        must: AbstractSet[str] = frozenset(),
        never: AbstractSet[str] = frozenset(),
    ) -> list[Row]:
        """Some rows for a node: none where the guide allows it and chance wills it."""
        if node.id in never or (not self.everything and is_refused(node)):
            return []
        if not (node.usage == "R" or node.id in must or self.chance()):
            return []
        most = min(node.repeat or 2, 3)
        times = self.rng.randint(1, most) if self.density and most > 1 else 1
        if isinstance(node, LoopSpec):
            self.loop = node.id
            found: list[Row] = []
            for nth in range(times):
                at = len(found)
                for child in node.children:
                    found += self.fill(child, must=must, never=never)
                if 1 < node.repeat == len(node.head.qualifiers):
                    # A loop for each code, such as the referring providers.
                    found[at][node.head.key[0]] = node.head.qualifiers[nth]
            return found
        if node.key[0] and len(node.qualifiers) > 1:
            codes = self.rng.sample(node.qualifiers, min(times, len(node.qualifiers)))
            return [self.segment(node, code) for code in codes]
        return [self.segment(node) for _ in range(times)]

    def segment(self, node: SegmentSpec, code: str = "") -> Row:
        row = [node.id, *[""] * len(node.elements)]
        for element in node.elements:
            keyed = code if (element.number, 0) == node.key else ""
            if element.usage == "R" or (element.usage == "S" and self.chance()):
                row[element.number] = keyed or self.value(node, element, row)
        if not any(row[1:]):
            first = next(e for e in node.elements if e.usage != "N")
            row[first.number] = self.value(node, first, row)
        for _ in range(4):
            for note in node.syntax:
                self._settle(node, row, note)
        for fix in FIXES.get(node.id, ()):
            fix(self, row)
        return trimmed(row)

    def _settle(self, node: SegmentSpec, row: Row, note: str) -> None:
        """Make a syntax note true by filling what it asks for, or by emptying what asks."""
        numbers = [int(note[at : at + 2]) for at in range(1, len(note), 2)]
        filled = [n for n in numbers if row[n]]
        rest = [n for n in numbers if not row[n]]
        usable = [n for n in rest if node.elements[n - 1].usage != "N"]
        match note[0]:
            case "P" if filled and rest:
                self._fill_or_empty(node, row, rest, filled)
            case "R" if not filled and usable:
                row[usable[0]] = self.value(node, node.elements[usable[0] - 1], row)
            case "E" if len(filled) > 1:
                row[filled[-1]] = ""
            case "C" if row[numbers[0]] and rest:
                self._fill_or_empty(node, row, rest, numbers[:1])
            case "L" if row[numbers[0]] and len(filled) == 1:
                self._fill_or_empty(node, row, usable[:1], numbers[:1])

    def _fill_or_empty(
        self, node: SegmentSpec, row: Row, rest: list[int], asking: list[int]
    ) -> None:
        if all(node.elements[n - 1].usage != "N" for n in rest):
            for n in rest:
                row[n] = self.value(node, node.elements[n - 1], row)
        else:
            for n in asking:
                row[n] = ""

    def value(self, node: SegmentSpec, element: ElementSpec, row: Row) -> str:
        for key in (f"{node.id}{element.number:02}:{row[1]}", f"{node.id}{element.number:02}"):
            if key in VALUES:
                return VALUES[key](self)
        if element.components:
            parts = list(self._parts(element))
            return ":".join(trimmed(parts))
        return self._plain(element, row[element.number - 1])

    def _parts(self, element: ElementSpec) -> Iterator[str]:
        before = ""
        for part in element.components:
            wanted = part.usage == "R" or (part.usage == "S" and self.chance())
            before = self._plain(part, before) if wanted else ""
            yield before

    def _plain(self, element: ElementSpec, before: str) -> str:
        if element.codes:
            return self.rng.choice(element.codes)
        if element.code_list:
            return self.rng.choice(LISTS[element.code_list])
        return TYPES[element.type](self, element, before)

    def some_day(self) -> date:
        return (self.plan.day if self.plan else date(2024, 6, 3)) - timedelta(
            days=self.rng.randint(0, 20)
        )

    def period(self, form: str) -> str:
        day = self.some_day()
        return {
            "D8": f"{day:%Y%m%d}",
            "RD8": f"{day:%Y%m%d}-{day + timedelta(days=self.rng.randint(1, 9)):%Y%m%d}",
            "TM": "1330",
            "DT": f"{day:%Y%m%d}0915",
        }[form]

    def words(self, most: int) -> str:
        return " ".join(self.rng.sample(WORDS, self.rng.randint(1, 3)))[:most].strip()


def is_refused(node: SegmentSpec | LoopSpec) -> bool:
    """pyx12 takes the certificate of medical necessity for an ordinary attachment and refuses it."""
    return isinstance(node, SegmentSpec) and node.id == "PWK" and node.qualifiers[:1] == ("AB",)


def money(cents: int) -> str:
    """Cents as X12 writes an amount: no needless zeros."""
    return f"{cents / 100:.2f}".rstrip("0").rstrip(".")


def trimmed(row: Row) -> Row:
    """Without empties at the end."""
    row = list(row)
    while row and not row[-1]:
        row.pop()
    return row


LISTS = {
    "states": ["OR", "WI", "TX", "CA"],
    "countries": ["CA", "MX"],
    "currencies": ["CAD", "EUR"],
    "claim_frequencies": ["1"],
    "places_of_service": ["11", "12", "22", "23"],
    "carc": REASONS,
    "rarc": REMARKS,
}
TYPES: dict[str, Callable[[Maker, ElementSpec, str], str]] = {
    "AN": lambda m, e, _: m.words(min(e.max, 30)).ljust(e.min, "A"),
    "ID": lambda _, e, __: "A" * e.min,
    "R": lambda m, _, __: str(m.rng.randint(1, 99)),
    "N0": lambda m, _, __: str(m.rng.randint(1, 9)),
    "DT": lambda m, _, __: f"{m.some_day():%Y%m%d}",
    "TM": lambda _, __, ___: "1200",
    "TP": lambda m, _, before: m.period(before or "D8"),
}
VALUES: dict[str, Callable[[Maker], str]] = {
    "AMT02:F5": lambda _: ".01",
    "BHT04": lambda _: "20250301",
    "BHT06": lambda m: m.rng.choice(["CH", "RP", "31"] if m.everything else ["CH", "RP"]),
    "CL101": lambda _: "1",
    "CL102": lambda _: "1",
    "CL103": lambda _: "01",
    "DMG02": lambda _: "19850214",
    "DN101": lambda m: str(m.rng.randint(20, 36)),
    "DN102": lambda m: str(m.rng.randint(0, 20)),
    "DTP03:434": lambda m: m.period("RD8"),
    "CN103": lambda _: "12.5",
    "LIN03": lambda _: "00002323330",
    "MOA01": lambda _: ".8",
    "N301": lambda m: f"{m.rng.randint(1, 999)} ALDER STREET",
    "N302": lambda _: "SUITE 4",
    "PAT08": lambda _: "154",
    "PER02": lambda _: "CLAIMS OFFICE",
    "PRV03": lambda m: m.rng.choice(TAXONOMIES),
    "REF02:EI": lambda _: "123456789",
    "REF02:SY": lambda _: "219099999",
    "REF02:X4": lambda _: "12D4567890",
    "REF02:F4": lambda _: "12D4567891",
    "REF02:EW": lambda _: "123456",
    "REF02:1G": lambda _: "A12345",
    "REF02:LU": lambda m: "TX" if m.kind == "837I" else "LOC7",
    "REF02:F5": lambda _: "N",
    "REF02:T4": lambda _: "Y",
    "REF02:4N": lambda m: m.rng.choice("123456"),
    "SBR03": lambda m: f"GRP{m.rng.randint(100, 999)}",
    "SBR09": lambda m: m.rng.choice(["CI", "MB", "MC", "BL", "12"]),
    "SVD03": lambda m: (
        {"837D": "AD:D1110"}.get(m.kind, "HC:99213")
        + (":22:25:59:76:AS DECIDED" if m.chance() else "")
    ),
    "SVD04": lambda _: "0300",
    "SVD05": lambda _: "1",
    "SVD06": lambda _: "1",
    "HCP08": lambda _: "0300",
    "HCP10": lambda m: "99213" if m.kind != "837D" else "D1110",
}


def _name(m: Maker, row: Row) -> None:
    row += [""] * (13 - len(row))
    if row[1] == "IL" and m.own:  # A patient is a person.
        row[2] = "1"
    person = row[2] == "1"
    if row[3]:
        pool = PEOPLE if row[1] in {"IL", "QC"} else PROVIDERS
        last, first = m.rng.choice(pool)
        named = PAYERS if row[1] in {"PR", "PE", "40"} else PLACES
        row[3:6] = [last, first, row[5] and "K"] if person else [m.rng.choice(named), "", ""]
        row[7] = row[7] and ("JR" if person else "")
    if row[1] == "IL" and (person or not m.everything):
        row[8] = row[8] or "MI"
    ids = {
        "XX": m.rng.choice(NPIS),
        "MI": f"M{m.rng.randint(10**7, 10**8)}",
        "II": "U00000001",
        "46": "CLR001",
    }
    row[9] = ids.get(row[8], f"{m.rng.randint(10_000, 99_999)}") if row[8] else ""


def _city(m: Maker, row: Row) -> None:
    # The witness wants nine digits of every institution, wherever it is.
    is_abroad = row[4] and m.rng.random() < 0.5
    if is_abroad and (m.kind != "837I" or m.loop in {"2010BA", "2010CA", "2330A"}):
        row[:] = ["N4", "TIJUANA", "", "22000", "MX", "", "", "BCN"]
    else:
        row[:] = ["N4", *m.rng.choice(CITIES)]


def _contact(m: Maker, row: Row) -> None:
    numbers = {"TE": "5035550142", "FX": "5035550143", "EM": "CLAIMS@EXAMPLE.COM", "EX": "12"}
    ways = [row[n] for n in (3, 5, 7)]
    ways = list(dict.fromkeys(way for way in ways if way))
    if "EX" in ways:  # An extension belongs to the telephone number right before it.
        ways = ["TE", "EX", *(way for way in ways if way not in {"TE", "EX"})]
    row[3:] = [part for way in ways[:3] for part in (way, numbers[way])]


def _birth(m: Maker, row: Row) -> None:
    row[1:3] = ["D8", "19850214"]
    if not m.everything and row[3] == "U":  # x12sdk knows no unknown sex
        row[3] = "F"
    m.sex = row[3]


def _benefits(m: Maker, row: Row) -> None:
    if not m.everything and row[3] == "W":  # x12sdk knows no assignment that does not apply
        row[3] = "Y"


def _day(m: Maker, row: Row) -> None:
    """Days of a claim in a possible order."""
    if m.plan and row[1] in DAYS_BEFORE and row[2] in {"D8", "RD8"}:
        day = m.plan.day - timedelta(days=DAYS_BEFORE[row[1]])
        row[3] = f"{day:%Y%m%d}"
        if row[2] == "RD8":
            row[3] += f"-{day + timedelta(days=5):%Y%m%d}"


def _attachment(m: Maker, row: Row) -> None:
    if row[2] in {"BM", "EL", "EM", "FT", "FX"}:
        row[5:7] = ["AC", f"ATT{m.rng.randint(100, 999)}"]
    elif row[2] == "AA":  # available on request, under no number
        row[5:] = []


def _codes(m: Maker, row: Row) -> None:
    """Codes that fit their lists, all of one ICD version."""
    ten = m.plan is None or m.plan.icd == "10"
    first = row[1].split(":")[0]
    new, lists = {
        "ABJ": ("ABJ", "BJ"), "BJ": ("ABJ", "BJ"), "APR": ("APR", "PR"), "PR": ("APR", "PR"),
        "ABN": ("ABN", "BN"), "BN": ("ABN", "BN"), "BBR": ("BBR", "BR"), "BR": ("BBR", "BR"),
        "CAH": ("BBR", "BR"), "BBQ": ("BBQ", "BQ"), "BQ": ("BBQ", "BQ"),
    }.get(first, (first, first)), {
        "ABJ": ICD10, "BJ": ICD9, "APR": ICD10, "PR": ICD9, "ABN": INJURIES10, "BN": INJURIES9,
        "BBR": SURGERY10, "BR": SURGERY9, "BBQ": SURGERY10, "BQ": SURGERY9, "DR": ["470"],
        "BP": ["00100"], "BO": ["00400"], "BG": ["17", "38"], "BI": ["70"], "BH": ["11"], "BE": ["80"], "TC": ["A1"],
    }  # fmt: skip
    for at, text in enumerate(row[1:], 1):
        if not text:
            continue
        parts = text.split(":")
        parts[0] = parts[0] if parts[0] == "BO" else new[0 if ten else 1]
        parts[1] = m.rng.choice(lists[parts[0]])
        if parts[0] == "BE":
            parts[4] = "3"
        row[at] = ":".join(parts)
    filled = [text for text in row[1:] if text]
    row[1:] = filled


def _pricing(m: Maker, row: Row) -> None:
    row[2] = row[2] or "10"


def _coverage(m: Maker, row: Row) -> None:
    row += [""] * (10 - len(row))
    row[9] = row[9] or "CI"
    # The reason belongs to Medicare that pays second; who pays second is settled later.
    row[5] = ""


FIXES: dict[str, tuple[Callable[[Maker, Row], None], ...]] = {
    "NM1": (_name,),
    "N4": (_city,),
    "OI": (_benefits,),
    "PER": (_contact,),
    "DMG": (_birth,),
    "DTP": (_day,),
    "PWK": (_attachment,),
    "HI": (_codes,),
    "HCP": (_pricing,),
    "SBR": (_coverage,),
}
