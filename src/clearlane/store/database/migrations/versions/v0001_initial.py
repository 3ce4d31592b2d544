"""Create the schema."""

import sqlalchemy as sa
from alembic import op

from clearlane.store.database.schema.core import BIG_INTEGER, enable_row_security

revision = "v0001g"
down_revision = None

# Tables of client rows, which PostgreSQL guards by row-level security.
CLIENT_TABLES = (
    "claims",
    "claim_events",
    "batch_claims",
    "line_references",
    "claim_facts",
    "documents",
    "claim_occurrences",
    "payment_shares",
    "eligibility_requests",
    "eligibility_inquiries",
    "enrollments",
    "enrollment_payers",
    "enrollment_events",
    "billing_zips",
    "instances",
    "events",
    "work_items",
    "claim_notes",
    "correction_drafts",
    "claim_summaries",
)

# Tables of rows that belong to a vendor and to none of its sites.
VENDOR_TABLES = ("idempotent_answers", "webhook_endpoints", "webhook_deliveries")


def upgrade() -> None:
    """Create every table, guard those of clients, and make the audit trail append-only."""
    _accounts()
    _payers()
    _nodes()
    _keys()
    _audit()
    _claims()
    _batches()
    _inbox()
    _claim_facts()
    _payments()
    _eligibility()
    _enrollment()
    _console()
    _api()
    _worklist()
    _sandbox()
    _events()
    _webhooks()
    for table in CLIENT_TABLES:
        enable_row_security(op, table)
    for table in VENDOR_TABLES:
        enable_row_security(op, table, of_sites=False)
    if op.get_bind().dialect.name == "postgresql":
        _protect_audit_on_postgresql()
        _notify_of_revisions()
    else:
        _protect_audit_on_sqlite()


