"""Eligibility scenarios: the table of member ids, and the reference page made from it.

The subscriber's member id selects the scenario, also for a dependent; an id that is not in the table is answered from
the plan. Knows no file, no plan and no clock.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from clearlane.kernel.formats import is_npi
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import InformationSource, Patient, Receiver
from clearlane.sandbox.responses import benefits
from clearlane.sandbox.responses.styles import PLAIN, STYLES

SANDBOX_DELAY_PER_PATIENT_SECONDS = 65


class Level(StrEnum):
    """Loop of a refusal (AAA)."""

    ENVELOPE = "2000A"
    PAYER = "2100A"
    PAYEE = "2100B"
    SUBSCRIBER = "2100C"
    DEPENDENT = "2100D"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An AAA: reject reason and follow-up action."""

    code: str
    action: str = "C"
    valid: str = "N"
    """AAA01: Y if the inquiry is valid, and still cannot be answered."""

    def row(self) -> benefits.Row:
        """Return the AAA segment."""
        return ("AAA", self.valid, "", self.code, self.action)


# AAA03 has different codes for the same fault of a subscriber and of a dependent.
SUBSCRIBER_CODES = {"64": "72", "65": "73", "66": "74", "67": "75", "68": "76", "77": "75"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A row of the table."""

    id: str
    title: str
    answer: str
    level: Level | None = None
    refusals: tuple[Refusal, ...] = ()
    everything: bool = False
    """Whether the response is the full sample of a 271."""
    message: str = ""
    """Message beside a refusal."""
    rejected_by_999: bool = False
    """Whether a 999 rejects the set."""
    delay_seconds: int = 0
    """Delay of each patient, one after the other."""

    def at(self, level: Level) -> tuple[Refusal, ...]:
        """Return the refusals at a level."""
        return self.refusals if self.level is level else ()


SCENARIOS: dict[str, Scenario] = {
    row.id: row
    for row in (
        Scenario(
            id="1001",
            title="Envelope errors",
            answer="A 271 that ends with the information source: AAA 41 and 79 in loop 2000A.",
            level=Level.ENVELOPE,
            refusals=(Refusal("41"), Refusal("79")),
        ),
        Scenario(
            id="1002",
            title="Payer errors",
            answer="A 271 that ends with the payer: AAA 79 and T4 in loop 2100A.",
            level=Level.PAYER,
            refusals=(Refusal("79"), Refusal("T4")),
        ),
        Scenario(
            id="1003",
            title="Payee errors",
            answer="A 271 that ends with the provider: AAA 43 and 51 in loop 2100B.",
            level=Level.PAYEE,
            refusals=(Refusal("43"), Refusal("51", "N")),
        ),
        Scenario(
            id="1004",
            title="Subscriber errors",
            answer="A 271 that ends with the subscriber: AAA 72 and 73 in loop 2100C.",
            level=Level.SUBSCRIBER,
            refusals=(Refusal("72"), Refusal("73")),
        ),
        Scenario(
            id="1005",
            title="Dependent errors",
            answer="AAA 58 and 67 in loop 2100D; if no dependent is asked about, 58 and 75 in loop 2100C.",
            level=Level.DEPENDENT,
            refusals=(Refusal("58"), Refusal("67")),
        ),
        Scenario(
            id="1006",
            title="Syntax error",
            answer="A 999 that refuses the set: NM109 of the subscriber, code 6.",
            rejected_by_999=True,
        ),
        Scenario(
            id="1007",
            title="Complex benefits",
            answer="One long 271 that shows nearly everything a benefit can say.",
            everything=True,
        ),
        Scenario(
            id="1008",
            title="Simple benefits after a delay",
            answer=f"Simple benefits after {SANDBOX_DELAY_PER_PATIENT_SECONDS} seconds for each patient of a request, one after the other.",
            delay_seconds=SANDBOX_DELAY_PER_PATIENT_SECONDS,
        ),
    )
}
RESERVED_IDS = "1009 to 1999"
"""Ids that the interface document reserves; until it has scenarios for them, they are like any other."""
ANY_OTHER = Scenario(id="any other", title="Simple benefits", answer="From the plan, see below.")


def scenario_of(member: str) -> Scenario:
    """Return the scenario of a subscriber's member id."""
    return SCENARIOS.get(member, ANY_OTHER)


@dataclass(frozen=True, slots=True)
class PatientCheck:
    """A payer's own check of a patient, and its refusal."""

    code: str
    """AAA03 of a dependent; ``SUBSCRIBER_CODES`` gives that of a subscriber."""
    sentence: str
    passes: Callable[[Patient, date], bool]

    def refusal(self, level: Level) -> Refusal:
        """Return the AAA at the level of the patient."""
        return Refusal(code_at(self.code, level))


def code_at(code: str, level: Level) -> str:
    """Return the AAA03 code of a fault at a level."""
    return code if level is Level.DEPENDENT else SUBSCRIBER_CODES.get(code, code)


CHECKS = (
    PatientCheck(
        "65", "The patient has a last name and a first name.", lambda p, _: bool(p.last and p.first)
    ),
    PatientCheck("58", "The patient has a birth date.", lambda p, _: p.birth is not None),
    PatientCheck(
        "60", "The birth date is not in the future.", lambda p, day: not p.birth or p.birth <= day
    ),
)
NO_MEMBER, WRONG_PAYER, NO_NPI = Refusal("72"), Refusal("79"), Refusal("43")


def patient_refusals(patient: Patient, level: Level, today: date) -> tuple[Refusal, ...]:
    """Return the refusals of the checks that a patient fails; a subscriber needs a member id too."""
    found = [check.refusal(level) for check in CHECKS if not check.passes(patient, today)]
    if level is Level.SUBSCRIBER and not patient.member:
        found.insert(0, NO_MEMBER)
    return tuple(found)


def source_refusals(source: InformationSource, profile: Profile) -> tuple[Refusal, ...]:
    """Return a refusal if another payer is named; a payer without ids answers for all."""
    known = not profile.ids or source.name[8] in profile.ids
    return () if known else (WRONG_PAYER,)


def receiver_refusals(receiver: Receiver) -> tuple[Refusal, ...]:
    """Return a refusal if the provider's NPI is not valid."""
    npi = receiver.npi
    return () if npi is None or is_npi(npi) else (NO_NPI,)


def page() -> Iterator[str]:
    """Yield the reference page of the sandbox's eligibility, as lines of Markdown."""
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
    yield "## Member ids that select the answer"
    yield ""
    yield (
        "The subscriber's member id selects the answer, even if a dependent is asked about. The checks a payer "
        "makes on its own are left out for these ids."
    )
    yield ""
    yield "| Member id | What is answered | How |"
    yield "|---|---|---|"
    for row in (*SCENARIOS.values(), ANY_OTHER):
        yield f"| `{row.id}` | {row.title} | {row.answer} |"
    yield f"| `{RESERVED_IDS}` | Reserved by the interface document | As any other. |"
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
    yield "| Payer | Style |"
    yield "|---|---|"
    for payer, style in {"TST01": PLAIN, "TST02": PLAIN, **STYLES}.items():
        yield f"| `{payer}` | {style.description} |"
    yield ""


def _checks_page() -> Iterator[str]:
    yield "## What a payer checks on its own"
    yield ""
    yield "| Loop | AAA03 | What must be true |"
    yield "|---|---|---|"
    yield f"| 2100A | `{WRONG_PAYER.code}` | The payer that is asked is this one. |"
    yield f"| 2100B | `{NO_NPI.code}` | The provider's NPI has a right check digit. |"
    yield f"| 2100C | `{NO_MEMBER.code}` | The subscriber has a member id. |"
    for check in CHECKS:
        codes = dict.fromkeys((code_at(check.code, Level.SUBSCRIBER), check.code))
        shown = ", ".join(f"`{code}`" for code in codes)
        yield f"| 2100C, 2100D | {shown} | {check.sentence} |"
    yield ""


def _plan_page(title: str, plan: benefits.Plan) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield (
        "Each member has figures of their own, the same for the same member id. They are taken from the amounts "
        "below; what remains of them falls by a twelfth each month. The amounts of a family are twice as high, and are "
        "given if the family is asked about. Outside the network the coinsurance is "
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
    yield f"Given if the whole plan is asked about: {_codes(plan.listed)}."
    yield ""
    if plan.visits:
        shown = ", ".join(f"`{code}` {times}" for code, times in plan.visits.items())
        yield f"With copayments, as multiples of the member's: {shown}."
        yield ""
    if plan.tiers:
        shown = ", ".join(f"`{code}` {share}" for code, share in plan.tiers.items())
        yield f"With a coinsurance of their own: {shown}."
        yield ""


def _codes(codes: tuple[str, ...]) -> str:
    return ", ".join(f"`{code}`" for code in codes)
