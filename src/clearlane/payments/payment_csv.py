"""A payment as CSV for spreadsheets: a row for each service line, and one for each provider adjustment.

    for text in payment_csv(payment, adjustments, claim payments):
        out.write(text)

The column ``paid`` adds up to the amount of the payment, if the payment balances: what a payer states for a claim
and not for its lines is a row of its own, and so is each provider adjustment. Texts of payers never become formulas;
amounts and days are written by us and stay numbers and days. Knows no file and no database.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import date

from clearlane.kernel.csv_text import csv_line, escape_formula
from clearlane.payments import wording
from clearlane.payments.payment import (
    ClaimPayment,
    LineAdjustment,
    LineRemark,
    PaidLine,
    Payment,
    ProviderAdjustment,
)

COLUMNS = (
    "row",
    "payment_id",
    "payer_id",
    "payer_name",
    "trace_number",
    "effective_date",
    "payment_amount",
    "claim_payment_id",
    "type",
    "label",
    "claim_number",
    "vendor_claim_id",
    "account_number",
    "payer_control_number",
    "patient_last_name",
    "patient_first_name",
    "member_id",
    "line_number",
    "line_control_number",
    "service_date",
    "procedure",
    "modifiers",
    "units_paid",
    "charge",
    "allowed",
    "paid",
    "patient",
    "adjusted",
    "reasons",
    "reasons_in_words",
    "reference",
)
"""Of a row: ``line``, ``claim`` (what belongs to no line) or ``provider adjustment``."""

AMOUNTS = frozenset({"payment_amount", "charge", "allowed", "paid", "patient", "adjusted"})
"""Columns that we write as numbers. A minus begins a number there, no formula."""

Cells = dict[str, str]


def payment_csv(
    payment: Payment,
    adjustments: Sequence[ProviderAdjustment],
    claim_payments: Iterable[ClaimPayment],
) -> Iterator[str]:
    """Yield the lines of the file, the header first."""
    yield csv_line(COLUMNS)
    shared = _payment_cells(payment)
    for claim_payment in claim_payments:
        claim = shared | _claim_cells(claim_payment)
        for line in claim_payment.lines:
            yield _row(claim | _line_cells(line))
        if rest := _claim_rest(claim_payment):
            yield _row(claim | rest)
    for one in adjustments:
        yield _row(shared | _adjustment_cells(one))


async def payment_csv_by_page(
    payment: Payment,
    adjustments: Sequence[ProviderAdjustment],
    pages: AsyncIterator[Sequence[ClaimPayment]],
) -> AsyncIterator[str]:
    """Yield the same file in pieces while its claim payments are read: a payment may have thousands."""
    header, *last = payment_csv(payment, adjustments, ())
    yield header
    async for page in pages:
        _, *lines = payment_csv(payment, (), page)
        yield "".join(lines)
    yield "".join(last)


def _row(cells: Cells) -> str:
    return csv_line(
        cells.get(name, "") if name in AMOUNTS else escape_formula(cells.get(name, ""))
        for name in COLUMNS
    )


def _payment_cells(payment: Payment) -> Cells:
    return {
        "payment_id": payment.payment_id,
        "payer_id": payment.payer_id,
        "payer_name": payment.payer_name,
        "trace_number": payment.trace_number,
        "effective_date": _day(payment.effective_date),
        "payment_amount": "" if payment.amount is None else _number(payment.amount),
    }


def _claim_cells(claim_payment: ClaimPayment) -> Cells:
    return {
        "row": "claim",
        "claim_payment_id": claim_payment.claim_payment_id,
        "type": claim_payment.type.value,
        "label": claim_payment.label.value,
        "claim_number": claim_payment.claim_number,
        "vendor_claim_id": claim_payment.vendor_claim_id,
        "account_number": claim_payment.account_number,
        "payer_control_number": claim_payment.payer_control_number,
        "patient_last_name": claim_payment.patient_last_name,
        "patient_first_name": claim_payment.patient_first_name,
        "member_id": claim_payment.member_id,
        "service_date": _day(claim_payment.service_from),
    }


def _line_cells(line: PaidLine) -> Cells:
    return {
        "row": "line",
        "label": line.label.value,
        "line_number": str(line.line_number or ""),
        "line_control_number": line.line_control_number,
        "service_date": _day(line.service_date),
        "procedure": line.procedure,
        "modifiers": " ".join(line.modifiers),
        "units_paid": line.units_paid,
        "charge": _number(line.charge),
        "allowed": _number(line.allowed),
        "paid": _number(line.paid),
        "patient": _number(line.patient),
        "adjusted": _number(wording.other_part(line.adjustments)),
        **_reason_cells(line.adjustments, line.remarks),
    }


def _claim_rest(claim_payment: ClaimPayment) -> Cells:
    """Return what the payer states for a claim as a whole; nothing if its lines say it all."""
    lines = claim_payment.lines
    amounts = {
        "charge": claim_payment.charge - sum(line.charge for line in lines),
        "paid": claim_payment.paid - sum(line.paid for line in lines),
        "patient": claim_payment.patient - sum(line.patient for line in lines),
        "adjusted": wording.other_part(claim_payment.adjustments),
    }
    if not lines:
        amounts["allowed"] = claim_payment.allowed
    elif not (any(amounts.values()) or claim_payment.adjustments or claim_payment.remarks):
        return {}
    return {name: _number(value) for name, value in amounts.items()} | _reason_cells(
        claim_payment.adjustments, claim_payment.remarks
    )


def _adjustment_cells(adjustment: ProviderAdjustment) -> Cells:
    return {
        "row": "provider adjustment",
        "claim_number": adjustment.claim_number,
        "paid": _number(adjustment.amount),
        "reasons": adjustment.reason,
        "reasons_in_words": adjustment.text,
        "reference": adjustment.reference,
    }


def _reason_cells(adjustments: Sequence[LineAdjustment], remarks: Sequence[LineRemark]) -> Cells:
    codes = [f"{wording.adjustment_code(one)} {_number(one.amount)}" for one in adjustments]
    words = [wording.adjustment_words(one) for one in adjustments]
    return {
        "reasons": "; ".join([*codes, *(one.code for one in remarks)]),
        "reasons_in_words": "; ".join([*words, *map(wording.remark_words, remarks)]),
    }


def _number(cents: int) -> str:
    return wording.money(cents).replace(",", "")


def _day(value: date | None) -> str:
    return value.isoformat() if value else ""
