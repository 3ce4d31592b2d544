"""Write the summary of each day for the sites that want one: a text and a CSV file to fetch, each once.

A schedule looks for days that are over by an hour. That of yesterday also waits while a file of the day is processed, whose
claims would be in no summary; what is stuck keeps it back for some hours. The key of a file names its day and type, so
that a summary is written once, whatever node dies or writes it as well. What was missed while the service was down is made
good for a week.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from clearlane.accounts.model import Site
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import to_local
from clearlane.kernel.csv_text import csv_line
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.payments.as_json import money_text
from clearlane.pipeline.intake.files.file_responses import ClientResponse, write_response
from clearlane.pipeline.intake.files.site_day import SiteDay, count_site_day
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.database.group_commit import TEMPORARY_FAULTS
from clearlane.store.files import client_files, file_sets

log = get_logger()

NAME, EVERY = "daily summaries", "20 */10 * * * *"
DAYS_MADE_GOOD = 7
HOURS_AFTER_DAY = 1
"""A day may still change: work that began before midnight ends after it."""
HOURS_WAITED_MAX = 12
"""How long a summary then waits for files that are not processed."""
TEXT, CSV = "text", "csv"


async def summary_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Write the summaries that are due."""
    await write_due_summaries(context)


async def write_due_summaries(context: WorkContext) -> int:
    """Write the summaries of days that are over; return how many files there were."""
    written = 0
    for site in context.accounts().sites:
        if site.daily_summary_since is not None:
            written += await _try_site(context, site, site.daily_summary_since)
    return written


async def _try_site(context: WorkContext, site: Site, since: datetime) -> int:
    """Write the summaries of a site. One that raises keeps no other site back: it is tried again by the next tick."""
    try:
        return await _write_site(context, site, since)
    except TEMPORARY_FAULTS:
        raise
    except Exception as fault:  # noqa: BLE001  (a summary that was not written is still due)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("daily summary not written", site=site.id, **details)  # noqa: TRY400  (a traceback may hold values)
        return 0


async def _write_site(context: WorkContext, site: Site, since: datetime) -> int:
    moment = context.clock.now() - timedelta(hours=HOURS_AFTER_DAY)
    local = to_local(moment, site.time_zone)
    days = [local.date() - timedelta(days=back) for back in range(DAYS_MADE_GOOD, 0, -1)]
    keys = {_key(day, type): day for day in days for type in (TEXT, CSV)}
    async with context.database.read(site.scope) as tx:
        known = {key for key, _ in await client_files.find_by_keys(tx, list(keys))}
    # The first summary is that of the day on which it was switched on.
    first = to_local(since, site.time_zone).date()
    written = 0
    for day in days:
        missing = [type for type in (TEXT, CSV) if _key(day, type) not in known]
        if day >= first and missing:
            may_wait = day == days[-1] and local.hour < HOURS_WAITED_MAX
            async with context.database.read(site.scope) as tx:
                if may_wait and await _has_open_files(tx, day):
                    break
                figures = await count_site_day(tx, site, day)
            content = {TEXT: summary_text(figures, site), CSV: summary_csv(figures)}
            for type in missing:
                response = ClientResponse(
                    type=type, response_key=_key(day, type), stem=f"summary-{day.isoformat()}"
                )
                written += await write_response(context, site, response, content[type]) is not None
    return written


async def _has_open_files(tx: Tx, day: date) -> bool:
    """Return whether files that came until a day wait, or claims of theirs are not released."""
    last = day.isoformat()
    return await client_files.has_waiting(tx, last) or await file_sets.has_unreleased(tx, last)


def _key(day: date, type: str) -> str:
    return f"summary:{day.isoformat()}:{type}"


def summary_facts(figures: SiteDay) -> Mapping[str, object]:
    """Return the figures of a day by their names in CSV and JSON."""
    return {
        "site": figures.site,
        "day": figures.day.isoformat(),
        "received": figures.received,
        "accepted": figures.accepted,
        "not_accepted": figures.not_accepted,
        "sent": figures.sent,
        "paid": figures.paid,
        "paid_amount": money_text(figures.paid_cents),
    }


def summary_csv(figures: SiteDay) -> bytes:
    """Return the summary as a CSV file: the names, and one line."""
    facts = summary_facts(figures)
    return (csv_line(facts) + csv_line(map(str, facts.values()))).encode()


def summary_text(figures: SiteDay, site: Site) -> bytes:
    """Return the summary in words."""
    rows = (
        ("Claims received", str(figures.received)),
        ("  accepted", str(figures.accepted)),
        ("  not accepted", str(figures.not_accepted)),
        ("Claims sent", str(figures.sent)),
        ("Claims paid", str(figures.paid)),
        ("Amount paid", str(money_text(figures.paid_cents))),
    )
    head = (
        f"Summary of {figures.day.isoformat()} for site {figures.site} (time zone {site.time_zone})"
    )
    lines = [head, "", *(f"{name:<16}{value:>14}" for name, value in rows), ""]
    return "\r\n".join(lines).encode()
