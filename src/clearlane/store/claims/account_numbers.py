"""Account numbers that claims carry as CLM01: of the live claims to a payer, whoever sent them, one has a number."""

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import delete

from clearlane.store.claims import claim_lookup
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claim_references, line_references
from clearlane.store.database.sql import Statement, among, insert_into, scoped_insert, select_as


class AccountNumber(NamedTuple):
    """A claim, and the keyed hash of the account number that it is to carry to a payer."""

    payer_id: str
    reference: str
    claim_number: str


async def take(tx: Tx, wanted: Sequence[AccountNumber]) -> set[str]:
    """Take the account numbers that no live claim to the payer carries; return the claim numbers that got theirs."""
    if not wanted:
        return set()
    # In the order of the key each page of the index is changed once. Of several claims with one number the first gets it.
    ordered = sorted(wanted, key=attrgetter("payer_id", "reference"))
    await tx.many(_TAKE, [one._asdict() for one in ordered])
    return {one.claim_number for one in await _find(tx, [one.claim_number for one in wanted])}


async def share(tx: Tx, accounts: Sequence[AccountNumber]) -> None:
    """Let answers find claims of files by account numbers that other live claims to the payer carry too."""
    if accounts:
        await tx.many(_SHARE, [one._asdict() for one in accounts])


async def release(tx: Tx, claim_numbers: Collection[str]) -> None:
    """Let other claims carry the account numbers of these, which were never sent."""
    if claim_numbers:
        await tx.run(_RELEASE, claim_numbers=sorted(claim_numbers))


async def release_refused(tx: Tx, claims: Sequence[ClaimStateRow]) -> None:
    """Release the account numbers of refused claims of any client, and keep them for late answers."""
    owners = {one.claim_number: (one.vendor_id, one.site_id) for one in claims}
    if found := await _find(tx, owners):
        await claim_lookup.add_references(tx, owners, found)
        await release(tx, owners)


async def _find(tx: Tx, claim_numbers: Collection[str]) -> list[AccountNumber]:
    return await list_rows(tx, AccountNumber, _FIND, claim_numbers=sorted(claim_numbers))


_TAKE = Statement(
    insert_into(claim_references, *AccountNumber._fields).on_conflict_do_nothing(
        index_elements=["payer_id", "reference"]
    )
)
_SHARE = scoped_insert(line_references, *AccountNumber._fields, ignore_conflict=True)
_THESE = among(claim_references.c.claim_number, "claim_numbers")
_FIND = Statement(select_as(claim_references, AccountNumber).where(_THESE))
_RELEASE = Statement(delete(claim_references).where(_THESE))
