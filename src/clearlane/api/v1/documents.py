"""Documents of ``/clearlane/v1``: what payers answered about claims, with the claim's part of their file."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.http.http_responses import X12, json_response
from clearlane.api.v1.claim_json import ClaimDocumentJson, document_object
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Resource, ResourceRows
from clearlane.pipeline.query.retrieve_documents import record_documents_read
from clearlane.pipeline.stored_facts import open_document_source
from clearlane.store.claims import documents
from clearlane.store.claims.documents import StoredDocument
from clearlane.x12.reader.lexer import decode_part

endpoints = ResourceRows(Resource.DOCUMENTS)


class DocumentJson(ClaimDocumentJson):
    """A payer's answer about one claim."""

    source: Annotated[str, Field(description="The transaction: 835, 277ca, 277, 999 or ta1.")]
    x12: Annotated[
        str, Field(description="The claim's part of the payer's file, as a complete interchange.")
    ]


@endpoints.read(
    "GetDocument", "documents/{document_id}", "A payer's answer about a claim.", DocumentJson
)
async def get_document(call: Call) -> Response:
    """Return a document; reading it marks it as fetched, and changes nothing that is read later."""
    document = await _document(call)
    site = next(one for one in call.sites if one.id == document.site_id)
    context = call.context
    await record_documents_read(
        context.database, [document.document_id], site=site, actor=call.actor, at=call.now
    )
    source = open_document_source(context.vault, document)
    text = decode_part(source.part)
    content = document_object(document) | {
        "source": (getattr(source.fact, "source", "") or "835").lower(),
        "x12": text,
    }
    return json_response(200, content)


@endpoints.read(
    "GetDocumentX12",
    "documents/{document_id}/x12",
    "The claim's part of the payer's file.",
    None,
    media_type=X12,
)
async def get_document_x12(call: Call) -> Response:
    """Return the claim's part of the payer's file."""
    document = await _document(call)
    await get_document(call)
    part = open_document_source(call.context.vault, document).part
    return Response(part, 200, {"Content-Type": X12})


async def _document(call: Call) -> StoredDocument:
    async with call.context.database.read(call.scope) as tx:
        found = await documents.find(tx, [call.path["document_id"]])
        await call.context.vault.load_keys_of(tx, [one.payload for one in found])
    if not found:
        raise refuse(404, "The vendor has no document of this id.")
    return found[0]
