"""The inbox: files of payers, stored before they are understood, and the result of each.

A file concerns claims of many clients, so it belongs to the installation and is sealed for it. Knows no format.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from sqlalchemy import BigInteger, bindparam, delete, func, literal, select, update

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import (
    OperationRefused,
    SystemScope,
    Tx,
    find_row,
    list_rows,
    require_row,
)
from clearlane.store.database.schema import inbox, parked_statements, polls
from clearlane.store.database.sql import Statement, insert_into, select_as
from clearlane.store.vault.vault import Vault

SCOPE = SystemScope("files of payers concern many clients")
OWNER = 0
"""The data key that seals a file is the installation's, which is not a vendor."""
TABLE, PARKED_TABLE = "inbox", "parked_statements"

RouteKey: TypeAlias = tuple[str, str, int]
"""Type of claims, payer and route."""

STORED, APPLIED, PARKED = "stored", "applied", "parked"
QUARANTINED, DISCARDED = "quarantined", "discarded"
UNKNOWN_SENDER, TEST_FILE = "unknown_sender", "test_file"
NEEDS_ATTENTION = (QUARANTINED, UNKNOWN_SENDER, TEST_FILE, PARKED)
"""The states in which a file waits for an operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInboxFile:
    """A file to be stored. ``content`` is already sealed."""

    payer_id: str
    type: str
    route_id: int
    name: str
    digest: str
    """Keyed hash of the bytes: the same file of the same payer counts once, whatever its name."""
    received_at: int
    content: bytes = field(repr=False)
    bytes: int


class InboxFile(NamedTuple):
    """A stored file, without its content."""

    id: int
    payer_id: str
    type: str
    route_id: int
    name: str
    digest: str
    bytes: int
    state: str
    kinds: str
    """The kinds of transactions it was identified as, separated by commas."""
    reason: str
    """Why it is in quarantine, or what a person should check."""
    applied: int
    parked: int
    received_at: int
    processed_at: int | None
    is_test: int
    """Whether it came marked as a test (ISA15 T) to a production installation; it stays so when it is posted."""
    test_accepted_at: int | None
    """When an operator had it posted although it is marked as a test."""

    @property
    def route(self) -> RouteKey:
        """The route over which it came."""
        return self.type, self.payer_id, self.route_id


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxResult:
    """The result of processing a file."""

    state: str
    kinds: str = ""
    reason: str = ""
    applied: int = 0
    """Statements about known claims."""
    parked: int = 0
    """Statements about unknown claims."""


@shows("kind")
class ParkedStatement(NamedTuple):
    """A statement that was not applied. ``payload`` is sealed for its file."""

    kind: str
    reason: str
    payload: bytes


def row_key(type: str, payer_id: str, digest: str) -> str:
    """Return the row key that a file's content is sealed for."""
    return f"{type}:{payer_id}:{digest}"


class WaitingRoute(NamedTuple):
    """A route of a payer whose files wait to be posted."""

    type: str
    payer_id: str
    route_id: int
    first_id: int
    """Its oldest file that waits."""
    last_id: int

    @property
    def key(self) -> RouteKey:
        return self.type, self.payer_id, self.route_id


class WaitingInboxFile(NamedTuple):
    """A file that waits to be posted."""

    id: int
    bytes: int


# ---- files ------------------------------------------------------------------------------------


async def add(tx: Tx, new: NewInboxFile) -> tuple[int, bool]:
    """Store a file; return its id, and False if the same file was stored before."""
    row = await tx.row(_ADD, **{name: getattr(new, name) for name in _NEW})
    if row is not None:
        return int(row[0]), True
    same = await tx.row(_SAME, type=new.type, payer_id=new.payer_id, digest=new.digest)
    return int(require_row(same, "the file that is in the way")[0]), False


async def find(tx: Tx, id: int) -> InboxFile | None:
    """Return one file."""
    return await find_row(tx, InboxFile, _FIND, id=id)


async def read_content(tx: Tx, vault: Vault, file: InboxFile) -> bytes:
    """Return the bytes of a file as received."""
    row = require_row(await tx.row(_CONTENT, id=file.id), "the content of an inbox file")
    if not row[0]:
        raise OperationRefused(
            f"The content of file {file.id} was removed when its retention period was over."
        )
    await vault.load_keys_of(tx, [row[0]])
    return vault.open(OWNER, TABLE, row_key(file.type, file.payer_id, file.digest), row[0])


