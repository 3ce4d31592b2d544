"""271 005010X279A1: a payer answers what a patient is covered for, or why it cannot."""

from clearlane.x12.grammar import LoopSpec, SegmentSpec, loop
from clearlane.x12.guides import common, g270
from clearlane.x12.guides.dictionary import seg

BENEFITS = "1|2|3|4|5|6|7|8|A|B|C|CB|D|E|F|G|H|I|J|K|L|M|MC|N|O|P|Q|R|S|T|U|V|W|X|Y"
COVERAGE_LEVELS = "CHD|DEP|ECH|EMP|ESP|FAM|IND|SPC|SPO"
INSURANCE_TYPES = (
    "12|13|14|15|16|41|42|43|47|AP|C1|CO|CP|D|DB|EP|FF|GP|HM|HN|HS|IN|IP|LC|LD|LI|LT|MA|MB|MC|MH|MI|MP|OT"
    "|PE|PL|PP|PR|PS|QM|RP|SP|TF|WC|WU"
)
TIME_PERIODS = "6|7|13|21|22|23|24|25|26|27|28|29|30|31|32|33|34|35|36"
QUANTITIES = "8H|99|CA|CE|D3|DB|DY|HS|LA|LE|M2|MN|P6|QA|S7|S8|VS|YY"

_REFUSAL = "R=N|Y - R={} R={}"
_PERSON_REFUSALS = "15|35|42|43|45|47|48|49|51|52|56|57|58|60|61|62|63|71"
_BENEFIT_REFUSALS = "15|33|52|53|54|55|56|57|60|61|62|63|69|70|98|AA|AE|AF|AG|AO|CI|E8|IA|MA"
_CONTACT = "R=IC S S=ED|EM|FX|TE|UR{0} S S=ED|EM|EX|FX|TE|UR{0} S S=ED|EM|EX|FX|TE|UR{0} S"
_PATIENT_DATES = (
    "096|102|152|291|307|318|340|341|342|343|346|347|356|357|382|435|442|458|472|539|540|636|771"
)
_BENEFIT_DATES = "096|193|194|198|290|291|292|295|304|307|318|346|348|349|356|357|435|472|636|771"
_RANKS = (
    "A1|A2|A3|B1|B2|C1|C2|C3|C4|C5|C6|C7|C8|C9|E1|F1|F2|F3|F4|G1|G4|L1|L2|L3|L4|L5|L6|M1|M2|M3|M4|M5|M6"
    "|P1|P2|P3|P4|P5|R1|R2|S1|S2|S3|S4|S5|S6|S7|S8|S9|SA|SB|SC|T1|V1|W1"
)
_MILITARY = (
    "R=A|C|L|O|P|S|T R=AE|AO|AS|AT|AU|CC|DD|HD|IR|LX|PE|RE|RM|RR|RU"
    f" R=A|B|C|D|E|F|G|H|I|J|K|L|M|N|O|Q|R|S|U|W S S={_RANKS} S=D8|RD8 S"
)
_BENEFIT = (
    f"R={BENEFITS} S={COVERAGE_LEVELS} S={g270.SERVICE_TYPES}*99 S={INSURANCE_TYPES} S S={TIME_PERIODS} S S"
    f" S={QUANTITIES} S S=N|U|Y S=N|U|W|Y {g270.PROCEDURE.format('S')} {g270.POINTERS}"
)
_DELIVERY = (
    "S=DY|FL|HS|MN|VS S S=DA|MO|VS|WK|YR S S=6|7|21|22|23|24|25|26|27|28|29|30|31|32|33|34|35 S"
    " S=1|2|3|4|5|6|7|8|9|A|B|C|D|E|F|G|H|J|K|L|M|N|O|P|Q|R|S|SG|SL|SP|SX|SY|SZ|T|U|V|W|X|Y"
    " S=A|B|C|D|E|F|G|Y"
)
_ENTITIES = "13|1I|1P|2B|36|73|FA|GP|GW|I3|IL|LR|OC|P3|P4|P5|PR|PRP|SEP|TTP|VER|VN|VY|X3|Y2"


