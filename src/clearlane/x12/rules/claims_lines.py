"""Rules of the service lines of an 837: numbering, procedures, units, drugs.

Knows claim loops; knows no other file and no clock.
"""

import re
from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.x12.rules import RuleContext, RuleFinding, rule
from clearlane.x12.rules.claims_parts import (
    CLAIM_KINDS,
    PROCEDURE_NAMES,
    SERVICE,
    claim_parts,
    value_at,
)
from clearlane.x12.tree import Loop

WARNING, INFO = Severity.WARNING, Severity.INFO

# Codes for procedures that have no code of their own ("unlisted"), which need a description.
_UNLISTED_CPT = """
01999 15999 17999 19499 20999 21089 21299 21499 21899 22899 22999 23929 24999 25999 26989 27299 27599 27899 28899
29799 29999 30999 31299 31599 31899 32999 33999 36299 37501 37799 38129 38589 38999 39499 39599 40799 40899 41599
41899 42299 42699 42999 43289 43499 43659 43999 44238 44799 44899 44979 45399 45499 45999 46999 47379 47399 47579
47999 48999 49329 49659 49999 50549 50949 51999 53899 54699 55559 55899 58578 58579 58679 58999 59897 59898 59899
60659 60699 64999 66999 67299 67399 67599 67999 68399 68899 69399 69799 69949 69979 76496 76497 76498 76499 76999
77299 77399 77499 77799 78099 78199 78299 78399 78499 78599 78699 78799 78999 79999 81099 81479 81599 84999 85999
86849 86999 87999 88099 88199 88299 88399 89240 89398 90399 90749 90899 90999 91299 92499 92700 93799 93998 94799
95199 95999 96379 96549 96999 97039 97139 97799 99199 99429 99499 99600
"""
_UNLISTED_HCPCS = """
A0999 A4335 A4421 A4641 A4649 A4913 A6261 A6262 A9150 A9152 A9153 A9699 A9900 A9999 B9998 B9999 C1889 C2698 C2699
C9399 E0769 E0770 E1399 E1699 H0046 J1599 J3490 J3535 J3590 J7199 J7599 J7699 J7799 J7999 J8498 J8499 J8597 J8999
J9999 K0108 K0812 K0898 K0899 L0999 L1499 L2999 L3649 L3999 L5999 L7499 L8039 L8499 L8698 L8699 L9900 P9099 Q0507
Q0508 Q0509 Q2039 Q4050 Q4051 Q4082 Q4100 S8189 S9379 S9542 T1999 T2025 T2199 T5999 V2199 V2399 V2499 V2599 V2629
V2799 V5298 V5299
"""
_UNLISTED_CDT = "D0999 D1999 D2999 D3999 D4999 D5899 D5999 D6199 D6999 D7999 D8999 D9999"
UNLISTED = frozenset((_UNLISTED_CPT + _UNLISTED_HCPCS + _UNLISTED_CDT).split())
_PROCEDURES = {
    "HC": (
        re.compile(r"[0-9A-Z]\d{4}|\d{4}[A-Z]", re.ASCII),
        "a CPT or HCPCS code, five characters",
    ),
    "AD": (re.compile(r"D\d{4}", re.ASCII), "a CDT code, D and four digits"),
}
_MODIFIER = re.compile(r"[0-9A-Z]{2}", re.ASCII)
_NDC = re.compile(r"\d{11}", re.ASCII)
_CLIA = re.compile(r"\d\dD\d{7}", re.ASCII)
UNITS = {"837P": 4, "837D": 6, "837I": 5}
ANESTHESIA_FIRST, ANESTHESIA_LAST = "00100", "01999"
# Further burned skin by its area, and a day of pain management: anesthesia that has no minutes.
ANESTHESIA_IN_UNITS = frozenset({"01953", "01996"})


