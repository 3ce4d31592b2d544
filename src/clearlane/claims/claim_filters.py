"""The filters of lists of claims: one row each, which v1, the console and the CLI all offer.

A filter of a column is its row and nothing else. A choice also has its values, and what is found by keyed hash its
key, in ``pipeline/query/claim_filters``. Light, because commands of the base install read it.
"""

from dataclasses import dataclass

from clearlane.kernel.filter_type import FilterType


@dataclass(frozen=True, slots=True)
class ClaimFilter:
    """A filter of a list of claims."""

    name: str
    """In addresses, and as an option with dashes."""
    type: FilterType
    condition: str
    """The condition of ``store/claims/claim_query``: a column, or one of its bounds."""
    title: str
    """The label of its input, and the beginning of its words: "Service from"."""
    help: str


CLAIM_FILTERS = (
    ClaimFilter("label", FilterType.CHOICE, "label", "Label", "What people call it: state and payment in one word."),
    ClaimFilter(
        "state", FilterType.CHOICE, "state", "State",
        "The state of the claim. Claims that were not accepted are listed only if asked for: `not_accepted`.",
    ),
    ClaimFilter("outcome", FilterType.CHOICE, "outcome", "Outcome", "What became of it."),
    ClaimFilter("payer", FilterType.TEXT, "payer_id", "Payer", "The payer id."),
    ClaimFilter("kind", FilterType.CHOICE, "kind", "Kind of claim", "Medical or dental."),
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
        "The patient's last name, with `patient_birth_date`.",
    ),
    ClaimFilter(
        "patient_birth_date", FilterType.DAY, "patient_key", "Patient's birth date",
        "The patient's birth date, with `patient_last_name`.",
    ),
    ClaimFilter(
        "changed_after", FilterType.MOMENT, "updated_at_after", "Changed after",
        "Claims that changed later than this, in the order of their changes; otherwise the newest come first.",
    ),
)  # fmt: skip
