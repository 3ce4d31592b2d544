"""837D: dental claims, 005010X224A2. Data only; element and loop names are our own."""

from clearlane.x12.grammar import LoopSpec, loop
from clearlane.x12.guides import common837
from clearlane.x12.guides.dictionary import seg

PROCEDURE = "(R=AD R S S S S S)"
SURFACE = "B|D|F|I|L|M|O"
# The universal numbering: permanent teeth 1 to 32, milk teeth A to T; a supernumerary tooth is named after
# its neighbor, 50 more or with an S.
_PERMANENT = [str(number) for number in (*range(1, 33), *range(51, 83))]
TEETH = "|".join(
    [*_PERMANENT, *"ABCDEFGHIJKLMNOPQRST", *(f"{tooth}S" for tooth in "ABCDEFGHIJKLMNOPQRST")]
)
# The whole mouth, jaws, sextants, another area, quadrants, sides.
AREAS = "00|01|02|03|04|05|06|07|08|09|10|20|30|40|L|R"
# The facility of a line has other numbers than that of a claim: no license (0B), but a UPIN (1G).
LINE_FACILITY_IDS = "1G|G2|LU"
REPORTS = "B4|DA|DG|EB|OZ|P6|RB|RR"

CLAIM_DATES = (
    common837.dtp("439", "Accident"),
    common837.dtp("452", "Appliance placed"),
    common837.dtp("472", "Service", "D8|RD8"),
    common837.dtp("050", "Received by the repricer"),
)

CLAIM_NUMBERS = (
    common837.ref("G3", "Predetermination"),
    common837.ref("4N", "Service without authorization", values=common837.AUTHORIZATION_EXCEPTIONS),
    common837.ref("F8", "Payer's claim number"),
    common837.ref("9F", "Referral"),
    common837.ref("G1", "Prior authorization"),
    common837.ref("9A", "Repriced claim number"),
    common837.ref("9C", "Adjusted repriced claim number"),
    common837.trace_number(),
)

CLAIM_PROVIDERS = (
    common837.provider(
        "2310A",
        "Referring provider",
        common837.PERSON,
        "DN|P3",
        common837.REFERRING_IDS,
        role="RF",
        repeat=2,
    ),
    common837.provider(
        "2310B",
        "Rendering provider",
        common837.PERSON_OR_ORGANIZATION,
        "82",
        common837.ALL_IDS,
        role="PE",
    ),
    common837.facility(
        "2310C", common837.ref(common837.FACILITY_IDS, "Service facility second number", 3)
    ),
    common837.provider(
        "2310D", "Assistant surgeon", common837.PERSON, "DD", common837.ALL_IDS, role="AS"
    ),
    common837.provider("2310E", "Supervising provider", common837.PERSON, "DQ", common837.ALL_IDS),
)

OTHER_COVERAGE = loop(
    "2320",
    "Other coverage",
    "S",
    10,
    common837.other_coverage(f"S={common837.SECONDARY_REASON}"),
    common837.adjustments("Claim adjustments"),
    common837.amt("D", "Paid by the other payer"),
    common837.amt("EAF", "What the patient still owes"),
    common837.amt("A8", "Not covered"),
    seg("OI", "Other insurance coverage", "R", 1, "- - R=N|W|Y - - R=I|Y"),
    common837.outpatient(),
    common837.other_subscriber(),
    common837.other_payer(common837.ref("G3", "Other payer's predetermination")),
    common837.elsewhere(
        "2330C", "Referring provider", "DN|P3", "1", common837.REFERRING_IDS, 3, repeat=2
    ),
    common837.elsewhere("2330D", "Rendering provider", "82", "1|2", common837.ALL_IDS, 3),
    common837.elsewhere("2330E", "Supervising provider", "DQ", "1", common837.ALL_IDS, 3),
    common837.elsewhere("2330F", "Billing provider", "85", "1|2", common837.BILLING_IDS, 2),
    common837.elsewhere("2330G", "Service facility", "77", "2", common837.FACILITY_IDS, 3),
    common837.elsewhere("2330H", "Assistant surgeon", "DD", "1", common837.ALL_IDS, 3),
)

