"""What is answered to each member id, by each payer.

Also tests `sandbox/members`, `sandbox/responses/coverage`, `sandbox/responses/answer271`, `sandbox/responses/full_271_sample` and
`sandbox/realtime`.
"""

import re
from datetime import timedelta

import pytest

from clearlane.api.v3.benefits import benefit_names
from clearlane.sandbox import members, read_270
from clearlane.sandbox.eligibility import EligibilityPayer, responder_of
from clearlane.sandbox.model import Profile
from clearlane.x12 import codes
from clearlane.x12.checker import check
from tests.cases import full_or_quick
from tests.contract.contract_table import seen
from tests.sandbox.asking import (
    NOW,
    PAYERS,
    Question,
    answer,
    ask,
    asked,
    canonical,
    clock,
    payer,
    read_by_x12sdk,
)
from tests.sandbox.invented import clean, file, guide_of, medical, starting
from tools.docs.sandbox_pages import members_page

REFUSED = ["1001", "1002", "1003", "1004", "1005"]
MEMBERS = [*REFUSED, "1007", "2001", "W100"]

# Member, whether a dependent is asked about, the levels of the answer, and its refusals.
REFUSALS = [
    ("1001", False, ["20"], ["AAA*N**41*C", "AAA*N**79*C"]),
    ("1002", False, ["20"], ["AAA*N**79*C", "AAA*N**T4*C"]),
    ("1003", False, ["20", "21"], ["AAA*N**43*C", "AAA*N**51*N"]),
    ("1004", False, ["20", "21", "22"], ["AAA*N**72*C", "AAA*N**73*C"]),
    ("1004", True, ["20", "21", "22"], ["AAA*N**72*C", "AAA*N**73*C"]),
    ("1005", False, ["20", "21", "22"], ["AAA*N**58*C", "AAA*N**75*C"]),
    ("1005", True, ["20", "21", "22", "23"], ["AAA*N**58*C", "AAA*N**67*C"]),
]


@pytest.mark.parametrize("id", PAYERS)
@pytest.mark.parametrize("child", [False, True], ids=["subscriber", "dependent"])
@pytest.mark.parametrize("member", MEMBERS)
async def test_every_answer_is_clean_and_read_by_a_witness(id, member, child):
    content = await payer(id).answer(ask(member, child=child, payer=id), NOW)
    assert guide_of(content) == "271"
    assert clean(content)
    assert read_by_x12sdk(content) == 1
    assert await payer(id).answer(ask(member, child=child, payer=id), NOW) == content


@pytest.mark.parametrize("id", PAYERS)
@pytest.mark.parametrize(("member", "child", "levels", "refusals"), REFUSALS)
async def test_errors_stand_at_their_level(id, member, child, levels, refusals):
    found = await answer(id, ask(member, child=child))
    assert [row.split("*")[3] for row in starting(found, "HL*")] == levels
    assert starting(found, "AAA*") == refusals
    assert found[1] == "BHT*0022*11*R17*20260302*0930"


async def test_the_envelope_and_the_payer_are_distinguished():
    envelope, own = await answer("TST01", ask("1001")), await answer("TST01", ask("1002"))
    assert envelope.index("AAA*N**41*C") < envelope.index(starting(envelope, "NM1*PR")[0])
    assert own.index("AAA*N**T4*C") > own.index(starting(own, "NM1*PR")[0])


@pytest.mark.parametrize("child", [False, True])
async def test_1006_is_refused_by_a_999_that_names_the_member_id(child):
    content = await payer().answer(ask("1006", child=child), NOW)
    found = canonical(content)
    at = 9 if not child else 8  # ST, BHT, HL, NM1, HL, NM1, HL, TRN, NM1
    assert starting(found, "IK3", "CTX", "IK4", "IK5", "AK9") == [
        f"IK3*NM1*{at}*2100*8", "CTX*TRN02:17-1", "IK4*9**6", "IK5*R*5", "AK9*R*1*1*0",
    ]  # fmt: skip
    assert clean(content)


@pytest.mark.parametrize("member", ["1009", "1500", "1999"])
async def test_reserved_ids_without_a_scenario_have_plain_active_benefits(member):
    found = await answer("TST01", ask(member))
    assert starting(found, "AAA*") == []
    plain = await answer("TST01", ask("2001"))
    assert {row[:4] for row in starting(found, "EB*")} == {
        row[:4] for row in starting(plain, "EB*")
    }
    assert starting(found, "EB*1*")


@pytest.mark.parametrize("member", ["1000", "2000", "01001", "W1001", "10090", "9"])
def test_ids_beside_the_table_are_answered_from_the_plan(member):
    assert members.scenario_of(member) is members.ANY_OTHER


async def test_trace_numbers_come_back_and_the_payer_adds_its_own():
    traces = (("17-1", "9123456789"), ("desk-7", "1222222222", "EAST"))
    found = await answer("TST01", ask("2001", traces=traces))
    *echoed, own = starting(found, "TRN*")
    assert echoed == ["TRN*2*17-1*9123456789", "TRN*2*desk-7*1222222222*EAST"]
    assert re.fullmatch(r"TRN\*1\*TST0120260302\d{10}\*1\d{9}", own)
    child = await answer("TST01", ask("2001", child=True))
    assert child.index("TRN*2*17-1*9123456789") == child.index("HL*4*3*23*0") + 1
    refused = await answer("TST01", ask("1004", child=True))
    assert refused.index("TRN*2*17-1*9123456789") == refused.index("HL*3*2*22*0") + 1


