"""The tables of what was counted: for operators a row for each count, for reports the daily sums of each site."""

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Text

from clearlane.store.database.schema.core import client_table, installation_table

__all__ = ["claim_counts", "report_sums"]

# Claims by state, payer and age and payments of the month over all clients, as JSON: no row of a client, and nothing
# that names a patient.
claim_counts = installation_table(
    "claim_counts",
    Column("name", Text, primary_key=True),
    Column("counted_at", BigInteger, nullable=False),
    # How long the counting took, in microseconds: what is slow is counted less often.
    Column("took", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

# Sums of the claims that a site received on one day, and of what payers decided on them: codes, ids of payers and
# providers, numbers. Nothing in it names a patient.
report_sums = client_table(
    "report_sums",
    Column("created_day", Text, nullable=False),
    Column("kind", Text, nullable=False),
    # The day of receipt; of decisions, that of the payment.
    Column("day", Text, nullable=False),
    Column("payer_id", Text, nullable=False),
    # The NPI of the billing provider.
    Column("provider", Text, nullable=False),
    Column("label", Text, nullable=False),
    # Group and reason of an adjustment.
    Column("reason", Text, nullable=False),
    Column("claims", Integer, nullable=False),
    *(
        Column(name, BigInteger, nullable=False)
        for name in (
            "charge_cents",
            "paid_cents",
            "patient_cents",
            "adjusted_cents",
            "denied_cents",
        )
    ),
    PrimaryKeyConstraint(
        "vendor_id",
        "site_id",
        "created_day",
        "kind",
        "day",
        "payer_id",
        "provider",
        "label",
        "reason",
    ),
    Index("ix_report_sums_day", "vendor_id", "site_id", "kind", "day"),
)
