"""Posting of payers' files: how fast a large 835 is posted."""

import asyncio
import gc
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter

from bench.harness import Measure, bench, seconds
from bench.store import FreshInstallation
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Site
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.connect.connections import PayerRoute, RealtimeConnection
from clearlane.connect.port import Mailbox
from clearlane.kernel.clock import SystemClock
from clearlane.kernel.ids import Scope
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.hops import Hop
from clearlane.payers.model import Payer
from clearlane.payments import read_835
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.inbound.reading_process import ReadingProcesses
from clearlane.pipeline.intake import submit
from clearlane.pipeline.intake.submission_result import SubmissionReceipt
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.pipeline.work_context import PayerAccess, WorkContext
from clearlane.store.database.database import Actor
from clearlane.store.delivery import inbox
from clearlane.store.payments.payment_query import PaymentQuery
from tests.connect.memory import MemoryMailbox

CLAIMS = 20_000
PER_DOCUMENT = 2_000
LINES = 2
PAYER = "MM001"
ACTOR = Actor("operator", "bench")


class OneMailbox:
    """One payer with a mailbox in memory."""

    def __init__(self) -> None:
        self.box = MemoryMailbox()
        self.route = PayerRoute(
            route_id=1, payer_id=PAYER, type="Medical", kind="memory", sender_id="CLEARLANE",
            receiver_id="MEADOW",
        )  # fmt: skip

    def mailbox_routes(self, type: str, payer_id: str) -> list[PayerRoute]:
        return [self.route]

    def all_mailbox_routes(self) -> list[PayerRoute]:
        return [self.route]

    def hops(self) -> list[Hop]:
        return []

    def find_hop(self, id: str) -> Hop | None:
        return None

    def realtime_connections(self, type: str, payer_id: str) -> list[RealtimeConnection]:
        return []

    def open_mailbox(self, route: PayerRoute) -> Mailbox:
        return self.box

    async def close(self) -> None:
        pass


@bench("post.835")
def post_835() -> Iterator[Measure]:
    """A check over 20,000 claims, applied to claims in the store, against reading the file alone."""
    with tempfile.TemporaryDirectory() as folder:
        rate, content, grown, shown, kept = asyncio.run(_post(Path(folder)))
    alone = CLAIMS / seconds(lambda: sum(1 for _ in read_835.read(content)), runs=3)
    yield Measure("post.835", rate, "claims/s", rate / alone, "reading-the-file-alone")
    yield Measure("post.835.memory", grown, "MB", grown / (len(content) / 1e6), "size-of-the-file")
    yield Measure("payment.show", shown, "claims/s", shown / alone, "reading-the-file-alone")
    yield Measure(
        "payment.show.memory", kept, "MB", kept / (len(content) / 1e6), "size-of-the-file"
    )


@asynccontextmanager
async def posting_context(
    folder: Path, connections: OneMailbox
) -> AsyncIterator[tuple[WorkContext, Scope]]:
    """A new installation whose one payer's files can be posted."""
    payers = PayerDirectory(
        [Payer("Medical", "Meadow Mutual", PAYER, PAYER, has_route=True)], sandbox=False
    )
    accounts = AccountDirectory(pepper=b"", vendors=[], secrets={}, sites=[])
    async with FreshInstallation(folder) as (database, vault, scope):
        context = WorkContext(
            database=database,
            vault=vault,
            clock=SystemClock(),
            node="bench",
            data=folder,
            sandbox=False,
            accounts=lambda: accounts,
            payer_access=PayerAccess(payers=lambda: payers, connections=lambda: connections),
        )
        yield context, scope


async def _post(folder: Path) -> tuple[float, bytes, float, float, float]:
    connections = OneMailbox()
    async with posting_context(folder, connections) as (context, scope):
        database, clock = context.database, context.clock
        ids = await _submit_claims(context, scope)
        await dispatch.create_batches(context, clock.now(), everything=True)
        await dispatch.deliver_due(context, clock.now())
        content = remittance(ids)
        connections.box.files["remittance"] = content
        [id] = await receive.receive_files(context, clock.now(), every_route=True)
        processes = ReadingProcesses()  # as a node has
        context = replace(context, reading_processes=processes)
        gc.collect()
        reset_peak_memory()
        before = memory_megabytes("VmRSS")
        began = perf_counter()
        assert await post.post_file(context, id) == inbox.APPLIED
        taken = perf_counter() - began
        grown = memory_megabytes("VmHWM") - before
        await processes.close()
        async with database.read(inbox.SCOPE) as tx:
            found = await inbox.find(tx, id)
        assert found is not None
        assert found.applied == CLAIMS
        shown, kept = await _show(context)
    return CLAIMS / taken, content, grown, shown, kept


