"""Where the fields of a medical claim are in the view."""

from collections.abc import Sequence
from types import MappingProxyType

from clearlane.claims import cob
from clearlane.claims.cob import ZERO, EarlierDecision, EarlierLineDecision, Groups
from clearlane.claims.view import ClaimView, LineView
from clearlane.claims.view_builder import Given, ViewTable, joined, split

ACCIDENT_MARKS = {
    "F10B_PatientCondAutoAccident": "AA",
    "F10A_PatientCondEmployment": "EM",
    "F10C_PatientCondOtherAccident": "OA",
}
CLAIM_GROUPS = {
    "X12_ClaimContractualObligationAdjustments": "CO",
    "X12_ClaimCorrectionAndReversalAdjustments": "CR",
    "X12_ClaimOtherAdjustments": "OA",
    "X12_ClaimPayorInitiatedReductions": "PI",
    "X12_ClaimPatientResponsibilityAdjustments": "PR",
}
LINE_GROUPS = {
    "X12_LineContractualObligationAdjustments": "CO",
    "X12_LineCorrectionAndReversalAdjustments": "CR",
    "X12_LineOtherAdjustments": "OA",
    "X12_LinePayorInitiatedReductions": "PI",
    "X12_LinePatientResponsibilityAdjustments": "PR",
}
"""The fields of an earlier payer's adjustments, and their groups."""


def accidents(given: Given) -> tuple[str, ...]:
    """Return the causes of the condition as X12 codes."""
    return tuple([code for name, code in ACCIDENT_MARKS.items() if given.get(name)])


def decision(given: Given, lines: tuple[EarlierLineDecision | None, ...]) -> EarlierDecision | None:
    """Return the earlier payer's decision, or None."""
    groups: Groups = {group: given[name] for name, group in CLAIM_GROUPS.items() if name in given}
    paid = given.get("X12_ClaimPrimaryPayerPaidAmount")
    if paid is None:
        paid = given.get("F29_PayerAmountPaid")
    day = given.get("X12_ClaimAdjudicationDate")
    if not (paid or groups or day or any(lines)):
        return None
    if paid is None:
        paid = cob.total_paid(lines) - cob.total_adjusted(groups)
    return EarlierDecision(paid, groups, day, lines)


def line_decision(given: Given) -> EarlierLineDecision | None:
    """Return the earlier payer's decision about a line, or None."""
    groups: Groups = {group: given[name] for name, group in LINE_GROUPS.items() if name in given}
    paid = given.get("X12_PrimaryPayerPaidAmount")
    day = given.get("X12_AdjudicationOrPaymentDate")
    return EarlierLineDecision(paid or ZERO, groups, day) if paid or groups or day else None


def _marks(causes: Sequence[str], given: Given) -> dict[str, object]:
    return {name: code in causes or None for name, code in ACCIDENT_MARKS.items()}


