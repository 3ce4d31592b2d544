"""Acknowledgements of a file: TA1 and 999, both clean by our own check and by an independent library."""

import logging
from datetime import UTC, datetime

import pytest

from clearlane.x12.checker import check
from clearlane.x12.checker.ack import Acknowledgement, acknowledge, answer_envelope
from clearlane.x12.reader.reader import parse
from tests.cases import every_case, fewer_in_quick
from tests.corpus import Sample, corpus_files
from tests.x12.injected_faults import Fault, P, inject
from tests.x12.pyx12_witness import is_accepted
from tests.x12.toy import (
    BODY,
    CLAIM,
    ISA,
    SUBSCRIBER,
    VERSION,
    choose,
    file,
    replaced,
    set_of,
    wrap,
)

NOW = datetime(2024, 5, 2, 8, 30, tzinfo=UTC)


def reply(data: bytes) -> Acknowledgement:
    (one,) = acknowledge(data, control=500, moment=NOW, choose_guide=choose)
    return one


def rows(data: bytes) -> list[str]:
    return ["*".join(s) for set in parse(data).sets() for s in set.all_segments()]


def nine(data: bytes) -> list[str]:
    return rows(reply(data).ack_999)[1:-1]


def test_a_clean_file_is_accepted():
    answer = reply(file())
    assert (answer.interchange, answer.accepted) == (1, "A")
    assert b"~TA1*000000001*240501*1200*A*000~IEA*0*000000500~" in answer.ta1
    assert answer.ta1[35:50] == b"RECEIVER       "
    assert nine(file()) == [
        f"AK1*HC*1*{VERSION}", f"AK2*837*0001*{VERSION}", "IK5*A", "AK9*A*1*1*1",
    ]  # fmt: skip


def test_parties_and_applications_of_one_character_are_not_answered_by_it():
    isa = ["ISA", *["  "] * 4, "ZZ", "X", "ZZ", "Y", *[""] * 6, "P"]
    short = answer_envelope(isa, 1, NOW, gs=["GS", "HC", "A", "B"])
    assert (short.sender, short.receiver) == ("UNKNOWN", "UNKNOWN")
    assert (short.application_sender, short.application_receiver) == ("", "")
    isa[6], isa[8], isa[15] = "XX", "YY", "Q"
    whole = answer_envelope(isa, 1, NOW, gs=["GS", "HC", "AA", "BB"])
    assert (whole.sender, whole.receiver, whole.usage) == ("YY", "XX", "P")
    assert (whole.application_sender, whole.application_receiver) == ("BB", "AA")


def test_a_faulty_set_is_rejected_with_its_places():
    body = replaced("REF*G1*AUTH", "REF*G1*" + "X" * 51, "QQQ*1", "REF*G1*B")
    body = replaced("SV1*HC:99213*100*UN*1***1:2", "SV1*HC*100*UN*1***1:2", body=body)
    at = body.index("QQQ*1") + 2
    assert nine(file(body)) == [
        f"AK1*HC*1*{VERSION}",
        f"AK2*837*0001*{VERSION}",
        f"IK3*REF*{at - 1}*2300*8",
        "CTX*CLM01:A1",
        "IK4*2**5",
        f"IK3*QQQ*{at}*2300*6",
        "CTX*CLM01:A1",
        f"IK3*REF*{at + 1}*2300*5",
        "CTX*CLM01:A1",
        f"IK3*SV1*{body.index('SV1*HC*100*UN*1***1:2') + 2}*2400*8",
        "CTX*CLM01:A1",
        "IK4*1:2**1",
        "IK5*R*5",
        "AK9*R*1*1*0",
    ]


def test_long_loop_names_are_shortened_and_the_root_is_not_named():
    found = nine(file(replaced("N4*PORTLAND*OR*972011234")))
    assert f"IK3*N4*{BODY.index('N4*PORTLAND*OR*972011234') + 2}*2010*3" in found
    found = nine(file(replaced(BODY[0])))
    assert "IK3*BHT*2**3" in found


def test_faults_of_the_guide_alone_have_their_code():
    body = [row.replace("100.5", "900.5").replace("*100*UN", "*900*UN") for row in BODY]
    body = [row.replace("900", "9000") for row in body]
    found = nine(file(body))
    assert "IK5*R*I5" in found
    assert any(row.endswith("*I6") for row in found)


def test_warnings_that_a_999_can_report_are_accepted_with_errors():
    data = wrap(set_of(BODY), version="009990X001")
    found = nine(data)
    assert "IK5*E*I6" in found
    assert found[-1] == "AK9*E*1*1*1"
    # A warning without a code is not reported.
    assert "IK5*A" in nine(file(replaced(BODY[4], BODY[4].replace("1234567893", "1234567890"))))


