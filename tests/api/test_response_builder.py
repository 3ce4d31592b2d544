"""A payer's answer becomes V3's element of ``Responses``; a refusal at any level keeps its codes.

Also tests `api/v3/benefits/qualifiers`, `api/v3/benefits/response_parties`, `api/v3/benefits/response_benefits` and
`api/v3/benefits/field_mapping`.
"""

import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from random import Random

import msgspec
import pytest

from clearlane.api.v3.benefits import json_types, qualifiers, response_builder
from clearlane.api.v3.benefits.compose_response import encode_element
from clearlane.eligibility import read_271
from clearlane.inquiry.response_file import AnswerMatch
from tests.cases import every_case, full_or_quick
from tests.corpus import corpus_files
from tests.eligibility.invented import (
    HEAD,
    NOON,
    PERSON,
    RECEIVER,
    SUBSCRIBER,
    TRACE,
    WITH_CHILD,
    answer_file,
    answered,
    child,
    inquiry,
)
from tests.eligibility.values_271 import benefit_rows, count, lost_rows, rows_of
from tests.x12 import samples_other

PAYEE = SUBSCRIBER.partition(".Subscribers")[0]
PAYER = PAYEE.partition(".Payees")[0]


def build(one, asked=None, *, trace="", with_x12=False):
    made = read_271.build_answer(one, asked, document_id="D1", created_at=NOON, trace=trace)
    return response_builder.build_response(made, one.content if with_x12 else b"")


def response_of(*body, asked=None, **more):
    """The response to a file of one patient, as a caller reads it."""
    [one] = read_271.read(answer_file(*body)).answers
    return json.loads(encode_element(build(one, asked, **more)))


def patient(*body, **more):
    """The subscriber element of a file whose benefits are these."""
    found = response_of(*HEAD, *RECEIVER, *PERSON, *body, **more)
    return found["Payers"][0]["Payees"][0]["Subscribers"][0]


# --- without loss -------------------------------------------------------------------------------------


def body_of(data: bytes):
    bodies = [encode_element(build(one)) for one in read_271.read(data).answers]
    return [json.loads(body, parse_float=Decimal, parse_int=Decimal) for body in bodies]


def assert_no_benefit_is_lost(data: bytes) -> None:
    """Every benefit, error, message, party and service type has its element, and every value of a benefit its place."""
    rows, component = rows_of(data)
    found = body_of(data)
    names = Counter(row[0][0] for row in rows)
    assert count(found, "Benefits") >= names["EB"]
    assert count(found, "Errors") + count(found, "EnvelopeErrors") >= names["AAA"]
    assert count(found, "Messages") >= names["MSG"]
    inside, parties = False, 0
    for row in rows:
        inside = (inside or row[0][0] == "LS") and row[0][0] != "LE"
        parties += inside and row[0][0] == "NM1"
    assert count(found, "BenefitEntities") >= parties
    services = sum(
        len([one for one in row[3] if one]) for row in rows if row[0][0] == "EB" and len(row) > 3
    )
    assert count(found, "TypesOfService") >= services
    assert lost_rows(benefit_rows(rows), component, found, response_day) == []


def response_day(day: str) -> str:
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T00:00:00"


@every_case("sample", corpus_files("271"))
def test_public_files_become_responses_without_loss_of_a_benefit(sample):
    assert_no_benefit_is_lost(sample.path.read_bytes())


@every_case("seed", range(full_or_quick(40, 8)))
def test_random_files_become_responses_without_loss_of_a_benefit(seed):
    rows = samples_other.made(Random(seed), "271")
    assert_no_benefit_is_lost(samples_other.interchange("271", [rows]).encode())


@every_case("sample", corpus_files("271"))
def test_every_response_reads_back_as_it_was(sample):
    for one in read_271.read(sample.path.read_bytes()).answers[:5]:
        made = build(one, with_x12=True)
        assert (
            msgspec.json.decode(encode_element(made), type=json_types.BenefitResponseJson) == made
        )


# --- fields -------------------------------------------------------------------------------------------


def test_the_outer_fields_are_filled():
    found = response_of(*HEAD, *RECEIVER, *PERSON, "EB*1**30", with_x12=True)
    assert found["GroupControlNumber"] == "31"
    assert found["TradingPartnerId"] == "TST01"
    assert found["BenefitFormat"] == "DataModel"
    assert found["ResponseType"] == "BenefitResponse"
    assert found["CreateDate"] == "2024-05-01T12:00:00.000Z"
    assert found["DocumentId"] == "D1"
    assert found["X12Document"].startswith("ISA*")
    assert found["EnvelopeErrors"] is None
    assert response_of(*HEAD, *RECEIVER, *PERSON, "EB*1**30")["X12Document"] is None


