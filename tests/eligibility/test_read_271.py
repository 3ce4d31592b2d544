"""A 271 becomes a response without loss; a refusal at any level keeps its codes.

Also tests `eligibility/qualifiers`, `eligibility/response_parties`, `eligibility/response_benefits`,
`eligibility/response_builder`, `eligibility/field_mapping` and `eligibility/refusals`.
"""

import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.eligibility import answer, qualifiers, read_271, response
from clearlane.x12 import check
from tests.corpus import corpus_files
from tests.eligibility.invented import (
    HEAD,
    MILO,
    NOON,
    PERSON,
    RECEIVER,
    SUBSCRIBER,
    TRACE,
    answer_file,
    check_document,
    document,
    inquiry,
)
from tests.x12 import samples_other

PAYEE = SUBSCRIBER.partition(".Subscribers")[0]
PAYER = PAYEE.partition(".Payees")[0]


def build(one, asked=None, **more):
    return read_271.build_response(one, asked, document_id="D1", created=NOON, **more)


def response_of(*body, asked=None, **more):
    """The response to a file of one patient, as a caller reads it."""
    [one] = read_271.read(answer_file(*body)).answers
    return json.loads(answer.encode_element(build(one, asked, **more)))


def patient(*body, **more):
    """The subscriber element of a file whose benefits are these."""
    found = response_of(*HEAD, *RECEIVER, *PERSON, *body, **more)
    return found["Payers"][0]["Payees"][0]["Subscribers"][0]


def child():
    whole = document(subscriber_Dependents=[MILO], subscriber_RequestedBenefits=None)
    return check_document(whole).inquiries[0]


# --- without loss -------------------------------------------------------------------------------------


def rows_of(data: bytes) -> list[list[list[str]]]:
    """Every segment: elements, each a list of its repetitions. Split by hand, so as not to trust the reader."""
    text = data.decode("latin-1").lstrip()
    start = text.index("ISA")
    element, repetition, component = text[start + 3], text[start + 82], text[start + 104]
    terminator = text[start + 105]
    rows = [row.strip("\r\n ") for row in text[start:].split(terminator)]
    return [
        [[one] if at == 0 else one.split(repetition) for at, one in enumerate(row.split(element))]
        for row in rows
        if row
    ], component


def leaves(value, found):
    if isinstance(value, dict):
        for one in value.values():
            leaves(one, found)
    elif isinstance(value, list):
        for one in value:
            leaves(one, found)
    elif isinstance(value, bool) or value is None:
        pass
    else:
        found[str(value)] += 1
    return found


def count(value, name):
    """How many elements stand in the lists of that name."""
    if isinstance(value, dict):
        own = len(value[name]) if isinstance(value.get(name), list) else 0
        return own + sum(count(one, name) for key, one in value.items() if key != "EnvelopeErrors")
    return sum(count(one, name) for one in value) if isinstance(value, list) else 0


def stamps(text: str) -> list[str]:
    return [f"{day[:4]}-{day[4:6]}-{day[6:]}T00:00:00" for day in text.split("-")]


