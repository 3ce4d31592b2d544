"""The stored outcomes of the patients make the whole response, in V3's JSON.

Also tests `api/v3/benefits/json_types`.
"""

import json

import msgspec
import pytest
from pydantic import TypeAdapter

from clearlane.api.frame import openapi
from clearlane.api.v3 import responses
from clearlane.api.v3.benefits import json_types, response_builder
from clearlane.api.v3.benefits.compose_response import (
    OUTCOMES_AT_ONCE,
    compose_response,
    encode_element,
    encode_result,
)
from clearlane.eligibility import fields, read_271
from clearlane.inquiry.inquiry_result import (
    AnswerError,
    InquiryError,
    InquiryResult,
    InterchangeStatus,
    RequestStatus,
    ValidationResult,
    build_error,
)
from clearlane.pipeline.inquiry.request_answers import RequestAnswers
from tests.cases import every_case
from tests.eligibility.invented import (
    HEAD,
    NOON,
    PERSON,
    RECEIVER,
    SUBSCRIBER,
    TRACE,
    answered,
    inquiry,
)

ONE = answered(*HEAD, *RECEIVER, *PERSON, "EB*B**30****20.50")
ANSWER = read_271.build_answer(ONE, inquiry(), document_id="D1", created_at=NOON, trace=TRACE)
ANSWERED = InquiryResult(answer=ANSWER, x12=ONE.content)
ERROR = InquiryError(
    kind="TA1",
    path=SUBSCRIBER,
    errors=(AnswerError(code="006", message="Sender is invalid", location="ISA"),),
    status=InterchangeStatus(control_number="000000017", verdict="R", code="006"),
)
REFUSED = InquiryResult(error=ERROR, x12=b"ISA*TA1")
INVALID = ValidationResult(
    location="BenefitInquiries", code="TooManyPatients", message="Send fewer."
)


async def pages(*made):
    for page in made:
        yield page


async def composed(answered=(), refused=(), status=RequestStatus.COMPLETE, *, with_x12=False):
    answers = RequestAnswers(7, status, (INVALID,), pages(*answered), pages(*refused))
    return b"".join([piece async for piece in compose_response(answers, with_x12=with_x12)])


async def test_everything_that_was_stored_is_in_the_response():
    many = [ANSWERED] * (OUTCOMES_AT_ONCE + 1)
    body = json.loads(await composed([[ANSWERED], many], [[REFUSED], [REFUSED]]))
    assert list(body) == [
        "RequestId", "Status", "Responses", "ValidationResults", "ErrorResponses", "InterchangeStatuses",
    ]  # fmt: skip
    assert body["RequestId"] == 7
    made = json.loads(encode_element(response_builder.build_response(ANSWER)))
    assert body["Responses"] == [made] * (len(many) + 1)
    assert body["ValidationResults"] == [
        {"Location": "BenefitInquiries", "Code": "TooManyPatients", "Message": "Send fewer."}
    ]
    assert [one["Type"] for one in body["ErrorResponses"]] == ["TA1", "TA1"]
    assert body["InterchangeStatuses"] == [
        {
            "InterchangeControlNumber": "000000017",
            "Status": "Rejected",
            "Code": "006",
            "Message": None,
        }
    ]


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (RequestStatus.NOTHING_SENT, "AllInvalid"),
        (RequestStatus.INCOMPLETE, "ResultsIncomplete"),
        (RequestStatus.COMPLETE, "ResultsComplete"),
    ],
)
async def test_each_status_has_its_name(status, name):
    assert json.loads(await composed(status=status))["Status"] == name


async def test_the_file_is_shown_where_the_installation_shows_it():
    for with_x12, shown in ((False, (None, None)), (True, (ONE.content.decode(), "ISA*TA1"))):
        body = json.loads(await composed([[ANSWERED]], [[REFUSED]], with_x12=with_x12))
        assert (
            tuple(body[name][0]["X12Document"] for name in ("Responses", "ErrorResponses")) == shown
        )


