"""Remove claims that are kept no longer, over all clients, with everything that names them.

Claims that were made from each other (replaced, sent again, billed to the next payer) go together, once the youngest of
them may go and none is held. What a payment and a batch lost is counted, so that they still add up.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import (
    BigInteger,
    Integer,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)

from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import (
    NEVER_SENT_STATES,
    batch_claims,
    batches,
    claim_drafts,
    claim_ids,
    claim_payments,
    claims,
    client_file_sets,
    file_claims,
    file_refusals,
    inquiries,
    metadata,
    provider_adjustments,
    purged_batch_claims,
    purged_claim_payments,
    secondary_drafts,
    shadow_answers,
)
from clearlane.store.database.sql import Statement, SystemScope, among, inlined, insert_into
from clearlane.store.retention.legal_holds import HELD_CLAIMS, HELD_SITES, site_not_held

SCOPE = SystemScope("claims are removed by age, whoever sent them")
FAMILY_CLAIMS_MAX = 1_000
"""Steps in which the claims of one family are looked up; a longer family stays."""


class OldClaim(NamedTuple):
    """A claim as its age and its relations are judged."""

    claim_number: str
    vendor_id: int
    site_id: int
    updated_at: int
    predecessor_id: str | None
    successor_id: str | None
    prior_payer_claim: str | None

    @property
    def relations(self) -> set[str]:
        """The claims that its own row names."""
        named = (self.predecessor_id, self.successor_id, self.prior_payer_claim)
        return {one for one in named if one}


@dataclass(frozen=True, slots=True)
class OldClaims:
    """A page of old claims: those that may go, and where the next page begins."""

    numbers: list[str]
    after: tuple[int, str] | None
    """The last claim that was looked at; None if there is no more."""


@dataclass(slots=True)
class _Families:
    """Claims that are related to those of a page."""

    known: dict[str, OldClaim] = field(default_factory=dict)
    links: dict[str, set[str]] = field(default_factory=dict)

    def add(self, found: Iterable[OldClaim], sent_on: Iterable[tuple[str, str]]) -> set[str]:
        """Add claims with their relations; return the numbers that are not known yet."""
        for one in found:
            self.known[one.claim_number] = one
            for other in one.relations:
                self._link(one.claim_number, other)
        for first, second in sent_on:
            self._link(first, second)
        return self.links.keys() - self.known.keys()

    def _link(self, one: str, other: str) -> None:
        self.links.setdefault(one, set()).add(other)
        self.links.setdefault(other, set()).add(one)

    def members(self, number: str) -> set[str]:
        """Return a claim with all that it is related to, however far."""
        found, waiting = {number}, [number]
        while waiting:
            for other in self.links.get(waiting.pop(), ()):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found


async def find_old(
    tx: Tx, vendor_id: int, before: int, *, after: tuple[int, str] = (0, ""), limit: int
) -> OldClaims:
    """Return a page of a vendor's claims that changed last before a time, with those that go with them."""
    at, number = after
    page = await list_rows(
        tx, OldClaim, _OLD, vendor=vendor_id, before=before, at=at, number=number, limit=limit
    )
    if not page:
        return OldClaims([], None)
    families = _Families()
    missing = families.add(page, await _sent_on(tx, [one.claim_number for one in page]))
    steps = 0
    while missing and steps < FAMILY_CLAIMS_MAX:
        steps += 1
        found = await list_rows(tx, OldClaim, _SOME, claim_numbers=sorted(missing))
        gone = missing - {one.claim_number for one in found}
        for purged in gone:
            for other in families.links.pop(purged, set()):
                families.links[other].discard(purged)
        missing = families.add(found, await _sent_on(tx, sorted(missing - gone)))
    held = {str(one) for (one,) in await tx.rows(_HELD, claim_numbers=sorted(families.known))}
    going: dict[str, None] = {}
    for one in page:
        members = families.members(one.claim_number)
        if all(
            other in families.known
            and families.known[other].updated_at < before
            and other not in held
            for other in members
        ):
            going |= dict.fromkeys(sorted(members))
    last = page[-1]
    return OldClaims(list(going), (last.updated_at, last.claim_number))


