"""The types of claims, inquiries and enrollments as they are sent, with the field names of V3.

An editor completes the names, a type checker finds a wrong one and a missing one; at run time each is a plain
dictionary. Written by ``make docs`` from the catalogues of fields; do not edit.
"""

from datetime import date
from decimal import Decimal
from typing import Literal, Required, TypeAlias, TypedDict

Amount: TypeAlias = Decimal | int | float | str
"""Money; a ``Decimal`` is written with every digit."""
Count: TypeAlias = int | str
Day: TypeAlias = date | str
"""A date, or its text ``yyyy-mm-dd``."""


class MedicalLine(TypedDict, total=False):
    """An element of ``F24_ClaimLines``."""

    F24A_DateOfServiceFrom: Required[Day]
    """First day of service, CMS-1500 box 24A."""
    F24A_DateOfServiceTo: Day | None
    """Last day of service, CMS-1500 box 24A."""
    F24B_PlaceOfServiceCode: Required[str]
    """Place of service, CMS-1500 box 24B."""
    F24C_Emg: bool | None
    """Emergency, CMS-1500 box 24C."""
    F24D_HcpcsProcedureCode: Required[str]
    """Procedure code (CPT or HCPCS), CMS-1500 box 24D."""
    F24D_Modifiers: str | None
    """Procedure modifiers, CMS-1500 box 24D."""
    X12_Description: str | None
    """Description of the service."""
    F24E_DiagnosisPointers: Required[list[str]]
    """Diagnosis pointers, CMS-1500 box 24E."""
    F24F_Charges: Required[Amount]
    """Charge, CMS-1500 box 24F."""
    F24G_DaysOrUnits: Count | None
    """Days, units or minutes, CMS-1500 box 24G."""
    F24H_EarlyPeriodicScreeningDiagnosisAndTreatment: bool | None
    """EPSDT, CMS-1500 box 24H."""
    F24H_FamilyPlannning: bool | None
    """Family planning, CMS-1500 box 24H."""
    F24J_Shaded_RendProviderTaxonomyCode: str | None
    """Rendering provider's taxonomy code, CMS-1500 box 24J."""
    F24J_Shaded_RendProviderStateLicenseNumber: str | None
    """Rendering provider's state license, CMS-1500 box 24J."""
    F24J_Shaded_RendProviderUpinNumber: str | None
    """Rendering provider's UPIN, CMS-1500 box 24J."""
    F24J_Shaded_RendProviderCommercialNumber: str | None
    """Rendering provider's number with the payer, CMS-1500 box 24J."""
    F24J_Shaded_RendProviderLocationNumber: str | None
    """Rendering provider's location number, CMS-1500 box 24J."""
    F24J_RenderingNpi: str | None
    """Rendering provider's NPI, CMS-1500 box 24J."""
    X12_Anesthesia: bool | None
    """Anesthesia, counted in minutes."""
    X12_ContractMonetaryAmount: Amount | None
    """Contract amount."""
    X12_ContractTypeCode: str | None
    """Contract type."""
    X12_AdjudicationOrPaymentDate: Day | None
    """Day the earlier payer decided the line."""
    X12_LineContractualObligationAdjustments: Amount | None
    """Earlier payer's contractual obligation adjustments of the line."""
    X12_LineCorrectionAndReversalAdjustments: Amount | None
    """Earlier payer's correction and reversal adjustments of the line."""
    X12_LineOtherAdjustments: Amount | None
    """Earlier payer's other adjustments of the line."""
    X12_LinePayorInitiatedReductions: Amount | None
    """Earlier payer's own reductions of the line."""
    X12_LinePatientResponsibilityAdjustments: Amount | None
    """Earlier payer's patient responsibility adjustments of the line."""
    X12_MeasurementId: str | None
    """Measurement reference."""
    X12_MeasurementQualifier: str | None
    """What was measured."""
    X12_MeasurementValue: Count | None
    """Measured value."""
    X12_NdcCode: str | None
    """National drug code, CMS-1500 box 24."""
    X12_NdcQuantity: Count | None
    """Drug quantity, CMS-1500 box 24."""
    X12_DrugQuantityInternationalUnits: Count | None
    """Drug quantity in international units, CMS-1500 box 24."""
    X12_DrugQuantityGrams: Count | None
    """Drug quantity in grams, CMS-1500 box 24."""
    X12_DrugQuantityMilligrams: Count | None
    """Drug quantity in milligrams, CMS-1500 box 24."""
    X12_DrugQuantityMilliliters: Count | None
    """Drug quantity in milliliters, CMS-1500 box 24."""
    X12_DrugQuantityUnits: Count | None
    """Drug quantity in units, CMS-1500 box 24."""
    X12_NdcPharmacyPrescriptionNumber: str | None
    """Prescription number."""
    X12_NdcLinkSequenceNumber: str | None
    """Number that links the parts of a compound drug."""
    X12_PrimaryPayerPaidAmount: Amount | None
    """Amount the earlier payer paid for the line."""
    X12_LineRemainingPatientLiability: Amount | None
    """Amount that the patient still owes for the line after the earlier payer's decision. Clearlane's own field, beside the interface's."""
    X12_ProviderControlNumber: str | None
    """Line item control number."""
    F24_Shaded_LineNoteText: str | None
    """Note of the line, CMS-1500 box 24."""


