"""Ask payers: store a request with its inquiries, start them, and wait for the answers.

    id = await ask(context, ELIGIBILITY, inquiries, results, site=site, actor=actor, now=now)
    answers = await await_answers(context, ELIGIBILITY, id, site=site, now=now, stopping=stopping)

Storing is one transaction with its audit row. The inquiries go on when the caller does not wait. Knows no transaction's
fields and no HTTP.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Generic

from clearlane.accounts.model import Site
from clearlane.inquiry.inquiry_result import ValidationResult, encode_results
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import Scope, random_bytes
from clearlane.pipeline.inquiry.inquiry_runner import LEASE, InquiryRunner
from clearlane.pipeline.inquiry.inquiry_transaction import (
    WAIT,
    A,
    InquiryTransaction,
    P,
    PendingInquiry,
    V,
)
from clearlane.pipeline.inquiry.request_answers import RequestAnswers, load_answers
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.database.database import Actor, ConstraintViolation, Tx, require_row
from clearlane.store.delivery.control_numbers import next_request_number
from clearlane.store.inquiries import NewInquiry, StoredRequest, trace

IMMEDIATE_INQUIRIES_MAX = 25
SEALED_AT_ONCE = 20
INQUIRY_KEY_ATTEMPTS_MAX = 5

EPOCH = to_micros(datetime(2020, 1, 1, tzinfo=UTC))
RANDOM_BITS, TIME_BITS = 12, 41
"""The key of a request is milliseconds and random bits: less than 2^53, which every JSON reader can represent."""


async def ask(
    context: WorkContext,
    transaction: InquiryTransaction[P, A, V],
    asked: Sequence[P],
    results: Sequence[ValidationResult] = (),
    *,
    site: Site,
    actor: Actor,
    now: datetime,
    note: str = "",
    wait: timedelta | None = WAIT,
    also: Callable[[Tx, int], Awaitable[None]] | None = None,
) -> int:
    """Store a request under a new key, start its inquiries, and return the key.

    ``results`` say what of the request could not be sent; ``note`` is added to its audit row.
    ``wait`` is how long the caller waits: an answer that comes later is late. With None no one waits, and the inquiries
    go behind those of callers who do. ``also`` is done with the key in the transaction that stores the request.
    """
    context.database.require_space()
    async with asyncio.timeout(context.limits.write_seconds_max):
        await context.vault.ensure_key(site.scope)
    runner = inquiry_runner(context)
    for _ in range(INQUIRY_KEY_ATTEMPTS_MAX):
        new = _NewRequest(context, transaction, site.scope, new_request_key(now), now, note, also)
        is_immediate = wait is not None and len(asked) <= IMMEDIATE_INQUIRIES_MAX
        rows = await new.seal(asked, runner, is_immediate=is_immediate)
        payload = new.seal_results(results)
        try:
            async with asyncio.timeout(context.limits.write_seconds_max):
                number = await context.database.write(
                    site.scope, partial(new.save, payload=payload, rows=rows), actor=actor
                )
        except ConstraintViolation:  # another request has the key: once in 4,096 of a millisecond
            continue
        if wait is None:
            runner.wake()
        elif asked:
            runner.start(new.id, len(asked), new.immediate(asked, rows, number, wait))
        return new.id
    raise TimeoutError("no free key was found")


async def await_answers(
    context: WorkContext,
    transaction: InquiryTransaction[P, A, V],
    inquiry_request_id: int,
    *,
    site: Site,
    now: datetime,
    stopping: asyncio.Event,
    wait: timedelta = WAIT,
) -> RequestAnswers[V]:
    """Return the answers when they are complete, when the time to wait has passed, or when the node stops.

    The time to wait counts from ``now``.
    """
    await inquiry_runner(context).pending_calls.wait(inquiry_request_id, now + wait, stopping)
    answers = await load_answers(
        context.database, context.vault, transaction, site.scope, inquiry_request_id
    )
    return require_row(answers, "a request to payers that was stored")


def inquiry_runner(context: WorkContext) -> InquiryRunner:
    """Return what sends the inquiries of this node."""
    runner = context.payer_access.inquiry_runner
    if runner is None:
        raise RuntimeError("payers are asked by nodes only")
    return runner


def new_request_key(now: datetime) -> int:
    """Return the key of a new request: time first, so that rows lie in order, then random bits."""
    milliseconds = (to_micros(now) - EPOCH) // 1_000 % (1 << TIME_BITS)
    random = int.from_bytes(random_bytes(2), "big") >> (16 - RANDOM_BITS)
    return milliseconds << RANDOM_BITS | random


@dataclass(frozen=True, slots=True)
class _NewRequest(Generic[P, A, V]):
    """A request that is about to be stored under a key."""

    context: WorkContext
    transaction: InquiryTransaction[P, A, V]
    scope: Scope
    id: int
    now: datetime
    note: str
    also: Callable[[Tx, int], Awaitable[None]] | None

    async def seal(
        self, asked: Sequence[P], runner: InquiryRunner, *, is_immediate: bool
    ) -> list[NewInquiry]:
        """Return the rows of the inquiries. Pauses now and then, so that other calls run."""
        payload, vault = self.transaction.payload, self.context.vault
        rows = []
        for number, inquiry in enumerate(asked, start=1):
            if not number % SEALED_AT_ONCE:
                await asyncio.sleep(0)
            content, key = payload.encode(inquiry), trace(self.id, number)
            type, payer_id = payload.payer(inquiry)
            mode = inquiries.BY_FILE
            if runner.can_reach(type, payer_id, self.transaction.inquiry_set):
                mode = inquiries.INTERACTIVE if is_immediate else inquiries.BULK
            # This node has the lease of what it sends at once; any node may take the rest.
            next_at = self.now + LEASE if mode == inquiries.INTERACTIVE else self.now
            rows.append(
                NewInquiry(
                    number=number,
                    payer_id=payer_id,
                    type=type,
                    mode=mode,
                    next_at=to_micros(next_at),
                    patient_key=payload.patient_key(vault, self.scope.vendor, inquiry),
                    inquiry=vault.seal(self.scope, inquiries.INQUIRIES, key, content),
                )
            )
        return rows

    def seal_results(self, results: Sequence[ValidationResult]) -> bytes | None:
        """Seal why parts of the request could not be sent: the sentences may quote what was sent."""
        if not results:
            return None
        content = encode_results(tuple(results))
        return self.context.vault.seal(self.scope, inquiries.REQUESTS, self.id, content)

    async def save(self, tx: Tx, payload: bytes | None, rows: Sequence[NewInquiry]) -> int:
        """Store the request and move the counter of its vendor's requests; return its number."""
        number = await next_request_number(tx, self.scope.vendor)
        request = StoredRequest(
            id=self.id,
            transaction_set=self.transaction.inquiry_set,
            request_number=number,
            created_at=to_micros(self.now),
            inquiries=len(rows),
            payload=payload,
        )
        await inquiries.add(tx, request, rows)
        if self.also is not None:
            await self.also(tx, self.id)
        tx.audit(
            f"{self.transaction.subject}.submit",
            ids=[str(self.id)],
            count=len(rows),
            detail=f"RequestId {number}" + (f"; {self.note}" if self.note else ""),
        )
        return number

    def immediate(
        self,
        asked: Sequence[P],
        rows: Sequence[NewInquiry],
        request_number: int,
        wait: timedelta,
    ) -> list[PendingInquiry]:
        """Return the inquiries to send at once."""
        return [
            PendingInquiry(
                transaction=self.transaction,
                scope=self.scope,
                inquiry_request_id=self.id,
                request_number=request_number,
                number=row.number,
                attempts=1,
                created_at=to_micros(self.now),
                payer_type=row.type,
                payer_id=row.payer_id,
                inquiry=inquiry,
                wait=wait,
            )
            for inquiry, row in zip(asked, rows, strict=True)
            if row.mode == inquiries.INTERACTIVE
        ]
