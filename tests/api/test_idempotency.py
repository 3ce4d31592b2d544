"""A call under an `Idempotency-Key` is answered once, on both databases, and its answer is sealed.

Also tests `store/idempotent_answers` and `store/schema/api`.
"""

import asyncio
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from clearlane.accounts.model import Site, Vendor
from clearlane.api.endpoint import ApiLimits, BodyUse, Call
from clearlane.api.errors import RequestRefusal
from clearlane.api.http_responses import json_response
from clearlane.api.idempotency import ANSWERS_KEPT_HOURS, CALL_SECONDS_MAX, answer_once
from clearlane.api.v1.problems import PROBLEMS
from clearlane.kernel.clock import ManualClock
from clearlane.store.database import CommitOutcomeUnknown, DatabaseUnavailable, SystemScope
from clearlane.store.schema import idempotent_answers
from clearlane.store.sql import Statement
from clearlane.store.vault import Vault
from tests.databases import KINDS, START, make_site

ANSWERS = Statement(select(idempotent_answers.c.answer), system=True)
SECRET = "ARDEN"


@pytest.fixture(params=KINDS)
async def service(request, new_place):
    """What `answer_once` needs of an installation."""
    place = await new_place(request.param)
    clock = ManualClock(START)
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    yield SimpleNamespace(database=database, vault=vault, wall=clock, clock=clock)
    await database.close()


def a_call(service, vendor, handler, *, key="k1", body=b"{}", **changes):
    async def read_document():
        return body

    site = Site(1, vendor, "S", "C", "Site", baa_accepted=True)
    endpoint = SimpleNamespace(name="Do", handler=handler, body_use=BodyUse.JSON, errors=PROBLEMS)
    values = {
        "endpoint": endpoint, "context": service, "limits": ApiLimits(),
        "vendor": Vendor(id=vendor, key="ACME", name="Acme"), "named_site": None, "sites": (site,),
        "parameters": {}, "path": {"claim_number": "C1"}, "headers": {"idempotency-key": key},
        "body": SimpleNamespace(read_document=read_document), "request_id": "r", "now": START,
        "sandbox": True, "base_url": "", "stopping": asyncio.Event(),
    }  # fmt: skip
    return Call(**(values | changes))


class Counting:
    """A handler that counts how often it ran."""

    def __init__(self, fault=None):
        self.count, self.fault = 0, fault

    async def __call__(self, call):
        self.count += 1
        if self.fault:
            raise self.fault
        return json_response(200, {"count": self.count, "name": SECRET}, {"X-Own": "1"})


async def test_the_same_call_is_answered_with_the_stored_answer(service):
    scope, handler = await make_site(service.database), Counting()
    first = await answer_once(a_call(service, scope.vendor, handler))
    again = await answer_once(a_call(service, scope.vendor, handler))
    assert handler.count == 1
    assert (again.status_code, again.body) == (first.status_code, first.body)
    assert again.headers["x-own"] == "1"
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    async with service.database.read(SystemScope("a test")) as tx:
        ((sealed,),) = await tx.rows(ANSWERS)
    assert SECRET.encode() not in sealed
    other = await make_site(service.database)
    await answer_once(a_call(service, other.vendor, handler))
    assert handler.count == 2  # a key belongs to a vendor


@pytest.mark.parametrize(
    "change",
    [{"body": b"[]"}, {"path": {"claim_number": "C2"}}, {"parameters": {"dry_run": True}}],
    ids=lambda change: next(iter(change)),
)
async def test_another_call_under_the_same_key_is_refused(service, change):
    scope, handler = await make_site(service.database), Counting()
    await answer_once(a_call(service, scope.vendor, handler))
    with pytest.raises(RequestRefusal) as refused:
        await answer_once(a_call(service, scope.vendor, handler, **change))
    assert (refused.value.response.status_code, handler.count) == (422, 1)


@pytest.mark.parametrize("key", ["", " ", "é", "x" * 256, "a\tb"])
async def test_a_key_that_cannot_be_used_is_named(service, key):
    with pytest.raises(RequestRefusal) as refused:
        await answer_once(a_call(service, 1, Counting(), key=key))
    assert refused.value.response.status_code == 400
    assert b"Idempotency-Key" in refused.value.response.body


async def test_a_key_is_free_again_after_its_time(service):
    scope, handler = await make_site(service.database), Counting()
    await answer_once(a_call(service, scope.vendor, handler))
    service.wall.advance(timedelta(hours=ANSWERS_KEPT_HOURS, seconds=1))
    await answer_once(a_call(service, scope.vendor, handler, body=b"[]"))
    assert handler.count == 2


@pytest.mark.parametrize(
    "fault", [RequestRefusal(PROBLEMS.no_resource()), DatabaseUnavailable("gone")], ids=str
)
async def test_a_call_that_changed_nothing_leaves_its_key_free(service, fault):
    scope = await make_site(service.database)
    with pytest.raises(type(fault)):
        await answer_once(a_call(service, scope.vendor, Counting(fault)))
    answer = await answer_once(a_call(service, scope.vendor, Counting(), body=b"[]"))
    assert answer.status_code == 200


async def test_a_call_that_runs_or_was_cut_off_keeps_its_key_for_a_while(service):
    scope = await make_site(service.database)
    with pytest.raises(CommitOutcomeUnknown):
        await answer_once(a_call(service, scope.vendor, Counting(CommitOutcomeUnknown("cut"))))
    handler = Counting()
    with pytest.raises(RequestRefusal) as refused:
        await answer_once(a_call(service, scope.vendor, handler))
    assert refused.value.response.status_code == 409
    assert refused.value.response.headers["retry-after"]
    service.wall.advance(timedelta(seconds=CALL_SECONDS_MAX + 1))
    await answer_once(a_call(service, scope.vendor, handler))
    assert handler.count == 1


async def test_of_calls_at_once_one_runs(service):
    scope, handler = await make_site(service.database), Counting()
    ends = await asyncio.gather(
        *(answer_once(a_call(service, scope.vendor, handler)) for _ in range(8)),
        return_exceptions=True,
    )
    assert handler.count == 1
    refused = [one.response.status_code for one in ends if isinstance(one, RequestRefusal)]
    assert set(refused) <= {409}
    assert len(refused) < 8
