"""Claims of ``/clearlane/v1``: list, search, and one claim with its history."""

from collections.abc import Mapping

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import (
    STATE_CHOICES,
    ClaimDetailsJson,
    ClaimJson,
    claim_object,
    finding_object,
    history_object,
)
from clearlane.api.v1.cursors import cursor_number
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response
from clearlane.kernel.clock import from_micros, moment_text, to_micros
from clearlane.kernel.ids import Scope, SiteId
from clearlane.payments.as_json import money_text
from clearlane.payments.outcome import Outcome
from clearlane.pipeline.query.claim_history import ClaimHistory, IdRelation, load_history_in_scope
from clearlane.pipeline.query.list_claims import ClaimSummary, find_claim, find_claims
from clearlane.store.claims import claim_search
from clearlane.store.claims.claim_query import ClaimOrder, ClaimQuery, ListPosition

endpoints = ResourceRows(Resource.CLAIMS)

LIST = "claims"
OUTCOMES = {outcome.value: outcome.value for outcome in Outcome}

FILTERS = (
    parameters.choice(
        "state",
        "Where the claim stands. Claims that were not accepted are listed only if asked for: `not_accepted`.",
        STATE_CHOICES,
    ),
    parameters.choice("outcome", "What became of it.", OUTCOMES),
    parameters.text("payer", "The payer id."),
    parameters.choice("kind", "Medical or dental.", {"medical": "medical", "dental": "dental"}),
    parameters.day("created_from", "The first day of receipt, in the site's time zone."),
    parameters.day("created_to", "The last day of receipt, included."),
    parameters.amount("amount_from", "The least charge."),
    parameters.amount("amount_to", "The highest charge."),
    parameters.text("vendor_claim_id", "The vendor's claim id; its earlier claims are listed too."),
    parameters.text("account_number", "The patient's account number, as it was sent."),
    parameters.text("payer_control_number", "The payer's number of the claim."),
    parameters.text("patient_last_name", "The patient's last name, with `patient_birth_date`."),
    parameters.day("patient_birth_date", "The patient's birth date, with `patient_last_name`."),
    parameters.moment(
        "changed_after",
        "Claims that changed later than this, in the order of their changes; else the newest come first.",
    ),
)


def _position(changed: str, day: str, number: str) -> ListPosition:
    return ListPosition(cursor_number(changed), day, number)


@endpoints.read(
    "GetClaims",
    "claims",
    "Claims, newest first, or in the order of their changes.",
    Page[ClaimJson],
    parameters=parameters.page(LIST, *FILTERS, parts=3, position=_position),
)
async def list_claims(call: Call) -> Response:
    """Return a page of claims."""
    where, limit = _where(call), call.parameters["limit"]
    is_by_change = "updated_at_after" in where
    query = ClaimQuery(
        where=where,
        order=ClaimOrder.BY_CHANGE if is_by_change else ClaimOrder.NEWEST_FIRST,
        after=call.parameters["after"],
        limit=limit + 1,
    )
    rows = await find_claims(
        call.context.database,
        call.context.vault,
        query,
        scope=call.scope,
        actor=call.actor,
    )
    sites = sites_by_id(call)
    return page_response(
        rows,
        limit=limit,
        of_list=LIST,
        position=lambda row: tuple(map(str, row.position)),
        as_json=lambda row: claim_object(row, sites),
    )


@endpoints.read(
    "GetClaim",
    "claims/{claim_number}",
    "One claim with its history, findings, batches, documents and payments.",
    ClaimDetailsJson,
)
async def get_claim(call: Call) -> Response:
    """Return one claim with everything known about it."""
    claim = await require_claim(call)
    history = await load_history_in_scope(
        call.context.database,
        call.context.vault,
        Scope(call.vendor.id, claim.site_id),
        claim.claim_number,
        actor=call.actor,
    )
    if history is None:
        raise no_claim()
    return json_response(200, claim_object(claim, sites_by_id(call)) | _details(history))


async def require_claim(call: Call) -> ClaimSummary:
    """Return the claim that the path names; refuse the call where the vendor has none of this number."""
    number = call.path["claim_number"]
    context = call.context
    claim = await find_claim(context.database, context.vault, number, scope=call.scope)
    if claim is None:
        raise no_claim()
    return claim


def no_claim() -> RequestRefusal:
    """Return the refusal of a number that is unknown or another vendor's."""
    return refuse(404, "The vendor has no claim of this number.")


def sites_by_id(call: Call) -> Mapping[SiteId, Site]:
    """Return the sites of a call by id."""
    return {site.id: site for site in call.sites}


def _where(call: Call) -> dict[str, object]:
    given, vault, vendor = call.parameters, call.context.vault, call.vendor.id
    name, born = given["patient_last_name"], given["patient_birth_date"]
    if (name is None) != (born is None):
        missing = "patient_last_name" if name is None else "patient_birth_date"
        sentence = "A patient is found by last name and birth date together."
        raise RequestRefusal(call.errors.invalid_fields({missing: [sentence]}))
    vendor_claim_id, account = given["vendor_claim_id"], given["account_number"]
    changed, number = given["changed_after"], given["payer_control_number"]
    created_from, created_to = given["created_from"], given["created_to"]
    patient = claim_search.patient_filters(vault, vendor, name, born) if name is not None else {}
    found = {
        "state": given["state"],
        "outcome": given["outcome"],
        "payer_id": given["payer"],
        "kind": given["kind"],
        "created_day_from": created_from and created_from.isoformat(),
        "created_day_to": created_to and created_to.isoformat(),
        "total_cents_from": given["amount_from"],
        "total_cents_to": given["amount_to"],
        "updated_at_after": changed and to_micros(changed),
        "vendor_claim_hashes": vendor_claim_id
        and claim_search.vendor_claim_hashes(vault, vendor, vendor_claim_id),
        "account_key": account and claim_search.account_key(vault, vendor, account),
        "payer_number_key": number and claim_search.payer_number_key(vault, number),
        **patient,
    }
    return {name: value for name, value in found.items() if value is not None}


def _details(history: ClaimHistory) -> dict[str, object]:
    claim_payments = [one.claim_payment for one in history.payments]
    findings = [*history.loaded.findings, *history.findings]
    return {
        "also_billed_as": [
            one.claim_number for one in history.related if one.relation is IdRelation.ALSO_BILLED_TO
        ],
        "findings": [finding_object(one) for one in findings],
        "history": [history_object(one) for one in history.entries],
        "batches": [
            {
                "batch_id": one.batch_id,
                "file": one.name,
                "state": one.state,
                "created_at": moment_text(from_micros(one.created_at)),
                "delivered_at": None
                if one.delivered_at is None
                else moment_text(from_micros(one.delivered_at)),
            }
            for one in history.sendings
        ],
        "documents": [
            {
                "document_id": one.document_id,
                "kind": one.kind,
                "claim_number": one.claim_number,
                "created_at": moment_text(from_micros(one.created_at)),
            }
            for one in history.documents
        ],
        "payments": [
            {
                "payment_id": one.payment_id,
                "type": one.type,
                "label": one.outcome,
                "in_force": bool(one.in_force),
                "charge": money_text(one.charge_cents),
                "paid": money_text(one.paid_cents),
                "patient": money_text(one.patient_cents),
                "document_id": one.document_id,
            }
            for one in claim_payments
        ],
    }
