"""Acts once on overdue claims and asks their payer, as a process of its own, so that it can die at a crash point.

Started with one argument, a JSON object that names the database, the day, and the file in which the payer notes each
question. The payer does not understand questions, so that they are asked again.
"""

import asyncio
import json
import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from clearlane.connect.connections import RealtimeConnection
from clearlane.connect.port import RealtimeResult, Reply
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.follow_up.overdue_claims import act_on_overdue
from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
from clearlane.store.accounts.accounts import load_accounts
from clearlane.store.vault.vault import Vault
from tests.contexts import work_context
from tests.databases import START, Place
from tests.manual_clock import ManualClock
from tests.patience import until
from tests.pipeline.flowing import PAYER, MemoryConnections, invented_payer


@dataclass
class BusyPayer:
    """A payer that notes each question and can answer none now."""

    notes: Path

    async def ask(self, payload, *, payload_type, seconds):
        with self.notes.open("a") as notes:
            notes.write("asked\n")
        return Reply(RealtimeResult.BUSY)


class RealtimeConnections(MemoryConnections):
    """Every payer in real time."""

    payer: BusyPayer

    def realtime_connections(self, type, payer_id):
        route = self.route(type, payer_id)
        return [RealtimeConnection(route=route, timeout_seconds=60, realtime=self.payer)]

    async def close(self):
        pass


async def main(given):
    place = Place(given["kind"], given["url"], Path(given["data"]))
    clock = ManualClock(START + timedelta(days=given["days"], seconds=given["seconds"]))
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    connections = RealtimeConnections()
    connections.payer = BusyPayer(Path(given["notes"]))
    payers = PayerDirectory([invented_payer(PAYER)], sandbox=False)
    context = work_context(
        database, vault, clock, payers=payers, connections=connections, data=place.data,
        accounts=await load_accounts(database, vault.pepper), node=given["node"],
    )  # fmt: skip
    runner = InquiryRunner(database, vault, clock, lambda: connections, node=given["node"])
    access = replace(context.payer_access, inquiry_runner=runner)
    context = replace(context, payer_access=access)
    try:
        await act_on_overdue(context, clock.now())
        runner.wake()
        await until(lambda: not runner._tasks)
    finally:
        await runner.stop()
        await database.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
