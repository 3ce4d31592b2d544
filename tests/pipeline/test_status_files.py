"""A sender's own 276 in a file: asked as others are, answered in one 277 file, and a line of the claim that came through us.

Also tests `pipeline/inquiry/asked_claims`, `pipeline/inquiry/sender_transactions` and `pipeline/inquiry/inquiry_plan`.
"""

import asyncio
from dataclasses import replace

import pytest

from clearlane.claims.inquiry.answer_result import AnswerResult
from clearlane.pipeline.inquiry.x12_inquiry import NotRealtime, answer_inquiry
from clearlane.pipeline.intake.files.file_inquiries import answer_inquiry_files
from clearlane.store.files import payees
from clearlane.x12.checker.check import check
from tests.patience import until
from tests.pipeline.flowing import ACTOR
from tests.pipeline.test_ask_payer import PAYER, Asking
from tests.pipeline.test_process_file import Channel, segments

NPI = "1234567893"
ISA = "ISA*00*          *00*          *30*123456789      *ZZ*CLEARLANE      *240501*1200*^*00501*000000905*0*T*:"


def question(trace, *keys, member="3007", days="20260102-20260102"):
    return (
        "DMG*D8*19800229*F", f"NM1*IL*1*ARDEN*ROSA****MI*{member}", f"TRN*1*{trace}", *keys,
        f"DTP*472*RD8*{days}",
    )  # fmt: skip


def sent(*claims, payer=PAYER, npi=NPI):
    """A 276 about some claims of subscribers."""
    body = [
        "ST*276*0042*005010X212", "BHT*0010*13*BATCH-1*20240501*1200",
        "HL*1**20*1", f"NM1*PR*2*SOME PAYER*****PI*{payer}",
        "HL*2*1*21*1", "NM1*41*2*FERNHILL CLINIC*****46*FERNHILL",
        "HL*3*2*19*1", f"NM1*1P*2*FERNHILL CLINIC*****XX*{npi}",
    ]  # fmt: skip
    for at, claim in enumerate(claims, 4):
        body += [f"HL*{at}*3*22*0", *claim]
    body.append(f"SE*{len(body) + 1}*0042")
    whole = [ISA, "GS*HR*FERNHILL*LANE9*20240501*1200*77*X*005010X212", *body, "GE*1*77", "IEA*1*000000905"]  # fmt: skip
    return "".join(f"{segment}~" for segment in whole).encode()


@pytest.fixture
async def node(place, database, clock):
    asking = await Asking.open(place, database, clock)
    yield asking
    await asking.runner.stop()


async def answers_of(node, channel, file_id):
    await until(lambda: answer_inquiry_files(node.flow.context))
    return (await channel.answers(file_id))["277"]


def statuses(content):
    return [one[1] for one in segments(content, "STC")]


async def test_a_276_file_is_answered_by_a_277_file_and_in_the_history_of_its_claim(node):
    channel = Channel(node.flow)
    number = await node.sent("3007")
    await node.pass_days(3)
    content = sent(
        question("OURS 1", f"REF*D9*{number}"),
        question("OTHER 1", "REF*EJ*NEVER SENT", "AMT*T3*10"),
    )
    file, answers = await channel.process(content, "monday.276")
    assert (file.type, file.state, file.claims, file.accepted) == ("276", "accepted", 2, 2)
    assert answers.keys() == {"999"}
    assert "The 277 file comes when all are answered" in file.note
    answer = await answers_of(node, channel, file.file_id)
    assert [one[2] for one in segments(answer, "TRN")] == ["OURS 1", "OTHER 1"]
    assert statuses(answer) == ["P1:20", "A4:35"]
    assert [one[3] for one in segments(answer, "BHT")] == ["BATCH-1"]
    assert "has what is known of each" in (await channel.find(file.file_id)).note
    # The claim that came through us says that it was asked about, and what the payer said.
    [asked] = await node.asks(number)
    assert asked.result is AnswerResult.PENDING
    headlines = await node.headlines(number)
    assert headlines.count("The payer was asked about the claim (276)") == 1
    assert any(one.startswith("277: ") for one in headlines)
    assert [one.type for one in await node.events(number)] == ["claim.asked", "claim.answered"]
    # The same bytes again: the same answers, and no one is asked.
    _, again = await channel.process(content, "again.276")
    assert again["277"] == answer
    assert len(await node.asks(number)) == 1


async def test_a_site_asks_about_its_own_providers_and_never_learns_of_others_claims(node):
    channel, flow = Channel(node.flow), node.flow
    number = await node.sent("3007")
    other = await flow.new_site()
    hashes = [payees.payee_hash(flow.vault, NPI)]
    await flow.database.write(other.scope, lambda tx: payees.record(tx, hashes, 1), actor=ACTOR)
    file, answers = await channel.process(sent(question("A", f"REF*D9*{number}")))
    assert (file.state, file.accepted) == ("rejected", 0)
    assert "claim 1, trace number A, payer TST01: The provider bills through another site." in (
        answers["text"].decode()
    )
    assert await node.asks(number) == []
    answer = await answers_of(node, channel, file.file_id)
    assert statuses(answer) == ["E0:24:1P"]
    # A site that bills as the provider too may ask; a claim of the other site is not linked.
    await flow.database.write(flow.site.scope, lambda tx: payees.record(tx, hashes, 1), actor=ACTOR)
    own, flow.site = flow.site, other
    other_channel = Channel(flow)
    file, _ = await other_channel.process(sent(question("B", f"REF*D9*{number}")))
    assert file.state == "accepted"
    answer = await answers_of(node, other_channel, file.file_id)
    assert [one[2] for one in segments(answer, "TRN")] == ["B"]
    flow.site = own
    assert await node.asks(number) == []


async def test_a_276_in_real_time_is_answered_by_a_277(node):
    number = await node.sent("3007")
    await node.pass_days(3)

    async def ask(content):
        return await answer_inquiry(
            node.flow.context, content, site=node.flow.site,
            actor=replace(ACTOR, request_id="r-1"), now=node.now, stopping=asyncio.Event(),
        )  # fmt: skip

    answer = await ask(
        sent(question("T 1", f"REF*D9*{number}"), question("T 2", "REF*EJ*NEVER SENT"))
    )
    assert answer.type == "277"
    assert check(answer.content).findings == ()
    assert [one[2] for one in segments(answer.content, "TRN")] == ["T 1", "T 2"]
    assert statuses(answer.content)[0] == "P1:20"
    assert len(await node.asks(number)) == 1
    unknown = await ask(sent(question("T 3"), payer="NOBODY"))
    assert statuses(unknown.content) == ["E0:153:PR"]
    many = await ask(sent(*(question(f"M {at}") for at in range(26))))
    assert set(statuses(many.content)) == {"E4:0"}
    refused = await ask(sent(question("T 4")).replace(b"NM1*IL", b"NM1*XX"))
    assert (refused.type, segments(refused.content, "AK2")[0][1]) == ("999", "276")
    wrong = await ask(sent(question("T 5")).replace(b"IEA*1*000000905", b"IEA*1*000000906"))
    assert wrong.type == "TA1"
    with pytest.raises(NotRealtime, match="one 270 or 276, and this has 2 sets"):
        await ask(sent(question("T 6")) + sent(question("T 7")).replace(b"000000905", b"000000906"))
