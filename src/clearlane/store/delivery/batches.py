"""Batches of claims for payers, and their members.

A batch is stored in one transaction with its claims, so no claim is in two batches that could be sent. Its content
is sealed for the installation, because claims of many clients share a file. Knows no file format and no connection.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BigInteger, Integer, bindparam, func, select, update

from clearlane.claims.batch_lifecycle import (
    INITIAL_STATE,
    BatchEvent,
    BatchEventNotAllowed,
    BatchState,
    next_state,
    states_that_allow,
)
from clearlane.kernel import limits
from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.store.claims import claim_lookup, claim_queue
from clearlane.store.claims.claim_queue import QueuedClaim
from clearlane.store.database.database import Row, SystemScope, Tx, find_row, list_rows, require_row
from clearlane.store.database.schema import batch_claims, batches, claim_facts, claims
from clearlane.store.database.sql import (
    Statement,
    among,
    inlined,
    insert_into,
    scoped_select,
    select_as,
)
from clearlane.store.delivery.control_numbers import (
    CONTROL_NUMBERS_SKIPPED,
    last_control_number,
    next_control_number,
    skip_request_numbers,
)
from clearlane.store.vault.vault import Vault

# Two transfers of the largest file at the least speed.
DELIVERY_LEASE_SECONDS_MAX = 3 * 86_400
# No pause and no lease is longer; a time further ahead cannot have been meant.
PAUSE_MICROS_MAX = 1_000_000 * (limits.RETRY_SECONDS_MAX + limits.CLOCK_DIFFERENCE_SECONDS_MAX)
LEASE_MICROS_MAX = 1_000_000 * DELIVERY_LEASE_SECONDS_MAX

SCOPE = SystemScope("batches hold claims of many clients")
OWNER = 0
"""The data key that seals a batch is the installation's, which is not a vendor."""
TABLE = "batches"
DIGEST_BYTES = 32

UNDELIVERED = states_that_allow(BatchEvent.DELIVERED)

REFUSED_SENDING = ("SEND_AGAIN", "TA1_REFUSED")
"""The kinds of facts that refuse one sending of a claim, not the claim."""
RESTORED = "The data were restored from a backup: it is not known whether this was sent since."


class ClaimAlreadyBatched(Exception):
    """Another node put one of the claims into a batch first."""


@dataclass(frozen=True, slots=True)
class BatchMember:
    """A claim in a batch."""

    claim_number: str
    vendor_id: int
    site_id: int
    attempt: int
    """Which sending of the claim this is, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFile:
    """The file of a batch. ``content`` is sealed under the file's name."""

    route_id: int
    control: int
    name: str
    digest: str
    content: bytes = field(repr=False)
    part_digests: bytes = field(default=b"", repr=False)
    """SHA-256 of each claim's part of the file, in the order of the claims' numbers; empty for inquiries."""
    bytes: int
    """Size of the file as it is sent."""
    hop: str = ""
    """The hop that it is sent to; empty if it goes to the payer."""
    hop_payer_id: str = ""
    """The payer's id as the hop has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A stored batch, without its content."""

    id: int
    payer_id: str
    type: str
    kind: str
    """The kind of its claims; empty for a batch of inquiries."""
    route_id: int
    hop: str = ""
    """The hop that it is sent to; empty if it goes to the payer."""
    hop_payer_id: str = ""
    """The payer's id as the hop has it."""
    state: BatchState
    control: int
    name: str
    digest: str
    claims: int
    bytes: int
    created_at: int
    attempts: int
    not_before: int
    """The earliest time of the next attempt."""
    holder: str
    """The workflow that sends it; empty while none does."""
    lease_until: int | None
    """Until when no other workflow may send it; None while none does."""
    arriving: bool
    """Whether the last step of a transfer was begun, so that the payer may have the file."""
    failing_since: int | None
    delivered_at: int | None
    acknowledged_at: int | None
    """When the first TA1, 999 or 277CA that names the file was posted."""
    fault: str

    @property
    def destination(self) -> tuple[str, str]:
        """Type of claims and payer it goes to."""
        return self.type, self.payer_id

    @property
    def due_at(self) -> int:
        """When it may be attempted: after its pause, and after the lease of the workflow that sends it."""
        return max(self.not_before, self.lease_until or 0)

    def is_due(self, now: int) -> bool:
        """Return whether it may be attempted. A pause longer than any is of a clock that was ahead."""
        waits = now < self.not_before <= now + PAUSE_MICROS_MAX
        return not waits and not self.is_being_sent(now)

    def is_being_sent(self, now: int) -> bool:
        """Return whether a workflow holds a lease on it. One longer than any is of a clock that was ahead."""
        return self.lease_until is not None and now < self.lease_until <= now + LEASE_MICROS_MAX


