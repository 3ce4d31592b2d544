"""The twins in memory, and the loopback through a kill."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from clearlane.connect.loopback import LoopbackMailbox, LoopbackRealtime, payload_type_of
from clearlane.connect.port import Presence, RealtimeResult, Reply, Unreachable
from tests.connect.invented import interchange
from tests.connect.memory import MemoryLedger, MemoryMailbox, MemoryRealtime
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS

NOW = datetime(2024, 3, 5, 12, 0, tzinfo=UTC)
CLOCK = ManualClock(NOW)


async def test_a_ledger_writes_all_of_a_put_and_deletes_with_none():
    ledger = MemoryLedger()
    await ledger.put("TST01", {"a": b"1", "b": b"2"})
    await ledger.put("TST01", {"a": None, "c": b"3"})
    assert [await ledger.get("TST01", key) for key in "abc"] == [None, b"2", b"3"]
    assert await ledger.get("TST02", "b") is None


async def test_the_agenda_gives_what_is_due_earliest_first():
    ledger = MemoryLedger()
    for key, days in (("late", 14), ("second", 1), ("first", 0)):
        await ledger.plan("TST01", key, NOW + timedelta(days=days), key.encode())
    await ledger.plan("TST02", "other", NOW, b"other")
    assert await ledger.due("TST01", NOW - timedelta(seconds=1), 9) == []
    assert await ledger.due("TST01", NOW + timedelta(days=1), 9) == [
        ("first", b"first"),
        ("second", b"second"),
    ]
    assert await ledger.due("TST01", NOW + timedelta(days=99), 1) == [("first", b"first")]
    await ledger.plan("TST01", "first", NOW + timedelta(days=20), b"again")
    await ledger.put("TST01", {"second": None})
    assert await ledger.due("TST01", NOW + timedelta(days=99), 9) == [
        ("late", b"late"),
        ("first", b"again"),
    ]


async def test_trouble_is_met_by_every_call():
    box = MemoryMailbox({"a": b"x"})
    box.trouble = Unreachable("down")
    for call in (box.put("a", b"x"), box.look("a"), box.waiting(), box.take("a"), box.drop("a")):
        with pytest.raises(Unreachable, match="down"):
            await call
    assert box.files == {"a": b"x"}


async def test_answers_come_from_a_function():
    connection = MemoryRealtime(
        lambda payload, kind: Reply(RealtimeResult.ANSWERED, payload[::-1], kind)
    )
    assert await connection.ask(b"abc", payload_type="270", seconds=PATIENCE_SECONDS) == Reply(
        RealtimeResult.ANSWERED, b"cba", "270"
    )


def test_a_reply_never_prints_its_payload():
    assert "ARDEN" not in repr(Reply(RealtimeResult.ANSWERED, interchange()))


class Dying:
    """A payer in a process that is killed at the worst moment."""

    def __init__(self):
        self.got, self.due, self.killed = [], [("one.835", b"ISA*remit~")], False

    async def receive(self, name, content, now):
        if name not in self.got:  # as the port asks of it
            self.got.append(name)

    async def busy(self, now):
        return bool(self.due)

    async def work(self, now):
        return list(self.due)

    async def confirm_delivered(self, names):
        self.due = [file for file in self.due if file[0] not in names]


async def test_a_kill_between_arrival_and_record_sends_again_and_counts_once():
    payer, ledger = Dying(), MemoryLedger()
    await payer.receive("A1.837", b"x", NOW)  # and the kill, before the mailbox wrote it down
    box = LoopbackMailbox(payer, name="TST01", ledger=ledger, clock=CLOCK)
    assert await box.look("A1.837") is Presence.ABSENT
    await box.put("A1.837", b"x")
    assert payer.got == ["A1.837"]
    assert await box.look("A1.837") is Presence.THERE


async def test_mail_survives_the_process_that_saw_it():
    payer, ledger = Dying(), MemoryLedger()
    first = LoopbackMailbox(payer, name="TST01", ledger=ledger, clock=CLOCK)
    (file,) = await first.waiting()
    after = LoopbackMailbox(payer, name="TST01", ledger=ledger, clock=CLOCK)
    assert await after.waiting() == [file]
    assert await after.take(file.name) == b"ISA*remit~"
    await after.drop(file.name)
    assert await first.waiting() == []


class Answering:
    async def answer(self, payload, now):
        if payload == b"slow":
            await asyncio.Event().wait()
        return interchange("005010X279A1", "271")


async def test_a_question_through_the_loopback_is_answered_or_times_out():
    connection = LoopbackRealtime(Answering(), CLOCK)
    reply = await connection.ask(b"x", payload_type="270", seconds=PATIENCE_SECONDS)
    assert (reply.result, reply.payload_type) == (
        RealtimeResult.ANSWERED,
        "X12_271_Response_005010X279A1",
    )
    assert (
        await connection.ask(b"slow", payload_type="270", seconds=0.02)
    ).result is RealtimeResult.TIMEOUT


ISA = interchange()[:106]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (interchange("005010X231A1", "999"), "X12_999_Response_005010X231A1"),
        (interchange("005010X212", "277").replace(b"*", b"|"), "X12_277_Response_005010X212"),
        (ISA + b"TA1*000000001*240305*1200*R*006~IEA*0*000000001~", "X12_TA1_Response_00501X231A1"),
        (ISA, ""),
        (b"<html>", ""),
    ],
)
def test_an_answer_is_named_by_what_it_is(answer, kind):
    assert payload_type_of(answer) == kind


async def test_delivered_files_are_confirmed_to_the_payer_which_only_then_forgets_them():
    payer, ledger = Dying(), MemoryLedger()
    box = LoopbackMailbox(payer, name="TST01", ledger=ledger, clock=CLOCK)
    await box.waiting()
    assert payer.due == []
    await box.drop("one.835")
    assert await box.waiting() == []
