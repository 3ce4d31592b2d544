"""A call under an `Idempotency-Key` is answered once, on both databases, and its answer is sealed.

Also tests `store/installation/idempotent_answers` and `store/database/schema/api`.
"""

import asyncio
import json
import os
import signal
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from clearlane.accounts.model import Site, Vendor
from clearlane.api.frame.endpoint import ApiLimits, BodyUse, Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.idempotency import RecordedResponse, answer_once
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1.problems import PROBLEMS
from clearlane.engine import fault_injection
from clearlane.kernel.ids import VendorScope
from clearlane.pipeline.notify.purge_events import purge_old_answers
from clearlane.store.database.database import (
    Actor,
    CommitOutcomeUnknown,
    DatabaseUnavailable,
    SystemScope,
)
from clearlane.store.database.schema import audit, idempotent_answers
from clearlane.store.database.sql import Statement
from clearlane.store.installation.idempotent_answers import ANSWERS_KEPT_HOURS
from clearlane.store.vault.vault import Vault
from tests.databases import KINDS, START, make_site
from tests.manual_clock import ManualClock
from tests.prepared_process import PreparedProcess

pytestmark = pytest.mark.one_database

ANSWERS = Statement(select(idempotent_answers.c.answer), system=True)
CHANGE = "test.changed"
CHANGES = Statement(select(audit.c.seq).where(audit.c.action == CHANGE), system=True)
SECRET = "ARDEN"


async def open_node(place):
    """What `answer_once` needs of an installation."""
    clock = ManualClock(START)
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    return SimpleNamespace(place=place, database=database, vault=vault, wall=clock, clock=clock)


@pytest.fixture(params=KINDS)
async def service(request, new_place):
    node = await open_node(await new_place(request.param))
    yield node
    await node.database.close()


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
    """A handler that changes something, and counts how often it ran."""

    def __init__(self, fault=None, *, fault_after=None):
        self.count, self.fault, self.fault_after = 0, fault, fault_after

    async def __call__(self, call):
        self.count += 1
        if self.fault:
            raise self.fault

        async def change(tx):
            tx.audit(CHANGE)

        async def respond(tx, result):
            content = {"count": self.count, "name": SECRET}
            return json_response(200, content, {"X-Own": "1"})

        recorded = RecordedResponse(call, respond)
        scope = VendorScope(call.vendor.id, ())
        await call.context.database.write(scope, recorded.extend(change), actor=call.actor)
        if self.fault_after:
            raise self.fault_after
        return recorded.response


async def changes(service):
    """How often something was changed."""
    async with service.database.read(SystemScope("a test")) as tx:
        return len(await tx.rows(CHANGES))


@pytest.mark.both_databases
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


async def test_a_call_that_changes_nothing_is_answered_once_too(service):
    scope, runs = await make_site(service.database), []

    async def handler(call):
        runs.append(call)
        return json_response(200, {"count": len(runs)})

    first, again = [await answer_once(a_call(service, scope.vendor, handler)) for _ in range(2)]
    assert (first.body, len(runs)) == (again.body, 1)


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


@pytest.mark.both_databases
async def test_a_key_is_free_again_after_its_time(service):
    scope, handler = await make_site(service.database), Counting()
    await answer_once(a_call(service, scope.vendor, handler))
    service.wall.advance(timedelta(hours=ANSWERS_KEPT_HOURS, seconds=1))
    await answer_once(a_call(service, scope.vendor, handler, body=b"[]"))
    assert handler.count == 2


@pytest.mark.both_databases
async def test_old_answers_are_removed_though_their_vendor_never_calls_again(service):
    scope = await make_site(service.database)
    await answer_once(a_call(service, scope.vendor, Counting()))
    context = SimpleNamespace(database=service.database, actor=Actor("node", "a"))
    kept, over = timedelta(hours=ANSWERS_KEPT_HOURS), timedelta(seconds=1)
    assert await purge_old_answers(context, START + kept) == 0
    assert await purge_old_answers(context, START + kept + over) == 1


@pytest.mark.parametrize(
    "fault", [RequestRefusal(PROBLEMS.no_resource()), DatabaseUnavailable("gone")], ids=str
)
async def test_a_call_that_changed_nothing_leaves_its_key_free(service, fault):
    scope = await make_site(service.database)
    with pytest.raises(type(fault)):
        await answer_once(a_call(service, scope.vendor, Counting(fault)))
    answer = await answer_once(a_call(service, scope.vendor, Counting(), body=b"[]"))
    assert (answer.status_code, await changes(service)) == (200, 1)


@pytest.mark.both_databases
async def test_a_fault_before_the_answer_is_stored_undoes_the_change(service, monkeypatch):
    scope, handler = await make_site(service.database), Counting()
    with monkeypatch.context() as patched:
        patched.setattr(service.vault, "seal", lambda *_: b"".index(b"x"))
        with pytest.raises(ValueError, match="subsection not found"):
            await answer_once(a_call(service, scope.vendor, handler))
    assert await changes(service) == 0
    await answer_once(a_call(service, scope.vendor, handler))
    assert await changes(service) == 1


@pytest.mark.parametrize("fault", [CommitOutcomeUnknown("cut"), asyncio.CancelledError()], ids=repr)
async def test_a_call_cut_off_after_its_change_is_answered_when_it_is_repeated(service, fault):
    scope = await make_site(service.database)
    with pytest.raises(type(fault)):
        await answer_once(a_call(service, scope.vendor, Counting(fault_after=fault)))
    handler = Counting()
    again = await answer_once(a_call(service, scope.vendor, handler))
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert (handler.count, await changes(service)) == (0, 1)


@pytest.mark.both_databases
async def test_of_calls_at_once_on_any_node_one_is_carried_out_and_all_get_its_answer(service):
    scope, handler = await make_site(service.database), Counting()
    nodes = [service]
    if service.place.kind == "postgresql":
        nodes.append(await open_node(service.place))
    ends = await asyncio.gather(
        *(answer_once(a_call(node, scope.vendor, handler)) for _ in range(8) for node in nodes)
    )
    assert await changes(service) == 1
    assert len({one.body for one in ends}) == 1
    for node in nodes[1:]:
        await node.database.close()


@pytest.mark.both_databases
async def test_a_call_refused_because_of_its_twin_gets_the_answer_of_that(service):
    scope = await make_site(service.database)

    async def refused(call):
        await answer_once(a_call(service, scope.vendor, Counting()))
        raise RequestRefusal(PROBLEMS.no_resource())

    answer = await answer_once(a_call(service, scope.vendor, refused))
    assert (answer.status_code, answer.headers["idempotency-replayed"]) == (200, "true")


@pytest.mark.both_databases
async def test_a_process_killed_between_the_change_and_its_answer_has_done_neither(service):
    scope, place = await make_site(service.database), service.place
    given = {"kind": place.kind, "url": place.url, "data": str(place.data), "vendor": scope.vendor}
    ended = await PreparedProcess.run(
        "tests.api.answering_process", json.dumps(given),
        env={**os.environ, fault_injection.VARIABLE: "changed"},
    )  # fmt: skip
    assert ended == -signal.SIGKILL
    assert await changes(service) == 0
    handler = Counting()
    first, again = [await answer_once(a_call(service, scope.vendor, handler)) for _ in range(2)]
    assert (first.body, handler.count, await changes(service)) == (again.body, 1, 1)
