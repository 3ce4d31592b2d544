"""Compute what an installation carries, and write `docs/explanation/capacity.md`.

    python -m tools.docs.capacity                      # write the page
    python -m tools.docs.capacity --claims 2000000     # a day of yours: claims, --inquiries, --years

The figures of MEASURED come from `bench` on one core of a small virtual machine; put yours in their place.
"""

import argparse
from dataclasses import dataclass
from math import ceil
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "capacity.md"

SECONDS_A_DAY = 86_400
WORK_DAYS, DAYS = 250, 365
PEAK = 5.0
"""The busiest hour against the mean of all hours of a working day."""
BUSY = 0.6
"""How much of a core may be used at the peak: the rest is for a node that died."""
YEARS = 10
TRANSACTIONS_A_CLAIM = 3
"""As a clearinghouse counts them: the claim, its 277CA and its part of an 835. Acknowledgements of files are not counted."""
TRANSACTIONS_AN_INQUIRY = 2
INSTALLATION_TERABYTES = 20.0
"""A PostgreSQL that can still be backed up, verified and restored in a night."""
COMMITS_A_SECOND = 300.0
"""Transactions that can lock the heads of audit chain and feed one after the other, a network between node and server."""
CONNECTIONS_A_NODE = 23


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one claim and one inquiry cost."""

    accept_ms: float = 0.55
    """CPU of a node: accepted over https in documents of 50 (`v3.submit50.postgresql`)."""
    claim_ms: float = 5.5
    """CPU of a node from acceptance to the posted 835, with the simulated payer in it (`loop.claims.postgresql`)."""
    claim_server_ms: float = 3.1
    """CPU of PostgreSQL for the same."""
    inquiry_ms: float = 14.0
    """CPU of a node for an eligibility call in real time, with the simulated payer in it."""
    inquiry_server_ms: float = 4.8
    claim_bytes: int = 11_600
    """On disk once vacuumed, with indexes, documents and facts; lines of two, one remittance."""
    claim_wal_bytes: int = 31_800
    inquiry_bytes: int = 3_900


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a load needs."""

    claims_a_second: float
    inquiries_a_second: float
    node_cores: int
    server_cores: int
    terabytes_a_year: float
    terabytes: float
    wal_megabytes: float
    installations: int


def capacity(
    claims_a_day: float, inquiries_a_day: float, years: int, cost: Measured | None = None
) -> Capacity:
    """Return what a working day's load needs at its peak, kept for some years."""
    cost = cost or Measured()
    claims = claims_a_day * PEAK / SECONDS_A_DAY
    inquiries = inquiries_a_day * PEAK / SECONDS_A_DAY
    node = (claims * cost.claim_ms + inquiries * cost.inquiry_ms) / 1_000 / BUSY
    server = (claims * cost.claim_server_ms + inquiries * cost.inquiry_server_ms) / 1_000 / BUSY
    a_year = WORK_DAYS * (claims_a_day * cost.claim_bytes + inquiries_a_day * cost.inquiry_bytes)
    # Inquiries are kept for a year, claims for all of the years.
    kept = a_year + WORK_DAYS * claims_a_day * cost.claim_bytes * (years - 1)
    return Capacity(
        claims_a_second=claims,
        inquiries_a_second=inquiries,
        node_cores=max(1, ceil(node)),
        server_cores=max(1, ceil(server)),
        terabytes_a_year=a_year / 1e12,
        terabytes=kept / 1e12,
        wal_megabytes=claims * cost.claim_wal_bytes / 1e6,
        installations=max(1, ceil(kept / 1e12 / INSTALLATION_TERABYTES)),
    )


def national(transactions_a_year: float) -> tuple[float, float]:
    """Return claims and inquiries of a working day, if each make half of the transactions."""
    half = transactions_a_year / 2 / WORK_DAYS
    return half / TRANSACTIONS_A_CLAIM, half / TRANSACTIONS_AN_INQUIRY


LOADS = (
    ("A practice", 200, 200),
    ("A billing service", 20_000, 20_000),
    ("A vendor of practice systems", 400_000, 600_000),
    ("A regional clearinghouse", 2_000_000, 3_000_000),
    ("A national clearinghouse", *national(15e9)),
)


