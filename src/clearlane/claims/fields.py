"""THE catalogue: every field of the medical and the dental claim, one line a field.

The attribute is the name on the wire, spelling mistakes included; the type says the kind; the line
says the label, the box of the paper form (CMS-1500 or ADA), the length X12 can carry, the list of a
coded field, and whether it is required. Decoding, checks, placements, the reference page, the OpenAPI
schema and the samples are derived from these lines and from nothing else.

Knows how a claim is written in JSON. Knows no rule, no X12 place and no code value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

import msgspec
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PlainValidator
from pydantic.fields import FieldInfo

from clearlane.claims.value_types import (
    Adjustments,
    Amount,
    AttachmentNumber,
    City,
    Coded,
    Count,
    Day,
    Diagnosis,
    DiagnosisList,
    FirstName,
    Flag,
    Form,
    Key,
    Kind,
    LastName,
    MemberId,
    MiddleName,
    Modifiers,
    Ndc,
    Note,
    Npi,
    Phone,
    Place,
    Pointer,
    PointerList,
    Procedure,
    Reference,
    Signature,
    State,
    Street,
    Suffix,
    TaxId,
    Taxonomy,
    ToothNumber,
    Zip,
)


class ClaimKind(StrEnum):
    """The two kinds of claim."""

    MEDICAL = "medical"
    DENTAL = "dental"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What a line of the catalogue says beside name and type."""

    label: str
    form: str = ""
    """The box of the CMS-1500 or the ADA form; empty for what only X12 knows."""
    max: int | None = None
    codes: str = ""
    """The list of a coded field (``codes.LISTS``)."""
    when: str = ""
    """For a field that is required only sometimes: when."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """A line of the catalogue, ready to be read by the tables that depend on it."""

    name: str
    label: str
    form: str
    kind: Kind
    min: int
    max: int | None
    codes: str
    required: bool
    when: str
    many: bool
    """Whether the field is an array."""
    also: tuple[str, ...]
    """Other spellings that are read as this field."""


def must(
    label: str, form: str = "", *, max: int | None = None, codes: str = "", **more: Any
) -> Any:
    """A field that every claim has."""
    return _line(Field(**more, title=label), Box(label=label, form=form, max=max, codes=codes))


def may(
    label: str,
    form: str = "",
    *,
    max: int | None = None,
    codes: str = "",
    when: str = "",
    **more: Any,
) -> Any:
    """A field that a claim may leave out; ``when`` tells in which case it may not."""
    box = Box(label=label, form=form, max=max, codes=codes, when=when)
    return _line(Field(default=None, **more, title=label), box)


def _line(info: FieldInfo, box: Box) -> FieldInfo:
    info.metadata.append(box)
    return info


def _forget(value: object) -> None:
    return None


def _describe(schema: dict[str, Any], part: type[BaseModel]) -> None:
    """Tell in the JSON schema what the catalogue knows of each field."""
    schema.pop("additionalProperties", None)
    known = rows(part) if issubclass(part, Fields) else {}
    for name, row in known.items():
        words = [
            f"Box {row.form} of the paper form." if row.form else "",
            f"At most {row.max} characters." if row.max else "",
            f"A value of the list `{row.codes}`." if row.codes else "",
            f"Required when {row.when}." if row.when else "",
        ]
        told = schema["properties"][name]
        told["description"] = " ".join(filter(None, (f"{row.label}.", *words)))
        if not row.required:
            # A blank counts as left out, so nothing shorter than one character is wrong.
            for choice in (*told.get("anyOf", ()), told):
                choice.pop("minLength", None)


class Fields(BaseModel):
    """What every part of a claim has in common: how it is read, and that it keeps its values to itself.

    Unknown fields are remembered by name only. Text is stripped; a blank one is refused here and
    counts as missing (``decode``). A decoded part keeps only what is filled: a field that is left out reads
    as None from the class, so a claim takes a third of the memory and its shape costs nothing to know.
    """

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="allow",
        str_strip_whitespace=True,
        str_min_length=1,
        hide_input_in_errors=True,
        json_schema_extra=_describe,
    )
    __pydantic_extra__: dict[str, Annotated[None, PlainValidator(_forget)]]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        for name, info in cls.model_fields.items():
            if not info.is_required():
                setattr(cls, name, None)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((None, name) for name, value in self.__dict__.items() if value is not None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(str(name) for _, name in self.__repr_args__())})"

    __str__ = __repr__


class MedicalLine(Fields):
    """An element of ``F24_ClaimLines``."""

    F24A_DateOfServiceFrom: Day = must("First day of service", "24A")
    F24A_DateOfServiceTo: Day | None = may("Last day of service", "24A")
    F24B_PlaceOfServiceCode: Place = must("Place of service", "24B", codes="places_of_service")
    F24C_Emg: Flag | None = may("Emergency", "24C")
    F24D_HcpcsProcedureCode: Procedure = must("Procedure code (CPT or HCPCS)", "24D")
    F24D_Modifiers: Modifiers | None = may("Procedure modifiers", "24D")
    X12_Description: Note | None = may("Description of the service")
    F24E_DiagnosisPointers: tuple[Pointer | None, ...] = must(
        "Diagnosis pointers", "24E", min_length=1
    )
    F24F_Charges: Amount = must("Charge", "24F")
    F24G_DaysOrUnits: Count | None = may("Days, units or minutes", "24G")
    F24H_EarlyPeriodicScreeningDiagnosisAndTreatment: Flag | None = may("EPSDT", "24H")
    F24H_FamilyPlannning: Flag | None = may("Family planning", "24H")
    F24J_Shaded_RendProviderTaxonomyCode: Taxonomy | None = may(
        "Rendering provider's taxonomy code", "24J"
    )
    F24J_Shaded_RendProviderStateLicenseNumber: Reference | None = may(
        "Rendering provider's state licence", "24J"
    )
    F24J_Shaded_RendProviderUpinNumber: Reference | None = may(
        "Rendering provider's UPIN", "24J", max=6
    )
    F24J_Shaded_RendProviderCommercialNumber: Reference | None = may(
        "Rendering provider's number with the payer", "24J"
    )
    F24J_Shaded_RendProviderLocationNumber: Reference | None = may(
        "Rendering provider's location number", "24J"
    )
    F24J_RenderingNpi: Npi | None = may("Rendering provider's NPI", "24J")
    X12_Anesthesia: Flag | None = may("Anaesthesia, counted in minutes")
    X12_ContractMonetaryAmount: Amount | None = may("Contract amount")
    X12_ContractTypeCode: Coded | None = may("Contract type", codes="contract_type")
    X12_AdjudicationOrPaymentDate: Day | None = may("Day the earlier payer decided the line")
    X12_LineContractualObligationAdjustments: Adjustments | None = may(
        "Earlier payer's contractual obligation adjustments of the line"
    )
    X12_LineCorrectionAndReversalAdjustments: Adjustments | None = may(
        "Earlier payer's correction and reversal adjustments of the line"
    )
    X12_LineOtherAdjustments: Adjustments | None = may(
        "Earlier payer's other adjustments of the line"
    )
    X12_LinePayorInitiatedReductions: Adjustments | None = may(
        "Earlier payer's own reductions of the line"
    )
    X12_LinePatientResponsibilityAdjustments: Adjustments | None = may(
        "Earlier payer's patient responsibility adjustments of the line"
    )
    X12_MeasurementId: Coded | None = may("Measurement reference", codes="measurement")
    X12_MeasurementQualifier: Coded | None = may("What was measured", codes="measurement_qualifier")
    X12_MeasurementValue: Count | None = may("Measured value")
    X12_NdcCode: Ndc | None = may("National drug code", "24")
    X12_NdcQuantity: Count | None = may("Drug quantity", "24")
    X12_DrugQuantityInternationalUnits: Count | None = may(
        "Drug quantity in international units", "24"
    )
    X12_DrugQuantityGrams: Count | None = may("Drug quantity in grams", "24")
    X12_DrugQuantityMilligrams: Count | None = may("Drug quantity in milligrams", "24")
    X12_DrugQuantityMilliliters: Count | None = may("Drug quantity in millilitres", "24")
    X12_DrugQuantityUnits: Count | None = may("Drug quantity in units", "24")
    X12_NdcPharmacyPrescriptionNumber: Reference | None = may("Prescription number")
    X12_NdcLinkSequenceNumber: Reference | None = may(
        "Number that links the parts of a compound drug"
    )
    X12_PrimaryPayerPaidAmount: Amount | None = may("Amount the earlier payer paid for the line")
    X12_ProviderControlNumber: Reference | None = may("Line item control number", max=30)
    F24_Shaded_LineNoteText: Note | None = may("Note of the line", "24")


class MedicalClaim(Fields):
    """An element of ``Claims`` in a document of type ``MedicalClaim``."""

    Svc_PayerId: Key = must("Payer id", max=80)
    Svc_VendorClaimId: Key = must("Caller's claim id")
    F00_PayerName: LastName = must("Payer's name")
    F00_PayerAddress1: Street | None = may("Payer's address")
    F00_PayerAddress2: Street | None = may("Payer's address, second line")
    F00_PayerCity: City | None = may("Payer's city")
    F00_PayerState: State | None = may("Payer's state")
    F00_PayerZip: Zip | None = may("Payer's ZIP code")
    F01_ClaimType: Coded | None = may("Type of coverage", "1", codes="claim_type")
    F01A_InsuredId: MemberId = must("Insured's member id", "1a")
    F02_PatientNameLast: LastName = must("Patient's last name", "2")
    F02_PatientNameFirst: FirstName = must("Patient's first name", "2")
    F02_PatientNameMiddle: MiddleName | None = may("Patient's middle name", "2")
    F02_PatientSuffix: Suffix | None = may("Patient's name suffix", "2")
    F03_PatientDob: Day = must("Patient's birth date", "3")
    F03_PatientSex: Coded = must("Patient's sex", "3", codes="sex")
    F04_InsuredNameLast: LastName = must("Insured's last name", "4")
    F04_InsuredNameFirst: FirstName = must("Insured's first name", "4")
    F04_InsuredNameMiddle: MiddleName | None = may("Insured's middle name", "4")
    F04_InsuredSuffix: Suffix | None = may("Insured's name suffix", "4")
    F05_PatientAddress1: Street | None = may("Patient's address", "5")
    F05_PatientAddress2: Street | None = may("Patient's address, second line", "5")
    F05_PatientCity: City = must("Patient's city", "5")
    F05_PatientState: State = must("Patient's state", "5")
    F05_PatientZip: Zip = must("Patient's ZIP code", "5")
    F05_PatientPhone: Phone | None = may("Patient's phone", "5")
    F06_PatientRelationshipToInsured: Coded = must(
        "Patient's relationship to the insured", "6", codes="relationship"
    )
    F07_InsuredAddress1: Street = must("Insured's address", "7")
    F07_InsuredAddress2: Street | None = may("Insured's address, second line", "7")
    F07_InsuredCity: City = must("Insured's city", "7")
    F07_InsuredState: State = must("Insured's state", "7")
    F07_InsuredZip: Zip = must("Insured's ZIP code", "7")
    F07_InsuredPhone: Phone | None = may("Insured's phone", "7")
    F09_OtherInsuredNameLast: LastName | None = may("Other insured's last name", "9")
    F09_OtherInsuredNameFirst: FirstName | None = may("Other insured's first name", "9")
    F09_OtherInsuredNameMiddle: MiddleName | None = may("Other insured's middle name", "9")
    F09_OtherInsuredSuffix: Suffix | None = may("Other insured's name suffix", "9")
    F09A_OtherInsuredGroupNum: MemberId | None = may(
        "Other insured's policy or group number", "9a", max=50
    )
    F09B_OtherInsuredDOB: Day | None = may("Other insured's birth date", "9b")
    F09B_OtherInsuredSex: Coded | None = may("Other insured's sex", "9b", codes="sex")
    F09C_OtherEmployerName: LastName | None = may("Other insured's employer", "9c")
    F09_PatientRelationshipToInsured: Coded | None = may(
        "Patient's relationship to the other insured", "9", codes="relationship"
    )
    F09D_OtherPlanName: LastName | None = may("Other plan's name", "9d")
    F10A_PatientCondEmployment: Flag | None = may("Condition related to employment", "10a")
    F10B_PatientCondAutoAccident: Flag | None = may("Condition related to an auto accident", "10b")
    F10C_PatientCondOtherAccident: Flag | None = may("Condition related to another accident", "10c")
    F10B_PatientCondAutoAccidentState: State | None = may("State of the auto accident", "10b")
    F11_InsuredsPolicyGroupOrFecaNumber: Reference | None = may("Policy group or FECA number", "11")
    F11A_InsuredDob: Day = must("Insured's birth date", "11a")
    F11A_InsuredSex: Coded = must("Insured's sex", "11a", codes="sex")
    F11C_PlanName: LastName | None = may("Plan's name", "11c")
    F11D_OtherPlan: Flag | None = may("There is another health plan", "11d")
    F12_PatientAuthorization: Coded = must("Release of information", "12", codes="release")
    F12_PatientAuthorizationDate: Day | None = may("Day of the release", "12")
    F13_InsuredAuthorization: Coded | None = may("Assignment of benefits", "13", codes="benefits")
    F14_DateOfCurrentIllnessOrSymptom: Day | None = may("Onset of the illness or symptom", "14")
    F14_LastMenstrualPeriodDate: Day | None = may("Last menstrual period", "14")
    F15_InitialTreatmentDate: Day | None = may("Initial treatment", "15")
    F15_LastSeenDate: Day | None = may("Last seen by a physician", "15")
    F15_AcuteManifestionDate: Day | None = may("Acute manifestation of a chronic condition", "15")
    F15_AccidentDate: Day | None = may("Accident", "15")
    F15_LastXRayDate: Day | None = may("Last X-ray", "15")
    F15_HearingAndVisionPrescriptionDate: Day | None = may("Hearing or vision prescription", "15")
    F15_AssumedCareStartDate: Day | None = may("Assumed care from", "15")
    F15_AssumedCareEndDate: Day | None = may("Assumed care until", "15")
    F15_PropertyCasualtyFirstContactDate: Day | None = may(
        "First contact (property and casualty)", "15"
    )
    F16_LastWorkedDate: Day | None = may("Last day worked", "16")
    F16_AuthorizedReturnToWorkDate: Day | None = may("Authorised return to work", "16")
    F18_HospitalizationDateFrom: Day | None = may("Hospital admission", "18")
    F18_HospitalizationDateTo: Day | None = may("Hospital discharge", "18")
    F17_ReferringProviderNameLast: LastName | None = may("Referring provider's last name", "17")
    F17_ReferringProviderNameFirst: FirstName | None = may("Referring provider's first name", "17")
    F17_ReferringProviderNameMiddle: MiddleName | None = may(
        "Referring provider's middle name", "17"
    )
    F17_ReferringProviderSuffix: Suffix | None = may("Referring provider's name suffix", "17")
    F17A_ReferringProviderIdNumber: Reference | None = may("Referring provider's other id", "17a")
    F17B_ReferringProviderNpi: Npi | None = may("Referring provider's NPI", "17b")
    F17_SupervisingProviderNameLast: LastName | None = may("Supervising provider's last name", "17")
    F17_SupervisingProviderNameFirst: FirstName | None = may(
        "Supervising provider's first name", "17"
    )
    F17_SupervisingProviderNameMiddle: MiddleName | None = may(
        "Supervising provider's middle name", "17"
    )
    F17_SupervisingProviderSuffix: Suffix | None = may("Supervising provider's name suffix", "17")
    F17A_SupervisingProviderIdNumber: Reference | None = may(
        "Supervising provider's other id", "17a"
    )
    F17B_SupervisingProviderNpi: Npi | None = may("Supervising provider's NPI", "17b")
    F17_OrderingProviderNameLast: LastName | None = may("Ordering provider's last name", "17")
    F17_OrderingProviderNameFirst: FirstName | None = may("Ordering provider's first name", "17")
    F17_OrderingProviderNameMiddle: MiddleName | None = may("Ordering provider's middle name", "17")
    F17_OrderingProviderSuffix: Suffix | None = may("Ordering provider's name suffix", "17")
    F17A_OrderingProviderIdNumber: Reference | None = may("Ordering provider's other id", "17a")
    F17B_OrderingProviderNpi: Npi | None = may("Ordering provider's NPI", "17b")
    F19_ClaimSupplementalInfoNoteText: Note | None = may("Note of the claim", "19")
    F21_IcdIndicator: Coded = must("ICD version", "21", codes="icd_version")
    F21_DiagnosisCodes: tuple[Diagnosis | None, ...] = must("Diagnosis codes", "21", min_length=1)
    F22_MedicaidResubmissionCode: Coded | None = may("Resubmission code", "22", codes="frequency")
    F22_OriginalReferenceNumber: Reference | None = may(
        "Payer's number of the original claim", "22"
    )
    F23_PriorAuthorizationNumber: Reference | None = may("Prior authorisation number", "23")
    F23_ReferralNumber: Reference | None = may("Referral number", "23")
    F23_ClinicalLaboratoryImprovementAmendmentNumber: Reference | None = may("CLIA number", "23")
    F23_MammographyCertificationNumber: Reference | None = may(
        "Mammography certification number", "23"
    )
    F24_ClaimLines: tuple[MedicalLine, ...] = must("Service lines", "24", min_length=1)
    F25_FederalTaxIdEin: TaxId | None = may(
        "Billing provider's EIN", "25", when="`F25_FederalTaxIdSsn` is not given"
    )
    F25_FederalTaxIdSsn: TaxId | None = may(
        "Billing provider's SSN", "25", when="`F25_FederalTaxIdEin` is not given"
    )
    F26_PatientAcctNumber: Reference | None = may("Patient's account number", "26", max=100)
    F27_AcceptAssignment: Coded | None = may("Accepts assignment", "27", codes="assignment")
    F28_TotalCharge: Amount = must("Total charge", "28")
    F29_PatientAmountPaid: Amount | None = may("Amount the patient paid", "29")
    F29_PayerAmountPaid: Amount | None = may("Amount another payer paid", "29")
    F31_PhysicianOrSupplierSignatureIsOnFile: Flag = must("Provider's signature is on file", "31")
    F32_FacilityName: LastName | None = may("Facility's name", "32")
    F32_FacilityAddress1: Street | None = may("Facility's address", "32")
    F32_FacilityAddress2: Street | None = may("Facility's address, second line", "32")
    F32_FacilityCity: City | None = may("Facility's city", "32")
    F32_FacilityState: State | None = may("Facility's state", "32")
    F32_FacilityZip: Zip | None = may("Facility's ZIP code", "32")
    F32A_FacilityNpi: Npi | None = may("Facility's NPI", "32a")
    F32B_FacilityIdStateLicenseNumber: Reference | None = may("Facility's state licence", "32b")
    F32B_FacilityIdProviderCommercialLicenseNumber: Reference | None = may(
        "Facility's number with the payer", "32b"
    )
    F32B_FacilityIdLocationNumber: Reference | None = may("Facility's location number", "32b")
    F33_BillingProviderNameLast: LastName = must(
        "Billing provider's last or organisation name", "33"
    )
    F33_BillingProviderNameFirst: FirstName | None = may("Billing provider's first name", "33")
    F33_BillingProviderNameMiddle: MiddleName | None = may("Billing provider's middle name", "33")
    F33_BillingProviderSuffix: Suffix | None = may("Billing provider's name suffix", "33")
    F33_BillingProviderAddress1: Street = must("Billing provider's address", "33")
    F33_BillingProviderAddress2: Street | None = may(
        "Billing provider's address, second line", "33"
    )
    F33_BillingProviderCity: City = must("Billing provider's city", "33")
    F33_BillingProviderState: State = must("Billing provider's state", "33")
    F33_BillingProviderZip: Zip | None = may("Billing provider's ZIP code", "33")
    F33_BillingProviderPhoneNumber: Phone | None = may("Billing provider's phone", "33")
    F33A_BillingProviderNpi: Npi | None = may("Billing provider's NPI", "33a")
    F33B_BillingProviderTaxonomyCode: Taxonomy | None = may(
        "Billing provider's taxonomy code", "33b"
    )
    F33B_BillingProviderSsn: TaxId | None = may("Billing provider's SSN", "33b")
    X12_PlaceOfServiceCode: Place | None = may(
        "Place of service of the claim", codes="places_of_service"
    )
    X12_RendProviderNameLast: LastName | None = may(
        "Rendering provider's last name",
        "31",
        when="another field of the rendering provider is given",
    )
    X12_RendProviderNameFirst: FirstName | None = may("Rendering provider's first name", "31")
    X12_RendProviderNameMiddle: MiddleName | None = may("Rendering provider's middle name", "31")
    X12_RendProviderSuffix: Suffix | None = may("Rendering provider's name suffix", "31")
    X12_RendProviderTaxonomyCode: Taxonomy | None = may("Rendering provider's taxonomy code", "24J")
    X12_RendProviderStateLicenseNumber: Reference | None = may(
        "Rendering provider's state licence", "24J"
    )
    X12_RendProviderUpinNumber: Reference | None = may("Rendering provider's UPIN", "24J", max=6)
    X12_RendProviderCommercialNumber: Reference | None = may(
        "Rendering provider's number with the payer", "24J"
    )
    X12_RendProviderLocationNumber: Reference | None = may(
        "Rendering provider's location number", "24J"
    )
    X12_RenderingNPI: Npi | None = may("Rendering provider's NPI", "24J")
    X12_AcuteManifestationCode: Coded | None = may(
        "Patient's condition (spinal manipulation)", codes="patient_condition"
    )
    X12_ClaimAdjudicationDate: Day | None = may("Day the earlier payer decided the claim")
    X12_ClaimPrimaryPayerPaidAmount: Amount | None = may(
        "Amount the earlier payer paid for the claim"
    )
    X12_ClaimContractualObligationAdjustments: Adjustments | None = may(
        "Earlier payer's contractual obligation adjustments of the claim"
    )
    X12_ClaimCorrectionAndReversalAdjustments: Adjustments | None = may(
        "Earlier payer's correction and reversal adjustments of the claim"
    )
    X12_ClaimOtherAdjustments: Adjustments | None = may(
        "Earlier payer's other adjustments of the claim"
    )
    X12_ClaimPayorInitiatedReductions: Adjustments | None = may(
        "Earlier payer's own reductions of the claim"
    )
    X12_ClaimPatientResponsibilityAdjustments: Adjustments | None = may(
        "Earlier payer's patient responsibility adjustments of the claim"
    )
    X12_MedicalRecordNumber: Reference | None = may("Medical record number")
    X12_SpectacleLenses: Coded | None = may("Why spectacle lenses are needed", codes="vision")
    X12_ContactLenses: Coded | None = may("Why contact lenses are needed", codes="vision")
    X12_SpectacleFrames: Coded | None = may("Why spectacle frames are needed", codes="vision")
    X12_DisabilityDateFrom: Day | None = may("Disability from")
    X12_DisabilityDateTo: Day | None = may("Disability until")
    X12_ClaimContractMonetaryAmount: Amount | None = may("Contract amount of the claim")
    X12_ClaimContractTypeCode: Coded | None = may(
        "Contract type of the claim", codes="contract_type"
    )
    X12_ClaimContractCode: Reference | None = may("Contract code of the claim")
    X12_DelayReasonCode: Coded | None = may("Reason of a late claim", codes="delay_reason")
    X12_OtherPayerName: LastName | None = may("Other payer's name", "9d")


class Tooth(Fields):
    """An element of ``Teeth``."""

    F27_Tooth: ToothNumber | None = may("Tooth", "27")
    F28_ToothSurface: tuple[Coded | None, ...] | None = may("Tooth surfaces", "28", codes="surface")


class Adjustment(Fields):
    """An element of ``Adjustments``."""

    X12_AdjustmentGroupCode: Coded | None = may("Adjustment group", codes="adjustment_group")
    X12_AdjustmentReasonCode: Reference | None = may("Adjustment reason", max=5)
    X12_AdjustmentAmount: Amount | None = may("Adjustment amount")


class DentalLine(Fields):
    """An element of ``LineItems``."""

    F24_DateOfServiceFrom: Day | None = may(
        "First day of service", "24", when="the claim is not a predetermination"
    )
    F24_DateOfServiceTo: Day | None = may("Last day of service", "24")
    F25_AreaOfOralCavity: tuple[Coded | None, ...] | None = may(
        "Areas of the oral cavity", "25", codes="oral_area"
    )
    F26_ToothSystem: Coded | None = may("Tooth system", "26", codes="tooth_system")
    Teeth: tuple[Tooth, ...] | None = may("Teeth", "27")
    F29_ProcedureCode: Procedure = must("Procedure code (CDT)", "29")
    F29a_DiagnosisPointer: PointerList | None = may("Diagnosis pointers", "29a")
    F29b_Quantity: Count | None = may("Quantity", "29b")
    F30_Description: Note | None = may("Description of the service", "30")
    F31_LineFee: Amount = must("Fee", "31")
    F31a_OtherFee: Amount | None = may("Other fee", "31a")
    X12_LineControlNumber: Reference | None = may("Line item control number", max=30)
    X12_LineTreatingDentistLastname: LastName | None = may("Treating dentist's last name", "53")
    X12_LineTreatingDentistFirstname: FirstName | None = may("Treating dentist's first name", "53")
    X12_LineTreatingDentistMI: MiddleName | None = may("Treating dentist's middle initial", "53")
    X12_LineTreatingDentistSuffix: Suffix | None = may("Treating dentist's name suffix", "53")
    X12_LineTreatingDentistNPI: Npi | None = may("Treating dentist's NPI", "54")
    X12_LineTreatingDentistSpecialtyCode: Taxonomy | None = may(
        "Treating dentist's taxonomy code", "56a"
    )
    X12_PrimaryPaidAmount: Amount | None = may("Amount the earlier payer paid for the line")
    X12_UnitsPaid: Count | None = may("Units the earlier payer paid")
    X12_AdjudicationDate: Day | None = may("Day the earlier payer decided the line")
    X12_PlaceOfServiceCode: Place | None = may(
        "Place of service of the line", codes="places_of_service"
    )
    Adjustments: tuple[Adjustment, ...] | None = may("Earlier payer's adjustments of the line")


class DentalClaim(Fields):
    """An element of ``Claims`` in a document of type ``DentalClaim``."""

    Svc_VendorClaimId: Key = must(
        "Caller's claim id", validation_alias=AliasChoices("Svc_VendorClaimId", "Svc_VendorClaimID")
    )
    Svc_PayerId: Key = must("Payer id", max=80)
    F01_TypeOfTransaction: Coded = must("Type of transaction", "1", codes="transaction_type")
    F02_PriorAuthNum: Reference | None = may("Predetermination or prior authorisation number", "2")
    F03_PayerName: LastName = must("Payer's name", "3")
    F03_PayerAddress1: Street | None = may("Payer's address", "3")
    F03_PayerAddress2: Street | None = may("Payer's address, second line", "3")
    F03_PayerCity: City | None = may("Payer's city", "3")
    F03_PayerState: State | None = may("Payer's state", "3")
    F03_PayerZip: Zip | None = may("Payer's ZIP code", "3")
    F04_OtherCoverage: Flag = must("There is other coverage", "4")
    F05_OtherInsuredLastName: LastName | None = may("Other insured's last name", "5")
    F05_OtherInsuredFirstName: FirstName | None = may("Other insured's first name", "5")
    F05_OtherInsuredMI: MiddleName | None = may("Other insured's middle initial", "5")
    F05_OtherInsuredSuffix: Suffix | None = may("Other insured's name suffix", "5")
    F06_OtherInsuredDOB: Day | None = may("Other insured's birth date", "6")
    F07_OtherInsuredSex: Coded | None = may("Other insured's sex", "7", codes="sex")
    F08_OtherInsuredPolicy: MemberId | None = may("Other insured's policy number", "8")
    F09_OtherInsuredGrpNumber: Reference | None = may("Other insured's group number", "9")
    F10_OtherPatientRelationship: Coded | None = may(
        "Patient's relationship to the other insured", "10", codes="relationship"
    )
    F11_OtherPayerName: LastName | None = may("Other payer's name", "11")
    F11_OtherPayerAddress: Street | None = may("Other payer's address", "11")
    F11_OtherPayerCity: City | None = may("Other payer's city", "11")
    F11_OtherPayerST: State | None = may("Other payer's state", "11")
    F11_OtherPayerZip: Zip | None = may("Other payer's ZIP code", "11")
    F12_InsuredLastName: LastName = must("Insured's last name", "12")
    F12_InsuredFirstName: FirstName = must("Insured's first name", "12")
    F12_InsuredMI: MiddleName | None = may("Insured's middle initial", "12")
    F12_InsuredSuffix: Suffix | None = may("Insured's name suffix", "12")
    F12_InsuredAddress: Street = must("Insured's address", "12")
    F12_InsuredCity: City = must("Insured's city", "12")
    F12_InsuredST: State = must("Insured's state", "12")
    F12_InsuredZip: Zip = must("Insured's ZIP code", "12")
    F13_InsuredDOB: Day = must("Insured's birth date", "13")
    F14_InsuredSex: Coded = must("Insured's sex", "14", codes="sex")
    F15_InsuredID: MemberId = must("Insured's member id", "15")
    F16_InsuredGroupNumber: Reference | None = may("Group number", "16")
    F17_InsuredEmployerName: LastName | None = may("Insured's employer", "17")
    F18_PatientRelationship: Coded = must(
        "Patient's relationship to the insured", "18", codes="relationship"
    )
    F20_PatientLastName: LastName | None = may("Patient's last name", "20", when="{dependent}")
    F20_PatientFirstName: FirstName | None = may("Patient's first name", "20", when="{dependent}")
    F20_PatientMI: MiddleName | None = may("Patient's middle initial", "20")
    F20_PatientSuffix: Suffix | None = may("Patient's name suffix", "20")
    F20_PatientAddress: Street | None = may("Patient's address", "20", when="{dependent}")
    F20_PatientCity: City | None = may("Patient's city", "20", when="{dependent}")
    F20_PatientST: State | None = may("Patient's state", "20", when="{dependent}")
    F20_PatientZip: Zip | None = may("Patient's ZIP code", "20", when="{dependent}")
    F20_PatientDOB: Day | None = may("Patient's birth date", "21", when="{dependent}")
    F22_PatientSex: Coded | None = may("Patient's sex", "22", codes="sex", when="{dependent}")
    F23_PatientID: Reference | None = may("Patient's account number", "23", max=100)
    F32_TotalFee: Amount = must("Total fee", "32")
    F33_MissingTeeth: tuple[ToothNumber | None, ...] | None = may("Missing teeth", "33")
    F34_DiagnosiseCodeQualifier: Coded | None = may("ICD version", "34", codes="icd_version")
    F34a_DiagnosisCode: DiagnosisList | None = may("Diagnosis codes", "34a")
    F35_Remarks: Note | None = may("Remarks", "35")
    F36_PatientSignature: Signature = must("Release of information, signed", "36")
    F36_PatientSignatureDate: Day | None = may("Day of the patient's signature", "36")
    F37_InsuredSignature: Signature | None = may("Assignment of benefits, signed", "37")
    F37_InsuredSignatureDate: Day | None = may("Day of the insured's signature", "37")
    F38_PlaceOfTreatment: Place = must("Place of treatment", "38", codes="places_of_service")
    F40_OrthoTreatment: Flag = must("Treatment is for orthodontics", "40")
    F41_DateAppliancePlaced: Day | None = may("Day the appliance was placed", "41")
    F42_MonthsTreatment: Count | None = may("Months of treatment", "42")
    F43_Prosthesis: Flag = must("Replacement of a prosthesis", "43")
    F44_ProsthesisDateOfPriorPlacement: Day | None = may("Day of the prior placement", "44")
    F45_TreatmentResultingFrom: Coded | None = may("Treatment results from", "45", codes="accident")
    F46_AccidentDate: Day | None = may("Accident", "46")
    F47_AutoAccidentState: State | None = may("State of the auto accident", "47")
    F48_BillingDentistLastName: LastName = must("Billing dentist's last or organisation name", "48")
    F48_BillingDentistFirstName: FirstName | None = may("Billing dentist's first name", "48")
    F48_BillingDentistMI: MiddleName | None = may("Billing dentist's middle initial", "48")
    F48_BillingDentistSuffix: Suffix | None = may("Billing dentist's name suffix", "48")
    F48_BillingDentistAddress: Street = must("Billing dentist's address", "48")
    F48_BillingDentistCity: City = must("Billing dentist's city", "48")
    F48_BillingDentistST: State = must("Billing dentist's state", "48")
    F48_BillingDentistZip: Zip = must("Billing dentist's ZIP code", "48")
    F48_BillingDentistNPI: Npi = must("Billing dentist's NPI", "49")
    F50_BillingDentistLicense: Reference | None = may("Billing dentist's licence", "50")
    F51_BillingDentistTaxID: TaxId = must("Billing dentist's tax id", "51")
    X12_TINorSSNQualifier: Coded = must(
        "Whether the tax id is an EIN or an SSN", "51", codes="tax_id"
    )
    F52_BillingDentistPhone: Phone | None = may("Billing dentist's phone", "52")
    F52a_BillingDentistID: Reference | None = may("Billing dentist's number with the payer", "52a")
    F53_TreatingDentistSignature: Signature = must("Treating dentist's signature", "53")
    F53_TreatingDentistSignatureDate: Day | None = may(
        "Day of the treating dentist's signature", "53"
    )
    X12_RenderingProvLastName: LastName | None = may("Treating dentist's last name", "53")
    X12_RenderingProvFirstName: FirstName | None = may("Treating dentist's first name", "53")
    X12_RenderingProvMI: MiddleName | None = may("Treating dentist's middle initial", "53")
    X12_RenderingProvSuffix: Suffix | None = may("Treating dentist's name suffix", "53")
    F53_TreatingDentistNPI: Npi | None = may("Treating dentist's NPI", "54")
    F55_TreatingDentistLicense: Reference | None = may("Treating dentist's licence", "55")
    F56a_DentistSpecialtyCode: Taxonomy | None = may("Treating dentist's taxonomy code", "56a")
    F58_TreatingDentistAddlID: Reference | None = may(
        "Treating dentist's number with the payer", "58"
    )
    X12_TreatmantLocationName: LastName | None = may("Treatment location's name", "56")
    F56_TreatmentAddress: Street | None = may("Treatment location's address", "56")
    F56_TreatmentCity: City | None = may("Treatment location's city", "56")
    F56_TreatmentST: State | None = may("Treatment location's state", "56")
    F56_TreatmentZip: Zip | None = may("Treatment location's ZIP code", "56")
    X12_TreatmantLocationNPI: Npi | None = may("Treatment location's NPI", "56")
    X12_Paytoaddress: Street | None = may("Pay-to address")
    X12_PaytoCity: City | None = may("Pay-to city")
    X12_PaytoST: State | None = may("Pay-to state")
    X12_PaytoZip: Zip | None = may("Pay-to ZIP code")
    X12_AttachmentReportType: Coded | None = may(
        "Kind of attachment", "39", codes="attachment_type"
    )
    X12_AttachmentControlNumber: AttachmentNumber | None = may("Attachment's control number", "39")
    X12_AttachmentTransmissionCode: Coded | None = may(
        "How the attachment is sent", "39", codes="attachment_transmission"
    )
    X12_PatientAmountPaid: Amount | None = may("Amount the patient paid")
    X12_PredeterminationID: Reference | None = may("Predetermination number")
    X12_ClaimFrequencyCode: Coded | None = may("Claim frequency", codes="frequency")
    X12_PayerControlNumber: Reference | None = may("Payer's number of the original claim")
    X12_SubscriberIdentificationCodeQualifier: Coded | None = may(
        "What the member id is", "15", codes="member_id"
    )
    X12_SubscriberEntityTypeQualifier: Coded = must(
        "Whether the insured is a person", "12", codes="entity"
    )
    X12_ServiceDate: Day | None = may(
        "Day of service of the claim", "24", when="the claim is not a predetermination"
    )
    LineItems: tuple[DentalLine, ...] = must("Service lines", "24", min_length=1)


class MedicalDocument(Fields):
    """The body of ``/api/v3/claims/submit``."""

    DocumentType: Literal["MedicalClaim"] = must("Type of the document")
    Claims: tuple[MedicalClaim, ...] = must("Claims", min_length=1)


class DentalDocument(Fields):
    """The body of ``/api/v3/claims/submitDental``."""

    DocumentType: Literal["DentalClaim"] = must("Type of the document")
    Claims: tuple[DentalClaim, ...] = must("Claims", min_length=1)


Claim = MedicalClaim | DentalClaim
Line = MedicalLine | DentalLine
Part = Claim | Line | Tooth | Adjustment


@dataclass(frozen=True, slots=True)
class Paper:
    """What the two kinds of claim do differently as documents."""

    document: type[MedicalDocument] | type[DentalDocument]
    document_type: str
    claim: type[MedicalClaim] | type[DentalClaim]
    line: type[MedicalLine] | type[DentalLine]
    lines: str
    """The claim's field that holds its lines."""
    form: str


