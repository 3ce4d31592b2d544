"""The field catalogue of the eligibility request: every field of its nested objects.

The attribute is the name on the wire; its annotation gives the label, the JSON type, the length X12 can carry,
and whether the field is required. Decoding and the OpenAPI schema are derived from it.

Knows how a request is written in JSON. Knows no rule, no X12 position and no code value.
"""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, ClassVar, NamedTuple

from clearlane.eligibility.json_struct import EligibilityField, EligibilityType, JsonStruct

__all__ = [
    "BenefitInquiry",
    "EligibilityRequest",
    "RequestDependent",
    "RequestPayee",
    "RequestPayer",
    "RequestSubscriber",
    "RequestTraceNumber",
    "RequestedBenefit",
    "RequestedDays",
    "is_patient",
    "patients",
]  # fmt: skip


def required(
    label: str, kind: EligibilityType = EligibilityType.TEXT, *, max: int | None = None
) -> EligibilityField:
    """Declare a field that must be present."""
    return EligibilityField(label, kind, max_length=max, required=True)


def optional(
    label: str,
    kind: EligibilityType = EligibilityType.TEXT,
    *,
    max: int | None = None,
    required_when: str = "",
) -> EligibilityField:
    """Declare a field that may be absent; ``required_when`` says in which case it may not."""
    return EligibilityField(label, kind, max_length=max, required_when=required_when)


LAST_NAME_MAX, FIRST_NAME_MAX, ID_MAX, TRACE_MAX = 60, 35, 80, 50
SUBSCRIBER_IS_PATIENT = "the subscriber is a patient"


class RequestStruct(JsonStruct, frozen=True, kw_only=True):
    """A JSON object of the request."""

    SCHEMA_PREFIX: ClassVar[str] = "EligibilityRequest"


class RequestedDays(RequestStruct, frozen=True, kw_only=True):
    """``PlanDate``: the days of service of the inquiry."""

    Start: Annotated[date | None, optional("First day", EligibilityType.DATE)] = None
    End: Annotated[date | None, optional("Last day", EligibilityType.DATE)] = None


class RequestedBenefit(RequestStruct, frozen=True, kw_only=True):
    """An element of ``RequestedBenefits``."""

    IsFamilyBenefit: Annotated[
        bool | None, optional("Benefits of the family", EligibilityType.BOOLEAN)
    ] = None
    Type: Annotated[
        tuple[str, ...], optional("Service types by name or X12 code", EligibilityType.TEXTS)
    ] = ()
    PlanDate: Annotated[
        RequestedDays | None, optional("Days of service", EligibilityType.OBJECT)
    ] = None


class RequestTraceNumber(RequestStruct, frozen=True, kw_only=True):
    """``PayeeTraceNumber``: the caller's own number of a patient's inquiry."""

    Number: Annotated[str | None, optional("Trace number", max=TRACE_MAX)] = None
    OriginatorID: Annotated[str | None, optional("Who gave the number")] = None


class RequestDependent(RequestStruct, frozen=True, kw_only=True):
    """An element of ``Dependents``."""

    CommonName: Annotated[str, required("Last name", max=LAST_NAME_MAX)]
    FirstName: Annotated[str, required("First name", max=FIRST_NAME_MAX)]
    BirthDate: Annotated[date | None, optional("Birth date", EligibilityType.BIRTH_DATE)] = None
    Gender: Annotated[str | None, optional("Sex")] = None
    Relationship: Annotated[str | None, optional("Relationship to the subscriber")] = None
    PayeeTraceNumber: Annotated[
        RequestTraceNumber | None, optional("Caller's trace number", EligibilityType.OBJECT)
    ] = None
    RequestedBenefits: Annotated[
        tuple[RequestedBenefit, ...], optional("Requested benefits", EligibilityType.OBJECTS)
    ] = ()


