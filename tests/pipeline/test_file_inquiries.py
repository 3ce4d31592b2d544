"""A 270 file: its patients are asked about once, and the answers go back in one 271 file, whatever dies in between.

Also tests `store/files/inquiry_pages`.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from msgspec import structs
from sqlalchemy import func, select

from clearlane.connect.connections import RealtimeConnection
from clearlane.kernel.client_file import FileChannel
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.inquiry.inquiry_runner import open_inquiry, store_result
from clearlane.pipeline.inquiry.realtime_inquiry import read_reply
from clearlane.pipeline.intake.files import file_inquiries, file_reading
from clearlane.pipeline.intake.files.file_inquiries import answer_inquiry_files
from clearlane.pipeline.intake.files.purge_files import purge_old_files
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.store import inquiries
from clearlane.store.database.schema import file_inquiries as pages
from clearlane.store.database.schema import inquiries as asked
from clearlane.store.database.sql import Statement
from clearlane.store.files import inquiry_pages
from clearlane.x12.reader.reader import parse
from tests.eligibility.inquiry_node import benefits
from tests.eligibility.test_x12_inquiry import child, sent, subscriber
from tests.pipeline.flowing import ACTOR, EVERYONE, PAYER, Flow, invented_payer
from tests.pipeline.test_process_file import Channel, Died, segments
from tests.waiting_files import process_waiting

pytestmark = pytest.mark.one_database

ASKED = Statement(
    select(asked.c.inquiry_request_id, asked.c.number, asked.c.state).order_by(
        asked.c.inquiry_request_id, asked.c.number
    ),
    system=True,
)
PAGES = Statement(select(func.count()).select_from(pages), system=True)
FILE = sent(
    (PAYER, subscriber("2001", "VISIT 1"), (subscriber("2002", "", ()), (child("VISIT 2"),))),
    ("NOBODY", subscriber("2003", "VISIT 3")),
)


@dataclass
class QuietRunner:
    """Sends nothing: a test answers."""

    woken: int = 0

    def can_reach(self, type, payer_id, inquiry_set):
        return True

    def wake(self):
        self.woken += 1


class InquiryChannel(Channel):
    """A site that sends 270s, and payers that a test answers for."""

    def __init__(self, flow):
        super().__init__(flow)
        payers = PayerDirectory(
            [structs.replace(invented_payer(PAYER), offers_eligibility=True)], sandbox=False
        )
        flow.connections.realtime_connections = lambda *payer: [
            RealtimeConnection(
                route=flow.connections.route(*payer), timeout_seconds=60, realtime=None
            )
        ]
        access = replace(
            flow.context.payer_access, payers=lambda: payers, inquiry_runner=QuietRunner()
        )
        flow.context = replace(flow.context, payer_access=access)

    async def asked(self):
        async with self.flow.database.read(EVERYONE) as tx:
            return await tx.rows(ASKED)

    async def pages(self):
        async with self.flow.database.read(EVERYONE) as tx:
            return (await tx.rows(PAGES))[0][0]

    async def answer(self, *keys):
        """Answer inquiries as their payer."""
        flow = self.flow
        for id, number in keys:
            async with flow.database.read(inquiries.SCOPE) as tx:
                stored = await inquiries.find_inquiry(tx, id, number)
            pending = open_inquiry(flow.vault, stored)
            person = pending.inquiry.patient
            content = benefits(
                pending.trace, payer=PAYER, first=person.first, last=person.last,
                birth=f"{person.birth:%Y%m%d}", member=pending.inquiry.member_id,
            )  # fmt: skip
            result = read_reply(pending, content, flow.clock.now())
            await store_result(
                flow.database, flow.vault, pending, result, flow.clock.now(), ACTOR, flow.context.answer_days,
            )  # fmt: skip


@pytest.fixture
async def channel(place, database, clock):
    return InquiryChannel(await Flow.open(place, database, clock))


@pytest.mark.both_databases
async def test_the_answers_of_a_file_go_back_in_one_271_when_all_are_there(channel):
    file, answers = await channel.process(FILE, "monday.270")
    assert (file.type, file.state) == ("270", "partly_accepted")
    assert (file.claims, file.accepted, file.not_accepted) == (3, 2, 1)
    assert answers.keys() == {"999", "text"}
    assert segments(answers["999"], "IK5") == [["IK5", "A"]]
    # A 271 refuses a payer as a whole; the report names the patient and his trace number.
    assert answers["text"].decode().splitlines()[2:] == [
        "No payer is asked about these patients or claims:", "",
        "Set 1, patient 3, trace number VISIT 3, payer NOBODY: There is no payer with this id.",
    ]  # fmt: skip
    assert file.note.startswith("Payers have answered 0 of 2 inquiries. The 271 file comes when")
    first, second = (row[:2] for row in await channel.asked())
    await channel.answer(first)
    scope, other = channel.flow.site.scope, (await channel.flow.new_site()).scope
    for own, counts, linked in ((scope, (1, 2), 1), (other, (0, 0), 0)):
        async with channel.flow.database.read(own) as tx:
            assert await inquiries.count_answered(tx, [first[0], first[0] + 1]) == counts
            assert len(await inquiry_pages.list_links_of_file(tx, file.file_id)) == linked
            assert await inquiry_pages.list_links_of_file(tx, "F0") == []
    assert await answer_inquiry_files(channel.flow.context) == 0
    assert "1 of 2 inquiries" in (await channel.find(file.file_id)).note
    # The same bytes while it waits: the note names the file whose 271 comes.
    channel.flow.clock.advance(timedelta(seconds=1))
    early, so_far = await channel.process(FILE, "early.270")
    assert so_far.keys() == {"999", "text"}
    assert f"The 271 file of {file.file_id} answers both; it comes when" in early.note
    await channel.answer(second)
    assert await answer_inquiry_files(channel.flow.context) == 1
    assert await answer_inquiry_files(channel.flow.context) == 0
    answer = (await channel.answers(file.file_id))["271"]
    assert [one[2] for one in segments(answer, "TRN")] == ["VISIT 1", "VISIT 2"]
    assert segments(answer, "AAA") == [["AAA", "N", "", "79", "C"]]
    assert [one[3] for one in segments(answer, "BHT")] == ["BATCH-1"]
    assert [one[9] for one in segments(answer, "NM1") if one[1] == "PR"] == [PAYER, "NOBODY"]
    assert "has what is known" in (await channel.find(file.file_id)).note
    assert await channel.pages() == 0
    # The same bytes again: the same answers, and no one is asked.
    late, again = await channel.process(FILE, "again.270")
    assert again["271"] == answer
    assert "answers both" not in late.note
    assert len(await channel.asked()) == 2


async def test_what_is_not_answered_in_time_is_answered_with_aaa_42(channel, monkeypatch):
    monkeypatch.setattr(file_reading, "INQUIRIES_PER_PAGE", 2)
    several = sent((PAYER, *(subscriber(f"20{at:02}", f"VISIT {at}") for at in range(5))))
    file, _ = await channel.process(several)
    rows = await channel.asked()
    assert len({row[0] for row in rows}) == 3
    await channel.answer(rows[3][:2])
    channel.flow.clock.advance(timedelta(hours=24, seconds=1))
    assert await answer_inquiry_files(channel.flow.context) == 1
    answer = (await channel.answers(file.file_id))["271"]
    assert [one[2] for one in segments(answer, "TRN")] == [f"VISIT {at}" for at in range(5)]
    assert segments(answer, "AAA") == [["AAA", "Y", "", "42", "R"]] * 4
    # A late answer is stored, and changes nothing here.
    await channel.answer(rows[0][:2])
    assert await answer_inquiry_files(channel.flow.context) == 0
    assert await purge_old_files(channel.flow.context, channel.flow.clock.now()) == 0


async def test_each_set_of_a_file_is_answered_with_its_own_patients(channel, monkeypatch):
    monkeypatch.setattr(file_reading, "INQUIRIES_PER_PAGE", 1)
    several = [
        sent(
            (PAYER, *(subscriber(f"2{at}0{nth}", f"VISIT {at}-{nth}") for nth in range(2))),
            reference=f"BATCH-{at}",
        ).replace(b"000000905", b"00000090%d" % at)
        for at in range(3)
    ]
    file, _ = await channel.process(b"".join(several))
    for row in await channel.asked():
        await channel.answer(row[:2])
    assert await answer_inquiry_files(channel.flow.context) == 1
    answer = (await channel.answers(file.file_id))["271"]
    said = [one[3 if one[0] == "BHT" else 2] for one in set_segments(answer, "BHT", "TRN")]
    assert said == [
        text for at in range(3) for text in (f"BATCH-{at}", f"VISIT {at}-0", f"VISIT {at}-1")
    ]


def set_segments(content, *ids):
    """Return the segments of these ids, in the order of the sets."""
    return [one for set in parse(content).sets() for one in set.all_segments() if one[0] in ids]


async def test_a_page_that_cannot_be_asked_about_is_answered_with_aaa_42_in_time(
    channel, monkeypatch
):
    monkeypatch.setattr(file_reading, "INQUIRIES_PER_PAGE", 1)
    context, ask = channel.flow.context, file_inquiries.ask

    async def ask_about_first(*arguments, **named):
        if await channel.asked():
            raise ValueError("ARDEN")
        return await ask(*arguments, **named)

    monkeypatch.setattr(file_inquiries, "ask", ask_about_first)
    several = sent((PAYER, *(subscriber(f"20{at:02}", f"VISIT {at}") for at in range(2))))
    file, _ = await channel.process(several)
    [first] = await channel.asked()
    await channel.answer(first[:2])
    assert await answer_inquiry_files(context) == 0
    channel.flow.clock.advance(timedelta(hours=24, seconds=1))
    assert await answer_inquiry_files(context) == 1
    answer = (await channel.answers(file.file_id))["271"]
    assert [one[2] for one in segments(answer, "TRN")] == ["VISIT 0", "VISIT 1"]
    assert segments(answer, "AAA") == [["AAA", "Y", "", "42", "R"]]
    assert await channel.pages() == 0


async def test_a_wrong_270_is_rejected_whole_and_no_one_is_asked(channel, monkeypatch):
    monkeypatch.setattr(file_reading, "INQUIRIES_PER_PAGE", 1)
    wrong = FILE.replace(b"DMG*D8*20150304*M", b"DMG*D8*20151304*M")
    file, answers = await channel.process(wrong)
    assert (file.state, file.claims, file.accepted) == ("rejected", 3, 0)
    assert segments(answers["999"], "IK5")[0][1] == "R"
    monkeypatch.setattr(file_reading, "INQUIRIES_PER_SET_MAX", 2)
    many, _ = await channel.process(FILE.replace(b"BATCH-1", b"BATCH-2"))
    assert many.state == "rejected"
    assert await channel.asked() == []
    assert await channel.pages() == 0


async def test_no_one_is_asked_about_patients_of_a_shadow_file(channel):
    upload = await Upload.begin(
        channel.flow.context, channel.flow.site, name="a.270", channel=FileChannel.CLI, actor=ACTOR,
        is_shadow=True,
    )  # fmt: skip
    await upload.write(FILE)
    file_id = (await upload.finish("a.270")).file_id
    await process_waiting(channel.flow.context)
    assert await answer_inquiry_files(channel.flow.context) == 0
    assert (await channel.find(file_id)).note == ""
    assert (await channel.asked(), await channel.pages()) == ([], 0)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "point",
    ["file staged", "file answered", "file accepted", "inquiries asked", "inquiries answered"],
)
async def test_work_that_dies_is_repeated_and_no_patient_is_asked_about_twice(
    channel, monkeypatch, point
):
    monkeypatch.setattr(file_reading, "INQUIRIES_PER_PAGE", 1)
    context = channel.flow.context

    def die(name):
        if name == point:
            raise Died

    async def work():
        await process_waiting(context)
        await answer_inquiry_files(context)
        for row in await channel.asked():
            if row[2] == inquiries.OPEN:
                await channel.answer(row[:2])
        await answer_inquiry_files(context)

    file_id = await channel.send(FILE)
    with monkeypatch.context() as patched:
        patched.setattr("clearlane.engine.fault_injection.crash_point", die)
        with pytest.raises(Died):
            await work()
    channel.flow.clock.advance(timedelta(seconds=61))
    await work()
    assert (await channel.answers(file_id)).keys() == {"999", "text", "271"}
    assert len(await channel.listed(direction="out")) == 3
    assert len(await channel.asked()) == 2
    assert await channel.pages() == 0
    assert file_inquiries.PROGRESS in (await channel.find(file_id)).note


async def test_no_one_is_asked_in_a_shadow_file(channel):
    file, answers = await channel.process(FILE, "shadow.270", shadow=True)
    assert (file.type, file.state, file.accepted) == ("270", "accepted", 3), "as its 999 says"
    assert set(answers) == {"999"}
    assert await channel.asked() == []
