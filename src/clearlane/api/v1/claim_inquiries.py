"""Questions about claims of ``/clearlane/v1``: ask the payer (276), and what it answered (277)."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1.claim_json import Act, Money
from clearlane.api.v1.claim_verbs import require_active
from clearlane.api.v1.claims import require_claim
from clearlane.api.v1.content.claim_content import load_claim
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows
from clearlane.claims.inquiry.answer_result import RESULT_WORDS, AnswerResult
from clearlane.claims.inquiry.status_inquiry import QuestionKeys
from clearlane.kernel.clock import moment_text
from clearlane.pipeline.inquiry.ask_payer import (
    ClaimAsk,
    NotAsked,
    ask_and_wait,
    explain_answer,
    list_asks,
)
from clearlane.pipeline.load_claim import LoadedClaim

endpoints = ResourceRows(Resource.CLAIMS, changes=KeyScope.CORRECT)


ResultWord = Annotated[str, Field(json_schema_extra={"enum": list(AnswerResult)})]


class PayerStatusJson(JsonModel):
    """One status of a payer's answer, in words and by field."""

    code: Annotated[
        str, Field(description="Category, status and entity (STC01).", examples=["A7:562:85"])
    ]
    line: Annotated[int | None, Field(description="The service line, from 1; null for the claim.")]
    message: Annotated[str, Field(description="What it says, in words.")]
    todo: Annotated[str, Field(description="What to do about it.")]
    act: Act
    fields: Annotated[
        list[str], Field(description="The fields of the claim that it concerns, by path.")
    ]


class ClaimInquiryJson(JsonModel):
    """A question to the payer about a claim, and the answer."""

    id: Annotated[str, Field(description="Its number.")]
    claim_number: str
    asked_at: datetime
    answered_at: Annotated[datetime | None, Field(description="Null while it is open.")]
    by_file: Annotated[bool, Field(description="Whether it goes out in a file, not in real time.")]
    keys: Annotated[
        str,
        Field(
            description="By what the payer last searched for the claim.",
            json_schema_extra={"enum": list(QuestionKeys)},
        ),
    ]
    result: Annotated[
        ResultWord | None,
        Field(
            description="What the payer answered; null while the question is open. `not_found` (A4): the payer does not "
            "have the claim. `search_failed` (D0): no search found it, which says nothing about the claim. `other_claim`: "
            "the answer does not agree with the claim, and none of it was recorded. `failed`: there is no answer.",
        ),
    ]
    message: Annotated[str, Field(description="The result in words.")]
    payer_control_number: Annotated[str | None, Field(description="The payer's number of it.")]
    paid: Annotated[
        Money | None, Field(description="What the payer says it pays; the 835 decides.")
    ]
    check_number: str | None
    payment_date: date | None
    statuses: list[PayerStatusJson]


@endpoints.change(
    "InquireClaim",
    "claims/{claim_number}/inquire",
    "Ask the payer about a claim (276).",
    ClaimInquiryJson,
    stores_answer=False,
    description="For a claim that was sent. A payer with a real-time route is waited for, 55 seconds at most; otherwise the question "
    "goes out with the next file, and `result` is null. If its search fails (D0), the payer is asked again with other keys. 409 "
    "if the payer takes no 276, the claim was not sent, or an earlier question is open; `detail` says which. An answer is added to "
    "the claim's history; it never overrules an 835.",
)
async def inquire(call: Call) -> Response:
    """Ask the payer about a claim, and return what it answers."""
    claim = await require_claim(call)
    require_active(claim.site)
    asked = await ask_and_wait(
        call.context.work_context,
        claim.number,
        site=claim.site,
        actor=call.actor,
        now=call.now,
        stopping=call.stopping,
    )
    if isinstance(asked, NotAsked):
        raise refuse(409, asked.sentence, kind="payer_not_asked")
    return json_response(200, inquiry_object(await load_claim(call, claim), asked))


@endpoints.read(
    "GetClaimInquiries",
    "claims/{claim_number}/inquiries",
    "The questions to the payer about a claim, newest first.",
    Page[ClaimInquiryJson],
)
async def list_inquiries(call: Call) -> Response:
    """Return the questions about a claim, with their answers."""
    claim = await require_claim(call)
    loaded = await load_claim(call, claim)
    asks = await list_asks(call.context.work_context, claim.site.scope, claim.number)
    rows = [inquiry_object(loaded, one) for one in asks]
    return json_response(200, {"data": rows, "next": None})


def inquiry_object(loaded: LoadedClaim, ask: ClaimAsk) -> Mapping[str, object]:
    """Return a question and its answer as JSON."""
    answer = ask.answer
    result = ask.result
    words = RESULT_WORDS[result] if result else "The payer has not answered yet."
    return {
        "id": str(ask.inquiry_request_id),
        "claim_number": loaded.row.claim_number,
        "asked_at": moment_text(ask.asked_at),
        "answered_at": moment_text(ask.answered_at) if ask.answered_at else None,
        "by_file": ask.by_file,
        "keys": ask.keys.value,
        "result": result.value if result else None,
        "message": " ".join(filter(None, (words, ask.error))),
        "payer_control_number": (answer.payer_control_number or None) if answer else None,
        "paid": f"{answer.paid:.2f}" if answer and answer.paid is not None else None,
        "check_number": (answer.check_number or None) if answer else None,
        "payment_date": answer.paid_on.isoformat() if answer and answer.paid_on else None,
        "statuses": [
            {
                "code": one.code,
                "line": one.line or None,
                "message": one.happened,
                "todo": one.todo,
                "act": one.act.value,
                "fields": [at.path for at in one.fields],
            }
            for one in (explain_answer(loaded, answer) if answer else ())
        ],
    }
