"""Tables of what goes back to the senders of files: responses that are due, and the payees of each site."""

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
    text,
)

from clearlane.store.database.schema.core import client_table

__all__ = ["due_responses", "payees"]

# A response to write: added in the transaction that makes it due, removed in the one that lists the file.
due_responses = client_table(
    "due_responses",
    # The sender's set that it is about; empty for a remittance, which answers no set.
    Column("set_id", Text, nullable=False),
    # What it tells: a correction, a delivery (batch), what a payer's file says (inbox), or a payment; and the id of that.
    Column("source", Text, nullable=False),
    Column("source_id", Text, nullable=False),
    # 1 once all of the source is recorded.
    Column("ready", SmallInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # How often it could not be written, and when it is tried again.
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("next_at", BigInteger, nullable=False, server_default="0"),
    # Which part of a payment that is cut between sites, as JSON of numbers; empty for all other responses.
    Column("part", Text, nullable=False, server_default=""),
    PrimaryKeyConstraint("vendor_id", "site_id", "set_id", "source", "source_id"),
    Index("ix_due_responses_source", "source", "source_id"),
    Index(
        "ix_due_responses_failed",
        "failures",
        sqlite_where=text("failures > 0"),
        postgresql_where=text("failures > 0"),
    ),
    Index(
        "ix_due_responses_ready",
        "created_at",
        sqlite_where=text("ready = 1"),
        postgresql_where=text("ready = 1"),
    ),
    owner_index=False,
)

# The billing providers of files that a site sent: remittances to them are its files.
payees = client_table(
    "payees",
    # Keyed hash of an NPI or a tax id.
    Column("payee", Text, nullable=False),
    # 1 if a person named the site as the one that receives the payee's remittances.
    Column("is_named", SmallInteger, nullable=False, server_default="0"),
    # 1 if a payer paid a claim of the site's vendor to the payee.
    Column("is_proven", SmallInteger, nullable=False, server_default="0"),
    # 1 if payments of claims of several sites are cut, so that each of them gets its own part.
    Column("is_cut", SmallInteger, nullable=False, server_default="0"),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "payee"),
    Index("ix_payees_payee", "payee"),
    owner_index=False,
)
