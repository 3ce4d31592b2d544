"""Answers one call under an `Idempotency-Key`, as a process of its own, so that it can die at a crash point.

Started with one argument, a JSON object that names the database and the vendor.
"""

import asyncio
import json
import sys
from pathlib import Path

from clearlane.api.frame.idempotency import answer_once
from tests.api.test_idempotency import Counting, a_call, open_node
from tests.databases import Place


async def main(given):
    node = await open_node(Place(given["kind"], given["url"], Path(given["data"])))
    await answer_once(a_call(node, given["vendor"], Counting()))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
