"""Tables of people's work on claims: assignments, notes, drafts of corrections, and summaries for the console."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
)

from clearlane.store.database.schema.core import client_table

__all__ = ["claim_notes", "claim_summaries", "correction_drafts", "work_items"]

# What people decided about working on a claim; a claim that no one touched has no row.
work_items = client_table(
    "work_items",
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False),
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

# Corrections that were begun and not sent, sealed; kept for 30 days.
correction_drafts = client_table(
    "correction_drafts",
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False),
    Column("author", Text, nullable=False),
    Column("begun_at", BigInteger, nullable=False),
    Column("saved_at", BigInteger, nullable=False, index=True),
    Column("payload", LargeBinary, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "claim_number"),
)

# Counts and sums of a site's claims, as JSON, refreshed by schedule. Nothing in it names a patient.
claim_summaries = client_table(
    "claim_summaries",
    Column("name", Text, nullable=False),
    Column("counted_at", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "name"),
)
