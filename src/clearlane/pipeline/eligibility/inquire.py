"""Submit an eligibility request: read, check and store it, start its inquiries, and wait for the responses.

Reading and checking happen a few patients at a time, so that a request of thousands delays no other call. Storing is
one transaction with its audit row. The inquiries go on when the caller does not wait. Knows no HTTP.
"""

import asyncio
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from clearlane.accounts.model import Site
from clearlane.eligibility import decode, model, rules
from clearlane.eligibility.benefit_answer import ValidationResult, encode_results
from clearlane.eligibility.decode import RequestFinding
from clearlane.eligibility.model import Inquiry
from clearlane.eligibility.rules import CheckedRequest, InquiryFacts
from clearlane.eligibility.stepwise import StepwiseCall
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.ids import Scope, VendorId, random_bytes
from clearlane.kernel.json_names import note_repeated_fields
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.pipeline.eligibility.eligibility_results import RequestAnswers, load_answers
from clearlane.pipeline.eligibility.inquiry_runner import LEASE, WAIT, InquiryRunner
from clearlane.pipeline.eligibility.realtime_inquiry import PendingInquiry
from clearlane.pipeline.eligibility.request_list import patient_key
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import eligibility
from clearlane.store.database.database import Actor, ConstraintViolation, Tx, require_row
from clearlane.store.delivery.control_numbers import next_request_number
from clearlane.store.eligibility import NewInquiry, trace
from clearlane.store.vault.vault import Vault

ELIGIBILITY_IMMEDIATE_PATIENTS_MAX = 25
ELIGIBILITY_PATIENTS_AT_ONCE = 20
ELIGIBILITY_KEY_ATTEMPTS_MAX = 5

T = TypeVar("T")

EPOCH = to_micros(datetime(2020, 1, 1, tzinfo=UTC))
RANDOM_BITS, TIME_BITS = 12, 41
"""The key of a request is milliseconds and random bits: less than 2^53, which every JSON reader can represent."""


