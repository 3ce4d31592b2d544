"""The plan that a sandbox payer adjudicates by: an invented fee schedule and invented benefits.

    decision, used = decide(claim, member, today)

The same claim of the same member with the same history is always decided alike. Amounts are rounded to the
cent, halves up. Knows claims as the payer read them; knows no file, no scenario and no clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from clearlane.sandbox.model import (
    DENIED,
    PATIENT,
    ZERO,
    Adjustment,
    Claim,
    Decision,
    Line,
    LineDecision,
    Member,
    Used,
    Year,
)

CENT = Decimal("0.01")
PROCESSED = {"P": "1", "S": "2"}
"""CLP02 by the payer's turn (SBR01); every later turn is told as tertiary."""
TERTIARY = "3"
PREDETERMINED = "25"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """How a kind of service is covered."""

    name: str
    prefixes: tuple[str, ...]
    """How its codes begin; the longest match decides."""
    pays: Decimal
    """The share the plan pays after the deductible."""
    deductible: bool = True
    copay: Decimal = ZERO
    """What the patient pays once a claim in place of deductible and coinsurance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a plan grants."""

    fees: Mapping[str, Decimal]
    """What the plan allows for a unit of a service."""
    other: Decimal
    """The share of the charge it allows for every other service."""
    deductible: Decimal
    """What a patient pays first in a year."""
    maximum: Decimal | None
    """What the plan pays for a patient in a year at most."""
    categories: tuple[Category, ...]
    bundles: Mapping[str, frozenset[str]]
    """Services that are part of one of these on the same day."""
    limits: Mapping[str, int]
    """How often a service is covered in a year."""


def _amounts(rows: Mapping[str, int]) -> dict[str, Decimal]:
    return {code: Decimal(amount) for code, amount in rows.items()}


MEDICAL = Terms(
    fees=_amounts(
        {
            "99202": 80, "99203": 115, "99204": 170, "99205": 220, "99212": 60, "99213": 90,
            "99214": 130, "99215": 180, "99385": 150, "99386": 160, "99395": 140, "99396": 150,
            "36415": 5, "71046": 40, "80053": 15, "85025": 10, "90471": 20, "93000": 25,
            "97110": 35, "20610": 75,
        }
    ),
    other=Decimal("0.70"),
    deductible=Decimal(100),
    maximum=None,
    categories=(
        Category(name="Office visits", prefixes=("992",), pays=Decimal(1), deductible=False, copay=Decimal(25)),
        Category(name="Preventive visits", prefixes=("9938", "9939"), pays=Decimal(1), deductible=False),
        Category(name="All other services", prefixes=("",), pays=Decimal("0.80")),
    ),
    bundles={"36415": frozenset({"80053", "85025"})},
    limits={"99385": 1, "99386": 1, "99395": 1, "99396": 1},
)  # fmt: skip

DENTAL = Terms(
    fees=_amounts(
        {
            "D0120": 40, "D0140": 60, "D0150": 70, "D0210": 110, "D0220": 25, "D0274": 55,
            "D1110": 85, "D1120": 65, "D1206": 35, "D2330": 140, "D2391": 150, "D2392": 190,
            "D2740": 1000, "D2750": 950, "D3310": 700, "D4341": 210, "D5110": 1200, "D7140": 150,
            "D8080": 4000,
        }
    ),
    other=Decimal("0.80"),
    deductible=Decimal(50),
    maximum=Decimal(1000),
    categories=(
        Category(name="Diagnostic and preventive", prefixes=("D0", "D1"), pays=Decimal(1), deductible=False),
        Category(name="Basic", prefixes=("D2", "D3", "D4", "D7", "D9"), pays=Decimal("0.80")),
        Category(name="Major", prefixes=("D25", "D26", "D27", "D5", "D6"), pays=Decimal("0.50")),
        Category(name="Orthodontics and all other services", prefixes=("",), pays=Decimal("0.50")),
    ),
    bundles={"D0220": frozenset({"D0210"}), "D0274": frozenset({"D0210"})},
    limits={"D0120": 2, "D0274": 1, "D1110": 2, "D1120": 2, "D1206": 2},
)  # fmt: skip