PAPERS: Mapping[ClaimKind, Paper] = MappingProxyType(
    {
        ClaimKind.MEDICAL: Paper(
            MedicalDocument, "MedicalClaim", MedicalClaim, MedicalLine, "F24_ClaimLines", "CMS-1500"
        ),
        ClaimKind.DENTAL: Paper(
            DentalDocument, "DentalClaim", DentalClaim, DentalLine, "LineItems", "ADA"
        ),
    }
)
DEPENDENT = "`F18_PatientRelationship` is not `Self`"


def kind_of(claim: Claim) -> ClaimKind:
    """Which kind a claim is."""
    return ClaimKind.MEDICAL if isinstance(claim, MedicalClaim) else ClaimKind.DENTAL


def lines_of(claim: Claim) -> tuple[Line, ...]:
    """The lines of a claim."""
    return claim.F24_ClaimLines if isinstance(claim, MedicalClaim) else claim.LineItems


@cache
def rows(part: type[Fields]) -> Mapping[str, Row]:
    """The lines of one class of the catalogue, by name, in order."""
    return MappingProxyType({name: _row(name, info) for name, info in part.model_fields.items()})


@cache
def parts(part: type[Fields]) -> Mapping[str, type[Fields]]:
    """The fields of a class that hold objects, and the class of those objects."""
    found = ((name, _part(info.annotation)) for name, info in part.model_fields.items())
    return MappingProxyType({name: inner for name, inner in found if inner})


