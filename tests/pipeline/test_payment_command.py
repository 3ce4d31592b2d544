"""`clearlane payment`, as an operator types it.

Also tests `cli/payment/payment`, `cli/command/filter_options`, `cli/command/list_options` and `cli/command/chosen_site`.
"""

import csv
import io

import pytest

from tests.cases import every_case
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import accounts

pytestmark = pytest.mark.one_database


@pytest.fixture
def clearlane(clearlane):
    """Run `clearlane payment`."""

    def run(line, code=0):
        return clearlane(f"payment {line}", code)

    return run


@pytest.fixture
def posted(within):
    """A check over a claim of ours and one that nobody knows; the claim's number, and the file."""

    async def work(flow):
        [id], content = await flow.sent()
        known = paid(
            accounts(content)[0], "1", "100", "80", "SVC*HC:99213*100*80**1", "CAS*CO*45*20"
        )
        plb = ["PLB*1234567893*20261231*WO:9*30*L6*-2.10"]
        remit = payment(
            known, paid("=SMUDGED", "1", "100", "0", "CAS*PR*1*100"), amount="52.10", plb=plb
        )
        await flow.arrive(remit)
        return id, remit

    return within(work)


def test_payments_are_listed_shown_and_exported_as_scripts_expect(clearlane, posted):
    id, remit = posted
    [one] = clearlane("list --json")
    expected = {
        "payer_id": "MM001", "payer_name": "MEADOW MUTUAL", "trace_number": "EFT1", "amount": "52.10",
        "effective_date": "2026-11-14", "claims": 2, "unmatched": 1, "balanced": True, "state": "needs_review",
    }  # fmt: skip
    assert {name: one[name] for name in expected} == expected
    key = one["payment_id"]
    shown = clearlane(f"show {key} --json")
    assert shown.items() >= one.items()
    first, second = shown["claim_payments"]
    assert (first["type"], first["label"], first["claim_number"]) == ("original", "paid", id)
    assert (first["charge"], first["paid"], first["patient"]) == ("100.00", "80.00", "0.00")
    assert first["vendor_claim_id"]
    [line] = first["lines"]
    assert (line["procedure"], line["paid"]) == ("99213", "80.00")
    assert (second["label"], second["claim_number"], second["patient"]) == (
        "patient_owes",
        "",
        "100.00",
    )
    rows = [(row["reason"], row["amount"], row["text"]) for row in shown["provider_adjustments"]]
    assert rows == [("WO", "-30.00", "Overpayment recovery"), ("L6", "2.10", "Interest owed")]
    assert clearlane(f"export {key} --x12").encode() == remit
    assert clearlane(f"export {key} --json") == shown
    _header, *table = csv.reader(io.StringIO(clearlane(f"export {key} --csv")))
    assert len(table) == 4  # a line, a claim without lines, two provider adjustments
    assert "'=SMUDGED" in table[1]
    text = clearlane(f"show {key}")
    assert "52.10" in text
    assert "Overpayment recovery" in text
    assert one["label"] == "to_match"
    listed = clearlane("list")
    assert "EFT1" in listed
    assert "to_match" in listed
    assert "--limit" not in clearlane("list --limit 1")
    heading, row = csv.reader(io.StringIO(clearlane("list --csv")))
    # What JSON has as an object is a column for each of its facts: no cell has braces.
    parts = [f"deposit_{name}" for name in one["deposit"]]
    assert heading == [*(name for name in one if name != "deposit"), *parts]
    cells = dict(zip(heading, row, strict=True))
    assert (cells["label"], cells["deposit_state"], cells["deposit_day"]) == (
        "to_match",
        "open",
        "",
    )
    assert (cells["adjustments_total"], "{" in "".join(row)) == (one["adjustments_total"], False)
    assert "DEPOSITED" in listed
    assert list(csv.reader(io.StringIO(clearlane("list --csv --payer X")))) == [heading]


def test_filters_are_those_of_a_bank_statement(clearlane, posted):
    for line, count in (
        ("--trace eft1", 1), ("--trace EFT2", 0), ("--amount $52.10", 1), ("--amount 1,052.10", 0),
        ("--from 2026-11-14 --to 2026-11-14", 1), ("--from 2026-11-15", 0), ("--unbalanced", 0),
        ("--unmatched", 1), ("--not-fetched", 1), ("--payer MM001", 1), ("--payer X --limit 1", 0),
    ):  # fmt: skip
        assert len(clearlane(f"list --json {line}")) == count, line


def test_an_assignment_is_made_and_undone(clearlane, posted):
    id, _ = posted
    [one] = clearlane("list --json")
    key = one["payment_id"]
    assert "is assigned to" in clearlane(f"assign {key} {key}-2 {id}")
    [one] = clearlane("list --json")
    assert (one["state"], one["unmatched"]) == ("posted", 0)
    assert "no longer assigned" in clearlane(f"assign {key} 2 --undo")
    assert clearlane(f"show {key} --json")["unmatched"] == 1
    assert "perhaps" not in clearlane(f"show {key} --candidates")


def test_a_payment_is_deposited_and_settled_and_both_are_undone(clearlane, posted):
    [one] = clearlane("list --json --to-deposit")
    key = one["payment_id"]
    less = float(one["amount"]) - 1
    said = clearlane(f"deposit {key} --amount {less:.2f} --reference slip-7")
    assert "is deposited, " in said
    assert "less than the payer stated." in " ".join(said.split())
    [one] = clearlane("list --json --deposit differs")
    assert (one["deposit"]["difference"] is not None, clearlane("list --json --to-deposit")) == (
        True,
        [],
    )
    assert "is settled" in clearlane(f"settle {key} --because recouped")
    assert clearlane(f"show {key} --json")["deposit"]["state"] == "settled"
    assert "is not settled" in clearlane(f"settle {key} --undo")
    assert "is not deposited" in clearlane(f"deposit {key} --undo")
    assert clearlane(f"show {key} --json")["deposit"] == {
        "state": "open", "day": None, "amount": None, "difference": None,
    }  # fmt: skip


@every_case(
    ("line", "code", "sentence"),
    [
        ("deposit P0", 1, "There is no payment P0 with claims"),
        ("deposit P0 --day soon --amount ten", 2, "--amount: An amount"),
        ("deposit P0 --day 2999-01-01", 2, "The day is in the future."),
        ("deposit P0 --site NOWHERE", 2, "There is no site NOWHERE"),
        ("settle P0", 2, "Give --because"),
        ("settle P0 --because x --undo", 2, "Give --because"),
        ("show P0", 1, "There is no payment P0."),
        ("export P0", 1, "There is no payment P0."),
        ("export P0 --csv --x12", 2, "Give one of"),
        ("list --amount ten", 2, "--amount"),
        ("list --from yesterday", 2, "--from"),
        ("assign P0 one C1", 2, "CLAIM_PAYMENT"),
        ("assign P0 1", 2, "Give the claim's number"),
        ("assign P0 1 C1 --undo", 2, "Give the claim's number"),
        ("assign P0 1 C1", 1, "has no unmatched claim 1"),
        ("assign P0 1 --undo", 1, "nothing to undo"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_sentence(clearlane, posted, line, code, sentence):
    assert sentence in clearlane(line, code)
