"""837P: professional claims, 005010X222A1. Data only; element and loop names are our own."""

from clearlane.x12.grammar import LoopSpec, SegmentSpec, loop
from clearlane.x12.guides import common837
from clearlane.x12.guides.dictionary import seg

PROCEDURE = "(R=ER|HC|IV|WK R S S S S S)"
POINTER = "1|2|3|4|5|6|7|8|9|10|11|12"
AMBULANCE = "01|04|05|06|07|08|09|12"
VISION = "L1|L2|L3|L4|L5"
SCREENING = "AV|NU|S2|ST"


def _conditions(
    category: str, name: str, repeat: int, answers: str, codes: str, more: int
) -> SegmentSpec:
    return seg(
        "CRC", name, "S", repeat, f"R={category} R={answers} R={codes}" + f" S={codes}" * more
    )


def _ambulance() -> SegmentSpec:
    return seg("CR1", "Ambulance transport", "S", 1, "S=LB S - R=A|B|C|D|E R=DH R - - S S")


def _stop(id: str, name: str, code: str, naming: str) -> LoopSpec:
    return common837.named(id, name, "R={} R=2" + naming, code, *common837.address(name))


CLAIM_DATES = (
    common837.dtp("431", "Onset of the illness"),
    common837.dtp("454", "First treatment"),
    common837.dtp("304", "Last seen"),
    common837.dtp("453", "Acute manifestation"),
    common837.dtp("439", "Accident"),
    common837.dtp("484", "Last menstrual period"),
    common837.dtp("455", "Last x-ray"),
    common837.dtp("471", "Hearing or vision prescription"),
    common837.dtp("314|360|361", "Disability", "D8|RD8"),
    common837.dtp("297", "Last worked"),
    common837.dtp("296", "Return to work"),
    common837.dtp("435", "Admission"),
    common837.dtp("096", "Discharge"),
    common837.dtp("090|091", "Care assumed or given up", repeat=2),
    common837.dtp("444", "First contact in a property and casualty claim"),
    common837.dtp("050", "Received by the repricer"),
)

CLAIM_NUMBERS = (
    common837.ref("4N", "Service without authorization", values=common837.AUTHORIZATION_EXCEPTIONS),
    common837.ref("F5", "Medicare crossover", values="N|Y"),
    common837.ref("EW", "Mammography certificate"),
    common837.ref("9F", "Referral"),
    common837.ref("G1", "Prior authorization"),
    common837.ref("F8", "Payer's claim number"),
    common837.ref("X4", "CLIA number"),
    common837.ref("9A", "Repriced claim number"),
    common837.ref("9C", "Adjusted repriced claim number"),
    common837.ref("LX", "Investigational device"),
    common837.trace_number(),
    common837.ref("EA", "Medical record number"),
    common837.ref("P4", "Demonstration project"),
    common837.ref("1J", "Care plan oversight"),
)

CLAIM_PROVIDERS = (
    common837.provider(
        "2310A",
        "Referring provider",
        common837.PERSON,
        "DN|P3",
        common837.REFERRING_IDS,
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
        "2310C",
        common837.ref(common837.FACILITY_IDS, "Service facility second number", 3),
        common837.phone("Service facility"),
    ),
    common837.provider("2310D", "Supervising provider", common837.PERSON, "DQ", common837.ALL_IDS),
    _stop("2310E", "Ambulance pick-up", "PW", ""),
    _stop("2310F", "Ambulance drop-off", "45", " S"),
)