async def test_a_response_reads_back_as_structures():
    back = msgspec.json.decode(
        await composed([[ANSWERED]], [[REFUSED]]), type=json_types.EligibilityResponseJson
    )
    assert back.Responses == (response_builder.build_response(ANSWER),)
    assert back.ErrorResponses == (response_builder.build_error_response(ERROR),)


def test_an_error_of_the_connection_is_at_the_payer_of_the_request():
    reason = AnswerError(code="Timeout", message="The payer did not answer.")
    error = build_error("Connection", inquiry(), (reason,))
    made = json.loads(encode_result(InquiryResult(error=error), with_x12=False))
    assert (made["Type"], made["PayeeTraceNumber"]["Number"]) == ("Connection", "visit 7")
    assert made["Errors"] == [
        {
            "Code": "Timeout", "Message": "The payer did not answer.", "FollowUpAction": None,
            "Location": SUBSCRIBER.partition(".Payees")[0],
        }
    ]  # fmt: skip


def test_an_outcome_of_nothing_is_a_fault():
    with pytest.raises(ValueError, match="an answer or an error"):
        encode_result(InquiryResult(), with_x12=False)


def test_the_schema_has_every_field_of_the_document():
    schema = TypeAdapter(json_types.EligibilityResponseJson).json_schema(mode="serialization")
    properties = {name: part["properties"] for name, part in schema["$defs"].items()}
    assert {"Payees", "Contacts", "NaicId"} <= properties["EligibilityPayer"].keys()
    assert {"DevicePin", "StateIssuingLicense"} <= properties["EligibilityPayee"].keys()
    assert {"MilitaryService", "CobraDates", "TaxonomyRole"} <= properties[
        "EligibilitySubscriber"
    ].keys()
    assert properties["EligibilityBenefit"]["BenefitAmount"]["anyOf"][0] == {"type": "number"}
    assert "EligibilityBenefitResponse" in properties


def test_the_schema_is_beside_those_of_the_other_calls():
    types = [responses.PayerListItem, fields.EligibilityRequest, json_types.EligibilityResponseJson]
    names = set(openapi.Schemas(types).components)
    assert {"Payer", "EligibilityPayer", "EligibilityRequestPayer"} <= names
    assert not [name for name in names if "__" in name]


