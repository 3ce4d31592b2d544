"""Adjudicate claims by an invented plan: fee schedule and benefits.

    decision, used = decide(claim, member, today)

The same claim of the same member with the same history is always decided alike. Amounts are rounded to the
cent, halves up. Knows claims as the payer read them; knows no file, no scenario and no clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from clearlane.sandbox import facility_plan
from clearlane.sandbox.model import (
    PATIENT,
    ZERO,
    Adjustment,
    Claim,
    Decision,
    LineDecision,
    Member,
    PlanUsage,
    ServiceLine,
    YearUsage,
)

CENT = Decimal("0.01")
PROCESSED_CODE_BY_ORDER = {"P": "1", "S": "2"}
"""CLP02 by SBR01; every other order is reported as tertiary."""
TERTIARY = "3"
PREDETERMINED = "25"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCategory:
    """Coverage of a kind of service."""

    name: str
    prefixes: tuple[str, ...]
    """Prefixes of its procedure codes; the longest match decides."""
    pays: Decimal
    """Share that the plan pays after the deductible."""
    deductible: bool = True
    copay: Decimal = ZERO
    """Amount the patient pays once per claim instead of deductible and coinsurance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTerms:
    """Terms of a plan."""

    fees: Mapping[str, Decimal]
    """Allowed amount for a unit of a service."""
    other: Decimal
    """Allowed share of the charge for every other service."""
    deductible: Decimal
    """Deductible of a patient in a year."""
    maximum: Decimal | None
    """Most that the plan pays for a patient in a year."""
    categories: tuple[ServiceCategory, ...]
    bundles: Mapping[str, frozenset[str]]
    """Services that are part of any of these on the same day."""
    limits: Mapping[str, int]
    """How often a service is covered in a year."""
    price: Callable[[Claim], Sequence[Decimal]] | None = None
    """What is allowed of each line of a claim; None: by the fees."""


def _amounts(rows: Mapping[str, int]) -> dict[str, Decimal]:
    return {code: Decimal(amount) for code, amount in rows.items()}


MEDICAL = PlanTerms(
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
        ServiceCategory(name="Office visits", prefixes=("992",), pays=Decimal(1), deductible=False, copay=Decimal(25)),
        ServiceCategory(name="Preventive visits", prefixes=("9938", "9939"), pays=Decimal(1), deductible=False),
        ServiceCategory(name="All other services", prefixes=("",), pays=Decimal("0.80")),
    ),
    bundles={"36415": frozenset({"80053", "85025"})},
    limits={"99385": 1, "99386": 1, "99395": 1, "99396": 1},
)  # fmt: skip

DENTAL = PlanTerms(
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
        ServiceCategory(name="Diagnostic and preventive", prefixes=("D0", "D1"), pays=Decimal(1), deductible=False),
        ServiceCategory(name="Basic", prefixes=("D2", "D3", "D4", "D7", "D9"), pays=Decimal("0.80")),
        ServiceCategory(name="Major", prefixes=("D25", "D26", "D27", "D5", "D6"), pays=Decimal("0.50")),
        ServiceCategory(name="Orthodontics and all other services", prefixes=("",), pays=Decimal("0.50")),
    ),
    bundles={"D0220": frozenset({"D0210"}), "D0274": frozenset({"D0210"})},
    limits={"D0120": 2, "D0274": 1, "D1110": 2, "D1120": 2, "D1206": 2},
)  # fmt: skip

FACILITY = PlanTerms(
    fees=facility_plan.FEES,
    other=facility_plan.SHARE,
    deductible=Decimal(500),
    maximum=None,
    categories=(ServiceCategory(name="Care in a facility", prefixes=("",), pays=Decimal("0.80")),),
    bundles={},
    limits={},
    price=facility_plan.allowed_amounts,
)
"""Stays by group or day, others by the line: no real pricing."""

TERMS = {"837P": MEDICAL, "837D": DENTAL, "837I": FACILITY}


def decide(claim: Claim, member: Member, today: date) -> tuple[Decision, PlanUsage]:
    """Decide a claim; return the decision and what it uses of the plan."""
    adjudication = _Adjudication(claim, TERMS[claim.kind], member, today)
    lines = tuple(map(adjudication.line, range(len(claim.lines))))
    if claim.predetermination:
        return Decision(code=PREDETERMINED, lines=tuple(map(_predetermined, lines))), PlanUsage()
    used = PlanUsage(years=adjudication.years, service_counts=adjudication.times)
    return Decision(code=processed_code(claim), lines=lines), used


def processed_code(claim: Claim) -> str:
    """Return CLP02 of a claim of a known patient, paid or denied."""
    return PROCESSED_CODE_BY_ORDER.get(claim.order, TERTIARY)


def category_of(terms: PlanTerms, code: str) -> ServiceCategory:
    """Return the category with the longest matching prefix."""
    fitting = [
        (len(prefix), -at, category)
        for at, category in enumerate(terms.categories)
        for prefix in category.prefixes
        if code.startswith(prefix)
    ]
    return max(fitting, key=lambda found: found[:2])[2]


