"""What a claim is called, in one word for its state and its payment, and who must act on it.

Claims, claim payments and service lines share these labels: the API, commands, exports and events show the value, pages
and files for people the words. Knows no claim; ``pipeline.claim_label`` decides the label of one.
"""

from enum import StrEnum


class ClaimLabel(StrEnum):
    """The label of a claim."""

    RECEIVED = "received"
    HELD = "held"
    CANCELED = "canceled"
    SENT = "sent"
    ACCEPTED = "accepted"
    IN_PROCESS = "in_process"
    NOT_ACCEPTED = "not_accepted"
    """By us: it was never sent to a payer."""
    REJECTED = "rejected"
    TO_RESEND = "to_be_sent_again"
    """The payer refused the whole file for its envelope: the operator's matter, not the biller's."""
    WANTS_RECORDS = "wants_records"
    PREDETERMINED = "predetermined"
    TAKEN_BACK = "taken_back"
    FORWARDED = "forwarded"
    DENIED = "denied"
    PARTLY_DENIED = "partly_denied"
    PATIENT_OWES = "patient_owes"
    NOTHING_DUE = "nothing_due"
    VOIDED = "voided"
    """Of a void that was carried out, and of the claim that it voids. No code says so: the claim's frequency does."""
    REPLACED = "replaced"
    """Of a claim whose replacement was decided; of no payment."""
    NOTICE_ACCEPTED = "notice_accepted"
    """Of a notice of an admission or election that the payer accepted: there is nothing to pay."""
    PAID = "paid"
    PAID_DIFFERS = "paid_differs"
    SHADOW = "shadow"
    """Of a claim of a shadow file: it has no errors, and is never sent."""
    SHADOW_NOT_ACCEPTED = "shadow_not_accepted"
    NO_ANSWER = "no_answer"
    """Of a claim whose payer did not answer in time, and that a person is to look at."""


SHADOW_LABELS = (ClaimLabel.SHADOW, ClaimLabel.SHADOW_NOT_ACCEPTED)
"""The labels of claims of shadow files, which are never sent and counted with no others."""
STOPPED_LABELS = (ClaimLabel.NOT_ACCEPTED, ClaimLabel.SHADOW_NOT_ACCEPTED)
"""The labels of claims that our checks stopped, or would have."""


class LabelConcern(StrEnum):
    """Who must act on a claim; it decides the color of its label."""

    ACT = "act"
    """The biller must act."""
    LATE = "late"
    """Late or unsure: look."""
    WAIT = "wait"
    """On its way."""
    GOOD = "good"
    """Money agreed."""
    DONE = "done"
    """Closed, nothing to do."""


LABEL_WORDS: dict[ClaimLabel, str] = {
    **{label: label.value.replace("_", " ").capitalize() for label in ClaimLabel},
    ClaimLabel.ACCEPTED: "Accepted by payer",
    ClaimLabel.WANTS_RECORDS: "Payer wants records",
    ClaimLabel.PAID_DIFFERS: "Paid, differs",
    ClaimLabel.SHADOW_NOT_ACCEPTED: "Shadow, not accepted",
}
CONCERNS: dict[ClaimLabel, LabelConcern] = {
    ClaimLabel.RECEIVED: LabelConcern.WAIT,
    ClaimLabel.HELD: LabelConcern.DONE,
    ClaimLabel.CANCELED: LabelConcern.DONE,
    ClaimLabel.SENT: LabelConcern.WAIT,
    ClaimLabel.ACCEPTED: LabelConcern.WAIT,
    ClaimLabel.IN_PROCESS: LabelConcern.WAIT,
    ClaimLabel.NOT_ACCEPTED: LabelConcern.ACT,
    ClaimLabel.REJECTED: LabelConcern.ACT,
    ClaimLabel.TO_RESEND: LabelConcern.WAIT,
    ClaimLabel.WANTS_RECORDS: LabelConcern.ACT,
    ClaimLabel.PREDETERMINED: LabelConcern.DONE,
    ClaimLabel.TAKEN_BACK: LabelConcern.ACT,
    ClaimLabel.FORWARDED: LabelConcern.WAIT,
    ClaimLabel.DENIED: LabelConcern.ACT,
    ClaimLabel.PARTLY_DENIED: LabelConcern.ACT,
    ClaimLabel.PATIENT_OWES: LabelConcern.GOOD,
    ClaimLabel.NOTHING_DUE: LabelConcern.DONE,
    ClaimLabel.VOIDED: LabelConcern.DONE,
    ClaimLabel.REPLACED: LabelConcern.DONE,
    ClaimLabel.NOTICE_ACCEPTED: LabelConcern.DONE,
    ClaimLabel.PAID: LabelConcern.GOOD,
    ClaimLabel.PAID_DIFFERS: LabelConcern.LATE,
    ClaimLabel.SHADOW: LabelConcern.DONE,
    ClaimLabel.SHADOW_NOT_ACCEPTED: LabelConcern.DONE,
    ClaimLabel.NO_ANSWER: LabelConcern.LATE,
}
