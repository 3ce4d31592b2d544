"""Where a fault was raised is named by file, line and function, never by its text.

Tests `kernel/faults`.
"""

from clearlane.kernel.faults import raised_at


def _refuse():
    raise ValueError("ROSA ARDEN")


def test_a_fault_is_named_by_its_innermost_frame():
    try:
        _refuse()
    except ValueError as fault:
        place = raised_at(fault)
    assert place.startswith("tests/kernel/test_faults.py:")
    assert place.endswith(" _refuse")
    assert raised_at(ValueError("never raised")) == ""
