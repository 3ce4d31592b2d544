"""Write one claim as the 837 that a payer gets, for people and programs that want to read it."""

from datetime import datetime

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.kinds import KINDS
from clearlane.claims.write.batch_naming import DEFAULT_SUBMITTER
from clearlane.claims.write.claim_context import OutgoingClaim
from clearlane.claims.write.write_837 import TradingPartner, write_claims
from clearlane.pipeline.other_payer import find_other_payer_id
from clearlane.pipeline.work_context import WorkContext
from clearlane.x12.writer.writer import Envelope


def write_claim_837(
    context: WorkContext,
    claim: Claim,
    *,
    number: str,
    payer_id: str,
    account_as_number: bool,
    now: datetime,
) -> bytes:
    """Return an interchange with this claim alone; its control numbers are those of no file that was sent."""
    payers = context.payer_access.payers()
    payer = payers.find(payer_id, KINDS[form_of(claim).kind].payer_type)
    name = payer.name if payer else payer_id
    out = OutgoingClaim(
        claim=claim,
        number=number,
        payer_id=payer_id,
        payer_name=payer.name if payer else "",
        other_payer_id=find_other_payer_id(payers, claim) or "",
        account_as_number=account_as_number,
    )
    envelope = Envelope(
        sender=DEFAULT_SUBMITTER.id,
        receiver=payer_id,
        control=1,
        moment=now,
        usage="T" if context.sandbox else "P",
    )
    receiver = TradingPartner(name=name, id=payer_id)
    pieces = write_claims([out], envelope, context.payer_access.submitter, receiver)
    return b"".join(pieces).replace(b"~", b"~\n")
