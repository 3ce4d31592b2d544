"""Post a stored file of a payer: apply its statements to the claims they are about.

A file is identified by its content, read and matched a page at a time, and recorded in short transactions. After a
crash it is read again from its start, and what was recorded counts once. Statements about no known claim are parked
for a person; a file that cannot be read goes to quarantine with the reason. The meaning of statements is decided in
``clearlane.claims`` and ``clearlane.payments``.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from weakref import WeakKeyDictionary

from clearlane.claims.responses.identify import IdentifiedFile
from clearlane.claims.responses.inbound_file import InboundFile, read_inbound
from clearlane.claims.responses.returned_verdicts import RETURNED
from clearlane.connect.connections import PayerRoute
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import run_by_size
from clearlane.kernel.traces import now_nanos
from clearlane.pipeline import record_facts
from clearlane.pipeline.claim_traces import file_trace, trace_claims, trace_posting
from clearlane.pipeline.filing.filing_leaves import AcknowledgementFile
from clearlane.pipeline.inbound import post_inquiries
from clearlane.pipeline.inbound.check_addresses import AddressCheck, check_addresses, refusal
from clearlane.pipeline.inbound.inbound_statements import PayerStatement, StatementReader
from clearlane.pipeline.inbound.match_payments import match_waiting
from clearlane.pipeline.inbound.post_payments import PaymentPosting
from clearlane.pipeline.inbound.post_report import post_report
from clearlane.pipeline.outbound.deliver import confirm_answered_batches
from clearlane.pipeline.record_facts import ClaimFact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Database, StoreFault, Tx, require_row
from clearlane.store.delivery import batches, file_refusals, inbox
from clearlane.store.delivery.file_refusals import FileVerdict
from clearlane.store.delivery.inbox import (
    InboxFile,
    InboxResult,
    ParkedStatement,
    RouteKey,
    WaitingInboxFile,
)
from clearlane.store.files import due_responses
from clearlane.store.files.due_responses import ResponseSource

log = get_logger()

POST_FILES_WAITING_MAX = 200
POST_ROUTES_WAITING_MAX = 1_000
POST_FAULTS_CHARACTERS_MAX = 500

NAME, QUEUE = "post", "post"
FAILED = "Posting failed ({fault}); what was applied before stays. Replay the file when the fault is corrected."

CLAIM_SETS = frozenset({"277CA", "277", "835"})
"""Transaction sets that should name claims."""
NO_CLAIM_NAMED = "The file names no claim."
TEST_FILE = (
    "The file is marked as a test (ISA15 is T), and this installation is in production: it was not applied. If what "
    "it states is real: clearlane inbox accept {id} --test-file"
)


async def post(context: WorkContext, steps: WorkSteps, id: int) -> int:
    """Post a file and those that wait behind it on its route as durable work, in a step that may be repeated."""
    return await steps.run("post", partial(_post_from, context, id), attempts=3)


async def start_posting(context: WorkContext, steps: WorkSteps, period: int) -> None:
    """Start the posting of waiting files: one piece of work for each route.

    One posts at a time, in the order in which the files came. A new file is a new key, and so is a new ``period``: work
    that failed is tried again then.
    """
    async with context.database.read(inbox.SCOPE) as tx:
        routes = await inbox.list_waiting_routes(tx, POST_ROUTES_WAITING_MAX)
    for one in routes:
        if not _posting_lock(context, one.key).locked():
            key = f"{NAME}-{one.first_id}-{one.last_id}-{period}"
            await steps.start(NAME, one.first_id, key=key, alone="-".join(map(str, one.key)))


async def waiting_files(context: WorkContext) -> list[int]:
    """Return the ids of files that wait to be posted, the oldest first."""
    async with context.database.read(inbox.SCOPE) as tx:
        return await inbox.list_unprocessed(tx, POST_FILES_WAITING_MAX)


async def find_posted(context: WorkContext, ids: Sequence[int]) -> list[int]:
    """Return the files that wait for no posting any more, or are gone."""
    async with context.database.read(inbox.SCOPE) as tx:
        found = {id: await inbox.find(tx, id) for id in ids}
    return [id for id, file in found.items() if file is None or file.state != inbox.STORED]


async def has_waiting_files(context: WorkContext) -> bool:
    """Return whether a file waits to be posted."""
    return bool(await waiting_files(context))


async def post_waiting(context: WorkContext) -> int:
    """Post every file that waits, one after the other; return how many there were.

    Claim payments of earlier payments whose claim was sent since are matched first.
    """
    done = await match_waiting(context)
    while ids := await waiting_files(context):
        done += await _post_from(context, ids[0])
    return done


async def _post_from(context: WorkContext, id: int) -> int:
    """Post the files that wait on the route of a file, the oldest first; return how many there were."""
    async with context.database.read(inbox.SCOPE) as tx:
        file = await inbox.find(tx, id)
    if file is None:
        return 0
    done = 0
    async with _posting_lock(context, file.route):
        while waiting := await _files_of_route(context, file.route):
            for one in waiting:
                await post_file(context, one.id)
            done += len(waiting)
    return done


async def _files_of_route(context: WorkContext, key: RouteKey) -> list[WaitingInboxFile]:
    async with context.database.read(inbox.SCOPE) as tx:
        return await inbox.list_waiting_of(tx, key, POST_FILES_WAITING_MAX)


# One task of a process posts files of a route at a time: two would read and record the same, one of them in vain.
_posting_locks: WeakKeyDictionary[Database, dict[RouteKey, asyncio.Lock]] = WeakKeyDictionary()


def _posting_lock(context: WorkContext, key: RouteKey) -> asyncio.Lock:
    return _posting_locks.setdefault(context.database, {}).setdefault(key, asyncio.Lock())


async def post_file(
    context: WorkContext, id: int, *, accepted: frozenset[str] = frozenset()
) -> str | None:
    """Post one file, whatever was done with it before; return its new state, None if there is no file.

    ``accepted`` are senders that an operator accepts beside those that the route knows.
    """
    async with context.database.read(inbox.SCOPE) as tx:
        file = await inbox.find(tx, id)
        if file is None or file.state == inbox.DISCARDED:
            return file and file.state
        content = await inbox.read_content(tx, context.vault, file)
    read = await run_by_size(len(content), partial(read_inbound, content))
    found = read.identified
    if not found.usable:
        if report := await post_report(context, file, content):
            return await _record_result(context, file, report)
        result = InboxResult(state=inbox.QUARANTINED, kinds=_kinds(found), reason=found.reason)
        return await _record_result(context, file, result)
    is_test = found.is_test and not context.sandbox
    if kept_back := _keep_back(context, file, found, accepted, is_test=is_test):
        return await _record_result(context, file, kept_back, is_test=is_test)
    await context.vault.ensure_key(inbox.OWNER)  # what is parked is sealed
    posting, began = FilePosting(context, file, content, read), now_nanos()
    try:
        result = await posting.run()
    except StoreFault:  # the database is down or busy: the file keeps waiting
        raise
    except Exception as fault:  # noqa: BLE001  (a file that raises would raise each time)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("file not posted", **_log_facts(file), **details)  # noqa: TRY400  (a traceback may hold values)
        result = InboxResult(
            state=inbox.QUARANTINED,
            kinds=_kinds(found),
            reason=FAILED.format(fault=fault_code(fault)),
            applied=posting.applied,
        )
    trace_posting(context, id, posting.applied, began=began)
    if posting.applied:
        await confirm_answered_batches(context, file.payer_id)  # what is acknowledged has arrived
    return await _record_result(
        context,
        file,
        result,
        posting.parked,
        acknowledged=posting.acknowledged,
        verdicts=posting.verdicts,
        is_test=is_test,
    )


class FilePosting:
    """The posting of one file."""

    def __init__(
        self, context: WorkContext, file: InboxFile, content: bytes, read: InboundFile
    ) -> None:
        self.parked: list[ParkedStatement] = []
        self.applied = 0
        self._not_stored = 0
        """Parked statements that are counted and not stored."""
        self._context = context
        self._file = file
        self._read = read
        self._found = read.identified
        self._content = content
        self._reader = StatementReader(context, file, content, read)
        self._payments = PaymentPosting(context, file, content, self._park)
        self._sha256 = ""

    @property
    def acknowledged(self) -> frozenset[int]:
        """The ids of the batches that the file acknowledges."""
        return frozenset(self._reader.acknowledged)

    @property
    def verdicts(self) -> dict[int, FileVerdict]:
        """What the TA1s of the file say of batches of claims, by id."""
        return self._reader.verdicts

    async def run(self) -> InboxResult:
        """Apply the file page by page, and return its result. Statements about inquiries come first."""
        done = await post_inquiries.post_inquiry_answers(
            self._context, self._file, self._content, self._read
        )
        if done is not None:
            self.applied, self.parked = done.applied, done.parked_rows
            self._reader.answered = done.answered
            self._not_stored = done.parked - len(done.parked_rows)
            if not self._found.kinds & CLAIM_SETS:
                return done.result
        if "835" in self._found.kinds:
            try:
                await self._payments.run()
            finally:
                self.applied += self._payments.applied
        async for page in self._reader.pages():
            await self._apply(page)
        parked = len(self.parked) + self._not_stored
        doubts = self._payments.doubts
        if not parked and not self.applied and self._found.kinds & CLAIM_SETS:
            doubts = [NO_CLAIM_NAMED, *doubts]
        return InboxResult(
            state=inbox.PARKED if parked else inbox.APPLIED,
            kinds=_kinds(self._found),
            reason=_doubts_text(self._found, doubts),
            applied=self.applied,
            parked=parked,
        )

    async def _apply(self, page: list[PayerStatement]) -> None:
        vault = self._context.vault
        if not self._sha256:
            content = self._content
            self._sha256 = (
                await run_by_size(len(content), partial(hashlib.sha256, content))
            ).hexdigest()
        file = AcknowledgementFile(self._file.name, self._sha256, self._file.received_at)
        claim_facts: list[ClaimFact] = []
        for statement in page:
            if isinstance(statement.owner, str):
                self._park(statement, statement.owner)
            else:
                claim_facts.append(statement.as_claim_fact(self._file.id, file))
        if not claim_facts:
            return
        await record_facts.ensure_keys(vault, claim_facts)
        now, began = self._context.clock.now(), now_nanos()
        reported = {one.claim_number for one in claim_facts if one.fact.kind in RETURNED}

        async def job(tx: Tx) -> None:
            await record_facts.record_facts(tx, vault, claim_facts, now, self._context.answer_days)
            await due_responses.add_of_claims(
                tx, reported, ResponseSource.INBOX, self._file.id, to_micros(now)
            )

        await self._context.database.write(inbox.SCOPE, job, actor=self._context.actor)
        self.applied += len(claim_facts)
        fault_injection.crash_point("applied")
        await trace_claims(
            self._context, "payer answered", {one.claim_number for one in claim_facts},
            began=began, within=file_trace(self._file.id), inbox_id=self._file.id,
        )  # fmt: skip

    def _park(self, statement: PayerStatement, reason: str) -> None:
        if len(self.parked) >= limits.PARKED_PER_FILE_MAX:
            self._not_stored += 1
            return
        vault = self._context.vault
        payload = vault.seal(
            inbox.OWNER, inbox.PARKED_TABLE, self._file.id, statement.encode_unmatched(reason)
        )
        self.parked.append(ParkedStatement(statement.kind, reason, payload))


def _keep_back(
    context: WorkContext,
    file: InboxFile,
    found: IdentifiedFile,
    accepted: frozenset[str],
    *,
    is_test: bool,
) -> InboxResult | None:
    """Return the result of a file that must not be posted yet; None if it may be.

    It is for another receiver, is a test file, or comes from an unknown sender. A test is asked about before the sender:
    that it was accepted is stored with the file, while a sender is accepted for one posting.
    """
    route = route_of_file(context, file)  # None if it was removed since the file came
    check = check_addresses(found.addresses, route, accepted) if route else AddressCheck()
    reason = refusal(check, route, file.id) if route else ""
    state = inbox.QUARANTINED if check.receivers else inbox.UNKNOWN_SENDER
    if is_test and file.test_accepted_at is None and not check.receivers:
        state, reason = inbox.TEST_FILE, TEST_FILE.format(id=file.id)
    return InboxResult(state=state, kinds=_kinds(found), reason=reason) if reason else None


def route_of_file(context: WorkContext, file: InboxFile) -> PayerRoute | None:
    """Return the route over which a file came, None if it is gone."""
    connections = context.payer_access.connections()
    # The loopbacks of a sandbox share one id; a stored route may spell the payer's id in another way than the file's row.
    routes = [
        *connections.mailbox_routes(file.type, file.payer_id),
        *(route for route in connections.all_mailbox_routes() if route.route_id),
    ]
    return next((route for route in routes if route.route_id == file.route_id), None)


async def _record_result(
    context: WorkContext,
    file: InboxFile,
    result: InboxResult,
    parked: list[ParkedStatement] | None = None,
    *,
    acknowledged: frozenset[int] = frozenset(),
    verdicts: Mapping[int, FileVerdict] = MappingProxyType({}),
    is_test: bool = False,
) -> str:
    """Record the result of a file and the batches that it acknowledges, and log it; return its state."""

    async def record(tx: Tx) -> str:
        locked = require_row(await inbox.lock(tx, file.id), "an inbox file")
        final, rows = result, parked or []
        if locked.state == inbox.DISCARDED:
            # An operator discarded it while it was posted: what was recorded stays, and nothing is parked.
            final, rows = replace(result, state=locked.state, reason=locked.reason, parked=0), []
        now = to_micros(context.clock.now())
        await inbox.record_result(tx, file.id, final, now, rows)
        if is_test:
            await inbox.mark_test(tx, file.id)
        if final.state != inbox.QUARANTINED:
            await due_responses.mark_ready(tx, ResponseSource.INBOX, file.id)
        if acknowledged:
            await batches.mark_acknowledged(tx, acknowledged, now)
        for batch_id, verdict in sorted(verdicts.items()):
            await file_refusals.record_verdict(tx, batch_id, verdict, now)
        tx.audit(
            f"inbox.{final.state.lower()}",
            ids=[str(file.id)],
            count=final.applied,
            detail=f"{file.type} {file.payer_id} {final.kinds}",
        )
        return final.state

    state = await context.database.write(inbox.SCOPE, record, actor=context.actor)
    _log_result(file, result, state)
    return state


def _log_result(file: InboxFile, result: InboxResult, state: str) -> None:
    """Log what became of a file: as a warning if a person must look at it."""
    facts = {**_log_facts(file), "kinds": result.kinds, "verdict": state}
    if state in {inbox.QUARANTINED, inbox.UNKNOWN_SENDER, inbox.TEST_FILE}:
        log.warning("file not posted", **facts, reason=result.reason)
    else:
        log.info("file posted", **facts, applied=result.applied, parked=result.parked)


def _log_facts(file: InboxFile) -> dict[str, str | int]:
    """Return what a log line says of a file: whose it is and over which route it came."""
    return {
        "inbox": file.id,
        "payer": file.payer_id,
        "type": file.type,
        "route": file.route_id,
    }


def _kinds(found: IdentifiedFile) -> str:
    return ",".join(sorted(found.kinds))


def _doubts_text(found: IdentifiedFile, doubts: list[str]) -> str:
    """Return what a person should look at, in a sentence or two."""
    sentences = list(doubts)
    if found.others:
        sentences.insert(0, "The file contains other transaction sets as well, which were ignored.")
    return " ".join(sentences)[:POST_FAULTS_CHARACTERS_MAX]
