"""Read a file once, streaming, and say what becomes of its interchanges, groups, sets and claims.

    reading = FileReading(context, site, file, stage)
    async for chunk in chunks:
        await reading.feed(chunk)
    await reading.finish()
    reading.interchanges, reading.file_findings

A claim with an error of its own is not accepted, and the rest of its set is: the 999 accepts the set with errors. Any other
error rejects the set, and a wrong group or interchange all its sets. Claims are judged and handed on in pages, so that
memory stays the same however many there are; whether their set is accepted is known only at the end of the interchange.

Knows the reader and the judge of claims; stores nothing.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_form import LoopsAround
from clearlane.claims.forms.x12_loops import TRANSACTIONS, UnitLevels, claim_findings
from clearlane.claims.responses.ack_verdicts import RECEIPT, not_accepted
from clearlane.claims.responses.acknowledged_claim import (
    AcknowledgedClaim,
    BillingProviders,
    acknowledged_claim,
)
from clearlane.claims.responses.sender_set import SenderSet, sender_set_of
from clearlane.claims.responses.write_277ca import Acknowledgement277CA, clearinghouse_source
from clearlane.claims.view import ClaimView
from clearlane.claims.x12_claim import X12Claim
from clearlane.inquiry.sent_inquiry import SentInquiry
from clearlane.kernel.client_file import FileState, counted_noun, set_words
from clearlane.kernel.clock import to_local
from clearlane.kernel.finding import Finding, SegmentPosition, Severity, Stage
from clearlane.kernel.ids import new_number
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.helper_process import HelperProcess, HelperProcessDied
from clearlane.pipeline.inquiry.inquiry_plan import InquiryPlan, SentUnitReader, plan_inquiries
from clearlane.pipeline.inquiry.sender_transactions import SENDER_TRANSACTIONS
from clearlane.pipeline.intake.files.control_block import ControlBlock
from clearlane.pipeline.intake.files.file_inquiries import INQUIRIES_PER_PAGE, INQUIRIES_PER_SET_MAX
from clearlane.pipeline.intake.files.judge_page import (
    JudgedClaim,
    UnjudgedPage,
    decode_answer,
    encode_order,
    judge_page,
)
from clearlane.pipeline.intake.files.rejection_reason import NO_GUIDE, TAKEN, rejection_reason
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims
from clearlane.pipeline.work_context import WorkContext
from clearlane.x12 import tree
from clearlane.x12.checker.ack import (
    ACKNOWLEDGEMENT,
    GroupVerdict,
    SetVerdict,
    group_verdict,
    set_verdict,
    units_with_findings,
)
from clearlane.x12.reader.reader import (
    Event,
    FileClosed,
    GroupClosed,
    InterchangeOpened,
    ParentClosed,
    Reader,
    SetClosed,
    SetOpened,
    UnitClosed,
    iter_chunks,
)

CLAIMS_PER_PAGE = 100
PAGES_WAITING_MAX = 4
"""Judged pages, or such as another process has, that wait for one before them."""
SETS_PER_FILE_MAX = 10_000
# What is read before others may run: some milliseconds of work in a thread.
READ_BYTES_AT_ONCE = 8 * 1024
SET_LETTER = "S"
TA1 = "TA1"
CLAIM = "CLM"
ACK_TYPE = "999"
"""The guide of sets that are not acknowledged."""
NOT_TAKEN = f"Sets of this transaction are not taken from files: send {TAKEN}"
NOT_ASKED = "Inquiries of shadow files are not asked."
TOO_MANY = f"More than {INQUIRIES_PER_SET_MAX} {{noun}}s are in one set: send them in several"
STRUCTURE_CODES = frozenset({"1", "2", "6", "7"})
"""IK304 of segments that are unknown, unexpected or out of order: which claim they belong to cannot be known."""


class TooManySets(Exception):
    """A file has more sets than are taken."""


class ReadClaim(NamedTuple):
    """A claim of a page: as it is judged, and as a 277CA names it."""

    file_claim: FileClaim
    acknowledged: AcknowledgedClaim
    remember_view: Callable[[], ClaimView | None]
    """Makes its view from the loops that were read, which is faster than finding them again."""


@dataclass(slots=True)
class SetReading:
    """A set that is being read, or was. Patients of a 270 and claims of a 276 are counted as claims are."""

    set_id: str
    interchange: int
    group: int
    position: int
    type: str
    sender: SenderSet | None = None
    claims: int = 0
    """All that were read."""
    judged: int = 0
    """Those that were judged and handed on."""
    accepted: int = 0
    """Those without errors."""
    is_rejected: bool = False
    reason: str = ""
    """Why it was rejected, in a sentence."""
    receipt: Acknowledgement277CA | None = None
    not_asked: list[str] = field(default_factory=list)
    """A sentence about each patient of a 270 or claim of a 276 that no payer is asked about."""

    @property
    def state(self) -> FileState:
        """What became of the set."""
        if self.is_rejected or (self.claims and not self.accepted):
            return FileState.REJECTED
        return FileState.ACCEPTED if self.accepted == self.claims else FileState.PARTLY_ACCEPTED

    def reject(self, reason: str) -> None:
        """Reject the set as a whole, with all its claims."""
        self.is_rejected, self.accepted, self.receipt = True, 0, None
        self.reason = reason


@dataclass(slots=True)
class InterchangeReading:
    """An interchange: what its TA1 and its 999 report."""

    interchange: tree.Interchange
    groups: list[GroupVerdict] = field(default_factory=list)
    sets: list[SetReading] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """Why all of it, or a group of it, is rejected; empty if neither is."""
        of_groups = (rejection_reason(one.findings) for one in self.groups)
        return rejection_reason(self.interchange.findings) or next(filter(None, of_groups), "")

    @property
    def has_ta1(self) -> bool:
        """Whether it holds a TA1."""
        return any(segment[0] == TA1 for _, segment in self.interchange.stray)

    @property
    def is_acknowledgement(self) -> bool:
        """Whether it holds acknowledgements alone, which are never acknowledged."""
        if not self.groups:
            return self.has_ta1
        return all(group.functional_id == ACKNOWLEDGEMENT for group in self.groups)

    @property
    def unacknowledged_findings(self) -> list[Finding]:
        """What is wrong with its acknowledgements: no TA1 and no 999 reports it."""
        found = [*self.interchange.findings] if self.is_acknowledgement else []
        for group in self.groups:
            if group.functional_id == ACKNOWLEDGEMENT:
                found += [*group.findings, *(one for set in group.sets for one in set.findings)]
        return found


class ReadPage(NamedTuple):
    """Claims of one set that are judged together, or inquiries that are asked together."""

    of: SetReading
    claims: Sequence[ReadClaim] = ()
    inquiries: Sequence[SentInquiry] = ()


StagePage = Callable[[SetReading, Sequence[JudgedClaim]], Awaitable[None]]
"""Stores a page of judged claims of a set, of which ``judged`` came before."""
StagePlan = Callable[[SetReading, InquiryPlan[Any, Any]], Awaitable[None]]
"""Stores a page of inquiries in the same way."""


class FileReading:
    """The reading of one file."""

    def __init__(
        self,
        context: WorkContext,
        site: Site,
        now: datetime,
        stage: StagePage,
        stage_plan: StagePlan,
        *,
        size: int = 0,
        is_shadow: bool = False,
    ) -> None:
        """``size`` is that of the file; of a small one no page is handed to another process."""
        self.interchanges: list[InterchangeReading] = []
        self.file_findings: list[Finding] = []
        """What concerns no interchange, once the file is read to its end."""
        self.controls = ControlBlock(context, site)
        self._context = context
        self._site = site
        self._now = now
        self._stage = stage
        self._stage_plan = stage_plan
        self._is_shadow = is_shadow
        self._bytes_left = size
        self._seen = SeenClaims()
        self._waiting: deque[_WaitingPage] = deque()
        """Pages that are judged, or are being judged in another process, in the order of the file."""
        self._events = _FileEvents(self.interchanges, now)

    @property
    def type(self) -> str:
        """What the file holds, by its first set: a guide, or the TA1 that it has instead."""
        first = next((one for reading in self.interchanges for one in reading.sets), None)
        if first is not None:
            return first.type
        return TA1 if any(one.has_ta1 for one in self.interchanges) else "other"

    async def feed(self, chunk: bytes) -> None:
        """Read the next bytes; pages of claims that are full are judged and stored."""
        for at in range(0, len(chunk), READ_BYTES_AT_ONCE):
            piece = chunk[at : at + READ_BYTES_AT_ONCE]
            await self._context.intake.call_in_background([partial(self._events.feed, piece)])
            self._bytes_left -= len(piece)
            await self._judge_pages()

    async def finish(self) -> None:
        """Read the end of the file."""
        self.file_findings = await asyncio.to_thread(self._events.finish)
        await self._judge_pages()
        await self._take_waiting(waiting_max=0)
        for one in self.interchanges:
            _reject_with_envelope(one)

    async def _judge_pages(self) -> None:
        if self._waiting:
            # Orders go out, and answers come in, between two steps of reading.
            await asyncio.sleep(0)
        for page in self._events.take_pages():
            of, sender = page.of, page.of.sender
            if of.is_rejected or sender is None:
                continue
            if page.inquiries:
                await self._take_waiting(waiting_max=0)
                await self._plan_page(of, page.inquiries)
                continue
            await self._judge_page(page, sender)

    async def _judge_page(self, page: ReadPage, sender: SenderSet) -> None:
        """Judge a page, or hand it to another process, and take what is judged in the order of the file."""
        process = self._free_process()
        if process is not None:
            # Its loops are not kept.
            left = [one._replace(remember_view=_remember_nothing) for one in page.claims]
            task = asyncio.create_task(self._judge_there(page, process))
            self._waiting.append(_WaitingPage(page._replace(claims=left), sender, task))
            await asyncio.sleep(0)  # the process has it before the next page is read
        elif not self._waiting:
            await self._take_page(page, sender, await self._judge_here(page, self._seen))
            return
        else:
            judged = await self._judge_here(page, SeenClaims())
            self._waiting.append(_WaitingPage(page, sender, judged))
        await self._take_waiting(waiting_max=PAGES_WAITING_MAX)

    def _free_process(self) -> HelperProcess | None:
        processes = self._context.page_processes
        if processes is None:
            return None
        return processes.take(self._bytes_left, self._context.database.waits.seconds_alone)

    async def _judge_here(self, page: ReadPage, seen: SeenClaims) -> Sequence[JudgedClaim]:
        views = await self._context.intake.call_in_background(
            one.remember_view for one in page.claims
        )
        judged = await judge_page(self._context, self._site, self._claim_page(page), seen=seen)
        del views  # remembered as long as they are held
        return judged

    async def _judge_there(
        self, page: ReadPage, process: HelperProcess
    ) -> Sequence[JudgedClaim] | None:
        """Return what another process finds; None if it cannot judge the page."""
        try:
            return decode_answer(
                await process.ask(encode_order(self._site, self._claim_page(page)))
            )
        except HelperProcessDied:
            return None

    def _claim_page(self, page: ReadPage) -> UnjudgedPage:
        claims = [one.file_claim for one in page.claims]
        return UnjudgedPage(claims, self._now, self._context.clock.now(), self._is_shadow)

    async def _take_waiting(self, *, waiting_max: int) -> None:
        """Take the first pages as far as they are judged, and wait for the first ones if more are left."""
        while self._waiting and (self._waiting[0].is_judged or len(self._waiting) > waiting_max):
            page, sender, judged = self._waiting.popleft()
            if isinstance(judged, asyncio.Task):
                judged = await judged
            if page.of.is_rejected:
                continue
            if judged is None or any(one.content_hash in self._seen.numbers for one in judged):
                # It was judged without what came before it.
                judged = await self._judge_here(page, self._seen)
            for one in judged:
                if one.is_accepted:
                    self._seen.numbers.setdefault(one.content_hash, one.claim_number)
            await self._take_page(page, sender, judged)

    async def _take_page(
        self, page: ReadPage, sender: SenderSet, judged: Sequence[JudgedClaim]
    ) -> None:
        """Store judged claims, and acknowledge them."""
        of = page.of
        await self._stage(of, judged)
        receipt = of.receipt = of.receipt or await self._new_receipt(sender)
        await self._context.intake.call_in_background(
            partial(_acknowledge, receipt, *pair) for pair in zip(page.claims, judged, strict=True)
        )
        of.accepted += sum(one.is_accepted for one in judged)
        of.judged += len(judged)

    async def close(self) -> None:
        """Wait no longer for pages that another process has. Call this at the end, also after a fault."""
        tasks = (one.judged for one in self._waiting)
        await cancel_all(one for one in tasks if isinstance(one, asyncio.Task))

    async def _plan_page(self, of: SetReading, sent: Sequence[SentInquiry]) -> None:
        """Find the payers of some inquiries; one that no payer can be asked is not accepted. No one is asked in a shadow file."""
        if self._is_shadow:
            of.reason, of.accepted = NOT_ASKED, of.accepted + len(sent)
            return
        sender = SENDER_TRANSACTIONS[of.type]
        plan = await plan_inquiries(sender, self._context, self._site, sent, realtime=False)
        await self._stage_plan(of, plan)
        of.accepted += len(plan.inquiries)
        of.not_asked += (
            f"{set_words(of.interchange, of.group, of.position).capitalize()}, {sentence}"
            for sentence in plan.not_asked()
        )
        of.judged += len(sent)

    async def _new_receipt(self, sender: SenderSet) -> Acknowledgement277CA:
        return Acknowledgement277CA(
            clearinghouse_source(self._context.payer_access.submitter.name, sender),
            sender,
            received=to_local(self._now, self._site.time_zone).date(),
            control=await self.controls.next(),
            moment=self._now,
        )


class _WaitingPage(NamedTuple):
    """A page that is judged, or that another process has, while pages before it are not judged yet."""

    page: ReadPage
    sender: SenderSet
    judged: "Sequence[JudgedClaim] | asyncio.Task[Sequence[JudgedClaim] | None] | None"

    @property
    def is_judged(self) -> bool:
        """Whether no process is at it."""
        return not isinstance(self.judged, asyncio.Task) or self.judged.done()


def _remember_view(
    claim: X12Claim, loop: tree.Loop, around: Sequence[tree.Loop], first: int, read: LoopsAround
) -> ClaimView:
    """Make the view of a claim from the loops that were read."""
    form = form_of(claim)
    view = form.view_of_loops(loop, around, first, read, claim_type=claim.claim_type)
    form.remember_view(claim, view)
    return view


def _remember_nothing() -> None:
    """Leave a view to be made when it is asked for."""


def _acknowledge(receipt: Acknowledgement277CA, read: ReadClaim, judged: JudgedClaim) -> None:
    """Add the verdict on a claim to the 277CA."""
    claim = read.acknowledged
    verdict = RECEIPT if judged.is_accepted else not_accepted(judged.findings, claim)
    receipt.add(claim, verdict)


def _reject_with_envelope(reading: InterchangeReading) -> None:
    """Reject the sets of an interchange or group that is rejected itself."""
    whole = rejection_reason(reading.interchange.findings)
    refused = {
        at: rejection_reason(group.findings)
        for at, group in enumerate(reading.groups, 1)
        if group.is_refused
    }
    for one in reading.sets:
        if whole or one.group in refused:
            one.reject(whole or refused[one.group])


class _FileEvents:
    """Takes the events of a reader: what each part of the file reports, and its claims in pages. Runs in threads."""

    def __init__(self, interchanges: list[InterchangeReading], now: datetime) -> None:
        self._interchanges = interchanges
        self._now = now
        self._reader = Reader(decode=True)
        self._sets: list[SetVerdict] = []
        self._count = 0
        self._pages: list[ReadPage] = []
        self._file_findings: list[Finding] = []
        self._open: _OpenSet | None = None

    def feed(self, chunk: bytes) -> None:
        for small in iter_chunks(chunk):
            self._take(self._reader.feed(small))

    def finish(self) -> list[Finding]:
        self._take(self._reader.finish())
        return self._file_findings

    def take_pages(self) -> list[ReadPage]:
        pages, self._pages = self._pages, []
        return pages

    def _take(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case InterchangeOpened(interchange):
                    self._interchanges.append(InterchangeReading(interchange))
                case SetOpened(set):
                    self._open_set(set)
                case UnitClosed() if self._open is not None:
                    self._pages += self._open.add(event)
                case ParentClosed(loop) if self._open is not None:
                    self._open.count_unplaced(loop)
                case SetClosed(set) if self._open is not None:
                    verdict, pages = self._open.close()
                    self._sets.append(verdict)
                    self._pages += pages
                    self._open = None
                case GroupClosed(group):
                    self._interchanges[-1].groups.append(group_verdict(group, self._sets))
                    self._sets = []
                case FileClosed(file):
                    self._file_findings = file.findings

    def _open_set(self, set: tree.TransactionSet) -> None:
        self._count += 1
        if self._count > SETS_PER_FILE_MAX:
            raise TooManySets
        interchange = set.group.interchange.number
        kind = set.guide.kind if set.guide else "other"
        reading = SetReading(
            new_number(self._now, letter=SET_LETTER),
            interchange,
            set.group.number,
            set.number,
            kind,
        )
        self._interchanges[-1].sets.append(reading)
        self._open = _OpenSet(set, reading)


class _OpenSet:
    """A set that is being read: its claims, and which of its findings are those of a claim."""

    def __init__(self, set: tree.TransactionSet, reading: SetReading) -> None:
        self._set = set
        self._reading = reading
        self._claims: list[ReadClaim] = []
        self._inquiries: list[SentInquiry] = []
        self._inquiry_reader: SentUnitReader | None = None
        self._levels = UnitLevels()
        self._loops_around = LoopsAround()
        self._providers = BillingProviders()
        self._units: list[tuple[int, int, str, str]] = []
        self._of_claims: dict[int, Finding] = {}
        """Findings of claims, by identity."""
        self._recent: list[Finding] = []
        self._looked_at = 0

    def add(self, unit: UnitClosed) -> Iterator[ReadPage]:
        self._units += units_with_findings(unit.loop, unit.set)
        reading = self._reading
        reading.claims += reading.type in TRANSACTIONS
        if reading.type in SENDER_TRANSACTIONS:
            yield from self._add_inquiries(unit)
        if reading.type not in TRANSACTIONS:
            return
        if reading.sender is None:
            reading.sender = sender_set_of(unit.set)
        if unplaced := self._whole_errors(self._new_findings(unit)):
            reading.reject(rejection_reason(unplaced))
        if reading.is_rejected:
            return
        claim = self._levels.claim_of(unit)
        around = self._levels.loops_around(unit)
        first = unit.set.first_segment
        own = claim_findings(claim, self._recent)
        self._of_claims |= {id(one): one for one in own}
        self._claims.append(
            ReadClaim(
                FileClaim(claim, own),
                acknowledged_claim(unit.loop, unit.parents, first, self._providers),
                partial(_remember_view, claim, unit.loop, around, first, self._loops_around),
            )
        )
        if len(self._claims) == CLAIMS_PER_PAGE:
            yield self._page()

    def _add_inquiries(self, unit: UnitClosed) -> Iterator[ReadPage]:
        """Take the inquiries about a subscriber. Any error rejects their set, so they wait for its end in pages."""
        reading = self._reading
        sender = SENDER_TRANSACTIONS[reading.type]
        if self._inquiry_reader is None:
            self._inquiry_reader = sender.reader(unit.set)
            reading.sender = sender_set_of(unit.set)
        levels = [one for one in unit.parents if one.node.id in sender.above]
        if len(levels) < len(sender.above):  # the set has errors, which reject it
            return
        found = list(self._inquiry_reader.of_subscriber(*levels, unit.loop))
        reading.claims += len(found)
        if reading.claims <= INQUIRIES_PER_SET_MAX:
            self._inquiries += found
        if len(self._inquiries) >= INQUIRIES_PER_PAGE:
            yield self._page()

    def count_unplaced(self, loop: tree.Loop) -> None:
        """Count the claims that are in no place of their own in a wrong set: they are not accepted either."""
        counts = self._reading.type in TRANSACTIONS or self._set.guide is None
        if self._set.findings and counts:
            self._reading.claims += sum(one[0] == CLAIM for one in loop.all_segments())

    def close(self) -> tuple[SetVerdict, list[ReadPage]]:
        """Return what a 999 reports of the set, and its last page."""
        set, reading = self._set, self._reading
        self.count_unplaced(set.root)
        verdict = set_verdict(set, self._units)
        if reading.type not in (*TRANSACTIONS, *SENDER_TRANSACTIONS, ACK_TYPE):
            verdict.findings = [*verdict.findings, _set_finding(set, NO_GUIDE, NOT_TAKEN, "1")]
        if reading.type in SENDER_TRANSACTIONS and reading.claims > INQUIRIES_PER_SET_MAX:
            said = TOO_MANY.format(noun=counted_noun(reading.type))
            too_many = _set_finding(set, f"{reading.type}-INQUIRIES", said, "5")
            verdict.findings = [*verdict.findings, too_many]
        others = [one for one in verdict.findings if id(one) not in self._of_claims]
        unplaced = self._whole_errors([*self._of_claims.values()])
        if not reading.is_rejected and (wrong := [*unplaced, *_errors(others)]):
            version = tree.get_element(set.group.header, 8)
            reading.reject(rejection_reason(wrong, version))
        if reading.is_rejected:
            return verdict, []
        # Errors of claims do not reject the set: its 999 reports them, and the 277CA says which claims they stop.
        verdict.findings = [
            replace(one, severity=Severity.WARNING)
            if id(one) in self._of_claims and one.severity is Severity.ERROR
            else one
            for one in verdict.findings
        ]
        return verdict, [self._page()] if self._claims or self._inquiries else []

    def _page(self) -> ReadPage:
        page = ReadPage(self._reading, self._claims, self._inquiries)
        self._claims, self._inquiries = [], []
        return page

    def _new_findings(self, unit: UnitClosed) -> list[Finding]:
        """Return the findings since the last claim, and keep those that may be about this one."""
        findings = self._set.findings
        new, self._looked_at = findings[self._looked_at :], len(findings)
        first = unit.parents[1].position if len(unit.parents) > 1 else 0
        self._recent = [
            one for one in (*self._recent, *new) if one.position and one.position.segment >= first
        ]
        return new

    @staticmethod
    def _whole_errors(findings: Sequence[Finding]) -> list[Finding]:
        """Return the errors of segments that leave open which claim they belong to."""
        return [
            one
            for one in _errors(findings)
            if one.syntax_error in STRUCTURE_CODES and not (one.position and one.position.element)
        ]


def _errors(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if one.severity is Severity.ERROR]


def _set_finding(set: tree.TransactionSet, rule: str, message: str, syntax_error: str) -> Finding:
    """Return a finding about a set as a whole; ``syntax_error`` is its IK502."""
    return Finding(
        rule=rule,
        message=message,
        stage=Stage.FILE,
        position=SegmentPosition(
            interchange=set.group.interchange.number,
            group=set.group.number,
            set=set.number,
            segment=1,
            file_segment=set.first_segment,
            segment_id="ST",
        ),
        syntax_error=syntax_error,
    )
