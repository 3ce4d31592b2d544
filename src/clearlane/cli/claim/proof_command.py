"""``clearlane proof``: check a proof of filing without the installation that made it, and show the installation's key."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.list_options import InstallationData
from clearlane.cli.command.output import show_error, show_facts, show_json, show_text
from clearlane.kernel.clock import moment_text

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from clearlane.proofs.checkpoint import Checkpoint
    from clearlane.proofs.verify_proof import ProofVerdict

app = typer.Typer(
    no_args_is_help=True,
    help="Proofs of filing: check one, show the key that signs them.",
    add_completion=False,
)

DOES_NOT_HOLD, UNREADABLE = 1, 2
PROOF_BYTES_MAX = 256 * 1024 * 1024


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="The proof: a PDF, or its evidence as JSON.")],
    key: Annotated[
        str,
        typer.Option(
            help="The public key of the installation, or its fingerprint, if you know it."
        ),
    ] = "",
    since: Annotated[
        Path | None,
        typer.Option(
            help="Checkpoints that were kept: answers of /clearlane/v1/checkpoints, or a copy beside the anchor."
        ),
    ] = None,
    authority: Annotated[
        Path | None,
        typer.Option(
            help="Certificates (PEM) of time-stamping authorities whose stamps count for you."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a proof of filing: offline, without the installation. Say what it proves and what it does not.

    Exit status: 0 the proof holds, 1 something was changed or does not fit, 2 a file cannot be read.

    Examples: clearlane proof verify claim.pdf; clearlane proof verify claim.pdf --since checkpoints.json
    """
    from clearlane.proofs.verify_proof import verify_file

    verdict = verify_file(_read(file), expected_key=key, kept=_kept(since), roots=_roots(authority))
    if as_json:
        show_json(_verdict_json(verdict))
    elif verdict.holds:
        _show_verdict(verdict)
    else:
        show_error(f"{file} proves nothing:")
        for fault in verdict.faults:
            show_text(fault, "  ", indent=4)
    raise typer.Exit(0 if verdict.holds else DOES_NOT_HOLD)


@app.command()
def key(
    data: InstallationData = None,
    as_json: AsJson = False,
) -> None:
    """Show the public key that signs proofs of this installation. Publish its fingerprint where payers find it.

    Example: clearlane proof key
    """
    from clearlane.cli.command.storage_command import Store, with_store
    from clearlane.proofs.signing import fingerprint, public_key_of

    async def work(store: Store) -> bytes:
        return public_key_of(store.vault.proof_seed)

    found = with_store(data, work)
    facts = {"key": found.hex(), "fingerprint": fingerprint(found)}
    if as_json:
        show_json(facts)
    else:
        show_facts(list(facts.items()))


def _show_verdict(verdict: "ProofVerdict") -> None:
    evidence = verdict.evidence
    if evidence is not None:
        payer = evidence.payer_name or evidence.payer_id
        show_text(f"The proof holds: claim {evidence.claim_number} to {payer}.")
    unproven = [(text,) for text in verdict.not_proven]
    for title, groups in (("Proven:", verdict.proven_lines), ("Not proven:", unproven)):
        typer.echo(title)
        for text, *values in groups:
            show_text(text, "  ", indent=4)
            for value in values:  # so that where a text is wrapped does not depend on them
                show_text(value, "    ")


def _verdict_json(verdict: "ProofVerdict") -> dict[str, object]:
    evidence = verdict.evidence
    return {
        "holds": verdict.holds,
        "claim_number": evidence.claim_number if evidence else None,
        "payer_id": evidence.payer_id if evidence else None,
        "fingerprint": verdict.fingerprint or None,
        "faults": list(verdict.faults),
        "proven": list(verdict.proven),
        "not_proven": list(verdict.not_proven),
        "stamps": [
            {
                "checkpoint": one.checkpoint,
                "at": moment_text(one.stamp.at),
                "authority": one.stamp.authority,
                "trusted": one.is_trusted,
            }
            for one in verdict.stamps
        ],
        "acknowledgements": [
            asdict(receipt) | {"is_proof": receipt.is_proof, "received_at": stated.received_at}
            for stated, receipt in verdict.receipts
        ],
    }


def _roots(file: Path | None) -> "list[Certificate]":
    if file is None:
        return []
    from clearlane.proofs.time_stamp import StampFault, read_roots

    try:
        return read_roots(_read(file))
    except StampFault as fault:
        show_error(f"{file}: {fault}")
        raise typer.Exit(UNREADABLE) from None


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > PROOF_BYTES_MAX:
            show_error(f"{file} is too large to be a proof of one claim.")
            raise typer.Exit(UNREADABLE)
        return file.read_bytes()
    except OSError as fault:
        show_error(f"{file} cannot be read: {fault.strerror}.")
        raise typer.Exit(UNREADABLE) from None


def _kept(since: Path | None) -> "list[Checkpoint]":
    if since is None:
        return []
    from clearlane.proofs.evidence import EvidenceFault
    from clearlane.proofs.verify_proof import read_checkpoints

    try:
        return read_checkpoints(_read(since))
    except EvidenceFault as fault:
        show_error(f"--since: {fault}")
        raise typer.Exit(UNREADABLE) from None
