"""``clearlane payer available``: the payer lists of a vendor, over the service."""

from operator import attrgetter
from typing import Annotated

import typer

from clearlane.claims.kinds import SUBMITTED_KINDS
from clearlane.cli.command.client_command import ClientSession, usage_error
from clearlane.cli.command.kind_options import PayerTypeOption
from clearlane.cli.command.table import TableColumn

COLUMNS = (
    "payer id",
    TableColumn("name", wrap=True),
    "type",
    TableColumn("era", drop=2),
    TableColumn("eligibility", drop=1),
    "enrollment required",
)


def available(
    session: ClientSession,
    kind: Annotated[
        PayerTypeOption, typer.Argument(case_sensitive=False, help="Type of the payers.")
    ] = SUBMITTED_KINDS[0].value,
    test: Annotated[bool, typer.Option("--test", help="The test payers of a sandbox.")] = False,
    eligibility: Annotated[
        bool, typer.Option("--eligibility", help="Those that answer eligibility requests.")
    ] = False,
) -> None:
    """List the payers that claims can be sent to, as a vendor sees them.

    Examples: clearlane payer available; clearlane payer available dental --test;
    clearlane payer available --eligibility --json
    """
    if test and eligibility:
        usage_error("Give --test or --eligibility: they are two lists.")
    client = session.client
    ask = (
        client.test_payers if test else client.eligibility_payers if eligibility else client.payers
    )
    session.show_list(
        COLUMNS,
        ask(kind),
        attrgetter(
            "PayerId",
            "Name",
            "Type",
            "EraAvailability",
            "OffersEligibility",
            "ClaimEnrollmentRequired",
        ),
        noun="payer",
        hint="--test shows those of a sandbox." if not test else "",
    )


VENDOR_COMMANDS = (available,)
