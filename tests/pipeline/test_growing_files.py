"""Files that a payer writes slowly, into a folder and onto an SFTP server: taken whole, dropped late, and never lost.

Also tests `store/delivery/seen_files`.
"""

import itertools
import os
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from clearlane.connect.factory import open_mailbox
from clearlane.payers.routes import RouteSecrets
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.operator import inbox_admin
from tests.claims.answers import nine, paid, payment, ta1
from tests.connect import sftp_server
from tests.connect.invented import route as stored_route
from tests.pipeline.flowing import ACTOR, PAYER, Flow, MemoryConnections, accounts, controls

pytestmark = [pytest.mark.safe_default(11), pytest.mark.one_database]

POLL_SECONDS, SETTLE_SECONDS = 10, 60
NAME = "answers.x12"


@dataclass
class RouteMailboxes(MemoryConnections):
    """Connections whose mailboxes are opened for each visit, as those of stored routes are."""

    made: tuple = ()

    def open_mailbox(self, route):
        return open_mailbox(*self.made, clock=None)


@dataclass
class Payer:
    """A payer that writes one file, and the installation that collects it."""

    flow: Flow
    path: Path
    claims: list[str] = field(default_factory=list)
    interchanges: list[bytes] = field(default_factory=list)
    """What the file holds when it is finished: answers to the claims."""
    visits: int = 0

    async def visit(self, count=1, *, seconds=POLL_SECONDS):
        """Visit the mailbox some times, on two nodes by turns, and post what was stored."""
        for _ in range(count):
            self.flow.clock.advance(timedelta(seconds=seconds))
            self.visits += 1
            context = replace(self.flow.context, node=f"node-{self.visits % 2}")
            await receive.receive_files(context, self.flow.clock.now())
            await post.post_waiting(context)

    def write(self, content):
        """Append to the file."""
        with self.path.open("ab") as file:
            file.write(content)

    async def states(self):
        return [file.state for file in await self.flow.files()]

    async def is_done(self):
        """Return whether both claims are paid by one statement each, and nothing waits for an operator."""
        found = [(await self.flow.status(id)).state for id in self.claims]
        facts = [[fact.kind for fact in await self.flow.facts(id)] for id in self.claims]
        assert all(kinds.count("REMIT") <= 1 for kinds in facts), facts
        return found == ["complete"] * 2 and set(await self.states()) <= {"applied", "discarded"}


@asynccontextmanager
async def writing(kind, directory):
    """The route of a payer, and the directory into which it writes."""
    if kind == "folder":
        for name in ("in", "out"):
            (directory / name).mkdir()
        yield stored_route("folder", inbox=directory / "out", outbox=directory / "in")
        return
    async with sftp_server.sftp_payer(directory) as server:
        yield stored_route(
            "sftp", RouteSecrets(password=sftp_server.PASSWORD), host="127.0.0.1", port=server.port,
            username=sftp_server.USER, inbox="/out", outbox="/in", allow_internal="yes",
            host_key=sftp_server.HOST_KEY.get_fingerprint(),
        )  # fmt: skip


@pytest.fixture(params=["folder", "sftp"])
async def payer(request, place, database, clock, tmp_path):
    flow = await Flow.open(place, database, clock)
    claims, content = await flow.sent(2)
    (first, second), control = accounts(content), controls(content)
    interchanges = [
        nine(control, control=500),
        payment(paid(first, "1", "100", "80", "CAS*CO*45*20"), amount="80", control=501),
        ta1(control, "A", "000", own=502),
        payment(
            paid(second, "1", "100", "70", "CAS*CO*45*30"),
            amount="70",
            reference="EFT2",
            control=503,
        ),
    ]
    async with writing(request.param, tmp_path) as made:
        connections = RouteMailboxes(poll_seconds=POLL_SECONDS, made=made)
        connections.route("Medical", PAYER)
        access = replace(flow.context.payer_access, connections=lambda: connections)
        flow.context = replace(flow.context, payer_access=access)
        yield Payer(flow, tmp_path / "out" / NAME, claims, interchanges)


