"""Payments and claim payments: the values read from an 835.

Amounts are whole cents, so that sums are exact and cheap. A value prints which fields are filled, never their
content. Knows no file and no claim that was sent.
"""

from datetime import date, datetime

import msgspec

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.redacted_repr import show_filled

REVERSAL = "22"
"""CLP02 of a claim payment that reverses an earlier one."""


# gc=False: a frozen value of frozen values is in no cycle, and thousands live while a file is posted.
class PaymentStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A stored value that prints which fields are filled, never their content."""

    __repr__ = show_filled


class PaymentHeading(PaymentStruct, frozen=True):
    """A check or electronic funds transfer: the heading of an 835."""

    written_at: datetime
    """When the file was written, by the payer's clock (GS); no time zone."""
    production_date: date
    """The production date (``DTM*405``), else the date of the file."""
    serial: int = 0
    """ISA13. A sender counts upwards, so it orders files of the same minute."""
    amount: int | None = None
    """None if it cannot be read."""
    method: str = ""
    """BPR04: CHK, ACH and so on."""
    trace_number: str = ""
    """TRN02: the number of the check or transfer."""
    effective_date: date | None = None
    """BPR16."""
    payer_name: str = ""
    payer_id: str = ""
    payee_name: str = ""
    payee_npi: str = ""
    handling: str = ""
    """BPR01: I with the money, H a notice only, and so on."""


class ClaimPaymentFact(PaymentStruct, frozen=True, tag="claim_payment"):
    """What an 835 states about one claim, as it is posted: one CLP loop (2100). ``payment.ClaimPayment`` is all of it."""

    payment: PaymentHeading
    interchange: int = 1
    group: int = 1
    set: int = 1
    position: int = 0
    """The position of the CLP in its set; the ST is 1."""
    account_number: str = ""
    """CLP01."""
    claim_number: str = ""
    """Our claim number, if the payer gives it back (``REF*D9``)."""
    payer_control_number: str = ""
    """CLP07."""
    line_controls: tuple[str, ...] = ()
    """The line control numbers (``REF*6R``)."""
    status_code: str = ""
    """CLP02."""
    charged: int = 0
    paid: int = 0
    patient: int = 0
    """Patient responsibility: adjustments of group PR, of the claim and of its service lines."""
    adjusted: int = 0
    """All other adjustments."""
    reasons: tuple[tuple[str, str, int], ...] = ()
    """What was adjusted for each group and reason, of the claim and its lines together, in cents."""
    service_from: date | None = None
    """The first day of service: that of the claim (``DTM*232``), else of its lines."""
    label: ClaimLabel = ClaimLabel.PAID
    lines_balanced: bool = True
    """Whether charge, payment and adjustments agree on every service line."""
    unprocessable: bool = False
    """Whether nothing was paid and a remark says that the claim could not be processed."""
    unreadable: tuple[str, ...] = ()
    """Elements that cannot be read. Such a claim payment is shown to a person, never posted."""
    document_id: str = ""
    """The id of the document that shows it; set when it is stored."""

    @property
    def kind(self) -> str:
        """The kind of claim fact, as ``claims.facts`` names it."""
        return "REMIT"

    @property
    def at(self) -> datetime:
        """When the file was written."""
        return self.payment.written_at

    @property
    def day(self) -> date:
        """The date on which the payer wrote it."""
        return self.payment.production_date

    @property
    def serial(self) -> int:
        return self.payment.serial

    @property
    def order(self) -> int:
        """Sort key of its position in the file: group, set, segment."""
        # A set has fewer than 100,000,000 segments, a group fewer than 10,000 sets that hold claims.
        return (self.group * 10_000 + self.set) * 100_000_000 + self.position

    @property
    def is_reversal(self) -> bool:
        """Whether it reverses an earlier claim payment."""
        return self.status_code == REVERSAL

    @property
    def lines(self) -> frozenset[str]:
        """The line control numbers of the service lines it decides."""
        return frozenset(self.line_controls)

    @property
    def method(self) -> str:
        return self.payment.method

    @property
    def trace_number(self) -> str:
        return self.payment.trace_number

    @property
    def effective_date(self) -> date | None:
        return self.payment.effective_date

    @property
    def payer_name(self) -> str:
        return self.payment.payer_name

    @property
    def balance(self) -> int:
        """The part of the charge that is neither paid nor adjusted; zero if the claim balances."""
        return self.charged - self.paid - self.patient - self.adjusted

    @property
    def balanced(self) -> bool:
        """Whether charge, payment and adjustments agree, for the claim and for each of its lines."""
        return not self.balance and self.lines_balanced and not self.unreadable

    @property
    def identity(self) -> tuple[object, ...]:
        """A key that is equal for the same claim payment, whichever file repeats it."""
        payment = self.payment
        return (
            payment.payer_id or payment.payer_name, payment.trace_number, payment.effective_date, self.account_number,
            self.status_code, self.payer_control_number, self.charged, self.paid, self.patient, self.adjusted,
            self.line_controls,
        )  # fmt: skip


class ClaimPaymentContent(msgspec.Struct, frozen=True, gc=False):
    """A claim payment with the claim's part of the 835."""

    claim_payment: ClaimPaymentFact
    part: bytes

    def __repr__(self) -> str:
        return f"ClaimPaymentContent({len(self.part)} bytes)"
