"""Pages of a file in a process beside that of the file: what comes of them is what comes of them there, and no death loses one.

Also tests `programs/page_program`, `programs/helper_program`, `pipeline/helper_process`,
`pipeline/intake/files/judge_page` and `pipeline/intake/files/staged_row`.
"""

import asyncio
import math
import os
import signal
from dataclasses import replace

import pytest

from clearlane.pipeline.helper_process import FRAME, READY
from clearlane.pipeline.intake.files import file_reading
from clearlane.pipeline.intake.files.file_work import process_one
from clearlane.pipeline.intake.files.judge_page import (
    UnjudgedPage,
    answer_page,
    decode_answer,
    encode_order,
)
from clearlane.pipeline.intake.files.page_process import (
    CALM_SECONDS_MIN,
    PAGES_AT_ONCE,
    PAGES_BEFORE_START,
    START_BYTES_MIN,
    PageProcesses,
)
from clearlane.pipeline.intake.prepare_claims import IntakeBatcher
from clearlane.programs.helper_program import ORDERS_AT_ONCE, _answer_all
from clearlane.settings import load, to_json
from clearlane.wiring import open_installation
from tests.cases import by_profile
from tests.databases import KINDS
from tests.patience import until
from tests.pipeline.test_file_process import HOLDER, NODE, PAYER, Channel, segments_of
from tests.pipeline.test_process_file import a_claim, a_file, a_set

# The process is started deep in the product, where tests/server_marker.py does not look.
pytestmark = pytest.mark.server

PAGE = 3
BUSY = CALM_SECONDS_MIN / 2


class PageChannel(Channel):
    """Two sites of a sandbox that send the same files, and the process of a file with one beside it."""

    def __init__(self, installation):
        super().__init__(installation)
        self.pages = self.new_pages()
        own = replace(self.alone, intake=IntakeBatcher(has_callers=False))
        self.context = replace(own, page_processes=self.pages)

    def new_pages(self, **other):
        given = {"pages_before_start": 0, "start_bytes_min": 0, "processors_min": 1} | other
        return PageProcesses(to_json(self.installation.settings), NODE, **given)

    async def start(self):
        """Let the process begin; return two sites, and the process when it takes pages of theirs."""
        sites = [await self.add_site() for _ in range(2)]
        assert self.pages.take(1, math.inf) is None
        return sites, await until(lambda: self.pages.process.is_ready and self.pages.process)


@pytest.fixture
async def channel(new_place, database_kind, monkeypatch):
    monkeypatch.setattr(file_reading, "CLAIMS_PER_PAGE", PAGE)
    place = await new_place(database_kind)
    given = {"data": place.data, "mode": "sandbox", "database_url": place.url}
    async with open_installation(load(environ={}, overrides=given), role="command") as opened:
        made = PageChannel(opened)
        yield made
        await made.pages.close()


def many_pages():
    """Return a file of claims that are accepted or not, some of them equal to one of their page or of an earlier one."""
    numbers = [*range(1, 12), 2, 12, 12, 13, 5, 5, *range(14, 40)]
    others = {4: {"diagnosis": "ABK:XXXX"}, 15: {"payer": "NOBODY"}}
    bodies = [a_claim(at, **{"payer": PAYER} | others.get(at, {})) for at in numbers]
    wrong = [a_claim(1, account="W-1", payer=PAYER), "ZZZ*1~"]
    sets = a_set(*bodies), a_set(*wrong, st="0002"), a_set(a_claim(40, payer=PAYER), st="0003")
    return a_file(*sets)


async def same_outcome(channel, sites, process):
    """Send a file from two sites, have ``process`` process one; what became of both is the same."""
    first, second = [await channel.send(site, many_pages()) for site in sites]
    assert await process(first) == "partly_accepted"
    assert await process_one(channel.alone, second, HOLDER) == "partly_accepted"
    ours, theirs = [await channel.outcome(*one) for one in zip(sites, (first, second), strict=True)]
    assert ours[0] == theirs[0]
    assert ours[0][2] > 40
    assert ours[0][4] >= 5, "some are not accepted"
    assert ours[1].keys() == theirs[1].keys() >= {"999", "277CA"}
    for type in ("999", "277CA"):
        assert segments_of(ours[1][type]) == segments_of(theirs[1][type]), type
    assert ours[2] == theirs[2]


