"""The ground floor: accounts, payers, nodes, keys, audit."""

import sqlalchemy as sa
from alembic import op

from clearlane.store.schema import BIG

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table, and close the audit trail to changes."""
    _accounts()
    _payers()
    _nodes()
    _keys()
    _audit()
    if op.get_bind().dialect.name == "postgresql":
        _close_on_postgresql()
    else:
        _close_on_sqlite()


def _accounts() -> None:
    op.create_table(
        "vendors",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
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
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
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
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("vendor_site_id", sa.Text, nullable=False),
        sa.Column("client_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("time_zone", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("baa_accepted_at", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="fk_sites_vendor_id"),
        sa.UniqueConstraint("vendor_site_id", name="uq_sites_vendor_site_id"),
        sa.UniqueConstraint("vendor_id", "id", name="uq_sites_vendor_id_id"),
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
        sa.CheckConstraint("type IN ('Medical', 'Dental')", name="ck_payers_type"),
    )


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
        sa.Column("beat_micros", sa.BigInteger, nullable=False),
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


def _keys() -> None:
    op.create_table(
        "data_keys",
        sa.Column("id", BIG, primary_key=True, autoincrement=False),
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
        sa.Column("seq", BIG, primary_key=True, autoincrement=False),
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
    head = op.create_table(
        "audit_head",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("id = 1", name="ck_audit_head_one"),
    )
    op.bulk_insert(head, [{"id": 1, "seq": 0, "hash": bytes(32)}])


def _close_on_sqlite() -> None:
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END"
        )


def _close_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$"
    )
    for level, acts in (("ROW", "UPDATE OR DELETE"), ("STATEMENT", "TRUNCATE")):
        op.execute(
            f"CREATE TRIGGER audit_no_change_{level.lower()} BEFORE {acts} ON audit "
            f"FOR EACH {level} EXECUTE FUNCTION audit_is_append_only()"
        )