class MedicalClaim(TypedDict, total=False):
    """An element of ``Claims`` in a document of type ``MedicalClaim``."""

    Svc_PayerId: Required[str]
    """Payer id."""
    Svc_VendorClaimId: Required[str]
    """Caller's claim id."""
    F00_PayerName: Required[str]
    """Payer's name."""
    F00_PayerAddress1: str | None
    """Payer's address."""
    F00_PayerAddress2: str | None
    """Payer's address, second line."""
    F00_PayerCity: str | None
    """Payer's city."""
    F00_PayerState: str | None
    """Payer's state."""
    F00_PayerZip: str | None
    """Payer's ZIP code."""
    F01_ClaimType: str | None
    """Type of coverage, CMS-1500 box 1."""
    F01A_InsuredId: Required[str]
    """Insured's member id, CMS-1500 box 1a."""
    F02_PatientNameLast: Required[str]
    """Patient's last name, CMS-1500 box 2."""
    F02_PatientNameFirst: Required[str]
    """Patient's first name, CMS-1500 box 2."""
    F02_PatientNameMiddle: str | None
    """Patient's middle name, CMS-1500 box 2."""
    F02_PatientSuffix: str | None
    """Patient's name suffix, CMS-1500 box 2."""
    F03_PatientDob: Required[Day]
    """Patient's birth date, CMS-1500 box 3."""
    F03_PatientSex: Required[str]
    """Patient's sex, CMS-1500 box 3."""
    F04_InsuredNameLast: Required[str]
    """Insured's last name, CMS-1500 box 4."""
    F04_InsuredNameFirst: Required[str]
    """Insured's first name, CMS-1500 box 4."""
    F04_InsuredNameMiddle: str | None
    """Insured's middle name, CMS-1500 box 4."""
    F04_InsuredSuffix: str | None
    """Insured's name suffix, CMS-1500 box 4."""
    F05_PatientAddress1: str | None
    """Patient's address, CMS-1500 box 5."""
    F05_PatientAddress2: str | None
    """Patient's address, second line, CMS-1500 box 5."""
    F05_PatientCity: Required[str]
    """Patient's city, CMS-1500 box 5."""
    F05_PatientState: Required[str]
    """Patient's state, CMS-1500 box 5."""
    F05_PatientZip: Required[str]
    """Patient's ZIP code, CMS-1500 box 5."""
    F05_PatientPhone: str | None
    """Patient's phone, CMS-1500 box 5."""
    F06_PatientRelationshipToInsured: Required[str]
    """Patient's relationship to the insured, CMS-1500 box 6."""
    F07_InsuredAddress1: Required[str]
    """Insured's address, CMS-1500 box 7."""
    F07_InsuredAddress2: str | None
    """Insured's address, second line, CMS-1500 box 7."""
    F07_InsuredCity: Required[str]
    """Insured's city, CMS-1500 box 7."""
    F07_InsuredState: Required[str]
    """Insured's state, CMS-1500 box 7."""
    F07_InsuredZip: Required[str]
    """Insured's ZIP code, CMS-1500 box 7."""
    F07_InsuredPhone: str | None
    """Insured's phone, CMS-1500 box 7."""
    F09_OtherInsuredNameLast: str | None
    """Other insured's last name, CMS-1500 box 9."""
    F09_OtherInsuredNameFirst: str | None
    """Other insured's first name, CMS-1500 box 9."""
    F09_OtherInsuredNameMiddle: str | None
    """Other insured's middle name, CMS-1500 box 9."""
    F09_OtherInsuredSuffix: str | None
    """Other insured's name suffix, CMS-1500 box 9."""
    F09A_OtherInsuredGroupNum: str | None
    """Other insured's policy or group number, CMS-1500 box 9a."""
    F09B_OtherInsuredDOB: Day | None
    """Other insured's birth date, CMS-1500 box 9b."""
    F09B_OtherInsuredSex: str | None
    """Other insured's sex, CMS-1500 box 9b."""
    F09C_OtherEmployerName: str | None
    """Other insured's employer, CMS-1500 box 9c."""
    F09_PatientRelationshipToInsured: str | None
    """Patient's relationship to the other insured, CMS-1500 box 9."""
    F09D_OtherPlanName: str | None
    """Other plan's name, CMS-1500 box 9d."""
    F10A_PatientCondEmployment: bool | None
    """Condition related to employment, CMS-1500 box 10a."""
    F10B_PatientCondAutoAccident: bool | None
    """Condition related to an auto accident, CMS-1500 box 10b."""
    F10C_PatientCondOtherAccident: bool | None
    """Condition related to another accident, CMS-1500 box 10c."""
    F10B_PatientCondAutoAccidentState: str | None
    """State of the auto accident, CMS-1500 box 10b."""
    F11_InsuredsPolicyGroupOrFecaNumber: str | None
    """Policy group or FECA number, CMS-1500 box 11."""
    F11A_InsuredDob: Required[Day]
    """Insured's birth date, CMS-1500 box 11a."""
    F11A_InsuredSex: Required[str]
    """Insured's sex, CMS-1500 box 11a."""
    F11C_PlanName: str | None
    """Plan's name, CMS-1500 box 11c."""
    F11D_OtherPlan: bool | None
    """There is another health plan, CMS-1500 box 11d."""
    F12_PatientAuthorization: Required[str]
    """Release of information, CMS-1500 box 12."""
    F12_PatientAuthorizationDate: Day | None
    """Day of the release, CMS-1500 box 12."""
    F13_InsuredAuthorization: str | None
    """Assignment of benefits, CMS-1500 box 13."""
    F14_DateOfCurrentIllnessOrSymptom: Day | None
    """Onset of the illness or symptom, CMS-1500 box 14."""
    F14_LastMenstrualPeriodDate: Day | None
    """Last menstrual period, CMS-1500 box 14."""
    F15_InitialTreatmentDate: Day | None
    """Initial treatment, CMS-1500 box 15."""
    F15_LastSeenDate: Day | None
    """Last seen by a physician, CMS-1500 box 15."""
    F15_AcuteManifestionDate: Day | None
    """Acute manifestation of a chronic condition, CMS-1500 box 15."""
    F15_AccidentDate: Day | None
    """Accident, CMS-1500 box 15."""
    F15_LastXRayDate: Day | None
    """Last X-ray, CMS-1500 box 15."""
    F15_HearingAndVisionPrescriptionDate: Day | None
    """Hearing or vision prescription, CMS-1500 box 15."""
    F15_AssumedCareStartDate: Day | None
    """Assumed care from, CMS-1500 box 15."""
    F15_AssumedCareEndDate: Day | None
    """Assumed care until, CMS-1500 box 15."""
    F15_PropertyCasualtyFirstContactDate: Day | None
    """First contact (property and casualty), CMS-1500 box 15."""
    F16_LastWorkedDate: Day | None
    """Last day worked, CMS-1500 box 16."""
    F16_AuthorizedReturnToWorkDate: Day | None
    """Authorized return to work, CMS-1500 box 16."""
    F18_HospitalizationDateFrom: Day | None
    """Hospital admission, CMS-1500 box 18."""
    F18_HospitalizationDateTo: Day | None
    """Hospital discharge, CMS-1500 box 18."""
    F17_ReferringProviderNameLast: str | None
    """Referring provider's last name, CMS-1500 box 17."""
    F17_ReferringProviderNameFirst: str | None
    """Referring provider's first name, CMS-1500 box 17."""
    F17_ReferringProviderNameMiddle: str | None
    """Referring provider's middle name, CMS-1500 box 17."""
    F17_ReferringProviderSuffix: str | None
    """Referring provider's name suffix, CMS-1500 box 17."""
    F17A_ReferringProviderIdNumber: str | None
    """Referring provider's other id, CMS-1500 box 17a."""
    F17B_ReferringProviderNpi: str | None
    """Referring provider's NPI, CMS-1500 box 17b."""
    F17_SupervisingProviderNameLast: str | None
    """Supervising provider's last name, CMS-1500 box 17."""
    F17_SupervisingProviderNameFirst: str | None
    """Supervising provider's first name, CMS-1500 box 17."""
    F17_SupervisingProviderNameMiddle: str | None
    """Supervising provider's middle name, CMS-1500 box 17."""
    F17_SupervisingProviderSuffix: str | None
    """Supervising provider's name suffix, CMS-1500 box 17."""
    F17A_SupervisingProviderIdNumber: str | None
    """Supervising provider's other id, CMS-1500 box 17a."""
    F17B_SupervisingProviderNpi: str | None
    """Supervising provider's NPI, CMS-1500 box 17b."""
    F17_OrderingProviderNameLast: str | None
    """Ordering provider's last name, CMS-1500 box 17."""
    F17_OrderingProviderNameFirst: str | None
    """Ordering provider's first name, CMS-1500 box 17."""
    F17_OrderingProviderNameMiddle: str | None
    """Ordering provider's middle name, CMS-1500 box 17."""
    F17_OrderingProviderSuffix: str | None
    """Ordering provider's name suffix, CMS-1500 box 17."""
    F17A_OrderingProviderIdNumber: str | None
    """Ordering provider's other id, CMS-1500 box 17a."""
    F17B_OrderingProviderNpi: str | None
    """Ordering provider's NPI, CMS-1500 box 17b."""
    F19_ClaimSupplementalInfoNoteText: str | None
    """Note of the claim, CMS-1500 box 19."""
    F21_IcdIndicator: Required[str]
    """ICD version, CMS-1500 box 21."""
    F21_DiagnosisCodes: Required[list[str]]
    """Diagnosis codes, CMS-1500 box 21."""
    F22_MedicaidResubmissionCode: str | None
    """Resubmission code, CMS-1500 box 22."""
    F22_OriginalReferenceNumber: str | None
    """Payer's number of the original claim, CMS-1500 box 22."""
    F23_PriorAuthorizationNumber: str | None
    """Prior authorization number, CMS-1500 box 23."""
    F23_ReferralNumber: str | None
    """Referral number, CMS-1500 box 23."""
    F23_ClinicalLaboratoryImprovementAmendmentNumber: str | None
    """CLIA number, CMS-1500 box 23."""
    F23_MammographyCertificationNumber: str | None
    """Mammography certification number, CMS-1500 box 23."""
    F24_ClaimLines: Required[list[MedicalLine]]
    """Service lines, CMS-1500 box 24."""
    F25_FederalTaxIdEin: str | None
    """Billing provider's EIN, CMS-1500 box 25. Required when `F25_FederalTaxIdSsn` is not given."""
    F25_FederalTaxIdSsn: str | None
    """Billing provider's SSN, CMS-1500 box 25. Required when `F25_FederalTaxIdEin` is not given."""
    F26_PatientAcctNumber: str | None
    """Patient's account number, CMS-1500 box 26."""
    F27_AcceptAssignment: str | None
    """Accepts assignment, CMS-1500 box 27."""
    F28_TotalCharge: Required[Amount]
    """Total charge, CMS-1500 box 28."""
    F29_PatientAmountPaid: Amount | None
    """Amount the patient paid, CMS-1500 box 29."""
    F29_PayerAmountPaid: Amount | None
    """Amount another payer paid, CMS-1500 box 29."""
    F31_PhysicianOrSupplierSignatureIsOnFile: Required[bool]
    """Provider's signature is on file, CMS-1500 box 31."""
    F32_FacilityName: str | None
    """Facility's name, CMS-1500 box 32."""
    F32_FacilityAddress1: str | None
    """Facility's address, CMS-1500 box 32."""
    F32_FacilityAddress2: str | None
    """Facility's address, second line, CMS-1500 box 32."""
    F32_FacilityCity: str | None
    """Facility's city, CMS-1500 box 32."""
    F32_FacilityState: str | None
    """Facility's state, CMS-1500 box 32."""
    F32_FacilityZip: str | None
    """Facility's ZIP code, CMS-1500 box 32."""
    F32A_FacilityNpi: str | None
    """Facility's NPI, CMS-1500 box 32a."""
    F32B_FacilityIdStateLicenseNumber: str | None
    """Facility's state license, CMS-1500 box 32b."""
    F32B_FacilityIdProviderCommercialLicenseNumber: str | None
    """Facility's number with the payer, CMS-1500 box 32b."""
    F32B_FacilityIdLocationNumber: str | None
    """Facility's location number, CMS-1500 box 32b."""
    F33_BillingProviderNameLast: Required[str]
    """Billing provider's last or organization name, CMS-1500 box 33."""
    F33_BillingProviderNameFirst: str | None
    """Billing provider's first name, CMS-1500 box 33."""
    F33_BillingProviderNameMiddle: str | None
    """Billing provider's middle name, CMS-1500 box 33."""
    F33_BillingProviderSuffix: str | None
    """Billing provider's name suffix, CMS-1500 box 33."""
    F33_BillingProviderAddress1: Required[str]
    """Billing provider's address, CMS-1500 box 33."""
    F33_BillingProviderAddress2: str | None
    """Billing provider's address, second line, CMS-1500 box 33."""
    F33_BillingProviderCity: Required[str]
    """Billing provider's city, CMS-1500 box 33."""
    F33_BillingProviderState: Required[str]
    """Billing provider's state, CMS-1500 box 33."""
    F33_BillingProviderZip: str | None
    """Billing provider's ZIP code, CMS-1500 box 33."""
    F33_BillingProviderPhoneNumber: str | None
    """Billing provider's phone, CMS-1500 box 33."""
    F33A_BillingProviderNpi: str | None
    """Billing provider's NPI, CMS-1500 box 33a."""
    F33B_BillingProviderTaxonomyCode: str | None
    """Billing provider's taxonomy code, CMS-1500 box 33b."""
    F33B_BillingProviderSsn: str | None
    """Billing provider's SSN, CMS-1500 box 33b."""
    X12_PlaceOfServiceCode: str | None
    """Place of service of the claim."""
    X12_RendProviderNameLast: str | None
    """Rendering provider's last name, CMS-1500 box 31. Required when another field of the rendering provider is given."""
    X12_RendProviderNameFirst: str | None
    """Rendering provider's first name, CMS-1500 box 31."""
    X12_RendProviderNameMiddle: str | None
    """Rendering provider's middle name, CMS-1500 box 31."""
    X12_RendProviderSuffix: str | None
    """Rendering provider's name suffix, CMS-1500 box 31."""
    X12_RendProviderTaxonomyCode: str | None
    """Rendering provider's taxonomy code, CMS-1500 box 24J."""
    X12_RendProviderStateLicenseNumber: str | None
    """Rendering provider's state license, CMS-1500 box 24J."""
    X12_RendProviderUpinNumber: str | None
    """Rendering provider's UPIN, CMS-1500 box 24J."""
    X12_RendProviderCommercialNumber: str | None
    """Rendering provider's number with the payer, CMS-1500 box 24J."""
    X12_RendProviderLocationNumber: str | None
    """Rendering provider's location number, CMS-1500 box 24J."""
    X12_RenderingNPI: str | None
    """Rendering provider's NPI, CMS-1500 box 24J."""
    X12_AcuteManifestationCode: str | None
    """Patient's condition (spinal manipulation)."""
    X12_ClaimAdjudicationDate: Day | None
    """Day the earlier payer decided the claim."""
    X12_ClaimPrimaryPayerPaidAmount: Amount | None
    """Amount the earlier payer paid for the claim."""
    X12_ClaimContractualObligationAdjustments: Amount | None
    """Earlier payer's contractual obligation adjustments of the claim."""
    X12_ClaimCorrectionAndReversalAdjustments: Amount | None
    """Earlier payer's correction and reversal adjustments of the claim."""
    X12_ClaimOtherAdjustments: Amount | None
    """Earlier payer's other adjustments of the claim."""
    X12_ClaimPayorInitiatedReductions: Amount | None
    """Earlier payer's own reductions of the claim."""
    X12_ClaimPatientResponsibilityAdjustments: Amount | None
    """Earlier payer's patient responsibility adjustments of the claim."""
    X12_MedicalRecordNumber: str | None
    """Medical record number."""
    X12_SpectacleLenses: str | None
    """Why spectacle lenses are needed."""
    X12_ContactLenses: str | None
    """Why contact lenses are needed."""
    X12_SpectacleFrames: str | None
    """Why spectacle frames are needed."""
    X12_DisabilityDateFrom: Day | None
    """Disability from."""
    X12_DisabilityDateTo: Day | None
    """Disability until."""
    X12_ClaimContractMonetaryAmount: Amount | None
    """Contract amount of the claim."""
    X12_ClaimContractTypeCode: str | None
    """Contract type of the claim."""
    X12_ClaimContractCode: str | None
    """Contract code of the claim."""
    X12_DelayReasonCode: str | None
    """Reason of a late claim."""
    X12_OtherPayerName: str | None
    """Other payer's name, CMS-1500 box 9d."""
    X12_OtherPayerClaimType: str | None
    """Other payer's type of coverage. Clearlane's own field, beside the interface's."""
    X12_OtherInsuredId: str | None
    """Other insured's member id. Clearlane's own field, beside the interface's."""
    X12_MedicareSecondaryReason: str | None
    """Reason why Medicare pays after another payer. Required when Medicare pays after another payer. Clearlane's own field, beside the interface's."""
    X12_ClaimRemainingPatientLiability: Amount | None
    """Amount that the patient still owes for the claim after the earlier payer's decision. Clearlane's own field, beside the interface's."""


