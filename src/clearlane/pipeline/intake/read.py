"""Read a document of claims, and look up what the rules need to know of it. Nothing is judged or stored here.

Reading happens a few claims at a time, so that a document of thousands delays no other call. A large one is read twice,
so that it never is in memory as a whole: once to refuse it, once to judge it.
"""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from clearlane.accounts.model import Site
from clearlane.claims.fields import JsonClaim
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import AnyForm
from clearlane.claims.kinds import KINDS
from clearlane.claims.read import decode
from clearlane.claims.read.repairs import Repair
from clearlane.kernel import limits
from clearlane.payers.directory import PayerDirectory
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
from clearlane.pipeline.intake.prepare_claims import (
    IntakeBatcher,
)
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
        WantedEnrollments(payers.find, KINDS[form.kind].payer_type),
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


ReadClaim = tuple[JsonClaim, tuple[Repair, ...]]


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
