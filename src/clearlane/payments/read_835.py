"""835 to facts, a claim at a time, whatever the size of the file.

    for heard in read(source):
        match heard:
            case Paid(remit, unit): ...       # a claim; ``unit`` is its loop, from which its part can be cut
            case Closing(): ...               # the end of a set: the payment, and whether it adds up

Works on the segments themselves: posting is where a day's remittances must pass. Other sets of the file are
left alone. Knows the loops of an 835; knows no claim that was sent.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from clearlane.kernel import formats
from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.payments.balance import Tally
from clearlane.payments.model import Adjustment, Closing, Payment, Remit
from clearlane.x12 import codes, reader, tree
from clearlane.x12.envelope_time import serial_of, time_of
from clearlane.x12.tree import element

NAMES = 2
"""The column of the code lists that holds the interface's names."""


class Paid(NamedTuple):
    """A claim payment, and the loop it was read from."""

    remit: Remit
    unit: reader.Unit


Heard: TypeAlias = Paid | Closing


def read(source: reader.Source) -> Iterator[Heard]:
    """The claims and payments of every 835 in a file."""
    known: _Set | None = None
    for event in reader.read(source, check=False):
        if event.__class__ is reader.Unit:
            if known is not None:
                yield known.paid(event)
        elif event.__class__ is reader.SetOpened:
            guide = event.set.guide
            known = _Set(event.set) if guide is not None and guide.kind == "835" else None
        elif event.__class__ is reader.SetClosed and known is not None:
            yield known.closing()
            known = None


class _Set:
    """One 835 while it is read."""

    def __init__(self, set: tree.Set) -> None:
        self._set = set
        self._payment: Payment | None = None
        self._tally = Tally()
        self._back = set.group.interchange.delimiters.original()

    def paid(self, unit: reader.Unit) -> Paid:
        """A claim."""
        remit = _remit(unit, self.payment, self._back)
        self._tally.add(remit)
        return Paid(remit, unit)

    @property
    def payment(self) -> Payment:
        """The head of the set, all of which stands before its first claim."""
        if self._payment is None:
            self._payment = _payment(self._set)
        return self._payment

    def closing(self) -> Closing:
        """The end of the set."""
        adjustments = [
            one for segment in self._set.root.segments("PLB") for one in _provider(segment)
        ]
        return self._tally.closing(self.payment, tuple(adjustments))


def _remit(unit: reader.Unit, payment: Payment, back: dict[int, int]) -> Remit:
    faults: list[str] = []
    sums = {"PR": 0, "": 0}
    controls: list[str] = []
    trace = ""
    segments = unit.loop.walk()
    clp = next(segments)
    for segment in segments:
        match segment[0]:
            case "CAS":
                group = "PR" if element(segment, 1) == "PR" else ""
                for text in segment[3::3]:
                    sums[group] += _cents(text, "CAS", faults)
            case "REF" if element(segment, 1) == "6R":
                controls.append(element(segment, 2))
            case "REF" if element(segment, 1) == "D9":
                trace = element(segment, 2)
    code = element(clp, 2)
    account, payer_number = element(clp, 1), element(clp, 7)
    if back:
        account, payer_number, trace = (t.translate(back) for t in (account, payer_number, trace))
        controls = [control.translate(back) for control in controls]
    set = unit.set
    if code not in _actions():
        faults.append("CLP02")
    return Remit(
        payment=payment, interchange=set.group.interchange.number, group=set.group.number,
        set=set.number, position=unit.loop.position, account=account, trace=trace,
        payer_number=payer_number, controls=tuple(controls), code=code,
        action=_actions().get(code, ""), charged=_cents(element(clp, 3), "CLP03", faults),
        paid=_cents(element(clp, 4), "CLP04", faults), patient=sums["PR"], adjusted=sums[""],
        faults=tuple(faults),
    )  # fmt: skip


def _payment(set: tree.Set) -> Payment:
    root = set.root
    bpr = root.segment("BPR") or ["BPR"]
    back = set.group.interchange.delimiters.original()
    at = time_of(set.group)
    payer, payee = root.loop("1000A"), root.loop("1000B")
    return Payment(
        at=at,
        day=_day(root.value("DTM", 2, "405")) or at.date(),
        serial=serial_of(set.group.interchange),
        amount=_amount(bpr),
        method=codes.column("payment_methods", NAMES).get(element(bpr, 4), element(bpr, 4)),
        reference=root.value("TRN", 2).translate(back),
        effective=_day(element(bpr, 16)),
        payer=payer.value("N1", 2).translate(back) if payer else "",
        payer_id=_payer_id(root, payer).translate(back),
        payee=payee.value("N1", 2).translate(back) if payee else "",
        payee_id=payee.value("N1", 4).translate(back) if payee else "",
        handling=element(bpr, 1),
    )


def _payer_id(root: tree.Loop, payer: tree.Loop | None) -> str:
    """The payer's number: of the plan, the payer's own, or the originator of the trace."""
    own = (payer.value("N1", 4) or payer.value("REF", 2, "2U")) if payer else ""
    return own or root.value("TRN", 3)


def _amount(bpr: tree.Segment) -> int | None:
    """BPR02; a debit takes money back."""
    amount = _number(element(bpr, 2))
    return None if amount is None else -amount if element(bpr, 3) == "D" else amount


def _provider(segment: tree.Segment) -> Iterator[Adjustment]:
    """The reasons of a PLB: pairs of a composite and an amount."""
    for composite, text in zip(segment[3::2], segment[4::2], strict=False):
        reason, _, reference = composite.partition(":")
        if composite or text:
            yield Adjustment(
                provider=segment[1],
                reason=reason,
                reference=reference,
                amount=_number(text) or 0,
            )


@lru_cache(VALUES_REMEMBERED_MAX)
def _day(text: str) -> date | None:
    return formats.x12_date(text)


@lru_cache(VALUES_REMEMBERED_MAX)
def _number(text: str) -> int | None:
    """An amount in cents; None where it is none, or has parts of a cent."""
    amount = formats.money(text)
    if amount is None:
        return None
    cents = amount * Decimal(100)
    return int(cents) if cents == cents.to_integral_value() else None


def _cents(text: str, place: str, faults: list[str]) -> int:
    cents = _number(text) if text else 0 if place == "CAS" else None
    if cents is None:
        faults.append(place)
        return 0
    return cents


def _actions() -> Mapping[str, str]:
    return codes.column("claim_payment_statuses", NAMES)
