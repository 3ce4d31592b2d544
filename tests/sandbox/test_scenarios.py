"""Every insured id of the table, from the file that arrives to the last answer, in figures computed by hand."""

import asyncio
from datetime import date
from decimal import Decimal

import pytest

from clearlane.sandbox import scenarios
from clearlane.sandbox.model import ResponseType
from clearlane.x12.reader import reader
from tests.cases import every_case
from tests.sandbox.invented import (
    CHECK_NPI,
    DENTAL,
    TRANSFER_NPI,
    Stage,
    clean,
    file,
    guide_of,
    kind,
    medical,
    one,
    rows,
    services,
    starting,
    witnessed,
)

CHARGES = ("100", "80", "60")


async def played(member: str, days: int = 40, charges=CHARGES, **more) -> tuple[dict, Stage]:
    """One claim of three lines, 240.00, and everything that comes back."""
    stage = Stage()
    await stage.send(medical(member, *charges, **more))
    await stage.days(days)
    return stage.files, stage


def claims(content: bytes) -> list[str]:
    return starting(rows(content), "CLP*")


def lines(content: bytes) -> list[str]:
    return starting(rows(content), "SVC*", "CAS*", "LQ*")


async def test_3001_is_paid_in_full():
    files, _ = await played("3001")
    assert list(files) == ["TST01.000000001.999", "TST01.000000002.277CA", "TST01.000000003.835"]
    assert "IK5*A" in one(files, "999")
    (remit,) = kind(files, "835")
    assert claims(remit) == ["CLP*A1*1*240*240**15*S00000100000*11*1"]
    assert lines(remit) == [
        "SVC*HC:99213*100*100**1",
        "SVC*HC:71046*80*80**1",
        "SVC*HC:97110*60*60**1",
    ]
    assert starting(rows(remit), "REF*6R") == ["REF*6R*CLA1-1", "REF*6R*CLA1-2", "REF*6R*CLA1-3"]
    assert starting(rows(remit), "BPR*", "TRN*", "PLB*") == [
        "BPR*I*240*C*CHK************20260316",
        "TRN*1*00000001*1995142783",
    ]


async def test_the_277ca_has_four_levels_and_gives_every_number_back():
    files, _ = await played("3001", days=1)
    found = one(files, "277CA")
    assert [row.split("*")[3] for row in starting(found, "HL*")] == ["20", "21", "19", "PT"]
    assert starting(found, "STC*") == [
        "STC*A1:19:PR*20260303*WQ*240",
        "STC*A1:19:PR**WQ*240",
        "STC*A2:20:PR*20260303*WQ*240",
    ]
    assert "TRN*2*0000000010001" in found  # BHT03 of the set
    assert "TRN*2*A1" in found  # CLM01
    assert starting(found, "REF*") == ["REF*1K*S00000100000", "REF*D9*CLA1"]
    assert starting(found, "QTY*", "AMT*") == ["QTY*90*1", "AMT*YU*240", "QTY*QA*1", "AMT*YU*240"]
    assert guide_of(kind(files, "277CA")[0]) == "277CA"


async def test_3002_has_a_deductible_and_coinsurance():
    files, _ = await played("3002")
    (remit,) = kind(files, "835")
    # 100: 20 off, 80 allowed, 50 deductible, 20 % of 30 = 6, paid 24
    #  80: 16 off, 64 allowed, 20 % = 12.80, paid 51.20;  60: 12 off, 48 allowed, 9.60, paid 38.40
    assert lines(remit) == [
        "SVC*HC:99213*100*24**1", "CAS*CO*45*20", "CAS*PR*1*50**2*6",
        "SVC*HC:71046*80*51.2**1", "CAS*CO*45*16", "CAS*PR*2*12.8",
        "SVC*HC:97110*60*38.4**1", "CAS*CO*45*12", "CAS*PR*2*9.6",
    ]  # fmt: skip
    # paid 24 + 51.20 + 38.40 = 113.60; the patient owes 56 + 12.80 + 9.60 = 78.40
    assert claims(remit) == ["CLP*A1*1*240*113.6*78.4*15*S00000100000*11*1"]


