"""Make acknowledgements (277CA) and statuses (277) for the senders of files: of corrections, deliveries and payers' files.

    for response, content in await delivery_responses(context, site, due): ...

One file is about one set of the sender, with all its claims that the cause is about, in his own numbers. Claims are opened
a page at a time, and of each only its text in the file is kept.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.forms.x12_loops import loops_of
from clearlane.claims.responses.ack_verdicts import FORWARDED, PAYER, RECEIPT
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim, acknowledged_claim
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.claims.responses.returned_verdicts import returned_statuses, returned_verdict
from clearlane.claims.responses.sender_set import SenderSet, values_for_sender
from clearlane.claims.responses.write_277 import StatusResponse277
from clearlane.claims.responses.write_277ca import (
    Acknowledgement277CA,
    AckSource,
    clearinghouse_source,
)
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.clock import from_micros, to_local
from clearlane.pipeline.intake.files.file_responses import ClientResponse
from clearlane.pipeline.load_claim import open_claim
from clearlane.pipeline.stored_facts import open_fact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims, facts
from clearlane.store.claims.claims import StoredClaim
from clearlane.store.database.database import require_row
from clearlane.store.delivery import batches, inbox
from clearlane.store.delivery.control_numbers import next_control_number
from clearlane.store.files import client_files, due_responses, file_sets
from clearlane.store.files.due_responses import DueResponse
from clearlane.store.files.file_sets import FileSet
from clearlane.x12.reader.set_slices import AS_RECEIVED, HeaderValues

CLAIMS_PAGE_ROWS = 250

ResponseContent = tuple[ClientResponse, bytes]


async def correction_responses(
    context: WorkContext, site: Site, due: DueResponse
) -> list[ResponseContent]:
    """Return the acknowledgement that we have the correction of a claim of a set."""
    found, made = await _own_acknowledgement(context, site, due)
    async for page in _claims(context, site, due):
        for _, claim in page:
            made.add(claim, RECEIPT)
    return [await _content(context, site, due, found, "277CA", made.write)]


async def delivery_responses(
    context: WorkContext, site: Site, due: DueResponse
) -> list[ResponseContent]:
    """Return the acknowledgement that claims of a set were delivered."""
    found, made = await _own_acknowledgement(context, site, due)
    async with context.database.read(batches.SCOPE) as tx:
        members = await batches.list_members(tx, int(due.source_id))
    attempts = {one.claim_number: one.attempt for one in members}
    async for page in _claims(context, site, due):
        first = await _first_deliveries(context, site, [number for number, _ in page])
        for number, claim in page:
            # A claim whose file was refused and went again was forwarded before.
            if first.get(number) == attempts[number]:
                made.add(claim, FORWARDED)
    if not made.claims:
        return []
    return [await _content(context, site, due, found, "277CA", made.write)]


async def payer_file_responses(
    context: WorkContext, site: Site, due: DueResponse
) -> list[ResponseContent]:
    """Return the acknowledgement with what a payer's file says of the claims of a set."""
    inbox_id = int(due.source_id)
    async with context.database.read(inbox.SCOPE) as tx:
        file = require_row(await inbox.find(tx, inbox_id), "an inbox file")
    payer = context.payer_access.payers().find(file.payer_id, file.type)
    source = AckSource(payer.name if payer else file.payer_id, file.payer_id, PAYER, "PI")
    found, sender = await _set(context, site, due)
    acknowledged = await _acknowledgement(context, site, found, sender, source)
    control, moment = await _envelope(context, site)
    decided = StatusResponse277(source, sender, control=control, moment=moment)
    async for page in _claims(context, site, due):
        reported = await _facts(context, site, inbox_id, [number for number, _ in page])
        for number, claim in page:
            verdict = returned_verdict(reported.get(number, ()), claim)
            if verdict is not None:
                acknowledged.add(claim, verdict)
            statuses, payer_number = returned_statuses(reported.get(number, ()))
            if statuses:
                decided.add(claim, statuses, payer_number)
    made = (
        ("277CA", acknowledged.claims, acknowledged.write),
        ("277", decided.claims, decided.write),
    )
    return [
        await _content(context, site, due, found, type, write)
        for type, count, write in made
        if count
    ]


async def _set(context: WorkContext, site: Site, due: DueResponse) -> tuple[FileSet, SenderSet]:
    async with context.database.read(site.scope) as tx:
        sets = await file_sets.find_sets(tx, [due.set_id])
        found = require_row(sets.get(due.set_id), "the set of a response")
        await context.vault.load_keys_of(tx, [found.payload])
    return found, _open_sender(context, site, found)


