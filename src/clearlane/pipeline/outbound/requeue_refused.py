"""Queue the claims of files that a payer refused for their envelope (TA1), so that they go again in a new file.

Such claims are innocent: no vendor can correct them. Their file goes again by itself when the envelope that its route writes
differs from the refused one, because an operator mended the route; or when an operator says so. It is a new file with a
control number of its own. A claim that was replaced by another, or that the payer answered, is left out.

Nothing goes again by itself if the payer may hold the file: after TA105 025 (the control number came before, so the payer
has such a file), or if a TA1 or 999 accepted it, with errors noted (``E``) or without.
"""

from collections.abc import Sequence
from datetime import datetime

from clearlane.claims import lifecycle
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.connect.connections import PayerRoute
from clearlane.kernel.clock import to_micros
from clearlane.kernel.log import get_logger
from clearlane.pipeline.record_facts import ClaimFact, record_facts
from clearlane.pipeline.route_connections import envelope_for
from clearlane.pipeline.stored_facts import KnownFacts, load_known_facts
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_updates
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.database.database import Actor, Tx
from clearlane.store.delivery import batches, file_refusals
from clearlane.store.delivery.batches import Batch, BatchMember
from clearlane.store.delivery.file_refusals import BatchRefusal, payer_may_hold

log = get_logger()

ISA_CHARACTERS = 105
"""The length of an ISA as we write it, without its terminator."""
ADDRESS_ELEMENTS = (5, 6, 7, 8, 15)
"""Sender and receiver with their qualifiers, and the usage, in the ISA."""
GROUP_ELEMENTS = (2, 3)
"""Sender and receiver in the GS."""


def envelope_of_file(content: bytes) -> str:
    """Return the addresses of a file that we wrote: of its ISA and its first GS."""
    text = content[: 2 * ISA_CHARACTERS].decode("latin-1")
    isa, gs = text[:ISA_CHARACTERS], text[ISA_CHARACTERS + 1 :].split(text[ISA_CHARACTERS])[0]
    elements, group = isa.split(isa[3]), gs.strip().split(isa[3])
    found = [elements[at] for at in ADDRESS_ELEMENTS] + [group[at] for at in GROUP_ELEMENTS]
    return "*".join(each.strip() for each in found)


def envelope_of_route(route: PayerRoute, now: datetime) -> str:
    """Return the addresses that a route writes now, in the form of :func:`envelope_of_file`."""
    made = envelope_for(route, 1, now)
    found = (
        made.sender_qualifier, made.sender, made.receiver_qualifier, made.receiver, made.usage,
        made.application_sender or made.sender, made.application_receiver or made.receiver,
    )  # fmt: skip
    return "*".join(each.strip() for each in found)


async def requeue_mended(context: WorkContext, now: datetime) -> list[int]:
    """Queue the claims of refused files whose route writes another envelope by now; return the ids of these files."""
    async with context.database.read(batches.SCOPE) as tx:
        refusals = [one for one in await file_refusals.list_open(tx) if not payer_may_hold(one)]
        found = [await batches.find(tx, one.batch_id) for one in refusals]
    mended = [
        batch.id
        for refusal, batch in zip(refusals, found, strict=True)
        if batch is not None and _is_mended(context, batch, refusal, now)
    ]
    return [
        id
        for id in mended
        if await requeue_refused(context, id, actor=context.actor, by_person=False)
    ]


def _is_mended(context: WorkContext, batch: Batch, refusal: BatchRefusal, now: datetime) -> bool:
    """Return whether the route of a refused file writes another envelope. Another route is not a repair of this one."""
    routes = context.payer_access.connections().mailbox_routes(*batch.destination)
    route = next((one for one in routes if one.route_id == batch.route_id), None)
    return route is not None and envelope_of_route(route, now) != refusal.envelope


async def requeue_refused(
    context: WorkContext, batch_id: int, *, actor: Actor, by_person: bool
) -> int:
    """Queue the claims of a refused file again, in one transaction; return how many.

    Not ``by_person``, nothing is queued if the payer may hold the file.
    """
    now, vault = context.clock.now(), context.vault
    async with context.database.read(batches.SCOPE) as tx:
        members = await batches.list_members(tx, batch_id)
    for owner in {(one.vendor_id, one.site_id) for one in members}:
        await vault.ensure_key(owner)

    async def job(tx: Tx) -> int:
        refusal = await file_refusals.lock(tx, batch_id)
        if refusal is None or refusal.requeued_at is not None:
            return 0
        numbers = [one.claim_number for one in members]
        locked = await claim_updates.lock_claims(tx, numbers)
        known = await load_known_facts(tx, vault, numbers)
        if not by_person and (payer_may_hold(refusal) or _was_accepted(members, known)):
            await file_refusals.record_accepted(tx, batch_id)
            return 0
        again = [one for one in members if _goes_again(locked[one.claim_number], one, known)]
        queued = [_queued_fact(one, now) for one in again]
        await record_facts(tx, vault, queued, now, context.answer_days)
        await file_refusals.record_requeued(tx, batch_id, to_micros(now))
        tx.audit("batch.requeued", ids=[str(batch_id)], count=len(again), detail=refusal.note)
        return len(again)

    count = await context.database.write(batches.SCOPE, job, actor=actor)
    if count:
        log.info("refused claims queued", batch=batch_id, claims=count)
    return count


def _was_accepted(members: Sequence[BatchMember], known: KnownFacts) -> bool:
    """Return whether a 999 accepted a set of this very file, whatever a TA1 said."""
    return any(
        fact.kind is FactKind.ACCEPTED_999 and fact.attempt == one.attempt
        for one in members
        for fact in known[one.claim_number].values()
        if isinstance(fact, Fact)
    )


def _goes_again(claim: ClaimStateRow, member: BatchMember, known: KnownFacts) -> bool:
    """Return whether a claim waits because of this refusal alone: it was neither replaced nor sent since."""
    if claim.is_superseded or claim.sendings != member.attempt:
        return False
    return lifecycle.fold(known[member.claim_number].values()).file_refused


def _queued_fact(member: BatchMember, now: datetime) -> ClaimFact:
    fact = Fact(kind=FactKind.REQUEUED, at=now, attempt=member.attempt)
    return ClaimFact(member.claim_number, member.vendor_id, member.site_id, fact)
