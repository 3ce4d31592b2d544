"""View of a 277CA or a 277, and of the 276 that requests a 277.

Each level (payer, receiver, provider, patient) is a ``StatusLevelView`` that contains the next ones; a status may occur at
every level. Knows status loops; knows no claim that was sent.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    ELEMENT_READERS,
    Binding,
    ChildLoop,
    CompositeReader,
    View,
    ViewBuilder,
    append,
    fill,
    read_into,
    set_once,
)


class StatusCodeView(View, frozen=True):
    """One status: its category, the status itself, and the entity it concerns."""

    category: str = ""
    category_words: str = ""
    status: str = ""
    status_words: str = ""
    entity: str = ""
    entity_words: str = ""
    code_list: str = ""


class StatusView(View, frozen=True):
    """STC: up to three status codes that belong together."""

    codes: tuple[StatusCodeView, ...] = ()
    day: date | None = None
    action: str = ""
    """In a 277CA: WQ accepted, U rejected."""
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
        """Whether a claim acknowledgement accepts the claim."""
        return self.action == "WQ"


class StatusLineView(View, frozen=True):
    """A service line of a claim."""

    procedure: shared_types.ProcedureView | None = None
    charged: Decimal | None = None
    paid: Decimal | None = None
    revenue: str = ""
    units: Decimal | None = None
    statuses: tuple[StatusView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    other: tuple[list[str], ...] = ()


class StatusReportView(View, frozen=True):
    """The statuses, or the request, for one trace: a claim, or a level as a whole."""

    trace: shared_types.TraceView | None = None
    statuses: tuple[StatusView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    amounts: tuple[shared_types.AmountView, ...] = ()
    quantities: tuple[shared_types.QuantityView, ...] = ()
    lines: tuple[StatusLineView, ...] = ()
    other: tuple[list[str], ...] = ()


class StatusLevelView(View, frozen=True):
    """One level of the hierarchy."""

    level: shared_types.LevelView | None = None
    parties: tuple[shared_types.PartyView, ...] = ()
    birth: date | None = None
    sex: str = ""
    marital: str = ""
    reports: tuple[StatusReportView, ...] = ()
    tiers: tuple["StatusLevelView", ...] = ()
    other: tuple[list[str], ...] = ()


class StatusSetView(View, frozen=True, tag_field="view", tag="statuses"):
    """All of a 276, 277 or 277CA."""

    start: shared_types.SetHeaderView | None = None
    heading: shared_types.HeadingView | None = None
    tiers: tuple[StatusLevelView, ...] = ()
    end: shared_types.SetTrailerView | None = None
    other: tuple[list[str], ...] = ()

    @property
    def claims(self) -> Iterator[StatusReportView]:
        """The reports about claims: those at the levels of patients."""
        for tier in _all(self.tiers):
            if tier.level is not None and tier.level.code in PATIENTS:
                yield from tier.reports


PATIENTS = frozenset({"PT", "22", "23"})
"""HL03 of the levels that contain claims."""


def _all(tiers: tuple[StatusLevelView, ...]) -> Iterator[StatusLevelView]:
    for tier in tiers:
        yield tier
        yield from _all(tier.tiers)


ELEMENT_READERS["status"] = CompositeReader(
    StatusCodeView, "category?status_categories status?statuses entity?entities code_list"
)
_STATUS = (
    "codes+=status day! action charged$ paid$ decided! method?payment_methods paid_on! check"
    " codes+=status codes+=status message"
)
_FACTS: dict[str, Binding] = {
    "STC": append("statuses", read_into(StatusView, _STATUS)),
    "REF": shared_types.REFERENCES,
    "DTP": shared_types.DATES,
}
LINE = ViewBuilder(
    StatusLineView, {**_FACTS, "SVC": fill("procedure=procedure charged$ paid$ revenue - - units$")}
)
REPORT = ViewBuilder(
    StatusReportView,
    {
        **_FACTS,
        "TRN": set_once("trace", shared_types.TRACE),
        "AMT": shared_types.AMOUNTS,
        "QTY": shared_types.QUANTITIES,
    },
    loops=dict.fromkeys(("2210D", "2210E", "2220D", "2220E"), ChildLoop("lines", LINE)),
)
_LETTERS = "ABCDE"
_ROWS: dict[str, Binding] = {"HL": shared_types.LEVEL, "DMG": shared_types.BIRTH}


def _level_builder(letters: str) -> ViewBuilder:
    """Return the builder of the level of the first letter, with the levels of the other letters below it."""
    letter, below = letters[0], letters[1:]
    loops = {
        f"2100{letter}": ChildLoop("parties", shared_types.PARTY),
        f"2200{letter}": ChildLoop("reports", REPORT),
    }
    if below:
        loops[f"2000{below[0]}"] = ChildLoop("tiers", _level_builder(below))
    return ViewBuilder(StatusLevelView, _ROWS, loops=loops)


SET = ViewBuilder(
    StatusSetView, shared_types.FRAME, loops={"2000A": ChildLoop("tiers", _level_builder(_LETTERS))}
)
