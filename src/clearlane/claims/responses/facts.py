"""Facts: what payers report about claims, one value per statement.

A file is read into facts; the facts of one claim, in any order and any number of times, give its status
(``lifecycle.fold``). A fact has its position in the file, so that the claim's part can be extracted
(``claim_parts``), and its complaints, so that they can be explained in the caller's own fields
(``provenance``). Facts of an 835 belong to ``payments``; ``RemittanceFact`` is what this package needs of them.

Knows no file, no table of states and no text for people.
"""

from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

import msgspec

from clearlane.kernel.redacted_repr import show_filled


class FactKind(StrEnum):
    """The kind of a fact."""

    SENT = "SENT"
    """The clearinghouse delivered the claim."""
    ACCEPTED_999 = "ACCEPTED_999"
    """A 999 accepted the set the claim was sent in, with errors noted or without."""
    SEND_AGAIN = "SEND_AGAIN"
    """A 999 rejected the set because of other claims: this one is to be sent again in a new set."""
    CLAIM_REFUSED = "CLAIM_REFUSED"
    """A 999 rejected the set because of this claim."""
    SET_REFUSED = "SET_REFUSED"
    """A 999 rejected the whole set."""
    TA1_REFUSED = "TA1_REFUSED"
    """A TA1 rejected the whole interchange."""
    REQUEUED = "REQUEUED"
    """The clearinghouse sends the claim in a new file, because a TA1 rejected the interchange."""
    STATUS = "STATUS"
    """A 277CA or 277 reports the claim's status."""
    REMIT = "REMIT"
    """An 835 reports the payer's decision."""
    REPORT = "REPORT"
    """A report in words, of an upstream clearinghouse, names the claim. It says nothing that is read."""


class StatusVerdict(StrEnum):
    """What a 277CA or 277 status means for the claim."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    REJECTED = "rejected"
    NOTED = "noted"
    """It changes no state: an answer about the inquiry itself, or a message."""


# gc=False: a frozen value of frozen values is in no cycle, and thousands live while a file is posted.
class ClaimValue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Base of values about a claim; the repr names filled fields and never shows what they hold."""

    __repr__ = show_filled


class ClaimKey(ClaimValue, frozen=True):
    """The numbers by which a response names a claim."""

    claim_number: str = ""
    """The clearinghouse's claim number (``REF*D9``)."""
    account_number: str = ""
    """CLM01, which comes back as TRN02 in a 277CA and as CLP01 in an 835."""
    payer_control_number: str = ""
    """The payer's claim control number."""
    line_controls: tuple[str, ...] = ()
    """The line control numbers (``REF*6R``)."""


class FilePosition(ClaimValue, frozen=True):
    """Position of a statement in a file. Counts start at 1; 0 means "does not apply"."""

    interchange: int = 1
    group: int = 0
    set: int = 0
    position: int = 0
    """The position of the claim's loop in its set (the ST is 1), the AK2 in a 999, or the TA1 in the interchange."""


class ClaimStatusCode(ClaimValue, frozen=True):
    """A status code of an STC: category, status, and the entity it concerns."""

    category: str = ""
    status: str = ""
    entity: str = ""


class Complaint(ClaimValue, frozen=True):
    """One error or objection of a response."""

    source: str
    """TA1, 999, 277CA or 277."""
    code: str = ""
    """The code of the error: TA105, IK304 or IK403, the status of an STC."""
    level: str = ""
    """interchange, group, set, segment or element; for statuses the level of the 277: receiver, provider, claim or line."""
    loop: str = ""
    segment: str = ""
    qualifier: str = ""
    """The first element of the segment that was sent, which distinguishes one REF or DTP from another."""
    nth: int = 0
    """The occurrence of the segment in its loop; 0 if that is not known."""
    element: int = 0
    component: int = 0
    repetition: int = 0
    line: int = 0
    """The service line, counted from 1; 0 for none, or if only its control number is known."""
    control: str = ""
    """The line control number that a 277CA returns."""
    position: int = 0
    """Position of the segment in the set that was sent."""
    sent_level: str = ""
    """The loop of the level that the segment was sent in: 2000A, 2000B, 2000C or 2300; empty if that is not known."""
    offset: int = 0
    """Its place in that level, from 1; 0 if that is not known."""
    category: str = ""
    entity: str = ""
    text: str = ""
    """The payer's free text (STC12)."""


