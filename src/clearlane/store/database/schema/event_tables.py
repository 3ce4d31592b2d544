"""Tables of events: what happened, in the order of commits.

A row holds up to a few hundred events of one kind that a transaction wrote together, such as the claims of a document:
their numbers end with ``last_id`` and follow each other. They hold ids and states, nothing that a patient, provider or
vendor wrote.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
)

from clearlane.store.database.schema.core import BIG_INTEGER, client_table, installation_table

__all__ = ["due_scans", "event_head", "events", "installation_events"]

# The number of the last event. A transaction locks it as its last step, so events are numbered in the order of commits.
event_head = installation_table(
    "event_head",
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("last_id", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="one"),
)

# Events of a site. The key alone finds the page of a vendor's feed and what is to be removed.
events = client_table(
    "events",
    Column("last_id", BigInteger, nullable=False),
    Column("count", Integer, nullable=False),
    Column("type", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    # A JSON array of claim numbers and their sequences, one pair for each event; empty if there is no claim.
    Column("claims", Text, nullable=False),
    # A JSON object that all events of the row have.
    Column("data", Text, nullable=False),
    PrimaryKeyConstraint("vendor_id", "last_id"),
    owner_index=False,
    sqlite_with_rowid=False,
)

# Events of no site: of one vendor, of every vendor (no vendor, audience "every vendor"), or of operators.
installation_events = installation_table(
    "installation_events",
    Column("last_id", BIG_INTEGER, primary_key=True, autoincrement=False),
    Column("vendor_id", BigInteger, ForeignKey("vendors.id")),
    Column("audience", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("data", Text, nullable=False),
    CheckConstraint("audience IN ('vendor', 'every vendor', 'operators')", name="audience"),
)

# Up to which moment the claims of a vendor were looked through for what was due.
due_scans = installation_table(
    "due_scans",
    Column(
        "vendor_id", BIG_INTEGER, ForeignKey("vendors.id"), primary_key=True, autoincrement=False
    ),
    Column("through", BigInteger, nullable=False),
)
