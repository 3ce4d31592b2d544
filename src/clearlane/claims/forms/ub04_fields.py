"""The catalogue of UB-04 fields: every field of an institutional claim, declared once, by form locator.

    FL42_RevenueCode            # form locator 42
    X12_AdjudicationDate        # no locator: an 837I has it, and the form does not

The document is ``DocumentType: "InstitutionalClaim"``. What the form has several of (conditions, occurrences, spans, values,
diagnoses, procedures, payers, lines) is an array of objects, in the order of the form. ``FL50_OtherPayers`` are the payers
beside the one that the claim goes to; of a line, ``X12_PayerDecisions`` are their decisions in the same order.

Labels are our own words. Knows how a claim is written in JSON; knows no rule, no X12 place and no code value.
"""

from typing import Literal

from clearlane.claims.fields import ClaimPart, optional, required
from clearlane.claims.value_types import (
    Amount,
    AttachmentNumber,
    BillTypeCode,
    CallerKey,
    City,
    Coded,
    Count,
    Day,
    Diagnosis,
    FirstName,
    Key,
    LastName,
    MemberId,
    MiddleName,
    Modifiers,
    Ndc,
    Note,
    Npi,
    Phone,
    Reference,
    State,
    Street,
    Suffix,
    TaxId,
    Taxonomy,
    Zip,
)

CODES_MAX, DIAGNOSES_MAX, PROCEDURES_MAX = 24, 25, 25
VISIT_REASONS_MAX, EXTERNAL_CAUSES_MAX = 3, 12
OTHER_PAYERS_MAX = 2
"""The form has three payers; one of them is the one that the claim goes to."""
LINES_MAX = 999
ATTENDED = "the claim is not for transport alone"


class ConditionCode(ClaimPart):
    """An element of ``FL18_ConditionCodes``."""

    FL18_Code: Reference = required("Condition code", "18-28", max=2)


class OccurrenceCode(ClaimPart):
    """An element of ``FL31_OccurrenceCodes``."""

    FL31_Code: Reference = required("Occurrence code", "31-34", max=2)
    FL31_Date: Day = required("Day of the occurrence", "31-34")


class OccurrenceSpan(ClaimPart):
    """An element of ``FL35_OccurrenceSpans``."""

    FL35_Code: Reference = required("Occurrence span code", "35-36", max=2)
    FL35_From: Day = required("First day of the span", "35-36")
    FL35_Through: Day = required("Last day of the span", "35-36")


class ValueCode(ClaimPart):
    """An element of ``FL39_ValueCodes``."""

    FL39_Code: Reference = required("Value code", "39-41", max=2)
    FL39_Amount: Amount = required("Amount, days or measure of the value code", "39-41")


class InstitutionalDiagnosis(ClaimPart):
    """An element of ``FL67_Diagnoses``: the principal diagnosis is the first."""

    FL67_Code: Diagnosis = required("Diagnosis", "67")
    FL67_PresentOnAdmission: Reference | None = optional(
        "Whether the diagnosis was present on admission: Y, N, U or W", "67", max=1
    )


class VisitReason(ClaimPart):
    """An element of ``FL70_ReasonsForVisit``."""

    FL70_Code: Diagnosis = required("Patient's reason for the visit", "70")


class ExternalCause(ClaimPart):
    """An element of ``FL72_ExternalCauses``."""

    FL72_Code: Diagnosis = required("External cause of injury", "72")
    FL72_PresentOnAdmission: Reference | None = optional(
        "Whether the external cause was present on admission: Y, N, U or W", "72", max=1
    )


class InstitutionalProcedure(ClaimPart):
    """An element of ``FL74_Procedures``: the principal procedure is the first."""

    FL74_Code: Reference = required("ICD procedure", "74", max=7)
    FL74_Date: Day = required("Day of the procedure", "74")


class PayerAdjustment(ClaimPart):
    """An element of ``X12_Adjustments``: an adjustment of another payer, of the claim or of a line."""

    X12_AdjustmentGroup: Coded = required("Adjustment group", codes="adjustment_group")
    X12_AdjustmentReason: Reference = required("Adjustment reason", max=5)
    X12_AdjustmentAmount: Amount = required("Adjustment amount")