class Fact(ClaimValue, frozen=True, tag="fact"):
    """A statement about one claim, other than a remittance."""

    kind: FactKind
    at: datetime
    """The time in the response's envelope (GS, or ISA), without a time zone; for ``SENT`` and ``REQUEUED`` the clearinghouse's."""
    claim: ClaimKey = ClaimKey()
    attempt: int = 0
    """The sending of the claim it answers, counted from 1; 0 if the response does not identify one."""
    serial: int = 0
    """ISA13 of the response: senders count upwards, so it orders files of the same minute. Of a report the inbox file."""
    where: FilePosition = FilePosition()
    source: str = ""
    """TA1, 999, 277CA, 277; empty for ``SENT`` and ``REQUEUED``."""
    verdict: StatusVerdict = StatusVerdict.NOTED
    day: date | None = None
    """The effective date of the status (STC02)."""
    codes: tuple[ClaimStatusCode, ...] = ()
    charged: int | None = None
    """Cents."""
    payer: str = ""
    """The name of the source of a status: the payer, or a clearinghouse on the way to it."""
    by_clearinghouse: bool = False
    """Whether a clearinghouse on the way (``NM1*AY``) states it, not the payer."""
    note: str = ""
    """The lines of a report that name the claim."""
    complaints: tuple[Complaint, ...] = ()
    document_id: str = ""
    """The id of the document that shows it; set when it is stored."""

    @property
    def identity(self) -> tuple[object, ...]:
        """A key that is equal for the same statement, in whichever file and however often it comes."""
        if self.kind is FactKind.STATUS:
            stated = (self.kind, self.source, self.day or self.at.date(), self.codes, self.verdict)
            # The payer may state the same on the same day: that is another step.
            return (*stated, self.payer) if self.by_clearinghouse else stated
        if self.kind is FactKind.REPORT:
            return (self.kind, self.serial)
        return (self.kind, self.attempt)

    @property
    def is_passed_on(self) -> bool:
        """Whether a clearinghouse took the claim to pass it on: the payer may not have it yet."""
        return self.by_clearinghouse and self.verdict is not StatusVerdict.REJECTED


class UnmatchedFact(ClaimValue, frozen=True, tag="unmatched"):
    """A statement about a claim or file that is not known here: stored and shown, never applied."""

    reason: str
    kind: FactKind
    at: datetime
    claim: ClaimKey = ClaimKey()
    where: FilePosition = FilePosition()
    source: str = ""


class RemittanceFact(Protocol):
    """What the lifecycle of a claim needs to know of a remittance. Amounts are cents."""

    @property
    def at(self) -> datetime: ...
    @property
    def day(self) -> date: ...
    @property
    def serial(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def status_code(self) -> str: ...
    @property
    def is_reversal(self) -> bool: ...
    @property
    def payer_control_number(self) -> str: ...
    @property
    def lines(self) -> frozenset[str]: ...
    @property
    def charged(self) -> int: ...
    @property
    def paid(self) -> int: ...
    @property
    def patient(self) -> int: ...
    @property
    def adjusted(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def trace_number(self) -> str: ...
    @property
    def effective_date(self) -> date | None: ...
    @property
    def payer_name(self) -> str: ...
    @property
    def unprocessable(self) -> bool: ...
    @property
    def document_id(self) -> str: ...
    @property
    def identity(self) -> tuple[object, ...]: ...
