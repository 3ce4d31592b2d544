"""Write the 835: one payment for each billing provider, balanced at line, claim and check.

    payments = gather(file, claims, owed)
    content = write(profile, payments, envelope, checks)

If reversals exceed the other claims, the payment is zero and the balance is forwarded in a PLB; it is withheld from
the provider's next payment. Knows decisions; knows no benefits and no clock.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from clearlane.kernel.limits import ADJUSTMENTS_PER_GROUP_MAX
from clearlane.sandbox import facility_plan
from clearlane.sandbox.facility_plan import StayPrice
from clearlane.sandbox.model import (
    PATIENT,
    REVERSAL,
    ZERO,
    Adjustment,
    Claim,
    Decision,
    File,
    LineDecision,
    Profile,
    Provider,
    ServiceLine,
    total,
)
from clearlane.sandbox.responses.status_set import NOT_KNOWN, person_name
from clearlane.x12 import guides
from clearlane.x12.guides.g835 import CLAIM_FILING
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, format_segment, wrap_sets

STREET, CITY, STATE, ZIP = "100 SANDBOX WAY", "PORTLAND", "OR", "972010000"
PHONE = "5035550100"
BANK, ACCOUNT = "999999992", "1000200"
NEXT_PAYER = ("HARBOR HEALTH PLAN", "HHP20")
FILING = {"11": "ZZ", "BL": "12", "CI": "15", "FI": "OF"}
"""CLP06 for the SBR09 codes that it does not have."""
REMARKS_MAX = 5
WHOLE_STAY = Decimal(1)
"""CLP13: the part of the group's price that is paid."""
HCPCS, RATE_DIGITS = "HC", Decimal("0.01")

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ClaimPayment:
    """A claim of a payment."""

    claim: Claim
    number: str
    decision: Decision
    received: datetime
    reverses: bool = False
    """Whether it reverses an earlier payment."""
    original: str = ""
    """The payer claim number that it corrects."""
    interest: Decimal = ZERO
    """What is paid on top of the claim; below zero if a reversal takes it back."""
    withheld: tuple[tuple[str, Decimal], ...] = ()
    """PLB reasons and amounts by which it lowers the payment."""
    misstated: Decimal = ZERO
    """How much too high BPR02 is: a payer's mistake."""

    @property
    def paid(self) -> Decimal:
        return -self.decision.paid if self.reverses else self.decision.paid


@dataclass(slots=True)
class Payment:
    """One payment to a provider."""

    provider: Provider
    claims: list[ClaimPayment] = field(default_factory=list)
    balances: list[tuple[str, str, Decimal]] = field(default_factory=list)
    """PLB: reason, reference and amount; a positive one is withheld."""
    owed: Decimal = ZERO
    """Balance to withhold from the next payment."""

    @property
    def amount(self) -> Decimal:
        """The sum of claims and adjustments."""
        return total(one.paid for one in self.claims) - total(b[2] for b in self.balances)


def stated_amount(payment: Payment) -> Decimal:
    """Return BPR02: the amount, and what the payer wrongly adds to it."""
    return payment.amount + total(one.misstated for one in payment.claims)


def gather(
    file: File, claims: Sequence[ClaimPayment], owed: Mapping[str, Decimal]
) -> list[Payment]:
    """Return the payments in the order of the file's providers; ``owed`` is by provider id."""
    payments: dict[str, Payment] = {}
    for one in claims:
        provider = file.providers[one.claim.provider]
        payments.setdefault(provider.id, Payment(provider)).claims.append(one)
    for id, payment in payments.items():
        _settle(payment, owed.get(id, ZERO))
    return list(payments.values())


def _settle(payment: Payment, owed: Decimal) -> None:
    """Add interest, withhold what claims bring along and what was forwarded, and forward a negative balance."""
    for one in payment.claims:
        payment.balances += ((reason, one.number, amount) for reason, amount in one.withheld)
        if one.interest:
            payment.balances.append(("L6", one.number, -one.interest))
    amount, reference = payment.amount, payment.claims[0].number
    if amount < 0:
        payment.balances.append(("FB", reference, amount))
        payment.owed = owed - amount
        return
    withheld = min(owed, amount)
    if withheld:
        payment.balances.append(("FB", reference, withheld))
    payment.owed = owed - withheld


