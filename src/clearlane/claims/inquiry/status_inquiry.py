"""The question about one claim to one payer: all that a 276 needs, and what its answer is matched with.

    inquiry = build_status_inquiry(view, sent, payer=payer)
    other_keys(inquiry)               # the same question with other search keys; None if all were tried

A payer searches its claims with what it is given. So one question gives few keys: the payer's own number if it is known, else
the account number, the charge and the days, at last the days alone. Texts hold only characters that X12 can carry. Knows
views of claims; knows no form and no segment.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from clearlane.claims import codes
from clearlane.claims.kinds import KINDS, ClaimKind, id_in_claims
from clearlane.claims.view import ClaimView, PersonView, ProviderView
from clearlane.inquiry.inquiry_result import InquiryStruct, InquiryTrace
from clearlane.inquiry.sender_levels import with_payer_id
from clearlane.payers.model import Payer
from clearlane.x12.writer.encode import clean

NAME_CHARACTERS_MAX = 60
FIRST_CHARACTERS_MAX = 35
SEXES = frozenset({"F", "M"})
NPI, TAX_ID = "XX", "FI"
PERSON, ORGANIZATION = "1", "2"


class QuestionKeys(StrEnum):
    """What a payer is to find a claim by, beside provider, subscriber, patient and days of service."""

    PAYER_NUMBER = "payer_number"
    """The payer's own claim control number."""
    CLAIM = "claim"
    """Our claim number, the account number and the total charge."""
    DAYS = "days"
    """Nothing else: for a payer that finds no claim by our numbers or the charge."""


class StatusParty(InquiryStruct, frozen=True, kw_only=True):
    """The payer or the provider of a question."""

    entity_type: str = ORGANIZATION
    """NM102: 1 for a person, 2 for an organization."""
    name: str = ""
    first: str = ""
    id_type: str = ""
    """NM108."""
    id: str = ""


class StatusPerson(InquiryStruct, frozen=True, kw_only=True):
    """A subscriber or a dependent."""

    entity_type: str = PERSON
    last: str = ""
    first: str = ""
    birth: date | None = None
    sex: str = ""


class StatusInquiry(InquiryStruct, frozen=True, kw_only=True):
    """A question about one claim to one payer."""

    claim_number: str = ""
    """Our number of the claim; empty for a claim of a sender's own 276 that did not come through us."""
    keys: QuestionKeys = QuestionKeys.CLAIM
    payer_type: str
    payer: StatusParty
    payer_names: tuple[str, ...] = ()
    """All ids, names and aliases of the payer, the id of the directory first."""
    receiver_name: str = ""
    """The name of who asks (2100B)."""
    provider: StatusParty = StatusParty()
    member_id: str = ""
    subscriber: StatusPerson = StatusPerson()
    dependent: StatusPerson | None = None
    payer_control_number: str = ""
    account_number: str = ""
    """CLM01, as the claim was sent."""
    type_of_bill: str = ""
    charge: Decimal | None = None
    first_day: date | None = None
    last_day: date | None = None
    path: str = ""
    """Its path in a sender's file."""
    trace: InquiryTrace | None = None
    """The sender's trace number."""
    levels: tuple[str, ...] = ()
    """The segments of a sender's own 276 from HL to the claim, without its trace number; empty for a claim of ours."""

    @property
    def period(self) -> tuple[date, date] | None:
        """The days of service."""
        return (self.first_day, self.last_day) if self.first_day and self.last_day else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentNumbers:
    """The numbers that a claim was sent with, and the one that its payer gave it."""

    claim_number: str
    account_number: str
    """CLM01."""
    payer_control_number: str = ""


