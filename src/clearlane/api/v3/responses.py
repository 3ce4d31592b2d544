"""Payer response documents: ids are read, what is found is shown. Decodes, asks, encodes."""

from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, Field
from starlette.responses import Response

from clearlane.api.body import decode
from clearlane.api.endpoint import Call
from clearlane.api.errors import Refusal
from clearlane.api.v3 import wire
from clearlane.kernel import limits
from clearlane.pipeline.query.retrieve_documents import retrieve

DocumentIds = list[str]


class PayerResponses(BaseModel):
    """The documents that were found."""

    RemittanceAdvices: Annotated[
        list[dict[str, Any]], Field(description="What 835 files say of claims.")
    ]
    PayerClaimStatuses: Annotated[
        list[dict[str, Any]],
        Field(description="What 277CA and 277 files say of claims, or a TA1 or 999 that refuses."),
    ]


async def responses_by_id(call: Call) -> Response:
    """The handler of the documents call."""
    ids = _ids(await call.body.document())
    found = await retrieve(
        call.desk.database, call.desk.vault, ids, site=call.site, actor=call.actor
    )
    return wire.answer(200, found.body)


def _ids(document: bytes) -> list[str]:
    """The ids, each once; every one that is no text is named."""
    given = decode(document, list[msgspec.Raw])
    most = limits.DOCUMENTS_PER_CALL_MAX
    if len(given) > most:
        raise Refusal(wire.bad_document(f"At most {most} documents can be asked for at once."))
    ids: dict[str, None] = {}
    faults: dict[str, list[str]] = {}
    for at, item in enumerate(given):
        try:
            ids[msgspec.json.decode(item, type=str)] = None
        except msgspec.MsgspecError:
            faults[f"[{at}]"] = ["A document id is a JSON string."]
    if faults:
        raise Refusal(wire.model_state(faults))
    return list(ids)
