"""Rules of the 270 and the 271: whom an inquiry is about, and what a benefit must contain.

The reader checks the hierarchy of levels for every guide. Errors here are what cannot be answered or read; what
payers commonly do or reject is a warning. Knows no payer and no clock.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.x12.rules import RuleContext, RuleFinding, parse_cents, rule
from clearlane.x12.rules.remittance import ORIGINATOR
from clearlane.x12.tree import Loop, Segment, get_element, split_components

INQUIRY, RESPONSE, BOTH = ("270",), ("271",), ("270", "271")
WARNING = Severity.WARNING
PATIENTS = ("2000C", "2000D")
NAMES = ("2100C", "2100D")
BENEFITS = ("2110C", "2110D")
# Benefits that are an amount of money, and the one that is a share.
AMOUNTS, SHARE = frozenset("BCGJY"), "A"
LIFETIME = "32"
# What remains of a benefit (EB06), and the periods of which it does: 24 is what was used so far, so it is none of them.
REMAINDERS = {
    "29": frozenset({"", "21", "22", "23", "25", "26", "34", "35", "36", LIFETIME}),
    "33": frozenset({LIFETIME}),
}
FIGURES = {7: "amount", 10: "quantity"}


@rule("X270-NOBODY", loop="2000C", kinds=INQUIRY, snip=4, severity=WARNING, places=("2110C/EQ/01",))
def inquiry_names_a_benefit(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A subscriber without dependents has a benefit inquiry (EQ)."""
    name = loop.loop("2100C")
    if name is not None and loop.loop("2000D") is None and name.loop("2110C") is None:
        yield RuleFinding(
            "A subscriber without dependents should have a benefit asked about (EQ)", code="I7"
        )