async def test_3002_takes_the_deductible_from_small_lines_one_after_the_other():
    files, _ = await played("3002", charges=("30", "50"))
    # 30: 6 off, 24 deductible;  50: 10 off, 40 allowed, 26 deductible, 14 left, 2.80, paid 11.20
    assert lines(kind(files, "835")[0])[-3:] == [
        "SVC*HC:71046*50*11.2**1", "CAS*CO*45*10", "CAS*PR*1*26**2*2.8",
    ]  # fmt: skip


async def test_3003_is_denied():
    files, _ = await played("3003")
    (remit,) = kind(files, "835")
    assert claims(remit) == ["CLP*A1*4*240*0**15*S00000100000*11*1"]
    assert lines(remit)[:3] == ["SVC*HC:99213*100*0**1", "CAS*CO*50*100", "LQ*HE*N115"]
    assert starting(rows(remit), "BPR*") == ["BPR*H*0*C*NON************20260316"]


async def test_3004_is_refused_in_the_277ca_and_never_paid():
    files, _ = await played("3004")
    found = one(files, "277CA")
    assert "STC*A7:562:85*20260303*U*240" in found
    assert starting(found, "QTY*") == ["QTY*AA*1", "QTY*QC*1"]
    assert not starting(found, "REF*1K")
    assert not kind(files, "835")


async def test_3005_is_refused_in_the_999_by_its_position_and_the_set_is_not_taken_in():
    stage = Stage()
    content = file(medical("3001", account="A1"), medical("3005", *CHARGES, account="A2"))
    await stage.payer.receive("b.837", content, stage.now)
    found = one(await stage.work(), "999")
    segments = list(next(iter(reader.parse(content).sets())).all_segments())
    at = 1 + max(i for i, s in enumerate(segments) if s[0] == "CLM")
    first_line = next(i for i in range(at, len(segments)) if segments[i][0] == "SV1") + 1
    assert starting(found, "IK3", "CTX", "IK4", "IK5", "AK9") == [
        f"IK3*SV1*{first_line}*2400*8", "CTX*CLM01:A2", "IK4*1:2**7", "IK5*R*5", "AK9*R*1*1*0",
    ]  # fmt: skip
    assert not await stage.days(40)


async def test_3005_leaves_the_other_sets_of_the_interchange_alone():
    stage = Stage()
    left = await stage.send(medical("3005"), medical("3001", account="A2"), sets=2)
    assert starting(one(left, "999"), "IK5", "AK9") == ["IK5*R*5", "IK5*A", "AK9*P*2*2*1"]
    assert claims(kind(await stage.days(14), "835")[0]) == [
        "CLP*A2*1*100*100**15*S00000100000*11*1"
    ]


async def test_3006_refuses_the_whole_interchange_by_ta1():
    stage = Stage()
    left = await stage.send(medical("3001"), medical("3006", account="A2"))
    assert [name[-3:] for name in left] == ["TA1"]
    assert starting(one(left, "TA1"), "TA1") == ["TA1*000000001*260302*0930*R*024"]
    assert not await stage.days(40)


async def test_3007_is_pended_and_then_paid_with_interest():
    files, _ = await played("3007")
    assert [name.split(".")[-1] for name in files] == ["999", "277CA", "277", "835"]
    found = one(files, "277")
    assert "STC*P2:46*20260307**240" in found  # day 5
    assert starting(found, "TRN*", "REF*") == [
        "TRN*2*A1", "REF*1K*S00000100000", "REF*EJ*A1", "REF*D9*CLA1",
    ]  # fmt: skip
    (remit,) = kind(files, "835")
    assert claims(remit) == ["CLP*A1*1*240*240**15*S00000100000*11*1"]
    # 1 % of 240 is 2.40, so the check is 242.40
    assert starting(rows(remit), "BPR*", "AMT*I", "PLB*") == [
        "BPR*I*242.4*C*CHK************20260323",
        "AMT*I*2.4",
        "PLB*1234567893*20261231*L6:S00000100000*-2.4",
    ]


