"""The stored results of the patients make the whole response, with the status that follows from them.

Also tests `eligibility/response`.
"""

import json

import msgspec
import pytest
from pydantic import TypeAdapter

from clearlane.api import openapi
from clearlane.api.v3 import wire
from clearlane.eligibility import answer, fields, read_271, response
from clearlane.eligibility.answer import InquiryOutcome
from clearlane.eligibility.rules import ValidationResultJson
from tests.eligibility.invented import HEAD, NOON, PERSON, RECEIVER, TRACE, answer_file, inquiry

[ANSWER] = read_271.read(answer_file(*HEAD, *RECEIVER, *PERSON, "EB*B**30****20.50")).answers
MADE = read_271.build_response(ANSWER, inquiry(), document_id="D1", created=NOON, trace=TRACE)
ANSWERED = InquiryOutcome(response=answer.encode_element(MADE))
STATUS = answer.encode_element(
    response.InterchangeStatusJson(InterchangeControlNumber="000000017", Status="Rejected")
)
REFUSED = InquiryOutcome(
    error=answer.encode_element(response.ErrorResponseJson(Type="TA1")), status=STATUS
)
INVALID = ValidationResultJson(
    Location="BenefitInquiries", Code="TooManyPatients", Message="Send fewer."
)


@pytest.mark.parametrize(
    ("sent", "awaited", "status"),
    [
        (0, 0, "AllInvalid"), (1, 1, "ResultsIncomplete"), (2, 1, "ResultsIncomplete"),
        (1, 0, "ResultsComplete"), (2, 0, "ResultsComplete"),
    ],
)  # fmt: skip
def test_the_status_follows_from_what_is_awaited(sent, awaited, status):
    assert answer.request_status(sent, awaited) == status


async def pages(*made):
    for page in made:
        yield page


async def composed(answered=(), refused=(), status=answer.RequestStatus.COMPLETE):
    results = msgspec.json.encode([INVALID])
    pieces = answer.compose_response(
        7, status, responses=pages(*answered), results=results, errors=pages(*refused)
    )
    return b"".join([piece async for piece in pieces])


async def test_everything_that_was_kept_is_in_the_response():
    body = json.loads(await composed([[ANSWERED], [ANSWERED, ANSWERED]], [[REFUSED], [REFUSED]]))
    assert list(body) == [
        "RequestId", "Status", "Responses", "ValidationResults", "ErrorResponses", "InterchangeStatuses",
    ]  # fmt: skip
    assert body["RequestId"] == 7
    assert body["Status"] == "ResultsComplete"
    assert body["Responses"] == [json.loads(answer.encode_element(MADE))] * 3
    assert body["ValidationResults"] == [
        {"Location": "BenefitInquiries", "Code": "TooManyPatients", "Message": "Send fewer."}
    ]
    assert len(body["ErrorResponses"]) == 2
    assert body["InterchangeStatuses"] == [
        {
            "InterchangeControlNumber": "000000017",
            "Status": "Rejected",
            "Code": None,
            "Message": None,
        }
    ]


async def test_a_response_reads_back_as_structures():
    back = answer.decode_response(await composed([[ANSWERED]], [[REFUSED]]))
    assert back.Responses == (MADE,)
    assert back.ValidationResults == (INVALID,)
    assert back.ErrorResponses[0].Type == "TA1"


def test_outcomes_print_nothing_of_a_patient():
    assert "ROSA" not in repr(ANSWERED) + repr([ANSWERED]) + repr(MADE)


def test_the_schema_has_every_field_of_the_document():
    schema = TypeAdapter(answer.EligibilityResponseJson).json_schema(mode="serialization")
    properties = {name: part["properties"] for name, part in schema["$defs"].items()}
    assert {"Payees", "Contacts", "NaicId"} <= properties["EligibilityPayer"].keys()
    assert {"DevicePin", "StateIssuingLicense"} <= properties["EligibilityPayee"].keys()
    assert {"MilitaryService", "CobraDates", "TaxonomyRole"} <= properties[
        "EligibilitySubscriber"
    ].keys()
    assert properties["EligibilityBenefit"]["BenefitAmount"]["anyOf"][0] == {"type": "number"}
    assert "EligibilityBenefitResponse" in properties


