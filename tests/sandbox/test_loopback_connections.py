"""Loopback connections of a sandbox: every payer, with a ledger that two nodes share."""

import asyncio
from datetime import timedelta

import pytest

from clearlane.connect.loopback_connections import LoopbackConnections, ledger_name
from clearlane.connect.port import Presence, Unreachable
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.payers.samples import LIVE_PAYERS, TEST_PAYERS
from clearlane.sandbox.simulator import Simulator
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.store.installation.sandbox import NODE, PayerLocks, StoredClock, StoredLedger
from clearlane.store.vault.vault import Vault
from tests.manual_clock import ManualClock
from tests.sandbox.invented import NOW, file, medical

pytestmark = pytest.mark.one_database

DAY = timedelta(days=1)
ODD = Payer("Medical", "Odd", "o", "ÖDD / PAYER-WITH-A-VERY-LONG-ID")


class Node:
    """What a node has of a sandbox."""

    def __init__(self, database, vault, wall, payers, id="here"):
        self.ledger = StoredLedger(database, vault)
        self.simulator = Simulator(wall, self.ledger, StoredClock(database))
        self.connections = LoopbackConnections(
            lambda: payers,
            file_payer=lambda payer, ledger: self.simulator.payer(
                ledger, id=payer.payer_id, name=payer.name, ids=payer.ids
            ),
            ledger=self.ledger,
            hop=lambda hop, ledger: self.simulator.hop(ledger, id=hop.id, name=hop.name, served={}),
            realtime_payer=lambda payer: None,
            ledgers_in_use=lambda: self.ledger.payers,
            clock=self.simulator.clock,
            lock=PayerLocks(database, id).exclusive,
        )

    async def load(self) -> "Node":
        await self.simulator.load(NODE)
        await self.ledger.load()
        return self

    def mailbox(self, type="Medical", payer_id="TST01"):
        (route,) = self.connections.mailbox_routes(type, payer_id)
        return self.connections.open_mailbox(route)


@pytest.fixture
async def opened(place, database, clock) -> Vault:
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return vault


@pytest.fixture
def payers() -> PayerDirectory:
    return PayerDirectory([*TEST_PAYERS, *LIVE_PAYERS, ODD], sandbox=True)


@pytest.fixture
async def node(database, opened, payers) -> Node:
    return await Node(database, opened, ManualClock(NOW), payers).load()


@pytest.mark.both_databases
async def test_every_payer_of_the_directory_has_one_loopback_route(node, payers):
    for payer in payers.all:
        (route,) = node.connections.mailbox_routes(payer.type, payer.payer_id)
        assert (route.route_id, route.kind, route.usage) == (0, "loopback", "T")
        assert (route.type, route.payer_id) == (payer.type, payer.payer_id)
        assert route.window_seconds == route.poll_seconds == 1
        assert 1 <= len(route.receiver_id) <= 15
        assert route.receiver_id.isascii()
        assert route.receiver_id.isalnum()
    assert node.connections.mailbox_routes("Medical", "NOBODY") == []
    assert node.connections.mailbox_routes("Dental", "TST01") == []


async def test_only_routes_that_were_used_are_polled(node):
    assert node.connections.all_mailbox_routes() == []
    await node.mailbox().put("a.837", file(medical("3001")))
    assert node.connections.all_mailbox_routes() == node.connections.mailbox_routes(
        "Medical", "TST01"
    )


async def test_a_file_is_answered_through_the_mailbox(node):
    box = node.mailbox()
    content = file(medical("3001"))
    assert await box.look("a.837") is Presence.ABSENT
    await box.put("a.837", content)
    await box.put("a.837", content)
    assert await box.look("a.837") is Presence.THERE
    assert await node.connections.busy(node.simulator.clock.now())
    (incoming,) = await node.mailbox().waiting()
    assert incoming.name.endswith(".999")
    assert len(await box.take(incoming.name)) == incoming.size
    await node.mailbox().drop(incoming.name)
    assert await box.waiting() == []
    assert not await node.connections.busy(node.simulator.clock.now())
    await node.simulator.freeze(NODE)
    await node.simulator.advance(14 * DAY, NODE)
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
    without = PayerDirectory([p for p in payers.all if p.payer_id != "TST01"], sandbox=True)
    later = await Node(database, opened, ManualClock(NOW), without).load()
    (route,) = later.connections.all_mailbox_routes()
    assert len(await later.connections.open_mailbox(route).waiting()) == 1


@pytest.mark.both_databases
async def test_nodes_that_look_at_once_leave_each_file_once(node, place, database, opened, payers):
    other = node  # an installation on SQLite is one node: two of its tasks look
    if place.kind == "postgresql":
        other = await Node(database, opened, ManualClock(NOW), payers, "there").load()
        for id in ("here", "there"):
            await NodeRegistration(
                database, id=id, role="serve", heartbeat_seconds=30, keys=place.keys()
            ).heartbeat()
    for number in range(5):
        box = (node, other)[number % 2].mailbox()
        await box.put(f"{number}.837", file(medical("3001"), control=number + 1))
    found = await asyncio.gather(*(one.mailbox().waiting() for one in (node, other) * 4))
    names = {incoming.name for many in found for incoming in many}
    assert len(names) == 5
    boxes = [one.mailbox() for one in (node, other)]
    await asyncio.gather(*(boxes[at % 2].drop(name) for at, name in enumerate(sorted(names))))
    assert [await box.waiting() for box in boxes] == [[], []]


@pytest.mark.both_databases
async def test_a_payer_that_is_down_is_down_on_every_node_and_holds_nobody_up(
    node, database, opened, payers
):
    other = await Node(database, opened, ManualClock(NOW), payers).load()
    await node.mailbox().put("a.837", file(medical("3001")))
    ledger = ledger_name("Medical", "TST01")
    await node.simulator.set_mode(ledger, "down")
    assert await other.simulator.mode(ledger) == "down"
    for box in (node.mailbox(), other.mailbox()):
        with pytest.raises(Unreachable):
            await box.put("b.837", file(medical("3001")))
        with pytest.raises(Unreachable):
            await box.waiting()
    assert not await other.connections.busy(NOW)
    await other.simulator.set_mode(ledger, "up")
    assert len(await node.mailbox().waiting()) == 1


async def test_a_mode_that_there_is_not_is_refused_and_no_payer_is_registered(node):
    with pytest.raises(ValueError, match="sideways"):
        await node.simulator.set_mode(ledger_name("Medical", "TST01"), "sideways")
    assert node.ledger.payers == set()
