"""`clearlane batch` and `clearlane export-undelivered`, as an operator types them.

Also tests `cli/delivery/batch` and `cli/delivery/export_undelivered`.
"""

import asyncio
import stat

import pytest

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.kernel.clock import SystemClock
from clearlane.pipeline.outbound import deliver
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.x12.checker.check import check
from tests.pipeline.outbound import HARBOR, MEADOW, Payer837, numbers_in, outbound

pytestmark = pytest.mark.one_database


@pytest.fixture
def left(place):
    """What a stopped service left: a batch in doubt, one that waits, and claims in none."""

    async def leave():
        async with outbound(place, SystemClock()) as out:
            out.connections.add(window_seconds=0, mailbox=Payer837(can_tell=False))
            ids = await out.submit(2)
            [doubtful] = await out.create_batches()
            await deliver._mark_sending(out.context, await out.batch(doubtful), "dead")
            await deliver._mark_arriving(out.context, await out.batch(doubtful), "dead")
            await deliver.attempt_delivery(out.context, doubtful, "dead")
            ids += await out.submit(1)
            [fixed] = await out.create_batches()
            waiting = await out.submit(3, HARBOR)
            return doubtful, fixed, ids, waiting

    return asyncio.run(leave())


def states(clearlane):
    return {row["id"]: row["state"] for row in clearlane("batch list --all --json")}


@pytest.mark.both_databases
def test_batches_are_listed_and_shown(clearlane, left):
    doubtful, fixed, ids, _ = left
    listed = clearlane("batch list --json")
    assert [(row["id"], row["state"], row["claims"]) for row in listed] == [
        (doubtful, BatchState.IN_DOUBT, 2),
        (fixed, BatchState.READY, 1),
    ]
    assert listed[0]["fault"] == deliver.PRESENCE_UNKNOWN
    assert "in_doubt" in clearlane("batch list")
    shown = clearlane(f"batch show {doubtful} --json")
    assert [one["claim_number"] for one in shown["claims"]] == ids[:2]
    assert ids[0] in clearlane(f"batch show {doubtful}")
    assert "There is no batch 77" in clearlane("batch show 77", code=1)


def test_a_doubt_is_resolved_either_way_and_what_is_delivered_is_not_sent_again(clearlane, left):
    doubtful, fixed, _, _ = left
    clearlane(f"batch resend {doubtful}")
    assert states(clearlane) == {doubtful: BatchState.READY, fixed: BatchState.READY}
    clearlane(f"batch mark-delivered {doubtful} --yes")
    assert states(clearlane) == {doubtful: BatchState.DELIVERED, fixed: BatchState.READY}
    assert "would reach the payer twice" in clearlane(f"batch resend {doubtful}", code=1)
    assert "is delivered" in clearlane(f"batch mark-delivered {doubtful} --yes", code=1)
    assert [row["id"] for row in clearlane("batch list --json")] == [fixed]


def test_a_batch_that_is_being_sent_is_left_alone(clearlane, left, place):
    _, fixed, _, _ = left

    async def take():
        async with outbound(place, SystemClock(), node="busy") as out:
            out.connections.add()
            await deliver._mark_sending(out.context, await out.batch(fixed), "busy")

    asyncio.run(take())
    assert states(clearlane)[fixed] == BatchState.SENDING
    for verb in ("resend", "mark-delivered --yes"):
        assert "at this moment" in clearlane(f"batch {verb} {fixed}", code=1)


def test_what_has_not_gone_out_is_written_as_valid_files_each_claim_once(clearlane, left, tmp_path):
    doubtful, fixed, ids, waiting = left
    there = tmp_path / "carry"
    report = clearlane(f"export-undelivered --to {there} --json")
    files = sorted(there.iterdir())
    assert [row["name"] for row in report["files"]] == [file.name for file in files]
    assert [row["id"] for row in report["files"]][:2] == [doubtful, fixed]
    assert (report["marked"], report["claims_not_written"]) == (False, 0)
    inside = []
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert check(file.read_bytes()).errors == 0
        inside += numbers_in(file.read_bytes())
    assert sorted(inside) == sorted(ids + waiting)
    assert set(states(clearlane).values()) == {BatchState.IN_DOUBT, BatchState.READY}
    again = clearlane(f"export-undelivered --to {there} --json")
    assert again["files"] == report["files"]
    assert f"written to {there}." in clearlane(f"export-undelivered --to {there}")


def test_what_is_carried_by_hand_is_marked_and_goes_out_no_more(clearlane, left, place, tmp_path):
    clearlane(f"export-undelivered --to {tmp_path} --mark --yes")
    assert set(states(clearlane).values()) == {BatchState.DELIVERED}

    async def later():
        async with outbound(place, SystemClock(), node="later") as out:
            payers = [out.connections.add(payer, window_seconds=0) for payer in (MEADOW, HARBOR)]
            await out.go()
            return [payer.sent for payer in payers], await out.states()

    sent, claims = asyncio.run(later())
    assert sent == [{}, {}]
    assert set(claims.values()) == {("sent", 1, 0)}


def test_a_file_of_somebody_else_is_not_overwritten(clearlane, left, tmp_path):
    name = clearlane("batch list --json")[0]["name"]
    (tmp_path / name).write_bytes(b"mine")
    assert "is a different file" in clearlane(f"export-undelivered --to {tmp_path}", code=1)
    assert (tmp_path / name).read_bytes() == b"mine"


def test_files_without_a_route_are_written_anew_when_there_is_one(clearlane, left, place, tmp_path):
    *_, waiting = left
    clearlane(f"export-undelivered --to {tmp_path}")

    async def later():
        async with outbound(place, SystemClock(), node="later") as out:
            out.connections.add(MEADOW)
            harbor = out.connections.add(HARBOR)
            assert await out.has_due_work()
            await out.go()
            return harbor.sent

    [content] = asyncio.run(later()).values()
    assert numbers_in(content) == waiting


@pytest.mark.both_databases
def test_after_a_restore_by_other_tools_everything_open_is_in_doubt(clearlane, left):
    asked = clearlane("batch after-restore", code=2)
    assert "Give --yes" in asked
    counted = clearlane("batch after-restore --dry-run --json")
    assert (counted["batches"], counted["claims"], counted["dry_run"]) == (1, 3, True)
    assert set(states(clearlane).values()) != {BatchState.IN_DOUBT}
    report = clearlane("batch after-restore --yes")
    assert report.startswith("1 batches and 3 claims that waited are in doubt.")
    assert set(states(clearlane).values()) == {BatchState.IN_DOUBT}


def test_after_restore_is_refused_beside_living_nodes(clearlane, left, place):
    """They would go on sending what is being marked."""

    async def start():
        database = await place.open(SystemClock())
        node = NodeRegistration(
            database, id="n1", role="serve", heartbeat_seconds=60, keys=place.keys()
        )
        await node.heartbeat()
        await database.close()

    asyncio.run(start())
    assert "These nodes work on the database: n1." in clearlane("batch after-restore --yes", code=1)
    assert BatchState.READY in states(clearlane).values()