OTHER_COVERAGE = loop(
    "2320",
    "Other coverage",
    "S",
    10,
    common837.other_coverage(f"S={common837.SECONDARY_REASON}"),
    common837.adjustments("Claim adjustments"),
    common837.amt("D", "Paid by the other payer"),
    common837.amt("A8", "Not covered"),
    common837.amt("EAF", "What the patient still owes"),
    seg("OI", "Other insurance coverage", "R", 1, "- - R=N|W|Y S=P - R=I|Y"),
    common837.outpatient(),
    common837.other_subscriber(),
    common837.other_payer(),
    common837.elsewhere(
        "2330C", "Referring provider", "DN|P3", "1", common837.REFERRING_IDS, 3, repeat=2
    ),
    common837.elsewhere("2330D", "Rendering provider", "82", "1|2", common837.ALL_IDS, 3),
    common837.elsewhere("2330E", "Service facility", "77", "2", common837.FACILITY_IDS, 3),
    common837.elsewhere("2330F", "Supervising provider", "DQ", "1", common837.ALL_IDS, 3),
    common837.elsewhere("2330G", "Billing provider", "85", "1|2", common837.BILLING_IDS, 2),
)

LINE_DATES = (
    common837.dtp("472", "Service", "D8|RD8", "R"),
    common837.dtp("471", "Prescription"),
    common837.dtp("607", "Certification revised"),
    common837.dtp("463", "Therapy begun"),
    common837.dtp("461", "Last certification"),
    common837.dtp("304", "Last seen"),
    common837.dtp("738|739", "Test", repeat=2),
    common837.dtp("011", "Shipped"),
    common837.dtp("455", "Last x-ray"),
    common837.dtp("454", "First treatment"),
)

LINE_NUMBERS = (
    common837.ref("9B", "Repriced line number"),
    common837.ref("9D", "Adjusted repriced line number"),
    common837.ref_of_payer("G1", "Prior authorization", 5),
    common837.ref("6R", "Line control number"),
    common837.ref("EW", "Mammography certificate"),
    common837.ref("X4", "CLIA number"),
    common837.ref("F4", "CLIA number of the referring laboratory"),
    common837.ref("BT", "Immunization batch"),
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
        "2420B",
        "Purchased service provider",
        "R={} R=1|2 - - - - - S=XX S",
        "QB",
        common837.REFERRING_IDS,
    ),
    common837.facility(
        "2420C",
        common837.ref_of_payer(common837.BILLING_IDS, "Service facility second number", 3),
    ),
    common837.provider("2420D", "Supervising provider", common837.PERSON, "DQ", common837.ALL_IDS),
    common837.named(
        "2420E",
        "Ordering provider",
        common837.PERSON,
        "DK",
        *common837.address("Ordering provider", "S"),
        common837.ref_of_payer(common837.REFERRING_IDS, "Ordering provider second number", 20),
        common837.contact("Ordering provider"),
    ),
    common837.provider(
        "2420F",
        "Referring provider",
        common837.PERSON,
        "DN|P3",
        common837.REFERRING_IDS,
        repeat=2,
    ),
    _stop("2420G", "Ambulance pick-up", "PW", ""),
    _stop("2420H", "Ambulance drop-off", "45", " S"),
)