# ---- creating batches -------------------------------------------------------------------------


async def create(
    tx: Tx,
    file: BatchFile,
    *,
    destination: tuple[str, str],
    kind: str,
    members: Iterable[str],
    line_references: Iterable[tuple[str, str]] = (),
    now: int,
    in_doubt: bool = False,
) -> int:
    """Store a batch, take its claims off the queue, and return its id.

    ``kind`` is that of its claims, empty for inquiries. ``line_references`` are claim numbers and keyed hashes of line control numbers that callers chose, by which answers
    find the claims. Raises :class:`ClaimAlreadyBatched`.
    """
    wanted = sorted(members)
    found = await claim_queue.lock_queued_claims(tx, wanted, in_doubt=in_doubt)
    if len(found) != len(wanted):
        raise ClaimAlreadyBatched
    type, payer_id = destination
    state = next_state(INITIAL_STATE, BatchEvent.RESTORED) if in_doubt else INITIAL_STATE
    row = await tx.row(
        _ADD,
        payer_id=payer_id,
        type=type,
        kind=kind,
        state=state.value,
        claims=len(wanted),
        created_at=now,
        attempts=0,
        not_before=now,
        holder="",
        arriving=0,
        fault=RESTORED if in_doubt else "",
        **_file_values(file),
    )
    assert row is not None
    await claim_queue.dequeue(tx, wanted)
    names = ("claim_number", "vendor_id", "site_id", "attempt", "batch_id")
    added = ((number, vendor, site, sent + 1, row[0]) for number, vendor, site, sent in found)
    await tx.many(_ADD_MEMBER, [dict(zip(names, one, strict=True)) for one in added])
    owners = {claim_number: (vendor, site) for claim_number, vendor, site, _ in found}
    await claim_lookup.add_references(
        tx, owners, ((payer_id, reference, id) for id, reference in line_references)
    )
    tx.audit(
        "batch.created",
        ids=[str(row[0])],
        count=len(wanted),
        detail=f"{type} {payer_id} {file.name}",
    )
    return int(row[0])


# ---- reading ----------------------------------------------------------------------------------


async def list_undelivered(tx: Tx) -> list[Batch]:
    """Return the batches that are ready, being sent or in doubt, oldest first."""
    return sorted(await list_rows(tx, to_batch, _UNDELIVERED), key=lambda batch: batch.id)


async def find(tx: Tx, id: int) -> Batch | None:
    """Return one batch."""
    return await find_row(tx, to_batch, _FIND, id=id)


async def find_by_control(tx: Tx, control: int) -> Batch | None:
    """Return the batch that carries this control number as ISA13 and GS06."""
    if not 0 < control <= CONTROL_NUMBER_MAX:
        return None
    return await find_row(tx, to_batch, _BY_CONTROL, control=control)


async def find_by_controls(tx: Tx, controls: Collection[int]) -> dict[int, Batch]:
    """Return the batches that carry these control numbers, by number."""
    wanted = sorted(one for one in controls if 0 < one <= CONTROL_NUMBER_MAX)
    if not wanted:
        return {}
    found = await list_rows(tx, to_batch, _BY_CONTROLS, controls=wanted)
    return {batch.control: batch for batch in found}


async def read_content(tx: Tx, vault: Vault, batch: Batch) -> bytes:
    """Return the file of a batch."""
    row = require_row(await tx.row(_CONTENT, id=batch.id), "the content of a batch")
    await vault.load_keys_of(tx, [row[0]])
    return vault.open(OWNER, TABLE, batch.name, row[0])