class ResponseText:
    """What the responses of a file say, and whether a segment is in it."""

    def __init__(self, data: bytes) -> None:
        file = read_271.read(data)
        bodies = [answer.encode_element(build(one)) for one in file.answers]
        self.found = [json.loads(body, parse_float=Decimal, parse_int=Decimal) for body in bodies]
        self.leaves = leaves(self.found, Counter())
        self.numbers = Counter()
        for text, times in self.leaves.items():
            try:
                self.numbers[Decimal(text).normalize()] += times
            except ArithmeticError:
                continue

    def take(self, *texts: str) -> bool:
        if any(self.leaves[text] <= 0 for text in texts):
            return False
        self.leaves.subtract(texts)
        return True

    def holds(self, row, component) -> bool:
        elements = ["^".join(one) for one in row]
        get = lambda at: elements[at] if len(elements) > at else ""  # noqa: E731
        checks = {
            "REF": lambda: all(self.take(one) for one in elements[2:4] if one and component not in one),
            "MSG": lambda: self.take(get(1)),
            "III": lambda: all(self.take(one) for one in (get(2), get(4)) if one),
            "DTP": lambda: self.date(get(2), get(3)),
            "EB": lambda: all(self.number(one) for one in (get(7), get(10)) if one)
            and (not get(5) or self.take(get(5))),
            "HSD": lambda: all(self.number(get(at)) for at in (2, 6) if get(at)),
            "TRN": lambda: self.take(get(2)),
            "N3": lambda: all(self.take(one) for one in elements[1:3] if one),
            "NM1": lambda: all(self.take(get(at)) for at in (3, 4, 9) if get(at)),
        }  # fmt: skip
        return checks.get(elements[0], lambda: True)()

    def date(self, form: str, text: str) -> bool:
        # Told as text where it has no field of its own, so that first: its days may be other dates' too.
        return self.take(text) or (form in {"D8", "RD8"} and self.take(*stamps(text)))

    def number(self, text: str) -> bool:
        number = Decimal(text).normalize()
        if self.numbers[number] <= 0:
            return self.leaves[text] > 0
        self.numbers[number] -= 1
        return True


def assert_nothing_is_lost(data: bytes) -> None:
    rows, component = rows_of(data)
    values = ResponseText(data)
    names = Counter(row[0][0] for row in rows)
    assert count(values.found, "Benefits") >= names["EB"]
    assert count(values.found, "Errors") + count(values.found, "EnvelopeErrors") >= names["AAA"]
    assert count(values.found, "Messages") >= names["MSG"]
    inside, parties = False, 0
    for row in rows:
        inside = (inside or row[0][0] == "LS") and row[0][0] != "LE"
        parties += inside and row[0][0] == "NM1"
    assert count(values.found, "BenefitEntities") >= parties
    services = sum(
        len([one for one in row[3] if one]) for row in rows if row[0][0] == "EB" and len(row) > 3
    )
    assert count(values.found, "TypesOfService") >= services
    assert [row for row in rows if not values.holds(row, component)] == []


@pytest.mark.parametrize("sample", corpus_files("271"))
def test_public_files_become_responses_without_loss(sample):
    assert_nothing_is_lost(sample.path.read_bytes())


@pytest.mark.parametrize("seed", range(40))
def test_random_files_become_responses_without_loss(seed):
    rows = samples_other.made(Random(seed), "271")
    assert_nothing_is_lost(samples_other.interchange("271", [rows]).encode())


