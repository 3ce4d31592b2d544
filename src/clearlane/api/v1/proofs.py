"""Proofs of filing of ``/clearlane/v1``: that a claim was filed, as PDF or as evidence alone, and the signed checkpoints."""

from datetime import datetime
from typing import Annotated

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.v1 import parameters
from clearlane.api.v1.claims import no_claim, require_claim
from clearlane.api.v1.cursors import cursor_number
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response
from clearlane.pipeline.filing.claim_proof import ProofRefused, load_claim_proof
from clearlane.pipeline.filing.proof_file import MEDIA_TYPES, ProofFormat, make_proof_file
from clearlane.pipeline.query.pdf_process import PdfRefused
from clearlane.proofs.checkpoint import Checkpoint
from clearlane.proofs.signing import fingerprint
from clearlane.store.delivery import proof_log
from clearlane.store.delivery.proof_log import StoredCheckpoint

endpoints = ResourceRows(Resource.PROOFS)

LIST = "checkpoints"
NOT_YET = (
    "409 if it was not sent yet, or if its checkpoint is signed after the next full hour only."
)


class CheckpointJson(JsonModel):
    """A signed checkpoint of the log of filings. Keep it: it shows later that the log was not rewritten."""

    id: int
    number: Annotated[int, Field(description="From 1, without a gap.")]
    signed_at: Annotated[
        datetime, Field(description="When it was signed, by the installation's clock.")
    ]
    leaves: Annotated[int, Field(description="Deliveries and acknowledgements under it.")]
    root: Annotated[str, Field(description="The root of their hash tree (RFC 6962), SHA-256.")]
    previous: Annotated[str, Field(description="The digest of the checkpoint before it.")]
    digest: Annotated[str, Field(description="By which the next one names it.")]
    key: Annotated[str, Field(description="The installation's public key (Ed25519).")]
    fingerprint: Annotated[str, Field(description="Of the key, as people compare it.")]
    signature: Annotated[
        str,
        Field(
            description="Of the compact JSON of number, signed_at, leaves, root, previous and key, with an empty signature."
        ),
    ]


@endpoints.read(
    "GetClaimProof",
    "claims/{claim_number}/proof",
    "Proof that a claim was filed, as PDF.",
    None,
    media_type=MEDIA_TYPES[ProofFormat.PDF],
    description="The payer's own acknowledgement on the first page; the evidence is attached as `evidence.json`. Every "
    f"byte is signed: `clearlane proof verify FILE`. {NOT_YET}",
)
async def get_claim_proof(call: Call) -> Response:
    """Return the proof of a claim as PDF."""
    return await _proof(call, ProofFormat.PDF)


@endpoints.read(
    "GetClaimProofEvidence",
    "claims/{claim_number}/proof/evidence",
    "The evidence that a claim was filed, as one canonical JSON file.",
    None,
    media_type=MEDIA_TYPES[ProofFormat.JSON],
    description=f"What the PDF has attached. Save it byte for byte: every byte is signed. {NOT_YET}",
)
async def get_claim_proof_evidence(call: Call) -> Response:
    """Return the evidence of a claim."""
    return await _proof(call, ProofFormat.JSON)


@endpoints.read(
    "GetCheckpoints",
    "checkpoints",
    "Signed checkpoints of the log of filings, oldest first.",
    Page[CheckpointJson],
    parameters=parameters.page(LIST, position=cursor_number),
    touches_phi=False,
)
async def list_checkpoints(call: Call) -> Response:
    """Return a page of checkpoints. They belong to the installation and say nothing of any claim."""
    limit, after = call.parameters["limit"], call.parameters["after"] or 0
    async with call.context.database.read(proof_log.SCOPE) as tx:
        rows = await proof_log.list_checkpoints(tx, after=after, limit=limit + 1)
    return page_response(
        rows,
        limit=limit,
        of_list=LIST,
        position=lambda row: (str(row.number),),
        as_json=_checkpoint_object,
    )


def _checkpoint_object(row: StoredCheckpoint) -> dict[str, object]:
    signed = msgspec.json.decode(row.content, type=Checkpoint)
    return {
        "id": signed.number,
        **msgspec.structs.asdict(signed),
        "digest": signed.digest,
        "fingerprint": fingerprint(bytes.fromhex(signed.key)),
    }


async def _proof(call: Call, format: ProofFormat) -> Response:
    claim = await require_claim(call)
    context = call.context.work_context
    try:
        proof = await load_claim_proof(context, claim.site.scope, claim.number, actor=call.actor)
        if proof is None:
            raise no_claim()
        content = await make_proof_file(context, proof, format)
    except (ProofRefused, PdfRefused) as refused:
        raise refuse(409, str(refused)) from None
    return Response(content, 200, {"Content-Type": MEDIA_TYPES[format]})
