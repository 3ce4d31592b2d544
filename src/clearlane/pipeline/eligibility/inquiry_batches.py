"""Mailing: questions to payers that take files only are gathered into 270 files, which are delivered like claims.

    await gather(desk, now)      # inquiries whose window has passed, or that fill a file, become batches

A batch of inquiries has no claims. Delivery, retries and doubts are those of every batch. Knows no answer.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import structlog

from clearlane.claims.batch_naming import CONTROL_MAX, US
from clearlane.connect.routes import Line
from clearlane.eligibility.write_270 import write_inquiries
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.pipeline.eligibility.inquiry_runner import LEASE, opened
from clearlane.pipeline.eligibility.realtime_inquiry import Question
from clearlane.pipeline.routes import envelope_for
from clearlane.pipeline.work_context import Desk
from clearlane.store import batches
from clearlane.store import eligibility as store
from clearlane.store.batches import Written
from clearlane.store.database import Actor, StoreFault, Tx
from clearlane.store.eligibility import Asked, Queue

log = structlog.get_logger()

SECOND = 1_000_000
SET = "270"


async def gather(desk: Desk, now: datetime) -> list[int]:
    """Put what waits long enough, or is enough for a file, into batches; their ids."""
    await _take_over(desk)
    async with desk.database.read(store.SCOPE) as tx:
        queues = await store.due_queues(tx, micros(now))
    made: list[int] = []
    for queue in queues:
        ways = desk.outside.lines().ways(queue.type, queue.payer_id)
        if queue.lane != store.MAIL or not ways:
            continue
        try:
            while (batch := await _gather_one(desk, queue, ways[0], now)) is not None:
                made.append(batch)
        except (StoreFault, ValueError) as fault:
            # One payer's trouble is not the others'; its questions go on waiting.
            log.warning(
                "inquiries not gathered", fault=fault_code(fault), places=fault_frames(fault)
            )
    return made


async def _take_over(desk: Desk) -> None:
    """Questions to a payer that can no longer be asked in real time go out in files, where it takes files."""
    asking, lines = desk.outside.asking, desk.outside.lines()
    if asking is None:
        return
    async with desk.database.read(store.SCOPE) as tx:
        queues = await store.open_queues(tx)
    for queue in queues:
        payer = queue.type, queue.payer_id
        if queue.lane != store.MAIL and not asking.reaches(*payer) and lines.ways(*payer):
            await desk.database.write(
                store.SCOPE, partial(store.send_by_mail, queue=queue), actor=_actor(desk)
            )
            log.info("inquiries go out by mail", type=queue.type, payer=queue.payer_id)


async def _gather_one(desk: Desk, queue: Queue, line: Line, now: datetime) -> int | None:
    """One file of the oldest questions to a payer; None where it is too soon."""
    most = min(line.claims_max, limits.ELIGIBILITY_MAILED_AT_ONCE)
    async with desk.database.read(store.SCOPE) as tx:
        due = await store.due(tx, queue, micros(now), most)
    waited = due and due[0].next_at + SECOND * line.window_seconds <= micros(now)
    if not due or (len(due) < most and not waited):
        return None
    until = micros(now + LEASE)
    taken = await desk.database.write(
        store.SCOPE, lambda tx: store.take(tx, due, until), actor=_actor(desk)
    )
    # In the order in which the file is read back: a refusal names a set by its place.
    taken.sort(key=lambda one: (one.request_id, one.number))
    return await _fixed(desk, line, taken, now) if taken else None


async def _fixed(desk: Desk, line: Line, taken: Sequence[Asked], now: datetime) -> int:
    async with desk.database.read(store.SCOPE) as tx:
        await desk.outside.vault.fetch(tx, [one.inquiry for one in taken])
    questions = [opened(desk.outside.vault, one) for one in taken]
    written = await _written(desk, line, questions, now)

    async def fix(tx: Tx) -> int:
        batch_id = await batches.fix(
            tx, written, lane=(line.type, line.payer_id), members=(), now=micros(now)
        )
        await store.mailed(tx, taken, batch_id)
        tx.audit("eligibility.mailed", ids=[str(batch_id)], count=len(taken))
        return batch_id

    return await desk.database.write(store.SCOPE, fix, actor=_actor(desk))


async def _written(desk: Desk, line: Line, questions: Sequence[Question], now: datetime) -> Written:
    control = await desk.database.write(batches.SCOPE, batches.next_control, actor=_actor(desk))
    if control > CONTROL_MAX:
        raise ValueError("every control number that an interchange can carry was given")
    envelope = envelope_for(line, control, now)
    asked = [(one.inquiry, one.trace) for one in questions]
    content = await asyncio.to_thread(lambda: b"".join(write_inquiries(asked, envelope)))
    sender = "".join(sign for sign in envelope.sender if sign.isascii() and sign.isalnum())
    name = f"{sender or US.name}-{SET}-{control:09}.x12"
    vault = desk.outside.vault
    await vault.ready(batches.OWNER)
    return Written(
        route_id=line.route_id,
        control=control,
        name=name,
        digest=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        content=await asyncio.to_thread(vault.seal, batches.OWNER, batches.TABLE, name, content),
    )


def _actor(desk: Desk) -> Actor:
    return Actor("node", desk.node)
