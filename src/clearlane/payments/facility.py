"""What a payer says of the bill of a facility as a whole: days, diagnosis related group, and amounts, each by its name.

    facility_sentences(facility)            # "Priced by diagnosis related group 194, weight 0.96."
    AMOUNTS["drg_amount"]                   # "Amount of the diagnosis related group (MIA04)"

CLP11 to CLP13, MIA and MOA of an 835, as ``read_payment`` read them. Knows no file and no claim.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from clearlane.payments.payment import FacilityDecision

AMOUNTS: Mapping[str, str] = MappingProxyType(
    {
        "drg_amount": "Amount of the diagnosis related group (MIA04)",
        "operating_outlier": "Outlier amount, operating (MIA02)",
        "federal_drg": "Federal part of the group's amount (MIA16)",
        "hospital_drg": "Hospital's part of the group's amount (MIA14)",
        "disproportionate_share": "Disproportionate share (MIA06)",
        "pass_through": "Pass-through as second payer (MIA07)",
        "capital": "Capital amount (MIA08)",
        "capital_federal": "Capital, federal part (MIA09)",
        "capital_hospital": "Capital, hospital's part (MIA10)",
        "capital_disproportionate_share": "Capital, disproportionate share (MIA11)",
        "old_capital": "Old capital (MIA12)",
        "capital_education": "Capital, medical education (MIA13)",
        "capital_outlier": "Outlier amount, capital (MIA17)",
        "capital_exception": "Capital, exception (MIA24)",
        "indirect_teaching": "Indirect teaching (MIA18)",
        "payable": "Payable by procedure codes (MOA02)",
        "renal_disease": "End-stage renal disease amount (MOA08)",
        "professional_component": "Professional component, not payable (MIA19, MOA09)",
    }
)
"""The amounts of an MIA or MOA in words of our own, in the order in which they are shown."""


def facility_sentences(facility: FacilityDecision) -> Iterator[str]:
    """Yield the days, the group and the rate, a sentence each; amounts are shown by themselves."""
    if facility.drg:
        weight = f", weight {facility.drg_weight}" if facility.drg_weight else ""
        fraction = facility.discharge_fraction
        part = f"; {fraction} of it is paid" if fraction not in ("", "1") else ""
        yield f"Priced by diagnosis related group {facility.drg}{weight}{part}."
    for days, what in (
        (facility.covered_days, "covered"),
        (facility.psychiatric_days, "used of the psychiatric days of a life"),
        (facility.cost_report_days, "counted for the cost report"),
    ):
        if days:
            yield f"{days} {'day' if days == '1' else 'days'} {what}."
    if facility.rate:
        yield f"Reimbursement rate {facility.rate}."
