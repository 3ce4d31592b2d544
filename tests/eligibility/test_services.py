"""Names of the interface and codes of X12, both ways."""

import re

import pytest

from clearlane.eligibility import services
from clearlane.x12 import codes
from clearlane.x12.guides import g270

SEEN = {
    "service_types": """MedicalCare HealthBenefitPlanCoverage Hospital HospitalEmergencyMedical EmergencyServices
        Hospice HospitalInpatient HospitalOutpatient Maternity Pharmacy ProfessionalPhysicianVisitOffice
        VisionOptometry DurableMedicalEquipment MentalHealth UrgentCare Chiropractic""",
    "payer_roles": "Payer",
    "payee_roles": "Facility",
    "entity_types": "Individual Organization",
    "genders": "Male",
}
GUIDES = {
    "service_types": g270.SERVICE_TYPES,
    "payer_roles": "2B|36|GP|P5|PR",
    "payee_roles": "1P|2B|36|80|FA|GP|P5|PR",
}


@pytest.mark.parametrize(("list", "names"), SEEN.items())
def test_every_name_seen_in_the_interface_is_known(list, names):
    for name in names.split():
        code = services.code(list, name)
        assert code is not None, name
        assert services.name(list, code) == name


@pytest.mark.parametrize(("list", "listed"), GUIDES.items())
def test_every_code_of_the_guide_has_a_name_of_its_own(list, listed):
    names = [services.name(list, code) for code in listed.split("|")]
    assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", name) for name in names), names
    assert len(set(names)) == len(names)
    for code, name in zip(listed.split("|"), names, strict=True):
        assert services.code(list, name) == services.code(list, code) == code


@pytest.mark.parametrize("list", ["service_types", "relationships"])
def test_every_code_of_the_list_has_a_name(list):
    assert services.names(list).keys() == codes.load(list).keys()


def test_health_benefit_plan_coverage_is_30_and_names_are_found_in_any_case():
    assert services.code("service_types", "HealthBenefitPlanCoverage") == "30"
    assert services.code("service_types", "health benefit plan coverage") == "30"
    assert services.code("service_types", "mh") == "MH"
    assert services.code("service_types", "Zork") is None


def test_an_unknown_code_is_reported_as_it_is():
    assert services.name("service_types", "ZZ9") == "ZZ9"


def test_what_is_asked_about_by_default():
    assert services.default_service("Medical") == "30"
    assert services.default_service("Dental") == "35"
