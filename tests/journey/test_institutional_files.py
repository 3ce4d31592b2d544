"""A file of institutional claims in the sandbox: judged, acknowledged, delivered under its own guide, paid, listed, shown.

Also tests `store/database/schema/series`.
"""

import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import msgspec

from clearlane.claims.kinds import ClaimKind
from clearlane.console.claims.claim_parts.claim_boxes import form_sheet
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.store.claims.claim_query import ClaimListRow, ClaimQuery, list_claims
from clearlane.x12.checker.check import check
from tests.claims.institutional_claims import BILLS, file_of
from tests.journey.test_file_round_trip import EVERY, PAYER, VENDOR, cents, file_ledger, practice

__all__ = ["practice"]
# What they refer to was never paid here.
REFERS = ("117", "118", "137")
NOTICES = ("81A", "32A")


async def test_bills_of_every_type_are_acknowledged_and_paid(practice):
    bills = [
        bill.but(number=f"RH-{at}", member=f"W{at:04}")
        for at, bill in enumerate(BILLS.values())
        if bill.coverage == "CI"
    ]
    # One bill has no attending provider, so it is not accepted.
    faulty = bills[0].but(number="RH-NOT", people=())
    text = file_of(*bills, faulty).replace("HHP20", PAYER)
    await practice.send_content(practice.first, text.encode())
    await practice.control.finish_due_work()
    await practice.control.advance(EVERY, VENDOR)
    back = await practice.fetch(practice.first)
    assert all(
        not check(content).errors for type in ("999", "277CA", "835") for content in back[type]
    )
    acknowledged = b"".join(back["277CA"]).decode()
    own = acknowledged[acknowledged.index("TRN*2*RH-NOT~") :]
    assert re.search(r"STC\*A6:562:71\*\d+\*U\*", own)
    assert Counter(re.findall(r"STC\*(A2:20:PR)\*", acknowledged))["A2:20:PR"] == len(
        [bill for bill in bills if bill.type not in REFERS]
    )
    # Each paid claim balances by what the bill says, and its lines have their revenue codes.
    paid, _, amounts = file_ledger(back["835"])
    assert sum(paid.values()) == sum(amounts)
    assert set(paid) == {bill.number for bill in bills if bill.type not in (*REFERS, *NOTICES)}
    remittance = b"".join(back["835"]).decode()
    for bill in bills[:3]:
        loop = remittance.split(f"CLP*{bill.number}*")[1].split("~CLP*")[0]
        charged = [Decimal(one) for one in re.findall(r"~SVC\*[^*]+\*([\d.]+)\*", loop)]
        assert sum(charged) == Decimal(bill.charge)
        assert [word for line in bill.lines if (word := line[:4]) not in loop] == []
    assert "~SVC*NU:0120*" in remittance
    assert re.search(r"~SVC\*HC:80053\*96\*[\d.]+\*0300\*2~", remittance)
    context = practice.context
    async with context.database.read(practice.first.scope) as tx:
        where = {"kind": ClaimKind.INSTITUTIONAL.value}
        rows = await list_claims(tx, ClaimQuery(where=where, limit=200), ClaimListRow)
        others = await list_claims(tx, ClaimQuery(where={"kind": "medical"}, limit=9), ClaimListRow)
    # Not any claim: the adjustments of a second payer are those of the claim as a whole.
    number = max(rows, key=lambda row: row.paid_cents).claim_number
    loaded = await load_claim_in_scope(
        context.database, context.vault, practice.first.scope, number, actor=VENDOR
    )
    assert (len(rows), others) == (len(bills), [])
    # What a payer did not pay is shown at the charge of its line.
    history = await load_history_in_scope(
        context.database, context.vault, practice.first.scope, number, actor=VENDOR
    )
    shown = {
        place.path
        for entry in history.entries
        for one in entry.explanations
        for place in one.fields
    }
    assert any(path.startswith("2400/SV203 (segment ") for path in shown), shown
    sheet = form_sheet(loaded.claim, {})
    assert sheet.form == "UB-04, read from an 837 file"
    assert {"4", "17", "67"} <= {box.number for box in sheet.boxes}
    assert {"0120 (Semi-private room)"} <= {row.cells[0].value for row in sheet.lines.rows}
    assert {"CL1", "SV2", "HI"} <= {row.text.partition("*")[0] for row in sheet.segments}


async def series_of(practice, number: str):
    context = practice.context
    history = await load_history_in_scope(
        context.database, context.vault, practice.first.scope, number, actor=VENDOR
    )
    return history.series


async def rows_of(practice) -> list[ClaimListRow]:
    where = {"kind": ClaimKind.INSTITUTIONAL.value}
    async with practice.context.database.read(practice.first.scope) as tx:
        return await list_claims(tx, ClaimQuery(where=where, limit=200), ClaimListRow)


