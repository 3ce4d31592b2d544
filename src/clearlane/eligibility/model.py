"""The inquiry about one patient to one payer: all that a 270 needs, and what its answer is matched with.

Texts hold only characters that X12 can carry; trace numbers are as the caller wrote them, since they are returned.
Knows no JSON of Vendor API V3 and no segment.
"""

from datetime import date

import msgspec
from msgspec.structs import replace

from clearlane.inquiry.inquiry_result import InquiryStruct, InquiryTrace
from clearlane.inquiry.sender_levels import with_payer_id

ORIGINATOR = "9CLEARLANE"
"""TRN03 of our trace numbers: ten characters, with 9 for a user-assigned id."""


class InquiryParty(InquiryStruct, frozen=True, kw_only=True):
    """The payer or the provider of an inquiry."""

    role: str
    """NM101."""
    entity_type: str
    """NM102: 1 for a person, 2 for an organization."""
    name: str
    first: str = ""
    id: str = ""
    """The payer id, or the NPI."""


class InquiryPerson(InquiryStruct, frozen=True, kw_only=True):
    """A subscriber or a dependent."""

    last: str = ""
    first: str = ""
    birth: date | None = None
    sex: str = ""
    """M, F or empty."""


class BenefitQuestion(InquiryStruct, frozen=True, kw_only=True):
    """Service types of an inquiry, for a patient or a family, on some days or today."""

    services: tuple[str, ...]
    family: bool = False
    start: date | None = None
    end: date | None = None

    @property
    def period(self) -> tuple[date, date] | None:
        """The days of service; a single day is a period of one day."""
        first, last = self.start or self.end, self.end or self.start
        return (first, last) if first and last else None


class Inquiry(InquiryStruct, frozen=True, kw_only=True):
    """An eligibility inquiry about one patient to one payer."""

    path: str
    """The patient's path in the request."""
    payer_type: str
    """Medical or Dental."""
    payer: InquiryParty
    payer_names: tuple[str, ...] = ()
    """All ids, names and aliases of the payer."""
    is_test: bool = False
    payee: InquiryParty
    member_id: str
    subscriber: InquiryPerson
    dependent: InquiryPerson | None = None
    relationship: str = ""
    """INS02 of the dependent."""
    trace: InquiryTrace | None = None
    questions: tuple[BenefitQuestion, ...]
    levels: tuple[str, ...] = ()
    """The segments of a sender's own 270, HL to EQ, without the patient's trace numbers; empty for a JSON request."""
    purpose: str = "13"
    """BHT02."""
    transaction_type: str = ""
    """BHT06."""
    envelope: dict[str, str] = msgspec.field(default_factory=dict)
    """The sender's ids and control numbers by element (ISA06, ISA13, GS06 ...), which CORE has intermediaries keep."""

    @property
    def patient(self) -> InquiryPerson:
        """The person the inquiry is about."""
        return self.dependent or self.subscriber

    @property
    def services(self) -> tuple[str, ...]:
        """The service types asked about, each once."""
        return tuple(dict.fromkeys(code for one in self.questions for code in one.services))


def under_payer_id(inquiry: Inquiry, payer_id: str) -> Inquiry:
    """Return an inquiry under another id of its payer: the one that a hop has. It is still known by its own ids."""
    return replace(
        inquiry,
        payer=replace(inquiry.payer, id=payer_id),
        levels=with_payer_id(inquiry.levels, payer_id),
    )


def encode(inquiry: Inquiry) -> bytes:
    """Return the stored form of an inquiry."""
    return _ENCODER.encode(inquiry)


def restore(stored: bytes) -> Inquiry:
    """Return the inquiry that :func:`encode` was given."""
    return _DECODER.decode(stored)


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Inquiry)
