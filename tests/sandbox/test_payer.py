"""How a payer receives, works, fails and goes on.

Also tests `sandbox/responses/remit835`, `sandbox/responses/styles`, `sandbox/responses/ack999`, `sandbox/responses/status277ca`, `sandbox/responses/status277`, `sandbox/responses/status_set`,
`sandbox/responses/ta1`, `sandbox/read_837` and `sandbox/checks`.
"""

from dataclasses import replace
from datetime import date, timedelta
from random import Random

import pytest

from clearlane.connect.loopback import LoopbackMailbox
from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel.limits import SANDBOX_SLOW_SECONDS
from clearlane.sandbox import payer_ledger, read_837, receive
from clearlane.sandbox.model import File, Member, Profile
from clearlane.sandbox.payer import Mode, SandboxPayer
from clearlane.sandbox.receive import SANDBOX_CLAIMS_REMEMBERED_PER_MEMBER_MAX
from clearlane.x12.checker import check
from tests.cases import full_or_quick
from tests.connect.memory import MemoryLedger
from tests.manual_clock import ManualClock
from tests.sandbox.invented import (
    DENTAL,
    MEDICAL,
    NOW,
    Stage,
    clean,
    file,
    kind,
    medical,
    one,
    rows,
    services,
    starting,
    witnessed,
)
from tests.x12 import samples837

DAY = timedelta(days=1)


async def received_claim_numbers(stage: Stage) -> list[str]:
    ledger = stage.payer._ledger
    numbers = range(1, (await ledger.counts()).files + 1)
    files = [await ledger.get(payer_ledger.file_key(number), File) for number in numbers]
    return [case.claim.number for file in files if file for case in file.cases]


async def test_the_same_file_again_changes_nothing():
    stage = Stage()
    content = file(medical("3001"))
    for _ in range(3):
        await stage.payer.receive("b.837", content, NOW)
    assert len(await stage.work()) == 1
    await stage.payer.receive("b.837", content, NOW)
    assert await stage.work() == {}
    assert [name.split(".")[-1] for name in await stage.days(40)] == ["277CA", "835"]
    assert await received_claim_numbers(stage) == ["CLA1"]


async def test_a_claim_acknowledgement_has_what_exists_at_each_level():
    stage = Stage()
    await stage.send(services("W1", ("D2391", "200"), predetermination=True, day=None))
    found = one(await stage.days(2), "277CA")
    # A predetermination has no service date: the day it was received.
    assert starting(found, "DTP*472") == ["DTP*472*D8*20260302"]
    assert starting(found, "STC*A1") == ["STC*A1:19:PR*20260303*WQ*200", "STC*A1:19:PR**WQ*200"]
    assert [row.count("*") for row in starting(found, "HL")] == [4, 4, 4, 3]


async def test_a_control_number_that_was_used_before_is_refused():
    stage = Stage()
    await stage.send(medical("3001"))
    await stage.payer.receive("other.837", file(medical("3001", account="A2")), NOW)
    assert starting(one(await stage.work(), "TA1"), "TA1") == ["TA1*000000001*260302*0930*R*025"]
    assert await received_claim_numbers(stage) == ["CLA1"]


async def test_a_ta1_comes_where_it_is_asked_for():
    left = await Stage().send(medical("3001"), acknowledge=True)
    assert sorted(name.split(".")[-1] for name in left) == ["999", "TA1"]
    assert starting(one(left, "TA1"), "TA1") == ["TA1*000000001*260302*0930*A*000"]


async def test_a_strict_payer_refuses_a_set_with_a_fault_and_says_where():
    stage = Stage()
    content = file(medical("3001")).replace(b"CLM*A1*100*", b"CLM*A1*99*")
    await stage.payer.receive("b.837", content, NOW)
    found = one(await stage.work(), "999")
    assert starting(found, "IK5", "AK9") == ["IK5*R*I5", "AK9*R*1*1*0"]
    assert "CTX*CLM01:A1" in found
    assert not await stage.days(40)