def test_the_schema_is_beside_those_of_the_other_calls():
    types = [wire.PayerListItem, fields.EligibilityRequest, answer.EligibilityResponseJson]
    names = set(openapi.Schemas(types).components)
    assert {"Payer", "EligibilityPayer", "EligibilityRequestPayer"} <= names
    assert not [name for name in names if "__" in name]


# The document's own lists of fields.
DOCUMENTED = {
    response.PayerJson: """Type EntityType CommonName FirstName MiddleName Suffix PayerId CmsPlanId EmployersIdNumber
        NationalProviderId ElectronicTransmitterIdNumber NationalPayerIdNumber TaxIdNumber NaicId Payees Contacts Errors""",
    response.PayeeJson: """Type EntityType ProviderRole CommonName FirstName MiddleName Suffix NationalProviderId
        EmployersIdNumber TaxIdNumber CmsPlanId SocialSecurityNumber PharmacyNumber PayerId ServiceProviderNumber
        StateLicenseNumber StateIssuingLicense MedicareProviderNumber MedicaidProviderNumber PriorIdNumber
        PersonalIdNumber FacilityIdNumber FacilityNetworkIdNumber SubmitterIdNumber ContractNumber DevicePin
        ProviderPlanNetworkId UserId ReceivingProviderTaxonomyCode PhysicalAddress Errors Subscribers""",
    response.SubscriberJson: """EntityType CaseNumber Dependents ClearinghouseTraceNumber PayeeTraceNumber
        PayerTraceNumber IsInsured CommonName FirstName MiddleName Suffix PhysicalAddress BirthDate Gender Benefits
        DischargeDate IssueDate EffectiveDateOfChange PlanDate EligibilityDate DateAdded EnrollmentDate AdmissionDate
        DeathDate CertificationDate ServiceDate DateOfLastUpdate StatusDate CobraDates PremiumPaidDates PlanDates
        EligibilityDates PolicyDates MemberId MemberIdSuffix OriginalPrimaryId PlanOrGroupName StandardUniqueId
        PlanNumber PatientAccountNumber GroupOrPolicyNumber GroupNumber PolicyNumber ClassOfContract ContractNumber
        MedicalRecordNumber HealthInsuranceClaimNumber IdCardSerialNumber IdentityCardNumber IssueNumber
        EligibilityCategory PlanNetworkIdNumber SocialSecurityNumber AgencyClaimNumber MedicaidRecipientId TaxonomyCode
        FamilyUnitNumber TaxonomyRole MultipleBirthSequenceNumber PrimaryInformationChanged MilitaryService Errors""",
    response.BenefitJson: """Type TypesOfService LevelOfCoverage PlaceOfService TypeOfInsurance PlanCoverageDescription
        BenefitTimePeriod BenefitAmount PatientResponsibilityPercentage BenefitQuantity
        AuthenticationOrCertificationRequired PlanInNetwork ReferralNumber PriorAuthorizationNumber Procedure
        DeliverySchedules PlanNumber GroupOrPolicyNumber MemberId MemberIdSuffix GroupNumber PolicyNumber
        AlternativeListId CoverageListId DrugFormularyNumber MedicaidAssistanceCategory MedicaidRecipientId
        HealthInsuranceClaimNumber PlanNetworkIdNumber PlanOrGroupName DischargeDate PeriodDates CompletionDate CobDate
        PlanDate BenefitDates PcpDate LatestVisitDate EligibilityDates DateAdded PlanBeginDate AdmissionDate ServiceDate
        LastUpdateDate StatusDate Errors Messages AdditionalInformation BenefitEntities""",
    response.BenefitResponseJson: """GroupControlNumber TradingPartnerId Payers EnvelopeErrors BenefitFormat X12Document
        DocumentId CreateDate ResponseType""",
}  # fmt: skip


@pytest.mark.parametrize("structure", DOCUMENTED, ids=lambda one: one.__name__)
def test_a_structure_has_exactly_the_fields_of_the_document(structure):
    made = json.loads(answer.encode_element(structure()))
    assert sorted(made) == sorted(DOCUMENTED[structure].split())
