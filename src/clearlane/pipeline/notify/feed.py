"""The feed of events: a vendor's pages in the order of commits, as it gets them.

    page = await read_feed(context, reader, types={"claim.paid"}, after=0, limit=100)
    page = await wait_for_feed(context, reader, ..., seconds=30)

Every vendor sees its own sites alone. The vendor's claim id is read from the claim when the event is read, so that
events hold none; an operator may leave it out of the feed.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clearlane.events.event import Event, envelope, format_event_id
from clearlane.kernel.ids import SiteId, VendorId, VendorScope
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.load_claim import open_header
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Tx, write_audit
from clearlane.store.events import events

EVENTS_AT_ONCE = 200
"""Events made into JSON before other calls have their turn."""

PING = "ping"
PINGS_AT_ONCE = 100

Envelope = dict[str, object]


@dataclass(frozen=True, slots=True)
class FeedReader:
    """The vendor who reads, and the sites that it reads: their ids and the vendor site ids."""

    vendor_id: VendorId
    sites: Mapping[SiteId, str]
    of_vendor: bool = True
    """Whether events of no site are wanted as well."""

    @property
    def scope(self) -> VendorScope:
        return VendorScope(self.vendor_id, tuple(self.sites))


class FeedPage(NamedTuple):
    """A page of the feed."""

    events: list[Envelope]
    numbers: list[int]
    """The numbers of the events."""
    cursor: int
    """Where the next page begins: after every event that was looked at."""
    is_end: bool
    """Whether there were no more events."""


async def read_feed(
    context: WorkContext,
    reader: FeedReader,
    *,
    types: Collection[str],
    after: int,
    limit: int,
    with_claim_ids: bool = True,
) -> FeedPage:
    """Return the next events of a vendor; without the vendor's claim ids if no one will see them."""
    async with context.database.read(reader.scope) as tx:
        # The head of the same snapshot: every event up to it is visible in it.
        head = await events.last_event(tx)
        found = await events.list_events(
            tx,
            types,
            after=after,
            limit=limit,
            of_vendor=reader.vendor_id if reader.of_vendor else None,
        )
        ids: Mapping[str, str] = {}
        if with_claim_ids:
            ids = await _vendor_claim_ids(tx, context, reader.vendor_id, found)
    is_end = len(found) < limit
    cursor = max(head, after) if is_end else found[-1].id
    numbers = [event.id for event in found]
    return FeedPage(await _envelopes(context, reader, found, ids), numbers, cursor, is_end)


async def read_pings(context: WorkContext, reader: FeedReader, after: int) -> list[Event]:
    """Return the next pings of a vendor's webhook endpoints after an event."""
    async with context.database.read(reader.scope) as tx:
        return await events.list_of_vendor(
            tx, {PING}, after=after, limit=PINGS_AT_ONCE, of_vendor=reader.vendor_id
        )


async def wait_for_feed(
    context: WorkContext,
    reader: FeedReader,
    *,
    types: Collection[str],
    after: int,
    limit: int,
    seconds: float,
    stopping: asyncio.Event,
) -> FeedPage:
    """Return the next events of a vendor as soon as there are any; an empty page when the time is over or the node stops."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    watch = context.event_watch
    while True:
        page = await read_feed(context, reader, types=types, after=after, limit=limit)
        left = deadline - loop.time()
        if page.events or left <= 0 or watch is None or stopping.is_set():
            return page
        after = page.cursor
        waiting = [
            asyncio.create_task(watch.wait(after, left)),
            asyncio.create_task(stopping.wait()),
        ]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_all(waiting)


async def record_reading(
    context: WorkContext, reader: FeedReader, page: FeedPage, *, actor: Actor
) -> None:
    """Record in the audit trail that a vendor read these events, which name claims."""
    first, last = format_event_id(page.numbers[0]), format_event_id(page.numbers[-1])

    await write_audit(
        context.database,
        reader.scope,
        "events.read",
        ids=[first, last],
        count=len(page.numbers),
        actor=actor,
    )


async def _vendor_claim_ids(
    tx: Tx, context: WorkContext, vendor_id: VendorId, found: Sequence[Event]
) -> dict[str, str]:
    """Return the vendor's claim ids of the claims that events name."""
    numbers = {event.claim_number for event in found if event.claim_number}
    if not numbers or not context.events_name_claims:
        return {}
    headers = await events.list_claim_headers(tx, numbers)
    await context.vault.load_keys_of(tx, list(headers.values()))
    return {
        number: open_header(context.vault, vendor_id, number, header).vendor_claim_id
        for number, header in headers.items()
    }


async def _envelopes(
    context: WorkContext, reader: FeedReader, found: Sequence[Event], ids: Mapping[str, str]
) -> list[Envelope]:
    made: list[Envelope] = []
    mode = "sandbox" if context.sandbox else "production"
    for at, event in enumerate(found):
        if at and not at % EVENTS_AT_ONCE:
            await asyncio.sleep(0)
        site = None if event.site_id is None else reader.sites[SiteId(event.site_id)]
        made.append(
            envelope(event, mode=mode, site=site, vendor_claim_id=ids.get(event.claim_number))
        )
    return made
