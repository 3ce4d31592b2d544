"""Invented remittances are read and said as recorded: every field, every row, every sentence."""

import pytest

from tests.payments.recorded_payments import RECORDED


@pytest.mark.parametrize("part", RECORDED.parts)
def test_what_is_read_and_said_is_as_recorded(part):
    assert RECORDED.changes(part) == [], (
        "if this is meant: python -m tests.payments.recorded_payments"
    )
