"""The calls of V3 as values: path, query, body, how the response is read, and when to retry.

Shared by the sync and the async client. Knows V3 and no network.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Generic, TypeVar
from uuid import UUID

from clearlane.client import build, limits, models
from clearlane.client.build import ClaimKind

T = TypeVar("T")

V3, V1 = "api/v3", "clearlane/v1"
"""The two APIs, by the beginning of their paths. V1 is Clearlane's own."""


class RetryRule(StrEnum):
    """When a call may be sent again after an error."""

    ALWAYS = "always"
    """The call is idempotent: a read, or one that the service recognizes as sent before."""
    IF_NOT_PROCESSED = "if_not_processed"
    """Only if it is certain that the service has not processed the first one."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Call(Generic[T]):
    """One call, ready to be sent."""

    name: str
    path: str
    read: Callable[[Any], T]
    query: Mapping[str, str]
    body: bytes = b""
    retry_rule: RetryRule = RetryRule.ALWAYS
    timeout_seconds: float = limits.ANSWER_SECONDS_MAX
    verb: str = "POST"
    version: str = V3
    idempotency_key: str = ""
    """The key of a change of V1: under the same key it is done once, however often it is sent."""
    reads_text: bool = False
    """Whether ``read`` takes the body as text instead of parsed JSON."""
    content_type: str = "application/json"

    def __repr__(self) -> str:
        return f"Call({self.name!r})"


class PayerList(StrEnum):
    """The three payer lists, by the last part of their path."""

    LIVE = "get_list"
    TEST = "get_list_of_test"
    ELIGIBILITY = "get_list_of_eligibility"


_LIST_NAMES = {
    PayerList.LIVE: "GetPayers",
    PayerList.TEST: "GetTestPayers",
    PayerList.ELIGIBILITY: "GetEligibilityPayers",
}
_SUBMISSIONS = {
    ClaimKind.MEDICAL: ("SubmitClaims", "claims/submit", V3),
    ClaimKind.DENTAL: ("SubmitDentalClaims", "claims/submitDental", V3),
    ClaimKind.INSTITUTIONAL: ("PostClaims", "claims", V1),
}
_SUBMISSION_READERS: Mapping[str, Callable[[Any], models.ClaimSubmission]] = {
    V3: lambda value: models.read(models.ClaimSubmission, value),
    V1: models.read_v1_submission,
}


def payers(which: PayerList, kind: ClaimKind | str) -> Call[list[models.Payer]]:
    """Return the call of a payer list."""
    return Call(
        name=_LIST_NAMES[which],
        path=f"payers/{which}",
        query={"type": build.PAYER_TYPES[ClaimKind(kind)]},
        read=models.read_list(models.Payer),
    )


def submission(
    kind: ClaimKind, claims: Any, site: str | None = None
) -> Call[models.ClaimSubmission]:
    """Return a submission of claims. It is idempotent: the service recognizes ``Svc_VendorClaimId``.

    ``site`` is named in calls of V1; those of V3 always are for the account's.
    """
    name, path, version = _SUBMISSIONS[kind]
    return Call(
        name=name,
        path=path,
        query={"site": site} if site and version == V1 else {},
        body=build.encode_json(build.claim_document(kind, claims)),
        read=_SUBMISSION_READERS[version],
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
        version=version,
    )


def status(start: date | str, end: date | str) -> Call[list[models.ClaimStatus]]:
    """Return the call for the status of claims created between two dates, both included."""
    return Call(
        name="GetClaimStatusByDate",
        path="claims/status/get_by_date",
        query={"startDate": _format_date(start), "endDate": _format_date(end)},
        read=models.read_list(models.ClaimStatus),
    )


def documents(ids: Iterable[str]) -> Call[models.PayerDocuments]:
    """Return the call for payer documents."""
    return Call(
        name="GetPayerResponseDocuments",
        path="claims/responses/get_by_doc_id",
        query={},
        body=build.encode_json([ids] if isinstance(ids, str) else list(ids)),
        read=models.read_documents,
    )


def eligibility(request: Any) -> Call[models.EligibilityAnswer]:
    """Return an eligibility request. V3 cannot recognize a repeated one, so it is not sent twice."""
    return Call(
        name="SubmitEligibilityRequests",
        path="eligibility/submit",
        query={},
        body=build.encode_json(request),
        read=lambda value: models.read(models.EligibilityAnswer, value),
        retry_rule=RetryRule.IF_NOT_PROCESSED,
        timeout_seconds=limits.ELIGIBILITY_SECONDS_MAX,
    )


def eligibility_responses(eligibility_request_id: int) -> Call[models.EligibilityAnswer]:
    """Return the call for the responses that have arrived for a request."""
    return Call(
        name="GetEligibilityResponses",
        path="eligibility/get_responses",
        query={"requestId": str(eligibility_request_id)},
        read=lambda value: models.read(models.EligibilityAnswer, value),
    )


def enrollments(given: Any) -> Call[models.EnrollmentAnswer]:
    """Return a submission of enrollments. A repeated one is answered "already exists", which is not a failure."""
    return Call(
        name="SubmitEnrollments",
        path="enrollment/submit",
        query={},
        body=build.encode_json(build.enrollment_request(given)),
        read=lambda value: models.read(models.EnrollmentAnswer, value),
    )


def create_token(instance_id: UUID | str, instance_name: str) -> Call[models.InstanceToken]:
    """Return the call that creates an instance's token; a second one replaces the first."""
    return Call(
        name="CreateVendorInstanceToken",
        path="proxylogin/create_instance_token",
        query={"instanceId": str(instance_id), "instanceName": instance_name},
        read=lambda value: models.read(models.InstanceToken, value),
    )


def login_url(instance_id: UUID | str, token: str) -> Call[models.LoginUrl]:
    """Return the call for a one-time URL of the login page."""
    return Call(
        name="GetUrl",
        path="proxylogin/get_url",
        query={"instanceId": str(instance_id), "token": token},
        read=lambda value: models.read(models.LoginUrl, value),
    )


def delete_token(instance_id: UUID | str) -> Call[models.TokenDeletion]:
    """Return the call that deletes an instance's token."""
    return Call(
        name="DeleteVendorInstanceToken",
        path="proxylogin/delete_instance_token",
        query={"instanceId": str(instance_id)},
        read=lambda value: models.read(models.TokenDeletion, value),
    )


def _format_date(given: date | str) -> str:
    """Return a date as V3 writes it; a text is passed on as it is."""
    return given if isinstance(given, str) else f"{given:%Y-%m-%d}"