class RequestSubscriber(RequestStruct, frozen=True, kw_only=True):
    """An element of ``Subscribers``."""

    CommonName: Annotated[
        str | None, optional("Last name", max=LAST_NAME_MAX, required_when=SUBSCRIBER_IS_PATIENT)
    ] = None
    FirstName: Annotated[
        str | None, optional("First name", max=FIRST_NAME_MAX, required_when=SUBSCRIBER_IS_PATIENT)
    ] = None
    BirthDate: Annotated[date | None, optional("Birth date", EligibilityType.BIRTH_DATE)] = None
    Gender: Annotated[str | None, optional("Sex")] = None
    MemberId: Annotated[str, required("Member id", max=ID_MAX)]
    PayeeTraceNumber: Annotated[
        RequestTraceNumber | None, optional("Caller's trace number", EligibilityType.OBJECT)
    ] = None
    Dependents: Annotated[
        tuple[RequestDependent, ...],
        optional("Dependents who are patients", EligibilityType.OBJECTS),
    ] = ()
    RequestedBenefits: Annotated[
        tuple[RequestedBenefit, ...], optional("Requested benefits", EligibilityType.OBJECTS)
    ] = ()


class RequestPayee(RequestStruct, frozen=True, kw_only=True):
    """An element of ``Payees``: the provider who inquires."""

    Type: Annotated[str | None, optional("What the provider is")] = None
    EntityType: Annotated[str | None, optional("Individual or Organization")] = None
    CommonName: Annotated[
        str, required("Last name, or name of the organization", max=LAST_NAME_MAX)
    ]
    FirstName: Annotated[str | None, optional("First name", max=FIRST_NAME_MAX)] = None
    NationalProviderId: Annotated[str | None, optional("NPI")] = None
    Subscribers: Annotated[
        tuple[RequestSubscriber, ...], required("Subscribers", EligibilityType.OBJECTS)
    ]


class RequestPayer(RequestStruct, frozen=True, kw_only=True):
    """An element of ``Payers``: the payer of the inquiry."""

    Type: Annotated[str | None, optional("What the payer is")] = None
    PayerId: Annotated[str, required("Payer id", max=ID_MAX)]
    CommonName: Annotated[str | None, optional("Name", max=LAST_NAME_MAX)] = None
    EntityType: Annotated[str | None, optional("Individual or Organization")] = None
    Payees: Annotated[
        tuple[RequestPayee, ...], required("Providers who inquire", EligibilityType.OBJECTS)
    ]


class BenefitInquiry(RequestStruct, frozen=True, kw_only=True):
    """An element of ``BenefitInquiries``."""

    RequestType: Annotated[str | None, optional("Request, also when absent")] = None
    Payers: Annotated[
        tuple[RequestPayer, ...], required("Payers of the inquiry", EligibilityType.OBJECTS)
    ]


class EligibilityRequest(RequestStruct, frozen=True, kw_only=True):
    """The whole request."""

    IsTest: Annotated[
        bool | None, optional("Whether the payers are test payers", EligibilityType.BOOLEAN)
    ] = None
    BenefitInquiries: Annotated[
        tuple[BenefitInquiry, ...], required("Inquiries", EligibilityType.OBJECTS)
    ]


class RequestPatient(NamedTuple):
    """One patient of a request, with the objects above it and their paths in the document."""

    inquiry: BenefitInquiry
    payer: RequestPayer
    payee: RequestPayee
    subscriber: RequestSubscriber
    dependent: RequestDependent | None
    payer_path: str
    payee_path: str
    subscriber_path: str
    path: str


def is_patient(subscriber: RequestSubscriber) -> bool:
    """Return whether the subscriber is a patient: one with requested benefits, or without dependents."""
    return bool(subscriber.RequestedBenefits) or not subscriber.Dependents


def patients(request: EligibilityRequest) -> Iterator[RequestPatient]:
    """Yield the patients of a request, in document order."""
    for a, inquiry in enumerate(request.BenefitInquiries):
        for b, payer in enumerate(inquiry.Payers):
            payer_path = f"BenefitInquiries[{a}].Payers[{b}]"
            for c, payee in enumerate(payer.Payees):
                payee_path = f"{payer_path}.Payees[{c}]"
                for d, subscriber in enumerate(payee.Subscribers):
                    path = f"{payee_path}.Subscribers[{d}]"
                    around = (inquiry, payer, payee, subscriber)
                    paths = (payer_path, payee_path, path)
                    if is_patient(subscriber):
                        yield RequestPatient(*around, None, *paths, path)
                    for e, dependent in enumerate(subscriber.Dependents):
                        yield RequestPatient(*around, dependent, *paths, f"{path}.Dependents[{e}]")