async def list_unprocessed(tx: Tx, limit: int) -> list[int]:
    """Return the files that were not processed yet, oldest first."""
    return [int(id) for (id,) in await tx.rows(_WAITING, limit=limit)]


async def list_waiting_routes(tx: Tx, limit: int) -> list[WaitingRoute]:
    """Return the routes whose files were not processed yet, the one with the oldest file first."""
    return await list_rows(tx, WaitingRoute, _WAITING_ROUTES, limit=limit)


async def list_waiting_of(tx: Tx, key: RouteKey, limit: int) -> list[WaitingInboxFile]:
    """Return the files of a route that were not processed yet, oldest first."""
    return await list_rows(tx, WaitingInboxFile, _WAITING_OF_ROUTE, **_of(key), limit=limit)


async def lock(tx: Tx, id: int) -> InboxFile | None:
    """Return one file and lock its row until the transaction ends."""
    return await find_row(tx, InboxFile, _LOCK, id=id)


async def record_result(
    tx: Tx, id: int, result: InboxResult, at: int, statements: Sequence[ParkedStatement] = ()
) -> None:
    """Record the result of a file, and the statements of it that wait for a person."""
    # The file's row first: another node that processes the same file waits here, and then sees what was parked.
    await tx.run(
        _RECORD_OUTCOME,
        of=id,
        to_state=result.state,
        to_kinds=result.kinds,
        to_reason=result.reason,
        to_applied=result.applied,
        to_parked=result.parked,
        to_processed=at,
    )
    await tx.run(_DROP_PARKED, of=id)
    if statements:
        await tx.many(_PARK, [{"inbox_id": id, **row._asdict()} for row in statements])


async def mark_test(tx: Tx, id: int) -> None:
    """Record that a file is marked as a test."""
    await tx.run(_MARK_TEST, of=id)


async def accept_test(tx: Tx, id: int, at: int) -> None:
    """Record that an operator has a test file posted."""
    await tx.run(_ACCEPT_TEST, of=id, at=at)


async def list_parked_statements(tx: Tx, id: int) -> list[ParkedStatement]:
    """Return the statements of a file that were not applied, in its order."""
    return await list_rows(tx, ParkedStatement, _PARKED_OF, of=id)


# ---- polling ----------------------------------------------------------------------------------


class RoutePoll(NamedTuple):
    """When the mailbox of a route is polled again."""

    type: str
    payer_id: str
    route_id: int
    next_at: int
    fault: str
    passed_over: int

    @property
    def key(self) -> RouteKey:
        return self.type, self.payer_id, self.route_id


async def all_polls(tx: Tx) -> dict[RouteKey, RoutePoll]:
    """Return the polls of every route that was ever polled."""
    return {poll.key: poll for poll in (RoutePoll(*row) for row in await tx.rows(_POLLS))}


async def poll_soon(tx: Tx, key: RouteKey, now: int) -> None:
    """Let a route be polled at the next tick, instead of at its next time."""
    type, payer_id, route_id = key
    of_route = {"of_type": type, "of_payer": payer_id, "of_route": route_id}
    await tx.run(_POLL_SOON, **of_route, now=now)


async def begin_poll(tx: Tx, key: RouteKey, now: int, until: int, *, latest: int) -> bool:
    """Lease a route for polling until a time; return False when another node has it.

    A next poll after ``latest`` was recorded by a node whose clock was ahead, and counts as due.
    """
    type, payer_id, route_id = key
    new = {"type": type, "payer_id": payer_id, "route_id": route_id}
    await tx.run(_NEW_POLL, **new, next_at=now, fault="", passed_over=0)
    return bool(await tx.run(_BEGIN_POLL, **_of(key), now=now, until=until, latest=latest))


async def extend_poll(tx: Tx, key: RouteKey, until: int) -> None:
    """Extend the lease on a route."""
    await tx.run(_EXTEND_POLL, **_of(key), until=until)


async def end_poll(tx: Tx, key: RouteKey, next_at: int, fault: str, *, passed_over: int) -> bool:
    """Record when the route is polled next, why this poll failed, and how many files it passed over; return what is new."""
    news = await tx.run(_FAULT, **_of(key), to_fault=fault, to_passed_over=passed_over)
    await extend_poll(tx, key, next_at)
    return bool(news)


