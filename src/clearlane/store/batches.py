"""Batches on their way to payers, the claims in them, and the numbers they carry.

A batch is fixed in one transaction with its claims, so no claim is in two that could go out. What it holds is
sealed for the installation, because claims of many clients share a file. Knows no file format and no cable.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Integer, bindparam, func, literal, select, update

from clearlane.kernel import limits
from clearlane.store import claim_lookup
from clearlane.store.database import Row, System, Tx
from clearlane.store.schema import (
    batch_claims,
    batches,
    claim_facts,
    claims,
    control_numbers,
)
from clearlane.store.sql import Statement, among, insertion
from clearlane.store.vault import Vault

SCOPE = System("batches hold claims of many clients")
OWNER = 0
"""Whose data key seals a batch: the installation's, which is no vendor."""
TABLE = "batches"

FIXED, SENDING, DELIVERED, IN_DOUBT = "Fixed", "Sending", "Delivered", "InDoubt"

WAITS, HELD = 1, 2
"""Of a claim: to be gathered; to be gathered, but nobody can say whether it has gone out already."""

SEND_AGAIN = "SEND_AGAIN"
"""The kind of a fact that refuses a sending and not the claim."""
INTERCHANGE = "interchange"
RESTORED = "The data were restored from a backup: whether this went out since is not known."


class Taken(Exception):
    """Somebody else has put one of the claims into a batch meanwhile."""


@dataclass(frozen=True, slots=True)
class Pile:
    """Claims to one payer that wait to be sent."""

    payer_id: str
    kind: str
    claims: int
    oldest_at: int


@dataclass(frozen=True, slots=True)
class WaitingClaim:
    """A claim that waits to be sent. ``payload`` is sealed."""

    request_id: str
    vendor_id: int
    site_id: int
    account_as_number: bool
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Member:
    """A claim in a batch."""

    request_id: str
    vendor_id: int
    site_id: int
    attempt: int
    """Which sending of the claim this is, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file as it goes out. ``content`` is sealed under the file's name."""

    route_id: int
    control: int
    name: str
    digest: str
    content: bytes = field(repr=False)
    bytes: int
    """Of the file as it is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as it stands in the database, without its content."""

    id: int
    payer_id: str
    type: str
    route_id: int
    state: str
    control: int
    name: str
    digest: str
    claims: int
    bytes: int
    created_at: int
    attempts: int
    next_at: int
    holder: str
    failing_since: int | None
    delivered_at: int | None
    fault: str

    @property
    def lane(self) -> tuple[str, str]:
        """Whom it goes to."""
        return self.type, self.payer_id

    def in_hand(self, now: int) -> bool:
        """Whether somebody sends it at this moment."""
        return self.state == SENDING and bool(self.holder) and self.next_at > now


# ---- gathering --------------------------------------------------------------------------------


async def piles(tx: Tx, *, held: bool = False) -> list[Pile]:
    """What waits, by payer and kind of claim."""
    return [Pile(*row) for row in await tx.rows(_HELD_PILES if held else _PILES)]


async def waiting(
    tx: Tx, payer_id: str, kind: str, *, after: str, most: int, held: bool = False
) -> list[WaitingClaim]:
    """The next claims that wait, the oldest first."""
    rows = await tx.rows(
        _HELD_PAGE if held else _PAGE, payer_id=payer_id, kind=kind, after=after, most=most
    )
    return [WaitingClaim(row[0], row[1], row[2], bool(row[3]), row[4]) for row in rows]


async def next_control(tx: Tx, *, skip: int = 0) -> int:
    """A number that was never given before."""
    row = await tx.row(_NEXT, name=INTERCHANGE, number=1 + skip, step=1 + skip)
    assert row is not None
    return int(row[0])


async def given_control(tx: Tx) -> int:
    """The last number given."""
    row = await tx.row(_GIVEN, name=INTERCHANGE)
    return int(row[0]) if row else 0