class MedicalDocument(TypedDict, total=False):
    """The body of ``/api/v3/claims/submit``."""

    DocumentType: Required[Literal["MedicalClaim"]]
    """Which claims they are."""
    Claims: Required[list[MedicalClaim]]
    """The claims."""


class Tooth(TypedDict, total=False):
    """An element of ``Teeth``."""

    F27_Tooth: str | None
    """Tooth, ADA box 27."""
    F28_ToothSurface: list[str] | None
    """Tooth surfaces, ADA box 28."""


class DentalAdjustment(TypedDict, total=False):
    """An element of ``Adjustments``."""

    X12_AdjustmentGroupCode: str | None
    """Adjustment group."""
    X12_AdjustmentReasonCode: str | None
    """Adjustment reason."""
    X12_AdjustmentAmount: Amount | None
    """Adjustment amount."""


class DentalLine(TypedDict, total=False):
    """An element of ``LineItems``."""

    F24_DateOfServiceFrom: Day | None
    """First day of service, ADA box 24. Required when the claim is not a predetermination."""
    F24_DateOfServiceTo: Day | None
    """Last day of service, ADA box 24."""
    F25_AreaOfOralCavity: list[str] | None
    """Areas of the oral cavity, ADA box 25."""
    F26_ToothSystem: str | None
    """Tooth system, ADA box 26."""
    Teeth: list[Tooth] | None
    """Teeth, ADA box 27."""
    F29_ProcedureCode: Required[str]
    """Procedure code (CDT), ADA box 29."""
    F29a_DiagnosisPointer: str | None
    """Diagnosis pointers, ADA box 29a."""
    F29b_Quantity: Count | None
    """Quantity, ADA box 29b."""
    F30_Description: str | None
    """Description of the service, ADA box 30."""
    F31_LineFee: Required[Amount]
    """Fee, ADA box 31."""
    F31a_OtherFee: Amount | None
    """Other fee, ADA box 31a."""
    X12_LineControlNumber: str | None
    """Line item control number."""
    X12_LineTreatingDentistLastname: str | None
    """Treating dentist's last name, ADA box 53."""
    X12_LineTreatingDentistFirstname: str | None
    """Treating dentist's first name, ADA box 53."""
    X12_LineTreatingDentistMI: str | None
    """Treating dentist's middle initial, ADA box 53."""
    X12_LineTreatingDentistSuffix: str | None
    """Treating dentist's name suffix, ADA box 53."""
    X12_LineTreatingDentistNPI: str | None
    """Treating dentist's NPI, ADA box 54."""
    X12_LineTreatingDentistSpecialtyCode: str | None
    """Treating dentist's taxonomy code, ADA box 56a."""
    X12_PrimaryPaidAmount: Amount | None
    """Amount the earlier payer paid for the line."""
    X12_UnitsPaid: Count | None
    """Units the earlier payer paid."""
    X12_LineRemainingPatientLiability: Amount | None
    """Amount that the patient still owes for the line after the earlier payer's decision. Clearlane's own field, beside the interface's."""
    X12_AdjudicationDate: Day | None
    """Day the earlier payer decided the line."""
    X12_PlaceOfServiceCode: str | None
    """Place of service of the line."""
    Adjustments: list[DentalAdjustment] | None
    """Earlier payer's adjustments of the line."""


