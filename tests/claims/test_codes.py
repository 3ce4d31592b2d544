"""Coded fields take codes, names and the values seen, in any case."""

from clearlane.claims import codes
from clearlane.kernel import limits
from tests.cases import every_case


@every_case(
    ("name", "text", "code"),
    [
        ("sex", "M", "M"),
        ("sex", "male", "M"),
        ("sex", "FEMALE", "F"),
        ("relationship", "Self", "18"),
        ("relationship", "18", "18"),
        ("relationship", "Spouse", "01"),
        ("relationship", "01", "01"),
        ("relationship", "Child", "19"),
        ("relationship", "Other", "G8"),
        ("relationship", "g8", "G8"),
        ("relationship", "LifePartner", "53"),
        ("claim_type", "Group", "CI"),
        ("claim_type", "Medicare", "MB"),
        ("claim_type", "Medicaid", "MC"),
        ("claim_type", "TRICARE", "CH"),
        ("claim_type", "Champva", "VA"),
        ("claim_type", "FECA", "OF"),
        ("claim_type", "Other", "ZZ"),
        ("claim_type", "mb", "MB"),
        ("release", "Yes", "Y"),
        ("benefits", "Y", "Y"),
        ("benefits", "No", "N"),
        ("assignment", "Assigned", "A"),
        ("assignment", "NotAssigned", "C"),
        ("assignment", "AssignedLabOnly", "B"),
        ("assignment", "1", "A"),
        ("assignment", "0", "C"),
        ("icd_version", "10", "10"),
        ("icd_version", "ICD-10", "10"),
        ("icd_version", "0", "10"),
        ("icd_version", "AB", "10"),
        ("icd_version", "B", "9"),
        ("frequency", "Replacement", "7"),
        ("transaction_type", "ActualServices", "CH"),
        ("transaction_type", "Predetermination", "PB"),
        ("transaction_type", "EPSDT/Title XIX", "01"),
        ("tax_id", "EI", "EI"),
        ("tax_id", "SSN", "SY"),
        ("member_id", "1", "MI"),
        ("entity", "1", "1"),
        ("tooth_system", "jp", "JP"),
        ("oral_area", "UR", "10"),
        ("surface", "Mesial", "M"),
        ("accident", "AutoAccident", "AA"),
        ("accident", "Occupational illness/injury", "EM"),
        ("places_of_service", "Office", "11"),
        ("places_of_service", "11", "11"),
        ("delay_reason", "Natural disaster", "15"),
        ("sex", "Z", None),
        ("release", "No", None),
        ("frequency", "9", None),
        ("sex", "x" * (limits.CODED_CHARACTERS_MAX + 1), None),
        ("sex", "", None),
        ("sex", "男", None),
    ],
)
def test_a_text_becomes_its_code(name, text, code):
    assert codes.find(name, text) == code
    if code:
        assert codes.find(name, text.swapcase()) == code


@every_case("name", codes.LISTS)
def test_every_code_and_every_name_of_a_list_is_understood(name):
    assert codes.meanings(name)
    for code, word in codes.meanings(name).items():
        assert word
        assert codes.find(name, code) == code
        assert codes.find(name, word) in codes.meanings(name)
    for spelling, code in codes.common_spellings(name).items():
        assert codes.find(name, spelling) == code


@every_case("name", codes.LISTS)
def test_a_list_can_tell_what_passes(name):
    assert next(iter(codes.meanings(name))) in codes.accepted_values(name)
    assert len(codes.accepted_values(name)) < 700
