"""Receives and posts once from a folder, as a process of its own, so that it can die at a crash point.

Started with one argument, a JSON object that names the database and the folder.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from clearlane.connect.connections import PayerRoute
from clearlane.connect.folder import FolderMailbox
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.inbound import post, receive
from clearlane.store.vault.vault import Vault
from tests.contexts import work_context
from tests.databases import START, Place
from tests.manual_clock import ManualClock


@dataclass
class FolderConnections:
    """One payer, reached by a folder."""

    folder: Path
    payer_id: str

    def all_mailbox_routes(self):
        return [
            PayerRoute(
                route_id=1, payer_id=self.payer_id, type="Medical", kind="folder",
                sender_id="CLEARLANE", receiver_id="MEADOW", settle_seconds=0,
            )
        ]  # fmt: skip

    def mailbox_routes(self, type, payer_id):
        return self.all_mailbox_routes()

    def open_mailbox(self, route):
        return FolderMailbox(outbox=self.folder, inbox=self.folder)


async def main(given):
    place = Place(given["kind"], given["url"], Path(given["data"]))
    clock = ManualClock(START)
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    connections = FolderConnections(Path(given["folder"]), given["payer"])
    payers = PayerDirectory([], sandbox=False)
    context = work_context(
        database,
        vault,
        clock,
        payers=payers,
        connections=connections,
        data=place.data,
        node="other",
    )
    try:
        await receive.receive_files(context, clock.now(), every_route=True)
        await post.post_waiting(context)
    finally:
        await database.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
