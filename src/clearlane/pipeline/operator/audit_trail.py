"""Search the audit trail as people ask: by days of a time zone, and by any id of a claim.

    wanted = await read_audit_search(database, vault, sites, values, time_zone="America/Chicago")
    page = await search_trail(database, wanted, before=NEWEST, limit=50)

Rows have the time of the machine's clock. A sandbox's claims live by a clock that was advanced: :class:`ServiceClock`
tells what it showed when a row was written.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from clearlane.accounts.model import Site
from clearlane.kernel.clock import MICROSECOND, day_start, to_micros
from clearlane.pipeline.find_claim import find_claims_of_any_id
from clearlane.store.audit.audit_search import (
    AUDIT_FILTERS,
    NEWEST,
    AuditRow,
    AuditSearch,
    search_trail,
)
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault

FIRST_DAY, LAST_DAY = date(1970, 1, 2), date(9999, 12, 30)
"""Days beyond these have no moment in every time zone."""
CLOCK_ROWS_MAX = 1_000
CLOCK_ACTION, RESET_ACTION = "sandbox.clock", "sandbox.reset"
_ADVANCED = re.compile(
    r"advance (?:(?P<days>\d+) days?, )?(?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>\d+)(?:\.(?P<micros>\d{6}))?.*"
)
"""What the row of an advance says: Python's words of a length of time."""


async def read_audit_search(
    database: Database,
    vault: Vault,
    sites: Iterable[Site],
    values: Mapping[str, Any],
    *,
    time_zone: str,
) -> AuditSearch:
    """Return the search that the values of :data:`AUDIT_FILTERS` mean. An id of a claim means its claim number too."""
    given = {one.condition: values[one.name] for one in AUDIT_FILTERS if values.get(one.name)}
    for name, days in (("start", 0), ("end", 1)):
        if name in given:
            day = min(max(given[name], FIRST_DAY), LAST_DAY) + timedelta(days=days)
            given[name] = to_micros(day_start(day, time_zone))
    if "id" in given:
        given["claim_numbers"] = await find_claims_of_any_id(database, vault, sites, given["id"])
    return AuditSearch(**given)


@dataclass(frozen=True, slots=True)
class ServiceClock:
    """By how much the service's clock was ahead of the machine's, since each time of the machine's."""

    since: Sequence[int] = ()
    ahead: Sequence[timedelta] = ()

    def at(self, moment: datetime) -> datetime:
        """Return what the service's clock showed at a time of the machine's."""
        place = bisect_right(self.since, to_micros(moment))
        return moment + (self.ahead[place - 1] if place else timedelta(0))


async def load_service_clock(database: Database, ahead: timedelta) -> ServiceClock:
    """Return how the clock of a sandbox was advanced; ``ahead`` is by how much it is ahead of the machine's now."""
    if ahead < timedelta(seconds=1):
        return ServiceClock()
    page = await search_trail(
        database, AuditSearch(action="sandbox."), before=NEWEST, limit=CLOCK_ROWS_MAX
    )
    return service_clock(page.rows, ahead)


def service_clock(rows: Iterable[AuditRow], ahead: timedelta) -> ServiceClock:
    """Return the clock from the rows of its changes, newest first: each advance is taken off what is ahead now."""
    since: list[int] = []
    shifts: list[timedelta] = []
    left = ahead
    for row in rows:
        step = _step(row)
        if step is None:
            continue
        since.append(row.at)
        shifts.append(left)
        left = max(left - step, timedelta(0))
        if left < MICROSECOND or row.action == RESET_ACTION:
            left = timedelta(0)
            break
    return ServiceClock((0, *reversed(since)), (left, *reversed(shifts)))


def _step(row: AuditRow) -> timedelta | None:
    """Return by how much a row advanced the clock; None if it did not change it."""
    if row.action == RESET_ACTION:
        return timedelta(0)
    found = _ADVANCED.match(row.detail) if row.action == CLOCK_ACTION else None
    if found is None:
        return None
    parts = {name: int(text or 0) for name, text in found.groupdict().items()}
    return timedelta(
        days=parts["days"],
        hours=parts["hours"],
        minutes=parts["minutes"],
        seconds=parts["seconds"],
        microseconds=parts["micros"],
    )
