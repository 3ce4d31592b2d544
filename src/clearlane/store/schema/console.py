"""Console users, their sessions, and the instances of proxy login.

Tokens, sessions and one-time parts stand here as keyed hashes, passwords as argon2id, and the secret
of a second factor is sealed: who reads these tables can sign in as nobody.
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

from clearlane.store.schema.core import client_table, installation_table, number_id

__all__ = [
    "console_sessions", "console_user_sites", "console_users", "instances", "login_entries",
]  # fmt: skip

# One installation of a vendor's software at a client. A disabled row outlives its token, so that an
# instance which an operator has disabled does not come back by being made anew.
instances = client_table(
    "instances",
    number_id(),
    Column("instance", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("token_hash", LargeBinary),
    Column("created_at", BigInteger, nullable=False),
    Column("token_at", BigInteger, nullable=False),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    UniqueConstraint("vendor_id", "site_id", "instance"),
)

# The one-time part of a login URL. Whoever brings one says nothing else, so the table belongs to no client.
login_entries = installation_table(
    "login_entries",
    Column("part_hash", LargeBinary, primary_key=True),
    Column("vendor_id", BigInteger, nullable=False),
    Column("site_id", BigInteger, nullable=False),
    Column("instance", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False, index=True),
    Column("used_at", BigInteger),
    Index(None, "vendor_id", "site_id", "instance"),
)

console_users = installation_table(
    "console_users",
    number_id(),
    # In one case, so that two users never differ in case only.
    Column("name", Text, nullable=False, unique=True),
    Column("vendor_id", BigInteger, ForeignKey("vendors.id"), nullable=False),
    # All sites of the vendor, or those in console_user_sites.
    Column("all_sites", SmallInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("totp_secret", LargeBinary, nullable=False),
    # The last step whose code was taken: no code is good twice.
    Column("totp_step", BigInteger, nullable=False),
    Column("code_failures", Integer, nullable=False),
    Column("code_failed_at", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    sqlite_autoincrement=True,
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
