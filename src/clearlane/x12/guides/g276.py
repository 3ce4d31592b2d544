"""276 005010X212: a provider asks for the status of a claim."""

from clearlane.x12.grammar import LoopSpec, SegmentSpec, loop
from clearlane.x12.guides import common
from clearlane.x12.guides.dictionary import seg

PAYER_NAME = "R=PR R=2 R - - - - R=PI|XV R"
RECEIVER_NAME = "R=41 R=1|2 S S S - - R=46 R"
PROVIDER_NAME = "R=1P R=1|2 S S S - S R=FI|SV|XX R"
SUBSCRIBER_NAME = "R=IL R=1|2 R S S - S R=24|II|MI R"
DEPENDENT_NAME = "R=QC R=1 R S S - S"
PROCEDURE = "R(R=AD|ER|HC|HP|IV|N4|NU|WK R S S S S - -)"
PERIOD = "R=472 R=D8|RD8 R"
TRACE = "R={} R"


def reference(code: str, name: str) -> SegmentSpec:
    """Return a claim reference that may occur once."""
    return seg("REF", name, "S", 1, f"R={code} R")


def _claims(letter: str, usage: str) -> LoopSpec:
    """Return the loop of requested claims, of a subscriber (D) or a dependent (E)."""
    return loop(
        f"2200{letter}",
        "Claim asked about",
        usage,
        0,
        seg("TRN", "Trace number of the question", "R", 1, TRACE.format("1")),
        reference("1K", "Payer claim number"),
        reference("BLT", "Type of bill"),
        reference("LU", "Application or location of the system"),
        reference("6P", "Group number"),
        reference("EJ", "Patient account number"),
        reference("XZ", "Prescription number"),
        reference("D9", "Clearinghouse claim number"),
        seg("AMT", "Total charge of the claim", "S", 1, "R=T3 R"),
        seg("DTP", "Service date of the claim", "S", 1, PERIOD),
        loop(
            f"2210{letter}",
            "Service line asked about",
            "S",
            0,
            seg("SVC", "Service line asked about", "R", 1, f"{PROCEDURE} R - S - - S"),
            reference("FJ", "Line control number"),
            seg("DTP", "Service date of the line", "R", 1, PERIOD),
        ),
    )


_DEPENDENT = common.level(
    "2000E",
    "Dependent",
    "S",
    0,
    "R R R=23",
    seg("DMG", "Birth date and sex of the dependent", "R", 1, "R=D8 R S=F|M"),
    common.party("2100E", "Dependent name", DEPENDENT_NAME),
    _claims("E", "R"),
)

_SUBSCRIBER = common.level(
    "2000D",
    "Subscriber",
    "R",
    0,
    "R R R=22 R=0|1",
    seg("DMG", "Birth date and sex of the subscriber", "S", 1, "R=D8 R S=F|M"),
    common.party("2100D", "Subscriber name", SUBSCRIBER_NAME),
    _claims("D", "S"),
    _DEPENDENT,
)

GUIDE = common.make_guide(
    "005010X212",
    "276",
    "HR",
    "Claim status inquiry",
    seg("BHT", "Purpose and identity of the inquiry", "R", 1, "R=0010 R=13 R R R"),
    common.level(
        "2000A",
        "Information source",
        "R",
        0,
        "R - R=20 R=1",
        common.party("2100A", "Payer name", PAYER_NAME),
        common.level(
            "2000B",
            "Information receiver",
            "R",
            0,
            "R R R=21 R=1",
            common.party("2100B", "Information receiver name", RECEIVER_NAME),
            common.level(
                "2000C",
                "Service provider",
                "R",
                0,
                "R R R=19 R=1",
                common.party("2100C", "Provider name", PROVIDER_NAME, repeat=2),
                _SUBSCRIBER,
            ),
        ),
    ),
    unit="2000D",
)
