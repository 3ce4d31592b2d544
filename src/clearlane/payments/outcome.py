"""The outcome of a claim payment or service line: what a person calls it.

    derive_outcome(status="1", paid=0, reasons=[AdjustedReason("PR", "1", 10_000)])     # Outcome.PATIENT_OWES

Denied is not CLP02 4 alone: by X12's interpretation 4 means that the patient is not known, and ordinary denials come
as 1, 2 or 3 with 0 paid and a reason. So the reasons decide, by two lists: reasons of what the patient owes, and
reasons of what no one owes. Any other reason of an unpaid amount denies. Knows codes and amounts; knows no file.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """What became of a claim or line in a payment, in the words that people see."""

    PREDETERMINED = "predetermined"
    TAKEN_BACK = "taken back"
    FORWARDED = "forwarded"
    DENIED = "denied"
    PARTLY_DENIED = "partly denied"
    PATIENT_OWES = "patient owes"
    NOTHING_DUE = "nothing due"
    VOIDED = "voided"
    """Of a void that was carried out, and of the claim that it voids. No code says so: the claim's frequency does."""
    REPLACED = "replaced"
    """Of a claim whose replacement was decided; of no payment."""
    PAID = "paid"


class AdjustedReason(NamedTuple):
    """The group, the reason and the cents of one adjustment."""

    group: str
    reason: str
    amount: int


class LinePayment(NamedTuple):
    """What was paid for one service line, and why not more."""

    paid: int
    reasons: Sequence[AdjustedReason]


STATUS_OUTCOMES: dict[str, Outcome] = {
    "4": Outcome.DENIED,
    "22": Outcome.TAKEN_BACK,
    "23": Outcome.FORWARDED,
    "25": Outcome.PREDETERMINED,
}
"""CLP02 codes that decide the outcome, whatever the amounts."""

FORWARDED_STATUSES = frozenset({"19", "20", "21"})
"""CLP02 codes of claims that were processed and then forwarded: the money decides, and if nothing was paid and
nothing denied, the next payer is awaited."""

PATIENT_REASONS = frozenset({("PR", "1"), ("PR", "2"), ("PR", "3")})
"""Deductible, coinsurance, copayment: the patient owes them, and they are not denials."""

NOTHING_DUE_REASONS = frozenset({("CO", "45"), ("CO", "24"), ("OA", "23")})
"""Contract write-off, capitation, what earlier payers paid and adjusted: no one owes them, and they are not denials."""

ORDINARY_REASONS = PATIENT_REASONS | NOTHING_DUE_REASONS
"""Reasons that deny nothing. Every other one denies its amount."""


UNPROCESSABLE = "MA130"
"""The remark that a claim could not be processed: the payer decided nothing, and expects a new claim."""


def is_denial(group: str, reason: str, amount: int) -> bool:
    """Return whether an adjustment denies payment. One of 0.00, as on lines without a charge, denies nothing."""
    return amount > 0 and (group, reason) not in ORDINARY_REASONS


def is_forwarded(status: str) -> bool:
    """Return whether a CLP02 says that the claim was forwarded to another payer, paid before or not."""
    return status in FORWARDED_STATUSES or STATUS_OUTCOMES.get(status) is Outcome.FORWARDED


def derive_outcome(
    *,
    status: str,
    paid: int,
    reasons: Iterable[AdjustedReason] = (),
    lines: Iterable[LinePayment] = (),
) -> Outcome:
    """Return the outcome of a claim: CLP02, cents paid, the claim's own reasons, and its lines.

    For a single line pass the CLP02 of its claim, and the line's own payment and reasons.
    """
    decided = STATUS_OUTCOMES.get(status)
    if decided is not None:
        return decided
    if paid < 0:
        return Outcome.TAKEN_BACK
    lines = tuple(lines)
    if paid > 0:
        # Reasons of the claim as a whole lower what was paid; only a line that got nothing was denied.
        unpaid = any(line.paid == 0 and _has_denial(line.reasons) for line in lines)
        return Outcome.PARTLY_DENIED if unpaid else Outcome.PAID
    every = [*reasons, *(reason for line in lines for reason in line.reasons)]
    if _has_denial(every):
        return Outcome.DENIED
    if status in FORWARDED_STATUSES:
        return Outcome.FORWARDED
    owes = any((one.group, one.reason) in PATIENT_REASONS and one.amount > 0 for one in every)
    return Outcome.PATIENT_OWES if owes else Outcome.NOTHING_DUE


def _has_denial(reasons: Iterable[AdjustedReason]) -> bool:
    return any(is_denial(*one) for one in reasons)
