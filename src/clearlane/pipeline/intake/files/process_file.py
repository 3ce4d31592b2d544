"""Process a file of a site: read and judge it, write what goes back, and accept it in one short transaction.

    state = await process_file(context, site, file_id, holder)       # None if other work does it, or did it

Before that transaction the file has no visible effect: claims are staged, answers are unlisted. Work that died in between
is repeated from the start by other work, under a lease, and what it left is removed first. So a file is accepted as a whole
or not at all, and every acknowledgement is written once. The claims are then released (``release_claims``).
"""

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec
import structlog

from clearlane.accounts.model import Site
from clearlane.engine import fault_injection
from clearlane.kernel.client_file import FileState
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.files import acknowledge_file
from clearlane.pipeline.intake.files.acknowledge_file import (
    ACK_999,
    CONTROLS_PER_INTERCHANGE,
    FORMAT_BYTES,
    RECEIPT_277CA,
    REPORT,
)
from clearlane.pipeline.intake.files.file_reading import (
    SETS_PER_FILE_MAX,
    TA1,
    FileReading,
    SetReading,
    TooManySets,
)
from clearlane.pipeline.intake.files.file_responses import (
    ClientResponse,
    StoredResponse,
    publish_response,
    store_response,
)
from clearlane.pipeline.intake.files.rejection_reason import NO_CLAIM
from clearlane.pipeline.intake.files.release_claims import release_set, release_site, seal_staged
from clearlane.pipeline.intake.files.upload import file_event
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.files import client_files, file_parts, file_sets, payees, staged_claims
from clearlane.store.files.client_files import ClientFile, FileResult
from clearlane.store.files.file_sets import FileSet
from clearlane.store.files.staged_claims import StagedClaim
from clearlane.x12 import tree

log = structlog.get_logger()

FILE_LEASE_SECONDS = 60
FILE_ATTEMPTS_MAX = 5
"""How often a file may be begun: one that ends the process each time is then reported as unreadable."""
STAGED_REMOVED_AT_ONCE = 2_500
NOTES_MAX = 3
"""How many sentences the note of a file has: one of many interchanges may have many reasons."""
PROCESSED_EVENT = "file.processed"
ANSWER_KINDS = {TA1: "TA1", ACK_999: "999", RECEIPT_277CA: "277CA:receipt", REPORT: "text"}
"""How the key of an answer ends, by its type. The key begins with the id of the file that it answers."""

SAME_BYTES = "The same bytes came before, in file {id}: its acknowledgements are given again, and nothing is sent twice."
CONTROL_USED = "The control number of an interchange (ISA13) was used before."
NOT_X12 = "The file cannot be read. A report in words says why."
ACKNOWLEDGEMENTS = "Acknowledgements are not acknowledged, and nothing is done with them."
WRONG_ACKNOWLEDGEMENTS = (
    "Acknowledgements are not acknowledged. A report in words says what is wrong with them."
)


class LeaseLost(Exception):
    """Other work has taken the file over: this one must store nothing more."""


async def process_file(context: WorkContext, site: Site, file_id: str, holder: str) -> str | None:
    """Process one file under a lease; return its new state, None if other work has it or it is processed."""
    now = context.clock.now()
    await release_site(context, site)  # claims are compared with those of earlier files

    async def take(tx: Tx) -> ClientFile | None:
        taken = await client_files.take_lease(
            tx, file_id, holder, now=to_micros(now), until=_lease_end(now)
        )
        return await client_files.find(tx, file_id) if taken else None

    file = await context.database.write(site.scope, take, actor=context.actor)
    if file is None:
        return None
    work = _FileWork(context, site, file, holder, now)
    try:
        return await work.run()
    except LeaseLost:
        return None
    except (StoreFault, TimeoutError):  # the database is down or busy: the file keeps waiting
        raise
    except Exception as fault:  # noqa: BLE001  (a file that raises would raise each time)
        log.error(  # noqa: TRY400  (a traceback may hold values)
            "file not processed",
            file=file_id,
            fault=fault_code(fault),
            places=fault_frames(fault),
        )
        return await work.give_up([acknowledge_file.FAULT])


def _lease_end(now: datetime) -> int:
    return to_micros(now + timedelta(seconds=FILE_LEASE_SECONDS))


