"""A claim that would be sent otherwise than it came is named by place, and what an intermediary changes is not."""

from clearlane.claims.forms.x12_loops import claim_of_unit
from clearlane.claims.write.passing_differences import passing_differences
from clearlane.x12.reader.reader import UnitClosed, read
from tests.pipeline.test_process_file import a_claim, a_file, a_set

CAME = a_file(a_set(a_claim(1)))


def claim_of(content):
    (unit,) = [event for event in read(content, check=False) if isinstance(event, UnitClosed)]
    return claim_of_unit(unit)


def differences(*changes):
    sent = CAME
    for before, after in changes:
        assert before in sent
        sent = sent.replace(before, after)
    return [*passing_differences(claim_of(CAME), sent)]


def test_what_an_intermediary_changes_is_no_difference():
    assert differences() == []
    assert differences(
        (b"REF*D9*SENDER1~", b"REF*D9*C193QYBNVAAW07E9HJR~"),
        (b"HL*2*1*22*0~", b"HL*9*8*22*0~"),
        (b"*PI*MM001~", b"*PI*OTHER~"),
        (b"ELM STREET", b"Elm Street"),
    ) == []  # fmt: skip


def test_any_other_change_is_named_by_its_place():
    assert differences((b"HI*ABK:J0190~", b"HI*ABK:J0191~")) == ["2300/HI (segment 23): element 1"]
    assert differences((b"REF*6R*A-1-1~", b"")) == [
        "2300/REF (segment 29): it is not sent as it came"
    ]
    assert differences((b"LX*1~", b"NTE*ADD*MORE~LX*1~")) == [
        "2300/NTE: it is sent, and did not come"
    ]
    assert differences((b"97201", b"97299"), (b"*Q***MI", b"****MI")) == [
        "2000A/N4 (segment 12): element 3",
        "2000B/NM1 (segment 16): element 5",
    ]
    assert [*passing_differences(claim_of(CAME), b"")] == ["It holds 0 claims"]
