"""Collects and posts once from a folder, as a process of its own, so that it can die at a crash point.

Started with one argument, a JSON object that names the database and the folder.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from clearlane.connect.folder import FolderMailbox
from clearlane.connect.routes import Line
from clearlane.kernel.clock import ManualClock
from clearlane.payers.directory import Payers
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.work_context import Desk, Outside
from clearlane.store.vault import Vault
from tests.databases import START, Place


@dataclass
class FolderLines:
    """One payer, reached by a folder."""

    folder: Path
    payer_id: str

    def all(self):
        return [
            Line(
                route_id=1, payer_id=self.payer_id, type="Medical", kind="folder",
                sender_id="CLEARLANE", receiver_id="MEADOW",
            )
        ]  # fmt: skip

    def open(self, line):
        return FolderMailbox(outbox=self.folder, inbox=self.folder)


async def main(given):
    place = Place(given["kind"], given["url"], Path(given["data"]))
    clock = ManualClock(START)
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    lines = FolderLines(Path(given["folder"]), given["payer"])
    payers = Payers([], sandbox=False)
    outside = Outside(vault=vault, payers=lambda: payers, lines=lambda: lines, sandbox=False)
    desk = Desk(database=database, clock=clock, data=place.data, node="other", beyond=outside)
    await receive.collect_due(desk, clock.now(), every_line=True)
    await post.post_due(desk, clock.now())
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
