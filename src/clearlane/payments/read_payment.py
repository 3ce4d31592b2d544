"""Read one claim payment with all that it says, and the heading of a payment.

    claim_payment = read_claim_payment(part)   # the one claim of a claim's part of an 835
    payment = heading_of_set(set)              # before its first claim

Whole files are read by ``read_835`` alone, which is faster and knows less: it is for posting. Knows the views of an 835; no
claim that was sent.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal

from msgspec.structs import replace

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.formats import to_cents
from clearlane.payments.claim_payment_label import (
    ORDINARY_REASONS,
    AdjustedReason,
    LinePayment,
    derive_label,
)
from clearlane.payments.facility import AMOUNTS
from clearlane.payments.payment import (
    AllowedSource,
    ClaimPayment,
    ClaimPaymentType,
    CorrectedPatient,
    FacilityAmount,
    FacilityDecision,
    LineAdjustment,
    LineRemark,
    PaidLine,
    Payment,
)
from clearlane.payments.read_claim_part import read_claim_part
from clearlane.x12 import tree
from clearlane.x12.views.original import SeparatorRestorer
from clearlane.x12.views.remittance import (
    SET,
    RemittanceClaimView,
    RemittanceLineView,
    RemittancePaymentView,
    RemittanceView,
)
from clearlane.x12.views.shared_types import (
    AdjudicationView,
    AdjustmentView,
    AmountView,
    DateView,
    PartyView,
    ProcedureView,
    ReferenceView,
    RemarkView,
)

PATIENT, NPI_QUALIFIER = "PR", "XX"
REVENUE_LIST = "NU"
"""SVC01-1 of a revenue code."""
TAX_ID_QUALIFIERS = frozenset({"FI", "TJ"})
# AMT01 and DTM01 codes.
ALLOWED, INTEREST = "B6", "I"
SERVICE, PERIOD_BEGIN, PERIOD_END = "472", "150", "151"
STATEMENT_BEGIN, STATEMENT_END, RECEIVED, PRODUCED = "232", "233", "050", "405"
ACCOUNT_DIGITS_SHOWN = 4
NO_ADJUDICATION = AdjudicationView()
TAX_ID_PREFIX = "1"
"""TRN03 is a 1 and the tax id."""


def read_claim_payment(part: bytes, *, number: int = 0) -> ClaimPayment:
    """Read the claim in a claim's part of an 835. ValueError if it holds no claim payment."""
    return claim_payment_of_view(read_claim_part(part)[1], number=number)


def heading_of_set(set: tree.TransactionSet) -> Payment:
    """Return the payment in the heading of a set, which comes before the first claim."""
    restorer = SeparatorRestorer(set.group.interchange.delimiters)
    return _payment(restorer.restore(SET(set.root)))


class Corrections:
    """Recognizes the corrections within one payment: what follows a reversal with the same account number."""

    def __init__(self) -> None:
        self._reversed: set[str] = set()

    def mark(self, one: ClaimPayment) -> ClaimPayment:
        """Return the next claim payment of the payment, as a correction if it is one."""
        if one.type is ClaimPaymentType.REVERSAL:
            self._reversed.add(one.account_number)
        elif one.account_number in self._reversed:
            return replace(one, type=ClaimPaymentType.CORRECTION)
        return one


def _payment(view: RemittanceView) -> Payment:
    bpr = view.payment or RemittancePaymentView()
    amount = to_cents(bpr.amount)
    payer, payee = view.payer or PartyView(), view.payee or PartyView()
    trace = view.trace
    return Payment(
        payer_name=payer.name,
        payer_tax_id=_tax_id_of_trace(trace.originator if trace else ""),
        payee_name=payee.name,
        payee_npi=payee.id if payee.id_qualifier == NPI_QUALIFIER else "",
        payee_tax_id=_payee_tax_id(payee),
        method=bpr.method,
        handling=bpr.handling,
        credit_debit=bpr.sign,
        amount=-amount if amount is not None and bpr.sign == "D" else amount,
        trace_number=trace.number if trace else "",
        trace_supplement=trace.further if trace else "",
        effective_date=bpr.day,
        production_date=_day(view.dates, PRODUCED),
        account_last4=bpr.receiver_account[-ACCOUNT_DIGITS_SHOWN:],
    )


def _tax_id_of_trace(originator: str) -> str:
    has_prefix = len(originator) == 10 and originator.startswith(TAX_ID_PREFIX)
    return originator[1:] if has_prefix else originator


def _payee_tax_id(payee: PartyView) -> str:
    if payee.id_qualifier in TAX_ID_QUALIFIERS:
        return payee.id
    return next((one.value for one in payee.references if one.qualifier in TAX_ID_QUALIFIERS), "")


