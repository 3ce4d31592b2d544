"""What must be true of dental claims: teeth, surfaces, prostheses, orthodontics, predeterminations.

Knows claim loops; knows no other file and no clock.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.x12.rules import Context, Fault, rule
from clearlane.x12.rules.claims_facts import at, claim
from clearlane.x12.tree import Loop

DENTAL = ("837D",)
WARNING = Severity.WARNING

# Incisors and canines have an incisal edge and a facial side; premolars and molars have an occlusal
# face and a buccal side (universal tooth numbering; supernumerary teeth are 50 more, or end in S).
ANTERIOR = frozenset({*map(str, (6, 7, 8, 9, 10, 11, 22, 23, 24, 25, 26, 27)), *"CDEFGHMNOPQR"})
NEVER = {True: "O", False: "I"}
SELDOM = {True: "B", False: "F"}


@rule("X837D-SURFACE", loop="2300", kinds=DENTAL, snip=4, needs=("2400/TOO",))
def surfaces_belong_to_the_tooth(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A surface is one that the tooth has, and stands once."""
    for row in claim(loop, ctx).every("TOO"):
        if at(row, 3):
            yield from _surfaces(row, front=is_anterior(at(row, 2)))


@rule("X837D-TOOTH-TWICE", loop="2300", kinds=DENTAL, snip=7, severity=WARNING, needs=("2400/TOO",))
def tooth_stands_once(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A tooth stands once in a line, with all its surfaces."""
    for line in claim(loop, ctx).lines:
        seen: set[str] = set()
        for row in line.by.get("TOO", ()):
            if at(row, 2) in seen:
                yield Fault("TOO02 (tooth) should stand once in a line", row, 2)
            seen.add(at(row, 2))


@rule("X837D-MISSING-TWICE", loop="2300", kinds=DENTAL, snip=7, severity=WARNING, needs=("DN2",))
def missing_tooth_stands_once(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A missing tooth, or one to be extracted, is told once."""
    seen: set[str] = set()
    for row in claim(loop, ctx).by.get("DN2", ()):
        if at(row, 1) in seen:
            yield Fault("DN201 (tooth) should be told once", row, 1)
        seen.add(at(row, 1))


@rule("X837D-PRIOR", loop="2300", kinds=DENTAL, snip=4, needs=("2400",))
def replacement_tells_the_earlier_day(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A replaced prosthesis, crown or inlay tells when the earlier one was placed."""
    for line in claim(loop, ctx).lines:
        if at(line.service, 5) == "R" and line.loop.segment("DTP", "441") is None:
            message = "SV305 = R (replacement) needs DTP*441 with the day of the prior placement"
            yield Fault(message, line.service, 5)


@rule("X837D-ORTHODONTICS", loop="2300", kinds=DENTAL, snip=7, severity=WARNING)
def orthodontics_are_whole(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """Orthodontic treatment tells its months and the day the appliance was placed."""
    facts = claim(loop, ctx)
    treatment = next(iter(facts.by.get("DN1", ())), None)
    placed = [facts.loop, *(line.loop for line in facts.lines)]
    if treatment is not None and not any(level.segment("DTP", "452") for level in placed):
        message = "DN1 (orthodontics) should come with DTP*452, the day of placement"
        yield Fault(message, treatment)
    if treatment is None:
        for line in facts.lines:
            if "".join(line.procedure[1:2])[:2] == "D8":
                message = "An orthodontic procedure should come with DN1, the months of treatment"
                yield Fault(message, line.service, 1, 2)
                return


@rule("X837D-PREDETERMINATION", loop="2300", kinds=DENTAL, snip=4)
def predetermination_has_no_service_date(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A predetermination (CLM19 = PB) has no service date; a claim has one, its own or on each line."""
    facts = claim(loop, ctx)
    own = facts.first("DTP", "472")
    rows = [line.loop.segment("DTP", "472") for line in facts.lines]
    if at(facts.clm, 19) == "PB":
        for row in (own, *rows):
            if row is not None:
                yield Fault("A predetermination (CLM19 = PB) must not have a service date", row, 1)
    elif own is None:
        for line, row in zip(facts.lines, rows, strict=True):
            if row is None:
                message = "A line should have a service date (DTP*472), its own or the claim's"
                yield Fault(message, line.service, severity=WARNING)


def is_anterior(tooth: str) -> bool:
    """Whether a tooth is an incisor or a canine."""
    if tooth.isdecimal() and len(tooth) == 2 and "51" <= tooth <= "82":
        tooth = str(int(tooth) - 50)
    elif len(tooth) == 2 and tooth[1] == "S":
        tooth = tooth[0]
    return tooth in ANTERIOR


def _surfaces(row: list[str], *, front: bool) -> Iterator[Fault]:
    surfaces = at(row, 3).split(":")
    for number, surface in enumerate(surfaces, 1):
        if surface == NEVER[front]:
            message = f"TOO03-{number} must be a surface of this tooth: {_explained(front=front)}"
            yield Fault(message, row, 3, number)
        elif surface == SELDOM[front]:
            message = f"TOO03-{number} should be F on front teeth and B on back teeth"
            yield Fault(message, row, 3, number, severity=WARNING)
        elif surface in surfaces[: number - 1]:
            yield Fault(f"TOO03-{number} must not repeat a surface", row, 3, number)


def _explained(*, front: bool) -> str:
    return "front teeth have M, D, F, L and I" if front else "back teeth have M, O, D, B and L"
