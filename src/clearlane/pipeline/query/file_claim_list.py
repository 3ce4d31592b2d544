"""List the claims of a file that a site sent, in the order of the file, each with what our checks found.

    page = await load_file_claims(context, site, sets, limit=50, not_accepted=True, actor=actor, action="console.file.claims")

The console, v1 and the CLI show claims of files with this. The look is one audit row with their numbers.
"""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims.finding import ClaimFinding
from clearlane.kernel.finding import errors_first
from clearlane.pipeline.load_claim import open_claim
from clearlane.pipeline.query.claim_list import ClaimRow, load_claim_rows, stored_claim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Tx
from clearlane.store.files import file_sets
from clearlane.store.files.file_sets import FileSet, SetClaim

SETS_AT_ONCE = 500
"""How many sets one query looks for claims in."""


class FileClaimPlace(NamedTuple):
    """A place in a file: its set, counted from 0, and the position of a claim there."""

    set_index: int = 0
    position: int = 0


class FileClaimRow(NamedTuple):
    """A claim of a file."""

    row: ClaimRow
    of_set: FileSet
    position: int
    findings: Sequence[ClaimFinding]
    """Errors first."""


class FileClaimPage(NamedTuple):
    """A page of the claims of a file."""

    claims: list[FileClaimRow]
    last: FileClaimPlace | None
    """The place after which the next page begins; None if there is none."""


FIRST_PLACE = FileClaimPlace()


async def load_file_claims(
    context: WorkContext,
    site: Site,
    sets: Sequence[FileSet],
    *,
    after: FileClaimPlace = FIRST_PLACE,
    limit: int,
    not_accepted: bool,
    actor: Actor,
    action: str,
) -> FileClaimPage:
    """Load a page of the claims of a file's sets: all, or those that were not accepted."""
    found: list[tuple[int, SetClaim]] = []
    async with context.database.read(site.scope) as tx:
        async for index in _sets_with_claims(tx, sets, after.set_index, not_accepted=not_accepted):
            claims = await file_sets.list_claims(
                tx,
                sets[index].set_id,
                after=after.position if index == after.set_index else 0,
                limit=limit + 1 - len(found),
                not_accepted=not_accepted,
            )
            found += [(index, claim) for claim in claims]
            if len(found) > limit:
                break
    last = None
    if len(found) > limit:
        del found[limit:]
        index, claim = found[-1]
        last = FileClaimPlace(index, claim.position)
    numbers = [claim.claim_number for _, claim in found]
    loaded = await load_claim_rows(context, site, numbers, actor=actor, action=action)
    rows = {row.number: row for row in loaded}
    shown = [
        FileClaimRow(row, sets[index], claim.position, _findings(context, row))
        for index, claim in found
        if (row := rows.get(claim.claim_number))
    ]
    return FileClaimPage(shown, last)


async def _sets_with_claims(
    tx: Tx, sets: Sequence[FileSet], first: int, *, not_accepted: bool
) -> AsyncIterator[int]:
    """Yield the places of sets that have claims, from one on. Of those that have none there may be thousands."""
    counted = [
        index
        for index, one in enumerate(sets)
        if index >= first and (one.not_accepted if not_accepted else one.claims)
    ]
    for start in range(0, len(counted), SETS_AT_ONCE):
        page = counted[start : start + SETS_AT_ONCE]
        ids = [sets[index].set_id for index in page]
        # One set alone is read at once: it may be large.
        filled = (
            await file_sets.find_filled(tx, ids, not_accepted=not_accepted)
            if len(ids) > 1
            else set(ids)
        )
        for index in page:
            if sets[index].set_id in filled:
                yield index


def _findings(context: WorkContext, row: ClaimRow) -> list[ClaimFinding]:
    # The keys were loaded with the row, and the look was audited.
    opened = open_claim(context.vault, row.site.scope, stored_claim(row.stored))
    return errors_first(opened.findings)
