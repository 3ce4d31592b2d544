"""Shadow files, on both databases: judged and written as any other, never sent, and compared with others' answers.

Also tests `pipeline/intake/files/shadow_row`, `pipeline/intake/files/import_statements`,
`pipeline/intake/files/other_statements`, `pipeline/query/shadow_report` and `store/files/shadow_claims`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from clearlane.kernel.claim_label import SHADOW_LABELS
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.intake.claim_x12 import find_shadow_x12
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.files.other_statements import holds_statements
from clearlane.pipeline.intake.hold_claims import CANCEL, HOLD, IS_SHADOW, change_unsent_claim
from clearlane.pipeline.intake.purge_not_accepted import purge_old_claims
from clearlane.pipeline.intake.send_anyway import send_anyway
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.pipeline.query.shadow_report import load_shadow_page, shadow_lines
from clearlane.store.claims import claim_queue, claim_summaries
from clearlane.store.claims.claim_query import ClaimListRow, ClaimQuery, by_label, list_claims
from clearlane.store.claims.claims import RECEIVED, SHADOW, SHADOW_NOT_ACCEPTED
from clearlane.store.database.sql import Statement
from clearlane.store.files import file_sets, payees, shadow_claims
from clearlane.store.installation import operating_counts
from clearlane.x12.checker.check import check
from clearlane.x12.delimiters import ISA_CHARACTERS
from tests.claims.answers import nine, paid, patient, payment, status, ta1
from tests.pipeline.flowing import ACTOR, EVERYONE, PAYER, Flow
from tests.pipeline.test_process_file import Channel, a_claim, a_file, a_set

QUEUE_IT = Statement(text("UPDATE claims SET queued = 1 WHERE claim_number = :of"), system=True)
OPEN_IT = Statement(
    text("UPDATE claims SET state = 'received', queued = 1 WHERE claim_number = :of"), system=True
)
BAD = "ABK:NOSUCH1"
OFF = "CAS*CO*45*70"


@pytest.fixture
async def channel(place, database, clock):
    return Channel(await Flow.open(place, database, clock))


async def lines_of(channel):
    flow = channel.flow
    found = [one async for one in shadow_lines(flow.context, flow.site, actor=ACTOR)]
    # Claim by claim, then set by set, it is the same.
    paged, after = [], None
    while True:
        page = await load_shadow_page(flow.context, flow.site, after=after, limit=1, actor=ACTOR)
        assert len(page.lines) <= 1
        paged, after = [*paged, *page.lines], page.last
        if after is None:
            break
    assert paged == found
    return {one.vendor_claim_id: one for one in found}


async def test_a_shadow_claim_is_judged_and_written_and_nothing_sends_it(channel):
    flow, now = channel.flow, channel.flow.clock.now()
    content = a_file(a_set(a_claim(1), a_claim(2, diagnosis=BAD)))
    file, answers = await channel.process(content, shadow=True)
    assert (file.state, file.accepted, file.not_accepted) == ("partly_accepted", 1, 1)
    assert answers.keys() == {"999", "277CA"}
    assert all(".shadow." in one.name for one in await channel.listed(direction="out"))
    rows = await channel.claims()
    assert {row[1:] for row in rows} == {(SHADOW, "x12", 0), (SHADOW_NOT_ACCEPTED, "x12", 0)}
    numbers = {row[1]: row[0] for row in rows}
    good, bad = numbers[SHADOW], numbers[SHADOW_NOT_ACCEPTED]
    written = await find_shadow_x12(flow.context, flow.site.scope, good)
    assert not check(written).errors
    assert f"REF*D9*{good}~".encode() in written.replace(b"~\n", b"~")
    assert await find_shadow_x12(flow.context, flow.site.scope, bad) == b""
    # No batch takes it, whatever a person tries; the database itself refuses to queue it.
    for number in (good, bad):
        for verb in (HOLD, CANCEL):
            done = await change_unsent_claim(
                flow.context, flow.site, number, verb, actor=ACTOR, now=now
            )
            assert done.refusal == IS_SHADOW
        with pytest.raises(CorrectionConflict, match="never sent"):
            await submit_correction(
                flow.context, flow.site, number, {}, unchanged=True, actor=ACTOR, now=now
            )
        with pytest.raises(CorrectionConflict, match="never sent"):
            await send_anyway(flow.context, flow.site, number, reason="so", actor=ACTOR, now=now)
        for statement in (QUEUE_IT, OPEN_IT):
            with pytest.raises(Exception, match=r"(?i)check|constraint"):
                await flow.database.write(
                    EVERYONE, lambda tx, s=statement, n=number: tx.run(s, of=n), actor=ACTOR
                )
    async with flow.database.read(EVERYONE) as tx:
        assert await claim_queue.list_payer_queues(tx) == []
        assert await claim_queue.list_queued_claims(tx, PAYER, "medical", after="", limit=9) == []
        assert await operating_counts.count_claims_since(tx, 0) == 0
        assert await operating_counts.count_open_claims(tx, to_micros(now)) == []
        hashed = {payees.payee_hash(flow.vault, "1234567893")}
        assert await payees.find_sites(tx, hashed) == []
    assert await flow.send() == b""
    # It is counted with no others, and listed only if asked for.
    async with flow.database.read(flow.site.scope) as tx:
        assert await claim_summaries.count_days(tx, "") == []
        assert await list_claims(tx, ClaimQuery(limit=9), ClaimListRow) == []
        asked = await list_claims(tx, by_label(SHADOW_LABELS, limit=9), ClaimListRow)
    assert {row.claim_number for row in asked} == {good, bad}
    # The same bytes for real are claims of their own, no duplicates; and the other way round.
    real, _ = await channel.process(content)
    assert (real.state, real.accepted, real.note) == ("partly_accepted", 1, "")
    assert [row[3] for row in await channel.claims() if row[1] == RECEIVED] == [1]
    again = content.replace(b"000000101", b"000000102")
    repeated, _ = await channel.process(again, shadow=True)
    assert (repeated.accepted, repeated.not_accepted) == (0, 2), "equal to the first shadow"
    flow.site = replace(flow.site, shadow=True)
    by_setting, _ = await channel.process(a_file(a_set(a_claim(3))))
    assert by_setting.is_shadow
    flow.clock.advance(timedelta(days=flow.context.limits.not_accepted_days + 1))
    assert await purge_old_claims(flow.context, flow.clock.now()) == 6
    assert [row[1] for row in await channel.claims()] == [RECEIVED]
    async with flow.database.read(flow.site.scope) as tx:
        assert await shadow_claims.list_sets(tx) == []
        assert await file_sets.find_latest(tx) is not None, "those of real files stay"


async def test_answers_of_others_are_compared_claim_by_claim(channel):
    faulty = [a_claim(at, diagnosis=BAD) for at in (5, 6, 7)]
    bodies = [a_claim(1), a_claim(2), a_claim(3), a_claim(4), *faulty, a_claim(8), a_claim(9)]
    twins = [a_claim(10, account="T-1"), a_claim(11, account="T-1").replace("99213", "99214")]
    await channel.process(a_file(a_set(*bodies, *twins)), shadow=True)
    miscounted = a_set(a_claim(20), st="0002").replace("SE*", "SE*9")
    await channel.process(a_file(miscounted, isa="000000103", gs="103"), shadow=True)
    for content, note in (
        (nine(101, ["AK2*837*0001", "IK5*A"]), "1 of 1"),
        (nine(103, ["AK2*837*0002", "IK5*A"]), "1 of 1"),
        (nine(77, ["AK2*837*0001", "IK5*A"]), "0 of 1"),
        (ta1(101, "A", "000"), "1 of 1"),
        (
            status(
                patient("A-1", "A2:20:PR*20261102*WQ*150"),
                patient("A-2", "A7:164:IL*20261102*U*150"),
                patient("A-5", "A2:20:PR*20261102*WQ*150"),
                patient("A-6", "A7:255*20261102*U*150"),
                patient("A-8", "A7:164:IL*20261102*U*999"),  # another charge
                patient("A-9", "A7:164:IL*20261102*U*150", name="OTHER*ROSA"),
                patient("T-1", "A2:20:PR*20261102*WQ*150"),  # two claims fit
                patient("NONE", "A2:20:PR*20261102*WQ*150"),
                batch="FB0001",
            ),
            "4 of 8",
        ),
        (
            status(
                patient("T-1", "A2:20:PR*20261102*WQ*150", extra=["REF*D9*SENDER11"]),
                batch="FB0001",
            ),
            "1 of 1",
        ),
        (
            payment(
                paid("A-3", "1", "150", "80", OFF, "DTM*232*20240211"),
                paid("A-4", "4", "150", "0", "CAS*CO*16*150", "DTM*232*20240211"),
                paid("A-7", "1", "150", "80", OFF, "DTM*232*20240211"),
                paid("A-8", "1", "150", "80", OFF, "DTM*232*20250211"),
                amount="160",
            ),
            "3 of 4",
        ),
    ):
        file, _ = await channel.process(content, "answer", shadow=True)
        assert file.note.startswith(note), (file.note, content)
    lines = await lines_of(channel)
    compared = {name: line.comparison for name, line in lines.items()}
    assert compared == {
        "A-1": "equal", "A-2": "only_we_accept", "A-3": "equal", "A-4": "denied", "A-5": "only_they_accept",
        "A-6": "equal", "A-7": "paid_not_accepted", "A-8": "equal", "A-9": "equal", "T-1": "equal",
        "": "only_they_accept",
    }  # fmt: skip
    assert (lines["A-2"].ours, lines["A-2"].their_codes) == ("accepted", "A7:164:IL")
    assert "invalid" in lines["A-2"].their_reason
    assert lines["A-4"].their_codes == "CLP02:4 CO-16"
    assert "Denied" in lines["A-4"].their_reason
    assert lines["A-7"].ours == "not accepted"
    assert lines["A-7"].our_reason.startswith("breaks C")
    assert not any("NOSUCH" in line.our_reason for line in lines.values())
    assert {line.x12_differences for line in lines.values()} == {""}
    # They are steps of the history of a claim, which says what would go out.
    flow = channel.flow
    history = await load_history_in_scope(
        flow.database, flow.vault, flow.site.scope, lines["A-2"].claim_number, actor=ACTOR
    )
    steps = [
        (one.headline, one.sentences)
        for one in history.entries
        if one.headline.startswith("Imported")
    ]
    assert sorted(headline for headline, _ in steps) == [
        "Imported, 277CA of another clearinghouse: rejected as of 2026-11-02",
        "Imported, 999 of another clearinghouse: accepted as of 2026-11-02",
        "Imported, TA1 of another clearinghouse: accepted as of 2026-11-02",
    ]
    (reason,) = (said[0] for headline, said in steps if "277CA" in headline)
    assert reason.startswith("A7:164:IL: The payer says")
    assert "Our trace number would go out" in " ".join(history.entries[0].sentences)
    # The same answers again change nothing, and are matched with claims that came since.
    before = await lines_of(channel)
    file, _ = await channel.process(nine(77, ["AK2*837*0001", "IK5*A"]), shadow=True)
    assert file.state == "rejected"
    assert await lines_of(channel) == before


def test_only_answers_are_taken_for_answers():
    for content in (nine(1), ta1(1), status(), payment(), b"\xef\xbb\xbf" + nine(1)):
        assert holds_statements(content[:400])
    bare = nine(1)[:ISA_CHARACTERS] + b"GS~"
    other = (a_file(a_set(a_claim(1))), b"", b"ISA", b"ISA*" + b" " * 200, b"x" * 400, bare)
    for content in other:
        assert not holds_statements(content[:400])
