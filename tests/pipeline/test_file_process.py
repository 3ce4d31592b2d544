"""A large file in a process of its own: what comes of it is what comes of it in the service, and no death of it loses anything.

Also tests `programs/file_program`.
"""

import asyncio
import os
import re
import sys
from collections import Counter
from dataclasses import replace

import msgspec
import pytest
from sqlalchemy import select

from clearlane.engine import fault_injection
from clearlane.kernel.client_file import FileChannel
from clearlane.kernel.faults import WorkFailed
from clearlane.pipeline.intake.files.file_process import DIED, MODULE, FileOrder, FileProcesses
from clearlane.pipeline.intake.files.file_work import process_one
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.pipeline.load_claim import open_claim_content
from clearlane.settings import from_json, load, to_json
from clearlane.store.claims.claims import TABLE
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement
from clearlane.store.files import client_files, file_parts
from clearlane.wiring import open_installation
from tests.cases import by_profile
from tests.corpus import samples
from tests.databases import KINDS, make_site
from tests.pipeline.flowing import ACTOR, EVERYONE
from tests.pipeline.test_process_file import a_claim, a_file, a_set
from tests.waiting_files import process_waiting

# The process is started deep in the product, where tests/server_marker.py does not look.
pytestmark = pytest.mark.server

PAYER = "TST01"
HOLDER, NODE = "work-1", "node-1"
CLAIMS = Statement(
    select(
        claims.c.site_id,
        claims.c.claim_number,
        claims.c.state,
        claims.c.total_cents,
        claims.c.service_day,
        claims.c.payload,
    ).order_by(claims.c.claim_number),
    system=True,
)
NUMBER = re.compile(rb"\bC[0-9A-Z]{18}\b")
"""A claim number, which a sentence may name."""
NUMBERED = (b"ISA", b"GS", b"BHT", b"TRN", b"GE", b"IEA")
"""Segments with our control numbers, or with times."""


def segments_of(answer):
    """Return what an answer says: without what differs between two answers to the same file."""
    found = []
    for interchange in re.split(rb"(?=ISA)", NUMBER.sub(b"#", answer))[1:]:
        rows = [row.split(interchange[3:4]) for row in interchange.split(interchange[105:106])]
        found += [row for row in rows if row[0].strip() not in NUMBERED]
    return found


class Channel:
    """Two sites of a sandbox that send the same files, and a node that processes them."""

    def __init__(self, installation):
        self.installation = installation
        settings = to_json(installation.settings)
        self.context = replace(
            installation.work_context, file_processes=FileProcesses(settings, NODE, bytes_min=0)
        )
        self.alone = replace(self.context, file_processes=None)

    async def add_site(self):
        scope = await make_site(self.context.database)
        await self.installation.refresh()
        return next(one for one in self.installation.accounts.sites if one.id == scope.site)

    async def send(self, site, content):
        upload = await Upload.begin(
            self.context, site, name="a.837", channel=FileChannel.HTTPS, actor=ACTOR
        )
        await upload.write(content)
        return (await upload.finish("a.837")).file_id

    async def outcome(self, site, file_id):
        """What became of a file, its answers, and what was found in its claims."""
        database, vault = self.context.database, self.context.vault
        async with database.read(site.scope) as tx:
            file = await client_files.find(tx, file_id)
            listed = await client_files.list_responses(tx, file_id)
        async with database.read(EVERYONE) as tx:
            rows = [row for row in await tx.rows(CLAIMS) if row[0] == site.id]
        answers = {
            one.type: await file_parts.read_content(database, vault, site.scope, one.file_id)
            for one in listed
        }
        found = Counter()
        for _, number, *facts, payload in rows:
            content = open_claim_content(vault.open(site.scope, TABLE, number, payload))
            findings = sorted(content.findings)  # rules of X12 are listed as they were imported
            text = NUMBER.sub(b"#", msgspec.json.encode([bytes(content.claim).decode(), findings]))
            found[(*facts, text)] += 1
        figures = (file.state, file.type, file.claims, file.accepted, file.not_accepted, file.note)
        return figures, answers, found


@pytest.fixture
async def channel(new_place, database_kind):
    place = await new_place(database_kind)
    given = {"data": place.data, "mode": "sandbox", "database_url": place.url}
    async with open_installation(load(environ={}, overrides=given), role="command") as opened:
        yield Channel(opened)


def every_file():
    """Return all samples of claims in one file, with faults and without, and claims that are accepted."""
    found = [one.path.read_bytes() for one in samples() if one.kind in ("837P", "837D")]
    bodies = [a_claim(at, payer=PAYER) for at in (1, 2, 2)]
    return b"\n".join([a_file(a_set(*bodies), ta1="1"), *found])


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_does_with_a_file_what_the_service_does(channel):
    content = every_file()
    beside, inside = [await channel.add_site() for _ in range(2)]
    first, second = await channel.send(beside, content), await channel.send(inside, content)
    assert await process_one(channel.context, first, HOLDER) == "partly_accepted"
    assert await process_one(channel.alone, second, HOLDER) == "partly_accepted"
    ours, theirs = [await channel.outcome(*one) for one in ((beside, first), (inside, second))]
    assert ours[0] == theirs[0]
    assert ours[1].keys() == theirs[1].keys() >= {"TA1", "999", "277CA"}
    for type in ("TA1", "999", "277CA"):
        assert segments_of(ours[1][type]) == segments_of(theirs[1][type]), type
    assert ours[2] == theirs[2]
    assert await process_one(channel.context, first, HOLDER) is None, "it waits no more"


@pytest.mark.parametrize(
    "database_kind", by_profile(thorough=KINDS, usual=["postgresql"], quick=[])
)
async def test_no_file_is_lost_with_its_process(channel, monkeypatch):
    site = await channel.add_site()
    file_id = await channel.send(site, a_file(a_set(*(a_claim(at, payer=PAYER) for at in (1, 2)))))
    channel.context.file_processes.running.add(file_id)
    assert await process_waiting(channel.context) == 0, "its process is starting"
    channel.context.file_processes.running.clear()
    monkeypatch.setenv(fault_injection.VARIABLE, "file staged")
    with pytest.raises(WorkFailed, match=DIED):
        await process_one(channel.context, file_id, HOLDER)
    monkeypatch.delenv(fault_injection.VARIABLE)
    assert await process_one(channel.context, file_id, HOLDER) == "accepted"
    (figures, answers, found) = await channel.outcome(site, file_id)
    assert figures[2:5] == (2, 2, 0)
    assert found.total() == 2
    assert answers.keys() == {"999", "277CA"}


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_that_cannot_open_the_installation_leaves_the_file_to_the_service(channel):
    site = await channel.add_site()
    file_id = await channel.send(site, a_file(a_set(a_claim(1, payer=PAYER))))
    settings = channel.installation.settings
    assert from_json(to_json(settings)) == settings
    wrong = to_json(replace(settings, master_key="not a key"))
    context = replace(channel.context, file_processes=FileProcesses(wrong, NODE, bytes_min=0))
    assert not context.file_processes.take(-1)
    assert await process_one(context, file_id, HOLDER) == "accepted"


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_ends_with_the_service_that_started_it(channel):
    settings = to_json(channel.installation.settings)
    order = msgspec.json.encode(FileOrder(msgspec.Raw(settings), NODE, "F1", HOLDER))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", MODULE, stdin=pipe, stdout=pipe
    )
    out, _ = await process.communicate(order + b"\n")  # closes the pipe
    assert (process.returncode, out) == (os.EX_TEMPFAIL, b"")
