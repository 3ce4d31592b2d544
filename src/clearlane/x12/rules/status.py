"""Rules of the 276, the 277 and the 277CA: valid statuses and traces that can be matched.

The reader checks the hierarchy of levels for every guide. What a receiver can still understand is a warning. Knows no claim that was sent and no clock.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CLAIM_NUMBERS_REMEMBERED_MAX
from clearlane.x12 import codes
from clearlane.x12.rules import RuleContext, RuleFinding, is_repeated, parse_cents, rule
from clearlane.x12.tree import Loop, Segment, get_element, split_components

REQUEST, RESPONSE, ACKNOWLEDGEMENT = ("276",), ("277",), ("277CA",)
STATUSES = (*RESPONSE, *ACKNOWLEDGEMENT)
WARNING, INFO = Severity.WARNING, Severity.INFO
STATUS_LOOPS = ("2200B", "2200C", "2200D", "2200E", "2220D", "2220E")
CLAIMS = ("2200D", "2200E")
COMPOSITES = (1, 10, 11)
ACCEPTS, REFUSES = "WQ", "U"
ClaimTotal = tuple[int, int | None]
"""How many claims, and their charges in cents; None if one is no amount."""
# Where an acknowledgement gives totals: by level the loop, and by action the qualifiers of QTY and AMT.
TOTAL_LOOPS = {
    "2000C": ("2200C", ((ACCEPTS, "QA", "YU"), (REFUSES, "QC", "YY"))),
    "2000B": ("2200B", ((ACCEPTS, "90", "YU"), (REFUSES, "AA", "YY"))),
}
DRUG = "RX"
"""The code list of a status that is a reject code of the pharmacies."""


@rule("X277-CATEGORY", loop=STATUS_LOOPS, kinds=STATUSES, snip=5, severity=WARNING)
def category_is_known(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The category of a status is one of its list."""
    for stc, at, parts in _statuses(loop):
        if not codes.is_listed("status_categories", parts[0]):
            yield RuleFinding(
                f"STC{at:02}-1 (category) should be a claim status category code", stc, at, 1
            )


