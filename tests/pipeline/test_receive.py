"""Mailboxes are polled when they are due, by one node at a time, and a broken one delays no other.

Also tests `pipeline/inbound/store_files` and `store/delivery/inbox`.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from clearlane.connect.port import Denied, IncomingFile, Presence, Unreachable
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.inbound.file_visits import VisitAct
from clearlane.pipeline.inbound.receive import COLLECT_LEASE_SECONDS
from clearlane.store.database.database import DatabaseUnavailable
from clearlane.store.delivery import inbox
from tests.claims.answers import paid, payment, ta1
from tests.connect.memory import MemoryMailbox
from tests.patience import until
from tests.pipeline.flowing import EVERYONE, OTHER_PAYER, PAYER, Flow, accounts

pytestmark = pytest.mark.one_database


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


def box_of(flow, payer=PAYER):
    return flow.connections.open_mailbox(flow.connections.route("Medical", payer))


async def look(flow):
    return await receive.receive_files(flow.context, flow.clock.now())


async def turn_ends(flow):
    async with flow.database.read(EVERYONE) as tx:
        return (await inbox.all_polls(tx))["Medical", PAYER, 1].next_at


async def fault_of(flow, payer=PAYER):
    async with flow.database.read(EVERYONE) as tx:
        return (await inbox.all_polls(tx))["Medical", payer, 1].fault


@pytest.mark.both_databases
async def test_a_route_is_polled_when_it_is_due(flow):
    box = box_of(flow)
    assert await look(flow) == []
    box.files["one"] = ta1(1)
    assert await look(flow) == []
    flow.clock.advance(timedelta(seconds=299))
    assert await look(flow) == []
    flow.clock.advance(timedelta(seconds=1))
    assert len(await look(flow)) == 1
    assert not box.files


async def test_a_clock_that_was_ahead_once_stops_no_poll(flow):
    """On PostgreSQL one node's wrong clock would else stop the polls of all nodes for as long."""
    box = box_of(flow)
    right = flow.clock.now()
    flow.clock.advance(timedelta(days=400))
    assert await look(flow) == []
    flow.clock.advance(right - flow.clock.now())
    box.files["one"] = ta1(1)
    assert len(await look(flow)) == 1
    assert await turn_ends(flow) == to_micros(right + timedelta(seconds=300))


@pytest.mark.both_databases
async def test_files_that_are_passed_over_are_counted_for_their_route(flow, capsys):
    box = box_of(flow)
    box.passed_over = 2
    for _ in range(2):
        await look(flow)
        flow.clock.advance(timedelta(seconds=300))
    async with flow.database.read(EVERYONE) as tx:
        assert (await inbox.all_polls(tx))["Medical", PAYER, 1].passed_over == 2
    logged = [line for line in capsys.readouterr().out.splitlines() if "files passed over" in line]
    assert len(logged) == 1  # once, with how many and which route
    assert "count=2" in logged[0]
    assert "route=1" in logged[0]


@pytest.mark.both_databases
async def test_the_raw_file_is_stored_before_it_is_dropped_and_can_be_read_again(flow):
    content = b"whatever it is"
    box_of(flow).files["odd"] = content
    [id] = await look(flow)
    assert await post.has_waiting_files(flow.context)
    async with flow.database.read(EVERYONE) as tx:
        file = await inbox.find(tx, id)
        assert (file.state, file.name, file.bytes) == ("stored", "odd", len(content))
        assert await inbox.read_content(tx, flow.vault, file) == content
    assert await post.post_waiting(flow.context) == 1
    assert not await post.has_waiting_files(flow.context)


async def test_receive_stores_what_somebody_brought_and_it_is_posted(flow):
    """A push connection needs no mailbox."""
    [id], content = await flow.sent()
    route = flow.connections.route("Medical", PAYER)
    [account] = accounts(content)
    answer = payment(paid(account, "1", "100", "80", "CAS*CO*45*20"), amount="80")
    received = await receive.receive(flow.context, route, "pushed.835", answer)
    assert received.is_new
    file = await flow.file(received.id)
    assert (file.state, file.name, file.bytes) == ("stored", "pushed.835", len(answer))
    assert await post.post_waiting(flow.context) == 1
    assert (await flow.status(id)).state == "complete"


