"""Console users and proxy login."""

import sqlalchemy as sa
from alembic import op

from clearlane.store.schema import BIG, secure

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables."""
    _instances()
    _login_entries()
    _users()
    _sessions()
    secure(op, "instances")


def _instances() -> None:
    op.create_table(
        "instances",
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("instance", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("token_hash", sa.LargeBinary),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("token_at", sa.BigInteger, nullable=False),
        sa.CheckConstraint("state IN ('active', 'disabled')", name="ck_instances_state"),
        sa.UniqueConstraint(
            "vendor_id", "site_id", "instance", name="uq_instances_vendor_id_site_id_instance"
        ),
        sa.ForeignKeyConstraint(
            ["vendor_id", "site_id"],
            ["sites.vendor_id", "sites.id"],
            name="fk_instances_vendor_id_site_id",
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_instances_vendor_id_site_id", "instances", ["vendor_id", "site_id"])


def _login_entries() -> None:
    op.create_table(
        "login_entries",
        sa.Column("part_hash", sa.LargeBinary, primary_key=True),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("site_id", sa.BigInteger, nullable=False),
        sa.Column("instance", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
    )
    op.create_index("ix_login_entries_expires_at", "login_entries", ["expires_at"])
    op.create_index(
        "ix_login_entries_vendor_id_site_id_instance",
        "login_entries",
        ["vendor_id", "site_id", "instance"],
    )


def _users() -> None:
    op.create_table(
        "console_users",
        sa.Column("id", BIG, sa.Identity(), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("vendor_id", sa.BigInteger, nullable=False),
        sa.Column("all_sites", sa.SmallInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("totp_secret", sa.LargeBinary, nullable=False),
        sa.Column("totp_step", sa.BigInteger, nullable=False),
        sa.Column("code_failures", sa.Integer, nullable=False),
        sa.Column("code_failed_at", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.CheckConstraint("state IN ('active', 'disabled')", name="ck_console_users_state"),
        sa.UniqueConstraint("name", name="uq_console_users_name"),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="fk_console_users_vendor_id"),
        sqlite_autoincrement=True,
    )
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


def _sessions() -> None:
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
    op.create_index("ix_console_sessions_user_id", "console_sessions", ["user_id"])
    op.create_index("ix_console_sessions_ends_at", "console_sessions", ["ends_at"])
