"""The documents of V3 that show what payers stated: remittance advices and claim statuses.

Also tests `api/v3/payer_responses`.
"""

import json
from datetime import date

import msgspec
import pytest

from clearlane.api.v3.documents import claim_status, compose_documents, remittance_advice
from clearlane.claims.forms import V3_FORMS
from clearlane.claims.responses.claim_parts import extract_claim
from clearlane.pipeline.query.retrieve_documents import FoundDocuments, PayerDocument
from tests.claims.answers import (
    claim,
    controls,
    outgoing,
    part_of,
    patient,
    payment,
    sealed,
    status,
    ta1,
)
from tests.claims.two_claims import BOTH, REMITTANCE, facts_in, remits

OUT = outgoing("C1")


FACT = next(facts_in(BOTH))


def document(part, fact, of=OUT.claim):
    return PayerDocument(
        document_id="D1", claim_number="C1", created_day=date(2026, 11, 1), part=part, fact=fact,
        claim=of, line_controls=controls(OUT),
    )  # fmt: skip


def advice_of(nth):
    claim_payment, unit = remits(REMITTANCE)[nth]
    return remittance_advice(document(extract_claim(unit), claim_payment))


def status_of(content, fact, of=OUT.claim):
    return claim_status(document(part_of(content, fact), fact, of), fact)


def test_a_remittance_advice_tells_the_claims_and_the_lines_amounts():
    found = advice_of(0)
    assert found["DocumentId"] == "D1"
    assert found["VendorClaimId"] == OUT.claim.Svc_VendorClaimId
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
    msgspec.json.encode(found)


def test_an_advice_of_a_denied_claim_explains_the_denial():
    found = advice_of(1)
    assert found["PayerAction"] == "Denied"
    assert found["Insured"] is None
    assert found["Lines"] == []
    [explanation] = found["Explanations"]
    assert explanation["Fields"][0]["Location"].endswith("F24A_DateOfServiceFrom")
    assert "Filed too late" in explanation["Message"]


def test_an_advice_needs_a_claim_payment():
    with pytest.raises(ValueError, match="no claim payment"):
        remittance_advice(document(BOTH, FACT))
    with pytest.raises(ValueError, match="no claim payment"):
        remittance_advice(document(payment(), FACT))


def test_a_claim_status_tells_categories_and_codes_in_words():
    fact = list(facts_in(BOTH))[1]
    found = status_of(BOTH, fact)
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
    msgspec.json.encode(found)


def test_a_refused_line_is_reported_with_its_number():
    line = ["SVC*HC:99213*100", "STC*A7:454**U", "REF*FJ*C1-1"]
    content = status(patient("C1", "A7:247*20261102*U*100", extra=line))
    [fact] = facts_in(content)
    found = status_of(content, fact)
    assert found["Lines"][0]["LineNumber"] == 1
    assert found["Lines"][0]["Statuses"][0]["Code"] == "454"
    assert (
        found["Explanations"][1]["Fields"][0]["Location"]
        == "F24_ClaimLines[0].F24D_HcpcsProcedureCode"
    )


@pytest.mark.parametrize("kind", V3_FORMS)
def test_a_refusal_by_ta1_is_a_claim_status_too(kind):
    one = claim(kind)
    [fact, _] = facts_in(ta1(21))
    found = status_of(ta1(21), fact, one)
    assert (found["Type"], found["State"], found["PayerAction"]) == ("TA1", "rejected", "")
    assert found["Patient"]["CommonName"].upper() == "ARDEN"
    assert found["Payee"]["Name"]
    assert found["StatusDate"] == "2026-11-02"
    assert found["Statuses"] == found["Lines"] == []
    assert "refused the whole file" in found["Explanations"][0]["Message"]


async def test_a_response_has_two_lists_in_the_order_of_the_documents():
    async def pages(*found):
        for page in found:
            yield page

    advices = [
        document(extract_claim(loop.unit), loop.claim_payment) for loop in remits(REMITTANCE)
    ]
    statuses = [document(part_of(BOTH, fact), fact) for fact in facts_in(BOTH)]
    # One page, and two pages of one document each.
    made = FoundDocuments(pages(advices), pages(*([one] for one in statuses)))
    found = json.loads(b"".join([piece async for piece in compose_documents(made)]))
    assert list(found) == ["RemittanceAdvices", "PayerClaimStatuses"]
    assert [one["PayerAction"] for one in found["RemittanceAdvices"]] == [
        "ProcessedAsPrimary",
        "Denied",
    ]
    assert [one["Statuses"][0]["Category"] for one in found["PayerClaimStatuses"]] == ["A2", "A7"]


async def test_a_response_without_documents_has_two_empty_lists():
    async def nothing():
        return
        yield

    made = FoundDocuments(nothing(), nothing())
    found = json.loads(b"".join([piece async for piece in compose_documents(made)]))
    assert found == {"RemittanceAdvices": [], "PayerClaimStatuses": []}


def test_a_dependents_status_names_the_dependent():
    rows = [
        "277*005010X212", "BHT*0010*08*77*20261105*0900*DG", "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*TST01",
        "HL*2*1*21*1", "NM1*41*2*CLEARLANE*****46*CLEARLANE", "HL*3*2*19*1",
        "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893", "HL*4*3*22*1", "NM1*IL*1*ARDEN*ROSA****MI*M123",
        "HL*5*4*23", "NM1*QC*1*QUILL*TESSA", "TRN*2*C2", "STC*P1:20*20261105**100",
    ]  # fmt: skip
    content = sealed("HN", "005010X212", rows)
    [fact] = facts_in(content)
    assert status_of(content, fact)["Patient"]["FirstName"] == "TESSA"
