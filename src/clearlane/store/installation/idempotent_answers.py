"""Answers of calls under an ``Idempotency-Key``, by vendor. Knows no HTTP and no answer: what it keeps is sealed.

A key is reserved and answered in the transaction of what its call changes, so both are stored or neither is.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import MissingRow, SystemScope, Tx
from clearlane.store.database.schema import idempotent_answers as answers
from clearlane.store.database.sql import (
    Statement,
    scoped_delete,
    scoped_insert,
    scoped_select,
    scoped_update,
)

TABLE = "idempotent_answers"
ANSWERS_KEPT_HOURS = 24
EVERYONE = SystemScope("old answers of every vendor")


class AnswerKey(NamedTuple):
    """The key of a call."""

    key_hash: str
    """Keyed hash of the key."""
    request_hash: str
    """Keyed hash of the call and its body."""
    at: int
    """When the call came."""
    expired_before: int
    """Answers to calls that came earlier are kept no longer: their keys are free."""


@shows()
class EarlierCall(NamedTuple):
    """A call that came before under the same key."""

    request_hash: str
    answer: bytes
    """Sealed."""


class KeyTaken(Exception):
    """Another call under the same key was answered first. This one stored nothing."""


async def find(tx: Tx, key: AnswerKey) -> EarlierCall | None:
    """Return the call that was answered under a key."""
    row = await tx.row(_FIND, key=key.key_hash, expired_before=key.expired_before)
    return EarlierCall(*row) if row else None


async def reserve(tx: Tx, key: AnswerKey) -> None:
    """Reserve a key for the call whose transaction this is; raise :class:`KeyTaken` if another call has it.

    Waits for a call at the same time on another node: its transaction decides.
    """
    await tx.run(_DROP_EXPIRED, expired_before=key.expired_before)
    added = await tx.run(
        _ADD, key_hash=key.key_hash, request_hash=key.request_hash, started_at=key.at
    )
    if not added:
        raise KeyTaken


async def store_answer(tx: Tx, key: AnswerKey, answer: bytes) -> None:
    """Store the sealed answer of the call that reserved a key in this transaction."""
    if not await tx.run(_ANSWER, key=key.key_hash, new_answer=answer):
        raise MissingRow("the Idempotency-Key of this call")


async def remove_before(tx: Tx, before: int) -> int:
    """Remove the answers of all vendors to calls that came before a moment; return how many there were."""
    return await tx.run(_REMOVE, before=before)


_ADD = scoped_insert(answers, "key_hash", "request_hash", "started_at", ignore_conflict=True)
_FIND = scoped_select(
    select(answers.c.request_hash, answers.c.answer).where(
        answers.c.key_hash == bindparam("key"),
        answers.c.started_at >= bindparam("expired_before"),
    ),
    answers,
)
_ANSWER = scoped_update(
    answers, answers.c.key_hash == bindparam("key"), answer=bindparam("new_answer")
)
_DROP_EXPIRED = scoped_delete(answers, answers.c.started_at < bindparam("expired_before"))
_REMOVE = Statement(delete(answers).where(answers.c.started_at < bindparam("before")), system=True)
