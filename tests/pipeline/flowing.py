"""A node without API and engine: claims are submitted, sent through mailboxes in memory, answered by hand."""

import json
import re
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from types import SimpleNamespace

from msgspec import structs
from sqlalchemy import bindparam, func, select, update

from clearlane.accounts.model import Site
from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.connect.connections import PayerRoute
from clearlane.kernel.ids import Scope
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.intake import submit as submission
from clearlane.pipeline.intake.submission_result import SubmissionReceipt
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.query.claim_list import list_statuses
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import facts
from clearlane.store.database.database import Actor, Database, SystemScope
from clearlane.store.database.schema import documents, sites
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import inbox
from clearlane.store.delivery.file_query import FileQuery, find_inbox_files
from clearlane.store.vault.vault import Vault
from tests.connect.memory import MemoryMailbox
from tests.contexts import work_context
from tests.databases import START, make_site
from tests.manual_clock import ManualClock

ACTOR = Actor("vendor", "a test")
EVERYONE = SystemScope("a test looks")
MEDICAL = V3_MEDICAL
PAYER, OTHER_PAYER = "MM001", "HH002"


MOVE = Statement(
    update(sites).where(sites.c.id == bindparam("site")).values(time_zone=bindparam("zone"))
)


COUNT_DOCUMENTS = Statement(select(func.count()).select_from(documents), system=True)


def invented_payer(payer_id, type="Medical"):
    return Payer(
        type=type, name=f"Meadow Mutual {payer_id}", svc_payer_id=payer_id, payer_id=payer_id,
        has_route=True,
    )  # fmt: skip


@dataclass
class MemoryConnections:
    """Every payer's mailbox in memory."""

    mailboxes: dict[tuple[str, str], MemoryMailbox] = field(default_factory=dict)
    poll_seconds: int = 300
    answer_days: dict[str, int] = field(default_factory=dict)
    """Within how many days payers answer that have a number of their own, by payer."""

    def mailbox_routes(self, type, payer_id):
        return [self.route(type, payer_id)]

    def all_mailbox_routes(self):
        return [self.route(*key) for key in self.mailboxes]

    def hops(self):
        return []

    def find_hop(self, id):
        return next((one for one in self.hops() if one.id == id), None)

    def realtime_connections(self, type, payer_id):
        return []

    def open_mailbox(self, route):
        return self.mailboxes.setdefault((route.type, route.payer_id), MemoryMailbox())

    def route(self, type, payer_id):
        self.mailboxes.setdefault((type, payer_id), MemoryMailbox())
        return PayerRoute(
            route_id=1, payer_id=payer_id, type=type, kind="memory", sender_id="CLEARLANE",
            receiver_id="MEADOW", poll_seconds=self.poll_seconds,
            answer_days=self.answer_days.get(payer_id, 0), inquiries="270,276",
        )  # fmt: skip


