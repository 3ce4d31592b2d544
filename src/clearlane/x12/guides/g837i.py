"""837I: institutional claims, 005010X223A2. Data only; element and loop names are our own."""

from clearlane.x12.grammar import SegmentSpec, loop
from clearlane.x12.guides import common837
from clearlane.x12.guides.dictionary import seg

PROCEDURE = "(R=ER|HC|HP|IV|WK R S S S S S)"
NOTES = "ALG|DCP|DGN|DME|MED|NTR|ODT|RHB|RLH|RNH|SET|SFM|SPT|UPI"
SCREENING = "AV|NU|S2|ST"
PRESENT = "- - - - - - S=N|U|W|Y"


def _codes(
    name: str, usage: str, repeat: int, codes: str, rest: str = "", places: int = 12
) -> SegmentSpec:
    """Return an HI of one code list: the first element required, the others as needed."""
    one = f"(R={codes} R {rest}".rstrip() + ")"
    return seg("HI", name, usage, repeat, f"R{one}" + f" S{one}" * (places - 1))


CLAIM_NUMBERS = (
    common837.ref("4N", "Service without authorization", values=common837.AUTHORIZATION_EXCEPTIONS),
    common837.ref("9F", "Referral"),
    common837.ref("G1", "Prior authorization"),
    common837.ref("F8", "Payer's claim number"),
    common837.ref("9A", "Repriced claim number"),
    common837.ref("9C", "Adjusted repriced claim number"),
    common837.ref("LX", "Investigational device", 5),
    common837.trace_number(),
    common837.ref("LU", "State of the car accident"),
    common837.ref("EA", "Medical record number"),
    common837.ref("P4", "Demonstration project"),
    common837.ref("G4", "Peer review approval"),
)

CLAIM_CODES = (
    _codes("Principal diagnosis", "R", 1, "ABK|BK", PRESENT, 1),
    _codes("Admitting diagnosis", "S", 1, "ABJ|BJ", places=1),
    _codes("Reason for the visit", "S", 1, "APR|PR", places=3),
    _codes("External cause of injury", "S", 1, "ABN|BN", PRESENT),
    _codes("Diagnosis related group", "S", 1, "DR", places=1),
    _codes("Other diagnoses", "S", 2, "ABF|BF", PRESENT),
    _codes("Principal procedure", "S", 1, "BBR|BR|CAH", "R=D8 R", 1),
    _codes("Other procedures", "S", 2, "BBQ|BQ", "R=D8 R"),
    _codes("Occurrence spans", "S", 2, "BI", "R=RD8 R"),
    _codes("Occurrences", "S", 2, "BH", "R=D8 R"),
    _codes("Values", "S", 2, "BE", "- - R"),
    _codes("Condition codes", "S", 2, "BG"),
    _codes("Treatment codes", "S", 2, "TC"),
)

CLAIM_PROVIDERS = (
    common837.provider(
        "2310A", "Attending provider", common837.PERSON, "71", common837.ALL_IDS, role="AT"
    ),
    common837.provider("2310B", "Operating physician", common837.PERSON, "72", common837.ALL_IDS),
    common837.provider(
        "2310C", "Other operating physician", common837.PERSON, "ZZ", common837.ALL_IDS
    ),
    common837.provider("2310D", "Rendering provider", common837.PERSON, "82", common837.ALL_IDS),
    common837.facility(
        "2310E", common837.ref(common837.FACILITY_IDS, "Service facility second number", 3)
    ),
    common837.provider(
        "2310F", "Referring provider", common837.PERSON, "DN", common837.REFERRING_IDS
    ),
)

