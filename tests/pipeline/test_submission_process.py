"""Documents in a process beside the service: what comes of them is what comes of them in the service, and no death loses one.

Also tests `programs/submission_program`, `pipeline/intake/submission_order` and `pipeline/intake/submission_result`.
"""

import asyncio
import json
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.kernel.clock import SystemClock
from clearlane.kernel.finding import Severity
from clearlane.pipeline.helper_process import FRAME, READY, HelperOpening
from clearlane.pipeline.intake import submission_order
from clearlane.pipeline.intake.read import MalformedDocument, TooManyClaims
from clearlane.pipeline.intake.submission_process import (
    DOCUMENT_BYTES_MAX,
    DOCUMENT_BYTES_MIN,
    MODULE,
    SubmissionProcesses,
)
from clearlane.pipeline.intake.submission_result import SubmissionReceipt
from clearlane.pipeline.intake.submit import answer_order, submit
from clearlane.settings import load, to_json
from clearlane.store.claims import claims
from clearlane.store.database.database import Actor, CommitOutcomeUnknown
from clearlane.wiring import open_installation
from tests.cases import by_profile
from tests.databases import KINDS, make_site
from tests.patience import until

# The process is started deep in the product, where tests/server_marker.py does not look.
pytestmark = pytest.mark.server

NODE = "node-1"
ACTOR = Actor("vendor", "test", request_id="R-1", address="192.0.2.7")
LISTED = (Severity.ERROR, Severity.WARNING)
FAULT = {"Svc_PayerId": "NOBODY"}


def a_document(name, *each):
    """A document large enough to be handed over; the claims that are named have other values."""
    now = SystemClock().now()
    document = samples.document(V3_MEDICAL, day=now.date() - timedelta(days=30), full=False)
    (claim,) = document["Claims"]
    changed = [*each, *[{}] * (12 - len(each))]
    document["Claims"] = [
        {
            **claim,
            "Svc_VendorClaimId": f"{name}-{at}",
            "Svc_PayerId": "TST01",
            "Unknown": "X" * 900,
        }
        | own
        for at, own in enumerate(changed)
    ]
    content = json.dumps(document, default=str).encode()
    assert len(content) > DOCUMENT_BYTES_MIN
    return content


class Service:
    """A node's context with a process that starts at once, and one that has none."""

    def __init__(self, installation, site):
        self.installation = installation
        self.site = site
        self.processes = SubmissionProcesses(
            to_json(installation.settings), NODE, start_bytes=1, processors_min=1
        )
        self.alone = installation.work_context
        self.context = replace(self.alone, submission_processes=self.processes)

    async def start(self):
        """Let it be crowded; return the process when it takes documents."""
        with self.processes.share(1), self.processes.share(DOCUMENT_BYTES_MIN) as process:
            assert process is None, "there is none yet"
        return await until(lambda: self.processes.process and self.processes.process.is_ready)

    async def submit(self, document, *, context=None, beside=True, listed=LISTED):
        now = self.installation.clock.now()
        with ExitStack() as stack:
            if beside:  # as if the service were reading another document
                stack.enter_context(self.processes.share(1))
            return await submit(
                context or self.context,
                document,
                V3_MEDICAL,
                site=self.site,
                actor=ACTOR,
                now=now,
                listed=listed,
            )


@pytest.fixture
async def service(new_place, database_kind):
    place = await new_place(database_kind)
    given = {"data": place.data, "mode": "sandbox", "database_url": place.url}
    async with open_installation(load(environ={}, overrides=given), role="command") as opened:
        scope = await make_site(opened.database)
        await opened.refresh()
        found = next(one for one in opened.accounts.sites if one.id == scope.site)
        service = Service(opened, found)
        yield service
        await service.processes.close()


def said_by(result):
    """Return what a receipt says, without the numbers of its claims."""
    return [
        (one.vendor_claim_id[1:], one.accepted, one.findings, one.note) for one in result.results
    ], result.ignored, result.warnings  # fmt: skip


