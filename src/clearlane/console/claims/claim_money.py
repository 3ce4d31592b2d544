"""The money of a claim's lines in columns: what the patient owes by kind, what was written off, and what was denied.

Knows adjustments; knows no page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from clearlane.claims.responses.provenance import Explanation
from clearlane.console.frame.page_text import CENTS, money
from clearlane.console.payments.payment_words import method_noun
from clearlane.payments.payment import ClaimPayment, LineAdjustment, PaidLine, Payment

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


ADJUSTMENTS_NAMED_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentInForce:
    """The claim payment in force on a claim, for one sentence about it."""

    payment_id: str
    number: str
    """The check or transfer, as the bank calls it."""
    day: date | None
    paid: int
    owes: str
    """What the patient owes, by kind; empty for nothing."""
    forwarded_to: str = ""
    """The next payer, if this one passed the claim on."""


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
    """The lines of a claim payment, and the sums of the columns."""

    lines: Sequence[LineMoney]
    total: dict[str, int]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The columns beside charge, allowed and paid in which some line has an amount: name and title."""
        return [(name, title) for name, title in COLUMN_TITLES.items() if self.total[name]]


def money_table(claim_payment: ClaimPayment) -> MoneyTable:
    """Return the lines of a claim payment with their amounts in columns."""
    lines = [
        LineMoney(line=one, **_columns(one.adjustments, denied=one.paid == 0))
        for one in claim_payment.lines
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


def claim_payment_in_force(
    claim_payments: Sequence[tuple[Payment, ClaimPayment]],
) -> PaymentInForce | None:
    """Return the last claim payment in force; None if no payment has decided, or what it paid was taken back."""
    in_force = [(payment, one) for payment, one in claim_payments if one.in_force]
    if not in_force:
        return None
    payment, claim_payment = in_force[-1]
    return PaymentInForce(
        payment_id=payment.payment_id,
        number=f"{method_noun(payment)} {payment.trace_number}".strip(),
        day=payment.effective_date or payment.production_date,
        paid=claim_payment.paid,
        owes=_owed(claim_payment),
        forwarded_to=claim_payment.forwarded_to,
    )


def _owed(claim_payment: ClaimPayment) -> str:
    """Return what the patient owes: ``25.00 copay``, or the sum and its kinds."""
    total = money_table(claim_payment).total
    kinds = [f"{money(total[name])} {name}" for name in PATIENT_COLUMNS.values() if total[name] > 0]
    if not claim_payment.patient:
        return ""
    if len(kinds) == 1 and not total["other"]:
        return kinds[0]
    whole = money(claim_payment.patient)
    return f"{whole}: {', '.join(kinds)}" if kinds else whole


def adjustment_words(explained: Sequence[Explanation]) -> str:
    """Return adjustments with nothing to do: ``CO-45 write-off 20.00``; empty if some are not adjustments, or many."""
    if len(explained) > ADJUSTMENTS_NAMED_MAX or any(one.source != "835" for one in explained):
        return ""
    return ", ".join(
        f"{one.code} {_adjustment_noun(one.code)} {money(int((one.amount or 0) * CENTS))}"
        for one in explained
    )


def _adjustment_noun(code: str) -> str:
    group, _, reason = code.partition("-")
    return PATIENT_COLUMNS.get(reason, "patient owes") if group == "PR" else "write-off"
