"""A 276 is written for any claim and accepted by two checkers; a 277 is read, matched and put into words by field.

Also tests `claims/inquiry/status_inquiry`, `claims/inquiry/write_276`, `claims/inquiry/read_277`,
`claims/inquiry/status_answer`, `claims/inquiry/answer_result` and `sandbox/read_276`.
"""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from msgspec import structs
from x12sdk.io import X12ModelReader

from clearlane.claims.forms import FORMS, form_of, samples
from clearlane.claims.inquiry import read_277, status_inquiry
from clearlane.claims.inquiry.answer_result import RESULT_WORDS, AnswerResult, result_of
from clearlane.claims.inquiry.status_answer import status_complaints
from clearlane.claims.inquiry.status_inquiry import (
    QuestionKeys,
    SentNumbers,
    build_status_inquiry,
    other_keys,
)
from clearlane.claims.inquiry.write_276 import write_questions
from clearlane.claims.responses.facts import Fact, FactKind, StatusVerdict
from clearlane.claims.responses.provenance import explain_complaints
from clearlane.inquiry.response_file import AnswerMatch
from clearlane.payers.model import Payer
from clearlane.sandbox import read_276
from clearlane.x12 import codes
from clearlane.x12.checker import check
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.writer.writer import Envelope
from tests.claims.file_claims import CROWN, VISITS, claims_in
from tests.claims.outgoing import stored
from tests.corpus import samples as sample_files

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
ENVELOPE = Envelope(sender="CLEARLANE", receiver="MEADOW", control=17, moment=NOW)
PAYER = Payer("Medical", "Meadow Mutual", "MDW10", "MDW10", aliases=("Meadow",))
NUMBER, TRACE = "C193N353RW88KF7KA1W", "7103-1"


def every_claim():
    """Claims of each form and kind: V3 medical and dental, sparse and full, and those of 837P and 837D files."""
    for form in FORMS.values():
        for sample in (samples.minimal_claim, samples.extended_claim):
            yield stored(form, sample(form, NOW.date()))
    for path in (VISITS, CROWN):
        yield from claims_in(path.read_bytes())


def asked(claim, number="S00000100001", **changes):
    sent = SentNumbers(claim_number=NUMBER, account_number="ACC 17", payer_control_number=number)
    view = form_of(claim).view(claim)
    return structs.replace(
        build_status_inquiry(view, sent, payer=PAYER, receiver_name="Clearlane"), **changes
    )


def written(*inquiries, envelope=ENVELOPE):
    pairs = [(one, f"7103-{at}") for at, one in enumerate(inquiries, 1)]
    return b"".join(write_questions(pairs, envelope))


def rows(content):
    return content.decode().split("~")[:-1]


def test_every_claim_can_be_asked_about_with_each_kind_of_keys():
    questions = []
    for claim in every_claim():
        first = asked(claim)
        second, third = other_keys(first), other_keys(other_keys(first))
        assert [one.keys for one in (first, second, third)] == list(QuestionKeys)
        assert other_keys(third) is None
        assert asked(claim, number="").keys is QuestionKeys.CLAIM
        assert status_inquiry.restore(status_inquiry.encode(second)) == second
        questions += [one for one in (first, second, third) if one.period]
    assert len(questions) > 15
    content = written(*questions)
    assert [(one.rule, one.message) for one in check.check(content).findings] == []
    with X12ModelReader(content.decode()) as reader:
        assert len(list(reader.models())) == len(questions)
    # The payer of the sandbox, which knows no writer of ours, reads the same back.
    [read] = read_276.read(content, NOW)
    found = [question for set in read.sets for question in set]
    for inquiry, question in zip(questions, found, strict=True):
        assert question.member == (inquiry.member_id or "0")
        assert (question.first, question.last) == inquiry.period
        assert question.trace == question.reference
        by_claim = inquiry.keys is QuestionKeys.CLAIM
        assert question.payer_number == (
            "S00000100001" if inquiry.keys is QuestionKeys.PAYER_NUMBER else ""
        )
        assert (question.number, question.account) == ((NUMBER, "ACC 17") if by_claim else ("", ""))
        assert question.charge == (inquiry.charge if by_claim else None)
        assert (question.patient is None) is (inquiry.dependent is None)


def test_a_question_by_the_payers_number_and_one_in_other_separators():
    claim = next(every_claim())
    inquiry = asked(claim)
    assert rows(written(inquiry))[2:10] == [
        "ST*276*0001*005010X212",
        f"BHT*0010*13*{TRACE}*20260302*0930",
        "HL*1**20*1",
        "NM1*PR*2*MEADOW MUTUAL*****PI*MDW10",
        "HL*2*1*21*1",
        "NM1*41*2*CLEARLANE*****46*CLEARLANE",
        "HL*3*2*19*1",
        rows(written(inquiry))[9],
    ]
    other = replace(ENVELOPE, delimiters=Delimiters("|", ">", "}", "\n"))
    assert check.check(written(inquiry, envelope=other)).findings == ()
    with pytest.raises(ValueError, match="trace number"):
        list(write_questions([(inquiry, "small letters")], ENVELOPE))
    assert "ACC" not in repr(inquiry)


