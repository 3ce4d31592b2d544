"""Recovery codes of console users, as keyed hashes. A used code is deleted; knows no code."""

from collections.abc import Collection

from sqlalchemy import LargeBinary, bindparam, delete, func, select

from clearlane.accounts.users import ConsoleUser
from clearlane.store.database.database import Tx, find_row
from clearlane.store.database.schema import recovery_codes
from clearlane.store.database.sql import Statement, insert_into


async def replace_codes(tx: Tx, user: ConsoleUser, hashes: Collection[bytes]) -> None:
    """Give a user these codes and no others."""
    await drop_codes(tx, user.id)
    await tx.many(_ADD, [{"user_id": user.id, "code_hash": each} for each in hashes])
    tx.audit("user.recovery_codes", ids=[user.name], count=len(hashes))


async def use_code(tx: Tx, user: ConsoleUser, code_hash: bytes) -> bool:
    """Use up a code of a user whose row is locked; return whether it was one."""
    if not await tx.run(_USE, user=user.id, used=code_hash):
        return False
    left = await count_codes(tx, user)
    tx.audit("user.recovery_code_used", ids=[user.name], detail=f"{left} left")
    return True


async def count_codes(tx: Tx, user: ConsoleUser) -> int:
    """Return how many codes a user has left."""
    return await find_row(tx, int, _COUNT, user=user.id) or 0


async def drop_codes(tx: Tx, user_id: int) -> None:
    """Let no code of a user count any more: they belong to the second factor that is replaced."""
    await tx.run(_DROP, user=user_id)


_OF_USER = recovery_codes.c.user_id == bindparam("user")
_ADD = Statement(insert_into(recovery_codes, "user_id", "code_hash"))
_DROP = Statement(delete(recovery_codes).where(_OF_USER))
_USE = Statement(
    delete(recovery_codes).where(
        _OF_USER, recovery_codes.c.code_hash == bindparam("used", type_=LargeBinary())
    )
)
_COUNT = Statement(select(func.count()).select_from(recovery_codes).where(_OF_USER))
