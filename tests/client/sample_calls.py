"""Every call of V3 once: how it is made, what must be sent, and a sample response."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

INSTANCE = "6f1c0c1e-5c57-4b6a-9a3a-1d2e3f405162"
CLAIM = {"Svc_VendorClaimId": "A-1", "Svc_PayerId": "TST01", "F28_TotalCharge": Decimal("100.10")}
INQUIRY = {"IsTest": True, "BenefitInquiries": [{"RequestType": "Request", "Payers": []}]}
ENROLLMENT = {"RequestId": "1", "Npi": "1234567893", "NpiType": "Individual", "Tin": "123456789"}

PAYER = {
    "Type": "Medical", "Name": "Meadow Mutual", "SvcPayerId": "M0001", "PayerId": "TST01",
    "NationalPayerId": "", "EraAvailability": "RequiresEnrollment", "OffersEligibility": True,
    "ClaimEnrollmentRequired": False, "FutureField": {"a": 1},
}  # fmt: skip
SUBMISSION = {
    "ClaimResults": [
        {"VendorClaimId": "A-1", "Status": "Accepted", "Errors": [], "RequestId": "R1"},
        {
            "VendorClaimId": "A-2", "Status": "NotAccepted", "RequestId": "R2",
            "Errors": [
                {"Type": "Validation", "Code": "Validation", "Location": None,
                 "SupplementalInformation": "The NPI 1234567890 is wrong."}
            ],
        },
    ],
    "DocumentLevelErrors": [],
}  # fmt: skip
STATUS = {
    "VendorId": 7, "VendorSiteId": "SITE-1", "ClaimNumber": "C1", "CurrentState": "Complete",
    "StateChangeDate": "2024-03-07", "PayerAction": "ProcessedAsPrimary",
    "PayerActionDate": "2024-03-06", "PayerControlNumber": "PCN", "CreateDate": "2024-03-05",
    "LastUpdateDate": "2024-03-07", "RelatedDocumentType": "RemittanceAdvice",
    "RelatedDocumentId": "D1", "TotalClaimAmount": 100.10, "PayerAmount": 80, "Adjustments": 0.10,
    "PatientAmount": 20.0, "PayerName": None, "PaymentMethod": None, "PaymentReferenceNumber": "",
    "PaymentEffectiveDate": "0001-01-01", "VendorClaimId": "A-1",
}  # fmt: skip
DOCUMENTS = {"RemittanceAdvices": [{"DocumentId": "D1"}], "PayerClaimStatuses": []}
ELIGIBILITY = {
    "RequestId": 41, "Status": "ResultsComplete", "ValidationResults": [], "ErrorResponses": [],
    "InterchangeStatuses": [],
    "Responses": [{
        "ResponseType": "BenefitResponse",
        "Payers": [{"PayerId": "TST01", "Payees": [{"Subscribers": [{
            "CommonName": "ARDEN", "FirstName": "ROSA", "MemberId": "7000",
            "Benefits": [{"Type": "CoInsurance", "PatientResponsibilityPercentage": 0.1}],
            "Dependents": [{"CommonName": "ARDEN", "FirstName": "MILO", "Benefits": None}],
        }]}]}],
    }],
}  # fmt: skip
ENROLLED = {
    "EnrollmentResults": [
        {"RequestId": "1", "ClientId": "SITE-1", "LastName": "FENN", "FirstName": "OSKAR",
         "LineNumber": 1, "Message": None, "Exception": None, "HttpReturnCode": None},
        {"RequestId": "2", "ClientId": "SITE-1", "LastName": None, "FirstName": None,
         "LineNumber": 2, "Message": "Provider already exists.", "Exception": None},
        {"RequestId": "3", "ClientId": "SITE-1", "LastName": None, "FirstName": None,
         "LineNumber": 3, "Message": None, "Exception": "System.TimeoutException"},
    ]
}  # fmt: skip
TOKEN = {"token": "tok-en_secret", "resultCode": 0, "errorMessage": ""}
LOGIN = {"resultCode": 0, "errorMessage": "", "url": "https://example.org/login?once=secret"}
DELETED = {"resultCode": 0, "deleted": True, "errorMessage": ""}


@dataclass(frozen=True)
class Case:
    """One call."""

    method: str
    path: str
    arguments: tuple[Any, ...]
    answer: Any
    check: Callable[[Any], bool]
    query: dict[str, str] = field(default_factory=dict)
    sent: Any = None


def _claims(kind: str, claims: list[Any]) -> dict[str, Any]:
    return {"DocumentType": kind, "Claims": claims}


SENT_CLAIM = {**CLAIM, "F28_TotalCharge": 100.10}
CASES = [
    Case("payers", "payers/get_list", ("medical",), [PAYER], lambda a: a[0].PayerId == "TST01"
         and a[0].raw["FutureField"] == {"a": 1}, {"type": "medical"}),
    Case("test_payers", "payers/get_list_of_test", ("dental",), [], lambda a: a == [],
         {"type": "dental"}),
    Case("eligibility_payers", "payers/get_list_of_eligibility", (), [PAYER],
         lambda a: a[0].OffersEligibility is True, {"type": "medical"}),
    Case("submit_medical_claims", "claims/submit", (CLAIM,), SUBMISSION,
         lambda a: not a.accepted and [r.accepted for r in a.ClaimResults] == [True, False],
         sent=_claims("MedicalClaim", [SENT_CLAIM])),
    Case("submit_dental_claims", "claims/submitDental", ([CLAIM, CLAIM],), SUBMISSION,
         lambda a: a.ClaimResults[1].Errors[0].Location is None,
         sent=_claims("DentalClaim", [SENT_CLAIM, SENT_CLAIM])),
    Case("submit_document", "claims/submitDental", (_claims("DentalClaim", [CLAIM]),), SUBMISSION,
         lambda a: a.ClaimResults[0].RequestId == "R1", sent=_claims("DentalClaim", [SENT_CLAIM])),
    Case("claim_status", "claims/status/get_by_date", (date(2024, 3, 1), "2024-03-31"), [STATUS],
         lambda a: a[0].TotalClaimAmount == Decimal("100.1") and a[0].PayerAmount == 80
         and a[0].PaymentEffectiveDate is None and a[0].CreateDate == date(2024, 3, 5),
         {"startDate": "2024-03-01", "endDate": "2024-03-31"}),
    Case("payer_documents", "claims/responses/get_by_doc_id", (["D1"],), DOCUMENTS,
         lambda a: [d["DocumentId"] for d in a] == ["D1"], sent=["D1"]),
    Case("submit_eligibility", "eligibility/submit", (INQUIRY,), ELIGIBILITY,
         lambda a: a.RequestId == 41 and not a.waiting
         and [p["FirstName"] for p in a.patients()] == ["ROSA", "MILO"], sent=INQUIRY),
    Case("eligibility_responses", "eligibility/get_responses", (41,), ELIGIBILITY,
         lambda a: a.Status == "ResultsComplete", {"requestId": "41"}),
    Case("submit_enrollments", "enrollment/submit", (ENROLLMENT,), ENROLLED,
         lambda a: [r.submitted for r in a.EnrollmentResults] == [True, True, False]
         and a.EnrollmentResults[1].already_exists and not a.submitted,
         sent={"Version": 1, "Enrollments": [ENROLLMENT]}),
    Case("create_instance_token", "proxylogin/create_instance_token", (INSTANCE, "Front context & co"),
         TOKEN, lambda a: a.token == "tok-en_secret",
         {"instanceId": INSTANCE, "instanceName": "Front context & co"}),
    Case("login_url", "proxylogin/get_url", (INSTANCE, "a+b/c="), LOGIN,
         lambda a: a.url.endswith("secret"), {"instanceId": INSTANCE, "token": "a+b/c="}),
    Case("delete_instance_token", "proxylogin/delete_instance_token", (INSTANCE,), DELETED,
         lambda a: a.deleted is True, {"instanceId": INSTANCE}),
]  # fmt: skip
