"""What the plan decides, in figures computed by hand."""

from datetime import date
from decimal import Decimal

import pytest

from clearlane.sandbox import plan
from tests.sandbox.invented import (
    DENTAL,
    Stage,
    clean,
    kind,
    one,
    rows,
    services,
    starting,
    witnessed,
)

JANUARY = date(2026, 1, 12)


async def remitted(stage: Stage, *claims, witness: bool = False) -> list[str]:
    """The claims, lines and adjustments of the 835 that answers one file."""
    await stage.send(*claims)
    (content,) = kind(await stage.days(14), "835")
    assert clean(content)
    assert not witness or witnessed(content)
    return starting(rows(content), "CLP*", "SVC*", "CAS*", "LQ*", "MOA*")


async def test_a_visit_has_a_copay_and_no_deductible():
    found = await remitted(Stage(), services("W1", ("99213", "140"), ("99214", "130")))
    # 99213: fee 90, 50 off, copay 25, paid 65; 99214: fee 130, nothing off, the copay was taken
    assert found == [
        "CLP*A1*1*270*195*25*15*S00000100000*11*1",
        "SVC*HC:99213*140*65**1", "CAS*CO*45*50", "CAS*PR*3*25",
        "SVC*HC:99214*130*130**1",
    ]  # fmt: skip


async def test_the_deductible_is_used_up_over_the_claims_of_a_year():
    stage = Stage()
    # 20610: fee 75, all of it deductible; 25 of 100 are left
    first = await remitted(stage, services("W1", ("20610", "95")))
    assert first[1:] == ["SVC*HC:20610*95*0**1", "CAS*CO*45*20", "CAS*PR*1*75"]
    # 20611 has no fee: 70 % of 100 is allowed; 25 deductible, 20 % of 45 = 9, paid 36
    second = await remitted(stage, services("W1", ("20611", "100"), account="A2"))
    assert second[1:] == ["SVC*HC:20611*100*36**1", "CAS*CO*45*30", "CAS*PR*1*25**2*9"]
    # nothing is left of it: 20 % of 70 = 14
    third = await remitted(stage, services("W1", ("20611", "100"), account="A3", day=JANUARY))
    assert third[1:] == ["SVC*HC:20611*100*56**1", "CAS*CO*45*30", "CAS*PR*2*14"]
    # another year, and another member, begin anew: 70 of the 100
    last_year = services("W1", ("20611", "100"), account="A4", day=date(2025, 6, 2))
    for other in (last_year, services("W2", ("20611", "100"), account="A5")):
        assert (await remitted(stage, other))[1:] == [
            "SVC*HC:20611*100*0**1", "CAS*CO*45*30", "CAS*PR*1*70",
        ]  # fmt: skip


async def test_a_dependent_has_a_deductible_of_its_own():
    stage = Stage()
    await remitted(stage, services("W1", ("20611", "200")))
    child = services("W1", ("20611", "100"), account="A2", child=True)
    assert (await remitted(stage, child))[-1] == "CAS*PR*1*70"


async def test_units_multiply_the_fee_and_a_charge_is_never_exceeded():
    found = await remitted(Stage(), services("W1", ("97110", "200")))
    assert found[2] == "CAS*CO*45*165"  # one unit of 35
    three = services("W1", ("97110", "200"))
    lines = (("97110", "200", "HC", "3"),)
    found = await remitted(Stage(), type(three)("W1", lines=lines))
    assert found[1:] == ["SVC*HC:97110*200*4**3", "CAS*CO*45*95", "CAS*PR*1*100**2*1"]
    found = await remitted(Stage(), services("W1", ("97110", "20")))
    assert found[1:] == ["SVC*HC:97110*20*0**1", "CAS*PR*1*20"]


async def test_a_bundled_service_is_not_paid_on_the_same_claim():
    found = await remitted(Stage(), services("W1", ("80053", "15"), ("36415", "12")))
    assert found[1:] == [
        "SVC*HC:80053*15*0**1", "CAS*PR*1*15",
        "SVC*HC:36415*12*0**1", "CAS*CO*97*12", "LQ*HE*M15",
    ]  # fmt: skip
    alone = await remitted(Stage(), services("W1", ("36415", "12")))
    assert alone[1:] == ["SVC*HC:36415*12*0**1", "CAS*CO*45*7", "CAS*PR*1*5"]