ROUTES = {"same": ("Medical", PAYER), "other": ("Medical", OTHER_PAYER), "type": ("Dental", PAYER)}


async def test_receive_knows_a_file_by_payer_type_and_content(flow):
    async def receive_one(route, name, content):
        route = flow.connections.route(*ROUTES[route])
        return await receive.receive(flow.context, route, name, content)

    first = await receive_one("same", "a", ta1(1))
    for route, name, content, is_new in (
        ("same", "a", ta1(1), False),
        ("same", "b", ta1(1), False),  # another name
        ("same", "a", ta1(2), True),  # another file of that name
        ("other", "a", ta1(1), True),
        ("type", "a", ta1(1), True),
        ("same", "a", b"", True),
    ):
        received = await receive_one(route, name, content)
        assert received.is_new is is_new, (route, name)
        assert (received.id == first.id) is not is_new
        async with flow.database.read(EVERYONE) as tx:
            file = await inbox.find(tx, received.id)
            assert await inbox.read_content(tx, flow.vault, file) == content
    assert len(await flow.files()) == 5


@pytest.mark.both_databases
async def test_receive_at_the_same_time_stores_a_file_once(flow):
    route = flow.connections.route("Medical", PAYER)
    received = await asyncio.gather(
        *(receive.receive(flow.context, route, f"a{n}", ta1(1)) for n in range(5))
    )
    assert len({one.id for one in received}) == 1
    assert [one.is_new for one in received].count(True) == 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a\x1b[2Jb", "a?[2Jb"), ("../a\nb", "../a?b"), ("", ""), ("x" * 800, "x" * 765)],
)
async def test_receive_takes_any_name_and_keeps_one_that_can_be_printed(flow, name, shown):
    route = flow.connections.route("Medical", PAYER)
    received = await receive.receive(flow.context, route, name, ta1(1))
    assert (await flow.file(received.id)).name == shown


async def test_receive_refuses_what_is_too_large_and_stores_nothing(flow, monkeypatch):
    monkeypatch.setattr(limits, "TRANSFER_BYTES_MAX", 99)
    route = flow.connections.route("Medical", PAYER)
    assert (await receive.receive(flow.context, route, "a", b"x" * 99)).is_new
    with pytest.raises(receive.IncomingFileTooLarge):
        await receive.receive(flow.context, route, "b", b"x" * 100)
    assert len(await flow.files()) == 1


async def test_a_file_that_is_larger_than_its_mailbox_said_is_recorded_and_left_there(
    flow, monkeypatch
):
    class Understating(MemoryMailbox):
        async def waiting(self):
            return [replace(one, size=1) for one in await super().waiting()]

    monkeypatch.setattr(limits, "TRANSFER_BYTES_MAX", 2_000)
    mailbox = Understating({"a": b"x" * 2_001, "b": ta1(1)})
    flow.connections.mailboxes["Medical", PAYER] = mailbox
    assert len(await look(flow)) == 1
    assert [(one.name, one.state) for one in await flow.files()] == [
        ("a", "quarantined"),
        ("b", "stored"),
    ]
    assert list(mailbox.files) == ["a"]
    assert await fault_of(flow) == ""


@pytest.mark.both_databases
async def test_a_file_that_cannot_be_dropped_comes_again_and_counts_once(flow):
    class Sticky(MemoryMailbox):
        async def drop(self, name):
            raise Unreachable("The payer is gone.", Presence.UNKNOWN)

    flow.connections.mailboxes["Medical", PAYER] = Sticky({"a": ta1(1)})
    assert len(await look(flow)) == 1
    flow.clock.advance(timedelta(seconds=300))
    assert await look(flow) == []
    assert len(await flow.files()) == 1
    assert await fault_of(flow) == "The payer is gone."


@pytest.mark.both_databases
async def test_the_same_bytes_of_two_payers_are_two_files(flow):
    for payer in (PAYER, OTHER_PAYER):
        box_of(flow, payer).files["a"] = ta1(1)
    assert len(await look(flow)) == 2


@pytest.mark.parametrize(
    "trouble", [Unreachable("It is down."), Denied("The key is wrong."), RuntimeError("a secret")]
)
async def test_a_broken_route_is_recorded_and_delays_no_other(flow, trouble):
    box_of(flow).trouble = trouble
    box_of(flow, OTHER_PAYER).files["a"] = ta1(1)
    assert len(await look(flow)) == 1
    assert await fault_of(flow)
    assert "secret" not in await fault_of(flow)
    box_of(flow).trouble = None
    flow.clock.advance(timedelta(seconds=300))
    await look(flow)
    assert await fault_of(flow) == ""


async def test_a_fault_of_the_database_is_raised_itself_and_other_routes_are_visited(
    flow, monkeypatch
):
    """A caller answers a temporary fault by 503. In an exception group it would not be known as one."""

    async def record_poll(tx, context, route, now, *, worked):
        if route.payer_id == PAYER:
            raise DatabaseUnavailable("away")

    monkeypatch.setattr(receive, "record_poll", record_poll)
    for payer in (PAYER, OTHER_PAYER):
        box_of(flow, payer).files["a"] = ta1(1)
    with pytest.raises(DatabaseUnavailable):
        await look(flow)
    assert len(await post.waiting_files(flow.context)) == 2


@pytest.mark.slow
async def test_a_route_that_does_not_answer_is_given_up(flow, monkeypatch):
    class Silent(MemoryMailbox):
        async def waiting(self):
            await asyncio.Event().wait()

    monkeypatch.setattr("clearlane.pipeline.inbound.receive.COLLECT_SECONDS_MAX", 2)
    flow.connections.mailboxes["Medical", PAYER] = Silent()
    box_of(flow, OTHER_PAYER).files["a"] = ta1(1)
    assert len(await look(flow)) == 1
    assert await fault_of(flow) == receive.TOO_SLOW


async def test_one_file_that_is_denied_does_not_keep_back_the_next(flow):
    class Locked(MemoryMailbox):
        async def take(self, name):
            if name == "a":
                raise Denied("The file is locked.")
            return await super().take(name)

    flow.connections.mailboxes["Medical", PAYER] = Locked({"a": b"x", "b": ta1(1)})
    assert len(await look(flow)) == 1
    assert await fault_of(flow) == "The file is locked."


@pytest.mark.both_databases
async def test_two_nodes_that_poll_at_the_same_time_share_the_routes(flow):
    """One of them gets the turn; the other has nothing to do."""
    seen = []

    class Counting(MemoryMailbox):
        async def waiting(self):
            seen.append(1)
            await asyncio.sleep(0.05)
            return await super().waiting()

    flow.connections.mailboxes["Medical", PAYER] = Counting({"a": ta1(1)})
    found = await asyncio.gather(look(flow), look(flow), look(flow))
    assert sorted(map(len, found)) == [0, 0, 1]
    assert len(seen) == 1


@pytest.mark.both_databases
async def test_a_lease_that_nobody_ended_is_free_again_after_a_while(flow):
    key, now = ("Medical", PAYER, 1), flow.clock.now()
    box_of(flow).files["a"] = ta1(1)
    assert await receive._lease_due_routes(flow.context, now)  # and then its node dies
    assert key
    assert await look(flow) == []
    flow.clock.advance(timedelta(seconds=COLLECT_LEASE_SECONDS))
    assert len(await look(flow)) == 1


@pytest.mark.both_databases
async def test_a_living_node_keeps_its_lease_however_long_it_polls(flow, monkeypatch):
    monkeypatch.setattr("clearlane.pipeline.inbound.receive.COLLECT_LEASE_RENEWAL_SECONDS", 0.01)
    looking, go_on = asyncio.Event(), asyncio.Event()

    class Slow(MemoryMailbox):
        async def waiting(self):
            looking.set()
            await go_on.wait()
            return await super().waiting()

    flow.connections.mailboxes["Medical", PAYER] = Slow({"a": ta1(1)})
    first = asyncio.create_task(look(flow))
    await looking.wait()
    flow.clock.advance(timedelta(seconds=COLLECT_LEASE_SECONDS))

    async def is_kept():
        return await turn_ends(flow) > to_micros(flow.clock.now())

    await until(is_kept)
    assert await look(flow) == []
    go_on.set()
    assert len(await first) == 1


@pytest.mark.both_databases
async def test_a_file_that_another_node_has_fetched_is_no_fault(flow):
    class Emptied(MemoryMailbox):
        async def take(self, name):
            self.files.clear()
            raise Denied("The file is not there.")

    flow.connections.mailboxes["Medical", PAYER] = Emptied({"a": ta1(1)})
    assert await look(flow) == []
    assert await fault_of(flow) == ""


@pytest.mark.both_databases
async def test_posting_the_same_file_at_the_same_time_counts_once(flow):
    ids, content = await flow.sent(2)
    claims = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in accounts(content)]
    box_of(flow).files["a"] = payment(*claims, paid("NOBODY"), amount="240")
    [id] = await look(flow)
    states = await asyncio.gather(*(post.post_file(flow.context, id) for _ in range(3)))
    assert states == ["parked"] * 3
    assert [len(await flow.facts(one)) for one in ids] == [2, 2]
    assert len(await flow.parked(id)) == 1
    assert await flow.documents() == 2