async def test_a_fault_of_the_envelope_is_refused_by_ta1():
    stage = Stage()
    await stage.payer.receive("b.837", file(medical("3001")).replace(b"IEA*1*", b"IEA*3*"), NOW)
    assert starting(one(await stage.work(), "TA1"), "TA1") == ["TA1*000000001*260302*0930*R*021"]


@pytest.mark.parametrize("content", [b"", b"nothing", b"ISA*00*", b"<html>", b"\x00" * 300])
async def test_what_is_no_interchange_is_not_answered(content):
    stage = Stage()
    await stage.payer.receive("b.837", content, NOW)
    assert await stage.work() == {}
    assert not await stage.payer.busy(NOW)


async def test_a_file_cut_anywhere_is_never_a_crash_and_nothing_of_it_is_paid():
    whole = file(medical("3001", account="A1"), medical("W1", account="A2"))
    for size in range(0, len(whole) - 1, 17):
        stage = Stage()
        await stage.payer.receive("b.837", whole[:size], NOW)
        await stage.work()
        assert not kind(await stage.days(14), "835")
        assert all(map(clean, stage.files.values()))


REFUSED = [
    (medical("W1", payer="TST09"), ["A3:116"]),
    (medical("W1", day=NOW.date() + DAY), ["A7:187"]),
    (medical("W1", birth=date(2026, 2, 17)), ["A7:158:QC"]),
    (medical("W1", payer="TST09", birth=date(2026, 2, 17)), ["A3:116", "A7:158:QC"]),
]


@pytest.mark.parametrize(("claim", "codes"), REFUSED)
async def test_a_payer_reports_every_own_check_that_fails(claim, codes):
    stage = Stage()
    await stage.send(claim)
    found = await stage.days(14)
    statuses = [
        row.split("*")[1] for row in starting(one(found, "277CA"), "STC*A3", "STC*A6", "STC*A7")
    ]
    assert statuses == codes
    assert not kind(found, "835")
    assert all(map(clean, stage.files.values()))


async def test_without_ids_of_its_own_a_payer_takes_every_claim():
    stage = Stage(Profile("HHP 20", "Harbor Health Plan"))
    await stage.send(medical("W1", payer="ANY"))
    assert list(await stage.days(14)) == [
        "HHP20.000000002.277CA",
        "HHP20.000000003.835",
    ]


async def test_answers_go_back_to_who_sent_the_file():
    left = await Stage().send(medical("3001"))
    isa, gs = one(left, "999")[:2]
    assert [part.strip() for part in isa.split("*")[5:9]] == ["ZZ", "SANDBOX", "ZZ", "CLEARLANE"]
    assert gs.split("*")[2:4] == ["SANDBOX", "CLEARLANE"]


async def test_control_numbers_never_repeat():
    stage = Stage()
    for account in ("A1", "A2", "A3"):
        await stage.send(medical("3001", account=account), medical("3008", account=f"{account}X"))
        await stage.days(2)
    await stage.days(40)
    numbers = [content[90:99] for content in stage.files.values()]
    assert len(set(numbers)) == len(numbers)
    checks = [row for c in kind(stage.files, "835") for row in starting(rows(c), "TRN*")]
    assert len(set(checks)) == len(checks)


async def test_a_down_payer_cannot_be_reached_and_what_is_due_waits():
    stage = Stage()
    await stage.send(medical("3001"))
    await stage.payer.set_mode(Mode.DOWN)
    other = stage.another_node()
    assert await other.mode() is Mode.DOWN
    with pytest.raises(Unreachable) as refused:
        await other.receive("c.837", b"", NOW)
    assert refused.value.arrival is Presence.ABSENT
    with pytest.raises(Unreachable):
        await other.work(NOW)
    stage.now += 30 * DAY
    await stage.payer.set_mode(Mode.UP)
    left = await stage.work()
    assert [name.split(".")[-1] for name in left] == ["277CA", "835"]
    # each is dated by its own day, not by the day the payer was up again
    assert "STC*A2:20:PR*20260303*WQ*100" in one(left, "277CA")
    assert "DTM*405*20260316" in one(left, "835")


