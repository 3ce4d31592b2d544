"""A 277CA or a 277 as statuses, and the 276 that asks for them.

Each level (who answers, who is answered, the provider, the patient) is a ``Tier`` that holds the next ones;
a status may stand at every level. Knows status loops; knows no claim that was sent.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    KINDS,
    Below,
    Composite,
    Row,
    Sorter,
    Value,
    each,
    fill,
    into,
    once,
)


class Code(Value, frozen=True):
    """One status: its category, the status itself, and whom it concerns."""

    category: str = ""
    category_words: str = ""
    status: str = ""
    status_words: str = ""
    entity: str = ""
    entity_words: str = ""
    code_list: str = ""


class Status(Value, frozen=True):
    """STC: up to three codes that are told together."""

    codes: tuple[Code, ...] = ()
    day: date | None = None
    action: str = ""
    """In a 277CA: WQ accepted, U refused."""
    charged: Decimal | None = None
    paid: Decimal | None = None
    decided: date | None = None
    method: str = ""
    method_words: str = ""
    paid_on: date | None = None
    check: str = ""
    message: str = ""

    @property
    def accepted(self) -> bool:
        """Whether a claim acknowledgement takes it in."""
        return self.action == "WQ"


class Line(Value, frozen=True):
    """A service line of a claim."""

    procedure: shared_types.Procedure | None = None
    charged: Decimal | None = None
    paid: Decimal | None = None
    revenue: str = ""
    units: Decimal | None = None
    statuses: tuple[Status, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    other: tuple[list[str], ...] = ()


class Report(Value, frozen=True):
    """What is told, or asked, about one trace: a claim, or a level as a whole."""

    trace: shared_types.Trace | None = None
    statuses: tuple[Status, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    amounts: tuple[shared_types.Amount, ...] = ()
    quantities: tuple[shared_types.Quantity, ...] = ()
    lines: tuple[Line, ...] = ()
    other: tuple[list[str], ...] = ()


class Tier(Value, frozen=True):
    """One level."""

    level: shared_types.Level | None = None
    parties: tuple[shared_types.Party, ...] = ()
    birth: date | None = None
    sex: str = ""
    marital: str = ""
    reports: tuple[Report, ...] = ()
    tiers: tuple["Tier", ...] = ()
    other: tuple[list[str], ...] = ()


class Statuses(Value, frozen=True, tag_field="view", tag="statuses"):
    """All of a 276, 277 or 277CA."""

    start: shared_types.Start | None = None
    heading: shared_types.Heading | None = None
    tiers: tuple[Tier, ...] = ()
    end: shared_types.End | None = None
    other: tuple[list[str], ...] = ()

    @property
    def claims(self) -> Iterator[Report]:
        """The reports about claims: those of patients."""
        for tier in _all(self.tiers):
            if tier.level is not None and tier.level.code in PATIENTS:
                yield from tier.reports


PATIENTS = frozenset({"PT", "22", "23"})
"""HL03 of the levels that hold claims."""


def _all(tiers: tuple[Tier, ...]) -> Iterator[Tier]:
    for tier in tiers:
        yield tier
        yield from _all(tier.tiers)


KINDS["status"] = Composite(
    Code, "category?status_categories status?statuses entity?entities code_list"
)
_STATUS = (
    "codes+=status day! action charged$ paid$ decided! method?payment_methods paid_on! check"
    " codes+=status codes+=status message"
)
_FACTS: dict[str, Row] = {
    "STC": each("statuses", into(Status, _STATUS)),
    "REF": shared_types.REFERENCES,
    "DTP": shared_types.DATES,
}
LINE = Sorter(
    Line, {**_FACTS, "SVC": fill("procedure=procedure charged$ paid$ revenue - - units$")}
)
REPORT = Sorter(
    Report,
    {
        **_FACTS,
        "TRN": once("trace", shared_types.TRACE),
        "AMT": shared_types.AMOUNTS,
        "QTY": shared_types.QUANTITIES,
    },
    loops=dict.fromkeys(("2210D", "2210E", "2220D", "2220E"), Below("lines", LINE)),
)
_LETTERS = "ABCDE"
_ROWS: dict[str, Row] = {"HL": shared_types.LEVEL, "DMG": shared_types.BIRTH}


def _tier(letters: str) -> Sorter:
    """The level of the first letter, with the levels of the others inside it."""
    letter, below = letters[0], letters[1:]
    loops = {
        f"2100{letter}": Below("parties", shared_types.PARTY),
        f"2200{letter}": Below("reports", REPORT),
    }
    if below:
        loops[f"2000{below[0]}"] = Below("tiers", _tier(below))
    return Sorter(Tier, _ROWS, loops=loops)


SET = Sorter(Statuses, shared_types.FRAME, loops={"2000A": Below("tiers", _tier(_LETTERS))})
