"""837P: professional claims, 005010X222A1. Data only; element and loop names are our own."""

from clearlane.x12.grammar import Guide, LoopSpec, SegmentSpec, loop
from clearlane.x12.guides import common837 as c
from clearlane.x12.guides.dictionary import seg

VERSION = "005010X222A1"
EARLIER_IDS = ("005010X222",)
LATER_IDS = ("005010X222A2",)

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
    return c.named(id, name, "R={} R=2" + naming, code, *c.address(name))


def _claim_dates() -> tuple[SegmentSpec, ...]:
    return (
        c.dtp("431", "Onset of the illness"),
        c.dtp("454", "First treatment"),
        c.dtp("304", "Last seen"),
        c.dtp("453", "Acute manifestation"),
        c.dtp("439", "Accident"),
        c.dtp("484", "Last menstrual period"),
        c.dtp("455", "Last x-ray"),
        c.dtp("471", "Hearing or vision prescription"),
        c.dtp("314|360|361", "Disability", "D8|RD8"),
        c.dtp("297", "Last worked"),
        c.dtp("296", "Return to work"),
        c.dtp("435", "Admission"),
        c.dtp("096", "Discharge"),
        c.dtp("090|091", "Care assumed or given up", repeat=2),
        c.dtp("444", "First contact in a property and casualty claim"),
        c.dtp("050", "Received by the repricer"),
    )


def _claim_numbers() -> tuple[SegmentSpec, ...]:
    return (
        c.ref("4N", "Service without authorisation", values=c.AUTHORISATION_EXCEPTIONS),
        c.ref("F5", "Medicare crossover", values="N|Y"),
        c.ref("EW", "Mammography certificate"),
        c.ref("9F", "Referral"),
        c.ref("G1", "Prior authorisation"),
        c.ref("F8", "Payer's claim number"),
        c.ref("X4", "CLIA number"),
        c.ref("9A", "Repriced claim number"),
        c.ref("9C", "Adjusted repriced claim number"),
        c.ref("LX", "Investigational device"),
        c.ref("D9", "Clearinghouse trace number"),
        c.ref("EA", "Medical record number"),
        c.ref("P4", "Demonstration project"),
        c.ref("1J", "Care plan oversight"),
    )


def _claim_providers() -> tuple[LoopSpec, ...]:
    return (
        c.named(
            "2310A",
            "Referring provider",
            c.PERSON,
            "DN|P3",
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
        c.facility(
            "2310C",
            c.ref(c.FACILITY_IDS, "Service facility second number", 3),
            c.phone("Service facility"),
        ),
        c.named(
            "2310D",
            "Supervising provider",
            c.PERSON,
            "DQ",
            c.ref(c.ALL_IDS, "Supervising provider second number", 4),
        ),
        _stop("2310E", "Ambulance pick-up", "PW", ""),
        _stop("2310F", "Ambulance drop-off", "45", " S"),
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
        c.amt("A8", "Not covered"),
        c.amt("EAF", "What the patient still owes"),
        seg("OI", "Other insurance coverage", "R", 1, "- - R=N|W|Y S=P - R=I|Y"),
        c.outpatient(),
        c.other_subscriber(),
        c.other_payer(),
        c.elsewhere("2330C", "Referring provider", "DN|P3", "1", c.REFERRING_IDS, 3, repeat=2),
        c.elsewhere("2330D", "Rendering provider", "82", "1|2", c.ALL_IDS, 3),
        c.elsewhere("2330E", "Service facility", "77", "2", c.FACILITY_IDS, 3),
        c.elsewhere("2330F", "Supervising provider", "DQ", "1", c.ALL_IDS, 3),
        c.elsewhere("2330G", "Billing provider", "85", "1|2", c.BILLING_IDS, 2),
    )


def _line_dates() -> tuple[SegmentSpec, ...]:
    return (
        c.dtp("472", "Service", "D8|RD8", "R"),
        c.dtp("471", "Prescription"),
        c.dtp("607", "Certification revised"),
        c.dtp("463", "Therapy begun"),
        c.dtp("461", "Last certification"),
        c.dtp("304", "Last seen"),
        c.dtp("738|739", "Test", repeat=2),
        c.dtp("011", "Shipped"),
        c.dtp("455", "Last x-ray"),
        c.dtp("454", "First treatment"),
    )


def _line_numbers() -> tuple[SegmentSpec, ...]:
    return (
        c.ref("9B", "Repriced line number"),
        c.ref("9D", "Adjusted repriced line number"),
        c.ref_of_payer("G1", "Prior authorisation", 5),
        c.ref("6R", "Line control number"),
        c.ref("EW", "Mammography certificate"),
        c.ref("X4", "CLIA number"),
        c.ref("F4", "CLIA number of the referring laboratory"),
        c.ref("BT", "Immunisation batch"),
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
            "Purchased service provider",
            "R={} R=1|2 - - - - - S=XX S",
            "QB",
            c.ref_of_payer(c.REFERRING_IDS, "Purchased service provider second number", 20),
        ),
        c.facility("2420C", c.ref_of_payer(c.BILLING_IDS, "Service facility second number", 3)),
        c.named(
            "2420D",
            "Supervising provider",
            c.PERSON,
            "DQ",
            c.ref_of_payer(c.ALL_IDS, "Supervising provider second number", 20),
        ),
        c.named(
            "2420E",
            "Ordering provider",
            c.PERSON,
            "DK",
            *c.address("Ordering provider", "S"),
            c.ref_of_payer(c.REFERRING_IDS, "Ordering provider second number", 20),
            c.contact("Ordering provider"),
        ),
        c.named(
            "2420F",
            "Referring provider",
            c.PERSON,
            "DN|P3",
            c.ref_of_payer(c.REFERRING_IDS, "Referring provider second number", 20),
            repeat=2,
        ),
        _stop("2420G", "Ambulance pick-up", "PW", ""),
        _stop("2420H", "Ambulance drop-off", "45", " S"),
    )


