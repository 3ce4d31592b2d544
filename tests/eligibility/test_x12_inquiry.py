"""Real time over X12, over https on both databases: a 270 goes in, and what comes back is clean and in the sender's terms.

Also tests `api/v1/realtime`, `pipeline/inquiry/inquiry_plan`, `eligibility/read_270`, `eligibility/write_271` and
`inquiry/sender_levels`.
"""

import asyncio
import ssl

import httpx
import pytest

from clearlane.eligibility import write_270
from clearlane.eligibility.model import encode, restore
from clearlane.eligibility.read_270 import build_inquiry, read_patients
from clearlane.payers.model import Payer
from clearlane.x12 import parse
from clearlane.x12.checker import check
from tests.eligibility.eligibility_caller import answers_at, requests_at, traces
from tests.eligibility.invented import TRACE, envelope
from tests.patience import PATIENCE_SECONDS, until

pytestmark = pytest.mark.one_database

URL = "/clearlane/v1/x12"
PAYERS = ("TST01", "TST1E", "TST2E", "TST3E", "TST02")
ISA = "ISA*00*          *00*          *30*123456789      *ZZ*CLEARLANE      *240501*1200*^*00501*000000905*0*T*:"
SUBSCRIBER = ("NM1*IL*1*ARDEN*ROSA****MI*{}", "DMG*D8*19800229*F")
CHILD = ("NM1*03*1*ARDEN*MILO", "DMG*D8*20150304*M", "INS*N*19")
EVERYTHING = (
    "TRN*1*VISIT 7*9FERNHILL1*UNIT", "TRN*1*SECOND*1234567890", "NM1*IL*1*Arden*Rosa*Q***MI*2001", "REF*6P*G-17",
    "N3*1 Oak Street", "N4*Springfield*IL*62701", "PRV*PE*PXC*207Q00000X", "DMG*D8*19800229*F", "INS*Y*18***************1",
    "HI*ABK:Z0000", "DTP*291*RD8*20240501-20240531", "EQ*30^98**FAM", "EQ**HC:99213:25***1", "III*ZZ*11",
)  # fmt: skip


def subscriber(member="2001", trace="VISIT 7", asked=("EQ*30",)):
    """The segments of a subscriber's level after its HL."""
    traces = (f"TRN*1*{trace}*9FERNHILL1",) if trace else ()
    return (*traces, *(one.format(member) for one in SUBSCRIBER), *asked)


def child(trace="VISIT 8"):
    return (f"TRN*1*{trace}*9FERNHILL1", *CHILD, "EQ*30")


def sent(*sources, separators="*:^~", reference="BATCH-1", count=None):
    """A 270: sources are a payer id and patients, a patient is a level or a pair of subscriber and dependent."""
    body = ["ST*270*0042*005010X279A1", f"BHT*0022*13*{reference}*20240501*1200"]
    level = 0
    for payer, *patients in sources:
        top = level + 1
        body += [f"HL*{top}**20*1", f"NM1*PR*2*SOME PAYER*****PI*{payer}"]
        body += [f"HL*{top + 1}*{top}*21*1", "NM1*1P*2*FERNHILL CLINIC*****XX*1234567893"]
        level = top + 1
        for patient in patients:
            own, dependents = (patient, ()) if isinstance(patient[0], str) else patient
            level += 1
            insured = level
            body += [f"HL*{level}*{top + 1}*22*{int(bool(dependents))}", *own]
            for one in dependents:
                level += 1
                body += [f"HL*{level}*{insured}*23*0", *one]
    body.append(f"SE*{count or len(body) + 1}*0042")
    whole = [
        ISA,
        "GS*HS*FERNHILL*LANE9*20240501*1200*77*X*005010X279A1",
        *body,
        "GE*1*77",
        "IEA*1*000000905",
    ]
    text = "".join(f"{segment}~" for segment in whole)
    return text.translate(str.maketrans("*:^~", separators)).encode()


@pytest.fixture
async def client(sandbox, vendor):
    context = ssl.create_default_context(cafile=sandbox.ca_file)
    async with httpx.AsyncClient(
        base_url=sandbox.base_url, verify=context, auth=vendor.auth, timeout=PATIENCE_SECONDS * 3,
        params={"site": "A-1"}, headers={"Content-Type": "text/weird"},
    ) as made:  # fmt: skip
        yield made


async def ask(client, content):
    """The segments of a clean answer, in the usual separators, without the envelope."""
    answer = await client.post(URL, content=content)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/edi-x12"
    result = check.check(answer.content)
    assert [one for one in result.findings if one.severity != "info"] == [], answer.text
    [interchange] = parse(answer.content).interchanges
    isa = interchange.header
    assert [isa[at].strip() for at in (5, 6, 7, 8, 15)] == [
        "ZZ",
        "CLEARLANE",
        "30",
        "123456789",
        "T",
    ]
    for group in interchange.groups:
        [found] = group.sets
        return ["*".join(segment) for segment in found.all_segments()][1:-1]
    return ["*".join(segment) for _, segment in interchange.stray]


