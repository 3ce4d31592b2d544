"""A small guide that has one of everything, and files made for it."""

from collections.abc import Iterable, Iterator

from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import guides
from clearlane.x12.automaton import compile_guide
from clearlane.x12.grammar import Guide, loop
from clearlane.x12.guides.dictionary import seg
from clearlane.x12.reader.reader import parse
from clearlane.x12.rules import RULES, SET, RuleContext, RuleFinding, parse_cents, rule
from clearlane.x12.tree import Loop, X12File
from tests.x12.findings_of import all_findings

VERSION = "009990X001A1"
LINE = "R=HC R S"
ISA = (
    "ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       "
    "*240501*1200*^*00501*000000001*0*T*:"
)


@rule("TOY-TOTAL", loop="2300", kinds=("TOY",), snip=3)
def total_is_sum(claim: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The total is the sum of the lines."""
    lines = [parse_cents(line.value("SV1", 2)) or 0 for line in claim.loops("2400")]
    ctx.set_state["total"] = ctx.set_state.get("total", 0) + sum(lines)
    if parse_cents(claim.value("CLM", 2)) != sum(lines):
        yield RuleFinding("CLM02 must be the sum of the lines", claim.segment("CLM"), 2, code="6")


@rule("TOY-PARENT", loop="2300", kinds=("TOY",), snip=4, severity=Severity.WARNING)
def subscriber_has_a_group(claim: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A claim above 900 needs a group number."""
    subscriber = ctx.parent("2000B")
    assert subscriber is not None
    assert ctx.parent("9999") is None
    if (parse_cents(claim.value("CLM", 2)) or 0) > 90_000 and not subscriber.value("SBR", 3):
        yield RuleFinding("SBR03 is needed", subscriber.segment("SBR"), 3)
        yield RuleFinding("The claim needs it", severity=Severity.ERROR)


@rule("TOY-NOTE", loop="2300", kinds=("TOY",), snip=4, needs=("NTE",))
def notes_end_well(claim: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A note is not BAD."""
    for note in claim.segments("NTE"):
        if note[-1] == "BAD":
            yield RuleFinding("The note must be better", note, 2)
            yield RuleFinding("A note from elsewhere", ["NTE", "ADD", "BAD"], 2)


@rule("TOY-SET", loop=(SET, "none"), kinds=("TOY",), snip=3)
def set_is_worth_something(root: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A set is worth more than nothing."""
    assert ctx.kind == "TOY"
    if not ctx.set_state.get("total"):
        yield RuleFinding("The set must hold a charge", root.segment("K3"))


GUIDE = Guide(
    id=VERSION,
    kind="TOY",
    transaction="837",
    functional_id="HC",
    name="A small set of claims",
    earlier_ids=("009990X001",),
    unit="2300",
    root=loop(
        "TOY", "A small set of claims", "R", 1,
        seg("ST", "Start", "R", 1, f"R=837 R R={VERSION}|009990X001"),
        seg("BHT", "Purpose", "R", 1, "R=0019 R=00|18 R R R R=CH"),
        loop(
            "1000A", "Submitter", "R", 1,
            seg("NM1", "Submitter name", "R", 1, "R=41 R=1|2 R S - - - R=46 R"),
            seg("PER", "Submitter contact", "R", 2, "R=IC S R=EM|FX|TE R S=EX|TE S S=EX|TE S"),
        ),
        loop(
            "2000A", "Billing provider", "R", 0,
            seg("HL", "Billing provider level", "R", 1, "R - R=20 R=1"),
            loop(
                "2010AA", "Billing provider name", "R", 1,
                seg("NM1", "Billing provider name", "R", 1, "R=85 R=1|2 R S S - S S=XX S"),
                seg("N3", "Street", "R", 1, "R S"),
                seg("N4", "City", "R", 1, "R S S S - - S"),
                seg("REF", "Tax number", "R", 1, "R=EI|SY R"),
                seg("REF", "License", "S", 2, "R=0B|1G R"),
                seg("PRV", "Speciality", "S", 1, "R=BI R=PXC R"),
            ),
            loop(
                "2000B", "Subscriber", "R", 0,
                seg("HL", "Subscriber level", "R", 1, "R R R=22 R=0|1"),
                seg("SBR", "Coverage", "R", 1, "R=P|S S=18 S S - - - - S=CI|MB"),
                loop(
                    "2010BA", "Subscriber name", "R", 1,
                    seg("NM1", "Subscriber name", "R", 1, "R=IL R=1|2 R S S - S S=MI S"),
                    seg("DMG", "Birth date and sex", "S", 1, "R=D8 R R=F|M|U"),
                ),
                loop(
                    "2000C", "Patient", "S", 0,
                    seg("HL", "Patient level", "R", 1, "R R R=23 R=0"),
                    seg("K3", "A note", "S", 1, "R"),
                ),
                loop(
                    "2300", "Claim", "S", 3,
                    seg("CLM", "Claim", "R", 1, "R<20 R - - R(R R=B R) R=Y|N S S S"),
                    seg("DTP", "Onset", "S", 1, "R=431 R=D8 R"),
                    seg("DTP", "Service", "S", 1, "R=472 R=D8|RD8 R"),
                    seg("DTP", "Admission", "S", 1, "R=435 R=DT|TM|D6|UN|RDT R"),
                    seg("AMT", "Amount paid", "S", 1, "R=F5 R"),
                    seg("REF", "Authorization", "S", 1, "R=G1 R"),
                    seg("K3", "File information", "S", 1, "R"),
                    seg("K3", "More file information", "S", 2, "R"),
                    seg("NTE", "Note", "S", 2, "R=ADD|CER R"),
                    seg("CAS", "Adjustment", "S", 5, "R=CO|PR R R S S S S S S S"),
                    seg("QTY", "Quantity", "S", 1, "R=PT S - S"),
                    seg("EQ", "Services", "S", 1, "S*3 S(R R S)*2"),
                    seg("HI", "Diagnoses", "S", 1, "R(R=ABK|BK R S=D8 S) S(R=ABF|BF R S=D8 S)"),
                    loop(
                        "2310B", "Rendering provider", "S", 1,
                        seg("NM1", "Rendering provider", "R", 1, "R=82 R=1|2 R S S - S S=XX S"),
                        seg("PRV", "Speciality", "S", 1, "R=PE R=PXC R"),
                    ),
                    loop(
                        "2400", "Line", "R", 50,
                        seg("LX", "Line number", "R", 1, "R"),
                        seg("SV1", "Service", "R", 1, "R(R=HC R S S) R R=MJ|UN R S=@places_of_service - S(R S S S)"),
                        seg("DTP", "Service date", "S", 1, "R=472 R=D8|RD8 R"),
                        seg("REF", "Line number of the provider", "S", 1, "R=6R R"),
                    ),
                ),
            ),
        ),
        seg("SE", "End", "R", 1, "R R"),
    ),
)  # fmt: skip
compile_guide(GUIDE)
for id in ("TOY-TOTAL", "TOY-PARENT", "TOY-NOTE", "TOY-SET"):
    # The compiled guide holds them; the registry is for the rules of real guides.
    del RULES[id]

HEADER = [
    "BHT*0019*00*17*20240501*1200*CH",
    "NM1*41*2*FERNHILL FAMILY PRACTICE*****46*S1",
    "PER*IC**TE*5035550101",
]
BILLING = [
    "HL*1**20*1",
    "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
    "N3*12 FERN HILL ROAD",
    "N4*PORTLAND*OR*972011234",
    "REF*EI*911234567",
]
SUBSCRIBER = [
    "HL*2*1*22*0",
    "SBR*P*18*******CI",
    "NM1*IL*1*ARDEN*ROSA****MI*M1",
    "DMG*D8*19800229*F",
]
CLAIM = [
    "CLM*A1*100.5***11:B:1*Y",
    "DTP*431*D8*20240420",
    "DTP*472*RD8*20240401-20240402",
    "REF*G1*AUTH",
    "NTE*ADD*WELL",
    "CAS*CO*45*10**97*5.25",
    "HI*ABK:E119*ABF:I10:D8:20240101",
    "NM1*82*1*BIRCH*NORA****XX*1245319599",
    "PRV*PE*PXC*207Q00000X",
    "LX*1",
    "SV1*HC:99213*100*UN*1***1:2",
    "DTP*472*D8*20240401",
    "LX*2",
    "SV1*HC:99214:25*.5*UN*1*11",
    "REF*6R*L2",
]
BODY = [*HEADER, *BILLING, *SUBSCRIBER, *CLAIM]


def choose(transaction: str, version: str) -> Guide | None:
    """The toy guide beside the real ones."""
    if transaction == "837" and version in (GUIDE.id, *GUIDE.earlier_ids):
        return GUIDE
    return guides.by_version(transaction, version)


def set_of(body: Iterable[str], *, control: str = "0001", version: str = VERSION) -> list[str]:
    """ST, the body, SE."""
    rows = list(body)
    return [f"ST*837*{control}*{version}", *rows, f"SE*{len(rows) + 2}*{control}"]


def wrap(
    rows: Iterable[str], *, isa: str = ISA, sets: int = 1, version: str = VERSION, ending: str = ""
) -> bytes:
    """An interchange with one group around some segments."""
    whole = [
        isa,
        f"GS*HC*SENDER*RECEIVER*20240501*1200*1*X*{version}",
        *rows,
        f"GE*{sets}*1",
        "IEA*1*000000001",
    ]
    return "".join(f"{row}~{ending}" for row in whole).encode("latin-1")


def file(body: Iterable[str] = BODY) -> bytes:
    """A file of one set."""
    return wrap(set_of(body))


def replaced(old: str, *new: str, body: list[str] = BODY) -> list[str]:
    """The body with one segment replaced by none, one or several."""
    at = body.index(old)
    return [*body[:at], *new, *body[at + 1 :]]


def read(data: bytes) -> X12File:
    return parse(data, choose_guide=choose)


def findings_in(data: bytes, *, warnings: bool = True) -> list[tuple[str, int, int, int]]:
    """Rule, position in the set, element and component of every finding."""
    found: list[Finding] = [
        f for f in all_findings(read(data)) if warnings or f.severity is Severity.ERROR
    ]
    return [
        (f.rule, f.position.segment, f.position.element, f.position.component)
        for f in found
        if f.position
    ]
