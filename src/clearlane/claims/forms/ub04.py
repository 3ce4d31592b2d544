"""The form of institutional claims: the UB-04, sent as an 837I."""

from collections.abc import Iterator, Sequence
from functools import cache

from clearlane.claims.claim_form import (
    AnyPlacements,
    ClaimForm,
    FilledFields,
)
from clearlane.claims.forms import ub04_view
from clearlane.claims.forms.ub04_fields import (
    DIAGNOSES_MAX,
    InstitutionalClaim,
    InstitutionalDocument,
    InstitutionalLine,
)
from clearlane.claims.kinds import ClaimKind

# Providers of the claim, who must have a last name.
PROVIDERS = (
    "FL76_Attending",
    "FL77_Operating",
    "FL78_OtherOperating",
    "FL79_Rendering",
    "FL79_Referring",
)
LINE_PROVIDERS = ("X12_Rendering", "X12_Referring")


def missing_fields(claim: FilledFields, lines: Sequence[FilledFields]) -> Iterator[str]:
    """Yield the missing fields that are required in one case and not in another."""
    yield from _missing_names(claim, PROVIDERS)
    for at, line in enumerate(lines):
        for name in _missing_names(line, LINE_PROVIDERS):
            yield f"{ub04_view.LINES}[{at}].{name}"


def _missing_names(given: FilledFields, providers: Sequence[str]) -> Iterator[str]:
    for start in providers:
        named = any(name.startswith(start) and given[name] is not None for name in given)
        if named and given.get(f"{start}NameLast") is None:
            yield f"{start}NameLast"


@cache
def load_placements() -> AnyPlacements:
    """Return the tables that place its fields in an 837I, imported at their first use."""
    from clearlane.claims.write.placements_837i import TABLES

    return TABLES


BOX_TITLES = {
    "1": "Billing provider", "2": "Pay-to address", "4": "Type of bill", "5": "Tax id", "6": "Statement", "8": "Patient's name", "9": "Patient's address", "12": "Admission or start of care",
    "13": "Admission hour", "14": "Admission type", "16": "Discharge hour", "17": "Patient status",
    "18-28": "Condition codes", "31-34": "Occurrences", "35-36": "Occurrence spans", "38": "Payer's address",
    "39-41": "Values", "42": "Revenue code", "43": "Description", "44": "Procedure", "45": "Day of service", "46": "Units",
    "47": "Charges", "50": "Payers", "58": "Insured's name", "63": "Authorization", "67": "Diagnoses",
    "70": "Reasons for the visit", "72": "External causes", "74": "Procedures", "76": "Attending provider",
    "77": "Operating physician", "78": "Other operating physician", "79": "Rendering and referring providers",
}  # fmt: skip

FORM: ClaimForm[InstitutionalClaim, InstitutionalLine] = ClaimForm(
    name="ub04",
    kind=ClaimKind.INSTITUTIONAL,
    form_name="UB-04",
    box_titles=BOX_TITLES,
    document=InstitutionalDocument,
    document_type="InstitutionalClaim",
    claim=InstitutionalClaim,
    line=InstitutionalLine,
    lines_field=ub04_view.LINES,
    line_segment="SV2",
    load_placements=load_placements,
    diagnoses_max=DIAGNOSES_MAX,
    persons=(
        ("FL08_PatientNameLast", "FL58_InsuredNameLast", "last name"),
        ("FL08_PatientNameFirst", "FL58_InsuredNameFirst", "first name"),
    ),
    other_insurance_fields=frozenset({ub04_view.OTHER_PAYERS}),
    other_payer_names=(f"{ub04_view.OTHER_PAYERS}[0].FL50_PayerName",),
    decision_fields=frozenset({ub04_view.OTHER_PAYERS, ub04_view.DECISIONS}),
    view_table=ub04_view.CLAIM,
    line_view_table=ub04_view.LINE,
    view_places=ub04_view.PLACES,
    view_names=ub04_view.NAMES,
    # Equal lines of a stay without a procedure are usual: each day of the same charge may have its own.
    duplicate_paths=(),
    decide=ub04_view.decision,
    missing_fields=missing_fields,
    payer_decisions=ub04_view.payer_decisions,
)
