"""The calls of V3 as values: path, query, body, how the answer is read, and when it may be repeated.

Knows the interface and no network. The sync and the async client both walk this table.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Generic, TypeVar
from uuid import UUID

from clearlane.client import build, limits, models
from clearlane.client.build import Kind

T = TypeVar("T")


class Repeat(StrEnum):
    """When a call may be sent again after a fault."""

    ALWAYS = "always"
    """A second time changes nothing: reads, and what the service recognises as sent before."""
    UNTAKEN = "untaken"
    """Only where it is certain that the service has not taken the first one."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Call(Generic[T]):
    """One call, ready to be sent."""

    name: str
    path: str
    read: Callable[[Any], T]
    query: Mapping[str, str]
    body: bytes = b""
    repeat: Repeat = Repeat.ALWAYS
    timeout_seconds: float = limits.ANSWER_SECONDS_MAX

    def __repr__(self) -> str:
        return f"Call({self.name!r})"


class PayerList(StrEnum):
    """The three lists, by the last part of their path."""

    LIVE = "get_list"
    TEST = "get_list_of_test"
    ELIGIBILITY = "get_list_of_eligibility"


_LIST_NAMES = {
    PayerList.LIVE: "GetPayers",
    PayerList.TEST: "GetTestPayers",
    PayerList.ELIGIBILITY: "GetEligibilityPayers",
}
_SUBMISSIONS = {
    Kind.MEDICAL: ("SubmitClaims", "claims/submit"),
    Kind.DENTAL: ("SubmitDentalClaims", "claims/submitDental"),
}


def payers(which: PayerList, kind: Kind | str) -> Call[list[models.Payer]]:
    """A list of payers."""
    return Call(
        name=_LIST_NAMES[which],
        path=f"payers/{which}",
        query={"type": Kind(kind)},
        read=models.read_list(models.Payer),
    )


def submission(kind: Kind, claims: Any) -> Call[models.ClaimSubmission]:
    """Claims. Repeating is safe: the service answers the same ``Svc_VendorClaimId`` as before."""
    name, path = _SUBMISSIONS[kind]
    return Call(
        name=name,
        path=path,
        query={},
        body=build.encoded(build.claim_document(kind, claims)),
        read=lambda value: models.read(models.ClaimSubmission, value),
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
    )


def status(start: date | str, end: date | str) -> Call[list[models.ClaimStatus]]:
    """Where the claims of some days stand, both ends included."""
    return Call(
        name="GetClaimStatusByDate",
        path="claims/status/get_by_date",
        query={"startDate": _day(start), "endDate": _day(end)},
        read=models.read_list(models.ClaimStatus),
    )


def documents(ids: Iterable[str]) -> Call[models.PayerDocuments]:
    """What payers wrote."""
    return Call(
        name="GetPayerResponseDocuments",
        path="claims/responses/get_by_doc_id",
        query={},
        body=build.encoded([ids] if isinstance(ids, str) else list(ids)),
        read=models.read_documents,
    )


def eligibility(request: Any) -> Call[models.EligibilityAnswer]:
    """An inquiry. The interface has no way to recognise a second one, so it is not sent twice."""
    return Call(
        name="SubmitEligibilityRequests",
        path="eligibility/submit",
        query={},
        body=build.encoded(request),
        read=lambda value: models.read(models.EligibilityAnswer, value),
        repeat=Repeat.UNTAKEN,
        timeout_seconds=limits.ELIGIBILITY_SECONDS_MAX,
    )


def eligibility_responses(request_id: int) -> Call[models.EligibilityAnswer]:
    """What has arrived for an inquiry."""
    return Call(
        name="GetEligibilityResponses",
        path="eligibility/get_responses",
        query={"requestId": str(request_id)},
        read=lambda value: models.read(models.EligibilityAnswer, value),
    )


def enrollments(given: Any) -> Call[models.EnrollmentAnswer]:
    """Enrollments. A second one is answered with "already exists", which is no failure."""
    return Call(
        name="SubmitEnrollments",
        path="enrollment/submit",
        query={},
        body=build.encoded(build.enrollment_request(given)),
        read=lambda value: models.read(models.EnrollmentAnswer, value),
    )


def create_token(instance_id: UUID | str, instance_name: str) -> Call[models.InstanceToken]:
    """A token for an installation; a second one replaces the first."""
    return Call(
        name="CreateVendorInstanceToken",
        path="proxylogin/create_instance_token",
        query={"instanceId": str(instance_id), "instanceName": instance_name},
        read=lambda value: models.read(models.InstanceToken, value),
    )


def login_url(instance_id: UUID | str, token: str) -> Call[models.LoginUrl]:
    """A one-time address of the login page."""
    return Call(
        name="GetUrl",
        path="proxylogin/get_url",
        query={"instanceId": str(instance_id), "token": token},
        read=lambda value: models.read(models.LoginUrl, value),
    )


def delete_token(instance_id: UUID | str) -> Call[models.Deleted]:
    """Remove a token."""
    return Call(
        name="DeleteVendorInstanceToken",
        path="proxylogin/delete_instance_token",
        query={"instanceId": str(instance_id)},
        read=lambda value: models.read(models.Deleted, value),
    )


def _day(given: date | str) -> str:
    """A day as the interface writes it; a text goes as it is."""
    return given if isinstance(given, str) else f"{given:%Y-%m-%d}"