async def read_part_digests(tx: Tx, batch_id: int) -> list[bytes]:
    """Return the SHA-256 of each claim's part of the file of a batch, in the order of the claims' numbers."""
    row = require_row(await tx.row(_PART_DIGESTS, id=batch_id), "a batch")
    return [row[0][at : at + DIGEST_BYTES] for at in range(0, len(row[0]), DIGEST_BYTES)]


async def count_sent_claims(tx: Tx, *, since: int, before: int) -> int:
    """Count the claims of the scope in batches that were delivered in these microseconds; one that was sent twice, twice."""
    row = await tx.row(_SENT_CLAIMS, since=since, before=before)
    return int(row[0]) if row else 0


async def list_members(tx: Tx, batch_id: int) -> list[BatchMember]:
    """Return the claims of a batch."""
    return await list_rows(tx, BatchMember, _MEMBERS, batch_id=batch_id)


async def count_answered(tx: Tx, batch_id: int) -> int:
    """Count the claims of a batch that the payer has answered since they were sent in it."""
    return require_row(await find_row(tx, int, _ANSWERED, batch_id=batch_id), "a count")


async def list_member_claims(tx: Tx, batch_id: int, *, after: str, limit: int) -> list[QueuedClaim]:
    """Return the next claims of a batch with their payloads, to rewrite its file."""
    return await list_rows(
        tx, QueuedClaim, _MEMBER_PAGE, batch_id=batch_id, after=after, limit=limit
    )


# ---- changing state ---------------------------------------------------------------------------


async def lock(tx: Tx, id: int) -> Batch | None:
    """Return one batch and lock its row until the transaction ends."""
    return await find_row(tx, to_batch, _LOCK, id=id)


async def apply_event(
    tx: Tx,
    batch: Batch,
    event: BatchEvent,
    *,
    not_before: int | None = None,
    failing_since: int | None = None,
    fault: str = "",
    delivered_at: int | None = None,
) -> None:
    """Move a locked batch to the state that follows from an event; its sender has no lease any more.

    ``not_before`` is the earliest time of the next attempt; None leaves it. Raises :class:`BatchEventNotAllowed`, also
    if the batch is no longer in the state that was read.
    """
    await _move(
        tx,
        batch,
        event,
        not_before=batch.not_before if not_before is None else not_before,
        holder="",
        lease_until=None,
        attempts=batch.attempts,
        failing_since=failing_since,
        fault=fault[: limits.AUDIT_DETAIL_CHARACTERS_MAX],
        delivered_at=delivered_at,
    )


async def begin_attempt(tx: Tx, batch: Batch, *, holder: str, lease_until: int) -> None:
    """Let a workflow send a locked batch, or continue to; no other may until its lease ends.

    Raises like :func:`apply_event`.
    """
    await _move(
        tx,
        batch,
        BatchEvent.ATTEMPTED,
        not_before=batch.not_before,
        holder=holder,
        lease_until=lease_until,
        attempts=batch.attempts + (batch.holder != holder),
        failing_since=batch.failing_since,
        fault=batch.fault,
        delivered_at=None,
    )


async def mark_arriving(tx: Tx, id: int, *, holder: str) -> bool:
    """Record that the last step of a transfer begins; return False if another workflow sends the batch by now."""
    return bool(await tx.run(_ARRIVING, id=id, holder=holder))


async def mark_acknowledged(tx: Tx, ids: Collection[int], at: int) -> None:
    """Record when the payer acknowledged batches, unless it did before."""
    await tx.run(_ACKNOWLEDGED, ids=sorted(ids), at=at)


async def has_paused(tx: Tx, destination: tuple[str, str], now: int) -> bool:
    """Return whether a batch to a payer waits for its next attempt."""
    type, payer_id = destination
    return await tx.row(_PAUSED, type=type, payer_id=payer_id, now=now) is not None