def pieces(content):
    """Cut a file in the middle of each segment and at its end."""
    ends = [0, *(found.end() for found in re.finditer(b"~", content))]
    middles = [(start + end) // 2 for start, end in itertools.pairwise(ends)]
    cuts = sorted({*ends, *middles})
    return [content[start:end] for start, end in itertools.pairwise(cuts)]


async def test_a_writer_that_pauses_at_every_boundary_loses_nothing(payer):
    """At each it pauses for two visits, so that the file looks finished; at the ends of interchanges it is."""
    whole = b"".join(payer.interchanges)
    ends = {sum(map(len, payer.interchanges[:count])) for count in range(1, 5)}
    written = b""
    payer.write(b"")
    await payer.visit(2)
    for piece in pieces(whole):
        payer.write(piece)
        written += piece
        await payer.visit(2)
        assert payer.path.read_bytes() == written  # nothing was dropped
        if len(written) not in ends:
            # What has no end yet is neither applied nor a person's business.
            assert set(await payer.states()) <= {"applied"}
    assert await payer.is_done()
    await payer.visit(SETTLE_SECONDS // POLL_SECONDS)
    assert not payer.path.exists()
    assert await payer.is_done()
    [*_, last] = await payer.flow.files()
    assert await inbox_admin.read_content(payer.flow.context, last.id, actor=ACTOR) == whole


async def test_a_file_is_taken_when_it_was_seen_twice_and_dropped_when_it_was_quiet(payer):
    payer.write(b"".join(payer.interchanges))
    await payer.visit()
    assert await payer.states() == []
    await payer.visit()
    assert await payer.states() == ["applied"]
    assert payer.path.exists()
    await payer.visit(SETTLE_SECONDS // POLL_SECONDS - 2)
    assert payer.path.exists()
    await payer.visit()
    assert not payer.path.exists()
    assert await payer.is_done()


async def test_a_file_that_is_old_by_the_clock_of_its_server_is_taken_at_once(payer):
    payer.write(b"".join(payer.interchanges))
    an_hour_ago = payer.path.stat().st_mtime - 3_600
    os.utime(payer.path, (an_hour_ago, an_hour_ago))
    await payer.visit()
    assert await payer.states() == ["applied"]
    assert payer.path.exists()  # it is looked at again before it is dropped
    await payer.visit(seconds=SETTLE_SECONDS)
    assert not payer.path.exists()
    assert await payer.is_done()


@pytest.mark.both_databases
async def test_an_unfinished_file_is_shown_and_never_dropped_and_counts_when_it_is_whole(payer):
    """Its writer pauses for longer than anyone waits: inside the first interchange, and inside the last."""
    first, *middle, last = payer.interchanges
    parts = [first[:-30], b"".join([first[-30:], *middle, b"IS"]), last[2:-3], last[-3:]]
    for held, part in enumerate(parts[:-1], 1):
        payer.write(part)
        await payer.visit(3, seconds=SETTLE_SECONDS)
        # One of them waits for an operator; those before it were replaced by it.
        assert await payer.states() == ["discarded"] * (held - 1) + ["quarantined"]
        assert payer.path.stat().st_size == sum(map(len, parts[:held]))
    [*_, file] = await payer.flow.files()
    assert "cut" in file.reason
    payer.write(parts[-1])
    await payer.visit(2)
    assert await payer.states() == ["discarded"] * 3 + ["applied"]
    assert await payer.is_done()
    await payer.visit(2, seconds=SETTLE_SECONDS)
    assert not payer.path.exists()


@pytest.mark.both_databases
async def test_a_file_that_is_replaced_under_its_name_is_another_file(payer):
    payer.write(b"".join(payer.interchanges[:2]))
    await payer.visit(2)
    payer.path.write_bytes(b"".join(payer.interchanges[2:]))
    await payer.visit(2)
    assert await payer.states() == ["applied"] * 2
    assert payer.path.exists()
    assert await payer.is_done()
    await payer.visit(seconds=SETTLE_SECONDS)
    assert not payer.path.exists()