def test_payer_and_payee_are_reported():
    found = response_of(
        *HEAD, "PER*IC*HELP DESK*TE*5035550100*EM*HELP.EXAMPLE", "HL*2*1*21*1",
        "NM1*1P*1*FENN*OSKAR*Q**JR*XX*1234567893", "REF*0B*L55*OR", "REF*EO*S1", "N3*1 ELM ST",
        "N4*PORTLAND*OR*97201", "PRV*PE*PXC*207Q00000X", *PERSON, "EB*1**30",
    )  # fmt: skip
    payer = found["Payers"][0]
    assert (payer["Type"], payer["EntityType"], payer["PayerId"]) == (
        "Payer",
        "Organization",
        "TST01",
    )
    assert payer["Contacts"] == [
        {"Name": "HELP DESK", "Type": "Telephone", "Number": "5035550100"},
        {"Name": "HELP DESK", "Type": "ElectronicMail", "Number": "HELP.EXAMPLE"},
    ]
    payee = payer["Payees"][0]
    assert payee["Type"] == "Provider"
    assert (payee["MiddleName"], payee["Suffix"], payee["NationalProviderId"]) == (
        "Q",
        "JR",
        "1234567893",
    )
    assert (payee["StateLicenseNumber"], payee["StateIssuingLicense"]) == ("L55", "OR")
    assert (payee["SubmitterIdNumber"], payee["ProviderRole"]) == ("S1", "Performing")
    assert payee["ReceivingProviderTaxonomyCode"] == "207Q00000X"
    assert payee["PhysicalAddress"] == {
        "Address1": "1 ELM ST", "Address2": None, "City": "PORTLAND", "State": "OR",
        "PostalCode": "97201", "Country": None,
    }  # fmt: skip


def test_absent_values_are_null():
    person = patient("EB*1**30")
    assert person["DeathDate"] is None
    assert person["CobraDates"] is None
    assert person["Errors"] is None
    benefit = person["Benefits"][0]
    assert benefit["AdditionalInformation"] is None
    assert benefit["Messages"] is None
    assert benefit["BenefitAmount"] is None


def test_trace_numbers_are_distinguished_and_the_callers_echoed_as_sent():
    person = patient("EB*1**30", asked=inquiry())
    assert person["ClearinghouseTraceNumber"]["Number"] == TRACE
    assert person["PayeeTraceNumber"] == {
        "OriginatorID": "9FERNHILL1", "OriginatorSecondaryID": None, "Number": "visit 7",
    }  # fmt: skip
    assert person["PayerTraceNumber"] == {
        "OriginatorID": "9MEADOWMUT", "OriginatorSecondaryID": "SECOND", "Number": "PAYER55",
    }  # fmt: skip
    assert patient("EB*1**30")["PayeeTraceNumber"]["Number"] == "VISIT 7"


PERSON_REFERENCES = [
    (q, name) for q, names in qualifiers.PERSON_REFERENCES.items() for name in names
]
BENEFIT_REFERENCES = [
    (q, name) for q, names in qualifiers.BENEFIT_REFERENCES.items() for name in names
]
PAYEE_REFERENCES = [(q, name) for q, names in qualifiers.PAYEE_REFERENCES.items() for name in names]


def whole_person(*body):
    rows = (*PERSON[:-2], "NM1*IL*1*ARDEN*ROSA", *body)
    return response_of(*HEAD, *RECEIVER, *rows)["Payers"][0]["Payees"][0]["Subscribers"][0]


@every_case(("qualifier", "name"), PERSON_REFERENCES)
def test_each_number_of_a_person_has_its_field(qualifier, name):
    assert whole_person(f"REF*{qualifier}*N55", "EB*1**30")[name] == "N55"


@every_case(("qualifier", "name"), BENEFIT_REFERENCES)
def test_each_number_of_a_benefit_has_its_field(qualifier, name):
    benefit = patient("EB*1**30", f"REF*{qualifier}*N55*GOLD")["Benefits"][0]
    assert (benefit[name], benefit["PlanOrGroupName"]) == ("N55", "GOLD")


