"""Payer aliases of ``/clearlane/v1``: what the files of a vendor call the payers of the directory.

A vendor maps its own ids here, so that a file with an id that no payer has needs no operator. An id of the directory
always counts first. Knows no file.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.idempotency import RecordedResponse
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response, read_body
from clearlane.kernel.clock import micros_text
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.sender_payers import AliasRow, alias_key, find_any
from clearlane.pipeline.operator.payer_alias_admin import (
    AliasesRefused,
    alias_scope,
    remove_alias,
    set_aliases,
)
from clearlane.store.database.database import Tx, require_row
from clearlane.store.delivery import payer_aliases
from clearlane.store.delivery.payer_aliases import PayerAlias

endpoints = ResourceRows(Resource.PAYERS, touches_phi=False, changes=KeyScope.FILES, of_vendor=True)

LIST = "payer_aliases"
ONE = f"{LIST}/{{alias}}"
FIELDS = {"id": "alias", "payer": "payer_id"}
"""The fields of a request, by what findings about them name."""


@dataclass(frozen=True, slots=True)
class NewAlias:
    """An id in the vendor's files, and the payer that it stands for."""

    alias: Annotated[
        str,
        Field(description="The id as NM109 of the vendor's files has it; no payer may have it."),
    ]
    payer_id: Annotated[str, Field(description="Any id of the payer in the directory.")]


class PayerAliasJson(JsonModel):
    """What the vendor's files call a payer."""

    id: str
    alias: Annotated[str, Field(description="The id in the vendor's files.")]
    payer_id: str
    name: Annotated[str | None, Field(description="The payer's name; null if it is gone.")]
    counts: Annotated[
        bool,
        Field(description="False if the directory has a payer of this id now, or lost the payer."),
    ]
    set_at: datetime


@endpoints.read(
    "GetPayerAliases",
    LIST,
    "What the vendor's files call payers.",
    Page[PayerAliasJson],
    parameters=parameters.page(LIST),
)
async def list_aliases(call: Call) -> Response:
    """Return the aliases of the vendor, by alias."""
    async with call.context.database.read(alias_scope(call.vendor.id)) as tx:
        found = await payer_aliases.list_aliases(tx)
    after = call.parameters["after"] or ""
    rows = sorted((one for one in found if one.alias_key > after), key=lambda one: one.alias_key)
    return page_response(
        rows,
        limit=call.parameters["limit"],
        of_list=LIST,
        position=lambda one: (one.alias_key,),
        as_json=lambda one: alias_object(one, call.context.payers),
    )


@endpoints.change(
    "SetPayerAlias",
    LIST,
    "Let an id in the vendor's files stand for a payer.",
    PayerAliasJson,
    request_type=NewAlias,
    description="Claims and inquiries of files that name a payer by this id go to the payer from now on. An alias that "
    "exists is changed.",
)
async def set_alias(call: Call) -> Response:
    """Set an alias of the vendor."""
    given = await read_body(call, NewAlias)
    payers = call.context.payers

    async def respond(tx: Tx, _: int) -> Response:
        row = require_row(await payer_aliases.find(tx, alias_key(given.alias)), "the new alias")
        return json_response(200, alias_object(row, payers))

    recorded = RecordedResponse(call, respond)
    try:
        await set_aliases(
            call.context.database,
            call.vendor.id,
            [AliasRow(0, given.alias, given.payer_id.strip())],
            payers=payers,
            actor=call.actor,
            now=call.context.wall.now(),
            extend=recorded.extend,
        )
    except AliasesRefused as refused:
        faults: dict[str, list[str]] = {}
        for row in refused.findings:
            name = FIELDS.get(row.finding.location, "alias")
            faults.setdefault(name, []).append(row.finding.message)
        raise RequestRefusal(call.errors.invalid_fields(faults)) from None
    return recorded.response


@endpoints.change(
    "RemovePayerAlias",
    ONE,
    "Remove an alias. Claims that came before stay with their payer.",
    PayerAliasJson,
    verb="DELETE",
)
async def remove(call: Call) -> Response:
    """Remove an alias of the vendor."""
    context = call.context
    gone = await remove_alias(
        context.database, call.vendor.id, call.path["alias"], actor=call.actor
    )
    if gone is None:
        raise refuse(404, "There is no such alias.")
    return json_response(200, alias_object(gone, context.payers))


def alias_object(row: PayerAlias, payers: PayerDirectory) -> dict[str, object]:
    """Return an alias as v1 shows it."""
    payer = find_any(payers, row.payer_id)
    return {
        "id": row.alias,
        "alias": row.alias,
        "payer_id": row.payer_id,
        "name": payer.name if payer else None,
        "counts": payer is not None and find_any(payers, row.alias) is None,
        "set_at": micros_text(row.at),
    }
