"""A statement that matches no claim is recorded on none."""

from datetime import datetime

import pytest

from clearlane.claims.responses.facts import Fact, FactKind, UnmatchedFact
from clearlane.pipeline.inbound.inbound_statements import PayerStatement, UnmatchedStatementError
from clearlane.store.delivery.batches import BatchMember

AT = datetime(2024, 3, 6)
OWNER = BatchMember("C1", 1, 2, 1)
FACT = Fact(kind=FactKind.STATUS, at=AT)


def test_a_matched_statement_becomes_a_fact_of_its_claim():
    made = PayerStatement(FACT, OWNER, b"CLP").as_claim_fact(7)
    assert (made.claim_number, made.vendor_id, made.site_id) == ("C1", 1, 2)
    assert (made.fact, made.x12_part, made.inbox_id) == (FACT, b"CLP", 7)


@pytest.mark.parametrize(
    "statement",
    [
        PayerStatement(FACT, "No claim has these numbers."),
        PayerStatement(UnmatchedFact(reason="", kind=FactKind.STATUS, at=AT), OWNER),
    ],
)
def test_an_unmatched_statement_is_refused(statement):
    with pytest.raises(UnmatchedStatementError):
        statement.as_claim_fact(7)
