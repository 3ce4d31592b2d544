"""``clearlane claim form`` of an operator: a claim on paper, from the data directory."""

from pathlib import Path

from clearlane.claims.printing.sheet_type import SheetType
from clearlane.cli.claim.claim_service import save_form
from clearlane.cli.claim.claim_show import find_claim_number
from clearlane.cli.command.operator_command import in_installation
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.wiring import Installation


@in_installation(uses="pipeline.filing.claim_form_file")
async def write_form(installation: Installation, claim: str, out: Path, sheet: SheetType) -> None:
    """Write a claim on paper."""
    from clearlane.pipeline.filing.claim_form_file import (
        fill_claim_form,
        make_form_file,
    )
    from clearlane.pipeline.load_claim import load_claim
    from clearlane.pipeline.query.pdf_process import PdfRefused

    number = await find_claim_number(installation, claim)
    loaded = await load_claim(installation.database, installation.vault, number, actor=operator())
    if loaded is None:
        refuse(f"There is no claim {number} any more.")
    now = installation.clock.now()
    printed = fill_claim_form(loaded, now)
    try:
        content = await make_form_file(printed, sheet, at=now)
    except PdfRefused as refused:
        refuse(str(refused))
    filled = printed.filled
    save_form(out, content, filled.form.name, filled.left_out_sentences)
