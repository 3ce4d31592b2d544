"""Passwords that people choose: kept as argon2id, which makes each guess cost time and memory.

A vendor's password is made by the service and has a fast hash of its own (``credentials``). Knows no
user and no database. Hashing holds a thread for some 35 milliseconds: never call it on an event loop.
"""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from clearlane.kernel import limits

_HASHER = PasswordHasher(
    time_cost=limits.CONSOLE_PASSWORD_PASSES,
    memory_cost=limits.CONSOLE_PASSWORD_MEMORY_KIB,
    parallelism=limits.CONSOLE_PASSWORD_LANES,
    salt_len=limits.CONSOLE_PASSWORD_SALT_BYTES,
)


def hash_chosen(password: str, salt: bytes) -> str:
    """What the database keeps of a password."""
    return _HASHER.hash(password, salt=salt)


def is_right(kept: str, password: str) -> bool:
    """Whether this is the password whose hash is kept."""
    try:
        return _HASHER.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


# What a password of nobody is compared with, so that an unknown name costs what a known one costs.
NOBODYS = hash_chosen("", bytes(limits.CONSOLE_PASSWORD_SALT_BYTES))
