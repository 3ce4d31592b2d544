"""The label of a claim payment or service line: what a person calls it.

    derive_label(status="1", paid=0, reasons=[AdjustedReason("PR", "1", 10_000)])     # ClaimLabel.PATIENT_OWES

Denied is not CLP02 4 alone: by X12's interpretation 4 means that the patient is not known, and ordinary denials come
as 1, 2 or 3 with 0 paid and a reason. So the reasons decide, by two lists: reasons of what the patient owes, and
reasons of what no one owes. Any other reason of an unpaid amount denies. Knows codes and amounts; knows no file.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clearlane.kernel.claim_label import ClaimLabel


class AdjustedReason(NamedTuple):
    """The group, the reason and the cents of one adjustment."""

    group: str
    reason: str
    amount: int


class LinePayment(NamedTuple):
    """What was paid for one service line, and why not more."""

    paid: int
    reasons: Sequence[AdjustedReason]


STATUS_LABELS: dict[str, ClaimLabel] = {
    "4": ClaimLabel.DENIED,
    "22": ClaimLabel.TAKEN_BACK,
    "23": ClaimLabel.FORWARDED,
    "25": ClaimLabel.PREDETERMINED,
}
"""CLP02 codes that decide the label, whatever the amounts."""

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
    return status in FORWARDED_STATUSES or STATUS_LABELS.get(status) is ClaimLabel.FORWARDED


def derive_label(
    *,
    status: str,
    paid: int,
    reasons: Iterable[AdjustedReason] = (),
    lines: Iterable[LinePayment] = (),
) -> ClaimLabel:
    """Return the label of a claim: CLP02, cents paid, the claim's own reasons, and its lines.

    For a single line pass the CLP02 of its claim, and the line's own payment and reasons.
    """
    decided = STATUS_LABELS.get(status)
    if decided is not None:
        return decided
    if paid < 0:
        return ClaimLabel.TAKEN_BACK
    lines = tuple(lines)
    if paid > 0:
        # Reasons of the claim as a whole lower what was paid; only a line that got nothing was denied.
        unpaid = any(line.paid == 0 and _has_denial(line.reasons) for line in lines)
        return ClaimLabel.PARTLY_DENIED if unpaid else ClaimLabel.PAID
    every = [*reasons, *(reason for line in lines for reason in line.reasons)]
    if _has_denial(every):
        return ClaimLabel.DENIED
    if status in FORWARDED_STATUSES:
        return ClaimLabel.FORWARDED
    owes = any((one.group, one.reason) in PATIENT_REASONS and one.amount > 0 for one in every)
    return ClaimLabel.PATIENT_OWES if owes else ClaimLabel.NOTHING_DUE


def _has_denial(reasons: Iterable[AdjustedReason]) -> bool:
    return any(is_denial(*one) for one in reasons)
