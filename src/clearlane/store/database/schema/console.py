"""Tables of console users, their sessions, and proxy login.

Tokens, sessions and one-time codes are keyed hashes, passwords argon2id, and TOTP secrets are
sealed: whoever reads these tables cannot sign in as anyone.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
    UniqueConstraint,
)

from clearlane.store.database.schema.core import client_table, id_column, installation_table

__all__ = [
    "console_sessions", "console_user_sites", "console_users", "instances", "login_urls",
    "sign_in_links",
]  # fmt: skip

# One installation of a vendor's software at a client. A disabled row outlives its token, so that an
# instance which an operator has disabled is not enabled by requesting a new token.
instances = client_table(
    "instances",
    id_column(),
    Column("instance", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("token_hash", LargeBinary),
    Column("created_at", BigInteger, nullable=False),
    Column("token_at", BigInteger, nullable=False),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    UniqueConstraint("vendor_id", "site_id", "instance"),
)

# Login URLs by their one-time code. The code is all that a visitor presents, so this is not a client table.
login_urls = installation_table(
    "login_urls",
    Column("code_hash", LargeBinary, primary_key=True),
    Column("vendor_id", BigInteger, nullable=False),
    Column("site_id", BigInteger, nullable=False),
    Column("instance", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False, index=True),
    Column("used_at", BigInteger),
    Index(None, "vendor_id", "site_id", "instance"),
)

console_users = installation_table(
    "console_users",
    id_column(),
    # In lower case, so that two users never differ in case only.
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    # None for operators, who belong to no vendor.
    Column("vendor_id", BigInteger, ForeignKey("vendors.id")),
    # All sites of the vendor, or those in console_user_sites.
    Column("all_sites", SmallInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("totp_secret", LargeBinary, nullable=False),
    # The last TOTP step used: no code is accepted twice.
    Column("totp_step", BigInteger, nullable=False),
    Column("code_failures", Integer, nullable=False),
    Column("code_failed_at", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    CheckConstraint("role IN ('viewer', 'biller', 'support', 'operator')", name="role"),
    CheckConstraint("(role = 'operator') = (vendor_id IS NULL)", name="vendor"),
    sqlite_autoincrement=True,
)

# One-time addresses that sign a user in, by the keyed hash of their code.
sign_in_links = installation_table(
    "sign_in_links",
    Column("code_hash", LargeBinary, primary_key=True),
    Column("user_id", BigInteger, ForeignKey("console_users.id"), nullable=False, index=True),
    Column("expires_at", BigInteger, nullable=False, index=True),
)

console_user_sites = installation_table(
    "console_user_sites",
    Column("user_id", BigInteger, ForeignKey("console_users.id"), nullable=False),
    Column("vendor_id", BigInteger, nullable=False),
    Column("site_id", BigInteger, nullable=False),
    PrimaryKeyConstraint("user_id", "site_id"),
    ForeignKeyConstraint(["vendor_id", "site_id"], ["sites.vendor_id", "sites.id"]),
)

console_sessions = installation_table(
    "console_sessions",
    Column("session_hash", LargeBinary, primary_key=True),
    Column("user_id", BigInteger, ForeignKey("console_users.id"), nullable=False, index=True),
    Column("seen_at", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False, index=True),
)