async def audited(client, answer):
    """What a call changed or read."""
    found = await client.get(f"/clearlane/v1/calls/{answer.headers['x-request-id']}")
    return [(one["action"], one["count"], one["detail"]) for one in found.json()["data"]]


def refusals(segments):
    return [one for one in segments if one.startswith("AAA")]


@pytest.mark.parametrize("payer", PAYERS)
async def test_every_answer_of_a_payer_is_clean_and_in_the_senders_terms(client, payer):
    members = ("2001", "ABC-77", "1001", "1002", "1003", "1004", "1005", "1007")
    answers = await asyncio.gather(
        *(ask(client, sent((payer, subscriber(member)))) for member in members)
    )
    for member, segments in zip(members, answers, strict=True):
        assert segments[0].startswith("BHT*0022*11*BATCH-1*"), member
        assert not [one for one in segments if "9CLEARLANE" in one], member
        below = member not in {"1001", "1002", "1003"}
        assert ("TRN*2*VISIT 7*9FERNHILL1" in segments) is below, member
        assert any(one.startswith("EB*") for one in segments) is (
            member in {"2001", "ABC-77", "1007"}
        )
    codes = [[one.split("*")[3] for one in refusals(segments)] for segments in answers[2:7]]
    assert codes == [["41", "79"], ["79", "T4"], ["43", "51"], ["72", "73"], ["58", "75"]]


async def test_patients_of_several_payers_are_answered_in_one_271(client):
    family = (subscriber(asked=(), trace=""), (child(), child("VISIT 9")))
    segments = await ask(
        client,
        sent(
            ("TST01", subscriber(trace="ONE"), subscriber("1004", trace="TWO"), family),
            ("NOBODY", subscriber(trace="THREE")),
            ("TST1E", subscriber(trace="FOUR")),
        ),
    )
    levels = [one for one in segments if one.startswith("HL*")]
    assert [one.split("*")[3] for one in levels] == [
        "20", "21", "22", "22", "22", "23", "22", "23", "20", "20", "21", "22",
    ]  # fmt: skip
    assert [one.split("*")[1] for one in levels] == [str(n + 1) for n in range(len(levels))]
    found = [one.split("*")[2] for one in segments if one.startswith("TRN*2*")]
    assert found == ["ONE", "TWO", "VISIT 8", "VISIT 9", "FOUR"]
    unknown = segments.index("NM1*PR*2*SOME PAYER*****PI*NOBODY")
    assert segments[unknown + 1] == "AAA*N**79*C"
    assert segments[unknown - 1].endswith("*20*0")


async def test_an_inquiry_is_stored_listed_and_audited_like_others(client, sandbox, caller):
    before = await requests_at(sandbox)
    answer = await client.post(URL, content=sent(("TST01", subscriber()), ("NOBODY", subscriber())))
    assert await requests_at(sandbox) == before + 1
    [(action, count, detail)] = await audited(client, answer)
    assert (action, count) == ("eligibility.submit", 1)
    number, numbers = detail.removeprefix("RequestId ").split("; ")
    assert numbers == "ISA13 000000905 GS06 77 ST02 0042"
    body = await caller.responses(int(number))
    assert traces(body) == ["VISIT 7"]
    assert [one["Code"] for one in body["ValidationResults"]] == ["79"]


async def test_a_subscriber_and_a_dependent_may_both_be_asked_about(client):
    segments = await ask(client, sent(("TST01", (subscriber(trace="OWN"), (child(),)))))
    found = [one.split("*")[2] for one in segments if one.startswith("TRN*2*")]
    assert found == ["OWN", "VISIT 8"]


async def test_other_separators_and_both_traces_of_the_sender_come_back(client):
    content = sent(("TST01", EVERYTHING), separators="|>!\n")
    answer = await client.post(URL, content=content)
    assert answer.content.startswith(b"ISA|00|")
    segments = await ask(client, content)
    assert [one for one in segments if one.startswith("TRN*2")] == [
        "TRN*2*VISIT 7*9FERNHILL1*UNIT", "TRN*2*SECOND*1234567890",
    ]  # fmt: skip


async def test_a_file_that_cannot_be_read_is_acknowledged_and_no_one_is_asked(client, sandbox):
    before = await requests_at(sandbox)
    whole = sent(("TST01", subscriber()))
    [ta1] = await ask(client, whole.replace(b"IEA*1*000000905", b"IEA*2*000000905"))
    assert ta1.split("*")[4] == "R"
    for wrong in (
        whole.replace(b"NM1*IL*1*ARDEN", b"NM1*XX*1*ARDEN"),
        sent(("TST01", subscriber()), count=99),
        whole.replace(b"005010X279A1", b"004010X092A1"),
    ):
        segments = await ask(client, wrong)
        assert segments[0].startswith("AK1*HS*77*")
        assert [one for one in segments if one.startswith("IK5*R")]
    answer = await client.post(URL, content=sent(("TST01", subscriber()), count=99))
    assert await requests_at(sandbox) == before
    assert await audited(client, answer) == [
        ("eligibility.not_accepted", 0, "999; ISA13 000000905 GS06 77 ST02 0042")
    ]


