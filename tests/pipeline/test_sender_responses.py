"""What comes back to the sender of a file, on both databases: deliveries, payers' verdicts and remittances, each once.

Also tests `pipeline/inbound/match_file_claims`, `pipeline/operator/payee_admin`, `store/files/due_responses` and
`store/files/payees`.
"""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from clearlane.pipeline.inbound import sender_responses
from clearlane.pipeline.inbound.sender_responses import has_due_responses, write_due_responses
from clearlane.pipeline.operator.payee_admin import name_payee
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.store.database.database import OperationRefused
from clearlane.store.files import client_files, file_parts
from clearlane.store.payments.payment_query import PaymentQuery
from clearlane.x12.checker.check import check
from tests.claims.answers import nine, paid, patient, payment, sealed, status
from tests.pipeline.flowing import ACTOR, Flow, controls
from tests.pipeline.test_process_file import Channel, a_claim, a_file, a_set, claims_file

NPI = "1234567893"
OFF = "CAS*CO*45*70"
DAY = "DTM*232*20240211"


@pytest.fixture
async def channel(place, database, clock):
    return Channel(await Flow.open(place, database, clock))


async def responses(channel, type):
    """Write what is due; the files of a type that came back so far, oldest first."""
    await write_due_responses(channel.flow.context)
    assert not await has_due_responses(channel.flow.context)
    found = [one for one in await channel.listed(direction="out") if one.type == type]
    flow = channel.flow
    return [
        (
            await file_parts.read_content(flow.database, flow.vault, flow.site.scope, one.file_id)
        ).decode()
        for one in sorted(found, key=lambda one: one.file_id)
    ]


def rows(content, *starts):
    return [row for row in content.split("~") if row.startswith(starts)]


async def sent(channel, content=None):
    """Send a file through; the numbers that its claims went out with."""
    await channel.process(content or claims_file(2))
    return re.findall(r"REF\*D9\*([^~]+)~", (await channel.flow.send()).decode())


async def test_a_delivery_is_reported_once_per_set_with_the_claims_that_went(channel):
    file = a_file(
        a_set(a_claim(1), a_claim(2), a_claim(3, payer="NOPE1")),
        a_set(a_claim(4), st="0002"),
    )
    await channel.process(file)
    before = len(await responses(channel, "277CA"))
    await channel.flow.send()
    first, second = (await responses(channel, "277CA"))[before:]
    assert rows(first, "TRN*2", "STC*A0", "REF*D9", "QTY*90", "QTY*AA") == [
        "TRN*2*FB0001", "QTY*90*2",
        "TRN*2*A-1", "STC*A0:16:PR*20240304*WQ*150", "REF*D9*SENDER1",
        "TRN*2*A-2", "STC*A0:16:PR*20240304*WQ*150", "REF*D9*SENDER2",
    ]  # fmt: skip
    assert rows(second, "TRN*2") == ["TRN*2*FB0002", "TRN*2*A-4"]
    for made in (first, second):
        assert check(made.encode()).findings == ()
        assert "NM1*AY*2*" in made
    assert len(await responses(channel, "277CA")) == before + 2