def write(
    profile: Profile, payments: Sequence[Payment], envelope: Envelope, first_check: int
) -> bytes:
    """Return the interchange: one set per payment, with check numbers from ``first_check`` on."""
    bodies = [
        [
            "*".join(format_segment(*row))
            for row in _payment(profile, one, envelope, first_check + at)
        ]
        for at, one in enumerate(payments)
    ]
    return b"".join(wrap_sets(envelope, guides.by_kind("835"), bodies))


def is_paid_by_transfer(provider: Provider) -> bool:
    """Return whether a provider is paid electronically: its id ends with an even digit."""
    return provider.id[-1:] in set("02468")


def _payment(profile: Profile, payment: Payment, envelope: Envelope, check: int) -> Iterator[Row]:
    today, provider = envelope.moment.date(), payment.provider
    yield from _money(profile, payment, check, today)
    yield ("DTM", "405", today)
    yield ("N1", "PR", clean(profile.name)[0][:60])
    yield ("N3", STREET)
    yield ("N4", CITY, STATE, ZIP)
    yield ("REF", "2U", clean(profile.id)[0][:50])
    yield ("PER", "BL", "SANDBOX PAYMENTS", "TE", PHONE)
    name = " ".join(filter(None, (provider.name or NOT_KNOWN, provider.first)))[:60]
    yield ("N1", "PE", name, "XX" if provider.npi else "FI", provider.id)
    if provider.street:
        yield ("N3", provider.street)
    if provider.city:
        yield ("N4", provider.city, provider.state, provider.zip)
    if provider.npi and provider.tax:
        yield ("REF", "TJ", provider.tax)
    yield ("LX", "1")
    for one in payment.claims:
        yield from _claim(one)
    year_end = date(today.year, 12, 31)
    for at in range(0, len(payment.balances), ADJUSTMENTS_PER_GROUP_MAX):
        part = payment.balances[at : at + ADJUSTMENTS_PER_GROUP_MAX]
        pairs = (
            value for reason, reference, amount in part for value in ((reason, reference), amount)
        )
        yield ("PLB", provider.id, year_end, *pairs)


def _money(profile: Profile, payment: Payment, check: int, today: date) -> Iterator[Row]:
    """Yield BPR and TRN: a transfer, a check, or a notice that nothing is paid."""
    payer, amount = f"1{profile.tax}", stated_amount(payment)
    if not amount:
        yield ("BPR", "H", ZERO, "C", "NON", *("",) * 11, today)
        yield ("TRN", "1", f"N{check:08}", payer)
    elif is_paid_by_transfer(payment.provider):
        payer_account, payee_account = (
            ("01", BANK, "DA", ACCOUNT),
            ("01", BANK, "DA", payment.provider.id),
        )
        yield (
            "BPR",
            "I",
            amount,
            "C",
            "ACH",
            "CCP",
            *payer_account,
            payer,
            "",
            *payee_account,
            today,
        )
        yield ("TRN", "1", f"E{check:08}", payer)
    else:
        yield ("BPR", "I", amount, "C", "CHK", *("",) * 11, today)
        yield ("TRN", "1", f"{check:08}", payer)


