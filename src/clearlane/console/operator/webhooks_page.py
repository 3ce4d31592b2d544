"""Webhook endpoints of a vendor: where its events are posted to, and whether they arrive. For operators.

The secret of a new endpoint is shown once, on the answer to the form that added it.
"""

from typing import NamedTuple

from starlette.responses import Response

from clearlane.accounts.model import Vendor
from clearlane.connect.webhook_http import address_fault
from clearlane.console.frame.act_question import ADDS
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.events.types import (
    EVERYTHING,
    FAMILIES,
    FAMILY_SUFFIX,
    is_for_vendors,
    matching_types,
)
from clearlane.pipeline.notify import webhook_endpoints
from clearlane.pipeline.notify.webhook_endpoints import TooManyEndpoints, WebhookEndpoint
from clearlane.store.events.webhooks import ACTIVE

pages = PageRows(roles=OPERATORS, menu="/accounts")

OFFERED_FAMILIES = tuple(
    one for one in FAMILIES if any(map(is_for_vendors, matching_types([f"{one}{FAMILY_SUFFIX}"])))
)
"""The families of events that vendors receive."""
NO_SITE = "Choose sites of this vendor only."


class EndpointLine(NamedTuple):
    """An endpoint as the pages show it."""

    id: str
    url: str
    is_active: bool
    label: tuple[str, str]
    types: str
    sites: str
    note: str
    """Since when it fails or is disabled, and why; empty while it works."""


@pages.page("/accounts/{vendor}/webhooks")
async def show_webhooks(request: PageRequest) -> Response:
    """Show a vendor's endpoints and the form for another."""
    return await _render(request, find_vendor(request))


@pages.act("/accounts/{vendor}/webhooks", ADDS)
async def add_webhook(request: PageRequest) -> Response:
    """Add an endpoint, and show its secret once."""
    vendor, form = find_vendor(request), request.form
    url, faults = form.get("url").strip(), []
    if fault := address_fault(url, sandbox=request.context.sandbox_control is not None):
        faults.append(f"Address: {fault}")
    of_vendor = {one.vendor_site_id: one for one in request.context.accounts.sites_of(vendor)}
    wanted = form.get_all("sites")
    if set(wanted) - of_vendor.keys():
        faults.append(NO_SITE)
    families = [one for one in form.get_all("types") if one in OFFERED_FAMILIES]
    if faults:
        return await _render(request, vendor, faults=faults, status=400)
    try:
        added = await webhook_endpoints.add_endpoint(
            request.context.work_context,
            vendor.id,
            url=url,
            types=[f"{one}{FAMILY_SUFFIX}" for one in families] or [EVERYTHING],
            sites=[int(of_vendor[one].id) for one in wanted],
            actor=request.actor,
            now=request.now,
        )
    except TooManyEndpoints as why:
        return await _render(request, vendor, faults=[str(why)], status=409)
    request.context.work_context.wake_webhooks()
    return await _render(request, vendor, secret=added.content.secrets[0].secret)


def find_vendor(request: PageRequest) -> Vendor:
    """Return the vendor whose key the address names."""
    vendor = request.context.accounts.vendor(request.parts["vendor"])
    if vendor is None:
        raise NoSuchPage("There is no such vendor.")
    return vendor


def endpoint_line(request: PageRequest, vendor: Vendor, endpoint: WebhookEndpoint) -> EndpointLine:
    """Return an endpoint as the pages show it."""
    row = endpoint.row
    names = {int(one.id): one.name for one in request.context.accounts.sites_of(vendor)}
    label, note = ("good", "Works"), ""
    if row.state != ACTIVE:
        label, note = ("act", "Disabled"), _since(request, row.disabled_at, row.fault)
    elif row.failing_since is not None:
        label, note = ("late", "Fails"), _since(request, row.failing_since, row.fault)
    return EndpointLine(
        row.endpoint_id,
        endpoint.content.url,
        row.state == ACTIVE,
        label,
        "everything" if EVERYTHING in endpoint.types else ", ".join(endpoint.types),
        ", ".join(names[one] for one in endpoint.sites if one in names) or "all sites",
        note,
    )


def _since(request: PageRequest, micros: int | None, fault: str) -> str:
    when = f"since {request.stored_moment(micros)}" if micros is not None else ""
    return ": ".join(part for part in (when, fault) if part)


async def _render(
    request: PageRequest,
    vendor: Vendor,
    *,
    secret: str = "",
    faults: list[str] | None = None,
    status: int = 200,
) -> Response:
    found = await webhook_endpoints.list_endpoints(request.context.work_context, vendor.id)
    return request.render(
        "webhooks.html",
        f"Webhooks of {vendor.name}",
        status,
        vendor=vendor,
        endpoints=[endpoint_line(request, vendor, one) for one in found],
        families=OFFERED_FAMILIES,
        offered=request.context.accounts.sites_of(vendor),
        endpoints_max=webhook_endpoints.ENDPOINTS_PER_VENDOR_MAX,
        secret=secret,
        faults=faults or [],
    )