async def test_a_payers_277ca_comes_back_in_the_senders_numbers(channel):
    first, second = await sent(channel)
    before = len(await responses(channel, "277CA"))
    answer = status(
        patient("A-1", "A2:20:PR*20261102*WQ*150", extra=["REF*1K*PCN-9", f"REF*D9*{first}"]),
        patient("A-2", "A7:164:IL*20261102*U*150", extra=[f"REF*D9*{second}"]),
    )
    assert await channel.flow.arrive(answer) == ["applied"]
    [made] = (await responses(channel, "277CA"))[before:]
    assert check(made.encode()).findings == ()
    assert rows(made, "NM1*PR", "NM1*41", "TRN*2", "STC*A2", "STC*A7", "REF", "QTY", "AMT") == [
        "NM1*PR*2*MEADOW MUTUAL MM001*****PI*MM001",
        "NM1*41*2*FERNHILL FAMILY PRACTICE*****46*FERNHILL", "TRN*2*FB0001",
        "QTY*90*1", "QTY*AA*1", "AMT*YU*150", "AMT*YY*150", "QTY*QA*1", "QTY*QC*1", "AMT*YU*150", "AMT*YY*150",
        "TRN*2*A-1", "STC*A2:20:PR*20261102*WQ*150", "REF*1K*PCN-9", "REF*D9*SENDER1",
        "TRN*2*A-2", "STC*A7:164:IL*20261102*U*150", "REF*D9*SENDER2",
    ]  # fmt: skip
    # The same statements in another file tell nothing new.
    assert await channel.flow.arrive(answer.replace(b"000000500", b"000000501"), name="b")
    assert len(await responses(channel, "277CA")) == before + 1


async def test_a_999_that_refuses_and_a_277_that_waits_is_reported_as_well(channel):
    await channel.process(claims_file(2))
    content = await channel.flow.send()
    number = next(iter(re.findall(r"REF\*D9\*([^~]+)~", content.decode())))
    before = len(await responses(channel, "277CA"))
    waiting = sealed(
        "HN", "005010X212",
        [
            "277*005010X212", "BHT*0010*08*77*20261102*0900*DG", "HL*1**20*1",
            "NM1*PR*2*MEADOW MUTUAL*****PI*TST01", "HL*2*1*21*1", "NM1*41*2*CLEARLANE*****46*CLEARLANE",
            "HL*3*2*19*1", f"NM1*1P*2*FERNHILL*****XX*{NPI}", "HL*4*3*22*0", "NM1*IL*1*ARDEN*ROSA****MI*M123",
            "TRN*2*A-1", "STC*P2:46*20261102**150", "REF*1K*PCN-3", f"REF*D9*{number}", "DTP*472*D8*20240211",
        ],
        control=502,
    )  # fmt: skip
    assert await channel.flow.arrive(waiting) == ["applied"]
    [made] = await responses(channel, "277")
    assert check(made.encode()).findings == ()
    assert rows(made, "TRN", "STC", "REF") == [
        "TRN*2*A-1", "STC*P2:46*20261102**150", "REF*1K*PCN-3", "REF*EJ*A-1", "REF*D9*SENDER1",
    ]  # fmt: skip
    control = controls(content)
    refusal = [
        "AK2*837*0001*005010X222A1",
        "IK3*SV1*29*2400*8",
        "CTX*CLM01:A-2",
        "IK4*1:2**7",
        "IK5*R*5",
    ]
    assert await channel.flow.arrive(nine(control, refusal, verdict="R"), name="c") == ["applied"]
    [reported] = (await responses(channel, "277CA"))[before:]
    assert check(reported.encode()).findings == ()
    assert rows(reported, "TRN*2*A-") == ["TRN*2*A-2"]
    assert rows(reported, "STC*A7")


async def test_a_remittance_goes_whole_to_the_payees_site_with_claims_that_we_never_sent(channel):
    await sent(channel)
    remit = payment(
        paid("A-1", "1", "150", "80", OFF, DAY), paid("OLD-77", "1", "60", "60", DAY, payer_number="X1"),
        amount="130", plb=[f"PLB*{NPI}*20261231*WO:OLD*10"],
    )  # fmt: skip
    assert await channel.flow.arrive(remit) == ["parked"]
    [made] = await responses(channel, "835")
    assert made.encode() == remit
    flow = channel.flow
    [found] = await list_payments(flow.database, flow.vault, PaymentQuery())
    assert (found.payment.claims, found.payment.unmatched) == (2, 1)
    # A file with two payments, of which one came before: one more file, with the other one alone.
    again = payment(paid("A-2", "1", "150", "80", OFF, DAY), reference="EFT2")
    body = re.search(rb"ST\*835.*?SE\*\d+\*0001~", remit)[0]
    both = again.replace(b"GE*1*", body.replace(b"*0001", b"*0002") + b"GE*2*")
    await channel.flow.arrive(both, name="second")
    [_, other] = await responses(channel, "835")
    assert other.encode() == again


