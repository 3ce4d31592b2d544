from datetime import date

import msgspec
import pytest

from clearlane.claims import acks
from clearlane.claims import sent_layout as sending
from clearlane.claims.documents import (
    DocumentHeader,
    claim_status,
    extract_claim,
    extract_part,
    remittance_advice,
    response_body,
)
from clearlane.claims.facts import FilePosition
from clearlane.claims.fields import ClaimKind
from clearlane.payments import read_835
from clearlane.x12.reader import parse
from tests.claims.answers import (
    claim,
    controls,
    nine,
    outgoing,
    paid,
    patient,
    payment,
    sealed,
    sent,
    status,
    ta1,
)

OUT = outgoing("C1")
FILE = sent(OUT, outgoing("C2"))
HEAD = DocumentHeader(
    document_id="D1", vendor_claim_id="V1", claim_number="C1", create_date=date(2026, 11, 1),
    controls=controls(OUT),
)  # fmt: skip
FIRST = paid(
    "C1", "1", "100", "80", "SVC*HC:99213:25*100*80**1", "DTM*472*20261001", "CAS*CO*45*15", "CAS*PR*3*5",
    "REF*6R*C1-1", "LQ*HE*N130", share="5",
)  # fmt: skip
SECOND = paid("C2", "4", "100", "0", "CAS*CO*29*100", payer_number="P2")
REMITTANCE = payment(FIRST, SECOND, amount="60", plb=["PLB*1234567893*20261231*WO:C9*20"])
BOTH = status(
    patient("C1", "A2:20:PR*20261102*WQ*100"),
    patient("C2", "A7:562:85*20261102*U*100", name="LUND*IVO"),
)


def segments(part, separators="*~"):
    element, end = separators
    return [row.split(element) for row in part.decode().split(end) if row.strip()]


def ids(part):
    return [row[0] for row in segments(part)]


def facts_in(content):
    for one in acks.read(content):
        layout = (
            sending.read_layout(FILE, positions=one.reference.positions) if one.reference else None
        )
        yield from acks.derive_facts(one, layout)


def errors(part, *allowed):
    found = parse(part).all_findings()
    return [f for f in found if f.severity == "error" and f.rule not in allowed]


def remits(content):
    return [one for one in read_835.read(content) if isinstance(one, read_835.ClaimPaymentLoop)]


# Parts.


def test_the_part_of_an_835_is_a_complete_interchange_with_one_claim_only():
    one = remits(REMITTANCE)[0]
    part = extract_part(REMITTANCE, one.claim_payment)
    assert part == extract_claim(one.unit)
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
    part = extract_part(odd, remits(odd)[1].claim_payment)
    assert part.count(b"CLP|C2|4|") == 1
    assert b"CLP|C1" not in part
    assert part.endswith(b"IEA|1|000000500\n")


def test_the_part_of_a_277ca_has_the_claims_levels_and_no_sums():
    facts = list(facts_in(BOTH))
    part = extract_part(BOTH, facts[1])
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
    parts = [extract_part(content, fact) for fact in facts_in(content)]
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
    part = extract_part(content, second)
    assert b"MILO" not in part
    assert [row[1:5] for row in segments(part) if row[0] == "HL"][-2:] == [
        ["4", "3", "22", "1"],
        ["5", "4", "23"],
    ]
    assert claim_status(part, HEAD, second, claim())["Patient"]["FirstName"] == "TESSA"
    assert b"TESSA" not in extract_part(content, first)


def test_the_part_of_a_rejected_level_is_that_level():
    content = status(receiver="A3:24:41*20261102*U*300")
    fact = next(iter(facts_in(content)))
    part = extract_part(content, fact)
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
    part = extract_part(content, first)
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
    part = extract_part(content, next(iter(facts_in(content))))
    assert ids(part) == ["ISA", "GS", "ST", "AK1", "AK9", "SE", "GE", "IEA"]


def test_the_part_of_a_ta1_is_the_ta1():
    content = BOTH + ta1(21, own=700)
    fact = next(one for one in facts_in(content) if one.source == "TA1")
    assert extract_part(content, fact) == ta1(21, own=700)


@pytest.mark.parametrize(
    "where",
    [
        FilePosition(),
        FilePosition(group=1, set=9, position=1),
        FilePosition(group=1, set=1, position=900),
    ],
)
def test_what_is_not_there_cannot_be_cut_out(where):
    with pytest.raises(LookupError):
        extract_part(BOTH, where)


# Documents.


