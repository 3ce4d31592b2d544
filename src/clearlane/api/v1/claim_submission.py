"""``POST /clearlane/v1/claims``: submit claims of every kind, with what is wrong and what they are warned of.

The document is read, judged and stored as V3's: one way in. Under an ``Idempotency-Key`` the answer is stored with the
claims, in one transaction.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.idempotency import RecordedResponse
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1.claim_json import FindingJson
from clearlane.api.v1.claim_verbs import ANY_DOCUMENT, named_form, require_active, unreadable
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Resource, ResourceRows, require_site
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.store import ClaimResult
from clearlane.pipeline.intake.submission_result import SubmissionNotStored, SubmissionReceipt
from clearlane.pipeline.intake.submit import submit
from clearlane.pipeline.query.history.claim_details import finding_object
from clearlane.store.database.database import Tx

endpoints = ResourceRows(Resource.CLAIMS, changes=KeyScope.SUBMIT)

NOT_STORED = "The claims could not be stored. Nothing was stored; send them again."


class SubmittedClaimJson(JsonModel):
    """What became of one claim."""

    vendor_claim_id: str
    claim_number: Annotated[str, Field(description="Our number of the claim.")]
    accepted: bool
    problems: Annotated[
        list[FindingJson], Field(description="Errors, for which the claim is not accepted.")
    ]
    warnings: Annotated[
        list[FindingJson], Field(description="What payers may object to; the claim is sent.")
    ]
    note: Annotated[
        str | None,
        Field(description="What was done with a claim under a known id, and why; else null."),
    ]


class SubmissionJson(JsonModel):
    """What became of a document of claims."""

    accepted: Annotated[int, Field(description="How many claims were accepted.")]
    claims: Annotated[list[SubmittedClaimJson], Field(description="In the order of the document.")]


@endpoints.change(
    "PostClaims",
    "claims",
    "Submit claims of any kind, one or many.",
    SubmissionJson,
    request_type=ANY_DOCUMENT,
    description="`DocumentType` says which claims they are: `MedicalClaim` and `DentalClaim` as V3 has them, "
    "`InstitutionalClaim` with the fields of the UB-04. Every claim is answered by itself: those with problems are not "
    "accepted, the others are sent. A document that cannot be read is refused as a whole, with every fault.",
)
async def post_claims(call: Call) -> Response:
    """Submit a document of claims."""
    site = require_site(call)
    require_active(site)
    document = await call.body.read_document()
    form = named_form(call, document)

    async def respond(_: Tx, results: list[ClaimResult]) -> Response:
        return json_response(200, _submission(results))

    recorded = RecordedResponse(call, respond)
    outcome = await submit(
        call.context.work_context,
        document,
        form,
        site=site,
        actor=call.actor,
        now=call.now,
        listed=(Severity.ERROR, Severity.WARNING),
        # Without a key there is nothing to store beside the claims, and documents share a transaction.
        extend=recorded.extend if call.answer_key is not None else None,
    )
    if isinstance(outcome, SubmissionNotStored):
        raise refuse(503, NOT_STORED)
    if not isinstance(outcome, SubmissionReceipt):
        raise unreadable(call, outcome)
    call.ignored_fields.extend(outcome.ignored)
    return json_response(200, _submission(outcome.results))


def _submission(results: Sequence[ClaimResult]) -> Mapping[str, object]:
    return {
        "accepted": sum(one.accepted for one in results),
        "claims": [_claim(one) for one in results],
    }


def _claim(result: ClaimResult) -> Mapping[str, object]:
    found = {
        is_error: [
            finding_object(one) for one in result.findings if _is_error(one.severity) is is_error
        ]
        for is_error in (True, False)
    }
    return {
        "vendor_claim_id": result.vendor_claim_id,
        "claim_number": result.claim_number,
        "accepted": result.accepted,
        "problems": found[True],
        "warnings": found[False],
        "note": result.note or None,
    }


def _is_error(severity: Severity) -> bool:
    return severity is Severity.ERROR
