"""What the statuses of a 277 say of the claim that was asked about, in one word and one sentence.

    result_of("A4")                      # AnswerResult.NOT_FOUND

A4 is an answer about the claim: the payer searched and does not have it. D0 is none: the search failed, and other keys may
find the claim. Knows categories of statuses and nothing else.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

ANSWER: Literal["277"] = "277"


class AnswerResult(StrEnum):
    """What an answer says of the claim, or why it says nothing."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    INFORMATION_REQUESTED = "information_requested"
    PAID = "paid"
    DENIED = "denied"
    FINALIZED = "finalized"
    REJECTED = "rejected"
    NOT_FOUND = "not_found"
    SEARCH_FAILED = "search_failed"
    TRY_LATER = "try_later"
    REFUSED = "refused"
    MESSAGE = "message"
    OTHER_CLAIM = "other_claim"
    """What it states does not agree with the claim that was asked about: a person must look at it."""
    FAILED = "failed"
    """There is no answer: the payer was not reached, or refused the file."""


RESULT_WORDS: Mapping[AnswerResult, str] = {
    AnswerResult.ACCEPTED: "The payer has the claim and has not begun to decide on it.",
    AnswerResult.PENDING: "The payer has the claim and is deciding on it.",
    AnswerResult.INFORMATION_REQUESTED: "The payer has the claim and waits for information.",
    AnswerResult.PAID: "The payer has decided to pay. The 835 says what.",
    AnswerResult.DENIED: "The payer has decided not to pay. The 835 says why.",
    AnswerResult.FINALIZED: "The payer has decided. The 835 says what.",
    AnswerResult.REJECTED: "The payer rejected the claim and does not decide on it.",
    AnswerResult.NOT_FOUND: "The payer searched and does not have the claim in its system.",
    AnswerResult.SEARCH_FAILED: "The payer's search failed, which says nothing about the claim.",
    AnswerResult.TRY_LATER: "The payer's system cannot answer now.",
    AnswerResult.REFUSED: "The payer did not take the question. It says nothing about the claim.",
    AnswerResult.MESSAGE: "The payer sent a message.",
    AnswerResult.OTHER_CLAIM: "The payer's answer does not agree with the claim: look at it. None of it was recorded.",
    AnswerResult.FAILED: "There is no answer from the payer.",
}

RESULT_HEADLINES: Mapping[AnswerResult, str] = {
    **{one: one.value.replace("_", " ") for one in AnswerResult},
    # What a payer has decided is no longer pending, and paid or denied only by its 835.
    AnswerResult.PAID: AnswerResult.FINALIZED.value,
    AnswerResult.DENIED: AnswerResult.FINALIZED.value,
}
"""What an answer is called at the head of an entry of a claim's history."""

# By category, and by its first letter if the category has no row.
RESULTS: Mapping[str, AnswerResult] = {
    "A": AnswerResult.ACCEPTED,
    "A3": AnswerResult.REJECTED,
    "A4": AnswerResult.NOT_FOUND,
    "A6": AnswerResult.REJECTED,
    "A7": AnswerResult.REJECTED,
    "A8": AnswerResult.REJECTED,
    "D": AnswerResult.SEARCH_FAILED,
    "E": AnswerResult.REFUSED,
    "E1": AnswerResult.TRY_LATER,
    "E2": AnswerResult.TRY_LATER,
    "F": AnswerResult.FINALIZED,
    "F1": AnswerResult.PAID,
    "F2": AnswerResult.DENIED,
    "P": AnswerResult.PENDING,
    "P3": AnswerResult.INFORMATION_REQUESTED,
    "P4": AnswerResult.INFORMATION_REQUESTED,
    "R": AnswerResult.INFORMATION_REQUESTED,
    "RQ": AnswerResult.MESSAGE,
}
# If an answer has statuses of several categories, the first of these results counts.
RESULT_ORDER = (
    AnswerResult.REJECTED, AnswerResult.DENIED, AnswerResult.PAID, AnswerResult.FINALIZED,
    AnswerResult.INFORMATION_REQUESTED, AnswerResult.PENDING, AnswerResult.ACCEPTED, AnswerResult.NOT_FOUND,
    AnswerResult.SEARCH_FAILED, AnswerResult.REFUSED, AnswerResult.TRY_LATER, AnswerResult.MESSAGE,
)  # fmt: skip

ABOUT_THE_QUESTION = frozenset(
    {
        AnswerResult.NOT_FOUND,
        AnswerResult.SEARCH_FAILED,
        AnswerResult.REFUSED,
        AnswerResult.TRY_LATER,
        AnswerResult.MESSAGE,
    }
)
"""The results of answers that have found no claim."""

FOR_A_PERSON = frozenset(
    {
        AnswerResult.NOT_FOUND,
        AnswerResult.SEARCH_FAILED,
        AnswerResult.REFUSED,
        AnswerResult.MESSAGE,
        AnswerResult.OTHER_CLAIM,
    }
)
"""The results after which the payer is not asked again without a person."""

WITHOUT_CLAIM = ABOUT_THE_QUESTION | {AnswerResult.OTHER_CLAIM, AnswerResult.FAILED}
"""The results that say nothing about the claim."""


def result_of(category: str) -> AnswerResult:
    """Return what a category of a status says."""
    return RESULTS.get(category) or RESULTS.get(category[:1], AnswerResult.MESSAGE)
