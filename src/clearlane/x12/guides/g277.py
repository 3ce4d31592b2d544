"""277 005010X212: a payer answers with the status of a claim."""

from clearlane.x12.grammar import Guide, LoopSpec, loop
from clearlane.x12.guides import g276
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


_DEPENDENT = loop(
    "2000E",
    "Dependent",
    "S",
    0,
    seg("HL", "Dependent level", "R", 1, "R R R=23"),
    loop(
        "2100E", "Dependent name", "R", 1, seg("NM1", "Dependent name", "R", 1, g276.DEPENDENT_NAME)
    ),
    _claims("E", "R"),
)

_SUBSCRIBER = loop(
    "2000D",
    "Subscriber",
    "S",
    0,
    seg("HL", "Subscriber level", "R", 1, "R R R=22 R=0|1"),
    loop(
        "2100D",
        "Subscriber name",
        "R",
        1,
        seg("NM1", "Subscriber name", "R", 1, g276.SUBSCRIBER_NAME),
    ),
    _claims("D", "S"),
    _DEPENDENT,
)

_PROVIDER = loop(
    "2000C",
    "Service provider",
    "S",
    0,
    seg("HL", "Service provider level", "R", 1, "R R R=19 R=0|1"),
    loop("2100C", "Provider name", "R", 2, seg("NM1", "Provider name", "R", 1, g276.PROVIDER_NAME)),
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

GUIDE = Guide(
    id="005010X212",
    kind="277",
    transaction="277",
    functional_id="HN",
    name="Claim status response",
    unit="2000D",
    root=loop(
        "277",
        "Claim status response",
        "R",
        1,
        seg("ST", "Start of the transaction set", "R", 1, "R=277 R R=005010X212"),
        seg("BHT", "Purpose and identity of the response", "R", 1, "R=0010 R=08 R R R R=DG"),
        loop(
            "2000A",
            "Information source",
            "R",
            0,
            seg("HL", "Information source level", "R", 1, "R - R=20 R=1"),
            loop(
                "2100A",
                "Payer name",
                "R",
                1,
                seg("NM1", "Payer name", "R", 1, g276.PAYER_NAME),
                seg(
                    "PER",
                    "Payer contact",
                    "S",
                    1,
                    f"R=IC S R={_WAYS.format('')} R S={_WAYS.format('EX|')} S S={_WAYS.format('EX|')} S",
                ),
            ),
            loop(
                "2000B",
                "Information receiver",
                "R",
                0,
                seg("HL", "Information receiver level", "R", 1, "R R R=21 R=0|1"),
                loop(
                    "2100B",
                    "Information receiver name",
                    "R",
                    1,
                    seg("NM1", "Information receiver name", "R", 1, g276.RECEIVER_NAME),
                ),
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
        seg("SE", "End of the transaction set", "R", 1, "R R"),
    ),
)
