import csv
import io

from clearlane.payments.as_csv import COLUMNS, csv_header, csv_rows, safe_text
from clearlane.payments.payment import Payment
from clearlane.payments.read_payment import read_payments
from tests.claims.answers import paid, payment


def test_a_row_a_line_and_no_formula():
    lines = ["SVC*HC:99213*60*50**1", "CAS*CO*45*10", "SVC*HC:85025*40*30**1", "CAS*CO*45*10"]
    first, second, record = read_payments(
        payment(
            paid("=CMD()", "1", "100", "80", *lines), paid("@X", "22", "-100", "-80"), amount="0"
        )
    )
    text = csv_header() + csv_rows(record.payment, first) + csv_rows(record.payment, second)
    header, *rows = csv.reader(io.StringIO(text))
    assert header == list(COLUMNS)
    assert len(rows) == 3
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [one["line_paid"] for one in found] == ["50.00", "30.00", ""]
    assert found[0]["account_number"] == "'=CMD()"
    assert found[2]["claim_paid"] == "-80.00"
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t"))]


def test_a_text_that_begins_with_a_sign_is_marked():
    for text in ("=1", "+1", "-1", "@a", "\t=1", " =1", "\r=1"):
        assert safe_text(text) == f"'{text}"
    assert safe_text("ARDEN-LOWE") == "ARDEN-LOWE"
    assert (
        csv_rows(Payment(payer_name="-x"), next(read_payments(payment(paid("C1"))))).count("'-x")
        == 1
    )