async def retry_now(tx: Tx, destination: tuple[str, str], now: int) -> None:
    """Make the batches to a payer due now, except those that a workflow is sending."""
    type, payer_id = destination
    await tx.run(_RETRY_NOW, type=type, payer_id=payer_id, now=now)


async def replace_file(tx: Tx, batch: Batch, file: BatchFile) -> None:
    """Give a locked batch that was not sent another route, with a file written for it."""
    values = {f"to_{name}": value for name, value in _file_values(file).items()}
    after = next_state(batch.state, BatchEvent.REROUTED)
    await tx.run(_REWRITE, id=batch.id, to_state=after.value, **values)


async def mark_in_doubt_after_restore(
    tx: Tx, *, last_control: int = 0, last_requests: Sequence[Row] = ()
) -> tuple[int, int]:
    """Mark everything unsent as in doubt after a restore, and return how many batches and queued claims.

    What was unsent when the backup was made may have been sent since. Control numbers used since the backup are
    skipped, or a payer would see them twice, and so are vendors' request numbers; ``last_control`` and ``last_requests``
    are the last ones used, if they are known.
    """
    behind = max(0, last_control - await last_control_number(tx))
    await next_control_number(tx, skip=behind + CONTROL_NUMBERS_SKIPPED)
    await skip_request_numbers(tx, last_requests)
    marked = 0
    for state in states_that_allow(BatchEvent.RESTORED):
        after = next_state(state, BatchEvent.RESTORED)
        marked += await tx.run(
            _RESTORE, from_state=state.value, to_state=after.value, to_fault=RESTORED
        )
    queued = await claim_queue.mark_queued_in_doubt(tx)
    if marked or queued:
        tx.audit("batch.in_doubt_after_restore", count=marked, detail=f"{queued} queued claims")
    return marked, queued


async def _move(tx: Tx, batch: Batch, event: BatchEvent, **values: str | int | None) -> None:
    after = next_state(batch.state, event)
    moved = await tx.run(
        _MOVE,
        id=batch.id,
        from_state=batch.state.value,
        to_state=after.value,
        to_arriving=int(batch.arriving and after is BatchState.SENDING),
        **{f"to_{name}": value for name, value in values.items()},
    )
    if not moved:
        raise BatchEventNotAllowed(batch.state, event)


def _file_values(file: BatchFile) -> dict[str, object]:
    return {name: getattr(file, name) for name in _FILE}


def to_batch(*row: Any) -> Batch:  # Any: the columns of NAMES
    """Return the batch of a row of ``BATCHES``."""
    values = dict(zip(NAMES, row, strict=True))
    return Batch(
        **values | {"state": BatchState(values["state"]), "arriving": bool(values["arriving"])}
    )


# ---- statements -------------------------------------------------------------------------------

LARGE = frozenset({"content", "part_digests"})
"""Columns that are read by themselves."""
NAMES = tuple(column.name for column in batches.columns if column.name not in LARGE)
_FILE = (
    "route_id", "hop", "hop_payer_id", "control", "name", "digest", "bytes", "content", "part_digests",
)  # fmt: skip


_ADD = Statement(
    insert_into(
        batches, "payer_id", "type", "kind", "state", "claims", "created_at", "attempts", "not_before", "holder",
        "arriving", "fault", *_FILE,
    ).returning(batches.c.id)
)  # fmt: skip
_ADD_MEMBER = Statement(
    insert_into(batch_claims, "batch_id", "claim_number", "attempt"), system=True
)

