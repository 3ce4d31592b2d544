"""An 835 as a remittance: who paid whom how much, claim by claim and line by line, and why not more.

    for remittance in map(remittance, file.sets()): ...

    for piece in stream(source):                 # any size: a claim at a time
        match piece:
            case Claim(): ...                    # with ``piece.balance``
            case Remittance(): ...               # the end of a set: everything but its claims, totals checked

``balance`` is what is left over: nothing (0) where charge, payment and adjustments agree, and None where
one of them cannot be read. Knows payment loops; knows no claim that was sent.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from msgspec.structs import replace

from clearlane.x12 import reader, tree
from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    Below,
    Bound,
    Row,
    Slots,
    Sorter,
    Value,
    day,
    each,
    every,
    fill,
    into,
    number,
    once,
    words,
)
from clearlane.x12.views.original import Originals
from clearlane.x12.views.streaming import END, UNIT, follow

ZERO = Decimal()


class Payment(Value, frozen=True):
    """BPR: how the money moves."""

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


class ProviderAdjustment(Value, frozen=True):
    """One reason of a PLB. A positive amount lessens the payment."""

    provider: str = ""
    fiscal_end: date | None = None
    reason: str = ""
    reason_words: str = ""
    reference: str = ""
    amount: Decimal | None = None


class Line(Value, frozen=True):
    """A service line as it was decided."""

    procedure: shared_types.Procedure | None = None
    charged: Decimal | None = None
    paid: Decimal | None = None
    revenue: str = ""
    units: Decimal | None = None
    procedure_charged: shared_types.Procedure | None = None
    units_charged: Decimal | None = None
    control: str = ""
    """REF*6R: the line's number in the claim that was sent."""
    dates: tuple[shared_types.Dated, ...] = ()
    adjustments: tuple[shared_types.Adjustment, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    amounts: tuple[shared_types.Amount, ...] = ()
    quantities: tuple[shared_types.Quantity, ...] = ()
    remarks: tuple[shared_types.Remark, ...] = ()
    balance: Decimal | None = None
    """Charged less paid less adjustments."""
    other: tuple[list[str], ...] = ()


class Claim(Value, frozen=True):
    """A claim as it was decided."""

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
    patient: shared_types.Party | None = None
    insured: shared_types.Party | None = None
    corrected: shared_types.Party | None = None
    """NM1*74: the name or number the payer holds to be right."""
    rendering: shared_types.Party | None = None
    forwarded_to: shared_types.Party | None = None
    first_payer: shared_types.Party | None = None
    other_subscriber: shared_types.Party | None = None
    inpatient: shared_types.Decision | None = None
    outpatient: shared_types.Decision | None = None
    adjustments: tuple[shared_types.Adjustment, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    contacts: tuple[shared_types.Contact, ...] = ()
    amounts: tuple[shared_types.Amount, ...] = ()
    quantities: tuple[shared_types.Quantity, ...] = ()
    lines: tuple[Line, ...] = ()
    balance: Decimal | None = None
    """Charged less paid less the adjustments of the claim and of its lines."""
    other: tuple[list[str], ...] = ()

    @property
    def is_reversal(self) -> bool:
        """Whether it takes an earlier payment back."""
        return self.status == REVERSAL

    @property
    def all_adjustments(self) -> Iterator[shared_types.Adjustment]:
        """Those of the claim, then those of its lines."""
        yield from self.adjustments
        for line in self.lines:
            yield from line.adjustments


class Group(Value, frozen=True):
    """LX: claims that belong together, with the sums the payer tells of them."""

    number: str = ""
    provider: str = ""
    place: str = ""
    fiscal_end: date | None = None
    claims_told: Decimal | None = None
    charged_told: Decimal | None = None
    claims: tuple[Claim, ...] = ()
    other: tuple[list[str], ...] = ()


class Totals(Value, frozen=True):
    """The sums of a remittance, and whether they agree with the payment."""

    claims: int
    charged: Decimal | None
    paid: Decimal | None
    patient_share: Decimal
    provider_adjusted: Decimal | None
    unbalanced_claims: int
    """How many claims have a balance other than nothing, on their own level or that of a line."""
    balance: Decimal | None
    """The payment less the claims' payments, the provider adjustments added."""


class Remittance(Value, frozen=True, tag_field="view", tag="remittance"):
    """All of an 835."""

    start: shared_types.Start | None = None
    payment: Payment | None = None
    trace: shared_types.Trace | None = None
    references: tuple[shared_types.Reference, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    payer: shared_types.Party | None = None
    payee: shared_types.Party | None = None
    groups: tuple[Group, ...] = ()
    provider_adjustments: tuple[ProviderAdjustment, ...] = ()
    totals: Totals | None = None
    end: shared_types.End | None = None
    other: tuple[list[str], ...] = ()

    @property
    def claims(self) -> Iterator[Claim]:
        """The claims of every group."""
        for group in self.groups:
            yield from group.claims


KIND = "835"
REVERSAL = "22"


def remittance(set: tree.Set) -> Remittance:
    """The remittance of a whole set."""
    found: Remittance = SET(set.root)
    tally = Tally()
    for claim in found.claims:
        tally.add(claim)
    return Originals(set.group.interchange.delimiters).restored(tally.closed(found))


def stream(source: reader.Source) -> Iterator[Claim | Remittance]:
    """Each claim as it comes, and each remittance, without its claims, when its set ends."""
    tally = Tally()
    for what, value, kind, _ in follow(source, lambda kind: SET if kind == KIND else NOTHING):
        if kind != KIND:
            continue
        if what is UNIT:
            tally.add(value)
            yield value
        elif what is END:
            yield tally.closed(value)
            tally = Tally()


class Tally:
    """Adds up claims one at a time."""

    __slots__ = ("_charged", "_claims", "_paid", "_share", "_unbalanced")

    def __init__(self) -> None:
        self._claims = self._unbalanced = 0
        self._charged: Decimal | None = ZERO
        self._paid: Decimal | None = ZERO
        self._share = ZERO

    def add(self, claim: Claim) -> None:
        """Count a claim in. An amount that cannot be read makes its sum unknown."""
        self._claims += 1
        charged, paid, share = claim.charged, claim.paid, claim.patient_share
        self._charged = _plus(self._charged, charged)
        self._paid = _plus(self._paid, paid)
        if share is not None:
            self._share += share
        balances = [line.balance for line in claim.lines]
        if claim.balance or any(balances):
            self._unbalanced += 1

    def closed(self, remittance: Remittance) -> Remittance:
        """The remittance with its totals."""
        return replace(remittance, totals=self.totals(remittance))

    def totals(self, remittance: Remittance) -> Totals:
        """The sums, held against the payment."""
        adjusted: Decimal | None = ZERO
        for one in remittance.provider_adjustments:
            adjusted = _plus(adjusted, one.amount)
        payment = remittance.payment.amount if remittance.payment else None
        return Totals(
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


_L, _C = Line.__struct_fields__.index, Claim.__struct_fields__.index
_LINE = _L("charged"), _L("paid"), _L("adjustments"), _L("balance")
_CLAIM = _C("charged"), _C("paid"), _C("adjustments"), _C("lines"), _C("balance")


def _finish_line(slots: Slots) -> None:
    """What is left over: None where a charge, payment or adjustment cannot be read."""
    charged, paid, adjustments, balance = _LINE
    try:
        rest = slots[charged] - slots[paid]
        for one in slots[adjustments]:
            rest -= one.amount
    except TypeError:
        # What cannot be read is None, with which nothing can be reckoned.
        return
    slots[balance] = rest


def _finish_claim(slots: Slots) -> None:
    """What is left over of the claim, its lines included."""
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


def _control(struct: type[Value]) -> Bound:
    """REF*6R is the line's number, and a reference like others."""
    at = struct.__struct_fields__.index("control")
    keep = shared_types.REFERENCES(struct)

    def row(segment: tree.Segment, slots: Slots, other: list[tree.Segment]) -> None:
        if len(segment) == 3 and not slots[at]:
            slots[at] = segment[2]
        keep(segment, slots, other)

    return row


def _provider_adjustments(
    segment: tree.Segment, other: list[tree.Segment]
) -> tuple[ProviderAdjustment, ...]:
    """The reasons of a PLB: pairs of a composite and an amount."""
    _, provider, fiscal, *rest = [*segment, "", ""][: max(len(segment), 3)]
    end = day(fiscal)
    whole = end is not None
    found = []
    if len(rest) % 2:
        rest.append("")
    for composite, text in zip(rest[::2], rest[1::2], strict=True):
        if not (composite or text):
            continue
        reason, _, reference = composite.partition(":")
        amount = number(text)
        whole = whole and amount is not None
        found.append(
            ProviderAdjustment(
                provider=provider, fiscal_end=end, reason=reason, reference=reference,
                reason_words=words("provider_adjustments", reason), amount=amount,
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
_DATES = each("dates", shared_types.dated_short, remember=True)
# What a claim and a line have in common.
_FACTS: dict[str, Row] = {
    "CAS": shared_types.ADJUSTMENTS,
    "DTM": _DATES,
    "REF": shared_types.REFERENCES,
    "AMT": shared_types.AMOUNTS,
    "QTY": shared_types.QUANTITIES,
}


LINE = Sorter(
    Line,
    {
        **_FACTS,
        "SVC": fill(
            "procedure=procedure charged$ paid$ revenue units$ procedure_charged=procedure"
            " units_charged$",
            remember=True,
        ),
        "REF:6R": _control,
        "LQ": each("remarks", shared_types.remark, remember=True),
    },
    finish=_finish_line,
)
CLAIM = Sorter(
    Claim,
    {
        **_FACTS,
        "CLP": fill(
            "number status?claim_payment_statuses charged$ paid$ patient_share$ filing?claim_filing"
            " payer_number place frequency patient_status drg drg_weight$ discharge_fraction$"
        ),
        "NM1:QC": once("patient", shared_types.party_name),
        "NM1:IL": once("insured", shared_types.party_name),
        "NM1:74": once("corrected", shared_types.party_name),
        "NM1:82": once("rendering", shared_types.party_name),
        "NM1:TT": once("forwarded_to", shared_types.party_name),
        "NM1:PR": once("first_payer", shared_types.party_name),
        "NM1:GB": once("other_subscriber", shared_types.party_name),
        "MIA": shared_types.INPATIENT,
        "MOA": shared_types.OUTPATIENT,
        "PER": each("contacts", shared_types.contact),
    },
    loops={"2110": Below("lines", LINE)},
    finish=_finish_claim,
)
GROUP = Sorter(
    Group,
    {
        "LX": fill("number"),
        "TS3": fill("provider place fiscal_end! claims_told$ charged_told$"),
    },
    loops={"2100": Below("claims", CLAIM)},
)
SET = Sorter(
    Remittance,
    {
        **shared_types.ENDS,
        "BPR": once("payment", into(Payment, _PAYMENT)),
        "TRN": once("trace", shared_types.TRACE),
        "REF": shared_types.REFERENCES,
        "DTM": _DATES,
        "PLB": every("provider_adjustments", _provider_adjustments),
    },
    loops={
        "1000A": Below("payer", shared_types.PARTY, many=False),
        "1000B": Below("payee", shared_types.PARTY, many=False),
        "2000": Below("groups", GROUP),
    },
)


class _Nothing(Value, frozen=True):
    """A set that is not looked at."""

    other: tuple[list[str], ...] = ()


NOTHING = Sorter(_Nothing, {})
