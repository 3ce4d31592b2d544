"""A process that dies between any two steps of fetching and posting loses nothing and repeats nothing."""

import json
import os
import signal
from collections import Counter

import pytest

from clearlane.engine import fault_injection
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.store.payments.payment_query import PaymentQuery
from tests.cases import IS_THOROUGH
from tests.claims.answers import paid, payment
from tests.databases import KINDS
from tests.pipeline.flowing import PAYER, Flow, accounts
from tests.pipeline.test_claim_events import feed
from tests.prepared_process import PreparedProcess

POINTS = ("fetched", "stored", "dropped", "payment opened", "applied", "payment closed")
TRIED = [
    (kind, point)
    for at, point in enumerate(POINTS)
    for kind in (KINDS if IS_THOROUGH else KINDS[at % 2 :][:1])
]
"""Each point on one database, and on both by `make thorough`."""


async def run(place, folder, crash_at=""):
    """Collect and post in another process; how it ended."""
    given = {
        "kind": place.kind, "url": place.url, "data": str(place.data), "folder": str(folder),
        "payer": PAYER,
    }  # fmt: skip
    return await PreparedProcess.run(
        "tests.pipeline.posting_process", json.dumps(given),
        env={**os.environ, fault_injection.VARIABLE: crash_at},
    )  # fmt: skip


async def check_events(flow, ids):
    """Everything is reported once, and the events of each claim are counted without a gap."""
    found = await feed(flow)
    types = Counter((one["type"], one["claim_number"]) for one in found)
    assert types["payment.received", None] == 1
    first, *others = ids
    assert (types["claim.paid", first], types["claim.reversed", first]) == (2, 1)
    assert {types["claim.paid", id] for id in others} == {1}
    for id in ids:
        sequences = [one["data"]["sequence"] for one in found if one["claim_number"] == id]
        assert sequences == list(range(1, len(sequences) + 1))


@pytest.mark.parametrize(("database_kind", "point"), TRIED)
async def test_a_crash_while_a_file_is_posted_is_made_good(place, database, clock, tmp_path, point):
    flow = await Flow.open(place, database, clock)
    ids, content = await flow.sent(3)
    first, *_ = numbers = accounts(content)
    claims = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in numbers]
    claims.append(paid(first, "22", "-100", "-80", "CAS*CO*45*-20"))
    claims.append(paid(first, "1", "100", "60", "CAS*CO*45*40"))
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "remittance").write_bytes(payment(*claims, amount="220"))
    if point == "dropped":  # in a later visit than it was taken in
        assert await run(place, answers) == 0
    assert await run(place, answers, point) == -signal.SIGKILL
    for _ in range(2 if point == POINTS[-1] else 1):  # the second time there is nothing left to do
        for _ in range(2):  # a file is removed in a later visit than it was taken in
            assert await run(place, answers) == 0
        assert not list(answers.iterdir())
        [file] = await flow.files()
        assert (file.state, file.applied, file.parked) == ("applied", 5, 0)
        rows = await flow.statuses()
        assert {rows[id].state for id in ids} == {"complete"}
        assert [rows[id].payer_cents for id in ids] == [
            6000,
            8000,
            8000,
        ]  # 220.00, as the payer's ledger says
        assert [len(await flow.facts(id)) for id in ids] == [4, 2, 2]
        assert await flow.documents() == 5
        [listed] = await list_payments(flow.database, flow.vault, PaymentQuery())
        found = listed.payment
        assert (found.state, found.claims, found.unmatched, found.balanced) == (
            "posted",
            5,
            0,
            True,
        )
        assert found.your_amount == found.amount == 220_00
        await check_events(flow, ids)


def test_every_point_of_fetching_and_posting_is_tried():
    names = list(fault_injection.CRASH_POINTS)
    own = names[names.index("fetched") :]
    assert {name for name in own if not name.startswith(("webhooks", "response "))} == set(POINTS)