class DentalClaim(TypedDict, total=False):
    """An element of ``Claims`` in a document of type ``DentalClaim``."""

    Svc_VendorClaimId: Required[str]
    """Caller's claim id."""
    Svc_PayerId: Required[str]
    """Payer id."""
    F01_TypeOfTransaction: Required[str]
    """Type of transaction, ADA box 1."""
    F02_PriorAuthNum: str | None
    """Predetermination or prior authorization number, ADA box 2."""
    F03_PayerName: Required[str]
    """Payer's name, ADA box 3."""
    F03_PayerAddress1: str | None
    """Payer's address, ADA box 3."""
    F03_PayerAddress2: str | None
    """Payer's address, second line, ADA box 3."""
    F03_PayerCity: str | None
    """Payer's city, ADA box 3."""
    F03_PayerState: str | None
    """Payer's state, ADA box 3."""
    F03_PayerZip: str | None
    """Payer's ZIP code, ADA box 3."""
    F04_OtherCoverage: Required[bool]
    """There is other coverage, ADA box 4."""
    F05_OtherInsuredLastName: str | None
    """Other insured's last name, ADA box 5."""
    F05_OtherInsuredFirstName: str | None
    """Other insured's first name, ADA box 5."""
    F05_OtherInsuredMI: str | None
    """Other insured's middle initial, ADA box 5."""
    F05_OtherInsuredSuffix: str | None
    """Other insured's name suffix, ADA box 5."""
    F06_OtherInsuredDOB: Day | None
    """Other insured's birth date, ADA box 6."""
    F07_OtherInsuredSex: str | None
    """Other insured's sex, ADA box 7."""
    F08_OtherInsuredPolicy: str | None
    """Other insured's policy number, ADA box 8."""
    F09_OtherInsuredGrpNumber: str | None
    """Other insured's group number, ADA box 9."""
    F10_OtherPatientRelationship: str | None
    """Patient's relationship to the other insured, ADA box 10."""
    F11_OtherPayerName: str | None
    """Other payer's name, ADA box 11."""
    F11_OtherPayerAddress: str | None
    """Other payer's address, ADA box 11."""
    F11_OtherPayerCity: str | None
    """Other payer's city, ADA box 11."""
    F11_OtherPayerST: str | None
    """Other payer's state, ADA box 11."""
    F11_OtherPayerZip: str | None
    """Other payer's ZIP code, ADA box 11."""
    F12_InsuredLastName: Required[str]
    """Insured's last name, ADA box 12."""
    F12_InsuredFirstName: Required[str]
    """Insured's first name, ADA box 12."""
    F12_InsuredMI: str | None
    """Insured's middle initial, ADA box 12."""
    F12_InsuredSuffix: str | None
    """Insured's name suffix, ADA box 12."""
    F12_InsuredAddress: Required[str]
    """Insured's address, ADA box 12."""
    F12_InsuredCity: Required[str]
    """Insured's city, ADA box 12."""
    F12_InsuredST: Required[str]
    """Insured's state, ADA box 12."""
    F12_InsuredZip: Required[str]
    """Insured's ZIP code, ADA box 12."""
    F13_InsuredDOB: Required[Day]
    """Insured's birth date, ADA box 13."""
    F14_InsuredSex: Required[str]
    """Insured's sex, ADA box 14."""
    F15_InsuredID: Required[str]
    """Insured's member id, ADA box 15."""
    F16_InsuredGroupNumber: str | None
    """Group number, ADA box 16."""
    F17_InsuredEmployerName: str | None
    """Insured's employer, ADA box 17."""
    F18_PatientRelationship: Required[str]
    """Patient's relationship to the insured, ADA box 18."""
    F20_PatientLastName: str | None
    """Patient's last name, ADA box 20. Required when `F18_PatientRelationship` is not `Self`."""
    F20_PatientFirstName: str | None
    """Patient's first name, ADA box 20. Required when `F18_PatientRelationship` is not `Self`."""
    F20_PatientMI: str | None
    """Patient's middle initial, ADA box 20."""
    F20_PatientSuffix: str | None
    """Patient's name suffix, ADA box 20."""
    F20_PatientAddress: str | None
    """Patient's address, ADA box 20. Required when `F18_PatientRelationship` is not `Self`."""
    F20_PatientCity: str | None
    """Patient's city, ADA box 20. Required when `F18_PatientRelationship` is not `Self`."""
    F20_PatientST: str | None
    """Patient's state, ADA box 20. Required when `F18_PatientRelationship` is not `Self`."""
    F20_PatientZip: str | None
    """Patient's ZIP code, ADA box 20. Required when `F18_PatientRelationship` is not `Self`."""
    F20_PatientDOB: Day | None
    """Patient's birth date, ADA box 21. Required when `F18_PatientRelationship` is not `Self`."""
    F22_PatientSex: str | None
    """Patient's sex, ADA box 22. Required when `F18_PatientRelationship` is not `Self`."""
    F23_PatientID: str | None
    """Patient's account number, ADA box 23."""
    F32_TotalFee: Required[Amount]
    """Total fee, ADA box 32."""
    F33_MissingTeeth: list[str] | None
    """Missing teeth, ADA box 33."""
    F34_DiagnosiseCodeQualifier: str | None
    """ICD version, ADA box 34."""
    F34a_DiagnosisCode: str | None
    """Diagnosis codes, ADA box 34a."""
    F35_Remarks: str | None
    """Remarks, ADA box 35."""
    F36_PatientSignature: Required[str]
    """Release of information, signed, ADA box 36."""
    F36_PatientSignatureDate: Day | None
    """Day of the patient's signature, ADA box 36."""
    F37_InsuredSignature: str | None
    """Assignment of benefits, signed, ADA box 37."""
    F37_InsuredSignatureDate: Day | None
    """Day of the insured's signature, ADA box 37."""
    F38_PlaceOfTreatment: Required[str]
    """Place of treatment, ADA box 38."""
    F40_OrthoTreatment: Required[bool]
    """Treatment is for orthodontics, ADA box 40."""
    F41_DateAppliancePlaced: Day | None
    """Day the appliance was placed, ADA box 41."""
    F42_MonthsTreatment: Count | None
    """Months of treatment, ADA box 42."""
    F43_Prosthesis: Required[bool]
    """Replacement of a prosthesis, ADA box 43."""
    F44_ProsthesisDateOfPriorPlacement: Day | None
    """Day of the prior placement, ADA box 44."""
    F45_TreatmentResultingFrom: str | None
    """Treatment results from, ADA box 45."""
    F46_AccidentDate: Day | None
    """Accident, ADA box 46."""
    F47_AutoAccidentState: str | None
    """State of the auto accident, ADA box 47."""
    F48_BillingDentistLastName: Required[str]
    """Billing dentist's last or organization name, ADA box 48."""
    F48_BillingDentistFirstName: str | None
    """Billing dentist's first name, ADA box 48."""
    F48_BillingDentistMI: str | None
    """Billing dentist's middle initial, ADA box 48."""
    F48_BillingDentistSuffix: str | None
    """Billing dentist's name suffix, ADA box 48."""
    F48_BillingDentistAddress: Required[str]
    """Billing dentist's address, ADA box 48."""
    F48_BillingDentistCity: Required[str]
    """Billing dentist's city, ADA box 48."""
    F48_BillingDentistST: Required[str]
    """Billing dentist's state, ADA box 48."""
    F48_BillingDentistZip: Required[str]
    """Billing dentist's ZIP code, ADA box 48."""
    F48_BillingDentistNPI: Required[str]
    """Billing dentist's NPI, ADA box 49."""
    F50_BillingDentistLicense: str | None
    """Billing dentist's license, ADA box 50."""
    F51_BillingDentistTaxID: Required[str]
    """Billing dentist's tax id, ADA box 51."""
    X12_TINorSSNQualifier: Required[str]
    """Whether the tax id is an EIN or an SSN, ADA box 51."""
    F52_BillingDentistPhone: str | None
    """Billing dentist's phone, ADA box 52."""
    F52a_BillingDentistID: str | None
    """Billing dentist's number with the payer, ADA box 52a."""
    F53_TreatingDentistSignature: Required[str]
    """Treating dentist's signature, ADA box 53."""
    F53_TreatingDentistSignatureDate: Day | None
    """Day of the treating dentist's signature, ADA box 53."""
    X12_RenderingProvLastName: str | None
    """Treating dentist's last name, ADA box 53."""
    X12_RenderingProvFirstName: str | None
    """Treating dentist's first name, ADA box 53."""
    X12_RenderingProvMI: str | None
    """Treating dentist's middle initial, ADA box 53."""
    X12_RenderingProvSuffix: str | None
    """Treating dentist's name suffix, ADA box 53."""
    F53_TreatingDentistNPI: str | None
    """Treating dentist's NPI, ADA box 54."""
    F55_TreatingDentistLicense: str | None
    """Treating dentist's license, ADA box 55."""
    F56a_DentistSpecialtyCode: str | None
    """Treating dentist's taxonomy code, ADA box 56a."""
    F58_TreatingDentistAddlID: str | None
    """Treating dentist's number with the payer, ADA box 58."""
    X12_TreatmantLocationName: str | None
    """Treatment location's name, ADA box 56."""
    F56_TreatmentAddress: str | None
    """Treatment location's address, ADA box 56."""
    F56_TreatmentCity: str | None
    """Treatment location's city, ADA box 56."""
    F56_TreatmentST: str | None
    """Treatment location's state, ADA box 56."""
    F56_TreatmentZip: str | None
    """Treatment location's ZIP code, ADA box 56."""
    X12_TreatmantLocationNPI: str | None
    """Treatment location's NPI, ADA box 56."""
    X12_Paytoaddress: str | None
    """Pay-to address."""
    X12_PaytoCity: str | None
    """Pay-to city."""
    X12_PaytoST: str | None
    """Pay-to state."""
    X12_PaytoZip: str | None
    """Pay-to ZIP code."""
    X12_AttachmentReportType: str | None
    """Kind of attachment, ADA box 39."""
    X12_AttachmentControlNumber: str | None
    """Attachment's control number, ADA box 39."""
    X12_AttachmentTransmissionCode: str | None
    """How the attachment is sent, ADA box 39."""
    X12_PatientAmountPaid: Amount | None
    """Amount the patient paid."""
    X12_PredeterminationID: str | None
    """Predetermination number."""
    X12_ClaimFrequencyCode: str | None
    """Claim frequency."""
    X12_PayerControlNumber: str | None
    """Payer's number of the original claim."""
    X12_SubscriberIdentificationCodeQualifier: str | None
    """What the member id is, ADA box 15."""
    X12_SubscriberEntityTypeQualifier: Required[str]
    """Whether the insured is a person, ADA box 12."""
    X12_ServiceDate: Day | None
    """Day of service of the claim, ADA box 24. Required when the claim is not a predetermination."""
    LineItems: Required[list[DentalLine]]
    """Service lines, ADA box 24."""