@pytest.mark.parametrize("sample", corpus_files("271"))
def test_every_response_reads_back_as_it_was(sample):
    for one in read_271.read(sample.path.read_bytes()).answers[:5]:
        made = build(one, with_x12=True)
        assert (
            msgspec.json.decode(answer.encode_element(made), type=response.BenefitResponseJson)
            == made
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


def test_absent_values_are_null_and_rare_fields_only_there_when_needed():
    person = patient("EB*1**30")
    assert person["DeathDate"] is None
    assert person["CobraDates"] is None
    assert person["Errors"] is None
    assert "AdditionalInformation" not in person
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


@pytest.mark.parametrize(("qualifier", "name"), PERSON_REFERENCES)
def test_each_number_of_a_person_has_its_field(qualifier, name):
    assert whole_person(f"REF*{qualifier}*N55", "EB*1**30")[name] == "N55"


@pytest.mark.parametrize(("qualifier", "name"), BENEFIT_REFERENCES)
def test_each_number_of_a_benefit_has_its_field(qualifier, name):
    benefit = patient("EB*1**30", f"REF*{qualifier}*N55*GOLD")["Benefits"][0]
    assert (benefit[name], benefit["PlanOrGroupName"]) == ("N55", "GOLD")


@pytest.mark.parametrize(("qualifier", "name"), PAYEE_REFERENCES)
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


@pytest.mark.parametrize(("qualifier", "place"), qualifiers.PERSON_DATES.items())
def test_each_day_of_a_person_has_its_field(qualifier, place):
    name, end, wide = place
    found = whole_person(f"DTP*{qualifier}*D8*20240229", "EB*1**30")[name]
    assert (found[end] if end else found) == "2024-02-29T00:00:00"
    if wide:
        period = whole_person(f"DTP*{qualifier}*RD8*20240101-20241231", "EB*1**30")[wide]
        assert period == {"Start": "2024-01-01T00:00:00", "End": "2024-12-31T00:00:00"}


@pytest.mark.parametrize(("qualifier", "place"), qualifiers.BENEFIT_DATES.items())
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
    assert person["AdditionalInformation"] == [
        {"Qualifier": "REF:6P", "Code": "G2", "Text": None},
        {"Qualifier": "HI:ABK", "Code": "E119", "Text": None},
    ]
    assert (person["BirthDate"], person["Gender"]) == ("1980-02-29T00:00:00", "Female")


def test_a_benefit_is_reported_with_everything():
    [benefit] = patient(
        "EB*A*IND*30^98*HM*GOLD*23*100.50*.1*VS*12*Y*W*HC:99213:25:::::99215*1", "HSD*VS*10*DA*2*21*1*N*A",
        "REF*9F*R1", "DTP*348*D8*20240101", "DTP*349*D8*20241231", "MSG*FIRST", "MSG*SECOND",
        "III*ZZ*11", "III*GR*22**", "III***44*NATURE", "LS*2120", "NM1*P3*1*BIRCH*NORA****XX*1679576722*01",
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
    ]  # fmt: skip
    [entity] = benefit["BenefitEntities"]
    assert (entity["Type"], entity["EntityType"]) == ("PrimaryCareProvider", "Individual")
    assert (entity["CommonName"], entity["NationalProviderId"]) == ("BIRCH", "1679576722")
    assert entity["Contacts"] == [{"Name": None, "Type": "Telephone", "Number": "6085550100"}]
    assert (entity["PhysicalAddress"]["City"], entity["Relationship"]) == ("MADISON", "01")
    assert (entity["ProviderRole"], entity["TaxonomyCode"]) == (
        "PrimaryCarePhysician",
        "207Q00000X",
    )


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
    assert b'"BenefitAmount":30.00,' in answer.encode_element(build(one))


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


def test_a_271_of_another_version_is_read_by_the_guide_we_have():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30").replace(
        b"005010X279A1", b"005010X279A9"
    )
    [one] = read_271.read(data).answers
    assert len(one.subscriber.benefits) == 1


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


DEPENDENT = ("HL*4*3*23*0", f"TRN*2*{TRACE}*9CLEARLANE", "NM1*03*1*ARDEN*MILO", "DMG*D8*20150304*M")
WITH_CHILD = (*HEAD, *RECEIVER, "HL*3*2*22*1", "NM1*IL*1*ARDEN*ROSA****MI*2001", *DEPENDENT)


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
    [one] = read_271.read(answer_file(*HEAD, *RECEIVER, *TRACED, "AAA*N**72*N")).answers
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


# --- whose answer it is -----------------------------------------------------------------------------------


def answered(*body):
    [one] = read_271.read(answer_file(*body)).answers
    return one


MATCHED = answered(*HEAD, *RECEIVER, *PERSON, "EB*1**30")


def test_our_trace_number_is_found():
    assert read_271.trace_number(MATCHED) == TRACE
    assert read_271.trace_number(answered(*HEAD, "AAA*N**42*R")) == TRACE
    assert read_271.match_answer(MATCHED, inquiry(), TRACE) is read_271.AnswerMatch.MATCHED


