"""A kept summary is counted again by a reader if counting is quick, or if it is old: `pipeline/query/claim_summary`."""

from datetime import timedelta

import msgspec
import pytest

from clearlane.kernel.clock import to_micros
from clearlane.pipeline.query.claim_summary import (
    QUICK_MICROS_MAX,
    SUMMARY_AGE_MAX,
    load_summary,
    refresh_summary,
)
from clearlane.store.claims import claim_summaries
from tests.pipeline.flowing import ACTOR, Flow

pytestmark = pytest.mark.one_database


async def keep_as_slow(flow):
    """Have the kept summary say that counting took longer than a reader waits."""
    summary = await refresh_summary(flow.context, flow.site)
    slow = msgspec.structs.replace(summary, took=QUICK_MICROS_MAX + 1)
    counted_at, content = to_micros(slow.counted_at), msgspec.json.encode(slow)
    await flow.database.write(
        flow.site.scope,
        lambda tx: claim_summaries.put_summary(tx, counted_at, content),
        actor=ACTOR,
    )


async def claims_of(flow):
    return (await load_summary(flow.context, flow.site)).tab("all").count


async def test_a_summary_that_was_slow_to_count_is_counted_by_a_reader_once_it_is_old(
    place, database, clock
):
    flow = await Flow.open(place, database, clock)
    await flow.submit(1)
    await keep_as_slow(flow)
    clock.advance(timedelta(seconds=1))
    await flow.submit(2)
    assert await claims_of(flow) == 1
    clock.advance(SUMMARY_AGE_MAX)
    assert await claims_of(flow) == 3
