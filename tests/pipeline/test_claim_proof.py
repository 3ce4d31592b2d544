"""From a delivery to a proof that anyone can check: leaves, checkpoints, copies, evidence and the PDF, on both databases.

Also tests `pipeline/filing/filing_leaves`, `pipeline/filing/checkpoints`, `pipeline/filing/proof_file`,
`store/delivery/proof_log`, `store/database/schema/proofs` and `store/audit/checkpoint_copies`.
"""

import asyncio
import io
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from pypdf import PdfReader
from sqlalchemy import func, select

from clearlane.pdf.filing_pdf import write_filing_pdf
from clearlane.pipeline.filing import checkpoints
from clearlane.pipeline.filing.claim_proof import (
    NOT_LOGGED,
    NOT_SENT,
    ProofRefused,
    load_claim_proof,
)
from clearlane.pipeline.filing.proof_file import (
    NO_RECEIPT,
    ProofFormat,
    describe_proof,
    make_proof_file,
)
from clearlane.pipeline.operator import inbox_admin
from clearlane.pipeline.outbound import deliver
from clearlane.proofs.evidence import write_evidence
from clearlane.proofs.statements import AcknowledgementStatement, AnswerStatement, part_digest
from clearlane.proofs.verify_proof import HAD_BY_THEN, read_checkpoints, verify_file
from clearlane.store.audit.checkpoint_copies import COPIES_NAME, CheckpointCopies
from clearlane.store.database.schema import documents, proof_entries
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches, proof_log
from clearlane.store.installation.sandbox import NODE
from clearlane.x12.reader.claim_slices import slice_claims
from tests.claims.answers import nine, patient, status
from tests.manual_clock import ManualClock
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow, accounts, controls
from tests.pipeline.test_ask_payer import Asking

ACCEPTED = ("AK2*837*0001*005010X222A1", "IK5*A")
LEAVES = Statement(select(func.sum(proof_entries.c.leaves)))


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def leaves(flow):
    async with flow.database.read(EVERYONE) as tx:
        return int((await tx.row(LEAVES))[0] or 0)


async def proof_of(flow, number, site=None):
    return await load_claim_proof(flow.context, (site or flow.site).scope, number, actor=ACTOR)


async def sign_hour(flow):
    """An hour passes, and two nodes sign at the same time; how many checkpoints were made."""
    flow.clock.advance(timedelta(hours=1))
    now = flow.clock.now()
    nodes = (checkpoints.make_checkpoints(flow.context, now) for _ in range(2))
    return sum(await asyncio.gather(*nodes))


async def test_a_filed_claim_is_proven_by_what_the_payer_said(flow, place):
    names = [
        dict.fromkeys(("F02_PatientNameLast", "F04_InsuredNameLast"), name)
        for name in ("ALPHA", "BRAVO", "CEDAR")
    ]
    ids = await flow.submit(each=names)
    with pytest.raises(ProofRefused, match=NOT_SENT):
        await proof_of(flow, ids[0])
    content = await flow.send()
    assert {number: part_digest(part) for number, part in slice_claims(content)}.keys() == set(ids)
    assert await flow.arrive(nine(controls(content), ACCEPTED)) == ["applied"]
    said = status(*(patient(one, "A2:20:PR*20261102*WQ*150", extra=("REF*1K*88",)) for one in accounts(content)))  # fmt: skip
    assert await flow.arrive(said, name="claims.277") == ["applied"]
    assert await leaves(flow) == 9
    # What is repeated adds nothing: a file that is replayed, a delivery that is recorded again.
    for file in await flow.files():
        await inbox_admin.replay(flow.context, file.id, actor=ACTOR)
    async with flow.database.read(EVERYONE) as tx:
        batch = await batches.find_by_control(tx, controls(content))
    await deliver.record_delivery(flow.context, batch.id, actor=ACTOR)
    assert await leaves(flow) == 9
    assert await checkpoints.make_checkpoints(flow.context, flow.clock.now()) == 0
    with pytest.raises(ProofRefused, match="after the full hour, at"):
        await proof_of(flow, ids[0])
    assert await sign_hour(flow) == 1
    assert await checkpoints.make_checkpoints(flow.context, flow.clock.now()) == 0
    await checkpoints.keep_copies(flow.context)
    kept = read_checkpoints((place.data / COPIES_NAME).read_bytes())
    assert [one.leaves for one in kept] == [9]
    for id in ids:
        proof = await proof_of(flow, id)
        verdict = verify_file(write_evidence(proof.evidence, flow.vault.proof_seed), kept=kept)
        assert verdict.holds, verdict.faults
        assert [receipt.source for _, receipt in verdict.receipts] == ["999", "277CA"]
        assert [receipt.is_proof for _, receipt in verdict.receipts] == [False, True]
        text = msgspec.json.encode(proof.evidence).decode()
        assert [one["F02_PatientNameLast"] in text for one in names].count(True) == 1
    assert await make_proof_file(flow.context, proof, ProofFormat.JSON) == write_evidence(
        proof.evidence, flow.vault.proof_seed
    )
    out = io.BytesIO()
    write_filing_pdf(describe_proof(proof, verdict), out)
    page = PdfReader(out).pages[0].extract_text()
    for words in ("Received by the payer", "A2", "88", proof.header.last_name, ids[-1]):
        assert words in page
    assert await proof_of(flow, ids[0], await flow.new_site()) is None


