"""A proof of filing holds as it was made; whatever is changed, removed, added, swapped or signed by others is named.

Also tests `proofs/statements`, `proofs/signing`, `proofs/checkpoint`, `proofs/evidence`, `proofs/signed_file`, `proofs/receipt`
and `pdf/filing_pdf`.
"""

import io
import random
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec
import pytest
from msgspec.structs import replace
from pypdf import PdfReader

from clearlane.pdf.filing_pdf import write_filing_pdf
from clearlane.pdf.frames import FilingFileHeading, FilingSection
from clearlane.proofs.checkpoint import BEFORE_FIRST, Checkpoint, encode_checkpoint, sign_checkpoint
from clearlane.proofs.evidence import (
    EvidenceFault,
    FilingEvidence,
    ProvenStatement,
    read_evidence,
    write_evidence,
)
from clearlane.proofs.merkle import leaf_path
from clearlane.proofs.receipt import ReceiptMeaning, read_receipt
from clearlane.proofs.signed_file import ATTACHMENT_NAME, MARK, PdfFormFault, open_file, seal_pdf
from clearlane.proofs.signing import fingerprint, public_key_of
from clearlane.proofs.statements import (
    SALT_BYTES,
    AcknowledgementStatement,
    AnswerStatement,
    DeliveryStatement,
    make_leaf,
    part_digest,
    split_leaves,
)
from clearlane.proofs.verify_proof import (
    HAD_BY_THEN,
    NO_PAYER_RECEIPT,
    read_checkpoints,
    verify_file,
)
from clearlane.x12.reader.claim_slices import slice_claims
from tests.cases import by_profile, every_case
from tests.claims.answers import nine, outgoing, patient, sent, status, ta1

SEED, OTHER_SEED = bytes(range(32)), bytes(range(1, 33))
KEY = fingerprint(public_key_of(SEED))
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
CHANGES = by_profile(thorough=3_000, usual=200, quick=40)

[(NUMBER, PART)] = slice_claims(sent(outgoing("C1")))
NINE = nine(21, ("AK2*837*0001*005010X222A1", "IK5*A"))
ACCEPTED = status(patient("C1", "A2:20:PR*20261102*WQ*150", extra=("REF*1K*88123",)))


def acknowledged(source, part):
    return AcknowledgementStatement(
        claim_number="C1", source=source, file="answer.999", file_sha256=part_digest(part),
        part_sha256=part_digest(part), received_at="2026-11-02T09:00:00.000000Z",
    ), part  # fmt: skip


DELIVERED = (
    DeliveryStatement(
        claim_number="C1", payer_id="TST01", receiver="TST01", file="claims.837", file_sha256="00" * 32,
        part_sha256=part_digest(PART), delivered_at="2026-11-01T12:00:00.000000Z",
    ),
    PART,
)  # fmt: skip


ANSWER = status(patient("C1", "F1:65:PR*20261102*WQ*150", extra=("REF*1K*88123",)))
ANSWERED = AnswerStatement(
    claim_number="C1", source="277", part_sha256=part_digest(ANSWER), received_at="2026-11-02T09:30:00.000000Z",
), ANSWER  # fmt: skip


@cache
def made(seed=SEED, *, in_real_time=False):
    """Evidence under two checkpoints that follow each other, signed, and the checkpoint after them."""
    files = [acknowledged("999", NINE), acknowledged("277CA", ACCEPTED)]
    stated = [[DELIVERED], [ANSWERED] if in_real_time else files]
    checkpoints, statements, previous = [], [], BEFORE_FIRST
    for number, group in enumerate(stated, 1):
        others = [make_leaf(DELIVERED[0]) for _ in range(5)]
        leaves = split_leaves(b"".join([*others, *(make_leaf(one) for one, _ in group), *others]))
        hashes = [hash for _, hash in leaves]
        signed_at = NOON + timedelta(hours=number)
        checkpoints.append(
            sign_checkpoint(
                seed, number=number, signed_at=signed_at, leaves=hashes, previous=previous
            )
        )
        previous = checkpoints[-1].digest
        for at, (statement, part) in enumerate(group, 5):
            statements.append(
                ProvenStatement(
                    statement=statement, part=part.decode("latin-1"), salt=leaves[at][0].hex(), checkpoint=number,
                    position=at, path=tuple(one.hex() for one in leaf_path(hashes, at)),
                )
            )  # fmt: skip
    later = sign_checkpoint(
        seed, number=3, signed_at=NOON + timedelta(hours=3), leaves=[bytes(32)], previous=previous
    )
    evidence = FilingEvidence(
        made_at="2026-11-03T00:00:00.000000Z", claim_number="C1", payer_id="TST01", payer_name="MEADOW MUTUAL",
        statements=tuple(statements), checkpoints=tuple(checkpoints),
    )  # fmt: skip
    return evidence, later