async def test_a_preventive_visit_is_covered_once_a_year():
    stage = Stage()
    first = await remitted(stage, services("W1", ("99395", "150")))
    assert first == [
        "CLP*A1*1*150*140**15*S00000100000*11*1",
        "SVC*HC:99395*150*140**1",
        "CAS*CO*45*10",
    ]
    again = await remitted(stage, services("W1", ("99395", "150"), account="A2", day=JANUARY))
    assert again == [
        "CLP*A2*1*150*0*150*15*S00000200000*11*1",
        "SVC*HC:99395*150*0**1", "CAS*PR*119*150", "LQ*HE*N362",
    ]  # fmt: skip
    before = services("W1", ("99395", "150"), account="A3", day=date(2025, 12, 31))
    assert (await remitted(stage, before))[1] == "SVC*HC:99395*150*140**1"


async def test_dental_is_paid_by_category_with_a_deductible_for_all_but_prevention():
    claim = services("W1", ("D1110", "100"), ("D2391", "200"), ("D2740", "1200"))
    found = await remitted(Stage(DENTAL), claim)
    # D1110: fee 85, paid in full; D2391: fee 150, 50 deductible, 20 % of 100 = 20, paid 80
    # D2740: fee 1000, half of it
    assert found == [
        "CLP*A1*1*1500*665*570*15*S00000100000*11*1",
        "SVC*AD:D1110*100*85**1", "CAS*CO*45*15",
        "SVC*AD:D2391*200*80**1", "CAS*CO*45*50", "CAS*PR*1*50**2*20",
        "SVC*AD:D2740*1200*500**1", "CAS*CO*45*200", "CAS*PR*2*500",
    ]  # fmt: skip


async def test_dental_pays_no_more_than_the_maximum_of_a_year():
    stage = Stage(DENTAL)
    # 50 deductible, half of 950 = 475 paid; then half of 1000 = 500; 25 of the maximum are left
    await remitted(stage, services("W1", ("D2740", "1000")))
    await remitted(stage, services("W1", ("D2740", "1000"), account="A2", day=JANUARY))
    third = await remitted(stage, services("W1", ("D2750", "950"), account="A3"))
    # half of 950 = 475, of which 25 are paid
    assert third == [
        "CLP*A3*1*950*25*925*15*S00000300000*11*1",
        "SVC*AD:D2750*950*25**1", "CAS*PR*2*475**119*450",
    ]  # fmt: skip


async def test_cleanings_are_covered_twice_a_year():
    stage = Stage(DENTAL)
    days = [date(2026, 1, 5), date(2026, 2, 5), date(2026, 2, 20)]
    claims = [
        services("W1", ("D1110", "85"), account=f"A{at}", day=day) for at, day in enumerate(days)
    ]
    found = await remitted(stage, *claims)
    assert [row for row in found if row.startswith("SVC")] == [
        "SVC*AD:D1110*85*85**1", "SVC*AD:D1110*85*85**1", "SVC*AD:D1110*85*0**1",
    ]  # fmt: skip
    assert found[-2:] == ["CAS*PR*119*85", "LQ*HE*N362"]


async def test_the_same_claim_again_is_a_duplicate():
    stage = Stage()
    await remitted(stage, services("W1", ("99213", "90"), account="A1"))
    found = await remitted(stage, services("W1", ("99213", "90"), account="A2"))
    assert found == [
        "CLP*A2*1*90*0**15*S00000200000*11*1", "SVC*HC:99213*90*0**1", "CAS*OA*18*90",
    ]  # fmt: skip
    other_day = services("W1", ("99213", "90"), account="A3", day=JANUARY)
    assert (await remitted(stage, other_day))[0] == "CLP*A3*1*90*65*25*15*S00000300000*11*1"


async def test_a_later_payer_pays_what_earlier_ones_left():
    claim = services("W1", ("99395", "200"), order="S", before="100")
    # fee 140: 60 off, 100 were paid before, 40 are left
    assert await remitted(Stage(), claim, witness=True) == [
        "CLP*A1*2*200*40**15*S00000100000*11*1",
        "SVC*HC:99395*200*40**1", "CAS*CO*45*60", "CAS*OA*23*100",
    ]  # fmt: skip
    more = services("W1", ("99395", "200"), order="S", before="170")
    assert (await remitted(Stage(), more))[1:] == [
        "SVC*HC:99395*200*0**1", "CAS*CO*45*60", "CAS*OA*23*140",
    ]  # fmt: skip


