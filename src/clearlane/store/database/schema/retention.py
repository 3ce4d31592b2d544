"""Tables of retention: periods, legal holds, and what was purged of payments and of files of claims."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Text,
    text,
)

from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.store.database.schema.core import (
    client_table,
    id_column,
    installation_table,
    one_of,
)

__all__ = ["legal_holds", "purged_batch_claims", "purged_claim_payments", "retention_periods"]

IN_FORCE = "released_at IS NULL"

# How long a kind of data is kept, in days: of one vendor, or (vendor 0) of all that have no row.
retention_periods = installation_table(
    "retention_periods",
    Column("vendor_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("days", Integer, nullable=False),
    PrimaryKeyConstraint("vendor_id", "kind"),
    CheckConstraint(one_of("kind", RetentionKind), name="kind"),
)

# What must not be purged or erased: everything of a site, or one claim with all that it was made from or became.
legal_holds = installation_table(
    "legal_holds",
    id_column(),
    Column("vendor_id", BigInteger, nullable=False),
    Column("site_id", BigInteger, nullable=False),
    # Empty for a hold of the whole site.
    Column("claim_number", Text, nullable=False),
    # The case as the operator names it; never a patient.
    Column("matter", Text, nullable=False),
    Column("placed_by", Text, nullable=False),
    Column("placed_at", BigInteger, nullable=False),
    Column("released_by", Text, nullable=False),
    Column("released_at", BigInteger),
    Index(
        "ix_legal_holds_in_force",
        "site_id",
        "claim_number",
        sqlite_where=text(IN_FORCE),
        postgresql_where=text(IN_FORCE),
    ),
    sqlite_autoincrement=True,
)

# Claim payments of a payment that went with their claims: a payment and its shares still add up.
purged_claim_payments = client_table(
    "purged_claim_payments",
    Column("payment_id", Text, nullable=False),
    Column("claims", Integer, nullable=False),
    Column("paid_cents", BigInteger, nullable=False),
    PrimaryKeyConstraint("payment_id", "vendor_id", "site_id"),
)

# How many claims of a batch went since it was written.
purged_batch_claims = installation_table(
    "purged_batch_claims",
    Column("batch_id", BigInteger, primary_key=True, autoincrement=False),
    Column("claims", Integer, nullable=False),
)
