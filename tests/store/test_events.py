"""Events are numbered in the order of commits, stored with what they tell, and read page by page.

Also tests `store/events/event_log` and `store/database/schema/event_tables`.
"""

import asyncio
from datetime import timedelta

import pytest

from clearlane.events.event import EventActor, NewEvent
from clearlane.events.types import TYPES
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import VendorScope
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.sql import PING
from clearlane.store.events import event_log, events
from clearlane.store.events.event_watch import EventWatch
from tests.cases import full_or_quick
from tests.databases import START, make_site
from tests.patience import PATIENCE_SECONDS

ALL = SystemScope("a test")
VENDOR = Actor("vendor", "a test")
NOW = to_micros(START)


def an_event(scope, number=1, type="claim.received", **more):
    return NewEvent(type, NOW, scope.vendor, scope.site, f"C{number}", 1, **more)


async def add(database, *new, actor=VENDOR):
    async def job(tx):
        tx.add_events(new)

    await database.write(ALL, job, actor=actor)


async def read(database, scope, *, after=0, limit=100, types=TYPES, sites=None):
    wide = VendorScope(scope.vendor, (scope.site,) if sites is None else sites)
    async with database.read(wide) as tx:
        return await events.list_events(tx, types, after=after, limit=limit, of_vendor=scope.vendor)


async def test_events_come_back_in_order_with_what_they_hold(database):
    scope = await make_site(database)
    await add(
        database,
        an_event(scope, 1, data={"state": "received"}),
        an_event(scope, 2, data={"state": "received"}),
        an_event(scope, 2, "claim.sent", data={"state": "sent"}, actor=EventActor.PAYER),
    )
    found = await read(database, scope)
    assert [(one.type, one.claim_number, one.actor, one.data) for one in found] == [
        ("claim.received", "C1", "vendor", {"state": "received"}),
        ("claim.received", "C2", "vendor", {"state": "received"}),
        ("claim.sent", "C2", "payer", {"state": "sent"}),
    ]
    assert [one.id for one in found] == [NOW, NOW + 1, NOW + 2]


async def test_many_events_of_one_kind_are_one_row_and_a_page_ends_inside_of_it(database):
    scope = await make_site(database)
    count = event_log.EVENTS_PER_ROW_MAX + 10
    await add(database, *(an_event(scope, number) for number in range(count)))
    pages, after = [], 0
    while page := await read(database, scope, after=after, limit=7):
        pages += page
        after = page[-1].id
    assert [one.claim_number for one in pages] == [f"C{number}" for number in range(count)]
    assert len({one.id for one in pages}) == count


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ({"claim.sent"}, []),
        ({"claim.received", "ping", "payer.added", "route.down"}, ["claim.received", "ping", "payer.added"]),
    ],
)  # fmt: skip
async def test_a_vendor_reads_its_own_events_and_those_of_every_vendor(database, types, expected):
    scope, other = await make_site(database), await make_site(database)
    await add(
        database,
        an_event(scope),
        an_event(other),
        NewEvent("ping", NOW, scope.vendor),
        NewEvent("ping", NOW, other.vendor),
        NewEvent("payer.added", NOW, data={"payer_id": "MM001"}),
        NewEvent("route.down", NOW, data={"payer_id": "MM001"}),
    )
    assert [one.type for one in await read(database, scope, types=types)] == expected
    assert [one.type for one in await read(database, scope, types=types, sites=())] == [
        one for one in expected if one != "claim.received"
    ]
    async with database.read(ALL) as tx:
        assert len(await events.list_all(tx, TYPES, after=0, limit=100)) == 6


async def test_an_event_of_a_write_that_fails_is_not_stored(database):
    scope = await make_site(database)

    async def job(tx):
        tx.add_events([an_event(scope)])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await database.write(ALL, job, actor=VENDOR)
    assert await read(database, scope) == []


async def test_numbers_go_on_upwards_when_the_clock_stands_or_goes_back(database, clock):
    scope = await make_site(database)
    for by in (0, 1, -3_600):
        clock.advance(timedelta(seconds=by))
        await add(database, an_event(scope))
    ids = [one.id for one in await read(database, scope)]
    assert ids == [NOW, NOW + 1_000_000, NOW + 1_000_001]


async def test_a_cursor_skips_nothing_while_a_slow_transaction_is_open(place, database, clock):
    """Two nodes write; a reader that follows the feed sees every event, in the order of the numbers."""
    other = await place.open(clock)
    scope = await make_site(database)
    slow, fast, count = full_or_quick(20, 6), full_or_quick(40, 12), 3
    seen, after, done = [], 0, asyncio.Event()

    async def follow():
        nonlocal after
        while True:
            is_last = done.is_set()
            page = await read(database, scope, after=after)
            seen.extend(one.claim_number for one in page)
            after = page[-1].id if page else after
            if is_last and not page:
                return
            await asyncio.sleep(0)

    def writing(name, pauses):
        async def job(tx):
            tx.add_events([an_event(scope, f"{name}-{at}") for at in range(count)])
            for _ in range(pauses):  # the transaction stays open, its events are not visible
                await tx.row(PING)

        return job

    async def write(node, name, times, pauses):
        for at in range(times):
            await node.write(ALL, writing(f"{name}{at}", pauses), actor=VENDOR)

    follower = asyncio.create_task(follow())
    await asyncio.gather(
        write(database, "slow", slow, 50),
        write(other, "fast", fast, 0),
        write(database, "also", fast, 1),
    )
    done.set()
    await follower
    await other.close()
    assert len(seen) == len(set(seen)) == (slow + fast + fast) * count


async def test_whoever_watches_is_called_after_a_commit_with_events(database):
    scope = await make_site(database)
    changed = asyncio.Event()
    database.watch_events(changed.set)
    await add(database)  # a commit without an event
    assert not changed.is_set()
    await add(database, an_event(scope))
    await asyncio.wait_for(changed.wait(), PATIENCE_SECONDS)


async def test_old_events_are_removed(database, clock):
    scope, other = await make_site(database), await make_site(database)
    await add(database, an_event(scope), an_event(other), NewEvent("payer.added", NOW))
    clock.advance(timedelta(days=91))
    await add(database, an_event(scope, 2))
    before = to_micros(clock.now() - timedelta(days=90))

    async def job(tx):
        removed = [
            await events.remove_before(tx, one.vendor, before, limit)
            for one, limit in ((scope, 1), (scope, 1), (other, 9))
        ]
        return [len(numbers) for numbers in removed], await events.remove_others_before(tx, before)

    assert await database.write(ALL, job, actor=VENDOR) == ([1, 0, 1], 1)
    assert [one.claim_number for one in await read(database, scope)] == ["C2"]
    assert await read(database, other) == []


@pytest.mark.slow
async def test_those_who_wait_are_woken_by_events_of_any_node(place, database, clock):
    scope = await make_site(database)
    other, watch = await place.open(clock), EventWatch(database)
    try:
        assert not await watch.wait(NOW * 2, 0.01)
        waiting = asyncio.create_task(watch.wait(0, 60))
        await add(other, an_event(scope))
        assert await waiting
        assert await watch.wait(0, 60)
        # A cursor beyond every event waits until its time is over, and wakes nobody else.
        assert not await watch.wait(NOW * 2, 0.01)
        assert not await watch.wait(NOW, 0.01)
    finally:
        await watch.close()
        await other.close()
