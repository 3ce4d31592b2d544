"""The handler of payer response documents: decode the ids, retrieve, encode."""

from typing import Annotated, Any

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, EndpointFamily, EndpointRows
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.body import decode
from clearlane.api.http.http_responses import JSON_UTF8
from clearlane.api.http.stream import stream_text
from clearlane.api.v3 import responses
from clearlane.api.v3.documents import compose_documents
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.pipeline.query.retrieve_documents import retrieve_documents

endpoints = EndpointRows(
    family=EndpointFamily.CLAIMS,
    errors=V3_ERRORS,
    touches_phi=True,
    suspended_handler=None,
)
DocumentIds = list[str]


class PayerResponses(JsonModel):
    """The documents that were found."""

    RemittanceAdvices: Annotated[
        list[dict[str, Any]], Field(description="Claim payments from 835 files.")
    ]
    PayerClaimStatuses: Annotated[
        list[dict[str, Any]],
        Field(description="Claim statuses from 277CA and 277 files, or a TA1 or 999 that rejects."),
    ]


@endpoints.endpoint(
    "GetPayerResponseDocuments",
    "/api/v3/claims/responses/get_by_doc_id",
    "What payers answered about claims, by document id.",
    PayerResponses,
    request_type=DocumentIds,
    error_types={400: responses.ModelState, 413: responses.Message},
)
async def get_documents(call: Call) -> Response:
    """Return the payer response documents with the ids of the request."""
    ids = _ids(await call.body.read_document(), call.limits.documents_per_call_max)
    call.body.release()
    context = call.context
    found = await retrieve_documents(
        context.database,
        context.vault,
        ids,
        site=call.site,
        actor=call.actor,
        at=context.clock.now(),
    )
    return await stream_text(compose_documents(found), JSON_UTF8)


def _ids(document: bytes, most: int) -> list[str]:
    """Return the distinct ids; refuse the document if one is not a string, or if there are too many."""
    # An id has letters and digits only, so commas count the ids, and a hostile list of millions is never decoded.
    if document.count(b",") >= most:
        sentence = f"At most {most} documents can be asked for at once."
        raise RequestRefusal(responses.message(413, sentence))
    given = decode(document, list[msgspec.Raw], V3_ERRORS)
    ids: dict[str, None] = {}
    faults: dict[str, list[str]] = {}
    for at, item in enumerate(given):
        try:
            ids[msgspec.json.decode(item, type=str)] = None
        except msgspec.MsgspecError:
            faults[f"[{at}]"] = ["A document id is a JSON string."]
    if faults:
        raise RequestRefusal(responses.model_state(faults))
    return list(ids)
