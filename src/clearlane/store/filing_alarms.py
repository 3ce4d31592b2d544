"""Filing limits of sites' contracts, and the alarms about claims whose limit is near: one row per claim and stage.

Knows no claim and no calendar.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.payers.filing_limits import SiteContract
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import filing_alarms, site_filing_limits
from clearlane.store.database.sql import (
    among,
    scoped_delete,
    scoped_insert,
    scoped_select,
    scoped_update,
    scoped_upsert,
    select_as,
)

ALARMS_LISTED_MAX = 10_000


class AgreedLimit(NamedTuple):
    """The days that a site's contract with a payer gives for a kind of filing."""

    site_id: int
    payer_type: str
    payer_id: str
    """In folded case."""
    kind: str
    days: int


class FilingAlarm(NamedTuple):
    """That the filing limit of a claim is near."""

    claim_number: str
    kind: str
    file_by: str
    """The last day on which the payer is to receive it."""
    stage: int
    """How many days before that at most."""
    at: int


async def list_agreed(tx: Tx) -> list[AgreedLimit]:
    """Return the limits of the contracts of the scope."""
    return await list_rows(tx, AgreedLimit, _AGREED)


async def load_contracts(tx: Tx) -> dict[int, SiteContract]:
    """Return the limits of the contracts of the scope, by site."""
    found: dict[int, dict[tuple[str, str, str], int]] = defaultdict(dict)
    for one in await list_agreed(tx):
        found[one.site_id][one.payer_type, one.payer_id, one.kind] = one.days
    return dict(found)


async def set_agreed(tx: Tx, limit: AgreedLimit) -> None:
    """Set a limit of the contract of the scope's site; 0 days remove it."""
    if limit.days:
        await tx.run(_SET_AGREED, **dict(zip(_NAMES, limit[1:], strict=True)))
    else:
        await tx.run(
            _REMOVE_AGREED, type=limit.payer_type, payer=limit.payer_id, of_kind=limit.kind
        )


async def list_alarms(tx: Tx, claim_numbers: Sequence[str]) -> set[tuple[str, str, int]]:
    """Return claim, day and stage of the alarms about claims of the scope."""
    rows = await tx.rows(_ALARMS_OF, claim_numbers=list(claim_numbers))
    return {(str(number), str(file_by), int(stage)) for number, file_by, stage in rows}


async def add_alarms(tx: Tx, alarms: Sequence[FilingAlarm]) -> None:
    """Record alarms; one that was recorded before stays as it is."""
    await tx.many(_ADD_ALARMS, [one._asdict() for one in alarms])


async def reopen_alarms(tx: Tx, alarms: Sequence[FilingAlarm]) -> None:
    """Open the alarms about these claims and days again that were ended, as if they had stayed open."""
    days = sorted({one.file_by for one in alarms})
    for day in days:
        numbers = sorted({one.claim_number for one in alarms if one.file_by == day})
        await tx.run(_REOPEN, claim_numbers=numbers, day=day)


async def end_alarms(tx: Tx, kept: Collection[str]) -> int:
    """End the alarms of the scope about all claims but these; return how many there were."""
    open_now = {str(number) for (number,) in await tx.rows(_OPEN)}
    ended = sorted(open_now.difference(kept))
    return await tx.run(_END, claim_numbers=ended) if ended else 0


async def list_near(tx: Tx, stage: str) -> list[str]:
    """Return the claims of the scope whose limit ends within a number of days, those first that it ends for first."""
    rows = await tx.rows(_NEAR, stage=int(stage), limit=ALARMS_LISTED_MAX)
    return list(dict.fromkeys(str(number) for (number,) in rows))


_AGREED = scoped_select(
    select_as(site_filing_limits, AgreedLimit).order_by(
        site_filing_limits.c.payer_type, site_filing_limits.c.payer_id, site_filing_limits.c.kind
    ),
    site_filing_limits,
)
_NAMES = AgreedLimit._fields[1:]
_SET_AGREED = scoped_upsert(
    site_filing_limits,
    *_NAMES,
    key=("payer_type", "payer_id", "kind"),
    replace=("days",),
)
_REMOVE_AGREED = scoped_delete(
    site_filing_limits,
    site_filing_limits.c.payer_type == bindparam("type"),
    site_filing_limits.c.payer_id == bindparam("payer"),
    site_filing_limits.c.kind == bindparam("of_kind"),
)
_ALARMS_OF = scoped_select(
    select(filing_alarms.c.claim_number, filing_alarms.c.file_by, filing_alarms.c.stage).where(
        among(filing_alarms.c.claim_number, "claim_numbers")
    ),
    filing_alarms,
)
_ADD_ALARMS = scoped_insert(filing_alarms, *FilingAlarm._fields, ignore_conflict=True)
_OPEN = scoped_select(
    select(filing_alarms.c.claim_number).distinct().where(filing_alarms.c.is_open == 1),
    filing_alarms,
)
_END = scoped_update(filing_alarms, among(filing_alarms.c.claim_number, "claim_numbers"), is_open=0)
_REOPEN = scoped_update(
    filing_alarms,
    among(filing_alarms.c.claim_number, "claim_numbers"),
    filing_alarms.c.file_by == bindparam("day"),
    filing_alarms.c.is_open == 0,
    is_open=1,
)
_NEAR = scoped_select(
    select(filing_alarms.c.claim_number)
    .where(filing_alarms.c.is_open == 1, filing_alarms.c.stage <= bindparam("stage"))
    .order_by(filing_alarms.c.file_by, filing_alarms.c.claim_number)
    .limit(bindparam("limit")),
    filing_alarms,
)
