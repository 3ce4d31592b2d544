"""Rules of the people and organizations of an 837: patient, subscriber, providers, names, addresses.

The form of single values (NPI, taxonomy, ZIP, telephone) is checked where segments are read.
Knows claim loops; knows no other file and no clock.
"""

import re
from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.x12.rules import RuleContext, RuleFinding, rule
from clearlane.x12.rules.claims_parts import CLAIM_KINDS, claim_parts, set_date, value_at
from clearlane.x12.tree import Loop

WARNING, INFO = Severity.WARNING, Severity.INFO
UNITED_STATES = ("", "US")

# Every loop that an NM1 with a name opens; those from 2330C on hold numbers only.
NAMED = (
    "1000A", "1000B", "2010AA", "2010AC", "2010BA", "2010BB", "2010CA", "2310A", "2310B", "2310C", "2310D", "2310E",
    "2310F", "2330A", "2330B", "2420A", "2420B", "2420C", "2420D", "2420E", "2420F",
)  # fmt: skip
ADDRESSED = (
    "2010AA", "2010AB", "2010AC", "2010BA", "2010BB", "2010CA", "2310C", "2310E", "2310F", "2330A", "2330B", "2420C",
    "2420D", "2420E", "2420G", "2420H",
)  # fmt: skip
SELF_FACTS = {"N3": "street", "N4": "city, state and ZIP code", "DMG": "birth date and sex"}
_NINE_DIGITS = re.compile(r"\d{9}", re.ASCII)