@every_case(("qualifier", "name"), PAYEE_REFERENCES)
def test_each_number_of_a_payee_has_its_field(qualifier, name):
    found = response_of(
        *HEAD, RECEIVER[0], "NM1*1P*2*FERNHILL", f"REF*{qualifier}*N55", *PERSON, "EB*1**30"
    )
    assert found["Payers"][0]["Payees"][0][name] == "N55"


@pytest.mark.parametrize(("qualifier", "name"), qualifiers.PAYER_IDS.items())
def test_each_id_of_a_payer_has_its_field(qualifier, name):
    head = (*HEAD[:-1], f"NM1*PR*2*SANDBOX MEDICAL*****{qualifier}*N55")
    assert response_of(*head, *RECEIVER, *PERSON, "EB*1**30")["Payers"][0][name] == "N55"


@pytest.mark.parametrize(("qualifier", "name"), qualifiers.PAYEE_IDS.items())
def test_each_id_of_a_payee_has_its_field(qualifier, name):
    found = response_of(
        *HEAD, RECEIVER[0], f"NM1*1P*2*FERNHILL*****{qualifier}*N55", *PERSON, "EB*1**30"
    )
    assert found["Payers"][0]["Payees"][0][name] == "N55"


@every_case(("qualifier", "place"), qualifiers.PERSON_DATES.items())
def test_each_day_of_a_person_has_its_field(qualifier, place):
    name, end, wide = place
    found = whole_person(f"DTP*{qualifier}*D8*20240229", "EB*1**30")[name]
    assert (found[end] if end else found) == "2024-02-29T00:00:00"
    if wide:
        period = whole_person(f"DTP*{qualifier}*RD8*20240101-20241231", "EB*1**30")[wide]
        assert period == {"Start": "2024-01-01T00:00:00", "End": "2024-12-31T00:00:00"}


@every_case(("qualifier", "place"), qualifiers.BENEFIT_DATES.items())
def test_each_day_of_a_benefit_has_its_field(qualifier, place):
    name, end, wide = place
    found = patient("EB*1**30", f"DTP*{qualifier}*D8*20240229")["Benefits"][0][name]
    assert (found[end] if end else found) == "2024-02-29T00:00:00"
    benefit = patient("EB*1**30", f"DTP*{qualifier}*RD8*20240101-20241231")["Benefits"][0]
    if wide:
        assert benefit[wide] == {"Start": "2024-01-01T00:00:00", "End": "2024-12-31T00:00:00"}
    else:
        assert benefit[name] == "2024-01-01T00:00:00"
        assert benefit["AdditionalInformation"] == [
            {"Qualifier": f"DTP:{qualifier}", "Code": "RD8", "Text": "20240101-20241231"}
        ]


def test_a_person_is_reported_with_everything():
    person = patient(
        "REF*6P*G1*GOLD GROUP", "REF*6P*G2", "REF*49*01", "N3*1 ELM ST*APT 2", "N4*PORTLAND*OR*97201",
        "PRV*RF*PXC*207Q00000X", "INS*Y*18*001*25*************2", "HI*ABK:E119",
        "DTP*346*D8*20240101", "DTP*347*D8*20241231", "DTP*291*D8*20240501",
        "MPI*C*AU*C*DESK*L2*RD8*20200101-20211231", "EB*1**30",
    )  # fmt: skip
    assert (person["GroupNumber"], person["PlanOrGroupName"]) == ("G1", "GOLD GROUP")
    assert (person["FamilyUnitNumber"], person["MemberIdSuffix"]) == ("01", "01")
    assert person["PlanDates"] == {"Start": "2024-01-01T00:00:00", "End": "2024-12-31T00:00:00"}
    assert (person["IsInsured"], person["PrimaryInformationChanged"]) == (True, True)
    assert person["MultipleBirthSequenceNumber"] == "2"
    assert (person["TaxonomyRole"], person["TaxonomyCode"]) == ("Referring", "207Q00000X")
    assert person["MilitaryService"] == {
        "InformationStatus": "Current", "EmploymentStatus": "ActiveMilitaryUsa", "ServiceAffiliation": "Army",
        "Description": "DESK", "Rank": "L2", "Start": "2020-01-01T00:00:00", "End": "2021-12-31T00:00:00",
    }  # fmt: skip
    assert (person["BirthDate"], person["Gender"]) == ("1980-02-29T00:00:00", "Female")


