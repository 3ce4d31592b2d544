"""The rows of one site, for an export: pages of claims with what belongs to each, payments, files, enrollments, questions.

Everything is read in the scope of the site. Sealed values stay sealed; whoever exports opens them.
"""

from collections.abc import Sequence
from typing import (
    Any,
    NamedTuple,
)

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Integer,
    Table,
    Text,
    bindparam,
    select,
)

from clearlane.kernel.client_file import FileState
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import (
    batch_claims,
    batches,
    claim_events,
    claim_notes,
    claim_payments,
    claims,
    client_files,
    enrollment_events,
    enrollment_payers,
    enrollments,
    inquiries,
    inquiry_requests,
    payment_shares,
    payments,
    work_items,
)
from clearlane.store.database.sql import (
    AnyColumn,
    AnySelect,
    Statement,
    among,
    inlined,
    scoped_select,
)

Row = dict[str, Any]  # Any: the columns of many tables


class SitePage(NamedTuple):
    """A page of rows, each with its columns by name."""

    rows: list[Row]
    after: str | None
    """The key of the last row; None if there is none."""


async def list_claims(tx: Tx, after: str, limit: int) -> SitePage:
    """Return claims of the site after a claim number."""
    return await _page(tx, _CLAIMS, "claim_number", after=after, limit=limit)


async def list_payments(tx: Tx, after: str, limit: int) -> SitePage:
    """Return the site's shares of payments after a payment id, with the payments."""
    return await _page(tx, _PAYMENTS, "payment_id", after=after, limit=limit)


async def list_files(tx: Tx, after: str, limit: int) -> SitePage:
    """Return the site's files after a file id."""
    return await _page(tx, _FILES, "file_id", after=after, limit=limit)


async def list_enrollments(tx: Tx, after: str, limit: int) -> SitePage:
    """Return the site's enrollments after an id."""
    return await _page(tx, _ENROLLMENTS, "id", after=after, limit=limit)


async def list_requests(tx: Tx, after: str, limit: int) -> SitePage:
    """Return the site's questions to payers after the id of a request."""
    return await _page(tx, _REQUESTS, "id", after=int(after or 0), limit=limit)


async def list_parts(tx: Tx, part: str, keys: Sequence[object]) -> list[Row]:
    """Return the rows of a table that belong to some claims, payments, enrollments or requests."""
    if not keys:
        return []
    statement, names = _PARTS[part]
    rows = await tx.rows(statement, keys=list(keys))
    return [dict(zip(names, row, strict=True)) for row in rows]


async def _page(
    tx: Tx, paged: tuple[Statement, tuple[str, ...]], key: str, *, after: object, limit: int
) -> SitePage:
    statement, names = paged
    rows = [
        dict(zip(names, row, strict=True))
        for row in await tx.rows(statement, after=after, limit=limit)
    ]
    return SitePage(rows, str(rows[-1][key]) if rows else None)


def _pages(
    query: AnySelect,
    key: AnyColumn,
    after: BindParameter[str] | BindParameter[int],
    *tables: Table,
) -> tuple[Statement, tuple[str, ...]]:
    names = tuple(column.key for column in query.selected_columns)
    core = query.where(key > after).order_by(key).limit(bindparam("limit", type_=Integer))
    return scoped_select(core, *tables), tuple(str(name) for name in names)


def _named(table: Table, *left_out: str) -> list[AnyColumn]:
    """Return the columns of a table but those of its owner and of how it is found."""
    hidden = {"vendor_id", "site_id", *left_out}
    return [column for column in table.c if column.name not in hidden]


_AFTER = bindparam("after", type_=Text)
_CLAIMS = _pages(
    select(
        *_named(
            claims, "vendor_claim_hash", "content_hash", "account_key", "patient_key", "name_key", "member_key",
            "payer_number_key", "queued", "header",
        )
    ),
    claims.c.claim_number,
    _AFTER,
    claims,
)  # fmt: skip
_PAYMENTS = _pages(
    select(
        *_named(payment_shares),
        payments.c.payer_id,
        payments.c.type,
        payments.c.amount_cents,
        payments.c.effective_day,
        payments.c.method,
        payments.c.received_at,
        payments.c.payload,
    ).join_from(payment_shares, payments, payments.c.payment_id == payment_shares.c.payment_id),
    payment_shares.c.payment_id,
    _AFTER,
    payment_shares,
)
_FILES = _pages(
    select(*_named(client_files, "digest", "holder", "lease_until", "attempts")).where(
        client_files.c.state != inlined(FileState.UPLOADING.value)
    ),
    client_files.c.file_id,
    _AFTER,
    client_files,
)
_ENROLLMENTS = _pages(
    select(enrollments.c.id, enrollments.c.created_at, enrollments.c.payload),
    enrollments.c.id,
    _AFTER,
    enrollments,
)
_REQUESTS = _pages(
    select(*_named(inquiry_requests)),
    inquiry_requests.c.id,
    bindparam("after", type_=BigInteger),
    inquiry_requests,
)


def _part(
    query: AnySelect, key: AnyColumn, order: AnyColumn, *tables: Table
) -> tuple[Statement, tuple[str, ...]]:
    names = tuple(str(column.key) for column in query.selected_columns)
    return scoped_select(query.where(among(key, "keys")).order_by(order), *tables), names


_PARTS = {
    "claim_events": _part(
        select(*_named(claim_events, "id")),
        claim_events.c.claim_number,
        claim_events.c.id,
        claim_events,
    ),
    "claim_notes": _part(
        select(*_named(claim_notes)), claim_notes.c.claim_number, claim_notes.c.note_id, claim_notes
    ),
    "work_items": _part(
        select(*_named(work_items)),
        work_items.c.claim_number,
        work_items.c.claim_number,
        work_items,
    ),
    "sendings": _part(
        select(
            batch_claims.c.claim_number,
            batch_claims.c.attempt,
            batches.c.name,
            batches.c.control,
            batches.c.state,
            batches.c.delivered_at,
        ).join_from(batch_claims, batches, batches.c.id == batch_claims.c.batch_id),
        batch_claims.c.claim_number,
        batch_claims.c.attempt,
        batch_claims,
    ),
    "claim_payments": _part(
        select(*_named(claim_payments, "identity", "reverses")),
        claim_payments.c.payment_id,
        claim_payments.c.number,
        claim_payments,
    ),
    "enrollment_payers": _part(
        select(*_named(enrollment_payers)),
        enrollment_payers.c.enrollment_id,
        enrollment_payers.c.payer_id,
        enrollment_payers,
    ),
    "enrollment_events": _part(
        select(*_named(enrollment_events, "id")),
        enrollment_events.c.enrollment_id,
        enrollment_events.c.id,
        enrollment_events,
    ),
    "inquiries": _part(
        select(
            inquiries.c.inquiry_request_id,
            inquiries.c.number,
            inquiries.c.payer_id,
            inquiries.c.type,
            inquiries.c.state,
            inquiries.c.answer,
            inquiries.c.answered_at,
            inquiries.c.inquiry,
            inquiries.c.response,
        ),
        inquiries.c.inquiry_request_id,
        inquiries.c.number,
        inquiries,
    ),
}
