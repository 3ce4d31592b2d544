"""A context with payers behind mailboxes in memory, and claims on it, for the tests of what goes out."""

import json
import secrets
from collections import Counter
from contextlib import asynccontextmanager
from datetime import date, timedelta

from sqlalchemy import exists, select

from clearlane.accounts.model import Site
from clearlane.claims.forms import V3_MEDICAL
from clearlane.claims.forms.samples import minimal_claim
from clearlane.connect.connections import PayerRoute
from clearlane.connect.port import Presence, Unreachable, no_mark
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.pipeline.intake import submit as submitting
from clearlane.pipeline.intake.submission_result import SubmissionReceipt
from clearlane.pipeline.outbound import dispatch
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import claim_ids, claims
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches as store
from clearlane.store.delivery.file_query import FileQuery, find_batches
from clearlane.store.delivery.route_health import all_route_health
from clearlane.store.vault.vault import Vault
from clearlane.x12.reader.reader import parse
from tests.connect.memory import MemoryMailbox
from tests.contexts import work_context
from tests.databases import make_site

DAY = date(2024, 2, 20)
MEADOW, HARBOR = "MM001", "HH001"
# 1 if the claim is the one that its vendor's claim id means.
HOLDS_ITS_ID = (
    exists()
    .where(claim_ids.c.claim_number == claims.c.claim_number, claim_ids.c.former == "")
    .correlate(claims)
)
STATES = Statement(
    select(claims.c.claim_number, claims.c.state, claims.c.sendings, claims.c.queued), system=True
)


class Payer837(MemoryMailbox):
    """A payer that counts how often each file came, and can fail at either end of an upload."""

    def __init__(self, *, can_tell=True):
        super().__init__()
        self.can_tell = can_tell
        self.came: Counter[str] = Counter()
        self.lose_answers = 0

    async def put(self, name, content, before_arrival=no_mark):
        await before_arrival()
        self._meet_trouble()
        if self.sent.get(name) != content:
            self.came[name] += 1
        await super().put(name, content)
        if self.lose_answers:
            self.lose_answers -= 1
            raise Unreachable("The connection broke after the last byte.")

    async def look(self, name):
        seen = await super().look(name)
        return seen if self.can_tell or seen is Presence.THERE else Presence.UNKNOWN

    @property
    def claims(self):
        """Our numbers of the claims that came, file after file."""
        return [number for content in self.sent.values() for number in numbers_in(content)]


class MemoryConnections:
    """Connections to the payers of a test."""

    def __init__(self):
        self.routes = {}
        self.mailboxes = {}

    def add(self, payer_id=MEADOW, type="Medical", mailbox=None, **options):
        id = len(self.mailboxes) + 1
        route = PayerRoute(
            route_id=id, payer_id=payer_id, type=type, kind="memory", sender_id="CLEARLANE",
            receiver_id=payer_id, **options,
        )  # fmt: skip
        self.routes.setdefault((type, payer_id), []).append(route)
        self.mailboxes[id] = mailbox or Payer837()
        return self.mailboxes[id]

    def mailbox_routes(self, type, payer_id):
        return self.routes.get((type, payer_id), [])

    def all_mailbox_routes(self):
        return [route for routes in self.routes.values() for route in routes]

    def hops(self):
        return []

    def open_mailbox(self, route):
        return self.mailboxes[route.route_id]


class Outbound:
    """A context and what is needed to put claims on it."""

    def __init__(self, context, connections, site):
        self.context, self.connections, self.site = context, connections, site
        self.clock = context.clock

    async def submit(self, count=1, payer_id=MEADOW, kind=V3_MEDICAL, **own):
        """Accepted claims; their claim numbers."""
        made = [
            minimal_claim(kind, DAY)
            | {"Svc_PayerId": payer_id, "Svc_VendorClaimId": secrets.token_hex(8)}
            | own
            for _ in range(count)
        ]
        document = {"DocumentType": kind.document_type, "Claims": made}
        done = await submitting.submit(
            self.context,
            json.dumps(document).encode(),
            kind,
            site=self.site,
            actor=Actor("vendor", "ACME"),
            now=self.clock.now(),
        )
        assert isinstance(done, SubmissionReceipt), done
        assert all(one.accepted for one in done.results), done.results[0].findings
        return sorted(one.claim_number for one in done.results)

    def pass_time(self, **by):
        if by:
            self.clock.advance(timedelta(**by))

    async def create_batches(self, **how):
        return await dispatch.create_batches(self.context, self.clock.now(), **how)

    async def deliver(self):
        return await dispatch.deliver_due(self.context, self.clock.now())

    async def has_due_work(self):
        return await dispatch.has_due_work(self.context, self.clock.now())

    async def go(self, **by):
        """Let time pass, create batches and deliver them."""
        self.pass_time(**by)
        await self.create_batches()
        return await self.deliver()

    async def batches(self):
        async with self.context.database.read(store.SCOPE) as tx:
            return sorted(
                await find_batches(tx, FileQuery(limit=1_000)), key=lambda batch: batch.id
            )

    async def batch(self, id):
        async with self.context.database.read(store.SCOPE) as tx:
            return await store.find(tx, id)

    async def content(self, batch):
        async with self.context.database.read(store.SCOPE) as tx:
            return await store.read_content(tx, self.context.vault, batch)

    async def route_health(self, payer_id=MEADOW, type="Medical"):
        async with self.context.database.read(store.SCOPE) as tx:
            return (await all_route_health(tx)).get((type, payer_id))

    async def states(self):
        """State, sendings and queue of each claim."""
        async with self.context.database.read(store.SCOPE) as tx:
            return {row[0]: row[1:] for row in await tx.rows(STATES)}


PAYERS = [
    Payer("Medical", "Meadow Mutual", "00001", MEADOW, has_route=True),
    Payer("Medical", "Harbor Health Plan", "00002", HARBOR, has_route=True),
    Payer("Dental", "Summit Dental", "00003", "SD001", has_route=True),
]


@asynccontextmanager
async def outbound(place, clock, *, node="node", connections=None, database=None, site=None):
    """A context on a database; several on one place are several nodes."""
    opened = database or await place.open(clock, anchor=f"anchor-{node}")
    vault = Vault(opened, place.keys(), clock)
    await vault.load()
    connections, payers = connections or MemoryConnections(), PayerDirectory(PAYERS, sandbox=False)
    if site is None:
        scope = await make_site(opened)
        site = Site(scope.site, scope.vendor, "LARK", "C1", "Larkspur Dental", baa_accepted=True)
    context = work_context(
        opened, vault, clock, payers=payers, connections=connections, node=node, data=place.data
    )
    try:
        yield Outbound(context, connections, site)
    finally:
        if database is None:
            await opened.close()


def numbers_in(content):
    """Our numbers of the claims in a file."""
    rows = content.decode().split("~")
    return [row.removeprefix("REF*D9*") for row in rows if row.startswith("REF*D9*")]


def control_of(content):
    [interchange] = parse(content).interchanges
    return int(interchange.header[13])