def test_a_benefit_is_reported_with_everything():
    [benefit] = patient(
        "EB*A*IND*30^98*HM*GOLD*23*100.50*.1*VS*12*Y*W*HC:99213:25:::::99215*1", "HSD*VS*10*DA*2*21*1*N*A",
        "REF*9F*R1", "DTP*348*D8*20240101", "DTP*349*D8*20241231", "MSG*FIRST", "MSG*SECOND",
        "III*ZZ*11", "III*GR*22**", "III***44*NATURE", "LS*2120", "NM1*P3*1*BIRCH*NORA*Q***XX*1679576722*01",
        "N3*2 OAK ST", "N4*MADISON*WI*53703", "PER*IC**TE*6085550100", "PRV*PC*PXC*207Q00000X", "LE*2120",
    )["Benefits"]  # fmt: skip
    assert (benefit["Type"], benefit["LevelOfCoverage"]) == ("CoInsurance", "Individual")
    assert benefit["TypesOfService"] == [
        "HealthBenefitPlanCoverage",
        "ProfessionalPhysicianVisitOffice",
    ]
    assert (benefit["TypeOfInsurance"], benefit["PlanCoverageDescription"]) == (
        "HealthMaintenanceOrganization", "GOLD",
    )  # fmt: skip
    assert (benefit["BenefitTimePeriod"], benefit["BenefitAmount"]) == ("CalendarYear", 100.5)
    assert benefit["PatientResponsibilityPercentage"] == 0.1
    assert benefit["BenefitQuantity"] == {"Unit": "Visits", "Amount": 12}
    assert (benefit["AuthenticationOrCertificationRequired"], benefit["PlanInNetwork"]) == (
        "Yes", "NotApplicable",
    )  # fmt: skip
    assert benefit["Procedure"] == {"Qualifier": "HC", "Code": "99213", "Modifiers": ["25"]}
    assert benefit["DeliverySchedules"] == [
        {
            "Quantity": 10,
            "Unit": "Visits",
            "Period": "Years",
            "PeriodCount": 1,
            "Pattern": "AsDirected",
        }
    ]
    assert benefit["BenefitDates"] == {"Start": "2024-01-01T00:00:00", "End": "2024-12-31T00:00:00"}
    assert benefit["Messages"] == ["FIRST", "SECOND"]
    assert benefit["PlaceOfService"] == "Office"
    assert [tuple(one.values()) for one in benefit["AdditionalInformation"]] == [
        ("ZZ", "11", None), ("GR", "22", None), ("III:03", "44", "NATURE"), ("EB:14", "1", None),
        ("HSD:03", "DA", "2"), ("HSD:08", "A", None), ("EB:13-8", None, "99215"),
        ("P3/NM1:05", None, "Q"), ("P3/NM1:10", None, "01"), ("P3/PRV", "PrimaryCarePhysician", "207Q00000X"),
    ]  # fmt: skip
    [entity] = benefit["BenefitEntities"]
    assert (entity["Type"], entity["EntityType"]) == ("PrimaryCareProvider", "Individual")
    assert (entity["CommonName"], entity["NationalProviderId"]) == ("BIRCH", "1679576722")
    assert entity["Contacts"] == [{"Name": None, "Type": "Telephone", "Number": "6085550100"}]
    assert entity["PhysicalAddress"]["City"] == "MADISON"


@pytest.mark.parametrize(
    ("sent", "fraction"), [(".1", 0.1), ("0", 0), ("1", 1), ("20", 0.2), ("0.25", 0.25)]
)
def test_percentages_are_fractions(sent, fraction):
    assert (
        patient(f"EB*A**30*****{sent}")["Benefits"][0]["PatientResponsibilityPercentage"]
        == fraction
    )


def test_amounts_are_numbers_digit_for_digit():
    [one] = read_271.read(answer_file(*HEAD, *RECEIVER, *PERSON, "EB*B**30****30.00")).answers
    assert b'"BenefitAmount":30.00,' in encode_element(build(one))


def test_a_quantity_without_a_kind_has_an_unknown_unit():
    assert patient("EB*F**30*******5")["Benefits"][0]["BenefitQuantity"] == {
        "Unit": "Unknown",
        "Amount": 5,
    }


def test_unknown_codes_are_kept_as_they_are():
    [benefit] = patient("EB*ZQ*XXX*30^ZZ9*Q9**99*5")["Benefits"]
    assert (benefit["Type"], benefit["LevelOfCoverage"]) == ("ZQ", "XXX")
    assert benefit["TypesOfService"] == ["HealthBenefitPlanCoverage", "ZZ9"]
    assert (benefit["TypeOfInsurance"], benefit["BenefitTimePeriod"]) == ("Q9", "99")


