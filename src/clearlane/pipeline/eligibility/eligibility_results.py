"""Inquired: what a stored eligibility request has become, for the caller and for people who look into it.

    await answer(database, vault, scope, request_id)      # the response as it stands, in pieces of JSON
    await recall(database, vault, request_id, actor=...)  # the same for an operator, with every file; audited

Responses are read and opened a page at a time, so that a request of thousands fills no memory and holds nobody else
up. Changes nothing.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from clearlane.eligibility import answer as response
from clearlane.eligibility.answer import Outcome
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.pipeline.eligibility.inquiry_runner import opened
from clearlane.pipeline.eligibility.realtime_inquiry import ANSWER, Kept, Question, kept
from clearlane.store import eligibility as store
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.eligibility import Response, StoredRequest, trace
from clearlane.store.vault import Vault


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One patient of a request."""

    question: Question
    state: str
    """Open, Mailed or Answered."""
    next_at: int
    """When it may be asked (again), while it is open."""
    answer: str
    """271, 999, TA1, Connection, or empty."""
    x12: bytes = field(repr=False)
    """What the payer sent."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A request and everything that came of it."""

    scope: Scope
    created_at: int
    body: bytes = field(repr=False)
    inquiries: tuple[Inquiry, ...]


async def answer(
    database: Database, vault: Vault, scope: Scope, request_id: int, *, with_x12: bool = False
) -> AsyncIterator[bytes] | None:
    """The response to a request of the scope as it stands, in pieces; None where there is no such request."""
    async with database.read(scope) as tx:
        request = await store.find(tx, request_id)
        if request is None:
            return None
        standing = await store.standing(tx, request_id)
        await vault.fetch(tx, [request.payload] if request.payload else [])
    # What has come does not change, so the pages fit together although each is read by itself.
    answered = [one.number for one in standing if one.answer == ANSWER]
    refused = [one.number for one in standing if one.answer not in ("", ANSWER)]
    shelf = _Shelf(database, vault, scope, request_id)
    awaited = len(standing) - len(answered) - len(refused)
    return response.compose(
        request_id,
        response.status_of(len(standing), awaited),
        answered=shelf.outcomes(answered, with_x12=with_x12),
        results=_results(vault, scope, request),
        refused=shelf.outcomes(refused, with_x12=with_x12),
    )


async def recall(
    database: Database, vault: Vault, request_id: int, *, actor: Actor
) -> Recalled | None:
    """Everything of a request, whoever's it is. The look is audited as the owner's."""
    async with database.read(store.SCOPE) as tx:
        owner = await store.owner(tx, request_id)
        asked = await store.asked(tx, request_id)
        await vault.fetch(tx, [one.inquiry for one, _ in asked])
    if owner is None:
        return None
    scope = Scope(VendorId(owner[0]), SiteId(owner[1]))

    async def note(tx: Tx) -> None:
        tx.audit("eligibility.shown", ids=[str(request_id)])

    await database.write(scope, note, actor=actor)
    pieces = await answer(database, vault, scope, request_id)
    if pieces is None:
        return None
    body = b"".join([piece async for piece in pieces])
    async with database.read(scope) as tx:
        request = await store.find(tx, request_id)
        standing = await store.standing(tx, request_id)
    if request is None:
        return None
    shelf = _Shelf(database, vault, scope, request_id)
    x12 = {
        number: held.x12
        async for page in shelf.kept([one.number for one in standing if one.answer])
        for number, held in page
    }
    inquiries = (
        Inquiry(opened(vault, one), state, one.next_at, stands.answer, x12.get(one.number, b""))
        for (one, state), stands in zip(asked, standing, strict=True)
    )
    return Recalled(scope, request.created_at, body, tuple(inquiries))


@dataclass(frozen=True, slots=True)
class _Shelf:
    """What was kept for a request, read a page at a time."""

    database: Database
    vault: Vault
    scope: Scope
    request_id: int

    async def kept(self, numbers: Sequence[int]) -> AsyncIterator[list[tuple[int, Kept]]]:
        """What came back for patients that are answered."""
        size = limits.ELIGIBILITY_PAGE_ROWS
        for page in (numbers[at : at + size] for at in range(0, len(numbers), size)):
            async with self.database.read(self.scope) as tx:
                rows = await store.responses(tx, self.request_id, page)
                await self.vault.fetch(tx, [row.response for row in rows])
            if len(rows) < len(page):
                raise LookupError("the request was forgotten while it was read")
            yield [(row.number, self._opened(row)) for row in rows]

    async def outcomes(
        self, numbers: Sequence[int], *, with_x12: bool
    ) -> AsyncIterator[list[Outcome]]:
        """The same as elements of the response."""
        async for page in self.kept(numbers):
            yield [_outcome(held, with_x12=with_x12) for _, held in page]

    def _opened(self, row: Response) -> Kept:
        place = trace(self.request_id, row.number)
        return kept(self.vault.open(self.scope, store.RESPONSES, place, row.response))


def _outcome(held: Kept, *, with_x12: bool) -> Outcome:
    told = Outcome(response=held.response, error=held.error, status=held.status)
    return response.with_document(told, held.x12) if with_x12 and held.x12 else told


def _results(vault: Vault, scope: Scope, request: StoredRequest) -> bytes:
    """Why the rest could not be sent, as the array that was kept."""
    if request.payload is None:
        return b"[]"
    return vault.open(scope, store.REQUESTS, request.id, request.payload)