@cache
def document():
    out = io.BytesIO()
    section = FilingSection(title="The claim", facts=(("Patient", "ARDEN, ROSA"),), texts=("A2.",))
    files = FilingSection(title="As sent", texts=tuple(PART.decode().split("~")), is_x12=True)
    heading = FilingFileHeading(
        result="Received", patient="ARDEN, ROSA", payer="MEADOW MUTUAL", claim_number="C1",
        notices=("A notice.",), sections=(section, files),
    )  # fmt: skip
    assert write_filing_pdf(heading, out) == 2
    return out.getvalue()


@cache
def files():
    content = write_evidence(made()[0], SEED)
    return content, seal_pdf(document(), content, SEED)


def test_a_proof_holds_as_it_was_made_and_says_what_it_does_not_prove():
    for content in files():
        verdict = verify_file(content, expected_key=KEY)
        assert (verdict.holds, verdict.fingerprint) == (True, KEY)
        assert "C1 was delivered to TST01," in verdict.proven[0]
        assert "In the file claims.837 at" in verdict.proven[0]
        assert "Not proof of payer receipt" in verdict.proven[1]
        assert "A2" in verdict.proven[2]
        assert (
            "effective 2026-11-02. The payer received the claim. The payer's number of the claim is 88123."
            in verdict.proven[2]
        )
        assert f"signed by key {KEY}." in verdict.proven[3]
        assert any("own clock" in one for one in verdict.not_proven)
    [page, files_page] = PdfReader(io.BytesIO(files()[1])).pages
    assert "Proof of filing" in page.extract_text()
    assert "CLM*" in files_page.extract_text()
    attached = PdfReader(io.BytesIO(files()[1])).attachments
    assert attached[ATTACHMENT_NAME] == [files()[0]]
    only_sent = replace(made()[0], statements=made()[0].statements[:1], checkpoints=made()[0].checkpoints[:1])  # fmt: skip
    assert NO_PAYER_RECEIPT in verify_file(write_evidence(only_sent, SEED)).not_proven


