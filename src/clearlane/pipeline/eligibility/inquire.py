"""Inquire: an eligibility request is read, judged and stored, and then asked; the caller waits for what comes in time.

Load, decide, save, ask. Reading and judging are pure and happen a few patients at a time, so that a request of
thousands holds nobody else up; saving is one transaction with its audit row; asking does not need the caller.
Knows no HTTP: a face turns the outcome into an answer.
"""

import asyncio
from collections.abc import AsyncIterator, Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from clearlane.accounts.model import Site
from clearlane.eligibility import decode, model, rules
from clearlane.eligibility.decode import RequestFinding
from clearlane.eligibility.model import Inquiry
from clearlane.eligibility.rules import Facts, Judged, ValidationResult
from clearlane.eligibility.stepwise import Steps
from clearlane.kernel import limits
from clearlane.kernel.clock import local, micros
from clearlane.kernel.ids import Scope, random_bytes
from clearlane.payers.directory import Payers
from clearlane.payers.model import Payer
from clearlane.pipeline.eligibility.eligibility_results import answer
from clearlane.pipeline.eligibility.inquiry_runner import LEASE, WAIT, Asking
from clearlane.pipeline.eligibility.realtime_inquiry import Question
from clearlane.store import eligibility as store
from clearlane.store.database import Actor, Conflict, Database, Tx
from clearlane.store.eligibility import NewInquiry, trace
from clearlane.store.vault import Vault

T = TypeVar("T")

SINCE = micros(datetime(2020, 1, 1, tzinfo=UTC))
CHANCE_BITS, TIME_BITS = 12, 41
"""A number is a moment in milliseconds and some chance: less than 2^53, so that every JSON reader can hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the verbs need of the house, as it stands when the call begins."""

    database: Database
    vault: Vault
    payers: Payers
    asking: Asking
    sandbox: bool
    with_x12: bool = False
    write_seconds_max: float = limits.WRITE_SECONDS_MAX


