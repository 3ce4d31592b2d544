"""What a person copies from a bank statement."""

import pytest

from clearlane.payments.bank_search import TRACES_SEARCHED_MAX, BankSearch, read_bank_text


@pytest.mark.parametrize(
    ("text", "amounts", "traces"),
    [
        ("", (), ()),
        ("   ", (), ()),
        ("699.10", (69910,), ()),
        ("$1,234.50", (123450,), ()),
        ("$700", (70000,), ()),
        ("-$20.00", (-2000,), ()),
        ("(553.00)", (-55300,), ()),
        # A number alone may be a check or whole dollars.
        ("9981", (998100,), ("9981",)),
        ("TRN*1*9981*1512345678~", (), ("9981",)),
        ("HCCLAIMPMT TRN*1*0042A*1512345678\\", (), ("0042A",)),
        ("trn 1 20031 1512345678", (), ("20031",)),
        ("EFT 20031", (), ("EFT 20031", "EFT20031", "20031")),
        ("CHECK #0009981", (), ("CHECK #0009981", "CHECK#0009981", "0009981")),
        ("1.2.3", (), ("1.2.3",)),
        # More digits than any amount has, taken back by the bank.
        (f"(-{'9' * 30}", (), (f"(-{'9' * 30}",)),
    ],
)
def test_a_bank_statement_is_read(text, amounts, traces):
    assert read_bank_text(text) == BankSearch(amounts, traces)


def test_what_is_searched_is_bounded_and_never_printed():
    found = read_bank_text(" ".join(str(number) for number in range(100, 200)))
    assert len(found.traces) == TRACES_SEARCHED_MAX
    assert repr(found) == f"BankSearch(0 amounts, {TRACES_SEARCHED_MAX} traces)"
