"""The tables of code lists that an operator has imported: the editions, and their codes."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Text,
)

from clearlane.store.database.schema.core import id_column, installation_table, one_of

__all__ = ["EDITION_STATES", "IN_FORCE", "LOADING", "REMOVED", "code_lists", "codes"]

LOADING, IN_FORCE, REMOVED = EDITION_STATES = ("loading", "in force", "removed")
"""An edition is loaded in pages, then in force; one that was removed goes in pages as well."""

# One row is one edition of a list. An edition that was imported later has a higher id, and decides on the days that both
# cover: to switch, and to go back, is to change the state of one row.
code_lists = installation_table(
    "code_lists",
    id_column(),
    Column("list", Text, nullable=False),
    Column("edition", Text, nullable=False),
    Column("first_day", Text, nullable=False),
    Column("last_day", Text, nullable=False),
    # The name and the SHA-256 hash of the file.
    Column("source", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("codes", Integer, nullable=False),
    # When the last page of codes came or went.
    Column("changed_at", BigInteger, nullable=False),
    CheckConstraint(one_of("state", EDITION_STATES), name="state"),
    Index(None, "list", "id"),
    sqlite_autoincrement=True,
)

# No foreign key: an edition may have millions of codes. Days are empty for a code that is valid on all days of its edition.
codes = installation_table(
    "codes",
    Column("edition", BigInteger, nullable=False),
    Column("code", Text, nullable=False),
    Column("first_day", Text, nullable=False),
    Column("last_day", Text, nullable=False),
    Column("attributes", Text, nullable=False),
    PrimaryKeyConstraint("edition", "code", "first_day"),
    sqlite_with_rowid=False,
)
