"""Enrollment: a request is handed to the verb, its outcome becomes an answer. Decodes, asks, encodes."""

from starlette.responses import Response

from clearlane.api.endpoint import Call, Content, Family, Row
from clearlane.api.v3 import wire, wire_enrollment
from clearlane.pipeline.enrollment.enroll import Desk, enroll


async def submit_enrollments(call: Call) -> Response:
    """The answer to an enrollment request."""
    document = await call.body.document()
    desk = Desk(
        database=call.desk.database,
        vault=call.desk.vault,
        write_seconds_max=call.limits.write_seconds_max,
    )
    outcome = await enroll(desk, document, site=call.site, actor=call.actor, now=call.now)
    call.ignored.extend(getattr(outcome, "ignored", ()))
    return wire_enrollment.outcome(outcome)


async def suspended(call: Call) -> Response:
    """A suspended site enrolls nobody."""
    return wire.suspended()


ROW = Row(
    name="SubmitEnrollments",
    path="/api/v3/enrollment/submit",
    family=Family.ENROLLMENT,
    summary="Submit providers to be enrolled with payers.",
    handler=submit_enrollments,
    answer=wire_enrollment.EnrollmentSubmission,
    touches_phi=True,
    suspended=suspended,
    content=Content.JSON,
    request=wire_enrollment.EnrollmentRequest,
    refusals={400: wire_enrollment.EnrollmentErrors, 413: wire.Message},
)
