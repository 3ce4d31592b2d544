"""Mailed: files that answer inquiries are applied to them, patient by patient.

    done = await apply(desk, file, content, kinds)      # None where the file is not about inquiries

An answer finds its question by our trace number, and must be of the payer that the file came from. What is for
nobody we know is parked for a person, never applied; a second answer counts once. Knows no claim.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
import structlog

from clearlane.claims.facts import ClaimKey, Kind, Unmatched
from clearlane.eligibility import read_271
from clearlane.kernel import limits
from clearlane.pipeline.eligibility.inquiry_runner import keep, opened
from clearlane.pipeline.eligibility.realtime_inquiry import Ended, Question, answered, refused
from clearlane.pipeline.work_context import Desk
from clearlane.store import batches, inbox
from clearlane.store import eligibility as store
from clearlane.store.database import Actor
from clearlane.store.inbox import ParkedRow, Settlement, StoredFile
from clearlane.store.vault import Vault

log = structlog.get_logger()

ANSWERS, INQUIRIES = "271", "HS"
"""The set that answers, and the group (AK101) of the sets that ask."""
ACKNOWLEDGEMENTS = frozenset({"TA1", "999"})
NOBODY = "{count} answers are for no inquiry that was sent to this payer."
NO_TRACE = "The answer has no trace number of ours."
NO_INQUIRY = "No inquiry with this trace number was sent to this payer."
NO_FILE = "No file of inquiries with this control number was sent to this payer."
NOT_OURS = {
    read_271.Match.WRONG_PATIENT: "The answer is about another patient than the inquiry.",
    read_271.Match.WRONG_PAYER: "The answer names another payer than the inquiry.",
}


@dataclass(slots=True)
class Applied:
    """What a file did to inquiries, and what it says of none that we know."""

    file: StoredFile
    vault: Vault
    kinds: frozenset[str]
    applied: int = 0
    parked: int = 0
    rows: list[ParkedRow] = field(default_factory=list)
    """What was parked, as far as it is kept and not only counted."""

    def park(self, kind: str, reason: str, number: str, at: datetime) -> None:
        """Put a statement aside for a person, under the number that it goes by."""
        self.parked += 1
        if len(self.rows) < limits.PARKED_PER_FILE_MAX:
            # Of the kinds of statements about claims, a status is the nearest.
            said = Unmatched(
                reason=reason, kind=Kind.STATUS, at=at, claim=ClaimKey(number=number), source=kind
            )
            payload = self.vault.seal(
                inbox.OWNER, inbox.PARKED_TABLE, self.file.id, msgspec.json.encode(said)
            )
            self.rows.append(ParkedRow(kind, reason, payload))

    @property
    def settlement(self) -> Settlement:
        """What became of the file, where it says nothing else."""
        return Settlement(
            state=inbox.PARKED if self.parked else inbox.APPLIED,
            kinds=",".join(sorted(self.kinds)),
            reason=NOBODY.format(count=self.parked) if self.parked else "",
            applied=self.applied,
            parked=self.parked,
        )


async def apply(
    desk: Desk, file: StoredFile, content: bytes, kinds: frozenset[str]
) -> Applied | None:
    """Apply what a file says of inquiries; None where it says nothing of any."""
    if ANSWERS not in kinds and not await _acknowledges(desk, content, kinds):
        return None
    heard = await asyncio.to_thread(read_271.read, content)
    done = Applied(file, desk.outside.vault, kinds)
    for answer in heard.answers:
        question = await _asked(desk, file, answer)
        now = desk.clock.now()
        if isinstance(question, str):
            done.park(ANSWERS, question, read_271.trace_of(answer), now)
            continue
        await _keep(desk, question, await asyncio.to_thread(answered, question, answer, now))
        done.applied += 1
    for refusal in heard.refusals:
        await _refuse(desk, file, refusal, done)
    return done


async def _asked(desk: Desk, file: StoredFile, answer: read_271.Answer) -> Question | str:
    """The question that an answer of this payer belongs to, or why there is none."""
    key = store.traced(read_271.trace_of(answer))
    if key is None:
        return NO_TRACE
    async with desk.database.read(store.SCOPE) as tx:
        found = await store.one(tx, *key)
        if found is None or found[0].payer_id != file.payer_id:
            return NO_INQUIRY
        await desk.outside.vault.fetch(tx, [found[0].inquiry])
    question = opened(desk.outside.vault, found[0])
    match = read_271.match(answer, question.inquiry, question.trace)
    return question if match is read_271.Match.OURS else NOT_OURS[match]


async def _refuse(desk: Desk, file: StoredFile, refusal: read_271.Refusal, done: Applied) -> None:
    """Tell everybody in a refused file, or in the refused set of one."""
    batch, rows = None, []
    async with desk.database.read(store.SCOPE) as tx:
        if refusal.control.isdecimal():
            batch = await batches.by_control(tx, int(refusal.control))
            rows = await store.of_batch(tx, batch.id) if batch else []
        await desk.outside.vault.fetch(tx, [one.inquiry for one in rows])
    if batch is None or batch.payer_id != file.payer_id or not rows:
        done.park(refusal.kind, NO_FILE, refusal.control, desk.clock.now())
        return
    if refusal.set_control.isdecimal():
        at = int(refusal.set_control)
        rows = rows[at - 1 : at]
    for one in rows:
        question = opened(desk.outside.vault, one)
        await _keep(desk, question, refused(question, refusal))
        done.applied += 1


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
