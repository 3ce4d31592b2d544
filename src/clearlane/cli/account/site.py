"""``clearlane site``: the sites (clients) of a vendor."""

from datetime import date, timedelta
from typing import Annotated

import typer

from clearlane.accounts.model import Site, SiteState
from clearlane.accounts.site_json import site_object
from clearlane.cli.account import site_data
from clearlane.cli.account.vendor import find_vendor
from clearlane.cli.command.chosen_site import find_site
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.operator_command import (
    AsJson,
    Switch,
    confirm_loaded,
    in_installation,
    make_change,
    show_record,
    show_rows,
)
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import to_local
from clearlane.payers.edits import FILING_DAYS_MAX
from clearlane.payers.filing_limits import FilingKind
from clearlane.payers.model import PAYER_TYPES
from clearlane.store.accounts.accounts import (
    REVISION,
    NewSite,
    SiteSwitch,
    accept_baa,
    add_site,
    load_accounts,
    revoke_baa,
    set_site_state,
    set_site_switch,
)
from clearlane.store.database.database import Tx
from clearlane.wiring import Installation

app = typer.Typer(help="Sites (clients) of a vendor.", add_completion=False)

SiteId = Annotated[str, typer.Argument(metavar="VENDOR_SITE_ID", help="The site's vendorSiteId.")]
OnOrOff = Annotated[Switch, typer.Argument(help="on or off.")]