async def test_what_real_time_does_not_take_is_a_problem_that_says_what_would_pass(client):
    whole = sent(("TST01", subscriber()))
    two = whole.replace(b"GE*1*77", whole[whole.index(b"ST*") : whole.index(b"GE*")] + b"GE*2*77")
    for content, status, words in (
        (b"", 400, "empty"),
        (b"hello", 422, "not X12"),
        (two.replace(b"0042", b"0043", 2), 422, "one 270"),
        (whole + whole.replace(b"000000905", b"000000906"), 422, "one 270"),
        (whole + b" " * (1024 * 1024), 413, "larger"),
    ):
        answer = await client.post(URL, content=content)
        assert answer.status_code == status, (answer.text, words)
        assert answer.headers["content-type"] == "application/problem+json"
        assert words in answer.json()["detail"]
    unnamed = await client.post(URL, content=whole, params={"site": ""})
    assert unnamed.status_code == 400
    suspended = await client.post(URL, content=whole, params={"site": "A-NO-BAA"})
    assert suspended.status_code == 403


async def test_too_many_patients_are_refused_as_the_guide_says(client):
    segments = await ask(client, sent(("TST01", *(subscriber(trace=f"T{n}") for n in range(26)))))
    assert refusals(segments) == ["AAA*N**04*C"]


async def test_a_payer_that_refuses_the_file_or_is_down_is_an_answer_that_says_so(client, caller):
    segments = await ask(client, sent(("TST01", subscriber("1006"))))
    assert refusals(segments) == ["AAA*Y**42*N"]
    assert "TRN*2*VISIT 7*9FERNHILL1" in segments


async def test_after_cores_time_an_answer_says_so_and_the_late_one_is_stored(
    client, caller, sandbox
):
    stored, before = await answers_at(sandbox), await caller.advanced_seconds()
    [*_, seen] = [one["id"] for one in await _new_events(client)] or [""]
    content = sent(("TST01", subscriber("1008", trace="LATE"), subscriber(trace="SOON")))
    waiting = asyncio.create_task(ask(client, content))

    async def is_answered():
        return await answers_at(sandbox) > stored

    await until(is_answered)  # about the other patient
    await caller.advance("20s")
    segments = await waiting
    assert await caller.advanced_seconds() - before >= 20
    late = segments.index("TRN*2*LATE*9FERNHILL1")
    assert segments[late + 2] == "AAA*Y**42*R"
    soon = segments.index("TRN*2*SOON*9FERNHILL1")
    assert any(one.startswith("EB*") for one in segments[soon:])
    await caller.advance("1m")

    async def is_stored():
        return await answers_at(sandbox) == stored + 2

    await until(is_stored)
    events = await _new_events(client, seen)
    assert [one["data"]["late"] for one in events] == [False, True]


async def _new_events(client, after=""):
    """The events about eligibility after one, however many there are."""
    events = []
    while True:
        wanted = {"types": "eligibility.*", "limit": 500, "after": after}
        page = (await client.get("/clearlane/v1/events", params=wanted)).json()["data"]
        if not page:
            return events
        events += page
        after = page[-1]["id"]


def test_the_payer_gets_every_segment_of_the_patients_levels():
    [found] = parse(sent(("alias", EVERYTHING))).sets()
    [patient] = read_patients(found)
    payer = Payer("Medical", "Meadow Mutual", "MDW10", "MDW10", offers_eligibility=True)
    inquiry = build_inquiry(patient, payer)
    assert (inquiry.member_id, inquiry.subscriber.last, inquiry.payer.id) == (
        "2001",
        "ARDEN",
        "MDW10",
    )
    assert next(one.services for one in inquiry.questions) == ("30", "98")
    assert inquiry.envelope == {
        "ISA06": "123456789", "ISA08": "CLEARLANE", "ISA13": "000000905", "GS02": "FERNHILL", "GS03": "LANE9",
        "GS06": "77", "ST02": "0042", "BHT03": "BATCH-1",
    }  # fmt: skip
    assert restore(encode(inquiry)) == inquiry
    content = b"".join(write_270.write_inquiries([(inquiry, TRACE)], envelope()))
    assert check.check(content).errors == 0
    segments = content.decode().split("~")[4:-4]
    expected = [one.upper() for one in EVERYTHING[2:]]
    assert segments == [
        "HL*1**20*1", "NM1*PR*2*SOME PAYER*****PI*MDW10", "HL*2*1*21*1", "NM1*1P*2*FERNHILL CLINIC*****XX*1234567893",
        "HL*3*2*22*0", f"TRN*1*{TRACE}*9CLEARLANE", "TRN*1*VISIT 7*9FERNHILL1", *expected,
    ]  # fmt: skip
