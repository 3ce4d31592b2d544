"""Random claims over https; on both databases, writes that fail and a server that is killed.

What was accepted is recalled from the database and written as the payer would get it.
"""

import asyncio
import contextlib
import json
import random
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import asyncpg
import httpx
import pytest

from clearlane.claims.forms import V3_DENTAL, V3_FORMS, V3_MEDICAL, samples
from clearlane.claims.write.write_837 import Envelope, OutgoingClaim, TradingPartner, write_claims
from clearlane.kernel.finding import Severity
from clearlane.pipeline.load_claim import load_claim
from clearlane.settings import load
from clearlane.store.database.database import Actor
from clearlane.store.database.postgresql import POSTGRESQL_WRITERS
from clearlane.wiring import open_installation
from clearlane.x12.checker.check import check
from tests.api.service_process import ServiceProcess
from tests.cases import by_profile
from tests.claims.outgoing import refusals
from tests.claims.variety import random_claim
from tests.databases import KINDS
from tests.patience import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.one_database

PATHS = {
    V3_MEDICAL: "/api/v3/claims/submit",
    V3_DENTAL: "/api/v3/claims/submitDental",
}
DOCUMENT_TYPES = {V3_MEDICAL: "MedicalClaim", V3_DENTAL: "DentalClaim"}
NOW = datetime.now(UTC)
DAY = NOW.date() - timedelta(days=30)
CLAIMS = by_profile(thorough=500, usual=40, quick=40)
PER_DOCUMENT, RECALLED = 20, 20
MESSAGE = "The claims could not be imported. Nothing was stored; send them again."
both_kinds = pytest.mark.parametrize("kind", V3_FORMS)


def documents(kind, claims=CLAIMS, per_document=PER_DOCUMENT):
    """Random valid claims with ids of their own, in a few documents."""
    rng = random.Random(f"{kind} claims at random")
    made = [
        {**random_claim(kind, rng, DAY), "Svc_VendorClaimId": f"R{random.getrandbits(60):x}"}
        for _ in range(claims)
    ]
    for claim in made:
        claim.pop("Svc_VendorClaimID", None)
    return [
        {"DocumentType": DOCUMENT_TYPES[kind], "Claims": made[at : at + per_document]}
        for at in range(0, claims, per_document)
    ]


def a_document(claims=1):
    document = samples.document(V3_MEDICAL, day=DAY)
    (claim,) = document["Claims"]
    document["Claims"] = [
        {**claim, "Svc_VendorClaimId": f"W{random.getrandbits(60):x}"} for _ in range(claims)
    ]
    return document


def post(client, document, kind=V3_MEDICAL):
    return client.post(PATHS[kind], content=json.dumps(document, default=str), headers=JSON)


# A medical claim's billing ZIP code that was not given is left out, as was decided.
LEFT_OUT = {V3_MEDICAL: {("X837-ADDRESS", "2010AA")}, V3_DENTAL: set()}
JSON = {"Content-Type": "application/json"}


