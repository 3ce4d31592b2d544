"""``clearlane site export`` and ``site erase``: a client's data out, and away."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.chosen_site import find_site
from clearlane.cli.command.client_command import confirm
from clearlane.cli.command.operator_command import AsJson, in_installation, show_change
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import MISUSED, Yes, operator, refuse
from clearlane.store.vault.private_files import write_private
from clearlane.wiring import Installation

SiteId = Annotated[str, typer.Argument(metavar="VENDOR_SITE_ID", help="The site's vendorSiteId.")]
BACKUP_DAYS_MAX = 36_600


@in_installation(uses="pipeline.operator.export_site")
async def export(
    installation: Installation,
    vendor_site_id: SiteId,
    to: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="Where to write; made if missing.")
    ],
    as_json: AsJson = False,
) -> None:
    """Write everything of a site into a directory: JSON lines, X12, files, and a signed manifest with hashes.

    Claims as they came and as they were sent, with their history, documents, notes and payments; files; enrollments; questions
    to payers. An export that was interrupted goes on where it was when it is run again with the same directory. The
    directory holds patient data: only you can read it.

    Example: clearlane site export LARK-1 /mnt/carry/LARK-1
    """
    from clearlane.pipeline.operator.export_site import CLAIMS_FILE, SiteExport

    site = find_site(installation, vendor_site_id)
    making = SiteExport(installation.work_context, site, to)
    with progress("Exporting") as show:
        async for page in making.run(operator()):
            show(page.rows, label=f"Exporting {page.part}")
    rows = dict(making.place.rows)
    message = f"{rows[CLAIMS_FILE]} claims and all else of site {vendor_site_id} are in {to}."
    show_change(message, as_json=as_json, changed=True, directory=str(to), rows=rows)


@in_installation(uses="pipeline.operator.erase_site")
async def erase(
    installation: Installation,
    vendor_site_id: SiteId,
    export: Annotated[
        Path | None, typer.Option("--export", help="The directory of its finished export.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", help="Where to write the certificate.")
    ] = None,
    backup_days: Annotated[
        int,
        typer.Option(
            "--backups-kept",
            metavar="DAYS",
            min=0,
            max=BACKUP_DAYS_MAX,
            help="How long you keep backups, for the certificate.",
        ),
    ] = 0,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Erase everything of a suspended site that was exported, and certify what went, what stays and until when.

    Refused while a legal hold is in force, while claims are on their way, or if a claim has changed since the export. If it is
    interrupted, run it again.

    Example: clearlane site erase LARK-1 --export /mnt/carry/LARK-1 --certificate LARK-1-erased.json --backups-kept 35
    """
    from clearlane.pipeline.operator.erase_site import erase_site, plan_erasure
    from clearlane.pipeline.operator.export_site import CLAIMS_FILE

    site = find_site(installation, vendor_site_id)
    if export is None or certificate is None:
        refuse(
            "Name the finished export with --export and the new certificate with --certificate.",
            MISUSED,
        )
    if await asyncio.to_thread(certificate.exists):
        refuse(f"{certificate} exists already: name another file.", MISUSED)
    context = installation.work_context
    plan = await plan_erasure(context, site, export)
    claims = plan.manifest["files"][CLAIMS_FILE]["rows"]
    still_open = f" {plan.open_claims} of them are open." if plan.open_claims else ""
    confirm(
        f"{claims} claims and all else of site {vendor_site_id} ({site.name}) are erased for good.{still_open}",
        yes=yes,
    )
    until = context.clock.now() + timedelta(days=backup_days) if backup_days else None
    with progress("Erasing") as show:
        text = await erase_site(context, plan, backups_until=until, actor=operator(), progress=show)
    await asyncio.to_thread(write_private, certificate, text.encode())
    message = f"Site {vendor_site_id} is erased; the certificate is {certificate}."
    show_change(message, as_json=as_json, changed=True, certificate=str(certificate))