async def _show(context: WorkContext) -> tuple[float, float]:
    """Read every claim of the one payment, page by page; return claims a second, and how memory grew in MB."""
    [listed] = await list_payments(context.database, context.vault, PaymentQuery())
    gc.collect()
    reset_peak_memory()
    before, began, count = memory_megabytes("VmRSS"), perf_counter(), 0
    pages = payments.claim_payment_pages(context.database, context.vault, listed.payment.payment_id)
    async for page in pages:
        count += len(page)
    assert count == CLAIMS
    return CLAIMS / (perf_counter() - began), memory_megabytes("VmHWM") - before


async def _submit_claims(context: WorkContext, scope: Scope) -> list[str]:
    """Submit claims as the API does; return their claim numbers."""
    site = Site(scope.site, scope.vendor, "S1", "C1", "Larkspur Dental", baa_accepted=True)
    now = context.clock.now()
    document = samples.document(V3_MEDICAL, day=now.date() - timedelta(days=30), full=False)
    (claim,) = document["Claims"]
    claim["F24_ClaimLines"] = [claim["F24_ClaimLines"][0]] * LINES
    claim["F28_TotalCharge"] = str(LINES * 100)
    ids: list[str] = []
    for start in range(0, CLAIMS, PER_DOCUMENT):
        document["Claims"] = [
            {**claim, "Svc_VendorClaimId": f"V{start + at}", "Svc_PayerId": PAYER}
            for at in range(PER_DOCUMENT)
        ]
        content = json.dumps(document, default=str).encode()
        done = await submit.submit(context, content, V3_MEDICAL, site=site, actor=ACTOR, now=now)
        assert isinstance(done, SubmissionReceipt), done
        assert all(one.accepted for one in done.results), done.results[0].findings
        ids += [one.claim_number for one in done.results]
    return ids


def remittance(ids: list[str]) -> bytes:
    """An 835 with one check over all these claims."""
    rows = [
        f"BPR*I*{len(ids) * LINES * 80}*C*ACH*CCP*01*999999999*DA*1*1512345678**01*999999999*DA*2*20261114",
        "TRN*1*EFT1*1512345678", "DTM*405*20261114", "N1*PR*MEADOW MUTUAL*XV*MM001", "N3*1 LANE",
        "N4*AUSTIN*TX*78701", "PER*BL*HELP*TE*5125550100",
        "N1*PE*FERNHILL FAMILY PRACTICE*XX*1234567893", "LX*1",
    ]  # fmt: skip
    for at, id in enumerate(ids):
        rows += [
            f"CLP*{id}*1*{LINES * 100}*{LINES * 80}*0*12*P{at}*11*1",
            "NM1*QC*1*ARDEN*ROSA****MI*M123",
            f"REF*D9*{id}",
        ]
        for line in range(1, LINES + 1):
            rows += [
                "SVC*HC:99213*100*80**1", "DTM*472*20261001", "CAS*CO*45*20", f"REF*6R*{id}-{line}",
                "AMT*B6*80",
            ]  # fmt: skip
    return interchange([rows], number=500)


def interchange(sets: list[list[str]], *, number: int) -> bytes:
    """A file of 835s, each given by the segments between ST and SE."""
    head = (
        "ISA*00*          *00*          *ZZ*MEADOW         *ZZ*CLEARLANE      *261114*0900*^*00501"
        f"*{number:09}*0*P*:~GS*HP*MEADOW*CLEARLANE*20261114*0900*{number}*X*005010X221A1~"
    )
    body = "".join(
        f"ST*835*{at:04}~{'~'.join(rows)}~SE*{len(rows) + 2}*{at:04}~"
        for at, rows in enumerate(sets, 1)
    )
    return f"{head}{body}GE*{len(sets)}*{number}~IEA*1*{number:09}~".encode()


def memory_megabytes(name: str) -> float:
    """Return a figure of this process in MB: VmRSS is its memory now, VmHWM its peak."""
    rows = dict(row.split(":", 1) for row in Path("/proc/self/status").read_text().splitlines())
    return int(rows[name].split()[0]) / 1e3


def reset_peak_memory() -> None:
    """Reset the peak of memory."""
    Path("/proc/self/clear_refs").write_text("5")
