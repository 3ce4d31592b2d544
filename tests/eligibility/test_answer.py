"""What was kept of each patient becomes the whole response, with the status that follows from it."""

import json

import msgspec
import pytest
from pydantic import TypeAdapter

from clearlane.api import openapi
from clearlane.api.v3 import wire
from clearlane.eligibility import answer, fields, read_271, response
from clearlane.eligibility.answer import Outcome
from clearlane.eligibility.rules import ValidationResult
from tests.eligibility.invented import HEAD, NOON, PERSON, RECEIVER, TRACE, answer_file, inquiry

[ANSWER] = read_271.read(answer_file(*HEAD, *RECEIVER, *PERSON, "EB*B**30****20.50")).answers
MADE = read_271.respond(ANSWER, inquiry(), document_id="D1", created=NOON, trace=TRACE)
TOLD = Outcome(response=answer.keep(MADE))
STATUS = answer.keep(
    response.InterchangeStatus(InterchangeControlNumber="000000017", Status="Rejected")
)
REFUSED = Outcome(error=answer.keep(response.ErrorResponse(Type="TA1")), status=STATUS)
INVALID = ValidationResult(
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
    assert answer.status_of(sent, awaited) == status


async def pages(*made):
    for page in made:
        yield page


async def composed(answered=(), refused=(), status=answer.Status.COMPLETE):
    results = msgspec.json.encode([INVALID])
    pieces = answer.compose(
        7, status, answered=pages(*answered), results=results, refused=pages(*refused)
    )
    return b"".join([piece async for piece in pieces])


async def test_everything_that_was_kept_is_in_the_response():
    body = json.loads(await composed([[TOLD], [TOLD, TOLD]], [[REFUSED], [REFUSED]]))
    assert list(body) == [
        "RequestId", "Status", "Responses", "ValidationResults", "ErrorResponses", "InterchangeStatuses",
    ]  # fmt: skip
    assert body["RequestId"] == 7
    assert body["Status"] == "ResultsComplete"
    assert body["Responses"] == [json.loads(answer.keep(MADE))] * 3
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
    back = answer.restore(await composed([[TOLD]], [[REFUSED]]))
    assert back.Responses == (MADE,)
    assert back.ValidationResults == (INVALID,)
    assert back.ErrorResponses[0].Type == "TA1"


def test_outcomes_print_nothing_of_a_patient():
    assert "ROSA" not in repr(TOLD) + repr([TOLD]) + repr(MADE)


def test_the_schema_has_every_field_of_the_document():
    schema = TypeAdapter(answer.EligibilityResponse).json_schema(mode="serialization")
    told = {name: part["properties"] for name, part in schema["$defs"].items()}
    assert {"Payees", "Contacts", "NaicId"} <= told["EligibilityPayer"].keys()
    assert {"DevicePin", "StateIssuingLicense"} <= told["EligibilityPayee"].keys()
    assert {"MilitaryService", "CobraDates", "TaxonomyRole"} <= told["EligibilitySubscriber"].keys()
    assert told["EligibilityBenefit"]["BenefitAmount"]["anyOf"][0] == {"type": "number"}
    assert "EligibilityBenefitResponse" in told


def test_the_schema_stands_beside_those_of_the_other_calls():
    types = [wire.Payer, fields.EligibilityRequest, answer.EligibilityResponse]
    names = set(openapi.Schemas(types).components)
    assert {"Payer", "EligibilityPayer", "EligibilityRequestPayer"} <= names
    assert not [name for name in names if "__" in name]


# The document's own lists of fields.
DOCUMENTED = {
    response.Payer: """Type EntityType CommonName FirstName MiddleName Suffix PayerId CmsPlanId EmployersIdNumber
        NationalProviderId ElectronicTransmitterIdNumber NationalPayerIdNumber TaxIdNumber NaicId Payees Contacts Errors""",
    response.Payee: """Type EntityType ProviderRole CommonName FirstName MiddleName Suffix NationalProviderId
        EmployersIdNumber TaxIdNumber CmsPlanId SocialSecurityNumber PharmacyNumber PayerId ServiceProviderNumber
        StateLicenseNumber StateIssuingLicense MedicareProviderNumber MedicaidProviderNumber PriorIdNumber
        PersonalIdNumber FacilityIdNumber FacilityNetworkIdNumber SubmitterIdNumber ContractNumber DevicePin
        ProviderPlanNetworkId UserId ReceivingProviderTaxonomyCode PhysicalAddress Errors Subscribers""",
    response.Subscriber: """EntityType CaseNumber Dependents ClearinghouseTraceNumber PayeeTraceNumber
        PayerTraceNumber IsInsured CommonName FirstName MiddleName Suffix PhysicalAddress BirthDate Gender Benefits
        DischargeDate IssueDate EffectiveDateOfChange PlanDate EligibilityDate DateAdded EnrollmentDate AdmissionDate
        DeathDate CertificationDate ServiceDate DateOfLastUpdate StatusDate CobraDates PremiumPaidDates PlanDates
        EligibilityDates PolicyDates MemberId MemberIdSuffix OriginalPrimaryId PlanOrGroupName StandardUniqueId
        PlanNumber PatientAccountNumber GroupOrPolicyNumber GroupNumber PolicyNumber ClassOfContract ContractNumber
        MedicalRecordNumber HealthInsuranceClaimNumber IdCardSerialNumber IdentityCardNumber IssueNumber
        EligibilityCategory PlanNetworkIdNumber SocialSecurityNumber AgencyClaimNumber MedicaidRecipientId TaxonomyCode
        FamilyUnitNumber TaxonomyRole MultipleBirthSequenceNumber PrimaryInformationChanged MilitaryService Errors""",
    response.Benefit: """Type TypesOfService LevelOfCoverage PlaceOfService TypeOfInsurance PlanCoverageDescription
        BenefitTimePeriod BenefitAmount PatientResponsibilityPercentage BenefitQuantity
        AuthenticationOrCertificationRequired PlanInNetwork ReferralNumber PriorAuthorizationNumber Procedure
        DeliverySchedules PlanNumber GroupOrPolicyNumber MemberId MemberIdSuffix GroupNumber PolicyNumber
        AlternativeListId CoverageListId DrugFormularyNumber MedicaidAssistanceCategory MedicaidRecipientId
        HealthInsuranceClaimNumber PlanNetworkIdNumber PlanOrGroupName DischargeDate PeriodDates CompletionDate CobDate
        PlanDate BenefitDates PcpDate LatestVisitDate EligibilityDates DateAdded PlanBeginDate AdmissionDate ServiceDate
        LastUpdateDate StatusDate Errors Messages AdditionalInformation BenefitEntities""",
    response.BenefitResponse: """GroupControlNumber TradingPartnerId Payers EnvelopeErrors BenefitFormat X12Document
        DocumentId CreateDate ResponseType""",
}  # fmt: skip


@pytest.mark.parametrize("structure", DOCUMENTED, ids=lambda one: one.__name__)
def test_a_structure_has_exactly_the_fields_of_the_document(structure):
    made = json.loads(answer.keep(structure()))
    assert sorted(made) == sorted(DOCUMENTED[structure].split())
