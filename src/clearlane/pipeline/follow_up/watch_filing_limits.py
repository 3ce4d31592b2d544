"""Warn before the filing limit of a claim that its payer has not received: 30, 14 and 3 days before, in this order, each once.

    await watch_filing_limits(context, now)        # how many alarms were new

Once a day every site's claims are looked through that are not with their payers, and those that a payer denied. Each alarm
is one row and one event, in one transaction. A claim that the payer received ends its alarms.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from clearlane.accounts.model import Site
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.engine.workflows import WorkSteps
from clearlane.events.event import EventValue, NewEvent
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_local, to_micros
from clearlane.payers.filing_limits import (
    NO_CONTRACT,
    FilingKind,
    SiteContract,
    longest_days,
)
from clearlane.pipeline.filing_limit import WATCHED, filing_of
from clearlane.pipeline.load_claim import open_header
from clearlane.pipeline.stored_facts import open_claim_status
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import filing_alarms
from clearlane.store.claims import claim_history, claim_query
from clearlane.store.claims.claim_query import ClaimListRow, by_label
from clearlane.store.database.database import Tx
from clearlane.store.filing_alarms import FilingAlarm

NAME = "filing-limits"
EVERY = "0 37 5 * * *"
STAGES = (3, 14, 30)
"""Days before the limit at which an alarm is raised."""
CLAIMS_AT_ONCE = 500
MARGIN = timedelta(days=400)
"""How much longer than the longest limit a claim is watched: its limit may count from a decision."""


async def filing_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Look for claims whose filing limit is near."""
    await watch_filing_limits(context, context.clock.now())


async def watch_filing_limits(context: WorkContext, now: datetime) -> int:
    """Raise the alarms that are due, once each; return how many there were."""
    longest = max(map(longest_days, context.payer_access.payers().all), default=0)
    return sum(
        [await _watch_site(context, site, longest, now) for site in context.accounts().sites]
    )


async def _watch_site(context: WorkContext, site: Site, longest: int, now: datetime) -> int:
    today = to_local(now, site.time_zone).date()
    async with context.database.read(site.scope) as tx:
        contract = (await filing_alarms.load_contracts(tx)).get(site.id, NO_CONTRACT)
    longest = max([longest, *contract.values()])
    found: list[FilingAlarm] = []
    if longest:
        since = today - timedelta(days=longest) - MARGIN
        async for page in _pages(context, site, since):
            found += _alarms(context, site, contract, page, today, to_micros(now))

    async def job(tx: Tx) -> int:
        known = await filing_alarms.list_alarms(tx, [one.claim_number for one in found])
        new = [one for one in found if (one.claim_number, one.file_by, one.stage) not in known]
        # A claim that another took over from has none; it may be back.
        await filing_alarms.reopen_alarms(tx, found)
        await filing_alarms.end_alarms(tx, {one.claim_number for one in found})
        if new:
            await filing_alarms.add_alarms(tx, new)
            await _announce(tx, site, new, today)
        return len(new)

    return await context.database.write(site.scope, job, actor=context.actor)


async def _pages(
    context: WorkContext, site: Site, since: date
) -> AsyncIterator[Sequence[ClaimListRow]]:
    """Yield the claims of a site that are not with their payers, or were denied, for services since a day."""
    labels = [one.value for one in WATCHED]
    query = by_label(labels, limit=CLAIMS_AT_ONCE, service_day_from=since.isoformat())
    while True:
        async with context.database.read(site.scope) as tx:
            page = await claim_query.list_claims(tx, query, ClaimListRow)
            sealed = [one for row in page for one in (row.header, row.status) if one is not None]
            await context.vault.load_keys_of(tx, sealed)
        yield page
        if len(page) < CLAIMS_AT_ONCE:
            return
        query = replace(query, after=page[-1].position)


def _alarms(
    context: WorkContext,
    site: Site,
    contract: SiteContract,
    page: Sequence[ClaimListRow],
    today: date,
    at: int,
) -> list[FilingAlarm]:
    """Return the alarms about claims whose limit is near and not over."""
    payers, vault = context.payer_access.payers(), context.vault
    found = []
    for row in page:
        header = open_header(vault, site.scope, row.claim_number, row.header)
        status = (
            open_claim_status(vault, site.scope, row.claim_number, row.status)
            if row.status
            else None
        )
        payer = payers.find(row.payer_id, KINDS[ClaimKind(row.kind)].payer_type)
        filing = filing_of(header, ClaimLabel(row.label), status, payer, contract)
        if filing is None or filing.is_met or filing.day is None:
            continue
        if not 0 <= (filing.day - today).days <= STAGES[-1]:
            continue
        since = date.fromisoformat(row.created_day)
        if filing.limit.kind is FilingKind.APPEAL and status and status.decided_day:
            since = max(since, status.decided_day)
        kind, file_by = filing.limit.kind.value, filing.day.isoformat()
        found += [
            FilingAlarm(row.claim_number, kind, file_by, stage, at)
            for stage in due_stages(filing.day, since=since, today=today)
        ]
    return found


def due_stages(day: date, *, since: date, today: date) -> list[int]:
    """Return the stages of a limit that were reached by today, the first one first.

    Days may have been skipped, as by an advance of the sandbox's clock. Stages that were over when the limit began to run were
    never due, but for the last of them.
    """
    left = (day - today).days
    reached = [one for one in STAGES if left <= one]
    return [one for one in reached if one == reached[0] or day - timedelta(days=one) >= since][::-1]


async def _announce(tx: Tx, site: Site, new: Sequence[FilingAlarm], today: date) -> None:
    events = []
    for alarm in sorted(new, key=lambda one: (one.claim_number, -one.stage)):
        number = alarm.claim_number
        note = f"{claim_history.FILING_NEAR_PREFIX}{alarm.file_by} {alarm.stage}"
        sequence = await claim_history.note_event(tx, number, alarm.at, note)
        data: dict[str, EventValue] = {
            "kind": alarm.kind,
            "file_by": alarm.file_by,
            "stage": alarm.stage,
            "days_left": (date.fromisoformat(alarm.file_by) - today).days,
        }
        events.append(
            NewEvent(
                "claim.filing_limit_near", alarm.at, site.vendor_id, site.id, number, sequence, data
            )
        )
    tx.add_events(events)
