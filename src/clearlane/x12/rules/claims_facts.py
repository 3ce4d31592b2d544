"""A claim of an 837 laid out once, so that every rule about it finds its parts without a search.

Knows the segments of a claim loop; holds no rule.
"""

from typing import Any

from clearlane.x12.rules import Context, cents
from clearlane.x12.tree import Loop

CLAIM_KINDS = ("837P", "837D", "837I")
STATE = "837-claim"
WRITTEN = "837-written"

# Where each kind keeps the service of a line: segment, charge, procedure.
SERVICE = {"837P": ("SV1", 2, 1), "837D": ("SV3", 2, 1), "837I": ("SV2", 3, 2)}

ICD10 = frozenset({"ABK", "ABF", "ABJ", "APR", "ABN", "BBR", "BBQ"})
ICD9 = frozenset({"BK", "BF", "BJ", "PR", "BN", "BR", "BQ"})
DIAGNOSES = frozenset({"ABK", "BK", "ABF", "BF", "TQ"})

# How messages call the procedure, such as SV101.
PROCEDURE_NAMES = {kind: f"{id}{procedure:02}" for kind, (id, _, procedure) in SERVICE.items()}

Row = list[str]


class Line:
    """One service line."""

    __slots__ = ("by", "charge", "loop", "procedure", "service")

    def __init__(self, loop: Loop, service: tuple[str, int, int]) -> None:
        self.loop = loop
        self.by = by_id(loop)
        id, charge_at, procedure_at = service
        row: Row | None = self.by[id][0] if id in self.by else None
        self.service = row
        size = len(row) if row else 0
        self.charge = cents(row[charge_at]) if row and size > charge_at else None
        self.procedure = row[procedure_at].split(":") if row and size > procedure_at else [""]
        """The components of the procedure: list, code, up to four modifiers, description."""


class Claim:
    """One claim: its segments by id, its lines, its diagnoses."""

    __slots__ = (
        "_rows", "by", "clm", "codes", "decisions", "diagnoses", "lines", "loop", "others", "total",
    )  # fmt: skip

    def __init__(self, loop: Loop, kind: str) -> None:
        self.loop = loop
        self.by = by = by_id(loop)
        self.clm: Row = by["CLM"][0]
        self.total = cents(at(self.clm, 2))
        service = SERVICE[kind]
        self.lines = [Line(line, service) for line in by.get("2400", ())]
        self._rows: dict[str, list[Row]] = {}
        self.others: list[tuple[Loop, str]] = [
            (other, _payer(other)) for other in by.get("2320", ())
        ]
        """Each other coverage with the id of its payer."""
        self.decisions: list[tuple[Loop, Row, str]] = [
            (decision, decision.items[0], at(decision.items[0], 1))
            for line in self.lines
            if "2430" in line.by
            for decision in line.by["2430"]
        ]
        """Each line decision with its SVD and the id of its payer."""
        self.codes = [
            (row, number, *_pair(text))
            for row in by.get("HI", ())
            for number, text in enumerate(row)
            if number and text
        ]
        """(HI segment, element, code list, code) of every health care code."""
        self.diagnoses = 0
        """How many a pointer may point at: those of the HI that holds the principal one."""
        for row, number, listed, _ in self.codes:
            if number == 1 and listed in DIAGNOSES:
                self.diagnoses = len(row) - 1 - row.count("")
                break

    def first(self, id: str, qualifier: str) -> Row | None:
        """The first own segment of this id and qualifier."""
        for row in self.by.get(id, ()):
            if at(row, 1) == qualifier:
                found: Row = row
                return found
        return None

    def every(self, id: str) -> list[Row]:
        """The segments of this id in the claim and in its lines."""
        rows = self._rows.get(id)
        if rows is None:
            rows = self._rows[id] = list(self.by.get(id, ()))
            for line in self.lines:
                if id in line.by:
                    rows += line.by[id]
        return rows


def claim(loop: Loop, ctx: Context) -> Claim:
    """The claim of a closing loop, laid out once for all its rules."""
    held: Claim | None = ctx.state.get(STATE)
    if held is None or held.loop is not loop:
        held = ctx.state[STATE] = Claim(loop, ctx.kind)
    return held


def written(ctx: Context) -> str:
    """The day the set was written (BHT04), looked up once a set; empty where it has no form."""
    day: str | None = ctx.state.get(WRITTEN)
    if day is None:
        day = at(ctx.open[0].segment("BHT"), 4) if ctx.open else ""
        day = ctx.state[WRITTEN] = day if len(day) == 8 else ""
    return day


def by_id(loop: Loop) -> dict[str, list[Any]]:
    """A loop's own segments and child loops, each in a list by id."""
    found: dict[str, list[Any]] = {}
    for item in loop.items:
        key: str = item[0] if item.__class__ is list else item.node.id  # type: ignore[union-attr]
        if key in found:
            found[key].append(item)
        else:
            found[key] = [item]
    return found


def at(row: Row | None, number: int, component: int = 0) -> str:
    """An element or a component; empty where there is none."""
    if row is None or len(row) <= number:
        return ""
    if not component:
        return row[number]
    parts = row[number].split(":")
    return parts[component - 1] if len(parts) >= component else ""


def _payer(other: Loop) -> str:
    payer = other.loop("2330B")
    return payer.value("NM1", 9) if payer is not None else ""


def _pair(text: str) -> tuple[str, str]:
    parts = text.split(":", 2)
    return parts[0], parts[1] if len(parts) > 1 else ""
