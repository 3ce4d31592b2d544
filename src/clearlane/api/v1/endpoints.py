"""The table of ``/clearlane/v1``'s resources, one row each: served, checked and documented from here."""

from pathlib import Path

from clearlane.api.frame.endpoint import ApiVersion
from clearlane.api.frame.openapi_examples import load_examples
from clearlane.api.v1.calls import ENDPOINTS as CALLS
from clearlane.api.v1.claim_verbs import ENDPOINTS as CLAIM_VERBS
from clearlane.api.v1.claims import ENDPOINTS as CLAIMS
from clearlane.api.v1.console_links import ENDPOINTS as CONSOLE_LINKS
from clearlane.api.v1.documents import ENDPOINTS as DOCUMENTS
from clearlane.api.v1.events import ENDPOINTS as EVENTS
from clearlane.api.v1.payers import ENDPOINTS as PAYERS
from clearlane.api.v1.payments import ENDPOINTS as PAYMENTS
from clearlane.api.v1.problems import PROBLEMS
from clearlane.api.v1.resource import PREFIX
from clearlane.api.v1.webhooks import ENDPOINTS as WEBHOOKS

DESCRIPTION = """\
Find and follow claims and payments, correct claims, and receive events, below `/clearlane/v1`, with the credentials of V3. \
`site` (the vendor site id) is optional: without it a call is for all sites of the vendor that have accepted the BAA. \
Lists answer `{"data": [...], "next": cursor}` and take `limit` and `after`. Errors are problem details (RFC 9457). \
A POST that changes something takes an `Idempotency-Key`. Fields and kinds of problems are added over time: ignore \
those that you do not know."""

# One row per resource.
RESOURCES = (
    CLAIMS,
    CLAIM_VERBS,
    PAYMENTS,
    PAYERS,
    DOCUMENTS,
    EVENTS,
    WEBHOOKS,
    CALLS,
    CONSOLE_LINKS,
)

V1 = ApiVersion(
    title="Clearlane API",
    description=DESCRIPTION,
    endpoints=tuple(endpoint for resource in RESOURCES for endpoint in resource),
    errors=PROBLEMS,
    prefix=PREFIX,
    examples=load_examples(Path(__file__).parent),
)
