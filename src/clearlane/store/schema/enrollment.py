"""Enrollments of providers and their life."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
)

from clearlane.store.schema.core import client_table, number_id

__all__ = ["enrollment_events", "enrollment_payers", "enrollments"]

enrollments = client_table(
    "enrollments",
    # Ours, unique, and in the order of time.
    Column("id", Text, primary_key=True),
    # Keyed hash of NPI and TIN: a site enrolls a provider once, and this is what decides it.
    Column("provider", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # Everything that was sent; a TIN may be somebody's SSN.
    Column("payload", LargeBinary, nullable=False),
    Index("uq_enrollments_provider", "vendor_id", "site_id", "provider", unique=True),
)

# Only payers that somebody acted for: with all others an enrollment stands at its first state.
enrollment_payers = client_table(
    "enrollment_payers",
    Column("enrollment_id", Text, ForeignKey("enrollments.id"), nullable=False),
    Column("payer_type", Text, nullable=False),
    # In folded case, as payers are told apart.
    Column("payer_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    # Why, in the operator's words; sealed, since nobody knows what he writes.
    Column("reason", LargeBinary),
    PrimaryKeyConstraint("enrollment_id", "payer_type", "payer_id"),
    CheckConstraint("state IN ('in work', 'approved', 'refused')", name="state"),
)

enrollment_events = client_table(
    "enrollment_events",
    number_id(),
    Column("enrollment_id", Text, ForeignKey("enrollments.id"), nullable=False, index=True),
    # Empty for what concerns no payer alone.
    Column("payer_type", Text, nullable=False),
    Column("payer_id", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("event", Text, nullable=False),
)
