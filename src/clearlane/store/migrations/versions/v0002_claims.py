"""Claims, their events, and the account numbers that living claims carry."""

import sqlalchemy as sa
from alembic import op

from clearlane.store.schema import BIG, secure

revision = "0002"
down_revision = "0001"

LIVING = "state NOT IN ('Rejected', 'NotAccepted')"
WAITING = "state = 'Received'"


def upgrade() -> None:
    """Create the claim tables and raise the second wall around them."""
    _claims()
    _events()
    op.create_table(
        "claim_references",
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("reference", sa.Text, primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
    )
    op.create_index("ix_claim_references_request_id", "claim_references", ["request_id"])
    for table in ("claims", "claim_events"):
        secure(op, table)


def _claims() -> None:
    op.create_table(
        "claims",
        sa.Column("request_id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("vendor_claim", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("account_as_number", sa.SmallInteger, nullable=False),
        sa.Column("total_cents", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_day", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.CheckConstraint("kind IN ('medical', 'dental')", name="ck_claims_kind"),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name="fk_claims_vendor_id_site_id",
        ),
    )
    op.create_index("ix_claims_vendor_id_site_id", "claims", ["vendor_id", "site_id"])
    op.create_index(
        "ix_claims_day", "claims", ["vendor_id", "site_id", "created_day", "request_id"]
    )
    op.create_index(
        "uq_claims_living",
        "claims",
        ["vendor_id", "site_id", "kind", "vendor_claim"],
        unique=True,
        sqlite_where=sa.text(LIVING),
        postgresql_where=sa.text(LIVING),
    )
    op.create_index(
        "ix_claims_waiting",
        "claims",
        ["payer_id", "request_id"],
        sqlite_where=sa.text(WAITING),
        postgresql_where=sa.text(WAITING),
    )


def _events() -> None:
    op.create_table(
        "claim_events",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_claim_events_request_id"
        ),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name="fk_claim_events_vendor_id_site_id",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_claim_events_request_id", "claim_events", ["request_id"])
    op.create_index("ix_claim_events_vendor_id_site_id", "claim_events", ["vendor_id", "site_id"])
