"""An installation whose workers are killed, with payers that keep a ledger of everything that came.

Two payers: one behind folders of this machine, which answers each file with a 999, and one behind a real SFTP
server. Workers are the product's own, processes of their own. Run with a JSON argument, it is a caller that
submits claims and may die in the middle.
"""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import bindparam, select, update

from clearlane.accounts.model import Site
from clearlane.claims.batch_lifecycle import BatchState
from clearlane.engine import engine_storage, fault_injection
from clearlane.events.types import TYPES
from clearlane.kernel.clock import SystemClock
from clearlane.payers.routes import RouteSecrets
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import claim_facts, claims, polls, proof_entries
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches as store
from clearlane.store.delivery.routes import add_route
from clearlane.store.events import events
from clearlane.x12.checker.ack import acknowledge
from tests.connect import sftp_server
from tests.connect.invented import route
from tests.databases import Place
from tests.patience import PATIENCE_SECONDS
from tests.pipeline.outbound import HARBOR, HOLDS_ITS_ID, MEADOW, numbers_in, outbound
from tests.prepared_process import PreparedProcess

OPERATOR = Actor("operator", "test")
FACTS = Statement(select(claim_facts.c.claim_number, claim_facts.c.kind), system=True)
LINKS = Statement(
    select(claims.c.predecessor_id, HOLDS_ITS_ID).where(
        claims.c.claim_number == bindparam("claim_number")
    ),
    system=True,
)
LOGGED = Statement(select(proof_entries.c.batch_id, proof_entries.c.leaves))
POLLS = Statement(update(polls).values(next_at=0))
SETTINGS = {
    "CLEARLANE_MODE": "production",
    "CLEARLANE_SUBMITTER_NAME": "FERNHILL BILLING",
    "CLEARLANE_SUBMITTER_PHONE": "5125550142",
    "CLEARLANE_HEARTBEAT_SECONDS": "1",
    "CLEARLANE_DEAD_NODE_SECONDS": "2",
    "CLEARLANE_TAKEOVERS_MAX": "100",
    "CLEARLANE_LOG_LEVEL": "error",
    "CLEARLANE_WORKER_OPERATIONS_PORT": "0",
}


