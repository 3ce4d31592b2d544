"""Post: what a stored file says is applied to the claims it speaks of.

A file is recognised by its content, read statement by statement, matched a page at a time, and told to the claims
in short transactions. A crash in between costs nothing: the file is read again from its start, and what was told
counts once. What concerns nobody we know is parked and shown; what cannot be read goes to quarantine with the
reason. Knows files and verbs of the house; the meaning of statements is decided below.
"""

import asyncio
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog

from clearlane.claims.identify import Recognised, recognise
from clearlane.engine import fault_injection
from clearlane.engine.workflows import Steps
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.pipeline import claim_status
from clearlane.pipeline.claim_status import ClaimFact
from clearlane.pipeline.inbound import post_eligibility
from clearlane.pipeline.inbound.inbound_statements import Reading, Statement
from clearlane.pipeline.outbound.deliver import settle_doubts
from clearlane.pipeline.work_context import Desk
from clearlane.store import inbox
from clearlane.store.database import Actor, StoreFault, Tx
from clearlane.store.inbox import ParkedRow, Settlement, StoredFile

log = structlog.get_logger()

NAME, QUEUE = "post", "post"
FAILED = (
    "Posting failed ({fault}); what was applied before stays. Replay the file when that is mended."
)

OF_CLAIMS = frozenset({"277CA", "277", "835"})
"""Sets that should say something of claims."""
SILENT = "The file says nothing of any claim."


async def post(desk: Desk, steps: Steps, id: int) -> str | None:
    """The verb: one file, in steps that may be repeated."""
    return await steps.run("post", partial(post_file, desk, id), attempts=3)


async def waiting(desk: Desk) -> list[int]:
    """The files that wait to be posted, the oldest first."""
    async with desk.database.read(inbox.SCOPE) as tx:
        return await inbox.waiting(tx, limits.POST_FILES_WAITING_MAX)


async def busy(desk: Desk, now: datetime) -> bool:
    """Whether a file waits to be posted."""
    return bool(await waiting(desk))


async def post_due(desk: Desk, now: datetime) -> int:
    """Post every file that waits, one after the other; how many there were."""
    done = 0
    while ids := await waiting(desk):
        for id in ids:
            await post_file(desk, id)
        done += len(ids)
    return done


async def post_file(desk: Desk, id: int) -> str | None:
    """Apply one file, whatever was done with it before; the state it is in then, None for no file."""
    async with desk.database.read(inbox.SCOPE) as tx:
        file = await inbox.find(tx, id)
        if file is None or file.state == inbox.DISCARDED:
            return file and file.state
        content = await inbox.content(tx, desk.outside.vault, file)
    found = await asyncio.to_thread(recognise, content)
    if not found.usable:
        end = Settlement(state=inbox.QUARANTINED, kinds=_kinds(found), reason=found.reason)
        return await _settle(desk, file, end)
    await desk.outside.vault.ready(inbox.OWNER)  # what is parked is sealed
    posting = Posting(desk, file, content, found)
    try:
        end = await posting.run()
    except StoreFault:  # the database is away or busy: the file waits
        raise
    except Exception as fault:  # noqa: BLE001  (a file that breaks us would break us each time)
        told = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("file not posted", inbox=id, **told)  # noqa: TRY400  (a traceback may hold values)
        end = Settlement(
            state=inbox.QUARANTINED,
            kinds=_kinds(found),
            reason=FAILED.format(fault=fault_code(fault)),
            applied=posting.applied,
        )
    if posting.applied:
        await settle_doubts(desk, file.payer_id)  # what is answered has arrived
    return await _settle(desk, file, end, posting.parked)


class Posting:
    """One file while it is posted."""

    def __init__(self, desk: Desk, file: StoredFile, content: bytes, found: Recognised) -> None:
        self.parked: list[ParkedRow] = []
        self.applied = 0
        self._left = 0
        """Parked statements that are counted and not kept."""
        self._desk = desk
        self._file = file
        self._found = found
        self._content = content
        self._reading = Reading(desk, file, content, found.kinds)

    async def run(self) -> Settlement:
        """Apply the file page by page; what it says of inquiries first, which is nearly always all or nothing."""
        done = await post_eligibility.apply(
            self._desk, self._file, self._content, self._found.kinds
        )
        if done is not None:
            self.applied, self.parked = done.applied, done.rows
            self._left = done.parked - len(done.rows)
            if not self._found.kinds & OF_CLAIMS:
                return done.settlement
        async for page in self._reading.pages():
            await self._apply(page)
        parked = len(self.parked) + self._left
        doubts = self._reading.doubts
        if not parked and not self.applied and self._found.kinds & OF_CLAIMS:
            doubts = [SILENT, *doubts]
        return Settlement(
            state=inbox.PARKED if parked else inbox.APPLIED,
            kinds=_kinds(self._found),
            reason=_doubts(self._found, doubts),
            applied=self.applied,
            parked=parked,
        )

    async def _apply(self, page: list[Statement]) -> None:
        vault = self._desk.outside.vault
        told: list[ClaimFact] = []
        for statement in page:
            if isinstance(statement.owner, str):
                self._park(statement, statement.owner)
            else:
                told.append(statement.told(self._file.id))
        if not told:
            return
        await claim_status.ready(vault, told)
        now = self._desk.clock.now()

        async def tell(tx: Tx) -> None:
            await claim_status.tell(tx, vault, told, now)

        await self._desk.database.write(inbox.SCOPE, tell, actor=_actor(self._desk))
        self.applied += len(told)
        fault_injection.reached("applied")

    def _park(self, statement: Statement, reason: str) -> None:
        if len(self.parked) >= limits.PARKED_PER_FILE_MAX:
            self._left += 1
            return
        vault = self._desk.outside.vault
        payload = vault.seal(
            inbox.OWNER, inbox.PARKED_TABLE, self._file.id, statement.unmatched(reason)
        )
        self.parked.append(ParkedRow(statement.kind, reason, payload))


async def _settle(
    desk: Desk, file: StoredFile, end: Settlement, parked: list[ParkedRow] | None = None
) -> str:
    """Note what became of a file; the state it is in then."""

    async def settle(tx: Tx) -> str:
        held = await inbox.hold(tx, file.id)
        assert held is not None, "files are never deleted"
        ended, rows = end, parked or []
        if held.state == inbox.DISCARDED:
            # Somebody put it aside while it was posted: what it told stays told, and nobody need look at it.
            ended, rows = replace(end, state=held.state, reason=held.reason, parked=0), []
        await inbox.settle(tx, file.id, ended, micros(desk.clock.now()), rows)
        tx.audit(
            f"inbox.{ended.state.lower()}",
            ids=[str(file.id)],
            count=ended.applied,
            detail=f"{file.type} {file.payer_id} {ended.kinds}",
        )
        return ended.state

    return await desk.database.write(inbox.SCOPE, settle, actor=_actor(desk))


def _kinds(found: Recognised) -> str:
    return ",".join(sorted(found.kinds))


def _doubts(found: Recognised, doubts: list[str]) -> str:
    """What a person should look at, in a sentence or two."""
    said = list(doubts)
    if found.others:
        said.insert(0, "The file holds other sets as well, which were left alone.")
    return " ".join(said)[: limits.POST_FAULTS_TOLD_CHARACTERS_MAX]


def _actor(desk: Desk) -> Actor:
    return Actor("node", desk.node)
