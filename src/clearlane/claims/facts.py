"""What payers said about a claim: pure values, one a statement.

A file becomes facts; the facts of one claim, in any order and any number of times, make its standing
(``lifecycle.fold``). A fact knows where in which file it stood, so that the claim's part of the file can be cut
out (``documents.part_of``), and what it complains about, so that it can be told in the caller's own
fields (``provenance``). What an 835 says is a fact of the remittances' own room; ``Remitted`` is how it looks from
here.

Knows no file, no table of states and no words.
"""

from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

import msgspec


class Kind(StrEnum):
    """What sort of statement it is."""

    SENT = "SENT"
    """Ours: the claim was delivered."""
    ACCEPTED_999 = "ACCEPTED_999"
    """The set it went in was taken in, with errors noted or without."""
    SEND_AGAIN = "SEND_AGAIN"
    """The set was refused because of other claims in it: this one is to be sent again in a new set."""
    CLAIM_REFUSED = "CLAIM_REFUSED"
    """The 999 names this very claim."""
    SET_REFUSED = "SET_REFUSED"
    """The whole set was refused."""
    TA1_REFUSED = "TA1_REFUSED"
    """The whole interchange was refused."""
    STATUS = "STATUS"
    """A 277CA or a 277 tells where the claim stands."""
    REMIT = "REMIT"
    """An 835 tells what was decided."""


class Verdict(StrEnum):
    """What a status says of the claim."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    REJECTED = "rejected"
    NOTED = "noted"
    """It moves nothing: an answer about an inquiry, or a message."""


class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """It prints which fields are filled, never what they hold."""

    def __repr__(self) -> str:
        filled = (
            name for name in self.__struct_fields__ if getattr(self, name) not in (None, "", (), 0)
        )
        return f"{self.__class__.__name__}({', '.join(filled)})"


class ClaimKey(Value, frozen=True):
    """What a response calls a claim by."""

    number: str = ""
    """Our claim number (``REF*D9``)."""
    account: str = ""
    """CLM01, which comes back as TRN02 in a 277CA and as CLP01 in an 835."""
    payer_number: str = ""
    """The payer's own number of the claim."""
    controls: tuple[str, ...] = ()
    """The line control numbers (``REF*6R``)."""

    @property
    def trace(self) -> str:
        """Our number, as what is matched calls it."""
        return self.number


class Where(Value, frozen=True):
    """Where in a file a statement stands. Counts start at 1; 0 means "does not apply"."""

    interchange: int = 1
    group: int = 0
    set: int = 0
    position: int = 0
    """Of the claim's loop in its set, the ST being 1; of the AK2 in a 999; of the TA1 in the interchange."""


class Code(Value, frozen=True):
    """A status: its category, the status itself, and whom it concerns."""

    category: str = ""
    status: str = ""
    entity: str = ""


class Complaint(Value, frozen=True):
    """One thing a response objects to."""

    source: str
    """TA1, 999, 277CA or 277."""
    code: str = ""
    """The code of the fault: TA105, IK304 or IK403, the status of an STC."""
    level: str = ""
    """interchange, group, set, segment or element; for statuses the level of the 277: receiver, provider, claim or line."""
    loop: str = ""
    segment: str = ""
    qualifier: str = ""
    """The first element of the segment that was sent, which tells one REF or DTP from another."""
    nth: int = 0
    """Which one of its segments in the loop; 0 where that is not known."""
    element: int = 0
    component: int = 0
    repetition: int = 0
    line: int = 0
    """The claim's line, counted from 1; 0 where it concerns none, or only its control number is known."""
    control: str = ""
    """The line control number that a 277CA gives back."""
    position: int = 0
    """Of the segment in the set that was sent."""
    category: str = ""
    entity: str = ""
    text: str = ""
    """What the payer wrote beside the codes (STC12)."""


class Fact(Value, frozen=True, tag="fact"):
    """A statement about one claim, other than a remittance."""

    kind: Kind
    at: datetime
    """When it was said, by the clock of who said it (GS, or ISA); no time zone. Ours for ``SENT``."""
    claim: ClaimKey = ClaimKey()
    attempt: int = 0
    """Which sending of the claim it answers, counted from 1; 0 where the response does not tell."""
    serial: int = 0
    """ISA13 of the response: a sender counts upwards, so it decides between files of one minute."""
    where: Where = Where()
    source: str = ""
    """TA1, 999, 277CA, 277; empty for ``SENT``."""
    verdict: Verdict = Verdict.NOTED
    day: date | None = None
    """The day the status holds from (STC02)."""
    codes: tuple[Code, ...] = ()
    charged: int | None = None
    """Cents."""
    payer: str = ""
    complaints: tuple[Complaint, ...] = ()
    document: str = ""
    """The id of the document that shows it; given by whoever stores it."""

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for the same statement, whichever file brought it and however often."""
        if self.kind is Kind.STATUS:
            return (self.kind, self.source, self.day or self.at.date(), self.codes, self.verdict)
        return (self.kind, self.attempt)


class Unmatched(Value, frozen=True, tag="unmatched"):
    """A statement about something we do not know: parked and shown, never applied."""

    reason: str
    kind: Kind
    at: datetime
    claim: ClaimKey = ClaimKey()
    where: Where = Where()
    source: str = ""


class Remitted(Protocol):
    """What the life of a claim needs to know of a remittance. Amounts are cents."""

    @property
    def at(self) -> datetime: ...
    @property
    def day(self) -> date: ...
    @property
    def serial(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def action(self) -> str: ...
    @property
    def is_reversal(self) -> bool: ...
    @property
    def payer_number(self) -> str: ...
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
    def reference(self) -> str: ...
    @property
    def effective(self) -> date | None: ...
    @property
    def payer(self) -> str: ...
    @property
    def document(self) -> str: ...
    @property
    def identity(self) -> tuple[object, ...]: ...