async def remove(tx: Tx, numbers: list[str]) -> None:
    """Remove claims of any client with every row that names them."""
    lost = await tx.rows(_LOST_PAYMENTS, claim_numbers=numbers)
    names = ("payment_id", "vendor_id", "site_id", "claims", "paid_cents")
    await tx.many(_NOTE_PAYMENT, [dict(zip(names, row, strict=True)) for row in lost])
    written = await tx.rows(_LOST_BATCHES, claim_numbers=numbers)
    await tx.many(_NOTE_BATCH, [{"batch_id": id, "claims": count} for id, count in written])
    ids = await tx.rows(_IDS, claim_numbers=numbers)
    keys = ("vendor", "site", "hash", "claim_number")
    await tx.many(_REMOVE_ID, [dict(zip(keys, row, strict=True)) for row in ids])
    for statement in (_UNLINK_ADJUSTMENTS, *_REMOVE):
        await tx.run(statement, claim_numbers=numbers)


async def purge_sets(tx: Tx, vendor_id: int, before: int, limit: int) -> int:
    """Remove sets of a vendor's files that came before a time and have no claims any more; return how many."""
    rows = await tx.rows(_OLD_SETS, vendor=vendor_id, before=before, limit=limit)
    ids = [str(id) for (id,) in rows]
    if ids:
        await tx.run(_REMOVE_STATEMENTS, sets=ids)
        await tx.run(_REMOVE_SETS, sets=ids)
    return len(ids)


async def purge_batches(tx: Tx, before: int, limit: int) -> int:
    """Remove files of claims that were written before a time and hold no claim that is kept; return how many."""
    rows = await tx.rows(_OLD_BATCHES, before=before, limit=limit)
    ids = [int(id) for (id,) in rows]
    if ids:
        for statement in _REMOVE_BATCHES:
            await tx.run(statement, batch_ids=ids)
    return len(ids)


async def remove_empty_batches(tx: Tx) -> None:
    """Remove files of claims whose claims are all gone."""
    rows = await tx.rows(_EMPTY_BATCHES)
    ids = [int(id) for (id,) in rows]
    if ids:
        for statement in _REMOVE_BATCHES:
            await tx.run(statement, batch_ids=ids)


async def count_old_batches(tx: Tx, before: int) -> int:
    """Return how many files of claims would go now."""
    row = await tx.row(_COUNT_BATCHES, before=before)
    return int(row[0]) if row else 0


async def _sent_on(tx: Tx, numbers: list[str]) -> list[tuple[str, str]]:
    """Return which of these claims were billed to the next payer, and as which claim."""
    rows = await tx.rows(_SENT_ON, claim_numbers=numbers)
    return [(str(first), str(second)) for first, second in rows]


_C, _D = claims.c, secondary_drafts.c
_ROW = select(*(_C[name] for name in OldClaim._fields))
_BEFORE = bindparam("before", type_=BigInteger)
_OLD = Statement(
    _ROW.where(
        _C.vendor_id == bindparam("vendor", type_=BigInteger),
        _C.updated_at < _BEFORE,
        or_(
            _C.updated_at > bindparam("at", type_=BigInteger),
            and_(_C.updated_at == bindparam("at"), _C.claim_number > bindparam("number")),
        ),
        _C.updated_at >= bindparam("at"),
        # These have a period of their own.
        _C.state.notin_([inlined(state) for state in NEVER_SENT_STATES]),
        site_not_held(claims),
    )
    .order_by(_C.updated_at, _C.claim_number)
    .limit(bindparam("limit", type_=Integer)),
    system=True,
)
_SOME = Statement(_ROW.where(among(_C.claim_number, "claim_numbers")), system=True)
_SENT_ON = Statement(
    select(_D.claim_number, _D.secondary_claim)
    .select_from(secondary_drafts.join(claims, _C.claim_number == _D.claim_number))
    .where(
        among(_C.claim_number, "claim_numbers"),
        _D.vendor_id == _C.vendor_id,
        _D.site_id == _C.site_id,
        _D.secondary_claim.is_not(None),
    ),
    system=True,
)
_HELD = Statement(
    select(_C.claim_number).where(
        among(_C.claim_number, "claim_numbers"),
        or_(_C.claim_number.in_(HELD_CLAIMS), _C.site_id.in_(HELD_SITES)),
    ),
    system=True,
)