@pytest.mark.parametrize(
    "database_kind", by_profile(thorough=KINDS, usual=["postgresql", "sqlite"], quick=["sqlite"])
)
async def test_pages_become_the_same_in_another_process(channel, capfd):
    sites, process = await channel.start()
    await same_outcome(
        channel, sites, lambda file_id: process_one(channel.context, file_id, HOLDER)
    )
    assert process._last > 3, "it had pages"
    assert process.orders == 0
    assert capfd.readouterr().err == "", "it could judge them"


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_pages_of_a_process_that_dies_are_judged_by_that_of_the_file(channel):
    sites, process = await channel.start()

    async def while_it_dies(file_id):
        os.kill(process._process.pid, signal.SIGSTOP)
        processing = asyncio.create_task(process_one(channel.context, file_id, HOLDER))
        await until(lambda: process.orders == PAGES_AT_ONCE)
        process._process.kill()
        return await processing

    await same_outcome(channel, sites, while_it_dies)
    assert process.has_ended
    assert channel.pages.take(1, math.inf) is None
    assert channel.pages.process is process, "no other one is started"


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_page_of_a_site_that_a_process_does_not_know_is_not_judged_there(channel):
    site = await channel.add_site()
    page = UnjudgedPage((), *[channel.context.clock.now()] * 2)
    known, unknown = encode_order(site, page), encode_order(replace(site, id=77), page)
    assert decode_answer(await answer_page(channel.context, known)) == ()
    assert decode_answer(await answer_page(channel.context, unknown)) is None


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_is_started_for_much_that_is_left_while_no_one_else_calls(channel):
    pages = channel.new_pages(pages_before_start=PAGES_BEFORE_START)
    for _ in range(PAGES_BEFORE_START):
        assert pages.take(START_BYTES_MIN, math.inf) is None
    for left, alone in ((START_BYTES_MIN, BUSY), (START_BYTES_MIN - 1, math.inf)):
        small = channel.new_pages(start_bytes_min=START_BYTES_MIN)
        assert small.take(left, alone) is None
        assert small.process is None
    assert pages.process is None
    assert pages.take(START_BYTES_MIN, math.inf) is None
    assert pages.process, "it is starting"
    await pages.close()
    few = channel.new_pages(processors_min=10_000)
    assert few.take(START_BYTES_MIN, math.inf) is None
    assert few.process is None, "there are not that many processors"


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_a_process_gets_no_page_while_others_call_and_ends_if_they_go_on(channel):
    _, process = await channel.start()
    assert channel.pages.take(1, math.inf) is process
    assert channel.pages.take(1, BUSY) is None
    assert channel.pages.take(1, math.inf) is process, "they have stopped"
    other = channel.new_pages(busy_seconds_max=-1)
    assert other.take(1, math.inf) is None
    ended = other.process
    assert other.take(1, BUSY) is None
    assert other.process is None
    await other.close()
    assert ended.has_ended
    assert other.take(1, math.inf) is None
    assert other.process not in (None, ended), "it is started again when they have stopped"
    await other.close()


@pytest.mark.parametrize("at_once", [1, 2, ORDERS_AT_ONCE])
async def test_no_more_orders_are_answered_at_once_than_there_are_turns(at_once):
    given, asked = os.pipe()
    answers, given_back = os.pipe()
    running = most = 0

    async def answer(context, order):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return order.upper()

    orders = [b"one", b"two", b"three"]
    for number, order in enumerate(orders, 1):
        os.write(asked, FRAME.pack(number, len(order)) + order)
    turns, source = asyncio.Semaphore(at_once), os.fdopen(given, "rb", 0)
    with os.fdopen(answers, "rb") as answered, os.fdopen(given_back, "wb") as out:
        answering = asyncio.create_task(_answer_all(None, source, out, answer, turns))
        found = [await asyncio.to_thread(read_frame, answered) for _ in range(4)]
        os.close(asked)
        await answering
    assert found[0] == (READY, b"")
    assert sorted(found[1:]) == [(1, b"ONE"), (2, b"TWO"), (3, b"THREE")]
    assert most == min(at_once, len(orders))


def read_frame(answered):
    number, size = FRAME.unpack(answered.read(FRAME.size))
    return number, answered.read(size)
