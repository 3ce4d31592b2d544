"""Check a proof of filing without the installation that made it, and say what it proves and what it does not.

    verdict = verify_file(content, expected_key="3f2a:...", kept=checkpoints, roots=authorities)
    verdict.faults                               # everything that is wrong; empty if the proof holds

Every check is made, whatever failed before, so that a changed file is described as far as it can be read. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from clearlane.proofs.checkpoint import BEFORE_FIRST, Checkpoint
from clearlane.proofs.evidence import (
    EvidenceFault,
    FilingEvidence,
    ProvenStatement,
    read_evidence,
    statement_key,
)
from clearlane.proofs.merkle import root_of_path
from clearlane.proofs.receipt import ANSWER_SOURCE, Receipt, read_receipt
from clearlane.proofs.signed_file import OpenedFile, open_file
from clearlane.proofs.signing import decode_hex, fingerprint, is_signed
from clearlane.proofs.statements import (
    AcknowledgementStatement,
    AnswerStatement,
    DeliveryStatement,
    ReceivedStatement,
    leaf_hash_of,
    part_digest,
)

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from clearlane.proofs.time_stamp import TimeStamp

RECEIVED_IN: Mapping[type[ReceivedStatement], str] = {
    AcknowledgementStatement: "Received in a file",
    AnswerStatement: "Received in real time, in answer to a question,",
}
"""How a statement was received, in words."""
NO_PAYER_RECEIPT = (
    "That the payer received the claim: the file holds no 277CA or 277 of the payer itself."
)
OWN_CLOCK = (
    "The time: it is that of the installation's own clock, and counts for others only if its checkpoint was published "
    "or kept by someone else then, or stamped. Compare with checkpoints that were kept: --since FILE."
)
HAD_BY_THEN = "On which day the payer received the claim: a 277 answers a question about it, and shows that the payer had it by then."
NOT_SIGNED_BY_PAYERS = "Who wrote the files and answers of payers: X12 carries no signature. The log shows what the installation received, and when."


@dataclass(frozen=True, slots=True)
class StampVerdict:
    """What a time stamp of a checkpoint says, and whether an authority that was given signed it."""

    checkpoint: int
    stamp: "TimeStamp"
    is_trusted: bool

    @property
    def sentence(self) -> str:
        """What it says, for people."""
        by = self.stamp.authority or "an authority without a name"
        return f"checkpoint {self.checkpoint} existed at {self.stamp.at:%Y-%m-%dT%H:%M:%SZ}, by a time stamp of {by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofVerdict:
    """What a file proves."""

    faults: tuple[str, ...] = ()
    evidence: FilingEvidence | None = None
    fingerprint: str = ""
    """Of the key that it names."""
    proven_lines: tuple[tuple[str, ...], ...] = ()
    """What is proven: a sentence each, and the values that differ from proof to proof on lines of their own."""
    not_proven: tuple[str, ...] = ()
    receipts: tuple[tuple[ReceivedStatement, Receipt], ...] = field(default=(), repr=False)
    stamps: tuple[StampVerdict, ...] = ()

    @property
    def proven(self) -> tuple[str, ...]:
        """What is proven, one text each. Empty if anything is wrong."""
        return tuple(map(" ".join, self.proven_lines))

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def verify_file(
    content: bytes,
    *,
    expected_key: str = "",
    kept: Sequence[Checkpoint] = (),
    roots: "Sequence[Certificate]" = (),
) -> ProofVerdict:
    """Check a PDF or JSON file.

    ``expected_key`` is the installation's public key or its fingerprint; ``kept`` are checkpoints from elsewhere; ``roots`` are
    certificates of authorities whose time stamps count.
    """
    try:
        opened = open_file(content)
        evidence = read_evidence(opened.evidence)
        key = decode_hex(evidence.key)
        faults = [
            *_signature_faults(opened, evidence, key),
            *_key_faults(evidence, key, expected_key),
            *_checkpoint_faults(evidence),
            *_statement_faults(evidence),
            *_kept_faults(evidence, kept),
        ]
        stamps, stamp_faults = _read_stamps(evidence, roots)
        faults += stamp_faults
    except EvidenceFault as fault:
        return ProofVerdict(faults=(str(fault),))
    except ValueError:
        return ProofVerdict(faults=("The evidence names no public key.",))
    named = fingerprint(key)
    if faults:
        return ProofVerdict(faults=tuple(faults), evidence=evidence, fingerprint=named)
    receipts = tuple(_receipts(evidence))
    confirmed = _confirmed_numbers(evidence, kept)
    return ProofVerdict(
        evidence=evidence,
        fingerprint=named,
        proven_lines=tuple(_proven(evidence, named, receipts, confirmed, stamps)),
        not_proven=tuple(_not_proven(evidence, receipts, confirmed, stamps)),
        receipts=receipts,
        stamps=tuple(stamps),
    )


def read_checkpoints(content: bytes) -> list[Checkpoint]:
    """Read checkpoints that were kept: one, a list, a page of the API, or one a line. Raises EvidenceFault."""
    for read in (_read_page, _read_list, _read_lines):
        try:
            found = read(content)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if found:
            return found
    raise EvidenceFault("The file holds no checkpoints.")


# ---- checks -----------------------------------------------------------------------------------


def _signature_faults(opened: OpenedFile, evidence: FilingEvidence, key: bytes) -> Iterator[str]:
    if not opened.is_signed_by(key):
        yield "The PDF was changed after it was signed, or another key signed it."
    try:
        signature = decode_hex(evidence.signature)
    except ValueError:
        signature = b""
    if not is_signed(key, signature, evidence.signed_bytes):
        yield "The evidence was changed after it was signed, or another key signed it."


def _key_faults(evidence: FilingEvidence, key: bytes, expected: str) -> Iterator[str]:
    named = fingerprint(key)
    if expected and expected.strip().lower() not in {evidence.key, named, named.replace(":", "")}:
        yield f"It is signed by another installation: by key {named}, not by {expected.strip()}."


def _checkpoint_faults(evidence: FilingEvidence) -> Iterator[str]:
    numbers = [one.number for one in evidence.checkpoints]
    if numbers != sorted(set(numbers)):
        yield "The checkpoints are not in order, or one is there twice."
    unused = set(numbers) - {one.checkpoint for one in evidence.statements}
    if unused:
        yield f"No statement is under checkpoint {min(unused)}: it was added, or its statement removed."
    for one in evidence.checkpoints:
        if one.key != evidence.key:
            yield f"Checkpoint {one.number} is signed by another key than the evidence."
        if not one.is_signed:
            yield f"Checkpoint {one.number} was changed after it was signed."
    yield from _link_faults({one.number: one for one in evidence.checkpoints})


def _link_faults(checkpoints: Mapping[int, Checkpoint]) -> Iterator[str]:
    """Yield the checkpoints that do not follow the one before them."""
    for number, one in sorted(checkpoints.items()):
        before = checkpoints.get(number - 1)
        if number == 1 and one.previous != BEFORE_FIRST:
            yield "Checkpoint 1 does not begin a log."
        if before is not None and one.previous != before.digest:
            yield f"Checkpoint {number} does not follow checkpoint {number - 1}: they are of two logs."


def _statement_faults(evidence: FilingEvidence) -> Iterator[str]:
    if not evidence.statements:
        yield "The evidence holds no statement."
    if len({statement_key(one) for one in evidence.statements}) < len(evidence.statements):
        yield "A statement is there twice."
    checkpoints = {one.number: one for one in evidence.checkpoints}
    for number, one in enumerate(evidence.statements, 1):
        name = f"Statement {number} ({_name(one)})"
        if one.statement.claim_number != evidence.claim_number:
            yield f"{name} is about another claim."
        if part_digest(one.part_bytes) != one.statement.part_sha256:
            yield f"{name}: the part of the file is not the one that was logged."
        checkpoint = checkpoints.get(one.checkpoint)
        if checkpoint is None:
            yield f"{name}: its checkpoint {one.checkpoint} is missing."
        elif not _is_under(one, checkpoint):
            yield f"{name} is not under checkpoint {one.checkpoint}: its path does not lead to the root."


def _is_under(one: ProvenStatement, checkpoint: Checkpoint) -> bool:
    try:
        salt, path = decode_hex(one.salt), [decode_hex(each) for each in one.path]
    except ValueError:
        return False
    leaf = leaf_hash_of(salt, one.statement)
    root = root_of_path(leaf, one.position, checkpoint.leaves, path)
    return root is not None and root.hex() == checkpoint.root


def _kept_faults(evidence: FilingEvidence, kept: Sequence[Checkpoint]) -> Iterator[str]:
    if not kept:
        return
    merged: dict[int, Checkpoint] = {}
    for one in kept:
        if not one.is_signed:
            yield f"Checkpoint {one.number} of those kept was changed."
        if one.key != evidence.key:
            yield f"Checkpoint {one.number} of those kept is of another installation."
        if one.number in merged and merged[one.number].digest != one.digest:
            yield f"Two checkpoints {one.number} were kept that differ: the log was rewritten."
        merged[one.number] = one
    for one in evidence.checkpoints:
        if one.number in merged and merged[one.number].digest != one.digest:
            yield f"Checkpoint {one.number} is not the one that was kept: the log was rewritten."
        merged.setdefault(one.number, one)
    yield from _link_faults(merged)


def _read_stamps(
    evidence: FilingEvidence, roots: "Sequence[Certificate]"
) -> tuple[list[StampVerdict], list[str]]:
    """Return what the time stamps of checkpoints say, and what is wrong with them."""
    if not evidence.stamps:
        return [], []
    # Few proofs have stamps, and what reads them is not in every installation of the command.
    from clearlane.proofs.time_stamp import StampFault, read_stamp, verify_stamp

    checkpoints = {one.number: one for one in evidence.checkpoints}
    found: list[StampVerdict] = []
    faults: list[str] = []
    for one in evidence.stamps:
        checkpoint = checkpoints.pop(one.checkpoint, None)
        if checkpoint is None:
            faults.append(
                f"The time stamp of checkpoint {one.checkpoint} is there twice, or of none that is here."
            )
            continue
        try:
            response = decode_hex(one.response)
            stamp = read_stamp(response, checkpoint)
            if roots:
                verify_stamp(response, checkpoint, roots)
        except (StampFault, ValueError) as fault:
            faults.append(f"The time stamp of checkpoint {one.checkpoint}: {fault}")
            continue
        found.append(StampVerdict(one.checkpoint, stamp, is_trusted=bool(roots)))
    return found, faults


# ---- what it proves ---------------------------------------------------------------------------


def _confirmed_numbers(evidence: FilingEvidence, kept: Sequence[Checkpoint]) -> dict[int, int]:
    """Return the checkpoints that a kept one confirms, each with the number of the nearest such one.

    A checkpoint names the one before it, so a kept one confirms itself and all before it, if none in between is missing.
    """
    known = {one.number for one in (*kept, *evidence.checkpoints)}
    numbers = sorted(one.number for one in kept)
    found = {}
    for one in evidence.checkpoints:
        later = next((number for number in numbers if number >= one.number), None)
        if later is not None and all(each in known for each in range(one.number, later)):
            found[one.number] = later
    return found


def _receipts(
    evidence: FilingEvidence,
) -> Iterator[tuple[ReceivedStatement, Receipt]]:
    for one in evidence.statements:
        if isinstance(one.statement, AcknowledgementStatement | AnswerStatement):
            yield one.statement, read_receipt(one.statement.source, one.part_bytes)


def _proven(
    evidence: FilingEvidence,
    named: str,
    receipts: Sequence[tuple[ReceivedStatement, Receipt]],
    confirmed: Mapping[int, int],
    stamps: Sequence[StampVerdict],
) -> Iterator[tuple[str, ...]]:
    for one in evidence.statements:
        if isinstance(one.statement, DeliveryStatement):
            stated = one.statement
            yield (
                f"Claim {stated.claim_number} was delivered to {stated.receiver}, with the segments that are in the evidence.",
                f"In the file {stated.file} at {stated.delivered_at}.",
            )
    for received, receipt in receipts:
        how = RECEIVED_IN[type(received)]
        yield (*_receipt_lines(receipt), f"{how} at {received.received_at}.")
    for checkpoint in evidence.checkpoints:
        by_kept = confirmed.get(checkpoint.number)
        confirms = () if by_kept is None else (f"The kept checkpoint {by_kept} confirms it.",)
        signed = (
            f"Checkpoint {checkpoint.number} of {checkpoint.signed_at} over it is signed by key"
        )
        yield (signed, f"{named}.", *confirms)
    for stamp in stamps:
        if stamp.is_trusted:
            sentence = f"{_upper_first(stamp.sentence)}: so did all that is under it."
            yield (sentence, "The authority was given with --authority.")


def _not_proven(
    evidence: FilingEvidence,
    receipts: Sequence[tuple[ReceivedStatement, Receipt]],
    confirmed: Mapping[int, int],
    stamps: Sequence[StampVerdict],
) -> Iterator[str]:
    of_payer = [receipt for _, receipt in receipts if receipt.is_proof]
    if not of_payer:
        yield NO_PAYER_RECEIPT
    elif all(receipt.source == ANSWER_SOURCE for receipt in of_payer):
        yield HAD_BY_THEN
    timed = {*confirmed, *(one.checkpoint for one in stamps if one.is_trusted)}
    if len(timed) < len(evidence.checkpoints):
        yield OWN_CLOCK
    for stamp in stamps:
        if not stamp.is_trusted:
            yield (
                f"That {stamp.sentence}: whether that authority signed it was not checked. Give the certificate of its root, "
                "if you trust it: --authority FILE."
            )
    yield NOT_SIGNED_BY_PAYERS


def receipt_sentence(receipt: Receipt) -> str:
    """Return what an acknowledgement says, in some sentences."""
    return " ".join(_receipt_lines(receipt))


def _receipt_lines(receipt: Receipt) -> Iterator[str]:
    said = ": ".join(filter(None, (receipt.category, receipt.category_words)))
    by = f"{receipt.by} says {said}" if said else f"{receipt.by} answered"
    day = f", effective {receipt.day:%Y-%m-%d}" if receipt.day else ""
    yield f"{receipt.source}: {by}{day}."
    yield receipt.meaning
    if receipt.payer_number:
        yield f"The payer's number of the claim is {receipt.payer_number}."


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _name(one: ProvenStatement) -> str:
    stated = one.statement
    return "delivery" if isinstance(stated, DeliveryStatement) else stated.source


# ---- checkpoints that were kept ---------------------------------------------------------------


class _CheckpointPage(msgspec.Struct):
    data: list[Checkpoint]


def _read_page(content: bytes) -> list[Checkpoint]:
    return msgspec.json.decode(content, type=_CheckpointPage).data


def _read_list(content: bytes) -> list[Checkpoint]:
    return msgspec.json.decode(content, type=list[Checkpoint])


def _read_lines(content: bytes) -> list[Checkpoint]:
    decoder = msgspec.json.Decoder(Checkpoint)
    # What a log puts before the object on its line is passed over.
    lines = [line[line.find(b"{") :] for line in content.splitlines() if b"{" in line]
    return [decoder.decode(line) for line in lines]