async def test_a_notice_is_complete_and_an_additive_series_adds_up(
    practice,
):
    """An additive series with one account number for all bills, and a notice beside it."""
    stay = BILLS["112 first interim"].but(number="RH-S", member="W7001", admission="202601010900")
    codes = stay.codes[:2]
    first = stay.but(
        days="20260101-20260110", codes=(*codes, "BE:80:::10"), lines=("0120**20000*DA*10",)
    )
    last = stay.but(
        type="114",
        days="20260111-20260115",
        cl1="1*1*01",
        discharge="0900",
        codes=(*codes, "BE:80:::4"),
        lines=("0120**8000*DA*4",),
    )
    late = last.but(
        type="115", discharge="", lines=("0250**100*UN*1",), codes=(*codes, "BE:80:::4")
    )
    notice = BILLS["81A notice of election"].but(number="RH-N", member="W7002")
    text = file_of(first, last, late, notice).replace("HHP20", PAYER)
    await practice.send_content(practice.first, text.encode())
    await practice.control.finish_due_work()
    rows = await rows_of(practice)
    (announced,) = [row for row in rows if row.total_cents == 0]
    assert announced.awaiting in ("999", "277CA")
    await practice.control.advance(EVERY, VENDOR)
    rows = {row.claim_number: row for row in await rows_of(practice)}
    after = rows[announced.claim_number]
    assert (after.state, after.label, after.awaiting) == ("complete", "notice_accepted", None)
    bills = [row for row in rows.values() if row.total_cents]
    # Each bill has what the payer paid for it, though all have one account number; none takes over from another.
    remittance = b"".join((await practice.fetch(practice.first))["835"]).decode()
    paid = re.findall(r"CLP\*RH-S\*1\*([\d.]+)\*([\d.]+)\*", remittance)
    assert sorted((row.total_cents, row.paid_cents) for row in bills) == sorted(
        (cents(charge), cents(amount)) for charge, amount in paid
    )
    assert {(row.predecessor_id, row.is_superseded) for row in bills} == {(None, 0)}
    series = await series_of(practice, bills[0].claim_number)
    assert (series.type, len(series.members), len(series.counted)) == ("additive", 3, 3)
    # By the day: 14 days and the late charges, less the deductible of 500; 80 % of that.
    assert (series.total_cents, series.paid_cents) == (28100_00, 9760_00)


async def test_a_cumulative_bill_takes_the_place_of_the_last_one(practice):
    """The payer's row of the directory says that bills replace each other; 7 and Q act on the bill that they name."""
    context = practice.context
    payers = context.payer_access.payers()
    own = [
        msgspec.structs.replace(one, edits=("cumulative_series",)) if one.payer_id == PAYER else one
        for one in payers.all
    ]
    directory = PayerDirectory(own, sandbox=True)
    practice.context = replace(
        context, payer_access=replace(context.payer_access, payers=lambda: directory)
    )
    bill = BILLS["112 first interim"].but(
        number="RH-C", member="W7003", admission="202601010900", days="20260101-20260110"
    )
    codes = (*bill.codes[:2], "DR:194")
    bill = bill.but(codes=(*codes, "BE:80:::10"), lines=("0120**20000*DA*10",))
    for number, (frequency, last_day, days) in enumerate(
        [("2", "10", 10), ("7", "12", 12), ("Q", "15", 14)], 1
    ):
        rows = await rows_of(practice)
        earlier = [row for row in rows if not row.is_superseded]
        numbers = [await payer_number(practice, row.claim_number) for row in earlier]
        again = bill.but(
            type=f"11{frequency}",
            days=f"20260101-202601{last_day}",
            cl1="1*1*30" if frequency == "2" else "1*1*01",
            discharge="" if frequency == "2" else "0900",
            references=tuple(f"REF*F8*{one}" for one in numbers),
            codes=(*codes, f"BE:80:::{days}" if frequency != "2" else "BE:80:::10", "BG:D3"),
            lines=(f"0120**{2000 * days}*DA*{days}",),
        )
        text = again.text().replace("HHP20", PAYER).replace("*000000103", f"*00000020{number}")
        await practice.send_content(practice.first, text.encode())
        await practice.control.finish_due_work()
        await practice.control.advance(EVERY, VENDOR)
    rows = sorted(await rows_of(practice), key=lambda row: row.claim_number)
    assert [row.is_superseded for row in rows] == [1, 1, 0]
    assert [row.predecessor_id for row in rows] == [
        None,
        rows[0].claim_number,
        rows[1].claim_number,
    ]
    series = await series_of(practice, rows[0].claim_number)
    assert (series.type, series.counted) == ("cumulative", {rows[2].claim_number})
    # The group's price and a tenth of the charge above three times of it, less the deductible; 80 % of that.
    assert series.total_cents == 28000_00
    assert series.paid_cents == int((6720 + (28000 - 3 * 6720) / 10 - 500) * 80)


async def payer_number(practice, number: str) -> str:
    context = practice.context
    history = await load_history_in_scope(
        context.database, context.vault, practice.first.scope, number, actor=VENDOR
    )
    return history.status.payer_control_number
