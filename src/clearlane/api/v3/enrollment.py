"""The enrollment endpoint: decode, enroll, encode."""

from starlette.responses import Response

from clearlane.api.frame.endpoint import BodyUse, Call, Endpoint, EndpointFamily
from clearlane.api.v3 import enrollment_json, responses
from clearlane.api.v3.error_responses import V3Errors
from clearlane.pipeline.enrollment.enroll import enroll


async def submit_enrollments(call: Call) -> Response:
    """Submit enrollments."""
    document = await call.body.read_document()
    outcome = await enroll(
        call.context.work_context, document, site=call.site, actor=call.actor, now=call.now
    )
    call.ignored_fields.extend(getattr(outcome, "ignored", ()))
    call.notes.extend(getattr(outcome, "notes", ()))
    return enrollment_json.enrollment_response(outcome)


async def suspended(call: Call) -> Response:
    """Refuse a suspended site."""
    return responses.suspended()


ENDPOINT = Endpoint(
    name="SubmitEnrollments",
    path="/api/v3/enrollment/submit",
    family=EndpointFamily.ENROLLMENT,
    summary="Submit providers to be enrolled with payers.",
    handler=submit_enrollments,
    response_type=enrollment_json.EnrollmentSubmission,
    errors=V3Errors(enrollment_json.faults_response),
    touches_phi=True,
    suspended_handler=suspended,
    body_use=BodyUse.JSON,
    request_type=enrollment_json.EnrollmentRequest,
    error_types={400: enrollment_json.EnrollmentErrors, 413: responses.Message},
)
