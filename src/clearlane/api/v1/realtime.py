"""Real time over X12: ``POST x12`` takes a 270 or 276 and answers with the payers' 271 or 277, or with a 999 or TA1."""

from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.endpoint import BodyUse, Call
from clearlane.api.http.http_responses import X12
from clearlane.api.v1.claim_verbs import require_active
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Resource, ResourceRows, require_site
from clearlane.pipeline.inquiry.ask import IMMEDIATE_INQUIRIES_MAX
from clearlane.pipeline.inquiry.x12_inquiry import NotRealtime, answer_inquiry

endpoints = ResourceRows(Resource.X12, changes=KeyScope.FILES)

REALTIME_BYTES_MAX = 1024 * 1024


@endpoints.change(
    "AnswerX12",
    "x12",
    "Ask payers by a 270 or 276, and get their 271 or 277.",
    None,
    body_use=BodyUse.X12,
    media_type=X12,
    stores_answer=False,
    description="One interchange with one 270 (005010X279A1) or 276 (005010X212) about "
    f"{IMMEDIATE_INQUIRIES_MAX} patients or claims at most. The answer is an interchange to the sender: a 271 or 277 with the "
    "sender's trace numbers and BHT03; a 999 if the inquiry has errors, and a TA1 if its envelope has, so that no one was asked. It "
    "comes within 20 seconds (CORE): a patient whose payer has not answered by then has AAA 42, a claim STC `E2`, and may be "
    "asked about again after 90 seconds. A payer that is not known has AAA 79 or STC `E0:153:PR`. A site asks about claims of "
    "its own providers: one that bills only through other sites has STC `E0:24:1P`. Name the `site` if the vendor or the API "
    "key has several.",
)
async def answer_x12(call: Call) -> Response:
    """Answer a 270 or 276 in real time."""
    site = require_site(call)
    require_active(site)
    content = await call.body.read_bytes(REALTIME_BYTES_MAX)
    try:
        answer = await answer_inquiry(
            call.context.work_context,
            content,
            site=site,
            actor=call.actor,
            now=call.now,
            stopping=call.stopping,
        )
    except NotRealtime as why:
        raise refuse(422, str(why), kind="not_realtime") from None
    return Response(answer.content, 200, {"Content-Type": X12})