def results(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["ClaimResults"]


@pytest.fixture(scope="module")
def accepted(server, parties):
    """The claim numbers of many random claims of each kind; every one of them was accepted."""
    found = {}
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-1"}) as client:
        for kind in V3_FORMS:
            reported = [
                result
                for document in documents(kind)
                for result in results(post(client, document, kind))
            ]
            wrong = [result["Errors"] for result in reported if result["Status"] != "Accepted"]
            assert wrong == []
            found[kind] = [result["RequestId"] for result in reported]
    return found


@both_kinds
def test_every_random_claim_is_accepted_and_has_a_number_of_its_own(accepted, kind):
    assert len(accepted[kind]) == len(set(accepted[kind])) == CLAIMS


async def recalled(server, claim_numbers):
    """Stored claims as they go out."""
    settings = load(environ=server.environment, overrides={"data": server.data})
    async with open_installation(settings, role="command") as installation:
        actor = Actor("operator", "a test")
        found = [
            await load_claim(installation.database, installation.vault, id, actor=actor)
            for id in claim_numbers
        ]
    return [
        OutgoingClaim(
            claim=one.claim, number=one.row.claim_number, payer_id=one.row.payer_id, payer_name="MEADOW MUTUAL",
            account_as_number=one.row.account_as_number,
        )
        for one in found
    ]  # fmt: skip


def written(kind, outs):
    envelope = Envelope(sender="CLEARLANE", receiver="MEADOW", control=9, moment=NOW)
    us = TradingPartner(name="CLEARLANE", id="CLEARLANE", phone="2065550100")
    return b"".join(
        write_claims(outs, envelope, us, TradingPartner(name="MEADOW MUTUAL", id="MEADOW"))
    )


@both_kinds
async def test_stored_claims_make_a_clean_interchange(server, accepted, kind, caplog):
    sample = random.Random(7).sample(accepted[kind], RECALLED)
    outs = await recalled(server, sample)
    data = written(kind, outs)
    errors = {
        (finding.rule, finding.position.loop)
        for finding in check(data).findings
        if finding.severity is Severity.ERROR
    }
    assert errors <= LEFT_OUT[kind]
    numbers = [
        segment.split("*")[1] for segment in data.decode().split("~") if segment.startswith("CLM*")
    ]
    assert len(set(numbers)) == len(numbers) == RECALLED
    assert {out.number for out in outs} == set(sample)
    if kind is V3_MEDICAL:
        assert refusals(data, caplog) == []


@both_kinds
def test_the_command_prints_a_stored_claim(server, accepted, kind):
    printed = server.command("claim", "x12", accepted[kind][0])
    rows = printed.replace("\n", "").split("~")
    assert any(row == f"REF*D9*{accepted[kind][0]}" for row in rows)
    errors = [f for f in check(printed.encode()).findings if f.severity is Severity.ERROR]
    assert {(finding.rule, finding.position.loop) for finding in errors} <= LEFT_OUT[kind]


async def test_of_two_claims_with_one_account_number_only_the_first_carries_it(server, parties):
    document = a_document(2)
    for claim in document["Claims"]:
        claim["F26_PatientAcctNumber"] = document["Claims"][0]["Svc_VendorClaimId"]
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-1"}) as client:
        reported = results(await asyncio.to_thread(post, client, document))
    outs = await recalled(server, [result["RequestId"] for result in reported])
    assert [out.account_as_number for out in outs] == [True, False]
    errors = [f.rule for f in check(written(V3_MEDICAL, outs)).findings]
    assert "X837-NUMBER-TWICE" not in errors


# --- a write that fails ---------------------------------------------------------------------------------


@contextlib.contextmanager
def full_disk(server):
    """Every insert of a claim fails as on a full disk, and the transaction is rolled back."""
    if server.kind == "sqlite":
        with contextlib.closing(
            sqlite3.connect(server.data / "clearlane.db", timeout=PATIENCE_SECONDS)
        ) as database:
            database.execute(FULL_SQLITE)
            try:
                yield
            finally:
                database.execute("DROP TRIGGER disk_is_full")
        return
    _run(server, FULL)
    try:
        yield
    finally:
        _run(server, "DROP TRIGGER disk_is_full ON claims")


# An overflow is a fault of the statement as it runs, as a full disk is; a constraint would be another fault.
FULL_SQLITE = """
    CREATE TRIGGER disk_is_full BEFORE INSERT ON claims BEGIN SELECT abs(-9223372036854775807 - 1); END
"""
FULL = """
    CREATE OR REPLACE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER disk_is_full BEFORE INSERT ON claims FOR EACH ROW EXECUTE FUNCTION disk_is_full();
"""


def _run(server, statements):
    async def run():
        connection = await asyncpg.connect(server.environment["CLEARLANE_DATABASE_URL"])
        try:
            await connection.execute(statements)
        finally:
            await connection.close()

    asyncio.run(run())


def not_imported(answer):
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["x-message"] == MESSAGE


def claims_stored(server):
    """How many claims there are, by the database itself."""
    if server.kind == "sqlite":
        with contextlib.closing(
            sqlite3.connect(server.data / "clearlane.db", timeout=PATIENCE_SECONDS)
        ) as database:
            return database.execute("SELECT count(*) FROM claims").fetchone()[0]
    return asyncio.run(_fetch(server, "SELECT count(*) FROM claims"))


async def _fetch(server, query):
    connection = await asyncpg.connect(server.environment["CLEARLANE_DATABASE_URL"])
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


@pytest.mark.both_databases
def test_a_write_that_is_rolled_back_is_a_204_and_the_document_may_be_sent_again(server, parties):
    document = a_document(3)
    with server.client(parties.acme.auth, params={"vendorSiteId": "A-1"}) as client:
        before = claims_stored(server)
        with full_disk(server):
            not_imported(post(client, document))
        assert claims_stored(server) == before
        reported = results(post(client, document))
        assert [result["Status"] for result in reported] == ["Accepted"] * 3
        assert results(post(client, document)) == reported
        assert claims_stored(server) == before + 3


# --- a server of its own: slow writes and a sudden end ------------------------------------------------------


@pytest.fixture(scope="module", params=KINDS)
async def fragile(request, new_place):
    """A server that gives a write up after a few seconds, and that may be killed."""
    place = await new_place(request.param, served=True)
    serving = ServiceProcess(
        place.data / "fragile", place.url, CLEARLANE_WRITE_SECONDS_MAX="3"
    ).start()
    yield serving
    assert serving.stop() == 0


@pytest.fixture(scope="module")
def account(fragile):
    account = fragile.add_vendor("ACME")
    fragile.add_site(account, "A-1", "--baa-accepted")
    return account


@contextlib.contextmanager
def busy(server):
    """Somebody else holds the claims, and lets go at the end."""
    if server.kind == "sqlite":
        with contextlib.closing(
            sqlite3.connect(server.data / "clearlane.db", timeout=PATIENCE_SECONDS)
        ) as database:
            database.isolation_level = None
            database.execute("BEGIN IMMEDIATE")
            yield
            database.execute("ROLLBACK")
        return
    held, leave = threading.Event(), threading.Event()

    async def hold():
        connection = await asyncpg.connect(server.environment["CLEARLANE_DATABASE_URL"])
        async with connection.transaction():
            await connection.execute("LOCK TABLE claims IN ACCESS EXCLUSIVE MODE")
            held.set()
            await asyncio.to_thread(leave.wait)
        await connection.close()

    holder = threading.Thread(target=asyncio.run, args=(hold(),))
    holder.start()
    assert held.wait(PATIENCE_SECONDS)
    try:
        yield
    finally:
        leave.set()
        holder.join()


def occupied(server, client, pool):
    """Documents that keep every writer waiting; on SQLite a write is not taken before the lock is ours."""
    if server.kind == "sqlite":
        return []
    taken = []
    for _ in range(POSTGRESQL_WRITERS):
        taken.append(pool.submit(post, client, a_document()))
        wait_until(lambda: asyncio.run(_fetch(server, WAITING)) >= len(taken))
    return taken


WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'claims'::regclass"


@pytest.mark.both_databases
def test_a_write_that_takes_too_long_is_a_204_and_the_document_may_be_sent_again(fragile, account):
    document = a_document(2)
    with (
        fragile.client(account.auth, params={"vendorSiteId": "A-1"}) as client,
        ThreadPoolExecutor() as pool,
    ):
        results(post(client, a_document()))
        before = claims_stored(fragile)
        with busy(fragile):
            taken = occupied(fragile, client, pool)
            not_imported(post(client, document))
        # What a writer had taken is not given up: its outcome is the answer.
        assert [results(one.result())[0]["Status"] for one in taken] == ["Accepted"] * len(taken)
        assert claims_stored(fragile) == before + len(taken)
        reported = results(post(client, document))
        assert [result["Status"] for result in reported] == ["Accepted"] * 2
        assert claims_stored(fragile) == before + len(taken) + 2


@pytest.mark.both_databases
def test_a_killed_server_keeps_every_claim_it_acknowledged(fragile, account):
    sent, acknowledged = [], {}
    with fragile.client(account.auth, params={"vendorSiteId": "A-1"}) as client:
        results(post(client, a_document()))
        killer = threading.Timer(1.0, fragile.process.send_signal, [signal.SIGKILL])
        killer.start()
        with contextlib.suppress(httpx.TransportError):
            while True:
                document = a_document(2)
                sent.append(document)
                reported = results(post(client, document))
                acknowledged[len(sent) - 1] = [result["RequestId"] for result in reported]
    killer.join()
    assert fragile.wait_for_exit() == -signal.SIGKILL
    assert len(acknowledged) > 1
    fragile.start()
    with fragile.client(account.auth, params={"vendorSiteId": "A-1"}) as client:
        again = [results(post(client, document)) for document in sent]
    assert {result["Status"] for reported in again for result in reported} == {"Accepted"}
    for at, ids in acknowledged.items():
        assert [result["RequestId"] for result in again[at]] == ids
    ids = [result["RequestId"] for reported in again for result in reported]
    assert len(set(ids)) == len(ids) == 2 * len(sent)
