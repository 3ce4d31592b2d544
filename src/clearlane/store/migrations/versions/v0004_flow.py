"""Claims on their way: batches, what came back, documents, the sandbox."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from clearlane.store.schema.core import BIG, secure

revision = "0004"
down_revision = "0003"

OPEN_BATCH = "state IN ('Fixed', 'Sending', 'InDoubt')"
BATCH_STATES = "state IN ('Fixed', 'Sending', 'Delivered', 'InDoubt')"
INBOX_STATES = "state IN ('Stored', 'Applied', 'Parked', 'Quarantined', 'Discarded')"
CLIENT_TABLES = ("batch_claims", "line_references", "claim_facts", "documents")


def upgrade() -> None:
    """Create the tables, and let claims wait, be sent and be listed."""
    _claims()
    _outgoing()
    _incoming()
    _told()
    _sandbox()
    for table in CLIENT_TABLES:
        secure(op, table)


def _claims() -> None:
    op.add_column(
        "claims", sa.Column("sendings", sa.SmallInteger, nullable=False, server_default="0")
    )
    op.add_column("claims", sa.Column("waits", sa.SmallInteger, nullable=False, server_default="0"))
    op.add_column("claims", sa.Column("status", sa.LargeBinary))
    op.execute(sa.text("UPDATE claims SET waits = 1 WHERE state = 'Received'"))
    op.drop_index("ix_claims_waiting", "claims")
    op.create_index(
        "ix_claims_waiting",
        "claims",
        ["waits", "payer_id", "kind", "request_id"],
        sqlite_where=sa.text("waits > 0"),
        postgresql_where=sa.text("waits > 0"),
    )
    op.drop_index("ix_claims_vendor_id_site_id", "claims")


def _outgoing() -> None:
    op.create_table(
        "control_numbers",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "lanes",
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("open_until", sa.BigInteger),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("route_id", sa.BigInteger),
        sa.Column("since", sa.BigInteger),
    )
    _batches()
    _client_table(
        "batch_claims",
        sa.Column(
            "batch_id",
            sa.BigInteger,
            sa.ForeignKey("batches.id", name="fk_batch_claims_batch_id"),
            primary_key=True,
        ),
        _claim("batch_claims", primary_key=True),
        sa.Column("attempt", sa.SmallInteger, nullable=False),
    )
    op.create_index("ix_batch_claims_request_id", "batch_claims", ["request_id"])
    _client_table(
        "line_references",
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("reference", sa.Text, primary_key=True),
        _claim("line_references", primary_key=True),
    )


def _batches() -> None:
    op.create_table(
        "batches",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("route_id", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("control", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("claims", sa.Integer, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("failing_since", sa.BigInteger),
        sa.Column("delivered_at", sa.BigInteger),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.CheckConstraint(BATCH_STATES, name="ck_batches_state"),
        sa.UniqueConstraint("control", name="uq_batches_control"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_batches_open",
        "batches",
        ["next_at", "id"],
        sqlite_where=sa.text(OPEN_BATCH),
        postgresql_where=sa.text(OPEN_BATCH),
    )


def _incoming() -> None:
    op.create_table(
        "polls",
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("route_id", sa.BigInteger, primary_key=True),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("fault", sa.Text, nullable=False),
    )
    op.create_table(
        "inbox",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("route_id", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("kinds", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("applied", sa.Integer, nullable=False),
        sa.Column("parked", sa.Integer, nullable=False),
        sa.Column("received_at", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.CheckConstraint(INBOX_STATES, name="ck_inbox_state"),
        sa.UniqueConstraint("type", "payer_id", "digest", name="uq_inbox_type_payer_id_digest"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_inbox_stored",
        "inbox",
        ["id"],
        sqlite_where=sa.text("state = 'Stored'"),
        postgresql_where=sa.text("state = 'Stored'"),
    )
    op.create_table(
        "parked",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("inbox_id", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_parked_inbox_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_parked_inbox_id", "parked", ["inbox_id"])


def _told() -> None:
    _client_table(
        "claim_facts",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        _claim("claim_facts", nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column(
            "inbox_id", sa.BigInteger, sa.ForeignKey("inbox.id", name="fk_claim_facts_inbox_id")
        ),
        sa.Column("document_id", sa.Text, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("request_id", "identity", name="uq_claim_facts_request_id_identity"),
        sqlite_autoincrement=True,
    )
    _client_table(
        "documents",
        sa.Column("document_id", sa.Text, primary_key=True),
        _claim("documents", nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("kind IN ('RemittanceAdvice', 'ClaimStatus')", name="ck_documents_kind"),
    )
    op.create_index("ix_documents_request_id", "documents", ["request_id"])


def _sandbox() -> None:
    op.create_table(
        "sandbox_books",
        sa.Column("payer", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "sandbox_agenda",
        sa.Column("payer", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("due", sa.BigInteger, nullable=False),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_sandbox_agenda_payer_due", "sandbox_agenda", ["payer", "due"])
    op.create_table(
        "sandbox_state",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )


def _claim(table: str, **options: Any) -> "sa.Column[str]":
    reference = sa.ForeignKey("claims.request_id", name=f"fk_{table}_request_id")
    return sa.Column("request_id", sa.Text, reference, **options)


def _client_table(name: str, *items: Any, **options: Any) -> None:
    op.create_table(
        name,
        *items,
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name=f"fk_{name}_vendor_id_site_id",
        ),
        **options,
    )
    op.create_index(f"ix_{name}_vendor_id_site_id", name, ["vendor_id", "site_id"])
