"""A claim as a payer decided it, and the payment it was part of: the facts of an 835.

Amounts are whole cents, so that sums are exact and cheap. A ``Remit`` prints which fields are filled, never
what they hold. Knows no file and no claim that was sent.
"""

from datetime import date, datetime

import msgspec

REVERSAL = "22"
"""CLP02 of a claim payment that takes an earlier one back."""


class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """It prints which fields are filled, never what they hold."""

    def __repr__(self) -> str:
        filled = (
            name for name in self.__struct_fields__ if getattr(self, name) not in (None, "", (), 0)
        )
        return f"{self.__class__.__name__}({', '.join(filled)})"


class Payment(Value, frozen=True):
    """A check or transfer: the head of an 835."""

    at: datetime
    """When the file was written, by the payer's clock (GS); no time zone."""
    day: date
    """The day of the decision: the production date, else that of the file."""
    serial: int = 0
    """ISA13: a sender counts upwards, so it decides between files of one minute."""
    amount: int | None = None
    """None where it cannot be read."""
    method: str = ""
    """As the interface names it: ``Check``, ``Ach``."""
    reference: str = ""
    """TRN02: the number of the check or transfer."""
    effective: date | None = None
    payer: str = ""
    payer_id: str = ""
    payee: str = ""
    payee_id: str = ""
    handling: str = ""
    """BPR01: I with the money, H a notice only, and so on."""


class Adjustment(Value, frozen=True):
    """One reason of a PLB; a positive amount lessens the payment."""

    provider: str = ""
    reason: str = ""
    reference: str = ""
    amount: int = 0


class Remit(Value, frozen=True, tag="remit"):
    """A claim payment: what one CLP loop says."""

    payment: Payment
    interchange: int = 1
    group: int = 1
    set: int = 1
    position: int = 0
    """Of the CLP in its set, the ST being 1."""
    account: str = ""
    """CLP01."""
    trace: str = ""
    """Our claim number, where the payer gives it back (``REF*D9``)."""
    payer_number: str = ""
    """CLP07."""
    controls: tuple[str, ...] = ()
    """The line control numbers (``REF*6R``)."""
    code: str = ""
    """CLP02."""
    action: str = ""
    """The code as the interface names it."""
    charged: int = 0
    paid: int = 0
    patient: int = 0
    """The adjustments of group PR, of the claim and of its lines."""
    adjusted: int = 0
    """All other adjustments."""
    faults: tuple[str, ...] = ()
    """What could not be read; such a remittance is shown to a person, never applied."""
    document: str = ""
    """The id of the document that shows it; given by whoever stores it."""

    @property
    def kind(self) -> str:
        """The kind of fact it is."""
        return "REMIT"

    @property
    def at(self) -> datetime:
        return self.payment.at

    @property
    def day(self) -> date:
        return self.payment.day

    @property
    def serial(self) -> int:
        return self.payment.serial

    @property
    def order(self) -> int:
        """Where it stands in its file: sets are shorter than this many segments."""
        return (self.group * 10_000 + self.set) * 100_000_000 + self.position

    @property
    def is_reversal(self) -> bool:
        """Whether it takes an earlier payment back."""
        return self.code == REVERSAL

    @property
    def lines(self) -> frozenset[str]:
        """The lines it speaks of."""
        return frozenset(self.controls)

    @property
    def method(self) -> str:
        return self.payment.method

    @property
    def reference(self) -> str:
        return self.payment.reference

    @property
    def effective(self) -> date | None:
        return self.payment.effective

    @property
    def payer(self) -> str:
        return self.payment.payer

    @property
    def balance(self) -> int:
        """What is left over of the charge: nothing where it was all paid or adjusted."""
        return self.charged - self.paid - self.patient - self.adjusted

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for the same statement, whichever file brought it and however often."""
        payment = self.payment
        return (
            payment.payer_id or payment.payer, payment.reference, payment.effective, self.account,
            self.code, self.payer_number, self.charged, self.paid, self.patient, self.adjusted,
            self.controls,
        )  # fmt: skip


class Closing(Value, frozen=True):
    """The end of an 835: the payment, what was taken from it as a whole, and whether it adds up."""

    payment: Payment
    claims: int = 0
    paid: int = 0
    adjustments: tuple[Adjustment, ...] = ()
    unbalanced: int = 0
    """How many claims have a balance other than nothing."""
    faulty: int = 0
    """How many claims could not be read in full."""

    @property
    def balance(self) -> int | None:
        """The payment less the claims' payments, the adjustments of the whole added; None where unknown."""
        if self.payment.amount is None:
            return None
        return self.payment.amount - self.paid + sum(one.amount for one in self.adjustments)
