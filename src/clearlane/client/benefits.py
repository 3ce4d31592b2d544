"""The shapes inside an eligibility request and an eligibility response.

Dictionaries with the document's names: a type checker knows the fields, a service may send more, and
absent values are null. Decided where the document is silent: the shape of a dependent and of an error.
"""

from decimal import Decimal
from typing import Any, TypedDict

Number = int | Decimal


class TraceNumber(TypedDict, total=False):
    """Matches a response to its patient."""

    Number: str | None
    OriginatorID: str | None
    OriginatorSecondaryID: str | None


class Range(TypedDict, total=False):
    """From a day to a day."""

    Start: str | None
    End: str | None


# --- asked ----------------------------------------------------------------------------------------


class RequestedBenefit(TypedDict, total=False):
    """Which benefits are asked about."""

    IsFamilyBenefit: bool
    Type: list[str]
    PlanDate: Range | None


class AskedPatient(TypedDict, total=False):
    """A subscriber (with ``MemberId`` and ``Dependents``) or a dependent (with ``Relationship``)."""

    CommonName: str
    FirstName: str
    BirthDate: str
    Gender: str
    MemberId: str
    Relationship: str
    PayeeTraceNumber: TraceNumber
    Dependents: "list[AskedPatient] | None"
    RequestedBenefits: list[RequestedBenefit]


class AskingPayee(TypedDict, total=False):
    """The provider who asks."""

    Type: str
    EntityType: str
    CommonName: str
    FirstName: str
    NationalProviderId: str
    Subscribers: list[AskedPatient]


class AskedPayer(TypedDict, total=False):
    """Who is asked."""

    Type: str
    PayerId: str
    CommonName: str
    EntityType: str
    Payees: list[AskingPayee]


class BenefitInquiry(TypedDict, total=False):
    """One inquiry."""

    RequestType: str
    Payers: list[AskedPayer]


class EligibilityRequest(TypedDict, total=False):
    """The whole request."""

    IsTest: bool
    BenefitInquiries: list[BenefitInquiry]


# --- answered -------------------------------------------------------------------------------------


class Fault(TypedDict, total=False):
    """What a payer says is wrong."""

    Code: str | None
    Message: str | None
    FollowUpAction: str | None
    Location: str | None


class Quantity(TypedDict, total=False):
    """How much of a benefit."""

    Unit: str
    Amount: Number


class Benefit(TypedDict, total=False):
    """One benefit. Besides these: identifiers, dates, procedure, delivery and entities."""

    Type: str
    TypesOfService: list[str]
    LevelOfCoverage: str | None
    PlaceOfService: str | None
    TypeOfInsurance: str | None
    PlanCoverageDescription: str | None
    BenefitTimePeriod: str | None
    BenefitAmount: Number | None
    PatientResponsibilityPercentage: Number | None
    BenefitQuantity: Quantity | None
    AuthenticationOrCertificationRequired: str | None
    PlanInNetwork: str | None
    PlanNumber: str | None
    GroupNumber: str | None
    PolicyNumber: str | None
    PlanOrGroupName: str | None
    Procedure: dict[str, Any] | None
    DeliverySchedules: list[dict[str, Any]] | None
    Errors: list[Fault] | None
    Messages: list[str] | None
    AdditionalInformation: list[dict[str, Any]] | None
    BenefitEntities: list[dict[str, Any]] | None


class Patient(TypedDict, total=False):
    """A subscriber or a dependent as the payer knows them. Besides these: further identifiers and dates."""

    EntityType: str | None
    Dependents: "list[Patient] | None"
    ClearinghouseTraceNumber: TraceNumber | None
    PayeeTraceNumber: TraceNumber | None
    PayerTraceNumber: TraceNumber | None
    IsInsured: bool
    CommonName: str | None
    FirstName: str | None
    MiddleName: str | None
    Suffix: str | None
    PhysicalAddress: dict[str, Any] | None
    BirthDate: str | None
    Gender: str | None
    Relationship: str | None
    Benefits: list[Benefit] | None
    PlanDate: str | None
    EligibilityDate: str | None
    PlanDates: Range | None
    EligibilityDates: Range | None
    MemberId: str | None
    PlanOrGroupName: str | None
    PlanNumber: str | None
    GroupNumber: str | None
    PolicyNumber: str | None
    PrimaryInformationChanged: bool
    MilitaryService: dict[str, Any] | None
    Errors: list[Fault] | None


class AnsweredPayee(TypedDict, total=False):
    """The provider as the payer knows them."""

    Type: str | None
    EntityType: str | None
    ProviderRole: str | None
    CommonName: str | None
    FirstName: str | None
    NationalProviderId: str | None
    TaxIdNumber: str | None
    Errors: list[Fault] | None
    Subscribers: list[Patient] | None


class AnsweringPayer(TypedDict, total=False):
    """Who answers."""

    Type: str | None
    EntityType: str | None
    CommonName: str | None
    PayerId: str | None
    NationalPayerIdNumber: str | None
    TaxIdNumber: str | None
    Payees: list[AnsweredPayee] | None
    Contacts: list[dict[str, Any]] | None
    Errors: list[Fault] | None


class BenefitResponse(TypedDict, total=False):
    """One response of a payer."""

    GroupControlNumber: str | None
    TradingPartnerId: str | None
    Payers: list[AnsweringPayer] | None
    EnvelopeErrors: list[Fault] | None
    BenefitFormat: str | None
    X12Document: str | None
    DocumentId: str | None
    CreateDate: str | None
    ResponseType: str | None