# The document's own lists of fields, in its order.
DOCUMENTED = {
    json_types.PayerJson: """Type EntityType CommonName FirstName MiddleName Suffix PayerId CmsPlanId EmployersIdNumber
        NationalProviderId ElectronicTransmitterIdNumber NationalPayerIdNumber TaxIdNumber NaicId Payees Contacts Errors""",
    json_types.PayeeJson: """Type EntityType ProviderRole CommonName FirstName MiddleName Suffix NationalProviderId
        EmployersIdNumber TaxIdNumber CmsPlanId SocialSecurityNumber PharmacyNumber PayerId ServiceProviderNumber
        StateLicenseNumber StateIssuingLicense MedicareProviderNumber MedicaidProviderNumber PriorIdNumber
        PersonalIdNumber FacilityIdNumber FacilityNetworkIdNumber SubmitterIdNumber ContractNumber DevicePin
        ProviderPlanNetworkId UserId ReceivingProviderTaxonomyCode PhysicalAddress Errors Subscribers""",
    json_types.SubscriberJson: """EntityType CaseNumber Dependents ClearinghouseTraceNumber PayeeTraceNumber
        PayerTraceNumber IsInsured CommonName FirstName MiddleName Suffix PhysicalAddress BirthDate Gender Benefits
        DischargeDate IssueDate EffectiveDateOfChange PlanDate EligibilityDate DateAdded EnrollmentDate AdmissionDate
        DeathDate CertificationDate ServiceDate DateOfLastUpdate StatusDate CobraDates PremiumPaidDates PlanDates
        EligibilityDates PolicyDates MemberId MemberIdSuffix OriginalPrimaryId PlanOrGroupName StandardUniqueId
        PlanNumber PatientAccountNumber GroupOrPolicyNumber GroupNumber PolicyNumber ClassOfContract ContractNumber
        MedicalRecordNumber HealthInsuranceClaimNumber IdCardSerialNumber IdentityCardNumber IssueNumber
        EligibilityCategory PlanNetworkIdNumber SocialSecurityNumber AgencyClaimNumber MedicaidRecipientId TaxonomyCode
        FamilyUnitNumber TaxonomyRole MultipleBirthSequenceNumber PrimaryInformationChanged MilitaryService Errors""",
    json_types.BenefitJson: """Type TypesOfService LevelOfCoverage PlaceOfService TypeOfInsurance PlanCoverageDescription
        BenefitTimePeriod BenefitAmount PatientResponsibilityPercentage BenefitQuantity
        AuthenticationOrCertificationRequired PlanInNetwork ReferralNumber PriorAuthorizationNumber Procedure
        DeliverySchedules PlanNumber GroupOrPolicyNumber MemberId MemberIdSuffix GroupNumber PolicyNumber
        AlternativeListId CoverageListId DrugFormularyNumber MedicaidAssistanceCategory MedicaidRecipientId
        HealthInsuranceClaimNumber PlanNetworkIdNumber PlanOrGroupName DischargeDate PeriodDates CompletionDate CobDate
        PlanDate BenefitDates PcpDate LatestVisitDate EligibilityDates DateAdded PlanBeginDate AdmissionDate ServiceDate
        LastUpdateDate StatusDate Errors Messages AdditionalInformation BenefitEntities""",
    json_types.BenefitResponseJson: """GroupControlNumber TradingPartnerId Payers EnvelopeErrors BenefitFormat X12Document
        DocumentId CreateDate ResponseType""",
    # Only named by the document; their fields are decided in docs/reference/interface-decisions.md.
    json_types.ErrorJson: "Code Message FollowUpAction Location",
    json_types.ErrorResponseJson: "Type PayeeTraceNumber Errors X12Document",
    json_types.InterchangeStatusJson: "InterchangeControlNumber Status Code Message",
    json_types.AddressJson: "Address1 Address2 City State PostalCode Country",
    json_types.ContactJson: "Name Type Number",
    json_types.ProcedureCodeJson: "Qualifier Code Modifiers",
    json_types.DeliveryScheduleJson: "Quantity Unit Period PeriodCount Pattern",
    json_types.InformationJson: "Qualifier Code Text",
    json_types.BenefitEntityJson: """Type EntityType CommonName FirstName EmployersIdNumber SocialSecurityNumber
        ElectronicTransmitterIdNumber FacilityIdNumber TaxIdNumber StandardUniqueId MemberId NaicId PayerId
        PharmacyNumber ServiceProviderNumber CmsPlanId NationalProviderId PhysicalAddress Contacts""",
    # In the document's words, with their fields in parentheses.
    json_types.TraceJson: "OriginatorID OriginatorSecondaryID Number",
    json_types.DateRangeJson: "Start End",
    json_types.QuantityJson: "Unit Amount",
}  # fmt: skip
# A dependent has the fields of a subscriber but that one, and the relationship.
DOCUMENTED[json_types.DependentJson] = (
    DOCUMENTED[json_types.SubscriberJson].replace("Dependents ", "") + " Relationship"
)


@every_case("structure", DOCUMENTED, ids=lambda one: one.__name__)
def test_a_structure_has_exactly_the_fields_of_the_document_in_its_order(structure):
    given = {"Type": "TA1"} if structure is json_types.ErrorResponseJson else {}
    assert list(json.loads(encode_element(structure(**given)))) == DOCUMENTED[structure].split()


def test_the_schema_has_no_field_that_the_document_does_not_list():
    schema = TypeAdapter(json_types.EligibilityResponseJson).json_schema(mode="serialization")
    shown = {name: list(part["properties"]) for name, part in schema["$defs"].items()}
    for structure, listed in DOCUMENTED.items():
        name = "Eligibility" + structure.__name__.removesuffix("Json")
        assert shown[name] == listed.split(), name
