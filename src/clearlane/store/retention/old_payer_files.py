"""Remove what is old of payments, files of payers and the log of filings; they belong to the installation.

A payment stays as long as a claim that it paid. The row of a payer's file stays without its content, so that the file
counts once if it comes again. The log of filings goes by whole checkpoints: a proof needs every leaf under one.
"""

from sqlalchemy import (
    BigInteger,
    Integer,
    Table,
    and_,
    bindparam,
    case,
    delete,
    func,
    not_,
    select,
    update,
)

from clearlane.store.database.database import Tx
from clearlane.store.database.schema import (
    batches,
    claim_facts,
    claim_payments,
    documents,
    inbox,
    legal_holds,
    parked_statements,
    payment_shares,
    payments,
    proof_checkpoints,
    proof_entries,
    provider_adjustments,
    purged_claim_payments,
    unmatched_claim_payments,
)
from clearlane.store.database.sql import Statement, SystemScope, among, inlined
from clearlane.store.retention.legal_holds import HELD_CLAIMS, HELD_SITES

SCOPE = SystemScope("payments and payers' files are removed by age, whoever they are about")
NO_CONTENT = b""
"""The content of a payer's file that was removed."""
PROCESSED_STATES = ("applied", "parked", "quarantined", "discarded", "unknown_sender", "test_file")


async def purge_payments(tx: Tx, before: int, limit: int) -> list[str]:
    """Remove payments that came before a time and paid no claim that is kept; return their ids."""
    ids = [str(id) for (id,) in await tx.rows(_OLD_PAYMENTS, before=before, limit=limit)]
    if ids:
        for statement in _REMOVE_PAYMENTS:
            await tx.run(statement, payment_ids=ids)
    return ids


async def remove_unshared(tx: Tx, payment_ids: list[str]) -> None:
    """Remove those of these payments that pay no claim, wait for none and have no share of any site, with their files' content."""
    rows = await tx.rows(_UNSHARED, payment_ids=payment_ids)
    ids = [str(id) for (id,) in rows]
    if not ids:
        return
    files = [int(id) for (id,) in await tx.rows(_FILES_OF_PAYMENTS, payment_ids=ids)]
    for statement in _REMOVE_PAYMENTS:
        await tx.run(statement, payment_ids=ids)
    stated = {int(id) for (id,) in await tx.rows(_STATED, ids=files)}
    await clear_contents(tx, [id for id in files if id not in stated])


async def list_unshared(
    tx: Tx, vendor_id: int, site_id: int, after: int, limit: int
) -> list[tuple[int, bool]]:
    """Return payers' files that state something of a site's claims, after an id, and whether all that they hold is about it."""
    ids = await tx.rows(_OF_SITE, vendor=vendor_id, site=site_id, after=after, limit=limit)
    files = [int(id) for (id,) in ids]
    if not files:
        return []
    rows = await tx.rows(_WITH_OTHERS, ids=files, vendor=vendor_id, site=site_id)
    others = {int(id) for (id,) in rows}
    return [(id, id not in others) for id in files]


async def clear_contents(tx: Tx, ids: list[int]) -> int:
    """Remove the content of payers' files, but of those that a listed payment or a parked statement needs; return how many."""
    return await tx.run(_CLEAR_UNNEEDED, ids=ids, nothing=NO_CONTENT)


async def purge_contents(tx: Tx, before: int, limit: int) -> list[int]:
    """Remove the content of payers' files that came before a time, and what is parked of them; return their ids."""
    ids = [int(id) for (id,) in await tx.rows(_OLD_CONTENTS, before=before, limit=limit)]
    if ids:
        await tx.run(_REMOVE_PARKED, ids=ids)
        await tx.run(_REMOVE_CONTENT, ids=ids, nothing=NO_CONTENT)
    return ids


async def purge_checkpoints(tx: Tx, before: int, limit: int) -> list[int]:
    """Remove the leaves under checkpoints that were signed before a time and prove nothing that is kept.

    The checkpoints themselves stay: they are the chain that later ones follow. Returns their numbers.
    """
    rows = await tx.rows(_OLD_CHECKPOINTS, before=before, limit=limit)
    numbers = [int(number) for (number,) in rows]
    if numbers:
        await tx.run(_REMOVE_LEAVES, numbers=numbers)
    return numbers


async def count_old(tx: Tx, before: int, kind: str) -> int:
    """Return how many payments, contents or checkpoints would go now."""
    row = await tx.row(_COUNTS[kind], before=before)
    return int(row[0]) if row else 0


