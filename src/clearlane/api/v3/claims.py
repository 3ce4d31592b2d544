"""The endpoints of claim submission: decode, submit, encode."""

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, EndpointFamily, EndpointRows
from clearlane.api.v3 import responses
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, AnyForm
from clearlane.pipeline.intake.submit import submit


async def suspended(call: Call) -> Response:
    """Return the document-level error for a suspended account."""
    return responses.account_in_bad_state(call.site.client_id)


endpoints = EndpointRows(
    family=EndpointFamily.CLAIMS,
    errors=V3_ERRORS,
    touches_phi=True,
    suspended_handler=suspended,
)


def _submission(name: str, path: str, summary: str, form: AnyForm) -> None:
    """Declare the endpoint that submits claims of one kind."""

    @endpoints.endpoint(
        name,
        f"/api/v3/claims/{path}",
        summary,
        responses.ClaimSubmission,
        request_type=form.document,
        error_types={204: None, 400: responses.ModelState, 413: responses.Message},
    )
    async def submit_claims(call: Call) -> Response:
        document = await call.body.read_document()
        result = await submit(
            call.context.work_context,
            document,
            form,
            site=call.site,
            actor=call.actor,
            now=call.now,
        )
        call.ignored_fields.extend(getattr(result, "ignored", ()))
        call.notes.extend(getattr(result, "notes", ()))
        return await responses.submission_response(result)


_submission("SubmitClaims", "submit", "Submit medical claims.", V3_MEDICAL)
_submission("SubmitDentalClaims", "submitDental", "Submit dental claims.", V3_DENTAL)
