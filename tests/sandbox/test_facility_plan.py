"""How a payer of the sandbox prices and answers the bills of facilities: groups, days, lines, notices and series."""

from decimal import Decimal

import pytest

from clearlane.sandbox.facility_plan import BASE_RATE, WEIGHTS, allowed_amounts, price_of
from clearlane.sandbox.read_837 import read
from tests.claims.institutional_claims import BILLS, Bill, file_of
from tests.sandbox.invented import NOW, Stage, clean, kind, one, starting

DAYS = "20260210-20260213"
STAY = BILLS["111 pneumonia"].but(
    member="W1",
    number="A1",
    days=DAYS,
    admission="202602101015",
    lines=("0120**12000*DA*3", "0250**500.50*UN*12", "0300*HC:80053*96*UN*2 20260211"),
)
GROUPED = STAY.but(codes=(*STAY.codes, "DR:194"))
VISIT = BILLS["131 emergency"].but(
    member="W1",
    number="A1",
    days="20260210-20260210",
    lines=("0450*HC:99284*780*UN*1 20260210", "0270**100*UN*2 20260210"),
)


def content(*bills: Bill, control: int = 103) -> bytes:
    text = file_of(*bills).replace("HHP20", "TST01").replace("*000000103", f"*{control:09}")
    return text.encode()


async def send(stage: Stage, *bills: Bill, control: int = 103) -> dict[str, bytes]:
    """Send bills and return what the payer left within three weeks."""
    await stage.payer.receive(f"{control}.837", content(*bills, control=control), stage.now)
    left = await stage.work()
    left = {**left, **await stage.days(21)}
    assert all(map(clean, left.values()))
    return left


async def claims_of(*bills: Bill) -> list:
    return [claim async for one in read(content(*bills)) for claim in one.claims()]


async def test_a_stay_is_priced_by_its_group_and_a_visit_by_the_line():
    left = await send(Stage(), GROUPED, VISIT.but(member="W2", number="A2"))
    found = one(left, "835")
    by_group = BASE_RATE * WEIGHTS["194"]
    stay, visit = (row.split("*") for row in starting(found, "CLP"))
    assert stay[8:] == ["11", "1", "", "194", "0.96", "1"]
    assert visit[8:] == ["13", "1"]
    # 80 % of what is allowed above the deductible; one MIA, one MOA.
    assert Decimal(stay[4]) == (by_group - 500) * Decimal("0.8")
    assert starting(found, "MIA", "MOA") == ["MIA*3***6720***********3", "MOA*0.55*420"]
    services = [row.split("*") for row in starting(found, "SVC")]
    assert sum(Decimal(row[3]) for row in services[:3]) == Decimal(stay[4])
    assert [(row[1], row[4]) for row in services] == [
        ("NU:0120", ""), ("NU:0250", ""), ("HC:80053", "0300"), ("HC:99284", "0450"), ("NU:0270", ""),
    ]  # fmt: skip


async def test_prices_never_exceed_a_charge_and_lines_add_up_to_the_stay():
    outlier = GROUPED.but(lines=("0200**90000*DA*3", "0250**333.33*UN*1", "0270**0*UN*1"))
    nursing = BILLS["211 nursing"]
    grouped, high, by_day, nursed, cheap, visit = await claims_of(
        GROUPED, outlier, STAY, nursing, GROUPED.but(lines=("0120**100*DA*3",)), VISIT
    )
    assert price_of(grouped).allowed == 6720
    assert price_of(high).outlier == (Decimal("90333.33") - 3 * 6720) / 10 - Decimal("0.003")
    assert price_of(by_day).allowed == 3 * 900
    assert price_of(nursed).days == 14
    assert price_of(cheap).allowed == 100
    assert price_of(visit) is None
    for claim in (grouped, high, by_day, nursed, cheap):
        amounts = allowed_amounts(claim)
        assert sum(amounts) == price_of(claim).allowed
        assert all(
            0 <= part <= line.charge for part, line in zip(amounts, claim.lines, strict=True)
        )
    assert allowed_amounts(visit) == [420, 60]


async def test_a_notice_is_accepted_and_never_paid():
    notice = BILLS["81A notice of election"].but(member="W1", days="20260210-20260210")
    left = await send(Stage(), notice)
    assert starting(one(left, "277CA"), "STC*A2") == [f"STC*A2:20:PR*{NOW:%Y%m}03*WQ*0"]
    assert kind(left, "835") == []
    refused = await send(Stage(), notice.but(member="3004"))
    assert starting(one(refused, "277CA"), "STC*A7") == [f"STC*A7:562:85*{NOW:%Y%m}03*U*0"]


