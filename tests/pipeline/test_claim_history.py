"""The history of a claim: its events in order, in sentences, and beside its fields.

Also tests `pipeline/query/history/load_history`, `pipeline/query/history/history_rows`, `pipeline/query/history/history_entries` and
`pipeline/query/history/claim_details`.
"""

import pytest

from clearlane.claims.responses.explain import explain
from clearlane.claims.write.claim_context import OutgoingClaim
from clearlane.pipeline.query.history.load_history import load_claim_history
from tests.claims.answers import nine, paid, patient, payment, status
from tests.pipeline.flowing import ACTOR, PAYER, Flow, accounts, controls

ACCEPTED = ("AK2*837*0001*005010X222A1", "IK5*A")


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


def history_of(flow, id):
    return load_claim_history(flow.database, flow.vault, id, actor=ACTOR)


async def test_the_history_of_a_paid_claim_goes_from_its_receipt_to_its_payment(flow):
    [id] = await flow.submit()
    content = await flow.send()
    [account] = accounts(content)
    await flow.arrive(nine(controls(content), ACCEPTED), name="first")
    report = status(patient(account, "A2:20*20261102*WQ*100"), batch=f"{controls(content):09}0001")
    await flow.arrive(report, name="second")
    row = paid(account, "1", "100", "80", "SVC*HC:99213*100*80**1", "CAS*CO*45*20")
    await flow.arrive(payment(row), name="third")
    history = await history_of(flow, id)
    headlines = [entry.headline for entry in history.entries]
    assert headlines[:2] == ["Received", "Checked"]
    assert headlines[2].startswith("Put into batch 1 of 1 claim, control number")
    assert headlines[3].startswith("Sent in batch")
    assert sorted(headlines[4:]) == [
        "277CA: accepted as of 2026-11-02 (A2: Accepted for adjudication)",
        "Remittance: Processed as primary",
        "The payer's system took the file in",
    ]
    assert history.status.state == "complete"
    remittance = next(c for c in history.entries if c.headline.startswith("Remittance"))
    assert "of $100.00 charged the payer paid $80.00" in remittance.sentences[0]
    assert [(one.code, str(one.amount)) for one in remittance.explanations] == [("CO-45", "20")]


async def test_what_a_payer_objects_to_is_shown_beside_what_was_sent(flow):
    [id] = await flow.submit()
    content = await flow.send()
    [account] = accounts(content)
    report = status(
        patient(account, "A7:562:85*20261102*U*100"), batch=f"{controls(content):09}0001"
    )
    await flow.arrive(report)
    history = await history_of(flow, id)
    out = OutgoingClaim(
        claim=history.loaded.claim, number=id, payer_id=PAYER, payer_name="MEADOW MUTUAL"
    )
    rows = {row.field: row for row in explain(out, history.findings)}
    assert rows["F28_TotalCharge"].sent
    [finding] = rows["F33A_BillingProviderNpi"].findings
    assert finding.rule.startswith("277CA")


async def test_an_unknown_claim_has_no_history(flow):
    assert await history_of(flow, "C0000000000000000XX") is None
