"""Responses to the senders of files that are due, and the claims that each is about.

A row is added in the transaction that makes a response due, and removed in the one that lists its file: after a crash
it is written again, and listed once. Knows no X12.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import and_, bindparam, func, or_, select, update

from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import (
    batch_claims,
    claim_facts,
    due_responses,
    file_claims,
)
from clearlane.store.database.sql import (
    Statement,
    among,
    inlined,
    insert_into,
    scoped_delete,
    scoped_insert,
    scoped_select,
    scoped_update,
    select_as,
)

SCOPE = SystemScope("responses of all sites are due")


class ResponseSource(StrEnum):
    """What a response tells."""

    BATCH = "batch"
    """That claims were delivered."""
    INBOX = "inbox"
    """What a payer's file says of claims."""
    PAYMENT = "payment"
    """A remittance."""
    CORRECTION = "correction"
    """That we have the correction of a claim; its number is the id."""


class DueResponse(NamedTuple):
    """A response that is due."""

    vendor_id: int
    site_id: int
    set_id: str
    source: str
    source_id: str
    failures: int
    """How often it could not be written."""
    part: str = ""
    """Which part of a payment that is cut between sites; empty for a whole payment and all other responses."""


class OwnedSet(NamedTuple):
    """A set of a file, with its owner."""

    vendor_id: int
    site_id: int
    set_id: str


class RespondedClaim(NamedTuple):
    """A claim that a response is about."""

    claim_number: str
    position: int
    """In its set; a claim and its corrections share it."""


FIRST = RespondedClaim("", 0)
"""Before the first claim of a set."""


async def add_of_claims(
    tx: Tx, claim_numbers: Collection[str], source: ResponseSource, source_id: int, now: int
) -> None:
    """Note that a source tells something of claims, for the sets that they came in; not ready yet."""
    if claim_numbers:
        sets = await list_rows(tx, OwnedSet, _SETS_OF_CLAIMS, claim_numbers=sorted(claim_numbers))
        await add(tx, sets, source, str(source_id), now, ready=False)


async def add(
    tx: Tx,
    sets: Iterable[OwnedSet],
    source: ResponseSource,
    source_id: str,
    now: int,
    *,
    ready: bool,
) -> None:
    """Add responses; one that is due already stays."""
    rows = [
        {
            **one._asdict(),
            "source": source.value,
            "source_id": source_id,
            "ready": int(ready),
            "created_at": now,
        }
        for one in sorted(sets)
    ]
    if rows:
        await tx.many(_ADD, rows)


async def add_parts(
    tx: Tx, payment_id: str, parts: Mapping[tuple[int, int], str], now: int
) -> None:
    """Add the parts of a payment, by vendor and site of those that get them."""
    rows = [
        {
            "vendor_id": vendor,
            "site_id": site,
            "set_id": "",
            "source": ResponseSource.PAYMENT.value,
            "source_id": payment_id,
            "ready": 1,
            "created_at": now,
            "part": part,
        }
        for (vendor, site), part in sorted(parts.items())
    ]
    await tx.many(_ADD_PART, rows)


async def is_due(tx: Tx, source: ResponseSource, source_id: str) -> bool:
    """Return whether a response of a source is due to any site."""
    return await tx.row(_ANY_OF_SOURCE, of=source.value, of_id=source_id) is not None


async def add_correction(tx: Tx, set_id: str, claim_number: str, now: int) -> None:
    """Note that we have the correction of a claim that came in a set of the scope's site."""
    await tx.run(
        _ADD_OWN,
        set_id=set_id,
        source=ResponseSource.CORRECTION.value,
        source_id=claim_number,
        ready=1,
        created_at=now,
    )


async def mark_ready(tx: Tx, source: ResponseSource, source_id: int) -> None:
    """Let the responses of a source be written: all that it tells is recorded."""
    await tx.run(_READY, of=source.value, of_id=str(source_id))


async def list_ready(tx: Tx, now: int, limit: int) -> list[DueResponse]:
    """Return responses of all sites that are to be written now, oldest first."""
    return await list_rows(tx, DueResponse, _DUE, now=now, limit=limit)


