"""Tables of the SFTP server: accounts of sites, their public keys, what they used of their quota, and the host keys.

An account is found by its name before it is known whose it is, so these are tables of the installation. Private host keys
are sealed, and shared by all nodes.
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
)

from clearlane.store.database.schema.core import id_column, installation_table

__all__ = ["sftp_accounts", "sftp_host_keys", "sftp_keys", "sftp_usage"]

sftp_accounts = installation_table(
    "sftp_accounts",
    id_column(),
    # In lower case, so that two accounts never differ in case only.
    Column("name", Text, nullable=False, unique=True),
    Column("vendor_id", BigInteger, nullable=False),
    Column("site_id", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    # The names of its folders and files (``accounts.sftp_account``); a folder of its own comes before the profile's.
    Column("profile", Text, nullable=False),
    Column("in_folder", Text, nullable=False),
    Column("out_folder", Text, nullable=False),
    # argon2id; empty for an account that signs in with keys only.
    Column("password_hash", Text, nullable=False),
    # A JSON array of the networks that it may sign in from; an empty one means all.
    Column("networks", Text, nullable=False),
    # 1 if it may sign in at the port for older algorithms.
    Column("older_algorithms", SmallInteger, nullable=False),
    Column("bytes_per_day_max", BigInteger, nullable=False),
    Column("files_per_day_max", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("signed_in_at", BigInteger),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    ForeignKeyConstraint(["vendor_id", "site_id"], ["sites.vendor_id", "sites.id"]),
    Index(None, "vendor_id", "site_id"),
    sqlite_autoincrement=True,
)

sftp_keys = installation_table(
    "sftp_keys",
    Column("account_id", BigInteger, ForeignKey("sftp_accounts.id"), nullable=False),
    Column("fingerprint", Text, nullable=False),
    # One line as in an authorized_keys file, without options and comment.
    Column("public_key", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("account_id", "fingerprint"),
)

# Files and bytes that an account sent on a day (UTC).
sftp_usage = installation_table(
    "sftp_usage",
    Column("account_id", BigInteger, ForeignKey("sftp_accounts.id"), nullable=False),
    Column("day", Text, nullable=False),
    Column("files", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    PrimaryKeyConstraint("account_id", "day"),
)

sftp_host_keys = installation_table(
    "sftp_host_keys",
    Column("fingerprint", Text, primary_key=True),
    Column("algorithm", Text, nullable=False),
    Column("public_key", Text, nullable=False),
    # Sealed for the fingerprint.
    Column("private_key", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # From then on the server proves itself with it; before, clients are only given it to remember.
    Column("active_from", BigInteger, nullable=False),
)
