"""TOTP, the second factor: a code of six digits that changes every half minute (RFC 6238, SHA-1).

Knows neither the clock nor where secrets are stored. SHA-1 and six digits are what every authenticator supports;
the strength is in the secret and the few attempts.
"""

import base64
import hmac
from urllib.parse import quote, urlencode

TOTP_STEP_SECONDS = 30
TOTP_STEPS_BESIDE = 1
TOTP_DIGITS = 6
TOTP_SECRET_BYTES = 20

ISSUER = "Clearlane"


def code_at(secret: bytes, step: int) -> str:
    """Return the code of one step (RFC 4226, 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    at = digest[-1] & 0x0F
    number = int.from_bytes(digest[at : at + 4], "big") & 0x7FFF_FFFF
    return str(number % 10**TOTP_DIGITS).zfill(TOTP_DIGITS)


def step_at(seconds: float) -> int:
    """Return the step of a time in seconds since 1970."""
    return int(seconds) // TOTP_STEP_SECONDS


def matching_step(secret: bytes, code: str, seconds: float, after: int) -> int | None:
    """Return the step whose code this is, or None.

    Clocks may differ by a step. Codes of steps up to ``after`` have been used and are refused.
    """
    typed = code.replace(" ", "").encode()
    now, found = step_at(seconds), None
    for step in range(now - TOTP_STEPS_BESIDE, now + TOTP_STEPS_BESIDE + 1):
        right = hmac.compare_digest(code_at(secret, step).encode(), typed)
        if right and step > after:
            found = step
    return found


def provisioning_uri(secret: bytes, name: str) -> str:
    """Return the URI that an authenticator reads, as text or QR code."""
    text = base64.b32encode(secret).decode().rstrip("=")
    label = quote(f"{ISSUER}:{name}")
    return f"otpauth://totp/{label}?{urlencode({'secret': text, 'issuer': ISSUER})}"
