"""Facts are recorded on claims of their own client alone.

Also tests `pipeline/claim_status` and `pipeline/stored_facts`.
"""

import pytest
from sqlalchemy import update

from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.pipeline.record_facts import ClaimFact, ClaimOwnershipError, record_facts
from clearlane.store.claims.claims import NOT_ACCEPTED
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


def sent(flow, claim_number, site):
    fact = Fact(kind=FactKind.SENT, at=flow.clock.now(), attempt=1)
    return ClaimFact(claim_number, site.vendor_id, site.id, fact)


async def record(flow, claim_fact):
    async def job(tx):
        return await record_facts(
            tx, flow.vault, [claim_fact], flow.clock.now(), flow.context.answer_days
        )

    return await flow.database.write(EVERYONE, job, actor=ACTOR)


async def test_a_fact_under_another_client_is_refused_and_changes_nothing(flow):
    [id] = await flow.submit()
    other = await flow.new_site()
    with pytest.raises(ClaimOwnershipError):
        await record(flow, sent(flow, id, other))
    assert await flow.facts(id) == []
    assert (await flow.status(id)).state == "received"
    assert await record(flow, sent(flow, id, flow.site)) == 1
    assert (await flow.status(id)).state == "sent"


async def test_a_fact_about_a_claim_that_was_not_accepted_is_refused(flow):
    [id] = await flow.submit()
    refuse = Statement(update(claims).values(status=None, state=NOT_ACCEPTED), system=True)
    await flow.database.write(EVERYONE, lambda tx: tx.run(refuse), actor=ACTOR)
    with pytest.raises(LookupError, match=id):
        await record(flow, sent(flow, id, flow.site))
    assert await flow.facts(id) == []