TERMS = {"837P": MEDICAL, "837D": DENTAL}


def decide(claim: Claim, member: Member, today: date) -> tuple[Decision, Used]:
    """What the plan pays for a claim, and what that uses up."""
    desk = _Desk(claim, TERMS[claim.kind], member, today)
    lines = tuple(desk.line(line) for line in claim.lines)
    if claim.predetermination:
        return Decision(code=PREDETERMINED, lines=tuple(map(_foretold, lines))), Used()
    decision = Decision(code=processed(claim), lines=lines)
    used = Used(years=desk.years, times=desk.times)
    if _nothing_covered(lines):
        decision = Decision(code=DENIED, lines=lines)
    return decision, used


def processed(claim: Claim) -> str:
    """CLP02 of a claim that is not denied."""
    return PROCESSED.get(claim.order, TERTIARY)


def category_of(terms: Terms, code: str) -> Category:
    """The category whose prefix fits the code best."""
    fitting = [
        (len(prefix), -at, category)
        for at, category in enumerate(terms.categories)
        for prefix in category.prefixes
        if code.startswith(prefix)
    ]
    return max(fitting, key=lambda found: found[:2])[2]


def cents(amount: Decimal) -> Decimal:
    """An amount rounded to the cent, halves up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def adjusted(charge: Decimal, paid: Decimal, *parts: tuple[str, str, Decimal]) -> LineDecision:
    """A line paid less some adjustments; those of nothing are left out. What is allowed is the rest of a write-off."""
    kept = tuple(Adjustment(group=g, reason=r, amount=a) for g, r, a in parts if a)
    withheld = sum((one.amount for one in kept if one.group == "CO"), ZERO)
    return LineDecision(paid=paid, adjustments=kept, allowed=charge - withheld)


def turned_down(charge: Decimal, group: str, reason: str, remark: str = "") -> LineDecision:
    """A line of which nothing is paid."""
    parts = (Adjustment(group=group, reason=reason, amount=charge),) if charge else ()
    return LineDecision(paid=ZERO, adjustments=parts, remarks=(remark,) if remark else ())


def plus(one: Used, other: Used, sign: int = 1) -> Used:
    """What two claims used up together; with ``sign`` -1 what is left when the second is taken back."""
    years = dict(one.years)
    for year, spent in other.years.items():
        before = years.get(year, Year())
        years[year] = Year(
            deductible=max(ZERO, before.deductible + sign * spent.deductible),
            paid=max(ZERO, before.paid + sign * spent.paid),
        )
    times = dict(one.times)
    for key, number in other.times.items():
        times[key] = max(0, times.get(key, 0) + sign * number)
    return Used(years=years, times=times)


@dataclass(slots=True)
class _Desk:
    """One claim while it is decided."""

    claim: Claim
    terms: Terms
    member: Member
    today: date
    years: dict[str, Year] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    copaid: bool = False

    def line(self, line: Line) -> LineDecision:
        """What is paid for a line."""
        if self._bundled(line):
            return turned_down(line.charge, "CO", "97", "M15")
        if self._too_often(line):
            return turned_down(line.charge, PATIENT, "119", "N362")
        allowed = self._allowed(line)
        shares = self._shares(line, allowed)
        prior = self._before(line)
        if prior and self.claim.order != "P":
            shares = _after_others(allowed, shares, prior)
        paid = allowed - sum(shares.values(), ZERO)
        paid = self._within_the_maximum(line, paid, shares)
        parts = [("CO", "45", line.charge - allowed)]
        parts += [(group, reason, amount) for (group, reason), amount in shares.items()]
        return adjusted(line.charge, paid, *parts)

    def _year(self, line: Line) -> str:
        return str((line.first or self.today).year)

    def _spent(self, year: str) -> Year:
        before, mine = self.member.years.get(year, Year()), self.years.get(year, Year())
        return Year(deductible=before.deductible + mine.deductible, paid=before.paid + mine.paid)

    def _spend(self, year: str, deductible: Decimal, paid: Decimal) -> None:
        mine = self.years.get(year, Year())
        self.years[year] = Year(deductible=mine.deductible + deductible, paid=mine.paid + paid)

    def _bundled(self, line: Line) -> bool:
        whole = self.terms.bundles.get(line.code, frozenset())
        return any(other.code in whole and other.first == line.first for other in self.claim.lines)

    def _too_often(self, line: Line) -> bool:
        most = self.terms.limits.get(line.code)
        if most is None:
            return False
        key = f"{self._year(line)}/{line.code}"
        had = self.member.times.get(key, 0) + self.times.get(key, 0)
        if had >= most:
            return True
        self.times[key] = self.times.get(key, 0) + 1
        return False

    def _allowed(self, line: Line) -> Decimal:
        fee = self.terms.fees.get(line.code)
        worth = line.charge * self.terms.other if fee is None else fee * line.units
        return min(line.charge, cents(worth))

    def _shares(self, line: Line, allowed: Decimal) -> dict[tuple[str, str], Decimal]:
        """What the patient owes of what is allowed."""
        category = category_of(self.terms, line.code)
        shares: dict[tuple[str, str], Decimal] = {}
        if category.copay and not self.copaid:
            self.copaid = True
            shares[PATIENT, "3"] = min(category.copay, allowed)
        rest = allowed - shares.get((PATIENT, "3"), ZERO)
        if category.deductible:
            year = self._year(line)
            left = max(ZERO, self.terms.deductible - self._spent(year).deductible)
            shares[PATIENT, "1"] = min(left, rest)
            self._spend(year, shares[PATIENT, "1"], ZERO)
            rest -= shares[PATIENT, "1"]
        shares[PATIENT, "2"] = rest - cents(rest * category.pays)
        return shares

    def _before(self, line: Line) -> Decimal:
        """What earlier payers paid for a line: as they told it, else its part of what they paid for the claim."""
        if line.before is not None or not self.claim.charge:
            return line.before or ZERO
        return cents(self.claim.before * line.charge / self.claim.charge)

    def _within_the_maximum(
        self, line: Line, paid: Decimal, shares: dict[tuple[str, str], Decimal]
    ) -> Decimal:
        year = self._year(line)
        if self.terms.maximum is not None:
            left = max(ZERO, self.terms.maximum - self._spent(year).paid)
            shares[PATIENT, "119"] = paid - min(paid, left)
            paid = min(paid, left)
        self._spend(year, ZERO, paid)
        return paid


def _after_others(
    allowed: Decimal, shares: Mapping[tuple[str, str], Decimal], before: Decimal
) -> dict[tuple[str, str], Decimal]:
    """The shares of a later payer: it pays at most what earlier ones left of what is allowed."""
    covered = min(before, allowed)
    paid = min(allowed - sum(shares.values(), ZERO), allowed - covered)
    owed = allowed - covered - paid
    kept = {}
    for key, amount in shares.items():
        kept[key] = min(amount, owed)
        owed -= kept[key]
    return {**kept, ("OA", "23"): covered}


def _foretold(line: LineDecision) -> LineDecision:
    """A line that is priced and not paid: what would be paid is told as an adjustment."""
    parts = line.adjustments
    if line.paid:
        parts = (*parts, Adjustment(group="OA", reason="101", amount=line.paid))
    return LineDecision(paid=ZERO, adjustments=parts, remarks=line.remarks, allowed=line.allowed)


def _nothing_covered(lines: tuple[LineDecision, ...]) -> bool:
    """Whether every line was turned down as a whole."""
    return all(line.remarks and not line.paid for line in lines)