def _benefits(letter: str, references: str) -> LoopSpec:
    """Return the benefit loops of a subscriber (C) or a dependent (D), which differ in their ids."""
    return loop(
        f"2110{letter}",
        "Eligibility or benefit",
        "S",
        0,
        seg("EB", "Eligibility or benefit", "R", 1, _BENEFIT),
        seg("HSD", "How often the service may be given", "S", 9, _DELIVERY),
        seg("REF", "Further identifier of the benefit", "S", 9, f"R={references} R S"),
        seg("DTP", "Date of the benefit", "S", 20, g270.PERIOD.format(_BENEFIT_DATES)),
        seg(
            "AAA",
            "Benefit request validation",
            "S",
            9,
            _REFUSAL.format(_BENEFIT_REFUSALS, "C|N|R|W|X|Y"),
        ),
        seg("MSG", "Message about the benefit", "S", 10, "R"),
        loop(
            f"2115{letter}",
            "Further condition of the benefit",
            "S",
            10,
            seg("III", "Further condition of the benefit", "R", 1, "S=GR|NI|ZZ S S=44 S"),
        ),
        seg("LS", "Start of the related parties", "S", 1, "R=2120"),
        common.party(
            f"2120{letter}",
            "Party related to the benefit",
            f"R={_ENTITIES} R=1|2 S S S - S S=24|34|46|FA|FI|II|MI|NI|PI|PP|SV|XV|XX S S=01|02|27|41|48|65|72",
            seg("N3", "Address of the party", "S", 1, common.ADDRESS),
            seg(
                "N4",
                "City, state and postal code of the party",
                "S",
                1,
                "R S=@states S S=@countries S=RJ S S",
            ),
            seg("PER", "Contact of the party", "S", 3, _CONTACT.format("|WP")),
            seg(
                "PRV",
                "Role and specialty of the party",
                "S",
                1,
                f"R={g270.PROVIDER_ROLES}|SB S=PXC S",
            ),
            usage="S",
            repeat=23,
        ),
        seg("LE", "End of the related parties", "S", 1, "R=2120"),
    )


def _person(who: str, refusals: str, relationship: SegmentSpec) -> tuple[SegmentSpec, ...]:
    """Return the segments of a subscriber or dependent between the identifiers and the benefits."""
    return (
        seg("N3", f"{who} address", "S", 1, common.ADDRESS),
        seg("N4", f"{who} city, state and postal code", "S", 1, common.CITY),
        seg(
            "AAA",
            f"{who} request validation",
            "S",
            9,
            _REFUSAL.format(refusals, "C|N|R|S|W|X|Y"),
        ),
        # The 270 admits other qualifiers than the taxonomy, and payers echo what they were sent.
        seg(
            "PRV",
            f"Provider of the {who.lower()}",
            "S",
            1,
            f"R={g270.PROVIDER_ROLES} S=9K|D3|EI|HPI|PXC|SY|TJ S",
        ),
        seg("DMG", f"Birth date and sex of the {who.lower()}", "S", 1, g270.BIRTH_AND_SEX),
        relationship,
        seg("HI", f"Diagnoses of the {who.lower()}", "S", 1, g270.DIAGNOSES, key=(0, 0)),
        seg("DTP", f"Date about the {who.lower()}", "S", 9, g270.PERIOD.format(_PATIENT_DATES)),
        seg("MPI", f"Military service of the {who.lower()}", "S", 1, _MILITARY),
    )