async def test_3008_is_paid_then_reversed_and_corrected():
    files, stage = await played("3008", days=28)
    first, second = kind(files, "835")
    assert claims(first) == ["CLP*A1*1*240*240**15*S00000100000*11*1"]
    # a quarter off: 25 + 20 + 15 = 60, paid 180
    assert claims(second) == [
        "CLP*A1*22*-240*-240**15*S00000100000*11*1",
        "CLP*A1*1*240*180**15*S00000100000*11*1",
    ]
    assert lines(second) == [
        "SVC*HC:99213*-100*-100", "SVC*HC:71046*-80*-80", "SVC*HC:97110*-60*-60",
        "SVC*HC:99213*100*75**1", "CAS*CO*45*25", "SVC*HC:71046*80*60**1", "CAS*CO*45*20",
        "SVC*HC:97110*60*45**1", "CAS*CO*45*15",
    ]  # fmt: skip
    # -240 + 180 = -60: nothing is paid, and 60 is forwarded
    assert starting(rows(second), "BPR*", "PLB*") == [
        "BPR*H*0*C*NON************20260330",
        "PLB*1234567893*20261231*FB:S00000100000*-60",
    ]
    # the provider's next payment of 45 makes up for 45 of it, the one after for the other 15
    await stage.send(
        medical("3001", "45", account="B1"), medical("3001", "50", account="B2", npi=TRANSFER_NPI)
    )
    payments = one(await stage.days(14), "835")
    assert starting(payments, "BPR*", "PLB*") == [
        "BPR*H*0*C*NON************20260413",
        "PLB*1234567893*20261231*FB:S00000200000*45",
        "BPR*I*50*C*ACH*CCP*01*999999992*DA*1000200*1995142783**01*999999992*DA*1679576722*20260413",
    ]
    await stage.send(medical("3001", "45", account="B3"))
    assert starting(one(await stage.days(14), "835"), "BPR*", "PLB*") == [
        "BPR*I*30*C*CHK************20260427",
        "PLB*1234567893*20261231*FB:S00000300000*15",
    ]
    await stage.send(medical("3001", "45", account="B4"))
    assert starting(one(await stage.days(14), "835"), "PLB*") == []


async def test_3009_is_never_answered():
    files, _ = await played("3009")
    assert [name.split(".")[-1] for name in files] == ["999"]
    assert "IK5*A" in one(files, "999")


async def test_3010_is_a_duplicate():
    files, _ = await played("3010")
    (remit,) = kind(files, "835")
    assert claims(remit) == ["CLP*A1*1*240*0**15*S00000100000*11*1"]
    assert starting(rows(remit), "CAS") == ["CAS*OA*18*100", "CAS*OA*18*80", "CAS*OA*18*60"]


async def test_3011_is_paid_and_forwarded():
    files, _ = await played("3011")
    (remit,) = kind(files, "835")
    # a fifth is coinsurance: 20 + 16 + 12 = 48, paid 192
    assert claims(remit) == ["CLP*A1*19*240*192*48*15*S00000100000*11*1"]
    assert "NM1*TT*2*HARBOR HEALTH PLAN*****PI*HHP20" in rows(remit)
    assert "MOA***MA18" in rows(remit)


async def test_3012_is_paid_before_it_is_acknowledged():
    files, _ = await played("3012")
    assert [name.split(".")[-1] for name in files] == ["999", "835", "277CA"]
    assert "DTM*405*20260307" in one(files, "835")
    assert "STC*A2:20:PR*20260311*WQ*240" in one(files, "277CA")


async def test_3013_is_answered_unreadably_first_and_truly_a_day_later():
    files, _ = await played("3013")
    assert [name.split(".")[-1] for name in files] == ["999", "HTML", "277CA", "835", "835"]
    assert kind(files, "HTML")[0].startswith(b"<!DOCTYPE html>")
    cut, true = kind(files, "835")
    assert not cut.endswith(b"~") or b"IEA*" not in cut
    assert clean(true)
    assert claims(true) == ["CLP*A1*1*240*240**15*S00000100000*11*1"]
    assert "DTM*405*20260317" in rows(true)


