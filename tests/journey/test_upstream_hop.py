"""Claims of several payers go to an upstream clearinghouse and come back: JSON and file claims, up to their payment.

Also tests `sandbox/responses/relay` and `pipeline/inbound/post_report`.
"""

import json
import re
from datetime import timedelta

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.pipeline.intake import submit as submission
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.store.delivery import batches, inbox
from clearlane.store.delivery.file_query import FileQuery, find_inbox_files
from clearlane.store.payments.payment_query import PaymentQuery
from clearlane.x12.checker.check import check
from tests.journey import test_file_round_trip as round_trip
from tests.journey.test_file_round_trip import VENDOR

BLUESTEM, COPPER = "BLU31", "CPR77"
"""Payers that the sandbox's hop, EASTGATE, serves as 60131 and 60177."""
DAYS = timedelta(days=30)
STEPS = [
    "Sent to EASTGATE in batch 1  The payer's id goes out as 60131, as the map of EASTGATE has it",
    "EASTGATE took the file in  It is on its way: the payer has not said that it has the claim.",
    "Taken by EASTGATE CLEARING to be passed on (277CA)  It is on its way",
    "Named in a report of EASTGATE",
    "277CA: accepted as of",
    "Remittance: Processed as primary",
]


practice = round_trip.practice


async def submit(practice, payer, member):
    """Submit a JSON claim; its number."""
    context = practice.context
    document = samples.document(
        V3_MEDICAL, day=context.clock.now().date() - timedelta(days=20), full=False
    )
    (claim,) = document["Claims"]
    claim |= {"Svc_VendorClaimId": f"V-{payer}", "Svc_PayerId": payer, "InsuredId": member}
    content = json.dumps(document, default=str).encode()
    done = await submission.submit(
        context, content, V3_MEDICAL, site=practice.first, actor=VENDOR, now=context.clock.now()
    )
    (result,) = done.results
    assert result.accepted, result.findings
    return result.claim_number


async def sent_files(context):
    """The files that were sent, by the payer that they are for."""
    found = {}
    async with context.database.read(batches.SCOPE) as tx:
        for id in range(1, 10):
            batch = await batches.find(tx, id)
            if batch is not None:
                content = await batches.read_content(tx, context.vault, batch)
                found.setdefault(batch.payer_id, []).append(content.decode())
    return found


async def history(context, number):
    return await load_claim_history(context.database, context.vault, number, actor=VENDOR)


def lines(found):
    return "\n".join(
        "  ".join((one.headline, *one.sentences, *one.operator_sentences)) for one in found.entries
    )


def acknowledged(back):
    """The statuses of the 277CAs that came back, by the role of who says them."""
    found = {}
    for one in back["277CA"]:
        text = one.decode()
        (role,) = re.findall(r"~NM1\*(AY|PR)\*2\*", text)
        found.setdefault(role, set()).update(re.findall(r"STC\*([^*]+)\*", text))
    return found


async def test_claims_of_two_payers_go_over_one_hop_and_come_back_paid(practice, monkeypatch):
    context = practice.context
    number = await submit(practice, BLUESTEM, "3001")
    monkeypatch.setattr(round_trip, "PAYER", COPPER)
    await practice.send(practice.second, ("ACC-1", "3001"), ("ACC-2", "3004"))
    await dispatch.create_batches(context, context.clock.now(), everything=True)
    await practice.control.finish_due_work()
    # One file for each payer, addressed to the hop, with the hop's id for the payer.
    files = await sent_files(context)
    assert {payer: len(found) for payer, found in files.items()} == {BLUESTEM: 1, COPPER: 1}
    for payer, id in ((BLUESTEM, "60131"), (COPPER, "60177")):
        text = files[payer][0]
        assert "NM1*40*2*EASTGATE CLEARING*****46*EASTGATE~" in text
        assert set(re.findall(r"NM1\*PR\*2\*[^~]*\*PI\*(\w+)~", text)) == {id}
        assert not [one for one in check(text.encode()).findings if one.severity == "error"]
    # The hop has them, and the payer has not said so: a 999, a 277CA (AY) and a report in words came.
    found = await history(context, number)
    assert (found.status.state, found.status.status_category) == ("sent", "")
    assert [one for one in STEPS if one not in lines(found)] == STEPS[-2:]
    assert f"{number} 100 ACCEPTED BY CLEARINGHOUSE" in lines(found)
    early = await practice.fetch(practice.second)
    assert acknowledged(early) == {"AY": {"A1:19:AY", "A0:16:PR"}}
    await practice.control.advance(DAYS, VENDOR)
    found = await history(context, number)
    assert [one for one in STEPS if one not in lines(found)] == []
    assert found.status.state == "complete"
    # Every file of the hop was posted, and each payment is of the payer that it names.
    async with context.database.read(inbox.SCOPE) as tx:
        files = await find_inbox_files(tx, FileQuery(limit=50))
    assert {(one.type, one.payer_id, one.state) for one in files} == {
        ("Hop", "EASTGATE", "applied")
    }
    assert {one.kinds for one in files} == {"999", "277CA", "text", "835"}
    paid = await list_payments(context.database, context.vault, PaymentQuery())
    assert {one.payment.payer_id for one in paid} == {BLUESTEM, COPPER}
    assert {one.payment.unmatched for one in paid} == {0}
    # Both steps went back to the sender of the file, each from its source, and the payment.
    back = await practice.fetch(practice.second)
    assert acknowledged(back)["PR"] >= {"A2:20:PR"}
    assert all(not check(one).findings for one in back["277CA"])
    assert b"CLP*ACC-1*" in b"".join(back["835"])
