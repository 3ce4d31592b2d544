"""When a webhook that failed is sent again. Knows no clock."""

RETRY_SECONDS = (5, 5 * 60, 30 * 60, 2 * 3600, 8 * 3600, 24 * 3600, 48 * 3600)
"""The pauses after the first failure, the second, and so on."""
ATTEMPTS_MAX = len(RETRY_SECONDS) + 1
JITTER = 0.1
"""By how much a pause is made longer at most, as a part of it: many endpoints that fail together do not come together."""


def retry_seconds(attempts: int, chance: float) -> float | None:
    """Return the pause after a number of failed attempts; None if there is no other. ``chance`` is from 0 to 1."""
    if attempts >= ATTEMPTS_MAX:
        return None
    return RETRY_SECONDS[attempts - 1] * (1 + JITTER * chance)
