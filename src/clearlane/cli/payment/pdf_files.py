"""``clearlane payment pdf`` and ``claim pdf``: files for people, to print or to send on.

A file is of mode 0600 and there whole or not at all. A long one shows its progress on a terminal.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import typer

from clearlane.cli.claim.claim_show import find_claim_number
from clearlane.cli.command.operator_command import in_installation
from clearlane.cli.command.output import counted
from clearlane.cli.command.private_file import private_file
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.payments.payment import ClaimPayment
from clearlane.pdf.frames import ClaimFileHeading, FileHeading, PaymentFileHeading
from clearlane.pipeline.query.payments import (
    claim_payment_pages,
    load_claim_payments,
    load_payment,
    one_page,
)
from clearlane.pipeline.query.pdf_process import PdfRefused, make_pdf
from clearlane.wiring import Installation

Pages = AsyncIterator[list[ClaimPayment]]


@in_installation()
async def write_payment_file(installation: Installation, payment_id: str, out: Path) -> None:
    """Write a payment with all its claims as a PDF file."""
    details = await load_payment(
        installation.database, installation.vault, payment_id, actor=operator()
    )
    if details is None:
        refuse(f"There is no payment {payment_id}. `clearlane payment list` shows them.")
    heading = PaymentFileHeading(payment=details.payment, adjustments=details.adjustments)
    pages = claim_payment_pages(
        installation.database, installation.vault, details.claim_payments_of
    )
    await _write(installation, out, heading, pages, details.payment.claims)
    typer.echo(f"Wrote {out}.")


@in_installation()
async def write_claim_file(installation: Installation, claim: str, out: Path) -> None:
    """Write a claim's explanation of benefits as a PDF file."""
    number = await find_claim_number(installation, claim)
    claim_payments = await load_claim_payments(
        installation.database, installation.vault, number, actor=operator()
    )
    if claim_payments is None:
        refuse(f"There is no claim {number} any more.")
    if not claim_payments:
        refuse(f"No payment has decided on {number} yet. See: clearlane claim show")
    heading = ClaimFileHeading(payments=tuple(payment for payment, _ in claim_payments))
    await _write(installation, out, heading, one_page(claim_payments), len(claim_payments))
    typer.echo(f"Wrote {out}.")


async def _write(
    installation: Installation, out: Path, heading: FileHeading, pages: Pages, claims: int
) -> None:
    with private_file(out) as file, progress(counted(claims, "claim"), claims) as show:
        try:
            await make_pdf(heading, pages, file, at=installation.clock.now(), progress=show)
        except PdfRefused as refused:
            refuse(str(refused))
