"""The eligibility endpoints: decode, inquire, encode."""

import re

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, Endpoint, EndpointFamily, EndpointRows, Parameter
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.http.http_responses import JSON_UTF8
from clearlane.api.http.stream import stream_text
from clearlane.api.v3 import responses
from clearlane.api.v3.benefits.compose_response import compose_response
from clearlane.api.v3.benefits.json_types import EligibilityResponseJson
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.eligibility.benefit_answer import BenefitAnswer
from clearlane.eligibility.fields import EligibilityRequest
from clearlane.pipeline.inquiry.ask import await_answers
from clearlane.pipeline.inquiry.eligibility_request import MalformedInquiry, inquire
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.request_answers import RequestAnswers, read_numbered_answers

endpoints = EndpointRows(
    family=EndpointFamily.ELIGIBILITY,
    errors=V3_ERRORS,
    touches_phi=True,
    suspended_handler=None,
)
NUMBER = re.compile(r"[+-]?\d{1,18}", re.ASCII)


def read_eligibility_request_id(text: str | None, endpoint: Endpoint) -> int:
    """Return the id of a request; refuse a text that is not an integer."""
    given = (text or "").strip()
    if not given:
        raise RequestRefusal(responses.null_entry("requestId", "System.Int32", endpoint.name))
    if not NUMBER.fullmatch(given):
        raise RequestRefusal(responses.bad_parameter("requestId", given, "an integer"))
    return int(given)


@endpoints.endpoint(
    "SubmitEligibilityRequests",
    "/api/v3/eligibility/submit",
    "Ask payers about benefits; answered when all have answered, at 55 seconds at the latest.",
    EligibilityResponseJson,
    suspended_handler=responses.refuse_suspended,
    request_type=EligibilityRequest,
    error_types={400: responses.ModelState, 413: responses.Message},
)
async def submit(call: Call) -> Response:
    """Submit an eligibility request and respond when payers have, or when the time is over."""
    context, now = call.context.work_context, call.now
    # The body is released before waiting: a waiting request must hold no memory of it.
    result = await inquire(
        context, await call.body.read_document(), site=call.site, actor=call.actor, now=now
    )
    call.body.release()
    call.ignored_fields.extend(result.ignored)
    if isinstance(result, MalformedInquiry):
        return responses.findings_response(result.findings)
    call.notes.extend(result.notes)
    id = result.eligibility_request_id
    answers = await await_answers(
        context, ELIGIBILITY, id, site=call.site, now=now, stopping=call.stopping
    )
    return await _stream(call, answers)


@endpoints.endpoint(
    "GetEligibilityResponses",
    "/api/v3/eligibility/get_responses",
    "Everything that came for a request so far.",
    EligibilityResponseJson,
    parameters=(
        Parameter(
            name="requestId",
            help="The `RequestId` of the submission.",
            read=read_eligibility_request_id,
            schema={"type": "integer", "format": "int32"},
        ),
    ),
    error_types={400: responses.MessageDetail, 404: responses.Message},
)
async def get_responses(call: Call) -> Response:
    """Return all responses that have arrived for a request."""
    number = call.parameters["requestId"]
    answers = await read_numbered_answers(
        call.context.work_context, ELIGIBILITY, number, site=call.site, actor=call.actor
    )
    if answers is None:
        return responses.message(404, f"No eligibility request {number} was found.")
    return await _stream(call, answers)


async def _stream(call: Call, answers: RequestAnswers[BenefitAnswer]) -> Response:
    with_x12 = call.context.work_context.eligibility_x12
    return await stream_text(compose_response(answers, with_x12=with_x12), JSON_UTF8)
