"""Files of payers read in a process beside the service: the items are those that are read here, whatever happens to it.

Also tests `programs/reading_program`, `pipeline/inbound/reading_orders`, `pipeline/inbound/file_items` and
`pipeline/helper_process`.
"""

import asyncio
import os
import sys
from dataclasses import replace

import pytest

from clearlane.pipeline.helper_process import (
    FRAME,
    READY,
    HelperProcess,
    HelperProcessDied,
    bare_environment,
)
from clearlane.pipeline.inbound import reading_process
from clearlane.pipeline.inbound.file_items import (
    ITEMS_AT_ONCE,
    PAYMENTS,
    STATEMENTS,
    PaymentHeadItem,
    PaymentTotalsItem,
    PlacedClaim,
    ReportedStatus,
)
from clearlane.pipeline.inbound.reading_orders import (
    CANNOT,
    DONE,
    CloseFile,
    FilePiece,
    FileReader,
    NextPage,
    OpenFile,
    encode_order,
)
from clearlane.pipeline.inbound.reading_process import (
    FILE_BYTES_MIN,
    MODULE,
    START_BYTES,
    ReadingProcesses,
    read_file,
)
from tests.claims.answers import paid, patient, payment, status
from tests.patience import until
from tests.pipeline.flowing import Flow, accounts

# The process is started deep in the product, where tests/server_marker.py does not look.
pytestmark = pytest.mark.server

PAGES = 4
ACCOUNTS = [f"A{at}" for at in range(PAGES * ITEMS_AT_ONCE - 2)]
INTEREST = "AMT*I*2"


def a_remittance():
    """Four pages of items: the payment, its claims, its totals."""
    claims = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in ACCOUNTS]
    claims[1].insert(2, INTEREST)
    return payment(*claims, plb=["PLB*1234567893*20261231*WO:A1*30"])


REMITTANCE = a_remittance()
STATUSES = status(*(patient(one, "A2:20*20261102*WQ*100") for one in ACCOUNTS[:700]))
REJECTED = status(receiver="A3:24:41*20261102*U*300")


@pytest.fixture
async def processes():
    made = ReadingProcesses(start_bytes=1, processors_min=1)
    yield made
    await made.close()


async def start(processes):
    """Return the process when it takes files."""
    assert processes.find(1) is None, "it begins to start"
    return await until(lambda: processes.find(1))


async def items(pages):
    return [item async for page in pages for item in page]


def count_orders(process):
    """Return how many orders a process has had."""
    return process._last - READY


@pytest.mark.parametrize(("reading", "content"), [(PAYMENTS, REMITTANCE), (STATEMENTS, STATUSES)])
async def test_a_process_reads_what_the_service_reads(processes, reading, content):
    process = await start(processes)
    here = list(reading.read(content))
    assert await items(read_file(None, reading, content)) == here
    assert count_orders(process) == 0
    beside = await items(read_file(processes, reading, content))
    assert beside == here
    assert count_orders(process) > len(here) // ITEMS_AT_ONCE
    several = [items(read_file(processes, reading, content)) for _ in range(3)]
    assert await asyncio.gather(*several) == [here] * 3
    await until(lambda: not process.orders)


async def test_items_have_what_is_recorded(processes):
    await start(processes)
    first, *claims, last = await items(read_file(processes, PAYMENTS, REMITTANCE))
    assert isinstance(first, PaymentHeadItem)
    assert isinstance(last, PaymentTotalsItem)
    assert (first.start.set, last.summary.claims) == ((1, 1, 1), len(ACCOUNTS))
    assert [one.claim_payment.account_number for one in claims] == ACCOUNTS
    assert [one.number for one in claims] == [*range(1, len(ACCOUNTS) + 1)]
    assert [one.number for one in claims if one.has_interest] == [2]
    assert b"CLP*A1*" in claims[1].content.part
    assert b"CLP*A2*" not in claims[1].content.part
    assert "A1" not in repr(claims[1].content)
    [one, *_] = await items(read_file(processes, STATEMENTS, STATUSES))
    assert (one.fact.claim.account_number, one.batch_number) == ("A0", "0000000210001")
    assert b"TRN*2*A0~" in one.part
    assert "A0" not in repr(one)


async def test_a_file_is_begun_here_until_the_process_is_ready(processes):
    pages = read_file(processes, PAYMENTS, REMITTANCE)
    found = await anext(pages)
    process = processes.process
    assert count_orders(process) == 0
    await until(lambda: process.is_ready)
    found += await items(pages)
    assert found == list(PAYMENTS.read(REMITTANCE))
    assert count_orders(process) > 0, "the rest was read there"


@pytest.mark.parametrize("pages_before", [0, 1, 2])
async def test_the_file_of_a_killed_process_is_read_here(processes, pages_before):
    process = await start(processes)
    pages = read_file(processes, PAYMENTS, REMITTANCE)
    found = [item for _ in range(pages_before) for item in await anext(pages)]
    process._process.kill()
    found += await items(pages)
    assert found == list(PAYMENTS.read(REMITTANCE))
    await until(lambda: process.has_ended)
    with pytest.raises(HelperProcessDied):
        process.send(b"")
    assert processes.process is None, "a later file starts another one"
    assert await items(read_file(processes, PAYMENTS, REMITTANCE)) == found
    assert processes.process is not process


