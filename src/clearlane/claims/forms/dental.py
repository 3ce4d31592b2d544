"""The form of dental claims: the ADA form, sent as an 837D."""

from collections.abc import Iterator, Sequence
from functools import cache

from clearlane.claims import codes
from clearlane.claims.claim_form import (
    AnyPlacements,
    ClaimForm,
    FilledFields,
)
from clearlane.claims.fields import DentalClaim, DentalDocument, DentalLine
from clearlane.claims.forms import dental_view
from clearlane.claims.kinds import ClaimKind
from clearlane.kernel import limits

# The relationship alone means no other insurance: some callers always send it.
OTHER_INSURANCE = frozenset(
    {
        "F05_OtherInsuredLastName",
        "F05_OtherInsuredFirstName",
        "F05_OtherInsuredMI",
        "F05_OtherInsuredSuffix",
        "F06_OtherInsuredDOB",
        "F07_OtherInsuredSex",
        "F08_OtherInsuredPolicy",
        "F09_OtherInsuredGrpNumber",
        "F11_OtherPayerName",
        "F11_OtherPayerAddress",
        "F11_OtherPayerCity",
        "F11_OtherPayerST",
        "F11_OtherPayerZip",
    }
)
# Most lines have no decision, and testing all these fields at once is quick.
LINE_DECISION = ("X12_PrimaryPaidAmount", "X12_AdjudicationDate", "Adjustments")
# What a patient who is not the insured must have.
DEPENDENT = (
    "F20_PatientLastName",
    "F20_PatientFirstName",
    "F20_PatientAddress",
    "F20_PatientCity",
    "F20_PatientST",
    "F20_PatientZip",
    "F20_PatientDOB",
    "F22_PatientSex",
)


def missing_fields(claim: FilledFields, lines: Sequence[FilledFields]) -> Iterator[str]:
    """Yield the missing fields that are required in one case and not in another."""
    get = claim.get
    relation = _code("relationship", get("F18_PatientRelationship"))
    if relation not in (None, codes.SELF):
        yield from (name for name in DEPENDENT if get(name) is None)
    if _code("transaction_type", get("F01_TypeOfTransaction")) == codes.PREDETERMINATION:
        return
    if get("X12_ServiceDate") is None:
        yield "X12_ServiceDate"
    for at, line in enumerate(lines):
        if line.get("F24_DateOfServiceFrom") is None:
            yield f"LineItems[{at}].F24_DateOfServiceFrom"


def _code(name: str, value: object) -> str | None:
    return codes.find(name, value) if isinstance(value, str) else None


@cache
def load_placements() -> AnyPlacements:
    """Return the tables that place its fields in an 837D, imported at their first use."""
    from clearlane.claims.write.placements_837d import TABLES

    return TABLES


BOX_TITLES = {
    "3": "Payer", "5": "Other insured's name", "11": "Other payer", "12": "Insured's name and address", "20": "Patient's name and address", "34": "Diagnoses",
    "24": "Day of service", "48": "Billing dentist", "51": "Billing dentist's tax id", "53": "Treating dentist", "56": "Treating dentist's address",
}  # fmt: skip

FORM: ClaimForm[DentalClaim, DentalLine] = ClaimForm(
    name="v3_dental",
    kind=ClaimKind.DENTAL,
    form_name="ADA",
    box_titles=BOX_TITLES,
    document=DentalDocument,
    document_type="DentalClaim",
    claim=DentalClaim,
    line=DentalLine,
    lines_field="LineItems",
    line_segment="SV3",
    load_placements=load_placements,
    diagnoses_max=limits.DENTAL_DIAGNOSES_MAX,
    persons=(
        ("F20_PatientLastName", "F12_InsuredLastName", "last name"),
        ("F20_PatientFirstName", "F12_InsuredFirstName", "first name"),
        ("F20_PatientDOB", "F13_InsuredDOB", "birth date"),
        ("F22_PatientSex", "F14_InsuredSex", "sex"),
    ),
    other_insurance_fields=OTHER_INSURANCE,
    other_payer_names=("F11_OtherPayerName",),
    decision_fields=frozenset(LINE_DECISION),
    view_table=dental_view.CLAIM,
    line_view_table=dental_view.LINE,
    view_places=dental_view.PLACES,
    view_names={},
    duplicate_paths=dental_view.DUPLICATE,
    decide=dental_view.decision,
    missing_fields=missing_fields,
)