_P, _B = claim_payments.c, batch_claims.c
_LOST_PAYMENTS = Statement(
    select(
        _P.payment_id,
        _P.vendor_id,
        _P.site_id,
        func.count().label("claims"),
        func.sum(_P.paid_cents).label("paid_cents"),
    )
    .where(among(_P.claim_number, "claim_numbers"))
    .group_by(_P.payment_id, _P.vendor_id, _P.site_id),
    system=True,
)
_PURGED = insert_into(purged_claim_payments, "payment_id", "claims", "paid_cents")
_NOTE_PAYMENT = Statement(
    _PURGED.on_conflict_do_update(
        index_elements=["payment_id", "vendor_id", "site_id"],
        set_={
            "claims": purged_claim_payments.c.claims + _PURGED.excluded.claims,
            "paid_cents": purged_claim_payments.c.paid_cents + _PURGED.excluded.paid_cents,
        },
    ),
    system=True,
)
_LOST_BATCHES = Statement(
    select(_B.batch_id, func.count())
    .where(among(_B.claim_number, "claim_numbers"))
    .group_by(_B.batch_id),
    system=True,
)
_PURGED_BATCH = insert_into(purged_batch_claims, "batch_id", "claims")
_NOTE_BATCH = Statement(
    _PURGED_BATCH.on_conflict_do_update(
        index_elements=["batch_id"],
        set_={"claims": purged_batch_claims.c.claims + _PURGED_BATCH.excluded.claims},
    )
)
_UNLINK_ADJUSTMENTS = Statement(
    update(provider_adjustments)
    .where(among(provider_adjustments.c.claim_number, "claim_numbers"))
    .values(claim_number=None)
)
# The rest of a vendor's claim ids is found by the claims, while these are still there.
_IDS = Statement(
    select(_C.vendor_id, _C.site_id, _C.vendor_claim_hash, _C.claim_number).where(
        among(_C.claim_number, "claim_numbers")
    ),
    system=True,
)
_REMOVE_ID = Statement(
    delete(claim_ids).where(
        claim_ids.c.vendor_id == bindparam("vendor"),
        claim_ids.c.site_id == bindparam("site"),
        claim_ids.c.vendor_claim_hash == bindparam("hash"),
        claim_ids.c.claim_number == bindparam("claim_number"),
    ),
    system=True,
)
# Found by another key, gone by the id above, or without a row of its own.
_OTHERWISE = {"claim_ids", "claims", "provider_adjustments", "staged_claims", "webhook_deliveries"}
_NAMING = [
    table
    for table in reversed(metadata.sorted_tables)
    if "claim_number" in table.c and table.name not in {*_OTHERWISE, "legal_holds"}
]
_REMOVE = (
    Statement(
        delete(shadow_answers).where(among(shadow_answers.c.subject_id, "claim_numbers")),
        system=True,
    ),
    Statement(
        delete(claim_drafts).where(among(claim_drafts.c.draft_id, "claim_numbers")), system=True
    ),
    *(
        Statement(delete(table).where(among(table.c.claim_number, "claim_numbers")), system=True)
        for table in (*_NAMING, claims)
    ),
)

_S, _F = client_file_sets.c, file_claims.c
_OLD_SETS = Statement(
    select(_S.set_id)
    .where(
        _S.vendor_id == bindparam("vendor", type_=BigInteger),
        _S.created_at < _BEFORE,
        _S.released == 1,
        site_not_held(client_file_sets),
        ~select(_F.claim_number)
        .where(_F.vendor_id == _S.vendor_id, _F.site_id == _S.site_id, _F.set_id == _S.set_id)
        .exists(),
    )
    .limit(bindparam("limit", type_=Integer)),
    system=True,
)
_REMOVE_STATEMENTS = Statement(
    delete(shadow_answers).where(among(shadow_answers.c.subject_id, "sets")), system=True
)
_REMOVE_SETS = Statement(delete(client_file_sets).where(among(_S.set_id, "sets")), system=True)

_IS_OLD_BATCH = and_(
    batches.c.created_at < _BEFORE,
    ~select(_B.batch_id).where(_B.batch_id == batches.c.id).exists(),
    ~select(inquiries.c.batch_id).where(inquiries.c.batch_id == batches.c.id).exists(),
)
_OLD_BATCHES = Statement(
    select(batches.c.id).where(_IS_OLD_BATCH).limit(bindparam("limit", type_=Integer)), system=True
)
_COUNT_BATCHES = Statement(
    select(func.count()).select_from(batches).where(_IS_OLD_BATCH), system=True
)
_EMPTY_BATCHES = Statement(
    select(purged_batch_claims.c.batch_id).where(
        ~select(_B.batch_id).where(_B.batch_id == purged_batch_claims.c.batch_id).exists()
    ),
    system=True,
)
_REMOVE_BATCHES = (
    Statement(delete(file_refusals).where(among(file_refusals.c.batch_id, "batch_ids"))),
    Statement(
        delete(purged_batch_claims).where(among(purged_batch_claims.c.batch_id, "batch_ids"))
    ),
    Statement(delete(batches).where(among(batches.c.id, "batch_ids"))),
)
