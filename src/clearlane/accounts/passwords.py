"""Hashing of passwords that people choose, with argon2id, which makes each guess cost time and memory.

Generated passwords of vendors have a fast hash (``credentials``). Knows no user and no database. Hashing takes
some 35 milliseconds of a thread: never call it on an event loop.
"""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from clearlane.kernel import limits

# OWASP's minimum for argon2id.
CONSOLE_PASSWORD_MEMORY_KIB = 19 * 1024
CONSOLE_PASSWORD_PASSES = 2
CONSOLE_PASSWORD_PARALLELISM = 1

_HASHER = PasswordHasher(
    time_cost=CONSOLE_PASSWORD_PASSES,
    memory_cost=CONSOLE_PASSWORD_MEMORY_KIB,
    parallelism=CONSOLE_PASSWORD_PARALLELISM,
    salt_len=limits.CONSOLE_PASSWORD_SALT_BYTES,
)


def hash_user_password(password: str, salt: bytes) -> str:
    """Return the hash of a password to store."""
    return _HASHER.hash(password, salt=salt)


def verify_user_password(stored_hash: str, password: str) -> bool:
    """Return whether the password matches the stored hash."""
    try:
        return _HASHER.verify(stored_hash.removeprefix(UNSET_PREFIX), password) and is_password_set(
            stored_hash
        )
    except (VerificationError, InvalidHashError):
        return False


UNSET_PREFIX = "unset:"
"""Begins the hash of a user who has not chosen a password yet. Behind it is the hash of an unknown one, so
that a sign-in takes as long as for others."""


def is_password_set(stored_hash: str) -> bool:
    """Return whether the user has chosen a password."""
    return not stored_hash.startswith(UNSET_PREFIX)


# The hash of no characters with a salt of zeros, written out: hashing it here would cost every start 35 milliseconds.
DUMMY_HASH = (
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA"
    "$+DMg0Hsxx2CZGOKL/waFFg82zXwGXdCIU5N1SN6XKPQ"
)
"""Compared with the password of an unknown user, so that it takes as long as for a known one."""
