"""Segments and loops that the three claim guides share.

Every function builds new nodes, because a node of a guide belongs to one place only. Knows the dictionary and the notation
of guides; what only one guide has is defined in that guide.
"""

from dataclasses import replace

from clearlane.x12.grammar import Guide, LoopSpec, SegmentSpec, loop
from clearlane.x12.guides import common
from clearlane.x12.guides.dictionary import seg

ORDER_OF_PAYMENT = "A|B|C|D|E|F|G|H|P|S|T|U"
FILING = "11|12|13|14|15|16|17|AM|BL|CH|CI|DS|FI|HM|LM|MA|MB|MC|OF|TV|VA|WC|ZZ"
SECONDARY_REASON = "12|13|14|15|16|41|42|43|47"
RELATIONSHIP = "01|19|20|21|39|40|53|G8"
DELAY = "1|2|3|4|5|6|7|8|9|10|11|15"
CONTRACT = "01|02|03|04|05|06|09"
PRICING = "00|01|02|03|04|05|06|07|08|09|10|11|12|13|14"
REPORTS = (
    "03|04|05|06|07|08|09|10|11|13|15|21|A3|A4|AM|AS|B2|B3|B4|BR|BS|BT|CB|CK|CT|D2|DA|DB|DG|DJ|DS|EB|"
    "HC|HR|I5|IR|LA|M1|MT|NN|OB|OC|OD|OE|OX|OZ|P4|P5|PE|PN|PO|PQ|PY|PZ|RB|RR|RT|RX|SG|V5|XP"
)
BY = "AA|BM|EL|EM|FT|FX"

PERSON = "R={} R=1 R S S - S S=XX S"
PERSON_OR_ORGANIZATION = "R={} R=1|2 R S S - S S=XX S"
PLACE = "R={} R=2 R - - - - S=XX S"

# Why a service was not authorized (REF*4N).
AUTHORIZATION_EXCEPTIONS = "1|2|3|4|5|6|7"

# Which numbers a provider may have beside the NPI, and how many of them.
ALL_IDS = "0B|1G|G2|LU"
REFERRING_IDS = "0B|1G|G2"
FACILITY_IDS = "0B|G2|LU"
BILLING_IDS = "G2|LU"
LINE_LOOPS, LINE_NUMBERS = "24", 20
"""How the ids of loops of a line begin, and how many numbers a provider may have there."""


def ref(
    codes: str, name: str, repeat: int = 1, usage: str = "S", *, values: str = ""
) -> SegmentSpec:
    """Return a reference number, or a code if the guide lists its ``values``."""
    return seg("REF", name, usage, repeat, f"R={codes} R{'=' if values else ''}{values}")


def trace_number() -> SegmentSpec:
    """Return the clearinghouse's number of a claim, which the guides limit to 20 positions."""
    return seg("REF", "Clearinghouse trace number", "S", 1, "R=D9 R<20")


def ref_of_payer(codes: str, name: str, repeat: int, usage: str = "S") -> SegmentSpec:
    """Return a reference number on a line, which may name the payer it belongs to."""
    return seg("REF", name, usage, repeat, f"R={codes} R - S(R=2U R)")


def dtp(codes: str, name: str, forms: str = "D8", usage: str = "S", repeat: int = 1) -> SegmentSpec:
    """Return a date."""
    return seg("DTP", name, usage, repeat, f"R={codes} R={forms} R")


def amt(code: str, name: str) -> SegmentSpec:
    """Return an amount."""
    return seg("AMT", name, "S", 1, f"R={code} R")


def address(whose: str, usage: str = "R") -> tuple[SegmentSpec, SegmentSpec]:
    """Return street and city."""
    return (
        seg("N3", f"{whose} street", usage, 1, common.ADDRESS),
        seg("N4", f"{whose} city, state and ZIP code", usage, 1, common.CITY),
    )


