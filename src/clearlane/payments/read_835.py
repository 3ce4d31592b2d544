"""Read the claim payments and totals of an 835, one claim at a time, whatever the size of the file.

    for part in read(source):
        match part:
            case PaymentStart(payment): ...                   # the heading, before the first claim
            case ClaimPaymentLoop(claim_payment, unit): ...   # a claim; ``unit`` is its CLP loop
            case PaymentSummary(): ...                        # the end of a set: the payment and its balance

Works on raw segments instead of typed views, because posting speed depends on it. Skips other transaction sets.
Knows the loops of an 835; knows no claim that was sent.
"""

from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from clearlane.kernel import formats
from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.payments.balance import PaymentTotals
from clearlane.payments.claim_payment_label import (
    UNPROCESSABLE,
    AdjustedReason,
    LinePayment,
    derive_label,
)
from clearlane.payments.model import ClaimPaymentFact, PaymentHeading
from clearlane.payments.payment import Payment, PaymentSummary, ProviderAdjustment
from clearlane.payments.read_payment import heading_of_set
from clearlane.x12 import codes, tree
from clearlane.x12.reader import reader
from clearlane.x12.reader.envelope_time import read_control_number, read_group_time
from clearlane.x12.reader.received_guides import choose_guide
from clearlane.x12.tree import get_element

NPI = "XX"
FIRST_DAYS = frozenset({"232", "150", "472"})
"""DTM01 of the day a claim or a line begins."""


class ClaimPaymentLoop(NamedTuple):
    """A claim payment and the loop it was read from."""

    claim_payment: ClaimPaymentFact
    unit: reader.UnitClosed


class PaymentStart(NamedTuple):
    """The heading of a payment, before its first claim."""

    payment: Payment
    heading: PaymentHeading
    set: tuple[int, int, int]
    """Interchange, group and set of the file, each counted from 1."""
    payer_ids: tuple[str, ...] = ()
    """Every id by which it names its payer, the plan's first."""


RemittanceItem: TypeAlias = PaymentStart | ClaimPaymentLoop | PaymentSummary


def read(source: reader.Source) -> Iterator[RemittanceItem]:
    """Yield the heading, the claim payments and the summary of every 835 in a file."""
    remittance: _RemittanceReader | None = None
    for event in reader.read(source, check=False, choose_guide=choose_guide):
        if event.__class__ is reader.UnitClosed:
            if remittance is not None:
                yield from remittance.start()
                yield remittance.read_claim(event)
        elif event.__class__ is reader.SetOpened:
            guide = event.set.guide
            remittance = (
                _RemittanceReader(event.set) if guide is not None and guide.kind == "835" else None
            )
        elif event.__class__ is reader.SetClosed and remittance is not None:
            yield from remittance.start()
            yield remittance.summarize()
            remittance = None


class _RemittanceReader:
    """The state of reading one 835."""

    def __init__(self, set: tree.TransactionSet) -> None:
        self._set = set
        self._payment: PaymentHeading | None = None
        self._totals = PaymentTotals()
        self._originals = set.group.interchange.delimiters.from_canonical()
        self._started = False

    def start(self) -> Iterator[PaymentStart]:
        """Yield the heading, once."""
        if not self._started:
            self._started = True
            ids = tuple(one.translate(self._originals) for one in _payer_ids(self._set.root))
            yield PaymentStart(heading_of_set(self._set), self.payment, self._key, ids)

    @property
    def _key(self) -> tuple[int, int, int]:
        group = self._set.group
        return group.interchange.number, group.number, self._set.number

    def read_claim(self, unit: reader.UnitClosed) -> ClaimPaymentLoop:
        """Return the claim payment of a CLP loop and add it to the totals."""
        claim_payment = _read_claim_payment(unit, self.payment, self._originals)
        self._totals.add(claim_payment)
        return ClaimPaymentLoop(claim_payment, unit)

    @property
    def payment(self) -> PaymentHeading:
        """The payment in the heading of the set, which comes before the first claim."""
        if self._payment is None:
            self._payment = _read_payment(self._set)
        return self._payment

    def summarize(self) -> PaymentSummary:
        """Return the payment summary at the end of the set."""
        unreadable: list[str] = []
        adjustments = [
            one
            for segment in self._set.root.segments("PLB")
            for one in _provider_adjustments(segment, self._originals, unreadable)
        ]
        numbered = (replace(one, number=number) for number, one in enumerate(adjustments, 1))
        summary = self._totals.summary(self.payment, tuple(numbered), readable=not unreadable)
        interchange, group, number = self._key
        return replace(summary, interchange=interchange, group=group, set=number)


