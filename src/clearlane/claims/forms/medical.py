"""The form of medical claims: the CMS-1500, sent as an 837P."""

from collections.abc import Iterator, Sequence
from functools import cache

from clearlane.claims.claim_form import (
    AnyPlacements,
    ClaimForm,
    FilledFields,
)
from clearlane.claims.fields import MedicalClaim, MedicalDocument, MedicalLine
from clearlane.claims.forms import medical_view
from clearlane.claims.kinds import ClaimKind
from clearlane.kernel import limits

# The relationship alone means no other insurance: some callers always send it.
OTHER_INSURANCE = frozenset(
    {
        "F09_OtherInsuredNameLast",
        "F09_OtherInsuredNameFirst",
        "F09_OtherInsuredNameMiddle",
        "F09_OtherInsuredSuffix",
        "F09A_OtherInsuredGroupNum",
        "F09B_OtherInsuredDOB",
        "F09B_OtherInsuredSex",
        "F09C_OtherEmployerName",
        "F09D_OtherPlanName",
        "X12_OtherPayerName",
        "X12_OtherPayerClaimType",
        "X12_OtherInsuredId",
    }
)
# Most claims and lines have no decision, and testing all these fields at once is quick.
CLAIM_DECISION = (
    "X12_ClaimPrimaryPayerPaidAmount",
    "F29_PayerAmountPaid",
    "X12_ClaimAdjudicationDate",
    *medical_view.CLAIM_GROUPS,
)
LINE_DECISION = (
    "X12_PrimaryPayerPaidAmount",
    "X12_AdjudicationOrPaymentDate",
    *medical_view.LINE_GROUPS,
)
# Fields of a rendering provider, who must have a last name.
RENDERING = (
    "X12_RendProviderNameFirst",
    "X12_RendProviderNameMiddle",
    "X12_RendProviderSuffix",
    "X12_RendProviderTaxonomyCode",
    "X12_RendProviderStateLicenseNumber",
    "X12_RendProviderUpinNumber",
    "X12_RendProviderCommercialNumber",
    "X12_RendProviderLocationNumber",
    "X12_RenderingNPI",
)


def missing_fields(claim: FilledFields, lines: Sequence[FilledFields]) -> Iterator[str]:
    """Yield the missing fields that are required in one case and not in another."""
    get = claim.get
    if get("F25_FederalTaxIdEin") is None and get("F25_FederalTaxIdSsn") is None:
        yield "F25_FederalTaxIdEin"
    if get("X12_RendProviderNameLast") is None and any(get(name) is not None for name in RENDERING):
        yield "X12_RendProviderNameLast"
    if not _has_item(get("F21_DiagnosisCodes")):
        yield "F21_DiagnosisCodes"
    for at, line in enumerate(lines):
        if not _has_item(line.get("F24E_DiagnosisPointers")):
            yield f"F24_ClaimLines[{at}].F24E_DiagnosisPointers"


def _has_item(value: object) -> bool:
    # A value that is not an array, or missing, has been reported already.
    if not isinstance(value, (list, tuple)):
        return True
    return value[0] is not None or any(item is not None for item in value)


@cache
def load_placements() -> AnyPlacements:
    """Return the tables that place its fields in an 837P, imported at their first use."""
    from clearlane.claims.write.placements_837p import TABLES

    return TABLES


BOX_TITLES = {
    "2": "Patient's name", "3": "Birth date, sex", "4": "Insured's name", "5": "Patient's address",
    "7": "Insured's address", "9": "Other insured", "10": "Condition related to", "11": "Insured's policy",
    "11a": "Insured's birth date, sex", "17": "Referring provider", "21": "Diagnoses", "24A": "Day of service",
    "24D": "Procedure", "31": "Signature",
    "32": "Service facility", "33": "Billing provider",
}  # fmt: skip

FORM: ClaimForm[MedicalClaim, MedicalLine] = ClaimForm(
    name="v3_medical",
    kind=ClaimKind.MEDICAL,
    form_name="CMS-1500",
    box_titles=BOX_TITLES,
    document=MedicalDocument,
    document_type="MedicalClaim",
    claim=MedicalClaim,
    line=MedicalLine,
    lines_field="F24_ClaimLines",
    line_segment="SV1",
    load_placements=load_placements,
    diagnoses_max=limits.MEDICAL_DIAGNOSES_MAX,
    persons=(
        ("F02_PatientNameLast", "F04_InsuredNameLast", "last name"),
        ("F02_PatientNameFirst", "F04_InsuredNameFirst", "first name"),
        ("F03_PatientDob", "F11A_InsuredDob", "birth date"),
        ("F03_PatientSex", "F11A_InsuredSex", "sex"),
    ),
    other_insurance_fields=OTHER_INSURANCE,
    other_payer_names=("X12_OtherPayerName", "F09D_OtherPlanName"),
    decision_fields=frozenset({*CLAIM_DECISION, *LINE_DECISION}),
    view_table=medical_view.CLAIM,
    line_view_table=medical_view.LINE,
    view_places=medical_view.PLACES,
    view_names=medical_view.NAMES,
    duplicate_paths=medical_view.DUPLICATE,
    decide=medical_view.decision,
    missing_fields=missing_fields,
)
