"""View of an 835: who paid whom how much, claim by claim and line by line, and why not more.

    for remittance in map(view_remittance, file.sets()): ...

    for piece in stream_remittances(source):     # any size: a claim at a time
        match piece:
            case RemittanceClaimView(): ...      # with ``piece.balance``
            case RemittanceView(): ...           # the end of a set: everything but its claims, with totals

``balance`` is the difference that is left: 0 if charge, payment and adjustments agree, None if one of them cannot be read.
Knows payment loops; knows no claim that was sent.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from msgspec.structs import replace

from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    Binding,
    ChildLoop,
    SegmentHandler,
    Slots,
    View,
    ViewBuilder,
    append,
    code_words,
    extend,
    fill,
    parse_day,
    parse_number,
    read_into,
    set_once,
)
from clearlane.x12.views.original import SeparatorRestorer
from clearlane.x12.views.streaming import END, UNIT, stream_sets

ZERO = Decimal()


class RemittancePaymentView(View, frozen=True):
    """BPR: amount, method and bank accounts of the payment."""

    handling: str = ""
    amount: Decimal | None = None
    sign: str = ""
    """C for credit, D for debit."""
    method: str = ""
    method_words: str = ""
    format: str = ""
    sender_bank_qualifier: str = ""
    sender_bank: str = ""
    sender_account_qualifier: str = ""
    sender_account: str = ""
    originator: str = ""
    originator_supplement: str = ""
    receiver_bank_qualifier: str = ""
    receiver_bank: str = ""
    receiver_account_qualifier: str = ""
    receiver_account: str = ""
    day: date | None = None


class ProviderAdjustmentView(View, frozen=True):
    """One adjustment of a PLB. A positive amount reduces the payment."""

    provider: str = ""
    fiscal_end: date | None = None
    reason: str = ""
    reason_words: str = ""
    reference: str = ""
    amount: Decimal | None = None


class RemittanceLineView(View, frozen=True):
    """SVC: a service line as it was adjudicated."""

    procedure: shared_types.ProcedureView | None = None
    charged: Decimal | None = None
    paid: Decimal | None = None
    revenue: str = ""
    units: Decimal | None = None
    procedure_charged: shared_types.ProcedureView | None = None
    units_charged: Decimal | None = None
    control: str = ""
    """REF*6R: the line control number of the claim that was sent."""
    dates: tuple[shared_types.DateView, ...] = ()
    adjustments: tuple[shared_types.AdjustmentView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    amounts: tuple[shared_types.AmountView, ...] = ()
    quantities: tuple[shared_types.QuantityView, ...] = ()
    remarks: tuple[shared_types.RemarkView, ...] = ()
    balance: Decimal | None = None
    """Charged less paid less adjustments."""
    other: tuple[list[str], ...] = ()


class RemittanceClaimView(View, frozen=True):
    """CLP: a claim as it was adjudicated."""

    number: str = ""
    """CLP01: the patient account number that the claim was sent with."""
    status: str = ""
    status_words: str = ""
    charged: Decimal | None = None
    paid: Decimal | None = None
    patient_share: Decimal | None = None
    filing: str = ""
    filing_words: str = ""
    payer_number: str = ""
    place: str = ""
    frequency: str = ""
    patient_status: str = ""
    drg: str = ""
    drg_weight: Decimal | None = None
    discharge_fraction: Decimal | None = None
    patient: shared_types.PartyView | None = None
    insured: shared_types.PartyView | None = None
    corrected: shared_types.PartyView | None = None
    """NM1*74: the name or number that the payer considers correct."""
    rendering: shared_types.PartyView | None = None
    forwarded_to: shared_types.PartyView | None = None
    first_payer: shared_types.PartyView | None = None
    other_subscriber: shared_types.PartyView | None = None
    inpatient: shared_types.AdjudicationView | None = None
    outpatient: shared_types.AdjudicationView | None = None
    adjustments: tuple[shared_types.AdjustmentView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    contacts: tuple[shared_types.ContactView, ...] = ()
    amounts: tuple[shared_types.AmountView, ...] = ()
    quantities: tuple[shared_types.QuantityView, ...] = ()
    lines: tuple[RemittanceLineView, ...] = ()
    balance: Decimal | None = None
    """Charged less paid less the adjustments of the claim and of its lines."""
    other: tuple[list[str], ...] = ()

    @property
    def is_reversal(self) -> bool:
        """Whether it reverses an earlier payment."""
        return self.status == REVERSAL

    @property
    def all_adjustments(self) -> Iterator[shared_types.AdjustmentView]:
        """The adjustments of the claim, then those of its lines."""
        yield from self.adjustments
        for line in self.lines:
            yield from line.adjustments


class RemittanceGroupView(View, frozen=True):
    """LX: a group of claims, with the totals that the payer states (TS3)."""

    number: str = ""
    provider: str = ""
    place: str = ""
    fiscal_end: date | None = None
    claims_stated: Decimal | None = None
    """TS304: the number of claims that the payer states."""
    charged_stated: Decimal | None = None
    """TS305: the sum of charges that the payer states."""
    claims: tuple[RemittanceClaimView, ...] = ()
    other: tuple[list[str], ...] = ()


class RemittanceTotalsView(View, frozen=True):
    """The totals of a remittance, and whether they agree with the payment."""

    claims: int
    charged: Decimal | None
    paid: Decimal | None
    patient_share: Decimal
    provider_adjusted: Decimal | None
    unbalanced_claims: int
    """How many claims have a balance other than 0, at claim or line level."""
    balance: Decimal | None
    """The payment less the claims' payments, plus the provider adjustments."""


