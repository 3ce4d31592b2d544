"""C65: national drug codes and their quantities."""

from collections.abc import Iterator

from clearlane.claims.rules.registry import (
    GUIDE_FIXES,
    GUIDE_REQUIRES,
    FieldFinding,
    RuleInputs,
    line_rule,
    listed,
)
from clearlane.claims.view import ClaimView, LineDrugView, LineView

UNITS = ("international_units", "grams", "milligrams", "milliliters", "units")
QUANTITIES = [f"drug.{name}" for name in ("quantity", *UNITS)]


def _has_quantity(drug: LineDrugView) -> bool:
    return bool(drug.quantity) or any(getattr(drug, name) for name in UNITS)


def _name(view: ClaimView, path: str) -> str:
    return view.form.name_of(f"lines[].{path}")


@line_rule(
    "C651",
    paths=("drug.code", *QUANTITIES),
    x12="2410/CTP/04",
    when_filled=("drug.code",),
    not_in_files=GUIDE_REQUIRES,
)
def drug_has_a_quantity(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A drug code comes with a quantity."""
    if line.drug.code is not None and not _has_quantity(line.drug):
        names = listed(_name(view, path) for path in QUANTITIES)
        yield (
            "drug.quantity",
            f"There is a drug code without a quantity; give one of {names}.",
        )


@line_rule(
    "C652",
    paths=("drug.code", *QUANTITIES),
    x12="2410/LIN/03",
    when_filled=(*QUANTITIES, "drug.prescription", "drug.link"),
    not_in_files=GUIDE_REQUIRES,
)
def quantity_has_a_drug(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A drug quantity, prescription or link number comes with a drug code."""
    drug = line.drug
    if drug.code is None and (drug.prescription or drug.link or _has_quantity(drug)):
        yield (
            "drug.code",
            f"There is a drug quantity or prescription without a drug code; give {_name(view, 'drug.code')}.",
        )


@line_rule(
    "C653", paths=QUANTITIES, x12="2410/CTP/05", when_filled=("drug.code",), fixed=GUIDE_FIXES
)
def drug_has_one_unit(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A drug quantity is given in one unit."""
    drug = line.drug
    if drug.code is None:
        return
    filled = [name for name in UNITS if getattr(drug, name)]
    names = [_name(view, f"drug.{name}") for name in filled]
    for name in filled[1:]:
        yield f"drug.{name}", f"The drug quantity is given in {listed(names)}; give it in one unit."
    if filled and drug.quantity and drug.quantity != getattr(drug, filled[0]):
        yield (
            "drug.quantity",
            f"{_name(view, 'drug.quantity')} is {drug.quantity}, but {names[0]} is {getattr(drug, filled[0])}; "
            "make them equal, or give one.",
        )
