"""One patient to one payer: all that a 270 needs, and what the answer is compared with.

Texts are as X12 can carry them; trace numbers are as the caller wrote them, since they are echoed.
Knows no JSON of the interface and no segment.
"""

from datetime import date

import msgspec

ORIGINATOR = "9CLEARLANE"
"""TRN03 of our trace numbers: ten characters, the 9 for an id of one's own making."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an inquiry. It prints which fields are filled, never what they hold."""

    def __repr__(self) -> str:
        filled = (name for name in self.__struct_fields__ if getattr(self, name))
        return f"{type(self).__name__}({', '.join(filled)})"


class Party(Value, frozen=True, kw_only=True):
    """The payer who is asked, or the provider who asks."""

    role: str
    """NM101."""
    kind: str
    """1 for a person, 2 for an organisation."""
    name: str
    first: str = ""
    id: str = ""
    """The payer id, or the NPI."""


class Person(Value, frozen=True, kw_only=True):
    """A subscriber or a dependent."""

    last: str = ""
    first: str = ""
    birth: date | None = None
    sex: str = ""
    """M, F or empty."""


class Trace(Value, frozen=True, kw_only=True):
    """The caller's trace number, as it was sent to us."""

    number: str = ""
    originator: str = ""


class Question(Value, frozen=True, kw_only=True):
    """Service types asked about, for a patient or a family, on some days or today."""

    services: tuple[str, ...]
    family: bool = False
    start: date | None = None
    end: date | None = None

    @property
    def period(self) -> tuple[date, date] | None:
        """The days asked about; one day is a period of one day."""
        first, last = self.start or self.end, self.end or self.start
        return (first, last) if first and last else None


class Inquiry(Value, frozen=True, kw_only=True):
    """One patient to one payer."""

    path: str
    """Where the patient stands in the document."""
    payer_type: str
    """Medical or Dental."""
    payer: Party
    payer_names: tuple[str, ...] = ()
    """Everything the payer goes by: ids, name and aliases."""
    is_test: bool = False
    payee: Party
    member_id: str
    subscriber: Person
    dependent: Person | None = None
    relationship: str = ""
    """INS02 of the dependent."""
    trace: Trace | None = None
    questions: tuple[Question, ...]

    @property
    def patient(self) -> Person:
        """Who is asked about."""
        return self.dependent or self.subscriber

    @property
    def subscriber_path(self) -> str:
        """Where the subscriber stands in the document."""
        return self.path.partition(".Dependents[")[0]

    @property
    def payee_path(self) -> str:
        """Where the provider stands in the document."""
        return self.path.partition(".Subscribers[")[0]

    @property
    def payer_path(self) -> str:
        """Where the payer stands in the document."""
        return self.path.partition(".Payees[")[0]


def encode(inquiry: Inquiry) -> bytes:
    """An inquiry as it is kept."""
    return _ENCODER.encode(inquiry)


def restore(stored: bytes) -> Inquiry:
    """The inquiry that ``encode`` was given."""
    return _DECODER.decode(stored)


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Inquiry)