class _ClaimMoney:
    """The adjustments of one claim while its segments are read."""

    __slots__ = ("_current", "_rests", "lines", "other", "patient", "reasons", "unreadable")

    def __init__(self, unreadable: list[str]) -> None:
        self.unreadable = unreadable
        self.patient = self.other = 0
        self.reasons: list[AdjustedReason] = []
        self.lines: list[LinePayment] = []
        self._current = self.reasons
        self._rests: list[int] = []
        """For each line, the charge that is not yet explained."""

    def add_adjustments(self, segment: tree.Segment) -> None:
        """Add the adjustments of a CAS to its line, or to the claim before its first line."""
        group = get_element(segment, 1)
        for reason, text in zip(segment[2::3], segment[3::3], strict=False):
            amount = _cents(text, "CAS", self.unreadable)
            if group == "PR":
                self.patient += amount
            else:
                self.other += amount
            self._current.append(AdjustedReason(group, reason, amount))
            if self._rests:
                self._rests[-1] -= amount

    def add_line(self, segment: tree.Segment) -> None:
        """Begin a service line."""
        charge, paid = _line_cents(get_element(segment, 2)), _line_cents(get_element(segment, 3))
        self._current = []
        self.lines.append(LinePayment(paid, self._current))
        self._rests.append(charge - paid)

    def by_reason(self) -> tuple[tuple[str, str, int], ...]:
        """Return the sum of each group and reason that comes to anything."""
        sums: dict[tuple[str, str], int] = {}
        for one in (*self.reasons, *(one for line in self.lines for one in line.reasons)):
            key = (one.group, one.reason)
            sums[key] = sums.get(key, 0) + one.amount
        return tuple((*key, amount) for key, amount in sorted(sums.items()) if amount)

    @property
    def lines_balanced(self) -> bool:
        """Whether every line is explained by its payment and adjustments."""
        return not any(self._rests)


def _read_claim_payment(
    unit: reader.UnitClosed, payment: PaymentHeading, originals: dict[int, int]
) -> ClaimPaymentFact:
    unreadable: list[str] = []
    money = _ClaimMoney(unreadable)
    controls: list[str] = []
    days: list[str] = []
    trace = ""
    unprocessable = False
    segments = unit.loop.all_segments()
    clp = next(segments)
    for segment in segments:
        match segment[0]:
            case "CAS":
                money.add_adjustments(segment)
            case "SVC":
                money.add_line(segment)
            case "DTM" if get_element(segment, 1) in FIRST_DAYS and len(segment) > 2:
                days.append(segment[2])
            case "REF" if get_element(segment, 1) == "6R":
                controls.append(get_element(segment, 2))
            case "REF" if get_element(segment, 1) == "D9":
                trace = get_element(segment, 2)
            case "MOA" | "MIA" | "LQ" if UNPROCESSABLE in segment:
                unprocessable = True
    code = get_element(clp, 2)
    account, payer_number = get_element(clp, 1), get_element(clp, 7)
    if originals:
        account, payer_number, trace = (
            t.translate(originals) for t in (account, payer_number, trace)
        )
        controls = [control.translate(originals) for control in controls]
    set = unit.set
    if code not in codes.load("claim_payment_statuses"):
        unreadable.append("CLP02")
    paid = _cents(get_element(clp, 4), "CLP04", unreadable)
    return ClaimPaymentFact(
        payment=payment, interchange=set.group.interchange.number, group=set.group.number,
        set=set.number, position=unit.loop.position, account_number=account, claim_number=trace,
        payer_control_number=payer_number, line_controls=tuple(controls), status_code=code,
        charged=_cents(get_element(clp, 3), "CLP03", unreadable), paid=paid,
        patient=money.patient, adjusted=money.other, lines_balanced=money.lines_balanced,
        label=derive_label(status=code, paid=paid, reasons=money.reasons, lines=money.lines),
        unprocessable=unprocessable and paid == 0, unreadable=tuple(unreadable),
        service_from=_first_day(days), reasons=money.by_reason(),
    )  # fmt: skip


