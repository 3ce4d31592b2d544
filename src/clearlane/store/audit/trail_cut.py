"""Where the audit trail begins: at its first row, or behind the old rows that a signed record says were removed.

Rows are removed only as a prefix, a page at a time, each in the transaction that signs a record of all that were removed so
far: it names the last of them with its hash, which the first row that is left follows. The database itself refuses to delete
any other row. Jobs decide what is old.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple, Protocol

import msgspec
from sqlalchemy import BigInteger, Integer, bindparam, delete, func, select, update

from clearlane.kernel.clock import from_micros, moment_text
from clearlane.proofs.signing import has_signature, public_key_of, with_signature
from clearlane.store.audit.audit_chain import ChainHead
from clearlane.store.database.database import Row, Tx
from clearlane.store.database.schema import audit, audit_cut
from clearlane.store.database.sql import Statement


class TrailKeys(Protocol):
    """The keys of an installation that its trail needs."""

    @property
    def audit_key(self) -> bytes:
        """The key of the chain."""

    @property
    def proof_seed(self) -> bytes:
        """The seed of the key that signs."""


class TrailCut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The signed record of what was removed. Hash, key and signature are in hexadecimal digits."""

    seq: int
    """The last row that was removed; all before it were removed too."""
    hash: str
    until: str
    """When that row was written."""
    signed_at: str
    key: str = ""
    signature: str = ""

    @property
    def head(self) -> ChainHead:
        """What the first row that is left follows."""
        return ChainHead(self.seq, bytes.fromhex(self.hash))


class OldRow(NamedTuple):
    """A row of the trail that may be removed."""

    seq: int
    at: int
    hash: bytes
    action: str
    ids: str


class CutFault(Exception):
    """The trail begins behind its first row, and no record says so that this installation signed."""


async def read_cut(tx: Tx, keys: TrailKeys) -> TrailCut | None:
    """Return the record of what was removed, None if nothing was. Raises :class:`CutFault`."""
    return _checked(await tx.row(_READ), keys)


async def cut_page(
    tx: Tx, keys: TrailKeys, *, before: int, limit: int, now: datetime
) -> Sequence[OldRow]:
    """Remove the first rows, up to one that was written after a time; the last row of the trail always stays."""
    cut = _checked(await tx.row(_LOCK), keys)
    rows = await tx.rows(_FIRST, after=cut.seq if cut else 0, size=limit + 1)
    old = list(takewhile(lambda row: row.at < before, (OldRow(*row) for row in rows[:-1])))
    if old:
        last = old[-1]
        unsigned = TrailCut(
            seq=last.seq,
            hash=last.hash.hex(),
            until=moment_text(from_micros(last.at)),
            signed_at=moment_text(now),
        )
        record = _ENCODER.encode(with_signature(keys.proof_seed, unsigned)).decode()
        await tx.run(_MOVE, new_seq=last.seq, new_record=record)
        await tx.run(_REMOVE, last=last.seq)
    return old


async def newest_at(tx: Tx) -> int:
    """Return when the last row of the trail was written; 0 without a row."""
    row = await tx.row(_NEWEST)
    return int(row[0]) if row else 0


async def count_old(tx: Tx, before: int) -> int:
    """Return how many of the first rows were written before a time."""
    row = await tx.row(_COUNT, before=before)
    return int(row[0]) if row else 0


def _checked(found: Row | None, keys: TrailKeys) -> TrailCut | None:
    if found is None:
        raise CutFault("The row that says where the trail begins is missing.")
    seq, record = found
    if (seq, record) == NOTHING_REMOVED:
        return None
    try:
        cut = _DECODER.decode(record)
        is_own = cut.key == public_key_of(keys.proof_seed).hex() and has_signature(cut)
    except (msgspec.MsgspecError, TypeError):
        is_own = False
    if not is_own or cut.seq != seq:
        raise CutFault(
            f"Row 1 is missing: that rows up to {seq} were removed is not signed by this installation."
        )
    return cut


NOTHING_REMOVED = (0, "")
"""What the row holds as long as the trail begins at its first row."""
_ENCODER, _DECODER = msgspec.json.Encoder(), msgspec.json.Decoder(TrailCut)
_CUT = select(audit_cut.c.seq, audit_cut.c.record).where(audit_cut.c.id == 1)
_READ, _LOCK = Statement(_CUT), Statement(_CUT.with_for_update())
_FIRST = Statement(
    select(audit.c.seq, audit.c.at, audit.c.hash, audit.c.action, audit.c.ids)
    .where(audit.c.seq > bindparam("after", type_=BigInteger))
    .order_by(audit.c.seq)
    .limit(bindparam("size", type_=Integer))
)
_MOVE = Statement(
    update(audit_cut)
    .where(audit_cut.c.id == 1)
    .values(seq=bindparam("new_seq", type_=BigInteger), record=bindparam("new_record"))
)
_REMOVE = Statement(delete(audit).where(audit.c.seq <= bindparam("last", type_=BigInteger)))
_NEWEST = Statement(select(audit.c.at).order_by(audit.c.seq.desc()).limit(1))
_LAST = select(func.max(audit.c.seq)).scalar_subquery()
_FIRST_YOUNG = (
    select(func.min(audit.c.seq))
    .where(audit.c.at >= bindparam("before", type_=BigInteger))
    .scalar_subquery()
)
_COUNT = Statement(
    select(func.count())
    .select_from(audit)
    .where(audit.c.seq < func.coalesce(_FIRST_YOUNG, _LAST), audit.c.seq < _LAST)
)