_BEFORE = bindparam("before", type_=BigInteger)
_LIMIT = bindparam("limit", type_=Integer)
_P, _I, _E = payments.c, inbox.c, proof_entries.c
_IS_OLD_PAYMENT = and_(
    _P.received_at < _BEFORE,
    ~select(claim_payments.c.payment_id)
    .where(claim_payments.c.payment_id == _P.payment_id)
    .exists(),
    ~select(payment_shares.c.payment_id)
    .where(payment_shares.c.payment_id == _P.payment_id, payment_shares.c.site_id.in_(HELD_SITES))
    .exists(),
)
_OLD_PAYMENTS = Statement(select(_P.payment_id).where(_IS_OLD_PAYMENT).limit(_LIMIT), system=True)
_UNSHARED = Statement(
    select(_P.payment_id).where(
        among(_P.payment_id, "payment_ids"),
        *(
            ~select(table.c.payment_id).where(table.c.payment_id == _P.payment_id).exists()
            for table in (claim_payments, payment_shares, unmatched_claim_payments)
        ),
    ),
    system=True,
)
_PAYMENT_TABLES: tuple[Table, ...] = (
    provider_adjustments,
    unmatched_claim_payments,
    purged_claim_payments,
    payment_shares,
    payments,
)
_REMOVE_PAYMENTS = tuple(
    Statement(delete(table).where(among(table.c.payment_id, "payment_ids")), system=True)
    for table in _PAYMENT_TABLES
)

# The file of a payment is needed as long as the payment is listed.
_IS_OLD_CONTENT = and_(
    _I.state.in_([inlined(state) for state in PROCESSED_STATES]),
    _I.received_at < _BEFORE,
    func.length(_I.content) > 0,
    ~select(_P.payment_id).where(_P.inbox_id == _I.id).exists(),
    _I.id.notin_(
        select(claim_facts.c.inbox_id).where(
            claim_facts.c.inbox_id.is_not(None), claim_facts.c.claim_number.in_(HELD_CLAIMS)
        )
    ),
    _I.id.notin_(
        select(claim_facts.c.inbox_id)
        .join(
            legal_holds,
            and_(
                legal_holds.c.vendor_id == claim_facts.c.vendor_id,
                legal_holds.c.site_id == claim_facts.c.site_id,
            ),
        )
        .where(
            claim_facts.c.inbox_id.is_not(None),
            legal_holds.c.released_at.is_(None),
            legal_holds.c.claim_number == inlined(""),
        )
    ),
)
_OLD_CONTENTS = Statement(select(_I.id).where(_IS_OLD_CONTENT).limit(_LIMIT), system=True)
_REMOVE_PARKED = Statement(
    delete(parked_statements).where(among(parked_statements.c.inbox_id, "ids"))
)
_REMOVE_CONTENT = Statement(
    update(inbox).where(among(_I.id, "ids")).values(content=bindparam("nothing"))
)

_F = claim_facts.c
_IS_OF_SITE = and_(
    _F.vendor_id == bindparam("vendor", type_=BigInteger),
    _F.site_id == bindparam("site", type_=BigInteger),
)
_OF_SITE = Statement(
    select(_F.inbox_id)
    .where(_IS_OF_SITE, _F.inbox_id > bindparam("after", type_=BigInteger))
    .distinct()
    .order_by(_F.inbox_id)
    .limit(_LIMIT),
    system=True,
)
_WITH_OTHERS = Statement(
    select(_F.inbox_id).where(among(_F.inbox_id, "ids"), not_(_IS_OF_SITE)).distinct(), system=True
)
_CLEAR_UNNEEDED = Statement(
    update(inbox)
    .where(
        among(_I.id, "ids"),
        func.length(_I.content) > 0,
        ~select(_P.payment_id).where(_P.inbox_id == _I.id).exists(),
        ~select(parked_statements.c.id).where(parked_statements.c.inbox_id == _I.id).exists(),
    )
    .values(content=bindparam("nothing"))
)
_STATED = Statement(select(_F.inbox_id).where(among(_F.inbox_id, "ids")).distinct(), system=True)
_FILES_OF_PAYMENTS = Statement(
    select(_P.inbox_id).where(among(_P.payment_id, "payment_ids")).distinct()
)

_IS_KEPT = case(
    (
        select(batches.c.id).where(batches.c.id == _E.batch_id).exists()
        | select(_I.id).where(_I.id == _E.inbox_id, func.length(_I.content) > 0).exists()
        | select(documents.c.document_id).where(documents.c.document_id == _E.document_id).exists(),
        1,
    ),
    else_=0,
)
_SIGNED_BEFORE = (
    select(func.max(proof_checkpoints.c.number))
    .where(proof_checkpoints.c.at < _BEFORE)
    .scalar_subquery()
)
_PROVING_NOTHING = (
    select(_E.checkpoint)
    .where(_E.checkpoint <= _SIGNED_BEFORE)
    .group_by(_E.checkpoint)
    .having(func.sum(_IS_KEPT) == 0)
)
_OLD_CHECKPOINTS = Statement(_PROVING_NOTHING.order_by(_E.checkpoint).limit(_LIMIT), system=True)
_REMOVE_LEAVES = Statement(delete(proof_entries).where(among(_E.checkpoint, "numbers")))
_COUNTS = {
    "payments": Statement(
        select(func.count()).select_from(payments).where(_IS_OLD_PAYMENT), system=True
    ),
    "contents": Statement(
        select(func.count()).select_from(inbox).where(_IS_OLD_CONTENT), system=True
    ),
    "checkpoints": Statement(
        select(func.count()).select_from(_PROVING_NOTHING.subquery()), system=True
    ),
}