def phone(whose: str) -> SegmentSpec:
    """Return a contact with a telephone number only."""
    return seg("PER", f"{whose} telephone", "S", 1, "R=IC S R=TE R S=EX S")


def contact(whose: str, usage: str = "S", repeat: int = 1) -> SegmentSpec:
    """Return a contact with several communication numbers."""
    ways = "S=EM|EX|FX|TE"
    return seg("PER", f"{whose} contact", usage, repeat, f"R=IC S R=EM|FX|TE R {ways} S {ways} S")


def specialty(role: str, whose: str) -> SegmentSpec:
    """Return a provider's taxonomy code."""
    return seg("PRV", f"{whose} specialty", "S", 1, f"R={role} R=PXC R")


def pricing(name: str, pattern: str) -> SegmentSpec:
    """Return repricing information."""
    rest = "S=T1|T2|T3|T4|T5|T6 S=1|2|3|4|5 S=1|2|3|4|5|6"
    return seg("HCP", name, "S", 1, f"{pattern} {rest}")


def attachment(name: str, reports: str = REPORTS, key: tuple[int, int] = (0, 0)) -> SegmentSpec:
    """Return an attachment that is sent apart from the claim."""
    return seg("PWK", name, "S", 10, f"R={reports} R={BY} - - S=AC S", key=key)


def contract(name: str) -> SegmentSpec:
    """Return contract information."""
    return seg("CN1", name, "S", 1, f"R={CONTRACT} S S S S S")


def adjustments(name: str) -> SegmentSpec:
    """Return the adjustments of another payer, one segment per group."""
    return seg("CAS", name, "S", 5, "R=CO|CR|OA|PI|PR R=@carc R S" + " S=@carc S S" * 5)


def named(
    id: str,
    name: str,
    pattern: str,
    codes: str,
    *children: SegmentSpec,
    repeat: int = 1,
    usage: str = "S",
) -> LoopSpec:
    """Return a loop that an NM1 opens."""
    return common.party(id, name, pattern.format(codes), *children, usage=usage, repeat=repeat)


def provider(
    id: str, name: str, pattern: str, codes: str, ids: str, *, role: str = "", repeat: int = 1
) -> LoopSpec:
    """Return a provider: name, specialty if there is a role, and second numbers, which on a line may name a payer."""
    whose = f"{name} second number"
    numbers = (
        ref_of_payer(ids, whose, LINE_NUMBERS)
        if id.startswith(LINE_LOOPS)
        else ref(ids, whose, len(ids.split("|")))
    )
    specialties = (specialty(role, name),) if role else ()
    return named(id, name, pattern, codes, *specialties, numbers, repeat=repeat)


def elsewhere(
    id: str, who: str, codes: str, kind: str, ids: str, ids_repeat: int, *, repeat: int = 1
) -> LoopSpec:
    """Return the identifiers of a provider at another payer: numbers without a name."""
    name = f"{who} at the other payer"
    return named(
        id,
        name,
        "R={} R=" + kind,
        codes,
        ref(ids, f"{who}'s number at the other payer", ids_repeat, "R"),
        repeat=repeat,
    )


def _copied(node: SegmentSpec | LoopSpec) -> SegmentSpec | LoopSpec:
    """Return another node of the same content: a node is at one place of a guide only."""
    if isinstance(node, SegmentSpec):
        return replace(node)
    return replace(node, children=tuple(map(_copied, node.children)))


