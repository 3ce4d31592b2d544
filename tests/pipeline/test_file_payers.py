"""What a file of an upstream clearinghouse is about, on both databases: payers are found, and never guessed."""

import re
from dataclasses import dataclass, field, replace

import pytest

from clearlane.payers.hops import HOP, Hop, HopPayer
from clearlane.pipeline.inbound import post
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.store.claims.claim_lookup import account_reference
from clearlane.store.payments import claim_payments, payments
from clearlane.store.payments.payment_query import PaymentQuery
from tests.claims.answers import paid, patient, payment, status
from tests.connect.memory import MemoryMailbox
from tests.pipeline.flowing import ACTOR, OTHER_PAYER, PAYER, Flow, MemoryConnections

pytestmark = pytest.mark.one_database

NORTHGATE = Hop("NORTHGATE", "Northgate Clearing", [HopPayer("Medical", PAYER, "60054")])
AY, PR = b"NM1*AY*2*NORTHGATE*****46*NORTHGATE", b"NM1*PR*2*MEADOW MUTUAL*****PI*TST01"
TAKEN, ACCEPTED = "A1:19:AY*20261102*WQ*150", "A2:20:PR*20261103*WQ*150"


@dataclass
class HopConnections(MemoryConnections):
    """One payer is reached over a hop; the other has a mailbox of its own."""

    box: MemoryMailbox = field(default_factory=MemoryMailbox)
    hop: Hop = NORTHGATE

    def hops(self):
        return [self.hop]

    def all_mailbox_routes(self):
        return [*super().all_mailbox_routes(), self.route(HOP, NORTHGATE.id)]

    def open_mailbox(self, route):
        return self.box if route.hop else super().open_mailbox(route)

    def route(self, type, payer_id):
        if payer_id == OTHER_PAYER:
            return super().route(type, payer_id)
        made = MemoryConnections().route(type, payer_id)
        sent = NORTHGATE.id_of(type, payer_id)
        return replace(made, hop=NORTHGATE.id, hop_payer_id=sent)


