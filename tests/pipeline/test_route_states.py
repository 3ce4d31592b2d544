"""How each payer is reached as an operator sees it, and what the operator does about it.

Also tests `pipeline/operator/route_admin`, `store/delivery/route_traffic`, `store/events/delivery_failures`,
`store/database/schema/failed_deliveries` and `pipeline/query/installation/waiting_claims`.
"""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from clearlane.connect.port import Presence, Unreachable
from clearlane.payers.hops import HOP, Hop
from clearlane.payers.routes import Route, RouteKind, RouteSecrets
from clearlane.pipeline.operator import batch_admin, route_admin
from clearlane.pipeline.query.installation import condition_checks
from clearlane.pipeline.query.installation.route_states import (
    RouteBacklog,
    load_days,
    load_route_states,
    load_traffic,
)
from clearlane.pipeline.query.installation.waiting_claims import waiting_by_payer
from clearlane.store.database.database import Actor
from clearlane.store.delivery import batches
from clearlane.store.delivery.routes import add_route
from clearlane.store.events import delivery_failures
from tests.databases import KINDS
from tests.pipeline.outbound import HARBOR, MEADOW, outbound
from tests.pipeline.test_measures import source_of

NORA = Actor("console", "nora")
AWAY = Unreachable("The payer cannot be reached.", Presence.ABSENT)
MEADOW_MEDICAL, HARBOR_MEDICAL = ("Medical", MEADOW), ("Medical", HARBOR)


@pytest.fixture(params=KINDS)
async def out(request, new_place, clock):
    async with outbound(await new_place(request.param), clock) as made:
        yield made


async def states(out):
    access = out.context.payer_access
    found = await load_route_states(out.context.database, access.connections(), access.payers())
    return {one.destination: one for one in found}


async def traffic(out, state):
    found = await load_traffic(out.context.database, [state], out.clock.now())
    return found[state.destination]


async def test_a_payer_that_is_down_comes_first_with_what_waits(out):
    meadow, harbor = out.connections.add(), out.connections.add(HARBOR)
    await out.submit(2)
    await out.submit(1, HARBOR)
    meadow.trouble = AWAY
    await out.go(minutes=1)
    found = await states(out)
    assert [*found] == [MEADOW_MEDICAL, HARBOR_MEDICAL]
    assert [one.condition for one in found.values()] == ["down", "works"]
    down = found[MEADOW_MEDICAL]
    waiting = down.waiting
    assert (waiting.claims, waiting.files, waiting.tries, waiting.fault) == (2, 1, 1, str(AWAY))
    assert waiting.cents == 2 * 10_000
    assert waiting.next_try > waiting.failing_since
    seen = await traffic(out, down)
    assert (seen.last_out, seen.last_in, [one.fault for one in seen.failures]) == (
        None,
        None,
        [str(AWAY)],
    )
    works = await traffic(out, found[HARBOR_MEDICAL])
    assert (works.last_out.claims, works.late.files) == (1, 0)
    assert len(harbor.sent) == 1
    [*_, today] = await load_days(out.context.database, MEADOW_MEDICAL, out.clock.now(), "UTC")
    assert (today.failures, today.out, today.faults) == (1, 0, {str(AWAY)})
    out.pass_time(days=3)
    assert (await traffic(out, found[HARBOR_MEDICAL])).late.files == 1
    # A newer file does not hide an older one that was never answered.
    await out.submit(1, HARBOR)
    await out.go(minutes=1)
    late = (await traffic(out, found[HARBOR_MEDICAL])).late
    assert (late.files, late.oldest_at) == (1, works.last_out.delivered_at)
    # Try now does not wait for the pause, and after the delivery everything works again.
    meadow.trouble = None
    await route_admin.try_now(out.context, MEADOW_MEDICAL, actor=NORA)
    assert await out.deliver() == 1
    back = (await states(out))[MEADOW_MEDICAL]
    assert (back.condition, back.waiting.claims, back.waiting.fault) == ("works", 0, "")


async def test_the_last_file_to_a_hop_is_one_that_it_has(out):
    box = out.connections.add(hop="NORTHGATE", hop_payer_id="60054")
    to_hop = SimpleNamespace(destination=("Hop", "NORTHGATE"), waiting=RouteBacklog())
    await out.submit(1)
    box.trouble = AWAY
    await out.go(minutes=1)
    assert (await traffic(out, to_hop)).last_out is None
    box.trouble = None
    await out.go(hours=1)
    delivered = (await traffic(out, to_hop)).last_out
    assert (delivered.hop, delivered.payer_id) == ("NORTHGATE", MEADOW)
    box.trouble = AWAY
    await out.submit(1)
    await out.go(minutes=1)
    assert (await traffic(out, to_hop)).last_out.id == delivered.id