async def test_an_additive_series_is_paid_bill_by_bill_and_late_charges_add():
    first = BILLS["112 first interim"].but(
        member="W1",
        days="20260101-20260110",
        admission="202601010900",
        codes=(*STAY.codes[:2], "BE:80:::10", "DR:194"),
        lines=("0120**20000*DA*10",),
    )
    last = first.but(
        type="114",
        days="20260111-20260115",
        cl1="1*1*01",
        discharge="0900",
        codes=(*STAY.codes[:2], "BE:80:::4", "DR:194"),
        lines=("0120**8000*DA*4",),
    )
    late = STAY.but(type="115", days=DAYS, lines=("0250**100*UN*1",), discharge="")
    left = await send(Stage(), first.but(number="A1"), last.but(number="A2"), late.but(number="A3"))
    found = one(left, "835")
    # By the day, whatever the group: 10 days less the deductible, then 4 days, then the late charges.
    assert [row.split("*")[4] for row in starting(found, "CLP")] == ["6800", "2880", "80"]
    assert [row.split("*")[1] for row in starting(found, "MIA")] == ["10", "4", "3"]


@pytest.mark.parametrize("frequency", ["7", "Q"])
async def test_a_cumulative_bill_replaces_the_last_one(frequency):
    stage = Stage()
    first = BILLS["112 first interim"].but(
        member="W1",
        number="A1",
        days="20260101-20260110",
        admission="202601010900",
        codes=(*STAY.codes[:2], "BE:80:::10"),
        lines=("0120**20000*DA*10",),
    )
    before = one(await send(stage, first), "835")
    number = starting(before, "CLP")[0].split("*")[7]
    whole = GROUPED.but(
        type=f"11{frequency}",
        number="A1",
        days="20260101-20260115",
        admission="202601010900",
        references=(f"REF*F8*{number}",),
        codes=(*STAY.codes[:2], "BE:80:::14", "BG:D3", "DR:194"),
        lines=("0120**28000*DA*14",),
    )
    found = one(await send(stage, whole, control=104), "835")
    back, paid = (row.split("*") for row in starting(found, "CLP"))
    assert (back[2], back[4], back[7]) == ("22", "-6800", number)
    # The group's price, and a tenth of the charge above three times of it.
    assert Decimal(paid[4]) == (6720 + (28000 - 3 * 6720) / Decimal(10) - 500) * Decimal("0.8")
    assert paid[11:] == ["194", "0.96", "1"]
    assert f"REF*F8*{number}" in found
    assert starting(found, "MIA") == ["MIA*0", "MIA*14*784**6720***********14"]


async def test_scenarios_hold_for_bills_of_facilities():
    """Rejections by 999 and 277CA, denials of all and of a line, a recoupment, and Medicare after another payer."""
    assert starting(one(await send(Stage(), STAY.but(member="3005")), "999"), "IK5") == ["IK5*R*5"]
    refused = await send(Stage(), STAY.but(member="3004"))
    assert len(starting(one(refused, "277CA"), "STC*A7:562:85")) == 1
    assert kind(refused, "835") == []
    denied = one(await send(Stage(), STAY.but(member="3003")), "835")
    assert starting(denied, "CAS*CO*50") != []
    assert starting(denied, "CLP")[0].split("*")[4] == "0"
    partly = one(await send(Stage(), STAY.but(member="3014")), "835")
    assert [row.split("*")[3] for row in starting(partly, "SVC")] == ["12000", "500.5", "0"]
    stage = Stage()
    await send(stage, STAY.but(member="3008"))
    taken_back = one(await stage.days(20), "835")
    assert [row.split("*")[2] for row in starting(taken_back, "CLP")] == ["22", "1"]
    assert starting(taken_back, "MIA") == ["MIA*0", "MIA*3****MA67"]
    withheld = one(await send(Stage(), STAY.but(member="3019")), "835")
    assert starting(withheld, "PLB")[0].split("*")[3].startswith("WO:")
    second = GROUPED.but(
        coverage="MA",
        other=tuple(
            row.replace("1556.5", "6000").replace("*250", "*6596.5")
            for row in BILLS["111 second payer"].other
        ),
        codes=(*GROUPED.codes[:3], "BE:80:::3*BE:12:::6000", "DR:194"),
    )
    found = one(await send(Stage(), second), "835")
    clp = starting(found, "CLP")[0].split("*")
    assert (clp[2], clp[6]) == ("2", "MA")
    # Medicare pays what the first payer left of the group's price.
    assert Decimal(clp[4]) == 720
    assert any(row.startswith("CAS*OA*23*") for row in found)