async def fix(
    tx: Tx,
    written: Written,
    *,
    lane: tuple[str, str],
    members: Iterable[str],
    lines: Iterable[tuple[str, str]] = (),
    now: int,
    held: bool = False,
) -> int:
    """Store a batch and take its claims from those that wait; its id, or :class:`Taken`.

    ``lines``: claim and keyed hash of the line control numbers that callers chose, to be found by them again.
    """
    wanted = sorted(members)
    waits = HELD if held else WAITS
    found = await tx.rows(_LOCK_CLAIMS, request_ids=wanted, waits=waits)
    if len(found) != len(wanted):
        raise Taken
    type, payer_id = lane
    row = await tx.row(
        _ADD,
        payer_id=payer_id,
        type=type,
        state=IN_DOUBT if held else FIXED,
        claims=len(wanted),
        created_at=now,
        attempts=0,
        next_at=now,
        holder="",
        fault=RESTORED if held else "",
        **_written(written),
    )
    assert row is not None
    await tx.run(_TAKE, request_ids=wanted)
    await tx.many(
        _ADD_MEMBER,
        [
            {
                "vendor_id": vendor,
                "site_id": site,
                "batch_id": row[0],
                "request_id": request_id,
                "attempt": sendings + 1,
            }
            for request_id, vendor, site, sendings in found
        ],
    )
    owners = {request_id: (vendor, site) for request_id, vendor, site, _ in found}
    await claim_lookup.keep(tx, owners, ((payer_id, reference, id) for id, reference in lines))
    tx.audit(
        "batch.fixed",
        ids=[str(row[0])],
        count=len(wanted),
        detail=f"{type} {payer_id} {written.name}",
    )
    return int(row[0])


# ---- looking ----------------------------------------------------------------------------------


async def undelivered(tx: Tx) -> list[Batch]:
    """What waits to be sent, is being sent or is in doubt, the oldest first."""
    found = [_batch(row) for row in await tx.rows(_UNDELIVERED)]
    return sorted(found, key=lambda batch: batch.id)


async def newest(tx: Tx, most: int) -> list[Batch]:
    """The last batches, the newest first."""
    return [_batch(row) for row in await tx.rows(_NEWEST, most=most)]


async def find(tx: Tx, id: int) -> Batch | None:
    """One batch."""
    row = await tx.row(_FIND, id=id)
    return None if row is None else _batch(row)


async def by_control(tx: Tx, control: int) -> Batch | None:
    """The batch that carries this number as ISA13 and GS06."""
    row = await tx.row(_BY_CONTROL, control=control)
    return None if row is None else _batch(row)


async def content(tx: Tx, vault: Vault, batch: Batch) -> bytes:
    """The file of a batch."""
    row = await tx.row(_CONTENT, id=batch.id)
    assert row is not None
    await vault.fetch(tx, [row[0]])
    return vault.open(OWNER, TABLE, batch.name, row[0])


async def members(tx: Tx, batch_id: int) -> list[Member]:
    """The claims of a batch."""
    return [Member(*row) for row in await tx.rows(_MEMBERS, batch_id=batch_id)]


async def answered(tx: Tx, batch_id: int) -> int:
    """How many claims of a batch the payer has spoken of since they were sent in it."""
    row = await tx.row(_ANSWERED, batch_id=batch_id)
    assert row is not None
    return int(row[0])


async def member_claims(tx: Tx, batch_id: int, *, after: str, most: int) -> list[WaitingClaim]:
    """The claims of a batch with what they say, to write it anew."""
    rows = await tx.rows(_MEMBER_PAGE, batch_id=batch_id, after=after, most=most)
    return [WaitingClaim(row[0], row[1], row[2], bool(row[3]), row[4]) for row in rows]


# ---- moving -----------------------------------------------------------------------------------


async def lock(tx: Tx, id: int) -> Batch | None:
    """One batch, held until the transaction ends."""
    row = await tx.row(_LOCK, id=id)
    return None if row is None else _batch(row)


async def move(
    tx: Tx,
    id: int,
    state: str,
    *,
    next_at: int,
    holder: str = "",
    attempts: int,
    failing_since: int | None = None,
    fault: str = "",
    delivered_at: int | None = None,
) -> None:
    """Note how a batch stands."""
    await tx.run(
        _MOVE,
        id=id,
        to_state=state,
        to_next_at=next_at,
        to_holder=holder,
        to_attempts=attempts,
        to_failing_since=failing_since,
        to_fault=fault[: limits.AUDIT_DETAIL_CHARACTERS_MAX],
        to_delivered_at=delivered_at,
    )


