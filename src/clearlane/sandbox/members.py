"""What is answered to a question about a member: THE table of member ids, and the page that documents it.

The subscriber's member id picks the row, also where a dependent is asked about; an id that is not in the table is
answered from the plan. Knows no file, no plan and no clock.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from clearlane.kernel.formats import is_npi
from clearlane.kernel.limits import SANDBOX_DELAY_PER_PATIENT_SECONDS
from clearlane.sandbox import benefits
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import Asked, Patient, Receiver
from clearlane.sandbox.styles import PLAIN, STYLES

FIRST_RESERVED, LAST_RESERVED = 1009, 1999
RESERVED_WORDS = "MEMBER IDS 1009 TO 1999 ARE RESERVED BY THE SANDBOX"


class Level(StrEnum):
    """Where a refusal (AAA) stands."""

    ENVELOPE = "2000A"
    PAYER = "2100A"
    PAYEE = "2100B"
    SUBSCRIBER = "2100C"
    DEPENDENT = "2100D"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An AAA: why, and what to do."""

    code: str
    action: str = "C"
    valid: str = "N"
    """AAA01: Y where the question was in order, and still cannot be answered."""

    def row(self) -> benefits.Row:
        """The AAA."""
        return ("AAA", self.valid, "", self.code, self.action)


