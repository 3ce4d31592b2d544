"""``clearlane claim proof`` of an operator: the proof that a claim was filed, from the data directory."""

from pathlib import Path

from clearlane.cli.claim.claim_service import is_evidence, save_proof
from clearlane.cli.claim.claim_show import find_claim_number
from clearlane.cli.command.operator_command import in_installation
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.pipeline.load_claim import find_claim_scope
from clearlane.store.database.database import require_row
from clearlane.wiring import Installation


@in_installation(uses="pipeline.filing.proof_file")
async def write_proof(installation: Installation, claim: str, out: Path) -> None:
    """Write the proof of a claim."""
    from clearlane.pipeline.filing.claim_proof import ProofRefused, load_claim_proof
    from clearlane.pipeline.filing.proof_file import ProofFormat, make_proof_file
    from clearlane.pipeline.query.pdf_process import PdfRefused

    number = await find_claim_number(installation, claim)
    scope = require_row(
        await find_claim_scope(installation.database, number), "the client of a claim"
    )
    format = ProofFormat.JSON if is_evidence(out) else ProofFormat.PDF
    try:
        proof = await load_claim_proof(installation.work_context, scope, number, actor=operator())
        if proof is None:
            refuse(f"There is no claim {number} any more.")
        content = await make_proof_file(installation.work_context, proof, format)
    except (ProofRefused, PdfRefused) as refused:
        refuse(str(refused))
    save_proof(out, content)
