"""The filters of lists of claims: one row each, which v1, the console and the CLI all offer.

A filter of a column is its row and nothing else. What is found by keyed hash, and labels, are made to conditions in
``pipeline/query/claim_filters``. Light, because commands of the base install read it.
"""

from collections.abc import Mapping

from clearlane.claims.awaiting import Awaited
from clearlane.claims.kinds import SUBMITTED_KINDS
from clearlane.claims.lifecycle import ClaimState
from clearlane.kernel.claim_label import CONCERNS, SHADOW_LABELS, ClaimLabel, LabelConcern
from clearlane.kernel.list_filter import FilterType, ListFilter

ClaimFilter = ListFilter[str]
"""Its condition is one of ``store/claims/claim_query``: a column, or one of its bounds."""
OPEN_LABELS = (ClaimLabel.SENT, ClaimLabel.ACCEPTED, ClaimLabel.IN_PROCESS)
"""Labels of claims that a payer has and has not decided."""
ACT_LABELS = tuple(label for label in ClaimLabel if CONCERNS[label] is LabelConcern.ACT)
SHADOW_TAB = "shadow"
NEXT_PAYER_TAB = "next_payer"
CLAIM_TABS: Mapping[str, tuple[ClaimLabel, ...]] = {
    "all": tuple(
        label for label in ClaimLabel if label not in SHADOW_LABELS
    ),
    "needs_you": (*ACT_LABELS, ClaimLabel.NO_ANSWER),
    "rejected": (ClaimLabel.REJECTED,),
    "denied": (ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED),
    "on_the_way": (
        ClaimLabel.RECEIVED, *OPEN_LABELS, ClaimLabel.NO_ANSWER, ClaimLabel.TO_RESEND, ClaimLabel.FORWARDED,
    ),
    "paid": (ClaimLabel.PAID, ClaimLabel.PATIENT_OWES, ClaimLabel.PAID_DIFFERS),
    NEXT_PAYER_TAB: tuple(label for label in ClaimLabel if label not in SHADOW_LABELS),
    SHADOW_TAB: SHADOW_LABELS,
}  # fmt: skip
"""The tabs of the console, which every list can be narrowed to, each with its labels."""
AWAITED_BY_TAB: Mapping[str, Awaited] = {NEXT_PAYER_TAB: Awaited.SECONDARY}
"""What the claims of a tab await, if it is not its labels alone that make it."""
WORKLIST_TABS = ("needs_you", "rejected", "denied", NEXT_PAYER_TAB)
"""The tabs that people work off: without the claims that they put aside or are done with."""
FILING_DAYS = ("30", "14", "3")
"""Days to the filing limit that claims are listed by."""
CLAIM_FILTERS = (
    ClaimFilter(
        "tab", FilterType.CHOICE, "labels", "Tab",
        "A tab of the console: claims of its labels, without those that another claim replaced. `needs_you`, `rejected` and "
        "`denied` are without those that people put aside or are done with; `next_payer` has those whose next payer is to be "
        "billed.", tuple(CLAIM_TABS),
    ),
    ClaimFilter(
        "label", FilterType.CHOICE, "labels", "Label", "What people call it: state and payment in one word.",
        tuple(ClaimLabel),
    ),
    ClaimFilter(
        "state", FilterType.CHOICE, "state", "State",
        "The state of the claim. Claims that were not accepted, and those of shadow files, are listed only if asked for: "
        "`not_accepted`, `shadow`, `shadow_not_accepted`.",
        (*ClaimState, ClaimLabel.NOT_ACCEPTED, *SHADOW_LABELS),
    ),
    ClaimFilter(
        "awaiting", FilterType.CHOICE, "awaiting", "Awaiting", "What the claim awaits.", tuple(Awaited)
    ),
    ClaimFilter(
        "overdue", FilterType.FLAG, "awaited_by_before", "Overdue",
        "Claims whose awaited thing was to come before now.",
    ),
    ClaimFilter(
        "filing_limit", FilterType.CHOICE, "filing_alarm", "Filing limit",
        "Claims that their payer has not received, or denied, and that it takes for this many days more at most.",
        FILING_DAYS,
    ),
    ClaimFilter("payer", FilterType.TEXT, "payer_id", "Payer", "The payer id."),
    ClaimFilter("kind", FilterType.CHOICE, "kind", "Kind of claim", "Medical, dental or institutional.", tuple(SUBMITTED_KINDS)),
    ClaimFilter(
        "bill_type", FilterType.BILL_TYPE, "bill_type", "Type of bill",
        "Of institutional claims: facility and classification, such as 11, with the frequency, such as 117, or without it.",
    ),
    ClaimFilter(
        "created_from", FilterType.DAY, "created_day_from", "Received from",
        "The first day of receipt, in the site's time zone.",
    ),
    ClaimFilter("created_to", FilterType.DAY, "created_day_to", "Received to", "The last day of receipt, included."),
    ClaimFilter("service_from", FilterType.DAY, "service_day_from", "Service from", "The first day of service."),
    ClaimFilter(
        "service_to", FilterType.DAY, "service_day_to", "Service to", "The last day of service, included."
    ),
    ClaimFilter("amount_from", FilterType.AMOUNT, "total_cents_from", "Charge from", "The lowest charge."),
    ClaimFilter("amount_to", FilterType.AMOUNT, "total_cents_to", "Charge to", "The highest charge."),
    ClaimFilter(
        "vendor_claim_id", FilterType.TEXT, "vendor_claim_hashes", "Your claim id",
        "The vendor's claim id; its earlier claims are listed too.",
    ),
    ClaimFilter(
        "account_number", FilterType.TEXT, "account_key", "Account number", "The patient's account number, as it was sent."
    ),
    ClaimFilter(
        "payer_control_number", FilterType.TEXT, "payer_number_key", "Payer's number", "The payer's number of the claim."
    ),
    ClaimFilter(
        "patient_last_name", FilterType.TEXT, "name_key", "Patient's last name",
        "The patient's last name; the birth date is given too.",
    ),
    ClaimFilter(
        "patient_birth_date", FilterType.DAY, "patient_key", "Patient's birth date",
        "The patient's birth date; the last name is given too.",
    ),
    ClaimFilter("file", FilterType.TEXT, "file_id", "File", "The id of the file that the claims came in."),
    ClaimFilter(
        "changed_after", FilterType.MOMENT, "updated_at_after", "Changed after",
        "Claims that changed later than this, in the order of their changes; otherwise the newest come first.",
    ),
)  # fmt: skip
