"""The table of ``/clearlane/v1``'s resources, one row each: served, checked and documented from here."""

from pathlib import Path

from clearlane.api.frame.endpoint import ApiVersion
from clearlane.api.frame.openapi_examples import load_examples
from clearlane.api.v1 import (
    claim_forms,
    claim_inquiries,
    claim_submission,
    claim_verbs,
    claims,
    eligibility,
    events,
    files,
    payers,
    payments,
    proofs,
    provider_enrollments,
    realtime,
    secondary,
    shadow_lines,
    vendor_aliases,
    webhooks,
)
from clearlane.api.v1.account import calls, console_links, sites
from clearlane.api.v1.content import claim_content, documents, reports
from clearlane.api.v1.problems import PROBLEMS
from clearlane.api.v1.resource import PREFIX

DESCRIPTION = """\
Submit, find, follow and correct claims, follow payments, and receive events, below `/clearlane/v1`. The credentials are those of V3, or an \
API key (`Authorization: Bearer clearlane_...`). A key is for some scopes, and for all sites or some; each call names the \
scope it needs, and 403 the one that a key lacks. \
`site` (the vendor site id) is optional: without it a call is for all sites of the vendor that have accepted the BAA.

Lists answer `{"data": [...], "next": cursor}` and take `limit` and `after`. Filters that are words or texts take several values, \
given again or with commas between them (`state=sent,pending`): a row passes that has one of them.

Every resource has `id`; where others refer to it, the same value has a name of its own: `claim_number`, `payment_id`, \
`claim_payment_id`, `document_id`, `payer_id`, `batch_id`, `file_id`, `set_id`, `event_id`. (A console link has none: it works once.) \
Values of `state`, `label`, `kind` and `type` are in snake_case, and filters take the same words. Moments are ISO 8601 in UTC, to the \
microsecond, and end in `_at`, except the `created` of an event; days are `yyyy-mm-dd` and end in `_date`, except `service_from` and \
`service_to` of a claim payment.

Errors are problem details (RFC 9457). A POST that changes something takes an `Idempotency-Key`. `HEAD` is answered as GET is, without the \
body. Answers of a kilobyte and more are compressed with zstd or gzip if `Accept-Encoding` names one. Fields and kinds of problems are added \
over time: ignore those that you do not know."""

RESOURCES = (
    claims,
    claim_content,
    claim_submission,
    claim_verbs,
    claim_inquiries,
    claim_forms,
    proofs,
    payments,
    reports,
    payers,
    vendor_aliases,
    provider_enrollments,
    documents,
    files,
    shadow_lines,
    realtime,
    secondary,
    eligibility,
    events,
    webhooks,
    sites,
    calls,
    console_links,
)

V1 = ApiVersion(
    title="Clearlane API",
    description=DESCRIPTION,
    endpoints=tuple(endpoint for resource in RESOURCES for endpoint in resource.endpoints.rows),
    errors=PROBLEMS,
    prefix=PREFIX,
    examples=load_examples(Path(__file__).parent),
)
