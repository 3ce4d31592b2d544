"""Payments as JSON objects, for scripts: the names of ``docs/how-to/payments.md``.

Money is text with two decimals, days and times are ISO 8601, and what there is not is null or an empty list. Names are
only ever added. Knows no API and no command.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import TypeAlias

from clearlane.kernel.clock import moment_text
from clearlane.payments.claim_series import ClaimSeries
from clearlane.payments.deposit import Deposit
from clearlane.payments.payment import (
    ClaimPayment,
    CorrectedPatient,
    FacilityDecision,
    LineAdjustment,
    LineRemark,
    PaidLine,
    Payment,
    ProviderAdjustment,
)
from clearlane.payments.payment_label import label_payment

Json: TypeAlias = dict[str, object]

PAYMENT_MONEY = ("amount", "claims_paid", "adjustments_total", "difference")
PAYMENT_TEXT = (
    "payment_id", "state", "payer_id", "payer_name", "payer_tax_id", "payee_name", "payee_npi", "payee_tax_id",
    "method", "handling", "credit_debit", "trace_number", "trace_supplement", "account_last4",
)  # fmt: skip
PAYMENT_DAYS = ("effective_date", "production_date", "received_at", "fetched_at", "seen_at")
PAYMENT_COUNTS = ("claims", "unmatched", "balanced", "unbalanced_claims", "file_id")
CLAIM_PAYMENT_TEXT = (
    "claim_payment_id", "type", "status_code", "status_text", "claim_number", "vendor_claim_id",
    "document_id", "account_number", "payer_control_number", "original_payer_control_number", "filing_code",
    "frequency", "patient_last_name", "patient_first_name", "member_id", "forwarded_to", "rendering_npi",
    "unmatched_reason",
)  # fmt: skip
CLAIM_PAYMENT_MONEY = (
    "charge", "allowed", "paid", "patient", "deductible", "coinsurance", "copay", "contractual", "denied",
    "other_adjustments", "interest", "prior_payer", "difference",
)  # fmt: skip
FACILITY_TEXT = (
    "drg", "drg_weight", "discharge_fraction", "covered_days", "psychiatric_days", "cost_report_days", "rate",
)  # fmt: skip


def money_text(cents: int | None) -> str | None:
    """Return an amount as text with two decimals; None if there is none."""
    if cents is None:
        return None
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}"


def payment_object(payment: Payment) -> Json:
    """Return a payment without its claims."""
    found: Json = {"id": payment.payment_id}
    found |= {name: getattr(payment, name) or "" for name in PAYMENT_TEXT}
    found["state"] = payment.state.value
    found["label"] = label_payment(payment)
    found |= {name: money_text(getattr(payment, name)) for name in PAYMENT_MONEY}
    found |= {name: day_text(getattr(payment, name)) for name in PAYMENT_DAYS}
    found |= {name: getattr(payment, name) for name in PAYMENT_COUNTS}
    found["deposit"] = deposit_object(payment.deposit)
    found["duplicate_of"] = payment.duplicate_of or None
    found["differs_from"] = payment.differs_from or None
    return found


def deposit_object(deposit: Deposit) -> Json:
    """Return what was done with the shown part of a payment."""
    return {
        "state": deposit.state.value,
        "day": day_text(deposit.day),
        "amount": money_text(deposit.amount),
        "difference": money_text(deposit.difference),
    }


def own_payment_object(payment: Payment) -> Json:
    """Return a payment as one client sees it: with its own part of the amount."""
    return payment_object(payment) | {"your_amount": money_text(payment.your_amount)}


def adjustment_object(one: ProviderAdjustment) -> Json:
    """Return a provider adjustment."""
    return {
        "reason": one.reason,
        "text": one.text,
        "reference": one.reference,
        "claim_number": one.claim_number or None,
        "fiscal_year_end": day_text(one.fiscal_year_end),
        "amount": money_text(one.amount),
        "x12_amount": money_text(one.x12_amount),
        "provider_id": one.provider_id,
    }


def claim_payment_object(one: ClaimPayment) -> Json:
    """Return a claim payment with its lines."""
    found: Json = {"id": one.claim_payment_id}
    found |= {name: str(getattr(one, name)) for name in CLAIM_PAYMENT_TEXT}
    found |= {name: money_text(getattr(one, name)) for name in CLAIM_PAYMENT_MONEY}
    return found | {
        "label": one.label.value,
        "reverses": one.reverses or None,
        "in_force": one.in_force,
        "replaced": one.replaced,
        "allowed_source": one.allowed_source.value,
        "facility": _facility_object(one.facility),
        "corrected_patient": _corrected_object(one.corrected_patient),
        "service_from": day_text(one.service_from),
        "service_to": day_text(one.service_to),
        "payer_received_date": day_text(one.payer_received_date),
        "matched_by": one.matched_by.value if one.matched_by else None,
        "balanced": one.balanced,
        "unreadable": list(one.unreadable),
        "adjustments": _adjustment_objects(one.adjustments),
        "remarks": _remark_objects(one.remarks),
        "lines": [line_object(line) for line in one.lines],
    }


def line_object(line: PaidLine) -> Json:
    """Return one service line."""
    return {
        "line_number": line.line_number or None,
        "line_control_number": line.line_control_number,
        "revenue_code": line.revenue_code,
        "procedure": line.procedure,
        "submitted_procedure": line.submitted_procedure,
        "modifiers": list(line.modifiers),
        "units_billed": line.units_billed,
        "units_paid": line.units_paid,
        "service_date": day_text(line.service_date),
        "charge": money_text(line.charge),
        "allowed": money_text(line.allowed),
        "allowed_source": line.allowed_source.value,
        "paid": money_text(line.paid),
        "patient": money_text(line.patient),
        "label": line.label.value,
        "balanced": line.balanced,
        "adjustments": _adjustment_objects(line.adjustments),
        "remarks": _remark_objects(line.remarks),
    }


def series_object(series: ClaimSeries | None) -> Json | None:
    """Return the bills of a stay; None if there is no series."""
    if series is None:
        return None
    return {
        "type": series.type.value,
        "charge": money_text(series.total_cents),
        "paid": money_text(series.paid_cents),
        "patient": money_text(series.patient_cents),
        "members": [
            {
                "claim_number": one.claim_number,
                "frequency": one.frequency,
                "service_from": one.service_day,
                "service_to": one.last_day,
                "label": one.label,
                "counts": one.claim_number in series.counted,
                "charge": money_text(one.total_cents),
                "paid": money_text(one.paid_cents),
                "patient": money_text(one.patient_cents),
            }
            for one in series.members
        ],
    }


def day_text(day: date | datetime | None) -> str | None:
    """Return a day or a time as ISO 8601; None if there is none."""
    if isinstance(day, datetime):
        return moment_text(day)
    return None if day is None else day.isoformat()


def _adjustment_objects(adjustments: Sequence[LineAdjustment]) -> list[Json]:
    return [
        {
            "group": one.group,
            "reason": one.reason,
            "text": one.text,
            "amount": money_text(one.amount),
            "quantity": one.quantity,
            "denial": one.denial,
        }
        for one in adjustments
    ]


def _remark_objects(remarks: Sequence[LineRemark]) -> list[Json]:
    return [{"code": one.code, "text": one.text} for one in remarks]


def _corrected_object(one: CorrectedPatient | None) -> Json | None:
    if one is None:
        return None
    return {name: getattr(one, name) for name in one.__struct_fields__ if getattr(one, name)}


def _facility_object(one: FacilityDecision | None) -> Json | None:
    if one is None:
        return None
    found: Json = {name: getattr(one, name) for name in FACILITY_TEXT if getattr(one, name)}
    amounts = (
        {"name": each.name, "text": each.text, "amount": money_text(each.amount)}
        for each in one.amounts
    )
    return found | {"amounts": list(amounts)}