def claim_payment_of_view(view: RemittanceClaimView, *, number: int = 0) -> ClaimPayment:
    """Return the claim payment that a view of a CLP shows, not yet matched to a claim."""
    lines = tuple(_line(one, view.status) for one in view.lines)
    paid, charge = to_cents(view.paid) or 0, to_cents(view.charged) or 0
    own = _adjustments(view.adjustments, unpaid=not paid)
    every = [*own, *(one for line in lines for one in line.adjustments)]
    sums = AdjustmentSums(every)
    unreadable = tuple(_unreadable(view))
    difference = charge - paid - sums.total
    allowed, source = _allowed(lines, paid + sums.ordinary_patient)
    begin, end = _service_days(view, lines)
    patient = view.patient or PartyView()
    return ClaimPayment(
        number=number,
        type=ClaimPaymentType.REVERSAL if view.is_reversal else ClaimPaymentType.ORIGINAL,
        in_force=not view.is_reversal,
        label=derive_label(
            status=view.status,
            paid=paid,
            reasons=reasons_of(own),
            lines=[LinePayment(line.paid, reasons_of(line.adjustments)) for line in lines],
        ),
        status_code=view.status,
        status_text=view.status_words,
        claim_number=_reference(view.references, "D9"),
        account_number=view.number,
        payer_control_number=view.payer_number,
        original_payer_control_number=_reference(view.references, "F8"),
        filing_code=view.filing,
        frequency=view.frequency,
        patient_last_name=patient.name,
        patient_first_name=patient.first,
        member_id=patient.id or (view.insured.id if view.insured else ""),
        charge=charge,
        allowed=allowed,
        allowed_source=source,
        paid=paid,
        patient=sums.patient,
        deductible=sums.of(PATIENT, "1"),
        coinsurance=sums.of(PATIENT, "2"),
        copay=sums.of(PATIENT, "3"),
        contractual=sums.of("CO", "45"),
        denied=sums.denied,
        other_adjustments=sums.other,
        interest=_amount(view.amounts, INTEREST) or 0,
        prior_payer=sums.of("OA", "23"),
        facility=_facility(view),
        corrected_patient=_corrected(view.corrected),
        forwarded_to=view.forwarded_to.name if view.forwarded_to else "",
        rendering_npi=_npi(view.rendering),
        service_from=begin,
        service_to=end,
        payer_received_date=_day(view.dates, RECEIVED),
        remarks=tuple(_claim_remarks(view)),
        adjustments=own,
        balanced=difference == 0 and not unreadable and all(line.balanced for line in lines),
        difference=difference,
        unreadable=unreadable,
        lines=lines,
    )


def _facility(view: RemittanceClaimView) -> FacilityDecision | None:
    """Return what a claim payment says of the bill of a facility; None if it says nothing but remarks."""
    stay, other = view.inpatient or NO_ADJUDICATION, view.outpatient or NO_ADJUDICATION
    found = FacilityDecision(
        drg=view.drg,
        drg_weight=_stated_number(view.drg_weight),
        discharge_fraction=_stated_number(view.discharge_fraction),
        covered_days=_stated_number(stay.covered_days),
        psychiatric_days=_stated_number(stay.psychiatric_days),
        cost_report_days=_stated_number(stay.cost_report_days),
        rate=_stated_number(other.rate),
        amounts=tuple(
            FacilityAmount(name=name, text=text, amount=cents)
            for name, text in AMOUNTS.items()
            for one in (stay, other)
            if (cents := to_cents(getattr(one, name)))
        ),
    )
    return None if found == FacilityDecision() else found


def _stated_number(value: Decimal | None) -> str:
    """Return a number as people write it; empty for none and for zero."""
    return f"{value.normalize():f}" if value else ""


def as_void_answer(claim_payment: ClaimPayment) -> ClaimPayment:
    """Return the claim payment of a void that was carried out: what the payer does not pay is not a denial."""
    return replace(
        claim_payment,
        label=ClaimLabel.VOIDED,
        denied=0,
        other_adjustments=claim_payment.other_adjustments + claim_payment.denied,
        adjustments=_undenied(claim_payment.adjustments),
        lines=tuple(
            replace(line, label=ClaimLabel.VOIDED, adjustments=_undenied(line.adjustments))
            for line in claim_payment.lines
        ),
    )


def _undenied(adjustments: Sequence[LineAdjustment]) -> tuple[LineAdjustment, ...]:
    return tuple(replace(one, denial=False) for one in adjustments)


class AdjustmentSums:
    """Sums over the adjustments of one claim, its lines included."""

    NAMED = ORDINARY_REASONS - {("CO", "24")}
    """Group and reason of the adjustments that have a field of their own."""

    def __init__(self, adjustments: Sequence[LineAdjustment]) -> None:
        self._all = adjustments
        self.total = sum(one.amount for one in adjustments)
        self.patient = sum(one.amount for one in adjustments if one.group == PATIENT)
        self.denied = sum(one.amount for one in adjustments if one.denial)

    def of(self, group: str, reason: str) -> int:
        """Return the sum of one group and reason."""
        return sum(one.amount for one in self._all if (one.group, one.reason) == (group, reason))

    @property
    def ordinary_patient(self) -> int:
        """Deductible, coinsurance and copayment."""
        return sum(self.of(PATIENT, reason) for reason in ("1", "2", "3"))

    @property
    def other(self) -> int:
        """What is neither denied nor has a field of its own."""
        return self.total - self.denied - sum(self.of(*named) for named in self.NAMED)