async def test_a_trace_number_with_a_payers_separator_comes_back_as_it_came():
    found = await payer("TST1E").answer(ask("2001", traces=(("a|b>c", "9123456789"),)), NOW)
    assert b"TRN*2*a|b>c*9123456789~" in found


# Where a field of the document stands in an EB, and the list that names its codes.
PLACES = {
    "Type": (1, "benefits"),
    "TypesOfService": (3, "service_types"),
    "LevelOfCoverage": (2, "coverage_levels"),
    "BenefitTimePeriod": (6, "time_periods"),
}
NETWORK = {"Yes": "Y", "No": "N", "NotApplicable": "W"}


@pytest.mark.parametrize("id", PAYERS)
@pytest.mark.parametrize("child", [False, True])
async def test_1007_shows_every_value_that_the_document_lists(id, child):
    listed = {field: seen("EligibilityBenefit", field) for field in (*PLACES, "PlanInNetwork")}
    assert [len(words) for words in listed.values()] == [5, 16, 2, 2, 3]
    rows = [row.split("*") for row in starting(await answer(id, ask("1007", child=child)), "EB*")]
    for field, (at, list) in PLACES.items():
        shown = {code for row in rows if len(row) > at for code in row[at].split("^")}
        assert set(listed[field]) <= {benefit_names.name(list, code) for code in shown if code}
    shown = {row[12] for row in rows if len(row) > 12}
    assert {NETWORK[word] for word in listed["PlanInNetwork"]} <= shown
    assert {row[9] for row in rows if len(row) > 9} >= {"VS", "99"}


async def test_1007_shows_what_may_stand_below_a_benefit():
    found = await answer("TST01", ask("1007"))
    after = found[found.index(starting(found, "EB*")[0]) :]
    for id in (
        "HSD",
        "REF",
        "DTP",
        "AAA",
        "MSG",
        "III",
        "LS",
        "NM1",
        "N3",
        "N4",
        "PER",
        "PRV",
        "LE",
    ):
        assert starting(after, f"{id}*"), id
    assert "INS*Y*18*001*25" in found


async def test_each_payer_has_a_style_of_its_own():
    raw = {id: await payer(id).answer(ask("2001", payer=id), NOW) for id in PAYERS}
    assert len({(one[3:4], one[82:83], one[104:107]) for one in raw.values()}) == 4
    found = {id: canonical(content) for id, content in raw.items()}
    eb = {id: starting(rows, "EB*") for id, rows in found.items()}
    assert any("^" in row for row in eb["TST01"])
    assert not any("^" in row for row in eb["TST1E"])
    assert {row.split("*")[1] for row in eb["TST2E"]} == {"1", "C"}
    assert not starting(found["TST2E"], "PER", "REF", "DTP", "DMG", "INS")
    assert starting(found["TST3E"], "NM1*P3", "NM1*PR*2*HARBOR") == [
        "NM1*P3*1*FENN*OSKAR****XX*1679576722",
        "NM1*PR*2*HARBOR HEALTH PLAN*****PI*HHP20",
    ]
    assert not starting(found["TST01"], "LS*")


async def test_a_live_payer_answers_as_the_test_payer_of_its_kind():
    for profile, like in (
        (Profile("HHP20", "Harbor Health Plan"), "TST01"),
        (Profile("SMD05", "Summit Dental", dental=True), "TST02"),
    ):
        found = await EligibilityPayer(profile, clock()).answer(ask("2001"), NOW)
        same = await payer(like).answer(ask("2001"), NOW)
        assert starting(canonical(found), "EB*") == starting(canonical(same), "EB*")


# What a strict payer makes of a question that is not in order.
OWN_CHECKS = [
    ({"npi": "1234567890"}, ["AAA*N**43*C"]),
    ({"birth": ""}, ["AAA*N**58*C"]),
    ({"birth": "20260303"}, ["AAA*N**60*C"]),
    ({"last": ""}, ["AAA*N**73*C"]),
    ({"last": "", "child": True}, ["AAA*N**65*C"]),
    ({"member": ""}, ["AAA*N**72*C"]),
    ({"member": "", "child": True}, ["AAA*N**72*C"]),
    ({"member": "", "last": "", "birth": ""}, ["AAA*N**72*C", "AAA*N**73*C", "AAA*N**58*C"]),
]


@pytest.mark.parametrize(
    ("fault", "refusals"), OWN_CHECKS, ids=[str(fault) for fault, _ in OWN_CHECKS]
)
async def test_a_payer_checks_on_its_own(fault, refusals):
    content = await payer().answer(ask(**{"member": "2001", **fault}), NOW)
    assert starting(canonical(content), "AAA*") == refusals
    assert not starting(canonical(content), "EB*")
    # A wrong number of the provider comes back as it came.
    found = {one.rule for one in check.check(content).findings}
    assert found == ({"VAL-NPI"} if "npi" in fault else set())