def make_claim_guide(
    id: str,
    kind: str,
    name: str,
    claim: LoopSpec,
    *,
    earlier_ids: tuple[str, ...],
    later_ids: tuple[str, ...],
    billing: LoopSpec,
    pay_to_kinds: str,
    payer_numbers: int = 1,
    insurance_type: str = "-",
    patient_facts: str = "",
) -> Guide:
    """Return the guide of a kind of claim; ``claim`` is loop 2300, which is below the subscriber and below the patient.

    ``patient_facts`` is the usage of PAT from the fifth element on. A guide that has these facts has a PAT and a
    telephone of the subscriber too.
    """
    facts = [patient_facts] if patient_facts else []
    return common.make_guide(
        id,
        kind,
        "HC",
        name,
        *_header(),
        loop(
            "2000A",
            "Billing provider level",
            "R",
            0,
            *_billing_level(),
            billing,
            *_pay_to(pay_to_kinds),
            loop(
                "2000B",
                "Subscriber level",
                "R",
                0,
                *_subscriber_level(insurance_type),
                *(seg("PAT", "Subscriber as patient", "S", 1, f"- - - - {one}") for one in facts),
                _subscriber(*(phone("Subscriber") for _ in facts)),
                _payer(payer_numbers),
                claim,
                loop(
                    "2000C",
                    "Patient level",
                    "S",
                    0,
                    *_patient_level(f"- - - {patient_facts}" if patient_facts else ""),
                    _patient(*(phone("Patient") for _ in facts)),
                    replace(claim, usage="R", children=tuple(map(_copied, claim.children))),
                ),
            ),
        ),
        unit="2300",
        earlier_ids=earlier_ids,
        later_ids=later_ids,
        content="claims",
    )


def billing_provider(pattern: str, tax_numbers: str, *more: SegmentSpec) -> LoopSpec:
    """Return 2010AA."""
    return named(
        "2010AA",
        "Billing provider",
        pattern,
        "85",
        *address("Billing provider"),
        ref(tax_numbers, "Billing provider tax number", usage="R"),
        *more,
        contact("Billing provider", repeat=2),
        usage="R",
    )


def _header() -> tuple[SegmentSpec | LoopSpec, ...]:
    """Return the segments and loops from BHT to the receiver."""
    return (
        seg("BHT", "Beginning of the claims", "R", 1, "R=0019 R=00|18 R<30 R R R=31|CH|RP"),
        common.party(
            "1000A", "Submitter", "R=41 R=1|2 R S S - - R=46 R", contact("Submitter", "R", 2)
        ),
        common.party("1000B", "Receiver", "R=40 R=2 R - - - - R=46 R"),
    )


def _billing_level() -> tuple[SegmentSpec, ...]:
    """Return the opening segments of 2000A."""
    return (
        seg("HL", "Billing provider level", "R", 1, "R - R=20 R=1"),
        specialty("BI", "Billing provider"),
        seg("CUR", "Foreign currency", "S", 1, "R=85 R=@currencies"),
    )


def _pay_to(kinds: str) -> tuple[LoopSpec, LoopSpec]:
    """Return pay-to address and pay-to plan: 2010AB and 2010AC."""
    return (
        named("2010AB", "Pay-to address", "R={} R=" + kinds, "87", *address("Pay-to")),
        common.party(
            "2010AC",
            "Pay-to plan",
            "R=PE R=2 R - - - - R=PI|XV R",
            *address("Pay-to plan"),
            ref("2U|FY|NF", "Pay-to plan second number"),
            ref("EI", "Pay-to plan tax number", usage="R"),
            usage="S",
        ),
    )


def _subscriber_level(insurance_type: str) -> tuple[SegmentSpec, SegmentSpec]:
    """Return HL and SBR of 2000B."""
    return (
        seg("HL", "Subscriber level", "R", 1, "R R R=22 R=0|1"),
        seg(
            "SBR",
            "Subscriber and coverage",
            "R",
            1,
            f"R={ORDER_OF_PAYMENT} S=18 S S {insurance_type} - - - S={FILING}",
        ),
    )


def _subscriber(*more: SegmentSpec) -> LoopSpec:
    """Return 2010BA."""
    return loop(
        "2010BA",
        "Subscriber",
        "R",
        1,
        # An organization may be the insured of a work accident, and then has no member number.
        seg("NM1", "Subscriber", "R", 1, "R=IL R=1|2 R S S - S S=II|MI S"),
        *address("Subscriber", "S"),
        seg("DMG", "Subscriber birth and sex", "S", 1, "R=D8 R R=F|M|U"),
        ref("SY", "Subscriber social security number"),
        ref("Y4", "Property and casualty claim number"),
        *more,
    )


