"""What is measured of an installation, and a payer that is away for three days, as every place shows it.

Also tests `pipeline/query/installation/measures`, `store/installation/operating_counts`, `store/delivery/route_counts`, `cli/doctor/status` and
`cli/doctor/installation_measures`.
"""

import asyncio
import json
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from clearlane.api.operations.metrics import Metrics
from clearlane.api.operations.operations import Operations, Readiness
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.forms import V3_DENTAL
from clearlane.cli.doctor.status import COLUMNS, screen
from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel.clock import SystemClock
from clearlane.pipeline.query.installation.conditions import raised_conditions
from clearlane.pipeline.query.installation.health import health
from clearlane.pipeline.query.installation.measures import MeasureSource
from clearlane.pipeline.route_connections import RouteConnections
from clearlane.settings import load
from clearlane.store.delivery.routes import load_routes
from clearlane.store.installation.operating_counts import AGE_BOUNDS
from clearlane.store.vault.vault import Vault
from clearlane.wiring import open_installation
from tests.claims.answers import nine, paid, patient, payment, status
from tests.manual_clock import ManualClock
from tests.pipeline.flowing import Flow, accounts, controls
from tests.pipeline.outbound import HARBOR, MEADOW, outbound

pytestmark = pytest.mark.one_database

AWAY = Unreachable("The payer cannot be reached.", Presence.ABSENT)
ROUTE = (
    "route add MM001 --type medical --kind folder --option sender_id=CLEARLANE --option receiver_id=MEADOW "
    "--option inbox={data}/in --option outbox={data}/out --json"
)
PAYERS = (
    "Type,Name,SvcPayerId,PayerId,EraAvailability,OffersEligibility,ClaimEnrollmentRequired\n"
    "Medical,Meadow Mutual,MM001,MM001,Available,true,false\n"
)


def source_of(context):
    return MeasureSource(
        database=context.database,
        clock=context.clock,
        wall=context.clock,
        connections=context.payer_access.connections,
    )


def names(measures):
    return {each.condition.name for each in raised_conditions(measures)}


@pytest.fixture
async def out(place, clock):
    async with outbound(place, clock) as made:
        yield made


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


# ---- what is counted --------------------------------------------------------------------------


@pytest.mark.both_databases
async def test_attempts_and_failures_are_counted_by_route_and_what_waits_by_payer(out):
    payer = out.connections.add()
    out.connections.add(HARBOR)
    payer.trouble = AWAY
    await out.submit(2)
    await out.submit(3, HARBOR)
    await out.submit(1, "SD001", kind=V3_DENTAL)
    await out.go(minutes=2)
    await out.go(minutes=20)
    measures = await source_of(out.context).measure()
    counts = {(each.payer_id, each.route_id): each for each in measures.routes}
    assert (counts[MEADOW, 1].attempts, counts[MEADOW, 1].failures) == (2, 2)
    assert (counts[HARBOR, 2].attempts, counts[HARBOR, 2].deliveries) == (1, 1)
    assert counts[HARBOR, 2].last_delivered_at is not None
    by_payer = {of.payer_id: of for of in measures.undelivered}
    assert (by_payer[MEADOW].claims, by_payer[MEADOW].files) == (2, 1)
    assert (by_payer[MEADOW].route_id, by_payer[MEADOW].route_kind) == (1, "memory")
    assert by_payer[MEADOW].fault == "The payer cannot be reached."
    assert (by_payer["SD001"].claims, by_payer["SD001"].has_route) == (1, False)
    [delivered] = measures.delivered
    assert (delivered.files, delivered.files_last_day, delivered.claims_last_day) == (1, 1, 3)
    assert measures.claims_last_day == 6
    assert names(measures) >= {"payer-unreachable"}


@pytest.mark.both_databases
async def test_claims_are_counted_by_state_and_age_and_complete_ones_are_not(flow):
    _, content = await flow.sent()
    await flow.arrive(payment(paid(accounts(content)[0], "1", "100", "80", "CAS*CO*45*20")))
    await flow.sent(2)
    flow.clock.advance(timedelta(days=8))
    await flow.submit(1)
    measures = await source_of(flow.context).measure()
    counted = {of.state: of for of in measures.open_claims}
    assert {state: of.claims for state, of in counted.items()} == {"received": 1, "sent": 2}
    assert counted["sent"].by_age() == {
        "under_1h": 0, "over_1h": 0, "over_1d": 0, "over_7d": 2, "over_30d": 0,
    }  # fmt: skip
    assert len(counted["sent"].older) == len(AGE_BOUNDS)
    assert counted["received"].by_age()["under_1h"] == 1
    assert measures.claims_last_day == 1
    assert "claim-status-late" in names(measures)


