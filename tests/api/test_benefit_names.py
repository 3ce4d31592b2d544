"""V3's names of the codes of a 271; those that a request may give too are read back."""

import re

import pytest

from clearlane.api.v3.benefits import benefit_names
from clearlane.cli.eligibility import eligibility_answer
from clearlane.eligibility import services
from clearlane.x12 import codes
from clearlane.x12.guides import g270, g271
from tests.cases import every_case

SEEN = {
    "service_types": """MedicalCare HealthBenefitPlanCoverage Hospital HospitalEmergencyMedical EmergencyServices
        Hospice HospitalInpatient HospitalOutpatient Maternity Pharmacy ProfessionalPhysicianVisitOffice
        VisionOptometry DurableMedicalEquipment MentalHealth UrgentCare Chiropractic""",
    "benefits": "CoInsurance ActiveCoverage Deductible Limitations OutOfPocketStopLoss",
    "coverage_levels": "Individual Family",
    "time_periods": "Remaining CalendarYear",
    "quantities": "Visits",
    "answers": "Yes No NotApplicable",
    "payer_roles": "Payer",
    "payee_roles": "Facility",
    "entity_types": "Individual Organization",
    "genders": "Male",
}
GUIDES = {
    "service_types": g270.SERVICE_TYPES,
    "benefits": g271.BENEFITS,
    "coverage_levels": g271.COVERAGE_LEVELS,
    "insurance_types": g271.INSURANCE_TYPES,
    "time_periods": g271.TIME_PERIODS,
    "quantities": g271.QUANTITIES,
    "provider_roles": g270.PROVIDER_ROLES,
    "entities": g271._ENTITIES,
    "answers": "N|U|W|Y",
    "follow_up_actions": "C|N|P|R|S|W|X|Y",
    "payer_roles": "2B|36|GP|P5|PR",
    "payee_roles": "1P|2B|36|80|FA|GP|P5|PR",
}


@pytest.mark.parametrize(("list", "names"), SEEN.items())
def test_every_name_seen_in_the_document_is_the_name_of_a_code(list, names):
    known = benefit_names.NAMES.get(list) or services.names(list)
    assert set(names.split()) <= set(known.values())


@pytest.mark.parametrize(("list", "listed"), GUIDES.items())
def test_every_code_of_the_guide_has_a_name_of_its_own(list, listed):
    names = [benefit_names.name(list, code) for code in listed.split("|")]
    assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", name) for name in names), names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "list", sorted(benefit_names.NAMES.keys() & set(codes.list_names()) - {"entities"})
)
def test_every_code_of_the_list_has_a_name(list):
    assert benefit_names.NAMES[list].keys() == codes.load(list).keys()


@pytest.mark.parametrize(
    ("list", "table"),
    [
        ("benefits", eligibility_answer.BENEFITS), ("coverage_levels", eligibility_answer.COVERAGE_LEVELS),
        ("time_periods", eligibility_answer.TIME_PERIODS), ("answers", eligibility_answer.NETWORKS),
        ("follow_up_actions", eligibility_answer.FOLLOW_UP_ACTIONS),
    ],
)  # fmt: skip
def test_the_command_of_vendors_reads_the_names_that_are_sent(list, table):
    assert {code: benefit_names.name(list, code) for code in table.values()} == {
        code: name for name, code in table.items()
    }


@every_case(
    ("list", "code", "word"),
    [
        ("service_types", "30", "HealthBenefitPlanCoverage"),
        ("service_types", "1", "MedicalCare"),
        ("service_types", "47", "Hospital"),
        ("service_types", "52", "HospitalEmergencyMedical"),
        ("service_types", "86", "EmergencyServices"),
        ("service_types", "98", "ProfessionalPhysicianVisitOffice"),
        ("service_types", "AL", "VisionOptometry"),
        ("service_types", "DM", "DurableMedicalEquipment"),
        ("service_types", "MH", "MentalHealth"),
        ("service_types", "UC", "UrgentCare"),
        ("benefits", "A", "CoInsurance"),
        ("benefits", "1", "ActiveCoverage"),
        ("benefits", "C", "Deductible"),
        ("benefits", "F", "Limitations"),
        ("benefits", "G", "OutOfPocketStopLoss"),
        ("coverage_levels", "IND", "Individual"),
        ("time_periods", "29", "Remaining"),
        ("time_periods", "23", "CalendarYear"),
        ("quantities", "VS", "Visits"),
    ],
)
def test_a_code_has_its_name(list, code, word):
    assert benefit_names.name(list, code) == word


def test_an_unknown_code_is_reported_as_it_is():
    assert benefit_names.name("benefits", "ZZ9") == "ZZ9"
    assert benefit_names.name("service_types", "ZZ9") == "ZZ9"
