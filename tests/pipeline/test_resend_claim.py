"""Cancel a claim at its payer, and send one again unchanged: what is possible, the reason on record, and only once.

Also tests `pipeline/intake/resend_rules`.
"""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from clearlane.claims.resubmission import ORIGINAL_ONLY
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.hold_claims import CANCEL, change_unsent_claim
from clearlane.pipeline.intake.resend_claim import RESUBMIT_CLAIM, VOID_CLAIM, resend_claim
from clearlane.pipeline.intake.resend_rules import NEVER_SENT, UNSENT
from clearlane.pipeline.query.claim_list import find_claim
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.store.claims import work_items
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from tests.claims.answers import paid, patient, payment, status
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow, accounts

pytestmark = pytest.mark.one_database

NORA = Actor("console_user", "nora")
AUDITED = Statement(select(audit.c.action, audit.c.ids, audit.c.detail))
WHY = "Billed for the wrong patient"


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def resend(flow, number, verb, **more):
    claim = await find_claim(flow.context, number, flow.site.scope)
    history = await load_claim_history(flow.database, flow.vault, number, actor=ACTOR)
    flow.clock.advance(timedelta(minutes=1))
    now = flow.clock.now()
    return await resend_claim(flow.context, claim, history, verb, actor=NORA, now=now, **more)


async def refusal(flow, number, verb):
    with pytest.raises(CorrectionConflict) as refused:
        await resend(flow, number, verb)
    return str(refused.value)


async def sent(flow, answer="A2:20", *, number="P1"):
    """A claim that was sent, and what the payer said of it."""
    [claim], content = await flow.sent()
    [account] = accounts(content)
    extra = [f"REF*1K*{number}"] if number else []
    await flow.arrive(
        status(patient(account, f"{answer}*20261102*WQ*100", extra=extra)), name=claim
    )
    return claim, account


async def test_a_claim_that_the_payer_has_is_canceled_there_with_the_reason_on_record(flow):
    claim, account = await sent(flow)
    remit = payment(paid(account, "1", "100", "80", "CAS*CO*45*20"), amount="80", reference="E1")
    await flow.arrive(remit, name="remit")
    shown = await resend(flow, claim, VOID_CLAIM, reason=WHY, dry_run=True)
    assert (shown.sent_as, shown.claim_number, shown.payer_number) == ("void", "", "P1")
    assert b":8*" in shown.x12
    assert b"REF*F8*P1~" in shown.x12
    done = await resend(flow, claim, VOID_CLAIM, reason=WHY)
    assert (done.sent_as, bool(done.claim_number)) == ("void", True)
    async with flow.database.read(EVERYONE) as tx:
        rows = [row for row in await tx.rows(AUDITED) if row[0] == "claim.way_chosen"]
    [(_, ids, detail)] = rows
    assert done.claim_number in ids
    assert detail.startswith("void; the reason is note N")
    assert WHY not in detail
    async with flow.database.read(flow.site.scope) as tx:
        [note] = await work_items.list_notes(tx, done.claim_number)
    opened = flow.vault.open(flow.site.scope, work_items.NOTES, note.note_id, note.payload)
    assert opened.decode() == f"Why it was sent this way: {WHY}"
    content = await flow.send()
    assert b":8*" in content
    again = await refusal(flow, claim, VOID_CLAIM)
    assert again == f"It was replaced by {done.claim_number}: use that one."
    assert await refusal(flow, done.claim_number, VOID_CLAIM) == "It is a cancellation itself."


async def test_what_cannot_be_canceled_says_why(flow):
    [stopped] = await flow.post(F28_TotalCharge="1.00")
    assert await refusal(flow, stopped.claim_number, VOID_CLAIM) == NEVER_SENT
    [waiting] = await flow.submit()
    assert await refusal(flow, waiting, VOID_CLAIM) == UNSENT
    await flow.send()
    unnumbered, _ = await sent(flow, number="")
    assert "no number for it yet" in await refusal(flow, unnumbered, VOID_CLAIM)
    rejected, _ = await sent(flow, "A3:21", number="")
    assert "never took it in" in await refusal(flow, rejected, VOID_CLAIM)
    claim, _ = await sent(flow)
    flow.replace_payer(replacements=ORIGINAL_ONLY)
    assert "takes no cancellations by file" in await refusal(flow, claim, VOID_CLAIM)


async def test_only_what_the_payer_does_not_have_is_sent_again_unchanged(flow):
    [waiting] = await flow.submit()
    assert await refusal(flow, waiting, RESUBMIT_CLAIM) == "It leaves with the next file."
    await change_unsent_claim(
        flow.context, flow.site, waiting, CANCEL, actor=ACTOR, now=flow.clock.now()
    )
    assert "canceled before it was sent" in await refusal(flow, waiting, RESUBMIT_CLAIM)
    claim, _ = await sent(flow)
    assert "would be a duplicate" in await refusal(flow, claim, RESUBMIT_CLAIM)
    rejected, _ = await sent(flow, "A3:21", number="")
    shown = await resend(flow, rejected, RESUBMIT_CLAIM, dry_run=True)
    assert (shown.accepted, shown.sent_as, bool(shown.x12)) == (True, "new", True)
    done = await resend(flow, rejected, RESUBMIT_CLAIM)
    assert b"CLM*" in await flow.send()
    again = await refusal(flow, rejected, RESUBMIT_CLAIM)
    assert again == f"It was replaced by {done.claim_number}: use that one."


async def test_of_two_at_the_same_time_one_wins(flow):
    rejected, _ = await sent(flow, "A3:21", number="")
    results = await asyncio.gather(
        *(resend(flow, rejected, RESUBMIT_CLAIM) for _ in range(3)), return_exceptions=True
    )
    lost = [one for one in results if isinstance(one, CorrectionConflict)]
    assert len(lost) == 2, results


async def test_what_is_wrong_still_is_not_sent_again(flow):
    [stopped] = await flow.post(F28_TotalCharge="1.00")
    result = await resend(flow, stopped.claim_number, RESUBMIT_CLAIM)
    assert (result.accepted, result.claim_number) == (False, "")
    assert "C701" in {one.rule for one in result.findings}