def _of(key: RouteKey) -> dict[str, object]:
    return dict(zip(("of_type", "of_payer", "of_route"), key, strict=True))


_NEW = ("payer_id", "type", "route_id", "name", "digest", "bytes", "received_at", "content")
_COLUMNS = select_as(inbox, InboxFile)
_ADD = Statement(
    insert_into(inbox, *_NEW)
    .values(state=STORED, kinds="", reason="", applied=0, parked=0, is_test=0)
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
_LOCK = Statement(_COLUMNS.where(inbox.c.id == bindparam("id")).with_for_update())
_CONTENT = Statement(select(inbox.c.content).where(inbox.c.id == bindparam("id")))
# The state is part of the SQL text: a partial index serves no statement with a placeholder.
_WAITING = Statement(
    select(inbox.c.id)
    .where(inbox.c.state == literal(STORED, literal_execute=True))
    .order_by(inbox.c.id)
    .limit(bindparam("limit"))
)
_WAITING_ROUTES = Statement(
    select(
        inbox.c.type,
        inbox.c.payer_id,
        inbox.c.route_id,
        func.min(inbox.c.id).label("first_id"),
        func.max(inbox.c.id),
    )
    .where(inbox.c.state == literal(STORED, literal_execute=True))
    .group_by(inbox.c.type, inbox.c.payer_id, inbox.c.route_id)
    .order_by("first_id")
    .limit(bindparam("limit"))
)
_WAITING_OF_ROUTE = Statement(
    select(inbox.c.id, inbox.c.bytes)
    .where(
        inbox.c.state == literal(STORED, literal_execute=True),
        inbox.c.type == bindparam("of_type"),
        inbox.c.payer_id == bindparam("of_payer"),
        inbox.c.route_id == bindparam("of_route"),
    )
    .order_by(inbox.c.id)
    .limit(bindparam("limit"))
)
_RECORD_OUTCOME = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("of"))
    .values(
        state=bindparam("to_state"),
        kinds=bindparam("to_kinds"),
        reason=bindparam("to_reason"),
        applied=bindparam("to_applied"),
        parked=bindparam("to_parked"),
        processed_at=bindparam("to_processed"),
    )
)
_MARK_TEST = Statement(update(inbox).where(inbox.c.id == bindparam("of")).values(is_test=1))
_ACCEPT_TEST = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("of"))
    .values(test_accepted_at=bindparam("at", type_=BigInteger))
)
_DROP_PARKED = Statement(
    delete(parked_statements).where(parked_statements.c.inbox_id == bindparam("of"))
)
_PARK = Statement(insert_into(parked_statements, "inbox_id", *ParkedStatement._fields))
_PARKED_OF = Statement(
    select_as(parked_statements, ParkedStatement)
    .where(parked_statements.c.inbox_id == bindparam("of"))
    .order_by(parked_statements.c.id)
)
_POLLS = Statement(select_as(polls, RoutePoll))
_NEW_POLL = Statement(insert_into(polls, *RoutePoll._fields).on_conflict_do_nothing())
_THIS_POLL = (
    (polls.c.type == bindparam("of_type"))
    & (polls.c.payer_id == bindparam("of_payer"))
    & (polls.c.route_id == bindparam("of_route"))
)
_BEGIN_POLL = Statement(
    update(polls)
    .where(
        _THIS_POLL,
        (polls.c.next_at <= bindparam("now")) | (polls.c.next_at > bindparam("latest")),
    )
    .values(next_at=bindparam("until"))
)
_POLL_SOON = Statement(
    update(polls)
    .where(_THIS_POLL, polls.c.next_at > bindparam("now"))
    .values(next_at=bindparam("now"))
)
_EXTEND_POLL = Statement(update(polls).where(_THIS_POLL).values(next_at=bindparam("until")))
_FAULT = Statement(
    update(polls)
    .where(
        _THIS_POLL,
        (polls.c.fault != bindparam("to_fault"))
        | (polls.c.passed_over != bindparam("to_passed_over")),
    )
    .values(fault=bindparam("to_fault"), passed_over=bindparam("to_passed_over"))
)
