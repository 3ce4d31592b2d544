"""A claim is named on the command line by its claim number or by the vendor's claim id.

Knows neither the service nor the database: both ways of asking end here.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, NoReturn

import typer

from clearlane.cli.command.output import printable

ClaimId = Annotated[
    str,
    typer.Argument(metavar="CLAIM", help="The claim number, or the vendor's claim id."),
]


def choose_claim_number(
    given: str, numbers: Sequence[str], refuse: Callable[[str], NoReturn]
) -> str:
    """Return the one claim number that was found under an id; refuse if there is none or more than one."""
    if not numbers:
        refuse(f"There is no claim with the claim number or vendor claim id {printable(given)}.")
    if len(numbers) > 1:
        listed = ", ".join(numbers)
        refuse(f"Several sites have a claim {printable(given)}: give its claim number: {listed}.")
    return numbers[0]
