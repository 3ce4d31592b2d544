"""What comes back to the sender of a file, on both databases: remittances whole, each once.

Also tests `pipeline/operator/payee_admin`, `store/files/due_responses`, `store/files/payees` and
`store/database/schema/returned_files`.
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
from clearlane.store.files import client_files, file_parts, payees
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.payments.payment_query import PaymentQuery
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import ACTOR, Flow, accounts

NPI = "1234567893"
OFF = "CAS*CO*45*20"


@pytest.fixture
async def flow(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.context = replace(flow.context, accounts=lambda: SimpleNamespace(sites=[flow.site]))
    return flow


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


async def test_a_tax_id_names_the_payee_as_well_and_an_unknown_payee_gets_nothing(flow):
    await bills(flow, flow.site, "512345678")
    remit = payment(paid("A-1", "1", "80", "80"))
    await flow.arrive(remit)
    assert await responses(flow, "835") == []
    by_tax_id = remit.replace(f"*XX*{NPI}~LX".encode(), b"*FI*51-2345678~LX")
    by_tax_id = by_tax_id.replace(b"EFT1", b"EFT2").replace(b"000000500", b"000000502")
    await flow.arrive(by_tax_id, name="tax")
    assert await responses(flow, "835") == [by_tax_id]


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


async def test_a_response_that_cannot_be_written_stays_due_and_keeps_no_other_back(
    flow, monkeypatch
):
    await bills(flow, flow.site)
    await flow.arrive(payment(paid("A-1", "1", "80", "80")))
    real = sender_responses.cut_sets
    monkeypatch.setattr(sender_responses, "cut_sets", None)
    assert await write_due_responses(flow.context) == 0
    assert await has_due_responses(flow.context)
    monkeypatch.setattr(sender_responses, "cut_sets", real)
    assert len(await responses(flow, "835")) == 1


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
