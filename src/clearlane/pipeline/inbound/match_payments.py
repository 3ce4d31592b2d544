"""Match claim payments again whose claim was sent after the payment came.

    await match_waiting(context)        # run by every posting tick

The delivery of a batch marks the claim payments that carry the account number of one of its claims. Nothing else is tried
again: a payment may hold thousands of claims that were never sent through here. Knows no file.
"""

from collections.abc import Sequence
from typing import NamedTuple

from clearlane.kernel.clock import to_micros
from clearlane.payments.match import NoMatch
from clearlane.pipeline import record_facts
from clearlane.pipeline.claim_payment_content import open_unmatched
from clearlane.pipeline.inbound.match_claims import match_claims
from clearlane.pipeline.inbound.post_payments import claim_fact, matched_by
from clearlane.pipeline.payment_events import add_matched_events
from clearlane.pipeline.record_facts import ClaimFact, PaymentPlace
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.delivery import inbox
from clearlane.store.delivery.inbox import InboxResult
from clearlane.store.payments import claim_payments, payments
from clearlane.store.payments.claim_payments import UnmatchedRow

MATCHED_AT_ONCE = 200


class _Match(NamedTuple):
    """An unmatched claim payment and, if its claim is known now, the fact to record."""

    row: UnmatchedRow
    fact: ClaimFact | None


async def match_waiting(context: WorkContext) -> int:
    """Match every claim payment whose claim was sent since; return how many found their claim."""
    done = 0
    while True:
        async with context.database.read(payments.SCOPE) as tx:
            rows = await claim_payments.list_due(tx, MATCHED_AT_ONCE)
            await context.vault.load_keys_of(tx, [row.payload for row in rows])
        if not rows:
            return done
        found = await _find_claims(context, rows)
        await _record(context, found)
        done += sum(one.fact is not None for one in found)


async def _find_claims(context: WorkContext, rows: Sequence[UnmatchedRow]) -> list[_Match]:
    vault = context.vault
    opened = [open_unmatched(vault, row) for row in rows]
    found: list[_Match] = []
    async with context.database.read(payments.SCOPE) as tx:
        for payer_id in dict.fromkeys(row.payer_id for row in rows):
            some = [
                (row, content)
                for row, content in zip(rows, opened, strict=True)
                if row.payer_id == payer_id
            ]
            claims = await match_claims(
                tx, vault, payer_id, [content.claim_payment for _, content in some]
            )
            for (row, content), claim in zip(some, claims, strict=True):
                if isinstance(claim, NoMatch) or content.claim_payment.unreadable:
                    found.append(_Match(row, None))
                    continue
                how = matched_by(content.claim_payment, claim)
                inbox_id = await _inbox_id(tx, row)
                place = PaymentPlace(row.payment_id, row.number, how)
                fact = claim_fact(content, claim, place, inbox_id)
                found.append(_Match(row, fact))
    return found


async def _inbox_id(tx: Tx, row: UnmatchedRow) -> int:
    payment = await payments.find(tx, row.payment_id)
    if payment is None:
        raise LookupError("an unmatched claim payment has no payment")
    return payment.inbox_id


async def _record(context: WorkContext, found: Sequence[_Match]) -> None:
    """Record the matches; a file none of whose claims is left unmatched is posted again, to say so."""
    vault, now = context.vault, context.clock.now()
    facts = [one.fact for one in found if one.fact is not None]
    await record_facts.ensure_keys(vault, facts)

    async def job(tx: Tx) -> None:
        await record_facts.record_facts(tx, vault, facts, now, context.answer_days)
        matched = [(one.row.payment_id, one.row.number) for one in found if one.fact is not None]
        await claim_payments.remove_unmatched(tx, matched)
        others = [(one.row.payment_id, one.row.number) for one in found if one.fact is None]
        await claim_payments.clear_due(tx, others)
        for payment_id in dict.fromkeys(payment_id for payment_id, _ in matched):
            await finish_matching(tx, payment_id, to_micros(now))
        await add_matched_events(tx, facts, to_micros(now))
        if matched:
            tx.audit(
                "payment.matched",
                ids=list(dict.fromkeys(id for id, _ in matched)),
                count=len(matched),
            )

    await context.database.write(payments.SCOPE, job, actor=context.actor)


async def finish_matching(tx: Tx, payment_id: str, now: int) -> None:
    """Recompute a payment after its matches changed; have its file posted again once nothing is unmatched.

    Posting changes nothing about claims then; it records that the file is applied in full.
    """
    await payments.refresh(tx, payment_id)
    payment = await payments.find(tx, payment_id)
    if payment is None or payment.unmatched:
        return
    file = await inbox.find(tx, payment.inbox_id)
    if file is not None and file.state == inbox.PARKED:
        result = InboxResult(state=inbox.STORED, kinds=file.kinds)
        await inbox.record_result(tx, file.id, result, now)
