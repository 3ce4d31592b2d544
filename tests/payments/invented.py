"""Invented payments: a check over several claims with every kind of claim payment, and one of any size."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.payment import (
    ClaimPayment,
    ClaimPaymentType,
    CorrectedPatient,
    LineAdjustment,
    LineRemark,
    MatchedBy,
    PaidLine,
    Payment,
    PaymentState,
    ProviderAdjustment,
)

WRITE_OFF = "Charge exceeds fee schedule or maximum allowable or contracted amount"
COPAY = "Co-payment amount"
DEDUCTIBLE = "Deductible amount"
NOT_COVERED = (
    "These are non-covered services because this is not deemed a medical necessity by the payer. The 835 Healthcare"
    " Policy Identification Segment names the policy, where there is one"
)
HOSTILE = '=HYPERLINK("http://x.example","pay") <script>alert(1)</script> \x1b[31m\u202e%PDF-1.7 (\\) endstream'

PAYMENT = Payment(
    payment_id="P7K2M4",
    state=PaymentState.NEEDS_REVIEW,
    payer_id="HARBR",
    payer_name="HARBOR HEALTH",
    payer_tax_id="512345678",
    payee_name="FERNHILL CLINIC",
    payee_npi="1234567893",
    payee_tax_id="123456789",
    method="ACH",
    handling="I",
    credit_debit="C",
    amount=69_910,
    your_amount=69_910,
    trace_number="9981",
    effective_date=date(2026, 12, 3),
    production_date=date(2026, 12, 1),
    received_at=datetime(2026, 12, 2, 14, 5, tzinfo=UTC),
    account_last4="4821",
    claims=6,
    unmatched=1,
    claims_paid=125_000,
    adjustments_total=-55_090,
)

ADJUSTMENTS = (
    ProviderAdjustment(
        number=1,
        provider_id="1234567893",
        fiscal_year_end=date(2026, 12, 31),
        reason="WO",
        text="Overpayment recovery",
        reference="88007 C1849A",
        claim_number="C1849A",
        amount=-55_300,
        x12_amount=55_300,
    ),
    ProviderAdjustment(
        number=2,
        provider_id="1234567893",
        fiscal_year_end=date(2026, 12, 31),
        reason="L6",
        text="Interest owed",
        amount=210,
        x12_amount=-210,
    ),
)


def adjusted(
    group: str, reason: str, amount: int, text: str, *, denial: bool = False
) -> LineAdjustment:
    """Return an adjustment."""
    return LineAdjustment(group=group, reason=reason, amount=amount, text=text, denial=denial)


def line(
    number: int,
    procedure: str,
    charge: int,
    paid: int,
    *adjustments: LineAdjustment,
    **more: object,
) -> PaidLine:
    """Return a line whose patient part and allowed amount follow from its adjustments."""
    patient = sum(one.amount for one in adjustments if one.group == "PR")
    values: dict[str, Any] = {
        "line_number": number,
        "procedure": procedure,
        "units_paid": "1",
        "service_date": date(2026, 11, 12),
        "charge": charge,
        "allowed": paid + patient,
        "paid": paid,
        "patient": patient,
        "adjustments": adjustments,
        **more,
    }
    return PaidLine(**values)


def claim_payment(
    number: int, last: str, first: str, *lines: PaidLine, **more: object
) -> ClaimPayment:
    """Return a claim payment whose amounts are the sums of its lines."""
    values: dict[str, Any] = {
        "claim_payment_id": f"P7K2M4-{number}",
        "number": number,
        "claim_number": f"C19{number}P3",
        "vendor_claim_id": f"FIRST-{number}",
        "account_number": f"C19{number}P3",
        "payer_control_number": f"8812{number}",
        "status_code": "1",
        "status_text": "Processed as primary",
        "patient_last_name": last,
        "patient_first_name": first,
        "member_id": f"XJ-447{number}",
        "charge": sum(one.charge for one in lines),
        "allowed": sum(one.allowed for one in lines),
        "paid": sum(one.paid for one in lines),
        "patient": sum(one.patient for one in lines),
        "matched_by": MatchedBy.NUMBER,
        "service_from": date(2026, 11, 12),
        "service_to": date(2026, 11, 12),
        "lines": lines,
        **more,
    }
    return ClaimPayment(**values)


CLAIM_PAYMENTS = (
    claim_payment(
        1,
        "ARDEN",
        "RUTH",
        line(
            1,
            "99213",
            120_000,
            98_000,
            adjusted("CO", "45", 20_000, WRITE_OFF),
            adjusted("PR", "3", 2_000, COPAY),
        ),
        line(2, "85025", 4_500, 4_500, modifiers=("QW", "59"), units_paid="2", units_billed="3"),
        copay=2_000,
        contractual=20_000,
        interest=210,
    ),
    claim_payment(
        2,
        "BRENNAN",
        "OSCAR",
        line(
            1,
            "97110",
            30_000,
            0,
            adjusted("CO", "50", 30_000, NOT_COVERED, denial=True),
            label=ClaimLabel.DENIED,
            remarks=(
                LineRemark(
                    code="N115",
                    text="This decision was based on a Local Coverage Determination (LCD).",
                ),
            ),
        ),
        label=ClaimLabel.DENIED,
        denied=30_000,
    ),
    claim_payment(
        3,
        "IBÁÑEZ PEÑA",
        "JOSÉ",
        line(
            1,
            "D2740",
            60_000,
            22_500,
            adjusted("CO", "45", 15_000, WRITE_OFF),
            adjusted("PR", "2", 22_500, "Coinsurance amount"),
        ),
        line(
            2,
            "D0120",
            5_000,
            0,
            adjusted("CO", "97", 5_000, "The benefit is included in another service", denial=True),
            label=ClaimLabel.DENIED,
        ),
        label=ClaimLabel.PARTLY_DENIED,
    ),
    claim_payment(
        4,
        "CORRIGAN",
        "MAVIS",
        line(
            1,
            "99214",
            -15_000,
            -10_000,
            adjusted("CO", "45", -5_000, WRITE_OFF),
            label=ClaimLabel.TAKEN_BACK,
        ),
        type=ClaimPaymentType.REVERSAL,
        label=ClaimLabel.TAKEN_BACK,
        status_code="22",
        status_text="Reversal of an earlier payment",
        reverses="P6A1B2-3",
        in_force=False,
    ),
    claim_payment(
        5,
        "CORRIGAN",
        "MAVIS",
        line(
            1,
            "99213",
            15_000,
            10_000,
            adjusted("CO", "45", 5_000, WRITE_OFF),
            submitted_procedure="99214",
        ),
        type=ClaimPaymentType.CORRECTION,
        original_payer_control_number="88124",
        corrected_patient=CorrectedPatient(
            last_name="CORRIGAN", first_name="MAVIS", middle_name="J", member_id="XJ-9001"
        ),
    ),
    claim_payment(
        6,
        "DUNMORE",
        HOSTILE,
        line(
            1,
            "99203",
            18_000,
            0,
            adjusted("PR", "1", 18_000, DEDUCTIBLE),
            label=ClaimLabel.PATIENT_OWES,
        ),
        label=ClaimLabel.PATIENT_OWES,
        deductible=18_000,
        claim_number="",
        vendor_claim_id="",
        account_number="FERN-2026-000012345",
        matched_by=None,
        unmatched_reason="no claim has this account number",
    ),
)


def many(count: int) -> Iterator[ClaimPayment]:
    """Yield claim payments of two to four lines each, none like another."""
    for number in range(1, count + 1):
        lines = [
            line(
                at + 1,
                f"99{200 + (number + at) % 90}",
                12_000 + number % 977,
                8_000,
                adjusted("CO", "45", 3_000 + number % 977, WRITE_OFF),
                adjusted("PR", "2", 1_000, "Coinsurance amount"),
            )
            for at in range(2 + number % 3)
        ]
        yield claim_payment(number, f"ARDEN{number}", "RUTH", *lines)