async def hasten(tx: Tx, lane: tuple[str, str], now: int) -> None:
    """Let what waits for a payer be tried now; what somebody sends at this moment is left alone."""
    type, payer_id = lane
    await tx.run(_HASTEN, type=type, payer_id=payer_id, now=now)


async def rewrite(tx: Tx, id: int, written: Written) -> None:
    """Give a batch that has not gone out another way, with a file of its own for it."""
    await tx.run(
        _REWRITE, id=id, **{f"to_{name}": value for name, value in _written(written).items()}
    )


async def distrust(tx: Tx, *, last_control: int = 0) -> tuple[int, int]:
    """After a restore: what was to go out then may have gone out since. Batches and claims in doubt.

    Numbers given since the backup are skipped, or a payer would see them twice; ``last_control`` is the last
    one given, where that is known.
    """
    behind = max(0, last_control - await given_control(tx))
    await next_control(tx, skip=behind + limits.CONTROL_NUMBERS_SKIPPED)
    doubtful = await tx.run(_DISTRUST, to_fault=RESTORED)
    held = await tx.run(_HOLD)
    if doubtful or held:
        tx.audit("batch.distrusted", count=doubtful, detail=f"{held} claims that waited")
    return doubtful, held


def _written(written: Written) -> dict[str, object]:
    return {name: getattr(written, name) for name in _WRITTEN}


def _batch(row: Row) -> Batch:
    return Batch(**dict(zip(_NAMES, row, strict=True)))


# ---- the statements ---------------------------------------------------------------------------

_NAMES = tuple(column.name for column in batches.columns if column.name != "content")
_WRITTEN = ("route_id", "control", "name", "digest", "bytes", "content")


def _spelled(value: object) -> ColumnElement[Any]:
    """A value that stands in the text, so that the index over just such rows serves the statement."""
    return literal(value, literal_execute=True)


def _wait(waits: int) -> ColumnElement[bool]:
    return (claims.c.waits > _spelled(0)) & (claims.c.waits == _spelled(waits))


def _piles(condition: ColumnElement[bool]) -> Statement:
    of = (
        select(
            claims.c.payer_id,
            claims.c.kind,
            func.count().label("claims"),
            func.min(claims.c.request_id).label("oldest"),
        )
        .where(condition)
        .group_by(claims.c.payer_id, claims.c.kind)
        .subquery()
    )
    # Request ids lie in the order of time, so the index alone finds the oldest.
    oldest = claims.alias("oldest_claim")
    found = select(of.c.payer_id, of.c.kind, of.c.claims, oldest.c.created_at)
    joined = found.join_from(of, oldest, oldest.c.request_id == of.c.oldest)
    return Statement(joined.order_by(of.c.payer_id, of.c.kind), system=True)


_CLAIM = (
    claims.c.request_id, claims.c.vendor_id, claims.c.site_id, claims.c.account_as_number, claims.c.payload,
)  # fmt: skip


def _page(condition: ColumnElement[bool]) -> Statement:
    return Statement(
        select(*_CLAIM)
        .where(
            condition,
            claims.c.payer_id == bindparam("payer_id"),
            claims.c.kind == bindparam("kind"),
            claims.c.request_id > bindparam("after"),
        )
        .order_by(claims.c.request_id)
        .limit(bindparam("most", type_=Integer)),
        system=True,
    )


_PILES, _HELD_PILES = (_piles(_wait(waits)) for waits in (WAITS, HELD))
_PAGE, _HELD_PAGE = (_page(_wait(waits)) for waits in (WAITS, HELD))
_NUMBER = insertion(control_numbers, "name", "number")
_NEXT = Statement(
    _NUMBER.on_conflict_do_update(
        index_elements=["name"],
        set_={"number": control_numbers.c.number + bindparam("step", type_=BigInteger)},
    ).returning(control_numbers.c.number)
)
_GIVEN = Statement(
    select(control_numbers.c.number).where(control_numbers.c.name == bindparam("name"))
)
# Always in one order, so that two who gather the same claims do not wait for each other.
_LOCK_CLAIMS = Statement(
    select(claims.c.request_id, claims.c.vendor_id, claims.c.site_id, claims.c.sendings)
    .where(among(claims.c.request_id, "request_ids"), claims.c.waits == bindparam("waits"))
    .order_by(claims.c.request_id)
    .with_for_update(),
    system=True,
)
_TAKE = Statement(
    update(claims)
    .where(among(claims.c.request_id, "request_ids"))
    .values(waits=0, sendings=claims.c.sendings + 1),
    system=True,
)
_ADD = Statement(
    insertion(
        batches, "payer_id", "type", "state", "claims", "created_at", "attempts", "next_at", "holder",
        "fault", *_WRITTEN,
    ).returning(batches.c.id)
)  # fmt: skip
_ADD_MEMBER = Statement(insertion(batch_claims, "batch_id", "request_id", "attempt"), system=True)

