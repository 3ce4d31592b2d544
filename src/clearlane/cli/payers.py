"""``clearlane payers``: the payer lists of a vendor, over the service."""

from typing import Annotated

import typer

from clearlane.cli.client_command import ClientSession, usage_error, vendor_command
from clearlane.cli.output import show_json, show_table

app = typer.Typer(
    help="The payers a vendor can reach, from the service.",
    add_completion=False,
    rich_markup_mode=None,
)

KINDS = ("medical", "dental")


@vendor_command(app)
def payers(
    session: ClientSession,
    kind: Annotated[str, typer.Argument(help="medical or dental.")] = "medical",
    test: Annotated[bool, typer.Option("--test", help="The test payers of a sandbox.")] = False,
    eligibility: Annotated[
        bool, typer.Option("--eligibility", help="Those that answer eligibility requests.")
    ] = False,
) -> None:
    """List the payers that claims can be sent to, as a vendor sees them.

    Examples: clearlane payers; clearlane payers dental --test; clearlane payers --eligibility --json
    """
    if kind.lower() not in KINDS:
        usage_error(f"There are no {kind} payers: give {' or '.join(KINDS)}.")
    if test and eligibility:
        usage_error("Give --test or --eligibility: they are two lists.")
    client = session.client
    ask = (
        client.test_payers if test else client.eligibility_payers if eligibility else client.payers
    )
    found = ask(kind.lower())
    if session.as_json:
        show_json([payer.raw for payer in found])
        return
    show_table(
        ("payer id", "name", "type", "era", "eligibility", "enrollment required"),
        (
            (p.PayerId, p.Name, p.Type, p.EraAvailability, p.OffersEligibility,
             p.ClaimEnrollmentRequired)
            for p in found
        ),
    )  # fmt: skip