@rule(
    "X837-NAME",
    loop=NAMED,
    kinds=CLAIM_KINDS,
    snip=4,
    places=(
        "2010AA/NM1/04",
        "2010BA/NM1/04",
    ),
)
def names_fit_what_is_named(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A person has a first name; an organization has one name only."""
    row: list[str] = loop.items[0]  # type: ignore[assignment]  # a loop begins with a segment
    if len(row) < 4:
        return
    if row[2] == "2":
        for element in (4, 5, 7):
            if value_at(row, element):
                yield RuleFinding(
                    f"NM1{element:02} must be empty for an organization (NM102 = 2)", row, element
                )
    elif row[2] == "1" and row[3] and not value_at(row, 4):
        message = "NM104 (first name) should be present for a person (NM102 = 1)"
        yield RuleFinding(message, row, 4, severity=WARNING)


@rule("X837-MEMBER", loop="2010BA", kinds=CLAIM_KINDS, snip=4, places=("2010BA/NM1/09",))
def subscriber_has_a_member_number(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A person who is the subscriber has a member number."""
    row = loop.segment("NM1")
    if value_at(row, 2) == "1" and not value_at(row, 9):
        yield RuleFinding("NM109 (member number) is required for a person", row, 9)


@rule("X837-TAX-NUMBER", loop="2010AA", kinds=CLAIM_KINDS, snip=5, severity=WARNING, needs=("REF",))
def tax_number_has_nine_digits(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A tax number is nine digits."""
    for row in loop.segments("REF", "EI", "SY"):
        if _NINE_DIGITS.fullmatch(value_at(row, 2)) is None:
            yield RuleFinding("REF02 (tax number) should be nine digits without hyphens", row, 2)


@rule(
    "X837-ADDRESS",
    loop=ADDRESSED,
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("N4",),
    places=(
        "2010AA/N4/02",
        "2010BA/N4/02",
    ),
)
def us_address_is_complete(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """An address in the United States has a state; without a ZIP code payers may reject it."""
    row = loop.segment("N4")
    if row is None or (len(row) > 3 and row[2] and row[3]) or value_at(row, 4) not in UNITED_STATES:
        return
    for element, name, severity in ((2, "state", None), (3, "postal code", Severity.WARNING)):
        if not value_at(row, element):
            sentence = f"N4{element:02} ({name}) is required in the United States"
            yield RuleFinding(sentence, row, element, severity=severity)


@rule("X837-SELF", loop="2000C", kinds=CLAIM_KINDS, snip=4, places=("2000B/SBR/02",))
def own_patient_has_no_patient_level(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A subscriber who is the patient (SBR02 = 18) has no patient level."""
    subscriber = ctx.parent("2000B")
    if subscriber is not None and subscriber.value("SBR", 2) == "18":
        message = (
            "A patient level (HL*23) must not be under SBR02 = 18: the subscriber is the patient"
        )
        yield RuleFinding(message, loop.segment("HL"))


@rule("X837-WHO-IS-PATIENT", loop="2300", kinds=CLAIM_KINDS, snip=4, places=("2000B/SBR/02",))
def claim_under_a_subscriber_is_own(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim is under the subscriber only if the subscriber is the patient (SBR02 = 18)."""
    level = ctx.parent("2000B", "2000C")
    if level is not None and level.node.id == "2000B" and level.value("SBR", 2) != "18":
        sbr = level.segment("SBR")
        yield RuleFinding("SBR02 must be 18 if the claim is under the subscriber", sbr, 2)


@rule(
    "X837-SELF-FACTS",
    loop="2010BA",
    kinds=CLAIM_KINDS,
    snip=4,
    places=(
        "2010BA/N3/01",
        "2010BA/DMG/02",
    ),
)
def own_patient_is_described(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A subscriber who is the patient has an address, a birth date and a sex."""
    level = ctx.parent("2000B")
    if level is None or level.value("SBR", 2) != "18":
        return
    own = {item[0] for item in loop.items if isinstance(item, list)}
    for id, name in SELF_FACTS.items():
        if id not in own:
            message = f"{id} ({name}) is required if the subscriber is the patient"
            yield RuleFinding(message, loop.segment("NM1"), code="3")


@rule("X837-NO-PATIENT", loop="2000B", kinds=CLAIM_KINDS, snip=2)
def subscriber_has_a_claim(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Every subscriber level has a claim, its own or a patient's."""
    count = ctx.set_state.get("837-count", 0)
    if count == ctx.set_state.get("837-count-before", 0):
        message = "The subscriber level must hold a claim, its own or a patient's"
        yield RuleFinding(message, loop.segment("HL"))
    ctx.set_state["837-count-before"] = count


@rule(
    "X837-PAYMENT-ORDER",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2320",),
    places=(
        "2000B/SBR/01",
        "2320/SBR/01",
    ),
)
def payers_have_different_places(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """No two payers of a claim have the same place in the order of payment (SBR01)."""
    level = ctx.parent("2000B")
    seen = {level.value("SBR", 1)} if level is not None else set()
    for other, _ in claim_parts(loop, ctx).other_payers:
        row = other.segment("SBR")
        place = value_at(row, 1)
        if place in seen and place != "U":
            yield RuleFinding("SBR01 must be unlike that of every other payer of the claim", row, 1)
        seen.add(place)


@rule("X837-FIRST-PAYER", loop="2300", kinds=CLAIM_KINDS, snip=4, places=("2320/SBR/01",))
def one_payer_is_first(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim for a later payer names the first one (SBR01 = P) too."""
    level = ctx.parent("2000B")
    row = level.segment("SBR") if level is not None else None
    # A payer whose place is not known (U) may be first.
    if value_at(row, 1) in {"P", "U", ""}:
        return
    others = (other.value("SBR", 1) for other, _ in claim_parts(loop, ctx).other_payers)
    if not {"P", "U"} & set(others):
        message = "SBR01 is not P, and no other payer of the claim (2320) is the first one (P)"
        yield RuleFinding(message, row, 1)


@rule(
    "X837-FILING",
    loop=("2000B", "2320"),
    kinds=CLAIM_KINDS,
    snip=7,
    severity=WARNING,
    places=(
        "2000B/SBR/09",
        "2320/SBR/09",
    ),
)
def coverage_has_a_filing_indicator(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A coverage has a claim filing indicator."""
    row = loop.segment("SBR")
    if row is not None and not value_at(row, 9):
        yield RuleFinding("SBR09 (claim filing indicator) should be present", row, 9)


@rule(
    "X837-GROUP-NAME",
    loop=("2000B", "2320"),
    kinds=CLAIM_KINDS,
    snip=7,
    severity=INFO,
    places=(
        "2000B/SBR/04",
        "2320/SBR/04",
    ),
)
def group_name_stands_in_for_number(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A group is identified by its number; its name is sent only if it has none."""
    row = loop.segment("SBR")
    if value_at(row, 3) and value_at(row, 4):
        yield RuleFinding("SBR04 (group name) may be left out: SBR03 has the group number", row, 4)


@rule(
    "X837-MEDICARE",
    loop=("2000B", "2320"),
    kinds=("837P", "837D"),
    snip=7,
    severity=WARNING,
    places=(
        "2000B/SBR/05",
        "2320/SBR/05",
    ),
)
def reason_belongs_to_second_medicare(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The type of insurance is sent if Medicare pays second, and only then."""
    row = loop.segment("SBR")
    # A payer whose place is not known (U) may be first.
    medicare = value_at(row, 9) in {"MA", "MB"}
    if value_at(row, 5) and not (medicare and value_at(row, 1) != "P"):
        yield RuleFinding("SBR05 belongs only to Medicare (MA, MB) that pays second", row, 5)
    elif medicare and not value_at(row, 5) and value_at(row, 1) not in {"P", "U", ""}:
        message = "SBR05 must say why Medicare pays second: 12 to 16, 41 to 43 or 47"
        yield RuleFinding(message, row, 5, severity=Severity.ERROR)


@rule(
    "X837-BIRTH",
    loop=("2010BA", "2010CA"),
    kinds=CLAIM_KINDS,
    snip=7,
    severity=WARNING,
    needs=("DMG",),
)
def birth_is_past(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A person was born before the claim was written."""
    row = loop.segment("DMG")
    day = set_date(ctx)
    if day and value_at(row, 2)[:8] > day:
        yield RuleFinding("DMG02 (birth date) should not be after the day in BHT04", row, 2)


@rule(
    "X837-FACILITY-AGAIN",
    loop="2300",
    kinds=("837P", "837D"),
    snip=7,
    severity=INFO,
    needs=("2310C",),
)
def facility_is_another_place(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A service facility is sent only if its address differs from the billing provider's."""
    level = ctx.parent("2000A")
    billing = level.loop("2010AA") if level is not None else None
    street = billing.segment("N3") if billing is not None else None
    for facility in claim_parts(loop, ctx).by_id.get("2310C", ()):
        if (
            billing is not None
            and street is not None
            and facility.segment("N3") == street
            and facility.segment("N4") == billing.segment("N4")
        ):
            message = "The service facility may be left out: it is where the billing provider is"
            yield RuleFinding(message, facility.segment("NM1"))


@rule(
    "X837-REFERRAL",
    loop=("2300", "2400"),
    kinds=("837P", "837D"),
    snip=4,
    needs=("2310A", "2420F"),
    places=(
        "2310A/NM1/01",
        "2420F/NM1/01",
    ),
)
def referring_providers_differ(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The provider who referred the patient (DN) and the one who did so first (P3) are named once each."""
    seen: set[str] = set()
    for referring in loop.loops("2310A", "2420F"):
        row = referring.segment("NM1")
        entity = value_at(row, 1)
        if entity in seen:
            message = f"NM101 must not be {entity} twice: DN is the referring provider, P3 the first of two"
            yield RuleFinding(message, row, 1)
        seen.add(entity)


@rule(
    "X837-PROVIDER-ORDER",
    loop="2300",
    kinds=("837P", "837D"),
    snip=7,
    severity=INFO,
    # Two kinds of provider can be in the wrong order only if one of them is not the rendering one.
    needs=("2310A", "2310C", "2310D", "2310E", "2310F"),
)
def providers_come_in_order(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The providers of a claim come in the order of the guide, though X12 gives them one position."""
    last = ""
    for item in loop.items:
        if item.__class__ is not Loop or not item.node.id.startswith("2310"):
            continue
        if item.node.id < last:
            message = (
                f"The provider of loop {item.node.id} comes before that of loop {last} in the guide"
            )
            yield RuleFinding(message, item.segment("NM1"), 1)
            return
        last = item.node.id


@rule(
    "X837-PROVIDER-AGAIN",
    loop="2300",
    kinds=("837P", "837D"),
    snip=7,
    severity=INFO,
    needs=("2310B", "2400/2420A"),
)
def rendering_provider_differs_from_level_above(
    loop: Loop, ctx: RuleContext
) -> Iterator[RuleFinding]:
    """A rendering provider is sent only if it differs from that of the level above."""
    level, parts = ctx.parent("2000A"), claim_parts(loop, ctx)
    billing = level.loop("2010AA") if level is not None else None
    above = billing.value("NM1", 9) if billing is not None else ""
    for rendering in parts.by_id.get("2310B", ()):
        row = rendering.segment("NM1")
        if above and value_at(row, 9) == above:
            yield RuleFinding(
                "The rendering provider may be left out: it is the billing provider", row, 9
            )
        above = value_at(row, 9) or above
    for line in parts.lines:
        for rendering in line.by_id.get("2420A", ()):
            row = rendering.segment("NM1")
            if above and value_at(row, 9) == above:
                yield RuleFinding(
                    "The rendering provider may be left out: the claim has the same", row, 9
                )