async def put_off(tx: Tx, due: DueResponse, until: int) -> None:
    """Record that a response of the scope could not be written, and when it is tried again."""
    await tx.run(_PUT_OFF, set=due.set_id, of=due.source, of_id=due.source_id, until=until)


async def count_failed(tx: Tx, failures_min: int) -> int:
    """Count the responses of all sites that could not be written so often."""
    return await find_row(tx, int, _COUNT_FAILED, failures_min=failures_min) or 0


async def remove(tx: Tx, responses: Sequence[DueResponse]) -> None:
    """Remove responses of the scope that were written."""
    for one in responses:
        await tx.run(_REMOVE, set=one.set_id, of=one.source, of_id=one.source_id)


async def list_claims(
    tx: Tx, due: DueResponse, *, after: RespondedClaim, limit: int
) -> list[RespondedClaim]:
    """Return the next claims of the scope that a response is about, in the order of the sender's set."""
    source = ResponseSource(due.source)
    is_claim = source is ResponseSource.CORRECTION
    return await list_rows(
        tx,
        RespondedClaim,
        _CLAIMS[source],
        set=due.set_id,
        source_id=due.source_id if is_claim else int(due.source_id),
        after=after.position,
        after_claim=after.claim_number,
        limit=limit,
    )


_D, _C = due_responses.c, file_claims.c
_SETS_OF_CLAIMS = Statement(
    select(_C.vendor_id, _C.site_id, _C.set_id)
    .where(among(_C.claim_number, "claim_numbers"))
    .distinct(),
    system=True,
)
_ADDED = ("set_id", "source", "source_id", "ready", "created_at")
_ADD = Statement(insert_into(due_responses, *_ADDED).on_conflict_do_nothing(), system=True)
_ADD_PART = Statement(insert_into(due_responses, *_ADDED, "part"), system=True)
_ADD_OWN = scoped_insert(due_responses, *_ADDED)
_OF_SOURCE = (_D.source == bindparam("of"), _D.source_id == bindparam("of_id"))
_ANY_OF_SOURCE = Statement(select(_D.set_id).where(*_OF_SOURCE).limit(1), system=True)
_READY = Statement(update(due_responses).where(*_OF_SOURCE).values(ready=1), system=True)
_DUE = Statement(
    select_as(due_responses, DueResponse)
    # Part of the SQL text: a partial index serves no statement with a placeholder.
    .where(_D.ready == inlined(1), _D.next_at <= bindparam("now"))
    .order_by(_D.created_at, _D.source, _D.source_id, _D.vendor_id, _D.site_id, _D.set_id)
    .limit(bindparam("limit")),
    system=True,
)
_PUT_OFF = scoped_update(
    due_responses,
    _D.set_id == bindparam("set"),
    *_OF_SOURCE,
    failures=_D.failures + 1,
    next_at=bindparam("until"),
)
_COUNT_FAILED = Statement(
    select(func.count())
    .select_from(due_responses)
    .where(_D.failures > inlined(0), _D.failures >= bindparam("failures_min")),
    system=True,
)
_REMOVE = scoped_delete(due_responses, _D.set_id == bindparam("set"), *_OF_SOURCE)
_PAGE = (
    select(_C.claim_number, _C.position)
    .select_from(file_claims)
    .where(
        _C.set_id == bindparam("set"),
        or_(
            _C.position > bindparam("after"),
            and_(_C.position == bindparam("after"), _C.claim_number > bindparam("after_claim")),
        ),
    )
    .order_by(_C.position, _C.claim_number)
    .limit(bindparam("limit"))
    .distinct()
)
_CLAIMS = {
    ResponseSource.BATCH: scoped_select(
        _PAGE.join(batch_claims, batch_claims.c.claim_number == _C.claim_number).where(
            batch_claims.c.batch_id == bindparam("source_id")
        ),
        file_claims,
        batch_claims,
    ),
    ResponseSource.INBOX: scoped_select(
        _PAGE.join(claim_facts, claim_facts.c.claim_number == _C.claim_number).where(
            claim_facts.c.inbox_id == bindparam("source_id")
        ),
        file_claims,
        claim_facts,
    ),
    ResponseSource.CORRECTION: scoped_select(
        _PAGE.where(_C.claim_number == bindparam("source_id")), file_claims
    ),
}
