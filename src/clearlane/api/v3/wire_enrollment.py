"""The shapes of enrollment on the wire: the request as its schema tells it, results, and faults.

Made from the catalogue of fields. Knows no route and no database: values in, answers out.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model
from starlette.responses import Response

from clearlane.api.v3 import wire
from clearlane.enrollment.decode import DOCUMENT
from clearlane.enrollment.fields import ROWS, Form, Row, TypeOfNpi
from clearlane.enrollment.rules import EXACT, wanted
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.pipeline.enrollment.enroll import Answered, Enrolled, Invalid, Outcome, TooMany

ALREADY_THERE = "Provider already exists."


class Details(BaseModel):
    """What is wrong with one field."""

    Key: Annotated[str, Field(description="The field's path, such as `Enrollments[0].Npi`.")]
    Value: Annotated[list[str], Field(description="Sentences that say what would pass.")]


class EnrollmentErrors(wire.Message):
    """What went wrong, field by field. Nothing was submitted."""

    Errors: list[Details]


class EnrollmentResult(BaseModel):
    """What became of one enrollment."""

    RequestId: Annotated[str, Field(description="As it was sent.")]
    ClientId: Annotated[str, Field(description="The site's.")]
    LastName: Annotated[str | None, Field(description="The provider's; null for an organisation.")]
    FirstName: Annotated[str | None, Field(description="The provider's; null for an organisation.")]
    LineNumber: Annotated[int, Field(description="Place in the request, from 1.")]
    Message: Annotated[
        str | None, Field(description=f"Null, or `{ALREADY_THERE}`, which is no failure.")
    ]
    Exception: Annotated[str | None, Field(description="Null.")]
    HttpReturnCode: Annotated[None, Field(description="Unused.", deprecated=True)]
    SiteCreated: Annotated[None, Field(description="Unused.", deprecated=True)]
    MedicalGroupCreated: Annotated[None, Field(description="Unused.", deprecated=True)]
    PracticeCreated: Annotated[None, Field(description="Unused.", deprecated=True)]
    JsonResponse: Annotated[None, Field(description="Unused.", deprecated=True)]


class EnrollmentSubmission(BaseModel):
    """The answer to an enrollment request."""

    EnrollmentResults: Annotated[
        list[EnrollmentResult], Field(description="One per enrollment, in order.")
    ]


UNUSED: dict[str, None] = dict.fromkeys(
    ("HttpReturnCode", "SiteCreated", "MedicalGroupCreated", "PracticeCreated", "JsonResponse")
)


def outcome(told: Outcome) -> Response:
    """The answer to an enrollment request, whatever became of it."""
    match told:
        case Invalid(findings=findings):
            return _invalid(findings)
        case TooMany(enrollments_max=most):
            return wire.message(413, f"A request holds {most} enrollments at most.")
        case Enrolled(client_id=client_id, answers=answers):
            results = [_result(client_id, line, each) for line, each in enumerate(answers, 1)]
            return wire.answer(200, {"EnrollmentResults": results})


def _invalid(findings: Sequence[Finding]) -> Response:
    """400: every fault at once. A body that is no JSON object is told as on every other call."""
    faults: dict[str, list[str]] = {}
    for finding in findings:
        faults.setdefault(finding.location, []).append(finding.message)
    if DOCUMENT in faults:
        return wire.model_state(faults)
    errors = [{"Key": key, "Value": sentences} for key, sentences in faults.items()]
    return wire.answer(400, {"Message": wire.INVALID, "Errors": errors})


def _result(client_id: str, line: int, told: Answered) -> dict[str, object]:
    enrollment = told.enrollment
    is_organisation = enrollment.NpiType is TypeOfNpi.ORGANIZATION
    return {
        "RequestId": enrollment.RequestId,
        "ClientId": client_id,
        "LastName": None if is_organisation else enrollment.ProviderLastName,
        "FirstName": None if is_organisation else enrollment.ProviderFirstName,
        "LineNumber": line,
        "Message": ALREADY_THERE if told.existed else None,
        "Exception": None,
        **UNUSED,
    }


def _field(row: Row) -> tuple[Any, Any]:
    """A field of the request as its schema tells it."""
    told = Field(
        default=... if row.required else None,
        title=row.label,
        description=_description(row),
        deprecated=row.deprecated or None,
    )
    if row.form is Form.NPI_TYPE:
        return Literal["Unknown", "Individual", "Organization", 0, 1, 2], told
    text = Annotated[
        str,
        Field(
            min_length=row.min or None,
            max_length=row.max,
            pattern=f"^{EXACT[row.form]}$" if row.form in EXACT else None,
        ),
    ]
    return (text if row.required else text | None), told


def _description(row: Row) -> str:
    words = [
        f"{row.label}.",
        f"{wanted(row).capitalize()}." if row.max else "",
        "A valid e-mail address." if row.form is Form.EMAIL else "",
        "No PO box." if row.form is Form.STREET else "",
        f"Required when NpiType is {row.when}." if row.when else "",
    ]
    return " ".join(filter(None, words))


_FIELDS: dict[str, Any] = {row.name: _field(row) for row in ROWS.values()}

Enrollment: Any = create_model(
    "Enrollment", __doc__="A billing provider, and whom to ask about it.", **_FIELDS
)

EnrollmentRequest: Any = create_model(
    "EnrollmentRequest",
    __doc__="Providers to be enrolled with payers.",
    Version=(Literal[1], Field(description="The version of the request: 1.")),
    Enrollments=(
        list[Enrollment],
        Field(min_length=1, max_length=limits.ENROLLMENTS_PER_REQUEST_MAX),
    ),
)