@pytest.mark.parametrize(
    "database_kind", by_profile(thorough=KINDS, usual=["postgresql", "sqlite"], quick=[])
)
async def test_a_process_does_with_a_document_what_the_service_does(service):
    await service.start()
    process = service.processes.process
    each = [{}, FAULT, {"Unknown2": 1}]
    theirs = await service.submit(a_document("A", *each), beside=False)
    assert process._last == READY, "a document that comes alone stays here"
    ours = await service.submit(a_document("B", *each))
    assert process._last == READY + 1, "it was handed over"
    assert isinstance(ours, SubmissionReceipt)
    assert said_by(ours) == said_by(theirs)
    assert sum(one.accepted for one in ours.results) == 11
    async with service.alone.database.read(service.site.scope) as tx:
        for one in ours.results:
            assert await claims.find(tx, one.claim_number), "it is stored"
    again = await service.submit(a_document("B", *each))
    assert [one.claim_number for one in again.results if one.accepted] == [
        one.claim_number for one in ours.results if one.accepted
    ]
    several = await asyncio.gather(*(service.submit(a_document(name)) for name in "CDEF"))
    assert all(one.accepted for result in several for one in result.results)
    assert process.bytes == 0
    assert process.orders == 0


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_refuses_what_the_service_refuses(service):
    await service.start()
    document = a_document("A")
    for wrong in (document[:-9], document.replace(b'"TST01"', b"{}", 1)):
        ours = await service.submit(wrong)
        assert ours == await service.submit(wrong, context=service.alone)
        assert isinstance(ours, MalformedDocument)
    order = (document, V3_MEDICAL, service.site, ACTOR, service.installation.clock.now(), ())
    few = replace(service.alone, limits=replace(service.alone.limits, claims_max=2))
    answer = await answer_order(few, submission_order.encode_order(*order))
    assert submission_order.decode_answer(answer) == TooManyClaims(2)
    elsewhere = submission_order.SubmissionOrder(
        document, V3_MEDICAL.name, service.site.vendor_id, 77, ACTOR, order[4], ()
    )
    answer = await answer_order(few, msgspec.msgpack.encode(elsewhere))
    assert submission_order.decode_answer(answer) == submission_order.NOT_TAKEN


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_ends_when_a_snapshot_is_loaded_again(service):
    await service.start()
    process = service.processes.process
    asked = asyncio.create_task(service.submit(a_document("A")))
    await until(lambda: process.orders)
    service.processes.retire()
    assert service.processes.process is None
    receipt = await asked
    assert all(one.accepted for one in receipt.results), "it finishes what it has"
    await process.close()  # which waits for its end
    assert process.has_ended
    assert process._process.returncode == 0
    with service.processes.share(1), service.processes.share(DOCUMENT_BYTES_MIN):
        next_one = service.processes.process
    assert next_one is not process
    await service.processes.close()
    assert next_one.has_ended, "no one waits for a process that has not begun"
    assert not next_one.is_ready


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_what_became_of_the_document_of_a_killed_process_is_not_known(service):
    await service.start()
    process = service.processes.process
    asked = asyncio.create_task(service.submit(a_document("A")))
    await until(lambda: process.orders)
    process._process.kill()
    with pytest.raises(CommitOutcomeUnknown):
        await asked
    await until(lambda: process.has_ended)
    assert service.processes.process is None
    again = await service.submit(a_document("A"))
    assert all(one.accepted for one in again.results)


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_that_cannot_open_the_installation_takes_nothing(service):
    settings = to_json(replace(service.installation.settings, master_key="not a key"))
    processes = SubmissionProcesses(settings, NODE, start_bytes=1, processors_min=1)
    with processes.share(1), processes.share(DOCUMENT_BYTES_MIN) as process:
        assert process is None
    started = processes.process
    await until(lambda: started.has_ended)
    await processes.close()
    assert processes.process is None


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_only_crowds_of_documents_start_a_process(service):
    settings = to_json(service.installation.settings)
    processes = SubmissionProcesses(settings, NODE, start_bytes=3 * DOCUMENT_BYTES_MIN)
    for size in (DOCUMENT_BYTES_MIN - 1, DOCUMENT_BYTES_MAX + 1):
        with processes.share(1), processes.share(size) as process:
            assert process is None
    for _ in range(5):
        with processes.share(DOCUMENT_BYTES_MIN) as process:
            assert process is None, "it came alone"
    assert processes.process is None
    many = SubmissionProcesses(settings, NODE, start_bytes=1, processors_min=10_000)
    with many.share(1), many.share(DOCUMENT_BYTES_MIN) as process:
        assert process is None
    assert many.process is None, "there are not that many processors"


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_ends_with_the_service_that_started_it(service):
    settings = to_json(service.installation.settings)
    opening = msgspec.json.encode(HelperOpening(msgspec.Raw(settings), NODE))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", MODULE, stdin=pipe, stdout=pipe
    )
    out, _ = await process.communicate(opening + b"\n")  # closes the pipe
    assert (process.returncode, out) == (os.EX_OK, FRAME.pack(READY, 0))
