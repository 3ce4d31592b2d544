"""The enrollment endpoint: decode, enroll, encode."""

from starlette.responses import Response

from clearlane.api.endpoint import BodyUse, Call, Endpoint, EndpointFamily
from clearlane.api.v3 import wire, wire_enrollment
from clearlane.api.v3.wire_errors import V3Errors
from clearlane.pipeline.enrollment.enroll import enroll


async def submit_enrollments(call: Call) -> Response:
    """Submit enrollments."""
    document = await call.body.read_document()
    outcome = await enroll(
        call.context.work_context, document, site=call.site, actor=call.actor, now=call.now
    )
    call.ignored_fields.extend(getattr(outcome, "ignored", ()))
    call.notes.extend(getattr(outcome, "notes", ()))
    return wire_enrollment.enrollment_response(outcome)


async def suspended(call: Call) -> Response:
    """Refuse a suspended site."""
    return wire.suspended()


ENDPOINT = Endpoint(
    name="SubmitEnrollments",
    path="/api/v3/enrollment/submit",
    family=EndpointFamily.ENROLLMENT,
    summary="Submit providers to be enrolled with payers.",
    handler=submit_enrollments,
    response_type=wire_enrollment.EnrollmentSubmission,
    errors=V3Errors(wire_enrollment.faults_response),
    touches_phi=True,
    suspended_handler=suspended,
    body_use=BodyUse.JSON,
    request_type=wire_enrollment.EnrollmentRequest,
    error_types={400: wire_enrollment.EnrollmentErrors, 413: wire.Message},
)