async def test_3014_is_denied_in_its_last_line():
    files, _ = await played("3014")
    (remit,) = kind(files, "835")
    assert claims(remit) == ["CLP*A1*1*240*180**15*S00000100000*11*1"]
    assert lines(remit)[2:] == ["SVC*HC:97110*60*0**1", "CAS*CO*50*60", "LQ*HE*N115"]


async def test_3014_with_one_line_is_denied():
    files, _ = await played("3014", charges=("100",))
    assert claims(kind(files, "835")[0]) == ["CLP*A1*1*100*0**15*S00000100000*11*1"]


async def test_3015_is_answered_twice_with_the_same_bytes():
    files, _ = await played("3015")
    assert [name.split(".", 2)[2] for name in files] == [
        "999",
        "277CA",
        "277CA.AGAIN",
        "835",
        "835.AGAIN",
    ]
    contents = list(files.values())
    assert contents[1] == contents[2]
    assert contents[3] == contents[4]


async def test_3016_is_refused_until_the_birth_date_differs():
    stage = Stage()
    for account, birth in (
        ("A1", date(1980, 5, 17)),
        ("A2", date(1980, 5, 17)),
        ("A3", date(1980, 5, 18)),
    ):
        await stage.send(medical("3016", "100", account=account, birth=birth))
    await stage.days(20)
    refused = [
        row
        for content in kind(stage.files, "277CA")
        for row in starting(rows(content), "STC*A7:158:QC")
    ]
    assert len(refused) == 2
    (remit,) = kind(stage.files, "835")
    assert [row.split("*")[1:5] for row in claims(remit)] == [["A3", "1", "100", "100"]]


async def test_3017_is_denied_until_a_replacement_names_its_number_and_differs():
    stage = Stage()
    await stage.send(medical("3017", "100"))
    await stage.days(15)
    (denial,) = kind(stage.files, "835")
    [claim] = claims(denial)
    assert lines(denial) == ["SVC*HC:99213*100*0**1", "CAS*CO*16*100", "LQ*HE*N657"]
    number = claim.split("*")[7]
    sent = (
        ("A2", "90", "1", ""),
        ("A3", "90", "7", "S00099900000"),
        ("A4", "100", "7", number),
        ("A5", "90", "7", number),
        ("A6", "80", "7", number),
    )
    for account, charge, frequency, original in sent:
        await stage.send(
            medical("3017", charge, account=account, frequency=frequency, original=original)
        )
    await stage.days(20)
    found = [row.split("*") for content in kind(stage.files, "835") for row in claims(content)]
    assert [(row[1], row[2], row[4]) for row in found[1:]] == [
        ("A2", "1", "0"),
        ("A4", "1", "0"),
        ("A1", "22", "0"),
        ("A5", "1", "90"),
    ]
    refused = [
        row
        for content in kind(stage.files, "277CA")
        for row in starting(rows(content), "STC*A7:464")
    ]
    assert len(refused) == 2  # the wrong number, and the one that was replaced


def paid_once(files) -> list[list[str]]:
    """Return the claims of every payment that can be read, each payment once."""
    payments = {}
    for content in kind(files, "835"):
        segments = rows(content)
        if any(row.startswith("SE*") for row in segments):
            payments[starting(segments, "TRN*")[0]] = [row.split("*") for row in claims(content)]
    return [row for payment in payments.values() for row in payment]


REMITTED = ResponseType.REMIT
DECIDED = [
    row.id
    for row in scenarios.SCENARIOS.values()
    if row.decide and row.id != "3016" and any(act.type is REMITTED for act in row.responses)
]


@every_case(
    ("member", "days"),
    [*((member, 35) for member in DECIDED), ("3008", 20), ("3022", 20), ("3022", 28)],
)
def test_a_void_takes_back_what_is_in_force_of_every_scenario(member, days):
    files = asyncio.run(sent_anew(member, days, "8", "100", "80"))
    found = paid_once(files)
    assert sum(Decimal(row[4]) for row in found) == 0
    assert sum(interest(files)) == 0
    assert found[-1][1:5] == ["A2", "1", "180", "0"]
    assert [row[2] for row in found if row[7] == "S00000100000"][-1] == "22"
    assert not any("STC*A7" in row for content in kind(files, "277CA") for row in rows(content))
    unknown = medical(member, "100", account="A3", frequency="8", original="S00000900000")
    assert "STC*A7:464" in asyncio.run(answered(unknown))


