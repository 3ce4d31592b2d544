"""Crash points: places where a test kills the process, as a power cut would.

Each is right after something became durable or visible to others, where a crash must neither lose nor repeat it. In
production they do nothing.
"""

import os
import signal

VARIABLE = "CLEARLANE_TEST_CRASH_AT"
"""The environment variable that names the point; ``batched:3`` is the third time it is reached."""

CRASH_POINTS: dict[str, str] = {
    "file part": "A part of a site's file is stored; the file is not received.",
    "file received": "A site's file is received; the caller has no response.",
    "file begun": "Work has a site's file and has read none of it.",
    "file staged": "A page of claims or patients of a site's file is staged; the file is not accepted.",
    "file read": "A site's file is read to its end and all its claims are staged; nothing is answered.",
    "file answered": "The answers to a site's file are stored and not listed; the file is not accepted.",
    "file accepted": "A site's file is accepted; its claims are not released.",
    "file released": "A page of claims of an accepted file is released.",
    "inquiries asked": "A page of inquiries of an accepted 270 or 276 file is asked.",
    "inquiries answered": "The 271 or 277 file of a file of inquiries is stored and not listed.",
    "accepted": "Claims are stored; the caller has no response.",
    "changed": "A call under an Idempotency-Key has changed something; neither that nor its answer is committed.",
    "written": "A batch is written, in memory only.",
    "batched": "A batch is stored with its name and number.",
    "sending": "A batch is marked as being sent; nothing is sent.",
    "arriving": "The file is at the payer's under a temporary name; the rename is marked and not done.",
    "delivered": "The payer has the file; the delivery is not recorded.",
    "recorded": "The delivery is recorded with its claims.",
    "overdue found": "The first step about overdue claims is recorded; the next ones are not looked for.",
    "overdue asked": "A question about an overdue claim is stored; the step is not recorded.",
    "overdue stepped": "The next steps about overdue claims are recorded.",
    "question sent": "A payer got a question in real time; what it answered is not recorded.",
    "fetched": "A payer's file is read; it is not stored.",
    "stored": "A payer's file is stored; it still waits at the payer.",
    "dropped": "A payer's file is deleted there; it is not posted.",
    "payment opened": "A payment is stored; none of its claims is recorded.",
    "applied": "A page of statements is recorded.",
    "webhooks noted": "Events are noted to be delivered to an endpoint; none is sent.",
    "webhooks sent": "An endpoint got webhooks; that is not recorded.",
    "webhooks recorded": "It is recorded what became of webhooks.",
    "payment closed": "A payment is stored with all its claims; the outcome of its file is not recorded.",
    "response stored": "What goes back to the sender of a file is stored, and not listed.",
    "response listed": "What goes back to the sender of a file is listed.",
}
"""Every point with the state of things there, in the order in which a claim passes them."""

_passed: dict[str, int] = dict.fromkeys(CRASH_POINTS, 0)


def crash_point(name: str) -> None:
    """Kill the process here if the environment says so."""
    assert name in CRASH_POINTS, f"no such crash point: {name}"
    wanted, _, time = os.environ.get(VARIABLE, "").partition(":")
    if wanted != name:
        return
    _passed[name] += 1
    if _passed[name] == int(time or 1):
        os.kill(os.getpid(), signal.SIGKILL)
