"""``clearlane instance``: instances of vendors' software that use proxy login."""

from typing import Annotated

import typer

from clearlane.accounts.instances import parse_instance_id
from clearlane.accounts.model import Site
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    show_change,
    show_rows,
)
from clearlane.cli.command.storage_command import MISUSED, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import from_micros
from clearlane.store.accounts import instances
from clearlane.wiring import Installation

app = typer.Typer(no_args_is_help=True, help="Instances of proxy login.", add_completion=False)

Id = Annotated[str, typer.Argument(metavar="ID", help="The instance's GUID.")]
OfSite = Annotated[
    str, typer.Option("--site", help="Its vendorSiteId, if several clients have that GUID.")
]


@app.command("list")
@in_installation()
async def list_(installation: Installation, as_json: AsJson = False) -> None:
    """List the instances. Their tokens are not kept and cannot be shown.

    Example: clearlane instance list --json
    """
    found = [
        _facts(installation, each) for each in await instances.all_instances(installation.database)
    ]
    show_rows(
        COLUMNS, found, as_json=as_json, noun="instance", hint="A program makes one by proxy login."
    )


@app.command()
@in_installation()
async def disable(
    installation: Installation, id: Id, site: OfSite = "", as_json: AsJson = False
) -> None:
    """Disable an instance: its token and any later one are refused.

    Example: clearlane instance disable 0f8fad5b-d9cb-469f-a165-70867728950e --yes
    """
    await _set_state(installation, id, site, instances.DISABLED, as_json=as_json)


@app.command()
@in_installation()
async def enable(
    installation: Installation, id: Id, site: OfSite = "", as_json: AsJson = False
) -> None:
    """Enable an instance: its token opens the login page again.

    Example: clearlane instance enable 0f8fad5b-d9cb-469f-a165-70867728950e
    """
    await _set_state(installation, id, site, instances.ACTIVE, as_json=as_json)


COLUMNS = (
    TableColumn("id", "instance_id"),
    TableColumn("name", "name", drop=2),
    TableColumn("vendor", "vendor_key", drop=1),
    TableColumn("site", "vendor_site_id"),
    TableColumn("state", "state", state=True),
    TableColumn("token", "has_token"),
    TableColumn("token made", "token_at", drop=3),
)


def _facts(installation: Installation, one: instances.Instance) -> dict[str, object]:
    keys = {vendor.id: vendor.key for vendor in installation.accounts.vendors}
    site = _site(installation, one)
    return {
        "instance_id": one.instance,
        "name": one.name,
        "vendor_key": keys.get(one.scope.vendor, ""),
        "vendor_site_id": site.vendor_site_id if site else "",
        "state": one.state,
        "has_token": one.has_token,
        "token_at": from_micros(one.token_at).isoformat(timespec="seconds"),
    }


def _site(installation: Installation, one: instances.Instance) -> Site | None:
    return next((site for site in installation.accounts.sites if site.scope == one.scope), None)


async def _set_state(
    installation: Installation, id: str, vendor_site_id: str, state: str, *, as_json: bool
) -> None:
    wanted = parse_instance_id(id)
    if wanted is None:
        refuse(f"{id} is not a GUID. `clearlane instance list` shows the instances.", MISUSED)
    found = [
        each
        for each in await instances.all_instances(installation.database)
        if each.instance == wanted and _is_of(installation, each, vendor_site_id)
    ]
    if not found:
        refuse(f"There is no instance {wanted}. `clearlane instance list` shows them.")
    if len(found) > 1:
        refuse(f"{len(found)} clients have an instance {wanted}: name one with --site.")
    changed = await instances.set_state(installation.database, found[0], state, actor=operator())
    undo = f" To undo it: clearlane instance enable {wanted}" if state == instances.DISABLED else ""
    message = f"Instance {wanted} is {state}.{undo}"
    show_change(message, as_json=as_json, changed=changed, instance_id=wanted, state=state)


def _is_of(installation: Installation, one: instances.Instance, vendor_site_id: str) -> bool:
    site = _site(installation, one)
    return not vendor_site_id or (site is not None and site.vendor_site_id == vendor_site_id)
