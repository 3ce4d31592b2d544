"""Find a claim by either of its two ids: the claim number, which is ours, or the vendor's claim id; or by the payer's too.

A vendor's claim id is stored as a keyed hash of its vendor alone, so each is asked.
"""

from collections.abc import Iterable

from clearlane.accounts.model import Site, vendor_scopes
from clearlane.pipeline.load_claim import find_claim_scope
from clearlane.store.claims import claim_ids
from clearlane.store.claims.claim_query import ClaimListRow, ClaimQuery, Listed, list_claims
from clearlane.store.claims.claim_search import payer_number_key, vendor_claim_hashes
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault

CLAIMS_OF_AN_ID_MAX = 200


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


async def find_claims_of_any_id(
    database: Database, vault: Vault, sites: Iterable[Site], given: str
) -> frozenset[str]:
    """Return every claim of these sites that has an id: as its claim number, the vendor's claim id or the payer's number."""
    known = tuple(sites)
    scopes = {(site.vendor_id, site.id) for site in known}
    found: set[str] = set()
    for number in {given, given.upper()}:
        owner = await find_claim_scope(database, number)
        if owner is not None and (owner.vendor, owner.site) in scopes:
            found.add(number)
    for scope in vendor_scopes(known):
        hashes = vendor_claim_hashes(vault, scope.vendor, given)
        for where in (
            {"vendor_claim_hashes": hashes},
            {"payer_number_key": payer_number_key(vault, given)},
        ):
            query = ClaimQuery(where=where, listed=Listed.FINDABLE, limit=CLAIMS_OF_AN_ID_MAX)
            async with database.read(scope) as tx:
                rows = await list_claims(tx, query, ClaimListRow)
            found |= {row.claim_number for row in rows if (scope.vendor, row.site_id) in scopes}
    return frozenset(found)
