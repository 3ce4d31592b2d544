"""837D: dental claims, 005010X224A2. Data only; element and loop names are our own."""

from clearlane.x12.grammar import Guide, LoopSpec, SegmentSpec, loop
from clearlane.x12.guides import common837 as c
from clearlane.x12.guides.dictionary import seg

VERSION = "005010X224A2"
EARLIER_IDS = ("005010X224", "005010X224A1")
LATER_IDS = ("005010X224A3",)

PROCEDURE = "(R=AD R S S S S S)"
SURFACE = "B|D|F|I|L|M|O"
# The universal numbering: permanent teeth 1 to 32, milk teeth A to T; a supernumerary tooth is named after
# its neighbour, 50 more or with an S.
_PERMANENT = [str(number) for number in (*range(1, 33), *range(51, 83))]
TEETH = "|".join(
    [*_PERMANENT, *"ABCDEFGHIJKLMNOPQRST", *(f"{tooth}S" for tooth in "ABCDEFGHIJKLMNOPQRST")]
)
# The whole mouth, jaws, sextants, another area, quadrants, sides.
AREAS = "00|01|02|03|04|05|06|07|08|09|10|20|30|40|L|R"
# The facility of a line has other numbers than that of a claim: no licence (0B), but a UPIN (1G).
LINE_FACILITY_IDS = "1G|G2|LU"
REPORTS = "B4|DA|DG|EB|OZ|P6|RB|RR"


def _claim_dates() -> tuple[SegmentSpec, ...]:
    return (
        c.dtp("439", "Accident"),
        c.dtp("452", "Appliance placed"),
        c.dtp("472", "Service", "D8|RD8"),
        c.dtp("050", "Received by the repricer"),
    )


def _claim_numbers() -> tuple[SegmentSpec, ...]:
    return (
        c.ref("G3", "Predetermination"),
        c.ref("4N", "Service without authorisation", values=c.AUTHORISATION_EXCEPTIONS),
        c.ref("F8", "Payer's claim number"),
        c.ref("9F", "Referral"),
        c.ref("G1", "Prior authorisation"),
        c.ref("9A", "Repriced claim number"),
        c.ref("9C", "Adjusted repriced claim number"),
        c.ref("D9", "Clearinghouse trace number"),
    )


def _claim_providers() -> tuple[LoopSpec, ...]:
    return (
        c.named(
            "2310A",
            "Referring provider",
            c.PERSON,
            "DN|P3",
            c.specialty("RF", "Referring provider"),
            c.ref(c.REFERRING_IDS, "Referring provider second number", 3),
            repeat=2,
        ),
        c.named(
            "2310B",
            "Rendering provider",
            c.PERSON_OR_ORGANISATION,
            "82",
            c.specialty("PE", "Rendering provider"),
            c.ref(c.ALL_IDS, "Rendering provider second number", 4),
        ),
        c.facility("2310C", c.ref(c.FACILITY_IDS, "Service facility second number", 3)),
        c.named(
            "2310D",
            "Assistant surgeon",
            c.PERSON,
            "DD",
            c.specialty("AS", "Assistant surgeon"),
            c.ref(c.ALL_IDS, "Assistant surgeon second number", 4),
        ),
        c.named(
            "2310E",
            "Supervising provider",
            c.PERSON,
            "DQ",
            c.ref(c.ALL_IDS, "Supervising provider second number", 4),
        ),
    )


def _other_coverage() -> LoopSpec:
    return loop(
        "2320",
        "Other coverage",
        "S",
        10,
        c.other_coverage(f"S={c.SECONDARY_REASON}"),
        c.adjustments("Claim adjustments"),
        c.amt("D", "Paid by the other payer"),
        c.amt("EAF", "What the patient still owes"),
        c.amt("A8", "Not covered"),
        seg("OI", "Other insurance coverage", "R", 1, "- - R=N|W|Y - - R=I|Y"),
        c.outpatient(),
        c.other_subscriber(),
        c.other_payer(c.ref("G3", "Other payer's predetermination")),
        c.elsewhere("2330C", "Referring provider", "DN|P3", "1", c.REFERRING_IDS, 3, repeat=2),
        c.elsewhere("2330D", "Rendering provider", "82", "1|2", c.ALL_IDS, 3),
        c.elsewhere("2330E", "Supervising provider", "DQ", "1", c.ALL_IDS, 3),
        c.elsewhere("2330F", "Billing provider", "85", "1|2", c.BILLING_IDS, 2),
        c.elsewhere("2330G", "Service facility", "77", "2", c.FACILITY_IDS, 3),
        c.elsewhere("2330H", "Assistant surgeon", "DD", "1", c.ALL_IDS, 3),
    )