@dataclass(frozen=True, slots=True)
class Malformed:
    """The request's shape is wrong: every finding at once, nothing stored."""

    findings: tuple[RequestFinding, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inquired:
    """The request is stored, and is being asked as far as it could be."""

    request_id: int
    ignored: tuple[str, ...] = ()


async def inquire(
    desk: Desk, document: bytes, *, site: Site, actor: Actor, now: datetime
) -> Malformed | Inquired:
    """Store a request and begin to ask about everybody in it. :func:`response` then waits."""
    read = await _in_steps(decode.reading(document))
    if read.request is None:
        return Malformed(read.findings, read.ignored)
    today = local(now, site.time_zone).date()
    facts = Facts(find=_Finding(desk).find, sandbox=desk.sandbox, today=today)
    judged = await _in_steps(rules.judging(read.request, facts))
    request_id, front = await _stored(desk, judged, site.scope, actor, now)
    if judged.inquiries:
        desk.asking.begin(request_id, len(judged.inquiries), front)
    return Inquired(request_id, read.ignored)


async def response(
    desk: Desk, inquired: Inquired, *, site: Site, now: datetime, stopping: asyncio.Event
) -> AsyncIterator[bytes]:
    """The response, in pieces, when all is answered, when the time since ``now`` is over, or when the node stops."""
    request_id = inquired.request_id
    await desk.asking.waiters.wait(request_id, now + WAIT, stopping)
    pieces = await answer(desk.database, desk.vault, site.scope, request_id, with_x12=desk.with_x12)
    assert pieces is not None, "it was stored"
    return pieces


async def responses(
    desk: Desk, request_id: int, *, site: Site, actor: Actor
) -> AsyncIterator[bytes] | None:
    """Everything that came for a request of the site so far; None where it has no such request."""
    pieces = await answer(desk.database, desk.vault, site.scope, request_id, with_x12=desk.with_x12)
    if pieces is not None:

        async def note(tx: Tx) -> None:
            tx.audit("eligibility.read", ids=[str(request_id)])

        async with asyncio.timeout(desk.write_seconds_max):
            await desk.database.write(site.scope, note, actor=actor)
    return pieces


# ---- saving -----------------------------------------------------------------------------------


async def _stored(
    desk: Desk, judged: Judged, scope: Scope, actor: Actor, now: datetime
) -> tuple[int, list[Question]]:
    """Number and store a request; its number and what is to be asked at once."""
    async with asyncio.timeout(desk.write_seconds_max):
        await desk.vault.ready(scope)
    for _ in range(limits.ELIGIBILITY_NUMBER_ATTEMPTS_MAX):
        request_id = new_number(now)
        rows = await _sealed(desk, judged.inquiries, scope, request_id, now)
        payload = _noted(desk.vault, judged.results, scope, request_id)
        saving = _Saving(request_id, micros(now), payload, rows)
        try:
            async with asyncio.timeout(desk.write_seconds_max):
                await desk.database.write(scope, saving, actor=actor)
        except Conflict:  # one in four thousand requests of the same millisecond
            continue
        return request_id, _front(judged.inquiries, rows, scope, request_id, now)
    raise TimeoutError("no free number was found")


@dataclass(frozen=True, slots=True)
class _Saving:
    """The one transaction of a request."""

    request_id: int
    created_at: int
    payload: bytes | None
    rows: Sequence[NewInquiry]

    async def __call__(self, tx: Tx) -> None:
        await store.add(tx, self.request_id, self.created_at, self.payload, self.rows)
        tx.audit("eligibility.submit", ids=[str(self.request_id)], count=len(self.rows))


async def _sealed(
    desk: Desk, inquiries: Sequence[Inquiry], scope: Scope, request_id: int, now: datetime
) -> list[NewInquiry]:
    front = len(inquiries) <= limits.ELIGIBILITY_FRONT_PATIENTS_MAX
    rows = []
    for number, inquiry in enumerate(inquiries, start=1):
        if not number % limits.ELIGIBILITY_PATIENTS_AT_ONCE:
            await asyncio.sleep(0)
        content, place = model.encode(inquiry), trace(request_id, number)
        payer_id, lane = inquiry.payer_names[0], store.MAIL
        if desk.asking.reaches(inquiry.payer_type, payer_id):
            lane = store.FRONT if front else store.BATCH
        # What is asked at once is in our hands from the start; the rest is for whoever comes first.
        next_at = now + LEASE if lane == store.FRONT else now
        rows.append(
            NewInquiry(
                number=number,
                payer_id=payer_id,
                type=inquiry.payer_type,
                lane=lane,
                next_at=micros(next_at),
                inquiry=desk.vault.seal(scope, store.INQUIRIES, place, content),
            )
        )
    return rows


def _front(
    inquiries: Sequence[Inquiry],
    rows: Sequence[NewInquiry],
    scope: Scope,
    request_id: int,
    now: datetime,
) -> list[Question]:
    return [
        Question(
            scope=scope,
            request_id=request_id,
            number=row.number,
            attempts=1,
            created_at=micros(now),
            payer_id=row.payer_id,
            inquiry=inquiry,
        )
        for inquiry, row in zip(inquiries, rows, strict=True)
        if row.lane == store.FRONT
    ]


def _noted(
    vault: Vault, results: Sequence[ValidationResult], scope: Scope, request_id: int
) -> bytes | None:
    """Why the rest could not be sent, sealed: the sentences may quote what was sent."""
    if not results:
        return None
    return vault.seal(scope, store.REQUESTS, request_id, msgspec.json.encode(results))


def new_number(now: datetime) -> int:
    """A request's number: time first, so that rows lie in order, then chance."""
    milliseconds = (micros(now) - SINCE) // 1_000 % (1 << TIME_BITS)
    chance = int.from_bytes(random_bytes(2), "big") >> (16 - CHANCE_BITS)
    return milliseconds << CHANCE_BITS | chance


# ---- deciding ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Finding:
    """The directory, with a route where questions have one: a payer may take questions and no files."""

    desk: Desk

    def find(self, id: str, type: str) -> Payer | None:
        payer = self.desk.payers.find(id, type)
        if payer is None or payer.has_route:
            return payer
        return replace(payer, has_route=self.desk.asking.reaches(payer.type, payer.payer_id))


async def _in_steps(work: Generator[None, None, T]) -> T:
    """The result of stepwise work, with room for other calls every few patients."""
    steps = Steps(work)
    for at, _ in enumerate(steps, start=1):
        if not at % limits.ELIGIBILITY_PATIENTS_AT_ONCE:
            await asyncio.sleep(0)
    return steps.result
