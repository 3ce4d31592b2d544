"""Payments as rows for a spreadsheet: one a service line, or one a claim that has no lines.

A spreadsheet runs a cell that begins with a formula's sign, so a text that does gets an apostrophe before it; an
amount is written by us, and stays a number. Knows no file.
"""

import csv
import io
from collections.abc import Iterator, Sequence

from clearlane.payments.as_json import day_text, money_text
from clearlane.payments.payment import ClaimOccurrence, LineAdjustment, PaidLine, Payment

COLUMNS = (
    "payment_id", "payer_id", "payer_name", "trace_number", "effective_date", "payment_amount", "occurrence_id",
    "kind", "outcome", "claim_number", "vendor_claim_id", "account_number", "payer_control_number",
    "patient_last_name", "patient_first_name", "claim_charge", "claim_paid", "claim_patient", "line_number",
    "procedure", "service_date", "line_charge", "line_allowed", "line_paid", "line_patient", "line_outcome",
    "adjustments",
)  # fmt: skip
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_header() -> str:
    """Return the first row."""
    return _row(COLUMNS)


def csv_rows(payment: Payment, one: ClaimOccurrence) -> str:
    """Return the rows of one occurrence."""
    return "".join(_row([*_claim_cells(payment, one), *cells]) for cells in _line_cells(one))


def safe_text(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_SIGNS) else text


def _claim_cells(payment: Payment, one: ClaimOccurrence) -> Iterator[str]:
    for text in (payment.payment_id, payment.payer_id, payment.payer_name, payment.trace_number):
        yield safe_text(text)
    yield day_text(payment.effective_date) or ""
    yield money_text(payment.amount) or ""
    for text in (
        one.occurrence_id, one.kind.value, one.outcome.value, one.claim_number, one.vendor_claim_id,
        one.account_number, one.payer_control_number, one.patient_last_name, one.patient_first_name,
    ):  # fmt: skip
        yield safe_text(text)
    for amount in (one.charge, one.paid, one.patient):
        yield money_text(amount) or ""


def _line_cells(one: ClaimOccurrence) -> Iterator[list[str]]:
    for line in one.lines or (PaidLine(),):
        if not one.lines:
            yield ["", "", "", "", "", "", "", "", _adjustments_text(one.adjustments)]
            continue
        yield [
            str(line.line_number or ""), safe_text(line.procedure), day_text(line.service_date) or "",
            *(money_text(amount) or "" for amount in (line.charge, line.allowed, line.paid, line.patient)),
            line.outcome.value, _adjustments_text(line.adjustments),
        ]  # fmt: skip


def _adjustments_text(adjustments: Sequence[LineAdjustment]) -> str:
    """Return adjustments in one cell, such as ``CO-45 20.00; PR-3 5.00``."""
    words = (f"{one.group}-{one.reason} {money_text(one.amount)}" for one in adjustments)
    return safe_text("; ".join(words))


def _row(cells: Sequence[str]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(cells)
    return written.getvalue()
