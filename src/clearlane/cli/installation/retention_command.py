"""``clearlane retention``: how long data are kept, what a purge would remove, and a purge by hand."""

from datetime import date
from typing import Annotated

import typer

from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    show_change,
    show_record,
    show_rows,
)
from clearlane.cli.command.storage_command import MISUSED, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import day_start
from clearlane.kernel.retention_kinds import PERIOD_DAYS_MAX, RETENTION, RetentionKind
from clearlane.store.database.database import Tx
from clearlane.store.retention import periods
from clearlane.store.retention.periods import EVERY_VENDOR
from clearlane.wiring import Installation

DEFAULT = "default"
EVERYONE, INSTALLATION = "all", "installation"

app = typer.Typer(help="How long data are kept, and what a purge removes.", add_completion=False)

Vendor = Annotated[
    str, typer.Option("--vendor", metavar="VENDOR_KEY", help="Only this vendor (default: all).")
]
Day = Annotated[
    date | None,
    day_option("--on", help="As of this day (default: today)."),
]


@app.command()
@in_installation()
async def show(installation: Installation, as_json: AsJson = False) -> None:
    """Show how long each kind of data is kept: for all vendors, and for those with periods of their own.

    Example: clearlane retention show
    """
    from clearlane.pipeline.retention.cutoffs import load_table

    async with installation.database.read(periods.SCOPE) as tx:
        table = await load_table(tx, installation.work_context.limits.kept_days)
    keys = {int(one.id): one.key for one in installation.accounts.vendors}
    rows = [
        {
            "kind": kind.value,
            "vendor_key": keys.get(vendor, EVERYONE),
            "days": days,
            "holds": rule.title,
        }
        for kind, rule in RETENTION.items()
        for vendor, days in table.periods(kind).items()
    ]
    show_rows(PERIODS, rows, as_json=as_json, noun="period")


@app.command("set")
@in_installation()
async def set_(
    installation: Installation,
    kind: Annotated[RetentionKind, typer.Argument(help="What is kept.")],
    days: Annotated[str, typer.Argument(metavar="DAYS", help="Days, or default.")],
    vendor: Vendor = "",
    as_json: AsJson = False,
) -> None:
    """Set how many days a kind of data is kept, for all vendors or for one.

    Claims, remittances, proofs and the audit trail are kept for ten years if you set nothing, and for six at least. Laws of states, and of
    minors, may ask for more: that is for you to know.

    Examples: clearlane retention set claims 4018 --vendor ACME; clearlane retention set files default
    """
    wanted = _days(kind, days)
    vendor_id = _vendor_id(installation, vendor)

    async def job(tx: Tx) -> None:
        await periods.put_period(tx, vendor_id, kind, wanted)
        tx.audit("retention.set", detail=f"{kind.value}: {days} days for {vendor or 'all vendors'}")

    await installation.database.write(periods.SCOPE, job, actor=operator())
    kept = f"{wanted} days" if wanted is not None else "the default period"
    message = f"{kind.value.capitalize()} of {vendor or 'all vendors'} are kept for {kept}."
    show_change(message, as_json=as_json, changed=True, kind=kind.value, days=wanted)


@app.command("dry-run")
@in_installation(uses="pipeline.retention.purge_records")
async def dry_run(installation: Installation, on: Day = None, as_json: AsJson = False) -> None:
    """Show what a purge would remove, today or on a later day, and change nothing.

    Examples: clearlane retention dry-run; clearlane retention dry-run --on 2036-01-01
    """
    from clearlane.pipeline.retention.purge_records import report_purge

    now = day_start(on, "UTC") if on else installation.clock.now()
    keys = {int(one.id): one.key for one in installation.accounts.vendors}
    rows = [
        {
            "kind": line.kind.value,
            "vendor_key": keys.get(line.vendor_id, INSTALLATION),
            "before": f"{line.before:%Y-%m-%d}",
            "what": what,
            "count": count,
        }
        for line in await report_purge(installation.work_context, now)
        for what, count in line.counts.items()
    ]
    show_rows(REPORT, rows, as_json=as_json, noun="kind")


@app.command()
@in_installation(
    uses="pipeline.retention.purge_records",
    ask="Data whose retention period is over are removed for good.",
)
async def purge(installation: Installation, as_json: AsJson = False) -> None:
    """Remove now what the nightly purge would remove. Legal holds are respected.

    Example: clearlane retention purge --yes
    """
    from clearlane.pipeline.retention.purge_records import purge_records
    from clearlane.pipeline.retention.purge_runs import Purge, record_purge

    context = installation.work_context
    purged = purge_records(context, installation.clock.now())
    removed = await record_purge(context, Purge.RECORDS, purged)
    show_record({name.replace(" ", "_"): count for name, count in removed.items()}, as_json=as_json)


def _days(kind: RetentionKind, text: str) -> int | None:
    """Return the days that a text says, None for the default period."""
    if text == DEFAULT:
        return None
    least, number = RETENTION[kind].days_min, int(text) if text.isdecimal() else -1
    if not least <= number <= PERIOD_DAYS_MAX:
        refuse(f"DAYS must be a number from {least} to {PERIOD_DAYS_MAX}, or {DEFAULT}.", MISUSED)
    return number


def _vendor_id(installation: Installation, key: str) -> int:
    if not key:
        return EVERY_VENDOR
    found = installation.accounts.vendor(key)
    if found is None:
        refuse(f"There is no vendor {key}. `clearlane vendor list` shows them.")
    return int(found.id)


PERIODS = (
    TableColumn("Kind", "kind"),
    TableColumn("Vendor", "vendor_key"),
    TableColumn("Days", "days"),
    TableColumn("What", "holds", drop=1),
)
REPORT = (
    TableColumn("Kind", "kind"),
    TableColumn("Vendor", "vendor_key"),
    TableColumn("Older than", "before"),
    TableColumn("What", "what"),
    TableColumn("Count", "count"),
)
