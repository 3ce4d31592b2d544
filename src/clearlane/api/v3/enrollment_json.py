"""Enrollments in the JSON of V3: the request's schema, results and errors.

The request's schema is made from the catalogue of fields. Knows no endpoint and no database.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model
from starlette.responses import Response

from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v3 import responses
from clearlane.enrollment.fields import FIELDS, EnrollmentField, TextFormat, TypeOfNpi
from clearlane.enrollment.rules import EXACT_PATTERNS, describe_format
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.pipeline.enrollment.enroll import (
    EnrollmentReceipt,
    EnrollmentRequestResult,
    EnrollmentResult,
    InvalidEnrollmentRequest,
    TooManyEnrollments,
)

ALREADY_EXISTS = "Provider already exists."


class Details(JsonModel):
    """The errors of one field."""

    Key: Annotated[str, Field(description="The field's path, such as `Enrollments[0].Npi`.")]
    Value: Annotated[list[str], Field(description="Sentences that say what would pass.")]


class EnrollmentErrors(responses.Message):
    """All errors of a request, by field. Nothing was submitted."""

    Errors: list[Details]


class EnrollmentResultJson(JsonModel):
    """The result of one enrollment."""

    # The name in the OpenAPI document.
    __qualname__ = "EnrollmentResult"
    model_config = ConfigDict(title="EnrollmentResult")

    RequestId: Annotated[str, Field(description="As it was sent.")]
    ClientId: Annotated[str, Field(description="The site's.")]
    LastName: Annotated[str | None, Field(description="The provider's; null for an organization.")]
    FirstName: Annotated[str | None, Field(description="The provider's; null for an organization.")]
    LineNumber: Annotated[int, Field(description="Place in the request, from 1.")]
    Message: Annotated[
        str | None, Field(description=f"Null, or `{ALREADY_EXISTS}`, which is not a failure.")
    ]
    Exception: Annotated[str | None, Field(description="Null.")]
    HttpReturnCode: Annotated[None, Field(description="Unused.", deprecated=True)]
    SiteCreated: Annotated[None, Field(description="Unused.", deprecated=True)]
    MedicalGroupCreated: Annotated[None, Field(description="Unused.", deprecated=True)]
    PracticeCreated: Annotated[None, Field(description="Unused.", deprecated=True)]
    JsonResponse: Annotated[None, Field(description="Unused.", deprecated=True)]


class EnrollmentSubmission(JsonModel):
    """The response to an enrollment request."""

    EnrollmentResults: Annotated[
        list[EnrollmentResultJson], Field(description="One per enrollment, in order.")
    ]


UNUSED: dict[str, None] = dict.fromkeys(
    ("HttpReturnCode", "SiteCreated", "MedicalGroupCreated", "PracticeCreated", "JsonResponse")
)


def enrollment_response(outcome: EnrollmentRequestResult) -> Response:
    """Return the response to an enrollment request."""
    match outcome:
        case InvalidEnrollmentRequest(findings=findings):
            return _invalid(findings)
        case TooManyEnrollments(enrollments_max=most):
            return responses.message(413, f"A request holds {most} enrollments at most.")
        case EnrollmentReceipt(client_id=client_id, results=results):
            encoded = [_result(client_id, number, each) for number, each in enumerate(results, 1)]
            return json_response(200, {"EnrollmentResults": encoded})


def faults_response(faults: Mapping[str, Sequence[str]]) -> Response:
    """Return 400 with all errors of a request, as key and values."""
    errors = [{"Key": key, "Value": list(sentences)} for key, sentences in faults.items()]
    return json_response(400, {"Message": responses.INVALID, "Errors": errors})


def _invalid(findings: Sequence[Finding]) -> Response:
    faults: dict[str, list[str]] = {}
    for finding in findings:
        faults.setdefault(finding.location, []).append(finding.message)
    return faults_response(faults)


def _result(client_id: str, number: int, result: EnrollmentResult) -> dict[str, object]:
    enrollment = result.enrollment
    is_organization = enrollment.NpiType is TypeOfNpi.ORGANIZATION
    return {
        "RequestId": enrollment.RequestId,
        "ClientId": client_id,
        "LastName": None if is_organization else enrollment.ProviderLastName,
        "FirstName": None if is_organization else enrollment.ProviderFirstName,
        "LineNumber": number,
        "Message": ALREADY_EXISTS if result.existed else None,
        "Exception": None,
        **UNUSED,
    }


def _field(field: EnrollmentField) -> tuple[Any, Any]:
    """Return the type and pydantic field of one field of the request."""
    schema = Field(
        default=... if field.required else None,
        title=field.label,
        description=_description(field),
        deprecated=field.deprecated or None,
    )
    if field.format is TextFormat.NPI_TYPE:
        # An enumeration of texts or a number, not one list of both, which generators of clients leave out.
        number = Annotated[int, Field(ge=0, lt=len(TypeOfNpi))]
        return Literal["Unknown", "Individual", "Organization"] | number, schema
    text = Annotated[
        str,
        Field(
            min_length=field.min_length or None,
            max_length=field.max_length,
            pattern=f"^{EXACT_PATTERNS[field.format]}$" if field.format in EXACT_PATTERNS else None,
        ),
    ]
    return (text if field.required else text | None), schema


def _description(field: EnrollmentField) -> str:
    words = [
        f"{field.label}.",
        f"{describe_format(field).capitalize()}." if field.max_length else "",
        "A valid e-mail address." if field.format is TextFormat.EMAIL else "",
        "No PO box." if field.format is TextFormat.STREET else "",
        f"Required when NpiType is {field.required_for}." if field.required_for else "",
    ]
    return " ".join(filter(None, words))


_FIELDS: dict[str, Any] = {field.name: _field(field) for field in FIELDS.values()}

Enrollment: Any = create_model(
    "Enrollment",
    __base__=JsonModel,
    __doc__="A billing provider, and whom to ask about it.",
    **_FIELDS,
)

EnrollmentRequest: Any = create_model(
    "EnrollmentRequest",
    __base__=JsonModel,
    __doc__="Providers to be enrolled with payers.",
    Version=(Literal[1], Field(description="The version of the request: 1.")),
    Enrollments=(
        list[Enrollment],
        Field(min_length=1, max_length=limits.ENROLLMENTS_PER_REQUEST_MAX),
    ),
)
