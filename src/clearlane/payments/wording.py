"""The words in which a payment is shown to people: on the terminal, in PDF files and on pages.

    equation(payment, adjustments)      # Claims paid 1,250.00, overpayment recovery -553.00, ... = 699.10
    notices(payment)                    # what a person should know before booking it

Values of a payment in, texts and amounts out. Knows no width, no page and no file.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from clearlane.kernel.claim_label import LABEL_WORDS, ClaimLabel
from clearlane.kernel.formats import last_first, lower_first, parse_iso_date
from clearlane.payments.balance import format_count
from clearlane.payments.claim_series import ClaimSeries, SeriesType
from clearlane.payments.facility import facility_sentences
from clearlane.payments.payment import (
    ClaimPayment,
    ClaimPaymentType,
    CorrectedPatient,
    LineAdjustment,
    LineRemark,
    PaidLine,
    Payment,
    PaymentState,
    ProviderAdjustment,
)
from clearlane.x12.codes import load

METHOD_WORDS = {
    "ACH": "Bank transfer (ACH)",
    "BOP": "Method chosen by the bank",
    "CHK": "Check",
    "FWT": "Wire transfer",
    "NON": "No money: information only",
}
"""BPR04 as a person says it."""

HANDLING_WITHOUT_MONEY = frozenset({"H"})
"""BPR01 codes of an advice that announces something and pays nothing."""

GROUP_WORDS = {
    "CO": "not owed by the patient",
    "CR": "correction of an earlier claim payment",
    "OA": "other",
    "PI": "reduced by the payer",
    "PR": "owed by the patient",
}
"""Who bears an adjustment (CAS01)."""

PATIENT_GROUP = "PR"


class EquationTerm(NamedTuple):
    """One amount of the equation that ends in the amount of a payment."""

    label: str
    amount: int


def money(cents: int | None) -> str:
    """Return an amount such as ``1,234.50`` or ``-20.00``, and a dash if there is none."""
    if cents is None:
        return "-"
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def day(value: date | None) -> str:
    """Return a day such as ``Dec 2, 2026``, whatever the locale; empty if there is none."""
    return f"{MONTHS[value.month - 1]} {value.day}, {value.year}" if value else ""


def spell_days(text: str) -> str:
    """Return a sentence with its ISO days written as people write days."""
    return _ISO_DAY.sub(lambda found: day(parse_iso_date(found[0])) or found[0], text)


_ISO_DAY = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])", re.ASCII)
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905


def period(first: date | None, last: date | None) -> str:
    """Return one day, or two with ``to`` between them."""
    if first and last and first != last:
        return f"{day(first)} to {day(last)}"
    return day(first or last)


def equation(
    payment: Payment, adjustments: Iterable[ProviderAdjustment] = ()
) -> tuple[EquationTerm, ...]:
    """Return the terms that add up to the amount of a payment: claims, adjustments by reason, and what is unexplained.

    Adjustments that are counted in the payment's total but not listed (they concern another client) are one term, and
    so is the difference of a payment that does not balance.
    """
    by_reason: dict[str, EquationTerm] = {}
    for one in adjustments:
        before = by_reason.get(one.reason, EquationTerm(reason_words(one), 0))
        by_reason[one.reason] = before._replace(amount=before.amount + one.amount)
    listed = sum(term.amount for term in by_reason.values())
    terms = [EquationTerm(f"Paid for {format_count(payment.claims, 'claim')}", payment.claims_paid)]
    terms += by_reason.values()
    if payment.adjustments_total != listed:
        terms.append(
            EquationTerm("Provider adjustments of others", payment.adjustments_total - listed)
        )
    if payment.difference:
        terms.append(EquationTerm("Not explained by the payer", payment.difference))
    return tuple(terms)


def amount_words(payment: Payment) -> str:
    """Return the amount of a payment, or that it cannot be read."""
    return "amount that cannot be read" if payment.amount is None else money(payment.amount)


def notices(payment: Payment) -> tuple[str, ...]:
    """Return what a person should know before booking a payment, a sentence each."""
    found: list[str] = []
    if payment.state is PaymentState.DUPLICATE or payment.duplicate_of:
        found.append(f"Duplicate of payment {payment.duplicate_of}: it counts nothing.")
    if payment.differs_from:
        found.append(
            f"Payment {payment.differs_from} has the same payer, trace number and date, but other content."
        )
    if payment.amount is None:
        found.append("The amount of the payment (BPR02) cannot be read.")
    elif payment.difference:
        found.append(
            f"Does not balance: claims and adjustments leave {money(payment.difference)} unexplained. Ask the payer."
        )
    if payment.unbalanced_claims:
        found.append(
            f"{format_count(payment.unbalanced_claims, 'claim')} out of balance: the charge is not what was paid"
            " and adjusted."
        )
    if payment.unmatched:
        found.append(f"{format_count(payment.unmatched, 'claim')} not matched to a claim of yours.")
    if payment.handling in HANDLING_WITHOUT_MONEY or payment.method == "NON":
        found.append("This is a notice; no money comes with it.")
    return tuple(found)


def reason_words(adjustment: ProviderAdjustment) -> str:
    """Return the reason of a provider adjustment in words, with its code."""
    if not adjustment.text:
        return f"Adjustment {adjustment.reason}".rstrip()
    return f"{adjustment.text} ({adjustment.reason})"


def adjustment_code(adjustment: LineAdjustment) -> str:
    """Return group and reason of an adjustment, such as ``CO-45``."""
    return "-".join(filter(None, (adjustment.group, adjustment.reason)))


def adjustment_words(adjustment: LineAdjustment) -> str:
    """Return an adjustment in words: its code, its reason, and who bears it."""
    who = GROUP_WORDS.get(adjustment.group, "")
    text = adjustment.text or "A reason that no list has"
    quantity = adjustment.quantity if adjustment.quantity.strip("0.") else ""
    units = f", {quantity} {'unit' if quantity == '1' else 'units'}" if quantity else ""
    bearer = f" ({who}{units})" if who else ""
    return f"{adjustment_code(adjustment)} {text}{bearer}"


def remark_words(remark: LineRemark) -> str:
    """Return a remark code in words."""
    return f"{remark.code} {remark.text or 'A remark that no list has'}"


def claim_payment_words(claim_payment: ClaimPayment) -> str:
    """Return what a claim payment is called, with where it was forwarded and whether it corrects an earlier one."""
    label = LABEL_WORDS[claim_payment.label]
    if claim_payment.forwarded_to and claim_payment.label is not ClaimLabel.FORWARDED:
        label += ", forwarded"
    if claim_payment.type is ClaimPaymentType.CORRECTION:
        return f"Corrected: {lower_first(label)}"
    return label


def patient_name(claim_payment: ClaimPayment) -> str:
    """Return the patient's last and first name, or that the payer gave none."""
    names = last_first(claim_payment.patient_last_name, claim_payment.patient_first_name)
    return names or "Patient not named"