async def test_two_tasks_post_what_waits_once_and_each_route_in_the_order_of_its_files(flow):
    _, content = await flow.sent()
    [account] = accounts(content)
    other = box_of(flow, OTHER_PAYER)
    for at in range(3):
        box_of(flow).files[f"{at}"] = payment(
            paid(account, "1", "100", "80", "CAS*CO*45*20"), reference=f"EFT{at}"
        )
        other.files[f"{at}"] = ta1(at)
    await look(flow)
    waiting = await post.waiting_files(flow.context)
    with capture_logs() as logs:
        done = await asyncio.gather(*(post.post_waiting(flow.context) for _ in range(2)))
    posted = [one["inbox"] for one in logs if one["event"].startswith("file ")]
    assert sum(done) == len(waiting) == len(posted) >= 3
    of_payer = [one["inbox"] for one in logs if one.get("payer") == PAYER and "inbox" in one]
    assert of_payer == sorted(of_payer)


class _Started:
    """Notes the work that a tick starts."""

    work = "collect"

    def __init__(self):
        self.work_of = {}

    async def start(self, name, *ids, key="", alone=""):
        self.work_of[key] = (name, ids, alone)
        return key


@pytest.mark.both_databases
async def test_a_tick_starts_one_piece_of_work_for_each_route_with_files_that_wait(flow):
    started, period = _Started(), 7
    for at in range(3):
        box_of(flow).files[f"{at}"] = ta1(at)
    ids = sorted(await look(flow))
    for _ in range(2):
        await post.start_posting(flow.context, started, period)
    key = f"post-{ids[0]}-{ids[-1]}-{period}"
    assert started.work_of == {key: ("post", (ids[0],), f"Medical-{PAYER}-1")}
    box_of(flow).files["later"] = ta1(9)
    flow.clock.advance(timedelta(seconds=300))
    await look(flow)
    await post.start_posting(flow.context, started, period)
    assert len(started.work_of) == 2, "a new file is new work"
    assert await post.post_waiting(flow.context) == 4
    await post.start_posting(flow.context, started, period + 1)
    assert len(started.work_of) == 2


