"""The handlers of claim submission: decode, submit, encode."""

from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, Handler
from clearlane.api.v3 import responses
from clearlane.claims.fields import ClaimKind
from clearlane.pipeline.intake.submit import submit


def submission_handler(kind: ClaimKind) -> Handler:
    """Return the handler that submits claims of one kind."""

    async def submit_claims(call: Call) -> Response:
        document = await call.body.read_document()
        outcome = await submit(
            call.context.work_context,
            document,
            kind,
            site=call.site,
            actor=call.actor,
            now=call.now,
        )
        call.ignored_fields.extend(getattr(outcome, "ignored", ()))
        call.notes.extend(getattr(outcome, "notes", ()))
        return await responses.submission_response(outcome)

    return submit_claims


async def suspended(call: Call) -> Response:
    """Return the document-level error for a suspended account."""
    return responses.account_in_bad_state(call.site.client_id)
