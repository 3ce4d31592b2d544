"""The JSON objects of the eligibility response, field for field as Vendor API V3 names and orders them.

Absent values are null. Values of a benefit without a field are in its ``AdditionalInformation``; the other levels have
no such field in V3, so that what they say beyond their fields is in the stored answer and in the 271 alone.

Knows names and types; knows no segment.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, UnsetType
from pydantic import WithJsonSchema

from clearlane.eligibility.json_struct import JsonStruct

JsonNumber = Annotated[Decimal, WithJsonSchema({"type": "number"})]
"""An amount, written as a JSON number with the digits of the file."""
DayText = Annotated[str, WithJsonSchema({"type": "string", "examples": ["2024-05-01T00:00:00"]})]
"""A day in the format of the response."""


def format_day_text(day: date) -> str:
    """Return a day in the format of the response."""
    return f"{day.isoformat()}T00:00:00"


def format_timestamp(time: datetime) -> str:
    """Return a time in the format of the response: ISO 8601, UTC."""
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z"


class ErrorJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``Errors`` and ``EnvelopeErrors``: an error as the payer gave it."""

    Code: str | None = None
    Message: str | None = None
    FollowUpAction: str | None = None
    Location: str | None = None


class AddressJson(JsonStruct, frozen=True, kw_only=True):
    """``PhysicalAddress``."""

    Address1: str | None = None
    Address2: str | None = None
    City: str | None = None
    State: str | None = None
    PostalCode: str | None = None
    Country: str | None = None


class ContactJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``Contacts``: one communication number of a person or department."""

    Name: str | None = None
    Type: str | None = None
    Number: str | None = None


class DateRangeJson(JsonStruct, frozen=True, kw_only=True):
    """Days from ``Start`` to ``End``."""

    Start: DayText | None = None
    End: DayText | None = None


class TraceJson(JsonStruct, frozen=True, kw_only=True):
    """A trace number."""

    OriginatorID: str | None = None
    OriginatorSecondaryID: str | None = None
    Number: str | None = None


class QuantityJson(JsonStruct, frozen=True, kw_only=True):
    """``BenefitQuantity``."""

    Unit: str | None = None
    Amount: JsonNumber | None = None


class ProcedureCodeJson(JsonStruct, frozen=True, kw_only=True):
    """``Procedure``."""

    Qualifier: str | None = None
    Code: str | None = None
    Modifiers: tuple[str, ...] = ()


class DeliveryScheduleJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``DeliverySchedules``: how often a service is covered (HSD)."""

    Quantity: JsonNumber | None = None
    Unit: str | None = None
    Period: str | None = None
    PeriodCount: JsonNumber | None = None
    Pattern: str | None = None


class InformationJson(JsonStruct, frozen=True, kw_only=True):
    """A condition of a benefit (III), or a value without a field.

    ``Qualifier`` names segment and qualifier of such a value (``REF:N6``); before them the role of the party that it
    is about (``P3/NM1:05``).
    """

    Qualifier: str | None = None
    Code: str | None = None
    Text: str | None = None


class MilitaryServiceJson(JsonStruct, frozen=True, kw_only=True):
    """``MilitaryService``: the elements of an MPI by name."""

    InformationStatus: str | None = None
    EmploymentStatus: str | None = None
    ServiceAffiliation: str | None = None
    Description: str | None = None
    Rank: str | None = None
    Start: DayText | None = None
    End: DayText | None = None


class BenefitEntityJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``BenefitEntities``: a party related to a benefit."""

    Type: str | None = None
    EntityType: str | None = None
    CommonName: str | None = None
    FirstName: str | None = None
    EmployersIdNumber: str | None = None
    SocialSecurityNumber: str | None = None
    ElectronicTransmitterIdNumber: str | None = None
    FacilityIdNumber: str | None = None
    TaxIdNumber: str | None = None
    StandardUniqueId: str | None = None
    MemberId: str | None = None
    NaicId: str | None = None
    PayerId: str | None = None
    PharmacyNumber: str | None = None
    ServiceProviderNumber: str | None = None
    CmsPlanId: str | None = None
    NationalProviderId: str | None = None
    PhysicalAddress: AddressJson | None = None
    Contacts: tuple[ContactJson, ...] | None = None


class BenefitJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``Benefits``."""

    Type: str | None = None
    TypesOfService: tuple[str, ...] = ()
    LevelOfCoverage: str | None = None
    PlaceOfService: str | None = None
    TypeOfInsurance: str | None = None
    PlanCoverageDescription: str | None = None
    BenefitTimePeriod: str | None = None
    BenefitAmount: JsonNumber | None = None
    PatientResponsibilityPercentage: JsonNumber | None = None
    BenefitQuantity: QuantityJson | None = None
    AuthenticationOrCertificationRequired: str | None = None
    PlanInNetwork: str | None = None
    ReferralNumber: str | None = None
    PriorAuthorizationNumber: str | None = None
    Procedure: ProcedureCodeJson | None = None
    DeliverySchedules: tuple[DeliveryScheduleJson, ...] | None = None
    PlanNumber: str | None = None
    GroupOrPolicyNumber: str | None = None
    MemberId: str | None = None
    MemberIdSuffix: str | None = None
    GroupNumber: str | None = None
    PolicyNumber: str | None = None
    AlternativeListId: str | None = None
    CoverageListId: str | None = None
    DrugFormularyNumber: str | None = None
    MedicaidAssistanceCategory: str | None = None
    MedicaidRecipientId: str | None = None
    HealthInsuranceClaimNumber: str | None = None
    PlanNetworkIdNumber: str | None = None
    PlanOrGroupName: str | None = None
    DischargeDate: DayText | None = None
    PeriodDates: DateRangeJson | None = None
    CompletionDate: DayText | None = None
    CobDate: DayText | None = None
    PlanDate: DayText | None = None
    BenefitDates: DateRangeJson | None = None
    PcpDate: DayText | None = None
    LatestVisitDate: DayText | None = None
    EligibilityDates: DateRangeJson | None = None
    DateAdded: DayText | None = None
    PlanBeginDate: DayText | None = None
    AdmissionDate: DayText | None = None
    ServiceDate: DayText | None = None
    LastUpdateDate: DayText | None = None
    StatusDate: DayText | None = None
    Errors: tuple[ErrorJson, ...] | None = None
    Messages: tuple[str, ...] | None = None
    AdditionalInformation: tuple[InformationJson, ...] | None = None
    BenefitEntities: tuple[BenefitEntityJson, ...] | None = None


class MemberJson(JsonStruct, frozen=True, kw_only=True):
    """The fields of subscribers and dependents, in the order of V3's document."""

    EntityType: str | None = None
    CaseNumber: str | None = None
    Dependents: "tuple[DependentJson, ...] | UnsetType | None" = UNSET
    ClearinghouseTraceNumber: TraceJson | None = None
    PayeeTraceNumber: TraceJson | None = None
    PayerTraceNumber: TraceJson | None = None
    IsInsured: bool | None = None
    CommonName: str | None = None
    FirstName: str | None = None
    MiddleName: str | None = None
    Suffix: str | None = None
    PhysicalAddress: AddressJson | None = None
    BirthDate: DayText | None = None
    Gender: str | None = None
    Benefits: tuple[BenefitJson, ...] = ()
    DischargeDate: DayText | None = None
    IssueDate: DayText | None = None
    EffectiveDateOfChange: DayText | None = None
    PlanDate: DayText | None = None
    EligibilityDate: DayText | None = None
    DateAdded: DayText | None = None
    EnrollmentDate: DayText | None = None
    AdmissionDate: DayText | None = None
    DeathDate: DayText | None = None
    CertificationDate: DayText | None = None
    ServiceDate: DayText | None = None
    DateOfLastUpdate: DayText | None = None
    StatusDate: DayText | None = None
    CobraDates: DateRangeJson | None = None
    PremiumPaidDates: DateRangeJson | None = None
    PlanDates: DateRangeJson | None = None
    EligibilityDates: DateRangeJson | None = None
    PolicyDates: DateRangeJson | None = None
    MemberId: str | None = None
    MemberIdSuffix: str | None = None
    OriginalPrimaryId: str | None = None
    PlanOrGroupName: str | None = None
    StandardUniqueId: str | None = None
    PlanNumber: str | None = None
    PatientAccountNumber: str | None = None
    GroupOrPolicyNumber: str | None = None
    GroupNumber: str | None = None
    PolicyNumber: str | None = None
    ClassOfContract: str | None = None
    ContractNumber: str | None = None
    MedicalRecordNumber: str | None = None
    HealthInsuranceClaimNumber: str | None = None
    IdCardSerialNumber: str | None = None
    IdentityCardNumber: str | None = None
    IssueNumber: str | None = None
    EligibilityCategory: str | None = None
    PlanNetworkIdNumber: str | None = None
    SocialSecurityNumber: str | None = None
    AgencyClaimNumber: str | None = None
    MedicaidRecipientId: str | None = None
    TaxonomyCode: str | None = None
    FamilyUnitNumber: str | None = None
    TaxonomyRole: str | None = None
    MultipleBirthSequenceNumber: str | None = None
    PrimaryInformationChanged: bool | None = None
    MilitaryService: MilitaryServiceJson | None = None
    Errors: tuple[ErrorJson, ...] | None = None