def _first_day(texts: list[str]) -> date | None:
    return min((day for text in texts if (day := _day(text))), default=None)


def _read_payment(set: tree.TransactionSet) -> PaymentHeading:
    root = set.root
    bpr = root.segment("BPR") or ["BPR"]
    originals = set.group.interchange.delimiters.from_canonical()
    at = read_group_time(set.group)
    payer, payee = root.loop("1000A"), root.loop("1000B")
    return PaymentHeading(
        written_at=at,
        production_date=_day(root.value("DTM", 2, "405")) or at.date(),
        serial=read_control_number(set.group.interchange),
        amount=_amount(bpr),
        method=get_element(bpr, 4),
        trace_number=root.value("TRN", 2).translate(originals),
        effective_date=_day(get_element(bpr, 16)),
        payer_name=payer.value("N1", 2).translate(originals) if payer else "",
        payer_id=_payer_id(root, payer).translate(originals),
        payee_name=payee.value("N1", 2).translate(originals) if payee else "",
        payee_npi=payee.value("N1", 4) if payee and payee.value("N1", 3) == NPI else "",
        handling=get_element(bpr, 1),
    )


def _payer_id(root: tree.Loop, payer: tree.Loop | None) -> str:
    """Return the payer's id: the plan id (N104), the payer's own (``REF*2U``), or TRN03."""
    own = (payer.value("N1", 4) or payer.value("REF", 2, "2U")) if payer else ""
    return own or root.value("TRN", 3)


def _payer_ids(root: tree.Loop) -> list[str]:
    payer = root.loop("1000A")
    if payer is None:
        return []
    ids = [payer.value("N1", 4), *(get_element(one, 2) for one in payer.segments("REF"))]
    return [id for id in ids if id]


def _amount(bpr: tree.Segment) -> int | None:
    """Return BPR02 in cents; negative for a debit (BPR03)."""
    amount = _parse_cents(get_element(bpr, 2))
    return None if amount is None else -amount if get_element(bpr, 3) == "D" else amount


def _provider_adjustments(
    segment: tree.Segment, originals: dict[int, int], unreadable: list[str]
) -> Iterator[ProviderAdjustment]:
    """Yield the adjustments of a PLB: pairs of a composite (reason, reference) and an amount."""
    words = codes.load("provider_adjustments")
    for composite, text in zip(segment[3::2], segment[4::2], strict=False):
        reason, _, reference = composite.partition(":")
        if composite or text:
            amount = _cents(text, "PLB", unreadable)
            yield ProviderAdjustment(
                provider_id=segment[1].translate(originals),
                fiscal_year_end=_day(get_element(segment, 2)),
                reason=reason,
                text=words.get(reason, ""),
                reference=reference.translate(originals),
                amount=-amount,
                x12_amount=amount,
            )


@lru_cache(VALUES_REMEMBERED_MAX)
def _day(text: str) -> date | None:
    return formats.parse_x12_date(text)


@lru_cache(VALUES_REMEMBERED_MAX)
def _parse_cents(text: str) -> int | None:
    """Return an amount in cents; None if it is not an amount or has fractions of a cent."""
    return formats.to_cents(formats.parse_amount(text))


def _line_cents(text: str) -> int:
    """Return an amount of a service line, 0 if it is none: the payment is decided by the claim's own."""
    return _parse_cents(text) or 0


def _cents(text: str, place: str, unreadable: list[str]) -> int:
    """Return an amount in cents; add its element to ``unreadable`` if it is not an amount."""
    cents = _parse_cents(text) if text else 0 if place == "CAS" else None
    if cents is None:
        unreadable.append(place)
        return 0
    return cents
