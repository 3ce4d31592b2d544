"""Read and judge a document of claims, and make the rows that they become. Nothing is stored here.

For ``submit``, which stores them, and for ``validate``, which does not. Reading and judging happen a few claims at a time,
so that a document of thousands delays no other call; a large one is read twice, so that it never is in memory as a
whole: once to refuse it, once to judge it.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from clearlane.accounts.model import Site
from clearlane.claims.fields import Claim
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import AnyForm
from clearlane.claims.kinds import KINDS
from clearlane.claims.read import decode
from clearlane.claims.read.repairs import Repair
from clearlane.claims.resubmission import REPEATED_REQUEST_HOURS, ResubmissionTimes
from clearlane.claims.rules import RuleInputs
from clearlane.kernel import limits
from clearlane.kernel.clock import to_local
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.pipeline.answer_days import answer_days
from clearlane.pipeline.enrollment.billing_zip_lookup import (
    BillingProvider,
    KnownZips,
    find_known_zips,
    provider_without_zip,
)
from clearlane.pipeline.enrollment.enrollment_lookup import (
    KnownEnrollments,
    WantedEnrollments,
    find_enrollments,
)
from clearlane.pipeline.intake.correct_claims import correct_replacements
from clearlane.pipeline.intake.prepare_claims import (
    IntakeBatcher,
    PendingClaim,
    PreparedClaim,
    without_lines,
)
from clearlane.pipeline.other_payer import find_other_payer_id
from clearlane.pipeline.work_context import WorkContext

# Up to this size the claims of a document are kept between reading and judging.
CLAIMS_KEPT_BYTES_MAX = 8 * 1024 * 1024


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
class ReadDocument:
    """A document without faults, with what its claims are judged by."""

    form: AnyForm
    reading: "DocumentReading"
    payers: PayerDirectory
    enrollments: KnownEnrollments | None
    zips: KnownZips

    @property
    def ignored(self) -> tuple[str, ...]:
        """Paths of unknown fields."""
        return tuple(self.reading.ignored)


async def read_document(
    context: WorkContext, document: bytes, form: AnyForm, *, site: Site
) -> ReadDocument | MalformedDocument | TooManyClaims:
    """Read every claim of a document, and look up what the rules need to know."""
    claims_max, seconds_max = context.limits.claims_max, context.limits.write_seconds_max
    opened = decode.open_document(document, form, claims_max=claims_max)
    if opened.count > claims_max:
        return TooManyClaims(claims_max)
    context.intake.priority.record_claims(opened.count)
    payers = context.payer_access.payers()  # one snapshot for the whole document
    reading = DocumentReading(
        opened,
        WantedEnrollments(payers, KINDS[form.kind].payer_type),
        keeps_claims=len(document) <= CLAIMS_KEPT_BYTES_MAX,
    )
    await reading.read(context.intake)
    if reading.faults:
        return MalformedDocument(tuple(reading.faults), tuple(reading.ignored))
    enrollments = await find_enrollments(
        context.database,
        context.vault,
        reading.enrollments,
        scope=site.scope,
        seconds_max=seconds_max,
    )
    zips = await find_known_zips(
        context.database,
        context.vault,
        reading.without_zip,
        scope=site.scope,
        seconds_max=seconds_max,
    )
    return ReadDocument(form, reading, payers, enrollments, zips)


async def prepare_document(
    context: WorkContext,
    document: ReadDocument,
    *,
    site: Site,
    now: datetime,
    shorten: Callable[[PreparedClaim], PreparedClaim],
) -> deque[PreparedClaim]:
    """Judge the claims of a document and make their rows. ``shorten`` limits the findings that are kept of each."""
    form, reading, enrollments = document.form, document.reading, document.enrollments
    today = to_local(now, site.time_zone).date()
    facts: dict[str, RuleInputs] = {}
    times: dict[str, ResubmissionTimes] = {}
    found: deque[PreparedClaim] = deque()
    async for claims in reading.claims(context.intake):
        pending: list[PendingClaim] = []
        for claim, tolerated in claims:
            payer_id = claim.Svc_PayerId
            if payer_id not in facts:
                facts[payer_id] = _facts(
                    document.payers, form, payer_id, today, sandbox=context.sandbox
                )
                times[payer_id] = resubmission_times(context, now, form, facts[payer_id].payer)
            known = facts[payer_id]
            if enrollments is not None:
                known = enrollments.add_to(known, claim, known.payer, site.time_zone)
            if find_other_payer_id(document.payers, claim) == "":
                known = replace(known, other_payer_unknown=True)
            at = f"Claims[{len(found) + len(pending)}]"
            pending.append(
                PendingClaim(
                    context.vault,
                    site,
                    form,
                    now,
                    at,
                    claim,
                    known,
                    times[payer_id],
                    tolerated,
                    document.zips,
                )
            )
        prepared = await context.intake.preparing.run(
            pending, is_background=not reading.keeps_claims
        )
        for one in await correct_replacements(context.database, context.vault, site, prepared):
            listed = shorten(one)
            found.append(listed if reading.keeps_claims else without_lines(listed))
    return found


ReadClaim = tuple[Claim, tuple[Repair, ...]]


class DocumentReading:
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


def resubmission_times(
    context: WorkContext, now: datetime, form: AnyForm, payer: Payer | None
) -> ResubmissionTimes:
    """Return the moments that decide how old an earlier claim of the same payer is."""
    connections, default = context.payer_access.connections(), context.limits.claim_silence_days
    type, payer_id = KINDS[form.kind].payer_type, payer.payer_id if payer else ""
    days = answer_days(connections, type, payer_id, default=default)
    return ResubmissionTimes(
        repeated_since=context.time_ago(now, timedelta(hours=REPEATED_REQUEST_HOURS)),
        silent_since=context.time_ago(now, timedelta(days=days)),
    )


def _facts(
    payers: PayerDirectory, form: AnyForm, payer_id: str, today: date, *, sandbox: bool
) -> RuleInputs:
    """Return what the rules need to know of a payer, looked up once per document and payer."""
    own_type = KINDS[form.kind].payer_type
    payer: Payer | None = payers.find(payer_id, own_type)
    others = {row.payer_type for row in KINDS.values()} - {own_type}
    return RuleInputs(
        today=today,
        sandbox=sandbox,
        payer=payer,
        payer_of_other_type=payer is None
        and any(payers.find(payer_id, type) is not None for type in others),
    )
