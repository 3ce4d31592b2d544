"""Mailed: files that answer inquiries are applied to them, patient by patient.

    end = await apply(desk, file, content, kinds)      # None where the file is not about inquiries

An answer finds its question by our trace number, and must be of the payer that the file came from. What is for
nobody we know is counted and told, never applied; a second answer counts once. Knows no claim.
"""

import asyncio
from dataclasses import dataclass

import structlog

from clearlane.eligibility import b271
from clearlane.pipeline.asking import keep, opened
from clearlane.pipeline.desk import Desk
from clearlane.pipeline.questioning import Ended, Question, answered, refused
from clearlane.store import batches, inbox
from clearlane.store import eligibility as store
from clearlane.store.database import Actor
from clearlane.store.inbox import Settlement, StoredFile

log = structlog.get_logger()

ANSWERS, INQUIRIES = "271", "HS"
"""The set that answers, and the group (AK101) of the sets that ask."""
ACKNOWLEDGEMENTS = frozenset({"TA1", "999"})
NOBODY = "{count} answers are for no inquiry that was sent to this payer."


@dataclass(slots=True)
class _Count:
    applied: int = 0
    parked: int = 0


async def apply(
    desk: Desk, file: StoredFile, content: bytes, kinds: frozenset[str]
) -> Settlement | None:
    """Apply what a file says of inquiries; None where it says nothing of any."""
    if ANSWERS not in kinds and not await _acknowledges(desk, content, kinds):
        return None
    heard = await asyncio.to_thread(b271.read, content)
    count = _Count()
    for answer in heard.answers:
        question = await _asked(desk, file, answer)
        if question is None:
            count.parked += 1
            continue
        now = desk.clock.now()
        await _keep(desk, question, await asyncio.to_thread(answered, question, answer, now))
        count.applied += 1
    for refusal in heard.refusals:
        await _refuse(desk, file, refusal, count)
    return Settlement(
        state=inbox.PARKED if count.parked else inbox.APPLIED,
        kinds=",".join(sorted(kinds)),
        reason=NOBODY.format(count=count.parked) if count.parked else "",
        applied=count.applied,
        parked=count.parked,
    )


async def _asked(desk: Desk, file: StoredFile, answer: b271.Answer) -> Question | None:
    """The question that an answer of this payer belongs to."""
    key = store.traced(b271.trace_of(answer))
    if key is None:
        return None
    async with desk.database.read(store.SCOPE) as tx:
        found = await store.one(tx, *key)
        if found is None or found[0].payer_id != file.payer_id:
            return None
        await desk.outside.vault.fetch(tx, [found[0].inquiry])
    question = opened(desk.outside.vault, found[0])
    match = b271.match(answer, question.inquiry, question.trace)
    return question if match is b271.Match.OURS else None


async def _refuse(desk: Desk, file: StoredFile, refusal: b271.Refusal, count: _Count) -> None:
    """Tell everybody in a refused file, or in the refused set of one."""
    if not refusal.control.isdecimal():
        count.parked += 1
        return
    async with desk.database.read(store.SCOPE) as tx:
        batch = await batches.by_control(tx, int(refusal.control))
        rows = await store.of_batch(tx, batch.id) if batch else []
        await desk.outside.vault.fetch(tx, [one.inquiry for one in rows])
    if batch is None or batch.payer_id != file.payer_id or not rows:
        count.parked += 1
        return
    if refusal.set_control.isdecimal():
        at = int(refusal.set_control)
        rows = rows[at - 1 : at]
    for one in rows:
        question = opened(desk.outside.vault, one)
        await _keep(desk, question, refused(question, refusal))
        count.applied += 1


async def _keep(desk: Desk, question: Question, end: Ended) -> None:
    asking, vault = desk.outside.asking, desk.outside.vault
    actor = Actor("node", desk.node)
    if await keep(desk.database, vault, question, end, desk.clock.now(), actor) and asking:
        asking.waiters.answered(question.request_id)


async def _acknowledges(desk: Desk, content: bytes, kinds: frozenset[str]) -> bool:
    """Whether a file of nothing but acknowledgements answers a file of inquiries."""
    if not kinds or not kinds <= ACKNOWLEDGEMENTS:
        return False
    text = content.decode("latin-1").lstrip()
    rows = [row.strip().split(text[3]) for row in text.split(text[105])]
    if any(row[:2] == ["AK1", INQUIRIES] for row in rows):
        return True
    controls = [int(row[1]) for row in rows if row[0] == "TA1" and row[1:2] and row[1].isdecimal()]
    async with desk.database.read(store.SCOPE) as tx:
        found = [await batches.by_control(tx, control) for control in controls]
        return any([bool(await store.of_batch(tx, one.id)) for one in found if one])
