"""Load the answers to a stored request, for its caller and for operators.

    await read_answers(context, ELIGIBILITY, id, site=..., actor=...)            # the answers so far, a page at a time
    await load_request(database, vault, ELIGIBILITY, id, actor=...)              # for an operator, with every file

Both are audited.

Answers are opened a page at a time, so that a request of thousands neither fills memory nor delays other calls.
Writes nothing but the audit row. Knows no shape in which an answer is shown.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Generic

from clearlane.accounts.model import Site
from clearlane.inquiry.inquiry_result import (
    InquiryResult,
    RequestStatus,
    ValidationResult,
    decode_results,
    request_status,
)
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.kernel.redacted_repr import shows
from clearlane.pipeline.inquiry.inquiry_runner import open_inquiry
from clearlane.pipeline.inquiry.inquiry_transaction import (
    A,
    AnyTransaction,
    InquiryTransaction,
    P,
    PendingInquiry,
    V,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.database.database import Actor, Database, write_audit
from clearlane.store.inquiries import InquiryResponse, StoredRequest, trace
from clearlane.store.vault.vault import Vault


@shows("request_number", "status")
@dataclass(frozen=True, slots=True, repr=False)
class RequestAnswers(Generic[V]):
    """The answers so far to a request. Each iterator yields them in the order of the request and may be used once."""

    request_number: int
    status: RequestStatus
    results: tuple[ValidationResult, ...]
    """Why parts of the request could not be sent."""
    answered: AsyncIterator[list[InquiryResult[V]]]
    """A page at a time, those that the payer answered."""
    refused: AsyncIterator[list[InquiryResult[V]]]
    """A page at a time, those with an error in its place."""


@dataclass(frozen=True, slots=True)
class InquiryDetails(Generic[V]):
    """One inquiry of a request, for an operator."""

    pending: PendingInquiry
    state: str
    """Open, Mailed or Answered."""
    next_at: int
    """When it may be sent (again), while it is open."""
    answer: str
    """The transaction set of the answer (271), 999, TA1, Connection, or empty."""
    result: InquiryResult[V]
    """The payer's reply; empty while there is none."""


@dataclass(frozen=True, slots=True)
class InquiryRequestDetails(Generic[V]):
    """A request and all its results, for an operator."""

    scope: Scope
    inquiry_request_id: int
    request_number: int
    created_at: int
    status: RequestStatus
    results: tuple[ValidationResult, ...]
    inquiries: tuple[InquiryDetails[V], ...]


async def load_answers(
    database: Database,
    vault: Vault,
    transaction: InquiryTransaction[P, A, V],
    scope: Scope,
    inquiry_request_id: int,
) -> RequestAnswers[V] | None:
    """Return the answers so far to a request of the scope; None if there is no such request."""
    async with database.read(scope) as tx:
        request = await inquiries.find(tx, transaction.inquiry_set, inquiry_request_id)
        if request is None:
            return None
        statuses = await inquiries.list_statuses(tx, inquiry_request_id)
        answered = [one.number for one in statuses if one.answer == transaction.answer_set]
        # Most requests are about one patient: their only page is read here, without a transaction of its own.
        first = await inquiries.list_responses(
            tx, inquiry_request_id, answered[: limits.INQUIRY_PAGE_ROWS]
        )
        sealed = [row.response for row in first]
        await vault.load_keys_of(tx, [request.payload, *sealed] if request.payload else sealed)
    # Answers never change, so pages that are read one by one fit together.
    refused = [one.number for one in statuses if one.answer not in ("", transaction.answer_set)]
    stored = _StoredResults(database, vault, transaction, scope, inquiry_request_id)
    awaited = len(statuses) - len(answered) - len(refused)
    return RequestAnswers(
        request.request_number,
        request_status(len(statuses), awaited),
        _results(vault, scope, request),
        stored.results(answered, first),
        stored.results(refused),
    )


async def read_numbered_answers(
    context: WorkContext,
    transaction: InquiryTransaction[P, A, V],
    request_number: int,
    *,
    site: Site,
    actor: Actor,
) -> RequestAnswers[V] | None:
    """Return all answers so far to the site's request with this number, V3's ``RequestId``; audited."""
    async with context.database.read(site.scope) as tx:
        id = await inquiries.find_id(tx, transaction.inquiry_set, request_number)
    return (
        None if id is None else await read_answers(context, transaction, id, site=site, actor=actor)
    )


