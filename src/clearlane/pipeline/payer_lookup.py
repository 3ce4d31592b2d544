"""Look up the payers that a site's files name, with the aliases of its vendor."""

from collections.abc import Iterable

from clearlane.kernel.ids import Scope
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.sender_payers import SenderPayers, alias_key
from clearlane.store.database.database import Database
from clearlane.store.delivery import payer_aliases


async def load_sender_payers(
    database: Database, directory: PayerDirectory, scope: Scope, payer_ids: Iterable[str]
) -> SenderPayers:
    """Return the directory for files of a site, with what the vendor's aliases among these ids stand for."""
    keys = {alias_key(id) for id in payer_ids} - {""}
    aliases: dict[str, str] = {}
    if keys:
        async with database.read(scope) as tx:
            aliases = await payer_aliases.find_payer_ids(tx, keys)
    return SenderPayers(directory, aliases)
