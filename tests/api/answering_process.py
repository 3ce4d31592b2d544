"""Answers one call under an `Idempotency-Key`, as a process of its own, so that it can die at a crash point.

Started with one argument, a JSON object that names the database and the vendor.
"""

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from clearlane.api.idempotency import answer_once
from clearlane.kernel.clock import ManualClock
from clearlane.store.vault import Vault
from tests.api.test_idempotency import Counting, a_call
from tests.databases import START, Place


async def main(given):
    place, clock = Place(given["kind"], given["url"], Path(given["data"])), ManualClock(START)
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    service = SimpleNamespace(database=database, vault=vault, wall=clock, clock=clock)
    await answer_once(a_call(service, given["vendor"], Counting()))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