def _line_dates() -> tuple[SegmentSpec, ...]:
    return (
        c.dtp("472", "Service"),  # a period is given for the whole claim
        c.dtp("139|441", "Prior placement"),
        c.dtp("452", "Appliance placed"),
        c.dtp("446", "Appliance replaced"),
        c.dtp("196", "Treatment begun"),
        c.dtp("198", "Treatment completed"),
    )


def _line_numbers() -> tuple[SegmentSpec, ...]:
    return (
        c.ref_of_payer("G3", "Predetermination", 5),
        c.ref_of_payer("G1", "Prior authorisation", 5),
        c.ref("6R", "Line control number"),
        c.ref("9A|9B", "Repriced line number"),
        c.ref("9C|9D", "Adjusted repriced line number"),
        c.ref_of_payer("9F", "Referral", 5),
    )


def _line_providers() -> tuple[LoopSpec, ...]:
    return (
        c.named(
            "2420A",
            "Rendering provider",
            c.PERSON_OR_ORGANISATION,
            "82",
            c.specialty("PE", "Rendering provider"),
            c.ref_of_payer(c.ALL_IDS, "Rendering provider second number", 20),
        ),
        c.named(
            "2420B",
            "Assistant surgeon",
            c.PERSON,
            "DD",
            c.specialty("AS", "Assistant surgeon"),
            c.ref_of_payer(c.ALL_IDS, "Assistant surgeon second number", 20),
        ),
        c.named(
            "2420C",
            "Supervising provider",
            c.PERSON,
            "DQ",
            c.ref_of_payer(c.ALL_IDS, "Supervising provider second number", 20),
        ),
        c.facility("2420D", c.ref_of_payer(LINE_FACILITY_IDS, "Service facility second number", 3)),
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
        *_line_dates(),
        c.contract("Line contract"),
        *_line_numbers(),
        c.amt("T", "Sales tax"),
        seg("K3", "Fixed-format information", "S", 10, "R"),
        c.pricing("Line pricing", f"R={c.PRICING} R S S S S S - S=AD|ER S S=UN S"),
        *_line_providers(),
        c.line_decision(f"R R R{PROCEDURE} - R S"),
    )


def _claim(usage: str) -> LoopSpec:
    return loop(
        "2300",
        "Claim",
        usage,
        100,
        seg(
            "CLM",
            "Claim",
            "R",
            1,
            "R R - - R(R=@places_of_service R=B R=@claim_frequencies) R=N|Y R=A|C R=N|W|Y R=I|Y -"
            " S(R=AA|EM|OA S=AA|EM|OA - S=@states S=@countries) S=01|02|03|05 - - - - - - S=PB"
            f" S={c.DELAY}",
        ),
        *_claim_dates(),
        seg("DN1", "Orthodontic treatment", "S", 1, "S S - S"),
        seg(
            "DN2",
            "Missing tooth or tooth to be extracted",
            "S",
            35,
            f"R={TEETH} R=E|M - - - R=JP",
        ),
        c.attachment("Claim attachment", REPORTS),
        c.contract("Claim contract"),
        c.amt("F5", "Paid by the patient"),
        *_claim_numbers(),
        seg("K3", "Fixed-format information", "S", 10, "R"),
        seg("NTE", "Claim note", "S", 5, "R=ADD R"),
        seg("HI", "Diagnoses", "S", 1, "R(R=ABK|BK|TQ R)" + " S(R=ABF|BF|TQ R)" * 3),
        c.pricing("Claim pricing", f"R={c.PRICING} R S S S S S - - - - -"),
        *_claim_providers(),
        _other_coverage(),
        _line(),
    )


def _billing() -> LoopSpec:
    return c.named(
        "2010AA",
        "Billing provider",
        c.PERSON_OR_ORGANISATION,
        "85",
        *c.address("Billing provider"),
        c.ref("EI|SY", "Billing provider tax number", usage="R"),
        c.ref("0B|1G", "Billing provider licence or UPIN", 2),
        c.contact("Billing provider", repeat=2),
        usage="R",
    )


GUIDE = Guide(
    id=VERSION,
    kind="837D",
    transaction="837",
    functional_id="HC",
    name="Dental claims",
    earlier_ids=EARLIER_IDS,
    later_ids=LATER_IDS,
    unit="2300",
    root=loop(
        "837",
        "Dental claims",
        "R",
        1,
        *c.header("|".join((VERSION, *EARLIER_IDS, *LATER_IDS))),
        loop(
            "2000A",
            "Billing provider level",
            "R",
            0,
            *c.billing_level(),
            _billing(),
            *c.pay_to("1|2"),
            loop(
                "2000B",
                "Subscriber level",
                "R",
                0,
                *c.subscriber_level(f"S={c.SECONDARY_REASON}"),
                c.subscriber(),
                c.payer(1),
                _claim("S"),
                loop(
                    "2000C",
                    "Patient level",
                    "S",
                    0,
                    *c.patient_level(""),
                    c.patient(),
                    _claim("R"),
                ),
            ),
        ),
        c.trailer(),
    ),
)
