"""Values of a simulated payer: claims as it read them, its decisions, and its planned responses.

Stored in the payer's ledger as MessagePack. Their reprs show no data.
"""

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

import msgspec

ZERO = Decimal(0)
REVERSAL = "22"
NOT_RECOGNIZED = "4"
"""CLP02: the patient is not recognized. An unpaid claim of a known patient is 1, 2 or 3 (RFI 1423)."""
PATIENT = "PR"


@dataclass(frozen=True)
class Profile:
    """Identity of a simulated payer."""

    id: str
    """Its payer id."""
    name: str
    ids: frozenset[str] = frozenset()
    """Ids by which a claim may name it; if empty, the payer id of claims is not checked."""
    ledger: str = ""
    """Name of its ledger; its id if empty."""
    dental: bool = False
    """Whether its members have a dental plan."""
    served: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Of an upstream clearinghouse, the names of the payers that it serves, by its ids for them; else empty."""

    def payer_of(self, id: str) -> "Profile":
        """Return who decides claims under a payer's id: a payer that it serves, else the payer itself."""
        return replace(self, id=id, name=self.served[id]) if id in self.served else self

    @cached_property
    def file_stem(self) -> str:
        """Start of its file names: the id, in characters that every file system accepts."""
        return re.sub(r"[^A-Za-z0-9]", "", self.id)[:20] or "PAYER"

    @cached_property
    def tax(self) -> str:
        """Invented tax id of nine digits, the same for the same payer."""
        return f"99{zlib.crc32(self.id.encode()) % 10**7:07}"


class _Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value whose repr shows its type alone."""

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
    """A billing provider."""

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
        """The NPI, or the tax id if it has none."""
        return self.npi or self.tax


class ServiceLine(_Value, frozen=True, kw_only=True):
    """A service line of a claim."""

    kind: str
    """The code set of the procedure: HC, AD, HP; NU of a line with a revenue code alone."""
    code: str
    charge: Decimal
    modifiers: tuple[str, ...] = ()
    units: Decimal = Decimal(1)
    first: date | None = None
    last: date | None = None
    control: str = ""
    revenue: str = ""
    """The revenue code of an institutional line."""
    teeth: tuple[str, ...] = ()
    paid_by_others: Decimal | None = None
    """What earlier payers paid for the line."""
    left_by_others: Decimal | None = None
    """What the patient still owes for the line after the last of them; None if none of them says it."""
    position: int = 0
    """Position of its service segment in the set."""


class Stay(_Value, frozen=True, kw_only=True):
    """What an institutional claim states of the care, beside its lines."""

    admitted: date | None = None
    group: str = ""
    """The diagnosis related group (HI*DR)."""
    covered_days: Decimal = ZERO
    """Value code 80."""


class Claim(_Value, frozen=True, kw_only=True):
    """A claim as this payer read it."""

    kind: str
    """837P, 837D or 837I."""
    account: str
    """CLM01."""
    number: str
    """``REF*D9``: the clearinghouse's number."""
    charge: Decimal
    place: str
    frequency: str
    original: str
    """``REF*F8``: the payer claim number that it replaces or voids."""
    predetermination: bool
    subscriber: Person
    patient: Person | None
    """None if the subscriber is the patient."""
    birth: date | None
    payer: str
    order: str
    """SBR01: primary, secondary and so on."""
    filing: str
    group: str
    paid_by_others: Decimal
    """What earlier payers paid for the claim."""
    rendering: Person | None
    lines: tuple[ServiceLine, ...]
    set: int
    """Index of its set in the file."""
    provider: int
    """Index of its billing provider in the file."""
    stay: Stay | None = None
    """None for a professional or dental claim."""
    first: int = 0
    """Positions in the set of its CLM and of its last segment."""
    last: int = 0

    @property
    def member(self) -> str:
        """The insured's id."""
        return self.subscriber.id

    @property
    def days(self) -> tuple[date, date] | None:
        """First and last day of service."""
        found = [day for line in self.lines for day in (line.first, line.last) if day]
        return (min(found), max(found)) if found else None


class Adjustment(_Value, frozen=True, kw_only=True):
    """A CAS adjustment: why less was paid than charged."""

    group: str
    reason: str
    amount: Decimal


class LineDecision(_Value, frozen=True, kw_only=True):
    """Decision on a service line."""

    paid: Decimal
    adjustments: tuple[Adjustment, ...] = ()
    remarks: tuple[str, ...] = ()
    allowed: Decimal = ZERO
    denied: bool = False