OTHER_COVERAGE = loop(
    "2320",
    "Other coverage",
    "S",
    10,
    common837.other_coverage("-"),
    common837.adjustments("Claim adjustments"),
    common837.amt("D", "Paid by the other payer"),
    common837.amt("EAF", "What the patient still owes"),
    common837.amt("A8", "Not covered"),
    seg("OI", "Other insurance coverage", "R", 1, "- - R=N|W|Y - - R=I|Y"),
    seg(
        "MIA",
        "Inpatient adjudication",
        "S",
        1,
        "R - S S S=@rarc" + " S" * 14 + " S=@rarc S=@rarc S=@rarc S=@rarc S",
    ),
    common837.outpatient(),
    common837.other_subscriber(2),
    common837.other_payer(),
    common837.elsewhere("2330C", "Attending provider", "71", "1", common837.ALL_IDS, 4),
    common837.elsewhere("2330D", "Operating physician", "72", "1", common837.ALL_IDS, 4),
    common837.elsewhere("2330E", "Other operating physician", "ZZ", "1", common837.ALL_IDS, 4),
    common837.elsewhere("2330F", "Service facility", "77", "2", common837.FACILITY_IDS, 3),
    common837.elsewhere("2330G", "Rendering provider", "82", "1", common837.ALL_IDS, 4),
    common837.elsewhere("2330H", "Referring provider", "DN", "1", common837.REFERRING_IDS, 3),
    common837.elsewhere("2330I", "Billing provider", "85", "2", common837.BILLING_IDS, 2),
)

LINE_PROVIDERS = (
    common837.provider("2420A", "Operating physician", common837.PERSON, "72", common837.ALL_IDS),
    common837.provider(
        "2420B", "Other operating physician", common837.PERSON, "ZZ", common837.ALL_IDS
    ),
    common837.provider("2420C", "Rendering provider", common837.PERSON, "82", common837.ALL_IDS),
    common837.provider(
        "2420D", "Referring provider", common837.PERSON, "DN", common837.REFERRING_IDS
    ),
)

LINE = loop(
    "2400",
    "Service line",
    "R",
    999,
    seg("LX", "Line number", "R", 1, "R"),
    seg("SV2", "Institutional service", "R", 1, f"R S{PROCEDURE} R R=DA|UN R - S"),
    common837.attachment("Line attachment"),
    common837.dtp("472", "Service", "D8|RD8"),
    common837.ref("6R", "Line control number"),
    common837.ref("9B", "Repriced line number"),
    common837.ref("9D", "Adjusted repriced line number"),
    common837.amt("GT", "Service tax"),
    common837.amt("N8", "Facility tax"),
    seg("NTE", "Third-party note", "S", 1, "R=TPO R"),
    common837.pricing(
        "Line pricing", f"R={common837.PRICING} R S S S S S S S=ER|HC|HP|IV|WK S S=DA|UN S"
    ),
    common837.drug("N4"),
    *LINE_PROVIDERS,
    common837.line_decision(f"R R S{PROCEDURE} R R S"),
)

CLAIM = loop(
    "2300",
    "Claim",
    "S",
    100,
    seg(
        "CLM",
        "Claim",
        "R",
        1,
        "R R - - R(R R=A R=@claim_frequencies) - R=A|B|C R=N|W|Y R=I|Y - - - - - - - - - -"
        f" S={common837.DELAY}",
    ),
    common837.dtp("096", "Hour of discharge", "TM"),
    common837.dtp("434", "Statement", "RD8", "R"),
    common837.dtp("435", "Admission", "D8|DT"),
    common837.dtp("050", "Received by the repricer"),
    seg("CL1", "Institutional claim codes", "R", 1, "S S R"),
    common837.attachment("Claim attachment"),
    common837.contract("Claim contract"),
    common837.amt("F3", "What the patient is expected to owe"),
    *CLAIM_NUMBERS,
    seg("K3", "Fixed-format information", "S", 10, "R"),
    seg("NTE", "Claim note", "S", 10, f"R={NOTES} R"),
    seg("NTE", "Billing note", "S", 1, "R=ADD R"),
    seg("CRC", "EPSDT referral", "S", 1, f"R=ZZ R=N|Y R={SCREENING} S={SCREENING} S={SCREENING}"),
    *CLAIM_CODES,
    common837.pricing("Claim pricing", f"R={common837.PRICING} R S S S S S S - - S=DA|UN S"),
    *CLAIM_PROVIDERS,
    OTHER_COVERAGE,
    LINE,
)

GUIDE = common837.make_claim_guide(
    "005010X223A2",
    "837I",
    "Institutional claims",
    CLAIM,
    earlier_ids=("005010X223", "005010X223A1"),
    later_ids=("005010X223A3",),
    billing=common837.billing_provider(common837.PLACE, "EI"),
    pay_to_kinds="2",
)
