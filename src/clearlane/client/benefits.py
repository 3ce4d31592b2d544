"""The types inside an eligibility response; those of a request are in ``input_types``.

Typed dictionaries with the field names of V3: a service may send more fields, and absent values are null.
V3 does not define the shape of a dependent and of an error; these are our choice.
"""

from decimal import Decimal
from typing import Any, TypedDict

Number = int | Decimal


class TraceNumber(TypedDict, total=False):
    """Matches a response to its patient."""

    Number: str | None
    OriginatorID: str | None
    OriginatorSecondaryID: str | None


class DateRange(TypedDict, total=False):
    """A range of dates."""

    Start: str | None
    End: str | None


class PayerError(TypedDict, total=False):
    """An error that a payer reports."""

    Code: str | None
    Message: str | None
    FollowUpAction: str | None
    Location: str | None


class Quantity(TypedDict, total=False):
    """The quantity of a benefit."""

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
    Errors: list[PayerError] | None
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
    PlanDates: DateRange | None
    EligibilityDates: DateRange | None
    MemberId: str | None
    PlanOrGroupName: str | None
    PlanNumber: str | None
    GroupNumber: str | None
    PolicyNumber: str | None
    PrimaryInformationChanged: bool
    MilitaryService: dict[str, Any] | None
    Errors: list[PayerError] | None


class ResponsePayee(TypedDict, total=False):
    """The provider as the payer knows them."""

    Type: str | None
    EntityType: str | None
    ProviderRole: str | None
    CommonName: str | None
    FirstName: str | None
    NationalProviderId: str | None
    TaxIdNumber: str | None
    Errors: list[PayerError] | None
    Subscribers: list[Patient] | None


class ResponsePayer(TypedDict, total=False):
    """The payer that responds."""

    Type: str | None
    EntityType: str | None
    CommonName: str | None
    PayerId: str | None
    NationalPayerIdNumber: str | None
    TaxIdNumber: str | None
    Payees: list[ResponsePayee] | None
    Contacts: list[dict[str, Any]] | None
    Errors: list[PayerError] | None


class BenefitResponse(TypedDict, total=False):
    """One response of a payer."""

    GroupControlNumber: str | None
    TradingPartnerId: str | None
    Payers: list[ResponsePayer] | None
    EnvelopeErrors: list[PayerError] | None
    BenefitFormat: str | None
    X12Document: str | None
    DocumentId: str | None
    CreateDate: str | None
    ResponseType: str | None