class Decision(_Value, frozen=True, kw_only=True):
    """Decision on a claim."""

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
    def denied(self) -> bool:
        """Whether every line was denied, whatever CLP02 says."""
        return all(line.denied for line in self.lines)

    @property
    def patient(self) -> Decimal:
        """CLP05: what the patient owes."""
        return total(
            one.amount for line in self.lines for one in line.adjustments if one.group == PATIENT
        )


class Refusal(_Value, frozen=True, kw_only=True):
    """Reason for refusing a claim in the 277CA: status category, status, entity and message."""

    category: str
    status: str
    entity: str = ""
    message: str = ""


class YearUsage(_Value, frozen=True, kw_only=True):
    """Deductible and payments that a member used in a year."""

    deductible: Decimal = ZERO
    paid: Decimal = ZERO


class PlanUsage(_Value, frozen=True, kw_only=True):
    """What a claim used of the plan: amounts by year, and counts of limited services."""

    years: dict[str, YearUsage] = {}
    service_counts: dict[str, int] = {}


class Member(_Value, frozen=True, kw_only=True):
    """A payer's record of a patient."""

    years: dict[str, YearUsage] = {}
    service_counts: dict[str, int] = {}
    claims: dict[str, str] = {}
    """Payer claim numbers of its claims, by duplicate key."""


class Case(_Value, frozen=True, kw_only=True):
    """A received claim with its refusals or decision."""

    claim: Claim
    number: str
    """The payer's claim number (``REF*1K``, CLP07)."""
    refusals: tuple[Refusal, ...] = ()
    decision: Decision | None = None
    corrected: Decision | None = None
    """The decision on review, after the first payment is reversed."""
    usage: PlanUsage = PlanUsage()
    replaces: str = ""
    """Payer claim number of the earlier claim whose payment is reversed."""


class SetHeader(_Value, frozen=True, kw_only=True):
    """Header of a set: its batch number (BHT03) and the submitter."""

    reference: str
    submitter: str
    submitter_id: str


class Parties(_Value, frozen=True, kw_only=True):
    """Sender and receiver of a file, for the envelope of the response."""

    sender: str
    sender_qualifier: str
    receiver: str
    receiver_qualifier: str
    application_sender: str
    application_receiver: str
    usage: str


class File(_Value, frozen=True, kw_only=True):
    """A received interchange."""

    number: int
    received: datetime
    parties: Parties
    sets: tuple[SetHeader, ...] = ()
    providers: tuple[Provider, ...] = ()
    cases: tuple[Case, ...] = ()


class ResponseType(StrEnum):
    """Types of responses."""

    READY = "ready"
    """A TA1 or 999, written when the file was read."""
    ACKNOWLEDGE = "277CA"
    PEND = "277"
    REMIT = "835"
    CORRECT = "835C"
    """An 835 with a reversal and a correction."""
    REVERSE = "835R"
    """An 835 with the reversal alone."""
    PAY_ANEW = "835N"
    """An 835 with the correction alone, after the reversal."""


class ResponseStyle(StrEnum):
    """How a response is delivered."""

    PLAIN = "plain"
    WEB_PAGE = "page"
    """A web page instead of the file."""
    TRUNCATED = "cut"
    """Only its first half."""
    REPEATED = "again"
    """The same bytes once more."""
    REENVELOPED = "re-enveloped"
    """The same sets once more, in an interchange of its own."""


REMITTANCES = frozenset(
    {ResponseType.REMIT, ResponseType.CORRECT, ResponseType.REVERSE, ResponseType.PAY_ANEW}
)
"""Responses that are 835 files."""
COPIES = frozenset({ResponseStyle.REPEATED, ResponseStyle.REENVELOPED})
"""Styles that deliver again what was delivered before."""


class PlannedResponse(_Value, frozen=True, kw_only=True):
    """A response that is still to be sent."""

    file: int
    type: ResponseType
    at: datetime
    """The moment that its dates are written from."""
    style: ResponseStyle = ResponseStyle.PLAIN
    file_group: str = ""
    """Claims of one group share their response files."""
    cases: tuple[int, ...] = ()
    name: str = ""
    content: bytes = b""
    keep_copy: bool = False
    """Whether to keep the bytes, because a later response repeats them."""


class Counts(_Value, frozen=True, kw_only=True):
    """Last numbers given by a payer, which it never gives twice."""

    files: int = 0
    interchanges: int = 0
    checks: int = 0


class Arrival(_Value, frozen=True, kw_only=True):
    """A file that has arrived and was not read yet."""

    at: datetime
    calendar: datetime
    """The moment by the payers' calendar."""
    content: bytes


def total(amounts: Iterable[Decimal]) -> Decimal:
    """Return the sum of amounts."""
    return sum(amounts, ZERO)
