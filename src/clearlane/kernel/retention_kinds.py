"""What is kept for how long: the kinds of data that a vendor's retention periods name, and the classes of keys.

Knows no table; the store says which rows are of which kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from clearlane.kernel import limits

PERIOD_DAYS_MAX = 36_600
"""A hundred years."""
RECORDS_KEPT_DAYS, RECORDS_KEPT_DAYS_MIN = 3_653, 2_192
"""Of claims, remittances, proofs and the audit trail: ten years, and not less than HIPAA's six."""


class RetentionKind(StrEnum):
    """Kinds of data that are kept for a period of their own."""

    CLAIMS = "claims"
    REMITTANCES = "remittances"
    PROOFS = "proofs"
    ELIGIBILITY = "eligibility"
    EVENTS = "events"
    FILES = "files"
    NOT_ACCEPTED = "not-accepted"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """What a kind holds, and how long it is kept if no one says otherwise."""

    title: str
    days: int
    days_min: int
    of_installation: bool = False
    """Whether its rows belong to no vendor alone: the longest period of all vendors counts."""


RETENTION: Mapping[RetentionKind, RetentionRule] = {
    RetentionKind.CLAIMS: RetentionRule(
        "Claims with history, documents, notes and payments on them, since their last change",
        RECORDS_KEPT_DAYS,
        RECORDS_KEPT_DAYS_MIN,
    ),
    RetentionKind.REMITTANCES: RetentionRule(
        "Payments, files of payers and files of claims, since they came or were written",
        RECORDS_KEPT_DAYS,
        RECORDS_KEPT_DAYS_MIN,
        of_installation=True,
    ),
    RetentionKind.PROOFS: RetentionRule(
        "The log of filings, from which proofs are made",
        RECORDS_KEPT_DAYS,
        RECORDS_KEPT_DAYS_MIN,
        of_installation=True,
    ),
    RetentionKind.ELIGIBILITY: RetentionRule(
        "Questions to payers about eligibility and claims, and their answers",
        limits.ELIGIBILITY_KEPT_DAYS,
        1,
    ),
    RetentionKind.EVENTS: RetentionRule("The feed of events", limits.EVENTS_KEPT_DAYS, 1),
    RetentionKind.FILES: RetentionRule(
        "Files that sites send and fetch; their claims stay", limits.FILES_KEPT_DAYS, 1
    ),
    RetentionKind.NOT_ACCEPTED: RetentionRule(
        "Claims that were not accepted, and claims of shadow files",
        limits.NOT_ACCEPTED_KEPT_DAYS,
        1,
    ),
    RetentionKind.AUDIT: RetentionRule(
        "The audit trail; all of it stays while any legal hold is in force",
        RECORDS_KEPT_DAYS,
        RECORDS_KEPT_DAYS_MIN,
        of_installation=True,
    ),
}


class KeyClass(StrEnum):
    """Classes of data keys: what is sealed with one key goes at about the same time."""

    RECORDS = "records"
    """Claims, what payers said of them, and payments."""
    SHORT = "short"
    """Files, questions to payers, drafts, and answers that are given again."""
    ACCOUNT = "account"
    """What is kept as long as its site or vendor: enrollments, secrets, settings."""
