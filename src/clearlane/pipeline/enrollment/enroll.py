"""Submit an enrollment request: read, check and store its providers, all or none.

A provider that the site has sent before is not a finding. A fault of the store is raised: nothing is stored in part,
and what was stored after all is found again by the next try. Knows no HTTP.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.enrollment.decode import (
    ENROLLMENTS,
    DecodedEnrollment,
    encode,
    find_repeated_ids,
    split_request,
)
from clearlane.enrollment.decode import decode_enrollment as read
from clearlane.enrollment.fields import Enrollment
from clearlane.enrollment.rules import NOT_READABLE, make_finding
from clearlane.events.event import NewEvent
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Finding
from clearlane.kernel.ids import Scope, new_number
from clearlane.kernel.json_names import note_repeated_fields
from clearlane.pipeline.enrollment.billing_zip_lookup import enrolled_zips
from clearlane.pipeline.enrollment.provider_progress import number_hash, provider_hash
from clearlane.pipeline.work_context import SimulatedEnrollments, WorkContext
from clearlane.store import enrollments
from clearlane.store.claims import billing_zips
from clearlane.store.claims.billing_zips import BillingZip
from clearlane.store.database.database import Actor, Tx
from clearlane.store.enrollments import EnrollmentInsertResult, NewEnrollment

ENROLLMENTS_AT_ONCE = 50

LETTER = "E"


@dataclass(frozen=True, slots=True)
class InvalidEnrollmentRequest:
    """A request with findings; nothing was stored."""

    findings: tuple[Finding, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TooManyEnrollments:
    """A request with more enrollments than are allowed; nothing was stored."""

    enrollments_max: int


@dataclass(frozen=True, slots=True)
class EnrollmentResult:
    """The result for one enrollment."""

    enrollment: Enrollment
    existed: bool
    """Whether the site has sent this provider before."""
    id: str


@dataclass(frozen=True, slots=True)
class EnrollmentReceipt:
    """The results of a stored request, in the order of its enrollments."""

    client_id: str
    results: tuple[EnrollmentResult, ...]
    ignored: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = ()
    """What was done with the request that its response has no place for."""


EnrollmentRequestResult = InvalidEnrollmentRequest | TooManyEnrollments | EnrollmentReceipt


async def enroll(
    context: WorkContext, document: bytes, *, site: Site, actor: Actor, now: datetime
) -> EnrollmentRequestResult:
    """Read, check and store a request. Returns a receipt only after the durable commit."""
    opened = split_request(document, enrollments_max=context.limits.enrollments_max)
    if len(opened.elements) > context.limits.enrollments_max:
        return TooManyEnrollments(context.limits.enrollments_max)
    decoded = await _read_enrollments([bytes(raw) for raw in opened.elements])
    ignored = (*opened.ignored, *(path for each in decoded for path in each.ignored))
    repeated = (*opened.repeated, *(path for each in decoded for path in each.repeated))
    findings = [*opened.findings, *(finding for each in decoded for finding in each.findings)]
    findings += find_repeated_ids(decoded)
    if findings:
        return InvalidEnrollmentRequest(_first_findings(findings), ignored)
    submitted = [each.enrollment for each in decoded if each.enrollment is not None]
    context.database.require_space()
    async with asyncio.timeout(context.limits.write_seconds_max):
        await context.vault.ensure_key(site.scope)
        rows = await _rows(context, submitted, site, now)
        zips = enrolled_zips(context.vault, site.scope, submitted)
        stored = await context.database.write(
            site.scope,
            _SaveRequest(site.scope, rows, zips, context.simulated_enrollments),
            actor=actor,
        )
    results = tuple(
        EnrollmentResult(enrollment, result.existed, result.id)
        for enrollment, result in zip(submitted, stored, strict=True)
    )
    return EnrollmentReceipt(site.client_id, results, ignored, note_repeated_fields(repeated))


@dataclass(frozen=True, slots=True)
class _SaveRequest:
    """The transaction that stores a request."""

    scope: Scope
    rows: Sequence[NewEnrollment]
    zips: Sequence[BillingZip]
    simulated: SimulatedEnrollments | None

    async def __call__(self, tx: Tx) -> list[EnrollmentInsertResult]:
        stored = await enrollments.add(tx, self.rows)
        if self.simulated is not None:
            # Also one that existed: a payer that was added since has not answered it.
            await self.simulated.agenda.plan(tx, [each.id for each in stored])
        await billing_zips.record(tx, self.zips)
        tx.audit("enrollment.submit", ids=[each.id for each in stored])
        tx.add_events(self._events(stored))
        return stored

    def _events(self, stored: Sequence[EnrollmentInsertResult]) -> list[NewEvent]:
        return [
            NewEvent(
                "enrollment.submitted",
                row.created_at,
                self.scope.vendor,
                self.scope.site,
                data={"enrollment_id": each.id},
            )
            for row, each in zip(self.rows, stored, strict=True)
        ]


async def _read_enrollments(raws: Sequence[bytes]) -> list[DecodedEnrollment]:
    found: list[DecodedEnrollment] = []
    for at, raw in enumerate(raws):
        if at and not at % ENROLLMENTS_AT_ONCE:
            await asyncio.sleep(0)
        found.append(read(raw, f"{ENROLLMENTS}[{at}]"))
    return found


async def _rows(
    context: WorkContext, submitted: Sequence[Enrollment], site: Site, now: datetime
) -> list[NewEnrollment]:
    rows: list[NewEnrollment] = []
    for at, enrollment in enumerate(submitted):
        if at and not at % ENROLLMENTS_AT_ONCE:
            await asyncio.sleep(0)
        id = new_number(now, letter=LETTER)
        rows.append(
            NewEnrollment(
                id=id,
                provider=provider_hash(context.vault, site.scope, enrollment.Npi, enrollment.Tin),
                npi=number_hash(context.vault, site.scope, enrollment.Npi),
                tin=number_hash(context.vault, site.scope, enrollment.Tin),
                created_at=to_micros(now),
                payload=context.vault.seal(site.scope, enrollments.TABLE, id, encode(enrollment)),
            )
        )
    return rows


def _first_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings; of thousands the first ones, and how many more there are."""
    most = limits.SHAPE_FINDINGS_MAX
    if len(findings) <= most:
        return tuple(findings)
    more = f"There are {len(findings) - most} more findings; the first {most} are listed."
    return (*findings[:most], make_finding(NOT_READABLE, ENROLLMENTS, more))
