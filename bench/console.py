"""What a page of the console costs with a million claims stored, against the same page with a thousand."""

import asyncio
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from bench.harness import Measure, bench
from clearlane.accounts.users import ConsoleRole
from clearlane.pipeline.query.claim_summary import refresh_summary
from tests.console.sandbox_console import SandboxConsole, open_sandbox_console
from tests.console.signed_in_console import ConsolePerson

FEW, MANY = 1_000, 1_000_000
RUNS = 15
SHOWN = 60
"""Real claims, the latest: what the pages show. The others only lie behind them."""
PAGES = {
    "home": "/",
    "claims": "/claims?changed=any",
    "worklist": "/worklists?group=0",
    "claim": "/claims/{number}",
    "correct": "/claims/{number}/correct",
    "search": "/search?q={number}",
    "payments": "/payments",
    "eligibility": "/eligibility",
    "enrollments": "/enrollments",
    "connections": "/payers",
    "files": "/files",
    "accounts": "/accounts",
    "people": "/people",
    "audit": "/audit",
}
# Of every ten, seven are paid, two are without an answer and one is rejected; these are without money, so that they
# come last in worklists.
FILL = """
INSERT INTO claims (vendor_id, site_id, claim_number, kind, form, header, state, payer_id, vendor_claim_hash, content_hash,
    account_as_number, total_cents, created_at, created_day, updated_at, payload, label, service_day)
WITH RECURSIVE numbers(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :last)
SELECT :vendor, :site, 'B' || n, 'medical', 'v3_medical', x'00', 'complete', 'TST01', 'B' || n, 'B' || n, 0,
    CASE WHEN n % 10 < 3 THEN 0 ELSE 10000 END, n, '2020-01-01', n, x'00',
    CASE n % 10 WHEN 0 THEN 'rejected' WHEN 1 THEN 'accepted' WHEN 2 THEN 'sent' ELSE 'paid' END, '2020-01-01'
FROM numbers
"""


@bench("console.pages")
def console_pages() -> Iterator[Measure]:
    """Yield the least milliseconds of each page with many claims; the ratio is to the same with few."""
    yield from asyncio.run(_measure(MANY))


async def _measure(many: int) -> list[Measure]:
    with tempfile.TemporaryDirectory() as directory:
        async with open_sandbox_console(Path(directory)) as sandbox:
            number = [await sandbox.send("3004") for _ in range(SHOWN)][-1]
            await sandbox.advance(2)
            person = await sandbox.person(ConsoleRole.OPERATOR)
            _fill(sandbox, Path(directory), 0, FEW)
            few = await _times(sandbox, person, number)
            _fill(sandbox, Path(directory), FEW, many)
            found = await _times(sandbox, person, number)
    return [
        Measure(f"console.pages.{name}", ms, "ms", ms / few[name], f"{FEW} claims")
        for name, ms in found.items()
    ]


def _fill(sandbox: SandboxConsole, data: Path, first: int, last: int) -> None:
    site = sandbox.site("A-1")
    with sqlite3.connect(data / "clearlane.db", timeout=60) as database:
        values = {"vendor": site.vendor_id, "site": site.id, "first": first, "last": last}
        database.execute(FILL, values)
        database.execute("ANALYZE")
    database.close()


async def _times(sandbox: SandboxConsole, person: ConsolePerson, number: str) -> dict[str, float]:
    await refresh_summary(sandbox.installation.work_context, sandbox.site("A-1"))
    found = {}
    for name, path in PAGES.items():
        times = []
        for _ in range(RUNS):
            start = perf_counter()
            answer = await person.ask(path.format(number=number))
            times.append((perf_counter() - start) * 1_000)
            assert answer.status_code in {200, 303}, (name, answer.status_code)
        found[name] = min(times)  # noise only ever adds
    return found


if __name__ == "__main__":
    for line in asyncio.run(_measure(int(sys.argv[1]) if sys.argv[1:] else MANY)):
        print(line)