def test_a_group_may_be_accepted_in_part():
    bad = set_of([*BODY, "QQQ*1"], control="0002")
    found = nine(wrap([*set_of(BODY), *bad], sets=2))
    assert found[-1] == "AK9*P*2*2*1"
    assert found.count("IK5*A") == 1


def test_faults_of_the_set_itself_are_reported_at_its_end():
    found = nine(file().replace(b"SE*29*", b"SE*99*"))
    assert found[2] == "IK5*R*4"
    found = nine(wrap(set_of(BODY, version="XX"), version="XX"))
    assert found[2] == "IK5*R*I6"


def test_faults_of_the_group_reject_it():
    found = nine(file().replace(b"GE*1*1", b"GE*2*1"))
    assert found[-1] == "AK9*R*2*1*0*5"
    assert found[-2] == "IK5*R*18"
    found = nine(file([*BODY, "QQQ*1"]).replace(b"GE*1*1", b"GE*2*1"))
    assert found[-2:] == ["IK5*R*5", "AK9*R*2*1*0*5"]


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (b"GE*1*1", b"GE*X*1", "AK9*R*1*1*0*5"),
        (b"GE*1*1~", b"", "AK9*R*1*1*0*3"),
        (b"GE*1*1", b"GE*1*2", "AK9*R*1*1*0*4"),
        (b"GE*1*1", b"GE*1*1*1", "AK9*R*1*1*0"),
        (b"GS*HC*SENDER", b"GS*HC*S", "AK9*R*1*1*0"),
        (b"GS*HC*SENDER", b"GS*HP*SENDER", "AK9*R*1*1*0*1"),
        (b"*1200*1*X*", b"*1200*1A*X*", "AK9*R*1*1*0*6*4"),
    ],
)
def test_a_refused_group_gives_its_own_reason(old, new, verdict):
    data = file()
    assert old in data
    answer = reply(data.replace(old, new, 1))
    assert rows(answer.ack_999)[-2] == verdict
    # The number of the group is repeated as it came.
    assert {f.position.segment_id for f in check.check(answer.ack_999).findings} <= {"AK1"}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"IEA*1*000000001", b"IEA*1*000000002", "001"),
        (b"*0*T*:", b"*0*I*:", "020"),
        (b"240501*1200*^", b"991350*2599*^", "014"),
        (b"*000000001*0*T", b"*00000000A*0*T", "018"),
        (b"IEA*1*000000001~", b"", "022"),
        (b"*ZZ*SENDER         ", b"*Z *               ", "005"),
    ],
)
def test_a_rejected_interchange_gets_no_999(old, new, code):
    answer = reply(file().replace(old, new, 1))
    assert answer.accepted == "R"
    assert answer.ack_999 == b""
    assert f"*R*{code}~".encode() in answer.ta1
    assert not check.check(answer.ta1).findings


def test_an_old_standards_identifier_in_isa11_is_named_as_that():
    old = file().replace(b"*^*00501*", b"*U*00501*")
    assert b"*R*016~" in reply(old).ta1


def test_a_small_fault_of_the_interchange_is_noted():
    answer = reply(file().replace(b"~GS", b"~~GS"))
    assert answer.accepted == "A"
    answer = reply(file().replace(b"HC*SENDER", b"HC*sender"))
    assert answer.accepted == "A"


def test_a_999_goes_from_the_groups_receiver_to_its_sender():
    own = file().replace(b"GS*HC*SENDER*RECEIVER*", b"GS*HC*00000006*00000001*")
    assert b"GS*FA*00000001*00000006*" in reply(own).ack_999
    start, end = own.index(b"GS*"), own.index(b"IEA*")
    other = own[start:end].replace(b"00000006", b"00000007")
    both = own[:end] + other + own[end:].replace(b"IEA*1", b"IEA*2")
    # Groups of two senders have the interchange's in common.
    assert b"GS*FA*RECEIVER*SENDER*" in reply(both).ack_999


def test_an_acknowledgement_is_not_acknowledged():
    assert reply(reply(file()).ack_999).ack_999 == b""
    assert reply(ISA.encode() + b"~IEA*0*000000001~").ack_999 == b""


def test_each_interchange_has_its_own_answer_and_numbers():
    second = file().replace(b"000000001", b"000000002")
    found = list(acknowledge(file() + second, control=7, moment=NOW, choose_guide=choose))
    assert [a.interchange for a in found] == [1, 2]
    assert b"*000000008*0*" in found[0].ack_999
    assert b"*000000010*0*" in found[1].ack_999