@dataclass(frozen=True, slots=True)
class MalformedInquiry:
    """A request that cannot be read; nothing was stored. It has every finding, not only the first."""

    findings: tuple[RequestFinding, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InquiryReceipt:
    """A stored request whose inquiries were started."""

    eligibility_request_id: int
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was done with the request that its response has no place for."""


async def inquire(
    context: WorkContext, document: bytes, *, site: Site, actor: Actor, now: datetime
) -> MalformedInquiry | InquiryReceipt:
    """Store a request and start its inquiries. :func:`await_answers` waits for the responses."""
    read = await _run_stepwise(decode.decode_stepwise(document))
    if read.request is None:
        return MalformedInquiry(read.findings, read.ignored)
    today = to_local(now, site.time_zone).date()
    runner, payers = _inquiry_runner(context), context.payer_access.payers()
    find = _PayerFinder(payers, runner).find
    facts = InquiryFacts(find=find, sandbox=context.sandbox, today=today)
    checked = await _run_stepwise(rules.check_stepwise(read.request, facts))
    eligibility_request_id, immediate = await _store(context, checked, site.scope, actor, now)
    if checked.inquiries:
        runner.start(eligibility_request_id, len(checked.inquiries), immediate)
    return InquiryReceipt(eligibility_request_id, read.ignored, note_repeated_fields(read.repeated))


async def await_answers(
    context: WorkContext,
    receipt: InquiryReceipt,
    *,
    site: Site,
    now: datetime,
    stopping: asyncio.Event,
) -> RequestAnswers:
    """Return the answers when they are complete, when the time to wait has passed, or when the node stops.

    The time to wait counts from ``now``.
    """
    eligibility_request_id = receipt.eligibility_request_id
    await _inquiry_runner(context).pending_calls.wait(eligibility_request_id, now + WAIT, stopping)
    answers = await load_answers(
        context.database, context.vault, site.scope, eligibility_request_id
    )
    return require_row(answers, "an eligibility request that was received")


async def read_numbered_answers(
    context: WorkContext, request_number: int, *, site: Site, actor: Actor
) -> RequestAnswers | None:
    """Return all answers so far to the site's request with this number, V3's ``RequestId``."""
    async with context.database.read(site.scope) as tx:
        eligibility_request_id = await eligibility.find_id(tx, request_number)
    if eligibility_request_id is None:
        return None
    return await read_answers(context, eligibility_request_id, site=site, actor=actor)


async def read_answers(
    context: WorkContext, eligibility_request_id: int, *, site: Site, actor: Actor
) -> RequestAnswers | None:
    """Return all answers so far to a request of the site; None where it has no such request."""
    answers = await load_answers(
        context.database, context.vault, site.scope, eligibility_request_id
    )
    if answers is not None:

        async def audit(tx: Tx) -> None:
            tx.audit("eligibility.read", ids=[str(eligibility_request_id)])

        async with asyncio.timeout(context.limits.write_seconds_max):
            await context.database.write(site.scope, audit, actor=actor)
    return answers


def _inquiry_runner(context: WorkContext) -> InquiryRunner:
    runner = context.payer_access.inquiry_runner
    if runner is None:
        raise RuntimeError("payers are asked by nodes only")
    return runner


# ---- storing -----------------------------------------------------------------------------------


async def _store(
    context: WorkContext, checked: CheckedRequest, scope: Scope, actor: Actor, now: datetime
) -> tuple[int, list[PendingInquiry]]:
    """Store a request under a new key; return the key and the inquiries to send at once."""
    context.database.require_space()
    async with asyncio.timeout(context.limits.write_seconds_max):
        await context.vault.ensure_key(scope)
    for _ in range(ELIGIBILITY_KEY_ATTEMPTS_MAX):
        eligibility_request_id = new_request_key(now)
        rows = await _seal_inquiries(context, checked.inquiries, scope, eligibility_request_id, now)
        payload = _seal_results(context.vault, checked.results, scope, eligibility_request_id)
        saving = _SaveRequest(scope.vendor, eligibility_request_id, to_micros(now), payload, rows)
        try:
            async with asyncio.timeout(context.limits.write_seconds_max):
                number = await context.database.write(scope, saving, actor=actor)
        except ConstraintViolation:  # another request has the key: once in 4,096 of a millisecond
            continue
        key = RequestKey(eligibility_request_id, number)
        return eligibility_request_id, _immediate_inquiries(
            checked.inquiries, rows, scope, key, now
        )
    raise TimeoutError("no free key was found")


class RequestKey(NamedTuple):
    """What a request is found by: its id in the database, and the number that its vendor knows."""

    id: int
    number: int


@dataclass(frozen=True, slots=True)
class _SaveRequest:
    """The transaction that stores a request and moves the counter of its vendor's requests."""

    vendor_id: VendorId
    eligibility_request_id: int
    created_at: int
    payload: bytes | None
    rows: Sequence[NewInquiry]

    async def __call__(self, tx: Tx) -> int:
        """Return the number of the request."""
        number = await next_request_number(tx, self.vendor_id)
        await eligibility.add(
            tx, self.eligibility_request_id, number, self.created_at, self.payload, self.rows
        )
        tx.audit(
            "eligibility.submit",
            ids=[str(self.eligibility_request_id)],
            count=len(self.rows),
            detail=f"RequestId {number}",
        )
        return number


async def _seal_inquiries(
    context: WorkContext,
    inquiries: Sequence[Inquiry],
    scope: Scope,
    eligibility_request_id: int,
    now: datetime,
) -> list[NewInquiry]:
    runner = _inquiry_runner(context)
    immediate = len(inquiries) <= ELIGIBILITY_IMMEDIATE_PATIENTS_MAX
    rows = []
    for number, inquiry in enumerate(inquiries, start=1):
        if not number % ELIGIBILITY_PATIENTS_AT_ONCE:
            await asyncio.sleep(0)
        content, key = model.encode(inquiry), trace(eligibility_request_id, number)
        payer_id, mode = inquiry.payer_names[0], eligibility.BY_FILE
        if runner.can_reach(inquiry.payer_type, payer_id):
            mode = eligibility.INTERACTIVE if immediate else eligibility.BULK
        # This node has the lease of what it sends at once; any node may take the rest.
        next_at = now + LEASE if mode == eligibility.INTERACTIVE else now
        rows.append(
            NewInquiry(
                number=number,
                payer_id=payer_id,
                type=inquiry.payer_type,
                mode=mode,
                next_at=to_micros(next_at),
                patient_key=patient_key(context.vault, scope.vendor, inquiry),
                inquiry=context.vault.seal(scope, eligibility.INQUIRIES, key, content),
            )
        )
    return rows


def _immediate_inquiries(
    inquiries: Sequence[Inquiry],
    rows: Sequence[NewInquiry],
    scope: Scope,
    key: RequestKey,
    now: datetime,
) -> list[PendingInquiry]:
    return [
        PendingInquiry(
            scope=scope,
            eligibility_request_id=key.id,
            request_number=key.number,
            number=row.number,
            attempts=1,
            created_at=to_micros(now),
            payer_id=row.payer_id,
            inquiry=inquiry,
        )
        for inquiry, row in zip(inquiries, rows, strict=True)
        if row.mode == eligibility.INTERACTIVE
    ]


def _seal_results(
    vault: Vault, results: Sequence[ValidationResult], scope: Scope, eligibility_request_id: int
) -> bytes | None:
    """Seal why patients could not be asked about: the sentences may quote what was sent."""
    if not results:
        return None
    return vault.seal(
        scope, eligibility.REQUESTS, eligibility_request_id, encode_results(tuple(results))
    )


def new_request_key(now: datetime) -> int:
    """Return the key of a new request: time first, so that rows lie in order, then random bits."""
    milliseconds = (to_micros(now) - EPOCH) // 1_000 % (1 << TIME_BITS)
    random = int.from_bytes(random_bytes(2), "big") >> (16 - RANDOM_BITS)
    return milliseconds << RANDOM_BITS | random


# ---- checking --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _PayerFinder:
    """The payer directory, with real-time routes counted: a payer may take inquiries and no files."""

    payers: PayerDirectory
    runner: InquiryRunner

    def find(self, id: str, type: str) -> Payer | None:
        payer = self.payers.find(id, type)
        if payer is None or payer.has_route:
            return payer
        return replace(payer, has_route=self.runner.can_reach(payer.type, payer.payer_id))


async def _run_stepwise(work: Generator[None, None, T]) -> T:
    """Run stepwise work, letting other calls run every few patients; return its result."""
    steps = StepwiseCall(work)
    for at, _ in enumerate(steps, start=1):
        if not at % ELIGIBILITY_PATIENTS_AT_ONCE:
            await asyncio.sleep(0)
    return steps.result