async def read_answers(
    context: WorkContext,
    transaction: InquiryTransaction[P, A, V],
    inquiry_request_id: int,
    *,
    site: Site,
    actor: Actor,
) -> RequestAnswers[V] | None:
    """Return all answers so far to a request of the site, None if it has no such request; audited."""
    answers = await load_answers(
        context.database, context.vault, transaction, site.scope, inquiry_request_id
    )
    if answers is not None:
        action, ids = f"{transaction.subject}.read", [str(inquiry_request_id)]
        async with asyncio.timeout(context.limits.write_seconds_max):
            await write_audit(context.database, site.scope, action, ids=ids, actor=actor)
    return answers


async def find_numbered(
    database: Database, transaction: AnyTransaction, request_number: int
) -> list[tuple[int, VendorId]]:
    """Return id and vendor of each request with this number, V3's ``RequestId``, for an operator."""
    async with database.read(inquiries.SCOPE) as tx:
        rows = await inquiries.list_numbered(tx, transaction.inquiry_set, request_number)
    return [(id, VendorId(vendor_id)) for id, vendor_id in rows]


async def load_request(
    database: Database,
    vault: Vault,
    transaction: InquiryTransaction[P, A, V],
    inquiry_request_id: int,
    *,
    actor: Actor,
) -> InquiryRequestDetails[V] | None:
    """Load a request of any client with all its results. The access is audited in the client's scope."""
    async with database.read(inquiries.SCOPE) as tx:
        owner = await inquiries.find_owner(tx, inquiry_request_id)
        asked = await inquiries.list_inquiries(tx, inquiry_request_id)
        await vault.load_keys_of(tx, [one.inquiry for one in asked])
    if owner is None:
        return None
    scope = Scope(VendorId(owner[0]), SiteId(owner[1]))

    await write_audit(
        database, scope, f"{transaction.subject}.shown", ids=[str(inquiry_request_id)], actor=actor
    )
    async with database.read(scope) as tx:
        request = await inquiries.find(tx, transaction.inquiry_set, inquiry_request_id)
        statuses = await inquiries.list_statuses(tx, inquiry_request_id)
        if request is not None and request.payload:
            await vault.load_keys_of(tx, [request.payload])
    if request is None:
        return None
    stored = _StoredResults(database, vault, transaction, scope, inquiry_request_id)
    answered = [one.number for one in statuses if one.answer]
    results = {number: result async for page in stored.pages(answered) for number, result in page}
    details = (
        InquiryDetails(
            open_inquiry(vault, one),
            one.state,
            one.next_at,
            status.answer,
            results.get(one.number, InquiryResult()),
        )
        for one, status in zip(asked, statuses, strict=True)
    )
    return InquiryRequestDetails(
        scope,
        inquiry_request_id,
        request.request_number,
        request.created_at,
        request_status(len(statuses), len(statuses) - len(answered)),
        _results(vault, scope, request),
        tuple(details),
    )


@dataclass(frozen=True, slots=True)
class _StoredResults(Generic[P, A, V]):
    """The stored results of a request, read a page at a time."""

    database: Database
    vault: Vault
    transaction: InquiryTransaction[P, A, V]
    scope: Scope
    inquiry_request_id: int

    async def pages(
        self, numbers: Sequence[int], first: Sequence[InquiryResponse] = ()
    ) -> AsyncIterator[list[tuple[int, InquiryResult[V]]]]:
        """Yield the results of patients, with their numbers. ``first`` are those that were read already."""
        if first:
            yield [(row.number, self._open(row)) for row in first]
        size = limits.INQUIRY_PAGE_ROWS
        for at in range(len(first), len(numbers), size):
            page = numbers[at : at + size]
            async with self.database.read(self.scope) as tx:
                rows = await inquiries.list_responses(tx, self.inquiry_request_id, page)
                await self.vault.load_keys_of(tx, [row.response for row in rows])
            if len(rows) < len(page):
                raise LookupError("the request was purged while it was read")
            yield [(row.number, self._open(row)) for row in rows]

    async def results(
        self, numbers: Sequence[int], first: Sequence[InquiryResponse] = ()
    ) -> AsyncIterator[list[InquiryResult[V]]]:
        """Yield the results of patients. ``first`` are those that were read already."""
        async for page in self.pages(numbers, first):
            yield [result for _, result in page]

    def _open(self, row: InquiryResponse) -> InquiryResult[V]:
        key = trace(self.inquiry_request_id, row.number)
        content = self.vault.open(self.scope, inquiries.RESPONSES, key, row.response)
        return self.transaction.reader.decode(content)


def _results(vault: Vault, scope: Scope, request: StoredRequest) -> tuple[ValidationResult, ...]:
    """Open why parts of the request could not be sent."""
    if request.payload is None:
        return ()
    return decode_results(vault.open(scope, inquiries.REQUESTS, request.id, request.payload))
