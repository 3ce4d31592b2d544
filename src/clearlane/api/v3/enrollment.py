"""The enrollment endpoint: decode, enroll, encode."""

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, EndpointFamily, EndpointRows
from clearlane.api.v3 import enrollment_json, responses
from clearlane.api.v3.error_responses import V3Errors
from clearlane.pipeline.enrollment.enroll import enroll

endpoints = EndpointRows(
    family=EndpointFamily.ENROLLMENT,
    errors=V3Errors(enrollment_json.faults_response),
    touches_phi=True,
    suspended_handler=responses.refuse_suspended,
)


@endpoints.endpoint(
    "SubmitEnrollments",
    "/api/v3/enrollment/submit",
    "Submit providers to be enrolled with payers.",
    enrollment_json.EnrollmentSubmission,
    request_type=enrollment_json.EnrollmentRequest,
    error_types={400: enrollment_json.EnrollmentErrors, 413: responses.Message},
)
async def submit_enrollments(call: Call) -> Response:
    """Submit enrollments."""
    document = await call.body.read_document()
    result = await enroll(
        call.context.work_context, document, site=call.site, actor=call.actor, now=call.now
    )
    call.ignored_fields.extend(getattr(result, "ignored", ()))
    call.notes.extend(getattr(result, "notes", ()))
    return enrollment_json.enrollment_response(result)