REPORTED = (
    Fault("first name of a person", "NM1*82", "NM1*82*1*FENN*****XX*1679576722", "X837-NAME", P),
    Fault("member number", "NM1*IL*1*ARDEN", "NM1*IL*1*ARDEN*ROSA", "X837-MEMBER", P),
    Fault("state", "N4*SALEM", "N4*SALEM**97301", "X837-ADDRESS", P),
    Fault("attachment number", "PWK", "PWK*OZ*EL", "X837-ATTACHMENT", P),
    Fault("state of the accident", "CLM*B200", "CLM*B200*200***11:B:1*Y*A*Y*Y**AA", "X837-ACCIDENT-STATE", P),
    Fault("total", "CLM*A100", "CLM*A100*251***11:B:1*Y*A*Y*Y", "X837-TOTAL", P),
    Fault("code of another guide", "SBR*P*18", "SBR*P*18*GRP100******HN", "ELM-CODE", P),
    Fault("code of another place", "PAT*19", "PAT*18", "ELM-CODE", P),
    Fault("code of nobody", "SBR*P*18", "SBR*P*18*GRP100******XX", "ELM-CODE", P),
    Fault("component of another guide", "CLM*A100", "CLM*A100*250***11:A:1*Y*A*Y*Y", "ELM-CODE", P),
    Fault("empty element at the end", "REF*EI", "REF*EI*123456789*", "SEG-TRAILING", P),
)  # fmt: skip
CODES = ("I9", "I9", "I9", "I9", "I9", "I12", "7", "I6", "7", "I6", "6")


@pytest.mark.parametrize(
    ("fault", "code"), list(zip(REPORTED, CODES, strict=True)), ids=[f.name for f in REPORTED]
)
def test_elements_are_reported_by_the_code_of_their_fault(fault, code):
    data, position = inject("837P", fault)
    (answer,) = acknowledge(data, control=1, moment=NOW)
    found = rows(answer.ack_999)
    assert [row.split("*")[3] for row in found if row.startswith("IK4")] == [code]
    (ik3,) = [row.split("*") for row in found if row.startswith("IK3")]
    assert (ik3[2], ik3[4]) == (str(position), "8")
    # An error of the guide alone is I5, one of the standard 5.
    (ik5,) = [row for row in found if row.startswith("IK5")]
    assert ik5.split("*")[2] == ("I5" if code.startswith("I") else "5")


def test_keys_that_cannot_be_reported_are_left_out():
    odd = replaced(CLAIM[0], CLAIM[0].replace("A1", "a1").replace("100.5", "1"))
    assert not [row for row in nine(file(odd)) if row.startswith("CTX")]
    fine = [*BODY, "HL*3*1*22*0", *SUBSCRIBER[1:], *CLAIM, "QQQ*1"]
    assert nine(file(fine)).count("CTX*CLM01:A1") == 1


def test_units_of_other_kinds_have_no_key_or_their_own():
    remit = wrap(["ST*835*0001", "CLP*A1", "LX*1", "CLP*A1", "SE*5*0001"], version="005010X221A1")
    remit = remit.replace(b"GS*HC", b"GS*HP")
    assert reply(remit).ack_999


def _witness(data: bytes) -> bool:
    logging.getLogger("pyx12").setLevel(logging.CRITICAL)
    return is_accepted(data)


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_answers_to_every_public_sample_are_clean(sample: Sample):
    for answer in acknowledge(sample.path.read_bytes(), control=1, moment=NOW):
        for data in filter(None, (answer.ta1, answer.ack_999)):
            assert not check.check(data).findings


def test_a_witness_accepts_our_999():
    body = replaced("REF*G1*AUTH", "REF*G1*", "QQQ*1")
    rows = [*set_of(body), *set_of(BODY, control="0002")]
    data = wrap(rows, sets=2, version=VERSION)
    assert _witness(reply(data).ack_999)


def test_characters_that_no_answer_can_carry_are_not_echoed():
    content = (
        b"ISA*00*          *00*          *ZZ*CLEARLANE      *ZZ*PAYER          *240305*1200*^*00501*"
        b"000000001*0*T*:~GS*HC*CLEARLANE*PAYER*20240305*1200*1*X*005010X222A1~ST*837*0001*"
        b"005010X222A1~\xe9\xff\xe8*1~SE*3*\xfc001~GE*1*\xe91~IEA*1*000000001~"
    )
    (reply,) = acknowledge(content, control=1, moment=NOW)
    assert reply.ta1.isascii()
    assert b"999" in reply.ack_999
    assert reply.ack_999.isascii()
