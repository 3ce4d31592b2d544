"""THE catalogue of the eligibility request: every field of the nested structure, one line a field.

The attribute is the name on the wire; the line says the label, how the JSON is read, the length X12 can carry,
and whether the field is required. Decoding and the OpenAPI schema are derived from these lines.

Knows how a request is written in JSON. Knows no rule, no X12 place and no code value.
"""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, ClassVar, NamedTuple

from clearlane.eligibility.wire_struct import Kind, Line, Shape

__all__ = [
    "BenefitInquiry", "Dependent", "EligibilityRequest", "Payee", "Payer",
    "RequestedBenefit", "RequestedDays", "Subscriber", "TraceNumber", "is_asked_about", "patients",
]  # fmt: skip


def must(label: str, kind: Kind = Kind.TEXT, *, max: int | None = None) -> Line:
    """A field that every request has."""
    return Line(label, kind, max=max, required=True)


def may(label: str, kind: Kind = Kind.TEXT, *, max: int | None = None, when: str = "") -> Line:
    """A field that may be left out; ``when`` tells in which case it may not."""
    return Line(label, kind, max=max, when=when)


LAST_NAME_MAX, FIRST_NAME_MAX, ID_MAX, TRACE_MAX = 60, 35, 80, 50
ASKED = "the subscriber is asked about"


class Asked(Shape, frozen=True, kw_only=True):
    """A JSON object of the request."""

    SCHEMA: ClassVar[str] = "EligibilityRequest"


class RequestedDays(Asked, frozen=True, kw_only=True):
    """``PlanDate``: the days of service that are asked about."""

    Start: Annotated[date | None, may("First day", Kind.DAY)] = None
    End: Annotated[date | None, may("Last day", Kind.DAY)] = None


class RequestedBenefit(Asked, frozen=True, kw_only=True):
    """An element of ``RequestedBenefits``."""

    IsFamilyBenefit: Annotated[bool | None, may("Benefits of the family", Kind.FLAG)] = None
    Type: Annotated[tuple[str, ...], may("Service types by name or X12 code", Kind.TEXTS)] = ()
    PlanDate: Annotated[RequestedDays | None, may("Days of service asked about", Kind.PART)] = None


class TraceNumber(Asked, frozen=True, kw_only=True):
    """``PayeeTraceNumber``: the caller's own number of a patient's inquiry."""

    Number: Annotated[str | None, may("Trace number", max=TRACE_MAX)] = None
    OriginatorID: Annotated[str | None, may("Who gave the number")] = None


class Dependent(Asked, frozen=True, kw_only=True):
    """An element of ``Dependents``."""

    CommonName: Annotated[str, must("Last name", max=LAST_NAME_MAX)]
    FirstName: Annotated[str, must("First name", max=FIRST_NAME_MAX)]
    BirthDate: Annotated[date | None, may("Birth date", Kind.BIRTH)] = None
    Gender: Annotated[str | None, may("Sex")] = None
    Relationship: Annotated[str | None, may("Relationship to the subscriber")] = None
    PayeeTraceNumber: Annotated[TraceNumber | None, may("Caller's trace number", Kind.PART)] = None
    RequestedBenefits: Annotated[
        tuple[RequestedBenefit, ...], may("Benefits asked about", Kind.PARTS)
    ] = ()


class Subscriber(Asked, frozen=True, kw_only=True):
    """An element of ``Subscribers``."""

    CommonName: Annotated[str | None, may("Last name", max=LAST_NAME_MAX, when=ASKED)] = None
    FirstName: Annotated[str | None, may("First name", max=FIRST_NAME_MAX, when=ASKED)] = None
    BirthDate: Annotated[date | None, may("Birth date", Kind.BIRTH)] = None
    Gender: Annotated[str | None, may("Sex")] = None
    MemberId: Annotated[str, must("Member id", max=ID_MAX)]
    PayeeTraceNumber: Annotated[TraceNumber | None, may("Caller's trace number", Kind.PART)] = None
    Dependents: Annotated[tuple[Dependent, ...], may("Dependents asked about", Kind.PARTS)] = ()
    RequestedBenefits: Annotated[
        tuple[RequestedBenefit, ...], may("Benefits asked about", Kind.PARTS)
    ] = ()


class Payee(Asked, frozen=True, kw_only=True):
    """An element of ``Payees``: the provider who asks."""

    Type: Annotated[str | None, may("What the provider is")] = None
    EntityType: Annotated[str | None, may("Individual or Organization")] = None
    CommonName: Annotated[str, must("Last name, or name of the organisation", max=LAST_NAME_MAX)]
    FirstName: Annotated[str | None, may("First name", max=FIRST_NAME_MAX)] = None
    NationalProviderId: Annotated[str | None, may("NPI")] = None
    Subscribers: Annotated[tuple[Subscriber, ...], must("Subscribers", Kind.PARTS)]


class Payer(Asked, frozen=True, kw_only=True):
    """An element of ``Payers``: the payer who is asked."""

    Type: Annotated[str | None, may("What the payer is")] = None
    PayerId: Annotated[str, must("Payer id", max=ID_MAX)]
    CommonName: Annotated[str | None, may("Name", max=LAST_NAME_MAX)] = None
    EntityType: Annotated[str | None, may("Individual or Organization")] = None
    Payees: Annotated[tuple[Payee, ...], must("Providers who ask", Kind.PARTS)]


class BenefitInquiry(Asked, frozen=True, kw_only=True):
    """An element of ``BenefitInquiries``."""

    RequestType: Annotated[str | None, may("Request, also when absent")] = None
    Payers: Annotated[tuple[Payer, ...], must("Payers asked", Kind.PARTS)]


class EligibilityRequest(Asked, frozen=True, kw_only=True):
    """The whole request."""

    IsTest: Annotated[bool | None, may("Whether the payers are test payers", Kind.FLAG)] = None
    BenefitInquiries: Annotated[tuple[BenefitInquiry, ...], must("Inquiries", Kind.PARTS)]


class Patient(NamedTuple):
    """One patient who is asked about, with those around and where it stands in the document."""

    inquiry: BenefitInquiry
    payer: Payer
    payee: Payee
    subscriber: Subscriber
    dependent: Dependent | None
    payer_path: str
    payee_path: str
    subscriber_path: str
    path: str


def is_asked_about(subscriber: Subscriber) -> bool:
    """Whether the subscriber is a patient: with benefits asked about, or without dependents."""
    return bool(subscriber.RequestedBenefits) or not subscriber.Dependents


def patients(request: EligibilityRequest) -> Iterator[Patient]:
    """Everybody who is asked about, in document order."""
    for a, inquiry in enumerate(request.BenefitInquiries):
        for b, payer in enumerate(inquiry.Payers):
            payer_path = f"BenefitInquiries[{a}].Payers[{b}]"
            for c, payee in enumerate(payer.Payees):
                payee_path = f"{payer_path}.Payees[{c}]"
                for d, subscriber in enumerate(payee.Subscribers):
                    path = f"{payee_path}.Subscribers[{d}]"
                    around = (inquiry, payer, payee, subscriber)
                    paths = (payer_path, payee_path, path)
                    if is_asked_about(subscriber):
                        yield Patient(*around, None, *paths, path)
                    for e, dependent in enumerate(subscriber.Dependents):
                        yield Patient(*around, dependent, *paths, f"{path}.Dependents[{e}]")
