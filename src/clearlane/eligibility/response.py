"""The structures of the eligibility response, field for field as the interface names them.

Everything absent is null. What a 271 says and the interface has no field for stands in ``AdditionalInformation``; at
levels where the interface does not list that field, it is there only when there is something to say.

Knows names and types; knows no segment.
"""

from typing import Literal

from msgspec import UNSET, UnsetType

from clearlane.eligibility.wire_struct import Number, Shape, Stamp


class Trouble(Shape, frozen=True, kw_only=True):
    """An element of ``Errors`` and ``EnvelopeErrors``: a refusal as the payer gave it."""

    Code: str | None = None
    Message: str | None = None
    FollowUpAction: str | None = None
    Location: str | None = None


class Address(Shape, frozen=True, kw_only=True):
    """``PhysicalAddress``."""

    Address1: str | None = None
    Address2: str | None = None
    City: str | None = None
    State: str | None = None
    PostalCode: str | None = None
    Country: str | None = None


class Contact(Shape, frozen=True, kw_only=True):
    """An element of ``Contacts``: one way to reach somebody."""

    Name: str | None = None
    Type: str | None = None
    Number: str | None = None


class Range(Shape, frozen=True, kw_only=True):
    """Days from ``Start`` to ``End``."""

    Start: Stamp | None = None
    End: Stamp | None = None


class Trace(Shape, frozen=True, kw_only=True):
    """A trace number."""

    OriginatorID: str | None = None
    OriginatorSecondaryID: str | None = None
    Number: str | None = None


class Quantity(Shape, frozen=True, kw_only=True):
    """``BenefitQuantity``."""

    Unit: str | None = None
    Amount: Number | None = None


class ProcedureCode(Shape, frozen=True, kw_only=True):
    """``Procedure``."""

    Qualifier: str | None = None
    Code: str | None = None
    Modifiers: tuple[str, ...] = ()


class DeliverySchedule(Shape, frozen=True, kw_only=True):
    """An element of ``DeliverySchedules``: how often a service may be given."""

    Quantity: Number | None = None
    Unit: str | None = None
    Period: str | None = None
    PeriodCount: Number | None = None
    Pattern: str | None = None


class Information(Shape, frozen=True, kw_only=True):
    """A condition of a benefit (III), or what has no field of its own: ``Qualifier`` then names segment and qualifier."""

    Qualifier: str | None = None
    Code: str | None = None
    Text: str | None = None


class Military(Shape, frozen=True, kw_only=True):
    """``MilitaryService``: the elements of an MPI by name."""

    InformationStatus: str | None = None
    EmploymentStatus: str | None = None
    ServiceAffiliation: str | None = None
    Description: str | None = None
    Rank: str | None = None
    Start: Stamp | None = None
    End: Stamp | None = None


class BenefitEntity(Shape, frozen=True, kw_only=True):
    """An element of ``BenefitEntities``: a party related to a benefit."""

    Type: str | None = None
    EntityType: str | None = None
    CommonName: str | None = None
    FirstName: str | None = None
    MiddleName: str | None = None
    Suffix: str | None = None
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
    Relationship: str | None = None
    ProviderRole: str | None = None
    TaxonomyCode: str | None = None
    PhysicalAddress: Address | None = None
    Contacts: tuple[Contact, ...] | None = None
    AdditionalInformation: tuple[Information, ...] | UnsetType = UNSET


class Benefit(Shape, frozen=True, kw_only=True):
    """An element of ``Benefits``."""

    Type: str | None = None
    TypesOfService: tuple[str, ...] = ()
    LevelOfCoverage: str | None = None
    PlaceOfService: str | None = None
    TypeOfInsurance: str | None = None
    PlanCoverageDescription: str | None = None
    BenefitTimePeriod: str | None = None
    BenefitAmount: Number | None = None
    PatientResponsibilityPercentage: Number | None = None
    BenefitQuantity: Quantity | None = None
    AuthenticationOrCertificationRequired: str | None = None
    PlanInNetwork: str | None = None
    ReferralNumber: str | None = None
    PriorAuthorizationNumber: str | None = None
    Procedure: ProcedureCode | None = None
    DeliverySchedules: tuple[DeliverySchedule, ...] | None = None
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
    DischargeDate: Stamp | None = None
    PeriodDates: Range | None = None
    CompletionDate: Stamp | None = None
    CobDate: Stamp | None = None
    PlanDate: Stamp | None = None
    BenefitDates: Range | None = None
    PcpDate: Stamp | None = None
    LatestVisitDate: Stamp | None = None
    EligibilityDates: Range | None = None
    DateAdded: Stamp | None = None
    PlanBeginDate: Stamp | None = None
    AdmissionDate: Stamp | None = None
    ServiceDate: Stamp | None = None
    LastUpdateDate: Stamp | None = None
    StatusDate: Stamp | None = None
    Errors: tuple[Trouble, ...] | None = None
    Messages: tuple[str, ...] | None = None
    AdditionalInformation: tuple[Information, ...] | None = None
    BenefitEntities: tuple[BenefitEntity, ...] | None = None


