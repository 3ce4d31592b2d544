"""Vendor API V3 from an event loop: many claims at once, then their states.

python examples/python_async.py [DATA [COUNT]]   (DATA: data directory of a running sandbox)
"""
# ruff: noqa: T201, INP001  (a script that prints, beside others)

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from clearlane.client import AsyncClient

HERE = Path(__file__).parent


def claim(id: str, day: str) -> dict[str, Any]:
    """Return the sample claim with an id of its own."""
    text = (HERE / "claim.json").read_text(encoding="utf-8")
    document = json.loads(text.replace("@CLAIM_ID@", id).replace("@DAY@", day))
    return dict(document["Claims"][0])


async def main(data: str | None = None, count: str = "20") -> None:
    """Submit claims concurrently and count them by state; exit with 1 if one is not accepted or not found."""
    ids = [f"ASYNC-{time.time_ns()}-{number}" for number in range(int(count))]
    async with AsyncClient.from_sandbox(data) as client:
        # The service's day: a sandbox may be ahead of this machine.
        day = (await client.today()).isoformat()
        answers = await asyncio.gather(
            *(client.submit_medical_claims(claim(id, day)) for id in ids)
        )
        accepted = sum(answer.accepted for answer in answers)
        print("accepted:", accepted)
        states: Counter[str] = Counter()
        async for row in client.iter_status(day, await client.today()):
            if row.VendorClaimId in ids:
                states[row.CurrentState] += 1
        print("by state:", states.total(), *sorted(states))
    if not accepted == states.total() == len(ids):
        sys.exit(f"Of {len(ids)} claims {accepted} were accepted and {states.total()} found.")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