def _claim(payment: ClaimPayment) -> Iterator[Row]:
    """Yield the segments of a claim in the order of the guide. A branch for each one that not every claim has."""
    claim, decision = payment.claim, payment.decision
    sign = -1 if payment.reverses else 1
    price = facility_plan.price_of(claim)
    grouped = ("", price.group, price.weight, WHOLE_STAY) if price and price.weight else ()
    yield (
        "CLP", claim.account, REVERSAL if payment.reverses else decision.code, sign * claim.charge,
        payment.paid, "" if payment.reverses else decision.patient or "", _filing(claim), payment.number,
        claim.place, claim.frequency, *grouped,
    )  # fmt: skip
    insured = claim.subscriber
    yield ("NM1", "QC", "1", *person_name(claim.patient or insured), *_member(claim))
    if claim.patient:
        yield ("NM1", "IL", insured.entity, *person_name(insured), *_member(claim))
    if claim.rendering:
        yield (
            "NM1",
            "82",
            claim.rendering.entity,
            *person_name(claim.rendering),
            "XX",
            claim.rendering.id,
        )
    if decision.forwarded:
        name, id = NEXT_PAYER
        yield ("NM1", "TT", "2", name, "", "", "", "", "PI", id)
    if (row := _claim_remarks(payment, price)) is not None:
        yield row
    if claim.group:
        yield ("REF", "1L", claim.group)
    if payment.original:
        yield ("REF", "F8", payment.original)
    if claim.days:
        first, last = claim.days
        yield ("DTM", "232", first)
        yield ("DTM", "233", last)
    yield ("DTM", "050", payment.received.date())
    if payment.interest:
        yield ("AMT", "I", payment.interest)
    for line, decided in zip(claim.lines, decision.lines, strict=True):
        yield from _line(line, decided, sign)


def _line(line: ServiceLine, decided: LineDecision, sign: int) -> Iterator[Row]:
    units = line.units if sign > 0 else ""
    service = (line.kind, line.code, *line.modifiers)
    revenue = line.revenue if line.revenue != line.code else ""
    yield ("SVC", service, sign * line.charge, sign * decided.paid, revenue, units)
    if line.first:
        days = [("472", line.first)] if line.last in {None, line.first} else []
        days = days or [("150", line.first), ("151", line.last or line.first)]
        yield from (("DTM", qualifier, day) for qualifier, day in days)
    yield from _adjustments(decided.adjustments, sign)
    if line.control:
        yield ("REF", "6R", line.control)
    shared = any(one.group == PATIENT for one in decided.adjustments)
    if sign > 0 and decided.allowed and (decided.paid or shared):
        yield ("AMT", "B6", decided.allowed)
    yield from (("LQ", "HE", remark) for remark in decided.remarks)


def _adjustments(adjustments: Sequence[Adjustment], sign: int) -> Iterator[Row]:
    """Yield one CAS a group: reason, amount and an empty quantity of each adjustment."""
    for group in dict.fromkeys(one.group for one in adjustments):
        mine = [one for one in adjustments if one.group == group]
        triples = (value for one in mine for value in (one.reason, sign * one.amount, ""))
        yield ("CAS", group, *triples)


def _claim_remarks(payment: ClaimPayment, price: StayPrice | None) -> Row | None:
    """Return what is said of a claim as a whole: MIA for a stay, MOA for others that have something to say.

    The first remark on a stay is apart from the others. A reversal repeats the remarks, and no amounts.
    """
    claim, decision = payment.claim, payment.decision
    remarks = decision.remarks[:REMARKS_MAX]
    if price is not None:
        first, *others = remarks or ("",)
        if payment.reverses:
            price = StayPrice(days=ZERO, allowed=ZERO)
        amounts = (price.days, price.outlier or "", "", price.group_amount or "", first)
        # The days that count for the cost report (MIA15).
        reported = ("",) * 9 + ((price.days,) if price.group else ())
        return ("MIA", *amounts, *_filled(reported, 14 if others else 0), *others)
    if claim.stay is not None and not payment.reverses:
        allowed = total(line.allowed for line in decision.lines)
        rate = (allowed / claim.charge).quantize(RATE_DIGITS) if claim.charge else ""
        coded = zip(claim.lines, decision.lines, strict=True)
        payable = total(one.allowed for line, one in coded if line.kind == HCPCS)
        return ("MOA", rate or "", payable or "", *remarks)
    return ("MOA", "", "", *remarks) if remarks else None


def _filled(row: Row, length: int) -> Row:
    return (*row, *("",) * (length - len(row)))


def _member(claim: Claim) -> tuple[str, ...]:
    return ("MI", claim.member) if claim.member else ()


def _filing(claim: Claim) -> str:
    found = FILING.get(claim.filing, claim.filing)
    return found if found in CLAIM_FILING.split("|") else "ZZ"