@dataclass
class Flow:
    """A node without API and engine."""

    database: Database
    clock: ManualClock
    vault: Vault
    context: WorkContext
    connections: MemoryConnections
    site: Site = field(init=False)
    payers: PayerDirectory
    sites: list[Site] = field(default_factory=list)
    number: int = 0

    @classmethod
    async def open(cls, place, database, clock, *, sandbox=False):
        vault = Vault(database, place.keys(), clock)
        await vault.load()
        payers = PayerDirectory(
            [invented_payer(PAYER), invented_payer(OTHER_PAYER)], sandbox=sandbox
        )
        connections = MemoryConnections()
        sites: list[Site] = []
        context = work_context(
            database, vault, clock, payers=payers, connections=connections, data=place.data,
            sandbox=sandbox, accounts=SimpleNamespace(sites=sites),
        )  # fmt: skip
        flow = cls(database, clock, vault, context, connections, payers, sites)
        flow.site = await flow.new_site()
        return flow

    def replace_payer(self, **own):
        """Let the payer differ in some attributes."""
        payers = PayerDirectory([structs.replace(invented_payer(PAYER), **own)], sandbox=False)
        access = replace(self.context.payer_access, payers=lambda: payers)
        self.context = replace(self.context, payer_access=access)

    def use_time(self, time_ago):
        """Let the payers have days of their own, as in a sandbox."""
        self.context = replace(self.context, time_ago=time_ago)

    async def new_site(self, time_zone="UTC"):
        scope = await make_site(self.database)

        async def move(tx):
            await tx.run(MOVE, site=scope.site, zone=time_zone)

        await self.database.write(EVERYONE, move, actor=ACTOR)
        site = Site(
            scope.site, scope.vendor, f"S{scope.site}", f"C{scope.site}", "Larkspur Dental",
            time_zone=time_zone, baa_accepted=True,
        )  # fmt: skip
        self.sites.append(site)
        return site

    async def submit(self, count=1, *, site=None, payer=PAYER, line=None, **own):
        """Submit claims; their claim numbers."""
        results = await self.post(count, site=site, payer=payer, line=line, **own)
        assert all(one.accepted for one in results), [one.findings for one in results]
        # In the order in which they go out.
        return sorted(one.claim_number for one in results)

    async def post(self, count=1, *, site=None, payer=PAYER, line=None, each=(), **own):
        """Submit claims, accepted or not; ``each`` gives fields of one claim after the other. Their results."""
        site = site or self.site
        self.number += 1
        document = samples.document(MEDICAL, day=START.date() - timedelta(days=30), full=False)
        (claim,) = document["Claims"]
        lines = MEDICAL.lines_field
        claim[lines] = [one | (line or {}) for one in claim[lines]]
        document["Claims"] = [
            {
                **claim,
                "Svc_VendorClaimId": f"V{self.number}-{at}",
                "Svc_PayerId": payer,
                **own,
                **one,
            }
            for at, one in enumerate(each or [{}] * count)
        ]
        content = json.dumps(document, default=str).encode()
        done = await submission.submit(
            self.context, content, MEDICAL, site=site, actor=ACTOR, now=self.clock.now()
        )
        assert isinstance(done, SubmissionReceipt), done
        return done.results

    async def send(self, payer=PAYER):
        """Let what waits go out; the file that the payer got."""
        box = self.connections.open_mailbox(self.connections.route("Medical", payer))
        before = set(box.sent)
        await dispatch.create_batches(self.context, self.clock.now(), everything=True)
        await dispatch.deliver_due(self.context, self.clock.now())
        new = [content for name, content in box.sent.items() if name not in before]
        assert len(new) <= 1
        return new[0] if new else b""

    async def sent(self, count=1, **more):
        """Submit and send: the claim numbers, and the file."""
        ids = await self.submit(count, **more)
        return ids, await self.send(more.get("payer", PAYER))

    async def arrive(self, *contents, payer=PAYER, name="answer"):
        """Files of the payer are received and posted; the states they end in."""
        ids = []
        box = self.connections.open_mailbox(self.connections.route("Medical", payer))
        for at, content in enumerate(contents):
            box.files[f"{name}{at}"] = content
        ids = await receive.receive_files(self.context, self.clock.now(), every_route=True)
        await post.post_waiting(self.context)
        assert not box.files
        return [(await self.file(id)).state for id in ids]

    async def file(self, id):
        async with self.database.read(EVERYONE) as tx:
            return await inbox.find(tx, id)

    async def files(self):
        async with self.database.read(EVERYONE) as tx:
            return (await find_inbox_files(tx, FileQuery(limit=1_000)))[::-1]

    async def parked(self, id):
        async with self.database.read(EVERYONE) as tx:
            return await inbox.list_parked_statements(tx, id)

    async def status(self, claim_number, site=None):
        """The claim's status."""
        rows = await self.statuses(site)
        return rows[claim_number]

    async def statuses(self, site=None):
        scope: Scope = (site or self.site).scope
        found: dict[str, ClaimStatus] = {}
        days = date(2000, 1, 1), date(2100, 1, 1)
        pages = list_statuses(self.database, self.vault, *days, scope=scope, actor=ACTOR)
        async for page in pages:
            found |= {status.claim_number: status for status in page}
        return found

    async def facts(self, claim_number):
        async with self.database.read(EVERYONE) as tx:
            return await facts.list_for_claims(tx, [claim_number])

    async def documents(self):
        """How many documents there are."""
        async with self.database.read(EVERYONE) as tx:
            [(count,)] = await tx.rows(COUNT_DOCUMENTS)
        return count


def controls(content):
    """ISA13 of a file that was sent."""
    return int(content.decode().split("*")[13])


def accounts(content):
    """CLM01 of each claim of a file that was sent."""
    return re.findall(r"~CLM\*([^*]+)\*", content.decode())
