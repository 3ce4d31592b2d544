"""A payment as people read it: the check or transfer, its claims, their lines, and what was changed as a whole.

    Payment                 one BPR/TRN of one 835: the heading, the totals, the balance
    ClaimPayment            one CLP of it: an original, a reversal or a correction
    PaidLine                one SVC of a claim payment, with its adjustments and remarks
    ProviderAdjustment      one adjustment of a PLB, with its effect on the payment

Amounts are whole cents and days are dates; what a payer left out is None for amounts and days, "" for texts. Every
code of the payer is kept beside its words. A value prints which fields are filled, never what they hold. The fields
and their names are those of ``docs/how-to/payments.md``. Knows no file, no database and no API.
"""

from datetime import date, datetime
from enum import StrEnum

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.deposit import Deposit
from clearlane.payments.model import PaymentHeading, PaymentStruct


class PaymentState(StrEnum):
    """What a person has to do about a payment."""

    POSTED = "posted"
    """Its claims were recorded, and it needs no attention."""
    NEEDS_REVIEW = "needs_review"
    """It does not balance, has claims that match none of ours, or resembles another payment."""
    DUPLICATE = "duplicate"
    """The same payment came before; this one does not count."""


class ClaimPaymentType(StrEnum):
    """What a claim payment does to the money of its claim."""

    ORIGINAL = "original"
    REVERSAL = "reversal"
    """It takes back an earlier claim payment (CLP02 22); its amounts are negative."""
    CORRECTION = "correction"
    """It follows a reversal, or replaces an earlier claim payment that was not reversed."""


class AllowedSource(StrEnum):
    """Where an allowed amount comes from."""

    REPORTED = "reported"
    """The payer states it: ``AMT*B6`` of a line."""
    COMPUTED = "computed"
    """Paid plus deductible, coinsurance and copayment."""


class MatchedBy(StrEnum):
    """How a claim payment found its claim."""

    NUMBER = "number"
    """Our claim number, which the payer returned (``REF*D9``, or within ``REF*6R``)."""
    ACCOUNT = "account"
    """The account number (CLP01)."""
    PAYER_NUMBER = "payer_number"
    """The payer's claim control number (CLP07) of an earlier claim payment."""
    PERSON = "person"
    """A person assigned it."""


class LineAdjustment(PaymentStruct, frozen=True):
    """One adjustment of a CAS, of a claim or of a line. A positive amount lowers what is paid."""

    group: str = ""
    """CAS01: CO, PR, OA, PI (CR in old files)."""
    reason: str = ""
    """The claim adjustment reason code (CARC)."""
    text: str = ""
    """The reason in words; empty for a code that no list has."""
    amount: int = 0
    quantity: str = ""
    """The units that were adjusted, as written; mostly empty."""
    denial: bool = False
    """Whether it denies payment: nothing was paid, and the reason is none of ``claim_payment_label.ORDINARY_REASONS``."""


class LineRemark(PaymentStruct, frozen=True):
    """A remark code of a claim (MOA, MIA) or of a line (LQ), in words."""

    code: str = ""
    text: str = ""


class CorrectedPatient(PaymentStruct, frozen=True):
    """The patient or insured as the payer knows them (``NM1*74``): only what the payer corrects is filled."""

    last_name: str = ""
    first_name: str = ""
    middle_name: str = ""
    suffix: str = ""
    member_id: str = ""


class FacilityAmount(PaymentStruct, frozen=True):
    """One amount that an MIA or MOA states."""

    name: str = ""
    """Its name in the API, such as ``drg_amount``."""
    text: str = ""
    """The same in words, with its element."""
    amount: int = 0


class FacilityDecision(PaymentStruct, frozen=True):
    """What the payer says of the bill of a facility as a whole (CLP11 to CLP13, MIA, MOA). Numbers are as written."""

    drg: str = ""
    """CLP11: the diagnosis related group."""
    drg_weight: str = ""
    discharge_fraction: str = ""
    covered_days: str = ""
    """MIA01."""
    psychiatric_days: str = ""
    """MIA03."""
    cost_report_days: str = ""
    """MIA15."""
    rate: str = ""
    """MOA01: the reimbursement rate."""
    amounts: tuple[FacilityAmount, ...] = ()