def reasons_of(adjustments: Sequence[LineAdjustment]) -> list[AdjustedReason]:
    """Return the reasons that decide a label."""
    return [AdjustedReason(one.group, one.reason, one.amount) for one in adjustments]


def _line(view: RemittanceLineView, status: str) -> PaidLine:
    paid, charge = to_cents(view.paid) or 0, to_cents(view.charged) or 0
    adjustments = _adjustments(view.adjustments, unpaid=paid == 0)
    sums = AdjustmentSums(adjustments)
    reported = _amount(view.amounts, ALLOWED)
    procedure = view.procedure
    submitted = view.procedure_charged.code if view.procedure_charged else ""
    units = format_quantity(view.units)
    return PaidLine(
        line_control_number=view.control,
        procedure=(procedure.code if procedure else "") or view.revenue,
        revenue_code=view.revenue or _revenue_code(procedure),
        submitted_procedure=submitted,
        modifiers=procedure.modifiers if procedure else (),
        units_billed=format_quantity(view.units_charged) or units or "1",
        units_paid=units or "1",
        service_date=_day(view.dates, SERVICE) or _day(view.dates, PERIOD_BEGIN),
        charge=charge,
        allowed=paid + sums.ordinary_patient if reported is None else reported,
        allowed_source=AllowedSource.COMPUTED if reported is None else AllowedSource.REPORTED,
        paid=paid,
        patient=sums.patient,
        label=derive_label(status=status, paid=paid, reasons=reasons_of(adjustments)),
        adjustments=adjustments,
        remarks=tuple(map(_remark, view.remarks)),
        balanced=charge - paid - sums.total == 0,
    )


def _revenue_code(procedure: ProcedureView | None) -> str:
    """Return the revenue code of a line that has no other code."""
    return procedure.code if procedure and procedure.qualifier == REVENUE_LIST else ""


def _adjustments(views: Sequence[AdjustmentView], *, unpaid: bool) -> tuple[LineAdjustment, ...]:
    return tuple(
        LineAdjustment(
            group=one.group,
            reason=one.reason,
            text=one.reason_words,
            amount=(amount := to_cents(one.amount) or 0),
            quantity=format_quantity(one.quantity),
            denial=unpaid and amount != 0 and (one.group, one.reason) not in ORDINARY_REASONS,
        )
        for one in views
    )


def _allowed(lines: Sequence[PaidLine], computed: int) -> tuple[int, AllowedSource]:
    """Return the allowed amount of a claim: the sum of its lines if the payer states one of them."""
    stated = [line.allowed_source is AllowedSource.REPORTED for line in lines]
    if not any(stated):
        return computed, AllowedSource.COMPUTED
    source = AllowedSource.REPORTED if all(stated) else AllowedSource.COMPUTED
    return sum(line.allowed for line in lines), source


def _service_days(
    view: RemittanceClaimView, lines: Sequence[PaidLine]
) -> tuple[date | None, date | None]:
    """Return the first and last day of service: the payer's statement period, else those of the lines."""
    ends = [
        day
        for line in view.lines
        for one in (SERVICE, PERIOD_END)
        if (day := _day(line.dates, one))
    ]
    days = [line.service_date for line in lines if line.service_date]
    begin = _day(view.dates, STATEMENT_BEGIN) or min(days, default=None)
    end = _day(view.dates, STATEMENT_END) or max([*days, *ends], default=None)
    return begin, end or begin


def _unreadable(view: RemittanceClaimView) -> Iterator[str]:
    if not view.status_words:
        yield "CLP02"
    for name, amount in (("CLP03", view.charged), ("CLP04", view.paid)):
        if to_cents(amount) is None:
            yield name
    if any(to_cents(one.amount) is None for one in view.all_adjustments):
        yield "CAS"


def _claim_remarks(view: RemittanceClaimView) -> Iterator[LineRemark]:
    for adjudication in (view.inpatient, view.outpatient):
        if adjudication is not None:
            yield from map(_remark, adjudication.remarks)


def _remark(view: RemarkView) -> LineRemark:
    return LineRemark(code=view.code, text=view.code_words)


def _corrected(party: PartyView | None) -> CorrectedPatient | None:
    if party is None:
        return None
    return CorrectedPatient(
        last_name=party.name,
        first_name=party.first,
        middle_name=party.middle,
        suffix=party.suffix,
        member_id=party.id,
    )


def _npi(party: PartyView | None) -> str:
    return party.id if party is not None and party.id_qualifier == NPI_QUALIFIER else ""


def _reference(references: Sequence[ReferenceView], qualifier: str) -> str:
    return next((one.value for one in references if one.qualifier == qualifier), "")


def _amount(amounts: Sequence[AmountView], qualifier: str) -> int | None:
    return next((to_cents(one.amount) for one in amounts if one.qualifier == qualifier), None)


def _day(dates: Sequence[DateView], qualifier: str) -> date | None:
    return next((one.start for one in dates if one.qualifier == qualifier), None)


def format_quantity(quantity: Decimal | None) -> str:
    """Return a quantity as people write it; empty if there is none."""
    return "" if quantity is None else f"{quantity.normalize():f}"
