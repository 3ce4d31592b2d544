"""Tables from the qualifiers of a 271 to the fields of the response.

Data only; ``field_mapping`` applies it.
"""

from collections.abc import Mapping

PAYER_IDS = {
    "24": "EmployersIdNumber", "46": "ElectronicTransmitterIdNumber", "FI": "TaxIdNumber",
    "NI": "NaicId", "PI": "PayerId", "XV": "CmsPlanId", "XX": "NationalProviderId",
}  # fmt: skip
PAYEE_IDS = {
    "24": "EmployersIdNumber", "34": "SocialSecurityNumber", "FI": "TaxIdNumber", "PI": "PayerId",
    "PP": "PharmacyNumber", "SV": "ServiceProviderNumber", "XV": "CmsPlanId",
    "XX": "NationalProviderId",
}  # fmt: skip
PERSON_IDS = {"MI": "MemberId", "II": "StandardUniqueId", "": "MemberId"}
ENTITY_IDS = {
    "24": "EmployersIdNumber", "34": "SocialSecurityNumber",
    "46": "ElectronicTransmitterIdNumber", "FA": "FacilityIdNumber", "FI": "TaxIdNumber",
    "II": "StandardUniqueId", "MI": "MemberId", "NI": "NaicId", "PI": "PayerId",
    "PP": "PharmacyNumber", "SV": "ServiceProviderNumber", "XV": "CmsPlanId",
    "XX": "NationalProviderId",
}  # fmt: skip

PLAN_NAME, LICENSE_STATE = "PlanOrGroupName", "StateIssuingLicense"

# REF: the fields of each qualifier. The family unit number (49) is also the suffix of the member id.
PAYEE_REFERENCES: Mapping[str, tuple[str, ...]] = {
    "0B": ("StateLicenseNumber",), "1C": ("MedicareProviderNumber",),
    "1D": ("MedicaidProviderNumber",), "1J": ("FacilityIdNumber",), "4A": ("PersonalIdNumber",),
    "CT": ("ContractNumber",), "EL": ("DevicePin",), "EO": ("SubmitterIdNumber",),
    "HPI": ("NationalProviderId",), "JD": ("UserId",), "N5": ("ProviderPlanNetworkId",),
    "N7": ("FacilityNetworkIdNumber",), "Q4": ("PriorIdNumber",), "SY": ("SocialSecurityNumber",),
    "TJ": ("TaxIdNumber",),
}  # fmt: skip
PERSON_REFERENCES: Mapping[str, tuple[str, ...]] = {
    "18": ("PlanNumber",), "1L": ("GroupOrPolicyNumber",), "1W": ("MemberId",),
    "3H": ("CaseNumber",), "49": ("FamilyUnitNumber", "MemberIdSuffix"), "6P": ("GroupNumber",),
    "CE": ("ClassOfContract",), "CT": ("ContractNumber",), "EA": ("MedicalRecordNumber",),
    "EJ": ("PatientAccountNumber",), "F6": ("HealthInsuranceClaimNumber",),
    "GH": ("IdCardSerialNumber",), "HJ": ("IdentityCardNumber",), "IF": ("IssueNumber",),
    "IG": ("PolicyNumber",), "MRC": ("EligibilityCategory",), "N6": ("PlanNetworkIdNumber",),
    "NQ": ("MedicaidRecipientId",), "Q4": ("OriginalPrimaryId",), "SY": ("SocialSecurityNumber",),
    "Y4": ("AgencyClaimNumber",),
}  # fmt: skip
BENEFIT_REFERENCES: Mapping[str, tuple[str, ...]] = {
    "18": ("PlanNumber",), "1L": ("GroupOrPolicyNumber",), "1W": ("MemberId",),
    "49": ("MemberIdSuffix",), "6P": ("GroupNumber",), "9F": ("ReferralNumber",),
    "ALS": ("AlternativeListId",), "CLI": ("CoverageListId",),
    "F6": ("HealthInsuranceClaimNumber",), "FO": ("DrugFormularyNumber",),
    "G1": ("PriorAuthorizationNumber",), "IG": ("PolicyNumber",),
    "M7": ("MedicaidAssistanceCategory",), "N6": ("PlanNetworkIdNumber",),
    "NQ": ("MedicaidRecipientId",),
}  # fmt: skip

