"""270 005010X279A1: a provider asks whether a patient is covered, and for what."""

from clearlane.x12.grammar import SegmentSpec, loop
from clearlane.x12.guides import common
from clearlane.x12.guides.dictionary import seg

# X12 element 1365 as far as the guide allows it; the meanings are in the code list service_types.
SERVICE_TYPES = (
    "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23|24|25|26|27|28|30|32|33|34|35|36|37|38|39"
    "|40|41|42|43|44|45|46|47|48|49|50|51|52|53|54|55|56|57|58|59|60|61|62|63|64|65|66|67|68|69|70|71|72|73"
    "|74|75|76|77|78|79|80|81|82|83|84|85|86|87|88|89|90|91|92|93|94|95|96|97|98|99|A0|A1|A2|A3|A4|A5|A6|A7"
    "|A8|A9|AA|AB|AC|AD|AE|AF|AG|AH|AI|AJ|AK|AL|AM|AN|AO|AQ|AR|B1|B2|B3|BA|BB|BC|BD|BE|BF|BG|BH|BI|BJ|BK|BL"
    "|BM|BN|BP|BQ|BR|BS|BT|BU|BV|BW|BX|BY|BZ|C1|CA|CB|CC|CD|CE|CF|CG|CH|CI|CJ|CK|CL|CM|CN|CO|CP|CQ|DG|DM|DS"
    "|GF|GN|GY|IC|MH|NI|ON|PT|PU|RN|RT|TC|TN|UC"
)
PROVIDER_ROLES = "AD|AT|BI|CO|CV|H|HH|LA|OT|P1|P2|PC|PE|R|RF|SK|SU"
PROCEDURE = "S(R=AD|CJ|HC|ID|IV|N4|ZZ R S S S S - {})"
POINTERS = "S(R S S S)"
DIAGNOSES = "R(R=ABK|BK R)" + " S(R=ABF|BF R)" * 7
SOURCE_NAME = "R=2B|36|GP|P5|PR R=1|2 R S S - S R=24|46|FI|NI|PI|XV|XX R"
RECEIVER_NAME = "R=1P|2B|36|80|FA|GP|P5|PR R=1|2 {} S S - S R=24|34|FI|PI|PP|SV|XV|XX R"
RECEIVER_REFERENCES = "R=0B|1C|1D|1J|4A|CT|EL|EO|HPI|JD|N5|N7|Q4|SY|TJ R S"
BIRTH_AND_SEX = "S=D8 S S=F|M|U"
BIRTH_ORDER = "R={} R={} {} {} - - - - - - - - - - - - {}"
PERIOD = "R={} R=D8|RD8 R"
TRACE = "R={} R R S"

_PROVIDER = f"R={PROVIDER_ROLES} S=9K|D3|EI|HPI|PXC|SY|TJ S"


def _details() -> tuple[SegmentSpec, ...]:
    """Return the details of a benefit inquiry. New nodes each time: a node belongs to one place only."""
    return (
        seg("III", "Where the service is given", "S", 1, "R=ZZ R=@places_of_service"),
        seg("REF", "Referral or authorization number", "S", 1, "R=9F|G1 R"),
        seg("DTP", "Date of the benefit asked about", "S", 1, PERIOD.format("291")),
    )


