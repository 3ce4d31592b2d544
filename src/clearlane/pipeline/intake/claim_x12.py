"""Write one claim as the 837 that its payer gets, or the hop that passes it on, for people and programs that want to read it."""

from datetime import datetime

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.kinds import KINDS, id_in_claims
from clearlane.claims.write.batch_naming import DEFAULT_SUBMITTER
from clearlane.claims.write.claim_context import OutgoingClaim
from clearlane.claims.write.write_837 import TradingPartner, write_claims
from clearlane.connect.connections import PayerRoute
from clearlane.kernel.ids import Scope
from clearlane.pipeline.load_claim import LoadedClaim
from clearlane.pipeline.other_payer import find_other_payer_id
from clearlane.pipeline.route_connections import receiver_of
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.files import shadow_claims
from clearlane.x12.writer.writer import Envelope


def outgoing_claim(
    context: WorkContext, claim: Claim, *, number: str, payer_id: str, account_as_number: bool
) -> OutgoingClaim:
    """Return a claim under the numbers and names that it goes out with now."""
    payers = context.payer_access.payers()
    payer = payers.find(payer_id, _payer_type(claim))
    route = _hop_route(context, claim, payer_id)
    return OutgoingClaim(
        claim=claim,
        number=number,
        payer_id=payer_id,
        kind_payer_id=id_in_claims(payer, form_of(claim).kind) if payer else "",
        hop_payer_id=route.hop_payer_id if route else "",
        payer_name=payer.name if payer else "",
        other_payer_id=find_other_payer_id(payers, claim) or "",
        account_as_number=account_as_number,
    )


def _payer_type(claim: Claim) -> str:
    return KINDS[form_of(claim).kind].payer_type


def _hop_route(context: WorkContext, claim: Claim, payer_id: str) -> PayerRoute | None:
    """Return the route by which a claim goes out now, if that is one over a hop."""
    routes = context.payer_access.connections().mailbox_routes(_payer_type(claim), payer_id)
    return routes[0] if routes and routes[0].hop else None


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
    out = outgoing_claim(
        context, claim, number=number, payer_id=payer_id, account_as_number=account_as_number
    )
    route = _hop_route(context, claim, payer_id)
    receiver = (
        receiver_of(context.payer_access.payers(), route)
        if route
        else TradingPartner(name=out.payer_name or payer_id, id=out.sent_payer_id)
    )
    envelope = Envelope(
        sender=DEFAULT_SUBMITTER.id,
        receiver=receiver.id,
        control=1,
        moment=now,
        usage="T" if context.sandbox else "P",
    )
    pieces = write_claims([out], envelope, context.payer_access.submitter, receiver)
    return b"".join(pieces).replace(b"~", b"~\n")


async def claim_837(
    context: WorkContext, scope: Scope, loaded: LoadedClaim, *, now: datetime
) -> bytes:
    """Return a claim as the 837 that its payer gets; one of a shadow file as it was written when it came."""
    row = loaded.row
    return await find_shadow_x12(context, scope, row.claim_number) or write_claim_837(
        context,
        loaded.claim,
        number=row.claim_number,
        payer_id=row.payer_id,
        account_as_number=row.account_as_number,
        now=now,
    )


async def find_shadow_x12(context: WorkContext, scope: Scope, number: str) -> bytes:
    """Return what would have been sent of a claim of a shadow file, as it was written then; empty for any other claim."""
    async with context.database.read(scope) as tx:
        sealed = (await shadow_claims.find_x12(tx, [number])).get(number)
        if sealed is None:
            return b""
        await context.vault.load_keys_of(tx, [sealed])
    return context.vault.open(scope, shadow_claims.TABLE, number, sealed)