class DentalDocument(TypedDict, total=False):
    """The body of ``/api/v3/claims/submitDental``."""

    DocumentType: Required[Literal["DentalClaim"]]
    """Which claims they are."""
    Claims: Required[list[DentalClaim]]
    """The claims."""


class ConditionCode(TypedDict, total=False):
    """An element of ``FL18_ConditionCodes``."""

    FL18_Code: Required[str]
    """Condition code, UB-04 box 18-28."""


class OccurrenceCode(TypedDict, total=False):
    """An element of ``FL31_OccurrenceCodes``."""

    FL31_Code: Required[str]
    """Occurrence code, UB-04 box 31-34."""
    FL31_Date: Required[Day]
    """Day of the occurrence, UB-04 box 31-34."""


class OccurrenceSpan(TypedDict, total=False):
    """An element of ``FL35_OccurrenceSpans``."""

    FL35_Code: Required[str]
    """Occurrence span code, UB-04 box 35-36."""
    FL35_From: Required[Day]
    """First day of the span, UB-04 box 35-36."""
    FL35_Through: Required[Day]
    """Last day of the span, UB-04 box 35-36."""


class ValueCode(TypedDict, total=False):
    """An element of ``FL39_ValueCodes``."""

    FL39_Code: Required[str]
    """Value code, UB-04 box 39-41."""
    FL39_Amount: Required[Amount]
    """Amount, days or measure of the value code, UB-04 box 39-41."""


class PayerAdjustment(TypedDict, total=False):
    """An element of ``X12_Adjustments``: an adjustment of another payer, of the claim or of a line."""

    X12_AdjustmentGroup: Required[str]
    """Adjustment group."""
    X12_AdjustmentReason: Required[str]
    """Adjustment reason."""
    X12_AdjustmentAmount: Required[Amount]
    """Adjustment amount."""