class DependentJson(MemberJson, frozen=True, kw_only=True):
    """An element of ``Dependents``: the fields of a subscriber but that one, and the relationship."""

    Dependents: UnsetType = UNSET
    Relationship: str | None = None


class SubscriberJson(MemberJson, frozen=True, kw_only=True):
    """An element of ``Subscribers``."""

    # A field that a subclass declares again keeps its place, which is the third in V3's document.
    Dependents: tuple[DependentJson, ...] | None = None


class PayeeJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``Payees``."""

    Type: str | None = None
    EntityType: str | None = None
    ProviderRole: str | None = None
    CommonName: str | None = None
    FirstName: str | None = None
    MiddleName: str | None = None
    Suffix: str | None = None
    NationalProviderId: str | None = None
    EmployersIdNumber: str | None = None
    TaxIdNumber: str | None = None
    CmsPlanId: str | None = None
    SocialSecurityNumber: str | None = None
    PharmacyNumber: str | None = None
    PayerId: str | None = None
    ServiceProviderNumber: str | None = None
    StateLicenseNumber: str | None = None
    StateIssuingLicense: str | None = None
    MedicareProviderNumber: str | None = None
    MedicaidProviderNumber: str | None = None
    PriorIdNumber: str | None = None
    PersonalIdNumber: str | None = None
    FacilityIdNumber: str | None = None
    FacilityNetworkIdNumber: str | None = None
    SubmitterIdNumber: str | None = None
    ContractNumber: str | None = None
    DevicePin: str | None = None
    ProviderPlanNetworkId: str | None = None
    UserId: str | None = None
    ReceivingProviderTaxonomyCode: str | None = None
    PhysicalAddress: AddressJson | None = None
    Errors: tuple[ErrorJson, ...] | None = None
    Subscribers: tuple[SubscriberJson, ...] = ()


class PayerJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``Payers``."""

    Type: str | None = None
    EntityType: str | None = None
    CommonName: str | None = None
    FirstName: str | None = None
    MiddleName: str | None = None
    Suffix: str | None = None
    PayerId: str | None = None
    CmsPlanId: str | None = None
    EmployersIdNumber: str | None = None
    NationalProviderId: str | None = None
    ElectronicTransmitterIdNumber: str | None = None
    NationalPayerIdNumber: str | None = None
    TaxIdNumber: str | None = None
    NaicId: str | None = None
    Payees: tuple[PayeeJson, ...] = ()
    Contacts: tuple[ContactJson, ...] | None = None
    Errors: tuple[ErrorJson, ...] | None = None


class BenefitResponseJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``Responses``: a payer's answer about one patient."""

    GroupControlNumber: str | None = None
    TradingPartnerId: str | None = None
    Payers: tuple[PayerJson, ...] = ()
    EnvelopeErrors: tuple[ErrorJson, ...] | None = None
    BenefitFormat: str = "DataModel"
    X12Document: str | None = None
    DocumentId: str | None = None
    CreateDate: str | None = None
    ResponseType: str = "BenefitResponse"


class ErrorResponseJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``ErrorResponses``: an inquiry that got no 271."""

    Type: Literal["TA1", "999", "Connection"]
    PayeeTraceNumber: TraceJson | None = None
    Errors: tuple[ErrorJson, ...] = ()
    X12Document: str | None = None


class InterchangeStatusJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``InterchangeStatuses``: a payer's response to an interchange as a whole."""

    InterchangeControlNumber: str | None = None
    Status: str | None = None
    Code: str | None = None
    Message: str | None = None


class ValidationResultJson(JsonStruct, frozen=True, kw_only=True):
    """An element of ``ValidationResults``: why a part of a request could not be sent."""

    Location: str
    Code: str
    Message: str


class EligibilityResponseJson(JsonStruct, frozen=True, kw_only=True):
    """The response to both eligibility calls."""

    RequestId: int
    Status: Literal["AllInvalid", "ResultsComplete", "ResultsIncomplete"]
    Responses: tuple[BenefitResponseJson, ...] = ()
    ValidationResults: tuple[ValidationResultJson, ...] = ()
    ErrorResponses: tuple[ErrorResponseJson, ...] = ()
    InterchangeStatuses: tuple[InterchangeStatusJson, ...] = ()
