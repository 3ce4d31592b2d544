"""C65: national drug codes and their quantities."""

from collections.abc import Iterator

from clearlane.claims.drug_quantity import QUANTITIES, UNITS, drug
from clearlane.claims.fields import MedicalClaim, MedicalLine
from clearlane.claims.rules.registry import MEDICAL, FieldFinding, RuleInputs, line_rule, listed


@line_rule(
    "C651",
    fields=("X12_NdcCode", *QUANTITIES),
    x12="2410/CTP/04",
    kinds=(MEDICAL,),
    when_filled=("X12_NdcCode",),
)
def drug_has_a_quantity(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A drug code comes with a quantity."""
    if line.X12_NdcCode is not None and drug(line) is None:
        yield (
            "X12_NdcQuantity",
            f"There is a drug code without a quantity; give one of {listed(QUANTITIES)}.",
        )


@line_rule(
    "C652",
    fields=("X12_NdcCode", *QUANTITIES),
    x12="2410/LIN/03",
    kinds=(MEDICAL,),
    when_filled=(*QUANTITIES, "X12_NdcPharmacyPrescriptionNumber", "X12_NdcLinkSequenceNumber"),
)
def quantity_has_a_drug(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A drug quantity, prescription or link number comes with a drug code."""
    if line.X12_NdcCode is None and (
        line.X12_NdcPharmacyPrescriptionNumber or line.X12_NdcLinkSequenceNumber or drug(line)
    ):
        yield (
            "X12_NdcCode",
            "There is a drug quantity or prescription without a drug code; give X12_NdcCode.",
        )


@line_rule(
    "C653", fields=QUANTITIES, x12="2410/CTP/05", kinds=(MEDICAL,), when_filled=("X12_NdcCode",)
)
def drug_has_one_unit(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A drug quantity is given in one unit."""
    if line.X12_NdcCode is None:
        return
    given = line.__dict__
    filled = [name for name in UNITS if given.get(name)]
    for name in filled[1:]:
        yield name, f"The drug quantity is given in {listed(filled)}; give it in one unit."
    if filled and line.X12_NdcQuantity and line.X12_NdcQuantity != given.get(filled[0]):
        yield (
            "X12_NdcQuantity",
            f"X12_NdcQuantity is {line.X12_NdcQuantity}, but {filled[0]} is {given.get(filled[0])}; "
            "make them equal, or give one.",
        )