BARE = (PERSON[0], *PERSON[4:])
OTHER_HEAD = (HEAD[0], HEAD[1], "NM1*PR*2*HARBOR HEALTH PLAN*****PI*HHP20")
SOMEBODY = ("HL*3*2*22*0", "NM1*IL*1*LUND*IVO****MI*9009", "DMG*D8*19550505*M")
MATCHES = [
    ("an echo of our number", (*HEAD, *RECEIVER, *PERSON, "EB*1**30"), "MATCHED"),
    ("no echo, same member id", (*HEAD, *RECEIVER, *BARE, "EB*1**30"), "MATCHED"),
    (
        "no echo, another member id, same person",
        (*HEAD, *RECEIVER, BARE[0], "NM1*IL*1*ARDEN*ROSA****MI*NEW77", BARE[2], "EB*1**30"),
        "MATCHED",
    ),
    (
        "an echo, and the payer corrected the name",
        (
            *HEAD,
            *RECEIVER,
            *PERSON[:4],
            "NM1*IL*1*ARDEN-LUND*ROSA****MI*2001",
            PERSON[5],
            "EB*1**30",
        ),
        "MATCHED",
    ),
    ("refused by the payer", (*HEAD, "AAA*N**42*R"), "MATCHED"),
    ("refused by another payer", (*OTHER_HEAD, "AAA*N**42*R"), "WRONG_PAYER"),
    ("another payer", (*OTHER_HEAD, *RECEIVER, *PERSON, "EB*1**30"), "WRONG_PAYER"),
    ("somebody else", (*HEAD, *RECEIVER, *SOMEBODY, "EB*1**30"), "WRONG_PATIENT"),
    (
        "somebody else under our number",
        (*HEAD, *RECEIVER, SOMEBODY[0], PERSON[1], *SOMEBODY[1:], "EB*1**30"),
        "WRONG_PATIENT",
    ),
    (
        "the answer to another question of ours",
        (*HEAD, *RECEIVER, PERSON[0], "TRN*2*T9*9CLEARLANE", *PERSON[4:], "EB*1**30"),
        "WRONG_PATIENT",
    ),
    (
        "a refusal of another question",
        ("BHT*0022*11*T9*20240501*1201", *HEAD[1:], "AAA*N**42*R"),
        "WRONG_PATIENT",
    ),
]


@pytest.mark.parametrize(
    ("body", "verdict"), [row[1:] for row in MATCHES], ids=[row[0] for row in MATCHES]
)
def test_whose_answer_it_is(body, verdict):
    assert read_271.match_answer(answered(*body), inquiry(), TRACE) is read_271.AnswerMatch[verdict]


def test_the_dependent_of_another_name_is_the_wrong_patient():
    sister = [row.replace("MILO", "TESSA").replace("20150304", "20120101") for row in WITH_CHILD]
    assert (
        read_271.match_answer(answered(*WITH_CHILD, "EB*1**30"), child(), TRACE)
        is read_271.AnswerMatch.MATCHED
    )
    assert (
        read_271.match_answer(answered(*sister, "EB*1**30"), child(), TRACE)
        is read_271.AnswerMatch.WRONG_PATIENT
    )
    refused = (*HEAD, *RECEIVER, *TRACED, "AAA*N**75*C")
    assert read_271.match_answer(answered(*refused), child(), TRACE) is read_271.AnswerMatch.MATCHED


def test_a_payer_may_go_by_its_aliases():
    asked = inquiry(payer_PayerId="MDW10", IsTest=False)
    for id in ("MM010", "mdw10", "MMIC", "MEADOW MUTUAL"):
        head = (*HEAD[:2], f"NM1*PR*2*ANY*****PI*{id}")
        assert (
            read_271.match_answer(answered(*head, *RECEIVER, *PERSON), asked, TRACE)
            is read_271.AnswerMatch.MATCHED
        )


@pytest.mark.parametrize(
    ("body", "again"),
    [
        (("AAA*N**42*R",), True), (("AAA*Y**80*P",), True), (("AAA*N**42",), True),
        (("AAA*N**42*N",), False), (("AAA*N**42*Y",), False), (("AAA*N**42*C",), False),
        (("AAA*N**41*R",), False), (("AAA*N**42*R", "AAA*N**79*C"), False), ((), False),
        ((*RECEIVER, *PERSON, "AAA*N**42*R"), True),
        ((*RECEIVER, *PERSON, "EB*1**30", "AAA*N**42*R"), False),
    ],
)  # fmt: skip
def test_only_what_passes_by_itself_may_be_asked_again(body, again):
    assert read_271.may_be_resent(answered(*HEAD, *body)) is again


# --- files of several patients -----------------------------------------------------------------------------

SECOND = (
    "HL*4*2*22*0",
    "TRN*2*T18*9CLEARLANE",
    "NM1*IL*1*LUND*IVO****MI*9009",
    "DMG*D8*19550505*M",
)


