"""A service killed with no warning at every step of a file: each claim is delivered once and each answer written once.

`CLEARLANE_TEST_FILE_KILLS=all` kills at every point on both databases, each in an installation of its own, and lets the file come
to its end; without it each database has a few points, between which nothing comes to its end.
"""

import asyncio
import os

import pytest

from clearlane.engine import fault_injection
from tests.patience import until
from tests.pipeline.killed_service import KilledService

# One after the other on one worker: they mostly wait, and the others have work meanwhile.
pytestmark = pytest.mark.group("file crashes")

EVERY = os.environ.get("CLEARLANE_TEST_FILE_KILLS") == "all"
OF_FILES = (
    "file part:2", "file received", "file begun", "file staged", "file staged:2", "file staged:3",
    "file read", "file answered", "file accepted", "file released", "file released:3",
)  # fmt: skip
# Three answers come back of each file after its acknowledgements: of its delivery, the payer's 277CA, and the 835.
OF_RESPONSES = tuple(f"response {what}:{at}" for at in (1, 2, 3) for what in ("stored", "listed"))
OF_PAYERS = (
    "written", "batched", "sending", "delivered", "recorded", "fetched", "stored", "dropped",
    "applied", "applied:2", "payment opened", "payment closed",
)  # fmt: skip
ALL = (*OF_FILES, *OF_PAYERS, *OF_RESPONSES)
A_FEW = {
    "sqlite": ("file received", "file staged:2", "file accepted", "delivered", "response stored:3"),
    "postgresql": ("file part:2", "file answered", "file released", "response listed:1"),
}


@pytest.fixture
async def killed(new_place, database_kind):
    made = KilledService(await new_place(database_kind, served=True))
    await made.start()
    await made.quicken()
    yield made
    await made.close()


@pytest.mark.parametrize("point", ALL if EVERY else ("a few",))
async def test_killed_at_every_step_of_a_file_each_claim_and_answer_comes_once(killed, point):
    await killed.stop()
    for each in (point,) if EVERY else A_FEW[killed.place.kind]:
        await killed.start(each)
        await killed.send()
        await killed.dies()
    await killed.start()
    await killed.settled()
    await killed.check()


@pytest.mark.parametrize("database_kind", ["postgresql"])
async def test_of_two_nodes_one_is_killed_in_a_file_and_the_other_goes_on_with_it(killed):
    dying = await asyncio.to_thread(killed.node("file staged:2", "two").start)

    async def has_died() -> bool:
        return dying.process.poll() is not None

    async def is_taken() -> bool:
        return await has_died() or await killed.has_processed_all()

    while not await has_died():  # either node may take a file
        await killed.send()
        await until(is_taken)
    await asyncio.to_thread(dying.wait_for_exit)
    await killed.settled()
    await killed.check()


def test_every_point_of_files_and_responses_is_tried():
    tried = {point.partition(":")[0] for point in (*OF_FILES, *OF_RESPONSES)}
    own = {name for name in fault_injection.CRASH_POINTS if name.startswith(("file ", "response "))}
    assert tried == own
