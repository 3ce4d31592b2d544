"""What a simulated payer knows: the claims it read, what it decided, and how far it has answered.

Values only. They are kept in the payer's ledger as MessagePack; they print without what they hold.
"""

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

import msgspec

ZERO = Decimal(0)
REVERSAL = "22"
DENIED = "4"
PATIENT = "PR"


@dataclass(frozen=True)
class Profile:
    """Who the payer is."""

    id: str
    """Its payer id."""
    name: str
    ids: frozenset[str] = frozenset()
    """The ids a claim may name it by; without any, claims are not checked for it."""
    books: str = ""
    """The name under which its ledger is kept; its id, where there is none."""
    dental: bool = False
    """Whether its members have a dental plan."""

    @cached_property
    def file_stem(self) -> str:
        """How its files begin: the id, in characters every file system takes."""
        return re.sub(r"[^A-Za-z0-9]", "", self.id)[:20] or "PAYER"

    @cached_property
    def tax(self) -> str:
        """Nine invented digits, the same for the same payer."""
        return f"99{zlib.crc32(self.id.encode()) % 10**7:07}"


class _Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value that prints its kind and nothing it holds."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"


class Person(_Value, frozen=True, kw_only=True):
    """A patient, a subscriber or a rendering provider."""

    last: str
    first: str = ""
    middle: str = ""
    suffix: str = ""
    id: str = ""
    entity: str = "1"


class Provider(_Value, frozen=True, kw_only=True):
    """Who bills, and is paid."""

    entity: str
    name: str
    first: str = ""
    middle: str = ""
    npi: str = ""
    tax: str = ""
    street: str = ""
    city: str = ""
    state: str = ""
    zip: str = ""

    @property
    def id(self) -> str:
        """The number it is known by."""
        return self.npi or self.tax


class Line(_Value, frozen=True, kw_only=True):
    """A service that was charged."""

    kind: str
    """HC or AD: whose procedure codes these are."""
    code: str
    charge: Decimal
    modifiers: tuple[str, ...] = ()
    units: Decimal = Decimal(1)
    first: date | None = None
    last: date | None = None
    control: str = ""
    teeth: tuple[str, ...] = ()
    before: Decimal | None = None
    """What earlier payers paid for it."""
    position: int = 0
    """Where its service segment stands in the set."""


class Claim(_Value, frozen=True, kw_only=True):
    """A claim as this payer read it."""

    kind: str
    """837P or 837D."""
    account: str
    """CLM01."""
    number: str
    """``REF*D9``: the clearinghouse's own number."""
    charge: Decimal
    place: str
    frequency: str
    original: str
    """``REF*F8``: the number of ours that it replaces or voids."""
    predetermination: bool
    subscriber: Person
    patient: Person | None
    """None where the subscriber is the patient."""
    birth: date | None
    payer: str
    order: str
    """SBR01: whether this payer comes first, second and so on."""
    filing: str
    group: str
    before: Decimal
    """What earlier payers paid for all of it."""
    rendering: Person | None
    lines: tuple[Line, ...]
    set: int
    """Which set of the file it stands in, from 0."""
    provider: int
    """Which of the file's billing providers bills it, from 0."""
    first: int = 0
    """Where its CLM stands in the set, and where it ends."""
    last: int = 0

    @property
    def member(self) -> str:
        """The insured's id."""
        return self.subscriber.id

    @property
    def days(self) -> tuple[date, date] | None:
        """Its first and last day of service."""
        found = [day for line in self.lines for day in (line.first, line.last) if day]
        return (min(found), max(found)) if found else None


class Adjustment(_Value, frozen=True, kw_only=True):
    """Why less was paid than charged."""

    group: str
    reason: str
    amount: Decimal


class LineDecision(_Value, frozen=True, kw_only=True):
    """What is paid for a line."""

    paid: Decimal
    adjustments: tuple[Adjustment, ...] = ()
    remarks: tuple[str, ...] = ()
    allowed: Decimal = ZERO