async def test_a_hop_is_down_if_files_fail_on_the_way_to_it(out):
    hop = Hop("NORTHGATE", "Northgate Clearing", [])
    out.connections.hops = lambda: [hop]
    to_hop = out.connections.add(hop.id, type=HOP, hop=hop.id)
    [of_hop] = out.connections.all_mailbox_routes()
    for payer_id in (MEADOW, HARBOR):
        one = replace(of_hop, type="Medical", payer_id=payer_id, hop_payer_id=f"9{payer_id}")
        out.connections.routes["Medical", payer_id] = [one]
        await out.submit(2, payer_id)
    assert (await states(out))[HOP, hop.id].condition == "works"
    to_hop.trouble = AWAY
    await out.go(minutes=1)
    await out.go(minutes=20)
    found = await states(out)
    assert {key: one.condition for key, one in found.items()} == dict.fromkeys(
        [(HOP, hop.id), MEADOW_MEDICAL, HARBOR_MEDICAL], "down"
    )
    # The claims are counted at their payers, once; the fault and the next try are the hop's too.
    waiting = found[HOP, hop.id].waiting
    assert (waiting.claims, waiting.files, waiting.fault) == (0, 0, str(AWAY))
    assert waiting.next_try > waiting.failing_since
    # A person reads about the hop once, and not about each payer.
    measures = await source_of(out.context).measure()
    [case] = condition_checks.find_unreachable(measures)
    assert case.sentence.startswith("Hop NORTHGATE cannot be sent anything over route ")
    assert "2 files and 4 claims wait." in case.sentence
    assert ("payer", hop.id) in case.labels
    assert ("type", HOP) in case.labels
    await route_admin.pause(out.context, MEADOW_MEDICAL, actor=NORA)
    assert (await states(out))[HOP, hop.id].condition == "down", "each payer is paused by itself"


async def test_a_pause_by_a_person_holds_files_until_it_is_ended(out):
    meadow = out.connections.add()
    assert await route_admin.pause(out.context, MEADOW_MEDICAL, actor=NORA)
    assert not await route_admin.pause(out.context, MEADOW_MEDICAL, actor=NORA)
    await out.submit(1)
    await out.go(hours=30)
    assert meadow.sent == {}
    assert not await out.has_due_work()
    held = (await states(out))[MEADOW_MEDICAL]
    assert (held.condition, held.waiting.claims) == ("paused", 1)
    await route_admin.try_now(out.context, MEADOW_MEDICAL, actor=NORA)
    assert await out.deliver() == 0
    assert await route_admin.resume(out.context, MEADOW_MEDICAL, actor=NORA)
    assert not await route_admin.resume(out.context, MEADOW_MEDICAL, actor=NORA)
    assert await out.deliver() == 1
    assert (await states(out))[MEADOW_MEDICAL].condition == "works"


async def test_a_route_that_is_gone_and_a_batch_in_doubt_are_reported(out):
    out.connections.add()
    await out.submit(1)
    out.pass_time(minutes=1)
    await out.create_batches()
    await batch_admin.mark_in_doubt_after_restore(out.context, actor=NORA)
    state = (await states(out))[MEADOW_MEDICAL]
    assert (state.condition, state.waiting.in_doubt, state.waiting.files) == ("in doubt", 1, 0)
    out.connections.routes.clear()
    assert (await states(out))[MEADOW_MEDICAL].condition == "no route"


async def test_claims_of_a_batch_in_doubt_are_counted_apart_from_those_that_wait(out):
    out.connections.add()
    await out.submit(1)
    out.pass_time(minutes=1)
    await out.create_batches()
    await batch_admin.mark_in_doubt_after_restore(out.context, actor=NORA)
    out.pass_time(minutes=1)
    await out.submit(1)
    async with out.context.database.read(batches.SCOPE) as tx:
        waiting = (await waiting_by_payer(tx))[MEADOW_MEDICAL]
    state = (await states(out))[MEADOW_MEDICAL]
    assert (waiting.claims, len(waiting.in_doubt)) == (1, 1)
    assert (state.waiting.claims, state.waiting.in_doubt) == (1, 1)
    assert state.waiting.oldest_at == waiting.oldest_at > waiting.in_doubt[0].created_at


async def test_old_failures_are_forgotten(out):
    meadow = out.connections.add()
    meadow.trouble = AWAY
    await out.submit(1)
    await out.go(minutes=1)
    out.pass_time(days=delivery_failures.FAILURES_KEPT_DAYS + 1)
    await out.deliver()
    async with out.context.database.read(batches.SCOPE) as tx:
        rows = await delivery_failures.list_failures(tx, MEADOW_MEDICAL, since=0, limit=10)
    assert len(rows) == 1


async def test_a_stored_route_is_tested_and_listed_while_inactive(out, tmp_path):
    route = Route(
        payer_id=MEADOW, type="Medical", kind=RouteKind.FOLDER, active=False,
        options={"outbox": str(tmp_path / "out"), "inbox": str(tmp_path / "in"), "sender_id": "US",
                 "receiver_id": "MEADOW"},
    )  # fmt: skip
    context = out.context
    done = await add_route(
        context.database, context.vault, route, RouteSecrets(), now=out.clock.now(), actor=NORA
    )
    state = (await states(out))[MEADOW_MEDICAL]
    assert (state.condition, state.kinds) == ("not used yet", ("folder",))
    checks = await route_admin.check_connection(context, done.route.id, actor=NORA)
    assert not all(check.passed for check in checks)