def cents(amount: Decimal) -> Decimal:
    """Round an amount to the cent, halves up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def adjusted_line(charge: Decimal, paid: Decimal, *parts: tuple[str, str, Decimal]) -> LineDecision:
    """Return a paid line with its nonzero adjustments; allowed is the charge less write-offs (CO)."""
    nonzero = tuple(Adjustment(group=g, reason=r, amount=a) for g, r, a in parts if a)
    withheld = sum((one.amount for one in nonzero if one.group == "CO"), ZERO)
    return LineDecision(paid=paid, adjustments=nonzero, allowed=charge - withheld)


def denied_line(charge: Decimal, group: str, reason: str, remark: str = "") -> LineDecision:
    """Return the decision on an unpaid line."""
    parts = (Adjustment(group=group, reason=reason, amount=charge),) if charge else ()
    remarks = (remark,) if remark else ()
    return LineDecision(paid=ZERO, adjustments=parts, remarks=remarks, denied=True)


def add_usage(one: PlanUsage, other: PlanUsage, sign: int = 1) -> PlanUsage:
    """Add two usages; with ``sign`` -1 subtract the second, for a reversal."""
    years = dict(one.years)
    for year, spent in other.years.items():
        before = years.get(year, YearUsage())
        years[year] = YearUsage(
            deductible=max(ZERO, before.deductible + sign * spent.deductible),
            paid=max(ZERO, before.paid + sign * spent.paid),
        )
    times = dict(one.service_counts)
    for key, number in other.service_counts.items():
        times[key] = max(0, times.get(key, 0) + sign * number)
    return PlanUsage(years=years, service_counts=times)


@dataclass(slots=True)
class _Adjudication:
    """State of deciding one claim."""

    claim: Claim
    terms: PlanTerms
    member: Member
    today: date
    years: dict[str, YearUsage] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    copaid: bool = False
    allowed: Sequence[Decimal] = ()
    """What is allowed of each line, if the plan prices claims as a whole."""

    def __post_init__(self) -> None:
        if self.terms.price is not None:
            self.allowed = self.terms.price(self.claim)

    def line(self, at: int) -> LineDecision:
        """Decide a service line."""
        line = self.claim.lines[at]
        if self._bundled(line):
            return denied_line(line.charge, "CO", "97", "M15")
        if self._too_often(line):
            return denied_line(line.charge, PATIENT, "119", "N362")
        allowed = self.allowed[at] if self.allowed else self._allowed(line)
        shares = self._shares(line, allowed)
        prior = self._paid_by_others(line)
        if prior and self.claim.order != "P":
            shares = _shares_after_other_payers(allowed, shares, prior)
        paid = allowed - sum(shares.values(), ZERO)
        paid = self._within_the_maximum(line, paid, shares)
        parts = [("CO", "45", line.charge - allowed)]
        parts += [(group, reason, amount) for (group, reason), amount in shares.items()]
        return adjusted_line(line.charge, paid, *parts)

    def _year(self, line: ServiceLine) -> str:
        return str((line.first or self.today).year)

    def _spent(self, year: str) -> YearUsage:
        before, mine = self.member.years.get(year, YearUsage()), self.years.get(year, YearUsage())
        return YearUsage(
            deductible=before.deductible + mine.deductible, paid=before.paid + mine.paid
        )

    def _spend(self, year: str, deductible: Decimal, paid: Decimal) -> None:
        mine = self.years.get(year, YearUsage())
        self.years[year] = YearUsage(deductible=mine.deductible + deductible, paid=mine.paid + paid)

    def _bundled(self, line: ServiceLine) -> bool:
        whole = self.terms.bundles.get(line.code, frozenset())
        return any(other.code in whole and other.first == line.first for other in self.claim.lines)

    def _too_often(self, line: ServiceLine) -> bool:
        most = self.terms.limits.get(line.code)
        if most is None:
            return False
        key = f"{self._year(line)}/{line.code}"
        had = self.member.service_counts.get(key, 0) + self.times.get(key, 0)
        if had >= most:
            return True
        self.times[key] = self.times.get(key, 0) + 1
        return False

    def _allowed(self, line: ServiceLine) -> Decimal:
        fee = self.terms.fees.get(line.code)
        worth = line.charge * self.terms.other if fee is None else fee * line.units
        return min(line.charge, cents(worth))

    def _shares(self, line: ServiceLine, allowed: Decimal) -> dict[tuple[str, str], Decimal]:
        """Return the patient's part of the allowed amount, by group and reason."""
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

    def _paid_by_others(self, line: ServiceLine) -> Decimal:
        """Return what earlier payers paid for a line: as reported, else its share of what they paid for the claim."""
        if line.paid_by_others is not None or not self.claim.charge:
            return line.paid_by_others or ZERO
        return cents(self.claim.paid_by_others * line.charge / self.claim.charge)

    def _within_the_maximum(
        self, line: ServiceLine, paid: Decimal, shares: dict[tuple[str, str], Decimal]
    ) -> Decimal:
        year = self._year(line)
        if self.terms.maximum is not None:
            left = max(ZERO, self.terms.maximum - self._spent(year).paid)
            shares[PATIENT, "119"] = paid - min(paid, left)
            paid = min(paid, left)
        self._spend(year, ZERO, paid)
        return paid


def _shares_after_other_payers(
    allowed: Decimal, shares: Mapping[tuple[str, str], Decimal], before: Decimal
) -> dict[tuple[str, str], Decimal]:
    """Return the shares of a later payer, which pays at most what earlier ones left of the allowed amount."""
    covered = min(before, allowed)
    paid = min(allowed - sum(shares.values(), ZERO), allowed - covered)
    owed = allowed - covered - paid
    reduced = {}
    for key, amount in shares.items():
        reduced[key] = min(amount, owed)
        owed -= reduced[key]
    return {**reduced, ("OA", "23"): covered}


def _predetermined(line: LineDecision) -> LineDecision:
    """Return a line that is priced and not paid: the payment becomes adjustment OA-101."""
    parts = line.adjustments
    if line.paid:
        parts = (*parts, Adjustment(group="OA", reason="101", amount=line.paid))
    return LineDecision(paid=ZERO, adjustments=parts, remarks=line.remarks, allowed=line.allowed)