@rule("X270-SEARCH", loop="2000C", kinds=INQUIRY, snip=7, severity=WARNING)
def patient_can_be_found(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The subscriber has a member number, and each patient has a name and a birth date."""
    subscriber = loop.loop("2100C")
    if subscriber is not None and not subscriber.value("NM1", 9):
        yield RuleFinding(
            "NM109 (member number) should be present: payers find a patient by it",
            subscriber.segment("NM1"),
            9,
        )
    patients = [name for level in loop.loops("2000D") for name in level.loops("2100D")]
    for patient in patients or ([subscriber] if subscriber else []):
        name = patient.segment("NM1")
        for at in (3, 4):
            if not patient.value("NM1", at) and patient.value("NM1", 2) != "2":
                yield RuleFinding(f"NM1{at:02} (name of the patient) should be present", name, at)
        if not patient.value("DMG", 2):
            yield RuleFinding("The patient should have a birth date (DMG02)", name)


@rule("X270-RELATION", loop="2100D", kinds=INQUIRY, snip=7, severity=Severity.INFO)
def dependent_has_a_relationship(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A dependent has a relationship to the subscriber."""
    if loop.segment("INS") is None:
        message = "A dependent may have INS, the relationship to the subscriber"
        yield RuleFinding(message, loop.segment("NM1"))


@rule("X270-TRACE", loop=PATIENTS, kinds=BOTH, snip=7, severity=WARNING)
def trace_names_its_originator(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The originator of a trace number is 10 characters, the first 1, 3 or 9."""
    for trn in loop.segments("TRN"):
        if not ORIGINATOR.fullmatch(get_element(trn, 3)):
            yield RuleFinding(
                "TRN03 (originating company) should be 10 characters, the first 1, 3 or 9", trn, 3
            )


@rule("X270-TRACE-TWICE", loop=PATIENTS, kinds=BOTH, snip=7, severity=WARNING)
def traces_differ(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The trace numbers of one patient differ from each other."""
    seen = set()
    for trn in loop.segments("TRN"):
        mark = tuple(trn[1:])
        if mark in seen:
            yield RuleFinding("A patient should not have the same trace number twice", trn, 2)
        seen.add(mark)


@rule(
    "X270-POINTER",
    loop=NAMES,
    kinds=BOTH,
    snip=4,
    places=(
        "2110C/EQ/05",
        "2110D/EQ/05",
        "2110C/EB/14",
        "2110D/EB/14",
    ),
)
def pointers_lead_to_diagnoses(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A diagnosis pointer leads to a diagnosis of the same patient."""
    hi = loop.segment("HI")
    diagnoses = len(hi) - 1 if hi else 0
    for benefit in loop.loops(*BENEFITS):
        for segment, at in ((benefit.segment("EQ"), 5), (benefit.segment("EB"), 14)):
            for number, pointer in enumerate(
                split_components(get_element(segment, at)) if segment else [], 1
            ):
                if (
                    pointer.isascii()
                    and pointer.isdigit()
                    and not 1 <= int(pointer[:3]) <= diagnoses
                ):
                    yield RuleFinding(
                        f"A diagnosis pointer must lead to one of the {diagnoses} diagnoses (HI) of the patient",
                        segment,
                        at,
                        number,
                    )


@rule("X270-FAMILY", loop="2110C", kinds=INQUIRY, snip=7, severity=WARNING)
def family_is_asked_with_a_service_type(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A service type and a procedure are not asked about in one EQ."""
    eq = loop.segment("EQ")
    if eq and get_element(eq, 1) and get_element(eq, 2):
        yield RuleFinding(
            "EQ should ask for service types (EQ01) or for a procedure (EQ02), not both", eq, 2
        )


@rule("X271-SILENT", loop=PATIENTS, kinds=RESPONSE, snip=7, severity=WARNING)
def patient_is_answered(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A patient is answered about with benefits or with a refusal."""
    if loop.loop("2000D") is not None:
        return
    name = loop.loop(*NAMES)
    if name is not None and name.loop(*BENEFITS) is None and name.segment("AAA") is None:
        yield RuleFinding(
            "A patient should be answered about with a benefit (EB) or a refusal (AAA)"
        )


@rule("X271-REFUSED", loop=NAMES, kinds=RESPONSE, snip=7, severity=WARNING)
def refusal_stands_alone(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A patient who was refused has no benefits."""
    for aaa in loop.segments("AAA", "N"):
        if loop.loop(*BENEFITS) is not None:
            yield RuleFinding(
                "A patient who was refused (AAA01 of N) should have no benefits (EB)", aaa, 1
            )


@rule("X271-SOURCE-REFUSED", loop="2000B", kinds=RESPONSE, snip=7, severity=WARNING)
def refusing_source_has_no_levels_below(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """An information source that cannot answer at all has no levels below."""
    source = ctx.parent("2000A")
    aaa = source.segment("AAA", "N") if source else None
    if aaa is not None:
        yield RuleFinding(
            "An information source that refuses (AAA01 of N) should have no levels below", aaa, 1
        )


@rule("X271-PERCENT", loop=BENEFITS, kinds=RESPONSE, snip=7, severity=WARNING)
def share_is_a_fraction(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A percentage is written as a fraction: 0.2 for 20 per cent."""
    eb = loop.segment("EB")
    share = get_element(eb, 8) if eb else ""
    whole, _, part = share.partition(".")
    if share and (
        share[0] == "-"
        or (whole.strip("0") not in {"", "1"})
        or (whole.strip("0") and part.strip("0"))
    ):
        yield RuleFinding(
            "EB08 (percentage) should be a fraction from 0 to 1, such as 0.2 for 20 per cent", eb, 8
        )


@rule("X271-AMOUNT", loop=BENEFITS, kinds=RESPONSE, snip=7, severity=WARNING)
def benefit_has_its_amount_or_percentage(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A coinsurance has a share; a copayment, deductible or maximum has an amount; no benefit has both."""
    eb = loop.segment("EB")
    if eb is None or loop.segment("MSG") or loop.segment("AAA"):
        return
    kind, amount, share = get_element(eb, 1), get_element(eb, 7), get_element(eb, 8)
    if amount and share:
        yield RuleFinding("EB should have an amount (EB07) or a percentage (EB08), not both", eb, 8)
    elif kind == SHARE and not share and not amount:
        yield RuleFinding(
            "EB08 (percentage) should be present for a coinsurance (EB01 of A)", eb, 8
        )
    elif kind in AMOUNTS and not amount and not share and not get_element(eb, 10):
        yield RuleFinding("EB07 (amount) should be present for this benefit (EB01)", eb, 7)


@rule("X271-REMAINING", loop=NAMES, kinds=RESPONSE, snip=7, severity=WARNING)
def remainder_is_part_of_its_total(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """What remains of a benefit is not more than the benefit, in money and in quantity."""
    largest: dict[tuple[object, ...], int] = {}
    benefits = [eb for benefit in loop.loops(*BENEFITS) if (eb := benefit.segment("EB"))]
    figures = [
        (eb, at, _benefit(eb), get_element(eb, 6), amount)
        for eb in benefits
        for at in FIGURES
        if (amount := parse_cents(get_element(eb, at))) is not None
    ]
    for _, at, benefit, period, amount in figures:
        key = (at, period, *benefit)
        largest[key] = max(amount, largest.get(key, amount))
    for eb, at, benefit, period, amount in figures:
        totals = [largest.get((at, whole, *benefit)) for whole in REMAINDERS.get(period, ())]
        known = [total for total in totals if total is not None]
        if known and amount > max(known):
            message = f"EB{at:02} ({FIGURES[at]}) should not exceed the total of which it remains"
            yield RuleFinding(message, eb, at)


def _benefit(eb: Segment) -> tuple[str, ...]:
    """Return what a benefit and its remainder have in common: all but period and figures."""
    return tuple(get_element(eb, at) for at in (1, 2, 3, 4, 5, 9, 12, 13))


@rule("X271-MARKED", loop=BENEFITS, kinds=RESPONSE, snip=2)
def related_parties_are_marked(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Related parties are between an LS and an LE, which are used around them only."""
    start, end = loop.segment("LS"), loop.segment("LE")
    party = loop.loop("2120C", "2120D")
    if start is not None and end is None:
        yield RuleFinding("LS must be closed by an LE after the related parties", start, code="I6")
    if end is not None and start is None:
        yield RuleFinding("LE must be opened by an LS before the related parties", end, code="I6")
    if party is not None and start is None:
        yield RuleFinding(
            "Related parties (loop 2120) must be between LS and LE", _head(party), code="I6"
        )
    if party is None and start is not None:
        yield RuleFinding("LS must be followed by a related party (NM1)", start, code="I6")


def _head(loop: Loop) -> Segment | None:
    return loop.segment(loop.node.head.id)
