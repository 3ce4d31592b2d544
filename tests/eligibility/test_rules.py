"""Every rule reports what breaks it and nothing else; a request that passes becomes inquiries."""

import pytest

from clearlane.eligibility import fields, model, rules
from clearlane.eligibility.rules import ELIGIBILITY_PATIENTS_MAX
from clearlane.eligibility.stepwise import StepwiseCall
from tests.cases import every_case
from tests.eligibility.invented import (
    MILO,
    NOT_ENROLLED_NPI,
    ROSA,
    SUBSCRIBER,
    check_document,
    check_request,
    document,
    facts,
    inquiry,
    read,
)

PAYER = "BenefitInquiries[0].Payers[0]"
PAYEE = f"{PAYER}.Payees[0]"


def child(**changes):
    return document(subscriber_Dependents=[MILO | changes], subscriber_RequestedBenefits=None)


# Rule, location, a document that breaks it; the unchanged document passes them all.
BROKEN = [
    ("RequestTypeUnknown", "BenefitInquiries[0].RequestType", document(inquiry_RequestType="Reply")),
    ("PayerUnknown", f"{PAYER}.PayerId", document(payer_PayerId="NOBODY")),
    ("PayerInactive", f"{PAYER}.PayerId", document(payer_PayerId="OFF01", IsTest=False)),
    ("PayerWithoutEligibility", f"{PAYER}.PayerId", document(payer_PayerId="BLU31", IsTest=False)),
    ("PayerWithoutRoute", f"{PAYER}.PayerId", document(payer_PayerId="CUT01", IsTest=False)),
    ("PayerMode", f"{PAYER}.PayerId", document(IsTest=False)),
    ("PayerMode", f"{PAYER}.PayerId", document(payer_PayerId="MDW10")),
    ("PayerTypeUnknown", f"{PAYER}.Type", document(payer_Type="Zork")),
    ("PayerTypeUnknown", f"{PAYER}.EntityType", document(payer_EntityType="Zork")),
    ("PayerName", f"{PAYER}.CommonName", document(payer_CommonName="X" * 61)),
    ("NpiMissing", f"{PAYEE}.NationalProviderId", document(payee_NationalProviderId=None)),
    ("NpiInvalid", f"{PAYEE}.NationalProviderId", document(payee_NationalProviderId="1234567890")),
    ("ProviderNotEnrolled", f"{PAYEE}.NationalProviderId", document(payee_NationalProviderId=NOT_ENROLLED_NPI)),
    ("PayeeTypeUnknown", f"{PAYEE}.Type", document(payee_Type="Zork")),
    ("PayeeTypeUnknown", f"{PAYEE}.EntityType", document(payee_EntityType="Zork")),
    ("PayeeName", f"{PAYEE}.CommonName", document(payee_CommonName="\u4e2d")),
    ("PayeeName", f"{PAYEE}.FirstName", document(payee_FirstName="X" * 36)),
    ("SubscriberText", f"{SUBSCRIBER}.CommonName", document(subscriber_CommonName="X" * 61)),
    ("SubscriberText", f"{SUBSCRIBER}.MemberId", document(subscriber_MemberId="1" * 81)),
    ("SubscriberText", f"{SUBSCRIBER}.FirstName", document(subscriber_FirstName="***")),
    ("MemberIdShort", f"{SUBSCRIBER}.MemberId", document(subscriber_MemberId="1")),
    ("BirthDateMissing", f"{SUBSCRIBER}.BirthDate", document(subscriber_BirthDate=None)),
    ("BirthDateInFuture", f"{SUBSCRIBER}.BirthDate", document(subscriber_BirthDate="2024-05-02")),
    ("GenderUnknown", f"{SUBSCRIBER}.Gender", document(subscriber_Gender="Zork")),
    (
        "ServiceTypeUnknown",
        f"{SUBSCRIBER}.RequestedBenefits[0].Type[1]",
        document(subscriber_RequestedBenefits=[{"Type": ["30", "Zork"]}]),
    ),
    (
        "TooManyBenefits",
        f"{SUBSCRIBER}.RequestedBenefits",
        document(subscriber_RequestedBenefits=[{}] * 100),
    ),
    (
        "TooManyBenefits",
        f"{SUBSCRIBER}.RequestedBenefits[0].Type",
        document(subscriber_RequestedBenefits=[{"Type": ["30"] * 100}]),
    ),
    (
        "PlanDateOrder",
        f"{SUBSCRIBER}.RequestedBenefits[0].PlanDate",
        document(
            subscriber_RequestedBenefits=[{"PlanDate": {"Start": "2024-05-02", "End": "2024-05-01"}}]
        ),
    ),
    (
        "PatientText",
        f"{SUBSCRIBER}.PayeeTraceNumber.Number",
        document(subscriber_PayeeTraceNumber={"Number": "1" * 51}),
    ),
    ("PatientText", f"{SUBSCRIBER}.Dependents[0].FirstName", child(FirstName="***")),
    ("BirthDateMissing", f"{SUBSCRIBER}.Dependents[0].BirthDate", child(BirthDate=None)),
    ("RelationshipUnknown", f"{SUBSCRIBER}.Dependents[0].Relationship", child(Relationship="Self")),
    ("RelationshipUnknown", f"{SUBSCRIBER}.Dependents[0].Relationship", child(Relationship="Zork")),
]  # fmt: skip