class Worker:
    """A worker in a process of its own."""

    def __init__(self, place, crash_at=""):
        self._given = SETTINGS | {
            "CLEARLANE_DATA": str(place.data),
            "CLEARLANE_DATABASE_URL": place.url,
            fault_injection.VARIABLE: crash_at,
        }
        self.process: PreparedProcess  # once it is started

    async def start(self):
        bare = {
            name: text for name, text in os.environ.items() if not name.startswith("CLEARLANE_")
        }
        self.process = await asyncio.to_thread(
            PreparedProcess, "tests.pipeline.quick_node", "worker", env=bare | self._given
        )
        return self

    async def is_ready(self):
        async with asyncio.timeout(PATIENCE_SECONDS):
            line = await asyncio.to_thread(self.process.stdout.readline)
        if not line and self.process.poll() in {None, -signal.SIGKILL}:
            return  # it came to its crash point before it could say so
        assert line.startswith(b"clearlane worker ready"), self.process.communicate()

    async def dies(self):
        """Wait until it has killed itself."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            _, faults = await asyncio.to_thread(self.process.communicate)
        assert self.process.returncode == -signal.SIGKILL, faults.decode()

    async def kill(self):
        self.process.kill()
        await asyncio.to_thread(self.process.wait)
        self.process.close()


class Crashing:
    """The installation, its payers and its ledgers."""

    def __init__(self, place, out, sftp):
        self.place, self.out, self.sftp = place, out, sftp
        self.outbox, self.inbox = place.data / "to-payer", place.data / "from-payer"
        self.accepted = []
        self.came: Counter[str] = Counter()
        """How often each file came, at either payer."""
        self._seen = {}

    async def submit(self, count=3, payer_id=MEADOW):
        self.accepted += await self.out.submit(count, payer_id)

    async def resubmit_and_die(self):
        """A caller corrects a claim that was rejected; its node dies, and it sends the correction again."""
        [rejected] = await self.out.submit(1, Svc_VendorClaimId="corrected")
        refuse = Statement(
            update(claims)
            .where(claims.c.claim_number == rejected)
            .values(state="rejected", queued=0),
            system=True,
        )
        database = self.out.context.database
        await database.write(store.SCOPE, lambda tx: tx.run(refuse), actor=OPERATOR)
        await self.submit_and_die("corrected")
        async with database.read(store.SCOPE) as tx:
            [links] = await tx.rows(LINKS, claim_number=self.accepted[-1])
        assert links == (rejected, 1), "the correction takes over, once"

    async def submit_and_die(self, vendor_claim_id="the-same"):
        """A caller whose node dies after it stored the claims sends the same document again."""
        site = self.out.site
        given = {
            "id": vendor_claim_id, "kind": self.place.kind, "url": self.place.url, "data": str(self.place.data),
            "site": [site.id, site.vendor_id, site.vendor_site_id, site.client_id, site.name],
        }  # fmt: skip
        for crash_at, code in (("accepted", -signal.SIGKILL), ("", 0)):
            process = await asyncio.to_thread(
                PreparedProcess, "tests.pipeline.crashing", json.dumps(given),
                env={**os.environ, fault_injection.VARIABLE: crash_at},
            )  # fmt: skip
            said, _ = await asyncio.to_thread(process.communicate)
            assert process.returncode == code
        self.accepted += json.loads(said)

    async def look_again(self):
        """Minutes pass: a look into a mailbox that died with its node may be begun anew."""
        await self.out.context.database.write(store.SCOPE, lambda tx: tx.run(POLLS), actor=OPERATOR)

    @asynccontextmanager
    async def working(self, crash_at=""):
        await self.look_again()
        worker = await Worker(self.place, crash_at).start()
        try:
            yield worker
        finally:
            await worker.kill()

    async def settled(self):
        """Wait until everything accepted is delivered, acknowledged where that is due, and noted."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await self.unsettled():  # noqa: ASYNC110  (it waits for other processes)
                    await asyncio.sleep(0.2)
        except TimeoutError:
            raise AssertionError(await self.unsettled()) from None

    async def unsettled(self):
        """What is still to come, in words."""
        batches = await self.out.batches()
        facts = await self.facts()
        kinds = Counter(kind for _, kind in facts)
        answered = sum(batch.claims for batch in batches if batch.payer_id == MEADOW)
        return [
            *(
                f"batch {b.id} is {b.state} {b.fault}"
                for b in batches
                if b.state != BatchState.DELIVERED
            ),
            *(f"{kinds['SENT']} of {len(self.accepted)} claims sent",)
            * (kinds["SENT"] < len(self.accepted)),
            *(f"{kinds['ACCEPTED_999']} of {answered} claims answered",)
            * (kinds["ACCEPTED_999"] < answered),
        ]

    async def facts(self):
        async with self.out.context.database.read(store.SCOPE) as tx:
            return Counter((id, kind) for id, kind in await tx.rows(FACTS))

    def check(self, states, batches):
        """No acknowledged claim is lost, none came twice, one file a batch."""
        files = {path.name: path.read_bytes() for path in self._files()}
        inside = [number for content in files.values() for number in numbers_in(content)]
        assert sorted(inside) == sorted(self.accepted)
        assert sorted(files) == sorted(batch.name for batch in batches)
        assert set(self.came.values()) == {1}
        assert {states[id] for id in self.accepted} == {("sent", 1, 0)}

    async def check_filings(self):
        """The log of filings has a leaf for each claim of each delivery and each acknowledgement, and no other."""
        async with self.out.context.database.read(store.SCOPE) as tx:
            logged = await tx.rows(LOGGED)
        delivered = {batch.id: batch.claims for batch in await self.out.batches()}
        assert {batch: leaves for batch, leaves in logged if batch is not None} == delivered
        answered = Counter(kind for _, kind in await self.facts())["ACCEPTED_999"]
        assert sum(leaves for batch, leaves in logged if batch is None) == answered

    async def check_events(self):
        """Each claim is reported once as received and once as sent, and its events are counted without a gap."""
        async with self.out.context.database.read(store.SCOPE) as tx:
            found = await events.list_all(tx, TYPES, after=0, limit=100_000)
        assert [one.id for one in found] == sorted({one.id for one in found})
        reported: dict[str, list[tuple[str, int]]] = {id: [] for id in self.accepted}
        for one in found:
            reported.get(one.claim_number, []).append((one.type, one.sequence))
        in_doubt = ("claim.in_doubt",)
        for id, its in reported.items():
            types = [type for type, _ in its if type not in in_doubt]
            assert types == ["claim.received", "claim.sent"], (id, its)
            assert [sequence for _, sequence in its] == list(range(1, len(its) + 1)), (id, its)

    async def watch(self):
        """The payer behind the folder: note each file that comes, and answer it once."""
        while True:
            self._look()
            await asyncio.sleep(0.05)

    def _look(self):
        for path in self._files():
            facts = path.stat()
            mark = (facts.st_ino, facts.st_mtime_ns)
            if self._seen.get(path) == mark:
                continue
            self._seen[path] = mark
            self.came[path.name] += 1
            if path.parent == self.outbox:
                self._answer(path)

    def _answer(self, path):
        control = 1_000 + len(self._seen)
        [answer] = acknowledge(path.read_bytes(), control=control, moment=SystemClock().now())
        begun = self.inbox / f"{path.stem}.999.tmp"
        begun.write_bytes(answer.ack_999)
        begun.rename(self.inbox / f"{path.stem}.999")

    def _files(self):
        for there in (self.outbox, self.sftp.root / "in"):
            yield from sorted(path for path in there.iterdir() if path.suffix == ".x12")


