"""Claims: a document is handed to the verb, its outcome becomes an answer. Decodes, asks, encodes."""

from starlette.responses import Response

from clearlane.api.endpoint import Call, Handler
from clearlane.api.v3 import wire
from clearlane.claims.fields import ClaimKind
from clearlane.pipeline.intake.submit import Desk, submit


def submission(kind: ClaimKind) -> Handler:
    """The handler of one of the two submission calls."""

    async def answer(call: Call) -> Response:
        document = await call.body.document()
        desk = Desk(
            database=call.desk.database,
            vault=call.desk.vault,
            payers=call.desk.payers,
            sandbox=call.sandbox,
            counter=call.desk.counter,
            claims_max=call.limits.claims_per_document_max,
            write_seconds_max=call.limits.write_seconds_max,
        )
        outcome = await submit(desk, document, kind, site=call.site, actor=call.actor, now=call.now)
        call.ignored.extend(getattr(outcome, "ignored", ()))
        return wire.submission(outcome)

    return answer


async def suspended(call: Call) -> Response:
    """The document-level error of an account in a bad state."""
    return wire.account_in_bad_state(call.site.client_id)