class LinePayerDecision(TypedDict, total=False):
    """An element of ``X12_PayerDecisions``: what the other payer of the same place in ``FL50_OtherPayers`` decided of a line."""

    X12_PaidAmount: Amount | None
    """Amount that the other payer paid for the line."""
    X12_PaidUnits: Count | None
    """Units that the other payer paid."""
    X12_AdjudicationDate: Day | None
    """Day the other payer decided the line."""
    X12_RemainingPatientLiability: Amount | None
    """Amount that the patient still owes for the line after the other payer's decision."""
    X12_Adjustments: list[PayerAdjustment] | None
    """Other payer's adjustments of the line."""


class InstitutionalLine(TypedDict, total=False):
    """An element of ``FL42_ServiceLines``; the line of the total (revenue code 0001) is none."""

    FL42_RevenueCode: Required[str]
    """Revenue code, UB-04 box 42."""
    FL43_Description: str | None
    """Description of the service, UB-04 box 43."""
    FL43_NdcCode: str | None
    """National drug code, UB-04 box 43."""
    FL43_NdcInternationalUnits: Count | None
    """Drug quantity in international units, UB-04 box 43."""
    FL43_NdcGrams: Count | None
    """Drug quantity in grams, UB-04 box 43."""
    FL43_NdcMilligrams: Count | None
    """Drug quantity in milligrams, UB-04 box 43."""
    FL43_NdcMilliliters: Count | None
    """Drug quantity in milliliters, UB-04 box 43."""
    FL43_NdcUnits: Count | None
    """Drug quantity in units, UB-04 box 43."""
    X12_PrescriptionNumber: str | None
    """Prescription number."""
    FL44_ProcedureCode: str | None
    """Procedure code (HCPCS), or the HIPPS code of revenue codes 0022 to 0024, UB-04 box 44."""
    FL44_Modifiers: str | None
    """Procedure modifiers, UB-04 box 44."""
    FL45_ServiceDate: Day | None
    """Day of service, UB-04 box 45."""
    X12_LastServiceDate: Day | None
    """Last day of service, UB-04 box 45."""
    FL46_ServiceUnits: Required[Count]
    """Units or days of service, UB-04 box 46."""
    FL47_TotalCharges: Required[Amount]
    """Charge of the line, UB-04 box 47."""
    FL48_NonCoveredCharges: Amount | None
    """Charge that is not covered, UB-04 box 48."""
    X12_LineControlNumber: str | None
    """Line item control number."""
    X12_RenderingNameLast: str | None
    """Line's rendering provider's last name."""
    X12_RenderingNameFirst: str | None
    """Line's rendering provider's first name."""
    X12_RenderingNpi: str | None
    """Line's rendering provider's NPI."""
    X12_ReferringNameLast: str | None
    """Line's referring provider's last name."""
    X12_ReferringNameFirst: str | None
    """Line's referring provider's first name."""
    X12_ReferringNpi: str | None
    """Line's referring provider's NPI."""
    X12_PayerDecisions: list[LinePayerDecision] | None
    """Decisions of the other payers about the line, in the order of `FL50_OtherPayers`."""


class OtherPayer(TypedDict, total=False):
    """An element of ``FL50_OtherPayers``: a payer that the claim does not go to, with its insured and its decision."""

    FL50_PayerName: Required[str]
    """Other payer's name, UB-04 box 50."""
    FL51_HealthPlanId: str | None
    """Other payer's id; if it is left out, the directory's id of the payer of this name, UB-04 box 51."""
    X12_CoverageType: str | None
    """Other payer's type of coverage."""
    FL54_PriorPayments: Amount | None
    """Amount that the other payer paid for the claim, UB-04 box 54."""
    FL58_InsuredNameLast: Required[str]
    """Other insured's last name, UB-04 box 58."""
    FL58_InsuredNameFirst: str | None
    """Other insured's first name, UB-04 box 58."""
    FL58_InsuredNameMiddle: str | None
    """Other insured's middle name, UB-04 box 58."""
    FL58_InsuredSuffix: str | None
    """Other insured's name suffix, UB-04 box 58."""
    FL59_PatientRelationship: Required[str]
    """Patient's relationship to the other insured, UB-04 box 59."""
    FL60_InsuredId: Required[str]
    """Other insured's member id, UB-04 box 60."""
    FL61_GroupName: str | None
    """Other insured's group name, UB-04 box 61."""
    FL62_GroupNumber: str | None
    """Other insured's group number, UB-04 box 62."""
    FL64_DocumentControlNumber: str | None
    """Other payer's number of the claim, UB-04 box 64."""
    X12_AdjudicationDate: Day | None
    """Day the other payer decided the claim."""
    X12_RemainingPatientLiability: Amount | None
    """Amount that the patient still owes for the claim after the other payer's decision."""
    X12_Adjustments: list[PayerAdjustment] | None
    """Other payer's adjustments of the claim."""


class InstitutionalDiagnosis(TypedDict, total=False):
    """An element of ``FL67_Diagnoses``: the principal diagnosis is the first."""

    FL67_Code: Required[str]
    """Diagnosis, UB-04 box 67."""
    FL67_PresentOnAdmission: str | None
    """Whether the diagnosis was present on admission: Y, N, U or W, UB-04 box 67."""


class VisitReason(TypedDict, total=False):
    """An element of ``FL70_ReasonsForVisit``."""

    FL70_Code: Required[str]
    """Patient's reason for the visit, UB-04 box 70."""


class ExternalCause(TypedDict, total=False):
    """An element of ``FL72_ExternalCauses``."""

    FL72_Code: Required[str]
    """External cause of injury, UB-04 box 72."""
    FL72_PresentOnAdmission: str | None
    """Whether the external cause was present on admission: Y, N, U or W, UB-04 box 72."""


class InstitutionalProcedure(TypedDict, total=False):
    """An element of ``FL74_Procedures``: the principal procedure is the first."""

    FL74_Code: Required[str]
    """ICD procedure, UB-04 box 74."""
    FL74_Date: Required[Day]
    """Day of the procedure, UB-04 box 74."""


