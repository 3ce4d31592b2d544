"""Claims of ``/clearlane/v1``: list, search, and one claim with its history."""

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import (
    ClaimDetailsJson,
    ListedClaimJson,
)
from clearlane.api.v1.content.included_parts import IncludedPart, open_included_parts
from clearlane.api.v1.cursors import cursor_number
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response
from clearlane.claims.claim_filters import CLAIM_FILTERS
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.pipeline.enrollment.era_answer import EraAnswer, explain_claim_era
from clearlane.pipeline.query.claim_filters import (
    PATIENT,
    PATIENT_TOGETHER,
    ClaimListRequest,
    missing_part,
)
from clearlane.pipeline.query.claim_list import ClaimRow, claim_object, find_claim, list_claim_rows
from clearlane.pipeline.query.history.claim_details import details_object
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.store.claims.claim_query import ListPosition

endpoints = ResourceRows(Resource.CLAIMS)

LIST = "claims"
FILTERS = tuple(
    parameters.list_filter_parameter(one.type, one.name, one.help, one.choices)
    if one.name not in PATIENT
    else parameters.filter_parameter(one.type, one.name, one.help, one.choices)
    for one in CLAIM_FILTERS
)

INCLUDE = parameters.words_parameter(
    "include",
    "What to show of each claim beside it, with commas between the words: its patient, its days of service, its lines.",
    tuple(IncludedPart),
)

OTHER_ORDER = (
    "It is the `next` of claims in another order. Give `changed_after` for every page, or for none."
)


def _position(order: str, changed: str, day: str, number: str) -> tuple[str, ListPosition]:
    return order, ListPosition(cursor_number(changed), day, number)


@endpoints.read(
    "GetClaims",
    "claims",
    "Claims, newest first, or in the order of their changes.",
    Page[ListedClaimJson],
    parameters=parameters.page(LIST, *FILTERS, INCLUDE, parts=4, position=_position),
)
async def list_claims(call: Call) -> Response:
    """Return a page of claims."""
    if missing := missing_part(call.parameters):
        raise RequestRefusal(call.errors.invalid_fields({missing: [PATIENT_TOGETHER]}))
    parameters.require_few(call)
    limit = call.parameters["limit"]
    order, after = call.parameters["after"] or ("", None)
    request = ClaimListRequest(
        given={one.name: call.parameters[one.name] for one in CLAIM_FILTERS},
        after=after,
        limit=limit + 1,
    )
    if after is not None and order != request.chosen_order.name:
        raise RequestRefusal(call.errors.invalid_fields({"after": [OTHER_ORDER]}))
    context = call.context.work_context
    rows = await list_claim_rows(context, [call.scope], request, actor=call.actor)
    included = await _included(call, rows[:limit])
    return page_response(
        rows,
        limit=limit,
        of_list=LIST,
        position=lambda row: (request.chosen_order.name, *map(str, row.stored.position)),
        as_json=lambda row: claim_object(row) | included.get(row.number, {}),
    )


async def _included(call: Call, rows: Sequence[ClaimRow]) -> Mapping[str, dict[str, object]]:
    """Return what ``include`` adds to claims, by claim number."""
    wanted = call.parameters["include"] or ()
    found = await open_included_parts(call.context.work_context, rows, wanted, actor=call.actor)
    return {number: {"included": parts} for number, parts in found.items()}


@endpoints.read(
    "GetClaim",
    "claims/{claim_number}",
    "One claim with its history, findings, batches, documents and payments.",
    ClaimDetailsJson,
    parameters=(INCLUDE,),
)
async def get_claim(call: Call) -> Response:
    """Return one claim with everything known about it."""
    claim = await require_claim(call)
    history = await load_history_in_scope(
        call.context.database,
        call.context.vault,
        claim.site.scope,
        claim.number,
        actor=call.actor,
    )
    if history is None:
        raise no_claim()
    included = (await _included(call, [claim])).get(claim.number, {})
    era = await _explain_era(call, claim)
    details = await details_object(call.context.database, call.context.vault, history)
    added = {"era": era.as_json() if era else None}
    content = claim_object(claim) | details | added | included
    return json_response(200, content)


async def _explain_era(call: Call, claim: ClaimRow) -> EraAnswer | None:
    """Return why there is no ERA about a claim, or that there is one."""
    work = call.context.work_context
    payer = call.context.payers.find(claim.payer_id, KINDS[ClaimKind(claim.kind)].payer_type)
    return await explain_claim_era(
        work.database,
        work.vault,
        claim.site,
        claim.stored,
        claim.status,
        payer,
        work.clock.now(),
    )


async def require_claim(call: Call) -> ClaimRow:
    """Return the claim that the path names; refuse the call if the vendor has none of this number."""
    claim = await find_claim(call.context.work_context, call.path["claim_number"], call.scope)
    if claim is None:
        raise no_claim()
    return claim


def no_claim() -> RequestRefusal:
    """Return the refusal of a number that is unknown or another vendor's."""
    return refuse(404, "The vendor has no claim of this number.")
