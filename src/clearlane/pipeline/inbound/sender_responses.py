"""Write what goes back to the senders of files: corrections, deliveries, payers' acknowledgements, remittances.

    await write_due_responses(context)          # run by a tick

What is due is a row that was stored with its cause: a correction, a delivery, a posted file of a payer, or a payment. A remittance goes
back as it was received but for its envelope, anything else in the sender's own numbers. The file is stored first; one transaction then lists
it and removes what was due.
"""

import asyncio
import re

import msgspec

from clearlane.accounts.model import Site
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.kernel.log import get_logger
from clearlane.payments.cut_remittance import cut_remittance, decode_part, remittance_key
from clearlane.payments.payment import Payment
from clearlane.pipeline.inbound.claim_responses import (
    ResponseContent,
    correction_responses,
    delivery_responses,
    header_values,
    payer_file_responses,
)
from clearlane.pipeline.intake.files.file_responses import (
    ClientResponse,
    publish_response,
    store_response,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx, require_row
from clearlane.store.database.group_commit import TEMPORARY_FAULTS
from clearlane.store.delivery import inbox
from clearlane.store.files import client_files, due_responses
from clearlane.store.files.due_responses import DueResponse, ResponseSource
from clearlane.store.payments import payments
from clearlane.store.payments.payments import PaymentRow
from clearlane.x12.reader.set_slices import cut_sets, slice_sets

log = get_logger()

NAME = "sender-responses"
EVERY_SECONDS = 2
RESPONSES_AT_ONCE = 50
FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = 10, 3_600
"""A response that cannot be written is tried again later and later."""
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9-]+", re.ASCII)


async def response_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Write the responses that are due."""
    await write_due_responses(context)


async def has_due_responses(context: WorkContext) -> bool:
    """Return whether a response is due now."""
    return bool(await _list_ready(context, 1))


async def write_due_responses(context: WorkContext) -> int:
    """Write every response that is due; return how many were written."""
    done = 0
    while True:
        due = await _list_ready(context, RESPONSES_AT_ONCE)
        done += sum([await _try(context, one) for one in due])
        if len(due) < RESPONSES_AT_ONCE:
            return done


async def _list_ready(context: WorkContext, limit: int) -> list[DueResponse]:
    async with context.database.read(due_responses.SCOPE) as tx:
        return await due_responses.list_ready(tx, to_micros(context.clock.now()), limit)


async def _try(context: WorkContext, due: DueResponse) -> bool:
    """Write a response; return whether that succeeded. One that cannot be written keeps no other back: it is put off."""
    try:
        await _write(context, due)
    except TEMPORARY_FAULTS:
        raise
    except Exception as fault:  # noqa: BLE001  (it stays due, and is tried again later)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("response not written", source=due.source, id=due.source_id, **details)  # noqa: TRY400
        await _put_off(context, due)
        return False
    return True


async def _put_off(context: WorkContext, due: DueResponse) -> None:
    seconds = min(FIRST_RETRY_SECONDS * 2**due.failures, LAST_RETRY_SECONDS)
    until = to_micros(context.clock.now()) + seconds * 1_000_000
    await context.database.write(
        Scope(vendor=VendorId(due.vendor_id), site=SiteId(due.site_id)),
        lambda tx: due_responses.put_off(tx, due, until),
        actor=context.actor,
    )


async def _write(context: WorkContext, due: DueResponse) -> None:
    site = _site(context, due)
    writer = _SOURCES[ResponseSource(due.source)]
    stored = [
        await store_response(context, site, *made) for made in await writer(context, site, due)
    ]
    fault_injection.crash_point("response stored")

    async def job(tx: Tx) -> list[str]:
        await due_responses.remove(tx, [due])
        listed = []
        for one in stored:
            if await publish_response(tx, context, site, one):
                listed.append(one.file_id)
            else:  # another node wrote it first
                await client_files.drop_upload(tx, one.file_id)
        return listed

    published = await context.database.write(site.scope, job, actor=context.actor)
    fault_injection.crash_point("response listed")
    for file_id in published:
        log.info(
            "response written",
            site=site.vendor_site_id,
            source=due.source,
            id=due.source_id,
            file=file_id,
        )


def _site(context: WorkContext, due: DueResponse) -> Site:
    key = (due.vendor_id, due.site_id)
    return next(site for site in context.accounts().sites if (site.vendor_id, site.id) == key)


# ---- remittances ---------------------------------------------------------------------------------


async def _remittance(context: WorkContext, site: Site, due: DueResponse) -> list[ResponseContent]:
    """Return the set of a payment as it was received, in an envelope to the site; the site's part of it if it is cut."""
    async with context.database.read(payments.SCOPE) as tx:
        payment = require_row(await payments.find(tx, due.source_id), "a payment")
        file = require_row(await inbox.find(tx, payment.inbox_id), "an inbox file")
        content = await inbox.read_content(tx, context.vault, file)
        await context.vault.load_keys_of(tx, [payment.payload])
    values = await header_values(context, site)
    key = (payment.interchange, payment.group_number, payment.set_number)

    part = decode_part(due.part) if due.part else None

    def cut() -> bytes:
        sets = [one for one in slice_sets(content) if one.key == key]
        whole = cut_sets(content, sets, values)
        return cut_remittance(whole, part) if part else whole

    stem = _stem(context, payment)
    response = ClientResponse(
        type="835",
        response_key=remittance_key(payment.payment_id),
        stem=f"{stem}.part{part.number}of{part.count}" if part else stem,
        note=part.sentence if part else "",
    )
    return [(response, await asyncio.to_thread(cut))]


def _stem(context: WorkContext, payment: PaymentRow) -> str:
    """Return how the name of a remittance begins: payer id, day and number of the check or transfer."""
    opened = context.vault.open(payments.OWNER, payments.TABLE, payment.payment_id, payment.payload)
    number = msgspec.json.decode(opened, type=Payment).trace_number
    day = (payment.effective_day or "").replace("-", "")
    safe = (NOT_IN_NAMES.sub("-", text).strip("-") for text in (payment.payer_id, day, number))
    return ".".join(filter(None, safe)) or payment.payment_id


_SOURCES = {
    ResponseSource.CORRECTION: correction_responses,
    ResponseSource.BATCH: delivery_responses,
    ResponseSource.INBOX: payer_file_responses,
    ResponseSource.PAYMENT: _remittance,
}
