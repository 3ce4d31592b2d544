"""Coordination of benefits: a claim's other insurance and the decision of an earlier payer.

Meaning of the fields:

- the *other insurance* is the other insured (box 9, ADA 5 to 10) and the other payer
  (``X12_OtherPayerName`` or, without it, the plan's name of box 9d; ADA 11);
- the *decision* is what that payer paid and adjusted. For the claim: ``X12_ClaimPrimaryPayerPaidAmount``
  (or ``F29_PayerAmountPaid``), the five adjustment fields, ``X12_ClaimAdjudicationDate``. For a line: its paid
  amount, its adjustments, its date. A dental claim has them on lines only;
- a zero without anything else is not a decision, because some callers fill every number. A denial is a decision
  of zero with adjustments or a date;
- with a decision the claim goes to the payer as secondary, without it as primary;
- a decided line without a date takes the claim's date.

**Balance.** A line's charge is what was paid plus the line's adjustments. The claim's charge is what was paid
for the claim plus all adjustments, of the claim and of its lines.

**What the patient still owes** (AMT*EAF) is the adjustments of group PR less what the patient paid. X12 wants it
once an earlier payer has decided, zero included: for the lines if the payer decided lines, else for the claim, and
never for both (X12's interpretations 1391, 1515 and 1517). It is the provider's judgement, so a field of its own
comes before what is computed. A patient's payment is for the whole claim: it counts against adjustments of the claim
first, then line by line.

**Medicare second.** If Medicare pays after another payer, the provider must state why (SBR05). Medicare is known
by the type of coverage that the claim states, never by a name.

A form (``claims.forms``) reads these values from its fields into the view (``claims.view``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from clearlane.claims.value_types import EarlierAdjustment

ZERO = Decimal(0)
PATIENT = "PR"
"""The group of adjustments that are the patient's responsibility."""

Groups = Mapping[str, tuple[EarlierAdjustment, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class EarlierLineDecision:
    """An earlier payer's decision about one line."""

    paid: Decimal
    groups: Groups
    day: date | None
    units: Decimal | None = None


@dataclass(frozen=True, slots=True, repr=False)
class EarlierDecision:
    """An earlier payer's decision about a claim; None for a line it did not decide."""

    paid: Decimal
    groups: Groups
    day: date | None
    lines: tuple[EarlierLineDecision | None, ...]

    @property
    def last_day(self) -> date | None:
        """The last day on which it decided on the claim or a line."""
        days = [line.day for line in self.lines if line and line.day]
        return max([*days, *filter(None, [self.day])], default=None)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class OtherPayerDecision:
    """One of several other payers of a claim, and what it decided; None if it has not."""

    part: Any
    """The part of the claim that names the payer."""
    name: str
    id: str
    decision: EarlierDecision | None


@dataclass(frozen=True, slots=True, repr=False)
class RemainingLiability:
    """What a patient still owes after an earlier payer: for the claim or for each decided line, else None."""

    claim: Decimal | None
    lines: tuple[Decimal | None, ...]


def remaining_liability(decision: EarlierDecision, patient_paid: Decimal) -> RemainingLiability:
    """Return what a patient still owes: the adjustments of group PR less what the patient paid, never below zero."""
    owed = total_adjusted({PATIENT: decision.groups.get(PATIENT, ())})
    if not any(decision.lines):
        return RemainingLiability(max(owed - patient_paid, ZERO), (None,) * len(decision.lines))
    paid = max(patient_paid - owed, ZERO)
    lines: list[Decimal | None] = []
    for line in decision.lines:
        if line is None:
            lines.append(None)
            continue
        owed = total_adjusted({PATIENT: line.groups.get(PATIENT, ())})
        lines.append(max(owed - paid, ZERO))
        paid = max(paid - max(owed, ZERO), ZERO)
    return RemainingLiability(None, tuple(lines))


def total_adjusted(groups: Groups) -> Decimal:
    """Return the sum of adjustments."""
    return sum((adjusted.amount for group in groups.values() for adjusted in group), ZERO)


def total_paid(lines: Iterable[EarlierLineDecision | None]) -> Decimal:
    """Return what was paid for the decided lines."""
    return sum((line.paid for line in lines if line), ZERO)
