"""Value formats: one table of cases each."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.kernel import formats

CASES = [
    (
        formats.is_npi,
        ["1234567893", "1679576722", "2000000002"],
        ["1234567890", "123456789", "3234567893", "12345678932", "123456789X", ""],
    ),
    (
        formats.is_bank_number,
        ["123456780", "987654320", "011000015"],
        ["123456789", "12345678", "1234567800", "12345678X", "111", ""],
    ),
    (
        formats.is_taxonomy,
        ["207Q00000X", "1223G0001X"],
        ["207q00000X", "207Q00000", "207Q00000XX", ""],
    ),
    (
        formats.is_phone,
        ["5552234567", "2015550123"],
        ["555-123-4567", "1551234567", "555123456", "0551234567", "5551234567", ""],
    ),
    (formats.is_zip, ["12345", "123456789"], ["12345-6789", "1234", "ABCDE", ""]),
    (
        formats.is_po_box,
        ["PO BOX 12", "P.O. Box 5", "POST OFFICE BOX 9", "p o box 7", "Box 12", "POB 44"],
        ["12 BOXWOOD LANE", "4 POBOLSKI STREET", "77 POSTAL ROAD", "", "9 OFFICE BOXER WAY"],
    ),
]


@pytest.mark.parametrize(
    ("check", "good", "bad"), CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_formats_accept_good_and_refuse_bad_texts(check, good, bad):
    assert [text for text in good if not check(text)] == []
    assert [text for text in bad if check(text)] == []


@given(st.from_regex(r"[12]\d{8}", fullmatch=True))
def test_exactly_one_check_digit_makes_an_npi(stem):
    stem = stem if stem.isascii() else "123456789"
    assert sum(formats.is_npi(f"{stem}{digit}") for digit in range(10)) == 1


@given(st.dates(min_value=date(1000, 1, 1)))
def test_dates_both_ways(day):
    assert formats.parse_iso_date(day.isoformat()) == day
    assert formats.parse_x12_date(f"{day:%Y%m%d}") == day


@pytest.mark.parametrize(
    "text",
    ["2024-02-30", "2024-2-3", "24-02-03", "20240203", "", "2024-02-03T00:00:00", "٢٠٢٤-02-03"],
)
def test_what_is_no_iso_date(text):
    assert formats.parse_iso_date(text) is None


@pytest.mark.parametrize("text", ["20240230", "2024-02-03", "", "202402031"])
def test_what_is_no_x12_date(text):
    assert formats.parse_x12_date(text) is None


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("-2.50", "-2.5"), (".5", "0.5"), ("10.", 10)]
)
def test_money_is_a_plain_decimal(text, value):
    assert formats.parse_money(text) == Decimal(value)


@pytest.mark.parametrize("text", ["1e4", "$1", "1,000", "", "NaN", "Infinity", "1 ", "--1", "٣"])
def test_what_is_no_money(text):
    assert formats.parse_money(text) is None


def test_cents_are_whole_or_none():
    given = (None, Decimal("699.10"), Decimal("-0.01"), Decimal("1.005"))
    assert [formats.to_cents(one) for one in given] == [None, 69910, -1, None]
