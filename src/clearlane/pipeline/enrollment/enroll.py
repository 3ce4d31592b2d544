"""Enroll: a request with providers is read, judged and stored, as a whole or not at all.

Load, decide, save. A request with any fault is not submitted; a provider that the site has sent before
is no fault. A store that does not answer is raised to the caller: nothing is half stored, and what was
stored after all is found again by the next try. Knows no HTTP: a face turns the outcome into an answer.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.enrollment.decode import ENROLLMENTS, Read, encode, open_request, repeated
from clearlane.enrollment.decode import read_enrollment as read
from clearlane.enrollment.fields import Enrollment
from clearlane.enrollment.rules import NOT_READABLE, finding
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.kernel.finding import Finding
from clearlane.pipeline.enrollment.enrollment_lookup import provider_of
from clearlane.pipeline.intake.submit import new_request_id
from clearlane.store import enrollments as store
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.enrollments import NewEnrollment, Settled
from clearlane.store.vault import Vault

LETTER = "E"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the verb needs of the house."""

    database: Database
    vault: Vault
    enrollments_max: int = limits.ENROLLMENTS_PER_REQUEST_MAX
    write_seconds_max: float = limits.WRITE_SECONDS_MAX


@dataclass(frozen=True, slots=True)
class Invalid:
    """The request is wrong: every finding at once, nothing submitted."""

    findings: tuple[Finding, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TooMany:
    """More enrollments than a request may hold."""

    enrollments_max: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one enrollment."""

    enrollment: Enrollment
    existed: bool
    """Whether the site has sent this provider before."""
    id: str


@dataclass(frozen=True, slots=True)
class Enrolled:
    """One answer an enrollment, in the order of the request."""

    client_id: str
    answers: tuple[Answered, ...]
    ignored: tuple[str, ...] = field(default=())


Outcome = Invalid | TooMany | Enrolled


async def enroll(
    desk: Desk, document: bytes, *, site: Site, actor: Actor, now: datetime
) -> Outcome:
    """Read, judge and store a request. A result is told only after the durable commit."""
    opened = open_request(document, enrollments_max=desk.enrollments_max)
    if len(opened.raws) > desk.enrollments_max:
        return TooMany(desk.enrollments_max)
    reads = await _reads([bytes(raw) for raw in opened.raws])
    ignored = (*opened.ignored, *(path for each in reads for path in each.ignored))
    faults = [*opened.findings, *(wrong for each in reads for wrong in each.findings)]
    faults += repeated(reads)
    if faults:
        return Invalid(_told(faults), ignored)
    asked = [each.enrollment for each in reads if each.enrollment is not None]
    async with asyncio.timeout(desk.write_seconds_max):
        await desk.vault.ready(site.scope)
        rows = await _rows(desk, asked, site, now)
        settled = await desk.database.write(site.scope, _Saving(rows), actor=actor)
    answers = tuple(
        Answered(enrollment, end.existed, end.id)
        for enrollment, end in zip(asked, settled, strict=True)
    )
    return Enrolled(site.client_id, answers, ignored)


@dataclass(frozen=True, slots=True)
class _Saving:
    """The one transaction of a request."""

    rows: Sequence[NewEnrollment]

    async def __call__(self, tx: Tx) -> list[Settled]:
        settled = await store.settle(tx, self.rows)
        tx.audit("enrollment.submit", ids=[each.id for each in settled])
        return settled


async def _reads(raws: Sequence[bytes]) -> list[Read]:
    found: list[Read] = []
    for at, raw in enumerate(raws):
        if at and not at % limits.ENROLLMENTS_AT_ONCE:
            await asyncio.sleep(0)
        found.append(read(raw, f"{ENROLLMENTS}[{at}]"))
    return found


async def _rows(
    desk: Desk, asked: Sequence[Enrollment], site: Site, now: datetime
) -> list[NewEnrollment]:
    rows: list[NewEnrollment] = []
    for at, enrollment in enumerate(asked):
        if at and not at % limits.ENROLLMENTS_AT_ONCE:
            await asyncio.sleep(0)
        id = LETTER + new_request_id(now)[1:]
        rows.append(
            NewEnrollment(
                id=id,
                provider=provider_of(desk.vault, site.scope, enrollment.Npi, enrollment.Tin),
                created_at=micros(now),
                payload=desk.vault.seal(site.scope, store.TABLE, id, encode(enrollment)),
            )
        )
    return rows


def _told(faults: Sequence[Finding]) -> tuple[Finding, ...]:
    """Every fault; of a request with thousands, as many as anybody reads, and that there are more."""
    most = limits.SHAPE_FINDINGS_MAX
    if len(faults) <= most:
        return tuple(faults)
    more = f"There are {len(faults) - most} more faults; the first {most} are told."
    return (*faults[:most], finding(NOT_READABLE, ENROLLMENTS, more))
