"""Submit a document of claims: read, judge and store it, and only then accept it.

Reading and judging happen a few claims at a time, so that a document of thousands delays no other call. A large one
is read twice, so that it never is in memory as a whole: once to refuse it, once to judge it. Storing is one transaction with its events and its audit row. Knows no HTTP.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims import decode
from clearlane.claims.fields import Claim, ClaimKind
from clearlane.claims.finding import LEFT_OUT, ClaimFinding, count_findings
from clearlane.claims.forms import FORMS
from clearlane.claims.repairs import Repair
from clearlane.claims.resubmission import (
    REPEATED_REQUEST_HOURS,
    ResubmissionDecision,
    ResubmissionTimes,
)
from clearlane.claims.rules import RULES, RuleInputs
from clearlane.engine import fault_injection
from clearlane.kernel import limits
from clearlane.kernel.clock import to_local
from clearlane.kernel.finding import Severity
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.pipeline.claim_events import submission_events
from clearlane.pipeline.enrollment.billing_zip_lookup import (
    BillingProvider,
    GivenZip,
    KnownZips,
    find_known_zips,
    provider_without_zip,
)
from clearlane.pipeline.enrollment.enrollment_lookup import (
    ApprovedEnrollments,
    WantedEnrollments,
    find_approved_enrollments,
)
from clearlane.pipeline.intake.correct_claims import (
    SuccessorCorrections,
    correct_replacements,
    successor_events,
)
from clearlane.pipeline.intake.prepare_claims import (
    IntakeBatcher,
    PendingClaim,
    PreparedClaim,
    without_lines,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import billing_zips
from clearlane.store import claims as store
from clearlane.store.claims import ClaimInsertResult, NewClaim
from clearlane.store.database import (
    Actor,
    CombinedJob,
    CommitOutcomeUnknown,
    DatabaseUnavailable,
    Tx,
)
from clearlane.store.group_commit import LockContention

CLAIMS_ANSWERED_AT_ONCE = 500
# Up to this size the claims of a document are kept between reading and judging.
CLAIMS_KEPT_BYTES_MAX = 8 * 1024 * 1024
ERRORS_PER_DOCUMENT_MAX = 10_000


ID_IS_FREE = "C107"


@dataclass(frozen=True, slots=True)
class MalformedDocument:
    """A document that cannot be read; nothing was stored. It has every finding, not only the first."""

    findings: tuple[ClaimFinding, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TooManyClaims:
    """A document with more claims than are allowed; nothing was stored."""

    claims_max: int


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The result for one claim."""

    vendor_claim_id: str
    accepted: bool
    request_id: str
    findings: tuple[ClaimFinding, ...] = field(default=(), repr=False)
    note: str = ""
    """What was done with a claim under a known id, and why; empty for a claim under a new one."""


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    """The results of a stored document, in the order of its claims."""

    results: tuple[ClaimResult, ...]
    ignored: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the results, each with its claim."""
        return tuple(f"Claims[{at}]: {one.note}" for at, one in enumerate(self.results) if one.note)


@dataclass(frozen=True, slots=True)
class SubmissionNotStored:
    """A write that was rolled back or timed out: nothing was stored, sending again is safe."""


SubmissionOutcome = MalformedDocument | TooManyClaims | SubmissionReceipt | SubmissionNotStored


async def submit(
    context: WorkContext,
    document: bytes,
    kind: ClaimKind,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
) -> SubmissionOutcome:
    """Read, judge and store a document. Returns a receipt only after the durable commit."""
    claims_max, write_seconds_max = context.limits.claims_max, context.limits.write_seconds_max
    opened = decode.open_document(document, kind, claims_max=claims_max)
    if opened.count > claims_max:
        return TooManyClaims(claims_max)
    context.intake.priority.record_claims(opened.count)
    payers = context.payer_access.payers()  # one snapshot for the whole document
    reading = _DocumentReading(
        opened,
        WantedEnrollments(payers, FORMS[kind].payer_type),
        keeps_claims=len(document) <= CLAIMS_KEPT_BYTES_MAX,
    )
    await reading.read(context.intake)
    ignored = tuple(reading.ignored)
    if reading.faults:
        return MalformedDocument(tuple(reading.faults), ignored)
    enrolled = await find_approved_enrollments(
        context.database,
        context.vault,
        reading.enrollments,
        scope=site.scope,
        seconds_max=write_seconds_max,
    )
    zips = await find_known_zips(
        context.database,
        context.vault,
        reading.without_zip,
        scope=site.scope,
        seconds_max=write_seconds_max,
    )
    reasons: dict[str, str] = {}
    try:
        context.database.require_space()
        if not context.vault.has_current_key(site.scope):
            async with asyncio.timeout(write_seconds_max):
                await context.vault.ensure_key(site.scope)
        prepared = await _prepare_claims(context, payers, reading, kind, site, now, enrolled, zips)
        async with asyncio.timeout(write_seconds_max):
            stored = await context.database.write(
                site.scope,
                CombinedJob(_save, _DocumentRows(context, site, prepared, reasons)),
                actor=actor,
            )
        context.intake.recorded_zips.mark(site.scope, _given_zips(prepared))
        fault_injection.crash_point("accepted")
    except CommitOutcomeUnknown:  # it may be stored, so it must not be reported as not stored
        raise
    except (TimeoutError, DatabaseUnavailable, LockContention):
        return SubmissionNotStored()
    return SubmissionReceipt(tuple(await _results(prepared, stored, reasons)), ignored)


ReadClaim = tuple[Claim, tuple[Repair, ...]]


class _DocumentReading:
    """The reading of a document: its faults, and its claims, kept or read again a few at a time."""

    def __init__(
        self,
        opened: decode.SubmissionDocument,
        enrollments: WantedEnrollments,
        *,
        keeps_claims: bool,
    ) -> None:
        self.enrollments = enrollments
        self.keeps_claims = keeps_claims
        self.without_zip: set[BillingProvider] = set()
        self.faults: list[ClaimFinding] = list(opened.findings)
        # Only the first few are shown; a dictionary keeps their order.
        self.ignored: dict[str, None] = dict.fromkeys(opened.ignored_fields)
        self._opened = opened
        self._claims: deque[ReadClaim] = deque()

    async def read(self, intake: IntakeBatcher) -> None:
        """Read every claim."""
        large = not self.keeps_claims
        async for reads in _read_claims(intake, self._opened, is_background=large):
            for read in reads:
                self.faults += read.findings
                if len(self.ignored) < limits.IGNORED_FIELDS_SHOWN_MAX:
                    self.ignored.update(dict.fromkeys(read.ignored_fields))
                if read.claim is not None and not self.faults:
                    self.enrollments.add(read.claim)
                    if provider := provider_without_zip(read.claim):
                        self.without_zip.add(provider)
                    if self.keeps_claims:
                        self._claims.append((read.claim, read.repairs))

    async def claims(self, intake: IntakeBatcher) -> AsyncIterator[list[ReadClaim]]:
        """Give the claims of a document without faults, a few at a time."""
        # Claims are popped as they are prepared: freeing thousands at once would block the event loop as long as
        # reading thousands does.
        while self._claims:
            count = min(len(self._claims), limits.CLAIMS_AT_ONCE)
            yield [self._claims.popleft() for _ in range(count)]
        if not self.keeps_claims:
            opened = self._opened.reopened()
            async for reads in _read_claims(intake, opened, is_background=True):
                yield [(read.claim, read.repairs) for read in reads if read.claim is not None]


async def _read_claims(
    intake: IntakeBatcher, opened: decode.SubmissionDocument, *, is_background: bool
) -> AsyncIterator[Sequence[decode.DecodedClaim]]:
    for start in range(0, opened.count, limits.CLAIMS_AT_ONCE):
        stop = min(start + limits.CLAIMS_AT_ONCE, opened.count)
        places = [(opened, at) for at in range(start, stop)]
        yield await intake.reading.run(places, is_background=is_background)


async def _prepare_claims(
    context: WorkContext,
    payers: PayerDirectory,
    reading: _DocumentReading,
    kind: ClaimKind,
    site: Site,
    now: datetime,
    enrolled: ApprovedEnrollments | None,
    zips: KnownZips,
) -> deque[PreparedClaim]:
    today = to_local(now, site.time_zone).date()
    times = _resubmission_times(context, now)
    facts: dict[str, RuleInputs] = {}
    found: deque[PreparedClaim] = deque()
    listing = _ErrorListing()
    async for claims in reading.claims(context.intake):
        pending: list[PendingClaim] = []
        for claim, tolerated in claims:
            payer_id = claim.Svc_PayerId
            if payer_id not in facts:
                facts[payer_id] = _facts(payers, kind, payer_id, today, sandbox=context.sandbox)
            known = facts[payer_id]
            if enrolled is not None and enrolled.covers(claim, known.payer):
                known = replace(known, enrolled=True)
            at = f"Claims[{len(found) + len(pending)}]"
            pending.append(
                PendingClaim(
                    context.vault, site, kind, now, at, claim, known, times, tolerated, zips
                )
            )
        prepared = await context.intake.preparing.run(
            pending, is_background=not reading.keeps_claims
        )
        for one in await correct_replacements(context.database, context.vault, site, prepared):
            listed = listing.limit(one)
            found.append(listed if reading.keeps_claims else without_lines(listed))
    return found


class _ErrorListing:
    """Limits the errors that the answer to a document lists; the claims are stored with their own."""

    def __init__(self) -> None:
        self._left = ERRORS_PER_DOCUMENT_MAX

    def limit(self, prepared: PreparedClaim) -> PreparedClaim:
        """Return a claim with the errors that are listed, and one that says how many more there are."""
        judgement = prepared.judgement
        errors = tuple(f for f in judgement.findings if f.severity is Severity.ERROR)
        listed = errors[: self._left]
        self._left -= len(listed)
        if len(listed) < len(errors):
            more = count_findings(errors[len(listed) :])
            listed = (*listed, _not_listed(prepared.at, more, is_all=not listed))
        return replace(prepared, judgement=replace(judgement, findings=listed))


def _not_listed(at: str, count: int, *, is_all: bool) -> ClaimFinding:
    errors = "1 error" if count == 1 else f"{count} errors"
    begin = f"This claim has {errors}." if is_all else f"And {errors} more in this claim."
    return ClaimFinding(
        rule=LEFT_OUT,
        location=at,
        message=f"{begin} An answer lists {ERRORS_PER_DOCUMENT_MAX} errors at most: send the claim in a smaller "
        "document to see its errors.",
        count=count,
    )


async def _results(
    prepared: deque[PreparedClaim],
    stored: Sequence[ClaimInsertResult],
    reasons: Mapping[str, str],
) -> list[ClaimResult]:
    results: list[ClaimResult] = []
    for end in stored:
        if results and not len(results) % CLAIMS_ANSWERED_AT_ONCE:
            await asyncio.sleep(0)
        results.append(_result(prepared.popleft(), end, reasons))
    return results


class _DocumentRows(NamedTuple):
    """A prepared document, to be stored."""

    context: WorkContext
    site: Site
    prepared: deque[PreparedClaim]
    reasons: dict[str, str]
    """Filled by the transaction: why claims go out as they do, by request id."""


async def _save(
    txs: Sequence[Tx], documents: Sequence[_DocumentRows]
) -> list[list[ClaimInsertResult]]:
    """Store documents that wait at the same time in one transaction; each has its own audit row."""
    corrections = SuccessorCorrections(
        documents[0].context.vault,
        {
            one.row.request_id: (document.site, one)
            for document in documents
            for one in document.prepared
            if one.row.depends_on_predecessor
        },
    )
    rows = [one.row for document in documents for one in document.prepared]
    ends = iter(await store.add(txs[0], rows, corrections.correct))
    stored = [list(islice(ends, len(document.prepared))) for document in documents]
    for document in documents:
        document.reasons.clear()  # of an attempt that was rolled back
        document.reasons.update(corrections.reasons)
    for tx, own, document in zip(txs, stored, documents, strict=True):
        new = [one.row for one in document.prepared]
        await billing_zips.record(
            tx,
            document.context.intake.recorded_zips.new_rows(
                document.context.vault, document.site.scope, _given_zips(document.prepared)
            ),
        )
        await _add_events(tx, document, own)
        accepted = sum(_is_accepted(row, each) for row, each in zip(new, own, strict=True))
        answer = f"{accepted} Accepted, {len(own) - accepted} NotAccepted"
        tx.audit("claims.submit", ids=[each.request_id for each in own], detail=answer)
    return stored


async def _add_events(tx: Tx, document: _DocumentRows, stored: Sequence[ClaimInsertResult]) -> None:
    """Add the events of a stored document: its claims, and those that they take over from."""
    site, prepared = document.site, document.prepared
    if not prepared:
        return
    received: list[str] = []
    refused: list[str] = []
    successors: dict[str, PreparedClaim] = {}
    for one, each in zip(prepared, stored, strict=True):
        if one.row.state != store.RECEIVED:
            refused.append(each.request_id)
        elif each.decision in (None, ResubmissionDecision.SUCCESSOR):
            received.append(each.request_id)
            if each.decision is not None:
                successors[each.earlier_id] = one
    at = prepared[0].row.created_at
    tx.add_events(
        submission_events(site.vendor_id, site.id, at, received=received, refused=refused)
    )
    if successors:
        vault = document.context.vault
        tx.add_events(await successor_events(tx, vault, site, successors, at))


def _given_zips(prepared: Iterable[PreparedClaim]) -> Iterator[GivenZip]:
    return (one.given_zip for one in prepared if one.given_zip)


def _is_accepted(row: NewClaim, stored: ClaimInsertResult) -> bool:
    """Return whether a claim is answered `Accepted`: it has no errors and its id is free or its own."""
    return row.state == store.RECEIVED and stored.decision is not ResubmissionDecision.ID_IN_USE


def _result(
    prepared: PreparedClaim, stored: ClaimInsertResult, reasons: Mapping[str, str]
) -> ClaimResult:
    """Return the result of a claim.

    A repeated request returns the earlier request id; another claim under a used id is refused.
    """
    findings = prepared.judgement.findings
    accepted = prepared.judgement.accepted
    if stored.decision is ResubmissionDecision.ID_IN_USE:
        return ClaimResult(
            prepared.vendor_claim_id,
            accepted=False,
            request_id=prepared.row.request_id,
            findings=_id_taken_findings(prepared, stored),
        )
    note = _note(prepared, stored, reasons) if accepted else ""
    return ClaimResult(prepared.vendor_claim_id, accepted, stored.request_id, findings, note)


def _note(prepared: PreparedClaim, stored: ClaimInsertResult, reasons: Mapping[str, str]) -> str:
    """Return what was done with an accepted claim under a known id, and why."""
    if stored.decision is ResubmissionDecision.REPEATED_REQUEST:
        return f"It is the claim {stored.request_id} again: nothing was sent twice."
    reason = reasons.get(stored.request_id) or prepared.facts.correction
    if stored.decision is ResubmissionDecision.SUCCESSOR:
        return " ".join(filter(None, (f"It takes over from {stored.earlier_id}.", reason)))
    return reason


def _id_taken_findings(
    prepared: PreparedClaim, stored: ClaimInsertResult
) -> tuple[ClaimFinding, ...]:
    """Return the findings of a used id. Only the index of current claims can decide that, so it comes last."""
    facts = replace(
        prepared.facts, earlier_request_id=stored.earlier_id, earlier_state=stored.earlier_state
    )
    return tuple(
        ClaimFinding(rule=ID_IS_FREE, location=f"{prepared.at}.{path}", message=message)
        for path, message in RULES[ID_IS_FREE].check(prepared.judgement.claim, facts)
    )


def _resubmission_times(context: WorkContext, now: datetime) -> ResubmissionTimes:
    return ResubmissionTimes(
        repeated_since=context.time_ago(now, timedelta(hours=REPEATED_REQUEST_HOURS)),
        silent_since=context.time_ago(now, timedelta(days=context.limits.claim_silence_days)),
    )


def _facts(
    payers: PayerDirectory, kind: ClaimKind, payer_id: str, today: date, *, sandbox: bool
) -> RuleInputs:
    """Return what the rules need to know of a payer, looked up once per document and payer."""
    own_type = FORMS[kind].payer_type
    payer: Payer | None = payers.find(payer_id, own_type)
    others = {form.payer_type for form in FORMS.values()} - {own_type}
    return RuleInputs(
        today=today,
        sandbox=sandbox,
        payer=payer,
        payer_of_other_type=payer is None
        and any(payers.find(payer_id, type) is not None for type in others),
    )