def claim_payment_numbers(claim_payment: ClaimPayment) -> tuple[str, ...]:
    """Return the numbers and days that identify a claim payment, each with its name; those that are missing are left out."""
    account = (
        claim_payment.account_number
        if claim_payment.account_number != claim_payment.claim_number
        else ""
    )
    named: Sequence[tuple[str, str]] = (
        ("member", claim_payment.member_id),
        ("your id", claim_payment.vendor_claim_id),
        ("our no.", claim_payment.claim_number),
        ("account", account),
        ("payer no.", claim_payment.payer_control_number),
        ("corrects payer no.", claim_payment.original_payer_control_number),
        ("service", period(claim_payment.service_from, claim_payment.service_to)),
        ("payer received it", day(claim_payment.payer_received_date)),
        ("rendering NPI", claim_payment.rendering_npi),
    )
    return tuple(f"{name} {value}" for name, value in named if value)


def claim_payment_warnings(claim_payment: ClaimPayment) -> tuple[str, ...]:
    """Return sentences about a claim payment that a person must look at: not matched, unreadable, out of balance."""
    found: list[str] = []
    if not claim_payment.claim_number:
        why = claim_payment.unmatched_reason.rstrip(".")
        found.append(f"Not matched to a claim: {why}." if why else "Not matched to a claim.")
    if claim_payment.unreadable:
        found.append(f"Cannot be read: {', '.join(claim_payment.unreadable)}.")
    if claim_payment.difference:
        found.append(
            f"Does not balance: {money(claim_payment.difference)} of the charge is neither paid nor adjusted."
        )
    elif not claim_payment.balanced:
        found.append("A line of it does not balance.")
    if claim_payment.replaced:
        found.append("A newer payment replaced this claim payment without taking it back.")
    return tuple(found)


