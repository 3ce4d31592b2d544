"""The list of payments: what a row costs when ten thousand are stored, against a thousand."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.flow import OneMailbox, interchange, posting_context
from bench.harness import Measure, bench
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.query import payment_list
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.delivery import inbox
from clearlane.store.payments.payment_query import PAYMENTS_PER_PAGE, PaymentQuery

PER_FILE = 1_000
FILES = 10
ROUNDS = 9


@bench("payment.list")
def list_payments() -> Iterator[Measure]:
    """Rows of the first and of the last page among 10,000 payments, against the first page among 1,000."""
    with tempfile.TemporaryDirectory() as folder:
        few, first, last = asyncio.run(_listed(Path(folder)))
    yield Measure("payment.list.first", 1 / first, "rows/s", few / first, "1000-payments")
    yield Measure("payment.list.last", 1 / last, "rows/s", few / last, "1000-payments")


async def _listed(folder: Path) -> tuple[float, float, float]:
    """Seconds a row: first page among a thousand, first and last page among ten thousand."""
    connections = OneMailbox()
    async with posting_context(folder, connections) as (context, _):
        await _post(context, connections, 0)
        few = await _seconds_a_row(context, None)
        for file in range(1, FILES):
            await _post(context, connections, file)
        ids = [one.payment_id async for page in _pages(context) for one in page]
        assert len(ids) == PER_FILE * FILES
        first = await _seconds_a_row(context, None)
        return few, first, await _seconds_a_row(context, ids[-PAYMENTS_PER_PAGE - 1])


async def _post(context: WorkContext, connections: OneMailbox, file: int) -> None:
    connections.box.files[f"remittance{file}"] = interchange(
        [_payment(file * PER_FILE + at) for at in range(PER_FILE)], number=500 + file
    )
    [id] = await receive.receive_files(context, context.clock.now(), every_route=True)
    assert await post.post_file(context, id) == inbox.PARKED


async def _pages(context: WorkContext):
    before = None
    while page := await _page(context, before):
        yield page
        before = page[-1].payment_id


async def _page(context: WorkContext, before: str | None):
    query = PaymentQuery(before=before)
    found = await payment_list.list_payments(context.database, context.vault, query)
    return [one.payment for one in found]


async def _seconds_a_row(context: WorkContext, before: str | None) -> float:
    times = []
    for _ in range(ROUNDS):
        began = perf_counter()
        rows = await _page(context, before)
        times.append((perf_counter() - began) / len(rows))
        assert len(rows) == PAYMENTS_PER_PAGE
    return median(times)


def _payment(number: int) -> list[str]:
    """A transfer over one claim, which matches none of ours."""
    return [
        "BPR*I*80*C*ACH*CCP*01*999999999*DA*1*1512345678**01*999999999*DA*2*20261114",
        f"TRN*1*EFT{number}*1512345678", "DTM*405*20261114", "N1*PR*MEADOW MUTUAL*XV*MM001", "N3*1 LANE",
        "N4*AUSTIN*TX*78701", "PER*BL*HELP*TE*5125550100",
        "N1*PE*FERNHILL FAMILY PRACTICE*XX*1234567893", "LX*1",
        f"CLP*X{number}*1*100*80*0*12*P{number}*11*1", "NM1*QC*1*ARDEN*ROSA****MI*M123",
        "SVC*HC:99213*100*80**1", "DTM*472*20261001", "CAS*CO*45*20", "AMT*B6*80",
    ]  # fmt: skip
