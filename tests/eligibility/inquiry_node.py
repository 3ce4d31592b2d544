"""A node that sends inquiries to a payer behind a CORE connection, without HTTP server, with a manual clock."""

import asyncio
import json
from dataclasses import dataclass, field

from clearlane.accounts.model import Site
from clearlane.api.v3.benefits.compose_response import compose_response
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.payers.routes import RouteSecrets
from clearlane.pipeline.inquiry import ask, eligibility_request, request_answers
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
from clearlane.pipeline.route_connections import RouteConnections
from clearlane.store.database.database import Actor, Database
from clearlane.store.delivery.routes import ActiveRoutes, RouteWithSecrets
from clearlane.store.vault.vault import Vault
from tests.connect import core_server as there
from tests.connect.invented import route
from tests.contexts import work_context
from tests.databases import Place, make_site
from tests.eligibility.invented import answer_file, document
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS, until

ACTOR = Actor("vendor", "a test")
PAYER = Payer("Medical", "Meadow Mutual", "MDW10", "MDW10", offers_eligibility=True)
KIND = "X12_271_Response_005010X279A1"
NINE = "X12_999_Response_005010X231A1"


async def joined(making):
    """The answers that a verb loads, as the body of V3."""
    answers = await making
    if answers is None:
        return None
    pieces = compose_response(answers, with_x12=False)
    return json.loads(b"".join([piece async for piece in pieces]))


@dataclass
class Answers:
    """The payer's answers to one inquiry after the other; the last one is repeated."""

    payer: there.CorePayer
    files: list
    side_by_side: bool = False
    count: int = 0

    def __iter__(self):
        make = self.files.pop(0) if len(self.files) > 1 else self.files[0]
        # Concurrent inquiries are answered in the order in which they came.
        payload = self.payer.seen[self.count if self.side_by_side else -1].payload
        assert payload is not None
        self.count += 1
        trace = next(
            row.split("*")[3] for row in payload.decode().split("~") if row.startswith("BHT")
        )
        made = make(trace) if callable(make) else make
        return iter(made if isinstance(made, tuple) else (KIND, made))


def benefits(trace, *, payer="MDW10", first="ROSA", last="ARDEN", birth="19800229", member="2001"):
    """A 271 about Rosa, or about somebody else."""
    return answer_file(
        f"BHT*0022*11*{trace}*20240501*1201",
        "HL*1**20*1",
        f"NM1*PR*2*MEADOW MUTUAL*****PI*{payer}",
        "HL*2*1*21*1",
        "NM1*1P*1*FENN*OSKAR****XX*1234567893",
        "HL*3*2*22*0",
        f"TRN*2*{trace}*9CLEARLANE",
        f"NM1*IL*1*{last}*{first}****MI*{member}",
        f"DMG*D8*{birth}*F",
        "EB*1*IND*30",
    )


def refusal(trace, code="42", action="R"):
    """A 271 that ends with the payer."""
    return answer_file(
        f"BHT*0022*11*{trace}*20240501*1201",
        "HL*1**20*0",
        f"AAA*Y**{code}*{action}",
        "NM1*PR*2*MEADOW MUTUAL*****PI*MDW10",
    )


def ta1(trace):
    head, tail = answer_file()[:106], b"TA1*000000017*240501*1200*R*006~IEA*0*000000031~"
    return "X12_TA1_Response_00501X231A1", head + tail


def nine(trace):
    return NINE, answer_file(
        "AK1*HS*17*005010X279A1", "AK2*270*0001*005010X279A1", "IK3*NM1*8*2100*8",
        "IK4*9*67*7", "IK5*R*5", "AK9*R*1*1*0", group="FA", kind="999",
    )  # fmt: skip


@dataclass
class Node:
    """A node that sends inquiries."""

    place: Place
    database: Database
    clock: ManualClock
    payer: there.CorePayer
    vault: Vault = field(init=False)
    connections: RouteConnections = field(init=False)
    runner: InquiryRunner = field(init=False)
    site: Site | None = None
    payers: PayerDirectory = field(default_factory=lambda: PayerDirectory([PAYER], sandbox=False))
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, **options):
        self.vault = Vault(self.database, self.place.keys(), self.clock)
        await self.vault.load()
        given = {
            "url": f"https://127.0.0.1:{self.payer.port}/core", "authority": there.AUTHORITY_PEM,
            "allow_internal": "yes", "seconds_max": PATIENCE_SECONDS, "username": there.USER,
        }  # fmt: skip
        made, secrets = route(
            "core-realtime", RouteSecrets(password=there.PASSWORD), **given | options
        )
        self.connections = RouteConnections(
            ActiveRoutes([RouteWithSecrets(made, secrets)]), self.clock
        )
        self.runner = InquiryRunner(
            self.database, self.vault, self.clock, lambda: self.connections, node="test"
        )
        if self.site is None:
            scope = await make_site(self.database)
            self.site = Site(scope.site, scope.vendor, "S", "C", "Fernhill", baa_accepted=True)
        return self

    @property
    def context(self):
        return work_context(
            self.database, self.vault, self.clock, payers=self.payers,
            connections=self.connections, inquiry_runner=self.runner,
        )  # fmt: skip

    @property
    def own_site(self) -> Site:
        assert self.site is not None, "the node is not open"
        return self.site

    def answer_with(self, *files, side_by_side=False):
        self.payer.answer = Answers(self.payer, list(files), side_by_side)

    def begin(self, request=None):
        """A submission in a task of its own; the body of its answer."""
        return asyncio.create_task(self.submit(request))

    async def submit(self, request=None):
        done = await self.inquire(request)
        assert isinstance(done, eligibility_request.InquiryReceipt), done
        return await joined(
            ask.await_answers(
                self.context,
                ELIGIBILITY,
                done.eligibility_request_id,
                site=self.own_site,
                now=self.clock.now(),
                stopping=self.stopping,
            )
        )

    async def inquire(self, request=None):
        content = json.dumps(request or document(IsTest=False, payer_PayerId="MDW10")).encode()
        return await eligibility_request.inquire(
            self.context, content, site=self.own_site, actor=ACTOR, now=self.clock.now()
        )

    async def responses(self, request_number):
        return await joined(
            request_answers.read_numbered_answers(
                self.context, ELIGIBILITY, request_number, site=self.own_site, actor=ACTOR
            )
        )

    async def quiet(self):
        """Wait until nothing is in hand that does not rest, and nothing is due."""

        async def is_quiet():
            return not await self.runner.has_due_inquiries(self.clock.now())

        await until(is_quiet)

    async def wait_for_inquiries(self, times=1):
        """Wait until the payer has received so many inquiries."""
        await until(lambda: len(self.payer.seen) >= times)