BATCHES = select(*(batches.c[name] for name in NAMES))
# Without ORDER BY, which would make SQLite walk all batches ever sent instead of the index of the open ones.
_UNDELIVERED = Statement(
    BATCHES.where(
        batches.c.state.in_([inlined(state.value) for state in UNDELIVERED]),
        batches.c.not_before >= inlined(0),
    )
)
_FIND = Statement(BATCHES.where(batches.c.id == bindparam("id")))
_LOCK = Statement(BATCHES.where(batches.c.id == bindparam("id")).with_for_update())
_BY_CONTROL = Statement(BATCHES.where(batches.c.control == bindparam("control")))
_BY_CONTROLS = Statement(BATCHES.where(among(batches.c.control, "controls")))
_CONTENT = Statement(select(batches.c.content).where(batches.c.id == bindparam("id")))
_PART_DIGESTS = Statement(select(batches.c.part_digests).where(batches.c.id == bindparam("id")))
_SENT_CLAIMS = scoped_select(
    select(func.count())
    .select_from(batch_claims)
    .join(batches, batches.c.id == batch_claims.c.batch_id)
    .where(
        batches.c.delivered_at >= bindparam("since", type_=BigInteger),
        batches.c.delivered_at < bindparam("before", type_=BigInteger),
    ),
    batch_claims,
)
_MEMBERS = Statement(
    select(
        batch_claims.c.claim_number,
        batch_claims.c.vendor_id,
        batch_claims.c.site_id,
        batch_claims.c.attempt,
    )
    .where(batch_claims.c.batch_id == bindparam("batch_id"))
    .order_by(batch_claims.c.claim_number),
    system=True,
)
# Any answer of the payer about a claim proves its last sending, except one that refuses a sending (the set, because of
# other claims, or the whole file): there are as many of these as there were such sendings.
_ANSWERS = select(func.count()).where(
    claim_facts.c.claim_number == batch_claims.c.claim_number, claim_facts.c.inbox_id.is_not(None)
)
_ANSWERED = Statement(
    select(func.count())
    .select_from(batch_claims)
    .where(
        batch_claims.c.batch_id == bindparam("batch_id"),
        (_ANSWERS.where(claim_facts.c.kind.not_in(REFUSED_SENDING)).scalar_subquery() > 0)
        | (
            _ANSWERS.where(claim_facts.c.kind.in_(REFUSED_SENDING)).scalar_subquery()
            >= batch_claims.c.attempt
        ),
    ),
    system=True,
)
_MEMBER_PAGE = Statement(
    select_as(claims, QueuedClaim)
    .join_from(claims, batch_claims, batch_claims.c.claim_number == claims.c.claim_number)
    .where(
        batch_claims.c.batch_id == bindparam("batch_id"),
        batch_claims.c.claim_number > bindparam("after"),
    )
    .order_by(batch_claims.c.claim_number)
    .limit(bindparam("limit", type_=Integer)),
    system=True,
)

_MOVED = (
    "state", "not_before", "holder", "lease_until", "arriving", "attempts", "failing_since", "fault",
    "delivered_at",
)  # fmt: skip
_MOVE = Statement(
    update(batches)
    .where(batches.c.id == bindparam("id"), batches.c.state == bindparam("from_state"))
    .values({name: bindparam(f"to_{name}") for name in _MOVED})
)
_ARRIVING = Statement(
    update(batches)
    .where(
        batches.c.id == bindparam("id"),
        batches.c.holder == bindparam("holder"),
        batches.c.state == BatchState.SENDING.value,
    )
    .values(arriving=1)
)
_ACKNOWLEDGED = Statement(
    update(batches)
    .where(among(batches.c.id, "ids"), batches.c.acknowledged_at.is_(None))
    .values(acknowledged_at=bindparam("at", type_=BigInteger))
)
_WAITING = (
    batches.c.state.in_([state.value for state in states_that_allow(BatchEvent.ATTEMPTED)]),
    batches.c.holder == "",
    batches.c.type == bindparam("type"),
    batches.c.payer_id == bindparam("payer_id"),
)
_PAUSED = Statement(
    select(batches.c.id)
    .where(*_WAITING, batches.c.not_before > bindparam("now", type_=BigInteger))
    .limit(1)
)
_RETRY_NOW = Statement(
    update(batches).where(*_WAITING).values(not_before=bindparam("now", type_=BigInteger))
)
_REWRITE = Statement(
    update(batches)
    .where(batches.c.id == bindparam("id"))
    .values({name: bindparam(f"to_{name}") for name in ("state", *_FILE)})
)
_RESTORE = Statement(
    update(batches)
    .where(batches.c.state == bindparam("from_state"))
    .values(state=bindparam("to_state"), holder="", lease_until=None, fault=bindparam("to_fault"))
)
