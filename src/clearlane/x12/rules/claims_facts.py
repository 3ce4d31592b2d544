"""A claim of an 837 laid out once, so that every rule about it finds its parts without a search.

Knows the segments of a claim loop; holds no rule.
"""

from collections.abc import Iterator
from typing import Any

from clearlane.x12.rules import Context, cents
from clearlane.x12.tree import Loop

CLAIM_KINDS = ("837P", "837D", "837I")
STATE = "837-claim"

# Where each kind keeps the service of a line: segment, charge, procedure.
SERVICE = {"837P": ("SV1", 2, 1), "837D": ("SV3", 2, 1), "837I": ("SV2", 3, 2)}

ICD10 = frozenset({"ABK", "ABF", "ABJ", "APR", "ABN", "BBR", "BBQ"})
ICD9 = frozenset({"BK", "BF", "BJ", "PR", "BN", "BR", "BQ"})
DIAGNOSES = frozenset({"ABK", "BK", "ABF", "BF", "TQ"})

Row = list[str]


class Line:
    """One service line."""

    __slots__ = ("by", "charge", "loop", "name", "procedure", "service")

    def __init__(self, loop: Loop, kind: str) -> None:
        self.loop = loop
        self.by = by_id(loop)
        id, charge_at, procedure_at = SERVICE[kind]
        found = self.by.get(id)
        self.service: Row | None = found[0] if found else None
        self.charge = cents(at(self.service, charge_at)) if self.service else None
        self.procedure = at(self.service, procedure_at).split(":") if self.service else []
        """The components of the procedure: list, code, up to four modifiers, description."""
        self.name = f"{id}{procedure_at:02}"
        """How messages call the procedure, such as SV101."""


class Claim:
    """One claim: its segments by id, its lines, its diagnoses."""

    __slots__ = ("by", "clm", "codes", "decisions", "diagnoses", "lines", "loop", "others", "parts")

    def __init__(self, loop: Loop, kind: str) -> None:
        self.loop = loop
        self.by = by_id(loop)
        self.clm: Row = self.by["CLM"][0]
        self.lines = [Line(line, kind) for line in self.by.get("2400", ())]
        self.parts = [self.by, *(line.by for line in self.lines)]
        """The segments of the claim itself, then those of each line."""
        self.others: list[tuple[Loop, str]] = [
            (other, _payer(other)) for other in self.by.get("2320", ())
        ]
        """Each other coverage with the id of its payer."""
        self.decisions: list[tuple[Loop, Row, str]] = [
            (decision, decision.items[0], at(decision.items[0], 1))
            for line in self.lines
            for decision in line.by.get("2430", ())
        ]
        """Each line decision with its SVD and the id of its payer."""
        self.codes = [
            (row, number, *_pair(text))
            for row in self.by.get("HI", ())
            for number, text in enumerate(row[1:], 1)
            if text
        ]
        """(HI segment, element, code list, code) of every health care code."""
        self.diagnoses = 0
        """How many a pointer may point at: those of the HI that holds the principal one."""
        for row in self.by.get("HI", ()):
            if at(row, 1).partition(":")[0] in DIAGNOSES:
                self.diagnoses = sum(1 for text in row[1:] if text)
                break

    def first(self, id: str, qualifier: str) -> Row | None:
        """The first own segment of this id and qualifier."""
        return next((row for row in self.by.get(id, ()) if at(row, 1) == qualifier), None)

    def every(self, id: str) -> Iterator[Row]:
        """The segments of this id in the claim and in its lines."""
        for part in self.parts:
            if id in part:
                yield from part[id]


def claim(loop: Loop, ctx: Context) -> Claim:
    """The claim of a closing loop, laid out once for all its rules."""
    held: Claim | None = ctx.state.get(STATE)
    if held is None or held.loop is not loop:
        held = ctx.state[STATE] = Claim(loop, ctx.kind)
    return held


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
