"""What must be true of a 276, a 277 and a 277CA: statuses that mean something, traces that lead back.

Whether the levels count right and hang together the reader checks for every guide. What a receiver can
still understand is a warning. Knows no claim that was sent and no clock.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CLAIM_NUMBERS_REMEMBERED_MAX
from clearlane.x12 import codes
from clearlane.x12.rules import Context, Fault, rule
from clearlane.x12.tree import Loop, Segment, components, element

ASKED, ANSWERED, ACKNOWLEDGED = ("276",), ("277",), ("277CA",)
STATUSES = (*ANSWERED, *ACKNOWLEDGED)
WARNING, INFO = Severity.WARNING, Severity.INFO
TOLD = ("2200B", "2200C", "2200D", "2200E", "2220D", "2220E")
CLAIMS = ("2200D", "2200E")
COMPOSITES = (1, 10, 11)
ACCEPTS, REFUSES = "WQ", "U"
DRUG = "RX"
"""The code list of a status that is a reject code of the pharmacies."""


@rule("X277-CATEGORY", loop=TOLD, kinds=STATUSES, snip=5, severity=WARNING)
def category_is_known(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """The category of a status is one of its list."""
    for stc, at, parts in _statuses(loop):
        if not codes.written("status_categories", parts[0]):
            yield Fault(
                f"STC{at:02}-1 (category) should be a claim status category code", stc, at, 1
            )


@rule("X277-STATUS", loop=TOLD, kinds=STATUSES, snip=5, severity=INFO)
def status_is_known(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A status is one that can be told in words."""
    for stc, at, parts in _statuses(loop):
        if parts[3] != DRUG and not codes.written("statuses", parts[1]):
            yield Fault(
                f"STC{at:02}-2 (status) is not a claim status code that is known here", stc, at, 2
            )


@rule("X277-ENTITY", loop=TOLD, kinds=STATUSES, snip=5, severity=WARNING)
def status_names_its_entity(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A status about an entity names the entity."""
    needing = codes.column("statuses", 2)
    for stc, at, parts in _statuses(loop):
        if parts[3] != DRUG and parts[1] in needing and not parts[2]:
            yield Fault(f"STC{at:02}-3 (entity) should say whom this status is about", stc, at, 3)


@rule("X277-DETAIL", loop=TOLD, kinds=STATUSES, snip=5, severity=WARNING)
def vague_status_has_a_detail(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A status that only says something is wrong comes with one that says what."""
    vague = codes.column("statuses", 3)
    # The claim may be vague where a line says what is wrong.
    told = [status for part in (loop, *loop.loops("2220D", "2220E")) for status in _statuses(part)]
    if any(parts[3] == DRUG or parts[1] not in vague for _, _, parts in told):
        return
    for stc, at, _ in _statuses(loop):
        yield Fault(
            f"STC{at:02}-2 (status) should come with a status that names what is meant", stc, at, 2
        )


@rule("X277CA-CATEGORY", loop=TOLD, kinds=ACKNOWLEDGED, snip=7, severity=WARNING)
def acknowledgement_acknowledges(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A claim acknowledgement uses the categories of acknowledgement, A0 to A8."""
    for stc, at, parts in _statuses(loop):
        if not parts[0].startswith("A"):
            yield Fault(
                f"STC{at:02}-1 (category) should be one of A0 to A8 in an acknowledgement",
                stc,
                at,
                1,
            )


@rule("X277CA-ACTION", loop=TOLD, kinds=ACKNOWLEDGED, snip=7, severity=WARNING)
def action_agrees_with_the_category(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """The action accepts (WQ) where the category accepts and refuses (U) where it refuses."""
    verdicts = codes.column("status_categories", 2)
    for stc in loop.segments("STC"):
        verdict = verdicts.get(components(element(stc, 1))[0], "")
        action = element(stc, 3)
        if (verdict == "accepted" and action == REFUSES) or (
            verdict == "rejected" and action == ACCEPTS
        ):
            yield Fault(
                "STC03 (action) should be WQ where the category accepts and U where it refuses",
                stc,
                3,
            )


@rule("X277CA-LEVEL", loop=("2000C", "2000D"), kinds=ACKNOWLEDGED, snip=7, severity=WARNING)
def level_is_that_of_an_acknowledgement(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """The levels of an acknowledgement are 20, 21, 19 and PT, with a billing provider (85) and a patient (QC)."""
    wanted, name, entity = (
        ("19", "2100C", "85") if loop.node.id == "2000C" else ("PT", "2100D", "QC")
    )
    hl, named = loop.segment("HL"), loop.loop(name)
    if hl and element(hl, 3) != wanted:
        yield Fault(f"HL03 (kind of level) should be {wanted} here", hl, 3)
    nm1 = named.segment("NM1") if named else None
    if nm1 and element(nm1, 1) != entity:
        yield Fault(f"NM101 (entity) should be {entity} here", nm1, 1)


@rule("X277CA-RECEIPT", loop=("2000A", "2000B"), kinds=ACKNOWLEDGED, snip=7, severity=WARNING)
def receipt_is_told(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """The receipt of the file and the verdict on it are told."""
    wanted = "2200A" if loop.node.id == "2000A" else "2200B"
    if loop.loop(wanted) is None:
        yield Fault(f"Loop {wanted} should tell of the file as a whole")


@rule("X276-CLAIM", loop="2000D", kinds=ASKED, snip=4)
def claim_is_asked_about(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A subscriber without dependents is the patient: a claim is asked about and the birth date is told."""
    if loop.loop("2000E") is not None:
        return
    if loop.loop("2200D") is None:
        yield Fault(
            "A subscriber without dependents must have a claim asked about (TRN)", code="I7"
        )
    if loop.segment("DMG") is None:
        yield Fault("A subscriber who is the patient must have a birth date (DMG)", code="I6")


@rule("X276-TRACE-TWICE", loop=CLAIMS, kinds=ASKED, snip=7, severity=WARNING)
def traces_differ(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A trace number stands once in a set, so that the answer can be matched."""
    seen: set[str] = ctx.state.setdefault("276-traces", set())
    trace = loop.value("TRN", 2)
    if trace in seen:
        yield Fault(
            "TRN02 (trace number) should be unlike that of every other claim of the set",
            loop.segment("TRN"),
            2,
        )
    elif len(seen) < CLAIM_NUMBERS_REMEMBERED_MAX:
        seen.add(trace)


@rule("X276-DATED", loop=CLAIMS, kinds=ASKED, snip=4)
def claim_is_dated(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A claim asked about without its lines has a service date."""
    if loop.loop("2210D", "2210E") is None and loop.segment("DTP") is None:
        yield Fault(
            "A claim asked about must have a service date (DTP*472) where no line has one",
            code="I6",
        )


@rule("X277-PAID", loop=CLAIMS, kinds=ANSWERED, snip=7, severity=WARNING)
def payment_is_told_in_full(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A check number comes with the date of the payment."""
    for stc in loop.segments("STC"):
        if element(stc, 9) and not element(stc, 8):
            yield Fault("STC08 (payment date) should come with a check number", stc, 8)


def _statuses(loop: Loop) -> Iterator[tuple[Segment, int, list[str]]]:
    """Each status composite: its segment, where it stands, and category, status, entity and code list."""
    for stc in loop.segments("STC"):
        for at in COMPOSITES:
            if element(stc, at):
                parts = components(element(stc, at))
                yield stc, at, [*parts, "", "", ""][:4]