def claim_payment_notes(claim_payment: ClaimPayment) -> tuple[str, ...]:
    """Return sentences about a claim payment that a person may want to know: forwarding, interest, days and groups,
    corrected names."""
    found: list[str] = []
    if claim_payment.forwarded_to:
        found.append(f"Forwarded to {claim_payment.forwarded_to}.")
    if claim_payment.interest:
        done = "paid" if claim_payment.interest > 0 else "taken back"
        amount = money(abs(claim_payment.interest))
        found.append(f"Interest {amount} is {done} as a provider adjustment, not with the claim.")
    if claim_payment.facility:
        found += facility_sentences(claim_payment.facility)
        found += (f"{one.text}: {money(one.amount)}." for one in claim_payment.facility.amounts)
    if claim_payment.corrected_patient:
        found.append(_corrected_words(claim_payment.corrected_patient))
    return tuple(found)


def series_words(series: ClaimSeries) -> str:
    """Return how the bills of a stay come to one amount."""
    how = {
        SeriesType.ADDITIVE: "which add up",
        SeriesType.CUMULATIVE: "of which the last one counts",
    }[series.type]
    bills = format_count(len(series.members), "bill")
    return f"Series of {bills}, {how}: charge {money(series.total_cents)}, paid {money(series.paid_cents)}"


def procedure_words(line: PaidLine) -> str:
    """Return revenue code and procedure with its modifiers, and the one that was billed if the payer changed it."""
    words = load("revenue_codes").get(line.revenue_code, "")
    procedure = line.procedure if line.procedure != line.revenue_code else ""
    code = " ".join(filter(None, (line.revenue_code, words, procedure, *line.modifiers)))
    changed = line.submitted_procedure and line.submitted_procedure != line.procedure
    return f"{code} (billed {line.submitted_procedure})" if changed else code


def units_words(line: PaidLine) -> str:
    """Return the units paid, and those billed if they differ."""
    paid, billed = line.units_paid, line.units_billed
    return f"{paid} of {billed}" if paid and billed and paid != billed else paid or billed


def patient_parts(claim_payment: ClaimPayment) -> tuple[EquationTerm, ...]:
    """Return what the patient owes by its reasons; those without an amount are left out."""
    named = (
        EquationTerm("Deductible (PR-1)", claim_payment.deductible),
        EquationTerm("Coinsurance (PR-2)", claim_payment.coinsurance),
        EquationTerm("Copayment (PR-3)", claim_payment.copay),
    )
    others = claim_payment.patient - sum(one.amount for one in named)
    return tuple(one for one in (*named, EquationTerm("Other patient part", others)) if one.amount)


def other_part(adjustments: Iterable[LineAdjustment]) -> int:
    """Return what is neither paid nor owed by the patient."""
    return sum(one.amount for one in adjustments if one.group != PATIENT_GROUP)


def claim_payment_other_part(claim_payment: ClaimPayment) -> int:
    """Return what is neither paid nor owed by the patient, of a claim and its lines."""
    lines = sum(other_part(line.adjustments) for line in claim_payment.lines)
    return other_part(claim_payment.adjustments) + lines


def _corrected_words(corrected: CorrectedPatient) -> str:
    name = " ".join(
        filter(
            None,
            (corrected.first_name, corrected.middle_name, corrected.last_name, corrected.suffix),
        )
    )
    member = f"member {corrected.member_id}" if corrected.member_id else ""
    return f"The payer knows the patient as {', '.join(filter(None, (name, member)))}."