class _WrittenMailbox(MemoryMailbox):
    """A mailbox into which a payer may still be writing, and whose server tells no times."""

    def __init__(self):
        super().__init__()
        self.files_are_whole = False
        self.may_remove = True

    async def drop(self, name, seen=None):
        if not self.may_remove:
            raise Denied("no permission")
        await super().drop(name, seen)


async def _visit(flow, count=1):
    for _ in range(count):
        flow.clock.advance(timedelta(seconds=300))
        await look(flow)


@pytest.mark.safe_default(11)
async def test_a_file_replaced_by_one_of_the_same_size_is_read_before_it_is_dropped(flow):
    """Its server tells no times, so that nothing but the content shows that it is another file."""
    box = flow.connections.mailboxes["Medical", PAYER] = _WrittenMailbox()
    box.files["one"] = ta1(1, own=501)
    await _visit(flow, 2)
    assert len(await flow.files()) == 1
    box.files["one"] = ta1(2, own=502)
    await _visit(flow)
    assert len(await flow.files()) == 2
    assert box.files
    await _visit(flow)
    assert not box.files


@pytest.mark.safe_default(11)
async def test_files_that_cannot_be_removed_keep_no_other_from_being_taken(flow, monkeypatch):
    monkeypatch.setattr(receive, "COLLECT_FILES_MAX", 2)
    box = flow.connections.mailboxes["Medical", PAYER] = _WrittenMailbox()
    box.may_remove = False
    for number in range(3):
        box.files[f"{number}"] = ta1(1, own=500 + number)
    await _visit(flow, 4)
    assert len(await flow.files()) == 3
    box.files["new"] = ta1(1, own=600)
    await _visit(flow, 2)
    assert len(await flow.files()) == 4
    assert await fault_of(flow) == "no permission"


