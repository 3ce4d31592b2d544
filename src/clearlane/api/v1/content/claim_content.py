"""A claim of ``/clearlane/v1`` as it is sent: in the field names of its form, or as X12."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import X12, json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.claims import no_claim, require_claim
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Resource, ResourceRows
from clearlane.claims.fields import encode
from clearlane.claims.finding import path_in_claim
from clearlane.claims.forms import FORMS
from clearlane.claims.forms.x12_segments import segments_of
from clearlane.claims.kinds import SUBMITTED_KINDS
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.list_filter import FilterType
from clearlane.pipeline.intake.claim_x12 import claim_837
from clearlane.pipeline.load_claim import LoadedClaim, load_claim_in_scope
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.store.claims.claims import WITH_ERRORS

endpoints = ResourceRows(Resource.CLAIMS)

JSON_FORMAT, X12_FORMAT = "json", "x12"
X12_TYPES = (X12, "application/x12", "application/edi", "text/x12")
FORMAT = parameters.filter_parameter(
    FilterType.CHOICE,
    "format",
    "`x12` gives the 837 that its payer gets, as `Accept: application/edi-x12` does; `json` if left out.",
    (JSON_FORMAT, X12_FORMAT),
)


class SegmentJson(JsonModel):
    """A segment of a claim that came in a file."""

    path: Annotated[str, Field(description="As findings name it, without an element.")]
    name: Annotated[str, Field(description="What the guide calls it.")]
    line: Annotated[int | None, Field(description="The service line, from 1; null for the claim.")]
    elements: Annotated[list[str], Field(description="From the segment's id on.")]


class RepairedFieldJson(JsonModel):
    """A field that the service wrote in the form of X12."""

    field: str
    repair: str
    given: Annotated[str | None, Field(description="What was sent; null if it is not kept.")]


class ClaimContentJson(JsonModel):
    """A claim as it is sent."""

    id: str
    claim_number: str
    vendor_claim_id: str
    kind: Annotated[str, Field(json_schema_extra={"enum": list(SUBMITTED_KINDS)})]
    form: Annotated[str, Field(json_schema_extra={"enum": [*FORMS, X12_FORMAT]})]
    document_type: Annotated[
        str | None,
        Field(
            description="Of the document that would submit it again; null for a claim of a file."
        ),
    ]
    claim: Annotated[
        dict[str, Any] | None,
        Field(
            description="Its fields by the names of its form, which corrections and findings use: V3's, or the locators of the "
            "UB-04. Null for a claim of a file."
        ),
    ]
    segments: Annotated[
        list[SegmentJson] | None, Field(description="Of a claim of a file: what the sender wrote.")
    ]
    repairs: list[RepairedFieldJson]


@endpoints.read(
    "GetClaimContent",
    "claims/{claim_number}/content",
    "A claim as it is sent, by the fields of its form or as X12.",
    ClaimContentJson,
    parameters=(FORMAT,),
    description="Its fields have the names of V3, or the locators of the UB-04, and can be corrected by these paths. "
    "With `Accept: application/edi-x12` or `format=x12` the answer is the 837, as `claims/{claim_number}/x12` gives it.",
)
async def get_claim_content(call: Call) -> Response:
    """Return a claim as it is sent; audited as every look at a claim is."""
    claim = await require_claim(call)
    if _wants_x12(call):
        return await x12_response(call, claim)
    return json_response(200, _content(claim, await load_claim(call, claim)))


async def load_claim(call: Call, claim: ClaimRow) -> LoadedClaim:
    """Return the opened content of a claim of the call's scope; audited."""
    context = call.context
    loaded = await load_claim_in_scope(
        context.database, context.vault, claim.site.scope, claim.number, actor=call.actor
    )
    if loaded is None:
        raise no_claim()
    return loaded


async def x12_response(call: Call, claim: ClaimRow) -> Response:
    """Return a claim as the 837 that its payer gets."""
    if claim.stored.state in WITH_ERRORS:
        raise refuse(409, "The claim was not accepted, so there is no 837 of it.")
    loaded = await load_claim(call, claim)
    content = await claim_837(call.context.work_context, claim.site.scope, loaded, now=call.now)
    return Response(content, 200, {"Content-Type": X12})


def _wants_x12(call: Call) -> bool:
    given = call.parameters["format"]
    if given is not None:
        return bool(given == X12_FORMAT)
    first = call.headers.get("accept", "").split(",")[0].partition(";")[0].strip().lower()
    return first in X12_TYPES


def _content(row: ClaimRow, loaded: LoadedClaim) -> Mapping[str, object]:
    claim, form = loaded.claim, FORMS.get(loaded.row.form)
    is_file = isinstance(claim, X12Claim)
    return {
        "id": row.number,
        "claim_number": row.number,
        "vendor_claim_id": loaded.vendor_claim_id,
        "kind": row.kind,
        "form": loaded.row.form,
        "document_type": form.document_type if form else None,
        "claim": None if is_file else msgspec.Raw(encode(claim)),
        "segments": _segments(claim) if isinstance(claim, X12Claim) else None,
        "repairs": [
            {
                "field": path_in_claim(path),
                "repair": repair,
                "given": loaded.given.get(path),
            }
            for path, repair in loaded.repairs
        ],
    }


def _segments(claim: X12Claim) -> list[Mapping[str, object]]:
    return [
        {
            "path": one.location(),
            "name": one.name,
            "line": one.line or None,
            "elements": one.segment,
        }
        for one in segments_of(claim)
    ]
