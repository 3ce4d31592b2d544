"""Tables of what is awaited: how long payers take for each step of their answers, and what was done about overdue claims, and filing limits."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
    UniqueConstraint,
    text,
)

from clearlane.store.database.schema.core import client_table, id_column, installation_table

__all__ = [
    "answer_delays",
    "answer_figures",
    "answer_scans",
    "filing_alarms",
    "overdue_steps",
    "site_filing_limits",
]

# How many claims of a payer waited how many business days for a step, by the month in which the wait began; ``unanswered`` are
# those whose next answer came instead.
answer_delays = installation_table(
    "answer_delays",
    Column("kind", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    Column("awaiting", Text, primary_key=True),
    Column("month", Text, primary_key=True),
    Column("days", Integer, primary_key=True, autoincrement=False),
    Column("answered", BigInteger, nullable=False),
    Column("unanswered", BigInteger, nullable=False),
)

# Within how many business days a payer takes a step, as it was last estimated; null if it does not take it. No row: too few
# claims are known.
answer_figures = installation_table(
    "answer_figures",
    Column("kind", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    Column("awaiting", Text, primary_key=True),
    Column("days", Integer),
    Column("claims", BigInteger, nullable=False),
)

# The last fact whose delay was counted.
answer_scans = installation_table(
    "answer_scans",
    Column("name", Text, primary_key=True),
    Column("through", BigInteger, nullable=False),
)

# What the service did about a claim whose answer was due: one row per step of each wait, which began at ``since``.
overdue_steps = client_table(
    "overdue_steps",
    id_column(),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False),
    Column("awaiting", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("step", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    # When the next step is due; null if there is none, or it was taken.
    Column("next_at", BigInteger),
    # 1 if the payer answered the question of this step so that a person must look at the claim.
    Column("for_person", Integer, nullable=False, server_default="0"),
    UniqueConstraint("claim_number", "since", "step"),
    Index(
        "ix_overdue_steps_next",
        "next_at",
        sqlite_where=text("next_at IS NOT NULL"),
        postgresql_where=text("next_at IS NOT NULL"),
    ),
)

# Within how many days a site's contract with a payer lets it file, by kind of filing; the directory counts for the others.
site_filing_limits = client_table(
    "site_filing_limits",
    Column("payer_type", Text, nullable=False),
    Column("payer_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("days", Integer, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "payer_type", "payer_id", "kind"),
)

# That the filing limit of a claim is near: one row per stage. ``is_open`` until the payer has the claim.
filing_alarms = client_table(
    "filing_alarms",
    id_column(),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("file_by", Text, nullable=False),
    Column("stage", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("is_open", SmallInteger, nullable=False, server_default="1"),
    UniqueConstraint("claim_number", "file_by", "stage"),
)
