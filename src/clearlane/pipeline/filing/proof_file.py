"""Make the file of a proof: a PDF with the evidence inside, or the evidence alone; both signed by the installation.

    content = await make_proof_file(context, proof, ProofFormat.PDF)

The first page is for the person at the payer who decides: the payer's own acknowledgement first. Knows texts and pages; what
is proven is decided by ``proofs.verify_proof``, of the very evidence that is in the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from clearlane.kernel.formats import last_first
from clearlane.payments import wording
from clearlane.pdf.frames import FilingFileHeading, FilingSection
from clearlane.pipeline.filing.claim_proof import ClaimProof, ProofRefused
from clearlane.pipeline.query.pdf_process import make_pdf_content
from clearlane.pipeline.work_context import WorkContext
from clearlane.proofs.evidence import ProvenStatement, write_evidence
from clearlane.proofs.receipt import ANSWER_SOURCE, Receipt, ReceiptMeaning
from clearlane.proofs.signed_file import seal_pdf
from clearlane.proofs.statements import (
    AcknowledgementStatement,
    AnswerStatement,
    DeliveryStatement,
    ReceivedStatement,
    Statement,
)
from clearlane.proofs.verify_proof import ProofVerdict, receipt_sentence, verify_file
from clearlane.x12.delimiters import read_delimiters

NO_RECEIPT = "Not proof of payer receipt"
RESULTS = {
    ReceiptMeaning.RECEIVED: "Received by the payer",
    ReceiptMeaning.REJECTED: "Received and rejected",
}
NO_RECEIPT_NOTICE = (
    "Not proof of payer receipt: no 277CA or 277 of the payer itself is here. What follows shows what was sent, and what "
    "others acknowledged."
)
REJECTED_NOTICE = "The payer received the claim and rejected it. Most payers do not count a rejected claim as filed."
RECEIPT_TITLES: Mapping[type[ReceivedStatement], str] = {
    AcknowledgementStatement: "The payer's acknowledgement ({source})",
    AnswerStatement: "The payer's answer in real time ({source})",
}
ANSWER_NOTE = "It answers a question about the claim: the payer had the claim by then. It does not say on which day it came."
VERIFY = "clearlane proof verify FILE --key {key}"

Acknowledged = tuple[ReceivedStatement, Receipt]


class ProofFormat(StrEnum):
    """The formats of a proof."""

    PDF = "pdf"
    JSON = "json"


MEDIA_TYPES = {ProofFormat.PDF: "application/pdf", ProofFormat.JSON: "application/json"}


async def make_proof_file(context: WorkContext, proof: ClaimProof, format: ProofFormat) -> bytes:
    """Return the file of a proof. Raises ``ProofRefused`` and ``PdfRefused``."""
    seed = context.vault.proof_seed
    evidence = write_evidence(proof.evidence, seed)
    verdict = verify_file(evidence)
    if not verdict.holds:  # what is stored does not fit the log any more: nothing may be handed out
        raise ProofRefused(" ".join(verdict.faults))
    if format is ProofFormat.JSON:
        return evidence
    heading = describe_proof(proof, verdict)
    content = await make_pdf_content(heading, at=context.clock.now())
    return seal_pdf(content, evidence, seed)


def describe_proof(proof: ClaimProof, verdict: ProofVerdict) -> FilingFileHeading:
    """Return a proof in words, as its pages show it."""
    best = _best(verdict.receipts)
    header, evidence = proof.header, proof.evidence
    return FilingFileHeading(
        result=RESULTS.get(best[1].meaning, NO_RECEIPT) if best else NO_RECEIPT,
        patient=last_first(header.last_name, header.first_name),
        payer=", ".join(
            filter(
                None,
                (
                    evidence.payer_name or evidence.payer_id,
                    wording.day(best[1].day if best else None),
                ),
            )
        ),
        claim_number=evidence.claim_number,
        notices=tuple(_notices(proof, best)),
        sections=(
            *([_receipt_section(best)] if best else []),
            _claim_section(proof),
            _way_section(evidence.statements, verdict.receipts),
            _verify_section(verdict),
            *_file_sections(evidence.statements, verdict.receipts),
        ),
    )


def _best(receipts: Sequence[Acknowledged]) -> Acknowledged | None:
    """Return the acknowledgement for the first page: the first by which the payer took the claim, else its first of all."""
    of_payer = [one for one in receipts if one[1].is_proof]
    taken = [one for one in of_payer if one[1].meaning is ReceiptMeaning.RECEIVED]
    return next(iter([*taken, *of_payer]), None)


def _notices(proof: ClaimProof, best: Acknowledged | None) -> Iterator[str]:
    if best is None:
        yield NO_RECEIPT_NOTICE
    elif best[1].meaning is ReceiptMeaning.REJECTED:
        yield REJECTED_NOTICE
    if proof.waiting:
        yield (
            f"{len(proof.waiting)} more statements are in the log and not signed yet: a proof that is made after the full "
            "hour has them."
        )


def _receipt_section(best: Acknowledged) -> FilingSection:
    stated, receipt = best
    is_answer = receipt.source == ANSWER_SOURCE
    return FilingSection(
        title=RECEIPT_TITLES[type(stated)].format(source=stated.source),
        facts=(
            ("Payer", receipt.by),
            ("Day", wording.day(receipt.day)),
            ("Category", _with_words(receipt.category, receipt.category_words)),
            ("Payer's number", receipt.payer_number),
            ("Status", _with_words(receipt.status, receipt.status_words)),
            ("Received", _moment(stated.received_at)),
        ),
        texts=tuple(filter(None, (receipt.message, ANSWER_NOTE if is_answer else ""))),
    )


def _claim_section(proof: ClaimProof) -> FilingSection:
    header, evidence = proof.header, proof.evidence
    days = [day for pair in header.days for day in pair]
    return FilingSection(
        title="The claim",
        facts=(
            ("Patient", last_first(header.last_name, header.first_name)),
            ("Our number", evidence.claim_number),
            ("Birth date", wording.day(header.birth)),
            ("Your claim ID", header.vendor_claim_id),
            ("Member ID", header.member_id),
            ("Account number", header.account_number),
            ("Service", wording.period(min(days), max(days)) if days else ""),
            ("Charge", wording.money(int(header.charge * 100))),
            ("Billing NPI", header.billing_npi),
            ("Payer ID", evidence.payer_id),
        ),
    )


def _way_section(
    statements: Sequence[ProvenStatement], receipts: Sequence[Acknowledged]
) -> FilingSection:
    read = dict(receipts)
    texts = []
    for one in statements:
        stated = one.statement
        if isinstance(stated, DeliveryStatement):
            texts.append(
                f"{_moment(stated.delivered_at)}: delivered to {stated.receiver} in the file {stated.file}."
            )
        elif stated in read:
            texts.append(f"{_moment(stated.received_at)}: {receipt_sentence(read[stated])}")
    return FilingSection(title="Sent and acknowledged", texts=tuple(texts))


def _verify_section(verdict: ProofVerdict) -> FilingSection:
    return FilingSection(
        title="How to verify",
        texts=(
            "Anyone can check this file without the sender's systems. The evidence is attached to it as evidence.json: the "
            "segments that were sent and received, each with its path to a checkpoint that was signed within the hour.",
            VERIFY.format(key=verdict.fingerprint),
            *(text for text in verdict.proven if text.startswith("Checkpoint")),
            *(f"Not proven: {text}" for text in verdict.not_proven),
        ),
    )


def _file_sections(
    statements: Sequence[ProvenStatement], receipts: Sequence[Acknowledged]
) -> Iterator[FilingSection]:
    """Yield the files: what shows that the payer has the claim, what was sent, and the rest."""
    shows_receipt = {stated for stated, receipt in receipts if receipt.is_proof}

    def place(one: ProvenStatement) -> int:
        stated = one.statement
        return 0 if stated in shows_receipt else 1 if isinstance(stated, DeliveryStatement) else 2

    for one in sorted(statements, key=place):
        yield FilingSection(
            title=_file_title(one.statement), texts=tuple(_segments(one.part)), is_x12=True
        )


def _file_title(stated: Statement) -> str:
    if isinstance(stated, DeliveryStatement):
        return f"The claim as it was sent: file {stated.file}"
    if isinstance(stated, AnswerStatement):
        return f"The {stated.source} as it was received in real time"
    return f"The {stated.source} as it was received: file {stated.file}"


def _with_words(code: str, words: str) -> str:
    return ": ".join(filter(None, (code, words)))


def _segments(part: str) -> Iterator[str]:
    found = read_delimiters(part)
    terminator = found[0].terminator if found else "~"
    for segment in part.split(terminator):
        if text := segment.strip():
            yield text + terminator.strip()


def _moment(text: str) -> str:
    """Return a moment of a statement for people: to the second."""
    return f"{text[:19].replace('T', ' ')} UTC"
