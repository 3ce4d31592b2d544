"""Days in the forms that clients write are read as the day they name."""

from datetime import date

from clearlane.kernel.client_dates import parse_client_date
from tests.cases import every_case


@every_case(
    "text",
    [
        "2018-04-01", " 2018-04-01 ", "2018-4-1", "2018/4/1", "2018/04/01", "4/1/2018", "04/01/2018",
        "4/1/2018 12:00:00 AM", "4/1/2018 11:59 pm", "04/01/2018 00:00:00", "2018-04-01T00:00:00",
        "2018-04-01T23:59:59.9999999Z", "2018-04-01 00:00", "2018-04-01T00:00:00 05:00",
        "2018-04-01T00:00:00-05:00", "2018-04-01T00:00:00+0500", "2018/04/01 00:00:00",
        "Sun, 01 Apr 2018 00:00:00 GMT", "Sun, 1 Apr 2018", "01-Apr-2018",
    ],
)  # fmt: skip
def test_the_forms_of_a_day_are_read(text):
    assert parse_client_date(text) == date(2018, 4, 1)


@every_case(
    "text",
    [
        "", "x", "2018-13-01", "13/1/2018", "2018-04-01T", "１/1/2018", "2018-02-30", "2/30/2018",
        "2018-4", "0", "2018-04-01T24:00:00", "2018-04-01T00:60", "31/31/2018", "Sun, 31 Feb 2018",
        "01 Xyz 2018", "2018-04/01", "0000-01-01", "1" * 5_000, "4/1/18", "20180401",
    ],
)  # fmt: skip
def test_other_forms_and_impossible_days_are_none(text):
    assert parse_client_date(text) is None