def _line() -> LoopSpec:
    return loop(
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
        c.attachment("Line attachment", key=(2, 0)),
        seg("PWK", "Certificate of medical necessity", "S", 1, "R=CT R=AB|AD|AF|AG|NS", key=(2, 0)),
        _ambulance(),
        seg("CR3", "Certification of durable medical equipment", "S", 1, "R=I|R|S R=MO R"),
        _conditions("07", "Ambulance certification", 3, "N|Y", AMBULANCE, 4),
        _conditions("70", "Hospice employee", 1, "N|Y", "65", 0),
        _conditions("09", "Condition of durable medical equipment", 1, "N|Y", "38|ZV", 1),
        *_line_dates(),
        seg("QTY", "Patients in the ambulance", "S", 1, "R=PT R"),
        seg("QTY", "Obstetric anaesthesia units", "S", 1, "R=FL R"),
        seg("MEA", "Test result", "S", 5, "R=OG|TR R=HT|R1|R2|R3|R4 R"),
        c.contract("Line contract"),
        *_line_numbers(),
        c.amt("T", "Sales tax"),
        c.amt("F4", "Postage"),
        seg("K3", "Fixed-format information", "S", 10, "R"),
        seg("NTE", "Line note", "S", 1, "R=ADD|DCP R"),
        seg("NTE", "Third-party note", "S", 1, "R=TPO R"),
        seg("PS1", "Purchased service", "S", 1, "R R"),
        c.pricing("Line pricing", f"R={c.PRICING} R S S S S S - S=ER|HC|IV|WK S S=MJ|UN S"),
        c.drug("EN|EO|HI|N4|ON|UK|UP"),
        *_line_providers(),
        c.line_decision(f"R R R{PROCEDURE} - R S"),
        loop(
            "2440",
            "Form",
            "S",
            0,
            seg("LQ", "Form", "R", 1, "R=AS|UT R"),
            seg("FRM", "Answer on the form", "R", 99, "R S=N|W|Y S S S"),
        ),
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
            "R R - - R(R=@places_of_service R=B R=@claim_frequencies) R=N|Y R=A|B|C R=N|W|Y R=I|Y S=P"
            " S(R=AA|EM|OA S=AA|EM|OA - S=@states S=@countries) S=02|03|05|09 - - - - - - -"
            f" S={c.DELAY}",
        ),
        *_claim_dates(),
        c.attachment("Claim attachment"),
        c.contract("Claim contract"),
        c.amt("F5", "Paid by the patient"),
        *_claim_numbers(),
        seg("K3", "Fixed-format information", "S", 10, "R"),
        seg("NTE", "Claim note", "S", 1, "R=ADD|CER|DCP|DGN|TPO R"),
        _ambulance(),
        seg("CR2", "Spinal manipulation", "S", 1, "- - - - - - - R=A|C|D|E|F|G|M - S S"),
        _conditions("07", "Ambulance certification", 3, "N|Y", AMBULANCE, 4),
        _conditions("E1|E2|E3", "Vision", 3, "N|Y", VISION, 4),
        _conditions("75", "Homebound", 1, "Y", "IH", 0),
        _conditions("ZZ", "EPSDT referral", 1, "N|Y", SCREENING, 2),
        seg("HI", "Diagnoses", "R", 1, "R(R=ABK|BK R)" + " S(R=ABF|BF R)" * 11),
        seg("HI", "Anaesthesia procedures", "S", 1, "R(R=BP R) S(R=BO R)"),
        seg("HI", "Condition codes", "S", 2, "R(R=BG R)" + " S(R=BG R)" * 11),
        c.pricing(
            "Claim pricing",
            "R=00|01|02|03|04|05|07|08|09|10|11|12|13|14 R S S S S S - - - - -",
        ),
        *_claim_providers(),
        _other_coverage(),
        _line(),
    )


def _patient_facts() -> str:
    return "S=D8 S S=01 S S=Y"


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
    kind="837P",
    transaction="837",
    functional_id="HC",
    name="Professional claims",
    earlier_ids=EARLIER_IDS,
    later_ids=LATER_IDS,
    unit="2300",
    root=loop(
        "837",
        "Professional claims",
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
                seg("PAT", "Subscriber as patient", "S", 1, f"- - - - {_patient_facts()}"),
                c.subscriber(c.phone("Subscriber")),
                c.payer(2),
                _claim("S"),
                loop(
                    "2000C",
                    "Patient level",
                    "S",
                    0,
                    *c.patient_level(f"- - - {_patient_facts()}"),
                    c.patient(c.phone("Patient")),
                    _claim("R"),
                ),
            ),
        ),
        c.trailer(),
    ),
)
