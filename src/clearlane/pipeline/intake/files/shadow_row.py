"""Make the row of a claim of a shadow file: judged as any other, written as it would go out, and never sent."""

import msgspec

from clearlane.accounts.model import Site
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.pipeline.intake.claim_x12 import write_claim_837
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.claims import RECEIVED, SHADOW, SHADOW_NOT_ACCEPTED
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.files import shadow_claims


def shadow_row(context: WorkContext, site: Site, prepared: PreparedClaim) -> NewClaim:
    """Return the row of a judged claim as that of a shadow file. It has no status: V3 does not list it."""
    row = prepared.row
    if row.state != RECEIVED:
        return msgspec.structs.replace(
            row, state=SHADOW_NOT_ACCEPTED, label=ClaimLabel.SHADOW_NOT_ACCEPTED.value, status=None
        )
    content = write_claim_837(
        context,
        prepared.judgement.claim,
        number=row.claim_number,
        payer_id=row.payer_id,
        account_as_number=True,
        now=context.clock.now(),
    )
    x12 = context.vault.seal(site.scope, shadow_claims.TABLE, row.claim_number, content)
    return msgspec.structs.replace(
        row, state=SHADOW, label=ClaimLabel.SHADOW.value, status=None, shadow_x12=x12
    )