@pytest.fixture
async def flow(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.connections = HopConnections()
    access = replace(flow.context.payer_access, connections=lambda: flow.connections)
    flow.context = replace(flow.context, payer_access=access)
    return flow


async def arrive(flow, *contents):
    return await flow.arrive(*contents, payer=NORTHGATE.id)


async def steps(flow, number):
    found = await load_history_in_scope(
        flow.database, flow.vault, flow.site.scope, number, actor=ACTOR
    )
    return [one.headline for one in found.entries if one.file]


async def test_the_hops_277ca_is_a_step_and_the_payers_another(flow):
    (number, other), text = await flow.sent(2)
    assert re.findall(r"NM1\*(?:40|PR)\*2\*([^~]+)~", text.decode())[0] == "NORTHGATE*****46*MEADOW"
    assert set(re.findall(r"\*PI\*(\w+)~", text.decode())) == {"60054"}
    batch = re.search(r"BHT\*0019\*00\*(\w+)\*", text.decode())[1]
    # Of the hop: by our number, and by the batch that it answers if another number came back.
    ours = status(patient(number, TAKEN, extra=[f"REF*D9*{number}"]), batch=batch).replace(PR, AY)
    theirs = status(
        patient(other, TAKEN, extra=["REF*D9*NG-77"]), batch=batch, control=501
    ).replace(PR, AY)
    assert await arrive(flow, ours, theirs) == ["applied", "applied"]
    assert (await flow.status(number)).state == "sent"
    assert "Taken by NORTHGATE to be passed on (277CA)" in await steps(flow, number)
    # Of the payer, which the hop's id names; then a rejection of the hop itself.
    own = status(patient(number, ACCEPTED), control=502).replace(b"PI*TST01", b"PI*60054")
    assert await arrive(flow, own) == ["applied"]
    assert (await flow.status(number)).state == "acknowledged"
    late = status(patient(number, TAKEN), batch=batch, control=503).replace(PR, AY)
    assert await arrive(flow, late) == ["applied"]
    assert (await flow.status(number)).state == "acknowledged"
    no = status(patient(other, "A7:164:IL*20261104*U*150"), batch=batch, control=504)
    assert await arrive(flow, no.replace(PR, AY)) == ["applied"]
    assert (await flow.status(other)).state == "rejected"


async def test_a_hop_says_nothing_of_a_payer_that_it_does_not_serve(flow):
    (number,), _ = await flow.sent(payer=OTHER_PAYER)
    wrong = status(patient(number, ACCEPTED, extra=[f"REF*D9*{number}"]))
    assert await arrive(flow, wrong) == ["parked"]
    assert (await flow.status(number)).state == "sent"
    report = f"ACCEPTED {number}\n".encode()
    assert await arrive(flow, report) == ["quarantined"]
    assert len(await steps(flow, number)) == 2  # put into a batch, and sent


async def test_a_payment_is_of_the_payer_that_it_names(flow):
    (number,), _ = await flow.sent()
    own = payment(paid(number, charged="150")).replace(b"XV*TST01", b"XV*60054")
    unknown = payment(paid(number), reference="EFT2", control=501).replace(b"MEADOW MUTUAL", b"X")
    assert await arrive(flow, own, unknown) == ["applied", "parked"]
    assert (await flow.status(number)).state == "complete"
    found = await list_payments(flow.database, flow.vault, PaymentQuery())
    assert {(one.payment.trace_number, one.payment.payer_id) for one in found} == {
        ("EFT1", PAYER),
        ("EFT2", NORTHGATE.id),
    }
    waiting = (await flow.files())[-1]
    assert "names no payer of the hop's map" in waiting.reason
    # The map gets the payer, and the file is posted again: the payment is the payer's.
    serve(flow, HopPayer("Medical", OTHER_PAYER, "TST01"))
    await post.post_file(flow.context, waiting.id)
    found = await list_payments(flow.database, flow.vault, PaymentQuery())
    assert {one.payment.payer_id for one in found} == {PAYER, OTHER_PAYER}


def serve(flow, *payers):
    """Let the hop's map have these payers beside the first."""
    flow.connections.hop = Hop(NORTHGATE.id, NORTHGATE.name, [*NORTHGATE.payers, *payers])


async def of_payments(flow):
    """State, payer, number of unmatched claims of each payment, and whether it differs from one with its number."""
    found = [one.payment for one in await list_payments(flow.database, flow.vault, PaymentQuery())]
    return sorted((one.state, one.payer_id, one.unmatched, bool(one.differs_from)) for one in found)


def late(account, **more):
    """A payment of a payer that the hop's map does not have, with a provider adjustment of nothing."""
    plb = ["PLB*1234567893*20261231*WO:OLD*0"]
    return payment(paid(account, "1", "80", "80"), reference="EFT2", plb=plb, **more)


@pytest.mark.both_databases
async def test_a_payment_that_got_its_payer_by_replay_is_known_when_it_comes_again(flow):
    assert await arrive(flow, late("LATE-1")) == ["parked"]
    [first] = await flow.files()
    serve(flow, HopPayer("Medical", OTHER_PAYER, "TST01"))
    await post.post_file(flow.context, first.id)
    posted = ("needs_review", OTHER_PAYER, 1, False)
    assert await of_payments(flow) == [posted]
    # What waits carries the reference that claims of the payer have, not one hashed with the id of the hop.
    async with flow.database.read(payments.SCOPE) as tx:
        [id] = await payments.list_of_file(tx, first.id)
        [waiting] = await claim_payments.list_unmatched_page(tx, id, after=0, limit=9)
        assert len(await payments.list_adjustments(tx, id)) == 1
    assert waiting.payer_id == OTHER_PAYER
    assert waiting.reference == account_reference(flow.vault, OTHER_PAYER, "LATE-1")
    # The hop sends it again in another envelope, and then one with its number but other content.
    await arrive(flow, late("LATE-1", control=501), late("LATE-2", control=502))
    duplicate = ("duplicate", OTHER_PAYER, 0, False)
    assert await of_payments(flow) == [duplicate, posted, (*posted[:3], True)]


async def test_a_payment_that_came_as_the_payers_before_its_replay_is_a_duplicate(flow):
    assert await arrive(flow, late("LATE-1"), late("LATE-2", control=501)) == ["parked"] * 2
    serve(flow, HopPayer("Medical", OTHER_PAYER, "TST01"))
    await arrive(flow, late("LATE-1", control=502))
    for file in await flow.files():
        await post.post_file(flow.context, file.id)
    posted = ("needs_review", OTHER_PAYER, 1)
    assert await of_payments(flow) == [
        ("duplicate", OTHER_PAYER, 0, False), (*posted, False), (*posted, True),
    ]  # fmt: skip


async def test_reports_in_words_are_shown_at_their_claims_and_never_read(flow):
    (number, other), _ = await flow.sent(2)
    report = f"NORTHGATE REPORT\r\n60054 {number} REJECTED\r\n{number} {other}\r\n".encode()
    assert await arrive(flow, report, b"%PDF-1.4 x", b"NO NUMBERS\n", b"\x01\x02") == [
        "applied", "quarantined", "quarantined", "quarantined",
    ]  # fmt: skip
    assert [one.kinds for one in await flow.files()] == ["text", "", "text", ""]
    assert (await flow.status(number)).state == "sent"
    found = await load_history_in_scope(
        flow.database, flow.vault, flow.site.scope, number, actor=ACTOR
    )
    assert found.entries[-1].sentences[1:] == (f"60054 {number} REJECTED",)
    assert "Named in a report of NORTHGATE" in await steps(flow, other)
    # X12 without its beginning, or damaged behind a line of text, is no report, also if it names claims.
    remit = payment(paid(number))
    damaged = (
        remit[remit.index(b"ST*") :],
        b"FROM NORTHGATE\n" + remit.replace(b"ISA*00*", b"ISA*00"),
    )
    assert await arrive(flow, *damaged) == ["quarantined", "quarantined"]
    assert [one.kinds for one in (await flow.files())[-2:]] == ["", ""]
    # A payer of its own must send X12.
    assert await flow.arrive(report, payer=OTHER_PAYER) == ["quarantined"]
