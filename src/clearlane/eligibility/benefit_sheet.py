"""One patient's benefits as a sheet that people read from the top: the verdict, what is left, then service by service.

    sheet = make_sheet(table, asked=("98",))
    sheet.verdict, sheet.facts, sheet.balances, sheet.groups

Console and commands render the same sheet, so that they agree. Figures are texts here; a figure that the payer does not
give is left out, and a column that no row fills with it. Knows no page and no terminal.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from clearlane.eligibility.benefit_table import Accumulator, BenefitRow, PatientTable
from clearlane.eligibility.coverage import PLAN_SERVICES, Verdict
from clearlane.kernel.formats import lower_first
from clearlane.x12 import codes

NOT_STATED = "not stated"
VISITS = ("98", "UC", "86")
"""Services whose copay is shown if the plan as a whole was asked about: visits of an office, urgent care, emergency."""
NETWORK_WORDS = {"In": "in network", "Out": "out of network", "Any": "any network"}
ACTIVE_WORDS = "Active coverage"


@dataclass(frozen=True, slots=True, repr=False)
class SheetBalance:
    """A deductible or an out-of-pocket maximum, and how much of it is left."""

    name: str
    left: Decimal
    total: Decimal | None

    @property
    def text(self) -> str:
        """The amounts in words."""
        of = "" if self.total is None else f" of {_money(self.total)}"
        return f"{_money(self.left)}{of}"

    @property
    def used_percent(self) -> int | None:
        """How much of it is used; None if that is not known."""
        if not self.total or not 0 <= self.left <= self.total:
            return None
        return int((self.total - self.left) * 100 / self.total)


@dataclass(frozen=True, slots=True, repr=False)
class SheetGroup:
    """The benefits of one service: a row of cells for each network and level, in the sheet's columns."""

    service: str
    coverage: str
    """Empty if it is active, which the verdict says."""
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BenefitSheet:
    """The sheet of one patient."""

    table: PatientTable
    verdict: Verdict
    facts: tuple[tuple[str, str], ...]
    balances: tuple[SheetBalance, ...]
    columns: tuple[str, ...]
    """The names of columns that hold something."""
    groups: tuple[SheetGroup, ...]
    without_figures: tuple[tuple[str, tuple[str, ...]], ...]
    """Services of which the payer states the coverage alone, by coverage."""


def make_sheet(table: PatientTable, asked: Sequence[str] = ()) -> BenefitSheet:
    """Return the sheet of a patient's benefits; ``asked`` are the codes of the service types asked about."""
    of_service: dict[str, list[BenefitRow]] = {}
    for row in table.rows:
        of_service.setdefault(row.service, []).append(row)
    with_figures = [row for row in table.rows if _figures(row)]
    columns = tuple(
        name for name, cell in COLUMNS.items() if any(cell(row) for row in with_figures)
    )
    groups = tuple(
        SheetGroup(
            service=service or "No service named",
            coverage=_not_active(rows),
            rows=tuple(tuple(COLUMNS[name](row) for name in columns) for row in rows if _figures(row)),
        )
        for service, rows in of_service.items()
        if any(map(_figures, rows))
    )  # fmt: skip
    plain: dict[str, list[str]] = {}
    for service, rows in of_service.items():
        if service and rows[0].coverage and not any(map(_figures, rows)):
            plain.setdefault(rows[0].coverage, []).append(service)
    return BenefitSheet(
        table=table,
        verdict=table.coverage.verdict,
        facts=tuple(_facts(table, asked)),
        balances=tuple(_balances(table)),
        columns=columns,
        groups=groups,
        without_figures=tuple((name, tuple(found)) for name, found in plain.items()),
    )


def _facts(table: PatientTable, asked: Sequence[str]) -> Iterator[tuple[str, str]]:
    coverage = table.coverage
    yield "Plan", ", ".join(table.plans) or NOT_STATED
    yield "Group", coverage.group or NOT_STATED
    yield "Covered", _period(coverage.begins, coverage.ends)
    yield "Primary care", coverage.primary_care or NOT_STATED
    if table.rows:
        yield from _copays(table, asked)


def _copays(table: PatientTable, asked: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the copay of each service asked about. One of no network or no service is no copay to collect."""
    of_plan = not set(asked) - PLAN_SERVICES
    found = False
    for code in VISITS if of_plan else asked:
        words = codes.load("service_types").get(code, code)
        texts = [
            f"{_money(row.copay)} {NETWORK_WORDS[row.network]}"
            for row in table.rows
            if row.service == words and row.copay is not None and row.network
        ]
        found = found or bool(texts)
        if texts or not of_plan:
            yield "Copay", f"{words}: {'; '.join(texts) or NOT_STATED}"
    if of_plan and not found:
        yield "Copay", NOT_STATED


def _balances(table: PatientTable) -> Iterator[SheetBalance]:
    """Yield what is left of the plan's deductibles and maximums, in the payer's order, deductibles first."""
    plan = {codes.load("service_types").get(code, code) for code in PLAN_SERVICES}
    for name, accumulator in ACCUMULATORS.items():
        for row in table.rows:
            found = accumulator(row)
            if row.service in plan and found.remaining is not None:
                level = lower_first(row.level)
                where = filter(None, (name, level, NETWORK_WORDS.get(row.network, "")))
                yield SheetBalance(", ".join(where), found.remaining, found.total)


def _not_active(rows: Sequence[BenefitRow]) -> str:
    words = next((row.coverage for row in rows if row.coverage), "")
    return "" if words == ACTIVE_WORDS else words


def _figures(row: BenefitRow) -> bool:
    return any(cell(row) for name, cell in COLUMNS.items() if name not in {"Network", "Level"})


def _period(begins: date | None, ends: date | None) -> str:
    if begins and ends:
        return f"{begins} to {ends}"
    if begins:
        return f"from {begins}"
    return f"until {ends}" if ends else NOT_STATED


def _money(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount:,.2f}"


def _used(accumulator: Accumulator) -> str:
    """Return what is used, if what is left is not known: people ask for what is left."""
    return _money(accumulator.used) if accumulator.remaining is None else ""


def _share(row: BenefitRow) -> str:
    return "" if row.coinsurance is None else f"{row.coinsurance:.0%}"


COLUMNS: dict[str, Callable[[BenefitRow], str]] = {
    "Network": lambda row: row.network,
    "Level": lambda row: row.level,
    "Copay": lambda row: _money(row.copay),
    "Coinsurance": _share,
    "Deductible": lambda row: _money(row.deductible.total),
    "Deductible used": lambda row: _used(row.deductible),
    "Deductible left": lambda row: _money(row.deductible.remaining),
    "Out of pocket": lambda row: _money(row.out_of_pocket.total),
    "Out of pocket used": lambda row: _used(row.out_of_pocket),
    "Out of pocket left": lambda row: _money(row.out_of_pocket.remaining),
}
"""The columns of the benefits by service, and the text of a row in each."""
ACCUMULATORS: dict[str, Callable[[BenefitRow], Accumulator]] = {
    "Deductible": lambda row: row.deductible,
    "Out of pocket": lambda row: row.out_of_pocket,
}