def test_benefits_without_a_place_in_the_guide_are_benefits_still():
    rows = (PERSON[0], *PERSON[4:], *PERSON[1:4], "EB*1**30", "EB*B**30****27.5")
    person = response_of(*HEAD, *RECEIVER, *rows)["Payers"][0]["Payees"][0]["Subscribers"][0]
    assert [one["Type"] for one in person["Benefits"]] == ["ActiveCoverage", "CoPayment"]


# --- refusals in a 271 ----------------------------------------------------------------------------------

TRACED = PERSON[:-1]
REFUSALS = {
    "2000A": ((HEAD[0], HEAD[1], "AAA*Y**42*R", HEAD[2]), PAYER, "42", "ResubmissionAllowed"),
    "2100A": ((*HEAD, "AAA*N**T4*C"), f"{PAYER}.PayerId", "T4", "PleaseCorrectAndResubmit"),
    "2100B": (
        (*HEAD, *RECEIVER, "AAA*N**43*C"),
        f"{PAYEE}.NationalProviderId",
        "43",
        "PleaseCorrectAndResubmit",
    ),
    "2100C": (
        (*HEAD, *RECEIVER, *TRACED, "AAA*N**72*N"),
        f"{SUBSCRIBER}.MemberId",
        "72",
        "ResubmissionNotAllowed",
    ),
}


@pytest.mark.parametrize("level", REFUSALS)
def test_a_refusal_is_reported_at_its_level_with_code_words_action_and_the_callers_field(level):
    body, location, code, action = REFUSALS[level]
    found = response_of(*body, asked=inquiry(), trace=TRACE)
    payer = found["Payers"][0]
    payee = payer["Payees"][0]
    subscriber = payee["Subscribers"][0]
    values = {
        "2000A": found["EnvelopeErrors"],
        "2100A": payer["Errors"],
        "2100B": payee["Errors"],
        "2100C": subscriber["Errors"],
    }
    [error] = values.pop(level)
    assert not any(values.values())
    assert (error["Code"], error["FollowUpAction"], error["Location"]) == (code, action, location)
    assert error["Message"]
    # Whatever the level, the caller finds the patient by its own number.
    assert subscriber["PayeeTraceNumber"]["Number"] == "visit 7"
    assert subscriber["ClearinghouseTraceNumber"]["Number"] == TRACE


def test_a_dependent_is_refused_at_the_dependent():
    found = response_of(*WITH_CHILD, "AAA*N**65*C", asked=child())
    subscriber = found["Payers"][0]["Payees"][0]["Subscribers"][0]
    [dependent] = subscriber["Dependents"]
    assert subscriber["Errors"] is None
    [error] = dependent["Errors"]
    assert (error["Code"], error["Location"]) == ("65", f"{SUBSCRIBER}.Dependents[0].CommonName")
    assert dependent["PayeeTraceNumber"]["Number"] == "visit 8"
    assert subscriber["PayeeTraceNumber"] is None


def test_a_refused_benefit_is_reported_at_the_benefit():
    [benefit] = patient("EB*1**30", "AAA*N**60*C")["Benefits"]
    assert benefit["Errors"][0]["Code"] == "60"


def test_a_dependent_is_reported_with_the_relationship():
    found = response_of(*WITH_CHILD, "INS*N*19", "EB*1**30", "EB*B**98****20")
    [dependent] = found["Payers"][0]["Payees"][0]["Subscribers"][0]["Dependents"]
    assert (dependent["Relationship"], dependent["IsInsured"]) == ("Child", False)
    assert len(dependent["Benefits"]) == 2
    assert "MemberId" in dependent


def test_without_a_question_a_refusal_names_the_loop():
    one = answered(*HEAD, *RECEIVER, *TRACED, "AAA*N**72*N")
    made = build(one)
    assert made.Payers[0].Payees[0].Subscribers[0].Errors[0].Location == "2100C"
    assert [refusal.reason for refusal in one.refusals] == ["72"]


def test_faults_of_the_envelope_are_reported():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30").replace(
        b"IEA*1*000000031", b"IEA*1*000000032"
    )
    [one] = read_271.read(data).answers
    [error] = build(one).EnvelopeErrors
    assert (error.Code, error.Location) == ("001", "ISA")


def extras(*body):
    [benefit] = patient(*body)["Benefits"]
    return [tuple(one.values()) for one in benefit["AdditionalInformation"] or ()]


