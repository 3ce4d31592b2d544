"""A list of claims as CSV for spreadsheets; no cell begins a formula."""

from collections.abc import Iterable

from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.console.claims.claim_words import row_tag
from clearlane.console.frame import page_text
from clearlane.kernel.csv_text import csv_line, escape_formula
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.query.claim_list import ClaimRow

COLUMNS = (
    "Label", "Claim number", "Your id", "Patient", "Birth date", "Service date", "Kind", "Type of bill", "Payer id", "Payer", "Reason",
    "Charge", "Paid", "Patient owes", "Last change", "Assigned",
)  # fmt: skip


def claims_csv(rows: Iterable[ClaimRow], payers: PayerDirectory) -> bytes:
    """Return the claims as CSV in UTF-8."""
    lines = [
        csv_line(COLUMNS),
        *(csv_line(map(escape_formula, _cells(row, payers))) for row in rows),
    ]
    return "".join(lines).encode("utf-8-sig")


def _cells(row: ClaimRow, payers: PayerDirectory) -> list[str]:
    payer = payers.find(row.payer_id, KINDS[ClaimKind(row.kind)].payer_type)
    return [
        row_tag(row).text,
        row.number,
        row.vendor_claim_id,
        row.patient,
        row.born.isoformat() if row.born else "",
        row.service_day.isoformat() if row.service_day else "",
        KINDS[ClaimKind(row.kind)].label,
        row.bill_type,
        row.payer_id,
        payer.name if payer else "",
        row.reason.of_claim,
        _amount(row.readable_charge),
        _amount(row.paid),
        _amount(row.owes),
        row.changed_at.date().isoformat(),
        (row.work and row.work.assigned_to) or "",
    ]


def _amount(cents: int | None) -> str:
    return "" if cents is None else page_text.money(cents).replace(",", "")
