"""Documents of ``/clearlane/v1``: what payers answered about claims, with the claim's part of their file."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import X12, json_response
from clearlane.api.v1.claim_json import (
    ClaimDocumentJson,
    FindingJson,
    PaymentOfClaimJson,
)
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Resource, ResourceRows
from clearlane.claims.responses.facts import ClaimStatusCode, Fact
from clearlane.payments.as_json import claim_payment_object
from clearlane.pipeline.query.history.claim_details import document_object, finding_object
from clearlane.pipeline.query.history.claim_history import ClaimHistory
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.pipeline.query.payments import matched_claim_payments
from clearlane.pipeline.query.retrieve_documents import record_documents_read
from clearlane.pipeline.stored_facts import AnyFact, DocumentSource, open_document_source
from clearlane.store.claims import documents
from clearlane.store.claims.documents import StoredDocument
from clearlane.x12 import codes
from clearlane.x12.reader.lexer import decode_part

endpoints = ResourceRows(Resource.DOCUMENTS)


class StatusCodeJson(JsonModel):
    """A status of a 277CA or 277 (STC01), in words."""

    category: str
    category_text: str
    status: str
    status_text: str
    entity: str
    entity_text: str


class DocumentJson(ClaimDocumentJson):
    """A payer's answer about one claim."""

    source: Annotated[str, Field(description="The transaction: 835, 277ca, 277, 999 or ta1.")]
    event: Annotated[str, Field(description="What it says of the claim, in words.")]
    sentences: list[str]
    payer_control_number: Annotated[
        str | None,
        Field(description="The payer's number of it; that of an 835 is in `claim_payment`."),
    ]
    statuses: Annotated[
        list[StatusCodeJson],
        Field(description="Of the claim; empty for a payment, a 999 or a TA1."),
    ]
    findings: Annotated[
        list[FindingJson],
        Field(
            description="What it says about fields of the claim, by their paths, with what to do."
        ),
    ]
    claim_payment: Annotated[
        PaymentOfClaimJson | None,
        Field(
            description="Of an 835: the decision with its lines, adjustments and remarks in words."
        ),
    ]
    x12: Annotated[
        str, Field(description="The claim's part of the payer's file, as a complete interchange.")
    ]


@endpoints.read(
    "GetDocument",
    "documents/{document_id}",
    "A payer's answer about a claim, read into fields and words.",
    DocumentJson,
)
async def get_document(call: Call) -> Response:
    """Return a document; reading it marks it as fetched, and changes nothing that is read later."""
    document = await _document(call)
    source = await _read_source(call, document)
    site = next(one for one in call.sites if one.id == document.site_id)
    history = await load_history_in_scope(
        call.context.database,
        call.context.vault,
        site.scope,
        document.claim_number,
        actor=call.actor,
    )
    if history is None:
        raise no_document()
    return json_response(
        200,
        document_object(document)
        | _parsed(document, source.fact, history)
        | {"claim_payment": await _claim_payment(call, document, history)}
        | {"x12": decode_part(source.part)},
    )


async def _read_source(call: Call, document: StoredDocument) -> DocumentSource:
    """Open what a document is made from; marked as fetched and audited."""
    site = next(one for one in call.sites if one.id == document.site_id)
    await record_documents_read(
        call.context.database, [document.document_id], site=site, actor=call.actor, at=call.now
    )
    return open_document_source(call.context.vault, document)


def _parsed(document: StoredDocument, fact: AnyFact, history: ClaimHistory) -> dict[str, object]:
    """Return what a document says, as the claim's history has it."""
    entries = [one for one in history.entries if one.document_id == document.document_id]
    status = fact if isinstance(fact, Fact) else None
    return {
        "source": status.source.lower() if status else "835",
        "event": entries[0].headline if entries else "",
        "sentences": [sentence for one in entries for sentence in one.sentences],
        "payer_control_number": (status and status.claim.payer_control_number) or None,
        "statuses": [_status(one) for one in status.codes] if status else [],
        "findings": [finding_object(one) for entry in entries for one in entry.findings],
    }


def _status(code: ClaimStatusCode) -> dict[str, str]:
    return {
        "category": code.category,
        "category_text": codes.load("status_categories").get(code.category, ""),
        "status": code.status,
        "status_text": codes.load("statuses").get(code.status, ""),
        "entity": code.entity,
        "entity_text": codes.load("entities").get(code.entity, ""),
    }


async def _claim_payment(
    call: Call, document: StoredDocument, history: ClaimHistory
) -> dict[str, object] | None:
    context = call.context
    paid = await matched_claim_payments(context.database, context.vault, history.payments)
    for row, one in zip(history.payments, paid, strict=True):
        if one.document_id == document.document_id:
            return claim_payment_object(one) | {"payment_id": row.claim_payment.payment_id}
    return None


@endpoints.read(
    "GetDocumentX12",
    "documents/{document_id}/x12",
    "The claim's part of the payer's file.",
    None,
    media_type=X12,
)
async def get_document_x12(call: Call) -> Response:
    """Return the claim's part of the payer's file."""
    source = await _read_source(call, await _document(call))
    return Response(source.part, 200, {"Content-Type": X12})


async def _document(call: Call) -> StoredDocument:
    async with call.context.database.read(call.scope) as tx:
        found = await documents.find(tx, [call.path["document_id"]])
        await call.context.vault.load_keys_of(tx, [one.payload for one in found])
    if not found:
        raise no_document()
    return found[0]


def no_document() -> RequestRefusal:
    """Return the refusal of an id that is unknown or another vendor's."""
    return refuse(404, "The vendor has no document of this id.")