_DEPENDENT = common.level(
    "2000D",
    "Dependent",
    "S",
    0,
    "R R R=23 R=0",
    seg("TRN", "Trace number of the dependent", "S", 2, TRACE.format("1")),
    common.party(
        "2100D",
        "Dependent name",
        "R=03 R=1 S S S - S",
        seg(
            "REF",
            "Further identifier of the dependent",
            "S",
            9,
            "R=18|1L|1W|6P|CT|EA|EJ|F6|GH|HJ|IF|IG|MRC|N6|SY|Y4 R",
        ),
        seg("N3", "Dependent address", "S", 1, common.ADDRESS),
        seg("N4", "Dependent city, state and postal code", "S", 1, common.CITY),
        seg("PRV", "Provider of the dependent", "S", 1, _PROVIDER),
        seg("DMG", "Birth date and sex of the dependent", "S", 1, BIRTH_AND_SEX),
        seg(
            "INS",
            "Relationship of the dependent",
            "S",
            1,
            BIRTH_ORDER.format("N", "01|19|34", "-", "-", "S"),
        ),
        seg("HI", "Diagnoses of the dependent", "S", 1, DIAGNOSES, key=(0, 0)),
        seg("DTP", "Date of the inquiry about the dependent", "S", 2, PERIOD.format("102|291")),
        loop(
            "2110D",
            "Benefit asked about for the dependent",
            "R",
            99,
            seg(
                "EQ",
                "Benefit asked about",
                "R",
                1,
                f"S={SERVICE_TYPES}*99 {PROCEDURE.format('-')} - - {POINTERS}",
            ),
            *_details(),
        ),
    ),
)

_SUBSCRIBER = common.level(
    "2000C",
    "Subscriber",
    "R",
    0,
    "R R R=22 R=0|1",
    seg("TRN", "Trace number of the subscriber", "S", 2, TRACE.format("1")),
    common.party(
        "2100C",
        "Subscriber name",
        "R=IL R=1|2 S S S - S S=II|MI S",
        seg(
            "REF",
            "Further identifier of the subscriber",
            "S",
            9,
            "R=18|1L|1W|3H|6P|CT|EA|EJ|F6|GH|HJ|IG|N6|NQ|SY|Y4 R",
        ),
        seg("N3", "Subscriber address", "S", 1, common.ADDRESS),
        seg("N4", "Subscriber city, state and postal code", "S", 1, common.CITY),
        seg("PRV", "Provider of the subscriber", "S", 1, _PROVIDER),
        seg("DMG", "Birth date and sex of the subscriber", "S", 1, BIRTH_AND_SEX),
        seg(
            "INS",
            "Birth order of the subscriber",
            "S",
            1,
            BIRTH_ORDER.format("Y", "18", "-", "-", "R"),
        ),
        seg("HI", "Diagnoses of the subscriber", "S", 1, DIAGNOSES, key=(0, 0)),
        seg("DTP", "Date of the inquiry about the subscriber", "S", 2, PERIOD.format("102|291")),
        loop(
            "2110C",
            "Benefit asked about for the subscriber",
            "S",
            99,
            seg(
                "EQ",
                "Benefit asked about",
                "R",
                1,
                f"S={SERVICE_TYPES}*99 {PROCEDURE.format('-')} S=FAM - {POINTERS}",
            ),
            seg("AMT", "Spend down amount", "S", 1, "R=R R"),
            seg("AMT", "Billed amount the spend down counts against", "S", 1, "R=PB R"),
            *_details(),
        ),
    ),
    _DEPENDENT,
)

GUIDE = common.make_guide(
    "005010X279A1",
    "270",
    "HS",
    "Eligibility inquiry",
    seg("BHT", "Purpose and identity of the inquiry", "R", 1, "R=0022 R=01|13 S R R S=RT"),
    common.level(
        "2000A",
        "Information source",
        "R",
        0,
        "R - R=20 R=1",
        common.party("2100A", "Information source name", SOURCE_NAME),
        common.level(
            "2000B",
            "Information receiver",
            "R",
            0,
            "R R R=21 R=1",
            common.party(
                "2100B",
                "Information receiver name",
                RECEIVER_NAME.format("R"),
                seg("REF", "Further identifier of the receiver", "S", 9, RECEIVER_REFERENCES),
                seg("N3", "Information receiver address", "S", 1, common.ADDRESS),
                seg("N4", "Information receiver city, state and postal code", "S", 1, common.CITY),
                seg(
                    "PRV",
                    "Role and specialty of the receiver",
                    "S",
                    1,
                    f"R={PROVIDER_ROLES}|SB S=PXC S",
                ),
            ),
            _SUBSCRIBER,
        ),
    ),
    unit="2000C",
    earlier_ids=("005010X279",),
)
