"""Recovery codes: what a person who lost the second factor signs in with, each once.

Twelve digits, so that the field for the authenticator's six takes them on a phone's number pad too. The strength is
in the few attempts and in the password that is checked before. Knows no database.
"""

import secrets

RECOVERY_CODES_PER_USER = 10
RECOVERY_CODE_DIGITS = 12
GROUP_DIGITS = 4


def new_recovery_codes() -> tuple[str, ...]:
    """Return the codes of one person, as they are shown: ``4821-0937-5562``."""
    codes: set[str] = set()
    while len(codes) < RECOVERY_CODES_PER_USER:
        codes.add(str(secrets.randbelow(10**RECOVERY_CODE_DIGITS)).zfill(RECOVERY_CODE_DIGITS))
    return tuple(_grouped(code) for code in sorted(codes))


def read_recovery_code(text: str) -> str | None:
    """Return the digits of a typed code; None for what cannot be one."""
    digits = text.replace(" ", "").replace("-", "")
    is_code = digits.isascii() and digits.isdigit() and len(digits) == RECOVERY_CODE_DIGITS
    return digits if is_code else None


def _grouped(digits: str) -> str:
    starts = range(0, len(digits), GROUP_DIGITS)
    return "-".join(digits[start : start + GROUP_DIGITS] for start in starts)
