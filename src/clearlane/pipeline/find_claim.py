"""Find a claim by either of its two ids: the claim number, which is ours, or the vendor's claim id.

A vendor's claim id is stored as a keyed hash of its site alone, so each site is asked.
"""

from collections.abc import Iterable

from clearlane.accounts.model import Site
from clearlane.pipeline.load_claim import find_claim_scope
from clearlane.store.claims import claim_ids
from clearlane.store.claims.claim_search import vendor_claim_hashes
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault


async def find_claim_numbers(
    database: Database, vault: Vault, sites: Iterable[Site], given: str
) -> list[str]:
    """Return the claim number that was given, or each site's claim under that vendor's claim id.

    That is the one that has the id; if none was accepted, the newest.
    """
    if await find_claim_scope(database, given) is not None:
        return [given]
    found = []
    for site in sites:
        hashes = vendor_claim_hashes(vault, site.vendor_id, given)
        async with database.read(site.scope) as tx:
            under_ids = await claim_ids.list_under(tx, hashes)
        if numbers := under_ids.holders.values() or under_ids.claim_numbers:
            found.append(max(numbers))  # a number begins with its time
    return found
