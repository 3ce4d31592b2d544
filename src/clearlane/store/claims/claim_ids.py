"""Vendors' claim ids: which claim an id means now, and which others came under it.

The claim that an id means, its holder, has the row with an empty ``former``: the primary key decides which of several
submissions gets an id. Every other claim under the id has a row under its own number. The table of claims needs neither an
index of the ids nor a key beside the claim number, so that it can be partitioned.
"""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claim_ids
from clearlane.store.database.sql import (
    Statement,
    among,
    in_scope,
    scoped_insert,
    scoped_select,
    scoped_update,
)


class ClaimId(NamedTuple):
    """A claim under a vendor's claim id."""

    vendor_claim_hash: str
    claim_number: str


class ClaimsUnderIds(NamedTuple):
    """The claims under vendors' claim ids, by the keyed hashes of these."""

    holders: dict[str, str]
    others: dict[str, list[str]]

    @property
    def claim_numbers(self) -> list[str]:
        """The numbers of all of them."""
        return [
            *self.holders.values(),
            *(one for numbers in self.others.values() for one in numbers),
        ]


async def add(tx: Tx, holders: Iterable[ClaimId], others: Iterable[ClaimId] = ()) -> None:
    """Let claims hold those of their ids that are free, and note others that came under an id."""
    rows = [one._asdict() | {"former": ""} for one in holders]
    rows += [one._asdict() | {"former": one.claim_number} for one in others]
    if rows:
        # Keys are hashes: in their order each page of the index is changed once.
        await tx.many(_ADD, sorted(rows, key=itemgetter("vendor_claim_hash")))


async def list_under(tx: Tx, hashes: Iterable[str]) -> ClaimsUnderIds:
    """Return the claims of the scope under vendors' claim ids."""
    found = ClaimsUnderIds({}, {})
    for vendor_claim, former, number in await tx.rows(_UNDER_IDS, hashes=list(hashes)):
        if former:
            found.others.setdefault(vendor_claim, []).append(number)
        else:
            found.holders[vendor_claim] = number
    return found


async def hand_over(tx: Tx, holder: ClaimId, successor: str) -> bool:
    """Let another claim hold an id; return False if its holder is not the given one any more."""
    if not await tx.run(
        _HAND_OVER, of=holder.vendor_claim_hash, holder=holder.claim_number, successor=successor
    ):
        return False
    await add(tx, (), [holder])
    return True


async def remove_others(tx: Tx, rows: Sequence[dict[str, object]]) -> None:
    """Remove claims of any client that do not hold their id: owner, keyed hash of the id, and claim number of each."""
    await tx.many(_REMOVE, rows)


_ADD = scoped_insert(claim_ids, *ClaimId._fields, "former", ignore_conflict=True)
_UNDER_IDS = scoped_select(
    select(claim_ids.c.vendor_claim_hash, claim_ids.c.former, claim_ids.c.claim_number).where(
        among(claim_ids.c.vendor_claim_hash, "hashes")
    ),
    claim_ids,
)
_HAND_OVER = scoped_update(
    claim_ids,
    claim_ids.c.vendor_claim_hash == bindparam("of"),
    claim_ids.c.former == "",
    claim_ids.c.claim_number == bindparam("holder"),
    claim_number=bindparam("successor"),
)
_REMOVE = Statement(
    delete(claim_ids).where(
        in_scope(claim_ids),
        claim_ids.c.vendor_claim_hash == bindparam("vendor_claim_hash"),
        claim_ids.c.former == bindparam("claim_number"),
    ),
    system=True,
)
