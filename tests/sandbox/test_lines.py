"""The lines of a sandbox: every payer by loopback, with books that two nodes share."""

import asyncio
from datetime import timedelta

import pytest

from clearlane.connect.loopback_routes import LoopbackLines, ledger_name
from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel.clock import ManualClock
from clearlane.payers.directory import Payers
from clearlane.payers.model import Payer
from clearlane.payers.samples import LIVE_PAYERS, TEST_PAYERS
from clearlane.sandbox.simulator import World
from clearlane.store.nodes import Nodes
from clearlane.store.sandbox import NODE, StoredClock, StoredLedger, Turns
from clearlane.store.vault import Vault
from tests.sandbox.invented import NOW, file, medical

DAY = timedelta(days=1)
ODD = Payer("Medical", "Odd", "o", "ÖDD / PAYER-WITH-A-VERY-LONG-ID")


class Node:
    """What a node has of a sandbox."""

    def __init__(self, database, vault, wall, payers, id="here"):
        self.ledger = StoredLedger(database, vault)
        self.world = World(wall, self.ledger, StoredClock(database))
        self.lines = LoopbackLines(
            lambda: payers,
            seat=lambda payer, books: self.world.payer(
                books, id=payer.payer_id, name=payer.name, ids=payer.ids
            ),
            ledger=self.ledger,
            used=lambda: self.ledger.payers,
            clock=self.world.clock,
            turn=Turns(database, id).turn,
        )

    async def load(self) -> "Node":
        await self.world.load(NODE)
        await self.ledger.load()
        return self

    def mailbox(self, type="Medical", payer_id="TST01"):
        (line,) = self.lines.ways(type, payer_id)
        return self.lines.open(line)


@pytest.fixture
async def opened(place, database, clock) -> Vault:
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return vault


@pytest.fixture
def payers() -> Payers:
    return Payers([*TEST_PAYERS, *LIVE_PAYERS, ODD], sandbox=True)


@pytest.fixture
async def node(database, opened, payers) -> Node:
    return await Node(database, opened, ManualClock(NOW), payers).load()


async def test_every_payer_of_the_directory_has_one_line_that_never_leaves(node, payers):
    for payer in payers.all:
        (line,) = node.lines.ways(payer.type, payer.payer_id)
        assert (line.route_id, line.kind, line.usage) == (0, "loopback", "T")
        assert (line.type, line.payer_id) == (payer.type, payer.payer_id)
        assert line.window_seconds == line.poll_seconds == 1
        assert 1 <= len(line.receiver_id) <= 15
        assert line.receiver_id.isascii()
        assert line.receiver_id.isalnum()
    assert node.lines.ways("Medical", "NOBODY") == []
    assert node.lines.ways("Dental", "TST01") == []


async def test_only_lines_that_were_used_are_looked_into(node):
    assert node.lines.all() == []
    await node.mailbox().put("a.837", file(medical("3001")))
    assert node.lines.all() == node.lines.ways("Medical", "TST01")


async def test_a_file_is_answered_through_the_mailbox(node):
    box = node.mailbox()
    content = file(medical("3001"))
    assert await box.look("a.837") is Presence.ABSENT
    await box.put("a.837", content)
    await box.put("a.837", content)
    assert await box.look("a.837") is Presence.THERE
    assert await node.lines.busy(node.world.clock.now())
    (incoming,) = await node.mailbox().waiting()
    assert incoming.name.endswith(".999")
    assert len(await box.take(incoming.name)) == incoming.size
    await node.mailbox().drop(incoming.name)
    assert await box.waiting() == []
    assert not await node.lines.busy(node.world.clock.now())
    await node.world.freeze(NODE)
    await node.world.advance(14 * DAY, NODE)
    assert [one.name.split(".")[-1] for one in await box.waiting()] == ["277CA", "835"]


async def test_the_same_id_for_medical_and_dental_claims_is_two_payers(node):
    await node.mailbox("Medical", "HHP20").put("a.837", file(medical("3001")))
    assert await node.mailbox("Dental", "HHP20").waiting() == []
    assert await node.mailbox("Dental", "HHP20").look("a.837") is Presence.ABSENT
    assert len(await node.mailbox("Medical", "HHP20").waiting()) == 1


async def test_a_payer_that_was_dropped_from_the_directory_still_answers(
    node, database, opened, payers
):
    await node.mailbox().put("a.837", file(medical("3001")))
    without = Payers([p for p in payers.all if p.payer_id != "TST01"], sandbox=True)
    later = await Node(database, opened, ManualClock(NOW), without).load()
    (line,) = later.lines.all()
    assert len(await later.lines.open(line).waiting()) == 1


async def test_nodes_that_look_at_once_leave_each_file_once(node, place, database, opened, payers):
    other = node  # an installation on SQLite is one node: two of its tasks look
    if place.kind == "postgresql":
        other = await Node(database, opened, ManualClock(NOW), payers, "there").load()
        for id in ("here", "there"):
            await Nodes(database, id=id, role="serve", beat_seconds=30, keys=place.keys()).beat()
    for number in range(5):
        box = (node, other)[number % 2].mailbox()
        await box.put(f"{number}.837", file(medical("3001"), control=number + 1))
    found = await asyncio.gather(*(one.mailbox().waiting() for one in (node, other) * 4))
    names = {incoming.name for many in found for incoming in many}
    assert len(names) == 5
    boxes = [one.mailbox() for one in (node, other)]
    await asyncio.gather(*(boxes[at % 2].drop(name) for at, name in enumerate(sorted(names))))
    assert [await box.waiting() for box in boxes] == [[], []]


async def test_a_payer_that_is_down_is_down_on_every_node_and_holds_nobody_up(
    node, database, opened, payers
):
    other = await Node(database, opened, ManualClock(NOW), payers).load()
    await node.mailbox().put("a.837", file(medical("3001")))
    books = ledger_name("Medical", "TST01")
    await node.world.set_mode(books, "down")
    assert await other.world.mode(books) == "down"
    for box in (node.mailbox(), other.mailbox()):
        with pytest.raises(Unreachable):
            await box.put("b.837", file(medical("3001")))
        with pytest.raises(Unreachable):
            await box.waiting()
    assert not await other.lines.busy(NOW)
    await other.world.set_mode(books, "up")
    assert len(await node.mailbox().waiting()) == 1


async def test_a_mode_that_there_is_not_is_refused_and_nobody_is_met(node):
    with pytest.raises(ValueError, match="sideways"):
        await node.world.set_mode(ledger_name("Medical", "TST01"), "sideways")
    assert node.ledger.payers == set()
