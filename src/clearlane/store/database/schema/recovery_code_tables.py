"""The table of recovery codes: keyed hashes, one row for each code that was not used yet."""

from sqlalchemy import BigInteger, Column, ForeignKey, LargeBinary, PrimaryKeyConstraint

from clearlane.store.database.schema.core import installation_table

__all__ = ["recovery_codes"]

recovery_codes = installation_table(
    "recovery_codes",
    Column("user_id", BigInteger, ForeignKey("console_users.id"), nullable=False),
    Column("code_hash", LargeBinary, nullable=False),
    PrimaryKeyConstraint("user_id", "code_hash"),
)