async def test_an_acknowledgement_ends_the_wait_for_it(flow):
    _, first = await flow.sent()
    _, second = await flow.sent()
    source = source_of(flow.context)
    [delivered] = (await source.measure()).delivered
    assert (delivered.files, delivered.acknowledged) == (2, 0)
    flow.clock.advance(timedelta(hours=1))
    await flow.arrive(nine(controls(first), ["AK2*837*0001*005010X222A1", "IK5*A"]))
    flow.clock.advance(timedelta(days=3))
    measures = await source.measure()
    [delivered] = measures.delivered
    assert (delivered.files, delivered.acknowledged) == (2, 1)
    assert delivered.acknowledged_after_micros == 3_600_000_000
    assert measures.seconds_since(delivered.waiting_since) == 3 * 86_400 + 3_600
    assert "acknowledgement-late" in names(measures)
    await flow.arrive(nine(controls(second), ["AK2*837*0001*005010X222A1", "IK5*A"], control=501))
    assert "acknowledgement-late" not in names(await source.measure())


@pytest.mark.both_databases
async def test_files_of_payers_and_payments_are_counted_and_one_that_does_not_balance_is_logged(
    flow,
):
    [_], content = await flow.sent()
    with capture_logs() as logged:
        await flow.arrive(
            payment(paid(accounts(content)[0], "1", "100", "80", "CAS*CO*45*5")),
            payment(paid("NOBODY", "1", "100", "80", "CAS*CO*45*20"), reference="EFT2"),
            b"no X12 at all",
        )
    [unbalanced] = [line for line in logged if line["event"] == "payment does not balance"]
    assert (unbalanced["payer"], unbalanced["route"], unbalanced["log_level"]) == ("MM001", 1, "warning")  # fmt: skip
    posted = [line for line in logged if line["event"] == "file posted"]
    assert [(line["payer"], line["kinds"], line["verdict"]) for line in posted] == [
        ("MM001", "835", "applied"),
        ("MM001", "835", "parked"),
    ]
    [refused] = [line for line in logged if line["event"] == "file not posted"]
    assert refused["reason"]
    measures = await source_of(flow.context).measure()
    assert {of.state: of.files for of in measures.inbox} == {"applied": 1, "parked": 1, "quarantined": 1}  # fmt: skip
    assert measures.payments.last_day == 2
    assert (measures.payments.unmatched, measures.payments.unmatched_claims) == (1, 1)
    assert measures.payments.unbalanced == 1
    assert names(measures) >= {
        "inbox-files", "statements-parked", "payments-unmatched", "payments-unbalanced",
    }  # fmt: skip


async def test_a_status_ends_the_wait_for_it(flow):
    [_], content = await flow.sent()
    flow.clock.advance(timedelta(days=8))
    source = source_of(flow.context)
    assert "claim-status-late" in names(await source.measure())
    await flow.arrive(status(patient(accounts(content)[0], "A2:20*20261102*WQ*100")))
    # Claims by state are counted once a minute, so that a million of them cost little.
    assert "claim-status-late" in names(await source.measure())
    assert "claim-status-late" not in names(await source_of(flow.context).measure())


async def test_the_screen_says_how_old_the_counts_of_claims_are(flow):
    measures = await source_of(flow.context).measure()
    assert "WHAT WAITS (by state: claims counted now)" in list(screen(measures, []))
    older = replace(measures, at=measures.at + timedelta(seconds=40))
    assert "WHAT WAITS (by state: claims counted 40 seconds ago)" in list(screen(older, []))


async def test_several_askers_cost_one_measurement(flow):
    source = source_of(flow.context)
    first, second = await asyncio.gather(source.current(), source.current())
    assert first is second
    before = flow.database.waits.read_seconds.counted
    assert await source.current() is first
    assert flow.database.waits.read_seconds.counted == before


@pytest.fixture
def created(place):
    """An installation that was never started."""

    async def create():
        await (await place.open()).close()

    asyncio.run(create())