async def test_a_slow_payer_lets_every_call_wait():
    stage = Stage()
    await stage.payer.set_mode(Mode.SLOW)
    await stage.send(medical("3001"))
    assert stage.waits == [SANDBOX_SLOW_SECONDS] * 2


async def test_a_payer_that_sends_garbage_sends_the_true_answer_when_it_is_up_again():
    stage = Stage()
    await stage.payer.set_mode(Mode.GARBAGE)
    assert [n.split(".")[-1] for n in await stage.send(medical("3001"))] == ["HTML"]
    assert [n.split(".")[-1] for n in await stage.days(1)] == [
        "HTML",
        "HTML",
    ]  # the 999 again, the 277CA
    assert await stage.work() == {}
    await stage.payer.set_mode(Mode.UP)
    assert [n.split(".")[-1] for n in await stage.days(1)] == ["999", "277CA"]
    assert [n.split(".")[-1] for n in await stage.days(40)] == ["835"]


async def test_a_payer_is_busy_until_everything_due_was_handed_out():
    payer = SandboxPayer(MEDICAL, MemoryLedger())
    assert not await payer.busy(NOW)
    await payer.receive("b.837", file(medical("3001")), NOW)
    assert await payer.busy(NOW)
    await payer.work(NOW)
    assert not await payer.busy(NOW)
    assert await payer.busy(NOW + DAY)


async def test_a_file_that_was_not_confirmed_is_handed_out_again_after_a_restart_only():
    stage = Stage()
    await stage.payer.receive("b.837", file(medical("3001")), NOW)
    first = await stage.payer.work(NOW)
    assert await stage.payer.work(NOW) == []
    after = stage.another_node()
    assert await after.work(NOW) == first
    await after.confirm_delivered([name for name, _ in first])
    assert await stage.another_node().work(NOW) == []


async def test_another_node_goes_on_where_the_first_stopped():
    stage = Stage()
    await stage.send(services("W1", ("20611", "200")))
    stage.payer = stage.another_node()
    await stage.days(14)
    stage.payer = stage.another_node()
    await stage.send(services("W1", ("20611", "200"), account="A2"))
    assert "CAS*OA*18*200" in one(await stage.days(14), "835")


class Killed(Exception):
    """The process ends here."""


class Fragile(MemoryLedger):
    """A ledger whose process is killed at the nth write, before or after it happened."""

    def __init__(self, at: int, *, after: bool) -> None:
        super().__init__()
        self.left = at
        self.after = after

    async def put(self, payer, entries):
        await self._write(super().put, payer, entries)

    async def plan(self, payer, key, due, value):
        await self._write(super().plan, payer, key, due, value)

    async def _write(self, write, *values):
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Killed
        await write(*values)
        if self.left == 0:
            raise Killed


async def all_files(ledger: MemoryLedger) -> dict[str, bytes]:
    """Three files over 30 days; a killed process is followed by another, which does the same again."""
    found: dict[str, bytes] = {}
    payer = SandboxPayer(MEDICAL, ledger)
    sent = [
        ("a.837", file(medical("3008", account="A1"), medical("3015", account="A2"), control=1), 0),
        (
            "b.837",
            file(services("W1", ("20611", "200")), medical("3007", account="A3"), control=2),
            3,
        ),
        ("c.837", file(services("W1", ("20611", "90"), account="A4"), control=3), 15),
    ]
    for day in range(32):
        now = NOW + day * DAY
        for _ in range(2):
            try:
                for name, content, on in sent:
                    if on == day:
                        await payer.receive(name, content, now)
                for name, content in await payer.work(now):
                    assert found.setdefault(name, content) == content
                    await payer.confirm_delivered([name])
            except Killed:
                payer = SandboxPayer(MEDICAL, ledger)
    return found


async def test_a_kill_at_any_write_loses_nothing_and_changes_nothing():
    whole = await all_files(Fragile(0, after=False))
    assert len(whole) == 16
    counted = Fragile(10**6, after=False)
    await all_files(counted)
    writes = 10**6 - counted.left
    for at in range(1, writes + 1, full_or_quick(1, 5)):
        for after in (False, True):
            assert await all_files(Fragile(at, after=after)) == whole, (at, after)


