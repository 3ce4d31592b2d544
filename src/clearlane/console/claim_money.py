"""The money of a claim's lines in columns: what the patient owes by kind, what was written off, and what was denied.

Knows adjustments; knows no page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from clearlane.payments.payment import ClaimOccurrence, LineAdjustment, PaidLine

PATIENT_COLUMNS = {"1": "deductible", "2": "coinsurance", "3": "copay"}
"""The column of what the patient owes (group PR), by reason."""
COLUMN_TITLES = {
    "deductible": "Deductible",
    "coinsurance": "Coinsurance",
    "copay": "Copay",
    "other": "Patient owes else",
    "write_off": "Write-off",
    "denied": "Denied",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMoney:
    """One line's amounts in cents, each adjustment in one column."""

    line: PaidLine = field(repr=False)
    deductible: int = 0
    coinsurance: int = 0
    copay: int = 0
    write_off: int = 0
    denied: int = 0
    other: int = 0
    """What the patient owes for another reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyTable:
    """The lines of a decision, and the sums of the columns."""

    lines: Sequence[LineMoney]
    total: dict[str, int]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The columns beside charge, allowed and paid in which some line has an amount: name and title."""
        return [(name, title) for name, title in COLUMN_TITLES.items() if self.total[name]]


def money_table(occurrence: ClaimOccurrence) -> MoneyTable:
    """Return the lines of a decision with their amounts in columns."""
    lines = [
        LineMoney(line=one, **_columns(one.adjustments, denied=one.paid == 0))
        for one in occurrence.lines
    ]
    return MoneyTable(
        lines=lines,
        total={name: sum(getattr(one, name) for one in lines) for name in COLUMN_TITLES},
    )


def _columns(adjustments: Iterable[LineAdjustment], *, denied: bool) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in adjustments:
        column = "write_off"
        if one.denial and denied:
            column = "denied"
        elif one.group == "PR":
            column = PATIENT_COLUMNS.get(one.reason, "other")
        found[column] = found.get(column, 0) + one.amount
    return found
