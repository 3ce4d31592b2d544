"""The inbox: files of payers, kept before they are understood, and what became of each.

A file speaks of claims of many clients, so it belongs to the installation and is sealed for it. Knows no format.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import bindparam, delete, literal, select, update

from clearlane.store.database import System, Tx
from clearlane.store.schema import inbox, parked, polls
from clearlane.store.sql import Statement, among, insertion
from clearlane.store.vault import Vault

SCOPE = System("files of payers speak of many clients")
OWNER = 0
"""Whose data key seals a file: the installation's, which is no vendor."""
TABLE, PARKED_TABLE = "inbox", "parked"

STORED, APPLIED, PARKED = "Stored", "Applied", "Parked"
QUARANTINED, DISCARDED = "Quarantined", "Discarded"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file that came. ``content`` is already sealed."""

    payer_id: str
    type: str
    route_id: int
    name: str
    digest: str
    """Keyed hash of the bytes: the same file of the same payer counts once, whatever it is called."""
    received_at: int
    content: bytes = field(repr=False)
    bytes: int


class StoredFile(NamedTuple):
    """A file as it stands in the database, without its content."""

    id: int
    payer_id: str
    type: str
    route_id: int
    name: str
    digest: str
    bytes: int
    state: str
    kinds: str
    """What it was recognised as, separated by commas."""
    reason: str
    """Why it is in quarantine, or what a person should look at."""
    applied: int
    parked: int
    received_at: int
    settled_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What became of a file."""

    state: str
    kinds: str = ""
    reason: str = ""
    applied: int = 0
    """Statements that concern claims of ours."""
    parked: int = 0
    """Statements that concern nobody we know."""


class ParkedRow(NamedTuple):
    """A statement that was not applied. ``payload`` is sealed for its file."""

    kind: str
    reason: str
    payload: bytes

    def __repr__(self) -> str:
        """Without the payload."""
        return f"ParkedRow({self.kind})"


def place(type: str, payer_id: str, digest: str) -> str:
    """What a file's content is bound to."""
    return f"{type}:{payer_id}:{digest}"


# ---- files ------------------------------------------------------------------------------------


async def add(tx: Tx, new: NewFile) -> tuple[int, bool]:
    """Keep a file; its id, and whether it is the first of its kind."""
    row = await tx.row(_ADD, **{name: getattr(new, name) for name in _NEW})
    if row is not None:
        return int(row[0]), True
    same = await tx.row(_SAME, type=new.type, payer_id=new.payer_id, digest=new.digest)
    assert same is not None, "only the same file can be in the way"
    return int(same[0]), False


async def find(tx: Tx, id: int) -> StoredFile | None:
    """One file."""
    row = await tx.row(_FIND, id=id)
    return None if row is None else StoredFile(*row)


async def content(tx: Tx, vault: Vault, file: StoredFile) -> bytes:
    """The bytes of a file, as they came."""
    row = await tx.row(_CONTENT, id=file.id)
    assert row is not None, "a file that stands there has a content"
    await vault.fetch(tx, [row[0]])
    return vault.open(OWNER, TABLE, place(file.type, file.payer_id, file.digest), row[0])


async def waiting(tx: Tx, most: int) -> list[int]:
    """The files that nobody has looked at, the oldest first."""
    return [int(id) for (id,) in await tx.rows(_WAITING, most=most)]


async def listing(tx: Tx, states: Sequence[str], most: int) -> list[StoredFile]:
    """The newest files in these states."""
    rows = await tx.rows(_LISTING, states=list(states), most=most)
    return [StoredFile(*row) for row in rows]


async def hold(tx: Tx, id: int) -> StoredFile | None:
    """One file, held until the transaction ends."""
    row = await tx.row(_HOLD, id=id)
    return None if row is None else StoredFile(*row)


async def settle(
    tx: Tx, id: int, end: Settlement, at: int, statements: Sequence[ParkedRow] = ()
) -> None:
    """Write what became of a file, and what of it waits for a person."""
    # The file's row first: whoever settles the same file waits here, and then sees what was parked.
    await tx.run(
        _SETTLE,
        of=id,
        to_state=end.state,
        to_kinds=end.kinds,
        to_reason=end.reason,
        to_applied=end.applied,
        to_parked=end.parked,
        to_settled=at,
    )
    await tx.run(_FORGET, of=id)
    if statements:
        await tx.many(_PARK, [{"inbox_id": id, **row._asdict()} for row in statements])


async def parked_of(tx: Tx, id: int) -> list[ParkedRow]:
    """The statements of a file that were not applied, in its order."""
    return [ParkedRow(*row) for row in await tx.rows(_PARKED_OF, of=id)]


