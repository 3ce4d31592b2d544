"""Data keys of past months: whether anything is still sealed with one, and its destruction.

Every sealed column is looked through, so that a key is destroyed only if nothing at all needs it. Without the key no copy
of what was sealed with it can be read, in whatever file or backup it is, unless that copy has the key as well.
"""

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Integer,
    LargeBinary,
    Table,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
)

from clearlane.kernel.retention_kinds import KeyClass
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claims, data_keys, metadata
from clearlane.store.database.sql import Statement, SystemScope, select_as

SCOPE = SystemScope("data keys belong to the installation")
KEY_ID_AT, KEY_ID_BYTES = 2, 8
"""Where a sealed value names its key, counted from 1 as SQL does."""
KEPT_MONTHS = 2
"""A key is used in its month; what was begun then may be committed somewhat later, and by a clock that is behind."""


class PastKey(NamedTuple):
    """A data key that seals nothing new."""

    id: int
    vendor_id: int
    site_id: int
    month: str
    retention: str


async def list_past(tx: Tx, month: str, *, after: tuple[str, int], limit: int) -> list[PastKey]:
    """Return the keys of months that ended well before this one, oldest first."""
    before = month
    for _ in range(KEPT_MONTHS - 1):
        before = _month_before(before)
    after_month, after_id = after
    return await list_rows(
        tx, PastKey, _PAST, before=before, after_month=after_month, after_id=after_id, limit=limit
    )


async def is_in_use(tx: Tx, key: PastKey) -> bool:
    """Return whether anything is sealed with a key.

    Claims come first: as long as a claim of the key's month is there, the rest need not be looked through.
    """
    sealed_with = key.id.to_bytes(KEY_ID_BYTES, "big")
    is_of_claims = key.retention == KeyClass.RECORDS and key.site_id
    if is_of_claims and await tx.row(
        _CLAIM_OF_MONTH,
        vendor=key.vendor_id,
        site=key.site_id,
        month=f"{key.month}-01",
        month_end=f"{key.month}-99",
    ):
        return True
    for statement in _USES[_owner_columns(key), key.retention]:
        values: dict[str, object] = {"sealed_with": sealed_with}
        if key.vendor_id:
            values["vendor"] = key.vendor_id
        if key.site_id:
            values["site"] = key.site_id
        if await tx.row(statement, **values):
            return True
    return False


async def destroy(tx: Tx, key: PastKey) -> None:
    """Destroy a key."""
    await tx.run(_DESTROY, key=key.id)


async def destroy_of_site(tx: Tx, vendor_id: int, site_id: int) -> int:
    """Destroy every key of a site; return how many there were."""
    return await tx.run(_DESTROY_OF_SITE, vendor=vendor_id, site=site_id)


def _month_before(month: str) -> str:
    year, number = (int(part) for part in month.split("-"))
    return f"{year - (number == 1):04}-{number - 1 or 12:02}"


def _owner_columns(key: PastKey) -> tuple[str, ...]:
    if key.site_id:
        return ("vendor_id", "site_id")
    return ("vendor_id",) if key.vendor_id else ()


