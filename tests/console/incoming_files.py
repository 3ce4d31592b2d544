"""Files of a payer that are written by hand and arrive in a sandbox."""

from clearlane.claims.responses.identify import identify
from clearlane.pipeline.inbound.check_addresses import check_addresses
from clearlane.pipeline.inbound.post import post_file
from clearlane.pipeline.inbound.receive import receive
from clearlane.store.delivery import inbox

PAYER, TYPE = "TST01", "Medical"


async def arrive(installation, content: bytes, name: str = "answer"):
    """Receive and post a file of the sandbox's payer, whoever it says it is from; the file as stored."""
    context = installation.work_context
    [route] = context.payer_access.connections().mailbox_routes(TYPE, PAYER)
    stored = await receive(context, route, name, content)
    found = identify(content)
    senders = check_addresses(found.addresses, route).senders if found.addresses else frozenset()
    await post_file(context, stored.id, accepted=senders)
    async with installation.database.read(inbox.SCOPE) as tx:
        return await inbox.find(tx, stored.id)