def number(value: float) -> str:
    """Return a number with as many digits as it can be trusted for."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} million"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def load_rows() -> list[str]:
    rows = [
        "| | claims a day | inquiries a day | claims/s at the peak | cores of nodes | cores of PostgreSQL | TB a year | TB after ten years | installations |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, claims, inquiries in LOADS:
        of = capacity(claims, inquiries, YEARS)
        cells = (
            number(claims), number(inquiries), number(of.claims_a_second), of.node_cores, of.server_cores,
            number(of.terabytes_a_year), number(of.terabytes), of.installations,
        )  # fmt: skip
        rows.append(f"| {name} | {' | '.join(str(cell) for cell in cells)} |")
    return rows


def page_text() -> str:
    """Return the page."""
    cost = Measured()
    big = capacity(*national(15e9), YEARS)
    gigabyte = 1e9 / cost.claim_bytes
    return "\n".join([
        "<!-- Written by `python -m tools.docs.capacity`. Do not edit. -->",
        "",
        "# What an installation carries",
        "",
        "Computed from measurements on one core of a small virtual machine, where a core of a server of today does more. "
        "`python -m tools.docs.capacity --claims 50000 --inquiries 80000` computes it for a day of yours.",
        "",
        "## What one claim costs",
        "",
        "A claim of two lines, from its submission over https to its posted 835. The simulated payer of a sandbox works in the same "
        "process and is in these figures; a real payer's work is its own.",
        "",
        "| | |",
        "|---|---|",
        f"| Accepted | {cost.accept_ms} ms of a node's CPU: {number(1_000 / cost.accept_ms)} claims a second and core |",
        f"| The whole way | {cost.claim_ms} ms: {number(1_000 / cost.claim_ms)} claims a second and core |",
        f"| PostgreSQL | {cost.claim_server_ms} ms of CPU, {cost.claim_wal_bytes / 1e3:.0f} kB of WAL |",
        f"| Kept | {cost.claim_bytes / 1e3:.1f} kB on disk once vacuumed: {number(gigabyte)} claims a gigabyte; twice that before the vacuum |",
        f"| An eligibility call | {cost.inquiry_ms:.0f} ms of a node's CPU, {cost.inquiry_server_ms:.0f} ms of PostgreSQL, {cost.inquiry_bytes / 1e3:.1f} kB on disk |",
        f"| A node | {CONNECTIONS_A_NODE} connections at most: 12 of its own, one that listens, about ten of the engine |",
        "",
        "## What a load needs",
        "",
        f"Peak: {PEAK:.0f} times the mean of a working day, of {WORK_DAYS} a year. Cores are full to {BUSY:.0%} then, so that the others "
        "carry a node that died. Claims are kept for ten years, inquiries for one.",
        "",
        *load_rows(),
        "",
        f"The national clearinghouse has 15 billion transactions a year: half are claims, each counted {TRANSACTIONS_A_CLAIM} times (837, 277CA, "
        f"835), half are inquiries, each counted {TRANSACTIONS_AN_INQUIRY} times.",
        "",
        "## How it grows",
        "",
        "1. **One node, one PostgreSQL.** Enough for most. SQLite is as fast; PostgreSQL is what a second node needs.",
        "2. **More nodes** on one PostgreSQL, behind any balancer: a node keeps nothing. `python -m bench nodes` measures what each adds.",
        "3. **A larger PostgreSQL.** [Partitions](../how-to/postgresql.md#partitions) are made by the nodes; a pooler saves connections.",
        "4. **Installations side by side, by vendor.** Vendors share no row, so each installation has its vendors, its database, "
        f"its audit chain. What decides is storage, not speed: {number(big.terabytes)} TB in ten years are {big.installations} installations of "
        f"{INSTALLATION_TERABYTES:.0f} TB, which can still be backed up, verified and restored in a night; the speed of all would fit into "
        f"{big.node_cores + big.server_cores} cores.",
        "",
        "## What is full first",
        "",
        "* **The heads of audit chain and feed.** All transactions of an installation that write lock two rows, one after the other, from "
        "the first of about six calls to the server until the commit is on disk. About "
        f"{COMMITS_A_SECOND:.0f} such transactions a second fit behind each other (an estimate); while one waits, its node gathers more claims into the next, so "
        "that claims a second still rise. A node that is stopped by its own CPU limit in this time stops all others: give nodes whole cores.",
        f"* **WAL**: {big.wal_megabytes:.0f} MB a second at the national peak, over all installations.",
        "* **Vacuum** of the newest partition: the row of a claim has about six versions until it is paid.",
        "",
        "## What would have to change, and what not",
        "",
        "* Side by side, each installation has an address of its own, which its vendors are given. Nothing in the product routes "
        "between installations.",
        "* One mailbox of a payer serves one installation. A payer that gives a clearinghouse one mailbox for all needs an installation "
        "that owns it and passes files on: [as an upstream hop](../how-to/upstream-hop.md). Control numbers are counted by installation.",
        "* Reports and search over all vendors would read each installation.",
        "* The API, the schema, the states and the promise of [durability](durability.md) stay as they are.",
        "",
        "Ten million claims in one PostgreSQL, once, on a busy machine, written by a script in 46 minutes: 25.7 GB (2.6 kB a claim that is only accepted), "
        "7.7 kB of WAL a claim, a vacuum of its tables in 4 seconds after those that ran by themselves. With a thousand claims beside it, and with ten "
        "million: a document of 50 took 0.9 times as long, a row of V3's status list 1.3, lists of 50 claims 1.4 to 2.0, a search by patient 2.4 times (0.11 "
        "seconds). A million on SQLite, on a quiet machine: 1.1 to 1.9 times, but the way to the 835 ten times: what reports and *Home* show is added up "
        "from all claims of a site after a day has passed.",
        "",
        "Not measured: networks between node and server, disks of a data center.",
    ]) + "\n"  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute what a load needs, or write the page.")
    parser.add_argument("--claims", type=float, help="claims of a working day")
    parser.add_argument("--inquiries", type=float, default=0.0, help="inquiries of a working day")
    parser.add_argument("--years", type=int, default=YEARS, help="how long claims are kept")
    given = parser.parse_args()
    if given.claims is None:
        PAGE.write_text(page_text(), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(PAGE.parents[2])}")
        return
    of = capacity(given.claims, given.inquiries, given.years)
    for name in of.__dataclass_fields__:
        print(f"{name.replace('_', ' '):20} {number(getattr(of, name))}")


if __name__ == "__main__":
    main()
