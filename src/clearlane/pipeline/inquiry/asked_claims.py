"""Claims that a sender's own 276 asks about: whose providers they are, and which of them came through us.

    build = await load_questions(context, site, sent)      # for ``plan_inquiries``
    await note_asked_claims(tx, site, inquiries, at)       # a line of the history and an event for each that came through us

A site asks about its own providers: one that bills through other sites alone is refused, so that no client learns of
another's claims. A claim is known by our number (REF*D9), the payer's (REF*1K) or the account number (REF*EJ) with charge and
days; if several fit, none is linked, and the payer is asked all the same.
"""

from collections.abc import Callable, Sequence

from clearlane.accounts.model import Site
from clearlane.claims.inquiry.read_276 import (
    ACCOUNT_NUMBER,
    CLAIM_NUMBER,
    PAYER_NUMBER,
    SentQuestion,
    build_question,
)
from clearlane.claims.inquiry.status_inquiry import StatusInquiry
from clearlane.events.event import NewEvent
from clearlane.inquiry.sent_inquiry import Refusal
from clearlane.kernel.formats import to_cents
from clearlane.payers.model import Payer
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_history, claim_search
from clearlane.store.claims.claim_lookup import SentClaimRow, find_named_by_sender
from clearlane.store.database.database import Tx
from clearlane.store.files import payees
from clearlane.store.vault.vault import Vault


async def load_questions(
    context: WorkContext, site: Site, sent: Sequence[SentQuestion]
) -> Callable[[SentQuestion, Payer], StatusInquiry | Refusal]:
    """Return what builds the questions of some claims: with our number of those that came through us."""
    foreign = await _other_providers(context, site, sent)
    rows = await _load_rows(context, site, sent)

    def build(claim: SentQuestion, payer: Payer) -> StatusInquiry | Refusal:
        if foreign.intersection(claim.providers):
            return Refusal.OTHER_PROVIDER
        question = build_question(claim, payer)
        found = [one for one in rows if _fits(context.vault, site, question, claim, one)]
        return build_question(claim, payer, found[0].claim_number) if len(found) == 1 else question

    return build


async def note_asked_claims(
    tx: Tx, site: Site, inquiries: Sequence[StatusInquiry], at: int
) -> None:
    """Note in the history of each claim that its payer is asked, with the event."""
    for inquiry in inquiries:
        if number := inquiry.claim_number:
            sequence = await claim_history.note_event(tx, number, at, claim_history.ASKED)
            data = {"keys": inquiry.keys.value}
            event = NewEvent("claim.asked", at, site.vendor_id, site.id, number, sequence, data)
            tx.add_events([event])


async def _other_providers(
    context: WorkContext, site: Site, sent: Sequence[SentQuestion]
) -> set[str]:
    """Return the provider numbers under which other sites bill, and this one does not."""
    numbers = {number for claim in sent for number in claim.providers}
    hashes = {payees.payee_hash(context.vault, number): number for number in numbers}
    async with context.database.read(payees.SCOPE) as tx:
        known = await payees.find_sites(tx, hashes)
    own = {one.payee for one in known if one.key == (site.vendor_id, site.id)}
    return {hashes[one.payee] for one in known if one.payee not in own}


async def _load_rows(
    context: WorkContext, site: Site, sent: Sequence[SentQuestion]
) -> list[SentClaimRow]:
    """Return the claims of the site that may be meant."""
    vault = context.vault
    accounts = {one for claim in sent if (one := claim.reference(ACCOUNT_NUMBER))}
    payer_numbers = {one for claim in sent if (one := claim.reference(PAYER_NUMBER))}
    async with context.database.read(site.scope) as tx:
        return await find_named_by_sender(
            tx,
            claim_numbers=accounts
            | {one for claim in sent if (one := claim.reference(CLAIM_NUMBER))},
            account_keys=[claim_search.account_key(vault, site.vendor_id, one) for one in accounts],
            payer_number_keys=[
                key for one in payer_numbers if (key := claim_search.payer_number_key(vault, one))
            ],
        )


def _fits(
    vault: Vault, site: Site, question: StatusInquiry, claim: SentQuestion, row: SentClaimRow
) -> bool:
    """Return whether a claim of ours is the one that a question is about."""
    if row.payer_id not in question.payer_names:
        return False
    if number := claim.reference(CLAIM_NUMBER):
        return row.claim_number == number
    if question.payer_control_number:
        key = claim_search.payer_number_key(vault, question.payer_control_number)
        return row.payer_number_key == key
    account = question.account_number
    if not account:
        return False
    key = claim_search.account_key(vault, site.vendor_id, account)
    if row.account_key != key and row.claim_number != account:
        return False
    if question.charge is not None and to_cents(question.charge) != row.total_cents:
        return False
    day, period = row.service_day, question.period
    return day is None or period is None or f"{period[0]}" <= day <= f"{period[1]}"