def _open_sender(context: WorkContext, site: Site, found: FileSet) -> SenderSet:
    opened = context.vault.open(site.scope, file_sets.TABLE, found.set_id, found.payload)
    return msgspec.msgpack.decode(opened, type=SenderSet)


async def header_values(context: WorkContext, site: Site) -> HeaderValues:
    """Return what the headers of a payer's file say when it is handed on to a site: its ids as in the last file that it sent.

    They stay as received for a site that never sent a file.
    """
    async with context.database.read(site.scope) as tx:
        found = await file_sets.find_latest(tx)
        if found is None:
            return AS_RECEIVED
        await context.vault.load_keys_of(tx, [found.payload])
    return values_for_sender(_open_sender(context, site, found), *await _envelope(context, site))


async def _own_acknowledgement(
    context: WorkContext, site: Site, due: DueResponse
) -> tuple[FileSet, Acknowledgement277CA]:
    """Return an acknowledgement of our own for claims of a set, without claims yet."""
    found, sender = await _set(context, site, due)
    source = clearinghouse_source(context.payer_access.submitter.name, sender)
    return found, await _acknowledgement(context, site, found, sender, source)


async def _acknowledgement(
    context: WorkContext, site: Site, found: FileSet, sender: SenderSet, source: AckSource
) -> Acknowledgement277CA:
    control, moment = await _envelope(context, site)
    received = to_local(from_micros(found.created_at), site.time_zone).date()
    return Acknowledgement277CA(source, sender, received=received, control=control, moment=moment)


async def _envelope(context: WorkContext, site: Site) -> tuple[int, datetime]:
    """Return a control number, and the moment in the site's time."""
    control = await context.database.write(batches.SCOPE, next_control_number, actor=context.actor)
    return control, to_local(context.clock.now(), site.time_zone)


async def _claims(
    context: WorkContext, site: Site, due: DueResponse
) -> AsyncIterator[list[tuple[str, AcknowledgedClaim]]]:
    """Yield the claims that a response is about with their numbers, a page at a time."""
    after = due_responses.FIRST
    while True:
        async with context.database.read(site.scope) as tx:
            page = await due_responses.list_claims(tx, due, after=after, limit=CLAIMS_PAGE_ROWS)
            rows = await claims.find_many(tx, [one.claim_number for one in page])
            await context.vault.load_keys_of(tx, [row.payload for row in rows])
        if page:
            by_number = {row.claim_number: row for row in rows}
            ordered = [by_number[one.claim_number] for one in page]
            yield await asyncio.to_thread(_open_claims, context, site, ordered)
        if len(page) < CLAIMS_PAGE_ROWS:
            return
        after = page[-1]


def _open_claims(
    context: WorkContext, site: Site, rows: Sequence[StoredClaim]
) -> list[tuple[str, AcknowledgedClaim]]:
    found = []
    for row in rows:
        claim = open_claim(context.vault, site.scope, row).claim
        if not isinstance(claim, X12Claim):
            raise TypeError(f"claim {row.claim_number} of a file is of another form")
        loops = loops_of(claim)
        found.append((row.claim_number, acknowledged_claim(loops.claim, loops.parents)))
    return found


async def _first_deliveries(
    context: WorkContext, site: Site, numbers: Sequence[str]
) -> dict[str, int]:
    """Return which sending of each claim was the first that was delivered."""
    found: dict[str, int] = {}
    for number, reported in (await _facts(context, site, None, numbers)).items():
        sent = [fact.attempt for fact in reported if fact.kind is FactKind.SENT]
        if sent:
            found[number] = min(sent)
    return found


async def _facts(
    context: WorkContext, site: Site, inbox_id: int | None, numbers: Sequence[str]
) -> dict[str, list[Fact]]:
    """Return what a payer's file says of claims, by their numbers; None for what we know ourselves."""
    async with context.database.read(site.scope) as tx:
        rows = [row for row in await facts.list_own(tx, numbers) if row.inbox_id == inbox_id]
        await context.vault.load_keys_of(tx, [row.payload for row in rows])
    found: dict[str, list[Fact]] = {}
    for row in rows:
        fact = open_fact(context.vault, row)
        if isinstance(fact, Fact):
            found.setdefault(row.claim_number, []).append(fact)
    return found


async def _content(
    context: WorkContext,
    site: Site,
    due: DueResponse,
    found: FileSet,
    type: str,
    write: Callable[[], bytes],
) -> ResponseContent:
    async with context.database.read(site.scope) as tx:
        answered = await client_files.find(tx, found.file_id)
    response = ClientResponse(
        type=type,
        response_key=f"{due.set_id}:{type}:{due.source}:{due.source_id}",
        stem=answered.name if answered else found.set_id,
        answers=found.file_id,
        set_id=found.set_id,
    )
    return response, await asyncio.to_thread(write)
