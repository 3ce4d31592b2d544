"""Load the answers to a stored eligibility request, for its caller and for operators.

    await load_answers(database, vault, scope, eligibility_request_id)        # the answers so far, a page at a time
    await load_request(database, vault, eligibility_request_id, actor=...)    # for an operator, with every file; audited

Answers are opened a page at a time, so that a request of thousands neither fills memory nor delays other calls.
Writes nothing but the audit row. Knows no shape in which an answer is shown.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from clearlane.eligibility.benefit_answer import (
    ANSWER,
    InquiryOutcome,
    RequestStatus,
    ValidationResult,
    decode_outcome,
    decode_results,
    request_status,
)
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.pipeline.eligibility.inquiry_runner import open_inquiry
from clearlane.pipeline.eligibility.realtime_inquiry import PendingInquiry
from clearlane.store import eligibility
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.eligibility import InquiryResponse, StoredRequest, trace
from clearlane.store.vault.vault import Vault


@dataclass(frozen=True, slots=True, repr=False)
class RequestAnswers:
    """The answers so far to a request. Each iterator yields them in the order of the request and may be used once."""

    request_number: int
    status: RequestStatus
    results: tuple[ValidationResult, ...]
    """Why patients could not be asked about."""
    answered: AsyncIterator[list[InquiryOutcome]]
    """A page at a time, those with a 271."""
    refused: AsyncIterator[list[InquiryOutcome]]
    """A page at a time, those with an error in its place."""

    def __repr__(self) -> str:
        return f"RequestAnswers({self.request_number} {self.status})"


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
    outcome: InquiryOutcome
    """The payer's reply; empty while there is none."""


@dataclass(frozen=True, slots=True)
class EligibilityRequestDetails:
    """A request and all its results, for an operator."""

    scope: Scope
    eligibility_request_id: int
    request_number: int
    created_at: int
    status: RequestStatus
    results: tuple[ValidationResult, ...]
    inquiries: tuple[InquiryDetails, ...]


async def load_answers(
    database: Database, vault: Vault, scope: Scope, eligibility_request_id: int
) -> RequestAnswers | None:
    """Return the answers so far to a request of the scope; None where there is no such request."""
    async with database.read(scope) as tx:
        request = await eligibility.find(tx, eligibility_request_id)
        if request is None:
            return None
        statuses = await eligibility.list_statuses(tx, eligibility_request_id)
        answered = [one.number for one in statuses if one.answer == ANSWER]
        # Most requests are about one patient: their only page is read here, without a transaction of its own.
        first = await eligibility.list_responses(
            tx, eligibility_request_id, answered[: limits.ELIGIBILITY_PAGE_ROWS]
        )
        sealed = [row.response for row in first]
        await vault.load_keys_of(tx, [request.payload, *sealed] if request.payload else sealed)
    # Answers never change, so pages that are read one by one fit together.
    refused = [one.number for one in statuses if one.answer not in ("", ANSWER)]
    stored = _StoredOutcomes(database, vault, scope, eligibility_request_id)
    awaited = len(statuses) - len(answered) - len(refused)
    return RequestAnswers(
        request.request_number,
        request_status(len(statuses), awaited),
        _results(vault, scope, request),
        stored.outcomes(answered, first),
        stored.outcomes(refused),
    )


async def find_numbered(database: Database, request_number: int) -> list[tuple[int, VendorId]]:
    """Return id and vendor of each request with this number, V3's ``RequestId``, for an operator."""
    async with database.read(eligibility.SCOPE) as tx:
        rows = await eligibility.list_numbered(tx, request_number)
    return [(id, VendorId(vendor_id)) for id, vendor_id in rows]


async def load_request(
    database: Database, vault: Vault, eligibility_request_id: int, *, actor: Actor
) -> EligibilityRequestDetails | None:
    """Load a request of any client with all its results. The access is audited in the client's scope."""
    async with database.read(eligibility.SCOPE) as tx:
        owner = await eligibility.find_owner(tx, eligibility_request_id)
        inquiries = await eligibility.list_inquiries(tx, eligibility_request_id)
        await vault.load_keys_of(tx, [one.inquiry for one, _ in inquiries])
    if owner is None:
        return None
    scope = Scope(VendorId(owner[0]), SiteId(owner[1]))

    async def audit(tx: Tx) -> None:
        tx.audit("eligibility.shown", ids=[str(eligibility_request_id)])

    await database.write(scope, audit, actor=actor)
    async with database.read(scope) as tx:
        request = await eligibility.find(tx, eligibility_request_id)
        statuses = await eligibility.list_statuses(tx, eligibility_request_id)
        if request is not None and request.payload:
            await vault.load_keys_of(tx, [request.payload])
    if request is None:
        return None
    stored = _StoredOutcomes(database, vault, scope, eligibility_request_id)
    answered = [one.number for one in statuses if one.answer]
    outcomes = {
        number: outcome async for page in stored.pages(answered) for number, outcome in page
    }
    details = (
        InquiryDetails(
            open_inquiry(vault, one),
            state,
            one.next_at,
            status.answer,
            outcomes.get(one.number, InquiryOutcome()),
        )
        for (one, state), status in zip(inquiries, statuses, strict=True)
    )
    return EligibilityRequestDetails(
        scope,
        eligibility_request_id,
        request.request_number,
        request.created_at,
        request_status(len(statuses), len(statuses) - len(answered)),
        _results(vault, scope, request),
        tuple(details),
    )


@dataclass(frozen=True, slots=True)
class _StoredOutcomes:
    """The stored outcomes of a request, read a page at a time."""

    database: Database
    vault: Vault
    scope: Scope
    eligibility_request_id: int

    async def pages(
        self, numbers: Sequence[int], first: Sequence[InquiryResponse] = ()
    ) -> AsyncIterator[list[tuple[int, InquiryOutcome]]]:
        """Yield the outcomes of patients, with their numbers. ``first`` are those that were read already."""
        if first:
            yield [(row.number, self._open(row)) for row in first]
        size = limits.ELIGIBILITY_PAGE_ROWS
        for at in range(len(first), len(numbers), size):
            page = numbers[at : at + size]
            async with self.database.read(self.scope) as tx:
                rows = await eligibility.list_responses(tx, self.eligibility_request_id, page)
                await self.vault.load_keys_of(tx, [row.response for row in rows])
            if len(rows) < len(page):
                raise LookupError("the request was purged while it was read")
            yield [(row.number, self._open(row)) for row in rows]

    async def outcomes(
        self, numbers: Sequence[int], first: Sequence[InquiryResponse] = ()
    ) -> AsyncIterator[list[InquiryOutcome]]:
        """Yield the outcomes of patients. ``first`` are those that were read already."""
        async for page in self.pages(numbers, first):
            yield [outcome for _, outcome in page]

    def _open(self, row: InquiryResponse) -> InquiryOutcome:
        key = trace(self.eligibility_request_id, row.number)
        return decode_outcome(self.vault.open(self.scope, eligibility.RESPONSES, key, row.response))


def _results(vault: Vault, scope: Scope, request: StoredRequest) -> tuple[ValidationResult, ...]:
    """Open why patients could not be asked about."""
    if request.payload is None:
        return ()
    return decode_results(vault.open(scope, eligibility.REQUESTS, request.id, request.payload))