async def test_a_later_payer_keeps_the_patients_share_that_is_left():
    claim = services("W1", ("99213", "90"), order="S", before="20")
    # fee 90, copay 25, it would pay 65; 90 - 20 = 70 are left, so 65 are paid and 5 of the copay stay
    assert (await remitted(Stage(), claim))[1:] == [
        "SVC*HC:99213*90*65**1", "CAS*PR*3*5", "CAS*OA*23*20",
    ]  # fmt: skip


async def test_a_predetermination_is_priced_and_not_paid_and_uses_nothing_up():
    stage = Stage(DENTAL)
    asked = services("W1", ("D2391", "200"), predetermination=True, day=None)
    # fee 150, 50 deductible, 20 coinsurance, 80 would be paid
    wanted = [
        "SVC*AD:D2391*200*0**1", "CAS*CO*45*50", "CAS*PR*1*50**2*20", "CAS*OA*101*80",
    ]  # fmt: skip
    first = await remitted(stage, asked, witness=True)
    assert first == ["CLP*A1*25*200*0*70*15*S00000100000*11*1", *wanted]
    assert (await remitted(stage, asked))[1:] == wanted


async def test_a_replacement_takes_the_first_payment_back_and_is_decided_anew():
    stage = Stage()
    await remitted(stage, services("W1", ("20611", "200")))
    # 140 allowed, 100 deductible, 20 % of 40 = 8, paid 32; the corrected charge of 300:
    # 210 allowed, the deductible is to be paid again, 20 % of 110 = 22, paid 88
    right = services("W1", ("20611", "300"), frequency="7", original="S00000100000")
    assert await remitted(stage, right, witness=True) == [
        "CLP*A1*22*-200*-32**15*S00000100000*11*1",
        "SVC*HC:20611*-200*-32", "CAS*CO*45*-60", "CAS*PR*1*-100**2*-8",
        "CLP*A1*1*300*88*122*15*S00000200000*11*7",
        "SVC*HC:20611*300*88**1", "CAS*CO*45*90", "CAS*PR*1*100**2*22",
    ]  # fmt: skip


async def test_a_void_takes_the_first_payment_back():
    stage = Stage()
    await remitted(stage, services("W1", ("99395", "150")))
    void = services("W1", ("99395", "150"), frequency="8", original="S00000100000")
    assert await remitted(stage, void, witness=True) == [
        "CLP*A1*22*-150*-140**15*S00000100000*11*1", "SVC*HC:99395*-150*-140", "CAS*CO*45*-10",
        "CLP*A1*1*150*0**15*S00000200000*11*8", "MOA***MA67", "SVC*HC:99395*150*0**1",
        "CAS*OA*96*150",
    ]  # fmt: skip
    # as if it had never been: the same claim is no duplicate, and the year's visit is free again
    assert (await remitted(stage, services("W1", ("99395", "150"))))[1] == "SVC*HC:99395*150*140**1"


@pytest.mark.parametrize(
    ("member", "original"), [("W1", "S00000900000"), ("W1", "X1"), ("W2", "S00000100000")]
)
async def test_a_replacement_of_what_is_not_there_is_refused(member, original):
    stage = Stage()
    await remitted(stage, services("W1", ("20611", "200")))
    wrong = services(member, ("20611", "300"), frequency="7", original=original, account="A2")
    await stage.send(wrong)
    assert starting(one(await stage.days(14), "277CA"), "STC*A7") == ["STC*A7:464*20260317*U*300"]


async def test_a_claim_is_replaced_once():
    stage = Stage()
    await remitted(stage, services("W1", ("20611", "200")))
    right = services("W1", ("20611", "300"), frequency="7", original="S00000100000")
    await stage.send(right)
    await stage.send(right)
    found = kind(await stage.days(14), "277CA")
    assert [b"STC*A7:464*" in content for content in found] == [False, True]


def test_the_longest_prefix_names_the_category():
    names = [plan.category_of(plan.DENTAL, code).name for code in ("D2391", "D2740", "D8080", "X")]
    assert names == ["Basic", "Major", *["Orthodontics and all other services"] * 2]


def test_halves_of_a_cent_are_rounded_up():
    assert plan.cents(Decimal("0.125")) == Decimal("0.13")
