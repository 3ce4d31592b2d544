"""Claims that break and keep the rules about imported lists, for the table of ``test_rules``."""

from datetime import date

from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples
from clearlane.x12.codes.code_editions import CodeEdition, CodeLists, EditionCode, combine

FIRST, LAST = date(2025, 1, 1), date(2025, 3, 31)
LATER, EARLIER = date(2025, 3, 15), date(2025, 3, 1)
NPI, OTHER_NPI = samples.BILLING_NPI, samples.RENDERING_NPI


def listed(
    name: str, *rows: tuple[str, date | None, date | None, str], last: date = LAST
) -> CodeLists:
    """Return lists with one imported edition of these codes."""
    edition = CodeEdition(1, name, "2025 Q1", FIRST, last, len(rows))
    return CodeLists({name: combine(None, [(edition, [EditionCode(*row) for row in rows])])})


def code(text: str, attributes: str = "") -> tuple[str, None, None, str]:
    """Return a code that is valid on all days of its edition."""
    return text, None, None, attributes


DAY = date(2025, 3, 14)
L, T = "F24_ClaimLines[0].", "LineItems[0]."
PROCEDURE, UNITS, MODIFIERS = (
    f"{L}{name}" for name in ("F24D_HcpcsProcedureCode", "F24G_DaysOrUnits", "F24D_Modifiers")
)
SECOND = "F24_ClaimLines[1].F24D_HcpcsProcedureCode"
BILLING = {"F33A_BillingProviderNpi": NPI}
RENDERING = {"X12_RenderingNPI": OTHER_NPI, "X12_RendProviderNameLast": "Arden"}
DRUG = {f"{L}X12_NdcCode": "00009-0011-03"}
DECIDED = {
    "F09_OtherInsuredNameLast": "Lund",
    "X12_OtherPayerName": "Harbor Health Plan",
    f"{L}X12_PrimaryPayerPaidAmount": 60,
    f"{L}X12_LineContractualObligationAdjustments": "45:40",
    f"{L}X12_AdjudicationOrPaymentDate": "2025-03-18",
}
DENTAL_REASON = {
    "X12_AdjustmentGroupCode": "CO",
    "X12_AdjustmentReasonCode": "45",
    "X12_AdjustmentAmount": "35.00",
}
DENTAL_DECIDED = {
    f"{T}X12_PrimaryPaidAmount": "60.00",
    f"{T}X12_AdjudicationDate": "2025-03-18",
    f"{T}Adjustments": [DENTAL_REASON],
}
ENDED = date(2025, 2, 28)


def lines(*codes: str, modifiers: str = "") -> dict[str, object]:
    """Return a claim with a line of one day for each code; the last has the modifiers."""
    made = [
        {
            **samples.minimal_claim(V3_MEDICAL, DAY)["F24_ClaimLines"][0],
            "F24D_HcpcsProcedureCode": one,
        }
        for one in codes
    ]
    if modifiers:
        made[-1]["F24D_Modifiers"] = modifiers
    return {"F24_ClaimLines": made, "F28_TotalCharge": f"{len(codes)}00.00"}


# Rule, form, what breaks it, the place of the finding, what keeps it, the list that finds it, and one that does not.
ROWS = [
    ("C661", V3_MEDICAL, BILLING, "F33A_BillingProviderNpi", BILLING,
        listed("nppes-deactivated", (NPI, FIRST, None, "")), listed("nppes-deactivated", (NPI, LATER, None, ""))),
    ("C661", V3_DENTAL, {}, "F48_BillingDentistNPI", {},
        listed("nppes-deactivated", (NPI, FIRST, None, "")), listed("nppes-deactivated", code(OTHER_NPI))),
    ("C662", V3_MEDICAL, RENDERING, "X12_RenderingNPI", RENDERING,
        listed("nppes", code(OTHER_NPI, "organization")), listed("nppes", code(OTHER_NPI, "person"))),
    ("C663", V3_MEDICAL, DRUG, f"{L}X12_NdcCode", DRUG,
        listed("ndc", ("000090011", FIRST, EARLIER, "")), listed("ndc", ("000090011", FIRST, None, ""))),
    ("C663", V3_MEDICAL, DRUG, f"{L}X12_NdcCode", DRUG,
        listed("ndc", ("000090011", LATER, None, "")), listed("ndc", code("000090012"), last=ENDED)),
    ("C663", V3_MEDICAL, DRUG, f"{L}X12_NdcCode", {f"{L}X12_NdcCode": "00009-001"},
        listed("ndc", code("000090012")), listed("ndc", code("000090012"))),
    ("C664", V3_MEDICAL, lines("11042", "97597"), SECOND, lines("11042", "97597", modifiers="XS"),
        listed("ncci-ptp", code("11042-97597", "modifier")), listed("ncci-ptp", code("11042-97597", "modifier"))),
    ("C664", V3_MEDICAL, lines("97597", "11042", modifiers="59"), f"{L}F24D_HcpcsProcedureCode", lines("97597", "11042"),
        listed("ncci-ptp", code("11042-97597", "never")), listed("ncci-ptp", ("11042-97597", LATER, None, "never"))),
    ("C665", V3_MEDICAL, {UNITS: 3}, UNITS, {UNITS: 2},
        listed("mue", code("99213", "units=2 day")), listed("mue", code("99213", "units=2 day"))),
    ("C665", V3_MEDICAL, lines("99213", "99213") | {UNITS: 2, "F24_ClaimLines[1].F24G_DaysOrUnits": 1},
        "F24_ClaimLines[1].F24G_DaysOrUnits", lines("99213", "99213") | {UNITS: 2, "F24_ClaimLines[1].F24G_DaysOrUnits": 1},
        listed("mue", code("99213", "units=2 day")), listed("mue", code("99213", "units=2 line"))),
    ("C666", V3_MEDICAL, {PROCEDURE: "G0008"}, PROCEDURE, {PROCEDURE: "G0008"},
        listed("hcpcs", ("G0008", FIRST, EARLIER, "")), listed("hcpcs", ("G0008", FIRST, None, ""))),
    ("C667", V3_MEDICAL, {}, PROCEDURE, {}, listed("cpt", code("99214")), listed("cpt", code("99213"))),
    ("C668", V3_DENTAL, {}, f"{T}F29_ProcedureCode", {}, listed("cdt", code("D1120")), listed("cdt", code("D1110"))),
    ("C669", V3_MEDICAL, {"F33B_BillingProviderTaxonomyCode": "207Q00000X"}, "F33B_BillingProviderTaxonomyCode",
        {"F33B_BillingProviderTaxonomyCode": "207Q00000X"},
        listed("taxonomy", code("208D00000X", "person")), listed("taxonomy", code("207Q00000X", "person"))),
    ("C670", V3_MEDICAL, DECIDED, f"{L}X12_LineContractualObligationAdjustments", DECIDED,
        listed("carc", ("45", FIRST, EARLIER, "")), listed("carc", ("45", FIRST, None, ""))),
    ("C670", V3_DENTAL, DENTAL_DECIDED, f"{T}Adjustments", DENTAL_DECIDED,
        listed("carc", code("46")), listed("carc", code("45"))),
    ("C671", V3_MEDICAL, {MODIFIERS: "QQ"}, MODIFIERS, {MODIFIERS: "GT,25,P1"},
        listed("hcpcs", code("GT", "modifier")), listed("hcpcs", code("GT", "modifier"))),
]  # fmt: skip