def test_what_a_person_has_no_field_for_is_nowhere_else():
    body = (
        "REF*6P*G1", "REF*6P*G2", "INS*Y*20*021*AI*****F*N", "N4*LIMA***PE***LMA", "PRV*RF*EI*N55", "HI*ABK:E119",
        "DTP*999*D8*20240101", "DTP*291*TM*1200", "TRN*2*THIRD*9FERNHILL1*MORE", "MPI*C*AU*C***D8*2020*MORE",
    )  # fmt: skip
    assert extras(*body, "EB*1**30") == []
    person = patient(*body, "EB*1**30")
    assert (person["GroupNumber"], person["TaxonomyCode"], person["IsInsured"]) == (
        "G1",
        None,
        True,
    )
    assert person["PayeeTraceNumber"]["Number"] == "VISIT 7"
    assert (person["MilitaryService"]["Rank"], person["MilitaryService"]["Start"]) == (None, None)


def test_what_a_party_of_a_benefit_has_no_field_for_is_information_of_the_benefit():
    assert extras(
        "EB*1**30", "LS*2120", "NM1*PR*2*HARBOR**Q*DR*JR*ZZ*55", "N4*LIMA***PE***LMA", "LE*2120",
    ) == [
        ("PR/NM1:ZZ", "55", None), ("PR/NM1:05", None, "Q"), ("PR/NM1:06", None, "DR"), ("PR/NM1:07", None, "JR"),
        ("PR/N4:07", None, "LMA"),
    ]  # fmt: skip


def test_a_number_too_long_for_json_is_reported_as_text():
    [benefit] = patient(f"EB*B**30****{'9' * 30}")["Benefits"]
    assert benefit["BenefitAmount"] is None
    [kept] = benefit["AdditionalInformation"]
    assert kept["Text"].endswith("9" * 30)


def test_a_benefit_that_was_pushed_out_of_place_keeps_what_follows_it():
    rows = (PERSON[0], *PERSON[4:], *PERSON[1:4], "EB*1**30", "MSG*HELLO")
    person = response_of(*HEAD, *RECEIVER, *rows)["Payers"][0]["Payees"][0]["Subscribers"][0]
    assert person["Benefits"][0]["Messages"] == ["HELLO"]


def test_an_answer_without_any_level_is_reported_as_it_was_asked():
    [one] = read_271.read(answer_file("BHT*0022*11*T0000000017*20240501*1201")).answers
    assert build(one).Payers == ()
    asked = child()
    made = build(one, asked, trace=TRACE)
    payer = made.Payers[0]
    subscriber = payer.Payees[0].Subscribers[0]
    assert (payer.PayerId, payer.Payees[0].NationalProviderId) == ("TST01", "1234567893")
    assert (subscriber.MemberId, subscriber.PayeeTraceNumber) == ("2001", None)
    assert subscriber.Dependents[0].PayeeTraceNumber.Number == "visit 8"
    assert read_271.match_answer(one, asked, TRACE) is AnswerMatch.MATCHED


def test_a_person_without_a_name_or_status_is_reported_still():
    rows = ("HL*3*2*22*0", "TRN*1*P1*9MEADOWMUT", "AAA*N**42*R")
    one = answered(*HEAD, "HL*2*1*21*1", *rows)
    assert one.subscriber.party is None
    assert read_271.trace_number(one) == TRACE
    assert build(one).Payers[0].Payees[0].Subscribers[0].Errors[0].Code == "42"
    assert read_271.match_answer(one, inquiry(), TRACE) is AnswerMatch.WRONG_PATIENT


def test_two_days_for_one_end_of_a_period_are_both_reported():
    rows = (
        "DTP*348*D8*20240101",
        "DTP*348*D8*20240201",
        "DTP*348*RD8*20240101-20241231",
    )
    assert extras("EB*1**30", *rows) == [
        ("DTP:348", "D8", "20240201"), ("DTP:348", "RD8", "20240101-20241231"),
    ]  # fmt: skip


def test_moments_are_reported_in_utc():
    assert (
        json_types.format_timestamp(datetime(2024, 5, 1, 3, 4, 5, 678900, tzinfo=UTC))
        == "2024-05-01T03:04:05.678Z"
    )


def test_values_print_nothing_of_a_patient():
    assert "ROSA" not in repr(build(answered(*HEAD, *RECEIVER, *PERSON, "EB*1**30"), inquiry()))
