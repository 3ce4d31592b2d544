"""What comes back to the sender of a file, on both databases: deliveries, payers' verdicts and remittances, each once.

Also tests `pipeline/inbound/claim_responses`, `pipeline/inbound/match_file_claims`, `pipeline/operator/payee_admin`, `store/files/due_responses`, `store/files/payees` and
`store/database/schema/returned_files`.
"""

import re
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import msgspec
import pytest
from sqlalchemy import bindparam, update

from clearlane.claims.forms.x12_loops import claim_of_unit
from clearlane.claims.responses.sender_set import sender_set_of
from clearlane.kernel.clock import to_micros
from clearlane.payers.hops import Hop, HopPayer
from clearlane.pipeline.inbound import post, sender_responses
from clearlane.pipeline.inbound.sender_responses import has_due_responses, write_due_responses
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.operator import inbox_admin
from clearlane.pipeline.operator.payee_admin import name_payee
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.pipeline.query.installation.measures import RESPONSE_FAILURES_MIN
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.store.database.database import OperationRefused
from clearlane.store.database.schema import claims as claim_table
from clearlane.store.database.sql import Statement
from clearlane.store.files import client_files, due_responses, file_parts, file_sets, payees
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.files.file_sets import FileSet, SetClaim
from clearlane.store.payments.payment_query import PaymentQuery
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import UnitClosed, read
from tests.claims.answers import nine, paid, patient, payment, sealed, status
from tests.pipeline.flowing import ACTOR, EVERYONE, OTHER_PAYER, PAYER, Flow, accounts, controls
from tests.pipeline.test_file_payers import NORTHGATE, HopConnections

pytestmark = pytest.mark.one_database

SET_SENDINGS = Statement(
    update(claim_table)
    .where(claim_table.c.claim_number == bindparam("of"))
    .values(sendings=bindparam("count")),
    system=True,
)

NPI = "1234567893"
OFF, MORE_OFF = "CAS*CO*45*20", "CAS*CO*45*70"
DAY = "DTM*232*20240211"
HEAD = (
    "ISA*00*          *00*          *ZZ*FERNHILL       *ZZ*CLEARLANE      *240305*0915*^*00501*000000101*0*P*:~"
    "GS*HC*FERNHILL*CLEARLANE*20240305*0915*101*X*005010X222A1~"
)
SET = (
    "ST*837*{st}*005010X222A1~BHT*0019*00*FB{st}*20240305*0915*CH~"
    "NM1*41*2*FERNHILL FAMILY PRACTICE*****46*FERNHILL~PER*IC*BILLING OFFICE*TE*5035550142~"
    "NM1*40*2*CLEARLANE*****46*CLEARLANE~HL*1**20*1~PRV*BI*PXC*207Q00000X~"
    "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893~N3*12 ELM STREET~N4*PORTLAND*OR*972011234~"
    "REF*EI*123456789~"
)
CLAIM = (
    "HL*{hl}*1*22*0~SBR*P*18*G1001******CI~NM1*IL*1*ARDEN*ROSA*Q***MI*M1002003{at}~N3*44 BIRCH ROAD~"
    "N4*PORTLAND*OR*972021234~DMG*D8*19800229*F~NM1*PR*2*MEADOW MUTUAL*****PI*{payer}~"
    "CLM*{account}*{charge}***11:B:1*Y*A*Y*Y~REF*D9*SENDER{at}~HI*ABK:J0190~NM1*82*1*FENN*OSKAR****XX*1679576722~"
    "PRV*PE*PXC*207Q00000X~LX*1~SV1*HC:99213*{charge}*UN*1***1~DTP*472*D8*20240211~REF*6R*{account}-1~"
)