# ---- when lines are looked into ---------------------------------------------------------------


class Poll(NamedTuple):
    """When a line is looked into again."""

    type: str
    payer_id: str
    route_id: int
    next_at: int
    fault: str

    @property
    def key(self) -> tuple[str, str, int]:
        return self.type, self.payer_id, self.route_id


async def all_polls(tx: Tx) -> dict[tuple[str, str, int], Poll]:
    """Every line that was ever looked into."""
    return {poll.key: poll for poll in (Poll(*row) for row in await tx.rows(_POLLS))}


async def take_poll(tx: Tx, key: tuple[str, str, int], now: int, until: int) -> bool:
    """Take the turn to look into a line, until then at most; False when somebody else has it."""
    type, payer_id, route_id = key
    new = {"type": type, "payer_id": payer_id, "route_id": route_id}
    await tx.run(_NEW_POLL, **new, next_at=now, fault="")
    return bool(await tx.run(_TAKE_POLL, **_of(key), now=now, until=until))


async def keep_poll(tx: Tx, key: tuple[str, str, int], until: int) -> None:
    """Keep the turn for a while longer."""
    await tx.run(_KEEP_POLL, **_of(key), until=until)


async def end_poll(tx: Tx, key: tuple[str, str, int], next_at: int, fault: str) -> bool:
    """Say when the line is looked into again, and what stood in the way this time; whether that is news."""
    news = await tx.run(_FAULT, **_of(key), to_fault=fault)
    await keep_poll(tx, key, next_at)
    return bool(news)


def _of(key: tuple[str, str, int]) -> dict[str, object]:
    return dict(zip(("of_type", "of_payer", "of_route"), key, strict=True))


_NEW = ("payer_id", "type", "route_id", "name", "digest", "bytes", "received_at", "content")
_COLUMNS = select(*(inbox.c[name] for name in StoredFile._fields))
_ADD = Statement(
    insertion(inbox, *_NEW)
    .values(state=STORED, kinds="", reason="", applied=0, parked=0)
    .on_conflict_do_nothing(index_elements=["type", "payer_id", "digest"])
    .returning(inbox.c.id)
)
_SAME = Statement(
    select(inbox.c.id).where(
        inbox.c.type == bindparam("type"),
        inbox.c.payer_id == bindparam("payer_id"),
        inbox.c.digest == bindparam("digest"),
    )
)
_FIND = Statement(_COLUMNS.where(inbox.c.id == bindparam("id")))
_HOLD = Statement(_COLUMNS.where(inbox.c.id == bindparam("id")).with_for_update())
_CONTENT = Statement(select(inbox.c.content).where(inbox.c.id == bindparam("id")))
# The state stands in the text itself, or no database could use the index over what waits.
_WAITING = Statement(
    select(inbox.c.id)
    .where(inbox.c.state == literal(STORED, literal_execute=True))
    .order_by(inbox.c.id)
    .limit(bindparam("most"))
)
_LISTING = Statement(
    _COLUMNS.where(among(inbox.c.state, "states"))
    .order_by(inbox.c.id.desc())
    .limit(bindparam("most"))
)
_SETTLE = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("of"))
    .values(
        state=bindparam("to_state"),
        kinds=bindparam("to_kinds"),
        reason=bindparam("to_reason"),
        applied=bindparam("to_applied"),
        parked=bindparam("to_parked"),
        settled_at=bindparam("to_settled"),
    )
)
_FORGET = Statement(delete(parked).where(parked.c.inbox_id == bindparam("of")))
_PARK = Statement(insertion(parked, "inbox_id", *ParkedRow._fields))
_PARKED_OF = Statement(
    select(*(parked.c[name] for name in ParkedRow._fields))
    .where(parked.c.inbox_id == bindparam("of"))
    .order_by(parked.c.id)
)
_POLLS = Statement(select(*(polls.c[name] for name in Poll._fields)))
_NEW_POLL = Statement(insertion(polls, *Poll._fields).on_conflict_do_nothing())
_THIS_POLL = (
    (polls.c.type == bindparam("of_type"))
    & (polls.c.payer_id == bindparam("of_payer"))
    & (polls.c.route_id == bindparam("of_route"))
)
_TAKE_POLL = Statement(
    update(polls)
    .where(_THIS_POLL, polls.c.next_at <= bindparam("now"))
    .values(next_at=bindparam("until"))
)
_KEEP_POLL = Statement(update(polls).where(_THIS_POLL).values(next_at=bindparam("until")))
_FAULT = Statement(
    update(polls)
    .where(_THIS_POLL, polls.c.fault != bindparam("to_fault"))
    .values(fault=bindparam("to_fault"))
)
