"""Delete the rows of one site, a few at a time, and count what is left of it in shared files."""

from collections.abc import Iterator

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    Table,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    tuple_,
)

from clearlane.store.database.database import Tx
from clearlane.store.database.schema import (
    batch_claims,
    batches,
    claims,
    metadata,
    payment_shares,
    payments,
    purged_claim_payments,
)
from clearlane.store.database.schema.core import COMPLETE_STATE
from clearlane.store.database.sql import CLIENT_TABLES, Statement, SystemScope, among, inlined
from clearlane.store.retention import old_payer_files

SCOPE = SystemScope("a site is erased with the rows that are shared with others")
KEPT_TABLES = frozenset(
    {"purged_claim_payments", "console_user_sites", "sftp_accounts", "instances"}
)
"""Sums of shared payments, and who may sign in: without patients. The site itself stays, suspended."""


async def list_claims(tx: Tx, vendor_id: int, site_id: int, limit: int) -> list[str]:
    """Return some claims of a site."""
    rows = await tx.rows(_CLAIMS, vendor=vendor_id, site=site_id, limit=limit)
    return [str(number) for (number,) in rows]


async def count_on_their_way(tx: Tx, vendor_id: int, site_id: int) -> int:
    """Return how many claims of a site wait for a batch, or are in one that is not delivered."""
    row = await tx.row(_ON_THEIR_WAY, vendor=vendor_id, site=site_id)
    return int(row[0]) if row else 0


async def count_open(tx: Tx, vendor_id: int, site_id: int) -> int:
    """Return how many claims of a site are not complete."""
    row = await tx.row(_OPEN, vendor=vendor_id, site=site_id)
    return int(row[0]) if row else 0


async def last_change(tx: Tx, vendor_id: int, site_id: int) -> int:
    """Return when a claim of a site changed last; 0 if it has none."""
    row = await tx.row(_LAST_CHANGE, vendor=vendor_id, site=site_id)
    return int(row[0] or 0) if row else 0


async def delete_rows(tx: Tx, *, table: str, vendor_id: int, site_id: int, limit: int) -> int:
    """Delete some rows of a table that belong to a site; return how many went."""
    return await tx.run(_DELETE[table], vendor=vendor_id, site=site_id, limit=limit)


async def delete_links(tx: Tx, vendor_id: int, site_id: int) -> None:
    """Delete what links claims of a site with each other, so that they can go in any order."""
    await tx.run(_DELETE_LINKS, vendor=vendor_id, site=site_id)


async def delete_own_payments(tx: Tx, vendor_id: int, site_id: int, limit: int) -> int:
    """Delete shares of payments, and payments of which no other site and no other claim has a part."""
    rows = await tx.rows(_SHARES, vendor=vendor_id, site=site_id, limit=limit)
    ids = [str(id) for (id,) in rows]
    if ids:
        await tx.run(_DELETE_SHARES, vendor=vendor_id, site=site_id, payment_ids=ids)
        await old_payer_files.remove_unshared(tx, ids)
    return len(ids)


async def count_shared_payments(tx: Tx, vendor_id: int, site_id: int) -> int:
    """Return how many payments paid claims of a site that are gone, and stay because they paid others too."""
    row = await tx.row(_SHARED_PAYMENTS, vendor=vendor_id, site=site_id)
    return int(row[0]) if row else 0


def _own_tables() -> Iterator[Table]:
    """Yield the tables with rows of sites, those that refer to others first."""
    for table in reversed(metadata.sorted_tables):
        is_own = table.name in CLIENT_TABLES and "site_id" in table.c
        if is_own and table.name not in {*KEPT_TABLES, "claims", "payment_shares"}:
            yield table


def _of_site(table: FromClause) -> ColumnElement[bool]:
    return and_(
        table.c.vendor_id == bindparam("vendor", type_=BigInteger),
        table.c.site_id == bindparam("site", type_=BigInteger),
    )


def _delete(table: Table) -> Statement:
    key = tuple_(*table.primary_key.columns)
    some = select(*table.primary_key.columns).where(_of_site(table))
    return Statement(
        delete(table).where(
            _of_site(table), key.in_(some.limit(bindparam("limit", type_=Integer)))
        ),
        system=True,
    )


SITE_TABLES = tuple(table.name for table in _own_tables())
"""The tables whose rows of a site go once its claims are gone."""
_LIMIT = bindparam("limit", type_=Integer)
_C = claims.c
_CLAIMS = Statement(select(_C.claim_number).where(_of_site(claims)).limit(_LIMIT), system=True)
_OPEN = Statement(
    select(func.count())
    .select_from(claims)
    .where(_of_site(claims), _C.state != inlined(COMPLETE_STATE)),
    system=True,
)
_ON_THEIR_WAY = Statement(
    select(func.count())
    .select_from(claims)
    .where(
        _of_site(claims),
        or_(
            _C.queued > 0,
            _C.claim_number.in_(
                select(batch_claims.c.claim_number)
                .join(batches, batches.c.id == batch_claims.c.batch_id)
                .where(_of_site(batch_claims), batches.c.delivered_at.is_(None))
            ),
        ),
    ),
    system=True,
)
_LAST_CHANGE = Statement(select(func.max(_C.updated_at)).where(_of_site(claims)), system=True)
_DELETE = {name: _delete(metadata.tables[name]) for name in SITE_TABLES}
_DELETE_LINKS = Statement(
    delete(metadata.tables["secondary_drafts"]).where(
        _of_site(metadata.tables["secondary_drafts"])
    ),
    system=True,
)
_SHARES = Statement(
    select(payment_shares.c.payment_id).where(_of_site(payment_shares)).limit(_LIMIT), system=True
)
_DELETE_SHARES = Statement(
    delete(payment_shares).where(
        _of_site(payment_shares), among(payment_shares.c.payment_id, "payment_ids")
    ),
    system=True,
)
_SHARED_PAYMENTS = Statement(
    select(func.count())
    .select_from(
        purged_claim_payments.join(
            payments, payments.c.payment_id == purged_claim_payments.c.payment_id
        )
    )
    .where(_of_site(purged_claim_payments)),
    system=True,
)
