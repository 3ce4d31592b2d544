"""Boundaries at which a test lets the process die, as a power cut would.

Each stands right after something became durable or visible to others, where a crash must neither lose
nor repeat it. In service they do nothing.
"""

import os
import signal

VARIABLE = "CLEARLANE_TEST_CRASH_AT"
"""Names the point in the environment; ``fixed:3`` means the third time it is passed."""

POINTS: dict[str, str] = {
    "accepted": "Claims are stored; the caller has not been told.",
    "gathered": "A batch is written, in memory only.",
    "fixed": "A batch is stored with its name and number.",
    "sending": "A batch is marked as being sent; nothing has left.",
    "delivered": "The payer has the file; we have not noted it.",
    "recorded": "The delivery is noted with its claims.",
    "fetched": "A payer's file is read; it is not stored.",
    "stored": "A payer's file is stored; it still waits at the payer.",
    "dropped": "A payer's file is gone there; it is not yet applied.",
    "applied": "What a file says is applied.",
}
"""Every point and how things stand there, in the order of a claim's way."""

_passed: dict[str, int] = dict.fromkeys(POINTS, 0)


def reached(name: str) -> None:
    """Say that a point is passed; the process dies here if it was told to."""
    assert name in POINTS, f"no such point: {name}"
    wanted, _, time = os.environ.get(VARIABLE, "").partition(":")
    if wanted != name:
        return
    _passed[name] += 1
    if _passed[name] == int(time or 1):
        os.kill(os.getpid(), signal.SIGKILL)