@rule("X277-STATUS", loop=STATUS_LOOPS, kinds=STATUSES, snip=5, severity=INFO)
def status_is_known(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A status is a claim status code that is known here."""
    for stc, at, parts in _statuses(loop):
        if parts[3] != DRUG and not codes.is_listed("statuses", parts[1]):
            yield RuleFinding(
                f"STC{at:02}-2 (status) is not a claim status code that is known here", stc, at, 2
            )


@rule("X277-ENTITY", loop=STATUS_LOOPS, kinds=STATUSES, snip=5, severity=WARNING)
def status_names_its_entity(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A status about an entity names the entity."""
    needing = codes.load_column("statuses", 2)
    for stc, at, parts in _statuses(loop):
        if parts[3] != DRUG and parts[1] in needing and not parts[2]:
            yield RuleFinding(
                f"STC{at:02}-3 (entity) should name the entity of this status", stc, at, 3
            )


@rule("X277-DETAIL", loop=STATUS_LOOPS, kinds=STATUSES, snip=5, severity=WARNING)
def vague_status_has_a_detail(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A general status comes with a specific one."""
    vague = codes.load_column("statuses", 3)
    # The claim may have a general status if a line has a specific one.
    statuses = [
        status for part in (loop, *loop.loops("2220D", "2220E")) for status in _statuses(part)
    ]
    if any(parts[3] == DRUG or parts[1] not in vague for _, _, parts in statuses):
        return
    for stc, at, _ in _statuses(loop):
        yield RuleFinding(
            f"STC{at:02}-2 (status) should come with a status that names what is meant", stc, at, 2
        )


@rule("X277CA-CATEGORY", loop=STATUS_LOOPS, kinds=ACKNOWLEDGEMENT, snip=7, severity=WARNING)
def category_is_that_of_an_acknowledgement(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim acknowledgement uses the categories of acknowledgement, A0 to A8."""
    for stc, at, parts in _statuses(loop):
        if not parts[0].startswith("A"):
            yield RuleFinding(
                f"STC{at:02}-1 (category) should be one of A0 to A8 in an acknowledgement",
                stc,
                at,
                1,
            )


@rule("X277CA-ACTION", loop=STATUS_LOOPS, kinds=ACKNOWLEDGEMENT, snip=7, severity=WARNING)
def action_agrees_with_the_category(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The action is WQ if the category accepts the claim and U if it rejects the claim."""
    verdicts = codes.load_column("status_categories", 2)
    for stc in loop.segments("STC"):
        verdict = verdicts.get(split_components(get_element(stc, 1))[0], "")
        action = get_element(stc, 3)
        if (verdict == "accepted" and action == REFUSES) or (
            verdict == "rejected" and action == ACCEPTS
        ):
            yield RuleFinding(
                "STC03 (action) should be WQ if the category accepts and U if it rejects",
                stc,
                3,
            )


@rule("X277CA-LEVEL", loop=("2000C", "2000D"), kinds=ACKNOWLEDGEMENT, snip=7, severity=WARNING)
def level_is_that_of_an_acknowledgement(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The levels of an acknowledgement are 20, 21, 19 and PT, with a billing provider (85) and a patient (QC)."""
    wanted, name, entity = (
        ("19", "2100C", "85") if loop.node.id == "2000C" else ("PT", "2100D", "QC")
    )
    hl, named = loop.segment("HL"), loop.loop(name)
    if hl and get_element(hl, 3) != wanted:
        yield RuleFinding(f"HL03 (kind of level) should be {wanted} here", hl, 3)
    nm1 = named.segment("NM1") if named else None
    if nm1 and get_element(nm1, 1) != entity:
        yield RuleFinding(f"NM101 (entity) should be {entity} here", nm1, 1)


@rule("X277CA-RECEIPT", loop=("2000A", "2000B"), kinds=ACKNOWLEDGEMENT, snip=7, severity=WARNING)
def receipt_is_reported(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The receipt of the file and the verdict on it are reported."""
    wanted = "2200A" if loop.node.id == "2000A" else "2200B"
    if loop.loop(wanted) is None:
        yield RuleFinding(f"Loop {wanted} should report on the file as a whole")


@rule("X277CA-DATED", loop="2200D", kinds=ACKNOWLEDGEMENT, snip=7, severity=WARNING)
def acknowledged_claim_is_dated(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim that is acknowledged has its service date."""
    if loop.segment("DTP") is None:
        yield RuleFinding("A claim should have its service date (DTP*472)", code="I6")


@rule(
    "X277CA-TOTALS",
    loop=("2200D", "2000C", "2000B"),
    kinds=ACKNOWLEDGEMENT,
    snip=3,
    severity=WARNING,
    places=(
        "2200B/QTY/02",
        "2200B/AMT/02",
        "2200C/QTY/02",
        "2200C/AMT/02",
    ),
)
def totals_are_those_of_the_claims(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Counts and charges of accepted and rejected claims (QTY, AMT) are those of the claims listed below."""
    sums: dict[str, dict[str, ClaimTotal]] = ctx.set_state.setdefault("277ca-totals", {})
    if loop.node.id == "2200D":
        refused = any(get_element(stc, 3) == REFUSES for stc in loop.segments("STC"))
        charge = parse_cents(loop.value("STC", 4))
        for level in TOTAL_LOOPS:
            totals = sums.setdefault(level, {})
            totals[REFUSES if refused else ACCEPTS] = _add(
                totals.get(REFUSES if refused else ACCEPTS), charge
            )
        return
    listed = sums.pop(loop.node.id, {})
    verdict = loop.loop(TOTAL_LOOPS[loop.node.id][0])
    if verdict is None or not listed:
        return  # A file may be refused as a whole, without a word on its claims.
    for action, quantity, amount in TOTAL_LOOPS[loop.node.id][1]:
        count, charges = listed.get(action, (0, 0))
        yield from _wrong_total(verdict.segment("QTY", quantity), count * 100)
        yield from _wrong_total(verdict.segment("AMT", amount), charges)


def _add(total: "ClaimTotal | None", charge: int | None) -> "ClaimTotal":
    count, charges = total or (0, 0)
    return count + 1, None if charges is None or charge is None else charges + charge


def _wrong_total(segment: Segment | None, expected: int | None) -> Iterator[RuleFinding]:
    if segment is None or expected is None:
        return
    given = parse_cents(get_element(segment, 2))
    if given is not None and given != expected:
        what = "number" if segment[0] == "QTY" else "charges"
        yield RuleFinding(
            f"{segment[0]}02 should be the {what} of the claims listed below", segment, 2
        )


@rule(
    "X276-CLAIM",
    loop="2000D",
    kinds=REQUEST,
    snip=4,
    places=(
        "2200D/TRN/02",
        "2000D/DMG/02",
    ),
)
def inquiry_names_a_claim(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A subscriber without dependents is the patient: a claim and a birth date are given."""
    if loop.loop("2000E") is not None:
        return
    if loop.loop("2200D") is None:
        yield RuleFinding(
            "A subscriber without dependents must have a claim asked about (TRN)", code="I7"
        )
    if loop.segment("DMG") is None:
        yield RuleFinding("A subscriber who is the patient must have a birth date (DMG)", code="I6")


@rule("X276-TRACE-TWICE", loop=CLAIMS, kinds=REQUEST, snip=7, severity=WARNING)
def traces_differ(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A trace number occurs once in a set, so that the response can be matched."""
    seen: set[str] = ctx.set_state.setdefault("276-traces", set())
    trace = loop.value("TRN", 2)
    if is_repeated(trace, seen, CLAIM_NUMBERS_REMEMBERED_MAX):
        yield RuleFinding(
            "TRN02 (trace number) should be unlike that of every other claim of the set",
            loop.segment("TRN"),
            2,
        )


@rule(
    "X276-DATED",
    loop=CLAIMS,
    kinds=REQUEST,
    snip=4,
    places=(
        "2200D/DTP:472/03",
        "2200E/DTP:472/03",
    ),
)
def claim_is_dated(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim asked about without its lines has a service date."""
    if loop.loop("2210D", "2210E") is None and loop.segment("DTP") is None:
        yield RuleFinding(
            "A claim asked about must have a service date (DTP*472) if no line has one",
            code="I6",
        )


@rule("X277-PAID", loop=CLAIMS, kinds=RESPONSE, snip=7, severity=WARNING)
def check_number_has_a_payment_date(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A check number comes with the date of the payment."""
    for stc in loop.segments("STC"):
        if get_element(stc, 9) and not get_element(stc, 8):
            yield RuleFinding("STC08 (payment date) should come with a check number", stc, 8)


def _statuses(loop: Loop) -> Iterator[tuple[Segment, int, list[str]]]:
    """Yield each status composite: segment, element, and its category, status, entity and code list."""
    for stc in loop.segments("STC"):
        for at in COMPOSITES:
            if get_element(stc, at):
                parts = split_components(get_element(stc, at))
                yield stc, at, [*parts, "", "", ""][:4]
