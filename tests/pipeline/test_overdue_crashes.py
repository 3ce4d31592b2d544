"""A node that dies while it acts on overdue claims: one row per step; a question whose sending was cut is repeated and counted."""

import json
import os
import signal
from collections import Counter

from sqlalchemy import func, select

from clearlane.claims.awaiting import OverdueStep
from clearlane.engine import fault_injection
from clearlane.pipeline.inquiry.ask_payer import list_asks
from clearlane.store.claims import due_claims
from clearlane.store.database.schema import inquiries
from clearlane.store.database.sql import Statement
from tests.pipeline.flowing import EVERYONE, Flow
from tests.pipeline.test_claim_events import feed
from tests.pipeline.test_crashes import OF_OVERDUE
from tests.prepared_process import PreparedProcess

CLAIMS = 3
LOOKED, ASKED, STEPPED, SENT = OF_OVERDUE
LATER_SECONDS = 300
"""After the lease of a question that a dead node was sending."""


COUNT_SENDINGS = Statement(select(func.sum(inquiries.c.attempts)), system=True)


async def test_killed_at_every_point_of_the_sweep_each_step_is_taken_once(place, database, clock, tmp_path):  # fmt: skip
    flow = await Flow.open(place, database, clock)
    numbers, _ = await flow.sent(CLAIMS)
    notes, nth = tmp_path / "asked", 0

    async def sweep(days, crash_at=""):
        nonlocal nth
        nth += 1
        given = {
            "kind": place.kind, "url": place.url, "data": str(place.data), "notes": str(notes),
            "days": days, "seconds": nth * LATER_SECONDS, "node": f"n{nth}",
        }  # fmt: skip
        process = await PreparedProcess.run(
            "tests.pipeline.overdue_process", json.dumps(given),
            env={**os.environ, fault_injection.VARIABLE: crash_at},
        )  # fmt: skip
        assert process == (-signal.SIGKILL if crash_at else 0)

    async def steps():
        async with flow.database.read(flow.site.scope) as tx:
            taken = [await due_claims.list_steps(tx, one) for one in numbers]
        found = Counter(tuple(one.step for one in of_claim) for of_claim in taken)
        assert len(found) == 1, found
        return next(iter(found))

    await sweep(30, LOOKED)
    assert await steps() == (OverdueStep.LOOK,)
    # The question is stored, and the node dies before the step is; then between its sending and its record.
    await sweep(40, ASKED)
    assert await steps() == (OverdueStep.LOOK,)
    await sweep(40, SENT)
    # Questions are sent beside the sweep, so that the steps may be recorded by then or not.
    asked_before = len(notes.read_text().split())
    await sweep(40)
    assert await steps() == (OverdueStep.LOOK, OverdueStep.ASK)
    for number in numbers:
        assert len(await list_asks(flow.context, flow.site.scope, number)) == 1
    # What was cut is sent again: the payer notes more questions than claims, and the rows count each sending.
    assert len(notes.read_text().split()) > asked_before
    async with flow.database.read(EVERYONE) as tx:
        [(counted,)] = await tx.rows(COUNT_SENDINGS)
    assert counted >= len(notes.read_text().split()) > CLAIMS
    await sweep(80, STEPPED)
    await sweep(120)
    assert await steps() == (
        OverdueStep.LOOK, OverdueStep.ASK, OverdueStep.ASK_AGAIN, OverdueStep.PERSON,
    )  # fmt: skip
    # One event for each step of each claim, counted without a gap.
    reported = await feed(flow)
    for number in numbers:
        own = [one for one in reported if one["claim_number"] == number]
        sequences = [one["data"]["sequence"] for one in own]
        assert sequences == list(range(1, len(sequences) + 1))
        said = Counter(one["data"].get("step") for one in own if "step" in one["data"])
        assert said == dict.fromkeys(map(str, await steps()), 1)