LINE = loop(
    "2400",
    "Service line",
    "R",
    50,
    seg("LX", "Line number", "R", 1, "R"),
    seg(
        "SV1",
        "Professional service",
        "R",
        1,
        f"R{PROCEDURE} R R=MJ|UN R<8 S=@places_of_service - R(R={POINTER} S={POINTER} S={POINTER}"
        f" S={POINTER}) - S=Y - S=Y S=Y - - S=0",
    ),
    seg("SV5", "Durable medical equipment", "S", 1, "R(R=HC R) R=DA R R R R=1|4|6"),
    # Both kinds of PWK may have CT in the first element; only the second distinguishes them.
    common837.attachment("Line attachment", key=(2, 0)),
    seg("PWK", "Certificate of medical necessity", "S", 1, "R=CT R=AB|AD|AF|AG|NS", key=(2, 0)),
    _ambulance(),
    seg("CR3", "Certification of durable medical equipment", "S", 1, "R=I|R|S R=MO R"),
    _conditions("07", "Ambulance certification", 3, "N|Y", AMBULANCE, 4),
    _conditions("70", "Hospice employee", 1, "N|Y", "65", 0),
    _conditions("09", "Condition of durable medical equipment", 1, "N|Y", "38|ZV", 1),
    *LINE_DATES,
    seg("QTY", "Patients in the ambulance", "S", 1, "R=PT R"),
    seg("QTY", "Obstetric anesthesia units", "S", 1, "R=FL R"),
    seg("MEA", "Test result", "S", 5, "R=OG|TR R=HT|R1|R2|R3|R4 R"),
    common837.contract("Line contract"),
    *LINE_NUMBERS,
    common837.amt("T", "Sales tax"),
    common837.amt("F4", "Postage"),
    seg("K3", "Fixed-format information", "S", 10, "R"),
    seg("NTE", "Line note", "S", 1, "R=ADD|DCP R"),
    seg("NTE", "Third-party note", "S", 1, "R=TPO R"),
    seg("PS1", "Purchased service", "S", 1, "R R"),
    common837.pricing(
        "Line pricing", f"R={common837.PRICING} R S S S S S - S=ER|HC|IV|WK S S=MJ|UN S"
    ),
    common837.drug("EN|EO|HI|N4|ON|UK|UP"),
    *LINE_PROVIDERS,
    common837.line_decision(f"R R R{PROCEDURE} - R S"),
    loop(
        "2440",
        "Form",
        "S",
        0,
        seg("LQ", "Form", "R", 1, "R=AS|UT R"),
        seg("FRM", "Answer on the form", "R", 99, "R S=N|W|Y S S S"),
    ),
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
        "R R - - R(R=@places_of_service R=B R=@claim_frequencies) R=N|Y R=A|B|C R=N|W|Y R=I|Y S=P"
        " S(R=AA|EM|OA S=AA|EM|OA - S=@states S=@countries) S=02|03|05|09 - - - - - - -"
        f" S={common837.DELAY}",
    ),
    *CLAIM_DATES,
    common837.attachment("Claim attachment"),
    common837.contract("Claim contract"),
    common837.amt("F5", "Paid by the patient"),
    *CLAIM_NUMBERS,
    seg("K3", "Fixed-format information", "S", 10, "R"),
    seg("NTE", "Claim note", "S", 1, "R=ADD|CER|DCP|DGN|TPO R"),
    _ambulance(),
    seg("CR2", "Spinal manipulation", "S", 1, "- - - - - - - R=A|C|D|E|F|G|M - S S"),
    _conditions("07", "Ambulance certification", 3, "N|Y", AMBULANCE, 4),
    _conditions("E1|E2|E3", "Vision", 3, "N|Y", VISION, 4),
    _conditions("75", "Homebound", 1, "Y", "IH", 0),
    _conditions("ZZ", "EPSDT referral", 1, "N|Y", SCREENING, 2),
    seg("HI", "Diagnoses", "R", 1, "R(R=ABK|BK R)" + " S(R=ABF|BF R)" * 11),
    seg("HI", "Anesthesia procedures", "S", 1, "R(R=BP R) S(R=BO R)"),
    seg("HI", "Condition codes", "S", 2, "R(R=BG R)" + " S(R=BG R)" * 11),
    common837.pricing(
        "Claim pricing",
        "R=00|01|02|03|04|05|07|08|09|10|11|12|13|14 R S S S S S - - - - -",
    ),
    *CLAIM_PROVIDERS,
    OTHER_COVERAGE,
    LINE,
)

GUIDE = common837.make_claim_guide(
    "005010X222A1",
    "837P",
    "Professional claims",
    CLAIM,
    earlier_ids=("005010X222",),
    later_ids=("005010X222A2",),
    billing=common837.billing_provider(
        common837.PERSON_OR_ORGANIZATION,
        "EI|SY",
        common837.ref("0B|1G", "Billing provider license or UPIN", 2),
    ),
    pay_to_kinds="1|2",
    payer_numbers=2,
    insurance_type=f"S={common837.SECONDARY_REASON}",
    patient_facts="S=D8 S S=01 S S=Y",
)
