"""A file of a payer is read patient by patient; each answer is matched with its inquiry, and stored whole.

Also tests `inquiry/refusals`, `inquiry/response_file`, `eligibility/matching`, `eligibility/patient_levels` and `eligibility/inbound`.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.eligibility import read_271
from clearlane.eligibility.benefit_answer import decode_result
from clearlane.inquiry.inquiry_result import (
    AnswerError,
    InquiryResult,
    InterchangeStatus,
    build_error,
    encode_result,
)
from clearlane.inquiry.response_file import AnswerMatch, ResponseFile
from clearlane.x12.checker import check
from tests.cases import full_or_quick
from tests.eligibility.invented import (
    DEPENDENT,
    HEAD,
    NOON,
    PERSON,
    RECEIVER,
    SUBSCRIBER,
    TRACE,
    WITH_CHILD,
    answer_file,
    answered,
    child,
    inquiry,
)


def build(one, asked=None, trace=""):
    return read_271.build_answer(one, asked, document_id="D1", created_at=NOON, trace=trace)


def test_a_271_of_another_version_is_read_by_the_guide_we_have():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30").replace(
        b"005010X279A1", b"005010X279A9"
    )
    [one] = read_271.read(data).answers
    assert len(one.subscriber.benefits) == 1


# --- whose answer it is -----------------------------------------------------------------------------------


MATCHED = answered(*HEAD, *RECEIVER, *PERSON, "EB*1**30")


def test_our_trace_number_is_found():
    assert read_271.trace_number(MATCHED) == TRACE
    assert read_271.trace_number(answered(*HEAD, "AAA*N**42*R")) == TRACE
    assert read_271.match_answer(MATCHED, inquiry(), TRACE) is AnswerMatch.MATCHED


BARE = (PERSON[0], *PERSON[4:])
OTHER_HEAD = (HEAD[0], HEAD[1], "NM1*PR*2*HARBOR HEALTH PLAN*****PI*HHP20")
SOMEBODY = ("HL*3*2*22*0", "NM1*IL*1*LUND*IVO****MI*9009", "DMG*D8*19550505*M")
MATCHES = [
    ("an echo of our number", (*HEAD, *RECEIVER, *PERSON, "EB*1**30"), "MATCHED"),
    ("no echo, same member id", (*HEAD, *RECEIVER, *BARE, "EB*1**30"), "MATCHED"),
    (
        "no echo, another member id, same person",
        (*HEAD, *RECEIVER, BARE[0], "NM1*IL*1*ARDEN*ROSA****MI*NEW77", BARE[2], "EB*1**30"),
        "MATCHED",
    ),
    (
        "an echo, and the payer corrected the name",
        (
            *HEAD,
            *RECEIVER,
            *PERSON[:4],
            "NM1*IL*1*ARDEN-LUND*ROSA****MI*2001",
            PERSON[5],
            "EB*1**30",
        ),
        "MATCHED",
    ),
    ("refused by the payer", (*HEAD, "AAA*N**42*R"), "MATCHED"),
    ("refused by another payer", (*OTHER_HEAD, "AAA*N**42*R"), "WRONG_PAYER"),
    ("another payer", (*OTHER_HEAD, *RECEIVER, *PERSON, "EB*1**30"), "WRONG_PAYER"),
    ("somebody else", (*HEAD, *RECEIVER, *SOMEBODY, "EB*1**30"), "WRONG_PATIENT"),
    (
        "somebody else under our number",
        (*HEAD, *RECEIVER, SOMEBODY[0], PERSON[1], *SOMEBODY[1:], "EB*1**30"),
        "WRONG_PATIENT",
    ),
    (
        "the answer to another question of ours",
        (*HEAD, *RECEIVER, PERSON[0], "TRN*2*T9*9CLEARLANE", *PERSON[4:], "EB*1**30"),
        "WRONG_PATIENT",
    ),
    (
        "a refusal of another question",
        ("BHT*0022*11*T9*20240501*1201", *HEAD[1:], "AAA*N**42*R"),
        "WRONG_PATIENT",
    ),
]


@pytest.mark.parametrize(
    ("body", "verdict"), [row[1:] for row in MATCHES], ids=[row[0] for row in MATCHES]
)
def test_whose_answer_it_is(body, verdict):
    assert read_271.match_answer(answered(*body), inquiry(), TRACE) is AnswerMatch[verdict]


def test_the_dependent_of_another_name_is_the_wrong_patient():
    sister = [row.replace("MILO", "TESSA").replace("20150304", "20120101") for row in WITH_CHILD]
    assert (
        read_271.match_answer(answered(*WITH_CHILD, "EB*1**30"), child(), TRACE)
        is AnswerMatch.MATCHED
    )
    assert (
        read_271.match_answer(answered(*sister, "EB*1**30"), child(), TRACE)
        is AnswerMatch.WRONG_PATIENT
    )
    refused = (*HEAD, *RECEIVER, *PERSON[:-1], "AAA*N**75*C")
    assert read_271.match_answer(answered(*refused), child(), TRACE) is AnswerMatch.MATCHED


def test_a_payer_may_go_by_its_aliases():
    asked = inquiry(payer_PayerId="MDW10", IsTest=False)
    for id in ("MM010", "mdw10", "MMIC", "MEADOW MUTUAL"):
        head = (*HEAD[:2], f"NM1*PR*2*ANY*****PI*{id}")
        assert (
            read_271.match_answer(answered(*head, *RECEIVER, *PERSON), asked, TRACE)
            is AnswerMatch.MATCHED
        )


@pytest.mark.parametrize(
    ("body", "again"),
    [
        (("AAA*N**42*R",), True), (("AAA*Y**80*P",), True), (("AAA*N**42",), True),
        (("AAA*N**42*N",), False), (("AAA*N**42*Y",), False), (("AAA*N**42*C",), False),
        (("AAA*N**41*R",), False), (("AAA*N**42*R", "AAA*N**79*C"), False), ((), False),
        ((*RECEIVER, *PERSON, "AAA*N**42*R"), True),
        ((*RECEIVER, *PERSON, "EB*1**30", "AAA*N**42*R"), False),
    ],
)  # fmt: skip
def test_only_what_passes_by_itself_may_be_asked_again(body, again):
    assert read_271.may_be_resent(answered(*HEAD, *body)) is again


# --- files of several patients -----------------------------------------------------------------------------

SECOND = (
    "HL*4*2*22*0",
    "TRN*2*T18*9CLEARLANE",
    "NM1*IL*1*LUND*IVO****MI*9009",
    "DMG*D8*19550505*M",
)


def test_each_patient_of_a_file_is_reported_alone():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30", *SECOND, "EB*6**30")
    first, second = read_271.read(data).answers
    assert (read_271.trace_number(first), read_271.trace_number(second)) == (TRACE, "T18")
    for one, own, others in ((first, b"ROSA", b"IVO"), (second, b"IVO", b"ROSA")):
        assert own in one.content
        assert others not in one.content
        assert check.check(one.content).errors == 0
        assert others not in encode_result(InquiryResult(answer=build(one), x12=one.content))


def test_dependents_of_one_subscriber_are_distinguished():
    sister = ("HL*5*3*23*0", "TRN*2*T18*9CLEARLANE", "NM1*03*1*ARDEN*TESSA", "EB*1**30")
    data = answer_file(*WITH_CHILD, "EB*1**30", *sister)
    first, second = read_271.read(data).answers
    assert (read_271.trace_number(first), read_271.trace_number(second)) == (TRACE, "T18")
    assert b"TESSA" not in first.content
    assert b"MILO" not in second.content
    assert check.check(second.content).errors == 0


def test_a_file_of_one_patient_is_stored_as_it_came():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30")
    assert read_271.read(data).answers[0].content == data


# --- instead of a 271 -----------------------------------------------------------------------------------------


def ta1(verdict: str, note: str) -> bytes:
    isa = "ISA*00*          *00*          *ZZ*TST01          *ZZ*CLEARLANE      *240501*1201*^*00501*000000031*0*T*:"
    return f"{isa}~TA1*000000017*240501*1200*{verdict}*{note}~IEA*0*000000031~".encode()


def test_a_ta1_refuses_the_interchange():
    file = read_271.read(ta1("R", "006"))
    [refusal] = file.refusals
    assert (file.answers, file.is_x12, refusal.kind, refusal.control_number) == (
        (),
        True,
        "TA1",
        "000000017",
    )
    assert refusal.status == InterchangeStatus(
        control_number="000000017", verdict="R", code="006", message="Sender is invalid"
    )
    made = build_error(refusal.kind, inquiry(), refusal.errors, refusal.status)
    assert (made.kind, made.caller_trace.number, made.path) == ("TA1", "visit 7", SUBSCRIBER)
    assert made.errors == (AnswerError(code="006", message="Sender is invalid", location="ISA"),)
    assert refusal.content.startswith(b"ISA")


def test_a_999_refuses_a_set_segment_by_segment():
    body = (
        "AK1*HS*17*005010X279A1", "AK2*270*0001*005010X279A1", "IK3*NM1*9*2100*8", "IK4*9*67*1",
        "IK3*DMG*10**8", "IK5*R*5", "AK9*R*1*1*0",
    )  # fmt: skip
    [refusal] = read_271.read(answer_file(*body, group="FA", kind="999")).refusals
    assert (refusal.kind, refusal.control_number, refusal.set_control_number) == (
        "999",
        "17",
        "0001",
    )
    assert [(one.code, one.location) for one in refusal.errors] == [
        ("1", "2100/NM1/09 (segment 9)"), ("8", "DMG (segment 10)"), ("5", "ST"),
    ]  # fmt: skip
    assert (refusal.status.control_number, refusal.status.verdict) == ("000000017", "R")
    assert build_error("999", None, refusal.errors).kind == "999"


def test_the_refusal_of_one_set_quotes_nothing_of_another():
    body = (
        "AK1*HS*17*005010X279A1", "AK2*270*0001*005010X279A1", "IK3*NM1*9**8", "IK4*9*67*1*2001", "IK5*R*5",
        "AK2*270*0002*005010X279A1", "IK5*A", "AK2*270*0003*005010X279A1", "IK3*NM1*9**8", "IK4*9*67*1*9009",
        "IK5*R*5", "AK9*P*3*3*1",
    )  # fmt: skip
    first, third = read_271.read(answer_file(*body, group="FA", kind="999")).refusals
    assert (first.set_control_number, third.set_control_number) == ("0001", "0003")
    assert b"*2001~" in first.content
    assert b"*9009~" not in first.content
    assert b"*9009~" in third.content
    assert b"*2001~" not in third.content


def test_a_ta1_is_kept_without_what_is_beside_it():
    data = answer_file(*HEAD, *RECEIVER, *PERSON, "EB*1**30")
    beside = data.replace(b"~GS*", b"~TA1*000000018*240501*1200*R*006~GS*", 1)
    file = read_271.read(beside)
    assert (len(file.answers), len(file.refusals)) == (1, 1)
    assert b"ROSA" not in file.refusals[0].content


def test_a_999_may_refuse_the_whole_group():
    body = ("AK1*HS*17*005010X279A1", "AK9*R*1*1*0*1")
    [refusal] = read_271.read(answer_file(*body, group="FA", kind="999")).refusals
    assert refusal.set_control_number == ""
    assert refusal.errors[0].location == "GS"


def test_an_acceptance_is_no_answer():
    accepted = ("AK1*HS*17*005010X279A1", "AK2*270*0001*005010X279A1", "IK5*A", "AK9*A*1*1*1")
    for data in (ta1("A", "000"), answer_file(*accepted, group="FA", kind="999")):
        file = read_271.read(data)
        assert (file.answers, file.refusals, file.is_x12) == ((), (), True)


def test_a_payer_that_cannot_be_reached_is_reported():
    made = build_error("Connection", inquiry(), (AnswerError(code="Timeout", message="Late."),))
    assert (made.kind, made.path, made.errors[0].code) == ("Connection", SUBSCRIBER, "Timeout")


@given(st.binary(max_size=300))
@settings(max_examples=full_or_quick(100, 10), deadline=None)
def test_any_bytes_are_read(data):
    assert read_271.read(data).answers == ()


GOOD = answer_file(
    *HEAD, *RECEIVER, *PERSON, "EB*A*IND*30^98*HM*GOLD*23*100.50*.1*VS*12*Y*W", "MSG*X"
)


@given(st.integers(106, len(GOOD) - 1), st.binary(max_size=6), st.integers(0, 5))
@settings(max_examples=full_or_quick(150, 15), deadline=None)
def test_a_damaged_file_never_stops_us(at, junk, cut):
    for one in read_271.read(GOOD[:at] + junk + GOOD[at + cut :]).answers:
        read_271.match_answer(one, inquiry(), TRACE)
        stored = InquiryResult(answer=build(one, inquiry(), TRACE), x12=one.content)
        assert decode_result(encode_result(stored)) == stored


def test_what_nobody_asked_for_is_neither_answer_nor_refusal():
    data = answer_file("BHT*0022*13*1*20240501*1201", *HEAD[1:], group="HS", kind="270")
    assert read_271.read(data) == ResponseFile(is_x12=True)


def test_refusals_of_benefits_are_among_all_refusals():
    one = answered(*HEAD, *RECEIVER, *PERSON, "EB*1**30", "AAA*N**60*C")
    assert [refusal.reason for refusal in one.refusals] == ["60"]


def test_a_payer_without_a_number_is_known_by_its_name():
    named = answered(*HEAD[:2], "NM1*PR*2*SANDBOX MEDICAL", *RECEIVER, *PERSON)
    assert read_271.match_answer(named, inquiry(), TRACE) is AnswerMatch.MATCHED
    other = answered(*HEAD[:2], "NM1*PR*2*HARBOR HEALTH PLAN", *RECEIVER, *PERSON)
    assert read_271.match_answer(other, inquiry(), TRACE) is AnswerMatch.WRONG_PAYER


def test_the_subscribers_own_answer_is_beside_several_dependents():
    sister = ("HL*5*3*23*0", "TRN*2*T18*9CLEARLANE", "NM1*03*1*ARDEN*TESSA", "EB*1**30")
    own = (
        *HEAD,
        *RECEIVER,
        "HL*3*2*22*1",
        *PERSON[1:],
        "EB*1**30",
        *DEPENDENT,
        "EB*1**30",
        *sister,
    )
    file = read_271.read(answer_file(*own))
    assert [one.dependent is None for one in file.answers] == [True, False, False]
    assert b"MILO" not in file.answers[0].content
    assert repr(file.answers[0]) == "PatientAnswer(group 31)"
    assert "000000017" in repr(read_271.read(ta1("R", "006")).refusals)


def test_levels_that_the_payer_left_out_are_those_of_the_inquiry():
    one = answered("BHT*0022*11*T0000000017*20240501*1201")
    bare = build(one)
    assert (bare.source, bare.receiver, bare.subscriber, bare.dependent) == (None,) * 4
    made = build(one, child(), TRACE)
    assert (made.source.party.id, made.receiver.party.id) == ("TST01", "1234567893")
    assert (made.subscriber.party.id, made.dependent.party.first) == ("2001", "MILO")
    assert made.patient is made.dependent
    assert read_271.match_answer(one, child(), TRACE) is AnswerMatch.MATCHED


def test_a_benefit_outside_its_loop_is_among_the_benefits():
    rows = (PERSON[0], *PERSON[4:], *PERSON[1:4], "EB*1**30", "MSG*HELLO", "MPI*C*AU")
    made = build(answered(*HEAD, *RECEIVER, *rows)).subscriber
    assert [(one.benefit, one.messages) for one in made.benefits] == [("1", ("HELLO",))]
    assert [one[0] for one in made.other if one[0] == "MPI"] == ["MPI"]


def test_a_stored_answer_has_no_other_patient_and_the_refusals_of_its_level():
    first, _ = read_271.read(
        answer_file(
            HEAD[0], HEAD[1], "AAA*Y**42*R", HEAD[2], "AAA*N**79*C", *RECEIVER, *PERSON, *SECOND
        )
    ).answers
    made = build(first, inquiry())
    assert [one.reason for one in made.transaction_refusals] == ["42"]
    assert [one.reason for one in made.source.refusals] == ["79"]
    assert (made.source.receivers, made.receiver.subscribers) == ((), ())