async def test_what_is_no_receipt_is_called_so_and_later_answers_come_under_later_checkpoints(flow, place):  # fmt: skip
    [id], content = await flow.sent()
    await flow.arrive(nine(controls(content), ACCEPTED))
    assert await sign_hour(flow) == 1
    proof = await proof_of(flow, id)
    heading = describe_proof(
        proof, verify_file(write_evidence(proof.evidence, flow.vault.proof_seed))
    )
    assert heading.result == NO_RECEIPT
    assert "Not proof of payer receipt" in heading.notices[0]
    rejected = status(patient(*accounts(content), "A7:562:85*20261102*U*150"))
    await flow.arrive(rejected, name="rejected.277")
    waiting = await proof_of(flow, id)
    assert [one.source for one in waiting.waiting] == ["277CA"]
    assert "1 more" in describe_proof(waiting, verify_file(write_evidence(waiting.evidence, flow.vault.proof_seed))).notices[-1]  # fmt: skip
    await checkpoints.keep_copies(flow.context)
    flow.clock = ManualClock(flow.clock.now())  # a node whose clock does not move
    flow.context = replace(flow.context, clock=flow.clock)
    assert await sign_hour(flow) == 1
    await checkpoints.checkpoint_tick(flow.context, None)
    proof = await proof_of(flow, id)
    verdict = verify_file(write_evidence(proof.evidence, flow.vault.proof_seed))
    assert [one.number for one in proof.evidence.checkpoints] == [1, 2]
    assert isinstance(proof.evidence.statements[-1].statement, AcknowledgementStatement)
    heading = describe_proof(proof, verdict)
    assert heading.result == "Received and rejected"
    kept = read_checkpoints((place.data / COPIES_NAME).read_bytes())
    assert [one.number for one in kept] == [1, 2]
    assert kept[1].previous == kept[0].digest


async def test_a_busy_hour_has_several_checkpoints_and_what_was_changed_is_not_proven(flow, monkeypatch):  # fmt: skip
    monkeypatch.setattr(checkpoints, "CHECKPOINT_LEAVES_MAX", 3)
    [first, *_], content = await flow.sent(3)
    [second], _ = await flow.sent()
    assert await sign_hour(flow) == 2
    async with flow.database.read(EVERYONE) as tx:
        stored = await proof_log.list_checkpoints(tx, after=0, limit=10)
    assert [one.number for one in stored] == [1, 2]
    assert (await proof_of(flow, second)).evidence.checkpoints[0].number == 2
    spoiled = Statement(proof_entries.update().values(content=bytes(48)))
    await flow.database.write(EVERYONE, lambda tx: tx.run(spoiled), actor=ACTOR)
    with pytest.raises(ProofRefused, match=NOT_LOGGED):
        await proof_of(flow, first)
    assert len(list(slice_claims(content))) == 3
    assert list(slice_claims(nine(1, ACCEPTED))) == []


async def test_an_answer_in_real_time_is_proven_as_it_came_and_once(place, database, clock):
    node = await Asking.open(place, database, clock)
    flow = node.flow
    number = await node.sent("3007")
    await node.pass_days(0)
    before = await leaves(flow)
    asked = await node.ask(number)
    assert asked.answer.statuses[0].codes[0].category == "A1"
    assert await leaves(flow) == before + 1
    await node.ask(number)  # the payer says the same again
    assert await leaves(flow) == before + 1
    await node.simulator.advance(timedelta(hours=1), NODE)
    assert await checkpoints.make_checkpoints(flow.context, node.now) == 1

    async def verified():
        proof = await proof_of(flow, number)
        return proof, verify_file(write_evidence(proof.evidence, flow.vault.proof_seed))

    proof, verdict = await verified()
    [(stated, receipt)] = [one for one in verdict.receipts if one[1].source == "277"]
    assert (type(stated), receipt.is_proof) == (AnswerStatement, True)
    assert HAD_BY_THEN in verdict.not_proven
    heading = describe_proof(proof, verdict)
    assert heading.result == "Received by the payer"
    titles = [one.title for one in heading.sections]
    assert titles[0] == "The payer's answer in real time (277)"
    assert "The 277 as it was received in real time" in titles
    assert "by then" in heading.sections[0].texts[-1]
    out = io.BytesIO()
    write_filing_pdf(heading, out)
    assert "answer in real time (277)" in PdfReader(out).pages[0].extract_text()
    # A moment that was changed in the database since is not the one that was logged.
    later = Statement(documents.update().values(created_at=documents.c.created_at + 1), system=True)
    await flow.database.write(EVERYONE, lambda tx: tx.run(later), actor=ACTOR)
    assert "277" not in [receipt.source for _, receipt in (await verified())[1].receipts]
    await node.runner.stop()


async def test_copies_survive_a_cut_line_and_another_writer(flow, tmp_path):
    await flow.sent()
    await sign_hour(flow)
    anchor = flow.database.anchor
    copies = CheckpointCopies(anchor)
    assert len(copies.places) == 1
    await checkpoints.keep_copies(flow.context)
    [place] = copies.places
    [line] = place.read_bytes().splitlines()
    place.write_bytes(line + b"\n" + line[:40])
    last = copies.last(place)
    copies.append(place, [line], after=None)  # another process was first
    assert len(place.read_bytes().splitlines()) == 2
    copies.append(place, [line], after=last)
    assert place.read_bytes() == line + b"\n" + line[:40] + b"\n" + line + b"\n"
    anchor.copy = tmp_path / "away" / "anchor"
    assert [one.name for one in CheckpointCopies(anchor).places] == [
        COPIES_NAME, "anchor.checkpoints",
    ]  # fmt: skip
    await checkpoints.keep_copies(flow.context)  # a place that cannot be written stops nothing
    anchor.copy = None