def test_a_remittance_advice_tells_the_claims_and_the_lines_amounts():
    found = remittance_advice(
        extract_part(REMITTANCE, remits(REMITTANCE)[0].claim_payment), HEAD, OUT.claim
    )
    assert found["DocumentId"] == "D1"
    assert found["VendorClaimId"] == "V1"
    assert found["ClearinghouseControlNumber"] == "C1"
    assert found["CreateDate"] == "2026-11-01"
    assert found["Payer"]["Name"] == "MEADOW MUTUAL"
    assert found["Payer"]["CmsPlanId"] == "TST01"
    assert found["Payer"]["PhysicalAddress"]["City"] == "AUSTIN"
    assert found["Payee"] == {
        "Name": "FERNHILL FAMILY PRACTICE",
        "NationalProviderId": "1234567893",
    }
    assert found["Patient"]["CommonName"] == "ARDEN"
    assert found["Patient"]["FirstName"] == "ROSA"
    assert found["Patient"]["MemberId"] == "M123"
    assert found["PayerAction"] == "ProcessedAsPrimary"
    assert (found["PaymentMethod"], found["PaymentReferenceNumber"]) == ("Ach", "EFT1")
    assert found["PaymentEffectiveDate"] == "2026-11-14"
    amounts = [
        found[name]
        for name in ("TotalClaimAmount", "PayerAmount", "PatientAmount", "AdjustmentAmount")
    ]
    assert amounts == [100, 80, 5, 15]
    [line] = found["Lines"]
    assert (line["LineNumber"], line["ProcedureCode"], line["Modifiers"]) == (1, "99213", ["25"])
    assert line["ServiceDateFrom"] == line["ServiceDateTo"] == "2026-10-01"
    assert [(a["Group"], a["Reason"], a["Amount"]) for a in line["Adjustments"]] == [
        ("CO", "45", 15),
        ("PR", "3", 5),
    ]
    assert line["RemarkCodes"][0]["Code"] == "N130"
    assert [e["Code"] for e in found["Explanations"]] == ["CO-45", "PR-3"]
    assert found["X12Document"].startswith("ISA*")
    msgspec.json.encode(response_body([found]))


def test_an_advice_of_a_denied_claim_explains_the_denial():
    found = remittance_advice(
        extract_part(REMITTANCE, remits(REMITTANCE)[1].claim_payment), HEAD, OUT.claim
    )
    assert found["PayerAction"] == "Denied"
    assert found["Insured"] is None
    assert found["Lines"] == []
    [explanation] = found["Explanations"]
    assert explanation["Fields"][0]["Location"].endswith("F24A_DateOfServiceFrom")
    assert "Filed too late" in explanation["Message"]


def test_an_advice_needs_a_claim_payment():
    with pytest.raises(ValueError, match="no claim payment"):
        remittance_advice(BOTH, HEAD, OUT.claim)
    with pytest.raises(ValueError, match="no claim payment"):
        remittance_advice(payment(), HEAD, OUT.claim)


def test_a_claim_status_tells_categories_and_codes_in_words():
    fact = list(facts_in(BOTH))[1]
    found = claim_status(extract_part(BOTH, fact), HEAD, fact, OUT.claim)
    assert found["Type"] == "277CA"
    assert found["State"] == "rejected"
    assert found["PayerAction"] == "AcknowledgementRejectedForInvalidInformation"
    assert found["Patient"]["CommonName"] == "LUND"
    assert found["Payer"] == {"Name": "MEADOW MUTUAL", "PayerId": "TST01"}
    assert found["TotalClaimAmount"] == 100
    [code] = found["Statuses"]
    assert (code["Category"], code["Code"], code["Entity"]) == ("A7", "562", "85")
    assert code["Description"]
    [explanation] = found["Explanations"]
    assert explanation["Fields"][0]["Location"] == "F33A_BillingProviderNpi"
    assert explanation["Fields"][0]["Box"] == "33a"
    msgspec.json.encode(response_body(statuses=[found]))


def test_a_refused_line_is_reported_with_its_number():
    line = ["SVC*HC:99213*100", "STC*A7:454**U", "REF*FJ*C1-1"]
    content = status(patient("C1", "A7:247*20261102*U*100", extra=line))
    [fact] = facts_in(content)
    found = claim_status(extract_part(content, fact), HEAD, fact, OUT.claim)
    assert found["Lines"][0]["LineNumber"] == 1
    assert found["Lines"][0]["Statuses"][0]["Code"] == "454"
    assert (
        found["Explanations"][1]["Fields"][0]["Location"]
        == "F24_ClaimLines[0].F24D_HcpcsProcedureCode"
    )


@pytest.mark.parametrize("kind", ClaimKind)
def test_a_refusal_by_ta1_is_a_claim_status_too(kind):
    one = claim(kind)
    [fact, _] = facts_in(ta1(21))
    found = claim_status(extract_part(ta1(21), fact), HEAD, fact, one)
    assert (found["Type"], found["State"], found["PayerAction"]) == ("TA1", "rejected", "")
    assert found["Patient"]["CommonName"].upper() == "ARDEN"
    assert found["Payee"]["Name"]
    assert found["StatusDate"] == "2026-11-02"
    assert found["Statuses"] == found["Lines"] == []
    assert "refused the whole file" in found["Explanations"][0]["Message"]


def test_an_answer_has_two_lists():
    assert response_body() == {"RemittanceAdvices": [], "PayerClaimStatuses": []}
