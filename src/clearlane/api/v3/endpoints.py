"""The table of V3's endpoints, whose rows are declared at their handlers: served, checked and documented from here."""

from pathlib import Path

from clearlane.api.frame.endpoint import ApiVersion, Endpoint
from clearlane.api.frame.openapi_examples import load_examples
from clearlane.api.v3 import (
    claims,
    eligibility,
    enrollment,
    payer_responses,
    payers,
    proxy_login,
    status,
)
from clearlane.api.v3.error_responses import V3_ERRORS

DESCRIPTION = """\
Payer lists, claims, eligibility, enrollment and proxy login, over https with Basic credentials.

Path segments, query keys and JSON field names are read without regard to case; the exact forms are shown here. \
Checks run in this order: https, route, verb, credentials, presence of `vendorSiteId`, its validity \
and ownership, Business Associate Agreement, other parameters, body. Unknown fields are ignored and \
named in `X-Ignored-Fields`; how a correction goes out, and why, and what accepted claims are warned of is said in `X-Notes`. Every answer carries `X-Request-Id`; send one of your own to find a call \
again. `X-Service-Time` is the service's time (UTC), which in a sandbox may be ahead; a caller may ignore it."""

RESOURCES = (payers, claims, eligibility, enrollment, proxy_login, status, payer_responses)

ENDPOINTS: tuple[Endpoint, ...] = tuple(
    endpoint for resource in RESOURCES for endpoint in resource.endpoints.rows
)

V3 = ApiVersion(
    title="Clearlane Vendor API V3",
    description=DESCRIPTION,
    endpoints=ENDPOINTS,
    errors=V3_ERRORS,
    prefix="/api",
    examples=load_examples(Path(__file__).parent),
)
