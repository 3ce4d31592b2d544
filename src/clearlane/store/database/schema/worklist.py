"""Tables of people's work on claims: assignments, notes, drafts of corrections and of secondary claims, and summaries."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    text,
)

from clearlane.store.database.schema.core import client_table

__all__ = [
    "claim_drafts", "claim_notes", "claim_summaries", "secondary_drafts", "work_items",
]  # fmt: skip

# What people decided about working on a claim; a claim that no one touched has no row.
work_items = client_table(
    "work_items",
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False, index=True),
    # Names of console users.
    Column("assigned_to", Text),
    # The day from which it is shown again.
    Column("snoozed_until", Text),
    # The label at which it was done: a later label brings it back.
    Column("done_label", Text),
    Column("changed_at", BigInteger, nullable=False),
    # Why it is done, sealed.
    Column("payload", LargeBinary),
    PrimaryKeyConstraint("vendor_id", "site_id", "claim_number"),
    Index("ix_work_items_assigned_to", "vendor_id", "site_id", "assigned_to"),
)

# Notes of people about a claim, sealed; never sent to payers.
claim_notes = client_table(
    "claim_notes",
    Column("note_id", Text, primary_key=True),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False, index=True),
    Column("author", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("payload", LargeBinary, nullable=False),
)

# Corrections and new claims that were begun and not sent, sealed; kept for 30 days.
claim_drafts = client_table(
    "claim_drafts",
    # The number of the claim that is corrected; of a new claim an id of its own.
    Column("draft_id", Text, nullable=False),
    # The form that a new claim is written on; empty for a correction.
    Column("form", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("begun_at", BigInteger, nullable=False),
    Column("saved_at", BigInteger, nullable=False, index=True),
    Column("payload", LargeBinary, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "draft_id"),
)

# Claims for the next payer, made from what the payer before decided; bound to that claim and its claim payment.
secondary_drafts = client_table(
    "secondary_drafts",
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False, index=True),
    Column("state", Text, nullable=False),
    # Above 0 while it is to be made, or made again: the claim payment changed.
    Column("due", Integer, nullable=False),
    # The claim payment that it tells of, as v1 names it; empty if none is in force.
    Column("claim_payment_id", Text, nullable=False),
    # The next payer; empty while it is not known.
    Column("payer_id", Text, nullable=False),
    # What the patient owes after the payer before.
    Column("patient_cents", BigInteger, nullable=False),
    # The secondary claim, once it was sent.
    Column("secondary_claim", Text, ForeignKey("claims.claim_number"), index=True),
    Column("changed_at", BigInteger, nullable=False),
    # Counted at each change: a second person who answers the same questions is refused.
    Column("version", Integer, nullable=False),
    # How often it could not be made; 0 again once it was.
    Column("failures", Integer, nullable=False),
    # When the service looks at it by itself: to make it after a failure, or at a crossover without an answer.
    Column("next_at", BigInteger),
    # What was done about a crossover without an answer: asked, then unanswered.
    Column("crossover", Text, nullable=False),
    # The insurance and the open questions, sealed.
    Column("payload", LargeBinary),
    PrimaryKeyConstraint("vendor_id", "site_id", "claim_number"),
    CheckConstraint(
        "state IN ('new', 'failed', 'open', 'ready', 'forwarded', 'answered', 'withdrawn', 'sent', 'to_correct')",
        name="state",
    ),
    CheckConstraint("crossover IN ('', 'asked', 'unanswered')", name="crossover"),
    Index(
        "ix_secondary_drafts_next_at",
        "next_at",
        sqlite_where=text("next_at IS NOT NULL"),
        postgresql_where=text("next_at IS NOT NULL"),
    ),
    Index("ix_secondary_drafts_state", "vendor_id", "site_id", "state"),
    Index(
        "ix_secondary_drafts_due",
        "claim_number",
        sqlite_where=text("due > 0"),
        postgresql_where=text("due > 0"),
    ),
)

# Counts and sums of a site's claims, as JSON, refreshed by schedule. Nothing in it names a patient.
claim_summaries = client_table(
    "claim_summaries",
    Column("name", Text, nullable=False),
    Column("counted_at", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "name"),
)