# ---- answers -----------------------------------------------------------------------------------


def answer(*body, trace=TRACE, payer="MDW10", last="ARDEN", member="2001"):
    """A 277 with what is said below the provider, or instead of it."""
    head = [
        "ISA*00*          *00*          *ZZ*MEADOW         *ZZ*CLEARLANE      *260303*1200*^*00501*000000031*0*T*:",
        "GS*HN*MEADOW*CLEARLANE*20260303*1200*31*X*005010X212",
        "ST*277*0001*005010X212",
        "BHT*0010*08*277X212*20260303*1200*DG",
        "HL*1**20*1",
        f"NM1*PR*2*MEADOW MUTUAL*****PI*{payer}",
        "HL*2*1*21*1",
        "NM1*41*2*CLEARLANE*****46*CLEARLANE",
        "HL*3*2*19*1",
        "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
        "HL*4*3*22*0",
        f"NM1*IL*1*{last}*ROSA****MI*{member}",
        f"TRN*2*{trace}",
        *body,
    ]
    tail = [f"SE*{len(head) - 1}*0001", "GE*1*31", "IEA*1*000000031"]
    return ("~".join([*head, *tail]) + "~").encode()


ROSA = status_inquiry.StatusInquiry(
    claim_number=NUMBER,
    payer_type="Medical",
    payer=status_inquiry.StatusParty(name="MEADOW MUTUAL", id_type="PI", id="MDW10"),
    payer_names=("MDW10", "Meadow Mutual"),
    member_id="2001",
    subscriber=status_inquiry.StatusPerson(last="ARDEN", first="ROSA"),
    charge=Decimal(150),
)


def read_one(content, inquiry=ROSA):
    [reply] = read_277.read(content).answers
    assert read_277.match_answer(reply, inquiry, TRACE) is AnswerMatch.MATCHED
    return reply, read_277.build_answer(reply, inquiry, TRACE, NOW)


@pytest.mark.parametrize(("sample"), [one for one in sample_files() if one.kind == "277"], ids=str)
def test_every_277_is_read_with_words_for_each_status(sample):
    content = sample.path.read_bytes()
    replies = read_277.read(content).answers
    assert replies
    for reply in replies:
        built = read_277.build_answer(reply, ROSA, TRACE, NOW)
        assert built.result in RESULT_WORDS
        assert list(status_complaints(built))
        # The part of one claim is a file that reads as the same answer.
        [again] = read_277.read(reply.content).answers
        assert (again.level, again.report) == (reply.level, reply.report)
        fact = read_277.claim_fact(reply.content, NUMBER)
        assert (fact is not None) is (reply.level == "claim")


@pytest.mark.parametrize(("sample"), [one for one in sample_files() if one.kind == "276"], ids=str)
def test_every_276_of_the_samples_is_written_again_from_what_is_read(sample):
    """What a payer reads of a public 276 is asked again by our writer, and read the same."""
    asked_there = [
        q for one in read_276.read(sample.path.read_bytes(), NOW) for s in one.sets for q in s
    ]
    for question in asked_there:
        person = status_inquiry.StatusPerson(
            last=question.subscriber[2], first=question.subscriber[3], birth=NOW.date()
        )
        inquiry = structs.replace(
            ROSA, claim_number="", member_id=question.member, subscriber=person,
            provider=status_inquiry.StatusParty(name=question.provider[2], id_type="XX", id=question.provider[8]),
            dependent=status_inquiry.StatusPerson(last=question.patient[2], birth=NOW.date()) if question.patient else None,
            account_number=question.account, charge=question.charge,
            first_day=question.first, last_day=question.last,
        )  # fmt: skip
        [again] = [q for one in read_276.read(written(inquiry), NOW) for s in one.sets for q in s]
        for name in ("member", "last_name", "account", "charge", "first", "last"):
            assert getattr(again, name) == getattr(question, name), name


def test_each_category_has_a_result_and_only_some_change_the_claim():
    found = {category: result_of(category) for category in codes.load("status_categories")}
    assert found["A4"] is AnswerResult.NOT_FOUND
    assert found["D0"] is AnswerResult.SEARCH_FAILED
    ours = {AnswerResult.FAILED, AnswerResult.OTHER_CLAIM}
    assert set(found.values()) | ours == set(RESULT_WORDS)
    claim = next(every_claim())
    for category, result in found.items():
        reply, built = read_one(answer(f"STC*{category}:562:85*20260303**150", "REF*1K*S1"))
        assert built.result is result, category
        assert built.payer_control_number == "S1"
        fact = read_277.claim_fact(reply.content, NUMBER)
        assert (fact.claim.claim_number, fact.claim.account_number) == (NUMBER, "")
        quiet = result in {
            AnswerResult.NOT_FOUND, AnswerResult.SEARCH_FAILED, AnswerResult.TRY_LATER, AnswerResult.REFUSED,
            AnswerResult.MESSAGE,
        }  # fmt: skip
        assert (fact.verdict is StatusVerdict.NOTED) is quiet, category
        fact_shown = Fact(kind=FactKind.STATUS, at=NOW, complaints=tuple(status_complaints(built)))
        [explained] = explain_complaints(fact_shown, claim)
        # In words, with the field: the billing provider's NPI.
        assert codes.load("status_categories")[category] in explained.happened
        assert [field.place for field in explained.fields] == ["2010AA/NM1/09"], category