@rule(
    "X837-LINE-NUMBER",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2400",),
    places=("2400/LX/01",),
)
def lines_are_numbered(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Lines are numbered 1, 2, 3 within each claim."""
    for number, line in enumerate(claim_parts(loop, ctx).lines, 1):
        row: list[str] = line.loop.items[0]  # type: ignore[assignment]  # a loop begins with a segment
        if value_at(row, 1) != str(number):
            yield RuleFinding(
                f"LX01 must be {number}: lines count from 1 in each claim, without gaps", row, 1
            )
            return


@rule(
    "X837-LINE-CONTROL",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2400",),
    places=("2400/REF:6R/02",),
)
def line_control_numbers_differ(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Each line of a claim has a control number, and no two have the same."""
    seen: set[str] = set()
    without = None
    for line in claim_parts(loop, ctx).lines:
        own = [row for row in line.by_id.get("REF", ()) if row[1:2] == ["6R"]]
        if not own:
            without = without or line.service
        for row in own:
            if value_at(row, 2) in seen:
                yield RuleFinding(
                    "REF*6R must be unlike that of every other line of the claim", row, 2
                )
            seen.add(value_at(row, 2))
    if without is not None:
        # Reported once per claim: a program that sends none sends none anywhere.
        message = "A line may have REF*6R, a number that the remittance repeats"
        yield RuleFinding(message, without, severity=INFO)


@rule("X837-PROCEDURE", loop="2300", kinds=CLAIM_KINDS, snip=5, severity=WARNING, needs=("2400",))
def procedures_have_the_form_of_their_list(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A procedure code has the form of the list it is from."""
    element = SERVICE[ctx.kind][2]
    for line in claim_parts(loop, ctx).lines:
        form = _PROCEDURES.get(line.procedure[0]) if len(line.procedure) > 1 else None
        if form is not None and form[0].fullmatch(line.procedure[1]) is None:
            yield RuleFinding(
                f"{PROCEDURE_NAMES[ctx.kind]}-2 (procedure code) should be {form[1]}",
                line.service,
                element,
                2,
            )


@rule(
    "X837-FIFTH-MODIFIER",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=4,
    needs=("2400",),
    places=(
        "2400/SV1/01-7",
        "2400/SV2/02-7",
        "2400/SV3/01-7",
    ),
)
def descriptions_are_no_modifiers(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A procedure has at most four modifiers; a fifth would be in the place of the description."""
    for line in claim_parts(loop, ctx).lines:
        parts = line.procedure
        if len(parts) > 6 and all(parts[2:6]) and _MODIFIER.fullmatch(parts[6]):
            message = f"{PROCEDURE_NAMES[ctx.kind]}-7 must be a description: a procedure has at most four modifiers"
            yield RuleFinding(message, line.service, SERVICE[ctx.kind][2], 7)


@rule(
    "X837-UNLISTED",
    loop="2300",
    kinds=CLAIM_KINDS,
    snip=7,
    severity=WARNING,
    needs=("2400",),
    places=(
        "2400/SV1/01-7",
        "2400/SV2/02-7",
        "2400/SV3/01-7",
    ),
)
def unlisted_procedures_are_described(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """An unlisted procedure is described, in the line or in a note."""
    for line in claim_parts(loop, ctx).lines:
        parts = line.procedure
        if (
            len(parts) > 1
            and parts[1] in UNLISTED
            and not "".join(parts[6:])
            and "NTE" not in line.by_id
        ):
            message = f"{PROCEDURE_NAMES[ctx.kind]}-7 (description) should describe the unlisted procedure"
            yield RuleFinding(message, line.service, SERVICE[ctx.kind][2], 7)


@rule("X837-UNITS", loop="2300", kinds=CLAIM_KINDS, snip=7, severity=WARNING, needs=("2400",))
def units_are_positive(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The units of a line are more than 0."""
    element = UNITS[ctx.kind]
    for line in claim_parts(loop, ctx).lines:
        if _is_not_positive(value_at(line.service, element)):
            message = f"{SERVICE[ctx.kind][0]}{element:02} (units) should be more than 0"
            yield RuleFinding(message, line.service, element)


@rule("X837-CHARGE", loop="2300", kinds=CLAIM_KINDS, snip=7, severity=WARNING, needs=("2400",))
def charges_are_not_negative(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A charge is not negative."""
    element = SERVICE[ctx.kind][1]
    for line in claim_parts(loop, ctx).lines:
        if line.charge is not None and line.charge < 0:
            message = f"{SERVICE[ctx.kind][0]}{element:02} (charge) should not be negative"
            yield RuleFinding(message, line.service, element)


@rule(
    "X837-MINUTES",
    loop="2300",
    kinds=("837P",),
    snip=7,
    severity=WARNING,
    needs=("2400",),
    places=("2400/SV1/03",),
)
def minutes_are_for_anesthesia(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Anesthesia is counted in minutes, and nothing else is."""
    for line in claim_parts(loop, ctx).lines:
        row = line.service
        if row is None or len(row) < 4 or len(line.procedure) < 2:
            continue
        code, unit = line.procedure[1], row[3]
        anesthesia = ANESTHESIA_FIRST <= code <= ANESTHESIA_LAST
        if unit == "MJ" and code.isdecimal() and not anesthesia:
            message = "SV103 should be UN: only anesthesia is counted in minutes (MJ)"
            yield RuleFinding(message, line.service, 3)
        elif unit == "UN" and anesthesia and code not in ANESTHESIA_IN_UNITS:
            message = "SV103 should be MJ: anesthesia is counted in minutes"
            yield RuleFinding(message, line.service, 3)


@rule(
    "X837-PLACE-AGAIN", loop="2300", kinds=("837P", "837D"), snip=7, severity=INFO, needs=("2400",)
)
def line_place_differs_from_claim(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A line has a place of service only if it differs from the claim's."""
    parts = claim_parts(loop, ctx)
    place, element = value_at(parts.clm, 5, 1), 5 if ctx.kind == "837P" else 3
    if not place:
        return
    for line in parts.lines:
        if line.service and value_at(line.service, element) == place:
            name = f"{line.service[0]}{element:02}"
            yield RuleFinding(
                f"{name} may be left out: the claim has the same place", line.service, element
            )


@rule("X837-NDC", loop="2410", kinds=CLAIM_KINDS, snip=5, needs=("LIN",))
def drug_code_has_eleven_digits(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A national drug code is eleven digits without hyphens."""
    row = loop.segment("LIN", "N4", at=2)
    if row is not None and _NDC.fullmatch(value_at(row, 3)) is None:
        yield RuleFinding(
            "LIN03 (drug code) must be eleven digits without hyphens", row, 3, code="7"
        )


@rule(
    "X837-DRUG-QUANTITY", loop="2410", kinds=CLAIM_KINDS, snip=7, severity=WARNING, needs=("CTP",)
)
def drug_quantity_is_positive(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The quantity of a drug is more than 0."""
    row = loop.segment("CTP")
    if _is_not_positive(value_at(row, 4)):
        yield RuleFinding("CTP04 (quantity) should be more than 0", row, 4)


@rule(
    "X837-CLIA", loop="2300", kinds=("837P",), snip=5, severity=WARNING, needs=("REF", "2400/REF")
)
def laboratory_numbers_have_their_form(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A CLIA number is two digits, D, and seven digits."""
    for row in claim_parts(loop, ctx).all_segments("REF"):
        if value_at(row, 1) in {"X4", "F4"} and _CLIA.fullmatch(value_at(row, 2)) is None:
            yield RuleFinding(
                "REF02 (CLIA number) should be two digits, D, and seven digits", row, 2
            )


def _is_not_positive(text: str) -> bool:
    """Return whether a number is present and not more than 0."""
    return bool(text) and (text[0] == "-" or not text.strip("0."))
