"""The drug quantity of a medical line. Knows the fields that may hold it, and the unit of each."""

from decimal import Decimal
from typing import NamedTuple

from clearlane.claims.fields import MedicalLine

UNITS = {
    "X12_DrugQuantityInternationalUnits": "F2",
    "X12_DrugQuantityGrams": "GR",
    "X12_DrugQuantityMilligrams": "ME",
    "X12_DrugQuantityMilliliters": "ML",
    "X12_DrugQuantityUnits": "UN",
}
QUANTITIES = ("X12_NdcQuantity", *UNITS)


class DrugQuantity(NamedTuple):
    """The quantity of a drug and its unit."""

    quantity: Decimal
    unit: str


def drug(line: MedicalLine) -> DrugQuantity | None:
    """Return the drug quantity of a line: the first field that names a unit, else ``X12_NdcQuantity`` in units."""
    given = line.__dict__
    for name, unit in UNITS.items():
        if given.get(name):
            return DrugQuantity(given[name], unit)
    return DrugQuantity(line.X12_NdcQuantity, "UN") if line.X12_NdcQuantity else None
