"""Payers' documents are read by their ids in pages, for their own site only, with one audit row a call."""

import pytest

from clearlane.pipeline.query.retrieve_documents import (
    DOCUMENT_IDS_AT_ONCE,
    DOCUMENTS_PAGE_ROWS,
    retrieve_documents,
)
from clearlane.store.audit import audit
from tests.claims.answers import paid, patient, payment, status
from tests.pipeline.flowing import ACTOR, Flow, accounts

PAID = DOCUMENTS_PAGE_ROWS + 2


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def retrieve(flow, ids, site=None):
    """Both lists: the pages of document ids."""
    found = await retrieve_documents(
        flow.database,
        flow.vault,
        ids,
        site=site or flow.site,
        actor=ACTOR,
        at=flow.clock.now(),
    )
    return [
        [[one.document_id for one in page] async for page in pages]
        for pages in (found.payments, found.statuses)
    ]


async def audited(flow):
    rows = [row async for row in audit.read_between(flow.database, 0, 1 << 62)]
    return [row["count"] for row in rows if row["action"] == "documents.read"]


async def test_documents_come_in_pages_in_the_order_of_their_ids(flow):
    requests, content = await flow.sent(PAID + 1)
    first, *rest = accounts(content)
    claims = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in rest]
    await flow.arrive(payment(*claims, amount=str(80 * PAID)))
    await flow.arrive(status(patient(first, "A2:20*20261102*WQ*100")))
    known = [(await flow.status(id)).document_id for id in requests]
    shown, *payments = known
    unknown = [f"none{at}" for at in range(DOCUMENT_IDS_AT_ONCE)]
    # Far apart, in another order than they are stored, and one of them twice.
    asked = [*payments[::-1], *unknown, shown, payments[0], "a\0b"]

    pages, statuses = await retrieve(flow, asked)
    assert [len(page) for page in pages] == [DOCUMENTS_PAGE_ROWS, 2]
    assert [id for page in pages for id in page] == payments[::-1]
    assert statuses == [[shown]]
    assert await audited(flow) == [len(known)]

    other = await flow.new_site()
    assert await retrieve(flow, asked, site=other) == [[], []]
    assert await audited(flow) == [len(known), 0]


async def test_a_hundred_thousand_unknown_ids_are_one_call(flow):
    assert await retrieve(flow, [f"none{at}" for at in range(100_000)]) == [[], []]
    assert await audited(flow) == [0]