def test_no_byte_can_be_changed_added_or_removed():
    dice = random.Random(28)
    for content in files():
        for _ in range(CHANGES // 2):
            at, changed = dice.randrange(len(content)), bytearray(content)
            match dice.randrange(4):
                case 0:
                    del changed[at]
                case 1:
                    changed.insert(at, dice.randrange(256))
                case _:
                    changed[at] ^= 1 << dice.randrange(8)
            if bytes(changed) == content:
                continue
            verdict = verify_file(bytes(changed))
            assert verdict.faults, (at, len(content))
            assert not verdict.proven
        for more in (content + b"\n", b" " + content, content[:-1], content[1:], b"", content * 2):
            assert verify_file(more).faults


def test_an_answer_in_real_time_shows_that_the_payer_had_the_claim_by_then_and_no_byte_of_it_can_be_changed():  # fmt: skip
    evidence = made(in_real_time=True)[0]
    content = write_evidence(evidence, SEED)
    verdict = verify_file(content, expected_key=KEY)
    assert verdict.holds
    said = "is 88123. Received in real time, in answer to a question, at 2026-11-02T09:30"
    assert said in verdict.proven[1]
    assert HAD_BY_THEN in verdict.not_proven
    assert HAD_BY_THEN not in verify_file(files()[0]).not_proven
    answered = evidence.statements[1]
    for part, statement in (
        (answered.part.replace("F1:65", "F2:65"), answered.statement),
        (answered.part + "\n", answered.statement),
        (answered.part, replace(answered.statement, received_at="2026-11-01T09:30:00.000000Z")),
        (answered.part, acknowledged("277", ANSWER)[0]),
    ):
        forged = (evidence.statements[0], replace(answered, part=part, statement=statement))
        assert verify_file(write_evidence(replace(evidence, statements=forged), SEED)).faults
    for at in range(0, len(content), max(1, len(content) // (CHANGES // 4))):
        assert verify_file(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]).faults


def swapped(evidence):
    one, two, three = evidence.statements
    return replace(
        evidence, statements=(one, replace(two, part=three.part), replace(three, part=two.part))
    )


def with_first(evidence, **own):
    first, *rest = evidence.statements
    return replace(evidence, statements=(replace(first, **own), *rest))


def with_checkpoint(evidence, **own):
    first, second = evidence.checkpoints
    return replace(evidence, checkpoints=(first, replace(second, **own)))


OTHER_CLAIM = replace(DELIVERED[0], claim_number="C2")
LATER = replace(DELIVERED[0], delivered_at="2026-10-01T12:00:00.000000Z")
FORGED = {
    "a part swapped": (swapped, "the part of the file is not the one"),
    "a part emptied": (lambda one: with_first(one, part=""), "the part of the file is not the one"),
    "a part that is no bytes": (lambda one: with_first(one, part="\u2026"), "no file of ours"),
    "a statement removed": (lambda one: replace(one, statements=one.statements[1:]), "No statement is under checkpoint 1"),
    "all removed": (lambda one: replace(one, statements=(), checkpoints=()), "holds no statement"),
    "a statement twice": (lambda one: replace(one, statements=(one.statements[0], *one.statements)), "there twice"),
    "an earlier day": (lambda one: with_first(one, statement=LATER), "is not under checkpoint 1"),
    "another claim": (lambda one: with_first(one, statement=OTHER_CLAIM), "about another claim"),
    "another position": (lambda one: with_first(one, position=3), "is not under checkpoint 1"),
    "a path that is too long": (lambda one: with_first(one, path=(*one.statements[0].path, "00" * 32)), "is not under"),
    "a path of no digits": (lambda one: with_first(one, path=("x",)), "is not under checkpoint 1"),
    "a checkpoint removed": (lambda one: replace(one, checkpoints=one.checkpoints[:1]), "checkpoint 2 is missing"),
    "a checkpoint added": (lambda one: replace(one, checkpoints=(*one.checkpoints, made()[1])), "No statement is under checkpoint 3"),
    "checkpoints swapped": (lambda one: replace(one, checkpoints=one.checkpoints[::-1]), "not in order"),
    "a root changed": (lambda one: with_checkpoint(one, root="00" * 32), "Checkpoint 2 was changed"),
    "a time changed": (lambda one: with_checkpoint(one, signed_at="2026-10-01T00:00:00.000000Z"), "Checkpoint 2 was changed"),
    "of another log": (lambda one: with_checkpoint(one, previous="00" * 32), "does not follow checkpoint 1"),
    "of another key": (lambda one: replace(one, checkpoints=made(OTHER_SEED)[0].checkpoints), "is signed by another key"),
    "a signature of no digits": (lambda one: with_checkpoint(one, signature="x"), "Checkpoint 2 was changed"),
}  # fmt: skip


@every_case("name", FORGED)
def test_what_is_removed_added_or_swapped_is_named(name):
    forge, fault = FORGED[name]
    forged = forge(made()[0])
    signed = verify_file(write_evidence(forged, SEED))  # even if the installation itself signed it
    assert any(fault in one for one in signed.faults), signed.faults
    content = msgspec.json.encode(replace(forged, **_seal_of(files()[0])))
    assert any("was changed after it was signed" in one or fault in one for one in verify_file(content).faults)  # fmt: skip


def _seal_of(content):
    signed = read_evidence(content)
    return {"key": signed.key, "signature": signed.signature}


def test_a_proof_of_another_installation_is_named():
    other = write_evidence(made(OTHER_SEED)[0], OTHER_SEED)
    verdict = verify_file(other, expected_key=KEY)
    assert f"not by {KEY}" in verdict.faults[0]
    assert verify_file(other, expected_key=public_key_of(OTHER_SEED).hex()).holds
    # Its evidence under our key, our evidence in its PDF, and a PDF that it signed.
    resigned = write_evidence(made(OTHER_SEED)[0], SEED)
    assert any("another key" in one for one in verify_file(resigned).faults)
    assert any("another key signed it" in one for one in verify_file(seal_pdf(document(), files()[0], OTHER_SEED)).faults)  # fmt: skip
    assert any("PDF" in one for one in verify_file(seal_pdf(document(), other, SEED)).faults)


def test_checkpoints_that_were_kept_confirm_a_proof_or_show_that_the_log_was_rewritten():
    evidence, later = made()
    lines = [encode_checkpoint(one) for one in (*evidence.checkpoints, later)]
    page = b'{"data":[%s],"next":null}' % b",".join(lines)
    logged = b"\n".join(b"Nov  2 host clearlane checkpoint " + line for line in lines)
    for content in (page, b"[%s]" % b",".join(lines), logged, lines[-1]):
        kept = read_checkpoints(content)
        verdict = verify_file(files()[0], kept=kept)
        assert verdict.holds
        assert f"The kept checkpoint {max(2, kept[0].number)} confirms it" in verdict.proven[-1]
        assert not any("own clock" in one for one in verdict.not_proven)
    before = verify_file(files()[0], kept=evidence.checkpoints[:1])  # the second was signed later
    assert any("own clock" in one for one in before.not_proven)
    other = sign_checkpoint(SEED, number=2, signed_at=NOON, leaves=[], previous=BEFORE_FIRST)
    for kept, fault in (
        ([other], "is not the one that was kept"),
        ([evidence.checkpoints[1], other], "that differ"),
        ([replace(later, previous="00" * 32)], "of those kept was changed"),
        ([made(OTHER_SEED)[1]], "of another installation"),
        ([sign_checkpoint(SEED, number=3, signed_at=NOON, leaves=[], previous="11" * 32)], "two logs"),
        ([sign_checkpoint(SEED, number=1, signed_at=NOON, leaves=[], previous="11" * 32)], "begin a log"),
    ):  # fmt: skip
        faults = verify_file(files()[0], kept=kept).faults
        assert any(fault in one for one in faults), (fault, faults)
    for nothing in (b"", b"[]", b"no checkpoint", b'{"data": []}'):
        with pytest.raises(EvidenceFault):
            read_checkpoints(nothing)


def test_only_the_payer_itself_shows_that_it_received_a_claim():
    of_hop = ACCEPTED.replace(b"NM1*PR*", b"NM1*AY*")
    for source, part, meaning in (
        ("277CA", ACCEPTED, ReceiptMeaning.RECEIVED),
        ("277CA", of_hop, ReceiptMeaning.NOT_BY_PAYER),
        ("277CA", status(patient("C1", "A7:562:85*20261102*U*150")), ReceiptMeaning.REJECTED),
        ("277CA", status(receiver="A3:21:PR*20261102*U*150"), ReceiptMeaning.REJECTED),
        ("277", status(patient("C1", "A4:35:PR*20261102*WQ*150")), ReceiptMeaning.NOT_FOUND),
        ("277", status(patient("C1", "D0:35:PR*20261102*WQ*150")), ReceiptMeaning.NOT_FOUND),
        ("999", NINE, ReceiptMeaning.FILE_ONLY),
        ("TA1", ta1(21), ReceiptMeaning.FILE_ONLY),
        ("999", b"nothing", ReceiptMeaning.NOT_FOUND),
    ):
        found = read_receipt(source, part)
        assert (found.meaning, found.source) == (meaning, source)
    found = read_receipt("277CA", ACCEPTED)
    assert (found.category, found.status, str(found.day)) == ("A2", "20", "2026-11-02")
    assert (found.by, found.payer_number) == ("MEADOW MUTUAL", "88123")


def test_salts_differ_and_a_leaf_is_a_salt_and_a_hash():
    one, two = (make_leaf(DELIVERED[0]) for _ in range(2))
    assert one[:SALT_BYTES] != two[:SALT_BYTES]
    assert split_leaves(one + two) == [(one[:16], one[16:]), (two[:16], two[16:])]


def test_files_of_other_forms_are_refused():
    content, pdf = files()
    for wrong in (b"{}", b"[]", b"\xff", b'{"clearlane_proof":2}', content.replace(b'_proof":1', b'_proof":2')):  # fmt: skip
        with pytest.raises(EvidenceFault):
            read_evidence(wrong)
    spaced = msgspec.json.format(content, indent=1)
    with pytest.raises(EvidenceFault, match="canonical"):
        read_evidence(spaced)
    for wrong in (b"%PDF-1.4", pdf.replace(MARK, b"%other"), pdf.replace(MARK, MARK + MARK)):
        with pytest.raises(EvidenceFault):
            open_file(wrong)
    damaged = pdf.replace(MARK, MARK + b"X")
    assert verify_file(damaged).faults == ("The signature of the PDF is damaged.",)
    for wrong in (b"%PDF-1.4", pdf, document().replace(b"/Root", b"/Rott"), document().replace(b"/Type /Catalog", b"/Type /Catalog /Names 1 0 R")):  # fmt: skip
        with pytest.raises(PdfFormFault):
            seal_pdf(wrong, content, SEED)
    assert not Checkpoint(number=1, signed_at="", leaves=0, root="", previous="", key="x").is_signed
    keyless = replace(made()[0], key="x", signature="")
    assert verify_file(msgspec.json.encode(keyless)).faults == (
        "The evidence names no public key.",
    )
