"""The names that callers give for codes of a 270: service types, relationships, roles and sexes.

A name is found in any case and with any punctuation, and so is the X12 code itself.

Knows lists; knows no request and no file.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from clearlane.kernel import limits
from clearlane.payers.model import DENTAL, MEDICAL, PayerType

HEALTH_PLAN, DENTAL_CARE = "30", "35"
DEFAULT_SERVICES: Mapping[str, str] = {MEDICAL: HEALTH_PLAN, DENTAL: DENTAL_CARE}
"""The service type of an inquiry that names none, by the type of the payer."""
DENTAL_SERVICES = frozenset({
    "23", "24", "25", "26", "27", "28", "35", "36", "37", "38", "39", "40", "41",
})  # fmt: skip

_NAMES: dict[str, dict[str, str]] = {
    # NM101 of 2100A.
    "payer_roles": {
        "PR": "Payer", "2B": "ThirdPartyAdministrator", "36": "Employer", "GP": "GatewayProvider",
        "P5": "PlanSponsor",
    },
    # NM101 of 2100B.
    "payee_roles": {
        "1P": "Provider", "FA": "Facility", "80": "Hospital", "2B": "ThirdPartyAdministrator",
        "36": "Employer", "GP": "GatewayProvider", "P5": "PlanSponsor", "PR": "Payer",
    },
    "entity_types": {"1": "Individual", "2": "Organization"},
    "genders": {"M": "Male", "F": "Female", "U": "Unknown"},
    # INS02.
    "relationships": {
        "01": "Spouse", "18": "Self", "19": "Child", "20": "Employee", "21": "Unknown",
        "34": "OtherAdult", "39": "OrganDonor", "40": "CadaverDonor", "53": "LifePartner",
        "G8": "Other",
    },
    # EB03 and EQ01.
    "service_types": {
        "1": "MedicalCare", "2": "Surgical", "3": "Consultation", "4": "DiagnosticXRay",
        "5": "DiagnosticLab", "6": "RadiationTherapy", "7": "Anesthesia",
        "8": "SurgicalAssistance", "9": "OtherMedical", "10": "BloodCharges",
        "11": "UsedDurableMedicalEquipment", "12": "DurableMedicalEquipmentPurchase",
        "13": "AmbulatoryServiceCenterFacility", "14": "RenalSuppliesInTheHome",
        "15": "AlternateMethodDialysis", "16": "ChronicRenalDiseaseEquipment",
        "17": "PreAdmissionTesting", "18": "DurableMedicalEquipmentRental",
        "19": "PneumoniaVaccine", "20": "SecondSurgicalOpinion", "21": "ThirdSurgicalOpinion",
        "22": "SocialWork", "23": "DiagnosticDental", "24": "Periodontics", "25": "Restorative",
        "26": "Endodontics", "27": "MaxillofacialProsthetics", "28": "AdjunctiveDentalServices",
        "30": "HealthBenefitPlanCoverage", "32": "PlanWaitingPeriod", "33": "Chiropractic",
        "34": "ChiropracticOfficeVisits", "35": "DentalCare", "36": "DentalCrowns",
        "37": "DentalAccident", "38": "Orthodontics", "39": "Prosthodontics", "40": "OralSurgery",
        "41": "RoutinePreventiveDental", "42": "HomeHealthCare", "43": "HomeHealthPrescriptions",
        "44": "HomeHealthVisits", "45": "Hospice", "46": "RespiteCare", "47": "Hospital",
        "48": "HospitalInpatient", "49": "HospitalRoomAndBoard", "50": "HospitalOutpatient",
        "51": "HospitalEmergencyAccident", "52": "HospitalEmergencyMedical",
        "53": "HospitalAmbulatorySurgical", "54": "LongTermCare", "55": "MajorMedical",
        "56": "MedicallyRelatedTransportation", "57": "AirTransportation", "58": "Cabulance",
        "59": "LicensedAmbulance", "60": "GeneralBenefits", "61": "InVitroFertilization",
        "62": "MriCatScan", "63": "DonorProcedures", "64": "Acupuncture", "65": "NewbornCare",
        "66": "Pathology", "67": "SmokingCessation", "68": "WellBabyCare", "69": "Maternity",
        "70": "Transplants", "71": "AudiologyExam", "72": "InhalationTherapy",
        "73": "DiagnosticMedical", "74": "PrivateDutyNursing", "75": "ProstheticDevice",
        "76": "Dialysis", "77": "OtologicalExam", "78": "Chemotherapy", "79": "AllergyTesting",
        "80": "Immunizations", "81": "RoutinePhysical", "82": "FamilyPlanning",
        "83": "Infertility", "84": "Abortion", "85": "Aids", "86": "EmergencyServices",
        "87": "Cancer", "88": "Pharmacy", "89": "FreeStandingPrescriptionDrug",
        "90": "MailOrderPrescriptionDrug", "91": "BrandNamePrescriptionDrug",
        "92": "GenericPrescriptionDrug", "93": "Podiatry", "94": "PodiatryOfficeVisits",
        "95": "PodiatryNursingHomeVisits", "96": "ProfessionalPhysician", "97": "Anesthesiologist",
        "98": "ProfessionalPhysicianVisitOffice", "99": "ProfessionalPhysicianVisitInpatient",
        "A0": "ProfessionalPhysicianVisitOutpatient",
        "A1": "ProfessionalPhysicianVisitNursingHome",
        "A2": "ProfessionalPhysicianVisitSkilledNursingFacility",
        "A3": "ProfessionalPhysicianVisitHome", "A4": "Psychiatric",
        "A5": "PsychiatricRoomAndBoard", "A6": "Psychotherapy", "A7": "PsychiatricInpatient",
        "A8": "PsychiatricOutpatient", "A9": "Rehabilitation", "AA": "RehabilitationRoomAndBoard",
        "AB": "RehabilitationInpatient", "AC": "RehabilitationOutpatient",
        "AD": "OccupationalTherapy", "AE": "PhysicalMedicine", "AF": "SpeechTherapy",
        "AG": "SkilledNursingCare", "AH": "SkilledNursingCareRoomAndBoard", "AI": "SubstanceAbuse",
        "AJ": "Alcoholism", "AK": "DrugAddiction", "AL": "VisionOptometry", "AM": "Frames",
        "AN": "RoutineExam", "AO": "Lenses", "AQ": "NonmedicallyNecessaryPhysical",
        "AR": "ExperimentalDrugTherapy", "B1": "BurnCare",
        "B2": "BrandNamePrescriptionDrugFormulary", "B3": "BrandNamePrescriptionDrugNonFormulary",
        "BA": "IndependentMedicalEvaluation", "BB": "PartialHospitalizationPsychiatric",
        "BC": "DayCarePsychiatric", "BD": "CognitiveTherapy", "BE": "MassageTherapy",
        "BF": "PulmonaryRehabilitation", "BG": "CardiacRehabilitation", "BH": "Pediatric",
        "BI": "Nursery", "BJ": "Skin", "BK": "Orthopedic", "BL": "Cardiac", "BM": "Lymphatic",
        "BN": "Gastrointestinal", "BP": "Endocrine", "BQ": "Neurology", "BR": "Eye",
        "BS": "InvasiveProcedures", "BT": "Gynecological", "BU": "Obstetrical",
        "BV": "ObstetricalGynecological", "BW": "MailOrderPrescriptionDrugBrandName",
        "BX": "MailOrderPrescriptionDrugGeneric", "BY": "PhysicianVisitOfficeSick",
        "BZ": "PhysicianVisitOfficeWell", "C1": "CoronaryCare",
        "CA": "PrivateDutyNursingInpatient", "CB": "PrivateDutyNursingHome",
        "CC": "SurgicalBenefitsProfessionalPhysician", "CD": "SurgicalBenefitsFacility",
        "CE": "MentalHealthProviderInpatient", "CF": "MentalHealthProviderOutpatient",
        "CG": "MentalHealthFacilityInpatient", "CH": "MentalHealthFacilityOutpatient",
        "CI": "SubstanceAbuseFacilityInpatient", "CJ": "SubstanceAbuseFacilityOutpatient",
        "CK": "ScreeningXRay", "CL": "ScreeningLaboratory", "CM": "MammogramHighRiskPatient",
        "CN": "MammogramLowRiskPatient", "CO": "FluVaccination",
        "CP": "EyewearAndEyewearAccessories", "CQ": "CaseManagement", "DG": "Dermatology",
        "DM": "DurableMedicalEquipment", "DS": "DiabeticSupplies",
        "GF": "GenericPrescriptionDrugFormulary", "GN": "GenericPrescriptionDrugNonFormulary",
        "GY": "Allergy", "IC": "IntensiveCare", "MH": "MentalHealth",
        "NI": "NeonatalIntensiveCare", "ON": "Oncology", "PT": "PhysicalTherapy",
        "PU": "Pulmonary", "RN": "Renal", "RT": "ResidentialPsychiatricTreatment",
        "TC": "TransitionalCare", "TN": "TransitionalNurseryCare", "UC": "UrgentCare",
    },
}  # fmt: skip

# Synonyms that callers may send beside the name and the code.
_SYNONYMS: dict[str, dict[str, str]] = {
    "genders": {"man": "M", "woman": "F", "other": "U", "x": "U"},
    "entity_types": {"person": "1", "nonperson": "2", "nonpersonentity": "2", "organisation": "2"},
    "relationships": {
        "husband": "01", "wife": "01", "1": "01", "son": "19", "daughter": "19", "dependent": "G8",
        "otherrelationship": "G8", "domesticpartner": "53", "partner": "53",
    },
}  # fmt: skip
_PUNCTUATION = re.compile(r"[^0-9a-z]")


def name(list: str, code: str) -> str:
    """Return the name of a code; the code itself if the list does not have it."""
    return _NAMES[list].get(code, code)


def names(list: str) -> Mapping[str, str]:
    """Return the names of a list by code."""
    return MappingProxyType(_NAMES[list])


def code(list: str, text: str) -> str | None:
    """Return the code for a caller's name or code; None if the list has none."""
    return _code(list, text) if len(text) <= limits.CODED_CHARACTERS_MAX else None


def default_service(payer_type: "PayerType | str") -> str:
    """Return the service type of an inquiry that names none."""
    return DEFAULT_SERVICES[payer_type]


@lru_cache(limits.CHECK_RESULTS_CACHED_MAX)
def _code(list: str, text: str) -> str | None:
    return _codes(list).get(_PUNCTUATION.sub("", text.casefold()))


@cache
def _codes(list: str) -> Mapping[str, str]:
    found = dict(_SYNONYMS.get(list, {}))
    found |= {_PUNCTUATION.sub("", name.casefold()): code for code, name in names(list).items()}
    return found | {code.casefold(): code for code in names(list)}