def _accounts() -> None:
    op.create_table(
        "vendors",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("vendor_key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("proxy_login", sa.SmallInteger, nullable=False),
        sa.Column("rate_per_minute", sa.Integer),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("vendor_key", name="uq_vendors_vendor_key"),
        sa.CheckConstraint("state IN ('active', 'disabled')", name="ck_vendors_state"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "vendor_secrets",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("secret_hash", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="fk_vendor_secrets_vendor_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_vendor_secrets_vendor_id", "vendor_secrets", ["vendor_id"])
    op.create_table(
        "sites",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("vendor_site_id", sa.Text, nullable=False),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("time_zone", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("baa_accepted_at", sa.BigInteger),
        sa.Column("console_corrections", sa.SmallInteger, nullable=False, server_default="1"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="fk_sites_vendor_id"),
        sa.UniqueConstraint("vendor_id", "id", name="uq_sites_vendor_id_id"),
        sa.UniqueConstraint("vendor_site_id", name="uq_sites_vendor_site_id"),
        sa.CheckConstraint("state IN ('active', 'suspended')", name="ck_sites_state"),
        sqlite_autoincrement=True,
    )


def _payers() -> None:
    op.create_table(
        "payers",
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("svc_payer_id", sa.Text, nullable=False),
        sa.Column("national_payer_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("era_availability", sa.Text, nullable=False),
        sa.Column("offers_eligibility", sa.SmallInteger, nullable=False),
        sa.Column("claim_enrollment_required", sa.SmallInteger, nullable=False),
        sa.Column("is_test", sa.SmallInteger, nullable=False),
        sa.Column("active", sa.SmallInteger, nullable=False),
        sa.Column("aliases", sa.Text, nullable=False),
        sa.Column("has_route", sa.SmallInteger, nullable=False),
        sa.Column("accepts_claims", sa.SmallInteger, nullable=False),
        sa.Column("replacements", sa.Text, nullable=False),
        sa.Column("billing_zip_required", sa.SmallInteger, nullable=False),
        sa.CheckConstraint("type IN ('Medical', 'Dental')", name="ck_payers_type"),
    )
    op.create_table(
        "routes",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("position", sa.SmallInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("secrets", sa.LargeBinary),
        sa.Column("active", sa.SmallInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("removed_at", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_routes_type_payer_id", "routes", ["type", "payer_id"])


def _nodes() -> None:
    op.create_table(
        "revisions",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("revision", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "nodes",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Column("heartbeat_micros", sa.BigInteger, nullable=False),
        sa.Column("clock_ahead_micros", sa.BigInteger, nullable=False),
        sa.Column("loaded", sa.Text, nullable=False),
        sa.Column("master_keys", sa.Text, nullable=False),
    )
    op.create_table(
        "takeovers",
        sa.Column("work_id", sa.Text, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("from_node", sa.Text, nullable=False),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("parked", sa.SmallInteger, nullable=False),
    )
    op.create_table(
        "claim_counts",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("counted_at", sa.BigInteger, nullable=False),
        sa.Column("took", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )


def _keys() -> None:
    op.create_table(
        "data_keys",
        sa.Column("id", BIG_INTEGER, primary_key=True, autoincrement=False),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("month", sa.Text, nullable=False),
        sa.Column("master_id", sa.Text, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_data_keys_vendor_id_month", "data_keys", ["vendor_id", "month"])
    op.create_table(
        "installation_keys",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("master_id", sa.Text, nullable=False),
        sa.Column("wrapped", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )


def _audit() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", BIG_INTEGER, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("vendor_id", sa.BigInteger),
        sa.Column("site_id", sa.BigInteger),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("ids", sa.Text, nullable=False),
        sa.Column("count", sa.BigInteger),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("prev", sa.LargeBinary, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_audit_at", "audit", ["at"])
    op.create_index(
        "ix_audit_request_id",
        "audit",
        ["request_id"],
        sqlite_where=sa.text("request_id <> ''"),
        postgresql_where=sa.text("request_id <> ''"),
    )
    marks = sa.text("action IN ('audit.anchored', 'backup.restored', 'database.restored')")
    op.create_index("ix_audit_marks", "audit", ["seq"], sqlite_where=marks, postgresql_where=marks)
    backups = sa.text("action = 'backup.written'")
    op.create_index(
        "ix_audit_backups", "audit", ["seq"], sqlite_where=backups, postgresql_where=backups
    )
    of_routes = sa.text(
        "action IN ('route.add', 'route.change', 'route.disable', 'route.enable', 'route.remove', "
        "'route.senders')"
    )
    op.create_index(
        "ix_audit_routes",
        "audit",
        ["seq"],
        sqlite_where=of_routes,
        postgresql_where=of_routes,
    )
    head = op.create_table(
        "audit_head",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("id = 1", name="ck_audit_head_one"),
    )
    op.bulk_insert(head, [{"id": 1, "seq": 0, "hash": bytes(32)}])


def _claims() -> None:
    op.create_table(
        "claims",
        *_owner("claims"),
        sa.Column("request_id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("vendor_claim_hash", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("account_as_number", sa.SmallInteger, nullable=False),
        sa.Column("total_cents", sa.BigInteger, nullable=False),
        sa.Column("paid_cents", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("patient_cents", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("is_current", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("is_superseded", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("predecessor_id", sa.Text),
        sa.Column("successor_id", sa.Text),
        sa.Column("former_holder", sa.Text),
        sa.Column("prior_payer_claim", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_day", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("sendings", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("queued", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("status", sa.LargeBinary),
        sa.Column("account_key", sa.BigInteger),
        sa.Column("patient_key", sa.BigInteger),
        sa.Column("name_key", sa.BigInteger),
        sa.Column("member_key", sa.BigInteger),
        sa.Column("payer_number_key", sa.BigInteger),
        sa.Column("outcome", sa.Text),
        sa.Column("event_sequence", sa.Integer, nullable=False, server_default="1"),
        sa.Column("label", sa.Text, nullable=False, server_default="received"),
        sa.Column("service_day", sa.Text),
        sa.CheckConstraint("kind IN ('medical', 'dental')", name="ck_claims_kind"),
    )
    op.create_index(
        "ix_claims_label",
        "claims",
        ["vendor_id", "site_id", "label", "updated_at", "request_id"],
        sqlite_where=sa.text("is_superseded = 0"),
        postgresql_where=sa.text("is_superseded = 0"),
    )
    op.create_index(
        "ix_claims_day",
        "claims",
        ["vendor_id", "site_id", "created_day", "request_id", "member_key"],
    )
    for name, columns in (
        ("vendor_day", ["created_day", "request_id"]),
        ("changed", ["updated_at", "request_id"]),
        ("account_key", ["site_id", "account_key"]),
        ("patient", ["site_id", "name_key", "patient_key"]),
    ):
        op.create_index(f"ix_claims_{name}", "claims", ["vendor_id", *columns])
    op.create_index(
        "ix_claims_former",
        "claims",
        ["vendor_id", "site_id", "kind", "vendor_claim_hash"],
        sqlite_where=sa.text("is_current = 0"),
        postgresql_where=sa.text("is_current = 0"),
    )
    op.create_index(
        "ix_claims_payer_number_key",
        "claims",
        ["payer_number_key", "vendor_id", "site_id"],
        sqlite_where=sa.text("payer_number_key IS NOT NULL"),
        postgresql_where=sa.text("payer_number_key IS NOT NULL"),
    )
    op.create_index(
        "ix_claims_queued",
        "claims",
        ["queued", "payer_id", "kind", "request_id"],
        sqlite_where=sa.text("queued > 0"),
        postgresql_where=sa.text("queued > 0"),
    )
    op.create_index(
        "ix_claims_open",
        "claims",
        ["state", "payer_id", "created_at", "is_superseded"],
        postgresql_include=["vendor_id", "site_id"],
        sqlite_where=sa.text("state <> 'Complete'"),
        postgresql_where=sa.text("state <> 'Complete'"),
    )
    op.create_index(
        "uq_claims_current",
        "claims",
        ["vendor_id", "site_id", "kind", "vendor_claim_hash"],
        unique=True,
        sqlite_where=sa.text("is_current = 1"),
        postgresql_where=sa.text("is_current = 1"),
    )
    op.create_table(
        "claim_events",
        *_owner("claim_events"),
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_claim_events_request_id"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_claim_events_request_id", "claim_events", ["request_id"])
    op.create_index("ix_claim_events_vendor_id_site_id", "claim_events", ["vendor_id", "site_id"])
    op.create_table(
        "claim_references",
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("reference", sa.Text, primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
    )
    op.create_index("ix_claim_references_request_id", "claim_references", ["request_id"])


def _batches() -> None:
    op.create_table(
        "control_numbers",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "route_health",
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("paused_until", sa.BigInteger),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("fallback_route_id", sa.BigInteger),
        sa.Column("fallback_since", sa.BigInteger),
        sa.Column("held_since", sa.BigInteger),
        sa.Column("retried_at", sa.BigInteger),
    )
    _delivery_failures()
    op.create_table(
        "route_counts",
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("route_id", sa.BigInteger, primary_key=True),
        sa.Column("attempts", sa.BigInteger, nullable=False),
        sa.Column("failures", sa.BigInteger, nullable=False),
        sa.Column("deliveries", sa.BigInteger, nullable=False),
        sa.Column("last_delivered_at", sa.BigInteger),
    )
    op.create_table(
        "batches",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("route_id", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("control", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("claims", sa.Integer, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("not_before", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("lease_until", sa.BigInteger),
        sa.Column("arriving", sa.SmallInteger, nullable=False),
        sa.Column("failing_since", sa.BigInteger),
        sa.Column("delivered_at", sa.BigInteger),
        sa.Column("acknowledged_at", sa.BigInteger),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("control", name="uq_batches_control"),
        sa.CheckConstraint("kind IN ('', 'medical', 'dental')", name="ck_batches_kind"),
        sa.CheckConstraint(
            "state IN ('Ready', 'Sending', 'Delivered', 'InDoubt')", name="ck_batches_state"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_batches_open",
        "batches",
        ["not_before", "id"],
        sqlite_where=sa.text("state IN ('Ready', 'Sending', 'InDoubt')"),
        postgresql_where=sa.text("state IN ('Ready', 'Sending', 'InDoubt')"),
    )
    op.create_index(
        "ix_batches_delivered",
        "batches",
        ["delivered_at", "type", "payer_id", "claims", "acknowledged_at"],
    )
    op.create_index("ix_batches_destination", "batches", ["type", "payer_id", "id"])
    op.create_table(
        "batch_claims",
        *_owner("batch_claims"),
        sa.Column("batch_id", sa.BigInteger, primary_key=True),
        sa.Column("request_id", sa.Text, primary_key=True),
        sa.Column("attempt", sa.SmallInteger, nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name="fk_batch_claims_batch_id"),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_batch_claims_request_id"
        ),
    )
    op.create_index("ix_batch_claims_request_id", "batch_claims", ["request_id"])
    op.create_index("ix_batch_claims_vendor_id_site_id", "batch_claims", ["vendor_id", "site_id"])
    op.create_table(
        "file_refusals",
        sa.Column("batch_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("envelope", sa.Text, nullable=False),
        sa.Column("accepted", sa.SmallInteger, nullable=False),
        sa.Column("refused_at", sa.BigInteger),
        sa.Column("requeued_at", sa.BigInteger),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name="fk_file_refusals_batch_id"),
    )
    op.create_index(
        "ix_file_refusals_open",
        "file_refusals",
        ["batch_id"],
        sqlite_where=sa.text("refused_at IS NOT NULL AND requeued_at IS NULL"),
        postgresql_where=sa.text("refused_at IS NOT NULL AND requeued_at IS NULL"),
    )
    op.create_table(
        "line_references",
        *_owner("line_references"),
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("reference", sa.Text, primary_key=True),
        sa.Column("request_id", sa.Text, primary_key=True),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_line_references_request_id"
        ),
    )
    op.create_index(
        "ix_line_references_vendor_id_site_id", "line_references", ["vendor_id", "site_id"]
    )


def _delivery_failures() -> None:
    op.create_table(
        "delivery_failures",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("route_id", sa.BigInteger, nullable=False),
        sa.Column("batch_id", sa.BigInteger, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("fault", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_delivery_failures_destination", "delivery_failures", ["type", "payer_id", "at"]
    )


def _inbox() -> None:
    op.create_table(
        "polls",
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("route_id", sa.BigInteger, primary_key=True),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("passed_over", sa.Integer, nullable=False),
    )
    op.create_table(
        "seen_files",
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("payer_id", sa.Text, primary_key=True),
        sa.Column("route_id", sa.BigInteger, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("modified_nanos", sa.BigInteger, nullable=False),
        sa.Column("first_seen_at", sa.BigInteger, nullable=False),
        sa.Column("inbox_id", sa.BigInteger),
        sa.Column("earlier_inbox_id", sa.BigInteger),
        sa.Column("unfinished", sa.SmallInteger, nullable=False),
    )
    op.create_table(
        "inbox",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
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
        sa.Column("processed_at", sa.BigInteger),
        sa.Column("is_test", sa.SmallInteger, nullable=False),
        sa.Column("test_accepted_at", sa.BigInteger),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("type", "payer_id", "digest", name="uq_inbox_type_payer_id_digest"),
        sa.CheckConstraint(
            "state IN ('Stored', 'Applied', 'Parked', 'Quarantined', 'Discarded', 'UnknownSender', 'TestFile')",
            name="ck_inbox_state",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_inbox_stored",
        "inbox",
        ["id"],
        sqlite_where=sa.text("state = 'Stored'"),
        postgresql_where=sa.text("state = 'Stored'"),
    )
    op.create_index("ix_inbox_state", "inbox", ["state", "received_at"])
    op.create_index("ix_inbox_destination", "inbox", ["type", "payer_id", "id"])
    op.create_table(
        "parked_statements",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("inbox_id", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_parked_statements_inbox_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_parked_statements_inbox_id", "parked_statements", ["inbox_id"])


def _claim_facts() -> None:
    op.create_table(
        "claim_facts",
        *_owner("claim_facts"),
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("inbox_id", sa.BigInteger),
        sa.Column("document_id", sa.Text, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_claim_facts_inbox_id"),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_claim_facts_request_id"
        ),
        sa.UniqueConstraint("request_id", "identity", name="uq_claim_facts_request_id_identity"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_claim_facts_vendor_id_site_id", "claim_facts", ["vendor_id", "site_id"])
    op.create_table(
        "documents",
        *_owner("documents"),
        sa.Column("document_id", sa.Text, primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("fetched_at", sa.BigInteger),
        sa.Column("seen_at", sa.BigInteger),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_documents_request_id"
        ),
        sa.CheckConstraint("kind IN ('payment', 'status')", name="ck_documents_kind"),
    )
    op.create_index("ix_documents_request_id", "documents", ["request_id"])
    op.create_index("ix_documents_vendor_id_site_id", "documents", ["vendor_id", "site_id"])


def _payments() -> None:
    op.create_table(
        "payments",
        sa.Column("payment_id", sa.Text, primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("inbox_id", sa.BigInteger, nullable=False),
        sa.Column("interchange", sa.Integer, nullable=False),
        sa.Column("group_number", sa.Integer, nullable=False),
        sa.Column("set_number", sa.Integer, nullable=False),
        sa.Column("trace", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("amount_cents", sa.BigInteger),
        sa.Column("effective_day", sa.Text),
        sa.Column("claims", sa.Integer, nullable=False, server_default="0"),
        sa.Column("unmatched", sa.Integer, nullable=False, server_default="0"),
        sa.Column("claims_paid_cents", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("adjustment_cents", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("balanced", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("unbalanced_claims", sa.Integer, nullable=False, server_default="0"),
        sa.Column("complete", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("duplicate_of", sa.Text),
        sa.Column("differs_from", sa.Text),
        sa.Column("received_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_payments_inbox_id"),
        sa.CheckConstraint(
            "state IN ('Posted', 'NeedsReview', 'Duplicate')", name="ck_payments_state"
        ),
        sa.UniqueConstraint(
            "inbox_id",
            "interchange",
            "group_number",
            "set_number",
            name="uq_payments_inbox_id_interchange_group_number_set_number",
        ),
    )
    for name, condition, columns in (
        ("uq_payments_identity", "duplicate_of IS NULL", ["identity"]),
        ("ix_payments_unmatched", "unmatched > 0", ["payment_id"]),
        ("ix_payments_unbalanced", "balanced = 0", ["payment_id"]),
    ):
        op.create_index(
            name,
            "payments",
            columns,
            unique=name.startswith("uq_"),
            sqlite_where=sa.text(condition),
            postgresql_where=sa.text(condition),
        )
    for column in ("trace", "payer_id", "effective_day", "amount_cents"):
        op.create_index(f"ix_payments_{column}", "payments", [column, "payment_id"])
    _payment_parts()


def _payment_parts() -> None:
    op.create_table(
        "provider_adjustments",
        sa.Column("payment_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("amount_cents", sa.BigInteger, nullable=False),
        sa.Column("request_id", sa.Text),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("payment_id", "number", name="pk_provider_adjustments"),
        *_of_payment("provider_adjustments"),
        *_of_claim("provider_adjustments"),
    )
    op.create_table(
        "claim_occurrences",
        *_owner("claim_occurrences"),
        sa.Column("payment_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("reverses", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("matched_by", sa.Text, nullable=False),
        sa.Column("in_force", sa.SmallInteger, nullable=False),
        sa.Column("replaced", sa.SmallInteger, nullable=False),
        sa.Column("charge_cents", sa.BigInteger, nullable=False),
        sa.Column("paid_cents", sa.BigInteger, nullable=False),
        sa.Column("patient_cents", sa.BigInteger, nullable=False),
        sa.Column("balanced", sa.SmallInteger, nullable=False),
        sa.Column("document_id", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("payment_id", "number", name="pk_claim_occurrences"),
        *_of_payment("claim_occurrences"),
        *_of_claim("claim_occurrences"),
        sa.CheckConstraint(
            "kind IN ('original', 'reversal', 'correction')", name="ck_claim_occurrences_kind"
        ),
    )
    op.create_index("ix_claim_occurrences_request_id", "claim_occurrences", ["request_id"])
    op.create_index(
        "ix_claim_occurrences_document_id",
        "claim_occurrences",
        ["vendor_id", "site_id", "document_id"],
    )
    op.create_table(
        "unmatched_occurrences",
        sa.Column("payment_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("reference", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("paid_cents", sa.BigInteger, nullable=False),
        sa.Column("due", sa.SmallInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("payment_id", "number", name="pk_unmatched_occurrences"),
        *_of_payment("unmatched_occurrences"),
    )
    op.create_index(
        "ix_unmatched_occurrences_payer_id_reference",
        "unmatched_occurrences",
        ["payer_id", "reference"],
    )
    op.create_index(
        "ix_unmatched_occurrences_due",
        "unmatched_occurrences",
        ["payment_id", "number"],
        sqlite_where=sa.text("due = 1"),
        postgresql_where=sa.text("due = 1"),
    )
    op.create_table(
        "payment_shares",
        *_owner("payment_shares"),
        sa.Column("payment_id", sa.Text, nullable=False),
        sa.Column("claims", sa.Integer, nullable=False),
        sa.Column("paid_cents", sa.BigInteger, nullable=False),
        sa.Column("adjustment_cents", sa.BigInteger, nullable=False),
        sa.Column("fetched_at", sa.BigInteger),
        sa.Column("seen_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("payment_id", "vendor_id", "site_id", name="pk_payment_shares"),
        *_of_payment("payment_shares"),
    )
    op.create_index(
        "ix_payment_shares_owner", "payment_shares", ["vendor_id", "site_id", "payment_id"]
    )


def _of_payment(table: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint(
            ["payment_id"], ["payments.payment_id"], name=f"fk_{table}_payment_id"
        )
    ]


def _of_claim(table: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name=f"fk_{table}_request_id"
        )
    ]


def _eligibility() -> None:
    op.create_table(
        "eligibility_requests",
        *_owner("eligibility_requests"),
        sa.Column("id", BIG_INTEGER, primary_key=True, autoincrement=False),
        sa.Column("request_number", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("inquiries", sa.Integer, nullable=False),
        sa.Column("payload", sa.LargeBinary),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_eligibility_requests_created_at", "eligibility_requests", ["created_at"])
    op.create_index(
        "uq_eligibility_requests_number",
        "eligibility_requests",
        ["vendor_id", "request_number"],
        unique=True,
    )
    op.create_index(
        "ix_eligibility_requests_request_number", "eligibility_requests", ["request_number"]
    )
    op.create_index(
        "ix_eligibility_requests_newest",
        "eligibility_requests",
        ["vendor_id", "site_id", "created_at", "id"],
    )
    op.create_table(
        "eligibility_inquiries",
        *_owner("eligibility_inquiries"),
        sa.Column("request_id", sa.BigInteger, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("mode", sa.SmallInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("batch_id", sa.BigInteger),
        sa.Column("answered_at", sa.BigInteger),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("patient_key", sa.BigInteger),
        sa.Column("inquiry", sa.LargeBinary, nullable=False),
        sa.Column("response", sa.LargeBinary),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batches.id"], name="fk_eligibility_inquiries_batch_id"
        ),
        sa.ForeignKeyConstraint(
            ["request_id"], ["eligibility_requests.id"], name="fk_eligibility_inquiries_request_id"
        ),
        sa.CheckConstraint(
            "state IN ('Open', 'Mailed', 'Answered')", name="ck_eligibility_inquiries_state"
        ),
    )
    op.create_index("ix_eligibility_inquiries_batch_id", "eligibility_inquiries", ["batch_id"])
    op.create_index(
        "ix_eligibility_inquiries_due",
        "eligibility_inquiries",
        ["mode", "type", "payer_id", "next_at"],
        sqlite_where=sa.text("state = 'Open'"),
        postgresql_where=sa.text("state = 'Open'"),
    )
    op.create_index(
        "ix_eligibility_inquiries_unanswered",
        "eligibility_inquiries",
        ["request_id"],
        sqlite_where=sa.text("state <> 'Answered'"),
        postgresql_where=sa.text("state <> 'Answered'"),
    )
    op.create_index(
        "ix_eligibility_inquiries_patient",
        "eligibility_inquiries",
        ["vendor_id", "site_id", "patient_key", "request_id"],
    )


def _enrollment() -> None:
    op.create_table(
        "enrollments",
        *_owner("enrollments"),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_enrollments_provider", "enrollments", ["vendor_id", "site_id", "provider"], unique=True
    )
    op.create_table(
        "enrollment_payers",
        *_owner("enrollment_payers"),
        sa.Column("enrollment_id", sa.Text, nullable=False),
        sa.Column("payer_type", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.LargeBinary),
        sa.PrimaryKeyConstraint(
            "enrollment_id", "payer_type", "payer_id", name="pk_enrollment_payers"
        ),
        sa.ForeignKeyConstraint(
            ["enrollment_id"], ["enrollments.id"], name="fk_enrollment_payers_enrollment_id"
        ),
        sa.CheckConstraint(
            "state IN ('in work', 'approved', 'refused')", name="ck_enrollment_payers_state"
        ),
    )
    op.create_index(
        "ix_enrollment_payers_vendor_id_site_id", "enrollment_payers", ["vendor_id", "site_id"]
    )
    op.create_table(
        "enrollment_events",
        *_owner("enrollment_events"),
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("enrollment_id", sa.Text, nullable=False),
        sa.Column("payer_type", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["enrollment_id"], ["enrollments.id"], name="fk_enrollment_events_enrollment_id"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_enrollment_events_enrollment_id", "enrollment_events", ["enrollment_id"])
    op.create_index(
        "ix_enrollment_events_vendor_id_site_id", "enrollment_events", ["vendor_id", "site_id"]
    )
    op.create_table(
        "billing_zips",
        *_owner("billing_zips"),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("zip", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint(
            "vendor_id", "site_id", "provider", "source", name="pk_billing_zips"
        ),
        sa.CheckConstraint("source IN ('enrollment', 'claim')", name="ck_billing_zips_source"),
    )
    op.create_index("ix_billing_zips_vendor_id_site_id", "billing_zips", ["vendor_id", "site_id"])


def _console() -> None:
    op.create_table(
        "instances",
        *_owner("instances"),
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("instance", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("token_hash", sa.LargeBinary),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("token_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint(
            "vendor_id", "site_id", "instance", name="uq_instances_vendor_id_site_id_instance"
        ),
        sa.CheckConstraint("state IN ('active', 'disabled')", name="ck_instances_state"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_instances_vendor_id_site_id", "instances", ["vendor_id", "site_id"])
    op.create_table(
        "login_urls",
        sa.Column("code_hash", sa.LargeBinary, primary_key=True),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.Column("instance", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
    )
    op.create_index("ix_login_urls_expires_at", "login_urls", ["expires_at"])
    op.create_index(
        "ix_login_urls_vendor_id_site_id_instance",
        "login_urls",
        ["vendor_id", "site_id", "instance"],
    )
    op.create_table(
        "console_users",
        sa.Column("id", BIG_INTEGER, sa.Identity(), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("vendor_id", sa.BigInteger),
        sa.Column("all_sites", sa.SmallInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("totp_secret", sa.LargeBinary, nullable=False),
        sa.Column("totp_step", sa.BigInteger, nullable=False),
        sa.Column("code_failures", sa.Integer, nullable=False),
        sa.Column("code_failed_at", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="fk_console_users_vendor_id"),
        sa.UniqueConstraint("name", name="uq_console_users_name"),
        sa.CheckConstraint("state IN ('active', 'disabled')", name="ck_console_users_state"),
        sa.CheckConstraint(
            "role IN ('viewer', 'biller', 'support', 'operator')", name="ck_console_users_role"
        ),
        sa.CheckConstraint(
            "(role = 'operator') = (vendor_id IS NULL)", name="ck_console_users_vendor"
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sign_in_links",
        sa.Column("code_hash", sa.LargeBinary, primary_key=True),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["console_users.id"], name="fk_sign_in_links_user_id"),
    )
    op.create_index("ix_sign_in_links_expires_at", "sign_in_links", ["expires_at"])
    op.create_index("ix_sign_in_links_user_id", "sign_in_links", ["user_id"])
    op.create_table(
        "console_user_sites",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "site_id", name="pk_console_user_sites"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["console_users.id"], name="fk_console_user_sites_user_id"
        ),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name="fk_console_user_sites_vendor_id_site_id",
        ),
    )
    op.create_table(
        "console_sessions",
        sa.Column("session_hash", sa.LargeBinary, primary_key=True),
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Column("ends_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["console_users.id"], name="fk_console_sessions_user_id"
        ),
    )
    op.create_index("ix_console_sessions_ends_at", "console_sessions", ["ends_at"])
    op.create_index("ix_console_sessions_user_id", "console_sessions", ["user_id"])
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.BigInteger, nullable=False),
        sa.Column("code_hash", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "code_hash", name="pk_recovery_codes"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["console_users.id"], name="fk_recovery_codes_user_id"
        ),
    )


def _events() -> None:
    op.create_table(
        "event_head",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("last_id", sa.BigInteger, nullable=False),
        sa.CheckConstraint("id = 1", name="ck_event_head_one"),
    )
    op.create_table(
        "events",
        *_owner("events"),
        sa.Column("last_id", sa.BigInteger, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("claims", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("vendor_id", "last_id", name="pk_events"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "installation_events",
        sa.Column("last_id", BIG_INTEGER, primary_key=True, autoincrement=False),
        sa.Column("vendor_id", sa.BigInteger),
        sa.Column("audience", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["vendor_id"], ["vendors.id"], name="fk_installation_events_vendor_id"
        ),
        sa.CheckConstraint(
            "audience IN ('vendor', 'every vendor', 'operators')",
            name="ck_installation_events_audience",
        ),
    )
    op.create_table(
        "silence_scans",
        sa.Column("vendor_id", BIG_INTEGER, primary_key=True, autoincrement=False),
        sa.Column("payer", sa.Text, primary_key=True),
        sa.Column("through", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="fk_silence_scans_vendor_id"),
    )


def _webhooks() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("endpoint_id", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("types", sa.Text, nullable=False),
        sa.Column("sites", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("after_event", sa.BigInteger, nullable=False),
        sa.Column("replay_through", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("failing_since", sa.BigInteger),
        sa.Column("failed_event", sa.BigInteger),
        sa.Column("disabled_at", sa.BigInteger),
        sa.Column("fault", sa.Text, nullable=False, server_default=""),
        sa.Column("holder", sa.Text, nullable=False, server_default=""),
        sa.Column("lease_until", sa.BigInteger),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["vendor_id"], ["vendors.id"], name="fk_webhook_endpoints_vendor_id"
        ),
        sa.CheckConstraint("state IN ('active', 'disabled')", name="ck_webhook_endpoints_state"),
    )
    op.create_index("ix_webhook_endpoints_vendor_id", "webhook_endpoints", ["vendor_id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("endpoint_id", sa.Text, nullable=False),
        sa.Column("event_id", sa.BigInteger, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, server_default="waiting"),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("due_at", sa.BigInteger),
        sa.Column("attempted_at", sa.BigInteger),
        sa.Column("status", sa.Integer),
        sa.Column("fault", sa.Text, nullable=False, server_default=""),
        sa.Column("answer", sa.LargeBinary),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoints.endpoint_id"],
            name="fk_webhook_deliveries_endpoint_id",
        ),
        sa.ForeignKeyConstraint(
            ["vendor_id"], ["vendors.id"], name="fk_webhook_deliveries_vendor_id"
        ),
        sa.CheckConstraint(
            "state IN ('waiting', 'delivered', 'failed')", name="ck_webhook_deliveries_state"
        ),
        sa.PrimaryKeyConstraint("endpoint_id", "event_id", name="pk_webhook_deliveries"),
    )
    op.create_index(
        "ix_webhook_deliveries_waiting",
        "webhook_deliveries",
        ["endpoint_id", "due_at"],
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )


def _worklist() -> None:
    op.create_table(
        "work_items",
        *_owner("work_items"),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("assigned_to", sa.Text),
        sa.Column("snoozed_until", sa.Text),
        sa.Column("done_label", sa.Text),
        sa.Column("changed_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary),
        sa.PrimaryKeyConstraint("vendor_id", "site_id", "request_id", name="pk_work_items"),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_work_items_request_id"
        ),
    )
    op.create_index(
        "ix_work_items_assigned_to", "work_items", ["vendor_id", "site_id", "assigned_to"]
    )
    op.create_table(
        "claim_notes",
        *_owner("claim_notes"),
        sa.Column("note_id", sa.Text, primary_key=True),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_claim_notes_request_id"
        ),
    )
    op.create_index("ix_claim_notes_request_id", "claim_notes", ["request_id"])
    op.create_index("ix_claim_notes_vendor_id_site_id", "claim_notes", ["vendor_id", "site_id"])
    op.create_table(
        "correction_drafts",
        *_owner("correction_drafts"),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("begun_at", sa.BigInteger, nullable=False),
        sa.Column("saved_at", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("vendor_id", "site_id", "request_id", name="pk_correction_drafts"),
        sa.ForeignKeyConstraint(
            ["request_id"], ["claims.request_id"], name="fk_correction_drafts_request_id"
        ),
    )
    op.create_index("ix_correction_drafts_saved_at", "correction_drafts", ["saved_at"])
    op.create_index(
        "ix_correction_drafts_vendor_id_site_id", "correction_drafts", ["vendor_id", "site_id"]
    )
    op.create_table(
        "claim_summaries",
        *_owner("claim_summaries"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("counted_at", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("vendor_id", "site_id", "name", name="pk_claim_summaries"),
    )
    op.create_index(
        "ix_claim_summaries_vendor_id_site_id", "claim_summaries", ["vendor_id", "site_id"]
    )


def _sandbox() -> None:
    op.create_table(
        "sandbox_ledger",
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


def _api() -> None:
    op.create_table(
        "idempotent_answers",
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("key_hash", sa.Text, nullable=False),
        sa.Column("request_hash", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("answer", sa.LargeBinary),
        sa.PrimaryKeyConstraint("vendor_id", "key_hash", name="pk_idempotent_answers"),
        sa.ForeignKeyConstraint(
            ["vendor_id"], ["vendors.id"], name="fk_idempotent_answers_vendor_id"
        ),
    )
    op.create_index(
        "ix_idempotent_answers_started_at", "idempotent_answers", ["vendor_id", "started_at"]
    )


def _owner(table: str) -> tuple[sa.schema.SchemaItem, ...]:
    """Return the columns that name the owner of a client row, and their foreign key."""
    return (
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name=f"fk_{table}_vendor_id_site_id",
        ),
    )


def _protect_audit_on_sqlite() -> None:
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END"
        )


def _notify_of_revisions() -> None:
    """Let nodes that listen know at once that a snapshot has changed."""
    op.execute(
        "CREATE FUNCTION clearlane_notify_revision() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN PERFORM pg_notify('clearlane_revisions', ''); RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER revisions_notify AFTER INSERT OR UPDATE ON revisions "
        "FOR EACH STATEMENT EXECUTE FUNCTION clearlane_notify_revision()"
    )


def _protect_audit_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$"
    )
    for level, acts in (("ROW", "UPDATE OR DELETE"), ("STATEMENT", "TRUNCATE")):
        op.execute(
            f"CREATE TRIGGER audit_no_change_{level.lower()} BEFORE {acts} ON audit "
            f"FOR EACH {level} EXECUTE FUNCTION audit_is_append_only()"
        )
