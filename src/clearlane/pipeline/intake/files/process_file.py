"""Process a file of a site: read and judge it, write what goes back, and accept it in one short transaction.

    state = await process_file(context, site, file_id, holder)       # None if other work does it, or did it

Before that transaction the file has no visible effect: claims are staged, responses are unlisted. Work that died in between
is repeated from the start by other work, under a lease, and what it left is removed first. So a file is accepted as a whole
or not at all, and every acknowledgement is written once. The claims are then released (``release_claims``).
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.responses.identify import identify
from clearlane.engine import fault_injection
from clearlane.kernel.client_file import FileState
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.finding import Severity
from clearlane.kernel.log import get_logger
from clearlane.pipeline.inquiry.inquiry_plan import InquiryPlan
from clearlane.pipeline.inquiry.sender_transactions import SENDER_TRANSACTIONS
from clearlane.pipeline.intake.files import acknowledge_file
from clearlane.pipeline.intake.files.acknowledge_file import (
    ACK_999,
    CONTROLS_PER_INTERCHANGE,
    RECEIPT_277CA,
    REPORT,
)
from clearlane.pipeline.intake.files.file_inquiries import (
    ANSWER_HOURS_MAX,
    ANSWER_TYPES,
    COMES,
    answer_words,
    ask_about_file,
    progress_note,
    seal_page,
)
from clearlane.pipeline.intake.files.file_reading import (
    CLAIMS_PER_PAGE,
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
from clearlane.pipeline.intake.files.import_statements import StatementMatcher
from clearlane.pipeline.intake.files.judge_page import JudgedClaim
from clearlane.pipeline.intake.files.other_statements import (
    START_BYTES,
    OtherStatement,
    holds_statements,
    read_statements,
)
from clearlane.pipeline.intake.files.rejection_reason import NO_CLAIM, NO_PAYER, SOME_NOT_ASKED
from clearlane.pipeline.intake.files.release_claims import (
    CLAIMS_STAGED_AT_ONCE,
    release_set,
    release_site,
)
from clearlane.pipeline.intake.files.upload import file_event
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.files import (
    client_files,
    file_parts,
    file_sets,
    inquiry_pages,
    payees,
    shadow_claims,
    staged_claims,
)
from clearlane.store.files.client_files import ClientFile, FileResult
from clearlane.store.files.file_sets import FileSet
from clearlane.store.files.shadow_claims import ShadowStatement
from clearlane.store.files.staged_claims import StagedClaim
from clearlane.x12 import tree

log = get_logger()

FILE_LEASE_SECONDS = 60
FILE_ATTEMPTS_MAX = 5
"""How often a file may be begun: one that ends the process each time is then reported as unreadable."""
ANSWER_WAIT_MICROS = ANSWER_HOURS_MAX * 3_600_000_000
STAGED_REMOVED_AT_ONCE = 2_500
NOTES_MAX = 3
"""How many sentences the note of a file has: one of many interchanges may have many reasons."""
PROCESSED_EVENT = "file.processed"
RESPONSE_KINDS = {
    TA1: "TA1",
    ACK_999: "999",
    RECEIPT_277CA: "277CA:receipt",
    REPORT: "text",
    **{type: type for type in ANSWER_TYPES},
}
"""How the key of a response ends, by its type. The key begins with the id of the file that it responds to."""

STATEMENTS_IMPORTED = "{matched} of {statements} statements in it are about claims of shadow files."
SAME_BYTES = "The same bytes came before, in file {id}: its acknowledgements are given again, and nothing is sent twice."
ANSWER_WAITS = f"The {{answer}} of {{id}} answers both; it {COMES}."
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
    fault_injection.crash_point("file begun")
    try:
        return await _FileWork(context, site, file, now).run()
    except LeaseLost:
        return None


def _lease_end(now: datetime) -> int:
    return to_micros(now + timedelta(seconds=FILE_LEASE_SECONDS))


class _FileWork:
    """The work on one file, by one attempt, which has its lease."""

    def __init__(self, context: WorkContext, site: Site, file: ClientFile, now: datetime) -> None:
        self._context = context
        self._site = site
        self._file = file
        self._now = now
        self._renewed_at = now

    async def run(self) -> str:
        """Process the file, and report one that cannot be. Raises :class:`LeaseLost`."""
        try:
            return await self._process()
        except (LeaseLost, StoreFault, TimeoutError):
            raise  # other work has it, or the database is down or busy: the file keeps waiting
        except Exception as fault:  # noqa: BLE001  (a file that raises would raise each time)
            log.error(  # noqa: TRY400  (a traceback may hold values)
                "file not processed",
                file=self._file.file_id,
                fault=fault_code(fault),
                places=fault_frames(fault),
            )
            return await self._give_up([acknowledge_file.FAULT])

    async def _process(self) -> str:
        await self._remove_staged()
        if self._file.attempts > FILE_ATTEMPTS_MAX:
            return await self._give_up([acknowledge_file.FAULT])
        head = await self._read_head()
        if self._file.is_shadow and holds_statements(head):
            return await self._import_statements()
        async with self._context.database.read(self._site.scope) as tx:
            same = await client_files.find_same(tx, self._file)
        if same is not None:
            return await self._respond_again(same)
        await self._context.vault.ensure_key(self._site.scope)
        reading = FileReading(
            self._context,
            self._site,
            self._now,
            self._stage,
            self._stage_plan,
            size=self._file.bytes,
            is_shadow=bool(self._file.is_shadow),
        )
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
            return await self._give_up([sentence])
        finally:
            await reading.close()
        if not reading.interchanges:
            return await self._report_unreadable(head)
        return await self._accept(reading)

    async def _read_head(self) -> bytes:
        context, scope = self._context, self._site.scope
        async with context.database.read(scope) as tx:
            first = await file_parts.read_part(tx, context.vault, scope, self._file.file_id, 0)
        return first[1][:START_BYTES] if first else b""

    async def _report_unreadable(self, head: bytes) -> str:
        return await self._give_up(acknowledge_file.unreadable_sentences(head, self._file.bytes))

    async def _give_up(self, sentences: Sequence[str]) -> str:
        """Record that a file cannot be read, with a report in words."""
        await self._remove_staged()
        report = acknowledge_file.report(self._file.name, sentences)
        result = FileResult(FileState.UNREADABLE.value, "other", note=NOT_X12)
        return await self._record(result, [await self._store_response(REPORT, report)])

    async def _respond_again(self, same: ClientFile) -> str:
        """Give the acknowledgements of an earlier file with the same bytes again, and do nothing else.

        A 271 or 277 that is not written yet comes once, for the earlier file: the note says so.
        """
        context, scope = self._context, self._site.scope
        types = {f"{same.file_id}:{kind}": type for type, kind in RESPONSE_KINDS.items()}
        async with context.database.read(scope) as tx:
            waits = bool(await inquiry_pages.list_links_of_file(tx, same.file_id))
            # After that: responses that were written in between are given again.
            earlier = await client_files.find_by_keys(tx, list(types))
        responses = [
            await self._store_response(
                types[key],
                await file_parts.read_content(context.database, context.vault, scope, one.file_id),
            )
            for key, one in earlier
        ]
        is_answered = not {types[key] for key, _ in earlier}.isdisjoint(ANSWER_TYPES)
        sentences = [SAME_BYTES, *([ANSWER_WAITS] if waits and not is_answered else [])]
        answer = answer_words(_answer_types([same.type]))
        note = " ".join(sentences).format(id=same.file_id, answer=answer)
        counts = (same.claims, same.accepted, same.not_accepted)
        return await self._record(FileResult(same.state, same.type, *counts, note), responses)

    async def _accept(self, reading: FileReading) -> str:
        """Write what goes back, and accept the file: sets, responses and events in one transaction."""
        fault_injection.crash_point("file read")
        sets = [one for interchange in reading.interchanges for one in interchange.sets]
        rejected = [one.set_id for one in sets if one.is_rejected and one.judged]
        for set_id in rejected:
            await self._remove_set(set_id)
        controls = await reading.controls.take(CONTROLS_PER_INTERCHANGE * len(reading.interchanges))
        content = acknowledge_file.acknowledgements(reading.interchanges, controls, self._now)
        if sentences := _report_sentences(reading, sets):
            content[REPORT] = acknowledge_file.report(self._file.name, sentences)
        responses = [await self._store_response(type, data) for type, data in content.items()]
        keys = self._interchange_keys(reading)
        async with self._context.database.read(self._site.scope) as tx:
            used = await file_sets.find_interchanges(tx, list(keys.values()))
        rows = [self._set_row(one, keys[one.interchange]) for one in sets]
        note = self._note(reading, sets, is_control_used=bool(used))
        result = _result(reading, sets, note=note)
        # Remittances about claims that are never sent are for others.
        paid_here = () if self._file.is_shadow else sets
        numbers = {number for one in paid_here if one.receipt for number in one.receipt.payees}
        payee_hashes = {payees.payee_hash(self._context.vault, one) for one in numbers}
        state = await self._record(result, responses, rows, payee_hashes)
        for one in sets:
            if one.judged and not one.is_rejected:
                await release_set(self._context, self._site, one.set_id)
        if any(one.type in SENDER_TRANSACTIONS for one in sets):
            await ask_about_file(self._context, self._site, self._file.file_id)
        return state

    def _note(
        self, reading: FileReading, sets: Sequence[SetReading], *, is_control_used: bool
    ) -> str:
        """Return what people should know of a file that is accepted or rejected."""
        reasons = dict.fromkeys(one.reason for one in reading.interchanges)
        notes = [*filter(None, reasons), *([CONTROL_USED] if is_control_used else [])]
        note = " ".join(notes[:NOTES_MAX])
        asking = [one for one in sets if one.type in SENDER_TRANSACTIONS and one.accepted]
        if asking and not self._file.is_shadow:
            asked = sum(one.accepted for one in asking)
            types = _answer_types(one.type for one in asking)
            return progress_note(note, 0, asked, types, is_written=False)
        return note

    async def _import_statements(self) -> str:
        """Store what a file of another clearinghouse says of claims of shadow files, page by page, while it is read."""
        loop = asyncio.get_running_loop()
        identified = await asyncio.to_thread(lambda: identify(self._pull_chunks(loop)))
        if not identified.usable:
            return await self._give_up([identified.reason])
        matcher = await StatementMatcher.load(self._context, self._site)
        statements = read_statements(lambda: self._pull_chunks(loop))
        type, count, matched = "other", 0, 0
        while page := await asyncio.to_thread(lambda: [*islice(statements, CLAIMS_PER_PAGE)]):
            found = await matcher.match(page)
            rows = [
                self._statement_row(one, count + position, subject_id)
                for position, (one, subjects) in enumerate(zip(page, found, strict=True))
                for subject_id in subjects
            ]
            await self._add_statements(rows)
            type = type if count else page[0].type
            count, matched = count + len(page), matched + sum(map(bool, found))
        state = FileState.ACCEPTED if matched else FileState.REJECTED
        note = STATEMENTS_IMPORTED.format(matched=matched, statements=count)
        return await self._record(FileResult(state.value, type, note=note), [])

    def _statement_row(
        self, one: OtherStatement, position: int, subject_id: str
    ) -> ShadowStatement:
        return ShadowStatement(
            self._file.file_id,
            position,
            subject_id,
            one.type,
            one.verdict,
            one.codes,
            one.day.isoformat(),
            to_micros(self._now),
        )

    def _pull_chunks(self, loop: asyncio.AbstractEventLoop) -> Iterator[bytes]:
        """Yield the file piece by piece to a reader in a thread; the lease is extended on the way."""
        context = self._context
        chunks = file_parts.read_chunks(
            context.database, context.vault, self._site.scope, self._file.file_id
        )

        async def next_chunk() -> bytes | None:
            await self._renew()
            return await anext(chunks, None)

        while chunk := asyncio.run_coroutine_threadsafe(next_chunk(), loop).result():
            yield chunk

    async def _add_statements(self, rows: Sequence[ShadowStatement]) -> None:
        async def job(tx: Tx) -> None:
            await self._keep_lease(tx)
            await shadow_claims.add_statements(tx, rows)

        await self._context.database.write(self._site.scope, job, actor=self._context.actor)

    async def _record(
        self,
        result: FileResult,
        responses: Sequence[StoredResponse],
        sets: Sequence[FileSet] = (),
        payee_hashes: Collection[str] = (),
    ) -> str:
        """Record what became of the file, list its responses and add its sets: all or nothing.

        Remittances to the payees of its claims are files of the site from now on.
        """
        context, site = self._context, self._site
        file_id, attempt = self._file.file_id, self._file.attempts
        fault_injection.crash_point("file answered")
        at = to_micros(context.clock.now())

        async def job(tx: Tx) -> None:
            if not await client_files.record_result(tx, file_id, attempt, result, at=at):
                raise LeaseLost
            await file_sets.add(tx, sets)
            await payees.record(tx, payee_hashes, at)
            if self._file.is_shadow:  # no one is asked for shadow files
                await inquiry_pages.remove_file(tx, file_id)
            elif any(one.type in SENDER_TRANSACTIONS for one in sets):
                await inquiry_pages.accept(tx, file_id, at + ANSWER_WAIT_MICROS)
            for one in responses:
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

    async def _store_response(self, type: str, content: bytes) -> StoredResponse:
        file = self._file
        response = ClientResponse(
            type=type,
            response_key=f"{file.file_id}:{RESPONSE_KINDS[type]}",
            stem=file.name,
            answers=file.file_id,
            is_shadow=bool(file.is_shadow),
        )
        return await store_response(self._context, self._site, response, content)

    async def _stage(self, of: SetReading, judged: Sequence[JudgedClaim]) -> None:
        """Store a page of judged claims where no list, queue or search shows them."""
        context, site = self._context, self._site
        rows = [
            StagedClaim(of.set_id, position, one.claim_number, self._file.file_id, one.payload)
            for position, one in enumerate(judged, of.judged + 1)
        ]

        async def job(tx: Tx, some: Sequence[StagedClaim]) -> None:
            await self._keep_lease(tx)
            await staged_claims.add(tx, some)

        for at in range(0, len(rows), CLAIMS_STAGED_AT_ONCE):
            some = rows[at : at + CLAIMS_STAGED_AT_ONCE]
            await context.database.write(site.scope, partial(job, some=some), actor=context.actor)
        fault_injection.crash_point("file staged")

    async def _stage_plan(self, of: SetReading, plan: InquiryPlan[Any, Any]) -> None:
        """Store a page of inquiries. No one is asked before the file is accepted."""
        context, site, file_id = self._context, self._site, self._file.file_id
        page = await asyncio.to_thread(
            seal_page, context, site, of.set_id, of.judged + 1, file_id, plan
        )

        async def job(tx: Tx) -> None:
            await self._keep_lease(tx)
            await inquiry_pages.add(tx, page)

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
        file, until = self._file, _lease_end(now)
        if not await client_files.renew_lease(tx, file.file_id, file.attempts, until=until):
            raise LeaseLost
        self._renewed_at = now

    async def _remove_staged(self) -> None:
        """Remove what an attempt that ended too early has staged."""
        async with self._context.database.read(self._site.scope) as tx:
            left = await staged_claims.list_set_ids(tx, self._file.file_id)
            left += await inquiry_pages.list_set_ids(tx, self._file.file_id)
        for set_id in left:
            await self._remove_set(set_id)

    async def _remove_set(self, set_id: str) -> None:
        """Remove the staged claims of a set. Raises :class:`LeaseLost`: those of an accepted file and of later work stay."""

        async def job(tx: Tx) -> int:
            await self._keep_lease(tx)
            await inquiry_pages.remove_set(tx, set_id)
            return await staged_claims.remove_first(tx, set_id, STAGED_REMOVED_AT_ONCE)

        while await self._context.database.write(self._site.scope, job, actor=self._context.actor):
            pass

    def _interchange_keys(self, reading: FileReading) -> dict[int, int]:
        """Return the keyed hash of the sender and control number of each interchange, by its number."""
        return {
            one.interchange.number: self._context.vault.search_key(
                self._site.scope,
                "shadow interchange" if self._file.is_shadow else "interchange",
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
            reason=one.reason or _none_accepted(one),
            created_at=to_micros(self._now),
            released=int(one.is_rejected or not one.judged),
            interchange_key=interchange_key,
            payload=payload,
            is_shadow=self._file.is_shadow,
        )


def _answer_types(set_types: Iterable[str]) -> list[str]:
    """Return the transactions that answer inquiries of some types."""
    known = (SENDER_TRANSACTIONS[one] for one in set_types if one in SENDER_TRANSACTIONS)
    return sorted({one.transaction.answer_set for one in known})


def _report_sentences(reading: FileReading, sets: Sequence[SetReading]) -> list[str]:
    """Return what no acknowledgement can say: findings outside of sets, and inquiries that no payer is asked."""
    unanswered = [
        finding for one in reading.interchanges for finding in one.unacknowledged_findings
    ]
    return [
        *acknowledge_file.finding_sentences([*reading.file_findings, *unanswered]),
        *acknowledge_file.not_asked_sentences(one for one in sets if not one.is_rejected),
    ]


def _none_accepted(one: SetReading) -> str:
    """Return why a set without errors of its own is rejected, or not all of it is accepted; empty if it is."""
    if one.not_asked and one.accepted:
        return SOME_NOT_ASKED
    if one.state is not FileState.REJECTED:
        return ""
    return NO_PAYER if one.type in SENDER_TRANSACTIONS else NO_CLAIM


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
