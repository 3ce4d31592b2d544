"""Eligibility: a request is handed to the verb, its outcome becomes an answer. Decodes, asks, encodes."""

import re

from starlette.responses import Response

from clearlane.api.endpoint import Call, Content, Family, Parameter, Row
from clearlane.api.errors import Refusal
from clearlane.api.stream import text
from clearlane.api.v3 import wire
from clearlane.eligibility.answer import EligibilityResponse
from clearlane.eligibility.fields import EligibilityRequest
from clearlane.pipeline.eligibility.inquire import Desk, Malformed, inquire, response, responses

NUMBER = re.compile(r"[+-]?\d{1,18}", re.ASCII)


async def submit(call: Call) -> Response:
    """The answer to an eligibility request."""
    desk, now = _desk(call), call.now
    # Nothing of the request is held while its call waits.
    outcome = await inquire(
        desk, await call.body.document(), site=call.site, actor=call.actor, now=now
    )
    call.body.release()
    call.ignored.extend(outcome.ignored)
    if isinstance(outcome, Malformed):
        return wire.findings(outcome.findings)
    pieces = await response(desk, outcome, site=call.site, now=now, stopping=call.stopping)
    return await text(pieces, wire.JSON)


async def get_responses(call: Call) -> Response:
    """Everything that came for a request so far."""
    request_id = call.parameters["requestId"]
    pieces = await responses(_desk(call), request_id, site=call.site, actor=call.actor)
    if pieces is None:
        return wire.message(404, f"No eligibility request {request_id} was found.")
    return await text(pieces, wire.JSON)


async def suspended(call: Call) -> Response:
    """A suspended site asks nobody."""
    return wire.suspended()


def read_number(text: str | None, row: Row) -> int:
    """The number of a request; 400 for a text that is none."""
    given = (text or "").strip()
    if not given:
        raise Refusal(wire.null_entry("requestId", "System.Int64", row.name))
    if not NUMBER.fullmatch(given):
        raise Refusal(wire.bad_parameter("requestId", given, "an integer"))
    return int(given)


def _desk(call: Call) -> Desk:
    return Desk(
        database=call.desk.database,
        vault=call.desk.vault,
        payers=call.desk.payers,
        asking=call.desk.asking,
        sandbox=call.sandbox,
        with_x12=call.limits.eligibility_x12,
        write_seconds_max=call.limits.write_seconds_max,
    )


ROWS: tuple[Row, ...] = (
    Row(
        name="SubmitEligibilityRequests",
        path="/api/v3/eligibility/submit",
        family=Family.ELIGIBILITY,
        summary="Ask payers about benefits; answered when all have answered, at 55 seconds at the latest.",
        handler=submit,
        answer=EligibilityResponse,
        touches_phi=True,
        suspended=suspended,
        content=Content.JSON,
        request=EligibilityRequest,
        refusals={400: wire.ModelState, 413: wire.Message},
    ),
    Row(
        name="GetEligibilityResponses",
        path="/api/v3/eligibility/get_responses",
        family=Family.ELIGIBILITY,
        summary="Everything that came for a request so far.",
        handler=get_responses,
        answer=EligibilityResponse,
        touches_phi=True,
        suspended=None,
        parameters=(
            Parameter(
                name="requestId",
                help="The `RequestId` of the submission.",
                read=read_number,
                schema={"type": "integer", "format": "int64"},
            ),
        ),
        content=Content.IGNORED,
        refusals={400: wire.MessageDetail, 404: wire.Message},
    ),
)
