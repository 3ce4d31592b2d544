"""Decide whether a claim for the next payer may be sent by itself. Pure: one table of reasons.

    why_not_by_itself(found)            # sentences; empty if nothing is against it

A site switches it on; it is off otherwise. What a person should look at first is never sent by itself.
"""

from collections.abc import Callable

from clearlane.payments.payment import ClaimPayment, MatchedBy, Payment
from clearlane.pipeline.secondary.next_claim import SecondaryDraft
from clearlane.store.payments.secondary_drafts import CrossoverStep

NOT_DECIDED = "The payer has not decided the claim."
OF_DRAFT: tuple[tuple[str, Callable[[SecondaryDraft], bool]], ...] = (
    ("Something must be known first.", lambda found: bool(found.questions)),
    (
        "The payer forwarded the claim, so the next payer may have it.",
        lambda found: bool(found.forwarded_to) or found.crossover is not CrossoverStep.NONE,
    ),
    (
        "The payer decided more than once: it took a payment back, or corrected it.",
        lambda found: not found.is_only_decision,
    ),
)
OF_PAYMENT: tuple[tuple[str, Callable[[Payment, ClaimPayment], bool]], ...] = (
    ("The payer denied the claim, or a part of it.", lambda _, paid: bool(paid.denied)),
    ("The payer left nothing to the patient.", lambda _, paid: paid.patient <= 0),
    (
        "The payment does not balance.",
        lambda payment, paid: not (paid.balanced and payment.balanced),
    ),
    (
        "The payment has claims that match none of ours, or this one was matched by a person.",
        lambda payment, paid: bool(payment.unmatched) or paid.matched_by is MatchedBy.PERSON,
    ),
    (
        "Another payment has the same number and day, with other content.",
        lambda payment, _: bool(payment.differs_from),
    ),
)


def why_not_by_itself(found: SecondaryDraft) -> tuple[str, ...]:
    """Return every reason for which a claim for the next payer waits for a person."""
    reasons = [sentence for sentence, holds in OF_DRAFT if holds(found)]
    if found.payment is None or found.paid is None:
        return (*reasons, NOT_DECIDED)
    payment, paid = found.payment, found.paid
    return (*reasons, *(sentence for sentence, holds in OF_PAYMENT if holds(payment, paid)))