class _FileWork:
    """The work on one file, by the holder of its lease."""

    def __init__(
        self, context: WorkContext, site: Site, file: ClientFile, holder: str, now: datetime
    ) -> None:
        self._context = context
        self._site = site
        self._file = file
        self._holder = holder
        self._now = now
        self._renewed_at = now

    async def run(self) -> str:
        await self._remove_staged()
        if self._file.attempts > FILE_ATTEMPTS_MAX:
            return await self.give_up([acknowledge_file.FAULT])
        async with self._context.database.read(self._site.scope) as tx:
            same = await client_files.find_same(tx, self._file)
        if same is not None:
            return await self._answer_again(same)
        await self._context.vault.ensure_key(self._site.scope)
        reading = FileReading(self._context, self._site, self._now, self._stage)
        head = await self._read_head()
        if acknowledge_file.known_format(head):
            return await self._report_unreadable(head)
        try:
            async for chunk in file_parts.read_chunks(
                self._context.database, self._context.vault, self._site.scope, self._file.file_id
            ):
                await reading.feed(chunk)
                await self._renew()
            await reading.finish()
        except TooManySets:
            sentence = acknowledge_file.TOO_MANY_SETS.format(limit=SETS_PER_FILE_MAX)
            return await self.give_up([sentence])
        if not reading.interchanges:
            return await self._report_unreadable(head)
        return await self._accept(reading)

    async def _read_head(self) -> bytes:
        context, scope = self._context, self._site.scope
        async with context.database.read(scope) as tx:
            first = await file_parts.read_part(tx, context.vault, scope, self._file.file_id, 0)
        return first[1][:FORMAT_BYTES] if first else b""

    async def _report_unreadable(self, head: bytes) -> str:
        return await self.give_up(acknowledge_file.unreadable_sentences(head, self._file.bytes))

    async def give_up(self, sentences: Sequence[str]) -> str:
        """Record that a file cannot be read, with a report in words."""
        await self._remove_staged()
        report = acknowledge_file.report(self._file.name, sentences)
        result = FileResult(FileState.UNREADABLE.value, "other", note=NOT_X12)
        return await self._record(result, [await self._store_answer(REPORT, report)])

    async def _answer_again(self, same: ClientFile) -> str:
        """Give the acknowledgements of an earlier file with the same bytes again, and do nothing else."""
        context, scope = self._context, self._site.scope
        types = {f"{same.file_id}:{kind}": type for type, kind in ANSWER_KINDS.items()}
        async with context.database.read(scope) as tx:
            earlier = await client_files.find_by_keys(tx, list(types))
        answers = [
            await self._store_answer(
                types[key],
                await file_parts.read_content(context.database, context.vault, scope, one.file_id),
            )
            for key, one in earlier
        ]
        note = SAME_BYTES.format(id=same.file_id)
        counts = (same.claims, same.accepted, same.not_accepted)
        return await self._record(FileResult(same.state, same.type, *counts, note), answers)

    async def _accept(self, reading: FileReading) -> str:
        """Write what goes back, and accept the file: sets, answers and events in one transaction."""
        sets = [one for interchange in reading.interchanges for one in interchange.sets]
        rejected = [one.set_id for one in sets if one.is_rejected and one.judged]
        for set_id in rejected:
            await self._remove_set(set_id)
        controls = await reading.controls.take(CONTROLS_PER_INTERCHANGE * len(reading.interchanges))
        content = acknowledge_file.acknowledgements(reading.interchanges, controls, self._now)
        unanswered = [
            finding for one in reading.interchanges for finding in one.unacknowledged_findings
        ]
        findings = [*reading.file_findings, *unanswered]
        if sentences := acknowledge_file.finding_sentences(findings):
            content[REPORT] = acknowledge_file.report(self._file.name, sentences)
        answers = [await self._store_answer(type, data) for type, data in content.items()]
        keys = self._interchange_keys(reading)
        async with self._context.database.read(self._site.scope) as tx:
            used = await file_sets.find_interchanges(tx, list(keys.values()))
        rows = [self._set_row(one, keys[one.interchange]) for one in sets]
        reasons = dict.fromkeys(one.reason for one in reading.interchanges)
        notes = [*filter(None, reasons), *([CONTROL_USED] if used else [])]
        result = _result(reading, sets, note=" ".join(notes[:NOTES_MAX]))
        numbers = {number for one in sets if one.receipt for number in one.receipt.payees}
        payee_hashes = {payees.payee_hash(self._context.vault, one) for one in numbers}
        state = await self._record(result, answers, rows, payee_hashes)
        for one in sets:
            if one.judged and not one.is_rejected:
                await release_set(self._context, self._site, one.set_id)
        return state

    async def _record(
        self,
        result: FileResult,
        answers: Sequence[StoredResponse],
        sets: Sequence[FileSet] = (),
        payee_hashes: Collection[str] = (),
    ) -> str:
        """Record what became of the file, list its answers and add its sets: all or nothing.

        Remittances to the payees of its claims are files of the site from now on.
        """
        context, site, file_id = self._context, self._site, self._file.file_id
        fault_injection.crash_point("file answered")
        at = to_micros(context.clock.now())

        async def job(tx: Tx) -> None:
            if not await client_files.record_result(tx, file_id, self._holder, result, at=at):
                raise LeaseLost
            await file_sets.add(tx, sets)
            await payees.record(tx, payee_hashes, at)
            for one in answers:
                await publish_response(tx, context, site, one)
            counts = f"{result.accepted} Accepted, {result.not_accepted} NotAccepted"
            tx.audit(PROCESSED_EVENT, ids=[file_id], detail=f"{result.state}; {counts}")
            event = file_event(
                PROCESSED_EVENT,
                site,
                file_id,
                at,
                state=result.state,
                claims=result.claims,
                accepted=result.accepted,
                not_accepted=result.not_accepted,
            )
            tx.add_events([event])

        await context.database.write(site.scope, job, actor=context.actor)
        fault_injection.crash_point("file accepted")
        return result.state

    async def _store_answer(self, type: str, content: bytes) -> StoredResponse:
        file = self._file
        response = ClientResponse(
            type=type,
            response_key=f"{file.file_id}:{ANSWER_KINDS[type]}",
            stem=file.name,
            answers=file.file_id,
        )
        return await store_response(self._context, self._site, response, content)

    async def _stage(self, of: SetReading, prepared: Sequence[PreparedClaim]) -> None:
        """Store a page of judged claims where no list, queue or search shows them."""
        context, site = self._context, self._site
        file_id, first = self._file.file_id, of.judged + 1

        def seal() -> list[StagedClaim]:
            return [
                seal_staged(
                    context, site, set_id=of.set_id, file_id=file_id, position=position, row=one.row
                )
                for position, one in enumerate(prepared, first)
            ]

        rows = await asyncio.to_thread(seal)

        async def job(tx: Tx) -> None:
            await self._keep_lease(tx)
            await staged_claims.add(tx, rows)

        await context.database.write(site.scope, job, actor=context.actor)
        fault_injection.crash_point("file staged")

    async def _renew(self) -> None:
        """Extend the lease now and then while nothing is staged."""
        now = self._context.clock.now()
        if now - self._renewed_at > timedelta(seconds=FILE_LEASE_SECONDS / 4):
            await self._context.database.write(
                self._site.scope, self._keep_lease, actor=self._context.actor
            )

    async def _keep_lease(self, tx: Tx) -> None:
        """Extend the lease. What a transaction stores after it is never left by work that lost its lease."""
        now = self._context.clock.now()
        until = _lease_end(now)
        if not await client_files.renew_lease(tx, self._file.file_id, self._holder, until=until):
            raise LeaseLost
        self._renewed_at = now

    async def _remove_staged(self) -> None:
        """Remove what an attempt that ended too early has staged."""
        async with self._context.database.read(self._site.scope) as tx:
            left = await staged_claims.list_set_ids(tx, self._file.file_id)
        for set_id in left:
            await self._remove_set(set_id)

    async def _remove_set(self, set_id: str) -> None:
        async def job(tx: Tx) -> int:
            return await staged_claims.remove_first(tx, set_id, STAGED_REMOVED_AT_ONCE)

        while await self._context.database.write(self._site.scope, job, actor=self._context.actor):
            pass

    def _interchange_keys(self, reading: FileReading) -> dict[int, int]:
        """Return the keyed hash of the sender and control number of each interchange, by its number."""
        return {
            one.interchange.number: self._context.vault.search_key(
                self._site.scope,
                "interchange",
                str(self._site.id),
                tree.get_element(one.interchange.header, 6).strip(),
                one.interchange.control,
            )
            for one in reading.interchanges
        }

    def _set_row(self, one: SetReading, interchange_key: int) -> FileSet:
        payload = self._context.vault.seal(
            self._site.scope, file_sets.TABLE, one.set_id, msgspec.msgpack.encode(one.sender)
        )
        return FileSet(
            set_id=one.set_id,
            file_id=self._file.file_id,
            interchange=one.interchange,
            group_number=one.group,
            position=one.position,
            type=one.type,
            state=one.state.value,
            claims=one.claims,
            accepted=one.accepted,
            not_accepted=one.claims - one.accepted,
            reason=one.reason or (NO_CLAIM if one.state is FileState.REJECTED else ""),
            created_at=to_micros(self._now),
            released=int(one.is_rejected or not one.judged),
            interchange_key=interchange_key,
            payload=payload,
        )


def _result(reading: FileReading, sets: Sequence[SetReading], *, note: str) -> FileResult:
    """Return what became of a file that has interchanges."""
    claims, accepted = sum(one.claims for one in sets), sum(one.accepted for one in sets)
    refused = any(one.is_rejected for one in sets) or _has_wrong_envelope(reading)
    state = FileState.ACCEPTED
    if not accepted and (claims or refused):
        state = FileState.REJECTED
    elif accepted < claims or refused:
        state = FileState.PARTLY_ACCEPTED
    if all(one.is_acknowledgement for one in reading.interchanges):
        note = WRONG_ACKNOWLEDGEMENTS if refused else ACKNOWLEDGEMENTS
    return FileResult(state.value, reading.type, claims, accepted, claims - accepted, note)


def _has_wrong_envelope(reading: FileReading) -> bool:
    """Return whether an interchange or a group is rejected for a fault of its own."""
    return any(
        any(one.severity is Severity.ERROR for one in interchange.interchange.findings)
        or any(group.is_refused for group in interchange.groups)
        for interchange in reading.interchanges
    )