def test_each_patient_of_a_file_is_reported_alone():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30", *SECOND, "EB*6**30")
    first, second = read_271.read(data).answers
    assert (read_271.trace_number(first), read_271.trace_number(second)) == (TRACE, "T18")
    for one, own, others in ((first, b"ROSA", b"IVO"), (second, b"IVO", b"ROSA")):
        assert own in one.content
        assert others not in one.content
        assert check.check(one.content).errors == 0
        assert others.decode() not in answer.encode_element(build(one, with_x12=True)).decode()


def test_dependents_of_one_subscriber_are_distinguished():
    sister = ("HL*5*3*23*0", "TRN*2*T18*9CLEARLANE", "NM1*03*1*ARDEN*TESSA", "EB*1**30")
    data = answer_file(*WITH_CHILD, "EB*1**30", *sister)
    first, second = read_271.read(data).answers
    assert (read_271.trace_number(first), read_271.trace_number(second)) == (TRACE, "T18")
    assert b"TESSA" not in first.content
    assert b"MILO" not in second.content
    assert check.check(second.content).errors == 0


def test_a_file_of_one_patient_is_stored_as_it_came():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30")
    assert read_271.read(data).answers[0].content == data


# --- instead of a 271 -----------------------------------------------------------------------------------------


def ta1(verdict: str, note: str) -> bytes:
    isa = "ISA*00*          *00*          *ZZ*TST01          *ZZ*CLEARLANE      *240501*1201*^*00501*000000031*0*T*:"
    return f"{isa}~TA1*000000017*240501*1200*{verdict}*{note}~IEA*0*000000031~".encode()


def test_a_ta1_refuses_the_interchange():
    file = read_271.read(ta1("R", "006"))
    [refusal] = file.refusals
    assert (file.answers, file.is_x12, refusal.kind, refusal.control_number) == (
        (),
        True,
        "TA1",
        "000000017",
    )
    assert json.loads(answer.encode_element(refusal.status)) == {
        "InterchangeControlNumber": "000000017", "Status": "Rejected", "Code": "006",
        "Message": "Sender is invalid",
    }  # fmt: skip
    made = json.loads(
        answer.encode_element(read_271.build_refusal(refusal, inquiry(), with_x12=True))
    )
    assert (made["Type"], made["PayeeTraceNumber"]["Number"]) == ("TA1", "visit 7")
    assert made["Errors"] == [
        {"Code": "006", "Message": "Sender is invalid", "FollowUpAction": None, "Location": "ISA"}
    ]
    assert made["X12Document"].startswith("ISA")


def test_a_999_refuses_a_set_segment_by_segment():
    body = (
        "AK1*HS*17*005010X279A1", "AK2*270*0001*005010X279A1", "IK3*NM1*9*2100*8", "IK4*9*67*1",
        "IK3*DMG*10**8", "IK5*R*5", "AK9*R*1*1*0",
    )  # fmt: skip
    [refusal] = read_271.read(answer_file(*body, group="FA", kind="999")).refusals
    assert (refusal.kind, refusal.control_number, refusal.set_control_number) == (
        "999",
        "17",
        "0001",
    )
    assert [(one.Code, one.Location) for one in refusal.errors] == [
        ("1", "2100/NM1/09 (segment 9)"), ("8", "DMG (segment 10)"), ("5", "ST"),
    ]  # fmt: skip
    assert refusal.status.InterchangeControlNumber == "000000017"
    assert refusal.status.Status == "Rejected"
    assert read_271.build_refusal(refusal, None).Type == "999"


def test_the_refusal_of_one_set_quotes_nothing_of_another():
    body = (
        "AK1*HS*17*005010X279A1", "AK2*270*0001*005010X279A1", "IK3*NM1*9**8", "IK4*9*67*1*2001", "IK5*R*5",
        "AK2*270*0002*005010X279A1", "IK5*A", "AK2*270*0003*005010X279A1", "IK3*NM1*9**8", "IK4*9*67*1*9009",
        "IK5*R*5", "AK9*P*3*3*1",
    )  # fmt: skip
    first, third = read_271.read(answer_file(*body, group="FA", kind="999")).refusals
    assert (first.set_control_number, third.set_control_number) == ("0001", "0003")
    assert b"*2001~" in first.content
    assert b"*9009~" not in first.content
    assert b"*9009~" in third.content
    assert b"*2001~" not in third.content