@every_case(
    ("member", "days"),
    [*((member, 35) for member in DECIDED if member != "3017"), ("3008", 20), ("3022", 28)],
)
def test_a_replacement_takes_back_what_is_in_force_and_is_decided_anew(member, days):
    files = asyncio.run(sent_anew(member, days, "7", "70", "60"))
    assert all(map(clean, kind(files, "277CA")))
    found, anew = paid_once(files), paid_once(asyncio.run(played(member, charges=("70", "60")))[0])
    back = [row[2] for row in found if row[7] == "S00000100000"]
    assert (back.count("22"), back[-1]) == (len(back) // 2, "22")
    # What stays paid is what a first claim of the same lines and charges is paid.
    assert sum(Decimal(row[4]) for row in found) == sum(Decimal(row[4]) for row in anew)
    share = scenarios.INTEREST if scenarios.SCENARIOS[member].interest else 0
    assert sum(interest(files)) == share * sum(Decimal(row[4]) for row in anew)
    unknown = medical(member, "100", account="A3", frequency="7", original="S00000900000")
    assert "STC*A7:464" in asyncio.run(answered(unknown))


async def test_a_replacement_is_paid_beside_the_reversal_with_its_interest():
    files = await sent_anew("3020", 15, "7", "70", "60", account="A1")
    remit = kind(files, "835")[1]
    # 180 with 1.80 interest are taken back, 130 with 1.30 are paid: 50.50 are left to be withheld
    assert starting(rows(remit), "BPR*", "CLP*", "REF*F8", "AMT*I", "PLB*") == [
        "BPR*H*0*C*NON************20260331",
        "CLP*A1*22*-180*-180**15*S00000100000*11*1", "AMT*I*-1.8",
        "CLP*A1*1*130*130**15*S00000200000*11*7", "REF*F8*S00000100000", "AMT*I*1.3",
        "PLB*1234567893*20261231*L6:S00000100000*1.8*L6:S00000200000*-1.3*FB:S00000100000*-50.5",
    ]  # fmt: skip
    assert clean(remit)
    assert witnessed(remit)


async def sent_anew(member, days, frequency, *charges, account="A2") -> dict:
    """A claim, and after some days another that replaces or voids it."""
    stage = Stage()
    await stage.send(medical(member, "100", "80"))
    await stage.days(days)
    await stage.send(
        medical(member, *charges, account=account, frequency=frequency, original="S00000100000")
    )
    await stage.days(40)
    return stage.files


def interest(files) -> list[Decimal]:
    """Return the interest of every claim, of each payment once; PLB says the same."""
    claims, checks = {}, {}
    for content in kind(files, "835"):
        segments = rows(content)
        if any(row.startswith("SE*") for row in segments):
            trace = starting(segments, "TRN*")[0]
            claims[trace] = [Decimal(row.split("*")[2]) for row in starting(segments, "AMT*I*")]
            pairs = [row.split("*")[3:] for row in starting(segments, "PLB*")]
            reasons = [(p[i], p[i + 1]) for p in pairs for i in range(0, len(p), 2)]
            checks[trace] = -sum(
                Decimal(amount) for reason, amount in reasons if reason[:2] == "L6"
            )
    assert {trace: sum(found) for trace, found in claims.items()} == checks
    return [one for found in claims.values() for one in found]


async def answered(claim) -> str:
    stage = Stage()
    await stage.send(claim)
    return " ".join(row for content in kind(await stage.days(9), "277CA") for row in rows(content))


@pytest.mark.parametrize(("order", "code"), [("P", "1"), ("S", "2"), ("T", "3")])
async def test_3018_is_denied_by_its_reasons_alone(order, code):
    files, _ = await played("3018", order=order)
    (remit,) = kind(files, "835")
    assert claims(remit) == [f"CLP*A1*{code}*240*0**15*S00000100000*11*1"]
    assert lines(remit)[:3] == ["SVC*HC:99213*100*0**1", "CAS*CO*197*100", "LQ*HE*M62"]
    assert clean(remit)


async def test_a_denied_claim_makes_no_duplicate_of_the_next():
    stage = Stage(DENTAL)
    for account, day in (("A1", 16), ("A2", 17), ("A3", 17)):
        claim = services("W100", ("D0274", "40"), account=account, day=date(2026, 2, day))
        await stage.send(claim)
    await stage.days(20)
    found = [
        (row[1], row[2])
        for content in kind(stage.files, "835")
        for row in (text.split("*") for text in starting(rows(content), "CLP*", "CAS*"))
    ]
    # The limit of one a year denies the second, and the third as well: it is no duplicate.
    assert found[-4:] == [("A2", "1"), ("PR", "119"), ("A3", "1"), ("PR", "119")]


@pytest.mark.parametrize("member", ["3035", "3500", "3999"])
async def test_reserved_ids_are_not_found_with_a_message(member):
    files, _ = await played(member)
    (status,) = [row for row in one(files, "277CA") if row.startswith("STC*A3:33*")]
    assert status.endswith("*NOT FOUND. INSURED IDS 3035 TO 3999 ARE RESERVED BY THE SANDBOX.")
    assert not kind(files, "835")


@pytest.mark.parametrize("member", ["3000", "4000", "03001", "W3001", "30190"])
async def test_ids_beside_the_table_are_decided_by_the_plan(member):
    assert scenarios.scenario_of(member) is scenarios.BY_PLAN


def test_every_scenario_that_is_answered_ends_within_forty_days():
    assert max(act.day for row in scenarios.SCENARIOS.values() for act in row.responses) <= 40
    assert set(scenarios.SCENARIOS) == {str(number) for number in range(3001, 3035)}


@pytest.mark.parametrize("member", ["3001", "3002", "3003", "3008", "3011", "3014"])
async def test_dental_claims_are_steered_alike(member):
    stage = Stage(DENTAL)
    await stage.send(services(member, ("D1110", "100"), ("D2391", "80"), ("D2740", "60")))
    await stage.days(40)
    medical_files, _ = await played(member)
    amounts = [[row.split("*")[2:5] for row in claims(c)] for c in kind(stage.files, "835")]
    assert amounts == [
        [row.split("*")[2:5] for row in claims(c)] for c in kind(medical_files, "835")
    ]
    assert all(map(clean, stage.files.values()))


async def test_claims_of_one_file_share_a_check_for_each_provider_and_every_answer_is_clean():
    stage = Stage()
    # Refused files, a reversal without its correction, and a check that does not balance are tested by themselves.
    # So are those that differ only in what is answered to questions.
    apart = {"3005", "3006", "3022", "3023", *map(str, range(3026, 3035))}
    members = [row for row in scenarios.SCENARIOS if row not in apart]
    sent = [
        medical(member, *CHARGES, account=f"{npi[:2]}{member}", npi=npi, child=member == "3002")
        for npi in (CHECK_NPI, TRANSFER_NPI)
        for member in (*members, "3035", "W100")
    ]
    await stage.send(*sent)
    await stage.days(40)
    main = kind(stage.files, "835")[1]
    # 3001, 3002, 3003, 3008, 3010, 3011, 3014, 3017 to 3021 and the plan's claim, for two providers
    assert len(claims(main)) == 26
    assert starting(rows(main), "TRN*") == [
        "TRN*1*00000003*1995142783",
        "TRN*1*E00000004*1995142783",
    ]
    whole = [
        content
        for name, content in stage.files.items()
        if not name.endswith(".HTML") and b"IEA*" in content
    ]
    assert len(whole) == len(stage.files) - 2  # a web page and half a file
    assert all(map(clean, whole))
    remits = [content for content in whole if b"GS*HP*" in content]
    assert len(remits) == 10
    assert all(map(witnessed, remits))