# A subscriber is told of the same fault by another code than a dependent.
OF_SUBSCRIBERS = {"64": "72", "65": "73", "66": "74", "67": "75", "68": "76", "77": "75"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A row of the table."""

    id: str
    words: str
    answer: str
    level: Level | None = None
    refusals: tuple[Refusal, ...] = ()
    everything: bool = False
    """Whether the answer is the long one that shows what a 271 can hold."""
    message: str = ""
    """What an answer that refuses says in words."""
    syntax: bool = False
    """Whether the set is refused by a 999."""
    seconds: int = 0
    """How long each patient takes, one after the other."""

    def at(self, level: Level) -> tuple[Refusal, ...]:
        """The refusals that stand at a level."""
        return self.refusals if self.level is level else ()


SCENARIOS: dict[str, Scenario] = {
    row.id: row
    for row in (
        Scenario(
            id="1001",
            words="Envelope errors",
            answer="A 271 that ends with the information source: AAA 41 and 79 in loop 2000A.",
            level=Level.ENVELOPE,
            refusals=(Refusal("41"), Refusal("79")),
        ),
        Scenario(
            id="1002",
            words="Payer errors",
            answer="A 271 that ends with the payer: AAA 79 and T4 in loop 2100A.",
            level=Level.PAYER,
            refusals=(Refusal("79"), Refusal("T4")),
        ),
        Scenario(
            id="1003",
            words="Payee errors",
            answer="A 271 that ends with the provider: AAA 43 and 51 in loop 2100B.",
            level=Level.PAYEE,
            refusals=(Refusal("43"), Refusal("51", "N")),
        ),
        Scenario(
            id="1004",
            words="Subscriber errors",
            answer="A 271 that ends with the subscriber: AAA 72 and 73 in loop 2100C.",
            level=Level.SUBSCRIBER,
            refusals=(Refusal("72"), Refusal("73")),
        ),
        Scenario(
            id="1005",
            words="Dependent errors",
            answer="AAA 58 and 67 in loop 2100D; where no dependent is asked about, 58 and 75 in loop 2100C.",
            level=Level.DEPENDENT,
            refusals=(Refusal("58"), Refusal("67")),
        ),
        Scenario(
            id="1006",
            words="Syntax error",
            answer="A 999 that refuses the set: NM109 of the subscriber, code 6.",
            syntax=True,
        ),
        Scenario(
            id="1007",
            words="Complex benefits",
            answer="One long 271 that shows nearly everything a benefit can say.",
            everything=True,
        ),
        Scenario(
            id="1008",
            words="Simple benefits after a delay",
            answer=f"Simple benefits after {SANDBOX_DELAY_PER_PATIENT_SECONDS} seconds for each patient of a request, one after the other.",
            seconds=SANDBOX_DELAY_PER_PATIENT_SECONDS,
        ),
    )
}
RESERVED = Scenario(
    id=f"{FIRST_RESERVED} to {LAST_RESERVED}",
    words="Reserved",
    answer="AAA 75 (subscriber not found) in loop 2100C, and a message that says that the id is reserved.",
    level=Level.SUBSCRIBER,
    # The question itself is in order, so a benefit may stand beside the refusal and carry the message.
    refusals=(Refusal("75", valid="Y"),),
    message=RESERVED_WORDS,
)
ANY_OTHER = Scenario(id="any other", words="Simple benefits", answer="From the plan, see below.")


def scenario_of(member: str) -> Scenario:
    """The scenario that a subscriber's member id picks."""
    known = SCENARIOS.get(member)
    if known is not None:
        return known
    number = int(member) if len(member) == 4 and member.isascii() and member.isdigit() else 0
    return RESERVED if FIRST_RESERVED <= number <= LAST_RESERVED else ANY_OTHER


@dataclass(frozen=True, slots=True)
class Check:
    """What a payer checks of a patient on its own, and how it refuses."""

    code: str
    """As of a dependent; a subscriber is told by the code of ``OF_SUBSCRIBERS``."""
    sentence: str
    passes: Callable[[Patient, date], bool]

    def refusal(self, level: Level) -> Refusal:
        """The AAA at the level of the patient."""
        return Refusal(own_code(self.code, level))


def own_code(code: str, level: Level) -> str:
    """The code of a fault as it is told at a level."""
    return code if level is Level.DEPENDENT else OF_SUBSCRIBERS.get(code, code)


CHECKS = (
    Check(
        "65", "The patient has a last name and a first name.", lambda p, _: bool(p.last and p.first)
    ),
    Check("58", "The patient has a birth date.", lambda p, _: p.birth is not None),
    Check(
        "60", "The birth date is not in the future.", lambda p, day: not p.birth or p.birth <= day
    ),
)
NO_MEMBER, NOT_OURS, NO_NPI = Refusal("72"), Refusal("79"), Refusal("43")


def patient_refusals(patient: Patient, level: Level, today: date) -> tuple[Refusal, ...]:
    """Every check of a patient that fails; a subscriber needs a member id too."""
    found = [check.refusal(level) for check in CHECKS if not check.passes(patient, today)]
    if level is Level.SUBSCRIBER and not patient.member:
        found.insert(0, NO_MEMBER)
    return tuple(found)


def source_refusals(source: Asked, profile: Profile) -> tuple[Refusal, ...]:
    """Whether the payer that is asked is this one; one without ids answers for all."""
    known = not profile.ids or source.name[8] in profile.ids
    return () if known else (NOT_OURS,)


def receiver_refusals(receiver: Receiver) -> tuple[Refusal, ...]:
    """Whether the provider can be known."""
    npi = receiver.npi
    return () if npi is None or is_npi(npi) else (NO_NPI,)


def page() -> Iterator[str]:
    """The reference page of the sandbox's eligibility, as Markdown."""
    yield "# Sandbox payers: eligibility"
    yield ""
    yield (
        "A sandbox's test payers answer eligibility inquiries as payers do. They read the 270 alone. What a strict "
        "payer refuses they refuse: a fault of the interchange by TA1, a fault in a set by 999 with its position, "
        "and what needs the payer's own knowledge by AAA in the 271. The trace numbers of the 270 come back in the "
        "271, and the payer adds one of its own. A live payer of a sandbox answers as `TST01` does, a dental one as "
        "`TST02`."
    )
    yield ""
    yield "## Member ids that steer the answer"
    yield ""
    yield (
        "The subscriber's member id picks the answer, also where a dependent is asked about. The checks a payer "
        "makes on its own are left out for these ids."
    )
    yield ""
    yield "| Member id | What is answered | How |"
    yield "|---|---|---|"
    for row in (*SCENARIOS.values(), RESERVED, ANY_OTHER):
        yield f"| `{row.id}` | {row.words} | {row.answer} |"
    yield ""
    yield from _delay_page()
    yield from _styles_page()
    yield from _checks_page()
    yield from _plan_page("Medical plan", benefits.MEDICAL)
    yield from _plan_page("Dental plan", benefits.DENTAL)


def _delay_page() -> Iterator[str]:
    yield (
        "The delay is in real seconds; advancing the sandbox clock by as much ends it. Patients of one request wait "
        "for each other; requests do not. A 270 that comes in a batch file is answered at once."
    )
    yield ""


def _styles_page() -> Iterator[str]:
    yield "## How the payers differ"
    yield ""
    yield "| Payer | Manner |"
    yield "|---|---|"
    for payer, style in {"TST01": PLAIN, "TST02": PLAIN, **STYLES}.items():
        yield f"| `{payer}` | {style.words} |"
    yield ""


def _checks_page() -> Iterator[str]:
    yield "## What a payer checks on its own"
    yield ""
    yield "| Loop | AAA03 | What must be true |"
    yield "|---|---|---|"
    yield f"| 2100A | `{NOT_OURS.code}` | The payer that is asked is this one. |"
    yield f"| 2100B | `{NO_NPI.code}` | The provider's NPI has a right check digit. |"
    yield f"| 2100C | `{NO_MEMBER.code}` | The subscriber has a member id. |"
    for check in CHECKS:
        codes = dict.fromkeys((own_code(check.code, Level.SUBSCRIBER), check.code))
        shown = ", ".join(f"`{code}`" for code in codes)
        yield f"| 2100C, 2100D | {shown} | {check.sentence} |"
    yield ""


def _plan_page(title: str, plan: benefits.Plan) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield (
        "Each member has figures of their own, the same for the same member id. They are taken from the amounts "
        "below; what remains of them falls by a twelfth each month. The amounts of a family are twice as high, and are "
        "told where the family is asked about. Outside the network the coinsurance is "
        f"{plan.outside * 100:g} points higher."
    )
    yield ""
    yield "| Benefit | Amounts |"
    yield "|---|---|"
    rows = {
        "Deductible in a calendar year": plan.deductibles,
        "Out-of-pocket maximum in a calendar year": plan.stop_losses,
        "The plan pays at most in a calendar year": plan.maximums,
        "Copayment a visit": plan.copays if plan.visits else (),
        "Coinsurance": plan.shares,
    }
    for name, amounts in rows.items():
        if amounts:
            yield f"| {name} | {', '.join(str(one) for one in amounts)} |"
    yield ""
    yield f"Told of where the whole plan is asked about: {_codes(plan.listed)}."
    yield ""
    if plan.visits:
        shown = ", ".join(f"`{code}` {times}" for code, times in plan.visits.items())
        yield f"With copayments, so many times the member's: {shown}."
        yield ""
    if plan.tiers:
        shown = ", ".join(f"`{code}` {share}" for code, share in plan.tiers.items())
        yield f"With a coinsurance of their own: {shown}."
        yield ""


def _codes(codes: tuple[str, ...]) -> str:
    return ", ".join(f"`{code}`" for code in codes)
