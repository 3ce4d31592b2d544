"""Rules of dental claims: teeth, surfaces, prostheses, orthodontics, predeterminations.

Knows claim loops; knows no other file and no clock.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.x12.rules import RuleContext, RuleFinding, parse_cents, rule
from clearlane.x12.rules.claims_parts import claim_parts, value_at
from clearlane.x12.tree import Loop

DENTAL = ("837D",)
WARNING = Severity.WARNING

# Incisors and canines have an incisal edge and a facial side; premolars and molars have an occlusal
# face and a buccal side (universal tooth numbering; supernumerary teeth are 50 more, or end in S).
ANTERIOR = frozenset({*map(str, (6, 7, 8, 9, 10, 11, 22, 23, 24, 25, 26, 27)), *"CDEFGHMNOPQR"})
NEVER = {True: "O", False: "I"}
SELDOM = {True: "B", False: "F"}


@rule(
    "X837D-SURFACE", loop="2300", kinds=DENTAL, snip=4, needs=("2400/TOO",), places=("2400/TOO/03",)
)
def surfaces_belong_to_the_tooth(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A surface occurs once, and should be one that the tooth has, as most payers check."""
    for row in claim_parts(loop, ctx).all_segments("TOO"):
        if value_at(row, 3):
            yield from _surfaces(row, front=is_anterior(value_at(row, 2)))


@rule("X837D-TOOTH-TWICE", loop="2300", kinds=DENTAL, snip=7, severity=WARNING, needs=("2400/TOO",))
def tooth_occurs_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A tooth occurs once in a line, with all its surfaces."""
    for line in claim_parts(loop, ctx).lines:
        seen: set[str] = set()
        for row in line.by_id.get("TOO", ()):
            if value_at(row, 2) in seen:
                yield RuleFinding("TOO02 (tooth) should occur once in a line", row, 2)
            seen.add(value_at(row, 2))


@rule("X837D-MISSING-TWICE", loop="2300", kinds=DENTAL, snip=7, severity=WARNING, needs=("DN2",))
def missing_tooth_occurs_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A missing tooth, or one to be extracted, is listed once."""
    seen: set[str] = set()
    for row in claim_parts(loop, ctx).by_id.get("DN2", ()):
        if value_at(row, 1) in seen:
            yield RuleFinding("DN201 (tooth) should be listed once", row, 1)
        seen.add(value_at(row, 1))


@rule(
    "X837D-PRIOR", loop="2300", kinds=DENTAL, snip=4, needs=("2400",), places=("2400/DTP:441/03",)
)
def replacement_has_prior_placement_date(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A replaced prosthesis, crown or inlay has the date of the prior placement."""
    for line in claim_parts(loop, ctx).lines:
        if value_at(line.service, 5) == "R" and line.loop.segment("DTP", "139", "441") is None:
            message = "SV305 = R (replacement) needs the day of the prior placement: DTP*441, or DTP*139 if it is estimated"
            yield RuleFinding(message, line.service, 5)


@rule(
    "X837D-ORTHODONTICS",
    loop="2300",
    kinds=DENTAL,
    snip=7,
    severity=WARNING,
    places=(
        "2300/DN1/01",
        "2300/DTP:452/03",
    ),
)
def orthodontics_are_complete(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """Orthodontic treatment has its months and the date the appliance was placed."""
    parts = claim_parts(loop, ctx)
    treatment = next(iter(parts.by_id.get("DN1", ())), None)
    placed = [parts.loop, *(line.loop for line in parts.lines)]
    if treatment is not None and not any(level.segment("DTP", "452") for level in placed):
        message = "DN1 (orthodontics) should come with DTP*452, the day of placement"
        yield RuleFinding(message, treatment)
    if treatment is None:
        for line in parts.lines:
            if "".join(line.procedure[1:2])[:2] == "D8":
                message = "An orthodontic procedure should come with DN1, the months of treatment"
                yield RuleFinding(message, line.service, 1, 2)
                return


@rule("X837D-MONTHS", loop="2300", kinds=DENTAL, snip=4, needs=("DN1",), places=("2300/DN1/02",))
def months_left_are_of_the_total(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The months of orthodontic treatment that are left are not more than its total."""
    for row in claim_parts(loop, ctx).by_id["DN1"]:
        total, left = (parse_cents(value_at(row, at)) for at in (1, 2))
        if total is not None and left is not None and left > total:
            yield RuleFinding("DN102 (months left) must not be more than DN101 (total)", row, 2)


@rule(
    "X837D-PREDETERMINATION",
    loop="2300",
    kinds=DENTAL,
    snip=4,
    places=(
        "2300/CLM/19",
        "2300/DTP:472/03",
        "2400/DTP:472/03",
    ),
)
def predetermination_has_no_service_date(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A predetermination (CLM19 = PB) has no service date; a claim has one, its own or on each line."""
    parts = claim_parts(loop, ctx)
    own = parts.first("DTP", "472")
    rows = [line.loop.segment("DTP", "472") for line in parts.lines]
    if value_at(parts.clm, 19) == "PB":
        for row in (own, *rows):
            if row is not None:
                yield RuleFinding(
                    "A predetermination (CLM19 = PB) must not have a service date", row, 1
                )
    elif own is None:
        for line, row in zip(parts.lines, rows, strict=True):
            if row is None:
                message = "A line should have a service date (DTP*472), its own or the claim's"
                yield RuleFinding(message, line.service, severity=WARNING)


def is_anterior(tooth: str) -> bool:
    """Return whether a tooth is an incisor or a canine."""
    if tooth.isdecimal() and len(tooth) == 2 and "51" <= tooth <= "82":
        tooth = str(int(tooth) - 50)
    elif len(tooth) == 2 and tooth[1] == "S":
        tooth = tooth[0]
    return tooth in ANTERIOR


def _surfaces(row: list[str], *, front: bool) -> Iterator[RuleFinding]:
    surfaces = value_at(row, 3).split(":")
    for number, surface in enumerate(surfaces, 1):
        if surface == NEVER[front]:
            message = (
                f"TOO03-{number} should be a surface of this tooth: {_surface_names(front=front)}"
            )
            yield RuleFinding(message, row, 3, number, severity=WARNING)
        elif surface == SELDOM[front]:
            message = f"TOO03-{number} should be F on front teeth and B on back teeth"
            yield RuleFinding(message, row, 3, number, severity=WARNING)
        elif surface in surfaces[: number - 1]:
            yield RuleFinding(f"TOO03-{number} must not repeat a surface", row, 3, number)


def _surface_names(*, front: bool) -> str:
    return "front teeth have M, D, F, L and I" if front else "back teeth have M, O, D, B and L"