@every_case(("rule", "location", "broken"), BROKEN)
def test_a_rule_names_what_breaks_it(rule, location, broken):
    found = check_document(broken)
    assert [(result.code, result.location) for result in found.results] == [(rule, location)]
    assert found.inquiries == []
    assert found.results[0].message.endswith((".", ".'"))


def test_every_rule_has_a_case_and_a_sentence():
    rules_of_the_document = {"TooManyPatients", "TestInProduction"}
    assert {rule for rule, _, _ in BROKEN} | rules_of_the_document == set(rules.RULES)
    assert all(rule.sentence.endswith(".") for rule in rules.RULES.values())


@pytest.mark.parametrize(
    "good", [document(), child(), document(IsTest=False, payer_PayerId="MM010")]
)
def test_no_rule_rejects_a_good_request(good):
    found = check_document(good)
    assert found.results == []
    assert len(found.inquiries) == 1


def test_too_many_patients_are_a_result_and_nothing_is_sent():
    most = ELIGIBILITY_PATIENTS_MAX
    subscriber = read(document()).request.BenefitInquiries[0].Payers[0].Payees[0].Subscribers[0]
    payee = fields.RequestPayee(
        CommonName="FENN", NationalProviderId="1234567893", Subscribers=(subscriber,) * (most + 1)
    )
    inquiries = (
        fields.BenefitInquiry(Payers=(fields.RequestPayer(PayerId="TST01", Payees=(payee,)),)),
    )
    request = fields.EligibilityRequest(IsTest=True, BenefitInquiries=inquiries)
    found = check_request(request, facts())
    assert [(one.code, one.location) for one in found.results] == [
        ("TooManyPatients", "BenefitInquiries")
    ]
    assert found.inquiries == []


def test_a_test_is_refused_in_production():
    found = check_document(document(), sandbox=False)
    assert [(one.code, one.location) for one in found.results] == [("TestInProduction", "IsTest")]
    assert (
        len(check_document(document(IsTest=False, payer_PayerId="MDW10"), sandbox=False).inquiries)
        == 1
    )


def test_a_fault_above_is_reported_once_and_stops_all_below():
    found = check_document(document(payee_NationalProviderId="1", payee_Subscribers=[ROSA, ROSA]))
    assert [one.code for one in found.results] == ["NpiInvalid"]
    assert found.inquiries == []


def test_every_fault_is_reported_at_once_whatever_is_wrong_above():
    unborn = ROSA | {"BirthDate": "2030-01-01"}
    request = document(
        payer_PayerId="NONE", payee_NationalProviderId="1", payee_Subscribers=[unborn]
    )
    found = check_document(request)
    assert [one.code for one in found.results] == [
        "PayerUnknown", "NpiInvalid", "BirthDateInFuture",
    ]  # fmt: skip
    assert found.inquiries == []


