"""Mailboxes are looked into when it is time, by one at a time, and a broken one holds up nobody."""

import asyncio
from datetime import timedelta

import pytest

from clearlane.connect.memory import MemoryMailbox
from clearlane.connect.port import Denied, Presence, Unreachable
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.pipeline.inbound import post, receive
from clearlane.store import inbox
from tests.claims.answers import paid, payment, ta1
from tests.patience import until
from tests.pipeline.flowing import EVERYONE, OTHER_PAYER, PAYER, Flow, accounts


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


def box_of(flow, payer=PAYER):
    return flow.lines.open(flow.lines.line("Medical", payer))


async def look(flow):
    return await receive.collect_due(flow.desk, flow.clock.now())


async def turn_ends(flow):
    async with flow.database.read(EVERYONE) as tx:
        return (await inbox.all_polls(tx))["Medical", PAYER, 1].next_at


async def fault_of(flow, payer=PAYER):
    async with flow.database.read(EVERYONE) as tx:
        return (await inbox.all_polls(tx))["Medical", payer, 1].fault


async def test_a_line_is_looked_into_when_its_time_has_come(flow):
    box = box_of(flow)
    assert await look(flow) == []
    box.files["one"] = ta1(1)
    assert await look(flow) == []
    flow.clock.advance(timedelta(seconds=299))
    assert await look(flow) == []
    flow.clock.advance(timedelta(seconds=1))
    assert len(await look(flow)) == 1
    assert not box.files


async def test_the_raw_file_is_stored_before_it_is_dropped_and_can_be_read_again(flow):
    content = b"whatever it is"
    box_of(flow).files["odd"] = content
    [id] = await look(flow)
    assert await post.busy(flow.desk, flow.clock.now())
    async with flow.database.read(EVERYONE) as tx:
        file = await inbox.find(tx, id)
        assert (file.state, file.name, file.bytes) == ("Stored", "odd", len(content))
        assert await inbox.content(tx, flow.vault, file) == content
    assert await post.post_due(flow.desk, flow.clock.now()) == 1
    assert not await post.busy(flow.desk, flow.clock.now())


async def test_a_file_that_cannot_be_dropped_comes_again_and_counts_once(flow):
    class Sticky(MemoryMailbox):
        async def drop(self, name):
            raise Unreachable("The payer is gone.", Presence.UNKNOWN)

    flow.lines.mailboxes["Medical", PAYER] = Sticky({"a": ta1(1)})
    assert len(await look(flow)) == 1
    flow.clock.advance(timedelta(seconds=300))
    assert await look(flow) == []
    assert len(await flow.files()) == 1
    assert await fault_of(flow) == "The payer is gone."


async def test_the_same_bytes_of_two_payers_are_two_files(flow):
    for payer in (PAYER, OTHER_PAYER):
        box_of(flow, payer).files["a"] = ta1(1)
    assert len(await look(flow)) == 2


@pytest.mark.parametrize(
    "trouble", [Unreachable("It is down."), Denied("The key is wrong."), RuntimeError("a secret")]
)
async def test_a_broken_line_is_noted_and_holds_up_nobody(flow, trouble):
    box_of(flow).trouble = trouble
    box_of(flow, OTHER_PAYER).files["a"] = ta1(1)
    assert len(await look(flow)) == 1
    assert await fault_of(flow)
    assert "secret" not in await fault_of(flow)
    box_of(flow).trouble = None
    flow.clock.advance(timedelta(seconds=300))
    await look(flow)
    assert await fault_of(flow) == ""


async def test_a_line_that_does_not_answer_is_given_up(flow, monkeypatch):
    class Silent(MemoryMailbox):
        async def waiting(self):
            await asyncio.Event().wait()

    monkeypatch.setattr(limits, "COLLECT_SECONDS_MAX", 2)
    flow.lines.mailboxes["Medical", PAYER] = Silent()
    box_of(flow, OTHER_PAYER).files["a"] = ta1(1)
    assert len(await look(flow)) == 1
    assert await fault_of(flow) == receive.TOO_SLOW


async def test_one_file_that_is_not_to_be_had_does_not_keep_the_next(flow):
    class Locked(MemoryMailbox):
        async def take(self, name):
            if name == "a":
                raise Denied("The file is locked.")
            return await super().take(name)

    flow.lines.mailboxes["Medical", PAYER] = Locked({"a": b"x", "b": ta1(1)})
    assert len(await look(flow)) == 1
    assert await fault_of(flow) == "The file is locked."


async def test_two_that_look_at_the_same_time_share_the_lines(flow):
    """One of them gets the turn; the other has nothing to do."""
    seen = []

    class Counting(MemoryMailbox):
        async def waiting(self):
            seen.append(1)
            await asyncio.sleep(0.05)
            return await super().waiting()

    flow.lines.mailboxes["Medical", PAYER] = Counting({"a": ta1(1)})
    found = await asyncio.gather(look(flow), look(flow), look(flow))
    assert sorted(map(len, found)) == [0, 0, 1]
    assert len(seen) == 1


async def test_a_turn_that_nobody_ended_is_free_again_after_a_while(flow):
    key, now = ("Medical", PAYER, 1), flow.clock.now()
    box_of(flow).files["a"] = ta1(1)
    assert await receive._taken(flow.desk, now)  # and then its node dies
    assert key
    assert await look(flow) == []
    flow.clock.advance(timedelta(seconds=limits.COLLECT_TURN_SECONDS))
    assert len(await look(flow)) == 1


async def test_a_node_that_lives_keeps_its_turn_however_long_it_looks(flow, monkeypatch):
    monkeypatch.setattr(limits, "COLLECT_TURN_KEPT_SECONDS", 0.01)
    looking, go_on = asyncio.Event(), asyncio.Event()

    class Slow(MemoryMailbox):
        async def waiting(self):
            looking.set()
            await go_on.wait()
            return await super().waiting()

    flow.lines.mailboxes["Medical", PAYER] = Slow({"a": ta1(1)})
    first = asyncio.create_task(look(flow))
    await looking.wait()
    flow.clock.advance(timedelta(seconds=limits.COLLECT_TURN_SECONDS))

    async def is_kept():
        return await turn_ends(flow) > micros(flow.clock.now())

    await until(is_kept)
    assert await look(flow) == []
    go_on.set()
    assert len(await first) == 1


async def test_a_file_that_somebody_else_has_fetched_is_no_trouble(flow):
    class Emptied(MemoryMailbox):
        async def take(self, name):
            self.files.clear()
            raise Denied("The file is not there.")

    flow.lines.mailboxes["Medical", PAYER] = Emptied({"a": ta1(1)})
    assert await look(flow) == []
    assert await fault_of(flow) == ""


async def test_posting_the_same_file_at_the_same_time_tells_it_once(flow):
    ids, content = await flow.sent(2)
    claims = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in accounts(content)]
    box_of(flow).files["a"] = payment(*claims, paid("NOBODY"), amount="240")
    [id] = await look(flow)
    states = await asyncio.gather(*(post.post_file(flow.desk, id) for _ in range(3)))
    assert states == ["Parked"] * 3
    assert [len(await flow.facts(one)) for one in ids] == [2, 2]
    assert len(await flow.parked(id)) == 1
    assert await flow.documents() == 2
