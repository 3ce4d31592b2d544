"""Eligibility scenarios: the table of member ids.

The subscriber's member id selects the scenario, also for a dependent; an id that is not in the table is answered from
the plan. Knows no file, no plan and no clock.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from clearlane.kernel.formats import is_npi
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import InformationSource, Patient, Receiver
from clearlane.sandbox.responses import benefits

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
