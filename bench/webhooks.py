"""Webhooks: how many deliveries a second one receiver gets that answers at once, in order per claim."""

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

from bench.flow import ACTOR, OneMailbox, posting_context
from bench.harness import Measure, bench
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Site, Vendor
from clearlane.connect.webhook_http import WebhookSender
from clearlane.events.event import NewEvent
from clearlane.kernel.clock import SystemClock, to_micros
from clearlane.pipeline.notify import webhook_endpoints
from clearlane.pipeline.notify.webhook_runner import WebhookRunner

CLAIMS, EVENTS_PER_CLAIM = 500, 4
PER_SECOND_MIN = 200
HEAD_END = b"\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@bench("webhooks.deliver")
def deliver() -> Iterator[Measure]:
    """Signed, sent, answered and recorded, against the least that one receiver must get."""
    with tempfile.TemporaryDirectory() as folder:
        rate = asyncio.run(_deliver(Path(folder)))
    yield Measure(
        "webhooks.deliver",
        rate,
        "deliveries/s",
        rate / PER_SECOND_MIN,
        f"{PER_SECOND_MIN}-a-second",
    )


async def _deliver(folder: Path) -> float:
    async with posting_context(folder, OneMailbox()) as (plain, scope):
        vendor = Vendor(scope.vendor, "v", "Larkspur Dental")
        site = Site(scope.site, scope.vendor, "s", "c", "Larkspur Dental", baa_accepted=True)
        accounts = AccountDirectory(pepper=b"", vendors=[vendor], secrets={}, sites=[site])
        context = replace(plain, accounts=lambda: accounts, sandbox=True)
        server, url = await Receiver().serve()
        await webhook_endpoints.add_endpoint(
            context, scope.vendor, url=url, types=["claim.*"], sites=[],
            actor=ACTOR, now=context.clock.now(),
        )  # fmt: skip
        for sequence in range(EVENTS_PER_CLAIM):
            await context.database.write(
                scope,
                partial(_add_events, now=context.clock.now(), scope=scope, sequence=sequence),
                actor=ACTOR,
            )
        runner = WebhookRunner(context, WebhookSender(sandbox=True), SystemClock())
        began = perf_counter()
        await runner.deliver_due()
        taken = perf_counter() - began
        assert runner.counts.delivered == CLAIMS * EVENTS_PER_CLAIM
        await runner.stop()
        server.close()
    return CLAIMS * EVENTS_PER_CLAIM / taken


async def _add_events(tx, now, scope, sequence) -> None:
    tx.add_events(
        [
            NewEvent(
                "claim.sent", to_micros(now), scope.vendor, scope.site, f"C{number:018}", sequence,
            )
            for number in range(CLAIMS)
        ]
    )  # fmt: skip


class Receiver:
    """A receiver of webhooks that answers at once, and counts."""

    def __init__(self) -> None:
        self.count = 0

    async def serve(self) -> tuple[asyncio.Server, str]:
        """Start to listen; return the server and its address."""
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer every message of a connection at once."""
        try:
            while head := await reader.readuntil(HEAD_END):
                length = next(
                    row for row in head.split(b"\r\n") if row.lower().startswith(b"content-length:")
                )
                await reader.readexactly(int(length.partition(b":")[2]))
                self.count += 1
                writer.write(ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