@pytest.mark.safe_default(11)
async def test_without_a_time_to_settle_a_file_is_still_dropped_in_a_later_visit(flow):
    box = flow.connections.mailboxes["Medical", PAYER] = _WrittenMailbox()
    limits_ = replace(flow.context.limits, settle_seconds=0)
    flow.context = replace(flow.context, limits=limits_)
    box.files["one"] = ta1(1)
    await _visit(flow)
    assert len(await flow.files()) == 1
    assert box.files
    await _visit(flow)
    assert not box.files


class _BackwardMailbox(MemoryMailbox):
    """A mailbox that answers later questions earlier, and can break off at one file."""

    def __init__(self, files, *, breaks_at="", gone=()):
        super().__init__(files)
        self.breaks_at, self.gone = breaks_at, gone
        self.in_flight = self.most = 0

    async def take(self, name):
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        for _ in range(9 - 2 * (int(name) % self.files_at_once)):
            await asyncio.sleep(0)
        self.in_flight -= 1
        if name == self.breaks_at:
            raise Unreachable("The line is cut.")
        if name in self.gone:
            raise Denied("The file is locked.")
        return await super().take(name)


def _acknowledgements(count):
    return {f"{number:03}": ta1(1, own=500 + number) for number in range(count)}


@pytest.mark.both_databases
async def test_files_are_taken_side_by_side_and_stored_in_their_order(flow, monkeypatch):
    monkeypatch.setattr(receive, "STORED_TOGETHER_FILES_MAX", 7)
    box = _BackwardMailbox(_acknowledgements(25))
    flow.connections.mailboxes["Medical", PAYER] = box
    ids = await look(flow)
    assert ids == sorted(ids)
    assert [one.name for one in await flow.files()] == [f"{number:03}" for number in range(25)]
    assert box.most == box.files_at_once
    assert not box.files


async def test_what_comes_after_a_broken_connection_does_not_overtake_what_failed(flow):
    """The files that are next to it were read, and must be read again."""
    box = _BackwardMailbox(_acknowledgements(9), breaks_at="004", gone={"001"})
    flow.connections.mailboxes["Medical", PAYER] = box
    assert len(await look(flow)) == 3
    assert [one.name for one in await flow.files()] == ["000", "002", "003"]
    assert await fault_of(flow)
    box.breaks_at, box.gone = "", ()
    flow.clock.advance(timedelta(seconds=300))
    assert len(await look(flow)) == 6
    assert not box.files


async def test_a_backlog_is_visited_again_at_once_until_nothing_can_be_done(flow, monkeypatch):
    monkeypatch.setattr(receive, "COLLECT_FILES_MAX", 2)
    box = flow.connections.mailboxes["Medical", PAYER] = MemoryMailbox(_acknowledgements(5))
    assert [len(await look(flow)) for _ in range(4)] == [2, 2, 1, 0]
    assert await turn_ends(flow) == to_micros(flow.clock.now() + timedelta(seconds=300))
    assert not box.files
    stuck = flow.connections.mailboxes["Medical", PAYER] = _WrittenMailbox()
    stuck.may_remove = False
    stuck.files |= _acknowledgements(5)
    await _visit(flow, 9)  # all are stored, and none can be removed
    assert len(await flow.files()) == 5
    assert await turn_ends(flow) == to_micros(flow.clock.now() + timedelta(seconds=300))


def test_small_files_are_stored_together_and_a_large_one_alone(monkeypatch):
    monkeypatch.setattr(receive, "STORED_TOGETHER_BYTES_MAX", 1_000)
    sizes = (400, 400, 400, 1_001, 1, 1_000)
    acts = [
        receive._FileAct(IncomingFile(f"{at}", size), VisitAct.TAKE, None)
        for at, size in enumerate(sizes)
    ]
    groups = [[one.incoming.size for one in group] for group in receive._groups(acts)]
    assert groups == [[400, 400], [400], [1_001], [1], [1_000]]
