"""Eligibility requests and responses."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from clearlane.store.schema.core import BIG, secure

revision = "0005"
down_revision = "0004"

OPEN_INQUIRY = "state = 'Open'"
UNANSWERED_INQUIRY = "state <> 'Answered'"


def upgrade() -> None:
    """Create the tables and raise the second wall around them."""
    _requests()
    _inquiries()
    for table in ("eligibility_requests", "eligibility_inquiries"):
        op.create_index(f"ix_{table}_vendor_id_site_id", table, ["vendor_id", "site_id"])
        secure(op, table)


def _requests() -> None:
    op.create_table(
        "eligibility_requests",
        sa.Column("id", BIG, primary_key=True, autoincrement=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("inquiries", sa.Integer, nullable=False),
        sa.Column("payload", sa.LargeBinary),
        *_owner("eligibility_requests"),
    )
    op.create_index("ix_eligibility_requests_created_at", "eligibility_requests", ["created_at"])


def _inquiries() -> None:
    table = "eligibility_inquiries"
    op.create_table(
        table,
        sa.Column(
            "request_id",
            sa.BigInteger,
            sa.ForeignKey("eligibility_requests.id", name=f"fk_{table}_request_id"),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("lane", sa.SmallInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column(
            "batch_id", sa.BigInteger, sa.ForeignKey("batches.id", name=f"fk_{table}_batch_id")
        ),
        sa.Column("answered_at", sa.BigInteger),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("inquiry", sa.LargeBinary, nullable=False),
        sa.Column("response", sa.LargeBinary),
        sa.CheckConstraint("state IN ('Open', 'Mailed', 'Answered')", name=f"ck_{table}_state"),
        *_owner(table),
    )
    op.create_index(
        f"ix_{table}_due",
        table,
        ["lane", "type", "payer_id", "next_at"],
        sqlite_where=sa.text(OPEN_INQUIRY),
        postgresql_where=sa.text(OPEN_INQUIRY),
    )
    op.create_index(
        f"ix_{table}_unanswered",
        table,
        ["request_id"],
        sqlite_where=sa.text(UNANSWERED_INQUIRY),
        postgresql_where=sa.text(UNANSWERED_INQUIRY),
    )
    op.create_index(f"ix_{table}_batch_id", table, ["batch_id"])


def _owner(table: str) -> tuple[Any, ...]:
    return (
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name=f"fk_{table}_vendor_id_site_id",
        ),
    )