@pytest.mark.parametrize("member", ["1004", "1007"])
async def test_steered_members_are_spared_the_checks(member):
    broken = ask(member, npi="1234567890", birth="")
    same = await answer("TST01", ask(member, birth=""))
    assert starting(await answer("TST01", broken), "AAA*", "EB*") == starting(same, "AAA*", "EB*")


async def test_another_payers_question_is_refused():
    one = EligibilityPayer(Profile("TST01", "Sandbox Medical", frozenset({"TST01"})), clock())
    assert starting(canonical(await one.answer(ask("2001"), NOW)), "AAA*") == []
    found = canonical(await one.answer(ask("2001", payer="HHP20"), NOW))
    assert starting(found, "AAA*") == ["AAA*N**79*C"]
    assert not starting(found, "HL*2")


async def test_a_set_with_a_fault_is_refused_by_a_999_and_says_where():
    content = ask("2001").replace(b"19800229", b"19810229")
    found = canonical(await payer().answer(content, NOW))
    assert starting(found, "IK3", "IK4", "IK5") == ["IK3*DMG*10*2100*8", "IK4*2**8", "IK5*R*5"]


async def test_a_claim_is_not_a_question():
    found = canonical(await payer().answer(file(medical("3001")), NOW))
    assert starting(found, "IK5", "AK9") == ["IK5*R*1", "AK9*R*1*1*0"]


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ((b"IEA*1*000000017", b"IEA*1*000000018"), "001"),
        ((b"IEA*1*000000017~", b""), "022"),
        ((b"IEA*1*", b"IEA*2*"), "021"),
    ],
)
async def test_a_fault_of_the_interchange_is_refused_by_a_ta1(change, note):
    reply = await payer().answer(ask("2001").replace(*change), NOW)
    assert f"TA1*000000017*260302*0930*R*{note}~".encode() in reply
    assert clean(reply)


@pytest.mark.parametrize("content", [b"", b"hello", b"<html></html>", b"ISA*00*"])
async def test_what_is_no_x12_is_refused_by_a_ta1_that_knows_no_sender(content):
    reply = await payer().answer(content, NOW)
    assert b"TA1*000000000*260302*0930*R*024~" in reply
    assert clean(reply)


async def test_an_acknowledgement_is_not_acknowledged():
    nine = await payer().answer(ask("1006"), NOW)
    reply = await payer().answer(nine, NOW)
    assert b"GS*" not in reply
    assert b"TA1*000000017*260302*0930*A*000~" in reply


async def test_several_questions_have_several_answers_in_their_order():
    questions = [
        Question(member=member, reference=member, traces=((f"17-{at}", "9123456789"),))
        for at, member in enumerate(("2001", "1004", "W3"), 1)
    ]
    content = await payer().answer(asked(*questions), NOW)
    assert [row.split("*")[3] for row in starting(canonical(content), "BHT*")] == [
        "2001",
        "1004",
        "W3",
    ]
    assert clean(content)
    assert read_by_x12sdk(content) == 3


async def test_many_questions_in_one_interchange_are_answered():
    questions = [Question(member=f"M{number}", reference=f"R{number}") for number in range(60)]
    content = await payer().answer(asked(*questions), NOW)
    assert len(starting(canonical(content), "BHT*")) == 60
    assert clean(content)


def test_the_repr_of_a_response_shows_nothing_of_the_patient():
    (one,) = read_270.read(ask("2001", child=True))
    (asked_about,) = one.sets()
    response = responder_of(Profile("TST01", "Sandbox Medical")).coverage.answer(
        asked_about, NOW.date()
    )
    assert "ARDEN" not in repr(response)
    assert "2001" not in repr(response)


async def test_an_answer_carries_the_day_it_is_given():
    later = NOW + timedelta(days=40)
    content = await payer().answer(ask("2001"), later)
    assert b"BHT*0022*11*R17*20260411*0930~" in content
    assert content[:106].split(b"*")[9] == b"260411"
    assert b"DTP*291*RD8*20260101-20261231~" in content
    asked_for = await payer().answer(ask("2001", day="20250505"), later)
    assert b"DTP*291*RD8*20250101-20251231~" in asked_for


async def test_every_answer_about_many_members_is_clean():
    for number in range(0, 300, full_or_quick(1, 7)):
        id = list(PAYERS)[number % 5]
        day = NOW + timedelta(days=number)
        services = list(codes.load("service_types"))[number % 150 : number % 150 + 3]
        question = ask(
            f"M{number}",
            child=number % 2 == 0,
            benefits=(("EQ", services, "", "FAM" if number % 2 else ""),),
        )
        reply = await payer(id).answer(question, day)
        assert clean(reply)


def test_the_page_lists_every_member_id_payer_and_check():
    text = "\n".join(members_page())
    for word in (
        *members.SCENARIOS,
        "1009 to 1999",
        *PAYERS,
        *(one.code for one in members.CHECKS),
    ):
        assert f"`{word}`" in text
