"""What is printed of values that hold patient data: never the data."""

from typing import NamedTuple

import msgspec

from clearlane.kernel.redacted_repr import show_filled, shows


class Inner(NamedTuple):
    number: int
    name: str


@shows("state", "inner.number")
class Row(NamedTuple):
    state: str
    inner: Inner
    payload: bytes


class Filled(msgspec.Struct):
    name: str = ""
    birth: str = ""
    __repr__ = show_filled


def test_a_value_shows_the_named_attributes_alone():
    row = Row("Sent", Inner(7, "ARDEN"), b"ARDEN")
    assert repr(row) == str(row) == "Row(Sent 7)"
    assert repr([row]) == "[Row(Sent 7)]"


def test_a_struct_shows_which_fields_hold_something():
    assert repr(Filled(name="ARDEN")) == "Filled(name)"
