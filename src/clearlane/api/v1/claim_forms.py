"""Claims on paper of ``/clearlane/v1``: as PDF for the pre-printed form or as a plain sheet, and as texts with their places."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.claims import no_claim, require_claim
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Resource, ResourceRows
from clearlane.claims.printing.sheet_type import SHEET_WORDS, SheetType
from clearlane.kernel.list_filter import FilterType
from clearlane.pipeline.filing.claim_form_file import (
    FORM_MEDIA_TYPE,
    ClaimOnForm,
    fill_claim_form,
    make_form_file,
)
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.query.pdf_process import PdfRefused

endpoints = ResourceRows(Resource.CLAIMS)
SHEET = parameters.filter_parameter(
    FilterType.CHOICE,
    "sheet",
    f"{'; '.join(f'`{sheet}`: {words}' for sheet, words in SHEET_WORDS.items())}. `preprinted` if it is left out.",
    tuple(SheetType),
)
FORMS_OF_KINDS = "CMS-1500 (02/12) for a medical claim, ADA 2024 for a dental one, UB-04 for an institutional one"


class FormTextJson(JsonModel):
    """A text at its place on a page, in points (72 an inch) from the left and bottom edges."""

    box: Annotated[str, Field(description="The number of the box or locator.")]
    x: float
    y: float
    text: str


class FormPageJson(JsonModel):
    """A page of the form."""

    texts: list[FormTextJson]


class FormLeftOutJson(JsonModel):
    """What the form does not show of the claim; holds no value of it."""

    box: Annotated[str, Field(description="The number of the box or locator.")]
    line: Annotated[int | None, Field(description="The service line, if it is a box of one.")]
    holds: Annotated[str, Field(description="What the box holds.")]
    why: str


class ClaimFormJson(JsonModel):
    """A claim placed on the pre-printed form of its kind, at 10 characters and 6 lines an inch."""

    claim_number: str
    form: Annotated[str, Field(description=f"{FORMS_OF_KINDS}.")]
    pages: list[FormPageJson]
    left_out: list[FormLeftOutJson]


@endpoints.read(
    "GetClaimFormPdf",
    "claims/{claim_number}/form.pdf",
    "The claim on paper, as PDF.",
    None,
    media_type=FORM_MEDIA_TYPE,
    parameters=(SHEET,),
    description=f"Placed for the pre-printed form of its kind: {FORMS_OF_KINDS}. Print it at 100 percent. What does not fit "
    "is in `left_out` of `GET claims/{claim_number}/form`, and on the plain sheet.",
)
async def get_claim_form_pdf(call: Call) -> Response:
    """Return a claim on paper."""
    sheet = SheetType(call.parameters["sheet"] or SheetType.PREPRINTED)
    claim = await _claim_on_form(call)
    try:
        content = await make_form_file(claim, sheet, at=call.context.work_context.clock.now())
    except PdfRefused as refused:
        raise refuse(409, str(refused)) from None
    return Response(content, 200, {"Content-Type": FORM_MEDIA_TYPE})


@endpoints.read(
    "GetClaimForm",
    "claims/{claim_number}/form",
    "The claim as texts with their places on the pre-printed form, and what does not fit.",
    ClaimFormJson,
)
async def get_claim_form(call: Call) -> Response:
    """Return a claim as the texts of its form."""
    claim = await _claim_on_form(call)
    return json_response(200, _form_object(claim))


async def _claim_on_form(call: Call) -> ClaimOnForm:
    claim = await require_claim(call)
    context = call.context.work_context
    loaded = await load_claim_in_scope(
        context.database, context.vault, claim.site.scope, claim.number, actor=call.actor
    )
    if loaded is None:
        raise no_claim()
    return fill_claim_form(loaded, context.clock.now())


def _form_object(claim: ClaimOnForm) -> dict[str, object]:
    filled = claim.filled
    return {
        "claim_number": claim.claim_number,
        "form": filled.form.name,
        "pages": [
            {
                "texts": [
                    {
                        "box": one.number,
                        "x": round(one.x, 2),
                        "y": round(one.y, 2),
                        "text": one.text,
                    }
                    for one in page.texts
                ]
            }
            for page in filled.pages
        ],
        "left_out": [
            {"box": one.number, "line": one.line, "holds": one.words, "why": one.why}
            for one in filled.left_out
        ],
    }
