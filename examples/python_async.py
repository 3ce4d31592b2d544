"""Vendor API V3 from an event loop: many claims at once, then their states.

python examples/python_async.py [DATA [COUNT]]   (DATA: data directory of a running sandbox)
"""
# ruff: noqa: T201, INP001, TID251  (a script that prints, beside others, and looks at the calendar)

import asyncio
import json
import sys
from collections import Counter
from datetime import UTC, datetime
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
    """Submit claims concurrently and count them by state."""
    now = datetime.now(UTC)
    day = now.date().isoformat()
    ids = [f"ASYNC-{now:%Y%m%d%H%M%S%f}-{number}" for number in range(int(count))]
    async with AsyncClient.from_sandbox(data) as client:
        answers = await asyncio.gather(
            *(client.submit_medical_claims(claim(id, day)) for id in ids)
        )
        print("accepted:", sum(answer.accepted for answer in answers))
        states: Counter[str] = Counter()
        async for row in client.iter_status(day, datetime.now(UTC).date()):
            if row.VendorClaimId in ids:
                states[row.CurrentState] += 1
        print("by state:", sum(states.values()), *sorted(states))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