class InstitutionalClaim(TypedDict, total=False):
    """An element of ``Claims`` in a document of type ``InstitutionalClaim``."""

    Svc_PayerId: Required[str]
    """Payer id."""
    Svc_VendorClaimId: Required[str]
    """Caller's claim id."""
    FL01_BillingProviderName: Required[str]
    """Billing provider's name, UB-04 box 1."""
    FL01_BillingProviderAddress1: Required[str]
    """Billing provider's address, UB-04 box 1."""
    FL01_BillingProviderAddress2: str | None
    """Billing provider's address, second line, UB-04 box 1."""
    FL01_BillingProviderCity: Required[str]
    """Billing provider's city, UB-04 box 1."""
    FL01_BillingProviderState: Required[str]
    """Billing provider's state, UB-04 box 1."""
    FL01_BillingProviderZip: Required[str]
    """Billing provider's ZIP code, UB-04 box 1."""
    FL01_BillingProviderPhone: str | None
    """Billing provider's phone, UB-04 box 1."""
    FL02_PayToAddress1: str | None
    """Pay-to address, UB-04 box 2."""
    FL02_PayToAddress2: str | None
    """Pay-to address, second line, UB-04 box 2."""
    FL02_PayToCity: str | None
    """Pay-to city, UB-04 box 2."""
    FL02_PayToState: str | None
    """Pay-to state, UB-04 box 2."""
    FL02_PayToZip: str | None
    """Pay-to ZIP code, UB-04 box 2."""
    FL03a_PatientControlNumber: str | None
    """Patient's control number, UB-04 box 3a."""
    FL03b_MedicalRecordNumber: str | None
    """Medical record number, UB-04 box 3b."""
    FL04_TypeOfBill: Required[str]
    """Type of bill with its frequency, such as 111, UB-04 box 4."""
    FL05_FederalTaxId: Required[str]
    """Billing provider's tax id, UB-04 box 5."""
    FL06_StatementFrom: Required[Day]
    """First day of the statement, UB-04 box 6."""
    FL06_StatementThrough: Required[Day]
    """Last day of the statement, UB-04 box 6."""
    FL08_PatientNameLast: Required[str]
    """Patient's last name, UB-04 box 8."""
    FL08_PatientNameFirst: Required[str]
    """Patient's first name, UB-04 box 8."""
    FL08_PatientNameMiddle: str | None
    """Patient's middle name, UB-04 box 8."""
    FL08_PatientSuffix: str | None
    """Patient's name suffix, UB-04 box 8."""
    FL09_PatientAddress1: Required[str]
    """Patient's address, UB-04 box 9."""
    FL09_PatientAddress2: str | None
    """Patient's address, second line, UB-04 box 9."""
    FL09_PatientCity: Required[str]
    """Patient's city, UB-04 box 9."""
    FL09_PatientState: Required[str]
    """Patient's state, UB-04 box 9."""
    FL09_PatientZip: Required[str]
    """Patient's ZIP code, UB-04 box 9."""
    FL10_PatientBirthDate: Required[Day]
    """Patient's birth date, UB-04 box 10."""
    FL11_PatientSex: Required[str]
    """Patient's sex, UB-04 box 11."""
    FL12_AdmissionDate: Day | None
    """Day of admission or start of care, UB-04 box 12."""
    FL13_AdmissionHour: str | None
    """Hour of admission, 00 to 23, or hour and minute, UB-04 box 13."""
    FL14_AdmissionType: str | None
    """Type of admission or visit, UB-04 box 14. Required when the claim is for a stay."""
    FL15_PointOfOrigin: str | None
    """Point of origin, UB-04 box 15. Required when the type of bill is not 14x."""
    FL16_DischargeHour: str | None
    """Hour of discharge, 00 to 23, or hour and minute, UB-04 box 16."""
    FL17_PatientStatus: Required[str]
    """Patient status at the end of the statement, UB-04 box 17."""
    FL18_ConditionCodes: list[ConditionCode] | None
    """Condition codes, at most 24, UB-04 box 18-28."""
    FL29_AccidentState: str | None
    """State of the car accident, UB-04 box 29."""
    FL31_OccurrenceCodes: list[OccurrenceCode] | None
    """Occurrence codes, at most 24, UB-04 box 31-34."""
    FL35_OccurrenceSpans: list[OccurrenceSpan] | None
    """Occurrence spans, at most 24, UB-04 box 35-36."""
    FL38_PayerAddress1: str | None
    """Payer's address, UB-04 box 38."""
    FL38_PayerAddress2: str | None
    """Payer's address, second line, UB-04 box 38."""
    FL38_PayerCity: str | None
    """Payer's city, UB-04 box 38."""
    FL38_PayerState: str | None
    """Payer's state, UB-04 box 38."""
    FL38_PayerZip: str | None
    """Payer's ZIP code, UB-04 box 38."""
    FL39_ValueCodes: list[ValueCode] | None
    """Value codes, at most 24, UB-04 box 39-41."""
    FL42_ServiceLines: Required[list[InstitutionalLine]]
    """Service lines, at most 999, UB-04 box 42."""
    FL47_ClaimTotalCharges: Required[Amount]
    """Sum of the charges of the lines, UB-04 box 47."""
    FL50_PayerName: Required[str]
    """Payer's name, UB-04 box 50."""
    FL50_OtherPayers: list[OtherPayer] | None
    """Other payers in the order in which they decide, at most 2, UB-04 box 50."""
    FL52_ReleaseOfInformation: Required[str]
    """Release of information, UB-04 box 52."""
    FL53_AssignmentOfBenefits: Required[str]
    """Assignment of benefits, UB-04 box 53."""
    X12_AcceptsAssignment: str | None
    """Whether the provider accepts assignment."""
    X12_CoverageType: str | None
    """Payer's type of coverage."""
    X12_PatientEstimatedAmountDue: Amount | None
    """Amount that the patient is expected to owe, UB-04 box 55."""
    FL56_BillingProviderNpi: Required[str]
    """Billing provider's NPI, UB-04 box 56."""
    FL57_BillingProviderOtherId: str | None
    """Billing provider's number with the payer, UB-04 box 57."""
    FL58_InsuredNameLast: Required[str]
    """Insured's last name, UB-04 box 58."""
    FL58_InsuredNameFirst: Required[str]
    """Insured's first name, UB-04 box 58."""
    FL58_InsuredNameMiddle: str | None
    """Insured's middle name, UB-04 box 58."""
    FL58_InsuredSuffix: str | None
    """Insured's name suffix, UB-04 box 58."""
    FL59_PatientRelationship: Required[str]
    """Patient's relationship to the insured, UB-04 box 59."""
    FL60_InsuredId: Required[str]
    """Insured's member id, UB-04 box 60."""
    FL61_GroupName: str | None
    """Insured's group name, UB-04 box 61."""
    FL62_GroupNumber: str | None
    """Insured's group number, UB-04 box 62."""
    FL63_AuthorizationCode: str | None
    """Prior authorization number, UB-04 box 63."""
    X12_ReferralNumber: str | None
    """Referral number, UB-04 box 63."""
    FL64_DocumentControlNumber: str | None
    """Payer's number of the claim that this one replaces or voids, UB-04 box 64."""
    FL65_EmployerName: str | None
    """Insured's employer, UB-04 box 65."""
    FL66_IcdVersion: str | None
    """ICD version, UB-04 box 66."""
    FL67_Diagnoses: Required[list[InstitutionalDiagnosis]]
    """Diagnoses, the principal one first, at most 25, UB-04 box 67."""
    FL69_AdmittingDiagnosis: str | None
    """Admitting diagnosis, UB-04 box 69."""
    FL70_ReasonsForVisit: list[VisitReason] | None
    """Patient's reasons for the visit, at most 3, UB-04 box 70."""
    FL71_DrgCode: str | None
    """Diagnosis related group, UB-04 box 71."""
    FL72_ExternalCauses: list[ExternalCause] | None
    """External causes of injury, at most 12, UB-04 box 72."""
    FL74_Procedures: list[InstitutionalProcedure] | None
    """ICD procedures, the principal one first, at most 25, UB-04 box 74."""
    FL76_AttendingNameLast: str | None
    """Attending provider's last name, UB-04 box 76. Required when the claim is not for transport alone."""
    FL76_AttendingNameFirst: str | None
    """Attending provider's first name, UB-04 box 76. Required when the claim is not for transport alone."""
    FL76_AttendingNameMiddle: str | None
    """Attending provider's middle name, UB-04 box 76."""
    FL76_AttendingSuffix: str | None
    """Attending provider's name suffix, UB-04 box 76."""
    FL76_AttendingNpi: str | None
    """Attending provider's NPI, UB-04 box 76. Required when the claim is not for transport alone."""
    FL76_AttendingTaxonomy: str | None
    """Attending provider's taxonomy code, UB-04 box 76."""
    FL76_AttendingLicense: str | None
    """Attending provider's license, UB-04 box 76."""
    FL77_OperatingNameLast: str | None
    """Operating physician's last name, UB-04 box 77."""
    FL77_OperatingNameFirst: str | None
    """Operating physician's first name, UB-04 box 77."""
    FL77_OperatingNameMiddle: str | None
    """Operating physician's middle name, UB-04 box 77."""
    FL77_OperatingSuffix: str | None
    """Operating physician's name suffix, UB-04 box 77."""
    FL77_OperatingNpi: str | None
    """Operating physician's NPI, UB-04 box 77."""
    FL78_OtherOperatingNameLast: str | None
    """Other operating physician's last name, UB-04 box 78."""
    FL78_OtherOperatingNameFirst: str | None
    """Other operating physician's first name, UB-04 box 78."""
    FL78_OtherOperatingNameMiddle: str | None
    """Other operating physician's middle name, UB-04 box 78."""
    FL78_OtherOperatingSuffix: str | None
    """Other operating physician's name suffix, UB-04 box 78."""
    FL78_OtherOperatingNpi: str | None
    """Other operating physician's NPI, UB-04 box 78."""
    FL79_RenderingNameLast: str | None
    """Rendering provider's last name, UB-04 box 79."""
    FL79_RenderingNameFirst: str | None
    """Rendering provider's first name, UB-04 box 79."""
    FL79_RenderingNameMiddle: str | None
    """Rendering provider's middle name, UB-04 box 79."""
    FL79_RenderingSuffix: str | None
    """Rendering provider's name suffix, UB-04 box 79."""
    FL79_RenderingNpi: str | None
    """Rendering provider's NPI, UB-04 box 79."""
    FL79_ReferringNameLast: str | None
    """Referring provider's last name, UB-04 box 79."""
    FL79_ReferringNameFirst: str | None
    """Referring provider's first name, UB-04 box 79."""
    FL79_ReferringNameMiddle: str | None
    """Referring provider's middle name, UB-04 box 79."""
    FL79_ReferringSuffix: str | None
    """Referring provider's name suffix, UB-04 box 79."""
    FL79_ReferringNpi: str | None
    """Referring provider's NPI, UB-04 box 79."""
    FL80_Remarks: str | None
    """Remarks, UB-04 box 80."""
    FL81_BillingProviderTaxonomy: str | None
    """Billing provider's taxonomy code, UB-04 box 81."""
    X12_FacilityName: str | None
    """Service facility's name."""
    X12_FacilityAddress1: str | None
    """Service facility's address."""
    X12_FacilityAddress2: str | None
    """Service facility's address, second line."""
    X12_FacilityCity: str | None
    """Service facility's city."""
    X12_FacilityState: str | None
    """Service facility's state."""
    X12_FacilityZip: str | None
    """Service facility's ZIP code."""
    X12_FacilityNpi: str | None
    """Service facility's NPI."""
    X12_DelayReasonCode: str | None
    """Reason why the claim is late."""
    X12_AttachmentReportType: str | None
    """Kind of attachment."""
    X12_AttachmentTransmissionCode: str | None
    """How the attachment is sent."""
    X12_AttachmentControlNumber: str | None
    """Attachment's control number."""