LINE_DATES = (
    common837.dtp("472", "Service"),  # a period is given for the whole claim
    common837.dtp("139|441", "Prior placement"),
    common837.dtp("452", "Appliance placed"),
    common837.dtp("446", "Appliance replaced"),
    common837.dtp("196", "Treatment begun"),
    common837.dtp("198", "Treatment completed"),
)

LINE_NUMBERS = (
    common837.ref_of_payer("G3", "Predetermination", 5),
    common837.ref_of_payer("G1", "Prior authorization", 5),
    common837.ref("6R", "Line control number"),
    common837.ref("9A|9B", "Repriced line number"),
    common837.ref("9C|9D", "Adjusted repriced line number"),
    common837.ref_of_payer("9F", "Referral", 5),
)

LINE_PROVIDERS = (
    common837.provider(
        "2420A",
        "Rendering provider",
        common837.PERSON_OR_ORGANIZATION,
        "82",
        common837.ALL_IDS,
        role="PE",
    ),
    common837.provider(
        "2420B", "Assistant surgeon", common837.PERSON, "DD", common837.ALL_IDS, role="AS"
    ),
    common837.provider("2420C", "Supervising provider", common837.PERSON, "DQ", common837.ALL_IDS),
    common837.facility(
        "2420D", common837.ref_of_payer(LINE_FACILITY_IDS, "Service facility second number", 3)
    ),
)


def _line() -> LoopSpec:
    areas = f"R={AREAS}" + f" S={AREAS}" * 4
    pointers = "R=1|2|3|4 S=1|2|3|4 S=1|2|3|4 S=1|2|3|4"
    return loop(
        "2400",
        "Service line",
        "R",
        50,
        seg("LX", "Line number", "R", 1, "R"),
        seg(
            "SV3",
            "Dental service",
            "R",
            1,
            f"R{PROCEDURE} R S=@places_of_service S({areas}) S=I|R S - - - - S({pointers})",
        ),
        seg(
            "TOO",
            "Tooth",
            "S",
            32,
            f"R=JP S={TEETH} S(R={SURFACE}" + f" S={SURFACE}" * 4 + ")",
        ),
        *LINE_DATES,
        common837.contract("Line contract"),
        *LINE_NUMBERS,
        common837.amt("T", "Sales tax"),
        seg("K3", "Fixed-format information", "S", 10, "R"),
        common837.pricing("Line pricing", f"R={common837.PRICING} R S S S S S - S=AD|ER S S=UN S"),
        *LINE_PROVIDERS,
        common837.line_decision(f"R R R{PROCEDURE} - R S"),
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
        "R R - - R(R=@places_of_service R=B R=@claim_frequencies) R=N|Y R=A|C R=N|W|Y R=I|Y -"
        " S(R=AA|EM|OA S=AA|EM|OA - S=@states S=@countries) S=01|02|03|05 - - - - - - S=PB"
        f" S={common837.DELAY}",
    ),
    *CLAIM_DATES,
    seg("DN1", "Orthodontic treatment", "S", 1, "S S - S"),
    seg(
        "DN2",
        "Missing tooth or tooth to be extracted",
        "S",
        35,
        f"R={TEETH} R=E|M - - - R=JP",
    ),
    common837.attachment("Claim attachment", REPORTS),
    common837.contract("Claim contract"),
    common837.amt("F5", "Paid by the patient"),
    *CLAIM_NUMBERS,
    seg("K3", "Fixed-format information", "S", 10, "R"),
    seg("NTE", "Claim note", "S", 5, "R=ADD R"),
    seg("HI", "Diagnoses", "S", 1, "R(R=ABK|BK|TQ R)" + " S(R=ABF|BF|TQ R)" * 3),
    common837.pricing("Claim pricing", f"R={common837.PRICING} R S S S S S - - - - -"),
    *CLAIM_PROVIDERS,
    OTHER_COVERAGE,
    _line(),
)

GUIDE = common837.make_claim_guide(
    "005010X224A2",
    "837D",
    "Dental claims",
    CLAIM,
    earlier_ids=("005010X224", "005010X224A1"),
    later_ids=("005010X224A3",),
    billing=common837.billing_provider(
        common837.PERSON_OR_ORGANIZATION,
        "EI|SY",
        common837.ref("0B|1G", "Billing provider license or UPIN", 2),
    ),
    pay_to_kinds="1|2",
    insurance_type=f"S={common837.SECONDARY_REASON}",
)