_BATCHES = select(*(batches.c[name] for name in _NAMES))
# Without an order, which would make SQLite walk all batches ever sent instead of the index of the open ones.
_UNDELIVERED = Statement(
    _BATCHES.where(
        batches.c.state.in_([_spelled(state) for state in (FIXED, SENDING, IN_DOUBT)]),
        batches.c.next_at >= _spelled(0),
    )
)
_NEWEST = Statement(_BATCHES.order_by(batches.c.id.desc()).limit(bindparam("most", type_=Integer)))
_FIND = Statement(_BATCHES.where(batches.c.id == bindparam("id")))
_LOCK = Statement(_BATCHES.where(batches.c.id == bindparam("id")).with_for_update())
_BY_CONTROL = Statement(_BATCHES.where(batches.c.control == bindparam("control")))
_CONTENT = Statement(select(batches.c.content).where(batches.c.id == bindparam("id")))
_MEMBERS = Statement(
    select(
        batch_claims.c.request_id,
        batch_claims.c.vendor_id,
        batch_claims.c.site_id,
        batch_claims.c.attempt,
    )
    .where(batch_claims.c.batch_id == bindparam("batch_id"))
    .order_by(batch_claims.c.request_id),
    system=True,
)
# A word of the payer about a claim proves its last sending, but for "send it again", which speaks of one that was
# refused: there are as many of these as there were such sendings.
_SAID = select(func.count()).where(
    claim_facts.c.request_id == batch_claims.c.request_id, claim_facts.c.inbox_id.is_not(None)
)
_ANSWERED = Statement(
    select(func.count())
    .select_from(batch_claims)
    .where(
        batch_claims.c.batch_id == bindparam("batch_id"),
        (_SAID.where(claim_facts.c.kind != SEND_AGAIN).scalar_subquery() > 0)
        | (
            _SAID.where(claim_facts.c.kind == SEND_AGAIN).scalar_subquery()
            >= batch_claims.c.attempt
        ),
    ),
    system=True,
)
_MEMBER_PAGE = Statement(
    select(*_CLAIM)
    .join_from(claims, batch_claims, batch_claims.c.request_id == claims.c.request_id)
    .where(
        batch_claims.c.batch_id == bindparam("batch_id"),
        batch_claims.c.request_id > bindparam("after"),
    )
    .order_by(batch_claims.c.request_id)
    .limit(bindparam("most", type_=Integer)),
    system=True,
)

_MOVED = (
    "state", "next_at", "holder", "attempts", "failing_since", "fault", "delivered_at",
)  # fmt: skip
_MOVE = Statement(
    update(batches)
    .where(batches.c.id == bindparam("id"))
    .values({name: bindparam(f"to_{name}") for name in _MOVED})
)
_HASTEN = Statement(
    update(batches)
    .where(
        batches.c.state.in_([FIXED, SENDING]),
        batches.c.holder == "",
        batches.c.type == bindparam("type"),
        batches.c.payer_id == bindparam("payer_id"),
    )
    .values(next_at=bindparam("now", type_=BigInteger))
)
_REWRITE = Statement(
    update(batches)
    .where(batches.c.id == bindparam("id"))
    .values({name: bindparam(f"to_{name}") for name in _WRITTEN})
)
_DISTRUST = Statement(
    update(batches)
    .where(batches.c.state.in_([FIXED, SENDING]))
    .values(state=IN_DOUBT, holder="", fault=bindparam("to_fault"))
)
_HOLD = Statement(update(claims).where(_wait(WAITS)).values(waits=HELD), system=True)