class LinePayerDecision(ClaimPart):
    """An element of ``X12_PayerDecisions``: what the other payer of the same place in ``FL50_OtherPayers`` decided of a line."""

    X12_PaidAmount: Amount | None = optional("Amount that the other payer paid for the line")
    X12_PaidUnits: Count | None = optional("Units that the other payer paid")
    X12_AdjudicationDate: Day | None = optional("Day the other payer decided the line")
    X12_RemainingPatientLiability: Amount | None = optional(
        "Amount that the patient still owes for the line after the other payer's decision"
    )
    X12_Adjustments: tuple[PayerAdjustment, ...] | None = optional(
        "Other payer's adjustments of the line"
    )


class OtherPayer(ClaimPart):
    """An element of ``FL50_OtherPayers``: a payer that the claim does not go to, with its insured and its decision."""

    FL50_PayerName: LastName = required("Other payer's name", "50")
    FL51_HealthPlanId: MemberId | None = optional(
        "Other payer's id; if it is left out, the directory's id of the payer of this name", "51"
    )
    X12_CoverageType: Coded | None = optional("Other payer's type of coverage", codes="claim_type")
    FL54_PriorPayments: Amount | None = optional(
        "Amount that the other payer paid for the claim", "54"
    )
    FL58_InsuredNameLast: LastName = required("Other insured's last name", "58")
    FL58_InsuredNameFirst: FirstName | None = optional("Other insured's first name", "58")
    FL58_InsuredNameMiddle: MiddleName | None = optional("Other insured's middle name", "58")
    FL58_InsuredSuffix: Suffix | None = optional("Other insured's name suffix", "58")
    FL59_PatientRelationship: Coded = required(
        "Patient's relationship to the other insured", "59", codes="relationship"
    )
    FL60_InsuredId: MemberId = required("Other insured's member id", "60")
    FL61_GroupName: LastName | None = optional("Other insured's group name", "61")
    FL62_GroupNumber: Reference | None = optional("Other insured's group number", "62")
    FL64_DocumentControlNumber: Reference | None = optional(
        "Other payer's number of the claim", "64"
    )
    X12_AdjudicationDate: Day | None = optional("Day the other payer decided the claim")
    X12_RemainingPatientLiability: Amount | None = optional(
        "Amount that the patient still owes for the claim after the other payer's decision"
    )
    X12_Adjustments: tuple[PayerAdjustment, ...] | None = optional(
        "Other payer's adjustments of the claim"
    )


class InstitutionalLine(ClaimPart):
    """An element of ``FL42_ServiceLines``; the line of the total (revenue code 0001) is none."""

    FL42_RevenueCode: Reference = required("Revenue code", "42", max=4)
    FL43_Description: Note | None = optional("Description of the service", "43")
    FL43_NdcCode: Ndc | None = optional("National drug code", "43")
    FL43_NdcInternationalUnits: Count | None = optional(
        "Drug quantity in international units", "43"
    )
    FL43_NdcGrams: Count | None = optional("Drug quantity in grams", "43")
    FL43_NdcMilligrams: Count | None = optional("Drug quantity in milligrams", "43")
    FL43_NdcMilliliters: Count | None = optional("Drug quantity in milliliters", "43")
    FL43_NdcUnits: Count | None = optional("Drug quantity in units", "43")
    X12_PrescriptionNumber: Reference | None = optional("Prescription number")
    FL44_ProcedureCode: Reference | None = optional(
        "Procedure code (HCPCS), or the HIPPS code of revenue codes 0022 to 0024", "44", max=5
    )
    FL44_Modifiers: Modifiers | None = optional("Procedure modifiers", "44")
    FL45_ServiceDate: Day | None = optional("Day of service", "45")
    X12_LastServiceDate: Day | None = optional("Last day of service", "45")
    FL46_ServiceUnits: Count = required("Units or days of service", "46")
    FL47_TotalCharges: Amount = required("Charge of the line", "47")
    FL48_NonCoveredCharges: Amount | None = optional("Charge that is not covered", "48")
    X12_LineControlNumber: Reference | None = optional("Line item control number", max=30)
    X12_RenderingNameLast: LastName | None = optional("Line's rendering provider's last name")
    X12_RenderingNameFirst: FirstName | None = optional("Line's rendering provider's first name")
    X12_RenderingNpi: Npi | None = optional("Line's rendering provider's NPI")
    X12_ReferringNameLast: LastName | None = optional("Line's referring provider's last name")
    X12_ReferringNameFirst: FirstName | None = optional("Line's referring provider's first name")
    X12_ReferringNpi: Npi | None = optional("Line's referring provider's NPI")
    X12_PayerDecisions: tuple[LinePayerDecision, ...] | None = optional(
        "Decisions of the other payers about the line, in the order of `FL50_OtherPayers`",
        max_length=OTHER_PAYERS_MAX,
    )