class PaidLine(PaymentStruct, frozen=True):
    """One service line of a claim payment (SVC)."""

    line_number: int = 0
    """Of our claim, from 1; 0 if the line matches none of the claim's."""
    line_control_number: str = ""
    """``REF*6R``."""
    procedure: str = ""
    """The code that was paid (SVC01), without qualifier and modifiers; the revenue code if there is no other."""
    revenue_code: str = ""
    """SVC04, or SVC01 of a line without another code; of bills of facilities."""
    submitted_procedure: str = ""
    """The code that was billed (SVC06), if the payer changed it."""
    modifiers: tuple[str, ...] = ()
    units_billed: str = ""
    """SVC07, else SVC05; as written."""
    units_paid: str = ""
    """SVC05, else 1; as written."""
    service_date: date | None = None
    """``DTM*472``, or the first day of a period (``DTM*150``)."""
    charge: int = 0
    allowed: int = 0
    allowed_source: AllowedSource = AllowedSource.COMPUTED
    paid: int = 0
    patient: int = 0
    """The adjustments of group PR."""
    label: ClaimLabel = ClaimLabel.PAID
    adjustments: tuple[LineAdjustment, ...] = ()
    remarks: tuple[LineRemark, ...] = ()
    balanced: bool = True
    """Whether charge = paid + adjustments."""

    @property
    def adjusted(self) -> int:
        """The sum of all adjustments of the line."""
        return sum(one.amount for one in self.adjustments)


class ClaimPayment(PaymentStruct, frozen=True):
    """What one payment says about one claim (CLP): an original, a reversal or a correction."""

    claim_payment_id: str = ""
    """The payment's id, a dash, and the number of the CLP in the payment, from 1."""
    number: int = 0
    """The number of the CLP in the payment, from 1."""
    type: ClaimPaymentType = ClaimPaymentType.ORIGINAL
    reverses: str = ""
    """The claim payment id of what a reversal takes back, if it is known."""
    in_force: bool = True
    """False once it was reversed or replaced; a reversal is never in force."""
    replaced: bool = False
    """Whether a newer payment replaced it without reversing it. A person should know."""
    label: ClaimLabel = ClaimLabel.PAID
    status_code: str = ""
    """CLP02."""
    status_text: str = ""
    claim_number: str = ""
    """Ours; empty while unmatched."""
    vendor_claim_id: str = ""
    document_id: str = ""
    """The id of the document that shows it (V3 ``get_by_doc_id``); empty while unmatched."""
    account_number: str = ""
    """CLP01."""
    payer_control_number: str = ""
    """CLP07."""
    original_payer_control_number: str = ""
    """``REF*F8``."""
    filing_code: str = ""
    """CLP06."""
    frequency: str = ""
    """CLP09."""
    patient_last_name: str = ""
    patient_first_name: str = ""
    member_id: str = ""
    charge: int = 0
    allowed: int = 0
    allowed_source: AllowedSource = AllowedSource.COMPUTED
    paid: int = 0
    patient: int = 0
    """Patient responsibility: all adjustments of group PR, of the claim and its lines."""
    deductible: int = 0
    """PR-1."""
    coinsurance: int = 0
    """PR-2."""
    copay: int = 0
    """PR-3."""
    contractual: int = 0
    """CO-45: the write-off by contract."""
    denied: int = 0
    """Adjustments that deny payment, whatever their group."""
    other_adjustments: int = 0
    """All adjustments that are none of those named above."""
    interest: int = 0
    """``AMT*I``: interest, which is paid by a PLB and is not part of ``paid``."""
    prior_payer: int = 0
    """OA-23: what earlier payers paid and adjusted."""
    facility: FacilityDecision | None = None
    """Of the bill of a facility; None if the payer states neither days nor amounts of it."""
    corrected_patient: CorrectedPatient | None = None
    """``NM1*74``."""
    forwarded_to: str = ""
    """The name of the payer that the claim was forwarded to (``NM1*TT``)."""
    rendering_npi: str = ""
    service_from: date | None = None
    service_to: date | None = None
    payer_received_date: date | None = None
    """``DTM*050``."""
    remarks: tuple[LineRemark, ...] = ()
    adjustments: tuple[LineAdjustment, ...] = ()
    """Those of the claim as a whole; each line has its own."""
    matched_by: MatchedBy | None = None
    """None while unmatched."""
    unmatched_reason: str = ""
    """Why it matches no claim; empty once matched."""
    balanced: bool = True
    """Whether charge = paid + adjustments, for the claim and for each line."""
    difference: int = 0
    """Charge less paid less adjustments; 0 if the claim balances."""
    unreadable: tuple[str, ...] = ()
    """Elements whose amounts or codes cannot be read; such a claim payment waits for a person."""
    lines: tuple[PaidLine, ...] = ()