@app.command()
@in_installation()
async def add(
    installation: Installation,
    vendor: Annotated[str, typer.Argument(metavar="VENDOR_KEY", help="The vendor's key.")],
    vendor_site_id: Annotated[
        str, typer.Option("--id", help="Its vendorSiteId; generated if not given.")
    ] = "",
    name: Annotated[str, typer.Option(help="Name of the client; the id if not given.")] = "",
    client_id: Annotated[str, typer.Option(help="Its client id; the id if not given.")] = "",
    time_zone: Annotated[str, typer.Option(help="IANA time zone of its days.")] = "UTC",
    baa_accepted: Annotated[
        bool, typer.Option("--baa-accepted", help="The client has accepted the BAA.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a site of a vendor.

    Example: clearlane site add ACME --id LARK-1 --name "Larkspur Dental" --time-zone America/Chicago
    """
    new = NewSite(
        vendor_key=vendor,
        name=name,
        vendor_site_id=vendor_site_id,
        client_id=client_id,
        time_zone=time_zone,
        baa_accepted=baa_accepted,
    )
    made, done = await add_site(
        installation.database, new, now=installation.clock.now(), actor=operator()
    )
    accounts = await load_accounts(installation.database, installation.pepper)
    await confirm_loaded(installation.database, REVISION, done.revision)
    site = accounts.any_site(made)
    assert site is not None
    if not as_json:
        typer.echo("The site is added.")
    show_record(facts(site, vendor), COLUMNS, as_json=as_json)


@app.command("list")
@in_installation()
async def list_(
    installation: Installation,
    vendor: Annotated[str, typer.Option(help="Only the sites of this vendor.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the sites.

    Example: clearlane site list --json
    """
    if vendor:
        find_vendor(installation, vendor)
    keys = {each.id: each.key for each in installation.accounts.vendors}
    found = [facts(site, keys[site.vendor_id]) for site in installation.accounts.sites]
    sites = [each for each in found if vendor in {"", each["vendor_key"]}]
    show_rows(
        COLUMNS,
        sites,
        as_json=as_json,
        noun="site",
        hint="Add one with: clearlane site add VENDOR.",
    )


@app.command()
@in_installation(
    ask="New claims, eligibility inquiries and enrollments of site {vendor_site_id} are refused from now on. "
    "Claims on their way go on."
)
async def suspend(
    installation: Installation, vendor_site_id: SiteId, as_json: AsJson = False
) -> None:
    """Suspend a site: it cannot submit, but it can still read.

    Example: clearlane site suspend LARK-1
    """
    await make_change(
        installation,
        REVISION,
        f"Site {vendor_site_id} is suspended. To undo it: clearlane site activate {vendor_site_id}",
        set_site_state(
            installation.database, vendor_site_id, SiteState.SUSPENDED, actor=operator()
        ),
        as_json=as_json,
    )


@app.command()
@in_installation()
async def activate(
    installation: Installation, vendor_site_id: SiteId, as_json: AsJson = False
) -> None:
    """Activate a suspended site.

    Example: clearlane site activate LARK-1
    """
    await make_change(
        installation,
        REVISION,
        f"Site {vendor_site_id} is active.",
        set_site_state(installation.database, vendor_site_id, SiteState.ACTIVE, actor=operator()),
        as_json=as_json,
    )


@app.command("baa-accept")
@in_installation()
async def baa_accept(
    installation: Installation, vendor_site_id: SiteId, as_json: AsJson = False
) -> None:
    """Record that the client has accepted the Business Associate Agreement.

    Example: clearlane site baa-accept LARK-1
    """
    await make_change(
        installation,
        REVISION,
        f"The BAA of site {vendor_site_id} is accepted.",
        accept_baa(
            installation.database, vendor_site_id, now=installation.clock.now(), actor=operator()
        ),
        as_json=as_json,
    )


@app.command("baa-revoke")
@in_installation(
    ask="Claims and inquiries of site {vendor_site_id} are refused from now on, and the console shows its claims and "
    "payments to no one."
)
async def baa_revoke(
    installation: Installation, vendor_site_id: SiteId, as_json: AsJson = False
) -> None:
    """Record that the client no longer accepts the agreement: calls with PHI are refused.

    Example: clearlane site baa-revoke LARK-1
    """
    await make_change(
        installation,
        REVISION,
        f"The BAA of site {vendor_site_id} is revoked. To undo it: clearlane site baa-accept {vendor_site_id}",
        revoke_baa(installation.database, vendor_site_id, actor=operator()),
        as_json=as_json,
    )


@app.command()
@in_installation()
async def corrections(
    installation: Installation,
    switch: OnOrOff,
    vendor_site_id: SiteId,
    as_json: AsJson = False,
) -> None:
    """Allow people to correct the site's claims in the console, or leave that to its software only.

    Example: clearlane site corrections off LARK-1
    """
    message = f"Corrections of site {vendor_site_id} in the console are {switch}."
    which = SiteSwitch.CORRECTIONS
    await _switch(installation, vendor_site_id, which, switch, message, as_json=as_json)


@app.command()
@in_installation()
async def shadow(
    installation: Installation,
    switch: OnOrOff,
    vendor_site_id: SiteId,
    as_json: AsJson = False,
) -> None:
    """Judge every file that the site sends from now on, and send none of its claims; or send them again.

    Claims that come as JSON are sent all the same.

    Example: clearlane site shadow on LARK-1
    """
    files = "judged, and not sent" if switch is Switch.ON else "sent"
    message = f"Claims of files that site {vendor_site_id} sends are {files}."
    await _switch(installation, vendor_site_id, SiteSwitch.SHADOW, switch, message, as_json=as_json)


@app.command("daily-summary")
@in_installation()
async def daily_summary(
    installation: Installation,
    switch: OnOrOff,
    vendor_site_id: SiteId,
    as_json: AsJson = False,
) -> None:
    """Write a summary of each day for the site to fetch, as text and as CSV; or none any more.

    The first is that of the day on which it is switched on, and comes when the day is over.

    Example: clearlane site daily-summary on LARK-1
    """
    message = f"Daily summaries for site {vendor_site_id} are {switch}."
    which = SiteSwitch.DAILY_SUMMARY
    await _switch(installation, vendor_site_id, which, switch, message, as_json=as_json)


@app.command("bill-next-payer")
@in_installation()
async def bill_next_payer(
    installation: Installation,
    switch: OnOrOff,
    vendor_site_id: SiteId,
    as_json: AsJson = False,
) -> None:
    """Send claims to the next payer by themselves once the payer before has paid; or leave that to people.

    Only drafts that are made from now on, and never: denials, nothing left to the patient, payments that do not balance, were
    reversed or have claims that match none, claims that the payer forwarded, and open questions.

    Example: clearlane site bill-next-payer on LARK-1
    """
    message = (
        f"Sending of claims to next payers by themselves is {switch} for site {vendor_site_id}."
    )
    which = SiteSwitch.BILL_NEXT_PAYER
    await _switch(installation, vendor_site_id, which, switch, message, as_json=as_json)


@app.command("filing-limit")
@in_installation()
async def filing_limit(
    installation: Installation,
    vendor_site_id: SiteId,
    payer: Annotated[str, typer.Option("--payer", help="The payer id.")] = "",
    kind: Annotated[
        FilingKind, typer.Option("--kind", case_sensitive=False, help="What is filed.")
    ] = FilingKind.ORIGINAL,
    days: Annotated[
        int | None,
        typer.Option("--days", min=0, max=FILING_DAYS_MAX, help="Days; 0 removes the limit."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set how long a site may file with a payer by its contract, or list these limits.

    It comes before the limit of the payer's row in the directory.

    Examples: clearlane site filing-limit LARK-1; clearlane site filing-limit LARK-1 --payer HHP2M --kind corrected --days 180
    """
    from clearlane.store import filing_alarms

    site = find_site(installation, vendor_site_id)
    if days is not None:
        found = [one for type in PAYER_TYPES if (one := installation.payers.find(payer, type))]
        if not found:
            refuse(f"There is no payer {payer!r}. Name it with --payer.")

        async def job(tx: Tx) -> None:
            for one in found:
                await filing_alarms.set_agreed(
                    tx, filing_alarms.AgreedLimit(site.id, *one.key, kind.value, days)
                )
            tx.audit("site.filing_limit", detail=f"{payer} {kind.value}: {days} days")

        await installation.database.write(site.scope, job, actor=operator())
    async with installation.database.read(site.scope) as tx:
        agreed = await filing_alarms.list_agreed(tx)
    # They are kept under the id in folded case, and shown as the directory spells it.
    directory = installation.payers
    named = [directory.find(one.payer_id, one.payer_type) for one in agreed]
    rows = [
        one._asdict() | {"payer_id": payer.payer_id if payer else one.payer_id}
        for one, payer in zip(agreed, named, strict=True)
    ]
    show_rows(LIMITS, rows, as_json=as_json, noun="limit")


async def _switch(
    installation: Installation,
    vendor_site_id: str,
    which: SiteSwitch,
    to: Switch,
    message: str,
    *,
    as_json: bool,
) -> None:
    change = set_site_switch(
        installation.database,
        vendor_site_id,
        which,
        on=to is Switch.ON,
        now=installation.clock.now(),
        actor=operator(),
    )
    await make_change(installation, REVISION, message, change, as_json=as_json)


@app.command()
@in_installation()
async def summary(
    installation: Installation,
    vendor_site_id: SiteId,
    day: Annotated[
        date | None,
        day_option(help="The day in the site's time zone (default: yesterday)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened to the site's claims on one day: received, accepted, not accepted, sent, paid.

    Examples: clearlane site summary LARK-1; clearlane site summary LARK-1 --day 2026-11-17 --json
    """
    from clearlane.pipeline.intake.files.daily_summary import summary_facts
    from clearlane.pipeline.intake.files.site_day import count_site_day

    site = find_site(installation, vendor_site_id)
    today = to_local(installation.clock.now(), site.time_zone).date()
    wanted = day or today - timedelta(days=1)
    if wanted > today:
        refuse(f"{wanted} has not begun for site {vendor_site_id}: it has {today}.")
    async with installation.database.read(site.scope) as tx:
        figures = await count_site_day(tx, site, wanted)
    show_record(summary_facts(figures), FIGURES, as_json=as_json)


app.command("export")(site_data.export)
app.command("erase")(site_data.erase)

LIMITS = (
    TableColumn("Type", "payer_type"),
    TableColumn("Payer", "payer_id"),
    TableColumn("Kind", "kind"),
    TableColumn("Days", "days"),
)
FIGURES = (
    TableColumn("Site", "site"),
    TableColumn("Day", "day"),
    TableColumn("Claims received", "received"),
    TableColumn("Accepted", "accepted"),
    TableColumn("Not accepted", "not_accepted"),
    TableColumn("Claims sent", "sent"),
    TableColumn("Claims paid", "paid"),
    TableColumn("Amount paid", "paid_amount"),
)
COLUMNS = (
    TableColumn("Vendor site id", "id"),
    TableColumn("Vendor", "vendor_key"),
    TableColumn("Client id", "client_id", drop=1),
    TableColumn("Name", "name"),
    TableColumn("Time zone", "time_zone", drop=2),
    TableColumn("State", "state", state=True),
    TableColumn("BAA", "baa_accepted"),
    TableColumn("Corrected in the console", "console_corrections", drop=3),
    TableColumn("Shadow", "shadow", drop=4),
    TableColumn("Daily summary since", "daily_summary_since_at", drop=5),
    TableColumn("Bills next payers", "bills_next_payer", drop=6),
)


def facts(site: Site, vendor_key: str) -> dict[str, object]:
    """Return the printable facts of a site: those of v1, and its vendor."""
    return {**site_object(site), "vendor_key": vendor_key}
