"""The facts of the V3 interface: a row for each field of each object, and one for each call.

`tools/contract_table.py` wrote both tables from the interface document.
"""

import csv
from functools import cache
from pathlib import Path

from tools.contract_table import CallFacts, FieldFacts

FOLDER = Path(__file__).parent


@cache
def all_fields() -> tuple[FieldFacts, ...]:
    """Return the facts of every field."""
    return tuple(FieldFacts(**row) for row in _rows("v3_fields.csv"))


@cache
def calls() -> tuple[CallFacts, ...]:
    """Return the facts of every call."""
    return tuple(CallFacts(**row) for row in _rows("v3_calls.csv"))


@cache
def fields_of_object(object: str) -> dict[str, FieldFacts]:
    """Return the facts of an object's fields by their names, in the order of the document."""
    found = {one.field: one for one in all_fields() if one.object == object}
    assert found, object
    return found


def seen(object: str, field: str) -> list[str]:
    """Return the values of a field that the document shows."""
    return fields_of_object(object)[field].seen.split("|")


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]