class ProviderAdjustment(PaymentStruct, frozen=True):
    """One adjustment of a PLB: an amount taken from the payment, or added to it, as a whole."""

    number: int = 0
    """Its number in the payment, from 1."""
    provider_id: str = ""
    """PLB01."""
    fiscal_year_end: date | None = None
    """PLB02."""
    reason: str = ""
    """PLB03-1."""
    text: str = ""
    """The reason in words; empty for a code that no list has."""
    reference: str = ""
    """PLB03-2, as written."""
    claim_number: str = ""
    """Our claim that the reference names, if it names one."""
    amount: int = 0
    """The effect on the payment: minus takes away."""
    x12_amount: int = 0
    """The PLB's own amount, which has the opposite sign."""


class PaymentSummary(PaymentStruct, frozen=True):
    """The totals at the end of an 835: the payment, its provider adjustments, and its balance."""

    payment: PaymentHeading
    interchange: int = 1
    group: int = 1
    set: int = 1
    claims: int = 0
    paid: int = 0
    adjustments: tuple[ProviderAdjustment, ...] = ()
    unbalanced_claims: int = 0
    """How many claims do not balance."""
    unreadable_claims: int = 0
    """How many claims have elements that cannot be read."""
    balanced: bool = False
    """Whether the payment balances, and every amount of the equation can be read."""

    @property
    def balance(self) -> int | None:
        """BPR02 less the claim payments and the effect of the provider adjustments; None if BPR02 cannot be read."""
        if self.payment.amount is None:
            return None
        return self.payment.amount - self.paid - sum(one.amount for one in self.adjustments)


class Payment(PaymentStruct, frozen=True):
    """One check or transfer: the BPR and TRN of one 835, its totals, and its state."""

    payment_id: str = ""
    state: PaymentState = PaymentState.POSTED
    payer_id: str = ""
    """Ours: the payer whose route brought the file."""
    payer_name: str = ""
    """``N1*PR``."""
    payer_tax_id: str = ""
    """TRN03, without its leading 1."""
    payee_name: str = ""
    """``N1*PE``."""
    payee_npi: str = ""
    payee_tax_id: str = ""
    method: str = ""
    """BPR04: ACH, CHK, FWT, BOP, NON."""
    handling: str = ""
    """BPR01: I for money with the advice, H for a notice, and so on."""
    credit_debit: str = ""
    """BPR03: C or D."""
    amount: int | None = None
    """BPR02, negative for a debit; None if it cannot be read."""
    your_amount: int = 0
    """The part of one vendor and site: its claims and the provider adjustments attributed to it."""
    trace_number: str = ""
    """TRN02: the number of the check or transfer."""
    trace_supplement: str = ""
    """TRN04."""
    effective_date: date | None = None
    """BPR16."""
    production_date: date | None = None
    """``DTM*405``, else the date of the file."""
    received_at: datetime | None = None
    account_last4: str = ""
    """The last four digits of the account paid to (BPR15)."""
    claims: int = 0
    """How many claim payments it has."""
    unmatched: int = 0
    """How many of them match no claim of ours."""
    claims_paid: int = 0
    """The sum of what its claim payments were paid."""
    adjustments_total: int = 0
    """The effect of all provider adjustments: minus takes away."""
    balanced: bool = True
    """Whether amount = claims paid + adjustments. Claims have a balance of their own."""
    difference: int | None = 0
    """Amount less claims paid less adjustments; None if the amount cannot be read."""
    unbalanced_claims: int = 0
    duplicate_of: str = ""
    """The payment id of the same payment that came before."""
    differs_from: str = ""
    """The payment id of an earlier one with the same payer, trace number and date, but other content."""
    file_id: int = 0
    """The inbox file."""
    fetched_at: datetime | None = None
    """When the vendor's software first read it, or a document of it."""
    seen_at: datetime | None = None
    """When a person of the vendor first read it, or a document of it."""
    deposit: Deposit = Deposit()
    """What the sites whose part is shown did with it."""
