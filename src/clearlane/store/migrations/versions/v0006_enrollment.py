"""Enrollments, where they stand with payers, and what happened to them."""

import sqlalchemy as sa
from alembic import op

from clearlane.store.schema import BIG, secure

revision = "0006"
down_revision = "0005"

OWNED = ("enrollments", "enrollment_payers", "enrollment_events")


def upgrade() -> None:
    """Create the enrollment tables and raise the second wall around them."""
    op.create_table(
        "enrollments",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        *_owner("enrollments"),
    )
    op.create_index(
        "uq_enrollments_provider", "enrollments", ["vendor_id", "site_id", "provider"], unique=True
    )
    op.create_table(
        "enrollment_payers",
        sa.Column("enrollment_id", sa.Text, nullable=False),
        sa.Column("payer_type", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.LargeBinary),
        sa.PrimaryKeyConstraint(
            "enrollment_id", "payer_type", "payer_id", name="pk_enrollment_payers"
        ),
        sa.CheckConstraint(
            "state IN ('in work', 'approved', 'refused')", name="ck_enrollment_payers_state"
        ),
        _of_enrollment("enrollment_payers"),
        *_owner("enrollment_payers"),
    )
    op.create_table(
        "enrollment_events",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("enrollment_id", sa.Text, nullable=False),
        sa.Column("payer_type", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        _of_enrollment("enrollment_events"),
        *_owner("enrollment_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_enrollment_events_enrollment_id", "enrollment_events", ["enrollment_id"])
    for table in OWNED[1:]:  # the first has an index that begins with the owner
        op.create_index(f"ix_{table}_vendor_id_site_id", table, ["vendor_id", "site_id"])
    for table in OWNED:
        secure(op, table)


def _owner(table: str) -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name=f"fk_{table}_vendor_id_site_id",
        ),
    )


def _of_enrollment(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["enrollment_id"], ["enrollments.id"], name=f"fk_{table}_enrollment_id"
    )