class Decision(_Value, frozen=True, kw_only=True):
    """What is paid for a claim."""

    code: str
    """CLP02."""
    lines: tuple[LineDecision, ...]
    remarks: tuple[str, ...] = ()
    forwarded: bool = False

    @property
    def paid(self) -> Decimal:
        """CLP04."""
        return total(line.paid for line in self.lines)

    @property
    def patient(self) -> Decimal:
        """CLP05: what the patient owes."""
        return total(
            one.amount for line in self.lines for one in line.adjustments if one.group == PATIENT
        )


class Refusal(_Value, frozen=True, kw_only=True):
    """Why a claim is not taken in: a status category, a status, whom it is about, and words."""

    category: str
    status: str
    entity: str = ""
    words: str = ""


class Year(_Value, frozen=True, kw_only=True):
    """What a member used up in a year."""

    deductible: Decimal = ZERO
    paid: Decimal = ZERO


class Used(_Value, frozen=True, kw_only=True):
    """What a claim used up: by year, and how often a limited service was had."""

    years: dict[str, Year] = {}
    times: dict[str, int] = {}


class Member(_Value, frozen=True, kw_only=True):
    """What a payer remembers of a patient."""

    years: dict[str, Year] = {}
    times: dict[str, int] = {}
    claims: dict[str, str] = {}
    """The claims it saw, by what makes two the same, and its numbers for them."""


class Case(_Value, frozen=True, kw_only=True):
    """A claim that was taken in, and what becomes of it."""

    claim: Claim
    number: str
    """The payer's claim number (``REF*1K``, CLP07)."""
    refusals: tuple[Refusal, ...] = ()
    decision: Decision | None = None
    corrected: Decision | None = None
    """What a second look decides, after the first payment is taken back."""
    used: Used = Used()
    replaces: str = ""
    """The number of the earlier claim whose payment is taken back."""


class SetHead(_Value, frozen=True, kw_only=True):
    """The head of a set: its batch number (BHT03) and who submitted it."""

    reference: str
    submitter: str
    submitter_id: str


class Parties(_Value, frozen=True, kw_only=True):
    """Who the file came from, so that the answer goes there."""

    sender: str
    sender_qualifier: str
    receiver: str
    receiver_qualifier: str
    application_sender: str
    application_receiver: str
    usage: str


class File(_Value, frozen=True, kw_only=True):
    """An interchange that was taken in."""

    number: int
    received: datetime
    parties: Parties
    sets: tuple[SetHead, ...] = ()
    providers: tuple[Provider, ...] = ()
    cases: tuple[Case, ...] = ()


class Say(StrEnum):
    """What an answer is."""

    READY = "ready"
    """A file that is written already: TA1 or 999."""
    ACKNOWLEDGE = "277CA"
    PEND = "277"
    REMIT = "835"
    CORRECT = "835C"
    """An 835 that takes a payment back and pays anew."""


class Manner(StrEnum):
    """How an answer is given."""

    PLAIN = "plain"
    PAGE = "page"
    """A web page in its place."""
    CUT = "cut"
    """Only its first half."""
    AGAIN = "again"
    """The same bytes once more."""


class Step(_Value, frozen=True, kw_only=True):
    """One answer that is still to be given."""

    file: int
    say: Say
    at: datetime
    """The day it belongs to, by the clock that dates are written from."""
    manner: Manner = Manner.PLAIN
    lane: str = ""
    """Claims of one lane share their files."""
    cases: tuple[int, ...] = ()
    name: str = ""
    content: bytes = b""
    kept: bool = False
    """Whether the same bytes are wanted once more."""


class Counts(_Value, frozen=True, kw_only=True):
    """The numbers a payer never gives twice."""

    files: int = 0
    interchanges: int = 0
    checks: int = 0


class Arrival(_Value, frozen=True, kw_only=True):
    """A file that has arrived and was not yet looked at."""

    at: datetime
    calendar: datetime
    """The day by the calendar that the payer waits by."""
    content: bytes


def total(amounts: Iterable[Decimal]) -> Decimal:
    """The sum of amounts."""
    return sum(amounts, ZERO)