# DTP: the field of each qualifier; which end of a date range a single day is; the field that takes a date range.
PERSON_DATES: Mapping[str, tuple[str, str, str]] = {
    "096": ("DischargeDate", "", ""), "102": ("IssueDate", "", ""),
    "152": ("EffectiveDateOfChange", "", ""), "291": ("PlanDate", "", "PlanDates"),
    "307": ("EligibilityDate", "", "EligibilityDates"), "318": ("DateAdded", "", ""),
    "340": ("CobraDates", "Start", "CobraDates"), "341": ("CobraDates", "End", "CobraDates"),
    "342": ("PremiumPaidDates", "Start", "PremiumPaidDates"),
    "343": ("PremiumPaidDates", "End", "PremiumPaidDates"),
    "346": ("PlanDates", "Start", "PlanDates"), "347": ("PlanDates", "End", "PlanDates"),
    "356": ("EligibilityDates", "Start", "EligibilityDates"),
    "357": ("EligibilityDates", "End", "EligibilityDates"), "382": ("EnrollmentDate", "", ""),
    "435": ("AdmissionDate", "", ""), "442": ("DeathDate", "", ""),
    "458": ("CertificationDate", "", ""), "472": ("ServiceDate", "", ""),
    "539": ("PolicyDates", "Start", "PolicyDates"), "540": ("PolicyDates", "End", "PolicyDates"),
    "636": ("DateOfLastUpdate", "", ""), "771": ("StatusDate", "", ""),
}  # fmt: skip
BENEFIT_DATES: Mapping[str, tuple[str, str, str]] = {
    "096": ("DischargeDate", "", ""), "193": ("PeriodDates", "Start", "PeriodDates"),
    "194": ("PeriodDates", "End", "PeriodDates"), "198": ("CompletionDate", "", ""),
    "290": ("CobDate", "", ""), "291": ("PlanDate", "", ""),
    "292": ("BenefitDates", "Start", "BenefitDates"), "295": ("PcpDate", "", ""),
    "304": ("LatestVisitDate", "", ""), "307": ("EligibilityDates", "Start", "EligibilityDates"),
    "318": ("DateAdded", "", ""), "346": ("PlanBeginDate", "", ""),
    "348": ("BenefitDates", "Start", "BenefitDates"),
    "349": ("BenefitDates", "End", "BenefitDates"),
    "356": ("EligibilityDates", "Start", "EligibilityDates"),
    "357": ("EligibilityDates", "End", "EligibilityDates"), "435": ("AdmissionDate", "", ""),
    "472": ("ServiceDate", "", ""), "636": ("LastUpdateDate", "", ""),
    "771": ("StatusDate", "", ""),
}  # fmt: skip

# AAA03: the request field that a reject reason concerns. Reasons that concern none are absent.
PAYER_FAULTS = {"79": "PayerId", "T4": "PayerId"}
PAYEE_FAULTS = {
    "43": "NationalProviderId", "44": "CommonName", "50": "NationalProviderId",
    "51": "NationalProviderId",
}  # fmt: skip
DEPENDENT_FAULTS = {
    "56": "RequestedBenefits", "57": "RequestedBenefits", "58": "BirthDate", "60": "BirthDate",
    "62": "RequestedBenefits", "63": "RequestedBenefits", "65": "CommonName", "66": "Gender",
    "71": "BirthDate",
}  # fmt: skip
SUBSCRIBER_FAULTS = {
    **DEPENDENT_FAULTS, "64": "MemberId", "68": "MemberId", "72": "MemberId", "73": "CommonName",
    "74": "Gender", "75": "MemberId", "76": "MemberId", "78": "MemberId",
}  # fmt: skip
