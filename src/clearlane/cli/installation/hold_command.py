"""``clearlane hold``: legal holds on sites and claims."""

from typing import Annotated

import typer

from clearlane.cli.command.operator_command import AsJson, in_installation, show_change, show_rows
from clearlane.cli.command.storage_command import MISUSED, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel import limits
from clearlane.kernel.clock import micros_text, to_micros
from clearlane.store.claims import claims
from clearlane.store.database.database import Tx
from clearlane.store.retention import legal_holds
from clearlane.wiring import Installation

app = typer.Typer(
    help="Legal holds: what is neither purged nor erased, whatever its age.", add_completion=False
)

HoldId = Annotated[int, typer.Argument(metavar="HOLD", help="The number of the hold.")]


@app.command()
@in_installation()
async def place(
    installation: Installation,
    subject: Annotated[
        str, typer.Argument(metavar="SITE_OR_CLAIM", help="A vendorSiteId, or a claim number.")
    ],
    matter: Annotated[
        str, typer.Option("--matter", help="The case, as you name it; never a patient.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Hold everything of a site, or one claim with all that it was made from or became.

    Examples: clearlane hold place LARK-1 --matter "case 2026-114"; clearlane hold place C0TQ3M81F2W9X4KZ7A --matter "audit 7"
    """
    if not matter.strip() or len(matter) > limits.ACCOUNT_NAME_CHARACTERS_MAX:
        refuse(
            f"--matter names the case, in 1 to {limits.ACCOUNT_NAME_CHARACTERS_MAX} characters.",
            MISUSED,
        )
    site, number = installation.accounts.any_site(subject), ""
    vendor_id, site_id = (site.vendor_id, site.id) if site else (0, 0)
    if site is None:
        async with installation.database.read(legal_holds.SCOPE) as tx:
            owner = await claims.find_owner(tx, subject)
        if owner is None:
            refuse(f"There is no site and no claim {subject}.")
        (vendor_id, site_id), number = owner, subject

    async def job(tx: Tx) -> int:
        id = await legal_holds.add(
            tx,
            vendor_id=vendor_id,
            site_id=site_id,
            claim_number=number,
            matter=matter.strip(),
            actor=operator().name,
            at=to_micros(installation.clock.now()),
        )
        tx.audit("hold.placed", ids=[subject], detail=matter.strip())
        return id

    id = await installation.database.write(legal_holds.SCOPE, job, actor=operator())
    what = f"Claim {number}" if number else f"Everything of site {subject}"
    message = f"{what} is held. To end it: clearlane hold release {id}"
    show_change(message, as_json=as_json, changed=True, hold=id)


@app.command("list")
@in_installation()
async def list_(
    installation: Installation,
    released: Annotated[bool, typer.Option("--all", help="Also holds that were released.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the legal holds in force.

    Example: clearlane hold list --all
    """
    sites = {int(one.id): one.vendor_site_id for one in installation.accounts.sites}
    async with installation.database.read(legal_holds.SCOPE) as tx:
        found = await legal_holds.list_holds(tx, released=released)
    rows = [
        {
            "hold": one.id,
            "vendor_site_id": sites.get(one.site_id, ""),
            "claim": one.claim_number or None,
            "matter": one.matter,
            "placed_by": one.placed_by,
            "placed_at": micros_text(one.placed_at),
            "released_at": micros_text(one.released_at),
        }
        for one in found
    ]
    show_rows(HOLDS, rows, as_json=as_json, noun="hold")


@app.command()
@in_installation(ask="What hold {hold} covers may be purged once its retention period is over.")
async def release(installation: Installation, hold: HoldId, as_json: AsJson = False) -> None:
    """Release a hold.

    Example: clearlane hold release 3 --yes
    """
    async with installation.database.read(legal_holds.SCOPE) as tx:
        found = await legal_holds.find(tx, hold)
    if found is None:
        refuse(f"There is no hold {hold}.")

    async def job(tx: Tx) -> None:
        at = to_micros(installation.clock.now())
        await legal_holds.release(tx, hold, actor=operator().name, at=at)
        tx.audit("hold.released", ids=[str(hold)], detail=found.matter)

    if found.released_at is None:
        await installation.database.write(legal_holds.SCOPE, job, actor=operator())
    message = f"Hold {hold} is released."
    show_change(message, as_json=as_json, changed=found.released_at is None)


HOLDS = (
    TableColumn("Hold", "hold"),
    TableColumn("Site", "vendor_site_id"),
    TableColumn("Claim", "claim"),
    TableColumn("Matter", "matter"),
    TableColumn("Placed by", "placed_by", drop=2),
    TableColumn("Placed", "placed_at", drop=1),
    TableColumn("Released", "released_at", drop=3),
)
