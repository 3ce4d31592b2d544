"""Random valid institutional claims on the UB-04: every type of bill, every optional field, up to two other payers.

random_institutional(rng, day)          # a claim as JSON; a pure function of the generator
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from random import Random

from clearlane.claims import codes
from clearlane.claims.forms import ub04_samples
from clearlane.claims.forms.samples import JSON
from clearlane.claims.forms.ub04_view import LINES, OTHER_PAYERS
from clearlane.claims.rules.institutional.bill_types import STAYS

STAY_TYPES = frozenset(STAYS.split())
WITHOUT_REFERRING = STAY_TYPES | {"12", "22"}
LAST_NAMES = ("Arden", "LUND", "Quill", "O'Fern", "Lünd-Åsen", "birch")
FIRST_NAMES = ("Rosa", "MILO", "Ivo", "tessa", "Zoë")
DRUG_UNITS = (
    "FL43_NdcInternationalUnits",
    "FL43_NdcGrams",
    "FL43_NdcMilligrams",
    "FL43_NdcMilliliters",
    "FL43_NdcUnits",
)
GIVEN = ("NameFirst", "NameMiddle", "Suffix", "Npi")
GROUPS: Sequence[tuple[str, ...]] = (
    ("FL01_BillingProviderAddress2",),
    ("FL01_BillingProviderPhone",),
    ("FL02_PayToAddress1", "FL02_PayToAddress2", "FL02_PayToCity", "FL02_PayToState", "FL02_PayToZip"),
    ("FL03a_PatientControlNumber",),
    ("FL03b_MedicalRecordNumber",),
    ("FL08_PatientNameMiddle", "FL08_PatientSuffix"),
    ("FL09_PatientAddress2",),
    ("FL29_AccidentState",),
    ("FL38_PayerAddress1", "FL38_PayerAddress2", "FL38_PayerCity", "FL38_PayerState", "FL38_PayerZip"),
    ("X12_AcceptsAssignment",),
    ("X12_CoverageType",),
    ("X12_PatientEstimatedAmountDue",),
    ("FL57_BillingProviderOtherId",),
    ("FL58_InsuredNameMiddle", "FL58_InsuredSuffix"),
    ("FL61_GroupName",),
    ("FL62_GroupNumber",),
    ("FL63_AuthorizationCode",),
    ("X12_ReferralNumber",),
    ("FL65_EmployerName",),
    ("FL66_IcdVersion",),
    ("FL76_AttendingNameMiddle", "FL76_AttendingSuffix"),
    ("FL76_AttendingTaxonomy",),
    ("FL76_AttendingLicense",),
    ("FL79_RenderingNameLast", *(f"FL79_Rendering{name}" for name in GIVEN)),
    ("FL80_Remarks",),
    ("FL81_BillingProviderTaxonomy",),
    (
        "X12_FacilityName", "X12_FacilityAddress1", "X12_FacilityAddress2", "X12_FacilityCity", "X12_FacilityState",
        "X12_FacilityZip", "X12_FacilityNpi",
    ),
    ("X12_DelayReasonCode",),
    ("X12_AttachmentReportType", "X12_AttachmentTransmissionCode", "X12_AttachmentControlNumber"),
)  # fmt: skip
"""Optional fields that are given together."""
OPERATING = ("FL77_OperatingNameLast", *(f"FL77_Operating{name}" for name in GIVEN))
OTHER_OPERATING = ("FL78_OtherOperatingNameLast", *(f"FL78_OtherOperating{name}" for name in GIVEN))


def bill_types() -> list[str]:
    """Return every type of bill that has a sample, with its frequencies."""
    return [
        kind + frequency
        for kind in ub04_samples.SAMPLES
        for frequency, alone in ub04_samples.FREQUENCIES.items()
        if not alone or kind in alone.split()
    ]


def random_institutional(rng: Random, day: date, bill_type: str = "") -> JSON:
    """Return a valid claim; its statement ends on ``day``."""
    bill_type = bill_type or rng.choice(bill_types())
    kind = bill_type[:2]
    claim = ub04_samples.bill(bill_type, day)
    claim["Svc_VendorClaimId"] = f"V{rng.randrange(10**9):09}"
    claim["FL60_InsuredId"] = f"W{rng.randrange(10**9):09}"
    every = ub04_samples.extended(day)
    for group in GROUPS:
        if rng.random() < 0.4:
            claim |= {name: every[name] for name in group}
    _people(rng, claim)
    _providers(rng, claim, kind, every)
    _codes(rng, claim, kind, every)
    for at, line in enumerate(claim[LINES]):
        _line(rng, line, at, kind)
    if rng.random() < 0.5:
        _other_payers(rng, claim, day)
    return claim


def _people(rng: Random, claim: JSON) -> None:
    relationships = list(codes.meanings("relationship"))
    claim["FL59_PatientRelationship"] = rng.choice([codes.SELF, *relationships])
    for who in ("FL08_Patient", "FL58_Insured"):
        claim[f"{who}NameLast"] = rng.choice(LAST_NAMES)
        claim[f"{who}NameFirst"] = rng.choice(FIRST_NAMES)
    if claim["FL59_PatientRelationship"] == codes.SELF:
        for name in ("NameLast", "NameFirst"):
            claim[f"FL58_Insured{name}"] = claim[f"FL08_Patient{name}"]


def _providers(rng: Random, claim: JSON, kind: str, every: JSON) -> None:
    if rng.random() < 0.4:
        claim |= {name: every[name] for name in OPERATING}
        if rng.random() < 0.5:
            claim |= {name: every[name] for name in OTHER_OPERATING}
    if kind not in WITHOUT_REFERRING and rng.random() < 0.3:
        claim["FL79_ReferringNameLast"] = "Lund"
        claim |= {f"FL79_Referring{name}": every[f"FL78_OtherOperating{name}"] for name in GIVEN}


def _codes(rng: Random, claim: JSON, kind: str, every: JSON) -> None:
    if rng.random() < 0.3:
        claim["FL72_ExternalCauses"] = [
            {"FL72_Code": "W26.0XXA"} | ({"FL72_PresentOnAdmission": "Y"} if kind == "11" else {})
        ]
    if kind == "11" and rng.random() < 0.5:
        claim["FL71_DrgCode"] = "343"
    if kind in STAY_TYPES and "FL77_OperatingNameLast" in claim:
        claim["FL74_Procedures"] = every["FL74_Procedures"]
        for one in claim["FL74_Procedures"]:
            one["FL74_Date"] = claim["FL06_StatementThrough"]
    if rng.random() < 0.3:
        claim.setdefault("FL18_ConditionCodes", []).append({"FL18_Code": "C5"})
    if rng.random() < 0.3:
        claim.setdefault("FL31_OccurrenceCodes", []).append(
            {"FL31_Code": "11", "FL31_Date": claim["FL06_StatementFrom"]}
        )


def _line(rng: Random, line: JSON, at: int, kind: str) -> None:
    if rng.random() < 0.3:
        line["X12_LineControlNumber"] = f"L{at}-{rng.randrange(10**6)}"
    if rng.random() < 0.2 and Decimal(line["FL47_TotalCharges"]):
        line["FL48_NonCoveredCharges"] = "1.00"
    if "FL45_ServiceDate" in line and rng.random() < 0.3:
        line["X12_LastServiceDate"] = line["FL45_ServiceDate"]
    if "FL44_ProcedureCode" not in line:
        return
    if rng.random() < 0.3:
        line["FL43_Description"] = "Sample service"
    if rng.random() < 0.3:
        line |= {"FL43_NdcCode": "00009-0011-03", rng.choice(DRUG_UNITS): "2"}
        if rng.random() < 0.5:
            line["X12_PrescriptionNumber"] = "RX4711"
    if rng.random() < 0.2:
        line |= {"X12_RenderingNameLast": "Birch", "X12_RenderingNameFirst": "Nora", "X12_RenderingNpi": "1000000012"}  # fmt: skip
    if kind not in WITHOUT_REFERRING and rng.random() < 0.2:
        line |= {"X12_ReferringNameLast": "Lund", "X12_ReferringNameFirst": "Ivo", "X12_ReferringNpi": "1000000020"}  # fmt: skip


# --- other payers --------------------------------------------------------------------------------------------------


def _other_payers(rng: Random, claim: JSON, day: date) -> None:
    count = rng.choice((1, 1, 2))
    decided = rng.randrange(count + 1)
    payers = []
    for at in range(count):
        payer = {
            "FL50_PayerName": ("Harbor Health Plan", "Summit Health")[at],
            "FL51_HealthPlanId": ("HHP20", "SUM01")[at],
            "FL58_InsuredNameLast": "Lund",
            "FL58_InsuredNameFirst": "Ivo",
            "FL59_PatientRelationship": rng.choice(("Self", "Spouse", "Child")),
            "FL60_InsuredId": f"MI471{at}",
        }
        more = {
            "FL58_InsuredNameMiddle": "J",
            "FL58_InsuredSuffix": "JR",
            "X12_CoverageType": "CI",
            "FL61_GroupName": "Tidewater Works",
            "FL62_GroupNumber": "GN4711",
            "FL64_DocumentControlNumber": "DCN4711",
        }
        payer |= {name: value for name, value in more.items() if rng.random() < 0.4}
        if at < decided:
            (_decide_lines if rng.random() < 0.6 else _decide_claim)(rng, claim, payer, at, day)
        payers.append(payer)
    claim[OTHER_PAYERS] = payers


def _decide_claim(rng: Random, claim: JSON, payer: JSON, at: int, day: date) -> None:
    charge = Decimal(claim["FL47_ClaimTotalCharges"])
    owed = (charge / 10).quantize(Decimal("0.01"))
    paid = (charge / 2).quantize(Decimal("0.01"))
    payer |= {
        "FL54_PriorPayments": str(paid),
        "X12_AdjudicationDate": day.isoformat(),
        "X12_Adjustments": [
            _adjustment("PR", "2", owed),
            _adjustment("CO", "45", charge - paid - owed),
        ],
    }
    if rng.random() < 0.5:
        payer["X12_RemainingPatientLiability"] = str(owed)
    for line in claim[LINES]:  # a decision of the second payer is the second of its list
        if "X12_PayerDecisions" in line:
            line["X12_PayerDecisions"].append({})


def _decide_lines(rng: Random, claim: JSON, payer: JSON, at: int, day: date) -> None:
    total = Decimal(0)
    for line in claim[LINES]:
        charge = Decimal(line["FL47_TotalCharges"])
        paid = (charge / 2).quantize(Decimal("0.01"))
        total += paid
        decision = {
            "X12_PaidAmount": str(paid),
            "X12_AdjudicationDate": day.isoformat(),
            "X12_Adjustments": [_adjustment("PR", "2", charge - paid)],
        }
        if rng.random() < 0.3:
            decision["X12_PaidUnits"] = line["FL46_ServiceUnits"]
        if rng.random() < 0.3:
            decision["X12_RemainingPatientLiability"] = str(charge - paid)
        decisions = line.setdefault("X12_PayerDecisions", [{} for _ in range(at)])
        decisions.append(decision)
    payer["FL54_PriorPayments"] = str(total)


def _adjustment(group: str, reason: str, amount: Decimal) -> JSON:
    return {
        "X12_AdjustmentGroup": group,
        "X12_AdjustmentReason": reason,
        "X12_AdjustmentAmount": str(amount),
    }