class RemittanceView(View, frozen=True, tag_field="view", tag="remittance"):
    """All of an 835."""

    start: shared_types.SetHeaderView | None = None
    payment: RemittancePaymentView | None = None
    trace: shared_types.TraceView | None = None
    references: tuple[shared_types.ReferenceView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    payer: shared_types.PartyView | None = None
    payee: shared_types.PartyView | None = None
    further_payees: tuple[shared_types.PartyView, ...] = ()
    """Payees after the first. The guide has one, but some payers name a second."""
    groups: tuple[RemittanceGroupView, ...] = ()
    provider_adjustments: tuple[ProviderAdjustmentView, ...] = ()
    totals: RemittanceTotalsView | None = None
    end: shared_types.SetTrailerView | None = None
    other: tuple[list[str], ...] = ()

    @property
    def claims(self) -> Iterator[RemittanceClaimView]:
        """The claims of every group."""
        for group in self.groups:
            yield from group.claims


KIND = "835"
REVERSAL = "22"


def view_remittance(set: tree.TransactionSet) -> RemittanceView:
    """Return the view of a whole 835."""
    found: RemittanceView = SET(set.root)
    totaller = RemittanceTotaller()
    for claim in found.claims:
        totaller.add(claim)
    return SeparatorRestorer(set.group.interchange.delimiters).restore(totaller.add_totals(found))


def stream_remittances(source: reader.Source) -> Iterator[RemittanceClaimView | RemittanceView]:
    """Yield each claim while reading, and each remittance, without its claims, when its set ends."""
    totaller = RemittanceTotaller()
    for event, value, _, _ in stream_sets(source, {KIND: SET}.get):
        if event is UNIT:
            totaller.add(value)
            yield value
        elif event is END:
            yield totaller.add_totals(value)
            totaller = RemittanceTotaller()


class RemittanceTotaller:
    """A running total of claims."""

    __slots__ = ("_charged", "_claims", "_paid", "_share", "_unbalanced")

    def __init__(self) -> None:
        self._claims = self._unbalanced = 0
        self._charged: Decimal | None = ZERO
        self._paid: Decimal | None = ZERO
        self._share = ZERO

    def add(self, claim: RemittanceClaimView) -> None:
        """Add a claim. An amount that cannot be read makes its total None."""
        self._claims += 1
        charged, paid, share = claim.charged, claim.paid, claim.patient_share
        self._charged = _plus(self._charged, charged)
        self._paid = _plus(self._paid, paid)
        if share is not None:
            self._share += share
        balances = [line.balance for line in claim.lines]
        if claim.balance or any(balances):
            self._unbalanced += 1

    def add_totals(self, remittance: RemittanceView) -> RemittanceView:
        """Return the remittance with its totals."""
        return replace(remittance, totals=self.totals(remittance))

    def totals(self, remittance: RemittanceView) -> RemittanceTotalsView:
        """Return the totals, compared with the payment."""
        adjusted: Decimal | None = ZERO
        for one in remittance.provider_adjustments:
            adjusted = _plus(adjusted, one.amount)
        payment = remittance.payment.amount if remittance.payment else None
        return RemittanceTotalsView(
            claims=self._claims,
            charged=self._charged,
            paid=self._paid,
            patient_share=self._share,
            provider_adjusted=adjusted,
            unbalanced_claims=self._unbalanced,
            balance=_less(_plus(payment, adjusted), self._paid),
        )


def _plus(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if one is None or other is None else one + other


def _less(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if one is None or other is None else one - other


_line_index, _claim_index, _set_index = (
    RemittanceLineView.__struct_fields__.index,
    RemittanceClaimView.__struct_fields__.index,
    RemittanceView.__struct_fields__.index,
)
_LINE = (
    _line_index("charged"),
    _line_index("paid"),
    _line_index("adjustments"),
    _line_index("balance"),
)
_CLAIM = (
    _claim_index("charged"),
    _claim_index("paid"),
    _claim_index("adjustments"),
    _claim_index("lines"),
    _claim_index("balance"),
)
_SET = (_set_index("payee"), _set_index("further_payees"))


def _finish_line(slots: Slots) -> None:
    """Set the balance of a line; leave None if a charge, payment or adjustment cannot be read."""
    charged, paid, adjustments, balance = _LINE
    try:
        rest = slots[charged] - slots[paid]
        for one in slots[adjustments]:
            rest -= one.amount
    except TypeError:
        # An amount that cannot be read is None, and arithmetic with None raises TypeError.
        return
    slots[balance] = rest


def _finish_claim(slots: Slots) -> None:
    """Set the balance of a claim, its lines included."""
    charged, paid, adjustments, lines, balance = _CLAIM
    try:
        rest = slots[charged] - slots[paid]
        for one in slots[adjustments]:
            rest -= one.amount
        for line in slots[lines]:
            for one in line.adjustments:
                rest -= one.amount
    except TypeError:
        return
    slots[balance] = rest


def _finish_set(slots: Slots) -> None:
    """Separate the payee from further ones."""
    payee, further = _SET
    if slots[further]:
        slots[payee], *rest = slots[further]
        slots[further] = tuple(rest)


def _control(struct: type[View]) -> SegmentHandler:
    """Bind REF*6R to the line control number and, like other references, to ``references``."""
    at = struct.__struct_fields__.index("control")
    keep = shared_types.REFERENCES(struct)

    def row(segment: tree.Segment, slots: Slots, other: list[tree.Segment]) -> None:
        if len(segment) == 3 and not slots[at]:
            slots[at] = segment[2]
        keep(segment, slots, other)

    return row


def _provider_adjustments(
    segment: tree.Segment, other: list[tree.Segment]
) -> tuple[ProviderAdjustmentView, ...]:
    """Read the adjustments of a PLB: pairs of a composite and an amount."""
    _, provider, fiscal, *rest = [*segment, "", ""][: max(len(segment), 3)]
    end = parse_day(fiscal)
    whole = end is not None
    found = []
    if len(rest) % 2:
        rest.append("")
    for composite, text in zip(rest[::2], rest[1::2], strict=True):
        if not (composite or text):
            continue
        reason, _, reference = composite.partition(":")
        amount = parse_number(text)
        whole = whole and amount is not None
        found.append(
            ProviderAdjustmentView(
                provider=provider, fiscal_end=end, reason=reason, reference=reference,
                reason_words=code_words("provider_adjustments", reason), amount=amount,
            )
        )  # fmt: skip
    if not whole or not found:
        other.append(segment)
    return tuple(found)


_PAYMENT = (
    "handling amount$ sign method?payment_methods format sender_bank_qualifier sender_bank"
    " sender_account_qualifier sender_account originator originator_supplement"
    " receiver_bank_qualifier receiver_bank receiver_account_qualifier receiver_account day!"
)
_DATES = append("dates", shared_types.read_dtm, cache=True)
# Bindings that a claim and a line have in common.
_FACTS: dict[str, Binding] = {
    "CAS": shared_types.ADJUSTMENTS,
    "DTM": _DATES,
    "REF": shared_types.REFERENCES,
    "AMT": shared_types.AMOUNTS,
    "QTY": shared_types.QUANTITIES,
}


LINE = ViewBuilder(
    RemittanceLineView,
    {
        **_FACTS,
        "SVC": fill(
            "procedure=procedure charged$ paid$ revenue units$ procedure_charged=procedure"
            " units_charged$",
            cache=True,
        ),
        "REF:6R": _control,
        "LQ": append("remarks", shared_types.read_remark, cache=True),
    },
    finish=_finish_line,
)
CLAIM = ViewBuilder(
    RemittanceClaimView,
    {
        **_FACTS,
        "CLP": fill(
            "number status?claim_payment_statuses charged$ paid$ patient_share$ filing?claim_filing"
            " payer_number place frequency patient_status drg drg_weight$ discharge_fraction$"
        ),
        "NM1:QC": set_once("patient", shared_types.read_party_name),
        "NM1:IL": set_once("insured", shared_types.read_party_name),
        "NM1:74": set_once("corrected", shared_types.read_party_name),
        "NM1:82": set_once("rendering", shared_types.read_party_name),
        "NM1:TT": set_once("forwarded_to", shared_types.read_party_name),
        "NM1:PR": set_once("first_payer", shared_types.read_party_name),
        "NM1:GB": set_once("other_subscriber", shared_types.read_party_name),
        "MIA": shared_types.INPATIENT,
        "MOA": shared_types.OUTPATIENT,
        "PER": append("contacts", shared_types.read_contact),
    },
    loops={"2110": ChildLoop("lines", LINE)},
    finish=_finish_claim,
)
GROUP = ViewBuilder(
    RemittanceGroupView,
    {
        "LX": fill("number"),
        "TS3": fill("provider place fiscal_end! claims_stated$ charged_stated$"),
    },
    loops={"2100": ChildLoop("claims", CLAIM)},
)
SET = ViewBuilder(
    RemittanceView,
    {
        **shared_types.ENDS,
        "BPR": set_once("payment", read_into(RemittancePaymentView, _PAYMENT)),
        "TRN": set_once("trace", shared_types.TRACE),
        "REF": shared_types.REFERENCES,
        "DTM": _DATES,
        "PLB": extend("provider_adjustments", _provider_adjustments),
    },
    loops={
        "1000A": ChildLoop("payer", shared_types.PARTY, many=False),
        "1000B": ChildLoop("further_payees", shared_types.PAYEE),
        "2000": ChildLoop("groups", GROUP),
    },
    finish=_finish_set,
)