SEALED: Mapping[str, tuple[KeyClass, tuple[str, ...]]] = {
    "batches": (KeyClass.RECORDS, ("content",)),
    "claim_drafts": (KeyClass.SHORT, ("payload",)),
    "claim_facts": (KeyClass.RECORDS, ("payload",)),
    "claim_notes": (KeyClass.RECORDS, ("payload",)),
    "claims": (KeyClass.RECORDS, ("payload", "header", "status")),
    "client_file_parts": (KeyClass.SHORT, ("content",)),
    "client_file_sets": (KeyClass.RECORDS, ("payload",)),
    "console_users": (KeyClass.ACCOUNT, ("totp_secret",)),
    "documents": (KeyClass.RECORDS, ("payload",)),
    "enrollment_payers": (KeyClass.ACCOUNT, ("reason",)),
    "enrollments": (KeyClass.ACCOUNT, ("payload",)),
    "file_inquiries": (KeyClass.SHORT, ("payload",)),
    "idempotent_answers": (KeyClass.SHORT, ("answer",)),
    "inbox": (KeyClass.RECORDS, ("content",)),
    "inquiries": (KeyClass.SHORT, ("inquiry", "response")),
    "inquiry_requests": (KeyClass.SHORT, ("payload",)),
    "parked_statements": (KeyClass.RECORDS, ("payload",)),
    "payment_shares": (KeyClass.RECORDS, ("note",)),
    "payments": (KeyClass.RECORDS, ("payload",)),
    "provider_adjustments": (KeyClass.RECORDS, ("payload",)),
    "routes": (KeyClass.ACCOUNT, ("secrets",)),
    "sandbox_agenda": (KeyClass.ACCOUNT, ("value",)),
    "sandbox_ledger": (KeyClass.ACCOUNT, ("value",)),
    "sandbox_state": (KeyClass.ACCOUNT, ("value",)),
    "secondary_drafts": (KeyClass.RECORDS, ("payload",)),
    "sftp_host_keys": (KeyClass.ACCOUNT, ("private_key",)),
    "shadow_claims": (KeyClass.RECORDS, ("x12",)),
    "staged_claims": (KeyClass.SHORT, ("payload",)),
    "unmatched_claim_payments": (KeyClass.RECORDS, ("payload",)),
    "webhook_deliveries": (KeyClass.SHORT, ("answer",)),
    "webhook_endpoints": (KeyClass.ACCOUNT, ("payload",)),
    "work_items": (KeyClass.RECORDS, ("payload",)),
}
"""The columns with sealed values, and the class of the keys that seal them."""
NOT_SEALED = frozenset(
    {
        ("audit", "hash"), ("audit", "prev"), ("audit_head", "hash"), ("api_key_secrets", "secret_hash"), ("batches", "part_digests"),
        ("claim_counts", "content"), ("claim_summaries", "content"), ("console_sessions", "session_hash"), ("data_keys", "wrapped"),
        ("installation_keys", "wrapped"), ("instances", "token_hash"), ("login_urls", "code_hash"), ("proof_entries", "content"),
        ("proof_stamps", "content"), ("recovery_codes", "code_hash"), ("sign_in_links", "code_hash"), ("vendor_secrets", "secret_hash"),
    }
)  # fmt: skip
"""Other binary columns: hashes, sums, and keys that the master key wraps."""


def _uses(table: Table, columns: tuple[str, ...], owners: tuple[str, ...]) -> Statement:
    """Return the SELECT that finds a value of an owner that is sealed with a key."""
    with_key = [
        _key_of(table.c[name]) == bindparam("sealed_with", type_=LargeBinary) for name in columns
    ]
    own = [table.c[name] == bindparam(_VALUES[name], type_=BigInteger) for name in owners]
    return Statement(
        select(table.c[columns[0]].is_not(None)).where(or_(*with_key), *own).limit(1), system=True
    )


def _key_of(column: Column[bytes]) -> ColumnElement[bytes]:
    return func.substr(column, KEY_ID_AT, KEY_ID_BYTES, type_=LargeBinary)


def _owners_of(table: Table) -> tuple[str, ...]:
    return tuple(name for name in _VALUES if name in table.c)


_VALUES = {"vendor_id": "vendor", "site_id": "site"}
_USES: Mapping[tuple[tuple[str, ...], str], list[Statement]] = {
    (owners, of.value): [
        _uses(table, columns, owners)
        for name, (sealed_as, columns) in SEALED.items()
        for table in (metadata.tables[name],)
        # What belongs to a site may be sealed for it or, by an older rule, for its vendor.
        if sealed_as is of and set(owners) <= set(_owners_of(table))
    ]
    for owners in ((), ("vendor_id",), ("vendor_id", "site_id"))
    for of in KeyClass
}
_K = data_keys.c
_PAST = Statement(
    select_as(data_keys, PastKey)
    .where(
        _K.month < bindparam("before"),
        or_(
            _K.month > bindparam("after_month"),
            and_(
                _K.month == bindparam("after_month"),
                _K.id > bindparam("after_id", type_=BigInteger),
            ),
        ),
    )
    .order_by(_K.month, _K.id)
    .limit(bindparam("limit", type_=Integer))
)
_CLAIM_OF_MONTH = Statement(
    select(claims.c.claim_number)
    .where(
        claims.c.vendor_id == bindparam("vendor", type_=BigInteger),
        claims.c.site_id == bindparam("site", type_=BigInteger),
        claims.c.created_day >= bindparam("month"),
        claims.c.created_day < bindparam("month_end"),
    )
    .limit(1),
    system=True,
)
_DESTROY = Statement(delete(data_keys).where(_K.id == bindparam("key", type_=BigInteger)))
_DESTROY_OF_SITE = Statement(
    delete(data_keys).where(
        _K.vendor_id == bindparam("vendor", type_=BigInteger),
        _K.site_id == bindparam("site", type_=BigInteger),
    )
)
