"""Inquired: what a stored eligibility request has become, for the caller and for people who look into it.

    await answer(database, vault, scope, request_id)      # the response as it stands, in JSON
    await recall(database, vault, request_id, actor=...)  # the same for an operator, with every file; audited

Responses are opened a few at a time, so that a request of thousands holds nobody else up. Changes nothing.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from clearlane.eligibility import answer as response
from clearlane.eligibility.answer import Outcome
from clearlane.eligibility.rules import ValidationResult
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.pipeline.asking import opened
from clearlane.pipeline.questioning import Kept, Question, kept
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
) -> bytes | None:
    """The response to a request of the scope as it stands; None where there is no such request."""
    found = await _found(database, vault, scope, request_id)
    if found is None:
        return None
    request, rows = found
    outcomes: list[Outcome | None] = []
    for at, row in enumerate(rows):
        if at and not at % limits.ELIGIBILITY_PATIENTS_AT_ONCE:
            await asyncio.sleep(0)
        outcomes.append(_outcome(_kept(vault, scope, request_id, row), with_x12=with_x12))
    results = _results(vault, scope, request)
    return response.encode(response.assemble(request_id, outcomes, results))


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
    found = await _found(database, vault, scope, request_id)
    body = await answer(database, vault, scope, request_id)
    if found is None or body is None:
        return None
    request, rows = found
    inquiries = []
    for (one, state), row in zip(asked, rows, strict=True):
        held = _kept(vault, scope, request_id, row)
        x12 = held.x12 if held else b""
        inquiries.append(Inquiry(opened(vault, one), state, one.next_at, row.answer, x12))
    return Recalled(scope, request.created_at, body, tuple(inquiries))


async def _found(
    database: Database, vault: Vault, scope: Scope, request_id: int
) -> tuple[StoredRequest, Sequence[Response]] | None:
    async with database.read(scope) as tx:
        request = await store.find(tx, request_id)
        if request is None:
            return None
        rows = await store.responses(tx, request_id)
        held = [row.response for row in rows if row.response is not None]
        await vault.fetch(tx, [*held, *([request.payload] if request.payload else [])])
    return request, rows


def _kept(vault: Vault, scope: Scope, request_id: int, row: Response) -> Kept | None:
    if row.response is None:
        return None
    return kept(vault.open(scope, store.RESPONSES, trace(request_id, row.number), row.response))


def _outcome(held: Kept | None, *, with_x12: bool) -> Outcome | None:
    if held is None:
        return None
    told = Outcome(response=held.response, error=held.error, status=held.status)
    return response.with_document(told, held.x12) if with_x12 and held.x12 else told


def _results(vault: Vault, scope: Scope, request: StoredRequest) -> tuple[ValidationResult, ...]:
    if request.payload is None:
        return ()
    content = vault.open(scope, store.REQUESTS, request.id, request.payload)
    return msgspec.json.decode(content, type=tuple[ValidationResult, ...])
