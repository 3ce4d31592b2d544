"""Compose the response to a stored eligibility request, for its caller and for operators.

    await compose_response(database, vault, scope, request_id)    # the response so far, in pieces of JSON
    await load_request(database, vault, request_id, actor=...)    # for an operator, with every file; audited

Answers are opened a page at a time, so that a request of thousands neither fills memory nor delays other calls.
Writes nothing but the audit row.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from clearlane.eligibility import answer as response
from clearlane.eligibility.answer import InquiryOutcome
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.pipeline.eligibility.inquiry_runner import open_inquiry
from clearlane.pipeline.eligibility.realtime_inquiry import (
    ANSWER,
    PendingInquiry,
    StoredAnswer,
    decode_answer,
)
from clearlane.store import eligibility as store
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.eligibility import InquiryResponse, StoredRequest, trace
from clearlane.store.vault import Vault


@dataclass(frozen=True, slots=True)
class InquiryDetails:
    """One patient of a request, for an operator."""

    pending: PendingInquiry
    state: str
    """Open, Mailed or Answered."""
    next_at: int
    """When it may be sent (again), while it is open."""
    answer: str
    """271, 999, TA1, Connection, or empty."""
    x12: bytes = field(repr=False)
    """The payer's reply."""


@dataclass(frozen=True, slots=True)
class EligibilityRequestDetails:
    """A request and all its results, for an operator."""

    scope: Scope
    created_at: int
    body: bytes = field(repr=False)
    inquiries: tuple[InquiryDetails, ...]


async def compose_response(
    database: Database, vault: Vault, scope: Scope, request_id: int, *, with_x12: bool = False
) -> AsyncIterator[bytes] | None:
    """Return the response so far to a request of the scope, in pieces; None where there is no such request."""
    async with database.read(scope) as tx:
        request = await store.find(tx, request_id)
        if request is None:
            return None
        statuses = await store.list_statuses(tx, request_id)
        await vault.load_keys_of(tx, [request.payload] if request.payload else [])
    # Answers never change, so pages that are read one by one fit together.
    answered = [one.number for one in statuses if one.answer == ANSWER]
    refused = [one.number for one in statuses if one.answer not in ("", ANSWER)]
    stored = _StoredAnswers(database, vault, scope, request_id)
    awaited = len(statuses) - len(answered) - len(refused)
    return response.compose_response(
        request_id,
        response.request_status(len(statuses), awaited),
        responses=stored.outcomes(answered, with_x12=with_x12),
        results=_results(vault, scope, request),
        errors=stored.outcomes(refused, with_x12=with_x12),
    )


async def load_request(
    database: Database, vault: Vault, request_id: int, *, actor: Actor
) -> EligibilityRequestDetails | None:
    """Load a request of any client with all its results. The access is audited in the client's scope."""
    async with database.read(store.SCOPE) as tx:
        owner = await store.find_owner(tx, request_id)
        inquiries = await store.list_inquiries(tx, request_id)
        await vault.load_keys_of(tx, [one.inquiry for one, _ in inquiries])
    if owner is None:
        return None
    scope = Scope(VendorId(owner[0]), SiteId(owner[1]))

    async def audit(tx: Tx) -> None:
        tx.audit("eligibility.shown", ids=[str(request_id)])

    await database.write(scope, audit, actor=actor)
    pieces = await compose_response(database, vault, scope, request_id)
    if pieces is None:
        return None
    body = b"".join([piece async for piece in pieces])
    async with database.read(scope) as tx:
        request = await store.find(tx, request_id)
        statuses = await store.list_statuses(tx, request_id)
    if request is None:
        return None
    stored = _StoredAnswers(database, vault, scope, request_id)
    x12 = {
        number: answer.x12
        async for page in stored.pages([one.number for one in statuses if one.answer])
        for number, answer in page
    }
    details = (
        InquiryDetails(
            open_inquiry(vault, one), state, one.next_at, status.answer, x12.get(one.number, b"")
        )
        for (one, state), status in zip(inquiries, statuses, strict=True)
    )
    return EligibilityRequestDetails(scope, request.created_at, body, tuple(details))


@dataclass(frozen=True, slots=True)
class _StoredAnswers:
    """The stored answers of a request, read a page at a time."""

    database: Database
    vault: Vault
    scope: Scope
    request_id: int

    async def pages(self, numbers: Sequence[int]) -> AsyncIterator[list[tuple[int, StoredAnswer]]]:
        """Yield the answers of patients, with their numbers."""
        size = limits.ELIGIBILITY_PAGE_ROWS
        for page in (numbers[at : at + size] for at in range(0, len(numbers), size)):
            async with self.database.read(self.scope) as tx:
                rows = await store.list_responses(tx, self.request_id, page)
                await self.vault.load_keys_of(tx, [row.response for row in rows])
            if len(rows) < len(page):
                raise LookupError("the request was purged while it was read")
            yield [(row.number, self._open(row)) for row in rows]

    async def outcomes(
        self, numbers: Sequence[int], *, with_x12: bool
    ) -> AsyncIterator[list[InquiryOutcome]]:
        """Yield the answers as elements of the response."""
        async for page in self.pages(numbers):
            yield [_outcome(answer, with_x12=with_x12) for _, answer in page]

    def _open(self, row: InquiryResponse) -> StoredAnswer:
        key = trace(self.request_id, row.number)
        return decode_answer(self.vault.open(self.scope, store.RESPONSES, key, row.response))


def _outcome(answer: StoredAnswer, *, with_x12: bool) -> InquiryOutcome:
    outcome = InquiryOutcome(response=answer.response, error=answer.error, status=answer.status)
    return response.add_document(outcome, answer.x12) if with_x12 and answer.x12 else outcome


def _results(vault: Vault, scope: Scope, request: StoredRequest) -> bytes:
    """Open why patients could not be asked about, as a JSON array."""
    if request.payload is None:
        return b"[]"
    return vault.open(scope, store.REQUESTS, request.id, request.payload)
