"""A statement that matches no claim is recorded on none."""

from datetime import datetime

import pytest
from msgspec.structs import replace

from clearlane.claims.responses.facts import Fact, FactKind, UnmatchedFact
from clearlane.pipeline.filing.filing_leaves import AcknowledgementFile
from clearlane.pipeline.inbound.inbound_statements import PayerStatement, UnmatchedStatementError
from clearlane.proofs.statements import LEAF_BYTES
from clearlane.store.delivery.batches import BatchMember

AT = datetime(2024, 3, 6)
OWNER = BatchMember("C1", 1, 2, 1)
FACT = Fact(kind=FactKind.STATUS, at=AT)
FILE = AcknowledgementFile("answer", "00" * 32, 0)


def test_a_matched_statement_becomes_a_fact_of_its_claim():
    made = PayerStatement(FACT, OWNER, b"CLP").as_claim_fact(7, FILE)
    assert (made.claim_number, made.vendor_id, made.site_id) == ("C1", 1, 2)
    assert (made.fact, made.x12_part, made.inbox_id) == (FACT, b"CLP", 7)
    assert len(made.leaf) == LEAF_BYTES
    taken = replace(FACT, kind=FactKind.ACCEPTED_999)  # it is logged, and makes no document
    noted = PayerStatement(taken, OWNER, b"AK2").as_claim_fact(7, FILE)
    assert (noted.x12_part, len(noted.leaf)) == (None, LEAF_BYTES)
    assert not PayerStatement(FACT, OWNER).as_claim_fact(7, FILE).leaf


@pytest.mark.parametrize(
    "statement",
    [
        PayerStatement(FACT, "No claim has these numbers."),
        PayerStatement(UnmatchedFact(reason="", kind=FactKind.STATUS, at=AT), OWNER),
    ],
)
def test_an_unmatched_statement_is_refused(statement):
    with pytest.raises(UnmatchedStatementError):
        statement.as_claim_fact(7, FILE)
