"""Calls of ``/clearlane/v1``: what a call changed or read, found by its ``X-Request-Id``."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows
from clearlane.kernel.clock import from_micros, moment_text
from clearlane.kernel.ids import SiteId
from clearlane.store.audit import audit
from clearlane.store.database.group_commit import ORIGIN_SEPARATOR

endpoints = ResourceRows(Resource.CALLS)


class AuditedCallJson(JsonModel):
    """One thing that a call changed or read."""

    id: Annotated[int, Field(description="The number of its row in the audit log.")]
    happened_at: datetime
    action: Annotated[str, Field(description="Such as `claims.submit`.")]
    site: Annotated[
        str | None, Field(description="The vendor site id; null for a call for several.")
    ]
    ids: Annotated[
        list[str], Field(description="Claims, documents or payments, the first of many.")
    ]
    count: int
    detail: str


@endpoints.read(
    "GetCall",
    "calls/{request_id}",
    "What a call changed or read, by its `X-Request-Id`.",
    Page[AuditedCallJson],
)
async def get_call(call: Call) -> Response:
    """Return what the vendor's calls with a request id changed or read, newest first."""
    rows = await audit.find_by_request(call.context.database, call.path["request_id"])
    sites = {site.id: site.vendor_site_id for site in call.sites}
    own = [row for row in rows if _is_own(call, row)]
    if not own:
        raise refuse(
            404, "No call of the vendor with this X-Request-Id changed or read data of these sites."
        )
    return json_response(200, {"data": [_call_object(row, sites) for row in own], "next": None})


def _call_object(row: Mapping[str, Any], sites: Mapping[SiteId, str]) -> dict[str, object]:
    return {
        "id": row["seq"],
        "happened_at": moment_text(from_micros(row["at"])),
        "action": row["action"],
        "site": sites[row["site_id"]] if row["site_id"] else None,
        "ids": msgspec.json.decode(row["ids"]),
        "count": row["count"] or 0,
        "detail": _without_address(row["detail"]),
    }


def _is_own(call: Call, row: Mapping[str, object]) -> bool:
    """Return whether a row is of the vendor's own call, for sites that this one is for."""
    if row["vendor_id"] != call.vendor.id or row["actor"] != f"vendor:{call.vendor.key}":
        return False
    if row["site_id"] is None:
        return call.is_of_vendor
    return any(site.id == row["site_id"] for site in call.sites)


def _without_address(detail: object) -> str:
    """Return the detail of an audit row without where the call came from."""
    parts = str(detail).split(ORIGIN_SEPARATOR)
    return ORIGIN_SEPARATOR.join(part for part in parts if not part.startswith("from "))
