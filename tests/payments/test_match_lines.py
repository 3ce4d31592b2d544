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
