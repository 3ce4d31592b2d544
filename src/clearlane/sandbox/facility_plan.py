"""Price the bills of facilities: by diagnosis related group, by the day, or by the line. Invented figures, no real pricing.

    price = price_of(claim)             # 6,720.00 for group 194, weight 0.96
    allowed_amounts(claim)              # the same, by line

A hospital stay from its first day to its last is priced by its group, if it has one that this payer knows: a base rate by
a weight, and a part of very high charges. Interim bills and stays elsewhere are priced by the day. What is allowed for a
stay is divided among its lines by their charges. Everyone else is paid by the line: a fee by procedure or revenue code, or
a share of the charge. Knows claims as the payer read them; knows no benefits and no file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

from clearlane.sandbox.model import ZERO, Claim, ServiceLine, Stay, total

CENT = Decimal("0.01")
STAYS = frozenset(["11", "18", "21", "28", "41", "65", "66", "86"])
"""Types of bill of stays."""
HOSPITAL_STAY = "11"
NOTICES = frozenset("ABCDE")
"""Frequencies of notices of an admission or election, which ask for no money."""
WHOLE_STAY = frozenset({"1", "7", "Q"})
"""Frequencies of bills from admission to discharge; others are priced by the day."""
BASE_RATE = Decimal(7000)
WEIGHTS: Mapping[str, Decimal] = MappingProxyType(
    {
        "193": Decimal("1.30"),
        "194": Decimal("0.96"),
        "195": Decimal("0.72"),
        "280": Decimal("1.60"),
        "343": Decimal("1.05"),
        "470": Decimal("1.90"),
        "775": Decimal("0.60"),
        "795": Decimal("0.20"),
        "871": Decimal("1.80"),
    }
)
"""Weights by diagnosis related group."""
DAY_RATES: Mapping[str, Decimal] = MappingProxyType(
    {"11": Decimal(900), "18": Decimal(450), "21": Decimal(380), "28": Decimal(400)}
)
OTHER_DAY_RATE = Decimal(300)
"""What a day is worth by type of bill."""
FEES: Mapping[str, Decimal] = MappingProxyType(
    {
        "80053": Decimal(15),
        "99284": Decimal(420),
        "97110": Decimal(35),
        "0651": Decimal(200),
        "0821": Decimal(240),
    }
)
"""What a unit is worth by procedure, or by revenue code."""
SHARE = Decimal("0.60")
"""The part of the charge that is allowed for lines without a fee."""
OUTLIER_FROM, OUTLIER_SHARE = Decimal(3), Decimal("0.10")
"""From how many times the price of its group a charge is an outlier, and what is paid of the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StayPrice:
    """What is allowed for a stay."""

    days: Decimal
    allowed: Decimal
    group: str = ""
    """The diagnosis related group, if it decided."""
    weight: Decimal = ZERO
    group_amount: Decimal = ZERO
    outlier: Decimal = ZERO


def is_stay(claim: Claim) -> bool:
    """Return whether a claim is the bill of a stay."""
    return claim.stay is not None and claim.place in STAYS


def is_notice(claim: Claim) -> bool:
    """Return whether a claim is a notice, which is accepted and not paid."""
    return claim.stay is not None and claim.frequency in NOTICES


def price_of(claim: Claim) -> StayPrice | None:
    """Return what is allowed for a stay, at most its charge; None for every other claim."""
    stay = claim.stay
    if stay is None or claim.place not in STAYS:
        return None
    days = stay.covered_days or _days(claim)
    weight = WEIGHTS.get(stay.group, ZERO) if _is_by_group(claim, stay) else ZERO
    if weight:
        by_group = _cents(BASE_RATE * weight)
        outlier = max(ZERO, _cents((claim.charge - OUTLIER_FROM * by_group) * OUTLIER_SHARE))
        return StayPrice(
            days=days,
            allowed=min(claim.charge, by_group + outlier),
            group=stay.group,
            weight=weight,
            group_amount=by_group,
            outlier=outlier,
        )
    by_day = days * DAY_RATES.get(claim.place, OTHER_DAY_RATE)
    return StayPrice(days=days, allowed=min(claim.charge, by_day))


def _is_by_group(claim: Claim, stay: Stay) -> bool:
    return claim.place == HOSPITAL_STAY and claim.frequency in WHOLE_STAY and bool(stay.group)


def _days(claim: Claim) -> Decimal:
    """Return the days between the first day and the last, at least one."""
    first, last = claim.days or (None, None)
    return Decimal(max(1, (last - first).days)) if first and last else Decimal(1)


def allowed_amounts(claim: Claim) -> Sequence[Decimal]:
    """Return what is allowed of each line."""
    price = price_of(claim)
    if price is None:
        return [_allowed(line) for line in claim.lines]
    charged = total(line.charge for line in claim.lines)
    allowed, left = [], price.allowed
    for line in claim.lines:
        # Lines without a charge, and a claim of nothing but such, are worth nothing.
        part = min(left, _cents(price.allowed * line.charge / charged)) if charged else ZERO
        allowed.append(part)
        left -= part
    # What rounding left is added to the first lines that are not allowed in full.
    for at, line in enumerate(claim.lines):
        more = min(left, line.charge - allowed[at])
        allowed[at] += more
        left -= more
    return allowed


def _allowed(line: ServiceLine) -> Decimal:
    fee = FEES.get(line.code, FEES.get(line.revenue))
    worth = line.charge * SHARE if fee is None else fee * line.units
    return min(line.charge, _cents(worth))


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