@pytest.fixture
async def flow(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.context = replace(flow.context, accounts=lambda: SimpleNamespace(sites=[flow.site]))
    return flow


def a_claim(at, **own):
    given = {"payer": PAYER, "account": f"A-{at}", "charge": "150", "hl": at + 1}
    return CLAIM.format(at=at, **given | own)


def a_file(*sets):
    """An 837 with these sets, each a list of claims."""
    texts = []
    for number, claims in enumerate(sets, 1):
        st = f"{number:04}"
        text = SET.format(st=st) + "".join(claims)
        texts.append(f"{text}SE*{text.count('~') + 1}*{st}~")
    return f"{HEAD}{''.join(texts)}GE*{len(sets)}*101~IEA*1*000000101~".encode()


async def take(flow, content):
    """Accept the sets of a file, as the intake of files does; how many claims each has."""
    units = {}
    for event in read(content):
        if isinstance(event, UnitClosed):
            units.setdefault(event.set.number, []).append(event)
    seen = SeenClaims()
    for number, some in units.items():
        page = [FileClaim(claim_of_unit(unit)) for unit in some]
        prepared = await judge_file_claims(
            flow.context, flow.site, page, now=flow.clock.now(), seen=seen
        )
        await accept(flow, number, sender_set_of(some[0].set), [one.row for one in prepared])


async def accept(flow, number, sender, new):
    scope, set_id = flow.site.scope, f"SET{number}"
    await flow.vault.ensure_key(scope)
    payload = flow.vault.seal(scope, file_sets.TABLE, set_id, msgspec.msgpack.encode(sender))
    at = to_micros(flow.clock.now())
    row = FileSet(
        set_id, "F1", 1, 1, number, "837P", "accepted", len(new), len(new), 0, "", at, 1, 0, payload
    )

    async def job(tx):
        await file_sets.add(tx, [row])
        await store_file_claims(tx, flow.context, flow.site, new)
        places = [SetClaim(one.claim_number, set_id, at) for at, one in enumerate(new, 1)]
        await file_sets.add_claims(tx, places)

    await flow.database.write(scope, job, actor=ACTOR)


async def sent(flow, content=None):
    """Send the claims of a file; the numbers that they went out with, in the order of CLM01, and the payer's file."""
    await take(flow, content or a_file([a_claim(1), a_claim(2)]))
    text = await flow.send()
    found = re.findall(r"CLM\*([^*]+)\*.*?REF\*D9\*([^~]+)~", text.decode())
    return [number for _, number in sorted(found)], text


def rows(content, *starts):
    return [row for row in content.decode().split("~") if row.startswith(starts)]


async def bills(flow, site, number=NPI):
    """Let a site bill as a payee, as a file of it does."""
    hashes = [payees.payee_hash(flow.vault, number)]
    await flow.database.write(site.scope, lambda tx: payees.record(tx, hashes, 1), actor=ACTOR)


async def responses(flow, type, site=None):
    """Write what is due; the files of a type that came back so far, oldest first."""
    await write_due_responses(flow.context)
    assert not await has_due_responses(flow.context)
    scope = (site or flow.site).scope
    async with flow.database.read(scope) as tx:
        listed = await find_page(tx, ClientFileQuery(where={"direction": "out"}, limit=100))
    return [
        await file_parts.read_content(flow.database, flow.vault, scope, one.file_id)
        for one in sorted(listed, key=lambda one: one.file_id)
        if one.type == type
    ]


async def test_a_remittance_goes_whole_to_the_payees_site_with_claims_that_we_never_sent(flow):
    _, content = await flow.sent()
    [account] = accounts(content)
    await bills(flow, flow.site)
    remit = payment(
        paid(account, "1", "100", "80", OFF), paid("OLD-77", "1", "60", "60", payer_number="X1"),
        amount="130", plb=[f"PLB*{NPI}*20261231*WO:OLD*10"],
    )  # fmt: skip
    assert await flow.arrive(remit) == ["parked"]
    assert await responses(flow, "835") == [remit]
    [found] = await list_payments(flow.database, flow.vault, PaymentQuery())
    assert (found.payment.claims, found.payment.unmatched) == (2, 1)
    # A file with two payments, of which one came before: one more file, with the other one alone.
    other = payment(paid("OLD-78", "1", "80", "80"), reference="EFT2", control=501)
    again = re.search(rb"ST\*835.*?SE\*\d+\*0001~", remit)[0].replace(b"*0001~", b"*0002~")
    await flow.arrive(other.replace(b"GE*1*", again + b"GE*2*"), name="second")
    assert sorted(await responses(flow, "835")) == sorted([remit, other])


async def test_a_remittance_is_addressed_to_the_sender_and_named_by_payer_day_and_check(flow):
    await take(flow, a_file([a_claim(1)]))
    await bills(flow, flow.site)
    remit = payment(paid("OLD-1", "1", "80", "80"), reference="EFT/1 7", separators="|>!\n")
    remit = remit.replace(b"ISA|00|          |00|          ", b"ISA|00|          |01|PASSWORD  ")
    await flow.arrive(remit)
    [made] = await responses(flow, "835")
    assert check(made).findings == check(remit).findings
    isa, gs, *whole, ge, iea = (row.split("|") for row in made.decode().splitlines())
    assert isa[1:9] == [
        "00", " " * 10, "00", " " * 10, "ZZ", "CLEARLANE      ", "ZZ", "FERNHILL       ",
    ]  # fmt: skip
    assert (gs[2:4], gs[6]) == (["CLEARLANE", "FERNHILL"], str(int(isa[13])))
    assert (ge[2], iea[2]) == (gs[6], isa[13])
    assert isa[13] != "000000500"
    assert ["|".join(row) for row in whole] == remit.decode().splitlines()[2:-2]
    async with flow.database.read(flow.site.scope) as tx:
        [listed] = await find_page(tx, ClientFileQuery(where={"type": "835"}, limit=9))
    assert re.fullmatch(rf"{PAYER}\.\d{{8}}\.EFT-1-7\.\w+\.835", listed.name)


async def test_each_payer_of_a_hops_file_is_reported_once_however_often_the_file_is_posted(flow):
    both = a_file([a_claim(1), a_claim(2, payer=OTHER_PAYER)])
    numbers, _ = await sent(flow, both)
    [other] = flow.connections.mailboxes["Medical", OTHER_PAYER].sent.values()
    numbers += re.findall(r"REF\*D9\*([^~]+)~", other.decode())
    known = await responses(flow, "277CA")
    served = HopPayer("Medical", OTHER_PAYER, "60055")
    flow.connections = HopConnections(hop=Hop(NORTHGATE.id, NORTHGATE.name, [served]))
    access = replace(flow.context.payer_access, connections=lambda: flow.connections)
    flow.context = replace(flow.context, payer_access=access)
    said = [
        patient(f"A-{at}", "A2:20:PR*20240306*WQ*150", extra=[f"REF*D9*{number}"])
        for at, number in enumerate(numbers, 1)
    ]
    assert await flow.arrive(status(*said), payer=NORTHGATE.id) == ["parked"]

    async def reported():
        made = [one for one in await responses(flow, "277CA") if one not in known]
        return sorted(row[-5:] for one in made for row in rows(one, "NM1*PR"))

    assert await reported() == [OTHER_PAYER]
    # The map gets the payer of the first claim: its statement comes before the one that was sent on.
    flow.connections.hop = Hop(NORTHGATE.id, NORTHGATE.name, [*NORTHGATE.payers, served])
    [file] = await flow.files()
    await post.post_file(flow.context, file.id)
    assert await reported() == sorted([OTHER_PAYER, PAYER])


async def test_a_tax_id_names_the_payee_as_well_and_an_unknown_payee_gets_nothing(flow):
    await bills(flow, flow.site, "512345678")
    remit = payment(paid("A-1", "1", "80", "80"))
    await flow.arrive(remit)
    assert await responses(flow, "835") == []
    by_tax_id = remit.replace(f"*XX*{NPI}~LX".encode(), b"*FI*51-2345678~LX")
    by_tax_id = by_tax_id.replace(b"EFT1", b"EFT2").replace(b"000000500", b"000000502")
    await flow.arrive(by_tax_id, name="tax")
    assert await responses(flow, "835") == [by_tax_id]


@pytest.mark.both_databases
async def test_a_payee_of_two_vendors_waits_until_a_person_names_its_site(flow):
    other = await flow.new_site()
    flow.context = replace(flow.context, accounts=lambda: SimpleNamespace(sites=[flow.site, other]))
    await bills(flow, flow.site)
    await bills(flow, other)
    remit = payment(paid("A-1", "1", "80", "80"))
    await flow.arrive(remit)
    assert await responses(flow, "835") == await responses(flow, "835", other) == []
    [file] = await flow.files()
    assert "name the one that receives it" in file.reason
    await name_payee(flow.context, NPI, other, actor=ACTOR)
    second = payment(paid("A-2", "1", "80", "80"), reference="EFT2", control=503)
    await flow.arrive(second, name="b")
    assert await responses(flow, "835", other) == [second]
    await name_payee(flow.context, NPI, flow.site, actor=ACTOR)
    third = payment(paid("A-3", "1", "80", "80"), reference="EFT3", control=504)
    await flow.arrive(third, name="c")
    assert await responses(flow, "835") == [third]
    assert await responses(flow, "835", other) == [second]
    with pytest.raises(OperationRefused, match="NPI"):
        await name_payee(flow.context, "12", flow.site, actor=ACTOR)


@pytest.mark.both_databases
async def test_a_payment_is_cut_between_sites_if_a_person_wants_that(flow):
    other, late = await flow.new_site(), await flow.new_site()
    sites = [flow.site, other, late]
    flow.context = replace(flow.context, accounts=lambda: SimpleNamespace(sites=sites))
    await bills(flow, flow.site)
    await bills(flow, other)
    await name_payee(flow.context, NPI, flow.site, is_cut=True, actor=ACTOR)
    _, mine = await flow.sent()
    _, theirs = await flow.sent(site=other)
    claims = [
        paid(accounts(mine)[0], "1", "100", "80", OFF), paid(accounts(theirs)[0], "1", "100", "70", "CAS*CO*45*30"),
        paid("OLD-77", "1", "60", "60"),
    ]  # fmt: skip
    plb = [f"PLB*{NPI}*20261231*WO:OLD*10"]
    whole = payment(*claims, amount="200", plb=plb)
    await flow.arrive(whole)
    [own], [part] = await responses(flow, "835"), await responses(flow, "835", other)
    for content, amount, accounts_paid, number in (
        (own, "130", [accounts(mine)[0], "OLD-77"], 1),
        (part, "70", [accounts(theirs)[0]], 2),
    ):
        assert [row.split("*")[1] for row in rows(content, "CLP")] == accounts_paid
        assert rows(content, "BPR")[0].split("*")[2] == amount
        assert rows(content, "REF*EV") == [f"REF*EV*PART {number} OF 2 OF 200.00"]
        assert rows(content, "TRN") == rows(whole, "TRN")
        assert {one.rule for one in check(content).findings} <= {
            one.rule for one in check(whole).findings
        }
    assert (rows(own, "PLB"), rows(part, "PLB")) == (plb, [])
    async with flow.database.read(other.scope) as tx:
        [listed] = await find_page(tx, ClientFileQuery(where={"type": "835"}, limit=9))
    assert ".part2of2." in listed.name
    assert listed.note.startswith("Part 2 of 2 of a payment of 200.00: 70.00 is in this part.")
    # Read again, it is not handed on again, neither in parts nor whole, and to no site that is named since.
    [file] = await flow.files()
    for site, is_cut in ((flow.site, True), (flow.site, False), (late, True), (late, False)):
        await name_payee(flow.context, NPI, site, is_cut=is_cut, actor=ACTOR)
        await inbox_admin.replay(flow.context, file.id, actor=ACTOR)
        await flow.arrive()
        assert await responses(flow, "835") == [own]
        assert await responses(flow, "835", other) == [part]
        assert await responses(flow, "835", late) == []
    await name_payee(flow.context, NPI, flow.site, actor=ACTOR)
    # Without the setting it goes whole to the site that is named.
    second = payment(*claims, amount="200", plb=plb, reference="EFT2", control=502)
    await flow.arrive(second, name="b")
    assert sorted(await responses(flow, "835")) == sorted([own, second])
    # With it, a payment that does not balance is not cut, and waits because of the other vendor's claim.
    await name_payee(flow.context, NPI, flow.site, is_cut=True, actor=ACTOR)
    third = payment(*claims, amount="201", plb=plb, reference="EFT3", control=503)
    alone = payment(*claims[::2], amount="131", plb=plb, reference="EFT4", control=504)
    # Nor is one whose claims are not as many in its bytes as the reader finds.
    odd = payment(*claims, amount="200", plb=plb, reference="EFT5", control=505)
    odd = odd.replace(b"~CLP*OLD-77", b"~\x1cCLP*OLD-77")
    assert await flow.arrive(third, alone, odd, name="c") == ["parked"] * 3
    assert sorted(await responses(flow, "835")) == sorted([own, second, alone])
    assert await responses(flow, "835", other) == [part]


async def test_claims_of_a_vendor_that_sends_no_files_stay_out_of_another_vendors_site(flow):
    other, third = await flow.new_site(), await flow.new_site()
    sites = [flow.site, other, third]
    flow.context = replace(flow.context, accounts=lambda: SimpleNamespace(sites=sites))
    await bills(flow, flow.site)
    _, mine = await flow.sent()
    _, theirs = await flow.sent(site=other)
    _, json_alone = await flow.sent(site=third)
    claims = [paid(accounts(one)[0], "1", "100", "80", OFF) for one in (mine, theirs, json_alone)]
    # Nobody named the owner, and one site bills as the payee: another vendor's claim keeps it back.
    first = payment(*claims[:2], amount="160")
    await flow.arrive(first)
    await bills(flow, other)
    await name_payee(flow.context, NPI, flow.site, is_cut=True, actor=ACTOR)
    whole = payment(*claims, amount="240", reference="EFT2", control=502)
    await flow.arrive(whole, name="b")
    for site in sites:
        assert await responses(flow, "835", site) == []
    file = (await flow.files())[-1]
    assert "sees no claim of another vendor" in file.reason
    # A person names the site without the setting: that one alone has it, whole.
    await name_payee(flow.context, NPI, flow.site, actor=ACTOR)
    await inbox_admin.replay(flow.context, file.id, actor=ACTOR)
    await flow.arrive()
    assert await responses(flow, "835") == [whole]
    assert await responses(flow, "835", other) == await responses(flow, "835", third) == []


@pytest.mark.both_databases
async def test_a_response_that_cannot_be_written_is_put_off_and_keeps_no_other_back(
    flow, monkeypatch
):
    monkeypatch.setattr(sender_responses, "RESPONSES_AT_ONCE", 1)
    await bills(flow, flow.site)
    first = payment(paid("A-1", "1", "80", "80"))
    second = payment(paid("A-2", "1", "80", "80"), reference="EFT2", control=501)
    await flow.arrive(first)
    real = sender_responses.cut_sets
    with monkeypatch.context() as broken:
        broken.setattr(sender_responses, "cut_sets", None)
        for seconds in (10, 20, 40, 80, 160):
            assert await has_due_responses(flow.context)
            assert await write_due_responses(flow.context) == 0
            assert not await has_due_responses(flow.context)
            flow.clock.advance(timedelta(seconds=seconds))

        def cut(content, *more):
            if content == first:
                raise ValueError
            return real(content, *more)

        broken.setattr(sender_responses, "cut_sets", cut)
        await flow.arrive(second, name="second")
        assert await responses(flow, "835") == [second]
        async with flow.database.read(due_responses.SCOPE) as tx:
            assert await due_responses.count_failed(tx, RESPONSE_FAILURES_MIN) == 1
    flow.clock.advance(timedelta(hours=1))
    assert sorted(await responses(flow, "835")) == sorted([first, second])
    async with flow.database.read(due_responses.SCOPE) as tx:
        assert await due_responses.count_failed(tx, 1) == 0


@pytest.mark.both_databases
async def test_what_another_node_listed_first_is_dropped(flow, monkeypatch):
    await bills(flow, flow.site)
    await flow.arrive(payment(paid("A-1", "1", "80", "80")))
    written = []

    async def lose(tx, context, site, stored):
        written.append(stored.file_id)
        return False

    monkeypatch.setattr(sender_responses, "publish_response", lose)
    assert await write_due_responses(flow.context) == 1
    async with flow.database.read(flow.site.scope) as tx:
        assert await client_files.find(tx, written[0]) is None


@pytest.mark.both_databases
async def test_a_delivery_is_reported_once_per_set_with_the_claims_that_went(flow):
    await take(flow, a_file([a_claim(1), a_claim(2), a_claim(3, payer="NOPE1")], [a_claim(4)]))
    assert await responses(flow, "277CA") == []
    await flow.send()
    first, second = sorted(await responses(flow, "277CA"), key=len, reverse=True)
    today = f"{flow.clock.now():%Y%m%d}"
    assert rows(first, "TRN*2", "STC*A0", "REF*D9", "QTY*90", "QTY*AA") == [
        "TRN*2*FB0001", "QTY*90*2",
        "TRN*2*A-1", f"STC*A0:16:PR*{today}*WQ*150", "REF*D9*SENDER1",
        "TRN*2*A-2", f"STC*A0:16:PR*{today}*WQ*150", "REF*D9*SENDER2",
    ]  # fmt: skip
    assert rows(second, "TRN*2") == ["TRN*2*FB0002", "TRN*2*A-4"]
    for made in (first, second):
        assert check(made).findings == ()
        assert rows(made, "NM1*AY")
    assert len(await responses(flow, "277CA")) == 2


async def test_a_payers_277ca_comes_back_in_the_senders_numbers(flow):
    (first, second), _ = await sent(flow)
    before = await responses(flow, "277CA")
    answer = status(
        patient("A-1", "A2:20:PR*20261102*WQ*150", extra=["REF*1K*PCN-9", f"REF*D9*{first}"]),
        patient("A-2", "A7:164:IL*20261102*U*150", extra=[f"REF*D9*{second}"]),
    )
    assert await flow.arrive(answer) == ["applied"]
    [made] = [one for one in await responses(flow, "277CA") if one not in before]
    assert check(made).findings == ()
    assert rows(made, "NM1*PR", "NM1*41", "TRN*2", "STC*A2", "STC*A7", "REF", "QTY", "AMT") == [
        "NM1*PR*2*MEADOW MUTUAL MM001*****PI*MM001",
        "NM1*41*2*FERNHILL FAMILY PRACTICE*****46*FERNHILL", "TRN*2*FB0001",
        "QTY*90*1", "QTY*AA*1", "AMT*YU*150", "AMT*YY*150", "QTY*QA*1", "QTY*QC*1", "AMT*YU*150", "AMT*YY*150",
        "TRN*2*A-1", "STC*A2:20:PR*20261102*WQ*150", "REF*1K*PCN-9", "REF*D9*SENDER1",
        "TRN*2*A-2", "STC*A7:164:IL*20261102*U*150", "REF*D9*SENDER2",
    ]  # fmt: skip
    # The same statements in another file say nothing new.
    assert await flow.arrive(answer.replace(b"000000500", b"000000501"), name="b")
    assert len(await responses(flow, "277CA")) == len(before) + 1


async def test_a_payers_277ca_that_is_read_again_tells_what_it_did_not_before_and_that_alone(flow):
    (first, second), _ = await sent(flow)
    before = await responses(flow, "277CA")

    async def set_sendings(number, count):
        await flow.database.write(
            EVERYONE, lambda tx: tx.run(SET_SENDINGS, of=number, count=count), actor=ACTOR
        )

    answer = status(
        patient("A-1", "A2:20:PR*20261102*WQ*150", extra=[f"REF*D9*{first}"]),
        patient("A-2", "A7:164:IL*20261102*U*150", extra=[f"REF*D9*{second}"]),
    )
    # The second claim cannot be found at first.
    await set_sendings(second, 0)
    assert await flow.arrive(answer) == ["parked"]
    assert len(await responses(flow, "277CA")) == len(before) + 1
    await set_sendings(second, 1)
    file = (await flow.files())[-1]
    for _ in range(2):
        await inbox_admin.replay(flow.context, file.id, actor=ACTOR)
        await post.post_file(flow.context, file.id)
        made = [one for one in await responses(flow, "277CA") if one not in before]
        named = [rows(one, "TRN*2*A-") for one in made]
        assert sorted(named) == [["TRN*2*A-1"], ["TRN*2*A-2"]]


async def test_a_correction_is_acknowledged_in_the_senders_set_like_the_claim_itself(flow):
    wrong = a_claim(1).replace("HC:99213*150*", "HC:99213*140*")
    await take(flow, a_file([wrong, a_claim(2)]))
    async with flow.database.read(flow.site.scope) as tx:
        first = (await file_sets.list_claims(tx, "SET1", after=0, limit=1))[0].claim_number
    done = await submit_correction(
        flow.context, flow.site, first, {"2300/CLM02 (segment 21)": "140"},
        actor=ACTOR, now=flow.clock.now(),
    )  # fmt: skip
    assert done.accepted, done.findings
    [receipt] = await responses(flow, "277CA")
    await flow.send()
    [delivered] = [one for one in await responses(flow, "277CA") if one != receipt]
    answer = status(
        patient("A-1", "A2:20:PR*20261102*WQ*140", extra=[f"REF*D9*{done.claim_number}"])
    )
    assert await flow.arrive(answer) == ["applied"]
    known = [receipt, delivered]
    [taken] = [one for one in await responses(flow, "277CA") if one not in known]
    for made in (receipt, delivered, taken):
        assert check(made).findings == ()
        assert "TRN*2*FB0001" in rows(made, "TRN*2")
    today = f"{flow.clock.now():%Y%m%d}"
    wanted = ("TRN*2*A-", "STC*A", "REF*D9")
    assert rows(receipt, *wanted)[-3:] == [
        "TRN*2*A-1", f"STC*A1:19:AY*{today}*WQ*140", "REF*D9*SENDER1",
    ]  # fmt: skip
    assert [row[:12] for row in rows(delivered, "TRN*2*A-", "STC*A0")] == [
        "TRN*2*A-1", "STC*A0:16:PR", "TRN*2*A-2", "STC*A0:16:PR",
    ]  # fmt: skip
    assert rows(taken, *wanted)[-3:] == [
        "TRN*2*A-1", "STC*A2:20:PR*20261102*WQ*140", "REF*D9*SENDER1",
    ]  # fmt: skip


async def test_a_999_that_refuses_and_a_277_that_waits_come_back_as_well(flow):
    file = a_file([a_claim(1), a_claim(2)])
    (number, second), content = await sent(flow, file)
    before = await responses(flow, "277CA")
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
    assert await flow.arrive(waiting) == ["applied"]
    [made] = await responses(flow, "277")
    assert check(made).findings == ()
    assert rows(made, "TRN", "STC", "REF") == [
        "TRN*2*A-1", "STC*P2:46*20261102**150", "REF*1K*PCN-3", "REF*EJ*A-1", "REF*D9*SENDER1",
    ]  # fmt: skip
    ours = re.search(rb"ST\*.*SE\*", content)[0].decode().split("~")
    at = [place for place, row in enumerate(ours, 1) if row.startswith("SV1")][1]
    refusal = [
        "AK2*837*0001*005010X222A1",
        f"IK3*SV1*{at}*2400*8",
        "CTX*CLM01:A-2",
        "IK4*1:2**7",
        "IK5*R*5",
    ]
    answer = nine(controls(content), refusal, verdict="R", control=503)
    assert await flow.arrive(answer, name="c") == ["applied"]
    [refused] = [one for one in await responses(flow, "277CA") if one not in before]
    assert check(refused).findings == ()
    assert rows(refused, "TRN*2*A-") == ["TRN*2*A-2"]
    assert rows(refused, "STC*A7")
    # The position in our file is told as the one in the sender's.
    lines = [place for place, row in enumerate(file.split(b"~"), 1) if row.startswith(b"SV1")]
    history = await load_claim_history(flow.database, flow.vault, second, actor=ACTOR)
    [finding] = [one for one in history.findings if one.rule.startswith("999")]
    assert finding.location == f"2400/SV101-2 (segment {lines[1]})"


async def test_a_payment_is_matched_by_the_payers_number_or_by_charge_and_days(flow):
    file = a_file(
        [
            a_claim(1, account="PAT1"),
            a_claim(2, account="PAT1").replace("HC:99213", "HC:99214"),
            a_claim(3, account="PAT3"),
            a_claim(4, account="PAT4", charge="175"),
        ]
    )
    numbers, _ = await sent(flow, file)
    assert len(numbers) == 4
    # Two claims share their account number, charge and days: neither is matched.
    both = paid("PAT1", "1", "150", "80", MORE_OFF, DAY, payer_number="N1")
    # The patient's account number on claims that another clearinghouse sent.
    other_charge = paid("PAT3", "1", "99", "99", DAY, payer_number="N3")
    other_day = paid("PAT4", "1", "175", "175", "DTM*232*20230101", payer_number="N4")
    fits = paid("PAT4", "1", "175", "175", DAY, payer_number="N5")
    whole = payment(both, other_charge, other_day, fits, amount="529")
    assert await flow.arrive(whole) == ["parked"]

    async def paid_cents():
        statuses = await flow.statuses()
        return [statuses[number].payer_cents for number in numbers]

    assert await paid_cents() == [0, 0, 0, 17500]
    # Once a 277CA has the payer's number, it decides.
    numbered = status(
        patient("PAT1", "A2:20:PR*20261102*WQ*150", extra=["REF*1K*N2", f"REF*D9*{numbers[1]}"]),
        control=504,
    )
    await flow.arrive(numbered, name="numbered")
    known = paid("PAT1", "1", "150", "80", MORE_OFF, DAY, payer_number="N2")
    remit = payment(known, reference="EFT2", control=505)
    assert await flow.arrive(remit, name="known") == ["applied"]
    assert await paid_cents() == [0, 8000, 0, 17500]