def _payer(billing_ids_repeat: int) -> LoopSpec:
    """Return 2010BB."""
    return common.party(
        "2010BB",
        "Payer",
        "R=PR R=2 R - - - - R=PI|XV R",
        *address("Payer", "S"),
        ref("2U|EI|FY|NF", "Payer second number", 3),
        ref(BILLING_IDS, "Billing provider's number at the payer", billing_ids_repeat),
    )


def _patient_level(pattern: str) -> tuple[SegmentSpec, SegmentSpec]:
    """Return HL and PAT of 2000C."""
    return (
        seg("HL", "Patient level", "R", 1, "R R R=23 R=0"),
        seg("PAT", "Patient", "R", 1, f"R={RELATIONSHIP} {pattern}".strip()),
    )


def _patient(*more: SegmentSpec) -> LoopSpec:
    """Return 2010CA."""
    return common.party(
        "2010CA",
        "Patient",
        "R=QC R=1 R S S - S",
        *address("Patient"),
        seg("DMG", "Patient birth and sex", "R", 1, "R=D8 R R=F|M|U"),
        ref("Y4", "Property and casualty claim number"),
        ref("1W|SY", "Property and casualty patient number"),
        *more,
    )


def other_coverage(insurance_type: str) -> SegmentSpec:
    """Return the SBR of 2320."""
    return seg(
        "SBR",
        "Other coverage",
        "R",
        1,
        f"R={ORDER_OF_PAYMENT} R=01|18|19|20|21|39|40|53|G8 S S {insurance_type} - - - S={FILING}",
    )


def outpatient() -> SegmentSpec:
    """Return the MOA of 2320."""
    return seg("MOA", "Outpatient adjudication", "S", 1, "S S" + " S=@rarc" * 5 + " S S")


def other_subscriber(numbers_repeat: int = 1) -> LoopSpec:
    """Return 2330A."""
    return common.party(
        "2330A",
        "Other subscriber",
        "R=IL R=1|2 R S S - S R=II|MI R",
        *address("Other subscriber", "S"),
        ref("SY", "Other subscriber social security number", numbers_repeat),
    )


def other_payer(*more: SegmentSpec) -> LoopSpec:
    """Return 2330B; ``more`` comes before the payer's claim number."""
    return common.party(
        "2330B",
        "Other payer",
        "R=PR R=2 R - - - - R=PI|XV R",
        *address("Other payer", "S"),
        dtp("573", "Date the other payer decided the claim"),
        ref("2U|EI|FY|NF", "Other payer second number", 2),
        ref("G1", "Other payer's authorization"),
        ref("9F", "Other payer's referral"),
        ref("T4", "Other payer adjusted the claim", values="Y"),
        *more,
        ref("F8", "Other payer's claim number"),
    )


def line_decision(svd: str) -> LoopSpec:
    """Return 2430: how another payer adjudicated the line."""
    return loop(
        "2430",
        "Line as another payer decided it",
        "S",
        15,
        seg("SVD", "Line as another payer decided it", "R", 1, svd),
        adjustments("Line adjustments"),
        dtp("573", "Date the other payer decided the line", usage="R"),
        amt("EAF", "What the patient still owes for the line"),
    )


def drug(qualifiers: str) -> LoopSpec:
    """Return 2410."""
    return loop(
        "2410",
        "Drug",
        "S",
        1,
        seg("LIN", "Drug", "R", 1, f"- R={qualifiers} R"),
        seg("CTP", "Quantity of the drug", "R", 1, "- - - R R(R=F2|GR|ME|ML|UN)"),
        ref("VY|XZ", "Prescription or compound number"),
    )


def facility(id: str, *more: SegmentSpec) -> LoopSpec:
    """Return the loop of the service facility."""
    return named(id, "Service facility", PLACE, "77", *address("Service facility"), *more)