@asynccontextmanager
async def crashing(place):
    """A production installation on this database, and its payers."""
    (place.data / "sftp").mkdir()
    async with (
        sftp_server.sftp_payer(place.data / "sftp") as sftp,
        outbound(place, SystemClock(), node="clients") as out,
    ):
        if place.url:
            await asyncio.to_thread(
                engine_storage.upgrade_engine_tables,
                engine_storage.engine_database_url(place.data, place.url),
            )
        made = Crashing(place, out, sftp)
        await _routes(made)
        watching = asyncio.create_task(made.watch())
        try:
            yield made
        finally:
            watching.cancel()
            await asyncio.wait([watching])


async def _routes(made):
    common = {"window_seconds": 0, "uploads_stay": "yes", "poll_seconds": 1, "settle_seconds": 1}
    for there in (made.outbox, made.inbox):
        there.mkdir()
    folder = route("folder", outbox=made.outbox, inbox=made.inbox, payer_id=MEADOW, **common)
    sftp = route(
        "sftp", RouteSecrets(password=sftp_server.PASSWORD), payer_id=HARBOR, host="127.0.0.1",
        port=made.sftp.port, username=sftp_server.USER, inbox="/out", outbox="/in",
        host_key=sftp_server.HOST_KEY.get_fingerprint(), allow_internal="yes", **common,
    )  # fmt: skip
    context = made.out.context
    for each, secrets in (folder, sftp):
        await add_route(
            context.database, context.vault, each, secrets, now=context.clock.now(), actor=OPERATOR
        )
    # The context of this process has lines for what it judges claims by; it sends nothing itself.


async def _call(given):
    """Submit one document, the same each time."""
    place = Place(given["kind"], given["url"], Path(given["data"]))
    id, vendor, vendor_site_id, client, name = given["site"]
    site = Site(id, vendor, vendor_site_id, client, name, baa_accepted=True)
    async with outbound(place, SystemClock(), node="caller", site=site) as out:
        print(json.dumps(await out.submit(1, Svc_VendorClaimId=given["id"])))


if __name__ == "__main__":
    asyncio.run(_call(json.loads(sys.argv[1])))