def test_a_ta1_is_kept_without_what_is_beside_it():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30")
    beside = data.replace(b"~GS*", b"~TA1*000000018*240501*1200*R*006~GS*", 1)
    file = read_271.read(beside)
    assert (len(file.answers), len(file.refusals)) == (1, 1)
    assert b"ROSA" not in file.refusals[0].content


def test_a_999_may_refuse_the_whole_group():
    body = ("AK1*HS*17*005010X279A1", "AK9*R*1*1*0*1")
    [refusal] = read_271.read(answer_file(*body, group="FA", kind="999")).refusals
    assert refusal.set_control_number == ""
    assert refusal.errors[0].Location == "GS"


def test_an_acceptance_is_no_answer():
    accepted = ("AK1*HS*17*005010X279A1", "AK2*270*0001*005010X279A1", "IK5*A", "AK9*A*1*1*1")
    for data in (ta1("A", "000"), answer_file(*accepted, group="FA", kind="999")):
        file = read_271.read(data)
        assert (file.answers, file.refusals, file.is_x12) == ((), (), True)


def test_a_payer_that_cannot_be_reached_is_reported():
    made = read_271.build_connection_error(inquiry(), "Timeout", "The payer did not answer.")
    assert (made.Type, made.Errors[0].Location) == ("Connection", PAYER)


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read(data):
    assert read_271.read(data).answers == ()


GOOD = answer_file(
    *HEAD, *RECEIVER, *PERSON, "EB*A*IND*30^98*HM*GOLD*23*100.50*.1*VS*12*Y*W", "MSG*X"
)


@given(st.integers(106, len(GOOD) - 1), st.binary(max_size=6), st.integers(0, 5))
@settings(max_examples=150, deadline=None)
def test_a_damaged_file_never_stops_us(at, junk, cut):
    for one in read_271.read(GOOD[:at] + junk + GOOD[at + cut :]).answers:
        read_271.match_answer(one, inquiry(), TRACE)
        answer.encode_element(build(one, inquiry(), with_x12=True, trace=TRACE))


def test_moments_are_reported_in_utc():
    assert (
        read_271.format_timestamp(datetime(2024, 5, 1, 3, 4, 5, 678900, tzinfo=UTC))
        == "2024-05-01T03:04:05.678Z"
    )


def test_values_print_nothing_of_a_patient():
    file = read_271.read(GOOD)
    assert "ROSA" not in repr(file) + repr(build(file.answers[0], inquiry()))


# --- what is rare ---------------------------------------------------------------------------------------------


def extras(*body):
    return [tuple(one.values()) for one in patient(*body)["AdditionalInformation"]]


def test_rare_facts_of_a_person_are_kept():
    assert extras("INS*Y*20*021*AI*****F*N", "EB*1**30") == [
        ("INS:03", "021", "AI"), ("INS:09", "F", None), ("INS:10", "N", None), ("INS:02", "20", None),
    ]  # fmt: skip
    assert extras("N4*LIMA***PE***LMA", "PRV*RF*EI*N55", "EB*1**30") == [
        ("N4:07", "LMA", None), ("PRV", "EI", "N55"),
    ]  # fmt: skip
    assert extras("DTP*999*D8*20240101", "DTP*291*TM*1200", "DTP*291*D8", "EB*1**30") == [
        ("DTP:999", "D8", "20240101"), ("DTP:291", "TM", "1200"), ("DTP", "291", "D8"),
    ]  # fmt: skip
    assert extras("MPI*C*AU*C***D8*2020*MORE", "EB*1**30") == [
        ("MPI:07", None, "2020"), ("MPI", "C", "AU*C***D8*2020*MORE"),
    ]  # fmt: skip
    assert extras("TRN*2*THIRD*9FERNHILL1*MORE", "EB*1**30")[0] == (
        "TRN:2",
        "THIRD",
        "9FERNHILL1 MORE",
    )


