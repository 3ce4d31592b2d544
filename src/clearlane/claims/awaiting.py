"""What an open claim awaits: one thing, from whom, since when and by when.

    awaited = awaited_thing(ClaimLabel.SENT, status, has_999=True)      # Awaited.ACK_277CA
    SOURCES[awaited]                                                    # AwaitedFrom.PAYER

A table beside ``lifecycle.NEXT``: the label says what is awaited, and for two labels the last fact does. A claim that
awaits nothing is closed. What the service does by itself when it is overdue is a table too: it never sends a claim again,
because the payer may hold it. Knows labels and statuses; no payer, clock or database.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from clearlane.claims.lifecycle import LifecycleStatus
from clearlane.kernel.business_days import add_business_days
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import MICROSECOND, from_micros


class Awaited(StrEnum):
    """The one thing that an open claim awaits."""

    SENDING = "sending"
    """That it leaves in a file of ours."""
    RELEASE = "release"
    """That whoever holds it lets it go."""
    ENROLLMENT = "enrollment"
    """That the payer enrolls the billing provider."""
    ACK_999 = "999"
    ACK_277CA = "277CA"
    DECISION = "decision"
    PAYMENT = "payment"
    """The remittance: the payer said that it has decided."""
    RECORDS = "records"
    """What the payer asked for."""
    CORRECTION = "correction"
    SECONDARY = "secondary_claim"
    """The claim for the next payer, or its correction after the payer changed its decision."""
    CROSSOVER = "crossover"
    """The answer of the next payer, to which the payer forwarded the claim by itself."""


class AwaitedFrom(StrEnum):
    """Who is to give what a claim awaits."""

    CLEARINGHOUSE = "clearinghouse"
    PAYER = "payer"
    NEXT_PAYER = "next_payer"
    """The one that the payer forwarded the claim to."""
    BILLER = "biller"


SOURCES: Mapping[Awaited, AwaitedFrom] = {
    Awaited.SENDING: AwaitedFrom.CLEARINGHOUSE,
    Awaited.RELEASE: AwaitedFrom.BILLER,
    Awaited.ENROLLMENT: AwaitedFrom.PAYER,
    Awaited.ACK_999: AwaitedFrom.PAYER,
    Awaited.ACK_277CA: AwaitedFrom.PAYER,
    Awaited.DECISION: AwaitedFrom.PAYER,
    Awaited.PAYMENT: AwaitedFrom.PAYER,
    Awaited.RECORDS: AwaitedFrom.BILLER,
    Awaited.CORRECTION: AwaitedFrom.BILLER,
    Awaited.SECONDARY: AwaitedFrom.BILLER,
    Awaited.CROSSOVER: AwaitedFrom.NEXT_PAYER,
}
AWAITED_WORDS: Mapping[Awaited, str] = {
    **{one: one.value for one in Awaited},
    Awaited.ENROLLMENT: "enrollment of the provider",
    Awaited.SENDING: "sending in a file",
    Awaited.PAYMENT: "remittance",
    Awaited.SECONDARY: "claim for the next payer",
    Awaited.CROSSOVER: "answer to the forwarded claim",
}
PAYMENT_DAYS = 4
"""Business days within which the remittance comes after the day on which a payer says that it decided."""
ANSWERS = (Awaited.ACK_999, Awaited.ACK_277CA, Awaited.DECISION, Awaited.PAYMENT)
"""What a payer answers a claim with, in this order."""
BY_LABEL: Mapping[ClaimLabel, Awaited | None] = {
    ClaimLabel.RECEIVED: Awaited.SENDING,
    ClaimLabel.HELD: Awaited.RELEASE,
    ClaimLabel.CANCELED: None,
    ClaimLabel.SENT: Awaited.ACK_999,
    ClaimLabel.ACCEPTED: Awaited.DECISION,
    ClaimLabel.IN_PROCESS: Awaited.DECISION,
    ClaimLabel.NOT_ACCEPTED: Awaited.CORRECTION,
    ClaimLabel.REJECTED: Awaited.CORRECTION,
    ClaimLabel.TO_RESEND: Awaited.SENDING,
    ClaimLabel.WANTS_RECORDS: Awaited.RECORDS,
    ClaimLabel.PREDETERMINED: None,
    ClaimLabel.TAKEN_BACK: Awaited.DECISION,
    ClaimLabel.FORWARDED: Awaited.CROSSOVER,
    ClaimLabel.DENIED: Awaited.CORRECTION,
    ClaimLabel.PARTLY_DENIED: Awaited.CORRECTION,
    ClaimLabel.PATIENT_OWES: None,
    ClaimLabel.NOTHING_DUE: None,
    ClaimLabel.VOIDED: None,
    ClaimLabel.REPLACED: None,
    ClaimLabel.NOTICE_ACCEPTED: None,
    ClaimLabel.PAID: None,
    ClaimLabel.PAID_DIFFERS: None,
    ClaimLabel.SHADOW: None,
    ClaimLabel.SHADOW_NOT_ACCEPTED: None,
    # Stored in the place of one of a claim that was sent: what it awaits stays as it is.
    ClaimLabel.NO_ANSWER: Awaited.DECISION,
}
"""What a claim of each label awaits; None for a closed one."""
OF_DRAFTS = frozenset({Awaited.SECONDARY, Awaited.CROSSOVER})
"""What a decided claim awaits because of its draft for the next payer, which alone begins and ends it."""
FINALIZED = "F"
"""The first letter of the status categories by which a payer says that it has decided (STC01-1)."""


class AwaitedState(NamedTuple):
    """What a claim awaits, since when and by when, as its row holds it; times are microseconds."""

    awaiting: str | None = None
    awaited_since: int | None = None
    awaited_by: int | None = None
    """None if no time is known by which it is to come."""


NOTHING_AWAITED = AwaitedState()


@lru_cache(maxsize=64)
def first_awaited(label: str, at: int) -> Mapping[str, object]:
    """Return what a claim that was not sent awaits from a moment on, by column. Claims of one document share it."""
    awaited = BY_LABEL[ClaimLabel(label)]
    if awaited is None:
        return NOTHING_AWAITED._asdict()
    by = sending_due(at) if awaited is Awaited.SENDING else None
    return AwaitedState(awaited.value, at, by)._asdict()


def sending_due(at: int) -> int:
    """Return by when a claim that waits from a moment on is to leave: in a business day, at the same time of day."""
    moment = from_micros(at)
    return at + (add_business_days(moment.date(), 1) - moment.date()) // MICROSECOND


def awaited_thing(label: ClaimLabel, status: LifecycleStatus, *, has_999: bool) -> Awaited | None:
    """Return what a claim awaits; ``has_999`` is whether its last file was taken in by a 999, or a clearinghouse."""
    if label is ClaimLabel.SENT and has_999:
        return Awaited.ACK_277CA
    if label is ClaimLabel.IN_PROCESS and status.status_category.startswith(FINALIZED):
        return Awaited.PAYMENT
    return BY_LABEL[label]


def is_of_draft(awaited: Awaited | None, awaiting: str | None) -> bool:
    """Return whether a claim goes on awaiting what its draft for the next payer made it await."""
    return awaiting in OF_DRAFTS and (awaited is None or awaited in OF_DRAFTS)


# --- what is done when it is overdue ---------------------------------------------------------------------------------


class OverdueStep(StrEnum):
    """One thing that is done about an overdue claim."""

    LOOK = "look"
    """The payer's mailbox is looked through again."""
    ASK = "ask"
    """The payer is asked about the claim (276)."""
    ASK_AGAIN = "ask_again"
    PERSON = "person"
    """It is given to a person."""
    ASK_NEXT_PAYER = "ask_next_payer"
    """The payer that a claim was forwarded to is asked, if it takes questions."""
    DRAFT = "draft"
    """The claim for the payer that does not answer is drafted."""