def test_an_answer_about_another_claim_payer_or_level_is_distinguished():
    _, paid = read_one(answer("STC*F1:65*20260303**150*120*20260301**20260302*CHK77", "REF*1K*S1"))
    assert (paid.result, paid.paid, paid.check_number) == (AnswerResult.PAID, Decimal(120), "CHK77")
    assert str(paid.paid_on) == "2026-03-02"
    status = "STC*P1:20*20260303**150"
    for content, match in (
        (answer(status, trace="OTHER-1"), AnswerMatch.WRONG_PATIENT),
        (answer(status, last="OTHER", member="999"), AnswerMatch.WRONG_PATIENT),
        (answer(status, last="OTHER"), AnswerMatch.MATCHED),
        (answer(status, payer="OTHER"), AnswerMatch.WRONG_PAYER),
    ):
        [reply] = read_277.read(content).answers
        assert read_277.match_answer(reply, ROSA, TRACE) is match
    texts = answer().decode().split("HL*4*")[0]
    for below, level in ((f"{texts}TRN*1*0~STC*E0:24:1P*20260303~", "provider"),):
        [reply] = read_277.read(below.encode()).answers
        assert (reply.level, read_277.trace_number(reply)) == (level, "277X212")
        assert read_277.match_answer(reply, ROSA, TRACE) is AnswerMatch.MATCHED
        assert read_277.claim_fact(reply.content, NUMBER) is None
    [busy] = read_277.read(answer("STC*E2:0*20260303")).answers
    assert read_277.may_be_resent(busy)
    [decided] = read_277.read(answer(status)).answers
    assert not read_277.may_be_resent(decided)
    # The weightiest status counts, and one at a line is a status of the claim too.
    _, mixed = read_one(
        answer(
            "STC*P1:20*20260303**150",
            "SVC*HC:99213*150*0****1",
            "STC*R4:294*20260303",
            "DTP*472*D8*20260301",
        )
    )
    assert mixed.result is AnswerResult.INFORMATION_REQUESTED


@pytest.mark.parametrize(
    ("stated", "is_ours"),
    [
        (("STC*F1:65*20260303**150*120", "DTP*472*D8*20260301"), True),
        (("STC*F1:65*20260303**90*70", "DTP*472*D8*20260301"), False),
        (("STC*F1:65*20260303**150*120", "DTP*472*RD8*20260301-20260305"), False),
        (("STC*F1:65*20260303**150*120", "REF*EJ*ACC 18"), False),
        (("STC*F1:65*20260303**150*120", "REF*1K*S2"), False),
        (("STC*F1:65*20260303**150*120", "REF*1K*S2", f"REF*D9*{NUMBER}"), True),
        (("STC*P1:20*20260303", "REF*EJ*ACC 17"), True),
        (("STC*P1:20*20260303",), False),  # it may be any claim of the patient
        (("STC*A4:35*20260303**0",), True),  # no claim was found
    ],
)
def test_what_a_payer_found_by_patient_and_days_must_agree_with_the_claim(stated, is_ours):
    inquiry = structs.replace(
        ROSA, keys=QuestionKeys.DAYS, account_number="ACC 17", payer_control_number="S1",
        first_day=date(2026, 3, 1), last_day=date(2026, 3, 2),
    )  # fmt: skip
    [reply] = read_277.read(answer(*stated)).answers
    match = AnswerMatch.MATCHED if is_ours else AnswerMatch.OTHER_CLAIM
    assert read_277.match_answer(reply, inquiry, TRACE) is match
    built = read_277.build_answer(reply, inquiry, TRACE, NOW)
    assert (built.result is AnswerResult.OTHER_CLAIM) is not is_ours
    # A sender's own 276 is about a claim that is not known here.
    own = structs.replace(inquiry, claim_number="")
    assert read_277.match_answer(reply, own, TRACE) is AnswerMatch.MATCHED
    two = read_277.read(
        answer("STC*P1:20*20260303**150", f"TRN*2*{TRACE}", "STC*F1:65*20260303**150")
    )
    assert {read_277.match_answer(one, inquiry, TRACE) for one in two.answers} == {
        AnswerMatch.OTHER_CLAIM
    }