_DEPENDENT = common.level(
    "2000D",
    "Dependent",
    "S",
    0,
    "R R R=23 R=0",
    seg("TRN", "Trace number of the dependent", "S", 3, g270.TRACE.format("1|2")),
    common.party(
        "2100D",
        "Dependent name",
        "R=03 R=1 S S S - S",
        seg(
            "REF",
            "Further identifier of the dependent",
            "S",
            9,
            "R=18|1L|1W|49|6P|CE|CT|EA|EJ|F6|GH|HJ|IF|IG|MRC|N6|NQ|Q4|SY|Y4 R S",
        ),
        *_person(
            "Dependent",
            f"{_PERSON_REFUSALS}|64|65|66|67|68|77",
            seg(
                "INS",
                "Relationship of the dependent",
                "S",
                1,
                g270.BIRTH_ORDER.format("N", "01|19|20|21|39|40|53|G8", "S=001", "S=25", "S"),
            ),
        ),
        _benefits("D", "18|1L|1W|49|6P|9F|ALS|CLI|F6|FO|G1|IG|N6|NQ"),
    ),
)

_SUBSCRIBER = common.level(
    "2000C",
    "Subscriber",
    "S",
    0,
    "R R R=22 R=0|1",
    seg("TRN", "Trace number of the subscriber", "S", 3, g270.TRACE.format("1|2")),
    common.party(
        "2100C",
        "Subscriber name",
        "R=IL R=1|2 S S S - S S=II|MI S",
        seg(
            "REF",
            "Further identifier of the subscriber",
            "S",
            9,
            "R=18|1L|1W|3H|49|6P|CE|CT|EA|EJ|F6|GH|HJ|IF|IG|N6|NQ|Q4|SY|Y4 R S",
        ),
        *_person(
            "Subscriber",
            f"{_PERSON_REFUSALS}|72|73|74|75|76|78",
            seg(
                "INS",
                "Insured status of the subscriber",
                "S",
                1,
                g270.BIRTH_ORDER.format("Y", "18", "S=001", "S=25", "S"),
            ),
        ),
        _benefits("C", "18|1L|1W|49|6P|9F|ALS|CLI|F6|FO|G1|IG|M7|N6|NQ"),
    ),
    _DEPENDENT,
)

GUIDE = common.make_guide(
    "005010X279A1",
    "271",
    "HB",
    "Eligibility response",
    seg("BHT", "Purpose and identity of the response", "R", 1, "R=0022 R=06|11 S R R"),
    common.level(
        "2000A",
        "Information source",
        "R",
        0,
        "R - R=20 R=0|1",
        seg(
            "AAA",
            "Request validation",
            "S",
            9,
            _REFUSAL.format("04|41|42|79", "C|N|P|R|S|Y"),
        ),
        common.party(
            "2100A",
            "Information source name",
            g270.SOURCE_NAME,
            seg("PER", "Contact of the information source", "S", 3, _CONTACT.format("")),
            seg(
                "AAA",
                "Why the information source cannot answer",
                "S",
                9,
                _REFUSAL.format("04|41|42|79|80|T4", "C|N|P|R|S|W|X|Y"),
            ),
        ),
        common.level(
            "2000B",
            "Information receiver",
            "S",
            0,
            "R R R=21 R=0|1",
            common.party(
                "2100B",
                "Information receiver name",
                g270.RECEIVER_NAME.format("S"),
                seg(
                    "REF",
                    "Further identifier of the receiver",
                    "S",
                    9,
                    g270.RECEIVER_REFERENCES,
                ),
                seg("N3", "Information receiver address", "S", 1, common.ADDRESS),
                seg("N4", "Information receiver city, state and postal code", "S", 1, common.CITY),
                seg(
                    "AAA",
                    "Why the receiver gets no answer",
                    "S",
                    9,
                    _REFUSAL.format("15|41|43|44|45|46|47|48|50|51|79|97|T4", "C|N|R|S|W|X|Y"),
                ),
                seg(
                    "PRV",
                    "Role and specialty of the receiver",
                    "S",
                    1,
                    f"R={g270.PROVIDER_ROLES}|SB S=PXC S",
                ),
            ),
            _SUBSCRIBER,
        ),
    ),
    unit="2000C",
    earlier_ids=("005010X279",),
)
