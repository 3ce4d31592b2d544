"""277 005010X212: a payer answers with the status of a claim."""

from clearlane.x12.grammar import LoopSpec, loop
from clearlane.x12.guides import common, g276
from clearlane.x12.guides.dictionary import seg

_CODES = "R=@status_categories R=@statuses"
_WAYS = "ED|EM|{}FX|TE"


def _answer(first: str, further: str, middle: str) -> str:
    """Return the usage of an STC: the first status, the elements between, and two further statuses."""
    return f"R({_CODES} {first}) R {middle} S({_CODES} {further}) S({_CODES} {further})"


_LEVEL = "- - - - - - -"
_DRUG = "S=@entities S=RX"


def _claims(letter: str, usage: str) -> LoopSpec:
    """Return the loop of reported claims, of a subscriber (D) or a dependent (E)."""
    return loop(
        f"2200{letter}",
        "Claim answered about",
        usage,
        0,
        seg("TRN", "Trace number of the question", "R", 1, g276.TRACE.format("2")),
        seg("STC", "Status of the claim", "R", 0, _answer(_DRUG, _DRUG, "- S S S - S S")),
        g276.reference("1K", "Payer claim number"),
        g276.reference("BLT", "Type of bill"),
        g276.reference("EJ", "Patient account number"),
        g276.reference("XZ", "Prescription number"),
        g276.reference("VV", "Voucher number"),
        g276.reference("D9", "Clearinghouse claim number"),
        seg("DTP", "Service date of the claim", "S", 1, g276.PERIOD),
        loop(
            f"2220{letter}",
            "Service line answered about",
            "S",
            0,
            seg("SVC", "Service line answered about", "R", 1, f"{g276.PROCEDURE} R R S - - R"),
            seg("STC", "Status of the line", "R", 0, _answer(_DRUG, _DRUG, _LEVEL)),
            g276.reference("FJ", "Line control number"),
            seg("DTP", "Service date of the line", "R", 1, g276.PERIOD),
        ),
    )


_DEPENDENT = common.level(
    "2000E",
    "Dependent",
    "S",
    0,
    "R R R=23",
    common.party("2100E", "Dependent name", g276.DEPENDENT_NAME),
    _claims("E", "R"),
)

_SUBSCRIBER = common.level(
    "2000D",
    "Subscriber",
    "S",
    0,
    "R R R=22 R=0|1",
    common.party("2100D", "Subscriber name", g276.SUBSCRIBER_NAME),
    _claims("D", "S"),
    _DEPENDENT,
)

_PROVIDER = common.level(
    "2000C",
    "Service provider",
    "S",
    0,
    "R R R=19 R=0|1",
    common.party("2100C", "Provider name", g276.PROVIDER_NAME, repeat=2),
    loop(
        "2200C",
        "Answer at the provider's level",
        "S",
        1,
        seg("TRN", "Trace number of the provider", "R", 1, g276.TRACE.format("1")),
        seg("STC", "Status at the provider's level", "R", 0, _answer("S=1P|85", "S", _LEVEL)),
    ),
    _SUBSCRIBER,
)

GUIDE = common.make_guide(
    "005010X212",
    "277",
    "HN",
    "Claim status response",
    seg("BHT", "Purpose and identity of the response", "R", 1, "R=0010 R=08 R R R R=DG"),
    common.level(
        "2000A",
        "Information source",
        "R",
        0,
        "R - R=20 R=1",
        common.party(
            "2100A",
            "Payer name",
            g276.PAYER_NAME,
            seg(
                "PER",
                "Payer contact",
                "S",
                1,
                f"R=IC S R={_WAYS.format('')} R S={_WAYS.format('EX|')} S S={_WAYS.format('EX|')} S",
            ),
        ),
        common.level(
            "2000B",
            "Information receiver",
            "R",
            0,
            "R R R=21 R=0|1",
            common.party("2100B", "Information receiver name", g276.RECEIVER_NAME),
            loop(
                "2200B",
                "Answer at the receiver's level",
                "S",
                1,
                seg("TRN", "Trace number of the receiver", "R", 1, g276.TRACE.format("2")),
                seg(
                    "STC",
                    "Status at the receiver's level",
                    "R",
                    0,
                    _answer("S=41|AY|PR", "S", _LEVEL),
                ),
            ),
            _PROVIDER,
        ),
    ),
    unit="2000D",
)
