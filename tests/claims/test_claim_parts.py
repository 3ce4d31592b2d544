"""A claim's part of a payer's file is a complete interchange with nobody else's data."""

from clearlane.claims.responses import acks
from clearlane.claims.responses.claim_parts import AckParts, extract_claim
from clearlane.claims.write import sent_layout
from clearlane.x12.reader.reader import parse
from tests.claims.answers import (
    nine,
    outgoing,
    part_of,
    patient,
    payment,
    sealed,
    sent,
    status,
    ta1,
)
from tests.claims.two_claims import BOTH, FILE, FIRST, REMITTANCE, SECOND, facts_in, remits
from tests.x12.findings_of import all_findings


def segments(part, separators="*~"):
    element, end = separators
    return [row.split(element) for row in part.decode().split(end) if row.strip()]


def ids(part):
    return [row[0] for row in segments(part)]


def errors(part, *allowed):
    found = all_findings(parse(part))
    return [f for f in found if f.severity == "error" and f.rule not in allowed]


def test_the_part_of_an_835_is_a_complete_interchange_with_one_claim_only():
    one = remits(REMITTANCE)[0]
    part = extract_claim(one.unit)
    assert b"C2" not in part
    assert b"C9" not in part
    assert "PLB" not in ids(part)
    assert "TS3" not in ids(part)
    assert part.startswith(REMITTANCE[: REMITTANCE.index(b"ST*")])
    assert next(row for row in segments(part) if row[0] == "BPR")[2] == "60"
    assert [row for row in segments(part) if row[0] == "SE"] == [
        ["SE", str(len(ids(part)) - 4), "0001"]
    ]
    # Only the check as a whole cannot balance.
    assert not errors(part, "X835-CHECK")
    [again] = remits(part)
    assert again.claim_payment.identity == one.claim_payment.identity


def test_the_part_keeps_the_files_own_separators():
    odd = payment(FIRST, SECOND, separators="|>!\n")
    part = extract_claim(remits(odd)[1].unit)
    assert part.count(b"CLP|C2|4|") == 1
    assert b"CLP|C1" not in part
    assert part.endswith(b"IEA|1|000000500\n")


def test_the_part_of_a_277ca_has_the_claims_levels_and_no_sums():
    facts = list(facts_in(BOTH))
    part = part_of(BOTH, facts[1])
    assert b"ROSA" not in part
    assert b"TRN*2*C2~" in part
    assert not {"QTY", "AMT"} & set(ids(part))
    levels = [row[1:4] for row in segments(part) if row[0] == "HL"]
    assert levels == [["1", "", "20"], ["2", "1", "21"], ["3", "2", "19"], ["4", "3", "PT"]]
    assert b"STC*A1:19:PR*20261102*WQ~" in part
    assert not errors(part)


def test_of_several_claims_of_a_patient_only_one_is_in_the_part():
    two = [*patient("C1", "A2:20:PR*20261102*WQ*100"), "TRN*2*C2", "STC*A2:20:PR*20261102*WQ*50"]
    content = status(two)
    parts = [part_of(content, fact) for fact in facts_in(content)]
    assert [b"TRN*2*C1~" in part for part in parts] == [True, False]
    assert [b"TRN*2*C2~" in part for part in parts] == [False, True]


def test_a_dependents_status_keeps_the_subscriber_and_drops_other_dependents():
    rows = [
        "277*005010X212", "BHT*0010*08*77*20261105*0900*DG", "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*TST01",
        "HL*2*1*21*1", "NM1*41*2*CLEARLANE*****46*CLEARLANE", "HL*3*2*19*1",
        "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893", "HL*4*3*22*1", "NM1*IL*1*ARDEN*ROSA****MI*M123",
        "HL*5*4*23", "NM1*QC*1*ARDEN*MILO", "TRN*2*C1", "STC*P1:20*20261105**100",
        "HL*6*4*23", "NM1*QC*1*QUILL*TESSA", "TRN*2*C2", "STC*P1:20*20261105**100",
    ]  # fmt: skip
    content = sealed("HN", "005010X212", rows)
    first, second = facts_in(content)
    part = part_of(content, second)
    assert b"MILO" not in part
    assert [row[1:5] for row in segments(part) if row[0] == "HL"][-2:] == [
        ["4", "3", "22", "1"],
        ["5", "4", "23"],
    ]
    assert b"TESSA" not in part_of(content, first)


def test_the_part_of_a_rejected_level_is_that_level():
    content = status(receiver="A3:24:41*20261102*U*300")
    fact = next(iter(facts_in(content)))
    part = part_of(content, fact)
    assert b"STC*A3:24:41*20261102*U~" in part
    assert [row[1:5] for row in segments(part) if row[0] == "HL"][-1] == ["2", "1", "21", "0"]


def test_the_part_of_a_999_has_the_claims_own_errors_only():
    rows = FILE.decode().split("~")[2:]
    at = [n for n, row in enumerate(rows, 1) if row.startswith("CLM")]
    content = nine(
        21,
        ["AK2*837*0001*005010X222A1", f"IK3*CLM*{at[0]}*2300*8", "IK4*2*782*1", "CTX*CLM01:C1",
         f"IK3*CLM*{at[1]}*2300*8", "CTX*CLM01:C2", "IK5*R*5"],
        verdict="R",
    )  # fmt: skip
    first = next(fact for fact in facts_in(content) if fact.claim.claim_number == "C1")
    part = part_of(content, first)
    assert b"C2" not in part
    assert ids(part) == [
        "ISA",
        "GS",
        "ST",
        "AK1",
        "AK2",
        "IK3",
        "IK4",
        "CTX",
        "IK5",
        "AK9",
        "SE",
        "GE",
        "IEA",
    ]


def test_the_part_of_a_999_without_sets_is_its_verdict_on_the_group():
    content = nine(21, verdict="R")
    part = part_of(content, next(iter(facts_in(content))))
    assert ids(part) == ["ISA", "GS", "ST", "AK1", "AK9", "SE", "GE", "IEA"]


def test_the_part_of_a_ta1_is_the_ta1():
    content = BOTH + ta1(21, own=700)
    fact = next(one for one in facts_in(content) if one.source == "TA1")
    assert part_of(content, fact) == ta1(21, own=700)


MANY = sent(*(outgoing(f"C{number}") for number in range(1, 6)))


def test_claims_of_one_999_get_their_own_errors_and_share_the_part_of_a_whole_set():
    segments = MANY.decode().split("~")
    start = next(at for at, one in enumerate(segments) if one.startswith("ST*"))
    at = [n - start + 1 for n, one in enumerate(segments) if one.startswith("CLM*")]
    rows = [row for n in at[:3] for row in (f"IK3*CLM*{n}*2300*8", "CTX*CLM01:x", "IK4*2**7*X")]
    for errors, count in ((rows, 1), ([], 0)):
        content = nine(21, ["AK2*837*0001*005010X222A1", *errors, "IK5*R*5"], verdict="R")
        [message] = acks.read(content)
        layout = sent_layout.read_layout(MANY, positions=message.reference.positions)
        parts = AckParts(message)
        found = [
            parts.of(fact)
            for fact in acks.derive_facts(message, layout)
            if fact.complaints or not errors
        ]
        assert len(found) == (3 if errors else 5)
        for n, part in zip(at, found, strict=False):
            assert part.count(b"IK3*") == count
            assert f"IK3*CLM*{n}*".encode() in part or not errors
        assert len({id(part) for part in found}) == (3 if errors else 1)