@pytest.mark.parametrize(("name", "profile"), [("837P", MEDICAL), ("837D", DENTAL)])
async def test_random_rich_claims_are_answered_cleanly(name, profile):
    stage = Stage(replace(profile, ids=frozenset()))
    for seed in range(12):
        rng = Random(seed)
        content = samples837.interchange(name, [samples837.claims(rng, name, subscribers=3)])
        data = content.replace("000000001", f"{seed + 1:09}").encode()
        assert not check.check(data).errors
        await stage.payer.receive(f"{seed}.837", data, NOW)
    await stage.work()
    await stage.days(14)
    remits = kind(stage.files, "835")
    assert len(remits) > 6
    assert all(map(clean, stage.files.values()))
    assert all(map(witnessed, remits))


async def test_a_loopback_mailbox_shows_each_file_once():
    ledger, clock = MemoryLedger(), ManualClock(NOW)
    payer = SandboxPayer(MEDICAL, ledger)
    mailbox = LoopbackMailbox(payer, name=MEDICAL.id, ledger=ledger, clock=clock)
    await mailbox.put("b.837", file(medical("3001")))
    (first,) = await mailbox.waiting()
    assert await mailbox.waiting() == [first]
    assert (await mailbox.take(first.name)).startswith(b"ISA")
    await mailbox.drop(first.name)
    assert await mailbox.waiting() == []
    clock.advance(14 * DAY)
    assert len(await mailbox.waiting()) == 2


async def test_a_file_in_other_separators_is_read_and_its_numbers_come_back():
    stage = Stage()
    swapped = file(medical("W1", account="A=1")).decode()
    swapped = swapped.translate(str.maketrans("*:~^", "|}\n#"))
    await stage.payer.receive("b.837", swapped.encode(), NOW)
    assert "IK5*A" in one(await stage.work(), "999")
    assert starting(one(await stage.days(14), "835"), "CLP*A=1*", "REF*6R") == [
        "CLP*A=1*1*100*65*25*15*S00000100000*11*1", "REF*6R*CLA=1-1",
    ]  # fmt: skip


async def test_an_acknowledgement_is_never_acknowledged():
    stage = Stage()
    (nine,) = (await Stage().send(medical("3001"))).values()
    await stage.payer.receive("999", nine, NOW)
    assert await stage.work() == {}


async def test_two_sets_of_a_file_are_acknowledged_each_by_its_own_batch_number():
    stage = Stage()
    sent = [medical("3007", account=f"A{at}", child=at > 0) for at in range(3)]
    await stage.send(*sent, sets=3)
    files = await stage.days(21)
    batches = starting(one(files, "277CA"), "TRN*2*0000")
    assert batches == ["TRN*2*0000000010001", "TRN*2*0000000010002", "TRN*2*0000000010003"]
    assert starting(one(files, "277"), "HL*", "NM1*QC")[-3:] == [
        "HL*4*3*22*1", "HL*5*4*23", "NM1*QC*1*ARDEN*MILO",
    ]  # fmt: skip
    assert all(map(clean, files.values()))


def test_the_oldest_claims_of_a_member_are_forgotten():
    most = SANDBOX_CLAIMS_REMEMBERED_PER_MEMBER_MAX
    full = Member(claims={f"C{at}": "S1" for at in range(most)})
    after = receive._with_claim(full, "NEW", "S2").claims
    assert len(after) == most
    assert "C0" not in after
    assert after["NEW"] == "S2"


async def test_values_print_nothing_of_a_patient():
    async for interchange in read_837.read(file(medical("W77"))):
        (claim,) = interchange.claims()
        assert repr(claim) == "Claim(...)"
        assert "ARDEN" not in repr(interchange.groups)


async def test_nothing_of_a_patient_stands_in_a_key():
    stage = Stage()
    await stage.send(medical("W77", account="ACCT5"))
    await stage.days(14)
    keys = " ".join(key for _, key in stage.ledger._entries)
    assert not any(word in keys for word in ("W77", "ACCT5", "ARDEN", "ROSA"))
