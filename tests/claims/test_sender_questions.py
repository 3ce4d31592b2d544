"""A sender's own 276 goes to the payer as it was written, and the 277 about it is clean and in the sender's terms.

Also tests `claims/inquiry/read_276`, `claims/inquiry/answer_277` and `inquiry/sent_inquiry`.
"""

from datetime import UTC, datetime

import pytest
from x12sdk.io import X12ModelReader

from clearlane.claims.inquiry import answer_277, read_277
from clearlane.claims.inquiry.read_276 import build_question, read_claims
from clearlane.claims.inquiry.status_inquiry import encode, other_keys, restore, under_payer_id
from clearlane.claims.inquiry.write_276 import write_questions
from clearlane.inquiry.response_file import AnswerMatch
from clearlane.inquiry.sent_inquiry import Refusal
from clearlane.payers.model import Payer
from clearlane.sandbox import read_276
from clearlane.sandbox.model import Profile
from clearlane.sandbox.responses import answer277
from clearlane.sandbox.responses.answer277 import ClaimSaid, LevelSaid
from clearlane.x12 import parse
from clearlane.x12.checker import check
from clearlane.x12.writer.writer import Envelope
from tests.corpus import samples

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
ENVELOPE = Envelope(sender="CLEARLANE", receiver="MEADOW", control=17, moment=NOW)
BACK = Envelope(sender="MEADOW", receiver="CLEARLANE", control=18, moment=NOW)
PAYER = Payer("Medical", "Meadow Mutual", "MDW10", "MDW10")
QUESTIONS = [one for one in samples() if one.kind == "276"]
ANSWERS = [one for one in samples() if one.kind == "277"]
PROFILE = Profile(id="MDW10", name="Meadow Mutual", ids=("MDW10",))
NUMBER = "C193N353RW88KF7KA1W"


def claims_of(sample):
    return [claim for set in parse(sample.path.read_bytes()).sets() for claim in read_claims(set)]


def written(claims):
    pairs = [(build_question(one, PAYER), f"71-{at}") for at, one in enumerate(claims, 1)]
    return b"".join(write_questions(pairs, ENVELOPE))


def new_findings(content, sample):
    """The rules that something written breaks and its sample does not."""
    broken = ({one.rule for one in check.check(one).findings if one.severity != "info"} for one in (content, sample.path.read_bytes()))  # fmt: skip
    return next(broken) - next(broken)


def own_texts(segments):
    return [
        "*".join(one)
        for one in segments
        if one[0] not in {"ST", "BHT", "HL", "TRN", "SE"} and one[1:2] != ["PR"]
    ]


@pytest.mark.parametrize("sample", QUESTIONS, ids=str)
def test_every_question_of_a_sample_goes_to_the_payer_as_it_was_written(sample):
    claims = claims_of(sample)
    assert claims
    content = written(claims)
    assert new_findings(content, sample) == set()
    with X12ModelReader(content.decode()) as reader:
        assert len(list(reader.models())) == len(claims)
    sets = list(parse(content).sets())
    [asked] = read_276.read(content, NOW)
    for claim, sent, [question], at in zip(
        claims, sets, asked.sets, range(1, len(claims) + 1), strict=True
    ):
        wanted = [text for level in claim.levels for text in own_texts(level)]
        assert own_texts(sent.root.all_segments()) == wanted
        assert (question.trace, question.source[8]) == (f"71-{at}", "MDW10")
        inquiry = build_question(claim, PAYER, NUMBER)
        assert restore(encode(inquiry)) == inquiry
        assert other_keys(inquiry) is None, "the sender chose his keys"
        # Over a hop only the payer's id differs.
        there = under_payer_id(inquiry, "60054")
        assert [*there.levels] == [one.replace("*PI*MDW10", "*PI*60054") for one in inquiry.levels]
        assert (there.payer.id, there.payer_names) == ("60054", inquiry.payer_names)
        assert (inquiry.member_id, inquiry.account_number) == (question.member, question.account)
        assert (inquiry.charge, inquiry.first_day, inquiry.last_day) == (
            question.charge,
            question.first,
            question.last,
        )
        assert inquiry.trace.number == claim.traces[0][2]
        assert claim.providers


@pytest.mark.parametrize("sample", QUESTIONS, ids=str)
def test_answers_and_refusals_go_back_in_the_senders_terms(sample):
    claims = claims_of(sample)
    [asked] = read_276.read(written(claims), NOW)
    said = ClaimSaid(code=("F1", "65"), number="S0001", account="ACC", charge=None)
    above = LevelSaid(level="19", code=("E0", "24", "1P"))
    chains = []
    for [question], claim in zip(asked.sets, claims, strict=True):
        for at, one in enumerate((said, above)):
            content = answer277.write(PROFILE, [[(question, one)]], BACK)
            [reply] = read_277.read(content).answers
            inquiry = build_question(claim, PAYER)
            assert read_277.match_answer(reply, inquiry, question.trace) is AnswerMatch.MATCHED
            levels = answer_277.answered(claim, content, NOW.date())
            assert len(levels) == len(claim.levels), at
            chains.append(levels)
        chains += [answer_277.refused(claim, one, NOW.date()) for one in answer_277.REFUSALS]
        assert answer_277.answered(claim, b"", NOW.date()) == answer_277.refused(
            claim, Refusal.NO_ANSWER, NOW.date()
        )
    content = answer_277.write_answer(BACK, "ABC276XXX", chains)
    assert new_findings(content, sample) == set()
    [answer] = parse(content).sets()
    segments = list(answer.all_segments())
    assert {one[9] for one in segments if one[:2] == ["NM1", "PR"]} == {claims[0].payer_id}
    statuses = [one[1] for one in segments if one[0] == "STC"]
    wanted = ["F1:65", "E0:24:1P", *answer_277.REFUSALS.values()]
    # Two equal statuses of a claim under one trace number are said once.
    assert set(statuses) == set(wanted)
    assert {one[2] for one in segments if one[0] == "TRN"} == {one.traces[0][2] for one in claims}
    heading = next(one for one in segments if one[0] == "BHT")
    assert [heading[at] for at in (2, 3, 6)] == ["08", "ABC276XXX", "DG"]


@pytest.mark.parametrize("sample", ANSWERS, ids=str)
def test_every_277_of_a_sample_is_read_and_can_be_handed_on(sample):
    content = sample.path.read_bytes()
    replies = read_277.read(content).answers
    assert replies
    claim = claims_of(QUESTIONS[0])[0]
    for reply in replies:
        levels = answer_277.answered(claim, reply.content, NOW.date())
        written = answer_277.write_answer(BACK, "X", [levels])
        [answer] = parse(written).sets()
        traces = [one for one in answer.all_segments() if one[0] == "TRN"]
        assert traces[-1] == ["TRN", "2", claim.traces[0][2]]
        assert any(one[0] == "STC" for one in answer.all_segments())
