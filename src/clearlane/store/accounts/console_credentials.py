"""Passwords, second factors and sessions of console users, as people change them themselves.

Knows hashes and sealed values; knows no password.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import LargeBinary, bindparam, delete, func, select, update

from clearlane.accounts.users import ConsoleUser
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.redacted_repr import shows
from clearlane.store.accounts import recovery_codes
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import console_sessions, console_users
from clearlane.store.database.sql import Statement


@shows("seen_at")
class OpenSession(NamedTuple):
    """A session that has not ended."""

    session_hash: bytes
    seen_at: datetime
    ends_at: datetime


async def replace_credentials(
    tx: Tx, user: ConsoleUser, *, password_hash: str, totp_secret: bytes, step: int, keep: bytes
) -> None:
    """Give a user a password and a second factor; every session but one ends."""
    await tx.run(
        _REPLACE, user=user.id, new_hash=password_hash, new_secret=totp_secret, new_step=step
    )
    await tx.run(_END_OTHERS, user=user.id, keep=keep)
    tx.audit("user.credentials", ids=[user.name])


async def forget_credentials(tx: Tx, user: ConsoleUser, unset_hash: str) -> None:
    """Let no password and no recovery code of a user match, and end every session."""
    await tx.run(_FORGET, user=user.id, new_hash=unset_hash)
    await tx.run(_END_ALL, user=user.id)
    await recovery_codes.drop_codes(tx, user.id)
    tx.audit("user.reset", ids=[user.name])


async def list_sessions(tx: Tx, user: ConsoleUser, now: datetime) -> list[OpenSession]:
    """Return the sessions of a user that have not ended, the latest used first."""
    rows = await tx.rows(_SESSIONS, user=user.id, now=to_micros(now))
    return [
        OpenSession(bytes(hash), from_micros(seen), from_micros(end)) for hash, seen, end in rows
    ]


async def count_sessions(tx: Tx, now: datetime) -> dict[int, int]:
    """Return how many sessions each user has."""
    return {int(user): int(count) for user, count in await tx.rows(_COUNTS, now=to_micros(now))}


async def end_other_sessions(tx: Tx, user: ConsoleUser, keep: bytes) -> int:
    """End every session of a user but one; return how many there were."""
    ended = await tx.run(_END_OTHERS, user=user.id, keep=keep)
    tx.audit("user.end_sessions", ids=[user.name], count=ended)
    return ended


_USER = console_users.c.id == bindparam("user")
_OF_USER = console_sessions.c.user_id == bindparam("user")
_REPLACE = Statement(
    update(console_users)
    .where(_USER)
    .values(
        password_hash=bindparam("new_hash"),
        totp_secret=bindparam("new_secret"),
        totp_step=bindparam("new_step"),
        code_failures=0,
    )
)
_FORGET = Statement(update(console_users).where(_USER).values(password_hash=bindparam("new_hash")))
_END_ALL = Statement(delete(console_sessions).where(_OF_USER))
_END_OTHERS = Statement(
    delete(console_sessions).where(
        _OF_USER, console_sessions.c.session_hash != bindparam("keep", type_=LargeBinary())
    )
)
_SESSIONS = Statement(
    select(console_sessions.c.session_hash, console_sessions.c.seen_at, console_sessions.c.ends_at)
    .where(_OF_USER, console_sessions.c.ends_at > bindparam("now"))
    .order_by(console_sessions.c.seen_at.desc())
)
_COUNTS = Statement(
    select(console_sessions.c.user_id, func.count())
    .where(console_sessions.c.ends_at > bindparam("now"))
    .group_by(console_sessions.c.user_id)
)