def test_those_who_can_be_sent_are_sent():
    unborn = ROSA | {"BirthDate": "2030-01-01"}
    found = check_document(document(payee_Subscribers=[unborn, ROSA, unborn]))
    assert [one.location for one in found.results] == [
        f"{PAYEE}.Subscribers[0].BirthDate", f"{PAYEE}.Subscribers[2].BirthDate",
    ]  # fmt: skip
    assert [one.path for one in found.inquiries] == [f"{PAYEE}.Subscribers[1]"]


@pytest.mark.parametrize(
    ("benefits", "dependents", "paths"),
    [
        (None, None, [""]), ([{"Type": ["30"]}], None, [""]), (None, [MILO], [".Dependents[0]"]),
        ([{"Type": ["30"]}], [MILO, MILO], ["", ".Dependents[0]", ".Dependents[1]"]),
    ],
)  # fmt: skip
def test_which_people_are_patients(benefits, dependents, paths):
    found = check_document(
        document(subscriber_RequestedBenefits=benefits, subscriber_Dependents=dependents)
    )
    assert [one.path for one in found.inquiries] == [SUBSCRIBER + path for path in paths]


def test_an_inquiry_holds_what_a_270_needs():
    [found] = check_document(child()).inquiries
    assert found.member_id == "2001"
    assert (found.subscriber.last, found.subscriber.first) == ("ARDEN", "ROSA")
    assert (found.patient.first, found.patient.sex, found.relationship) == ("MILO", "M", "19")
    assert (found.payee.role, found.payee.entity_type, found.payee.id) == ("FA", "1", "1234567893")
    assert (found.payer.id, found.payer_type, found.is_test) == ("TST01", "Medical", True)
    assert found.questions[0].services == ("33", "98")
    assert found.trace == model.InquiryTrace(number="visit 8", originator="9FERNHILL1")
    assert found.path == f"{SUBSCRIBER}.Dependents[0]"
    assert model.restore(model.encode(found)) == found
    assert "ROSA" not in repr(found)


def test_dental_payers_are_asked_about_dental_care():
    nothing = {"subscriber_RequestedBenefits": None}
    assert inquiry(payer_PayerId="TST02", **nothing).questions[0].services == ("35",)
    assert inquiry(**nothing).questions[0].services == ("30",)
    assert inquiry(subscriber_RequestedBenefits=[{"Type": []}]).questions[0].services == ("30",)


def test_of_a_payer_of_both_types_the_one_that_can_be_asked_is_meant():
    one = inquiry(
        payer_PayerId="HHP20", IsTest=False, subscriber_RequestedBenefits=[{"Type": ["35"]}]
    )
    assert one.payer_type == "Medical"  # its dental side offers no eligibility


@pytest.mark.parametrize(
    ("word", "code"), [("Spouse", "01"), ("19", "19"), ("Other", "34"), ("wife", "01")]
)
def test_relationships_are_reported_as_a_270_knows_them(word, code):
    assert check_document(child(Relationship=word)).inquiries[0].relationship == code


def test_unknown_sex_is_left_out_and_a_provider_is_a_person_or_not():
    assert inquiry(subscriber_Gender="Unknown").subscriber.sex == ""
    practice = inquiry(payee_EntityType=None, payee_FirstName=None, payee_Type=None).payee
    assert (practice.role, practice.entity_type) == ("1P", "2")
    assert inquiry(payee_EntityType=None).payee.entity_type == "1"
    assert inquiry(payee_EntityType="Organization").payee.first == ""


def test_judging_pauses_after_each_patient():
    request = read(document(payee_Subscribers=[ROSA] * 4)).request
    steps = StepwiseCall(rules.check_stepwise(request, facts()))
    assert len(list(steps)) == 4
    assert len(steps.result.inquiries) == 4
