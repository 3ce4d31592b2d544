"""``clearlane site``: the sites (clients) of a vendor."""

from typing import Annotated

import typer

from clearlane.accounts.model import Site, SiteState
from clearlane.cli.account.vendor import find_vendor
from clearlane.cli.command.operator_command import (
    AsJson,
    Switch,
    confirm_loaded,
    in_installation,
    make_change,
    show_record,
    show_rows,
)
from clearlane.cli.command.storage_command import operator
from clearlane.cli.command.table import TableColumn
from clearlane.store.accounts.accounts import (
    REVISION,
    NewSite,
    accept_baa,
    add_site,
    load_accounts,
    revoke_baa,
    set_console_corrections,
    set_site_state,
)
from clearlane.wiring import Installation

app = typer.Typer(help="Sites (clients) of a vendor.", add_completion=False)

SiteId = Annotated[str, typer.Argument(metavar="VENDOR_SITE_ID", help="The site's vendorSiteId.")]


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
    switch: Annotated[Switch, typer.Argument(help="on or off.")],
    vendor_site_id: SiteId,
    as_json: AsJson = False,
) -> None:
    """Allow people to correct the site's claims in the console, or leave that to its software only.

    Example: clearlane site corrections off LARK-1
    """
    await make_change(
        installation,
        REVISION,
        f"Corrections of site {vendor_site_id} in the console are {switch}.",
        set_console_corrections(
            installation.database, vendor_site_id, allowed=switch is Switch.ON, actor=operator()
        ),
        as_json=as_json,
    )


COLUMNS = (
    TableColumn("Vendor site id", "vendor_site_id"),
    TableColumn("Vendor", "vendor_key"),
    TableColumn("Client id", "client_id", drop=1),
    TableColumn("Name", "name"),
    TableColumn("Time zone", "time_zone", drop=2),
    TableColumn("State", "state", state=True),
    TableColumn("BAA", "baa_accepted"),
    TableColumn("Corrected in the console", "console_corrections", drop=3),
)


def facts(site: Site, vendor_key: str) -> dict[str, object]:
    """Return the printable facts of a site."""
    return {
        "vendor_site_id": site.vendor_site_id,
        "vendor_key": vendor_key,
        "client_id": site.client_id,
        "name": site.name,
        "time_zone": site.time_zone,
        "state": site.state,
        "baa_accepted": site.baa_accepted,
        "console_corrections": site.console_corrections,
    }
