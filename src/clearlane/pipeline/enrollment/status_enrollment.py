"""Say why a payer that answers enrolled providers only cannot be asked about a provider's claims (276).

    sentence = await why_not_asked(context, site, payer, (npi, tax_id), now)      # empty if it can be asked

Without the enrollment a payer refuses the question, so nothing is sent: neither by a person nor by the service itself.
"""

from collections.abc import Mapping
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.payers.enrolled_transactions import EnrolledTransaction, enrolled_transactions
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.provider_progress import (
    Billing,
    EnrolledState,
    enrollment_on,
    find_progress,
)
from clearlane.pipeline.work_context import WorkContext

_ONLY = "The payer answers questions about claims (276) of enrolled providers only, and"
SENTENCES: Mapping[EnrolledState, str] = {
    EnrolledState.LIVE: "",
    EnrolledState.NOT_ENROLLED: f"{_ONLY} the billing provider is not enrolled for them: send an enrollment.",
    EnrolledState.PENDING: f"{_ONLY} the billing provider's enrollment for them has been pending since {{day}}.",
    EnrolledState.LATER: f"{_ONLY} the billing provider's enrollment for them counts from {{day}} on.",
    EnrolledState.REFUSED: f"{_ONLY} it refused the billing provider's enrollment for them on {{day}}.",
    EnrolledState.ENDED: f"{_ONLY} it ended the billing provider's enrollment for them on {{day}}.",
}


async def why_not_asked(
    context: WorkContext, site: Site, payer: Payer, billing: Billing, now: datetime
) -> str:
    """Return why the payer answers no questions about this provider's claims; empty if it does."""
    if EnrolledTransaction.CLAIM_STATUS not in enrolled_transactions(payer):
        return ""
    async with context.database.read(site.scope) as tx:
        progress = await find_progress(
            tx, context.vault, site.scope, payer, EnrolledTransaction.CLAIM_STATUS, billing
        )
    enrollment, day = enrollment_on(progress, now, site.time_zone)
    return SENTENCES[enrollment].format(day=day)
