"""Write what goes back to the senders of files: deliveries, payers' acknowledgements, remittances.

    await write_due_responses(context)          # run by a tick

What is due is a row that was stored with its cause: a delivery, a posted file of a payer, or a payment. Each response is
one file for one set of the sender, with all its claims that the cause is about, in his own numbers; a remittance is
handed on as it was received. The file is stored first; one transaction then lists it and removes what was due.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

import msgspec
import structlog

from clearlane.accounts.model import Site
from clearlane.claims.forms.x12_loops import loops_of
from clearlane.claims.responses.ack_verdicts import FORWARDED, PAYER
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim, acknowledged_claim
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.claims.responses.returned_verdicts import returned_statuses, returned_verdict
from clearlane.claims.responses.sender_set import SenderSet
from clearlane.claims.responses.write_277 import StatusResponse277
from clearlane.claims.responses.write_277ca import (
    Acknowledgement277CA,
    AckSource,
    clearinghouse_source,
)
from clearlane.claims.x12_claim import X12Claim
from clearlane.engine.fault_injection import crash_point
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import from_micros, to_local
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.pipeline.intake.files.file_responses import (
    ResponseFile,
    publish_response,
    store_response,
)
from clearlane.pipeline.load_claim import open_claim
from clearlane.pipeline.stored_facts import open_fact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims, facts
from clearlane.store.database.database import StoreFault, Tx, require_row
from clearlane.store.delivery import batches, inbox
from clearlane.store.delivery.control_numbers import next_control_number
from clearlane.store.files import client_files, due_responses, file_sets
from clearlane.store.files.due_responses import DueResponse, ResponseSource
from clearlane.store.files.file_sets import FileSet
from clearlane.store.payments import payments
from clearlane.x12.reader.set_slices import cut_sets, slice_sets

log = structlog.get_logger()

NAME = "sender-responses"
EVERY_SECONDS = 2
RESPONSES_AT_ONCE = 50
CLAIMS_PAGE_ROWS = 250

Content = tuple[ResponseFile, bytes]


async def response_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Write the responses that are due."""
    await write_due_responses(context)


async def has_due_responses(context: WorkContext) -> bool:
    """Return whether a response is due."""
    async with context.database.read(due_responses.SCOPE) as tx:
        return bool(await due_responses.list_ready(tx, 1))


async def write_due_responses(context: WorkContext) -> int:
    """Write every response that is due; return how many there were."""
    done = 0
    while True:
        async with context.database.read(due_responses.SCOPE) as tx:
            due = await due_responses.list_ready(tx, RESPONSES_AT_ONCE)
        written = [await _try(context, one) for one in due]
        done += sum(written)
        if len(due) < RESPONSES_AT_ONCE or not any(written):
            return done


async def _try(context: WorkContext, due: DueResponse) -> bool:
    """Write a response; return whether that succeeded. One that cannot be written must not keep the others back."""
    try:
        await _write(context, due)
    except StoreFault:  # the database is down or busy
        raise
    except Exception as fault:  # noqa: BLE001  (it stays due, and is tried again)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("response not written", source=due.source, id=due.source_id, **details)  # noqa: TRY400
        return False
    return True


async def _write(context: WorkContext, due: DueResponse) -> None:
    site = _site(context, due)
    writer = _SOURCES[ResponseSource(due.source)]
    stored = [
        await store_response(context, site, *made) for made in await writer(context, site, due)
    ]
    crash_point("response stored")

    async def job(tx: Tx) -> list[str]:
        await due_responses.remove(tx, [due])
        published = []
        for one in stored:
            if await publish_response(tx, context, site, one):
                published.append(one.file_id)
            else:  # another node wrote it first
                await client_files.drop_upload(tx, one.file_id)
        return published

    for file_id in await context.database.write(site.scope, job, actor=context.actor):
        log.info(
            "response written",
            site=site.vendor_site_id,
            source=due.source,
            id=due.source_id,
            file=file_id,
        )
    crash_point("response listed")


def _site(context: WorkContext, due: DueResponse) -> Site:
    key = (due.vendor_id, due.site_id)
    return next(site for site in context.accounts().sites if (site.vendor_id, site.id) == key)


# ---- acknowledgements of claims ------------------------------------------------------------------


async def _delivery(context: WorkContext, site: Site, due: DueResponse) -> list[Content]:
    """Return the acknowledgement that claims of a set were delivered."""
    found, sender = await _set(context, site, due)
    source = clearinghouse_source(context.payer_access.submitter.name, sender)
    made = await _acknowledgement(context, site, found, sender, source)
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


async def _payer_file(context: WorkContext, site: Site, due: DueResponse) -> list[Content]:
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
    opened = context.vault.open(site.scope, file_sets.TABLE, found.set_id, found.payload)
    return found, msgspec.msgpack.decode(opened, type=SenderSet)


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
    after = 0
    while True:
        async with context.database.read(site.scope) as tx:
            page = await due_responses.list_claims(tx, due, after=after, limit=CLAIMS_PAGE_ROWS)
            rows = await claims.find_many(tx, [one.claim_number for one in page])
            await context.vault.load_keys_of(tx, [row.payload for row in rows])
        by_number = {row.claim_number: row for row in rows}

        def opened() -> list[tuple[str, AcknowledgedClaim]]:
            found = []
            for one in page:
                claim = open_claim(context.vault, site.scope, by_number[one.claim_number]).claim
                assert isinstance(claim, X12Claim), "a claim of a file is of the form x12"
                loops = loops_of(claim)
                found.append((one.claim_number, acknowledged_claim(loops.claim, loops.parents)))
            return found

        if page:
            yield await asyncio.to_thread(opened)
        if len(page) < CLAIMS_PAGE_ROWS:
            return
        after = page[-1].position


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
) -> Content:
    async with context.database.read(site.scope) as tx:
        answered = await client_files.find(tx, found.file_id)
    response = ResponseFile(
        type=type,
        response_key=f"{due.set_id}:{type}:{due.source}:{due.source_id}",
        stem=answered.name.rpartition(".")[0] or answered.name if answered else found.set_id,
        answers=found.file_id,
        set_id=found.set_id,
    )
    return response, await asyncio.to_thread(write)


# ---- remittances ---------------------------------------------------------------------------------


async def _remittance(context: WorkContext, site: Site, due: DueResponse) -> list[Content]:
    """Return the set of a payment in its envelope, as it was received."""
    async with context.database.read(payments.SCOPE) as tx:
        payment = require_row(await payments.find(tx, due.source_id), "a payment")
        file = require_row(await inbox.find(tx, payment.inbox_id), "an inbox file")
        content = await inbox.read_content(tx, context.vault, file)
    key = (payment.interchange, payment.group_number, payment.set_number)

    def cut() -> bytes:
        return cut_sets(content, [one for one in slice_sets(content) if one.key == key])

    response = ResponseFile(
        type="835", response_key=f"835:{payment.payment_id}", stem=payment.payment_id
    )
    return [(response, await asyncio.to_thread(cut))]


_SOURCES = {
    ResponseSource.BATCH: _delivery,
    ResponseSource.INBOX: _payer_file,
    ResponseSource.PAYMENT: _remittance,
}
