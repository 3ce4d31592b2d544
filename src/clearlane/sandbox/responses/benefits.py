"""Benefit plans as tables, and the benefits of a member.

``simple_benefits`` answers an inquiry from the plan; a member's figures depend on the member id and the day alone.
Knows plans; knows no file and no scenario.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

HEALTH, DENTAL_CARE = "30", "35"
ACTIVE, SHARE, COPAY, DEDUCTIBLE, LIMIT, STOP_LOSS = "1", "A", "B", "C", "F", "G"
NOT_COVERED, CANNOT = "I", "V"
ONE, FAMILY = "IND", "FAM"
YEAR, VISIT, REMAINING = "23", "27", "29"
INSIDE, OUTSIDE, EITHER = "Y", "N", "W"
MONTHS = 12

DateRow = tuple[str, date, date]
"""A date qualifier with the first and last day."""
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """An entity related to a benefit (loop 2120)."""

    role: str
    entity: str
    name: str
    first: str = ""
    qualifier: str
    number: str
    street: str = ""
    city: tuple[str, ...] = ()
    telephone: str = ""
    taxonomy: str = ""
    """The specialty of a primary care provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benefit:
    """One EB with its loop."""

    kind: str
    level: str = ""
    services: tuple[str, ...] = ()
    insurance: str = ""
    plan: str = ""
    period: str = ""
    amount: Decimal | None = None
    share: Decimal | None = None
    unit: str = ""
    quantity: Decimal | None = None
    authorized: str = ""
    network: str = ""
    procedure: tuple[str, ...] = ()
    deliveries: tuple[Row, ...] = ()
    """Elements of each HSD; the following fields likewise."""
    references: tuple[Row, ...] = ()
    dates: tuple[DateRow, ...] = ()
    refusals: tuple[Row, ...] = ()
    messages: tuple[str, ...] = ()
    conditions: tuple[Row, ...] = ()
    parties: tuple[Party, ...] = ()

    def row(self) -> Row:
        """Return the EB segment."""
        return (
            "EB", self.kind, self.level, list(self.services), self.insurance, self.plan, self.period,
            self.amount, self.share, self.unit, self.quantity, self.authorized, self.network,
            self.procedure,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A benefit plan."""

    name: str
    insurance: str
    main: str
    """Service type if the inquiry names none."""
    listed: tuple[str, ...]
    """Service types in the response to an inquiry about the whole plan."""
    dental: bool
    deductibles: tuple[int, ...]
    """Amounts that a member's figure is chosen from; the following fields likewise."""
    stop_losses: tuple[int, ...]
    copays: tuple[int, ...]
    shares: tuple[str, ...]
    maximums: tuple[int, ...] = ()
    visits: dict[str, int] = field(default_factory=dict)
    """Service types with a copayment, as multiples of the member's; the others have a coinsurance."""
    tiers: dict[str, str] = field(default_factory=dict)
    """Service types whose coinsurance is fixed by the plan."""
    outside: Decimal = Decimal("0.2")
    """Added to the coinsurance outside the network."""

    def covers(self, service: str) -> bool:
        """Return whether a service type is part of the plan."""
        return service == HEALTH or (service in DENTAL_SERVICES) == self.dental


DENTAL_SERVICES = frozenset(
    ("23", "24", "25", "26", "27", "28", "35", "36", "37", "38", "39", "40", "41")
)
MEDICAL = Plan(
    name="FERNLEAF OPEN CHOICE",
    insurance="PR",
    main=HEALTH,
    listed=("1", "33", "47", "48", "50", "86", "88", "98", "AL", "MH", "UC"),
    dental=False,
    deductibles=(250, 500, 1000, 1500, 3000),
    stop_losses=(3000, 4000, 6000, 8000),
    copays=(15, 20, 25, 30, 40),
    shares=("0.1", "0.2", "0.3"),
    visits={"98": 1, "33": 1, "MH": 1, "AL": 1, "BY": 1, "BZ": 1, "UC": 2, "52": 5, "86": 5},
)
DENTAL = Plan(
    name="FERNLEAF DENTAL CHOICE",
    insurance="PR",
    main=DENTAL_CARE,
    listed=("23", "24", "25", "26", "35", "36", "38", "39", "40", "41"),
    dental=True,
    deductibles=(25, 50, 75, 100),
    stop_losses=(),
    copays=(10,),
    shares=("0.2",),
    maximums=(1000, 1500, 2000),
    tiers={"23": "0", "41": "0", "36": "0.5", "38": "0.5", "39": "0.5", "27": "0.5"},
)


@dataclass(frozen=True, slots=True)
class MemberFigures:
    """A member's figures, the same for the same member id and day."""

    plan: Plan
    deductible: Decimal
    stop_loss: Decimal
    maximum: Decimal
    copay: Decimal
    share: Decimal
    used: Decimal
    """Used share of the year's deductible, stop loss and maximum."""
    group: str
    since: date

    def left(self, amount: Decimal) -> Decimal:
        """Return what remains of an amount."""
        return (amount * (1 - self.used)).quantize(Decimal("0.01"))


def figures_of(plan: Plan, member: str, day: date) -> MemberFigures:
    """Return a member's figures on a day: the deductible of January is used by December."""
    mark = zlib.crc32(f"{plan.name}/{member}".encode())
    return MemberFigures(
        plan,
        Decimal(_pick(plan.deductibles, mark)),
        Decimal(_pick(plan.stop_losses, mark >> 3)),
        Decimal(_pick(plan.maximums, mark >> 6)),
        Decimal(_pick(plan.copays, mark >> 9)),
        Decimal(_pick(plan.shares, mark >> 12)),
        Decimal(day.month - 1) / MONTHS,
        f"G{mark % 100_000:05}",
        date(day.year - 1 - (mark >> 15) % 5, 1 + (mark >> 18) % MONTHS, 1),
    )


def simple_benefits(
    own: MemberFigures,
    services: Sequence[str],
    procedures: Iterable[tuple[str, ...]],
    *,
    family: bool,
) -> list[Benefit]:
    """Return the plan's benefits for the services and procedures of an inquiry."""
    inquired = list(dict.fromkeys(services))
    covered = [one for one in inquired if own.plan.covers(one)]
    missing = tuple(one for one in inquired if not own.plan.covers(one))
    found = list(_covered(own, covered, family=family)) if covered else []
    if missing:
        found.append(Benefit(kind=NOT_COVERED, level=ONE, services=missing))
    named = (
        Benefit(kind=ACTIVE, level=ONE, plan=own.plan.name, procedure=one) for one in procedures
    )
    return [*found, *named]


def _covered(own: MemberFigures, inquired: list[str], *, family: bool) -> Iterator[Benefit]:
    plan = own.plan
    whole = HEALTH in inquired or plan.main in inquired
    listed = list(dict.fromkeys([*inquired, *(plan.listed if whole else ())]))
    head = tuple(one for one in inquired if one in {HEALTH, plan.main}) or tuple(inquired)
    yield Benefit(kind=ACTIVE, level=ONE, services=head, insurance=plan.insurance, plan=plan.name)
    rest = tuple(one for one in listed if one not in head)
    if rest:
        yield Benefit(kind=ACTIVE, level=ONE, services=rest)
    for level, times in ((ONE, 1), (FAMILY, 2))[: 2 if family else 1]:
        yield from _yearly(own, DEDUCTIBLE, level, head, own.deductible * times)
        yield from _yearly(own, STOP_LOSS, level, head, own.stop_loss * times)
        yield from _yearly(own, LIMIT, level, head, own.maximum * times)
    yield from _shares(own, [one for one in listed if one != HEALTH])


def _yearly(
    own: MemberFigures, kind: str, level: str, services: tuple[str, ...], amount: Decimal
) -> Iterator[Benefit]:
    """Yield a yearly amount and what remains of it."""
    if amount:
        year = Benefit(
            kind=kind, level=level, services=services, period=YEAR, amount=amount, network=INSIDE
        )
        yield year
        yield replace(year, period=REMAINING, amount=own.left(amount))


def _shares(own: MemberFigures, services: list[str]) -> Iterator[Benefit]:
    """Yield the member's copayment or coinsurance of each service type, equal ones together."""
    copays: dict[int, list[str]] = {}
    shares: dict[Decimal, list[str]] = {}
    for one in services:
        times = own.plan.visits.get(one, 0)
        if times:
            copays.setdefault(times, []).append(one)
        else:
            share = Decimal(own.plan.tiers.get(one, own.share))
            shares.setdefault(share, []).append(one)
    for times, alike in copays.items():
        yield Benefit(
            kind=COPAY,
            level=ONE,
            services=tuple(alike),
            period=VISIT,
            amount=own.copay * times,
            network=INSIDE,
        )
    for share, alike in shares.items():
        inside = Benefit(kind=SHARE, level=ONE, services=tuple(alike), share=share, network=INSIDE)
        yield inside
        yield replace(inside, share=share + own.plan.outside, network=OUTSIDE)


def _pick(choices: Sequence[int] | Sequence[str], mark: int) -> int | str:
    return choices[mark % len(choices)] if choices else 0
