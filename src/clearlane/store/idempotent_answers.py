"""Answers of calls under an ``Idempotency-Key``, by vendor. Knows no HTTP and no answer: what it keeps is sealed."""

from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.store.database import Tx
from clearlane.store.schema import idempotent_answers as answers
from clearlane.store.sql import scoped_delete, scoped_insert, scoped_select, scoped_update

TABLE = "idempotent_answers"


class EarlierCall(NamedTuple):
    """A call that came before under the same key."""

    request_hash: str
    """Keyed hash of the call and its body."""
    started_at: int
    answer: bytes | None
    """Sealed; None while the call runs."""

    def __repr__(self) -> str:
        """Leave out sealed values."""
        return f"EarlierCall({self.started_at})"


async def begin(
    tx: Tx, key_hash: str, request_hash: str, *, now: int, given_up_before: int, expired_before: int
) -> EarlierCall | None:
    """Reserve a key for a call; return the earlier call that has it, or None where the key is this call's.

    A call that started before ``given_up_before`` and has no answer was cut off: its key is free. So is one whose
    answer is older than ``expired_before``.
    """
    await tx.run(_DROP_EXPIRED, expired_before=expired_before)
    values = {"key_hash": key_hash, "request_hash": request_hash, "started_at": now}
    if await tx.run(_ADD, **values):
        return None
    row = await tx.row(_FIND, key_hash=key_hash)
    if row is None:
        return EarlierCall(request_hash, now, None)  # another call's, which is ending just now
    earlier = EarlierCall(*row)
    if earlier.answer is not None or earlier.started_at > given_up_before:
        return earlier
    taken = await tx.run(
        _TAKE, key=key_hash, new_request=request_hash, new_start=now, seen=earlier.started_at
    )
    return None if taken else earlier


async def finish(tx: Tx, key_hash: str, *, started_at: int, answer: bytes) -> None:
    """Keep the sealed answer of the call that started then under a key."""
    await tx.run(_FINISH, key=key_hash, start=started_at, new_answer=answer)


async def forget(tx: Tx, key_hash: str, *, started_at: int) -> None:
    """Free the key of a call that changed nothing."""
    await tx.run(_FORGET, key=key_hash, start=started_at)


_ADD = scoped_insert(answers, "key_hash", "request_hash", "started_at", ignore_conflict=True)
_FIND = scoped_select(
    select(answers.c.request_hash, answers.c.started_at, answers.c.answer).where(
        answers.c.key_hash == bindparam("key_hash")
    ),
    answers,
)
_TAKE = scoped_update(
    answers,
    answers.c.key_hash == bindparam("key"),
    answers.c.started_at == bindparam("seen"),
    answers.c.answer.is_(None),
    request_hash=bindparam("new_request"),
    started_at=bindparam("new_start"),
)
_FINISH = scoped_update(
    answers,
    answers.c.key_hash == bindparam("key"),
    answers.c.started_at == bindparam("start"),
    answer=bindparam("new_answer"),
)
_FORGET = scoped_delete(
    answers,
    answers.c.key_hash == bindparam("key"),
    answers.c.started_at == bindparam("start"),
    answers.c.answer.is_(None),
)
_DROP_EXPIRED = scoped_delete(answers, answers.c.started_at < bindparam("expired_before"))