class Member(Shape, frozen=True, kw_only=True):
    """What subscribers and dependents are both told with."""

    EntityType: str | None = None
    CaseNumber: str | None = None
    ClearinghouseTraceNumber: Trace | None = None
    PayeeTraceNumber: Trace | None = None
    PayerTraceNumber: Trace | None = None
    IsInsured: bool | None = None
    CommonName: str | None = None
    FirstName: str | None = None
    MiddleName: str | None = None
    Suffix: str | None = None
    PhysicalAddress: Address | None = None
    BirthDate: Stamp | None = None
    Gender: str | None = None
    Benefits: tuple[Benefit, ...] = ()
    DischargeDate: Stamp | None = None
    IssueDate: Stamp | None = None
    EffectiveDateOfChange: Stamp | None = None
    PlanDate: Stamp | None = None
    EligibilityDate: Stamp | None = None
    DateAdded: Stamp | None = None
    EnrollmentDate: Stamp | None = None
    AdmissionDate: Stamp | None = None
    DeathDate: Stamp | None = None
    CertificationDate: Stamp | None = None
    ServiceDate: Stamp | None = None
    DateOfLastUpdate: Stamp | None = None
    StatusDate: Stamp | None = None
    CobraDates: Range | None = None
    PremiumPaidDates: Range | None = None
    PlanDates: Range | None = None
    EligibilityDates: Range | None = None
    PolicyDates: Range | None = None
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
    MilitaryService: Military | None = None
    Errors: tuple[Trouble, ...] | None = None
    AdditionalInformation: tuple[Information, ...] | UnsetType = UNSET


class Dependent(Member, frozen=True, kw_only=True):
    """An element of ``Dependents``."""

    Relationship: str | None = None


class Subscriber(Member, frozen=True, kw_only=True):
    """An element of ``Subscribers``."""

    Dependents: tuple[Dependent, ...] | None = None


class Payee(Shape, frozen=True, kw_only=True):
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
    PhysicalAddress: Address | None = None
    Errors: tuple[Trouble, ...] | None = None
    Subscribers: tuple[Subscriber, ...] = ()
    AdditionalInformation: tuple[Information, ...] | UnsetType = UNSET


class Payer(Shape, frozen=True, kw_only=True):
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
    Payees: tuple[Payee, ...] = ()
    Contacts: tuple[Contact, ...] | None = None
    Errors: tuple[Trouble, ...] | None = None
    AdditionalInformation: tuple[Information, ...] | UnsetType = UNSET


class BenefitResponse(Shape, frozen=True, kw_only=True):
    """An element of ``Responses``: what a payer said of one patient."""

    GroupControlNumber: str | None = None
    TradingPartnerId: str | None = None
    Payers: tuple[Payer, ...] = ()
    EnvelopeErrors: tuple[Trouble, ...] | None = None
    BenefitFormat: str = "DataModel"
    X12Document: str | None = None
    DocumentId: str | None = None
    CreateDate: str | None = None
    ResponseType: str = "BenefitResponse"
    AdditionalInformation: tuple[Information, ...] | UnsetType = UNSET


class ErrorResponse(Shape, frozen=True, kw_only=True):
    """An element of ``ErrorResponses``: a patient's inquiry that got no 271."""

    Type: Literal["TA1", "999", "Connection"]
    PayeeTraceNumber: Trace | None = None
    Errors: tuple[Trouble, ...] = ()
    X12Document: str | None = None


class InterchangeStatus(Shape, frozen=True, kw_only=True):
    """An element of ``InterchangeStatuses``: what a payer said of an interchange as a whole."""

    InterchangeControlNumber: str | None = None
    Status: str | None = None
    Code: str | None = None
    Message: str | None = None