def filled(part: Fields) -> tuple[str, ...]:
    """The names of the fields that are filled, in the order of the catalogue: the part's shape.

    Claims of one caller have few shapes, so what is to be done for a shape is worked out once.
    """
    return tuple(part.__dict__)


def thin(part: Fields) -> bool:
    """Let a part that was just read, and the parts inside, keep only what is filled.

    True if some part has fields that the catalogue does not know.
    """
    given = {name: value for name, value in part.__dict__.items() if value is not None}
    object.__setattr__(part, "__dict__", given)
    strange = bool(part.__pydantic_extra__)
    for name in parts(type(part)):
        if name in given:
            for inner in given[name]:
                strange |= thin(inner)
    return strange


def encode(claim: Claim) -> bytes:
    """The claim as JSON with the catalogue's names and only what is filled, the same text every time.

    ``decode.restore`` reads it again. Amounts are strings; adjustments are arrays of reason, amount, quantity.
    """
    return msgspec.json.encode(claim.__dict__, enc_hook=_inside)


def _inside(part: Any) -> dict[str, Any]:
    inside: dict[str, Any] = part.__dict__
    return inside


def _part(annotation: Any) -> type[Fields] | None:
    if isinstance(annotation, type) and issubclass(annotation, Fields):
        return annotation
    return next((part for arg in get_args(annotation) if (part := _part(arg))), None)


def _form(annotation: Any) -> Form | None:
    if isinstance(annotation, Form):
        return annotation
    inside = (*get_args(annotation), *getattr(annotation, "__metadata__", ()))
    return next((form for item in inside if (form := _form(item))), None)


def _row(name: str, info: FieldInfo) -> Row:
    box = next(item for item in info.metadata if isinstance(item, Box))
    own = next((item for item in info.metadata if isinstance(item, Form)), None)
    form = own or _form(info.annotation) or Form(Kind.PARTS)
    alias = info.validation_alias
    spellings = [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else []
    return Row(
        name=name,
        label=box.label,
        form=box.form,
        kind=form.kind,
        min=form.min,
        max=box.max or form.max,
        codes=box.codes,
        required=info.is_required(),
        when=box.when.format(dependent=DEPENDENT),
        many="tuple" in str(info.annotation) and form.kind is not Kind.ADJUSTMENTS,
        also=tuple(spelling for spelling in spellings if spelling != name),
    )
