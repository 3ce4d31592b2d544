"""What simulated payers answer to enrollments: the table of tax ids, and its part of the reference page.

The end of a provider's tax id selects a row; any other provider is approved. Knows no enrollment, payer or clock.
"""

from dataclasses import dataclass

ENROLLMENT_ANSWER_DAYS = 3


@dataclass(frozen=True, slots=True)
class EnrollmentAnswer:
    """What payers answer to an enrollment."""

    approves: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollmentScenario:
    """A row of the table."""

    ending: str
    """The last digits of the tax id."""
    title: str
    answer: EnrollmentAnswer | None
    """None if the payers never answer."""


ENROLLMENT_SCENARIOS = {
    row.ending: row
    for row in (
        EnrollmentScenario(
            ending="3003",
            title="Refused",
            answer=EnrollmentAnswer(approves=False, reason="The tax id is not on file."),
        ),
        EnrollmentScenario(ending="3009", title="Never answered: it stays pending", answer=None),
    )
}
ANY_OTHER = EnrollmentScenario(ending="", title="Approved", answer=EnrollmentAnswer(approves=True))
ENDING_DIGITS = 4


def answer_of(tin: str) -> EnrollmentAnswer | None:
    """Return what payers answer to the enrollment of a provider with this tax id; None if they never do."""
    return ENROLLMENT_SCENARIOS.get(tin[-ENDING_DIGITS:], ANY_OTHER).answer