def test_a_backup_that_other_tools_wrote_is_recorded_and_its_age_is_known(
    place, clearlane, created
):
    assert not clearlane("status --json", code=1)["measures"]["backup_known"]
    assert "There is no file monday.dump" in clearlane("backup --record monday.dump", code=1)
    (place.data / "monday.dump").write_bytes(b"written by pg_dump")
    clearlane("backup --record monday.dump")
    facts = clearlane("status --json", code=1)
    assert facts["measures"]["backup_known"]
    assert [one["name"] for one in facts["conditions"]] == ["no-node"]


# ---- a payer is away for three days ------------------------------------------------------------


@pytest.fixture
def away(place, clearlane, created):
    """A payer whose folder is gone for three days; what the log said meanwhile."""
    for name in ("in", "out"):
        (place.data / name).mkdir()
    (place.data / "payers.csv").write_text(PAYERS)
    clearlane("payer import payers.csv")
    route = clearlane(ROUTE.format(data=place.data))["id"]
    shutil.rmtree(place.data / "out")

    async def wait():
        clock = ManualClock(SystemClock().now() - timedelta(days=3, hours=9))
        database = await place.open(clock)
        vault = Vault(database, place.keys(), clock)
        await vault.load()
        connections = RouteConnections(await load_routes(database, vault), clock)
        async with outbound(place, clock, database=database, connections=connections) as out:
            await out.submit(4)
            for _ in range(9):
                await out.go(hours=8)
            [batch] = await out.batches()
        await database.close()
        assert batch.state is BatchState.READY

    with capture_logs() as logged:
        asyncio.run(wait())
    return route, logged


async def ask(operations, path):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
    scope |= {"server": ("127.0.0.1", 1), "scheme": "http", "root_path": ""}
    await operations(scope, None, send)
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.mark.both_databases
def test_a_payer_that_is_away_for_three_days_is_reported_in_every_place(place, clearlane, away):
    route, logged = away
    reason = "A directory or file cannot be used: No such file or directory."

    lines = [line for line in logged if line["event"] == "batch not delivered"]
    assert len(lines) == 9
    assert {(line["payer"], line["route"], line["reason"]) for line in lines} == {
        ("MM001", route, reason)
    }

    sentence = (
        f"Payer MM001 (Medical) cannot be sent anything over route {route} (folder) for 3 days"
    )
    shown = clearlane("status", code=1)
    assert all(len(line) <= COLUMNS for line in shown.splitlines())
    assert len(shown.splitlines()) <= 24
    assert sentence in " ".join(shown.split())
    assert f"route {route}: A directory" in shown
    facts = clearlane("status --json", code=1)
    [condition] = [one for one in facts["conditions"] if one["name"] == "payer-unreachable"]
    [case] = condition["cases"]
    assert (case["payer"], case["type"], case["route"]) == ("MM001", "Medical", str(route))
    assert reason in case["says"]
    assert facts["measures"]["undelivered"][0]["claims"] == 4

    checks = {check["name"]: check for check in clearlane("doctor --json", code=1)}
    assert checks["payer-unreachable"]["verdict"] == "fault"
    assert sentence in checks["payer-unreachable"]["says"]
    assert reason in checks["payer-unreachable"]["says"]
    assert "clearlane route test" in checks["payer-unreachable"]["do"]

    async def look():
        settings = load()
        async with open_installation(settings, role="command") as installation:
            operations = Operations(Metrics(), Readiness(installation), V3_ERRORS)
            parts = health(await installation.measures.current())
            return await ask(operations, "/readyz"), await ask(operations, "/metrics"), parts

    (code, ready), (_, metrics), parts = asyncio.run(look())
    [delivery] = [part for part in parts if part.name == "Claims to payers"]
    assert not delivery.healthy
    assert sentence in delivery.detail
    assert code == 200
    warning = json.loads(ready)["warnings"]["payer-unreachable"]
    assert sentence in warning
    assert reason in warning
    samples = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line[0] != "#")
    labels = f'payer="MM001",route="{route}",type="Medical"'
    assert float(samples[f"clearlane_failing_seconds{{{labels}}}"]) > 3 * 86_400
    assert float(samples[f"clearlane_delivery_failures_total{{{labels}}}"]) == 9.0
    raised = f'condition="payer-unreachable",list="",payer="MM001",route="{route}",severity="fault",type="Medical"'
    assert samples[f"clearlane_condition{{{raised}}}"] == "1.0"
