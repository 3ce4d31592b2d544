from datetime import date

import pytest

from clearlane.payments.match_lines import SentLine, number_lines
from clearlane.payments.payment import PaidLine

SENT = [
    SentLine("C1-1", "99213", 6000),
    SentLine("C1-2", "85025", 2000),
    SentLine("C1-3", "99213", 4000),
]


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        ([("C1-2", "99213", "", 1)], [2]),  # the control number wins over the procedure
        ([("C1-2", "", "", 1), ("C1-1", "", "", 1)], [2, 1]),
        ([("C1-1", "", "", 1), ("C1-1", "", "", 1)], [1, 1]),  # a line that the payer split
        ([("", "85025", "", 2000)], [2]),
        ([("ALIEN", "85025", "", 2000)], [2]),
        ([("", "99213", "", 4000), ("", "99213", "", 6000)], [3, 1]),  # the charge decides
        ([("", "99213", "", 1), ("", "99213", "", 1), ("", "99213", "", 1)], [1, 3, 0]),
        ([("", "99214", "85025", 2000)], [2]),  # what was billed, not what was paid
        ([("C1-1", "99213", "", 6000), ("", "99213", "", 6000)], [1, 3]),
        ([("", "", "", 0)], [0]),
    ],
)
def test_control_numbers_come_before_procedures(lines, numbers):
    given = [
        PaidLine(
            line_control_number=control,
            procedure=procedure,
            submitted_procedure=billed,
            charge=charge,
        )
        for control, procedure, billed, charge in lines
    ]
    assert [line.line_number for line in number_lines(given, SENT)] == numbers


BEDS = [
    SentLine("", "", 150000, "0120", date(2026, 3, 2)),
    SentLine("", "80053", 4800, "0300", date(2026, 3, 3)),
    SentLine("", "80053", 4800, "0300", date(2026, 3, 4)),
    SentLine("", "80053", 4800, "0301", date(2026, 3, 4)),
    SentLine("", "", 21050, "0250", None),
]


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        ([("0120", "0120", None, 150000)], [1]),  # a revenue code alone (NU)
        ([("0250", "", None, 1)], [5]),
        ([("0300", "80053", date(2026, 3, 4), 4800)], [3]),  # the day decides
        ([("0301", "80053", date(2026, 3, 3), 4800)], [4]),  # the revenue code before the day
        ([("0300", "80053", None, 4800)] * 3, [2, 3, 4]),
        ([("0270", "0270", None, 150000), ("0120", "99999", None, 150000)], [0, 0]),
    ],
)
def test_lines_of_facilities_match_by_revenue_code_procedure_and_day(lines, numbers):
    given = [
        PaidLine(revenue_code=revenue, procedure=procedure, service_date=day, charge=charge)
        for revenue, procedure, day, charge in lines
    ]
    assert [line.line_number for line in number_lines(given, BEDS)] == numbers