def build_status_inquiry(
    view: ClaimView, sent: SentNumbers, *, payer: Payer, receiver_name: str = ""
) -> StatusInquiry:
    """Return the question about a claim, with the best keys that are known."""
    subscriber, patient = view.subscriber, view.patient
    is_dependent = subscriber.relationship not in (codes.SELF, None)
    days = _days(view)
    number = _text(sent.payer_control_number)
    is_institutional = view.form.kind is ClaimKind.INSTITUTIONAL
    return StatusInquiry(
        claim_number=sent.claim_number,
        keys=QuestionKeys.PAYER_NUMBER if number else QuestionKeys.CLAIM,
        payer_type=KINDS[view.form.kind].payer_type,
        payer=StatusParty(
            name=_name(payer.name), id_type="PI", id=_text(id_in_claims(payer, view.form.kind))
        ),
        payer_names=(*payer.ids, payer.name, *payer.aliases),
        receiver_name=_name(receiver_name),
        provider=_provider(view.billing),
        member_id=_text(subscriber.member_id or subscriber.policy_number),
        subscriber=_person(subscriber, None if is_dependent else view.patient_birth),
        dependent=_person(patient, patient.birth) if is_dependent else None,
        payer_control_number=number,
        account_number=_text(sent.account_number),
        type_of_bill=f"{view.place or ''}{view.frequency or ''}" if is_institutional else "",
        charge=view.total_charge,
        first_day=days[0] if days else None,
        last_day=days[1] if days else None,
    )


_NEXT_KEYS = {
    QuestionKeys.PAYER_NUMBER: QuestionKeys.CLAIM,
    QuestionKeys.CLAIM: QuestionKeys.DAYS,
}


def other_keys(inquiry: StatusInquiry) -> StatusInquiry | None:
    """Return the question with the next keys, after a search that failed; None if there are no others.

    A claim without days can be asked about by its numbers only. A sender's own 276 has the keys that it chose.
    """
    following = _NEXT_KEYS.get(inquiry.keys)
    if following is None or inquiry.levels or not inquiry.claim_number:
        return None
    return replace(inquiry, keys=following)


def under_payer_id(inquiry: StatusInquiry, payer_id: str) -> StatusInquiry:
    """Return a question under another id of its payer: the one that a hop has. It is still known by its own ids."""
    return replace(
        inquiry,
        payer=replace(inquiry.payer, id=payer_id),
        levels=with_payer_id(inquiry.levels, payer_id),
    )


def encode(inquiry: StatusInquiry) -> bytes:
    """Return the stored form of a question."""
    return _ENCODER.encode(inquiry)


def restore(stored: bytes) -> StatusInquiry:
    """Return the question that :func:`encode` was given."""
    return _DECODER.decode(stored)


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(StatusInquiry)


def _provider(billing: ProviderView) -> StatusParty:
    tax_id = _text(billing.ein or billing.ssn)
    return StatusParty(
        entity_type=PERSON if billing.first_name else ORGANIZATION,
        name=_name(billing.last_name),
        first=_text(billing.first_name)[:FIRST_CHARACTERS_MAX],
        id_type=NPI if billing.npi else TAX_ID,
        id=_text(billing.npi) or tax_id,
    )


def _person(person: PersonView, birth: date | None) -> StatusPerson:
    return StatusPerson(
        entity_type=person.entity_type or PERSON,
        last=_name(person.last_name),
        first=_text(person.first_name)[:FIRST_CHARACTERS_MAX],
        birth=birth,
        sex=person.sex if person.sex in SEXES else "",
    )


def _days(view: ClaimView) -> tuple[date, date] | None:
    stated = [day for line in view.lines for day in (line.first_day, line.last_day) if day]
    # The period of a bill, by which payers know it, may begin before its lines and end after them.
    stated += [day for day in (view.institutional.first_day, view.institutional.last_day) if day]
    stated = stated or [day for day in (view.dates.service, view.dates.admission) if day]
    return (min(stated), max(stated)) if stated else None


def _name(text: str | None) -> str:
    return _text(text)[:NAME_CHARACTERS_MAX].strip()


def _text(text: str | None) -> str:
    return clean(text)[0] if text else ""
