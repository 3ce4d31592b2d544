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

__all__ = [
    "EDITION_STATES", "IN_FORCE", "LOADING", "ON_TRIAL", "REMOVED", "TRIAL_STATES", "code_lists", "code_trial_claims",
    "code_trials", "codes",
]  # fmt: skip

LOADING, IN_FORCE, ON_TRIAL, REMOVED = EDITION_STATES = (
    "loading", "in force", "on trial", "removed",
)  # fmt: skip
"""An edition is loaded in pages, then in force, or on trial, where it decides nothing; one that was removed goes in pages."""
TRIAL_STATES = ("open", "done", "canceled")

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
    # How many rows of the file were no codes, and how many codes of the edition before it lacks.
    Column("left_out", Integer, nullable=False),
    Column("missing", Integer, nullable=False),
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

# What an edition would change over stored claims: one row is one trial, with how far it came. A node works on an open one
# while it has the lease; ``holder`` is the run that has it.
code_trials = installation_table(
    "code_trials",
    id_column(),
    Column("list", Text, nullable=False),
    # The edition on trial; its codes are deleted when the trial ends.
    Column("edition", BigInteger, nullable=False),
    Column("first_day", Text, nullable=False),
    Column("last_day", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("started_by", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    # Claims whose numbers are between these two are read; ``through`` is the last that was.
    Column("first_number", Text, nullable=False),
    Column("last_number", Text, nullable=False),
    Column("through", Text, nullable=False),
    Column("total", Integer, nullable=False),
    Column("read", Integer, nullable=False),
    Column("ending", Integer, nullable=False),
    Column("passing", Integer, nullable=False),
    # How many claims use each code that ends, as JSON: counts alone.
    Column("codes", Text, nullable=False),
    Column("holder", Text, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
    CheckConstraint(one_of("state", TRIAL_STATES), name="state"),
    sqlite_autoincrement=True,
)

# The numbers of claims that a trial found, up to a limit: "ending" uses a code that ends, "passing" would be accepted.
code_trial_claims = installation_table(
    "code_trial_claims",
    Column("trial", BigInteger, nullable=False),
    Column("change", Text, nullable=False),
    Column("claim_number", Text, nullable=False),
    PrimaryKeyConstraint("trial", "change", "claim_number"),
    CheckConstraint(one_of("change", ("ending", "passing")), name="change"),
    sqlite_with_rowid=False,
)
