"""Decide what a claim payment means for the next payer. Pure: reads neither clock nor database.

    decision_of(claim_payment, day)                 # as the next payer gets it
    obstacles(claim_payment, view)                  # why it cannot be used
    forwarded_to(claim_payment)                     # the payer that has it already

Knows claim payments and views of claims; knows no loop of an 837.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from clearlane.claims.cob import EarlierLineDecision, Groups
from clearlane.claims.value_types import EarlierAdjustment
from clearlane.claims.view import ClaimView
from clearlane.claims.write.next_payer import DecidedService, OpenQuestion, PayerDecision
from clearlane.kernel.formats import to_cents
from clearlane.payments.payment import ClaimPayment, LineAdjustment, PaidLine

CENTS = Decimal(100)
FORWARDED_CODES = frozenset({"19", "20", "21"})
"""CLP02 of a claim that the payer processed and forwarded to another one."""
FORWARDED_REMARKS = frozenset({"MA18", "N89"})
"""Remarks that say the same, of the claim (MA18) and of the supplemental insurer (N89)."""
LATER_CODES = frozenset({"2", "3", "20", "21"})
"""CLP02 of a claim that a payer processed as the second or third."""
UNNAMED = "another payer"
PREDETERMINED = "25"
CLAIM_PAYMENT = "claim_payment"
"""What an open question names if not the insurance but the decision is in the way."""


def decision_of(paid: ClaimPayment, day: date) -> PayerDecision:
    """Return what a payer decided, with its adjustments by group and reason; ``day`` is that of the remittance."""
    return PayerDecision(
        paid=_dollars(paid.paid),
        groups=_groups(paid.adjustments),
        day=day,
        services=tuple(_service(line, day) for line in paid.lines),
        payer_number=paid.payer_control_number,
        remarks=tuple(dict.fromkeys(one.code for one in paid.remarks if one.code)),
    )


def _service(line: PaidLine, day: date) -> DecidedService:
    units = [_number(text) for text in (line.units_paid, line.units_billed)]
    decided = EarlierLineDecision(
        _dollars(line.paid), _groups(line.adjustments), day, next(filter(None, units), None)
    )
    changed = line.procedure if line.submitted_procedure else ""
    return DecidedService(line.line_number, decided, changed, line.modifiers)


def _number(text: str) -> Decimal | None:
    return Decimal(text) if text.replace(".", "", 1).isdecimal() else None


def _groups(adjustments: Iterable[LineAdjustment]) -> Groups:
    """Return adjustments by group. One of nothing says nothing, and no payer takes it."""
    groups: dict[str, tuple[EarlierAdjustment, ...]] = {}
    for one in adjustments:
        if one.amount:
            quantity = _number(one.quantity)
            found = EarlierAdjustment(one.reason, _dollars(one.amount), quantity or None)
            groups[one.group] = (*groups.get(one.group, ()), found)
    return groups


def _dollars(cents: int) -> Decimal:
    return Decimal(cents) / CENTS


def forwarded_to(paid: ClaimPayment) -> str:
    """Return the payer to which the payer before forwarded the claim by itself; empty if it did not."""
    remarks = {one.code for one in paid.remarks}
    remarks |= {remark.code for line in paid.lines for remark in line.remarks}
    is_forwarded = paid.status_code in FORWARDED_CODES or not FORWARDED_REMARKS.isdisjoint(remarks)
    return paid.forwarded_to or (UNNAMED if is_forwarded else "")


def is_of_later_payer(paid: ClaimPayment) -> bool:
    """Return whether a payer after the first decided: it answers what the first forwarded."""
    return paid.status_code in LATER_CODES


def obstacles(paid: ClaimPayment, view: ClaimView) -> tuple[OpenQuestion, ...]:
    """Return why the next payer cannot be billed with a decision: a person must look at the claim payment first."""
    found: list[str] = []
    if not paid.in_force:
        found.append("The payer took this payment back; wait for its new decision.")
    if paid.status_code == PREDETERMINED:
        found.append("The payer only estimated what it would pay; there is nothing to bill yet.")
    if paid.unreadable:
        found.append(
            "Amounts or codes of the claim payment cannot be read; ask the payer for it again."
        )
    elif not paid.balanced or paid.charge != to_cents(view.total_charge):
        found.append(
            "What the payer paid and adjusted does not make the charge of the claim; ask the payer to correct it."
        )
    elif paid.lines and not _lines_agree(paid.lines, view):
        found.append(
            "The service lines of the claim payment are not those of the claim; bill the next payer by hand."
        )
    return tuple(OpenQuestion(CLAIM_PAYMENT, sentence) for sentence in found)


def _lines_agree(lines: Iterable[PaidLine], view: ClaimView) -> bool:
    """Return whether the payer decided every line, and each for its charge; it may have split one."""
    decided: dict[int, int] = {}
    for line in lines:
        decided[line.line_number] = decided.get(line.line_number, 0) + line.paid + line.adjusted
    return decided == {at: to_cents(line.charge) for at, line in enumerate(view.lines, 1)}