FIRST_STEP = OverdueStep.LOOK
NEXT_STEPS: Mapping[OverdueStep, OverdueStep] = {
    OverdueStep.LOOK: OverdueStep.ASK,
    OverdueStep.ASK: OverdueStep.ASK_AGAIN,
    OverdueStep.ASK_AGAIN: OverdueStep.PERSON,
}
"""The step after each; none after the last."""
ASKS = (OverdueStep.ASK, OverdueStep.ASK_AGAIN)
PAUSE_DAYS: Mapping[OverdueStep, int] = {
    OverdueStep.LOOK: 3,
    OverdueStep.ASK: 5,
    OverdueStep.ASK_AGAIN: 3,
}
"""Business days until the step after this one. An answer that leaves the claim to a person ends a pause."""
PAYMENT_PAUSE_DAYS = 1
"""The pause after a look for the remittance of a payer that said that it has decided."""
ASKED_MAX = 4
"""How often a payer is asked about the same awaited thing, over all waits, before a person looks."""
ASK_PATIENCE_DAYS = 5
"""Business days for which a question waits until the payer may be asked; then the claim goes to a person."""
STEP_WORDS: Mapping[OverdueStep, str] = {
    OverdueStep.LOOK: "No {what} in time: the payer's mailbox is looked through again",
    OverdueStep.ASK: "Still no {what}: the service asks the payer (276)",
    OverdueStep.ASK_AGAIN: "Still no {what}: the service asks the payer again (276)",
    OverdueStep.PERSON: "Still no {what}: a person looks at it",
    OverdueStep.ASK_NEXT_PAYER: "No {what} in time: the next payer is asked, if it takes questions",
    OverdueStep.DRAFT: "Still no {what}: the claim for the next payer is drafted",
}


def next_step(step: OverdueStep, awaited: Awaited, *, asked: int, for_person: bool) -> OverdueStep:
    """Return the step after one; ``asked`` counts the questions about the same awaited thing, over all waits.

    ``for_person`` is whether the payer's answer leaves the claim to a person, such as that it does not have it. A payer that
    said that it has decided has no more to say.
    """
    if for_person or awaited is Awaited.PAYMENT:
        return OverdueStep.PERSON
    following = NEXT_STEPS[step]
    if following is OverdueStep.ASK and asked:
        following = OverdueStep.ASK_AGAIN if asked < ASKED_MAX else OverdueStep.PERSON
    return following


def pause_days(step: OverdueStep, awaited: Awaited) -> int | None:
    """Return the business days between a step and the one after it; None after the last."""
    if step is OverdueStep.LOOK and awaited is Awaited.PAYMENT:
        return PAYMENT_PAUSE_DAYS
    return PAUSE_DAYS.get(step)