async def test_what_refers_to_the_whole_file_is_read_here(processes):
    await start(processes)
    [rejection] = await items(read_file(processes, STATEMENTS, REJECTED))
    assert not isinstance(rejection, ReportedStatus)
    assert rejection.level.loop


async def test_a_file_that_is_not_read_to_its_end_is_forgotten(processes):
    process = await start(processes)
    pages = read_file(processes, PAYMENTS, REMITTANCE)
    await anext(pages)
    process._process.kill()  # with pages under way, which no one will look at
    await until(lambda: process.has_ended)
    await pages.aclose()
    process = await start(processes)
    pages = read_file(processes, PAYMENTS, REMITTANCE)
    await anext(pages)
    await pages.aclose()
    await until(lambda: not process.orders)
    assert await items(read_file(processes, STATEMENTS, STATUSES))


async def test_only_a_large_file_starts_a_process_and_only_beside_a_free_processor():
    usual = ReadingProcesses(processors_min=1)
    assert usual.find(START_BYTES - 1) is None
    assert usual.process is None
    assert usual.find(START_BYTES) is None
    process = await until(lambda: usual.find(START_BYTES))
    assert usual.find(FILE_BYTES_MIN) is process
    assert usual.find(FILE_BYTES_MIN - 1) is None
    await usual.close()
    assert process.has_ended
    assert usual.find(START_BYTES) is None
    assert usual.process is None, "none is started any more"
    few = ReadingProcesses(start_bytes=1, processors_min=10_000)
    assert few.find(1) is None
    assert few.process is None
    await few.close()


async def test_a_process_without_files_ends_after_a_while(processes, monkeypatch):
    process = await start(processes)
    monkeypatch.setattr(reading_process, "IDLE_SECONDS_MAX", 0.0)
    found = await items(read_file(processes, PAYMENTS, REMITTANCE))
    assert found == list(PAYMENTS.read(REMITTANCE)), "it is kept as long as it reads"
    await until(lambda: not process.takes_orders)
    assert processes.find(1) is None
    await process.close()  # which waits for its end
    assert process._process.returncode == os.EX_OK
    assert processes.process is not process, "the next large file starts another"


async def run_program(orders):
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", MODULE, stdin=pipe, stdout=pipe, stderr=pipe,
        env=bare_environment(),
    )  # fmt: skip
    out, faults = await process.communicate(orders)  # closes the pipe
    return process.returncode, out, faults


async def test_a_process_ends_with_the_service_and_tells_nothing_of_what_it_could_not_read():
    ready = FRAME.pack(READY, 0)
    assert await run_program(b"") == (os.EX_OK, ready, b"")
    piece = FRAME.pack(1, 100) + b"CLP*A1*"
    assert await run_program(piece) == (os.EX_SOFTWARE, ready, b"")


async def test_a_program_that_cannot_be_started_takes_nothing():
    process = HelperProcess("clearlane.no_such_program", {})
    process.start()
    await until(lambda: process.has_ended)
    with pytest.raises(HelperProcessDied):
        process.send(b"")


def test_orders_are_answered_one_by_one():
    reader = FileReader()

    def answer(order):
        return reader.answer(encode_order(order))

    assert answer(OpenFile(1, PAYMENTS.name, 1)) == DONE
    half = len(REMITTANCE) // 2
    for piece in (REMITTANCE[:half], REMITTANCE[half:]):
        assert answer(FilePiece(1, piece)) == DONE
    assert "CLP" not in repr(FilePiece(1, REMITTANCE))
    pages = [PAYMENTS.decode(answer(NextPage(1))) for _ in range(PAGES + 1)]
    assert [len(page) for page in pages] == [*[ITEMS_AT_ONCE] * (PAGES - 1), ITEMS_AT_ONCE - 1, 0]
    assert all(isinstance(one, PlacedClaim) for one in pages[0])
    for known in (0, -1):  # a message that refers to the whole file; an order that makes no sense
        assert answer(OpenFile(2, STATEMENTS.name, known)) == DONE
        assert answer(FilePiece(2, REJECTED)) == DONE
        assert answer(NextPage(2)) == CANNOT
    assert [answer(CloseFile(file)) for file in (1, 2, 3)] == [DONE] * 3
    with pytest.raises(KeyError):
        answer(NextPage(1))


@pytest.mark.one_database
async def test_what_was_read_beside_is_posted_as_any_file(place, database, clock, processes):
    flow = await Flow.open(place, database, clock)
    flow.context = replace(flow.context, reading_processes=processes)
    ids, content = await flow.sent(2)
    first, second = accounts(content)
    process = await start(processes)
    accepted = [patient(one, "A2:20*20261102*WQ*100") for one in (first, second)]
    assert await flow.arrive(status(*accepted)) == ["applied"]
    before = count_orders(process)
    assert before > 0
    claims = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in (first, second, "NOBODY")]
    assert await flow.arrive(payment(*claims, amount="160")) == ["parked"]
    assert count_orders(process) > before
    rows = [await flow.status(id) for id in ids]
    assert [(row.state, row.payer_cents) for row in rows] == [("complete", 8000)] * 2