async def test_a_payment_is_matched_by_the_payers_number_or_by_charge_and_days(channel):
    file = a_file(
        a_set(
            a_claim(1, account="PAT1"),
            a_claim(2, account="PAT1"),
            a_claim(3, account="PAT3"),
            a_claim(4, account="PAT4").replace("*150*", "*175*"),
        )
    )
    numbers = await sent(channel, file)
    assert len(numbers) == 4
    # Two claims share their account number, charge and days: neither is matched.
    both = paid("PAT1", "1", "150", "80", OFF, DAY, payer_number="N1")
    # The patient's account number on a claim that another clearinghouse sent.
    other_charge = paid("PAT3", "1", "99", "99", DAY, payer_number="N3")
    other_day = paid("PAT4", "1", "175", "175", "DTM*232*20230101", payer_number="N4")
    fits = paid("PAT4", "1", "175", "175", DAY, payer_number="N5")
    whole = payment(both, other_charge, other_day, fits, amount="529")
    assert await channel.flow.arrive(whole) == ["parked"]
    flow = channel.flow
    paid_cents = {id: one.payer_cents for id, one in (await flow.statuses()).items()}
    assert [paid_cents[number] for number in numbers] == [0, 0, 0, 17500]
    # Once a 277CA has reported the payer's number, it decides.
    reported = status(
        patient("PAT1", "A2:20:PR*20261102*WQ*150", extra=["REF*1K*N2", f"REF*D9*{numbers[1]}"])
    )
    await channel.flow.arrive(reported, name="reported")
    known = paid("PAT1", "1", "150", "80", OFF, DAY, payer_number="N2")
    assert await channel.flow.arrive(payment(known, reference="EFT2"), name="known") == ["applied"]
    paid_cents = {id: one.payer_cents for id, one in (await flow.statuses()).items()}
    assert [paid_cents[number] for number in numbers[:2]] == [0, 8000]


async def test_a_payee_of_two_vendors_waits_until_a_person_names_its_site(channel):
    await sent(channel)
    flow, other = channel.flow, await channel.flow.new_site()
    sites = SimpleNamespace(sites=[flow.site, other])
    flow.context = replace(flow.context, accounts=lambda: sites)
    await name_payee(flow.context, NPI, other, actor=ACTOR)
    await flow.arrive(payment(paid("A-1", "1", "150", "80", OFF, DAY)))
    assert await responses(channel, "835") == []
    await name_payee(flow.context, NPI, flow.site, actor=ACTOR)
    await flow.arrive(payment(paid("A-2", "1", "150", "80", OFF, DAY), reference="EFT2"), name="b")
    assert len(await responses(channel, "835")) == 1
    with pytest.raises(OperationRefused):
        await name_payee(flow.context, "12", flow.site, actor=ACTOR)


async def test_a_response_that_cannot_be_written_stays_due_and_keeps_no_other_back(
    channel, monkeypatch
):
    await sent(channel)
    real = sender_responses.FORWARDED
    monkeypatch.setattr(sender_responses, "FORWARDED", None)
    assert await write_due_responses(channel.flow.context) == 0
    assert await has_due_responses(channel.flow.context)
    monkeypatch.setattr(sender_responses, "FORWARDED", real)
    assert len(await responses(channel, "277CA")) == 2


async def test_what_another_node_listed_first_is_dropped(channel, monkeypatch):
    await sent(channel)
    written = []

    async def beaten(tx, context, site, stored):
        written.append(stored.file_id)
        return False

    monkeypatch.setattr(sender_responses, "publish_response", beaten)
    assert await write_due_responses(channel.flow.context) == 1
    async with channel.flow.database.read(channel.flow.site.scope) as tx:
        assert await client_files.find(tx, written[0]) is None