class InstitutionalClaim(ClaimPart):
    """An element of ``Claims`` in a document of type ``InstitutionalClaim``."""

    Svc_PayerId: Key = required("Payer id", max=80)
    Svc_VendorClaimId: CallerKey = required("Caller's claim id")
    FL01_BillingProviderName: LastName = required("Billing provider's name", "1")
    FL01_BillingProviderAddress1: Street = required("Billing provider's address", "1")
    FL01_BillingProviderAddress2: Street | None = optional(
        "Billing provider's address, second line", "1"
    )
    FL01_BillingProviderCity: City = required("Billing provider's city", "1")
    FL01_BillingProviderState: State = required("Billing provider's state", "1")
    FL01_BillingProviderZip: Zip = required("Billing provider's ZIP code", "1")
    FL01_BillingProviderPhone: Phone | None = optional("Billing provider's phone", "1")
    FL02_PayToAddress1: Street | None = optional("Pay-to address", "2")
    FL02_PayToAddress2: Street | None = optional("Pay-to address, second line", "2")
    FL02_PayToCity: City | None = optional("Pay-to city", "2")
    FL02_PayToState: State | None = optional("Pay-to state", "2")
    FL02_PayToZip: Zip | None = optional("Pay-to ZIP code", "2")
    FL03a_PatientControlNumber: Reference | None = optional(
        "Patient's control number", "3a", max=100
    )
    FL03b_MedicalRecordNumber: Reference | None = optional("Medical record number", "3b")
    FL04_TypeOfBill: BillTypeCode = required("Type of bill with its frequency, such as 111", "4")
    FL05_FederalTaxId: TaxId = required("Billing provider's tax id", "5")
    FL06_StatementFrom: Day = required("First day of the statement", "6")
    FL06_StatementThrough: Day = required("Last day of the statement", "6")
    FL08_PatientNameLast: LastName = required("Patient's last name", "8")
    FL08_PatientNameFirst: FirstName = required("Patient's first name", "8")
    FL08_PatientNameMiddle: MiddleName | None = optional("Patient's middle name", "8")
    FL08_PatientSuffix: Suffix | None = optional("Patient's name suffix", "8")
    FL09_PatientAddress1: Street = required("Patient's address", "9")
    FL09_PatientAddress2: Street | None = optional("Patient's address, second line", "9")
    FL09_PatientCity: City = required("Patient's city", "9")
    FL09_PatientState: State = required("Patient's state", "9")
    FL09_PatientZip: Zip = required("Patient's ZIP code", "9")
    FL10_PatientBirthDate: Day = required("Patient's birth date", "10")
    FL11_PatientSex: Coded = required("Patient's sex", "11", codes="sex")
    FL12_AdmissionDate: Day | None = optional("Day of admission or start of care", "12")
    FL13_AdmissionHour: Reference | None = optional(
        "Hour of admission, 00 to 23, or hour and minute", "13", max=4
    )
    FL14_AdmissionType: Coded | None = optional(
        "Type of admission or visit",
        "14",
        codes="admission_type",
        required_when="the claim is for a stay",
    )
    FL15_PointOfOrigin: Coded | None = optional(
        "Point of origin",
        "15",
        codes="point_of_origin",
        required_when="the type of bill is not 14x",
    )
    FL16_DischargeHour: Reference | None = optional(
        "Hour of discharge, 00 to 23, or hour and minute", "16", max=4
    )
    FL17_PatientStatus: Coded = required(
        "Patient status at the end of the statement", "17", codes="patient_status"
    )
    FL18_ConditionCodes: tuple[ConditionCode, ...] | None = optional(
        "Condition codes, at most 24", "18-28", max_length=CODES_MAX
    )
    FL29_AccidentState: State | None = optional("State of the car accident", "29")
    FL31_OccurrenceCodes: tuple[OccurrenceCode, ...] | None = optional(
        "Occurrence codes, at most 24", "31-34", max_length=CODES_MAX
    )
    FL35_OccurrenceSpans: tuple[OccurrenceSpan, ...] | None = optional(
        "Occurrence spans, at most 24", "35-36", max_length=CODES_MAX
    )
    FL38_PayerAddress1: Street | None = optional("Payer's address", "38")
    FL38_PayerAddress2: Street | None = optional("Payer's address, second line", "38")
    FL38_PayerCity: City | None = optional("Payer's city", "38")
    FL38_PayerState: State | None = optional("Payer's state", "38")
    FL38_PayerZip: Zip | None = optional("Payer's ZIP code", "38")
    FL39_ValueCodes: tuple[ValueCode, ...] | None = optional(
        "Value codes, at most 24", "39-41", max_length=CODES_MAX
    )
    FL42_ServiceLines: tuple[InstitutionalLine, ...] = required(
        "Service lines, at most 999", "42", min_length=1, max_length=LINES_MAX
    )
    FL47_ClaimTotalCharges: Amount = required("Sum of the charges of the lines", "47")
    FL50_PayerName: LastName = required("Payer's name", "50")
    FL50_OtherPayers: tuple[OtherPayer, ...] | None = optional(
        "Other payers in the order in which they decide, at most 2",
        "50",
        max_length=OTHER_PAYERS_MAX,
    )
    FL52_ReleaseOfInformation: Coded = required("Release of information", "52", codes="release")
    FL53_AssignmentOfBenefits: Coded = required("Assignment of benefits", "53", codes="benefits")
    X12_AcceptsAssignment: Coded | None = optional(
        "Whether the provider accepts assignment", codes="assignment"
    )
    X12_CoverageType: Coded | None = optional("Payer's type of coverage", codes="claim_type")
    X12_PatientEstimatedAmountDue: Amount | None = optional(
        "Amount that the patient is expected to owe", "55"
    )
    FL56_BillingProviderNpi: Npi = required("Billing provider's NPI", "56")
    FL57_BillingProviderOtherId: Reference | None = optional(
        "Billing provider's number with the payer", "57"
    )
    FL58_InsuredNameLast: LastName = required("Insured's last name", "58")
    FL58_InsuredNameFirst: FirstName = required("Insured's first name", "58")
    FL58_InsuredNameMiddle: MiddleName | None = optional("Insured's middle name", "58")
    FL58_InsuredSuffix: Suffix | None = optional("Insured's name suffix", "58")
    FL59_PatientRelationship: Coded = required(
        "Patient's relationship to the insured", "59", codes="relationship"
    )
    FL60_InsuredId: MemberId = required("Insured's member id", "60")
    FL61_GroupName: LastName | None = optional("Insured's group name", "61")
    FL62_GroupNumber: Reference | None = optional("Insured's group number", "62")
    FL63_AuthorizationCode: Reference | None = optional("Prior authorization number", "63")
    X12_ReferralNumber: Reference | None = optional("Referral number", "63")
    FL64_DocumentControlNumber: Reference | None = optional(
        "Payer's number of the claim that this one replaces or voids", "64"
    )
    FL65_EmployerName: LastName | None = optional("Insured's employer", "65")
    FL66_IcdVersion: Coded | None = optional("ICD version", "66", codes="icd_version")
    FL67_Diagnoses: tuple[InstitutionalDiagnosis, ...] = required(
        "Diagnoses, the principal one first, at most 25",
        "67",
        min_length=1,
        max_length=DIAGNOSES_MAX,
    )
    FL69_AdmittingDiagnosis: Diagnosis | None = optional("Admitting diagnosis", "69")
    FL70_ReasonsForVisit: tuple[VisitReason, ...] | None = optional(
        "Patient's reasons for the visit, at most 3", "70", max_length=VISIT_REASONS_MAX
    )
    FL71_DrgCode: Reference | None = optional("Diagnosis related group", "71", max=4)
    FL72_ExternalCauses: tuple[ExternalCause, ...] | None = optional(
        "External causes of injury, at most 12", "72", max_length=EXTERNAL_CAUSES_MAX
    )
    FL74_Procedures: tuple[InstitutionalProcedure, ...] | None = optional(
        "ICD procedures, the principal one first, at most 25", "74", max_length=PROCEDURES_MAX
    )
    FL76_AttendingNameLast: LastName | None = optional(
        "Attending provider's last name", "76", required_when=ATTENDED
    )
    FL76_AttendingNameFirst: FirstName | None = optional(
        "Attending provider's first name", "76", required_when=ATTENDED
    )
    FL76_AttendingNameMiddle: MiddleName | None = optional("Attending provider's middle name", "76")
    FL76_AttendingSuffix: Suffix | None = optional("Attending provider's name suffix", "76")
    FL76_AttendingNpi: Npi | None = optional(
        "Attending provider's NPI", "76", required_when=ATTENDED
    )
    FL76_AttendingTaxonomy: Taxonomy | None = optional("Attending provider's taxonomy code", "76")
    FL76_AttendingLicense: Reference | None = optional("Attending provider's license", "76")
    FL77_OperatingNameLast: LastName | None = optional("Operating physician's last name", "77")
    FL77_OperatingNameFirst: FirstName | None = optional("Operating physician's first name", "77")
    FL77_OperatingNameMiddle: MiddleName | None = optional(
        "Operating physician's middle name", "77"
    )
    FL77_OperatingSuffix: Suffix | None = optional("Operating physician's name suffix", "77")
    FL77_OperatingNpi: Npi | None = optional("Operating physician's NPI", "77")
    FL78_OtherOperatingNameLast: LastName | None = optional(
        "Other operating physician's last name", "78"
    )
    FL78_OtherOperatingNameFirst: FirstName | None = optional(
        "Other operating physician's first name", "78"
    )
    FL78_OtherOperatingNameMiddle: MiddleName | None = optional(
        "Other operating physician's middle name", "78"
    )
    FL78_OtherOperatingSuffix: Suffix | None = optional(
        "Other operating physician's name suffix", "78"
    )
    FL78_OtherOperatingNpi: Npi | None = optional("Other operating physician's NPI", "78")
    FL79_RenderingNameLast: LastName | None = optional("Rendering provider's last name", "79")
    FL79_RenderingNameFirst: FirstName | None = optional("Rendering provider's first name", "79")
    FL79_RenderingNameMiddle: MiddleName | None = optional("Rendering provider's middle name", "79")
    FL79_RenderingSuffix: Suffix | None = optional("Rendering provider's name suffix", "79")
    FL79_RenderingNpi: Npi | None = optional("Rendering provider's NPI", "79")
    FL79_ReferringNameLast: LastName | None = optional("Referring provider's last name", "79")
    FL79_ReferringNameFirst: FirstName | None = optional("Referring provider's first name", "79")
    FL79_ReferringNameMiddle: MiddleName | None = optional("Referring provider's middle name", "79")
    FL79_ReferringSuffix: Suffix | None = optional("Referring provider's name suffix", "79")
    FL79_ReferringNpi: Npi | None = optional("Referring provider's NPI", "79")
    FL80_Remarks: Note | None = optional("Remarks", "80")
    FL81_BillingProviderTaxonomy: Taxonomy | None = optional(
        "Billing provider's taxonomy code", "81"
    )
    X12_FacilityName: LastName | None = optional("Service facility's name")
    X12_FacilityAddress1: Street | None = optional("Service facility's address")
    X12_FacilityAddress2: Street | None = optional("Service facility's address, second line")
    X12_FacilityCity: City | None = optional("Service facility's city")
    X12_FacilityState: State | None = optional("Service facility's state")
    X12_FacilityZip: Zip | None = optional("Service facility's ZIP code")
    X12_FacilityNpi: Npi | None = optional("Service facility's NPI")
    X12_DelayReasonCode: Coded | None = optional(
        "Reason why the claim is late", codes="delay_reason"
    )
    X12_AttachmentReportType: Coded | None = optional("Kind of attachment", codes="attachment_type")
    X12_AttachmentTransmissionCode: Coded | None = optional(
        "How the attachment is sent", codes="attachment_transmission"
    )
    X12_AttachmentControlNumber: AttachmentNumber | None = optional("Attachment's control number")


class InstitutionalDocument(ClaimPart):
    """A body of ``POST /clearlane/v1/claims``."""

    DocumentType: Literal["InstitutionalClaim"] = required("Type of the document")
    Claims: tuple[InstitutionalClaim, ...] = required("Claims", min_length=1)