def test_contacts_and_degrees_without_a_field_are_kept():
    found = response_of(
        *HEAD, "HL*2*1*21*1", "NM1*1P*1*FENN*OSKAR**DR**ZZ*55", "PER*IC*DESK*TE*5035550100",
        "DMG*D8*19600101*M", *PERSON, "EB*1**30",
    )  # fmt: skip
    payee = found["Payers"][0]["Payees"][0]
    values = [tuple(one.values()) for one in payee["AdditionalInformation"]]
    assert {("NM1:ZZ", "55", None), ("NM1:06", None, "DR"), ("PER", "5035550100", "DESK")} <= set(
        values
    )


def test_a_number_too_long_for_json_is_reported_as_text():
    [benefit] = patient(f"EB*B**30****{'9' * 30}")["Benefits"]
    assert benefit["BenefitAmount"] is None
    assert benefit["AdditionalInformation"] == [
        {"Qualifier": "EB:07", "Code": None, "Text": "9" * 30}
    ]


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
    assert read_271.match_answer(one, asked, TRACE) is read_271.AnswerMatch.MATCHED


def test_what_nobody_asked_for_is_neither_answer_nor_refusal():
    data = answer_file("BHT*0022*13*1*20240501*1201", *HEAD[1:], group="HS", kind="270")
    assert read_271.read(data) == read_271.ResponseFile(is_x12=True)


def test_a_person_without_a_name_or_status_is_reported_still():
    rows = ("HL*3*2*22*0", "TRN*1*P1*9MEADOWMUT", "AAA*N**42*R")
    one = answered(*HEAD, "HL*2*1*21*1", *rows)
    assert one.subscriber.party is None
    assert read_271.trace_number(one) == TRACE
    assert build(one).Payers[0].Payees[0].Subscribers[0].Errors[0].Code == "42"
    assert read_271.match_answer(one, inquiry(), TRACE) is read_271.AnswerMatch.WRONG_PATIENT


def test_two_days_for_one_end_of_a_period_are_both_reported():
    rows = (
        "DTP*346*D8*20240101",
        "DTP*346*D8*20240201",
        "DTP*346*RD8*20240101-20241231",
        "EB*1**30",
    )
    assert extras(*rows) == [
        ("DTP:346", "D8", "20240201"), ("DTP:346", "RD8", "20240101-20241231"),
    ]  # fmt: skip


def test_refusals_of_benefits_are_among_all_refusals():
    one = answered(*HEAD, *RECEIVER, *PERSON, "EB*1**30", "AAA*N**60*C")
    assert [refusal.reason for refusal in one.refusals] == ["60"]


def test_a_payer_without_a_number_is_known_by_its_name():
    named = answered(*HEAD[:2], "NM1*PR*2*SANDBOX MEDICAL", *RECEIVER, *PERSON)
    assert read_271.match_answer(named, inquiry(), TRACE) is read_271.AnswerMatch.MATCHED
    other = answered(*HEAD[:2], "NM1*PR*2*HARBOR HEALTH PLAN", *RECEIVER, *PERSON)
    assert read_271.match_answer(other, inquiry(), TRACE) is read_271.AnswerMatch.WRONG_PAYER


def test_the_subscribers_own_answer_is_beside_several_dependents():
    sister = ("HL*5*3*23*0", "TRN*2*T18*9CLEARLANE", "NM1*03*1*ARDEN*TESSA", "EB*1**30")
    own = (
        *HEAD,
        *RECEIVER,
        "HL*3*2*22*1",
        *PERSON[1:],
        "EB*1**30",
        *DEPENDENT,
        "EB*1**30",
        *sister,
    )
    file = read_271.read(answer_file(*own))
    assert [one.dependent is None for one in file.answers] == [True, False, False]
    assert b"MILO" not in file.answers[0].content
    assert repr(file.answers[0]) == "PatientAnswer(group 31)"
    assert "000000017" in repr(read_271.read(ta1("R", "006")).refusals)
