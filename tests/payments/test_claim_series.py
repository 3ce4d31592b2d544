"""The bills of one stay: which count, and what they come to, by the payer's setting."""

import pytest

from clearlane.payments.as_json import series_object
from clearlane.payments.claim_series import SeriesMember, SeriesType, series_of
from clearlane.payments.wording import series_words


def member(
    number: str, frequency: str, days: str = "", label: str = "paid", **more
) -> SeriesMember:
    first, _, last = days.partition(" ")
    values = {
        "claim_number": number,
        "frequency": frequency,
        "service_day": first or None,
        "last_day": last or None,
        "label": label,
        "is_superseded": 0,
        "is_cumulative": 0,
        "total_cents": 1000_00,
        "paid_cents": 600_00,
        "patient_cents": 10_00,
    }
    return SeriesMember(**{**values, **more})


FIRST = member("C1", "2", "2026-01-01 2026-01-31")
NEXT = member("C2", "3", "2026-02-01 2026-02-28")
LAST = member("C3", "4", "2026-03-01 2026-03-05")
LATE = member("C4", "5", "2026-03-01 2026-03-05", total_cents=50_00, paid_cents=30_00)
ALL = (FIRST, NEXT, LAST, LATE)
WHOLE = [one._replace(service_day="2026-01-01", is_cumulative=1) for one in ALL]


@pytest.mark.parametrize(
    ("members", "counted", "charge"),
    [
        (ALL, "C1 C2 C3 C4", 3050_00),
        (WHOLE, "C3 C4", 1050_00),
        # A replacement takes the place of one member; the others stay.
        (
            [FIRST, NEXT._replace(is_superseded=1, label="replaced"), NEXT._replace(claim_number="C5", frequency="7"), LAST],
            "C1 C3 C5",
            3000_00,
        ),
        # A void, and what it voids.
        ([FIRST, NEXT._replace(label="voided"), NEXT._replace(claim_number="C5", frequency="8")], "C1", 1000_00),
        ([FIRST, NEXT._replace(label="rejected")], "C1", 1000_00),
        # A cumulative bill that was rejected leaves the one before.
        ([WHOLE[0], WHOLE[1]._replace(label="rejected")], "C1", 1000_00),
        ([FIRST], "C1", 1000_00),
        ([FIRST._replace(label="canceled")], "", 0),
    ],
)  # fmt: skip
def test_a_series_comes_to_what_its_payer_says(members, counted, charge):
    series = series_of(members)
    assert " ".join(sorted(series.counted)) == counted
    assert series.total_cents == charge
    assert series.patient_cents == 10_00 * len(series.counted)


def test_the_only_bill_of_a_stay_is_no_series():
    assert series_of([]) is None
    assert series_of([FIRST._replace(frequency="1")]) is None


def test_a_series_is_said_in_words_and_as_json():
    series = series_of(WHOLE)
    assert series.type is SeriesType.CUMULATIVE
    assert series_words(series) == (
        "Series of 4 bills, of which the last one counts: charge 1,050.00, paid 630.00"
    )
    assert series_words(series_of(ALL)) == (
        "Series of 4 bills, which add up: charge 3,050.00, paid 1,830.00"
    )
    found = series_object(series)
    assert (found["type"], found["paid"], len(found["members"])) == ("cumulative", "630.00", 4)
    assert found["members"][0] == {
        "claim_number": "C1",
        "frequency": "2",
        "service_from": "2026-01-01",
        "service_to": "2026-01-31",
        "label": "paid",
        "counts": False,
        "charge": "1000.00",
        "paid": "600.00",
        "patient": "10.00",
    }
    assert series_object(None) is None
