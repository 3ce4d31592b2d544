"""A claim of an 837 indexed once, so that its rules find segments without searching.

Knows the segments of a claim loop; contains no rule.
"""

from typing import Any

from clearlane.x12.rules import RuleContext, parse_cents
from clearlane.x12.tree import Loop

CLAIM_KINDS = ("837P", "837D", "837I")
STATE = "837-claim"
SET_DATE = "837-written"

# The service of a line by kind of claim: segment, element of the charge, element of the procedure.
SERVICE = {"837P": ("SV1", 2, 1), "837D": ("SV3", 2, 1), "837I": ("SV2", 3, 2)}

ICD10 = frozenset({"ABK", "ABF", "ABJ", "APR", "ABN", "BBR", "BBQ"})
ICD9 = frozenset({"BK", "BF", "BJ", "PR", "BN", "BR", "BQ"})
DIAGNOSES = frozenset({"ABK", "BK", "ABF", "BF", "TQ"})

# How messages name the procedure, such as SV101.
PROCEDURE_NAMES = {kind: f"{id}{procedure:02}" for kind, (id, _, procedure) in SERVICE.items()}

Row = list[str]


class LineParts:
    """One service line, its segments and loops by id."""

    __slots__ = ("by_id", "charge", "loop", "procedure", "service")

    def __init__(self, loop: Loop, service: tuple[str, int, int]) -> None:
        self.loop = loop
        self.by_id = group_by_id(loop)
        id, charge_at, procedure_at = service
        row: Row | None = self.by_id[id][0] if id in self.by_id else None
        self.service = row
        size = len(row) if row else 0
        self.charge = parse_cents(row[charge_at]) if row and size > charge_at else None
        self.procedure = row[procedure_at].split(":") if row and size > procedure_at else [""]
        """The components of the procedure: list, code, up to four modifiers, description."""


class ClaimParts:
    """One claim: its segments and loops by id, its lines, its diagnoses."""

    __slots__ = (
        "_rows", "by_id", "clm", "codes", "decisions", "diagnoses", "lines", "loop", "other_payers", "total",
    )  # fmt: skip

    def __init__(self, loop: Loop, kind: str) -> None:
        self.loop = loop
        self.by_id = by = group_by_id(loop)
        self.clm: Row = by["CLM"][0]
        self.total = parse_cents(value_at(self.clm, 2))
        service = SERVICE[kind]
        self.lines = [LineParts(line, service) for line in by.get("2400", ())]
        self._rows: dict[str, list[Row]] = {}
        self.other_payers: list[tuple[Loop, str]] = [
            (other, _payer(other)) for other in by.get("2320", ())
        ]
        """Each other coverage (2320) with the id of its payer."""
        self.decisions: list[tuple[Loop, Row, str]] = [
            (decision, decision.items[0], value_at(decision.items[0], 1))
            for line in self.lines
            if "2430" in line.by_id
            for decision in line.by_id["2430"]
        ]
        """Each line adjudication (2430) with its SVD and the id of its payer."""
        self.codes = [
            (row, number, *_pair(text))
            for row in by.get("HI", ())
            for number, text in enumerate(row)
            if number and text
        ]
        """(HI segment, element, code list, code) of every health care code."""
        self.diagnoses = 0
        """How many diagnoses a pointer may refer to: those of the HI with the principal one."""
        for row, number, listed, _ in self.codes:
            if number == 1 and listed in DIAGNOSES:
                self.diagnoses = len(row) - 1 - row.count("")
                break

    def first(self, id: str, qualifier: str) -> Row | None:
        """Return the first own segment with this id and qualifier, or None."""
        for row in self.by_id.get(id, ()):
            if value_at(row, 1) == qualifier:
                found: Row = row
                return found
        return None

    def all_segments(self, id: str) -> list[Row]:
        """Return the segments with this id in the claim and in its lines."""
        rows = self._rows.get(id)
        if rows is None:
            rows = self._rows[id] = list(self.by_id.get(id, ()))
            for line in self.lines:
                if id in line.by_id:
                    rows += line.by_id[id]
        return rows


def claim_parts(loop: Loop, ctx: RuleContext) -> ClaimParts:
    """Return the indexed claim of a closing loop; made once for all its rules."""
    cached: ClaimParts | None = ctx.set_state.get(STATE)
    if cached is None or cached.loop is not loop:
        cached = ctx.set_state[STATE] = ClaimParts(loop, ctx.kind)
    return cached


def set_date(ctx: RuleContext) -> str:
    """Return the date of the set (BHT04), read once per set; empty if it is malformed."""
    day: str | None = ctx.set_state.get(SET_DATE)
    if day is None:
        day = value_at(ctx.open[0].segment("BHT"), 4) if ctx.open else ""
        day = ctx.set_state[SET_DATE] = day if len(day) == 8 else ""
    return day


def group_by_id(loop: Loop) -> dict[str, list[Any]]:
    """Return a loop's own segments and child loops in lists by id."""
    found: dict[str, list[Any]] = {}
    for item in loop.items:
        key: str = item[0] if item.__class__ is list else item.node.id  # type: ignore[union-attr]  # no segment, so a loop
        if key in found:
            found[key].append(item)
        else:
            found[key] = [item]
    return found


def value_at(row: Row | None, number: int, component: int = 0) -> str:
    """Return an element or a component; empty if there is none."""
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
