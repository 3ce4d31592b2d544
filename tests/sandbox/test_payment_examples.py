"""The payments that the sandbox's page promises, held against what the payer sends; figures of the page were computed by hand.

Sums are made here from the segments, without the engine that reads 835s.
"""

from datetime import timedelta
from decimal import Decimal

import pytest

from clearlane.x12.checker.check import check
from tests.sandbox.invented import NOW, Billed, Stage, rows, services, starting
from tools.docs.payment_examples import (
    PAYMENT_EXAMPLES,
    ExamplePayment,
    PaymentExample,
    payment_examples_page,
)

CODES = ("99213", "71046", "97110")


def claims_of(example: PaymentExample) -> list[Billed]:
    return [
        services(
            claim.insured_id,
            *zip(CODES, claim.charges, strict=False),
            account=f"A{at}",
        )
        for at, claim in enumerate(example.claims, 1)
    ]


def payment_of(content: bytes) -> dict[str, object]:
    """Return the figures of an 835 with one set, by its segments."""
    found = [row.split("*") for row in rows(content)]
    amount = next(Decimal(row[2]) for row in found if row[0] == "BPR")
    paid = sum(Decimal(row[4]) for row in found if row[0] == "CLP")
    adjustments = [
        (reason.partition(":")[0], -Decimal(value))
        for row in found
        if row[0] == "PLB"
        for reason, value in zip(row[3::2], row[4::2], strict=True)
    ]
    return {"amount": amount, "claims_paid": paid, "adjustments": adjustments}


def faults_of(payment: ExamplePayment) -> set[str]:
    """Return the rules that the payment breaks, as payers do."""
    faults = {"X835-CHECK"} if payment.difference != "0.00" else set()
    return faults | ({"X835-REVERSAL"} if payment.claims.endswith("taken back") else set())


async def played(example: PaymentExample) -> list[tuple[int, bytes]]:
    """Return the 835s with the day that each came on."""
    stage, found = Stage(), []
    await stage.send(*claims_of(example))
    for _ in range(40):
        left = await stage.days(1)
        day = (stage.now - NOW) // timedelta(days=1)
        found += [(day, content) for content in left.values() if b"GS*HP*" in content]
    return found


@pytest.mark.parametrize("example", PAYMENT_EXAMPLES, ids=lambda one: one.title)
async def test_the_figures_of_the_page_are_those_of_the_payer(example):
    found = await played(example)
    assert [day for day, _ in found] == [payment.day for payment in example.payments]
    for (_, content), promised in zip(found, example.payments, strict=True):
        figures = payment_of(content)
        assert figures["amount"] == Decimal(promised.amount)
        assert figures["claims_paid"] == Decimal(promised.claims_paid)
        assert figures["adjustments"] == [
            (code, Decimal(value)) for code, value in promised.adjustments
        ]
        explained = figures["claims_paid"] + sum(value for _, value in figures["adjustments"])
        assert figures["amount"] - explained == Decimal(promised.difference)
        assert {finding.rule for finding in check(content).findings} == faults_of(promised)


@pytest.mark.parametrize("example", PAYMENT_EXAMPLES, ids=lambda one: one.title)
def test_what_each_claim_is_paid_adds_up_as_it_is_written(example):
    for payment in example.payments:
        adjusted = sum(Decimal(value) for _, value in payment.adjustments)
        total = Decimal(payment.claims_paid) + adjusted + Decimal(payment.difference)
        assert total == Decimal(payment.amount)


async def test_a_payment_in_another_envelope_has_the_same_sets():
    (example,) = [one for one in PAYMENT_EXAMPLES if one.claims[0].insured_id == "3024"]
    (_, first), (_, second) = await played(example)
    assert first != second
    outside = ("ISA*", "IEA*")
    assert [row for row in rows(first) if not row.startswith(outside)] == [
        row for row in rows(second) if not row.startswith(outside)
    ]
    assert starting(rows(first), "TRN*") == starting(rows(second), "TRN*")


async def test_interest_stands_with_its_claim_and_in_the_plb():
    (_, content), *_ = await played(PAYMENT_EXAMPLES[0])
    # 1 % of 200.00; the WO and FB name the payer's number of their claims, the third and the fifth.
    assert starting(rows(content), "AMT*I", "PLB*") == [
        "AMT*I*2",
        "PLB*1234567893*20261231*WO:S00000100002*40*L6:S00000100003*-2*FB:S00000100004*30",
    ]


def test_the_page_shows_every_payment():
    table = [line for line in payment_examples_page() if line.startswith("| ")]
    assert len(table) == 1 + sum(len(one.payments) for one in PAYMENT_EXAMPLES)