LINE = ViewTable(
    view=LineView,
    paths=MappingProxyType(
        {
            "F24A_DateOfServiceFrom": "first_day",
            "F24A_DateOfServiceTo": "last_day",
            "F24B_PlaceOfServiceCode": "place",
            "F24C_Emg": "emergency",
            "F24D_HcpcsProcedureCode": "procedure",
            "F24D_Modifiers": "modifiers",
            "X12_Description": "description",
            "F24E_DiagnosisPointers": "pointers",
            "F24F_Charges": "charge",
            "F24G_DaysOrUnits": "units",
            "F24H_EarlyPeriodicScreeningDiagnosisAndTreatment": "epsdt",
            "F24H_FamilyPlannning": "family_planning",
            "F24J_Shaded_RendProviderTaxonomyCode": "rendering.taxonomy",
            "F24J_Shaded_RendProviderStateLicenseNumber": "rendering.license",
            "F24J_Shaded_RendProviderUpinNumber": "rendering.upin",
            "F24J_Shaded_RendProviderCommercialNumber": "rendering.commercial_number",
            "F24J_Shaded_RendProviderLocationNumber": "rendering.location_number",
            "F24J_RenderingNpi": "rendering.npi",
            "X12_Anesthesia": "in_minutes",
            "X12_ContractMonetaryAmount": "contract.amount",
            "X12_ContractTypeCode": "contract.type",
            "X12_PrimaryPayerPaidAmount": "decision.paid",
            "X12_AdjudicationOrPaymentDate": "decision.day",
            **{name: f"decision.groups.{group}" for name, group in LINE_GROUPS.items()},
            "X12_MeasurementId": "measurement.reference",
            "X12_MeasurementQualifier": "measurement.qualifier",
            "X12_MeasurementValue": "measurement.value",
            "X12_NdcCode": "drug.code",
            "X12_NdcQuantity": "drug.quantity",
            "X12_DrugQuantityInternationalUnits": "drug.international_units",
            "X12_DrugQuantityGrams": "drug.grams",
            "X12_DrugQuantityMilligrams": "drug.milligrams",
            "X12_DrugQuantityMilliliters": "drug.milliliters",
            "X12_DrugQuantityUnits": "drug.units",
            "X12_NdcPharmacyPrescriptionNumber": "drug.prescription",
            "X12_NdcLinkSequenceNumber": "drug.link",
            "X12_LineRemainingPatientLiability": "remaining_liability",
            "X12_ProviderControlNumber": "control_number",
            "F24_Shaded_LineNoteText": "note",
        }
    ),
    converted={"F24D_Modifiers": split},
    computed={"decision": line_decision},
    written={"modifiers": joined("F24D_Modifiers")},
)
_ROLES = ("Referring", "Supervising", "Ordering")
CLAIM = ViewTable(
    view=ClaimView,
    paths=MappingProxyType(
        {
            "Svc_PayerId": "payer.id",
            "Svc_VendorClaimId": "vendor_claim_id",
            "F00_PayerName": "payer.name",
            "F00_PayerAddress1": "payer.street",
            "F00_PayerAddress2": "payer.street2",
            "F00_PayerCity": "payer.city",
            "F00_PayerState": "payer.state",
            "F00_PayerZip": "payer.zip",
            "F01_ClaimType": "payer.coverage",
            "F01A_InsuredId": "subscriber.member_id",
            "F02_PatientNameLast": "patient.last_name",
            "F02_PatientNameFirst": "patient.first_name",
            "F02_PatientNameMiddle": "patient.middle_name",
            "F02_PatientSuffix": "patient.suffix",
            "F03_PatientDob": "patient.birth",
            "F03_PatientSex": "patient.sex",
            "F04_InsuredNameLast": "subscriber.last_name",
            "F04_InsuredNameFirst": "subscriber.first_name",
            "F04_InsuredNameMiddle": "subscriber.middle_name",
            "F04_InsuredSuffix": "subscriber.suffix",
            "F05_PatientAddress1": "patient.street",
            "F05_PatientAddress2": "patient.street2",
            "F05_PatientCity": "patient.city",
            "F05_PatientState": "patient.state",
            "F05_PatientZip": "patient.zip",
            "F05_PatientPhone": "patient.phone",
            "F06_PatientRelationshipToInsured": "subscriber.relationship",
            "F07_InsuredAddress1": "subscriber.street",
            "F07_InsuredAddress2": "subscriber.street2",
            "F07_InsuredCity": "subscriber.city",
            "F07_InsuredState": "subscriber.state",
            "F07_InsuredZip": "subscriber.zip",
            "F07_InsuredPhone": "subscriber.phone",
            "F09_OtherInsuredNameLast": "other_payers[0].insured.last_name",
            "F09_OtherInsuredNameFirst": "other_payers[0].insured.first_name",
            "F09_OtherInsuredNameMiddle": "other_payers[0].insured.middle_name",
            "F09_OtherInsuredSuffix": "other_payers[0].insured.suffix",
            "F09A_OtherInsuredGroupNum": "other_payers[0].insured.policy_number",
            "X12_OtherInsuredId": "other_payers[0].insured.member_id",
            "F09B_OtherInsuredDOB": "other_payers[0].insured.birth",
            "F09B_OtherInsuredSex": "other_payers[0].insured.sex",
            "F09C_OtherEmployerName": "other_payers[0].insured.employer",
            "F09_PatientRelationshipToInsured": "other_payers[0].insured.relationship",
            "F09D_OtherPlanName": "other_payers[0].plan_name",
            "X12_OtherPayerName": "other_payers[0].name",
            "X12_OtherPayerClaimType": "other_payers[0].coverage",
            "X12_ClaimAdjudicationDate": "other_payers[0].decision.day",
            **{
                name: f"other_payers[0].decision.groups.{group}"
                for name, group in CLAIM_GROUPS.items()
            },
            **dict.fromkeys(ACCIDENT_MARKS, "causes"),
            "F10B_PatientCondAutoAccidentState": "accident_state",
            "F11_InsuredsPolicyGroupOrFecaNumber": "subscriber.group_number",
            "F11A_InsuredDob": "subscriber.birth",
            "F11A_InsuredSex": "subscriber.sex",
            "F11C_PlanName": "subscriber.plan_name",
            "F11D_OtherPlan": "other_coverage",
            "F12_PatientAuthorization": "release",
            "F12_PatientAuthorizationDate": "dates.release",
            "F13_InsuredAuthorization": "benefits_assigned",
            "F14_DateOfCurrentIllnessOrSymptom": "dates.onset",
            "F14_LastMenstrualPeriodDate": "dates.last_menstrual_period",
            "F15_InitialTreatmentDate": "dates.initial_treatment",
            "F15_LastSeenDate": "dates.last_seen",
            "F15_AcuteManifestionDate": "dates.acute_manifestation",
            "F15_AccidentDate": "dates.accident",
            "F15_LastXRayDate": "dates.last_x_ray",
            "F15_HearingAndVisionPrescriptionDate": "dates.prescription",
            "F15_AssumedCareStartDate": "dates.assumed_care_from",
            "F15_AssumedCareEndDate": "dates.assumed_care_until",
            "F15_PropertyCasualtyFirstContactDate": "dates.first_contact",
            "F16_LastWorkedDate": "dates.last_worked",
            "F16_AuthorizedReturnToWorkDate": "dates.return_to_work",
            "F18_HospitalizationDateFrom": "dates.admission",
            "F18_HospitalizationDateTo": "dates.discharge",
            **{
                f"{box}_{role}Provider{word}": f"{role.lower()}.{attribute}"
                for role in _ROLES
                for box, word, attribute in (
                    ("F17", "NameLast", "last_name"),
                    ("F17", "NameFirst", "first_name"),
                    ("F17", "NameMiddle", "middle_name"),
                    ("F17", "Suffix", "suffix"),
                    ("F17A", "IdNumber", "other_id"),
                    ("F17B", "Npi", "npi"),
                )
            },
            "F19_ClaimSupplementalInfoNoteText": "note",
            "F21_IcdIndicator": "icd_version",
            "F21_DiagnosisCodes": "diagnoses",
            "F22_MedicaidResubmissionCode": "frequency",
            "F22_OriginalReferenceNumber": "original_reference",
            "F23_PriorAuthorizationNumber": "prior_authorization",
            "F23_ReferralNumber": "referral_number",
            "F23_ClinicalLaboratoryImprovementAmendmentNumber": "clia_number",
            "F23_MammographyCertificationNumber": "mammography_number",
            "F25_FederalTaxIdEin": "billing.ein",
            "F25_FederalTaxIdSsn": "billing.ssn",
            "F26_PatientAcctNumber": "account_number",
            "F27_AcceptAssignment": "accepts_assignment",
            "F28_TotalCharge": "total_charge",
            "F29_PatientAmountPaid": "patient_paid",
            "F29_PayerAmountPaid": "payer_paid",
            "F31_PhysicianOrSupplierSignatureIsOnFile": "signature_on_file",
            "F32_FacilityName": "facility.last_name",
            "F32_FacilityAddress1": "facility.street",
            "F32_FacilityAddress2": "facility.street2",
            "F32_FacilityCity": "facility.city",
            "F32_FacilityState": "facility.state",
            "F32_FacilityZip": "facility.zip",
            "F32A_FacilityNpi": "facility.npi",
            "F32B_FacilityIdStateLicenseNumber": "facility.license",
            "F32B_FacilityIdProviderCommercialLicenseNumber": "facility.commercial_number",
            "F32B_FacilityIdLocationNumber": "facility.location_number",
            "F33_BillingProviderNameLast": "billing.last_name",
            "F33_BillingProviderNameFirst": "billing.first_name",
            "F33_BillingProviderNameMiddle": "billing.middle_name",
            "F33_BillingProviderSuffix": "billing.suffix",
            "F33_BillingProviderAddress1": "billing.street",
            "F33_BillingProviderAddress2": "billing.street2",
            "F33_BillingProviderCity": "billing.city",
            "F33_BillingProviderState": "billing.state",
            "F33_BillingProviderZip": "billing.zip",
            "F33_BillingProviderPhoneNumber": "billing.phone",
            "F33A_BillingProviderNpi": "billing.npi",
            "F33B_BillingProviderTaxonomyCode": "billing.taxonomy",
            "F33B_BillingProviderSsn": "billing.second_ssn",
            "X12_PlaceOfServiceCode": "place",
            "X12_RendProviderNameLast": "rendering.last_name",
            "X12_RendProviderNameFirst": "rendering.first_name",
            "X12_RendProviderNameMiddle": "rendering.middle_name",
            "X12_RendProviderSuffix": "rendering.suffix",
            "X12_RendProviderTaxonomyCode": "rendering.taxonomy",
            "X12_RendProviderStateLicenseNumber": "rendering.license",
            "X12_RendProviderUpinNumber": "rendering.upin",
            "X12_RendProviderCommercialNumber": "rendering.commercial_number",
            "X12_RendProviderLocationNumber": "rendering.location_number",
            "X12_RenderingNPI": "rendering.npi",
            "X12_AcuteManifestationCode": "patient_condition",
            "X12_ClaimPrimaryPayerPaidAmount": "earlier_paid",
            "X12_MedicalRecordNumber": "medical_record_number",
            "X12_SpectacleLenses": "spectacle_lenses",
            "X12_ContactLenses": "contact_lenses",
            "X12_SpectacleFrames": "spectacle_frames",
            "X12_DisabilityDateFrom": "dates.disability_from",
            "X12_DisabilityDateTo": "dates.disability_until",
            "X12_ClaimContractMonetaryAmount": "contract.amount",
            "X12_ClaimContractTypeCode": "contract.type",
            "X12_ClaimContractCode": "contract.code",
            "X12_DelayReasonCode": "delay_reason",
            "X12_MedicareSecondaryReason": "medicare_reason",
            "X12_ClaimRemainingPatientLiability": "remaining_liability",
        }
    ),
    computed={"causes": accidents},
    written={"causes": _marks},
)
PLACES = MappingProxyType(
    {f"causes[{at}]": name for at, name in enumerate(ACCIDENT_MARKS)}
    | {"causes": next(iter(ACCIDENT_MARKS))}
)
NAMES = MappingProxyType({"causes": "F10A, F10B or F10C"})
DUPLICATE = ("first_day", "procedure", "modifiers", "place", "drug.code")