class InstitutionalDocument(TypedDict, total=False):
    """A body of ``POST /clearlane/v1/claims``."""

    DocumentType: Required[Literal["InstitutionalClaim"]]
    """Which claims they are."""
    Claims: Required[list[InstitutionalClaim]]
    """The claims."""


class RequestedDays(TypedDict, total=False):
    """``PlanDate``: the days of service of the inquiry."""

    Start: Day | None
    """First day."""
    End: Day | None
    """Last day."""


class RequestedBenefit(TypedDict, total=False):
    """An element of ``RequestedBenefits``."""

    IsFamilyBenefit: bool | None
    """Benefits of the family."""
    Type: list[str] | None
    """Service types by name or X12 code."""
    PlanDate: RequestedDays | None
    """Days of service."""


class RequestTraceNumber(TypedDict, total=False):
    """``PayeeTraceNumber``: the caller's own number of a patient's inquiry."""

    Number: str | None
    """Trace number."""
    OriginatorID: str | None
    """Who gave the number."""


class RequestDependent(TypedDict, total=False):
    """An element of ``Dependents``."""

    CommonName: Required[str]
    """Last name."""
    FirstName: Required[str]
    """First name."""
    BirthDate: Day | None
    """Birth date."""
    Gender: str | None
    """Sex."""
    Relationship: str | None
    """Relationship to the subscriber."""
    PayeeTraceNumber: RequestTraceNumber | None
    """Caller's trace number."""
    RequestedBenefits: list[RequestedBenefit] | None
    """Requested benefits."""


class RequestSubscriber(TypedDict, total=False):
    """An element of ``Subscribers``."""

    CommonName: str | None
    """Last name. Required if the subscriber is a patient."""
    FirstName: str | None
    """First name. Required if the subscriber is a patient."""
    BirthDate: Day | None
    """Birth date."""
    Gender: str | None
    """Sex."""
    MemberId: Required[str]
    """Member id."""
    PayeeTraceNumber: RequestTraceNumber | None
    """Caller's trace number."""
    Dependents: list[RequestDependent] | None
    """Dependents who are patients."""
    RequestedBenefits: list[RequestedBenefit] | None
    """Requested benefits."""


class RequestPayee(TypedDict, total=False):
    """An element of ``Payees``: the provider who inquires."""

    Type: str | None
    """What the provider is."""
    EntityType: str | None
    """Individual or Organization."""
    CommonName: Required[str]
    """Last name, or name of the organization."""
    FirstName: str | None
    """First name."""
    NationalProviderId: str | None
    """NPI."""
    Subscribers: Required[list[RequestSubscriber]]
    """Subscribers."""


class RequestPayer(TypedDict, total=False):
    """An element of ``Payers``: the payer of the inquiry."""

    Type: str | None
    """What the payer is."""
    PayerId: Required[str]
    """Payer id."""
    CommonName: str | None
    """Name."""
    EntityType: str | None
    """Individual or Organization."""
    Payees: Required[list[RequestPayee]]
    """Providers who inquire."""


class BenefitInquiry(TypedDict, total=False):
    """An element of ``BenefitInquiries``."""

    RequestType: str | None
    """Request, also when absent."""
    Payers: Required[list[RequestPayer]]
    """Payers of the inquiry."""


class EligibilityRequest(TypedDict, total=False):
    """The whole request."""

    IsTest: bool | None
    """Whether the payers are test payers."""
    BenefitInquiries: Required[list[BenefitInquiry]]
    """Inquiries."""


class Enrollment(TypedDict, total=False):
    """A billing provider, and whom to ask about it."""

    RequestId: Required[str]
    """Caller's id of the request."""
    SiteId: str | None
    """Site. Deprecated."""
    Npi: Required[str]
    """NPI."""
    NpiType: Required[Literal["Unknown", "Individual", "Organization"]]
    """Type of NPI."""
    Tin: Required[str]
    """Tax id."""
    PracticeName: str | None
    """Practice. Required when NpiType is Organization."""
    DbaName: str | None
    """Doing business as."""
    ProviderTitle: str | None
    """Provider's title."""
    ProviderLastName: str | None
    """Provider's last name. Required when NpiType is Individual."""
    ProviderFirstName: str | None
    """Provider's first name. Required when NpiType is Individual."""
    ProviderMiddleName: str | None
    """Provider's middle name."""
    Address1: Required[str]
    """Street."""
    Address2: str | None
    """Second address line."""
    City: Required[str]
    """City."""
    State: Required[str]
    """State."""
    Zip: Required[str]
    """ZIP code."""
    ZipExtension: str | None
    """ZIP code extension."""
    PreviousClearingHouse: str | None
    """Previous clearinghouse."""
    EnrollmentContactLastName: str | None
    """Enrollment contact's last name."""
    EnrollmentContactFirstName: str | None
    """Enrollment contact's first name."""
    EnrollmentContactMiddleName: str | None
    """Enrollment contact's middle name."""
    EnrollmentContactEmail: str | None
    """Enrollment contact's e-mail."""
    EnrollmentContactPhoneNumber: str | None
    """Enrollment contact's phone."""
    PrimaryContactLastName: Required[str]
    """Primary contact's last name."""
    PrimaryContactFirstName: Required[str]
    """Primary contact's first name."""
    PrimaryContactMiddleName: str | None
    """Primary contact's middle name."""
    PrimaryContactEmail: Required[str]
    """Primary contact's e-mail."""
    PrimaryContactPhoneNumber: Required[str]
    """Primary contact's phone."""


class EnrollmentRequest(TypedDict, total=False):
    """Providers to be enrolled with payers."""

    Version: Required[Literal[1]]
    """The version of the request."""
    Enrollments: Required[list[Enrollment]]
    """The providers."""
